"""One time step of BT: planes of constant k, then rows of constant j (see the package's drawing)."""

import numpy as np
from numba import prange

from kernels.bt.differences import differences
from kernels.bt.elimination import RING, UPPER, eliminate, substitute
from kernels.runtime.jit import FINITE, kernel
from kernels.runtime.vector import LANES, load, spread, store, transpose

_V = np.uint64(LANES)
_ZERO, _ONE, _TWO, _THREE, _FOUR, _FIVE, _SIX, _SEVEN = (np.uint64(n) for n in range(8))
_M1, _M2, _M3, _M4 = _V, np.uint64(2 * LANES), np.uint64(3 * LANES), np.uint64(4 * LANES)
#: Distance of two cells in a tile: five components of eight lanes.
_TILE = np.uint64(5 * LANES)


def work_size(points: int) -> int:
    """Doubles of scratch that one thread needs: upper blocks, ring, two tiles, one 8×8 block."""
    padded = -(-points // LANES) * LANES
    return padded * UPPER + RING + 2 * padded * 5 * LANES + LANES * LANES


@kernel
def _scratch(work, points):
    """The parts of one thread's scratch: upper blocks, ring, tiles of u and rhs, 8×8 block."""
    padded = (points + _V - _ONE) // _V * _V
    ring = padded * np.uint64(UPPER)
    tile = ring + np.uint64(RING)
    other = tile + padded * _TILE
    block = other + padded * _TILE
    return work[:ring], work[ring:tile], work[tile:other], work[other:block], work[block:]


@kernel(inline=True)
def _turn(source, start, rows, target, place, columns):
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


@kernel(fastmath=FINITE)
def _turn_back(tile, rhs, at, line, row, points, fresh, stop, block):
    """Write lanes ``fresh <= lane < stop`` of a solved tile into their rows, zero on the boundary."""
    zero = spread(0.0)
    groups = (points + _V - _ONE) // _V
    for m in range(line // row):  # five; the constant would be unrolled, with ten copies of the block
        store(tile, m * _V, zero)
        for i in range(points - _ONE, groups * _V):
            store(tile, i * _TILE + m * _V, zero)
        for group in range(groups):
            source, target = group * _V * _TILE + m * _V, at + m * row + group * _V
            if stop - fresh == _V:
                _turn(tile, source, _TILE, rhs, target, line)
            else:
                _turn(tile, source, _TILE, block, _ZERO, _V)
                for lane in range(fresh, stop):
                    store(rhs, target + lane * line, load(block, lane * _V))


@kernel(fastmath=FINITE)
def planes(u, rhs, base, plane, row, points, dt, table, second, solve, work, first, last):
    """x and y part of the right-hand side for planes first <= k < last; with ``solve`` both eliminations."""
    points, row, plane = np.uint64(points), np.uint64(row), np.uint64(plane)
    upper, ring, tile_u, tile_r, block = _scratch(work, points)
    line, groups = _FIVE * row, (points + _V - _ONE) // _V
    o1, o2, o3, o4 = row, np.uint64(2) * row, np.uint64(3) * row, np.uint64(4) * row
    for k in range(np.uint64(first), np.uint64(last)):
        at = np.uint64(base) + k * plane
        for group in range(groups):  # y: the momentum along the lines is ρv
            differences(u, rhs, rhs, at + group * _V, line, _ZERO, o1, o3, o2, o4, points, dt, table, _ZERO)
        # x: eight rows at once, turned so that lanes are rows; the last eight may overlap their
        # predecessors, whose lanes are then not written a second time.
        j = _ONE
        while j < points - _ONE:
            start = j
            if j + _V > points - _ONE:
                start = max(points - _ONE, _V + _ONE) - _V
            place = at + start * line
            for m in range(_FIVE):
                for group in range(groups):
                    source, target = place + m * row + group * _V, group * _V * _TILE + m * _V
                    _turn(u, source, line, tile_u, target, _TILE)
                    _turn(rhs, source, line, tile_r, target, _TILE)
            differences(tile_u, tile_r, tile_r, _ZERO, _TILE, _ZERO, _M2, _M3, _M1, _M4, points, dt, table, _ZERO)
            if solve:
                eliminate(
                    tile_u, tile_r, _ZERO, _TILE, _ZERO, _M2, _M3, _M1, _M4, points, dt, second, upper, ring, _ZERO
                )
                substitute(tile_r, _ZERO, _TILE, _ZERO, _M2, _M3, _M1, _M4, points, upper)
            stop = min(_V, points - _ONE - start)
            _turn_back(tile_r, rhs, place, line, row, points, j - start, stop, block)
            j = start + _V
        if solve:
            for group in range(groups):
                place = at + group * _V
                eliminate(u, rhs, place, line, _ZERO, o1, o3, o2, o4, points, dt, second, upper, ring, plane)
                substitute(rhs, place, line, _ZERO, o1, o3, o2, o4, points, upper)


@kernel(fastmath=FINITE)
def rows(u, rhs, forcing, base, plane, row, points, dt, table, second, solve, work, first, last):
    """Rows first <= j < last: with ``solve`` elimination in z and update; then forcing + z part."""
    points, row, plane = np.uint64(points), np.uint64(row), np.uint64(plane)
    upper, ring = _scratch(work, points)[:2]
    line = _FIVE * row
    o1, o2, o3, o4 = row, np.uint64(2) * row, np.uint64(3) * row, np.uint64(4) * row
    for j in range(np.uint64(first), np.uint64(last)):
        for group in range((points + _V - _ONE) // _V):
            place = np.uint64(base) + j * line + group * _V
            if solve:
                eliminate(u, rhs, place, plane, _ZERO, o1, o2, o3, o4, points, dt, second, upper, ring, line)
                substitute(rhs, place, plane, _ZERO, o1, o2, o3, o4, points, upper)
                for k in range(_ONE, points - _ONE):
                    for m in range(_FIVE):
                        entry = place + k * plane + m * row
                        store(u, entry, load(u, entry) + load(rhs, entry))
            differences(u, forcing, rhs, place, plane, _ZERO, o1, o2, o3, o4, points, dt, table, line)


@kernel(parallel=True)
def team(across, u, rhs, forcing, base, plane, row, points, dt, table, second, solve, work, threads):
    """:func:`planes` (``across``) or :func:`rows`, a contiguous share of the inner indices a thread."""
    for t in prange(threads):
        first, last = 1 + t * (points - 2) // threads, 1 + (t + 1) * (points - 2) // threads
        if across:
            planes(u, rhs, base, plane, row, points, dt, table, second, solve, work[t], first, last)
        else:
            rows(u, rhs, forcing, base, plane, row, points, dt, table, second, solve, work[t], first, last)
