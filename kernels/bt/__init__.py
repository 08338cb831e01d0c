"""NPB's BT: an implicit solver for the three-dimensional compressible Navier–Stokes equations.

A time step solves (I + dt·Aₓ)(I + dt·A_y)(I + dt·A_z) Δ = dt·(R(U) + forcing) and adds Δ to U.  Each
factor is a set of block-tridiagonal systems, one along every grid line, with 5×5 blocks.  The
forcing makes a given polynomial field the steady solution.

Specification: Bailey et al., *The NAS Parallel Benchmarks*, NASA Ames report RNR-94-007, chapter 3;
classes and verification values in ``problem``.

Layout.  Eight neighbouring lines are solved at once, one in each lane of a vector.  The five
components of a row stand in rows of their own, so that a vector is one load::

    U[k][j][m][i]:       i →  0 1 2 3 4 5 6 7 | 8 9 …            | padding
      plane k   row j    ρ    ■ ■ ■ ■ ■ ■ ■ ■   □ □ …             to an odd
                         ρu   ■ ■ ■ ■ ■ ■ ■ ■   □ □ …             number of
                         ρv   ■ ■ ■ ■ ■ ■ ■ ■   □ □ …             cache lines
                         ρw   ■ ■ ■ ■ ■ ■ ■ ■   □ □ …
                         E    ■ ■ ■ ■ ■ ■ ■ ■   □ □ …
                row j+1  ρ    …

    y: the eight ■ columns go down the rows     j, j+1, …      lanes = i
    z: they go down the planes                  k, k+1, …      lanes = i
    x: eight rows are turned by 8×8 transpositions into a tile [i][m][8], lanes = j

One step passes over memory twice.  Plane by plane (constant k): x and y part of the right-hand
side, elimination in x, elimination in y.  Then slab by slab (constant j, all k): elimination in z,
update of U, and from the new U at once the z part of the next right-hand side.  Planes are
independent of each other, and so are slabs: threads share them out.

``pack`` and ``unpack`` convert between this layout and the serial one of the I/O benchmark.

Seconds of a step of class W, and the same by the words of a kernel, verified to the published norms:

>>> from supercomputers_rerun.kernels import bt
>>> bt.step_time("W") > 0
True
>>> problem = bt.Problem.preset("W")
>>> state = bt.setup(problem)
>>> result = bt.run(problem, state)
>>> all(check.ok for check in bt.verify(problem, result)), bt.solution(state).shape
(True, (24, 24, 24, 5))
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from supercomputers_rerun.kernels.bt import plain
from supercomputers_rerun.kernels.bt.problem import TOLERANCE, Problem
from supercomputers_rerun.kernels.bt.solver import Box, State, Stepper, norms, pack, solution, unpack
from supercomputers_rerun.kernels.contract import Check, Footprint, Work, worst
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.runtime.resources import require_memory

__all__ = ["PROOF", "Problem", "Result", "State", "Stepper", "TOLERANCE", "footprint", "march", "norms", "npb_flops"]
__all__ += ["pack", "reference", "run", "setup", "solution", "step_time", "unpack", "verify", "work"]

# Floating-point operations per inner point and step, all three directions together; a division
# counts as one.  tests/kernels/bt/test_work.py runs the kernels with numbers that count and holds these.
_FLOPS = {"differences": 3 * 110, "elimination": 3 * 611, "substitution": 3 * 50, "update": 5}


@dataclass(frozen=True)
class Result:
    """Norms after the last step, five components each: ρ, ρu, ρv, ρw, E."""

    residual: np.ndarray  # root-mean-square right-hand side divided by dt
    error: np.ndarray  # root-mean-square difference from the exact solution


def footprint(problem: Problem) -> Footprint:
    """Solution, right-hand side, forcing, initial field and what it is made from, and the scratch of every thread."""
    box = Box(problem.N, problem.dt)
    scratch = 8 * box.work_size
    return Footprint(4 * 8 * box.size + 8 * 8 * problem.N**3 + scratch, each_thread=scratch)


def setup(problem: Problem, seed: int = 0) -> State:
    """Arrays of one run, at the initial field; the benchmark has no random part, ``seed`` is unused.

    ``MemoryError`` if the problem does not fit into the available memory.
    """
    require_memory(footprint(problem).memory, f"BT with N = {problem.N}")
    state = State.at_exact_solution(Box(problem.N, problem.dt))
    Stepper(state).right_hand_side()
    state.force()
    return state


def march(problem: Problem, state: State, steps: int, threads: int = 1) -> None:
    """Advance the solution by ``steps`` time steps from where it is.  Read it with ``pack(state, out)``.

    ``setup`` made the state for this problem.  ``ValueError`` if ``threads`` exceeds the usable CPUs.
    """
    box, stepper = state.box, Stepper(state, threads)
    if problem.code != "plain":
        most = max(1, 10**6 // problem.N**3)  # about a tenth of a second, after which Ctrl-C is heard
        for done in range(0, steps, most):
            stepper.step(min(most, steps - done))
        return
    u, forced = (np.swapaxes(box.view(each), 2, 3) for each in (state.u, state.forcing))
    for _ in range(steps):
        plain.step(u, forced, problem.dt)
        state.ready = False


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """``repeats`` times: back to the initial field, then NS steps.  Returns the norms at the end.

    Errors as in :func:`march`.  The result does not depend on ``threads``.
    """
    for _ in range(repeats):
        state.reset()
        march(problem, state, problem.NS, threads)
    return Result(*norms(state, threads))


def reference(problem: Problem, state: State | None = None) -> Result:
    """The same norms line by line (``kernels.bt.plain``), which takes 17 to 26 times as long."""
    return Result(*plain.norms(plain.march(problem.N, problem.NS, problem.dt)))


def verify(problem: Problem, result: Result) -> list[Check]:
    """Published norms to NPB's relative tolerance of 1e-8, where the problem is a published class.

    For any other problem only what must hold: every norm is a finite number above zero.
    """
    checks, published = [], problem.published
    for kind in ("residual", "error"):
        for m, name in enumerate(("ρ", "ρu", "ρv", "ρw", "E")):
            value = float(getattr(result, kind)[m])
            label = f"{kind} norm of {name}"
            if published is not None:
                checks.append(Check.relative(label, value, getattr(published, kind)[m], TOLERANCE))
            else:
                checks.append(Check(f"{label} is finite", value, value, 0.0, bool(0.0 < value < np.inf)))
    return checks


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations and bytes of one repeat, NS steps, which threads share.

    Flops are those of this algorithm (sparse Jacobians, LU), about two thirds of what NPB's formula
    credits.  Bytes: U is read twice and written once a step, the right-hand side read and written
    twice, the forcing read once.
    """
    inner = (problem.N - 2) ** 3 * problem.NS
    parts = tuple((name, count * inner) for name, count in _FLOPS.items())
    field = 5 * 8 * problem.N**3 * problem.NS
    return Work(sum(count for _, count in parts), 5 * field, 3 * field, parts)


def step_time(name: str = "W", threads: int = 1, rounds: int = 5) -> float:
    """Seconds of a time step of a class of NPB: the fastest of ``rounds`` marches between two verified runs.

    ``ValueError`` if the class is unknown, or a result is not the published one.
    """
    problem = Problem.preset(name)
    state, seconds = setup(problem), [0.0] * rounds
    for number in range(-1, rounds + 1):
        if 0 <= number < rounds:
            state.reset()
            begin = perf_counter()
            march(problem, state, problem.NS, threads)
            seconds[number] = perf_counter() - begin
        elif not all(check.ok for check in verify(problem, run(problem, state, threads))):
            raise ValueError(f"BT class {name} was computed wrong, so it gets no time")
    return min(seconds) / problem.NS


def npb_flops(problem: Problem) -> float:
    """Operations that NPB credits for one run, whatever the code does (NPB 3.4, bt)."""
    n = float(problem.N)
    return problem.NS * (3478.8 * n**3 - 17655.7 * n**2 + 28023.7 * n)


def _field(problem: Problem, state: State, result: Result) -> list[Check]:
    """Every number of U, which norms only add up."""
    expected = plain.march(problem.N, problem.NS, problem.dt)
    copy = setup(problem)
    copy.u[:] = np.nan  # so that what is not unpacked is no answer: the edges of the initial field never change
    unpack(solution(state), copy)
    checks = []
    for name, found in (("U", solution(state)), ("U there and back", solution(copy))):
        off = worst(found - expected) / worst(expected)
        checks.append(Check.near(f"{name}: largest difference line by line, relative", off, 0.0, 1e-13))
    return checks


#: A side that is no multiple of a vector, and steps enough for what one of them leaves to the next.
PROOF = Proof({"N": 13, "NS": 3, "dt": 0.01}, also=_field)
