"""NPB's BT: a block-tridiagonal approximate factorisation of the 3-D compressible Navier–Stokes equations."""

from dataclasses import dataclass

import numpy as np

from kernels.bt import reference as _plain
from kernels.bt.problem import Problem, initial_field
from kernels.bt.state import Layout, State, pack, solution, unpack

__all__ = ["Problem", "Result", "State", "march", "pack", "reset", "run", "setup",
           "solution", "unpack"]


@dataclass(frozen=True)
class Result:
    """Norms after the last step: five components each, see ``published``."""

    residual: np.ndarray
    error: np.ndarray


def setup(problem: Problem, seed: int = 0) -> State:
    layout = Layout.of(problem.N)
    state = State(layout, layout.new(), layout.new(), layout.new(), layout.new(), [False])
    unpack(initial_field(problem.N), state)
    state.start[:] = state.u
    return state


def reset(state: State) -> None:
    """Back to the initial field."""
    state.u[:] = state.start
    state.ready[0] = False


def march(problem: Problem, state: State, steps: int, threads: int = 1, on_step=None) -> None:
    """Advance the solution by ``steps`` steps; ``on_step(step, state)`` after each, step = 1 …"""
    u, force = solution(state), _plain.forcing(problem.N)
    for step in range(1, steps + 1):
        _plain.step(u, force, problem.dt)
        unpack(u, state)
        if on_step is not None:
            on_step(step, state)


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1, on_step=None) -> Result:
    """``repeats`` times: back to the initial field, then NS steps."""
    for _ in range(repeats):
        reset(state)
        march(problem, state, problem.NS, threads, on_step)
    return Result(*_plain.norms(solution(state), _plain.forcing(problem.N)))
