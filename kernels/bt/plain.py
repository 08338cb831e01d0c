"""The same time steps in plain NumPy, as a kernel of its own: a slow base code.

NHT-1 warns that an overhead is only as meaningful as the computing time it is held against (section 4):
the same writing looks small beside a slow solver.  This one does the arithmetic of ``bt.reference`` and
serves as that solver; nobody would choose it for its speed.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernels import bt
from kernels.bt import Problem, Result, verify, work
from kernels.bt.problem import initial_field
from kernels.contract import Footprint, require_range
from kernels.runtime.resources import require_memory, require_threads

# the package's name ``reference`` is its word; the module behind it has the steps
from kernels.bt.reference import forcing, norms, step  # isort: skip
from kernels.proof import Proof

__all__ = ["Problem", "Result", "State", "footprint", "march", "reference", "reset", "run", "setup", "solution",
           "verify", "work"]  # fmt: skip


@dataclass
class State:
    """Fields indexed [k, j, i, m], float64 (N, N, N, 5)."""

    u: np.ndarray  # the solution
    force: np.ndarray  # the term that makes the exact solution steady
    start: np.ndarray  # the initial field


def footprint(problem: Problem) -> Footprint:
    """Three fields, and the dense Jacobians of one direction: about a hundred words a point each."""
    return Footprint(8 * problem.N**3 * (15 + 4 * 25 * 5))


def setup(problem: Problem, seed: int = 0) -> State:
    """Fields at the start; ``seed`` is unused.

    ``ValueError`` if N is above 40, where a step takes many seconds. ``MemoryError`` if the fields do not fit.
    """
    require_range("N", problem.N, bt.SMALLEST_N, bt.LARGEST_REFERENCE, "points for the plain solver")
    require_memory(footprint(problem).memory, f"the plain solver with N = {problem.N}")
    start = initial_field(problem.N)
    return State(start.copy(), forcing(problem.N), start)


def reset(state: State) -> None:
    """Back to the initial field."""
    state.u[:] = state.start


def solution(state: State) -> np.ndarray:
    """U in the serial order, float64 (N, N, N, 5) as [k, j, i, m]; not a copy."""
    return state.u


def march(
    problem: Problem, state: State, steps: int, threads: int = 1, on_step: Callable[[int, State], object] | None = None
) -> None:
    """Advance by ``steps`` time steps on one thread, as ``bt.march``; ``threads`` is only checked."""
    require_threads(threads)
    for number in range(1, steps + 1):
        step(state.u, state.force, problem.dt)
        if on_step is not None:
            on_step(number, state)


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """``repeats`` times: back to the initial field, then NS steps.  Returns the norms at the end."""
    for _ in range(repeats):
        reset(state)
        march(problem, state, problem.NS, threads)
    return Result(*norms(state.u, state.force))


def reference(problem: Problem, state: State) -> Result:
    """The compiled solver, which shares no line with this one."""
    return bt.run(problem, bt.setup(problem))


PROOF = Proof(bt.PROOF.small)
