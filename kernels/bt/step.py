"""One time step of BT: planes of constant k, then rows of constant j (see the package's drawing).

Fields are float64 and flat, in the benchmark's units: ``u``, the conserved variables; ``rhs``, dt times the right-hand
side; ``forcing``, dt times the forcing.  ``grid`` (``Grid``) says where a point lies in all of them, ``direction``
(``Direction``) has the numbers of a direction, ``solve`` says whether to eliminate, and ``work`` is the scratch of a
thread, float64 (work_size(N),).
"""

import numpy as np
from numba import prange

from kernels.bt.differences import differences
from kernels.bt.elimination import RING, UPPER, eliminate, substitute
from kernels.bt.lines import TILE as _TILE
from kernels.bt.lines import along
from kernels.runtime.jit import FINITE, kernel
from kernels.runtime.vector import LANES, load, spread, store, transpose_block

_V = np.uint64(LANES)
_ZERO, _ONE, _FIVE = (np.uint64(n) for n in (0, 1, 5))


def work_size(points: int) -> int:
    """Doubles of scratch that one thread needs: upper blocks, ring, two tiles, one 8×8 block."""
    padded = -(-points // LANES) * LANES
    return padded * UPPER + RING + 2 * padded * 5 * LANES + LANES * LANES


@kernel
def scratch(work, points):
    """The parts of ``work``, one thread's scratch for lines of ``points`` cells: upper blocks, ring, tiles of u and
    rhs, 8×8 block."""
    padded = (points + _V - _ONE) // _V * _V
    ring = padded * np.uint64(UPPER)
    tile = ring + np.uint64(RING)
    other = tile + padded * _TILE
    block = other + padded * _TILE
    return work[:ring], work[ring:tile], work[tile:other], work[other:block], work[block:]


@kernel(fastmath=FINITE)
def turn_back(tile, rhs, at, grid, fresh, stop, block):
    """Write lanes ``fresh <= lane < stop`` of a solved ``tile`` into their rows of ``rhs``, which begin at ``at`` in
    the ``grid``, zero on the boundary; ``block`` is scratch (8, 8)."""
    zero, line = spread(0.0), _FIVE * grid.row
    groups = (grid.points + _V - _ONE) // _V
    for m in range(line // grid.row):  # five; the constant would be unrolled, with ten copies of the block
        store(tile, m * _V, zero)
        for i in range(grid.points - _ONE, groups * _V):
            store(tile, i * _TILE + m * _V, zero)
        for group in range(groups):
            source, target = group * _V * _TILE + m * _V, at + m * grid.row + group * _V
            if stop - fresh == _V:
                transpose_block(tile, source, _TILE, rhs, target, line)
            else:
                transpose_block(tile, source, _TILE, block, _ZERO, _V)
                for lane in range(fresh, stop):
                    store(rhs, target + lane * line, load(block, lane * _V))


@kernel(inline=True)
def fill_tiles(u, rhs, place, grid, tile_u, tile_r):
    """Eight rows of ``u`` and ``rhs``, the first at ``place`` in the ``grid``, turned into ``tile_u`` and ``tile_r``,
    so that lanes are rows."""
    line = _FIVE * grid.row
    for m in range(_FIVE):
        for group in range((grid.points + _V - _ONE) // _V):
            source, target = place + m * grid.row + group * _V, group * _V * _TILE + m * _V
            transpose_block(u, source, line, tile_u, target, _TILE)
            transpose_block(rhs, source, line, tile_r, target, _TILE)


@kernel(fastmath=FINITE)
def planes(u, rhs, grid, direction, solve, work, first, last):
    """x and y part of the right-hand side of the planes ``first`` <= k < ``last`` and, if wanted, elimination in both
    directions, whose solution ``rhs`` becomes; ``direction`` is that of x and y."""
    points, line = grid.points, _FIVE * grid.row
    upper, ring, tile_u, tile_r, block = scratch(work, points)
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
            fill_tiles(u, rhs, place, grid, tile_u, tile_r)
            lines = along(0, _ZERO, grid, points)
            differences(tile_u, tile_r, tile_r, lines, direction, _ZERO)
            if solve:
                eliminate(tile_u, tile_r, lines, direction, upper, ring, _ZERO)
                substitute(tile_r, lines, upper)
            stop = min(_V, points - _ONE - start)
            turn_back(tile_r, rhs, place, grid, j - start, stop, block)
            j = start + _V
        if solve:
            for group in range(groups):
                lines = along(1, at + group * _V, grid, points)
                eliminate(u, rhs, lines, direction, upper, ring, grid.plane)
                substitute(rhs, lines, upper)


@kernel(inline=True)
def update(u, rhs, place, grid):
    """Add ``rhs`` to ``u`` on the inner cells of eight lines along z, the first cell at ``place`` in the ``grid``."""
    for k in range(_ONE, grid.points - _ONE):
        for m in range(_FIVE):
            entry = place + k * grid.plane + m * grid.row
            store(u, entry, load(u, entry) + load(rhs, entry))


@kernel(fastmath=FINITE)
def rows(u, rhs, forcing, grid, direction, solve, work, first, last):
    """The rows ``first`` <= j < ``last``: if wanted elimination in z and update of ``u``; then forcing and z part.

    ``rhs`` has what the planes left, and in the end forcing and z part of the next right-hand side; ``direction`` is
    that of z.
    """
    points = grid.points
    upper, ring = scratch(work, points)[:2]
    line = _FIVE * grid.row
    for j in range(np.uint64(first), np.uint64(last)):
        for group in range((points + _V - _ONE) // _V):
            place = grid.base + j * line + group * _V
            lines = along(2, place, grid, points)
            if solve:
                eliminate(u, rhs, lines, direction, upper, ring, line)
                substitute(rhs, lines, upper)
                update(u, rhs, place, grid)
            differences(u, forcing, rhs, lines, direction, line)


@kernel(parallel=True)
def team(across, u, rhs, forcing, grid, direction, solve, work, threads):
    """:func:`planes` if ``across``, else :func:`rows`, a contiguous share of the inner indices a thread.

    ``work`` is the scratch of all, float64 (``threads``, work_size(N)).
    """
    inner = np.int64(grid.points) - 2
    for t in prange(threads):
        first, last = 1 + t * inner // threads, 1 + (t + 1) * inner // threads
        if across:
            planes(u, rhs, grid, direction, solve, work[t], first, last)
        else:
            rows(u, rhs, forcing, grid, direction, solve, work[t], first, last)
