"""Spectral transforms on Gaussian grids, as a spectral weather model computes them.

``plan = Plan(grid("N640"), 1279)`` prepares one truncation on one grid; ``plan.inverse``,
``plan.direct``, ``plan.wind`` and ``plan.vordiv`` transform one field or many.
One repeat of this kernel is an inverse and a direct transform of every field.

A field of one's own to its spectrum and back:

>>> import numpy as np
>>> from supercomputers_rerun.kernels import spectral
>>> plan = spectral.Plan("F32", 63)
>>> latitude, longitude = plan.grid.coordinates()
>>> field = np.sin(latitude) + np.cos(latitude) ** 3 * np.cos(3 * longitude)
>>> spectrum = plan.direct(field)
>>> bool(np.abs(plan.inverse(spectrum) - field).max() < 1e-13), complex(spectrum[plan.index(0, 1)].round(6))
(True, (0.57735+0j))
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, whole, worst
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.runtime.arrays import zeros
from supercomputers_rerun.kernels.runtime.resources import require_memory
from supercomputers_rerun.kernels.spectral.grids import Grid, grid
from supercomputers_rerun.kernels.spectral.legendre import table_bytes
from supercomputers_rerun.kernels.spectral.plain import analyse, row_values, synthesise
from supercomputers_rerun.kernels.spectral.plan import LARGEST_TRUNCATION, Plan

__all__ = ["Grid", "NO_OUTPUT", "PROOF", "Plan", "Problem", "State", "footprint", "grid", "reference", "run", "setup"]
__all__ += ["verify", "work"]


@dataclass(frozen=True)
class Problem(Presets):
    """Triangular truncation, grid and number of fields (levels times variables).

    Presets: ``quick`` (T159), ``paper`` (T1279, 137 fields), ``modern`` (T2559), and by truncation, of eight fields.
    ``ValueError`` if a field is outside its range, or the grid is unknown.
    """

    truncation: whole(1, LARGEST_TRUNCATION) = 63  # triangular truncation, 1
    grid: str = "F48"  # Gaussian grid: F, N or O and the rows between pole and equator
    fields: whole(1, 100_000) = 8  # fields transformed at once, 1

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "quick": {"truncation": 159, "grid": "N80", "fields": 8},
        "paper": {"truncation": 1279, "grid": "N640", "fields": 137},
        "modern": {"truncation": 2559, "grid": "N1280", "fields": 24},
        "T399": {"truncation": 399, "grid": "N200", "fields": 8},
        "T799": {"truncation": 799, "grid": "N400", "fields": 8},
        "TL1279": {"truncation": 1279, "grid": "N640", "fields": 8},
        "TL2047": {"truncation": 2047, "grid": "N1024", "fields": 8},
        "TL2559": {"truncation": 2559, "grid": "N1280", "fields": 8},
    }

    def __post_init__(self):
        grid(self.grid)


def _row_lengths(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Points of each row of one hemisphere, and the largest wavenumber that each of them carries."""
    chosen = grid(problem.grid)
    pl = chosen.pl[: chosen.N]
    return pl, np.minimum(problem.truncation, (pl - 1) // 2)


def footprint(problem: Problem) -> Footprint:
    """Fields, their spectra and the way back, tables and work space of the plan.

    The work space holds the Fourier coefficients of eight fields on both hemispheres.  What a further
    thread adds is measured: about two hundred doubles for each degree.
    """
    T, points = problem.truncation, grid(problem.grid).points
    pl, top = _row_lengths(problem)
    fields = problem.fields * (8 * points + 2 * 16 * (T + 1) * (T + 2) // 2)
    work_space = 2 * 8 * 16 * int((top + 1).sum())
    scratch = 1600 * (T + 1)
    return Footprint(fields + table_bytes(T, len(pl)) + 8 * points + work_space + scratch, each_thread=scratch)


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations and bytes of one inverse and one direct transform of all fields, which threads share.

    Legendre sums: a real function times a complex coefficient, four operations for every degree,
    wavenumber and pair of rows, ``m`` up to ``(row length - 1) // 2``.  Fourier: ``2.5 n log2 n`` a row.
    That is the definition's count; near the poles a plan leaves out what does not matter (8 % of the
    sums of T1279 on the reduced grid N640).
    """
    T, chosen = problem.truncation, grid(problem.grid)
    pl, top = _row_lengths(problem)
    legendre = 2 * problem.fields * 4 * int(((top + 1) * (T + 1) - top * (top + 1) // 2).sum())
    fft = 2 * problem.fields * 2 * int(np.rint((2.5 * pl * np.log2(pl)).sum()))
    spectrum = 16 * problem.fields * ((T + 1) * (T + 2) // 2)
    values = 8 * problem.fields * chosen.points
    return Work(
        flops=legendre + fft,
        bytes_read=spectrum + values,
        bytes_written=spectrum + values,
        parts=(("Legendre", legendre), ("FFT", fft)),
    )


class State(NamedTuple):
    """Plan, spectrum to transform (fields, ncoef), and room for the grid values and the way back."""

    plan: Plan
    spectrum: np.ndarray
    values: np.ndarray
    back: np.ndarray


def setup(problem: Problem, seed: int = 0) -> State:
    """Plan and a spectrum whose real and imaginary parts are uniform in ±1; ``MemoryError`` if they do not fit."""
    require_memory(
        footprint(problem).memory, f"{problem.fields} fields of truncation {problem.truncation} on {problem.grid}"
    )
    points = grid(problem.grid).points
    plan = Plan(problem.grid, problem.truncation)
    rng = np.random.default_rng(seed)
    spectrum = rng.uniform(-1.0, 1.0, (problem.fields, 2 * plan.ncoef)).view(np.complex128)
    spectrum[:, : problem.truncation + 1].imag = 0.0
    values, back = zeros((problem.fields, points)), zeros(spectrum.shape, np.complex128)
    return State(plan, spectrum, values, back)


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> State:
    """Inverse transform of every field, then the direct one, ``repeats`` times."""
    for _ in range(repeats):
        state.plan.inverse(state.spectrum, out=state.values, threads=threads)
        state.plan.direct(state.values, out=state.back, threads=threads)
    return state


def reference(problem: Problem, state: State) -> State:
    """The same by the three-term recurrence and plain sums, one row after the other."""
    values = synthesise(state.plan, state.spectrum)
    return State(state.plan, state.spectrum, values, analyse(state.plan, values))


def verify(problem: Problem, result: State) -> list[Check]:
    """A weighted sum of all fields: transformed as one field, two rows against plain sums, the quadrature identity.

    Both transforms are linear, and one field takes other code than eight: what it gives at every point and for every
    coefficient must be the sum of what the fields gave.  On a full grid all fields come back.
    """
    plan, spectrum, values, back = result
    shares = np.random.default_rng(problem.fields).uniform(0.5, 1.5, problem.fields)
    given, grid_sum, returned = shares @ spectrum, shares @ values, shares @ back
    size = float(np.sqrt((np.abs(given) ** 2).sum()))
    # the sums take sine and cosine of latitude as doubles, whose rounding grows with the degree
    rounding = 1e-12 * max(1.0, problem.truncation / 400)
    error = worst(plan.inverse(given) - grid_sum) / size
    checks = [Check.near("sum of the fields against its own inverse transform, relative", error, 0.0, rounding)]
    for row in (plan.nlat // 3, 2 * plan.nlat - 1 - plan.nlat // 7):
        start = plan.grid.starts[row]
        found = grid_sum[start : start + plan.grid.pl[row]]
        error = worst(found - row_values(plan, given[None], row)[0]) / size
        checks.append(Check.near(f"row {row} against plain sums, relative", error, 0.0, rounding))
    error = worst(plan.direct(grid_sum) - returned)
    checks.append(Check.near("sum of the fields against its own direct transform", error, 0.0, problem.fields * 1e-12))
    # direct is the weighted transpose of inverse on every grid, so this holds to rounding
    product = (np.conj(given) * returned).real * np.where(plan.m == 0, 1.0, 2.0)
    square = float(plan.grid.shares @ grid_sum**2)
    checks.append(Check.relative("mean square on the grid against spectra", product.sum(), square, 1e-12))
    if plan.grid.full:
        error = worst(*(b - s for b, s in zip(back, spectrum, strict=True)))
        checks.append(
            Check.near("round trip, coefficients within ±1", error, 0.0, 2e-12 * max(1.0, problem.truncation / 1279))
        )
    return checks


NO_OUTPUT = {"spectrum": "what is transformed"}


#: Full, octahedral and classic rows, lengths of one step, of two and with a large prime factor; eight fields and one.
PROOF = Proof(
    {"truncation": 15, "grid": "O33", "fields": 9},
    each={"grid": ("O33", "F50", "N32")},
)
