"""One time step of BT: planes of constant k, then rows of constant j (see the package's drawing).

Fields are float64 and flat, in the benchmark's units: ``u``, the conserved variables; ``rhs``, dt times the right-hand
side, zero on the boundary of the grid; ``forcing``, dt times the forcing.  ``place`` (``Place``) says where the points
of a box lie in all of them; ``directions`` (``Direction``) and ``ends`` (``Ends``) are those of x, y and z; ``work`` is
scratch, float64 (threads, work_size(cells)); ``thread`` of ``threads`` takes a contiguous share; ``solves`` says for x,
y and z whether lines are solved, which only whole ones can be.
"""

import numpy as np

from supercomputers_rerun.kernels.bt.differences import differences
from supercomputers_rerun.kernels.bt.elimination import FORWARD, RING, UPPER, Scratch, solve
from supercomputers_rerun.kernels.bt.lines import TILE as _TILE
from supercomputers_rerun.kernels.bt.lines import Rows, along, inner, vectors_of, visited
from supercomputers_rerun.kernels.contract import ceil_div
from supercomputers_rerun.kernels.runtime.jit import FINITE, kernel
from supercomputers_rerun.kernels.runtime.team import meet
from supercomputers_rerun.kernels.runtime.vector import LANES, load, spread, store, transpose_block

_V = np.uint64(LANES)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_FIVE = np.uint64(5)


def work_size(cells: int) -> int:
    """Doubles of scratch for lines of so many cells: upper blocks, ring, what is handed on, two tiles, a block."""
    padded = ceil_div(cells, LANES) * LANES
    return (padded + 1) * UPPER + RING + FORWARD + 2 * padded * 5 * LANES + LANES * LANES


@kernel
def scratch(work, cells):
    """The parts of ``work``, one thread's scratch for lines of ``cells`` cells: upper blocks, ring, what is handed on,
    tiles of u and rhs, 8×8 block."""
    padded = vectors_of(cells) * _V
    ring = (padded + _ONE) * np.uint64(UPPER)
    carry = ring + np.uint64(RING)
    tile = carry + np.uint64(FORWARD)
    other = tile + padded * _TILE
    block = other + padded * _TILE
    return work[:ring], work[ring:carry], work[carry:tile], work[tile:other], work[other:block], work[block:]


@kernel(inline=True)
def rows_to_tile(source, rows, tile):
    """Eight ``rows`` (``Rows``) of ``source`` transposed into ``tile``, so that lanes are rows."""
    for m in range(_FIVE):
        for vector in range(rows.vectors):
            at = rows.at + m * rows.row + vector * _V
            transpose_block(source, at, _FIVE * rows.row, tile, vector * _V * _TILE + m * _V, _TILE)


@kernel(fastmath=FINITE)
def tile_to_rows(tile, first, target, rows, lanes, block):
    """The ``lanes``, a pair fresh <= lane < stop, of a ``tile`` from its cell ``first`` on into their rows (``Rows``)
    of ``target``; ``block`` is scratch (8, 8)."""
    fresh, stop = lanes
    line = _FIVE * rows.row
    # line // row is five, which the compiler is not to know: it would unroll, with ten copies of the transposition.
    for m in range(line // rows.row):
        for vector in range(rows.vectors):
            source = (first + vector * _V) * _TILE + m * _V
            at = rows.at + m * rows.row + vector * _V
            if stop - fresh == _V:
                transpose_block(tile, source, _TILE, target, at, line)
            else:
                transpose_block(tile, source, _TILE, block, _ZERO, _V)
                for lane in range(fresh, stop):
                    store(target, at + lane * line, load(block, lane * _V))


@kernel(inline=True)
def _clear(tile, cell):
    """Zero in a ``cell`` of a ``tile``."""
    for m in range(_FIVE):
        store(tile, cell * _TILE + m * _V, spread(0.0))


@kernel(inline=True)
def _share(first, stop, threads, thread):
    """The part of ``first`` … ``stop`` − 1 that belongs to a ``thread``, both ends uint64."""
    count = stop - first
    threads = np.uint64(threads)
    thread = np.uint64(thread)
    return first + thread * count // threads, first + (thread + _ONE) * count // threads


@kernel(inline=True)
def _most_cells(place):
    """Cells of the longest line of a box, those of its neighbours included."""
    return _TWO * place.halo + max(place.ni, place.nj, place.nk)


@kernel(fastmath=FINITE)
def planes(u, rhs, place, directions, ends, solves, work, threads, thread):
    """x and y part of the right-hand side of inner planes; the solution of x and then of y replaces ``rhs``."""
    line = _FIVE * place.row
    vectors = vectors_of(place.ni)
    wide = vectors + _TWO * place.halo // _V
    upper, ring, carry, tile_u, tile_r, block = scratch(work[thread], _most_cells(place))
    line_scratch = Scratch(upper, ring, carry)
    before_x, points_x = visited(place.ni, ends[0])
    before_y, points_y = visited(place.nj, ends[1])
    low, high = inner(place.nj, ends[1])
    first, stop = inner(place.nk, ends[2])
    first, stop = _share(first, stop, threads, thread)
    for k in range(first, stop):
        at = place.base + k * place.plane
        for vector in range(vectors):
            lines = along(1, at + vector * _V - before_y * line, place, points_y, _ZERO)
            differences(u, rhs, rhs, lines, directions[1])
        # x: eight rows at once; the last eight may overlap their predecessors, whose lanes are then
        # not written a second time.
        j = low
        while j < high:
            start = j
            if j + _V > high:
                start = max(high, _V + low) - _V
            first_row = at + start * line
            with_halo = Rows(first_row - place.halo, place.row, wide)
            rows_to_tile(u, with_halo, tile_u)
            rows_to_tile(rhs, with_halo, tile_r)
            lines = along(0, (place.halo - before_x) * _TILE, place, points_x, _ZERO)
            differences(tile_u, tile_r, tile_r, lines, directions[0])
            if solves[0]:
                lines = along(0, place.halo * _TILE, place, place.ni, _ZERO)
                solve(tile_u, tile_r, lines, directions[0], ends[0], line_scratch)
            if ends[0].low:
                _clear(tile_r, place.halo)
            if ends[0].high:
                for cell in range(place.ni - _ONE, vectors * _V):
                    _clear(tile_r, place.halo + cell)
            lanes = j - start, min(_V, high - start)
            tile_to_rows(tile_r, place.halo, rhs, Rows(first_row, place.row, vectors), lanes, block)
            j = start + _V
        if solves[1]:
            for vector in range(vectors):
                # a plane ahead: the same lines of the next k
                lines = along(1, at + vector * _V, place, place.nj, place.plane)
                solve(u, rhs, lines, directions[1], ends[1], line_scratch)


@kernel(fastmath=FINITE)
def rows(u, rhs, forcing, place, directions, ends, solves, work, threads, thread):
    """Of inner rows, if solved, elimination in z and update of ``u``; then into ``rhs`` forcing and z part of the next
    right-hand side."""
    line = _FIVE * place.row
    upper, ring, carry = scratch(work[thread], _most_cells(place))[:3]
    line_scratch = Scratch(upper, ring, carry)
    before, points = visited(place.nk, ends[2])
    first, stop = inner(place.nj, ends[1])
    first, stop = _share(first, stop, threads, thread)
    for j in range(first, stop):
        for vector in range(vectors_of(place.ni)):
            at = place.base + j * line + vector * _V
            # a row ahead: the same lines of the next j
            if solves[2]:
                lines = along(2, at, place, place.nk, line)
                solve(u, rhs, lines, directions[2], ends[2], line_scratch)
                for k in range(_ONE, place.nk - _ONE):
                    for m in range(_FIVE):
                        entry = at + k * place.plane + m * place.row
                        store(u, entry, load(u, entry) + load(rhs, entry))
            lines = along(2, at - before * place.plane, place, points, line)
            differences(u, forcing, rhs, lines, directions[2])


@kernel(fastmath=FINITE)
def sweeps(count, which, u, rhs, forcing, place, directions, ends, solves, work, counter, threads, thread):
    """``count`` times ``planes`` and ``rows``, each where the pair ``which`` asks."""
    for _ in range(count):
        if which[0]:
            planes(u, rhs, place, directions, ends, solves, work, threads, thread)
            meet(counter, threads)
        if which[1]:
            rows(u, rhs, forcing, place, directions, ends, solves, work, threads, thread)
            meet(counter, threads)
