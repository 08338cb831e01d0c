"""Visibilities onto a grid and off it again, in the order of tiles.

The grid holds half the (u, v) plane: a visibility with v < 0 is the conjugate of the one at (−u, −v).
Rows are v, and the cells of a row, along u, are contiguous complex numbers; a row is therefore also
float32 pairs, and eight taps along u are one vector.  Four rows below v = 0 take the taps that reach
there; :mod:`kernels.imaging.dirty` folds them back.

Records are sorted by tile first: a tile and the margin of its taps stay in the first-level cache.
Tiles form bands of rows; two bands of equal parity share no cell.  Threads take the next band of one parity that
nobody has taken, until none is left, meet, and go on with the other parity: bands near v = 0 hold most, and shares that
were fixed in advance left the second thread idle for an eighth of the time.
"""

from typing import NamedTuple

import numpy as np
from numba import float32, int32

from supercomputers_rerun.kernels.contract import ceil_div
from supercomputers_rerun.kernels.imaging.array import (
    BASELINE,
    IM,
    RE,
    TIME,
    WEIGHT,
    U,
    V,
    W,
    require_cell,
    require_form,
    require_records,
)
from supercomputers_rerun.kernels.imaging.taps import TAPS, phi, polynomials
from supercomputers_rerun.kernels.runtime.arrays import aligned
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, kernel
from supercomputers_rerun.kernels.runtime.team import added, meet, run_parts
from supercomputers_rerun.kernels.runtime.vector import SINGLES, even_odd_totals, fma, load, shuffle, spread_lane, store
from supercomputers_rerun.kernels.runtime.vector import spread as in_all_lanes

__all__ = ["BELOW", "Sorted", "empty_grid", "interpolate", "plain", "sort", "spread"]

#: Rows and cells of a tile; rows of the grid below v = 0.
TILE_ROWS, TILE_CELLS, BELOW = 32, 64, 4
#: Shuffles of sixteen lanes: the lower eight of one vector, each twice; the even lanes of one and the odd lanes of
#: another; the lower half of one and the upper half of another.
_twice = shuffle(*(lane // 2 for lane in range(16)))
_even_odd = shuffle(*(lane + 16 * (lane % 2) for lane in range(16)))
_halves = shuffle(*range(8), *range(24, 32))


class Sorted(NamedTuple):
    """Visibilities in the order of tiles."""

    points: np.ndarray  # float32 (n, 4): left edge of the taps within the tile along u, v; real, imaginary part
    order: np.ndarray  # int32 (n,): which record each came from; −1 − k for the conjugate of record k
    tiles: np.ndarray  # int64 (bands, number, 2): first point and end of each tile
    rows: int  # rows that hold anything, those below v = 0 included
    weight: float  # sum of the weights


@kernel
def plain(records, scale, grid):
    """Add ``records``, float32 (n, 8), to the whole ``grid``, complex128 (M, M), rows v and columns u from −M/2 on.

    ``scale``: cells a wavelength.  Each visibility adds w V φ(u − x) φ(v − y) to eight by eight cells (x, y), with the
    function φ of :mod:`kernels.imaging.taps`.
    """
    middle = grid.shape[0] // 2
    for n in range(records.shape[0]):
        if records[n, WEIGHT] > 0:
            value = records[n, WEIGHT] * (records[n, RE] + 1j * records[n, IM])
            u, v = records[n, U] * scale, records[n, V] * scale
            left, low = int(np.floor(u)) - 3, int(np.floor(v)) - 3
            for y in range(low, low + TAPS):
                for x in range(left, left + TAPS):
                    grid[middle + y, middle + x] += value * phi(u - x) * phi(v - y)


class Tiling(NamedTuple):
    """How records find their tiles."""

    scale: float  # cells a wavelength
    grid: int  # cells of a row
    tiles: int  # of a band
    threads: int


@kernel(fastmath=CONTRACT)
def _tiles_of(records, tiling, keys, counts, sums, thread):
    """Tile of each of this thread's ``records`` into ``keys``, int32 (n,), −1 where it is flagged; how many each has.

    ``counts``: int64 (threads, tiles); ``sums``, (threads, 2): weight, and a number that is not zero where a record
    holds something that is not finite or lies outside the grid.
    """
    middle = tiling.grid // 2 - 4  # room for the taps
    limit = tiling.grid / 2 - 5.4  # 5.5 is asked for by ``sort``
    total = 0.0
    doubt = float32(0)
    count = records.shape[0]
    for n in range(np.uint64(count * thread // tiling.threads), np.uint64(count * (thread + 1) // tiling.threads)):
        weight = records[n, np.uint64(WEIGHT)]
        keys[n] = -1
        if not weight > float32(0):
            continue
        re = records[n, np.uint64(RE)]
        im = records[n, np.uint64(IM)]
        u = records[n, np.uint64(U)]
        v = records[n, np.uint64(V)]
        w = records[n, np.uint64(W)]
        rest = records[n, np.uint64(BASELINE)] + records[n, np.uint64(TIME)]
        # zero times a sum of all: NaN if one is not finite, and no branch
        doubt += (((u + v) + (w + rest)) + ((re + im) + weight)) * float32(0)
        x = np.float64(u) * tiling.scale
        y = np.float64(v) * tiling.scale
        if not (abs(x) <= limit and abs(y) <= limit):
            doubt += float32(1)
            continue
        if y < 0:
            x = -x
            y = -y
        key = int32(int32(y) // TILE_ROWS * tiling.tiles + int32(x + middle) // TILE_CELLS)
        keys[n] = key
        counts[thread, np.uint64(key)] += 1
        total += np.float64(weight)
    sums[thread, 0] = total
    sums[thread, 1] = doubt


@kernel(fastmath=CONTRACT)
def _place(records, tiling, keys, places, into, thread):
    """Scatter this ``thread``'s ``records`` to their tiles, multiplied by their weights, ``into`` the pair ``points``
    and ``order`` of :class:`Sorted`.

    ``places``, int64 (threads, tiles): where the next record of each goes.
    """
    points, order = into
    middle = tiling.grid // 2 - 4
    count = records.shape[0]
    for n in range(np.uint64(count * thread // tiling.threads), np.uint64(count * (thread + 1) // tiling.threads)):
        key = keys[n]
        if key < 0:
            continue
        x = np.float64(records[n, np.uint64(U)]) * tiling.scale
        y = np.float64(records[n, np.uint64(V)]) * tiling.scale
        weight = records[n, np.uint64(WEIGHT)]
        imaginary = records[n, np.uint64(IM)] * weight
        name = int32(n)
        if y < 0:
            x = -x
            y = -y
            imaginary = -imaginary
            name = int32(-1 - name)
        to = np.uint64(places[thread, np.uint64(key)])
        places[thread, np.uint64(key)] += 1
        points[to, np.uint64(0)] = float32(x + middle - key % tiling.tiles * TILE_CELLS)
        points[to, np.uint64(1)] = float32(y - key // tiling.tiles * TILE_ROWS)
        points[to, np.uint64(2)] = records[n, np.uint64(RE)] * weight
        points[to, np.uint64(3)] = imaginary
        order[to] = name


def sort(records: np.ndarray, scale: float, grid: int, threads: int = 1) -> Sorted:
    """Records in the order of the tiles of a grid.

    ``ValueError``: what :func:`kernels.imaging.array.require_records` and ``require_cell`` refuse.

    ``records``: float32 (n, 8); ``scale``: cells of the grid a wavelength, ``grid`` times the cell of the image in
    radians; ``grid``: cells of a whole row, M.
    """
    records = require_form(records)
    if not 0 < scale < np.inf:
        require_cell(records, scale / grid)
    tiles = grid // TILE_CELLS + 1
    bands = (grid // 2) // TILE_ROWS + 1
    tiling = Tiling(scale, grid, tiles, threads)
    keys = np.empty(len(records), np.int32)
    sums = np.zeros((threads, 2))
    counts = np.zeros((threads, tiles * bands), np.int64)
    run_parts(_tiles_of, threads, records, tiling, keys, counts, sums)
    each = counts.sum(axis=0)
    used = int(each.sum())
    if not used or sums[:, 1].any():  # NaN is something, too
        require_records(records)
        require_cell(records, scale / grid, 0.5 - 5.5 / grid)
    starts = np.concatenate([[0], np.cumsum(each)])
    places = starts[:-1] + np.cumsum(counts, axis=0) - counts
    points = np.empty((used, 4), np.float32)
    order = np.empty(used, np.int32)
    run_parts(_place, threads, records, tiling, keys, places, (points, order))
    filled = int(np.flatnonzero(each)[-1]) // tiles + 1
    rows = min(filled * TILE_ROWS + TAPS + 1, grid // 2 + 1 + BELOW + TAPS)
    ends = np.stack([starts[:-1], starts[1:]], axis=1).reshape(bands, -1, 2)
    return Sorted(points, order, ends, rows, float(sums[:, 0].sum()))


@kernel(inline=True, fastmath=CONTRACT)
def _taps(x, y, table):
    """Taps along u in lanes 0 … 7 and along v in lanes 8 … 15; the first cell and row they fall on.

    ``x``, ``y``: left edges of the taps within the tile, cells; ``table``: of :func:`polynomials`, flat.
    """
    left = int32(x) + int32(1)
    low = int32(y) + int32(1)
    u = float32(2) * (float32(left) - x) - float32(1)
    v = float32(2) * (float32(low) - y) - float32(1)
    z = _halves(in_all_lanes(u), in_all_lanes(v))
    value = load(table, 9 * SINGLES)
    for power in (8, 7, 6, 5, 4, 3, 2, 1, 0):
        value = fma(value, z, load(table, power * SINGLES))
    return value, np.int64(left), np.int64(low)


class Bands(NamedTuple):
    """Points and grid, and which bands of tiles are taken."""

    points: np.ndarray  # of ``Sorted``
    tiles: np.ndarray  # of ``Sorted``
    grid: np.ndarray  # flat float32
    step: int  # float32 of a row of the grid
    table: np.ndarray  # of ``polynomials``, flat
    taken: np.ndarray  # int64 (2,): bands of each parity that threads have taken
    meetings: np.ndarray  # int64 (1,), for ``meet``
    threads: int


@kernel(fastmath=CONTRACT)
def _spread_band(bands, band):
    """Add the points of a ``band`` to the grid."""
    points = bands.points
    grid = bands.grid
    step = bands.step
    for tile in range(bands.tiles.shape[1]):
        corner = band * TILE_ROWS * step + 2 * tile * TILE_CELLS
        for n in range(np.uint64(bands.tiles[band, tile, 0]), np.uint64(bands.tiles[band, tile, 1])):
            taps, left, low = _taps(points[n, np.uint64(0)], points[n, np.uint64(1)], bands.table)
            # taps along v are needed one by one, those along u in pairs
            re = in_all_lanes(points[n, np.uint64(2)])
            im = in_all_lanes(points[n, np.uint64(3)])
            value = _twice(taps, taps) * _even_odd(re, im)
            at = corner + low * step + 2 * left
            store(grid, at, fma(spread_lane(taps, 8), value, load(grid, at)))
            store(grid, at + step, fma(spread_lane(taps, 9), value, load(grid, at + step)))
            store(grid, at + 2 * step, fma(spread_lane(taps, 10), value, load(grid, at + 2 * step)))
            store(grid, at + 3 * step, fma(spread_lane(taps, 11), value, load(grid, at + 3 * step)))
            store(grid, at + 4 * step, fma(spread_lane(taps, 12), value, load(grid, at + 4 * step)))
            store(grid, at + 5 * step, fma(spread_lane(taps, 13), value, load(grid, at + 5 * step)))
            store(grid, at + 6 * step, fma(spread_lane(taps, 14), value, load(grid, at + 6 * step)))
            store(grid, at + 7 * step, fma(spread_lane(taps, 15), value, load(grid, at + 7 * step)))


@kernel(fastmath=CONTRACT)
def _interpolate_band(bands, out, band):
    """The grid at the points of a ``band`` into ``out``, float32 (n, 2): real and imaginary parts."""
    points = bands.points
    grid = bands.grid
    step = bands.step
    for tile in range(bands.tiles.shape[1]):
        corner = band * TILE_ROWS * step + 2 * tile * TILE_CELLS
        for n in range(np.uint64(bands.tiles[band, tile, 0]), np.uint64(bands.tiles[band, tile, 1])):
            taps, left, low = _taps(points[n, np.uint64(0)], points[n, np.uint64(1)], bands.table)
            at = corner + low * step + 2 * left
            # two sums of four products each: one of eight would wait for the product before
            a = spread_lane(taps, 8) * load(grid, at)
            b = spread_lane(taps, 9) * load(grid, at + step)
            a = fma(spread_lane(taps, 10), load(grid, at + 2 * step), a)
            b = fma(spread_lane(taps, 11), load(grid, at + 3 * step), b)
            a = fma(spread_lane(taps, 12), load(grid, at + 4 * step), a)
            b = fma(spread_lane(taps, 13), load(grid, at + 5 * step), b)
            a = fma(spread_lane(taps, 14), load(grid, at + 6 * step), a)
            b = fma(spread_lane(taps, 15), load(grid, at + 7 * step), b)
            re, im = even_odd_totals(_twice(taps, taps) * (a + b))
            out[n, 0] = re
            out[n, 1] = im


@kernel
def _next(bands, parity):
    """The next band of a ``parity`` that no thread has taken."""
    return parity + 2 * added(bands.taken, parity, 1)


@kernel
def _spread(bands, thread):
    """What a ``thread`` does of :func:`spread`."""
    for parity in range(2):
        band = _next(bands, parity)
        while band < bands.tiles.shape[0]:
            _spread_band(bands, band)
            band = _next(bands, parity)
        meet(bands.meetings, bands.threads)


@kernel
def _interpolate(bands, out, thread):
    """What a ``thread`` does of :func:`interpolate`, which changes no cell: parities do not wait for each other."""
    for parity in range(2):
        band = _next(bands, parity)
        while band < bands.tiles.shape[0]:
            _interpolate_band(bands, out, band)
            band = _next(bands, parity)


def empty_grid(grid: int) -> np.ndarray:
    """Float32 (rows, 2·(M + margin)): all rows a grid of M cells can need, in whole blocks of sixteen."""
    rows = ceil_div(grid // 2 + BELOW + TAPS + 2 + TILE_ROWS, SINGLES) * SINGLES
    return aligned((rows, 2 * (grid + TAPS + TILE_CELLS)), np.float32)


def _bands(points: Sorted, grid: np.ndarray, threads: int) -> Bands:
    """None of them taken."""
    counters = np.zeros(2, np.int64), np.zeros(1, np.int64)
    table = polynomials().ravel()
    return Bands(points.points, points.tiles, grid.reshape(-1), grid.shape[1], table, *counters, threads)


def spread(points: Sorted, grid: np.ndarray, threads: int = 1) -> None:
    """Add all points to ``grid``, which :func:`empty_grid` made."""
    run_parts(_spread, threads, _bands(points, grid, threads))


def interpolate(points: Sorted, grid: np.ndarray, out: np.ndarray, threads: int = 1) -> np.ndarray:
    """The grid at all points, into ``out``, float32 (n, 2), in the order of the tiles."""
    run_parts(_interpolate, threads, _bands(points, grid, threads), out)
    return out
