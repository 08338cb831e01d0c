"""One time step of BT: planes of constant k, then rows of constant j (see the package's drawing)."""

import numpy as np
from numba import prange

from kernels.bt.differences import differences
from kernels.bt.elimination import RING, UPPER, eliminate, substitute
from kernels.bt.lines import Lines
from kernels.runtime.jit import FINITE, kernel
from kernels.runtime.vector import LANES, high_of_two, load, low_of_two, spread, store, transpose

_V = np.uint64(LANES)
_ZERO, _ONE, _TWO, _THREE, _FOUR, _FIVE, _SIX, _SEVEN = (np.uint64(n) for n in range(8))
#: Distance of two cells in a tile: five components of eight lanes.
_TILE = np.uint64(5 * LANES)


def work_size(points: int) -> int:
    """Doubles of scratch that one thread needs: upper blocks, ring, two tiles, one 8×8 block."""
    padded = -(-points // LANES) * LANES
    return padded * UPPER + RING + 2 * padded * 5 * LANES + LANES * LANES


@kernel
def _scratch(work, points):
    """The parts of ``work``, one thread's scratch for lines of ``points`` cells: upper blocks, ring, tiles of u and
    rhs, 8×8 block."""
    padded = (points + _V - _ONE) // _V * _V
    ring = padded * np.uint64(UPPER)
    tile = ring + np.uint64(RING)
    other = tile + padded * _TILE
    block = other + padded * _TILE
    return work[:ring], work[ring:tile], work[tile:other], work[other:block], work[block:]


@kernel(inline=True)
def turn(source, start, rows, target, place, columns):
    """Write the 8×8 block source[start + r·rows + c] to target[place + c·columns + r]."""
    r = transpose(
        load(source, start),
        load(source, start + rows),
        load(source, start + _TWO * rows),
        load(source, start + _THREE * rows),
        load(source, start + _FOUR * rows),
        load(source, start + _FIVE * rows),
        load(source, start + _SIX * rows),
        load(source, start + _SEVEN * rows),
    )
    store(target, place, r[0])
    store(target, place + columns, r[1])
    store(target, place + _TWO * columns, r[2])
    store(target, place + _THREE * columns, r[3])
    store(target, place + _FOUR * columns, r[4])
    store(target, place + _FIVE * columns, r[5])
    store(target, place + _SIX * columns, r[6])
    store(target, place + _SEVEN * columns, r[7])


@kernel(inline=True)
def _turn_two(source, start, rows, target, place, columns):
    """``turn`` of 2×2 blocks: from ``source`` at ``start``, its rows ``rows`` apart, to ``target`` at ``place``, its
    rows ``columns`` apart."""
    first, second = load(source, start), load(source, start + rows)
    store(target, place, low_of_two(first, second))
    store(target, place + columns, high_of_two(first, second))


if LANES == 2:
    turn = _turn_two


@kernel(fastmath=FINITE)
def _turn_back(tile, rhs, at, grid, fresh, stop, block):
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
                turn(tile, source, _TILE, rhs, target, line)
            else:
                turn(tile, source, _TILE, block, _ZERO, _V)
                for lane in range(fresh, stop):
                    store(rhs, target + lane * line, load(block, lane * _V))


@kernel(inline=True)
def _along_x(points):
    """The eight lines of a tile, of ``points`` cells each; the momentum along them is ρu, the second component."""
    return Lines(_ZERO, _TILE, _ZERO, _TWO * _V, _THREE * _V, _V, _FOUR * _V, points)


@kernel(inline=True)
def _along_y(at, grid):
    """Eight lines down the rows of a plane of the ``grid``, the first at ``at``; the momentum along them is ρv."""
    row = grid.row
    return Lines(at, _FIVE * row, _ZERO, row, _THREE * row, _TWO * row, _FOUR * row, grid.points)


@kernel(inline=True)
def _along_z(at, grid):
    """Eight lines down the planes of the ``grid``, the first at ``at``; the momentum along them is ρw."""
    row = grid.row
    return Lines(at, grid.plane, _ZERO, row, _TWO * row, _THREE * row, _FOUR * row, grid.points)


@kernel(inline=True)
def _fill_tiles(u, rhs, place, grid, tile_u, tile_r):
    """Eight rows of ``u`` and ``rhs``, the first at ``place`` in the ``grid``, turned into ``tile_u`` and ``tile_r``,
    so that lanes are rows."""
    line = _FIVE * grid.row
    for m in range(_FIVE):
        for group in range((grid.points + _V - _ONE) // _V):
            source, target = place + m * grid.row + group * _V, group * _V * _TILE + m * _V
            turn(u, source, line, tile_u, target, _TILE)
            turn(rhs, source, line, tile_r, target, _TILE)


@kernel(fastmath=FINITE)
def planes(u, rhs, grid, direction, solve, work, first, last):
    """x and y part of the right-hand side of some planes and, if wanted, elimination in both directions.

    Parameters
    ----------
    u : float64, flat
        Conserved variables, in the benchmark's unit.
    rhs : float64, flat
        dt times the right-hand side so far; becomes the solution of both eliminations if ``solve``.
    grid : Grid
        Where a point lies in ``u`` and ``rhs``.
    direction : Direction
        Numbers of x and y.
    solve : bool
        Whether to eliminate.
    work : float64, (work_size(N),)
        Scratch of this thread.
    first, last : int
        Planes first <= k < last.
    """
    points, line = grid.points, _FIVE * grid.row
    upper, ring, tile_u, tile_r, block = _scratch(work, points)
    groups = (points + _V - _ONE) // _V
    for k in range(np.uint64(first), np.uint64(last)):
        at = grid.base + k * grid.plane
        for group in range(groups):
            differences(u, rhs, rhs, _along_y(at + group * _V, grid), direction, _ZERO)
        # x: eight rows at once; the last eight may overlap their predecessors, whose lanes are then
        # not written a second time.
        j = _ONE
        while j < points - _ONE:
            start = j
            if j + _V > points - _ONE:
                start = max(points - _ONE, _V + _ONE) - _V
            place = at + start * line
            _fill_tiles(u, rhs, place, grid, tile_u, tile_r)
            differences(tile_u, tile_r, tile_r, _along_x(points), direction, _ZERO)
            if solve:
                eliminate(tile_u, tile_r, _along_x(points), direction, upper, ring, _ZERO)
                substitute(tile_r, _along_x(points), upper)
            stop = min(_V, points - _ONE - start)
            _turn_back(tile_r, rhs, place, grid, j - start, stop, block)
            j = start + _V
        if solve:
            for group in range(groups):
                lines = _along_y(at + group * _V, grid)
                eliminate(u, rhs, lines, direction, upper, ring, grid.plane)
                substitute(rhs, lines, upper)


@kernel(fastmath=FINITE)
def rows(u, rhs, forcing, grid, direction, solve, work, first, last):
    """Some rows: if wanted elimination in z and update of u; then the forcing and the z part.

    Parameters
    ----------
    u : float64, flat
        Conserved variables, in the benchmark's unit; receives the update if ``solve``.
    rhs : float64, flat
        What the planes left, and in the end dt times forcing and z part of the next right-hand side.
    forcing : float64, flat
        dt times the forcing.
    grid : Grid
        Where a point lies in all three arrays.
    direction : Direction
        Numbers of z.
    solve : bool
        Whether to eliminate and update.
    work : float64, (work_size(N),)
        Scratch of this thread.
    first, last : int
        Rows first <= j < last.
    """
    points = grid.points
    upper, ring = _scratch(work, points)[:2]
    line = _FIVE * grid.row
    for j in range(np.uint64(first), np.uint64(last)):
        for group in range((points + _V - _ONE) // _V):
            place = grid.base + j * line + group * _V
            lines = _along_z(place, grid)
            if solve:
                eliminate(u, rhs, lines, direction, upper, ring, line)
                substitute(rhs, lines, upper)
                for k in range(_ONE, points - _ONE):
                    for m in range(_FIVE):
                        entry = place + k * grid.plane + m * grid.row
                        store(u, entry, load(u, entry) + load(rhs, entry))
            differences(u, forcing, rhs, lines, direction, line)


@kernel(parallel=True)
def team(across, u, rhs, forcing, grid, direction, solve, work, threads):
    """:func:`planes` if ``across``, else :func:`rows`, a contiguous share of the inner indices a thread.

    ``u``, ``rhs``, ``forcing``, ``grid``, ``direction`` and ``solve`` as there; ``work`` is the scratch of all,
    float64 (``threads``, work_size(N)).
    """
    inner = np.int64(grid.points) - 2
    for t in prange(threads):
        first, last = 1 + t * inner // threads, 1 + (t + 1) * inner // threads
        if across:
            planes(u, rhs, grid, direction, solve, work[t], first, last)
        else:
            rows(u, rhs, forcing, grid, direction, solve, work[t], first, last)
