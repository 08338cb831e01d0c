"""Compiled parts of BT on a box: differences, and eliminations that pass from box to box.

Eight lines at once, with the arithmetic of ``kernels.bt``.  An elimination needs of the box before it the upper
block and the right-hand side of the last point (240 words for eight lines), a substitution of the box after it the
solution of the first point (40 words).

In the compiled functions ``u`` and ``rhs`` are a box's field and right-hand side with their neighbours (float64,
flat), ``place`` says where its points lie in them, ``direction`` is a ``lines.Direction``, ``ends`` says where the box
reaches the boundary of the grid, and ``work`` is scratch of ``work_size`` doubles; ``at`` is where the first point of
a group of lines lies, and ``points`` how many each line has.
"""

from typing import NamedTuple

import numpy as np

from kernels.bt.differences import differences
from kernels.bt.elimination import RING, UPPER
from kernels.bt.lines import TILE as _TILE
from kernels.bt.lines import along
from kernels.bt.pieces import BACKWARD, FORWARD, eliminate_piece, substitute_piece
from kernels.runtime.jit import FINITE, kernel
from kernels.runtime.vector import LANES, load, store, transpose_block

_V, _ZERO, _ONE, _TWO, _FIVE = (np.uint64(n) for n in (LANES, 0, 1, 2, 5))
_UPPER, _FORWARD, _BACKWARD = np.uint64(UPPER), np.uint64(FORWARD), np.uint64(BACKWARD)


def work_size(sizes) -> int:
    """Doubles of scratch: ring, two tiles, one 8×8 block, the upper blocks of one group of lines."""
    padded = (2 + -(-(sizes[0] + 2) // LANES)) * LANES
    return RING + 2 * padded * 5 * LANES + LANES * LANES + (max(sizes) + 1) * UPPER


@kernel
def _scratch(work, place):
    padded = (_TWO + (place.ni + _TWO + _V - _ONE) // _V) * _V
    tile = np.uint64(RING)
    other = tile + padded * _TILE
    block = other + padded * _TILE
    return work[:tile], work[tile:other], work[other:block], work[block : block + _V * _V], work[block + _V * _V :]


@kernel(inline=True)
def _tile_groups(place):
    """Groups of eight columns in a tile: the halo, the box, the halo."""
    return _ONE + (place.ni + _TWO + _V - _ONE) // _V


@kernel
def _fill(source, at, place, tile):
    """Eight rows of ``source`` turned into a tile, whose cell i + 8 is point i."""
    for m in range(_FIVE):
        for group in range(_tile_groups(place)):
            column = at + m * place.row + group * _V - _V
            transpose_block(source, column, _FIVE * place.row, tile, group * _V * _TILE + m * _V, _TILE)


@kernel
def _turn_back(tile, r, at, place, lanes, block):
    """The box's columns of a tile back into ``lanes`` rows of ``r``; ``block`` is scratch of 8×8 words."""
    line = _FIVE * place.row
    for m in range(line // place.row):  # five; the constant would be unrolled, with ten copies of the block
        for group in range(_ONE, _ONE + (place.ni + _V - _ONE) // _V):
            source, target = group * _V * _TILE + m * _V, at + m * place.row + group * _V - _V
            if lanes == _V:
                transpose_block(tile, source, _TILE, r, target, line)
            else:
                transpose_block(tile, source, _TILE, block, _ZERO, _V)
                for lane in range(lanes):
                    store(r, target + lane * line, load(block, lane * _V))


@kernel(inline=True)
def _visited(ends, points):
    """First cell that differences visit, as cells before the box, and how many they visit."""
    before, after = (_ZERO if ends.low else _TWO), (_ZERO if ends.high else _TWO)
    return before, points + before + after


@kernel(fastmath=FINITE)
def columns(u, forcing, rhs, place, direction, ends):
    """rhs = forcing + z part of dt times the right-hand side, on all inner points of a box."""
    before, points = _visited(ends, place.nk)
    for j in range(place.nj):
        for group in range((place.ni + _V - _ONE) // _V):
            at = place.base + j * _FIVE * place.row + group * _V - before * place.plane
            differences(u, forcing, rhs, along(2, at, place, points), direction, _ZERO)


@kernel(fastmath=FINITE)
def planes(u, rhs, place, directions, ends, solve, work):
    """y and x part of dt times the right-hand side, plane after plane; then eliminations, where ``solve`` asks.

    ``directions``, ``ends`` and ``solve`` are pairs, for x and for y; only whole lines can be solved here.
    """
    ring, tile_u, tile_r, block, upper = _scratch(work, place)
    line, nothing = _FIVE * place.row, np.zeros(FORWARD)
    before, points = _visited(ends[1], place.nj)
    first, cells = _visited(ends[0], place.ni)
    for k in range(place.nk):
        at = place.base + k * place.plane
        for group in range((place.ni + _V - _ONE) // _V):
            differences(u, rhs, rhs, along(1, at + group * _V - before * line, place, points), directions[1], _ZERO)
        for group in range((place.nj + _V - _ONE) // _V):
            rows = at + group * _V * line
            _fill(u, rows, place, tile_u)
            _fill(rhs, rows, place, tile_r)
            lines = along(0, (_V - first) * _TILE, place, cells)
            differences(tile_u, tile_r, tile_r, lines, directions[0], _ZERO)
            if solve[0]:
                lines = along(0, _V * _TILE, place, place.ni)
                nothing[:] = 0.0
                eliminate_piece(tile_u, tile_r, lines, directions[0], ends[0], upper, _ZERO, ring, nothing, _ZERO)
                nothing[:] = 0.0
                substitute_piece(tile_r, lines, ends[0], upper, _ZERO, nothing, _ZERO)
            _turn_back(tile_r, rhs, rows, place, min(_V, place.nj - group * _V), block)
        if solve[1]:
            for group in range((place.ni + _V - _ONE) // _V):
                lines = along(1, at + group * _V, place, place.nj)
                nothing[:] = 0.0
                eliminate_piece(u, rhs, lines, directions[1], ends[1], upper, _ZERO, ring, nothing, _ZERO)
                nothing[:] = 0.0
                substitute_piece(rhs, lines, ends[1], upper, _ZERO, nothing, _ZERO)


class Sweep(NamedTuple):
    """Which part of the line solves of one direction: groups first <= group < last."""

    axis: int  # 0 x, 1 y, 2 z
    forward: bool  # eliminate
    backward: bool  # substitute; with both, one group after the other
    first: np.uint64
    last: np.uint64


@kernel(fastmath=FINITE)
def sweep(u, rhs, place, direction, ends, part, upper, carry, work):
    """Eliminate or substitute on groups of eight lines of a box.

    ``upper`` keeps the blocks of all groups, (points + 1)·UPPER words each; where a group is eliminated and
    substituted at once they lie in the scratch and ``upper`` is not used.  ``carry`` has FORWARD or BACKWARD
    words for every group from ``part.first`` on.
    """
    ring, tile_u, tile_r, block, own = _scratch(work, place)
    axis, line = part.axis, _FIVE * place.row
    points = place.ni if axis == 0 else (place.nj if axis == 1 else place.nk)
    across = ((place.nj if axis == 0 else place.ni) + _V - _ONE) // _V
    step = _FORWARD if part.forward else _BACKWARD
    for group in range(part.first, part.last):
        outer, lanes = group // across, group % across
        word = (group - part.first) * step
        start = group * (points + _ONE) * _UPPER
        if axis == 0:
            rows = place.base + outer * place.plane + lanes * _V * line
            lines = along(0, _V * _TILE, place, points)
            _fill(rhs, rows, place, tile_r)
            if part.forward:
                _fill(u, rows, place, tile_u)
                eliminate_piece(tile_u, tile_r, lines, direction, ends, upper, start, ring, carry, word)
            else:
                substitute_piece(tile_r, lines, ends, upper, start, carry, word)
            _turn_back(tile_r, rhs, rows, place, min(_V, place.nj - lanes * _V), block)
            continue
        at = place.base + lanes * _V + outer * (place.plane if axis == 1 else line)
        lines = along(axis, at, place, points)
        if part.forward and part.backward:
            carry[:] = 0.0
            eliminate_piece(u, rhs, lines, direction, ends, own, _ZERO, ring, carry, _ZERO)
            carry[:] = 0.0
            substitute_piece(rhs, lines, ends, own, _ZERO, carry, _ZERO)
        elif part.forward:
            eliminate_piece(u, rhs, lines, direction, ends, upper, start, ring, carry, word)
        else:
            substitute_piece(rhs, lines, ends, upper, start, carry, word)


@kernel
def add(u, rhs, place, ends):
    """u += rhs on the points of a box that do not lie on the boundary of the grid; zero rhs on the boundary."""
    for k in range(place.nk):
        edge_k = (ends[2].low and k == _ZERO) or (ends[2].high and k == place.nk - _ONE)
        for j in range(place.nj):
            edge = edge_k or (ends[1].low and j == _ZERO) or (ends[1].high and j == place.nj - _ONE)
            for m in range(_FIVE):
                at = place.base + k * place.plane + (_FIVE * j + m) * place.row
                if edge:
                    for i in range(place.ni):
                        rhs[at + i] = 0.0
                    continue
                if ends[0].low:
                    rhs[at] = 0.0
                if ends[0].high:
                    rhs[at + place.ni - _ONE] = 0.0
                for i in range(place.ni):
                    u[at + i] += rhs[at + i]
