"""Time steps, forcing and norms of BT over the compiled line kernels."""

import numpy as np

from kernels.bt.differences import weights
from kernels.bt.lines import Direction, Grid
from kernels.bt.problem import SECOND, Problem, exact_parts, initial_component
from kernels.bt.state import Layout, State
from kernels.bt.step import planes, rows, team, work_size
from kernels.runtime.pages import zeros
from kernels.runtime.resources import require_memory, require_threads
from kernels.runtime.threads import numba_threads
from kernels.runtime.vector import LANES


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
