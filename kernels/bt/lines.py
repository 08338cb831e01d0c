"""What the compiled functions of BT are told: where points lie, which lines they work on, and a direction's numbers."""

from typing import NamedTuple

import numpy as np

from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.vector import LANES

_V = np.uint64(LANES)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)
_FOUR = np.uint64(4)
_FIVE = np.uint64(5)
#: Distance of two cells in a tile, where eight lines along x are turned: five components of eight lanes.
TILE = np.uint64(5 * LANES)


class Place(NamedTuple):
    """Where u[k, j, m, i] of a box lies: ``base + k·plane + (5·j + m)·row + i``; all uint64, in doubles or points."""

    base: np.uint64  # offset of the box's first point
    plane: np.uint64  # from one k to the next
    row: np.uint64  # from one component of a row to the next
    ni: np.uint64  # points of the box along i
    nj: np.uint64  # along j
    nk: np.uint64  # along k
    beside: np.uint64  # cells that a tile has on either side of the box's: 0, or 8 where boxes have neighbours


class Direction(NamedTuple):
    """Numbers of the direction that a line runs in."""

    dt: float  # time step, in the benchmark's unit
    weights: np.ndarray  # dissipation times dt of every cell, flat float64 [5·cells], see ``differences.weights``
    second: float  # coefficient of the second-order dissipation in the implicit part
    h: float  # distance of neighbouring points, 1/(N − 1) of the cube's edge


class Ends(NamedTuple):
    """How the lines of one direction end at a box; all bool."""

    low: bool  # the first point lies on the boundary of the whole grid
    high: bool  # the last point does


class Lines(NamedTuple):
    """Eight neighbouring lines, one in each lane of a vector; all uint64, offsets and distances in doubles.

    The momenta across the lines enter the equations alike, so one piece of code serves x, y and z.
    """

    at: np.uint64  # the first cell
    cell: np.uint64  # from one cell of a line to the next
    density: np.uint64  # ρ within a cell
    first: np.uint64  # one momentum across the lines
    second: np.uint64  # the other
    along: np.uint64  # the momentum along the lines
    energy: np.uint64  # E
    points: np.uint64  # cells of a line, those on the boundary included
    ahead: np.uint64  # to the lines that are fetched into the cache while these are worked on, 0: none


class Rows(NamedTuple):
    """Eight neighbouring rows of a field, which a tile has as lanes; all uint64, offsets and distances in doubles."""

    at: np.uint64  # the first cell of the first row
    row: np.uint64  # from one component of a row to the next; five of these from row to row
    vectors: np.uint64  # cells of a row, in vectors of eight


@kernel(inline=True)
def vectors_of(cells):
    """Vectors of eight that so many cells fill, the last one perhaps in part."""
    return (cells + _V - _ONE) // _V


@kernel(inline=True)
def along(axis, at, place, points, ahead):
    """Eight lines of ``points`` cells along ``axis`` from the cell ``at`` on, in a tile for x (0), in a field of the
    rows and planes of ``place`` for y and z; the momentum along them is ρu, ρv or ρw."""
    row = place.row
    if axis == 0:
        return Lines(
            at=at,
            cell=TILE,
            density=_ZERO,
            first=_TWO * _V,
            second=_THREE * _V,
            along=_V,
            energy=_FOUR * _V,
            points=points,
            ahead=ahead,
        )
    if axis == 1:
        return Lines(
            at=at,
            cell=_FIVE * row,
            density=_ZERO,
            first=row,
            second=_THREE * row,
            along=_TWO * row,
            energy=_FOUR * row,
            points=points,
            ahead=ahead,
        )
    return Lines(
        at=at,
        cell=place.plane,
        density=_ZERO,
        first=row,
        second=_TWO * row,
        along=_THREE * row,
        energy=_FOUR * row,
        points=points,
        ahead=ahead,
    )


@kernel(inline=True)
def inner(points, ends):
    """Of so many ``points`` the first that is not on the boundary of the grid, and the end of those."""
    return _ONE if ends.low else _ZERO, points - _ONE if ends.high else points


@kernel(inline=True)
def visited(points, ends):
    """Cells before the box from which on differences visit lines of ``points``, and how many they visit: where a line
    goes on in another box they begin and end two cells beyond."""
    before = _ZERO if ends.low else _TWO
    after = _ZERO if ends.high else _TWO
    return before, points + before + after
