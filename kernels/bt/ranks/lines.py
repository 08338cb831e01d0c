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

from kernels.bt import step
from kernels.bt.differences import differences
from kernels.bt.elimination import BACKWARD, FORWARD, UPPER, eliminate, solve, substitute
from kernels.bt.lines import TILE as _TILE
from kernels.bt.lines import along
from kernels.bt.step import fill, scratch, turn_back
from kernels.runtime.jit import FINITE, kernel
from kernels.runtime.vector import LANES

_V, _ZERO, _ONE, _TWO, _FIVE = (np.uint64(n) for n in (LANES, 0, 1, 2, 5))
_UPPER, _FORWARD, _BACKWARD = np.uint64(UPPER), np.uint64(FORWARD), np.uint64(BACKWARD)
_HALO = np.uint64(2 * LANES)  # cells of a tile that are not the box's


def work_size(sizes) -> int:
    """Doubles of scratch for the lines of a box."""
    return step.work_size(2 * LANES + max(sizes))


@kernel(inline=True)
def _own(place):
    """The scratch's cells, and the groups of eight columns of a box."""
    return _HALO + max(place.ni, place.nj, place.nk), (place.ni + _V - _ONE) // _V


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
        for group in range(_own(place)[1]):
            at = place.base + j * _FIVE * place.row + group * _V - before * place.plane
            differences(u, forcing, rhs, along(2, at, place, points), direction, _ZERO)


@kernel(fastmath=FINITE)
def planes(u, rhs, place, directions, ends, solves, work):
    """y and x part of dt times the right-hand side, plane after plane; then eliminations, where ``solves`` asks.

    ``directions``, ``ends`` and ``solves`` are pairs, for x and for y; only whole lines can be solved here.
    """
    cells, groups = _own(place)
    upper, ring, carry, tile_u, tile_r, block = scratch(work, cells)
    line = _FIVE * place.row
    before, points = _visited(ends[1], place.nj)
    first, cells = _visited(ends[0], place.ni)
    for k in range(place.nk):
        at = place.base + k * place.plane
        for group in range(groups):
            differences(u, rhs, rhs, along(1, at + group * _V - before * line, place, points), directions[1], _ZERO)
        for group in range((place.nj + _V - _ONE) // _V):
            rows = at + group * _V * line
            fill(u, rows - _V, place.row, groups + _TWO, tile_u)
            fill(rhs, rows - _V, place.row, groups + _TWO, tile_r)
            lines = along(0, (_V - first) * _TILE, place, cells)
            differences(tile_u, tile_r, tile_r, lines, directions[0], _ZERO)
            if solves[0]:
                lines = along(0, _V * _TILE, place, place.ni)
                solve(tile_u, tile_r, lines, directions[0], ends[0], upper, ring, carry, _ZERO)
            turn_back(tile_r, _V, rhs, rows, place.row, groups, _ZERO, min(_V, place.nj - group * _V), block)
        if solves[1]:
            for group in range(groups):
                lines = along(1, at + group * _V, place, place.nj)
                solve(u, rhs, lines, directions[1], ends[1], upper, ring, carry, _ZERO)


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
    cells, groups = _own(place)
    own, ring, nothing, tile_u, tile_r, block = scratch(work, cells)
    axis, line = part.axis, _FIVE * place.row
    points = place.ni if axis == 0 else (place.nj if axis == 1 else place.nk)
    across = (place.nj + _V - _ONE) // _V if axis == 0 else groups
    words = _FORWARD if part.forward else _BACKWARD
    for group in range(part.first, part.last):
        outer, lanes = group // across, group % across
        handed = carry[(group - part.first) * words :]
        kept = upper[group * (points + _ONE) * _UPPER :]
        if axis == 0:
            rows = place.base + outer * place.plane + lanes * _V * line
            lines = along(0, _V * _TILE, place, points)
            fill(rhs, rows - _V, place.row, groups + _TWO, tile_r)
            if part.forward:
                fill(u, rows - _V, place.row, groups + _TWO, tile_u)
                eliminate(tile_u, tile_r, lines, direction, ends, kept, ring, handed, _ZERO)
            else:
                substitute(tile_r, lines, ends, kept, handed)
            turn_back(tile_r, _V, rhs, rows, place.row, groups, _ZERO, min(_V, place.nj - lanes * _V), block)
            continue
        at = place.base + lanes * _V + outer * (place.plane if axis == 1 else line)
        lines = along(axis, at, place, points)
        if part.forward and part.backward:
            solve(u, rhs, lines, direction, ends, own, ring, nothing, _ZERO)
        elif part.forward:
            eliminate(u, rhs, lines, direction, ends, kept, ring, handed, _ZERO)
        else:
            substitute(rhs, lines, ends, kept, handed)


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
