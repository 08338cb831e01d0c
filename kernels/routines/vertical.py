"""Vertical integrals by a full matrix along the column (the work behind the name VERINT).

IFS integrates with finite elements in the vertical: a function known at the levels is expanded in
cubic splines, the splines are integrated exactly, and both steps together are one matrix (Untch and
Hortal, *A finite-element scheme for the vertical discretization of the semi-Lagrangian version of the
ECMWF forecast model*, Q. J. R. Meteorol. Soc. 130, 2004).  Here the spline interpolates at the levels
η₁ < … < η_n of 0 … 1, with not-a-knot ends:

    out_j = ∫₀^η_j f dη  (j = 1 … n),     out_{n+1} = ∫₀¹ f dη,     out = R f,   R of shape (n + 1, n)

On an interval of length h, values f and second derivatives M at its ends give
h/2·(f₀ + f₁) − h³/24·(M₀ + M₁); M follows from f by a tridiagonal system, so R is full.  It is exact
for polynomials up to degree three.
"""

from dataclasses import dataclass

import numpy as np

from kernels.contract import Check, Footprint, Work, worst
from kernels.proof import Proof
from kernels.routines.blocking import SMALL_BLOCKS, BlockedProblem, block, over_blocks, unblock
from kernels.routines.panel import Matrix, multiply, padded
from kernels.routines.width import WIDTHS
from kernels.runtime.jit import kernel
from kernels.runtime.pages import zeros
from kernels.runtime.resources import require_memory


@dataclass(frozen=True)
class Problem(BlockedProblem):
    """One field of ``columns`` columns; four levels at least, for the spline's ends.

    ``ValueError`` if a field is outside its range.
    """

    FEWEST_LEVELS = 4


@dataclass(frozen=True)
class State:
    """``weights`` is Rᵀ, (levels, padded levels + 1); the fields are blocked."""

    weights: np.ndarray
    f: np.ndarray  # (blocks, levels, row)
    integral: np.ndarray  # (blocks, levels + 1, row), in f's unit


def level_positions(levels: int) -> np.ndarray:
    """η of the levels, (levels,): closer together towards the ground, as a model's are."""
    middle = (np.arange(levels) + 0.5) / levels
    return middle * (1.0 + 0.6 * (1.0 - middle))


def _second_derivatives(eta: np.ndarray) -> np.ndarray:
    """(n, n) matrix from values to the not-a-knot spline's second derivatives at the levels."""
    n, h = len(eta), np.diff(eta)
    left, right = np.zeros((n, n)), np.zeros((n, n))
    for i in range(1, n - 1):
        left[i, i - 1 : i + 2] = h[i - 1], 2.0 * (h[i - 1] + h[i]), h[i]
        right[i, i - 1 : i + 2] = 6.0 / h[i - 1], -6.0 / h[i - 1] - 6.0 / h[i], 6.0 / h[i]
    # the third derivative is continuous at the second and at the last but one level
    left[0, :3] = h[1], -h[0] - h[1], h[0]
    left[-1, -3:] = h[-1], -h[-1] - h[-2], h[-2]
    return np.linalg.solve(left, right)


def integral_matrix(eta: np.ndarray) -> np.ndarray:
    """R, (n + 1, n), for levels ``eta`` (n,) ascending within 0 … 1, n ≥ 4."""
    n, h = len(eta), np.diff(eta)
    values, bend = np.eye(n), _second_derivatives(eta)

    def beyond(end, next_, d):
        """Integral over the length d outside level ``end``, along the cubic towards ``next_``."""
        step = abs(eta[next_] - eta[end])
        slope = (values[next_] - values[end]) / step - step * (2.0 * bend[end] + bend[next_]) / 6.0
        return (
            d * values[end]
            - d**2 / 2.0 * slope
            + d**3 / 6.0 * bend[end]
            - d**4 / (24.0 * step) * (bend[next_] - bend[end])
        )

    inner = h[:, None] / 2.0 * (values[:-1] + values[1:]) - h[:, None] ** 3 / 24.0 * (bend[:-1] + bend[1:])
    pieces = np.vstack([beyond(0, 1, eta[0]), inner, beyond(n - 1, n - 2, 1.0 - eta[-1])])
    return np.cumsum(pieces, axis=0)


@kernel
def integrate(weights, f, integral, part, width):
    """The integrals of a ``part`` (:class:`width.Part`) of the blocks, ``width`` (``SCALAR`` or ``VECTOR``) at a time.

    ``weights``: Rᵀ, (levels, padded levels + 1), 1; ``f``, ``integral``: blocked fields of ``levels`` and of
    ``levels + 1`` rows, in f's unit, the second written; all float64, flat.
    """
    levels, row = part.levels, part.row
    matrix = Matrix(weights, 0, len(weights) // levels)
    for b in range(part.first, part.end):
        x, out = Matrix(f, b * levels * row, row), Matrix(integral, b * (levels + 1) * row, row)
        multiply(matrix, x, out, levels + 1, levels, part.count, width)


def footprint(problem: Problem) -> Footprint:
    """The matrix, a field and its integrals, and the columns that they are made from."""
    matrix = 8 * problem.levels * padded(problem.levels + 1)
    return Footprint(4 * problem.field_bytes(problem.levels + 1) + matrix)


def setup(problem: Problem, seed: int = 0) -> State:
    """A random field: a cubic polynomial in η with coefficients of its own in every column."""
    require_memory(footprint(problem).memory, "vertical integration")
    eta = level_positions(problem.levels)
    weights = zeros((problem.levels, padded(problem.levels + 1)))
    weights[:, : problem.levels + 1] = integral_matrix(eta).T
    coefficients = np.random.default_rng(seed).uniform(-1.0, 1.0, (4, problem.columns))
    f = np.polynomial.polynomial.polyval(eta, coefficients).T
    return State(weights, block(problem, f), zeros((problem.blocks, problem.levels + 1, problem.row)))


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> State:
    """Integrate every column; the answer is in ``integral``."""
    width = WIDTHS[problem.build]
    fields = [field.reshape(-1) for field in (state.weights, state.f, state.integral)]
    over_blocks(problem, lambda part: integrate(*fields, part, width), threads, repeats)
    return state


def reference(problem: Problem, state: State) -> State:
    """The same by NumPy's matrix product."""
    matrix = state.weights[:, : problem.levels + 1].T
    return State(state.weights, state.f, matrix @ state.f)


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
