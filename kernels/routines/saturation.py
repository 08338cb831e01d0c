"""Saturation adjustment: condense what the air cannot hold (the work behind the name CUADJTQ).

Of air above saturation, temperature T and specific humidity q move along the line of constant
c_p·T + L·q to the point where q = q_s(T, p).  With C the condensed humidity, Newton's iteration is

    C ← (q − q_s) / (1 + L/c_p · dq_s/dT),     T ← T + L/c_p · C,     q ← q − C

(Langlois, *A rapidly convergent procedure for computing large-scale condensation in a dynamical
weather model*, Tellus 25, 1973).  The first step condenses too much, because q_s is convex in T; the
next ones give some back, so that q never ends above saturation.  Air below saturation stays.

Saturation is over water (Tetens 1930, coefficients of Buck, J. Appl. Meteorol. 20, 1981):

    e_s = 611.21 Pa · exp(17.502 (T − 273.16)/(T − 32.19)),     q_s = ε e_s / (p − (1 − ε) e_s)

Each of a column's steps waits for the one before.  The scalar build therefore takes four columns step by step, so
that a processor that looks ahead some hundred instructions finds work which waits for nothing: two thirds of the time
of one column after the other.
"""

from dataclasses import dataclass, replace
from math import log

import numpy as np

from supercomputers_rerun.kernels.contract import Check, Footprint, Work, whole, worst
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.routines.blocking import (
    SMALL_BLOCKS,
    WIDTHS,
    BlockedProblem,
    block,
    one_by_one,
    over_blocks,
    random_columns,
    share,
    unblock,
)
from supercomputers_rerun.kernels.routines.elementary import EXP2_FLOPS, exp2
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.resources import require_memory
from supercomputers_rerun.kernels.runtime.vector import fma, less, load_as, select, store

__all__ = ["NO_OUTPUT", "PROOF", "Problem", "State", "footprint", "plain", "reference", "run", "setup", "verify"]
__all__ += ["work"]

E0, A, T0, T1 = 611.21, 17.502, 273.16, 32.19  # Pa, 1, K, K
EPS = 287.0597 / 461.5250  # ratio of the gas constants of dry air and vapour
CP, L = 1004.7088, 2.5008e6  # J/(kg K), J/kg
A2 = A / log(2.0)  # of the exponent to the base 2

# Operations of one step, a fused multiply-add as two; tests/kernels/routines/test_counts.py counts them.
_FLOPS = 22 + EXP2_FLOPS


@dataclass(frozen=True)
class Problem(BlockedProblem):
    """How many points are adjusted, in which blocks, with how many Newton steps.

    ``ValueError`` if a field is outside its range.
    """

    iterations: whole(1, 20) = 2  # Newton steps


@dataclass(frozen=True)
class State:
    """Blocked fields (blocks, levels, row): what is given, and what is written."""

    t: np.ndarray  # temperature, K
    q: np.ndarray  # specific humidity, kg/kg
    p: np.ndarray  # pressure, Pa
    t_new: np.ndarray
    q_new: np.ndarray
    threads: int = 1


def saturation_humidity(t, p):
    """q_s(T, p) in kg/kg of arrays in K and Pa."""
    e = E0 * np.exp(A * (t - T0) / (t - T1))
    return EPS * e / (p - (1.0 - EPS) * e)


@kernel(inline=True)
def quotient(t, q, p, x):
    """Numerator and denominator of C, given x = 1/(T − T₁), for a float64 or a vector; ``t`` [K], ``q`` [kg/kg], ``p``
    [Pa].

    With n = ε e_s and d = p − (1 − ε) e_s: q_s = n/d and dq_s/dT = n p a (T₀ − T₁) x² / d², hence
    C = d (q d − n) / (d² + L/c_p n p a (T₀ − T₁) x²).
    """
    n = (EPS * E0) * exp2((A2 * x) * (t - T0))
    d = fma(n, -(1.0 - EPS) / EPS, p)
    slope = n * ((p * (L / CP * A * (T0 - T1))) * (x * x))
    return d * fma(q, d, -n), fma(d, d, slope)


@kernel(inline=True)
def newton(air, number):
    """``air`` after Newton step ``number``, from 0 on: (T, q, p, whether it was above saturation).

    1 or 0 says whether, after the first step: one factor for all; hidden, or a loop on single columns would branch on
    it and mispredict.
    """
    warm, moist, pressure, above = air
    num, den = quotient(warm, moist, pressure, 1.0 / (warm - T1))
    if number == 0:
        above = one_by_one(select(less(0.0, num), 1.0, 0.0))
    change = above * (num / den)
    return fma(change, L / CP, warm), moist - change, pressure, above


@kernel(inline=True)
def _air(t, q, p, i, width):
    """Air at place ``i``, as :func:`newton` takes it."""
    pressure = one_by_one(load_as(p, i, width))
    return load_as(t, i, width), load_as(q, i, width), pressure, pressure


@kernel
def adjust(t, q, p, t_new, q_new, iterations, width, blocks, thread):
    """Saturation adjustment of a ``thread``'s share of the ``blocks``, row by row.

    ``t``, ``q``, ``p``: temperature [K], specific humidity [kg/kg] and pressure [Pa], float64, flat, blocked;
    ``t_new`` and ``q_new`` receive the first two.  ``iterations``: Newton steps.  ``width``: ``SCALAR`` or ``VECTOR``.
    """
    step, row = len(width), blocks.row
    first, last = share(blocks, thread)
    for start in range(first * blocks.levels * row, last * blocks.levels * row, row):
        i, end = start, start + blocks.count
        if step == 1:
            while i < end - 3:
                a, b = _air(t, q, p, i, width), _air(t, q, p, i + 1, width)
                c, d = _air(t, q, p, i + 2, width), _air(t, q, p, i + 3, width)
                for number in range(iterations):
                    a, b, c, d = newton(a, number), newton(b, number), newton(c, number), newton(d, number)
                for place, air in enumerate((a, b, c, d)):
                    store(t_new, i + place, air[0])
                    store(q_new, i + place, air[1])
                i += 4
        while i < end:
            air = _air(t, q, p, i, width)
            for number in range(iterations):
                air = newton(air, number)
            store(t_new, i, air[0])
            store(q_new, i, air[1])
            i += step


def footprint(problem: Problem) -> Footprint:
    """Five blocked fields, and the columns that they are made from."""
    return Footprint(10 * problem.field_bytes())


def setup(problem: Problem, seed: int = 0) -> State:
    """Random moist columns, a tenth or so of the points above saturation."""
    require_memory(footprint(problem).memory, "saturation adjustment")
    air = random_columns(problem, seed)
    q = air["rh"] * saturation_humidity(air["t"], air["p"])
    t, q, p = (block(problem, field) for field in (air["t"], q, air["p"]))
    return State(t, q, p, block(problem, 0.0 * air["t"]), block(problem, 0.0 * air["t"]))


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> State:
    """Adjust every point; the answer is in ``t_new`` and ``q_new``."""
    how = problem.iterations, WIDTHS[problem.build]
    fields = [field.reshape(-1) for field in (state.t, state.q, state.p, state.t_new, state.q_new)]
    return replace(state, threads=over_blocks(problem, adjust, threads, repeats, *fields, *how))


def plain(t, q, p, iterations: int = 2):
    """T and q of air, arrays in K, kg/kg and Pa, after so many Newton steps: the equations in NumPy."""
    above = q > saturation_humidity(t, p)
    for _ in range(iterations):
        qs = saturation_humidity(t, p)
        dqs = qs * (1.0 + (1.0 / EPS - 1.0) * qs) * A * (T0 - T1) / (t - T1) ** 2
        change = np.where(above, (q - qs) / (1.0 + L / CP * dqs), 0.0)
        t, q = t + L / CP * change, q - change
    return t, q


def reference(problem: Problem, state: State) -> State:
    """The same by :func:`plain`."""
    return State(state.t, state.q, state.p, *plain(state.t, state.q, state.p, problem.iterations))


def verify(problem: Problem, result: State) -> list[Check]:
    """Energy is kept, nothing ends above saturation, and air below saturation is as it was.

    The tolerance of saturation is the square of the first step's: Newton's convergence.
    """
    t, q, p, t_new, q_new = (
        unblock(problem, field) for field in (result.t, result.q, result.p, result.t_new, result.q_new)
    )
    before, after = CP * t + L * q, CP * t_new + L * q_new
    saturated = saturation_humidity(t_new, p)
    moist = q > saturation_humidity(t, p) * (1.0 + 1e-12)
    dry = q < saturation_humidity(t, p) * (1.0 - 1e-12)
    excess = (q_new / saturated - 1.0)[moist]
    converged = {1: 0.1, 2: 0.01, 3: 1e-4}.get(problem.iterations, 1e-7)
    return [
        Check.near("largest relative change of cp T + L q", worst(after / before - 1.0), 0.0, 1e-14),
        Check.near("largest excess over saturation", worst(np.maximum(0.0, excess)), 0.0, 1e-12),
        Check.near("distance of moist air from saturation", worst(excess), 0.0, converged),
        Check.near("change of dry air, kg/kg", worst((q_new - q)[dry]), 0.0, 0.0),
    ]


NO_OUTPUT = dict.fromkeys(("t", "q", "p"), "the air before it is adjusted")


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations and bytes of one repeat, which threads share: t, q, p read, two fields written.

    All points take all steps, as a vector does.  ``parts``: divisions, which the flops contain, and
    exponentials, whose operations they contain.
    """
    points = problem.columns * problem.levels
    steps = points * problem.iterations
    return Work(steps * _FLOPS, 3 * 8 * points, 2 * 8 * points, (("divides", 2 * steps), ("special functions", steps)))


PROOF = Proof(
    SMALL_BLOCKS,
    each={"build": tuple(WIDTHS), "iterations": (1, 2)},
    within={"t_new": 2e-15, "q_new": 4e-15},
    not_compared=("threads",),
)
