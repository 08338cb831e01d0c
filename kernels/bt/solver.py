"""One BT run: its arrays in the layout of the solver, the way to and from the serial layout, time steps and norms."""

from dataclasses import dataclass

import numpy as np

from kernels.bt.differences import weights
from kernels.bt.lines import Direction, Grid
from kernels.bt.problem import SECOND, Problem, exact_parts, initial_component
from kernels.bt.step import planes, rows, team, work_size
from kernels.contract import require_range
from kernels.runtime.arrays import require_array
from kernels.runtime.jit import kernel
from kernels.runtime.pages import aligned, zeros
from kernels.runtime.resources import require_memory, require_threads
from kernels.runtime.threads import numba_threads
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


def _scratch(threads: int, size: int) -> np.ndarray:
    """Scratch of shape (threads, size); threads begin on cache lines of their own."""
    return zeros((threads, LANES * (-(-size // LANES) + 1)))


class Stepper:
    """One state and one number of threads, ready to advance.

    Every plane and every row is computed by one thread with the same instructions whatever their number, so results do
    not depend on it. ``ValueError`` if ``threads`` exceeds the CPUs this process may use.
    """

    def __init__(self, state: State, threads: int = 1):
        require_threads(threads)
        grid = state.layout
        self.state, self.threads = state, threads
        self.grid = Grid(*map(np.uint64, (grid.base, grid.plane, grid.row, grid.N)))
        self.across, self.along_z = (
            Direction(state.dt, weights(grid.N, state.dt, SECOND[axis]).reshape(-1), SECOND[axis], 1.0 / (grid.N - 1.0))
            for axis in (0, 2)
        )
        self.work = _scratch(threads, work_size(grid.N))

    def _pass(self, across: bool, solve: bool) -> None:
        """Once over memory: by planes for x and y (``across``), or by rows for z; elimination if ``solve``."""
        state, last, direction = self.state, self.state.layout.N - 1, self.across if across else self.along_z
        if self.threads > 1:
            fields = state.u, state.rhs, state.forcing
            with numba_threads(self.threads):
                team(across, *fields, self.grid, direction, solve, self.work, self.threads)
        elif across:
            planes(state.u, state.rhs, self.grid, direction, solve, self.work[0], 1, last)
        else:
            rows(state.u, state.rhs, state.forcing, self.grid, direction, solve, self.work[0], 1, last)

    def right_hand_side(self) -> np.ndarray:
        """dt · (operator + forcing) of the present solution as a view [k, j, m, i], zero on the boundary."""
        self._pass(False, False)
        self._pass(True, False)
        self.state.ready = False
        return self.state.layout.view(self.state.rhs)

    def step(self) -> None:
        """One time step."""
        if not self.state.ready:
            self._pass(False, False)
            self.state.ready = True
        self._pass(True, True)
        self._pass(False, True)


def required_memory(problem: Problem) -> int:
    """Bytes of the four arrays, and of the whole components that the initial field is made from."""
    return 4 * 8 * Layout.of(problem.N).size + 8 * 8 * problem.N**3


def new_state(problem: Problem) -> State:
    """Arrays with the initial field and the forcing, which is minus the operator on the exact solution.

    ``MemoryError`` if the four arrays do not fit into the available memory.
    """
    grid = Layout.of(problem.N)
    require_memory(required_memory(problem), f"BT with N = {problem.N}")
    state = State(grid, float(problem.dt), grid.new(1.0), grid.new(), grid.new(), grid.new(1.0))
    u, start = grid.view(state.u), grid.view(state.start)
    constant, (x, y, z) = exact_parts(problem.N)
    for m in range(5):
        u[:, :, m] = constant[m] + x[m] + y[m][:, None] + z[m][:, None, None]
        start[:, :, m] = initial_component(problem.N, m)
    inner = (slice(1, -1),) * 2 + (slice(None), slice(1, -1))
    grid.view(state.forcing)[inner] = -Stepper(state).right_hand_side()[inner]
    state.u[:] = state.start
    return state


def error_norm(state: State) -> np.ndarray:
    """Root-mean-square difference from the exact solution, five components.

    As the benchmark defines it: the sum over all points, divided by the number of inner points.
    """
    constant, (x, y, z) = exact_parts(state.layout.N)
    field, total = state.layout.view(state.u), np.zeros(5)
    for k in range(state.layout.N):
        plane = (constant + z[:, k])[:, None] + x + y.T[:, :, None]
        total += ((field[k] - plane) ** 2).sum(axis=(0, 2))
    return np.sqrt(total / (state.layout.N - 2) ** 3)


def residual_norm(state: State, threads: int = 1) -> np.ndarray:
    """Root-mean-square right-hand side over the inner points, divided by dt, five components."""
    field, total = Stepper(state, threads).right_hand_side(), np.zeros(5)
    for k in range(1, state.layout.N - 1):
        total += (field[k, 1:-1, :, 1:-1] ** 2).sum(axis=(0, 2))
    return np.sqrt(total / (state.layout.N - 2) ** 3) / state.dt
