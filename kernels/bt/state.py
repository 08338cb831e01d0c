"""Arrays of one BT run in the layout of the solver, and the way to and from the serial layout."""

from dataclasses import dataclass

import numpy as np

from kernels.contract import require_range
from kernels.runtime.arrays import require_array
from kernels.runtime.jit import kernel
from kernels.runtime.pages import aligned
from kernels.runtime.vector import LANES


@dataclass(frozen=True)
class Layout:
    """Where u[k, j, m, i] lies in a flat array: ``base + k·plane + (5·j + m)·row + i``.

    ``row`` and ``plane`` are odd multiples of a cache line, so that lines of any direction spread
    over all sets of a cache.
    """

    N: int
    row: int  # doubles from one component to the next
    plane: int  # doubles from one k to the next
    base: int  # doubles before the first point, which neighbours of edge points may read
    size: int  # doubles in all

    @classmethod
    def of(cls, points: int) -> "Layout":
        """Layout of a cube of ``points``³ points."""
        row = LANES * (-(-points // LANES) | 1)
        plane = LANES * (points * 5 * row // LANES | 1)
        return cls(points, row, plane, LANES, LANES + points * plane + LANES)

    def new(self, value: float = 0.0) -> np.ndarray:
        """Flat array filled with ``value`` that begins on a cache line, every page touched."""
        array = aligned(self.size)
        array[:] = value
        return array

    def view(self, array: np.ndarray) -> np.ndarray:
        """View [k, j, m, i] of a flat array, without the padding."""
        rows = array[self.base : self.base + self.N * self.plane].reshape(self.N, self.plane)
        return rows[:, : self.N * 5 * self.row].reshape(self.N, self.N, 5, self.row)[..., : self.N]


@dataclass
class State:
    """Everything one run needs; all arrays are flat float64 in the order of ``layout``.

    ``rhs`` holds, between two steps, dt times the forcing and the z part of the next right-hand
    side, if ``ready``.
    """

    layout: Layout
    dt: float
    u: np.ndarray  # solution; padding is 1, so that lanes beyond the grid stay finite
    rhs: np.ndarray  # right-hand side, then the update
    forcing: np.ndarray  # dt · forcing
    start: np.ndarray  # initial field
    ready: bool = False


@kernel
def _pack_planes(u, out, points, row, plane, base, first, last):
    """The planes first … last − 1 of ``u``, in the solver's layout, into ``out``, flat [k, j, i, m].

    ``points``: cells of an axis; ``row``, ``plane``: doubles from one row and plane of ``u`` to the next; ``base``:
    place of the first cell.
    """
    for k in range(first, last):
        for j in range(points):
            source = np.uint64(base + k * plane + j * 5 * row)
            target = np.uint64((k * points + j) * points * 5)
            for i in range(np.uint64(points)):
                for m in range(np.uint64(5)):
                    out[target + i * np.uint64(5) + m] = u[source + m * np.uint64(row) + i]


@kernel
def _unpack_planes(field, u, points, row, plane, base):
    """All planes of ``field``, flat [k, j, i, m], into ``u``; ``points``, ``row``, ``plane`` and ``base`` as for
    :func:`_pack_planes`."""
    for k in range(points):
        for j in range(points):
            target = np.uint64(base + k * plane + j * 5 * row)
            source = np.uint64((k * points + j) * points * 5)
            for i in range(np.uint64(points)):
                for m in range(np.uint64(5)):
                    u[target + m * np.uint64(row) + i] = field[source + i * np.uint64(5) + m]


def pack(state: State, out: np.ndarray, first: int = 0, last: int | None = None) -> np.ndarray:
    """Copy planes ``first <= k < last`` of the solution into the serial layout.

    ``ValueError`` if ``out`` is of another shape, type or order, read-only or memory of the state, or the range leaves
    0 … N.

    Parameters
    ----------
    out : ndarray, float64, C-contiguous, shape (N, N, N, 5)
        Indexed [k, j, i, m]: the order in memory of a Fortran array u(5, N, N, N), component
        fastest.  Planes outside the range are left as they are.
    first, last : int
        Range of k; all planes by default.

    Returns
    -------
    ndarray
        ``out``.
    """
    grid = state.layout
    last = grid.N if last is None else last
    require_array("out", out, np.float64, (grid.N,) * 3 + (5,), True, (state.u,))
    require_range("first", first, 0, last)
    require_range("last", last, first, grid.N)
    _pack_planes(state.u, out.reshape(-1), grid.N, grid.row, grid.plane, grid.base, first, last)
    return out


def unpack(field: np.ndarray, state: State) -> None:
    """Make ``field`` (serial layout, see :func:`pack`) the solution of ``state``.

    ``ValueError`` if ``field`` is of another shape, type or order.
    """
    grid = state.layout
    require_array("field", field, np.float64, (grid.N,) * 3 + (5,), apart=(state.u,))
    _unpack_planes(field.reshape(-1), state.u, grid.N, grid.row, grid.plane, grid.base)
    state.ready = False


def solution(state: State) -> np.ndarray:
    """The solution as a new array of shape (N, N, N, 5), indexed [k, j, i, m]."""
    return pack(state, np.empty((state.layout.N,) * 3 + (5,)))
