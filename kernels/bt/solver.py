"""Time steps, norms and forcing of BT over the compiled line kernels."""

import numba
import numpy as np

from kernels._resources import require_threads
from kernels.bt.problem import SECOND, exact_parts
from kernels.bt.state import State
from kernels.bt.step import planes, planes_team, rows, rows_team, work_size
from kernels.bt.sweeps import weights


def _aligned(count: int, size: int) -> np.ndarray:
    """Scratch of shape (count, size) whose rows begin on cache lines of their own."""
    stride = -(-size // 8) * 8 + 8
    raw = np.zeros(count * stride + 8)
    skip = -raw.ctypes.data % 64 // 8
    return raw[skip:skip + count * stride].reshape(count, stride)


class Stepper:
    """One state, one time step length and one number of threads, ready to advance."""

    def __init__(self, state: State, dt: float, threads: int = 1):
        require_threads(threads)
        grid = state.layout
        self.state, self.threads = state, threads
        self.shape = grid.base, grid.plane, grid.row, grid.N
        self.tables = [(dt, weights(grid.N, dt, SECOND[axis]).reshape(-1), SECOND[axis]) for axis in (0, 2)]
        self.work = _aligned(threads, work_size(grid.N))

    def planes(self, solve: bool) -> None:
        state = self.state
        if self.threads == 1:
            planes(state.u, state.rhs, *self.shape, *self.tables[0], solve, self.work[0], 1, self.shape[-1] - 1)
        else:
            planes_team(state.u, state.rhs, *self.shape, *self.tables[0], solve, self.work, self.threads)

    def rows(self, solve: bool) -> None:
        state = self.state
        if self.threads == 1:
            rows(state.u, state.rhs, state.forcing, *self.shape, *self.tables[1], solve, self.work[0],
                 1, self.shape[-1] - 1)
        else:
            rows_team(state.u, state.rhs, state.forcing, *self.shape, *self.tables[1], solve, self.work,
                      self.threads)

    def step(self) -> None:
        if not self.state.ready[0]:
            self.rows(False)
            self.state.ready[0] = True
        self.planes(True)
        self.rows(True)
