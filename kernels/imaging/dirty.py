"""UVMAP: from visibilities to the dirty image and back, by gridding and transforms.

    I(l, m) = Σ w Re(V exp(2πi (u l + v m))) / Σ w        image
    V(u, v) = Σ I exp(−2πi (u l + v m))                     predict

Images are float32 (side, side), rows m, columns l; pixel (j, i) lies at l = (i − side/2)·cell and
m = (j − side/2)·cell.  Apart from the factor 1/Σ w and the weights, the two are adjoint.

The transform goes first along the contiguous u, where it drops half of every row, then along v, two
columns of real numbers as one of complex ones.  Sixteen lines make one vector: an element is 32 float32,
sixteen real parts and sixteen imaginary ones.  Parts that change places before and after change the sign.

Compiled functions share a ``shape`` (:class:`_Shape`), the ``passes`` and ``factors`` of :func:`plan`, ``scratch`` of
:func:`scratch`, and the number of their ``thread``, which takes every ``threads``-th block.  ``half``, float32 (rows,
2, side), has rows transformed along u: real parts of the image's columns, then imaginary ones.  Grid, image and
``half`` are flat.
"""

import threading
import weakref
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import float32

from supercomputers_rerun.kernels import fft
from supercomputers_rerun.kernels.imaging import gridding
from supercomputers_rerun.kernels.imaging.array import IM, RE, WEIGHT, U, V, require_form
from supercomputers_rerun.kernels.imaging.gridding import BELOW, Sorted
from supercomputers_rerun.kernels.imaging.taps import correction, grid_side
from supercomputers_rerun.kernels.runtime.arrays import aligned
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, kernel
from supercomputers_rerun.kernels.runtime.resources import alone, require_memory, require_threads
from supercomputers_rerun.kernels.runtime.team import run_parts
from supercomputers_rerun.kernels.runtime.vector import SINGLES, address, load, store, transpose_block

__all__ = ["SIDES", "Plan", "beam", "columns", "dirty", "of_one", "plain"]

#: Numbers of a block of cells: the real parts of as many transforms as a vector has lanes, and the imaginary ones.
PAIR = 2 * SINGLES
SIDES = tuple(PAIR * 2**power * odd for odd in (1, 3) for power in range(8))


class _Shape(NamedTuple):
    """Whole numbers of a transform between grid and image."""

    side: int  # pixels of a row
    grid: int  # cells of a whole row
    rows: int  # rows of the grid in use from v = 0 on
    step: int  # float32 of a row of the grid
    threads: int


@cache
def plan(length: int) -> tuple[np.ndarray, np.ndarray]:
    """Radices, int64 and 0-terminated, and roots of unity, float32 (length, 2)."""
    return np.array([*fft.factorise(length), 0], np.int64), fft.roots(length).astype(np.float32)


@kernel
def transform(x, other, length, passes, factors):
    """Transform sixteen lines in ``x``, float32 (length·32,); ``other`` is of the same size.

    ``passes`` and ``factors`` are those of ``plan(length)``.  Returns 0 where the result is in ``x``, 1 where it is in
    ``other``.
    """
    there = (np.int64(other.ctypes.data) - np.int64(x.ctypes.data)) // x.itemsize
    return 0 if fft.stockham(address(x), 0, there, length, address(passes), address(factors)) == 0 else 1


def flops(length: int) -> int:
    """Floating-point operations of one complex line, by the usual count 5 M log2 M."""
    return round(5 * length * np.log2(length))


def _fold(grid, cells):
    """Add the rows of ``grid``, complex64, below v = 0, and the conjugate half of row 0; a row has ``cells`` cells."""
    below, zero, above = grid[BELOW - 1 :: -1], grid[BELOW], grid[BELOW + 1 : 2 * BELOW + 1]
    above[:, 1:cells] += below[:, cells - 1 : 0 : -1].conj()
    right, left = zero[: cells // 2 + 1], zero[cells : cells // 2 - 1 : -1]
    right += left.conj()
    left[:] = right.conj()


@kernel(inline=True)
def _column(i, side, grid):
    """Place of pixel ``i`` of ``side`` in a transform of ``grid`` points whose middle is 0."""
    place = i - side // 2
    return place if place >= 0 else place + grid


@kernel
def _rows_in(flat, half, shape, passes, factors, scratch, thread):
    """Along u: rows of the grid ``flat`` in blocks of sixteen, the image's columns into ``half``."""
    blocks = (shape.rows + SINGLES - 1) // SINGLES
    x, other = scratch[thread, 0], scratch[thread, 1]
    for block in range(thread, blocks, shape.threads):
        first = (BELOW + SINGLES * block) * shape.step
        for cell in range(0, shape.grid, 8):
            transpose_block(flat, first + 2 * cell, shape.step, x, PAIR * cell, SINGLES)
        done = x if transform(x, other, shape.grid, passes, factors) == 0 else other
        for i in range(0, shape.side, SINGLES):
            place = _column(i, shape.side, shape.grid)
            for part in range(2):
                to = SINGLES * block * 2 * shape.side + part * shape.side + i
                transpose_block(done, (2 * place + part) * SINGLES, PAIR, half, to, 2 * shape.side)


@kernel(fastmath=CONTRACT)
def _pair_columns(half, x, i, shape):
    """Columns ``i`` to i + 31 of ``half``, real lines, into ``x`` as sixteen complex ones, C = A + iB, and mirrored."""
    wide, rows = 2 * shape.side, shape.rows
    zero = load(half, 0) * float32(0)
    for v in range(rows):
        ar, ai = load(half, v * wide + i), load(half, v * wide + shape.side + i)
        br, bi = load(half, v * wide + i + SINGLES), load(half, v * wide + shape.side + i + SINGLES)
        store(x, v * PAIR, ar - bi)
        store(x, v * PAIR + SINGLES, ai + br)
        if v > 0:
            to = (shape.grid - v) * PAIR
            store(x, to, ar + bi)
            store(x, to + SINGLES, br - ai)
    for v in range(rows, shape.grid - rows + 1):
        store(x, v * PAIR, zero)
        store(x, v * PAIR + SINGLES, zero)


@kernel(fastmath=CONTRACT)
def _columns_in(half, image, shape, across, up, passes, factors, scratch, thread):
    """Along v, with the corrections ``across`` and ``up``, float32 (side,), from ``half`` to the ``image``."""
    x, other = scratch[thread, 0], scratch[thread, 1]
    for block in range(thread, shape.side // PAIR, shape.threads):
        i = PAIR * block
        _pair_columns(half, x, i, shape)
        done = x if transform(x, other, shape.grid, passes, factors) == 0 else other
        low, high = load(across, i), load(across, i + SINGLES)
        for j in range(shape.side):
            at = PAIR * _column(j, shape.side, shape.grid)
            store(image, j * shape.side + i, load(done, at) * low * up[j])
            store(image, j * shape.side + i + SINGLES, load(done, at + SINGLES) * high * up[j])


@kernel(fastmath=CONTRACT)
def _unpair(done, half, i, shape):
    """Undo ``_pair_columns`` for the columns from ``i`` on; ``done`` has real and imaginary parts exchanged."""
    wide = 2 * shape.side
    for v in range(shape.rows):
        at, mirror = PAIR * v, PAIR * ((shape.grid - v) % shape.grid)
        cr, ci = load(done, at + SINGLES), load(done, at)
        dr, di = load(done, mirror + SINGLES), load(done, mirror)
        one = float32(0.5)
        store(half, v * wide + i, (cr + dr) * one)
        store(half, v * wide + shape.side + i, (ci - di) * one)
        store(half, v * wide + i + SINGLES, (ci + di) * one)
        store(half, v * wide + shape.side + i + SINGLES, (dr - cr) * one)


@kernel(fastmath=CONTRACT)
def _columns_out(image, half, shape, across, up, passes, factors, scratch, thread):
    """As :func:`_columns_in` from the ``image`` to ``half``, with the other sign, by exchanged parts."""
    x, other = scratch[thread, 0], scratch[thread, 1]
    for block in range(thread, shape.side // PAIR, shape.threads):
        i = PAIR * block
        x[:] = float32(0)
        low, high = load(across, i), load(across, i + SINGLES)
        for j in range(shape.side):
            at = PAIR * _column(j, shape.side, shape.grid)
            store(x, at + SINGLES, load(image, j * shape.side + i) * low * up[j])
            store(x, at, load(image, j * shape.side + i + SINGLES) * high * up[j])
        done = x if transform(x, other, shape.grid, passes, factors) == 0 else other
        _unpair(done, half, i, shape)


@kernel
def _rows_out(half, flat, shape, passes, factors, scratch, thread):
    """Along u from ``half`` to the rows of the grid ``flat``."""
    blocks = (shape.rows + SINGLES - 1) // SINGLES
    x, other = scratch[thread, 0], scratch[thread, 1]
    for block in range(thread, blocks, shape.threads):
        x[:] = float32(0)
        for i in range(0, shape.side, SINGLES):
            place = _column(i, shape.side, shape.grid)
            for part in range(2):
                source = SINGLES * block * 2 * shape.side + part * shape.side + i
                transpose_block(half, source, 2 * shape.side, x, (2 * place + 1 - part) * SINGLES, PAIR)
        done = x if transform(x, other, shape.grid, passes, factors) == 0 else other
        for cell in range(shape.grid):  # parts change places
            re, im = load(done, PAIR * cell + SINGLES), load(done, PAIR * cell)
            store(done, PAIR * cell, re)
            store(done, PAIR * cell + SINGLES, im)
        first = (BELOW + SINGLES * block) * shape.step
        for cell in range(0, shape.grid, 8):
            transpose_block(done, PAIR * cell, SINGLES, flat, first + 2 * cell, shape.step)


def _unfold(grid, cells):
    """Rows of ``grid``, complex64, below v = 0 from those above; their taps read them."""
    grid[BELOW - 1 :: -1, 1:cells] = grid[BELOW + 1 : 2 * BELOW + 1, cells - 1 : 0 : -1].conj()


@cache
def _corrections(side: int) -> tuple[np.ndarray, np.ndarray]:
    """1/φ̂ along l and m with the sign that the middle of the row brings, and without."""
    plain = correction(side, grid_side(side))
    sign = 1.0 - 2.0 * ((np.arange(side) - side // 2) % 2)
    return (plain * sign).astype(np.float32), plain.astype(np.float32)


def scratch(threads: int, length: int) -> np.ndarray:
    """Two buffers of a transform for each thread, float32 (threads, 2, 32·length), on whole cache lines."""
    return aligned((threads, 2, PAIR * length), np.float32)


def _buffers(side: int, threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grid, half-transformed rows and scratch of a plan."""
    grid = grid_side(side)
    half = aligned((-(-grid // PAIR) * SINGLES, 2, side), np.float32)
    return gridding.empty_grid(grid), half, scratch(threads, grid)


#: Buffers of plans that ended, one set for each side and number of threads: the first touch of fresh pages lasts
#: longer than a transform.
_SPARE: dict[tuple[int, int], tuple] = {}


class Plan:
    """Visibilities sorted for one image, with the grid and the buffers its transforms need.

    ``ValueError``: bad records (see :func:`kernels.imaging.array.require_records`), a side that the transforms do not
    take, a cell too coarse for the longest baseline. ``MemoryError`` where it does not fit.

    ``records``: float32 (n, 8); ``side``: pixels of a row, of :data:`SIDES`; ``cell``: radians of a pixel.
    """

    def __init__(self, records: np.ndarray, side: int, cell: float, threads: int = 1):
        if side not in SIDES:
            raise ValueError(f"side = {side!r} is unknown; choose one of {', '.join(map(str, sorted(SIDES)))}")
        require_threads(threads)
        require_form(records)
        self.side, self.threads = side, threads
        self.lock = threading.RLock()  # calls share the grid and the buffers: those of other threads wait
        self.grid_side = grid_side(side)
        key = side, threads
        spare = _SPARE.pop(key, None)
        if spare is None or 20 * len(records) > spare[0].nbytes:  # the question alone takes 1.5 ms
            require_memory(12 * self.grid_side**2 + 20 * len(records), f"a grid of {self.grid_side}² cells")
        self.points: Sorted = gridding.sort(records, self.grid_side * float(cell), self.grid_side, threads)
        rows = min(max(self.points.rows - BELOW, 1), self.grid_side // 2)
        self.grid, self.half, self.scratch = spare or _buffers(side, threads)
        weakref.finalize(self, _SPARE.__setitem__, key, (self.grid, self.half, self.scratch))
        self.shape = _Shape(side, self.grid_side, rows, self.grid.shape[1], threads)

    def sorted_column(self, records: np.ndarray, column: int) -> np.ndarray:
        """One column of the ``records``, float32 (used,), in the order of the tiles."""
        return records[np.where(self.points.order < 0, -1 - self.points.order, self.points.order), column]

    @alone
    def image(self, values: np.ndarray | None = None) -> np.ndarray:
        """The dirty image, float32 (side, side).

        ``values``, float32 (n, 2), stand in place of the weighted visibilities, in the order of the tiles.
        """
        if values is not None:
            self.points.points[:, 2:] = values
        self.grid[: self.shape.rows + BELOW + SINGLES] = 0
        gridding.spread(self.points, self.grid, self.threads)
        out = aligned((self.side, self.side), np.float32)
        across, up = _corrections(self.side)
        half, tables = self.half.reshape(-1), (*plan(self.grid_side), self.scratch)
        _fold(self.grid.view(np.complex64), self.grid_side)
        run_parts(_rows_in, self.threads, self.grid.reshape(-1), half, self.shape, *tables)
        up = up * np.float32(0.5 / self.points.weight)
        run_parts(_columns_in, self.threads, half, out.reshape(-1), self.shape, across, up, *tables)
        return out

    @alone
    def predict(self, image: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """V of the image at the sorted points, float32 (n, 2), in the order of the tiles."""
        out = np.empty((len(self.points.points), 2), np.float32) if out is None else out
        across, up = _corrections(self.side)
        half, tables = self.half.reshape(-1), (*plan(self.grid_side), self.scratch)
        source = np.ascontiguousarray(image, np.float32).reshape(-1)
        run_parts(_columns_out, self.threads, source, half, self.shape, across, up, *tables)
        run_parts(_rows_out, self.threads, half, self.grid.reshape(-1), self.shape, *tables)
        _unfold(self.grid.view(np.complex64), self.grid_side)
        gridding.interpolate(self.points, self.grid, out, self.threads)
        return out


def dirty(records: np.ndarray, side: int, cell: float, threads: int = 1) -> np.ndarray:
    """The dirty image of unsorted records, float32 (side, side); raises as :class:`Plan`."""
    return Plan(records, side, cell, threads).image()


def of_one(records: np.ndarray) -> np.ndarray:
    """The ``records`` of a source of 1 Jy in the middle."""
    ones = records.copy()
    ones[:, RE], ones[:, IM] = 1, 0
    return ones


def beam(records: np.ndarray, side: int, cell: float, threads: int = 1) -> np.ndarray:
    """The response to a source of 1 Jy in the middle, float32 (side, side)."""
    return Plan(of_one(records), side, cell, threads).image()


def columns(records: np.ndarray, side: int, cell: float, factors: np.ndarray) -> np.ndarray:
    """Every column of the dirty image times ``factors`` (side,), summed, by the sum itself: float64 (side,).

    Exponentials of ``a b`` pixels are products of those of ``a`` and of ``b``, so that each visibility has
    ``4 √side`` of them and the sums are products of matrices.
    """
    good = records[records[:, 7] > 0].astype(np.float64)
    fine = 1 << (side.bit_length() // 2)
    steps = 2j * np.pi * cell * np.arange(fine)
    blocks = 2j * np.pi * cell * (np.arange(0, side, fine) - side // 2)
    found = np.zeros((side // fine, fine))
    for start in range(0, len(good), 8192):
        part = good[start : start + 8192]
        up, across = part[:, 1, None], part[:, 0, None]
        data = (part[:, RE] + 1j * part[:, IM]) * part[:, 7]
        data *= ((np.exp(up * blocks) @ factors.reshape(-1, fine)) * np.exp(up * steps)).sum(1)
        found += ((np.exp(across * blocks) * data[:, None]).T @ np.exp(across * steps)).real
    return found.reshape(-1) / good[:, 7].sum()


def plain(records: np.ndarray, cell: float, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The dirty image by the sum itself, float64 (rows, columns).

    ``records``: float32 (n, 8); ``cell``: radians of a pixel; ``rows``, ``columns``: pixels from the middle.
    """
    good = records[records[:, WEIGHT] > 0].astype(np.float64)
    data = good[:, WEIGHT] * (good[:, RE] + 1j * good[:, IM])
    up = np.exp(2j * np.pi * cell * np.outer(rows, good[:, V]))
    across = np.exp(2j * np.pi * cell * np.outer(good[:, U], columns))
    return ((up * data) @ across).real / good[:, WEIGHT].sum()
