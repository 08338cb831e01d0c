"""One rank's box of BT in memory, and what compiled code is told about it.

The layout is that of ``kernels.bt``, U[k][j][m][i] with rows on cache lines, and two layers of the neighbours'
points on every side::

    row of one component:  6 × padding, i = −2, −1 | i = 0 … ni−1, ni, ni+1, padding to an odd number of lines

Rows that eight lines of x take together may reach beyond the box; they are there, and hold ones.
"""

from typing import NamedTuple

import numpy as np

from kernels.bt.differences import weights
from kernels.bt.lines import Direction, Ends
from kernels.bt.problem import SECOND
from kernels.runtime.pages import aligned
from kernels.runtime.vector import LANES

#: Layers of neighbours' points.
HALO = 2
#: Bundles of lines that follow each other through the boxes.
BUNDLES = 8


class Place(NamedTuple):
    """Where u[k, j, m, i] of a box lies: ``base + k·plane + (5·j + m)·row + i``; all uint64, in doubles."""

    base: np.uint64  # offset of the box's first point
    plane: np.uint64  # from one k to the next
    row: np.uint64  # from one component of a row to the next
    ni: np.uint64  # points of the box along i
    nj: np.uint64  # along j
    nk: np.uint64  # along k


class Box:
    """Layout and directions of a box.

    ``points``: N, along every edge of the whole grid; ``dt``: time step; ``limits``: half-open ranges of i, j and k
    that the box holds.
    """

    def __init__(self, points: int, dt: float, limits):
        self.points, self.dt, self.limits = points, dt, tuple(limits)
        self.sizes = tuple(stop - start for start, stop in limits)
        ni, nj, nk = self.sizes
        self.row = LANES * ((1 + -(-(ni + HALO) // LANES)) | 1)
        self.rows = -(-nj // LANES) * LANES + 2 * HALO
        self.plane = LANES * (self.rows * 5 * self.row // LANES | 1)
        self.base = LANES + HALO * self.plane + HALO * 5 * self.row + LANES
        self.size = LANES + (nk + 2 * HALO) * self.plane + LANES
        self.place = Place(*map(np.uint64, (self.base, self.plane, self.row, ni, nj, nk)))
        self.ends = tuple(Ends(a == 0, b == points) for a, b in limits)
        self.whole = tuple(all(ends) for ends in self.ends)  # no other box has a part of the lines
        self.directions = tuple(self._direction(axis) for axis in range(3))

    def _direction(self, axis: int) -> Direction:
        """Weights begin at the first cell that differences visit: the boundary, or two cells before the box."""
        (start, stop), ends = self.limits[axis], self.ends[axis]
        table = np.zeros((self.points + 2 * HALO, 5))
        table[HALO:-HALO] = weights(self.points, self.dt, SECOND[axis])
        own = table[start + (HALO if ends.low else 0) : stop + (HALO if ends.high else 2 * HALO)]
        return Direction(self.dt, np.ascontiguousarray(own).reshape(-1), SECOND[axis], 1.0 / (self.points - 1.0))

    def new(self, value: float = 0.0) -> np.ndarray:
        """Flat array filled with ``value`` that begins on a cache line, every page touched."""
        array = aligned(self.size)
        array[:] = value
        return array

    def view(self, array: np.ndarray, halo: int = 0) -> np.ndarray:
        """View [k, j, m, i] of a flat array: the box, with ``halo`` layers around it."""
        ni, nj, nk = self.sizes
        planes = array[LANES : LANES + (nk + 2 * HALO) * self.plane].reshape(nk + 2 * HALO, self.plane)
        whole = planes[:, : self.rows * 5 * self.row].reshape(nk + 2 * HALO, self.rows, 5, self.row)
        off = HALO - halo
        return whole[off : nk + 2 * HALO - off, off : nj + 2 * HALO - off, :, LANES - halo : LANES + ni + halo]

    def inner(self, array: np.ndarray) -> np.ndarray:
        """View [k, j, m, i] of the points of the box that do not lie on the boundary of the grid."""
        i, j, k = (
            slice(int(ends.low), size - int(ends.high)) for ends, size in zip(self.ends, self.sizes, strict=True)
        )
        return self.view(array)[k, j, :, i]

    def groups(self, axis: int) -> int:
        """Groups of eight lines along an axis."""
        return groups(self.sizes, axis)


def groups(sizes, axis: int) -> int:
    """Groups of eight lines along ``axis`` of a box of ``sizes``: lanes are rows for x, columns for y and z."""
    ni, nj, nk = sizes
    lanes, others = ((nj, nk), (ni, nk), (ni, nj))[axis]
    return -(-lanes // LANES) * others
