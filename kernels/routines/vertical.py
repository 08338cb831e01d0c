"""Vertical integrals by a full matrix along the column (the work behind the name VERINT).

IFS integrates with finite elements in the vertical: a function known at the levels is expanded in
cubic splines, the splines are integrated exactly, and both steps together are one matrix (Untch and
Hortal, *A finite-element scheme for the vertical discretization of the semi-Lagrangian version of the
ECMWF forecast model*, Q. J. R. Meteorol. Soc. 130, 2004).  Here the spline interpolates at the levels
η₁ < … < η_n of 0 … 1, with not-a-knot ends:

    out_j = ∫₀^η_j f dη  (j = 1 … n),     out_{n+1} = ∫₀¹ f dη,     out = R f,   R of shape (n + 1, n)

SciPy's spline of each unit vector, integrated, is a column of R; R is full, and exact for polynomials up to degree
three.
"""

from dataclasses import dataclass

import numpy as np

from kernels.contract import Check, Footprint, Work, worst
from kernels.proof import Proof
from kernels.routines.blocking import SMALL_BLOCKS, WIDTHS, BlockedProblem, block, one_by_one, over_blocks, unblock
from kernels.runtime.jit import kernel
from kernels.runtime.pages import zeros
from kernels.runtime.resources import require_memory
from kernels.runtime.vector import fma, load_as, store, wide

__all__ = ["NO_OUTPUT", "PROOF", "Problem", "State", "footprint", "plain", "reference", "run", "setup", "verify"]
__all__ += ["work"]


@dataclass(frozen=True)
class Problem(BlockedProblem):
    """One field of ``columns`` columns; four levels at least, for the spline's ends.

    ``ValueError`` if a field is outside its range.
    """

    FEWEST_LEVELS = 4


@dataclass(frozen=True)
class State:
    """The matrix, and blocked fields."""

    weights: np.ndarray  # R, (levels + 1, levels)
    f: np.ndarray  # (blocks, levels, row)
    integral: np.ndarray  # (blocks, levels + 1, row), in f's unit


def level_positions(levels: int) -> np.ndarray:
    """η of the levels, (levels,): closer together towards the ground, as a model's are."""
    middle = (np.arange(levels) + 0.5) / levels
    return middle * (1.0 + 0.6 * (1.0 - middle))


def integral_matrix(eta: np.ndarray) -> np.ndarray:
    """R, (n + 1, n), for levels ``eta`` (n,) ascending within 0 … 1, n ≥ 4."""
    from scipy.interpolate import CubicSpline  # takes longer to import than all else

    whole = CubicSpline(eta, np.eye(len(eta))).antiderivative()
    return whole(np.append(eta, 1.0)) - whole(0.0)


@kernel
def integrate(weights, f, integral, part, width):
    """The integrals of a ``part`` (:class:`blocking.Part`) of the blocks, ``width`` (``SCALAR`` or ``VECTOR``) at a
    time, four rows of the matrix abreast, so that a product need not wait for the last.

    ``weights``: R, (levels + 1, levels); ``f``, ``integral``: blocked fields of ``levels`` and of ``levels + 1`` rows,
    in f's unit, float64, flat, the second written.
    """
    levels, row = part.levels, part.row
    for b in range(part.first, part.end):
        for lane in range(0, part.count, len(width)):
            start, out = b * levels * row + lane, b * (levels + 1) * row + lane
            for first in range(0, levels + 1, 4):
                j = min(first, levels - 3)
                x = load_as(f, start, width)
                s0, s1, s2, s3 = wide(0.0, x), wide(0.0, x), wide(0.0, x), wide(0.0, x)
                for k in range(levels):
                    x = one_by_one(load_as(f, start + k * row, width))
                    s0, s1 = fma(weights[j, k], x, s0), fma(weights[j + 1, k], x, s1)
                    s2, s3 = fma(weights[j + 2, k], x, s2), fma(weights[j + 3, k], x, s3)
                for n, value in enumerate((s0, s1, s2, s3)):
                    store(integral, out + (j + n) * row, value)


def footprint(problem: Problem) -> Footprint:
    """The matrix, a field and its integrals, and the columns that they are made from."""
    return Footprint(4 * problem.field_bytes(problem.levels + 1) + 40 * problem.levels * (problem.levels + 1))


def setup(problem: Problem, seed: int = 0) -> State:
    """A random field: a cubic polynomial in η with coefficients of its own in every column."""
    require_memory(footprint(problem).memory, "vertical integration")
    eta = level_positions(problem.levels)
    coefficients = np.random.default_rng(seed).uniform(-1.0, 1.0, (4, problem.columns))
    f = np.polynomial.polynomial.polyval(eta, coefficients).T
    integral = zeros((problem.blocks, problem.levels + 1, problem.row))
    return State(np.ascontiguousarray(integral_matrix(eta)), block(problem, f), integral)


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> State:
    """Integrate every column; the answer is in ``integral``."""
    arrays = state.weights, state.f.reshape(-1), state.integral.reshape(-1)
    over_blocks(problem, lambda part: integrate(*arrays, part, WIDTHS[problem.build]), threads, repeats)
    return state


def plain(weights, f):
    """R f of fields (…, levels, columns): NumPy's product of matrices."""
    return weights @ f


def reference(problem: Problem, state: State) -> State:
    """The same by :func:`plain`."""
    return State(state.weights, state.f, plain(state.weights, state.f))


def verify(problem: Problem, result: State) -> list[Check]:
    """The integrals of each column's cubic, known in closed form from four of its values."""
    eta = level_positions(problem.levels)
    f, integral = unblock(problem, result.f), unblock(problem, result.integral)
    some = np.linspace(0, problem.levels - 1, 4).astype(int)
    coefficients = np.linalg.solve(np.vander(eta[some], 4, increasing=True), f[some])
    ends = np.append(eta, 1.0)
    exact = (ends[:, None] ** np.arange(1, 5) / np.arange(1, 5)) @ coefficients
    difference = integral - exact
    return [
        Check.near("largest error of the integral of the whole column", worst(difference[-1]), 0.0, 1e-11),
        Check.near("largest error of the integrals down to the levels", worst(difference[:-1]), 0.0, 1e-11),
    ]


NO_OUTPUT = dict.fromkeys(("weights", "f"), "a factor of the product")


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations and bytes of one repeat, which threads share: the field read, the integrals written.

    The matrix stays in cache.
    """
    n, columns = problem.levels, problem.columns
    return Work(2 * (n + 1) * n * columns, 8 * n * columns, 8 * (n + 1) * columns)


PROOF = Proof(SMALL_BLOCKS, each={"build": tuple(WIDTHS)}, within={"integral": 1e-14})
