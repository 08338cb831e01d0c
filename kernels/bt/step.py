"""One time step of BT: planes of constant k, then rows of constant j (see the package's drawing).

Fields are float64 and flat, in the benchmark's units: ``u``, the conserved variables; ``rhs``, dt times the right-hand
side, zero on the boundary of the grid; ``forcing``, dt times the forcing.  ``place`` (``Place``) says where the points
of a box lie in all of them; ``directions`` (``Direction``) and ``ends`` (``Ends``) are those of x, y and z; ``work`` is
scratch, float64 (threads, work_size(cells)); ``thread`` of ``threads`` takes a contiguous share; ``solves`` says for x,
y and z whether lines are solved, which only whole ones can be.
"""

import numpy as np

from supercomputers_rerun.kernels.bt.differences import differences
from supercomputers_rerun.kernels.bt.elimination import FORWARD, RING, UPPER, solve
from supercomputers_rerun.kernels.bt.lines import TILE as _TILE
from supercomputers_rerun.kernels.bt.lines import along, inner, visited
from supercomputers_rerun.kernels.runtime.jit import FINITE, kernel
from supercomputers_rerun.kernels.runtime.team import meet
from supercomputers_rerun.kernels.runtime.vector import LANES, load, spread, store, transpose_block

_V = np.uint64(LANES)
_ZERO, _ONE, _TWO, _FIVE = (np.uint64(n) for n in (0, 1, 2, 5))


def work_size(cells: int) -> int:
    """Doubles of scratch for lines of so many cells: upper blocks, ring, what is handed on, two tiles, a block."""
    padded = -(-cells // LANES) * LANES
    return (padded + 1) * UPPER + RING + FORWARD + 2 * padded * 5 * LANES + LANES * LANES


@kernel
def scratch(work, cells):
    """The parts of ``work``, one thread's scratch for lines of ``cells`` cells: upper blocks, ring, what is handed on,
    tiles of u and rhs, 8×8 block."""
    padded = (cells + _V - _ONE) // _V * _V
    ring = (padded + _ONE) * np.uint64(UPPER)
    carry = ring + np.uint64(RING)
    tile = carry + np.uint64(FORWARD)
    other = tile + padded * _TILE
    block = other + padded * _TILE
    return work[:ring], work[ring:carry], work[carry:tile], work[tile:other], work[other:block], work[block:]


@kernel(inline=True)
def fill(source, at, row, groups, tile):
    """Eight rows of ``source``, ``groups`` · 8 cells from ``at`` on, turned into ``tile``, so that lanes are rows; the
    components of a row are ``row`` doubles apart."""
    for m in range(_FIVE):
        for group in range(groups):
            transpose_block(source, at + m * row + group * _V, _FIVE * row, tile, group * _V * _TILE + m * _V, _TILE)


@kernel(fastmath=FINITE)
def turn_back(tile, first, target, at, row, groups, fresh, stop, block):
    """Lanes ``fresh <= lane < stop`` of ``groups`` · 8 cells of a ``tile``, from cell ``first`` on, to their rows of
    ``target``, which begin at ``at``; ``block`` is scratch (8, 8)."""
    line = _FIVE * row
    for m in range(line // row):  # five; the constant would be unrolled, with ten copies of the block
        for group in range(groups):
            source, place = (first + group * _V) * _TILE + m * _V, at + m * row + group * _V
            if stop - fresh == _V:
                transpose_block(tile, source, _TILE, target, place, line)
            else:
                transpose_block(tile, source, _TILE, block, _ZERO, _V)
                for lane in range(fresh, stop):
                    store(target, place + lane * line, load(block, lane * _V))


@kernel(inline=True)
def _clear(tile, cell):
    """Zero in a ``cell`` of a ``tile``."""
    for m in range(_FIVE):
        store(tile, cell * _TILE + m * _V, spread(0.0))


@kernel(inline=True)
def _share(first, stop, threads, thread):
    """The part of ``first`` … ``stop`` − 1 that belongs to a ``thread``, both ends uint64."""
    count, threads, thread = stop - first, np.uint64(threads), np.uint64(thread)
    return first + thread * count // threads, first + (thread + _ONE) * count // threads


@kernel(fastmath=FINITE)
def planes(u, rhs, place, directions, ends, solves, work, threads, thread):
    """x and y part of the right-hand side of inner planes; the solution of x and then of y replaces ``rhs``."""
    line, groups = _FIVE * place.row, (place.ni + _V - _ONE) // _V
    wide, cells = groups + _TWO * place.halo // _V, _TWO * place.halo + max(place.ni, place.nj, place.nk)
    upper, ring, carry, tile_u, tile_r, block = scratch(work[thread], cells)
    (before_x, points_x), (before_y, points_y) = visited(place.ni, ends[0]), visited(place.nj, ends[1])
    (low, high), (first, stop) = inner(place.nj, ends[1]), inner(place.nk, ends[2])
    first, stop = _share(first, stop, threads, thread)
    for k in range(first, stop):
        at = place.base + k * place.plane
        for group in range(groups):
            lines = along(1, at + group * _V - before_y * line, place, points_y)
            differences(u, rhs, rhs, lines, directions[1], _ZERO)
        # x: eight rows at once; the last eight may overlap their predecessors, whose lanes are then
        # not written a second time.
        j = low
        while j < high:
            start = j
            if j + _V > high:
                start = max(high, _V + low) - _V
            rows = at + start * line
            fill(u, rows - place.halo, place.row, wide, tile_u)
            fill(rhs, rows - place.halo, place.row, wide, tile_r)
            lines = along(0, (place.halo - before_x) * _TILE, place, points_x)
            differences(tile_u, tile_r, tile_r, lines, directions[0], _ZERO)
            if solves[0]:
                lines = along(0, place.halo * _TILE, place, place.ni)
                solve(tile_u, tile_r, lines, directions[0], ends[0], upper, ring, carry, _ZERO)
            if ends[0].low:
                _clear(tile_r, place.halo)
            if ends[0].high:
                for cell in range(place.ni - _ONE, groups * _V):
                    _clear(tile_r, place.halo + cell)
            turn_back(tile_r, place.halo, rhs, rows, place.row, groups, j - start, min(_V, high - start), block)
            j = start + _V
        if solves[1]:
            for group in range(groups):
                lines = along(1, at + group * _V, place, place.nj)
                solve(u, rhs, lines, directions[1], ends[1], upper, ring, carry, place.plane)


@kernel(fastmath=FINITE)
def rows(u, rhs, forcing, place, directions, ends, solves, work, threads, thread):
    """Of inner rows, if solved, elimination in z and update of ``u``; then into ``rhs`` forcing and z part of the next
    right-hand side."""
    line, cells = _FIVE * place.row, _TWO * place.halo + max(place.ni, place.nj, place.nk)
    upper, ring, carry = scratch(work[thread], cells)[:3]
    before, points = visited(place.nk, ends[2])
    first, stop = inner(place.nj, ends[1])
    first, stop = _share(first, stop, threads, thread)
    for j in range(first, stop):
        for group in range((place.ni + _V - _ONE) // _V):
            at = place.base + j * line + group * _V
            if solves[2]:
                lines = along(2, at, place, place.nk)
                solve(u, rhs, lines, directions[2], ends[2], upper, ring, carry, line)
                for k in range(_ONE, place.nk - _ONE):
                    for m in range(_FIVE):
                        entry = at + k * place.plane + m * place.row
                        store(u, entry, load(u, entry) + load(rhs, entry))
            lines = along(2, at - before * place.plane, place, points)
            differences(u, forcing, rhs, lines, directions[2], line)


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
