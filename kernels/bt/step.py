"""One time step of BT: planes of constant k, then rows of constant j (see the package's drawing).

Fields are float64 and flat, in the benchmark's units: ``u``, the conserved variables; ``rhs``, dt times the right-hand
side; ``forcing``, dt times the forcing.  ``grid`` (``Grid``) says where a point lies in all of them, ``direction``
(``Direction``) has the numbers of a direction, ``solves`` says whether to eliminate, and ``work`` is the scratch of a
thread, float64 (work_size(N),).
"""

import numpy as np
from numba import prange

from kernels.bt.differences import differences
from kernels.bt.elimination import FORWARD, RING, UPPER, solve
from kernels.bt.lines import TILE as _TILE
from kernels.bt.lines import Ends, along
from kernels.runtime.jit import FINITE, kernel
from kernels.runtime.vector import LANES, load, spread, store, transpose_block

_V = np.uint64(LANES)
_ZERO, _ONE, _FIVE = (np.uint64(n) for n in (0, 1, 5))


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


@kernel(fastmath=FINITE)
def planes(u, rhs, grid, direction, solves, work, first, last):
    """x and y part of the right-hand side of the planes ``first`` <= k < ``last`` and, if wanted, elimination in both
    directions, whose solution ``rhs`` becomes; ``direction`` is that of x and y."""
    points, line, whole = grid.points, _FIVE * grid.row, Ends(True, True)
    upper, ring, carry, tile_u, tile_r, block = scratch(work, points)
    groups = (points + _V - _ONE) // _V
    for k in range(np.uint64(first), np.uint64(last)):
        at = grid.base + k * grid.plane
        for group in range(groups):
            differences(u, rhs, rhs, along(1, at + group * _V, grid, points), direction, _ZERO)
        # x: eight rows at once; the last eight may overlap their predecessors, whose lanes are then
        # not written a second time.
        j = _ONE
        while j < points - _ONE:
            start = j
            if j + _V > points - _ONE:
                start = max(points - _ONE, _V + _ONE) - _V
            place = at + start * line
            fill(u, place, grid.row, groups, tile_u)
            fill(rhs, place, grid.row, groups, tile_r)
            lines = along(0, _ZERO, grid, points)
            differences(tile_u, tile_r, tile_r, lines, direction, _ZERO)
            if solves:
                solve(tile_u, tile_r, lines, direction, whole, upper, ring, carry, _ZERO)
            _clear(tile_r, _ZERO)
            for cell in range(points - _ONE, groups * _V):
                _clear(tile_r, cell)
            stop = min(_V, points - _ONE - start)
            turn_back(tile_r, _ZERO, rhs, place, grid.row, groups, j - start, stop, block)
            j = start + _V
        if solves:
            for group in range(groups):
                lines = along(1, at + group * _V, grid, points)
                solve(u, rhs, lines, direction, whole, upper, ring, carry, grid.plane)


@kernel(inline=True)
def update(u, rhs, place, grid):
    """Add ``rhs`` to ``u`` on the inner cells of eight lines along z, the first cell at ``place`` in the ``grid``."""
    for k in range(_ONE, grid.points - _ONE):
        for m in range(_FIVE):
            entry = place + k * grid.plane + m * grid.row
            store(u, entry, load(u, entry) + load(rhs, entry))


@kernel(fastmath=FINITE)
def rows(u, rhs, forcing, grid, direction, solves, work, first, last):
    """The rows ``first`` <= j < ``last``: if wanted elimination in z and update of ``u``; then forcing and z part.

    ``rhs`` has what the planes left, and in the end forcing and z part of the next right-hand side; ``direction`` is
    that of z.
    """
    points, line, whole = grid.points, _FIVE * grid.row, Ends(True, True)
    upper, ring, carry = scratch(work, points)[:3]
    for j in range(np.uint64(first), np.uint64(last)):
        for group in range((points + _V - _ONE) // _V):
            place = grid.base + j * line + group * _V
            lines = along(2, place, grid, points)
            if solves:
                solve(u, rhs, lines, direction, whole, upper, ring, carry, line)
                update(u, rhs, place, grid)
            differences(u, forcing, rhs, lines, direction, line)


@kernel(parallel=True)
def team(across, u, rhs, forcing, grid, direction, solves, work, threads):
    """:func:`planes` if ``across``, else :func:`rows`, a contiguous share of the inner indices a thread.

    ``work`` is the scratch of all, float64 (``threads``, work_size(N)).
    """
    inner = np.int64(grid.points) - 2
    for t in prange(threads):
        first, last = 1 + t * inner // threads, 1 + (t + 1) * inner // threads
        if across:
            planes(u, rhs, grid, direction, solves, work[t], first, last)
        else:
            rows(u, rhs, forcing, grid, direction, solves, work[t], first, last)
