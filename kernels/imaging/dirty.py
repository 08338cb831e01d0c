"""UVMAP: from visibilities to the dirty image and back, by gridding and transforms.

    I(l, m) = Σ w Re(V exp(2πi (u l + v m))) / Σ w        image
    V(u, v) = Σ I exp(−2πi (u l + v m))                     predict

V is the visibility measured at (u, v), in wavelengths, and w its weight (not the third coordinate of a baseline); l and
m are directions in radians.  *Dirty* is an image made of visibilities without further processing.

Images are float32 (side, side), rows m, columns l; pixel (j, i) lies at l = (i − side/2)·cell and
m = (j − side/2)·cell.  Apart from the factor 1/Σ w and the weights, the two are adjoint.

The sums over visibilities become sums over the cells of a grid: ``gridding`` spreads each over eight by eight cells by
a function φ (``taps``), and the image, made or predicted from, is divided by the Fourier transform φ̂ of φ
(``_corrections``).  The sums over cells are Fourier transforms; the visibilities of a real image come in conjugate
pairs, so that half of the grid, v ≥ 0, has everything::

    image      gridding.spread ─▶ grid ─ _fold ─ along u, _rows_in ─▶ half ─ along v, _columns_in ─▶ image
    predict    image ─ along v, _columns_out ─▶ half ─ along u, _rows_out ─▶ grid ─ _unfold ─ gridding.interpolate ─▶

The transform goes first along the contiguous u, after which the third of a row that lies outside the image is dropped
(the grid has 3/2 as many cells as the image has pixels), then along v.  There a column of half the plane stands for a
real line: two of them, A and B, are transformed as one complex line A + iB.  The transform has exp(+2πi …); real and
imaginary parts exchanged before and after it make exp(−2πi …).  ``half`` is the grid half transformed, along u.  All
arrays are flat float32 and lie so in memory::

    grid      row v:   re im re im re im … re im margin       rows from v = −4 (``BELOW``) on, so that taps of points
                                                              near v = 0 find cells; cells from u = −``grid``/2 on
    half      row v:   re re re … re | im im im … im          of the image's columns, 2 · side numbers
    a block   cell u:  re × 16 | im × 16                      the same cell of sixteen rows: ``PAIR`` numbers
              cell u + 1 …

A block is what is transformed: sixteen lines side by side, one in each lane of a vector.  Sixteen rows of the grid
become a block by transposition, and so do sixteen rows of ``half``; for columns of ``half``, sixteen numbers side by
side are a vector already.  Thread t takes every ``threads``-th block, from block t on.

What makes it fast: half the plane, a third less of it after u, two real columns in one complex line, sixteen lines at
once, and buffers that the next plan finds.  The two blocks of a thread take 384 · side bytes, 384 KiB at side 1024,
which many second-level caches hold.  What each of these gains has no number; ``book/peers.md``, *Imaging*, has the
speed beside ducc0 and FINUFFT.
"""

import threading
import weakref
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import float32

from supercomputers_rerun.kernels import fft
from supercomputers_rerun.kernels.contract import ceil_div
from supercomputers_rerun.kernels.imaging import gridding
from supercomputers_rerun.kernels.imaging.array import IM, RE, WEIGHT, U, V, require_form
from supercomputers_rerun.kernels.imaging.gridding import BELOW, Sorted
from supercomputers_rerun.kernels.imaging.taps import correction, grid_side
from supercomputers_rerun.kernels.runtime.arrays import aligned
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, kernel
from supercomputers_rerun.kernels.runtime.resources import alone, require_memory, require_threads
from supercomputers_rerun.kernels.runtime.team import run_parts, worthwhile
from supercomputers_rerun.kernels.runtime.vector import SINGLES, address, load, spread, store, transpose_block

__all__ = ["SIDES", "Plan", "beam", "columns", "dirty", "plain", "unit_source"]

#: Numbers of one cell of a block: the real parts of as many transforms as a vector has lanes, and the imaginary ones.
PAIR = 2 * SINGLES
#: Multiples of 32: columns go in pairs of vectors, and no vector of a row crosses its middle.
SIDES = tuple(PAIR * 2**power * odd for odd in (1, 3) for power in range(8))


class Way(NamedTuple):
    """What compiled functions need to know of a ``Plan``, on the way between grid and image."""

    side: int  # pixels of a row of the image
    grid: int  # cells of a whole row of the grid
    rows: int  # rows of the grid in use from v = 0 on
    blocks: int  # blocks of sixteen rows that hold all of ``rows``
    step: int  # float32 numbers from one row of the grid to the next
    across: np.ndarray  # float32 (side,): factors along l
    up: np.ndarray  # float32 (side,): factors along m
    radices: np.ndarray  # of ``tables``
    roots: np.ndarray  # of ``tables``
    scratch: np.ndarray  # of ``scratch``
    threads: int


@cache
def tables(length: int) -> tuple[np.ndarray, np.ndarray]:
    """Tables of a transform: radices, int64 and 0-terminated, and roots of unity, float32 (length, 2)."""
    return np.array([*fft.factorise(length), 0], np.int64), fft.roots(length).astype(np.float32)


@kernel
def transform(x, other, length, radices, roots):
    """Transform the block ``x``, float32 (length·32,); ``other`` is of the same size.

    ``radices`` and ``roots`` are those of ``tables(length)``.  Returns 0 where the result is in ``x``, 1 where it is in
    ``other``.
    """
    # ``stockham`` counts both places from one address
    there = (np.int64(other.ctypes.data) - np.int64(x.ctypes.data)) // x.itemsize
    return 0 if fft.stockham(address(x), 0, there, length, address(radices), address(roots)) == 0 else 1


@kernel(inline=True)
def _blocks(thread, way):
    """Two blocks of scratch of a ``thread``."""
    return way.scratch[thread, 0], way.scratch[thread, 1]


@kernel
def _transformed(x, other, way):
    """The block ``x`` transformed, which is ``x`` or ``other``."""
    return x if transform(x, other, way.grid, way.radices, way.roots) == 0 else other


def flops(length: int) -> int:
    """Floating-point operations of one complex line, by the usual count 5 M log2 M."""
    return round(5 * length * np.log2(length))


def _fold(grid, cells):
    """Add the rows of ``grid``, complex64, below v = 0, and the conjugate half of row 0; a row has ``cells`` cells.

    What taps added at (u, v) with v < 0 belongs, conjugate, to (−u, −v); on row 0 both are in the grid.
    """
    below = grid[BELOW - 1 :: -1]
    above = grid[BELOW + 1 : 2 * BELOW + 1]
    above[:, 1:cells] += below[:, cells - 1 : 0 : -1].conj()
    left = grid[BELOW, : cells // 2 + 1]
    right = grid[BELOW, cells : cells // 2 - 1 : -1]
    left += right.conj()
    right[:] = left.conj()


@kernel(inline=True)
def _cell(i, way):
    """The cell of pixel ``i`` in a transform, whose cell 0 is the image's middle."""
    cell = i - way.side // 2
    return cell if cell >= 0 else cell + way.grid


@kernel
def _rows_in(grid, half, way, thread):
    """Along u: rows of the ``grid`` in blocks of sixteen, the image's columns into ``half``."""
    x, other = _blocks(thread, way)
    for block in range(thread, way.blocks, way.threads):
        first = (BELOW + SINGLES * block) * way.step
        for cell in range(0, way.grid, SINGLES // 2):
            transpose_block(grid, (first + 2 * cell, way.step), x, (PAIR * cell, SINGLES))
        done = _transformed(x, other, way)
        for i in range(0, way.side, SINGLES):
            for part in range(2):
                source = PAIR * _cell(i, way) + SINGLES * part
                target = SINGLES * block * 2 * way.side + part * way.side + i
                transpose_block(done, (source, PAIR), half, (target, 2 * way.side))


@kernel(fastmath=CONTRACT)
def _pair_columns(half, x, i, way):
    """Columns ``i`` to i + 31 of ``half`` into ``x`` as sixteen complex lines: C(v) = A(v) + i B(v) for v ≥ 0.

    A column's transform is real, so A(−v) is the conjugate of A(v): C(−v) = A*(v) + i B*(v) is written in the mirrored
    place.  The real part of C's transform is that of A, the imaginary part that of B.
    """
    zero = spread(float32(0))
    for v in range(way.rows):
        re = v * 2 * way.side + i
        im = re + way.side
        ar = load(half, re)
        ai = load(half, im)
        br = load(half, re + SINGLES)
        bi = load(half, im + SINGLES)
        store(x, PAIR * v, ar - bi)
        store(x, PAIR * v + SINGLES, ai + br)
        if v > 0:
            mirror = PAIR * (way.grid - v)
            store(x, mirror, ar + bi)
            store(x, mirror + SINGLES, br - ai)
    for v in range(way.rows, way.grid - way.rows + 1):  # rows that hold nothing
        store(x, PAIR * v, zero)
        store(x, PAIR * v + SINGLES, zero)


@kernel(fastmath=CONTRACT)
def _columns_in(half, image, way, thread):
    """Along v, with the factors of both directions, from ``half`` to the ``image``."""
    x, other = _blocks(thread, way)
    for block in range(thread, way.side // PAIR, way.threads):
        i = PAIR * block
        _pair_columns(half, x, i, way)
        done = _transformed(x, other, way)
        low = load(way.across, i)
        high = load(way.across, i + SINGLES)
        for j in range(way.side):
            source = PAIR * _cell(j, way)
            target = j * way.side + i
            store(image, target, load(done, source) * low * way.up[j])
            store(image, target + SINGLES, load(done, source + SINGLES) * high * way.up[j])


@kernel(fastmath=CONTRACT)
def _unpair(done, half, i, way):
    """Undo ``_pair_columns`` for the columns from ``i`` on: A = (C(v) + C*(−v))/2, B = (C(v) − C*(−v))/2i.

    ``done`` has real and imaginary parts exchanged: what is loaded as the second is the real one.
    """
    scale = float32(0.5)
    for v in range(way.rows):
        here = PAIR * v
        mirror = PAIR * ((way.grid - v) % way.grid)
        cr = load(done, here + SINGLES)
        ci = load(done, here)
        dr = load(done, mirror + SINGLES)
        di = load(done, mirror)
        re = v * 2 * way.side + i
        im = re + way.side
        store(half, re, (cr + dr) * scale)
        store(half, im, (ci - di) * scale)
        store(half, re + SINGLES, (ci + di) * scale)
        store(half, im + SINGLES, (dr - cr) * scale)


@kernel(fastmath=CONTRACT)
def _columns_out(image, half, way, thread):
    """As :func:`_columns_in` from the ``image`` to ``half``, with the other sign, by exchanged parts."""
    x, other = _blocks(thread, way)
    for block in range(thread, way.side // PAIR, way.threads):
        i = PAIR * block
        x[:] = float32(0)
        low = load(way.across, i)
        high = load(way.across, i + SINGLES)
        for j in range(way.side):
            source = j * way.side + i
            target = PAIR * _cell(j, way)
            store(x, target + SINGLES, load(image, source) * low * way.up[j])
            store(x, target, load(image, source + SINGLES) * high * way.up[j])
        _unpair(_transformed(x, other, way), half, i, way)


@kernel
def _rows_out(half, grid, way, thread):
    """Along u from ``half`` to the rows of the ``grid``."""
    x, other = _blocks(thread, way)
    for block in range(thread, way.blocks, way.threads):
        x[:] = float32(0)
        for i in range(0, way.side, SINGLES):
            for part in range(2):
                source = SINGLES * block * 2 * way.side + part * way.side + i
                target = PAIR * _cell(i, way) + SINGLES * (1 - part)
                transpose_block(half, (source, 2 * way.side), x, (target, PAIR))
        done = _transformed(x, other, way)
        for cell in range(way.grid):  # parts change places
            re = load(done, PAIR * cell + SINGLES)
            im = load(done, PAIR * cell)
            store(done, PAIR * cell, re)
            store(done, PAIR * cell + SINGLES, im)
        first = (BELOW + SINGLES * block) * way.step
        for cell in range(0, way.grid, SINGLES // 2):
            transpose_block(done, (PAIR * cell, SINGLES), grid, (first + 2 * cell, way.step))


def _unfold(grid, cells):
    """Rows of ``grid``, complex64, below v = 0 from those above; their taps read them."""
    grid[BELOW - 1 :: -1, 1:cells] = grid[BELOW + 1 : 2 * BELOW + 1, cells - 1 : 0 : -1].conj()


@cache
def _corrections(side: int) -> tuple[np.ndarray, np.ndarray]:
    """1/φ̂ (``taps``) along l and m: with the sign (−1)^pixel of cells that begin at u = −``grid``/2, and without."""
    taper = correction(side, grid_side(side))
    sign = 1.0 - 2.0 * ((np.arange(side) - side // 2) % 2)
    return (taper * sign).astype(np.float32), taper.astype(np.float32)


def scratch(threads: int, length: int) -> np.ndarray:
    """Two buffers of a transform for each thread, float32 (threads, 2, 32·length), on whole cache lines."""
    return aligned((threads, 2, PAIR * length), np.float32)


def _buffers(side: int, threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grid, half-transformed rows and scratch of a plan."""
    cells = grid_side(side)
    half = aligned((ceil_div(cells, PAIR) * SINGLES, 2, side), np.float32)
    return gridding.empty_grid(cells), half, scratch(threads, cells)


#: Buffers of plans that ended, one set for each side and number of threads: the first touch of fresh pages lasts
#: longer than a transform.
_SPARE: dict[tuple[int, int], tuple] = {}


class Plan:
    """Visibilities sorted for one image, with the grid and the buffers its transforms need.

    ``ValueError``: bad records (see :func:`kernels.imaging.array.require_records`), a side that the transforms do not
    take, a cell too coarse for the longest baseline. ``MemoryError`` where it does not fit.

    ``records``: float32 (n, 8); ``side``: pixels of a row, of :data:`SIDES`; ``cell``: radians of a pixel.
    ``Plan.threads`` are those that compute: one, of a small image, whatever ``threads`` says.
    """

    def __init__(self, records: np.ndarray, side: int, cell: float, threads: int = 1):
        if side not in SIDES:
            raise ValueError(f"side = {side!r} is unknown; choose one of {', '.join(map(str, sorted(SIDES)))}")
        require_threads(threads)
        require_form(records)
        self.side = side
        self.grid_side = grid_side(side)
        self.threads = worthwhile(threads, self.grid_side**2)  # half a plane of complex numbers
        self.lock = threading.RLock()  # calls share the grid and the buffers: those of other threads wait
        key = side, self.threads
        spare = _SPARE.pop(key, None)
        if spare is None or 20 * len(records) > spare[0].nbytes:  # asking how much memory is free takes 1.5 ms
            require_memory(12 * self.grid_side**2 + 20 * len(records), f"a grid of {self.grid_side}² cells")
        self.points: Sorted = gridding.sort(records, self.grid_side * float(cell), self.grid_side, self.threads)
        buffers = spare or _buffers(side, self.threads)
        self.grid, self.half, space = buffers
        weakref.finalize(self, _SPARE.__setitem__, key, buffers)  # when this plan is no more, the next one finds them
        across, up = _corrections(side)
        radices, roots = tables(self.grid_side)
        rows = min(max(self.points.rows - BELOW, 1), self.grid_side // 2)
        self.way = Way(
            side=side,
            grid=self.grid_side,
            rows=rows,
            blocks=ceil_div(rows, SINGLES),
            step=self.grid.shape[1],
            across=across,
            up=up,
            radices=radices,
            roots=roots,
            scratch=space,
            threads=self.threads,
        )

    def sorted_column(self, records: np.ndarray, column: int) -> np.ndarray:
        """One column of the ``records``, float32 (used,), in the order of the tiles."""
        return records[np.where(self.points.order < 0, -1 - self.points.order, self.points.order), column]

    @alone
    def image(self, values: np.ndarray | None = None) -> np.ndarray:
        """The dirty image, float32 (side, side).

        ``values``, float32 (n, 2), in the order of the tiles, replace the weighted visibilities, for later calls too.
        """
        if values is not None:
            self.points.points[:, 2:] = values
        self.grid[: self.way.rows + BELOW + SINGLES] = 0
        gridding.spread(self.points, self.grid, self.threads)
        _fold(self.grid.view(np.complex64), self.grid_side)
        out = aligned((self.side, self.side), np.float32)
        # ½: in the whole plane each visibility stands twice, at (u, v) and conjugate at (−u, −v)
        way = self.way._replace(up=self.way.up * np.float32(0.5 / self.points.weight))
        run_parts(_rows_in, self.threads, self.grid.reshape(-1), self.half.reshape(-1), way)
        run_parts(_columns_in, self.threads, self.half.reshape(-1), out.reshape(-1), way)
        return out

    @alone
    def predict(self, image: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """V of the image at the sorted points, float32 (n, 2), in the order of the tiles."""
        out = np.empty((len(self.points.points), 2), np.float32) if out is None else out
        source = np.ascontiguousarray(image, np.float32).reshape(-1)
        run_parts(_columns_out, self.threads, source, self.half.reshape(-1), self.way)
        run_parts(_rows_out, self.threads, self.half.reshape(-1), self.grid.reshape(-1), self.way)
        _unfold(self.grid.view(np.complex64), self.grid_side)
        gridding.interpolate(self.points, self.grid, out, self.threads)
        return out


def dirty(records: np.ndarray, side: int, cell: float, threads: int = 1) -> np.ndarray:
    """The dirty image of unsorted records, float32 (side, side); raises as :class:`Plan`."""
    return Plan(records, side, cell, threads).image()


def unit_source(records: np.ndarray) -> np.ndarray:
    """The ``records`` of a source of 1 Jy in the middle."""
    ones = records.copy()
    ones[:, RE] = 1
    ones[:, IM] = 0
    return ones


def beam(records: np.ndarray, side: int, cell: float, threads: int = 1) -> np.ndarray:
    """The response to a source of 1 Jy in the middle, float32 (side, side)."""
    return Plan(unit_source(records), side, cell, threads).image()


def columns(records: np.ndarray, side: int, cell: float, factors: np.ndarray) -> np.ndarray:
    """Scalar products of every column of the dirty image with ``factors`` (side,): float64 (side,).

    From the sum itself, without a grid.  Exponentials of ``a b`` pixels are products of those of ``a`` and of ``b``, so
    that each visibility has ``4 √side`` of them and the sums are products of matrices.
    """
    good = records[records[:, WEIGHT] > 0].astype(np.float64)
    fine = 1 << (side.bit_length() // 2)
    steps = 2j * np.pi * cell * np.arange(fine)
    blocks = 2j * np.pi * cell * (np.arange(0, side, fine) - side // 2)
    found = np.zeros((side // fine, fine))
    for start in range(0, len(good), 8192):
        part = good[start : start + 8192]
        up = part[:, V, None]
        across = part[:, U, None]
        data = (part[:, RE] + 1j * part[:, IM]) * part[:, WEIGHT]
        data *= ((np.exp(up * blocks) @ factors.reshape(-1, fine)) * np.exp(up * steps)).sum(1)
        found += ((np.exp(across * blocks) * data[:, None]).T @ np.exp(across * steps)).real
    return found.reshape(-1) / good[:, WEIGHT].sum()


def plain(records: np.ndarray, cell: float, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The dirty image by the sum itself, float64 (rows, columns).

    ``records``: float32 (n, 8); ``cell``: radians of a pixel; ``rows``, ``columns``: pixels from the middle.
    """
    good = records[records[:, WEIGHT] > 0].astype(np.float64)
    data = good[:, WEIGHT] * (good[:, RE] + 1j * good[:, IM])
    up = np.exp(2j * np.pi * cell * np.outer(rows, good[:, V]))
    across = np.exp(2j * np.pi * cell * np.outer(good[:, U], columns))
    return ((up * data) @ across).real / good[:, WEIGHT].sum()
