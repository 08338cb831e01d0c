"""C9: three builds of one source against a strict one, under the paired test of the talk."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from companion.bench import Case, Measurement
from companion.chapters import cases_of, outputs_of

#: Relative errors of the Earth's rotation in the wrong builds: one in the seventh digit, and four units in the last
#: place of a float64, which is what one rounding may do.
_OFF = (1e-7, 2.0**-50)
#: What the builds A, B and C are, in an order that a reader does not know at first.
BUILDS = ("rotation off in the last digits", "fast-math flags", "rotation off in the seventh digit")


@cases_of("xc30-builds")
def _cases(preset: str, threads: int) -> list[Case]:
    """One ensemble, scored every day up to ``forecast_hours`` in the strict build and in the three others."""
    from kernels import shallow_water
    from kernels.shallow_water import ensemble

    members, truncation, dt = {"quick": (8, 21, 1800.0), "paper": (60, 42, 900.0), "modern": (200, 42, 900.0)}[preset]
    problem = shallow_water.Problem(
        truncation=truncation,
        dt=dt,
        case="williamson5",
        grid=shallow_water.grid_for(truncation, "quadratic"),
        diffusion=12.0,
        perturbation=20.0,
    )
    hours = 72.0 if preset == "quick" else 120.0
    wide = 2 * truncation + 1
    truth = replace(problem, truncation=wide, dt=dt / 2, grid=shallow_water.grid_for(wide, "quadratic"))
    leads = tuple(float(lead) for lead in np.arange(24.0, hours + 1.0, 24.0))
    asked = ensemble.Problem(problem, truth, members, leads, _OFF)
    return [Case("scored model", ensemble, asked, threads, {"members": members, "forecast_hours": hours})]


def mean_interval(values, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean over the first axis and the ends of its confidence interval by Student's t.

    ``mean ± t s / √n`` for independent, nearly normal ``values`` (n, …). ``ValueError`` with fewer than two values.
    """
    from scipy.stats import t

    values = np.asarray(values, dtype=float)
    n = len(values)
    if n < 2:
        raise ValueError(f"an interval needs at least 2 values, got {n}")
    mean = values.mean(axis=0)
    half = t.ppf(0.5 + confidence / 2, n - 1) * values.std(axis=0, ddof=1) / np.sqrt(n)
    return mean, mean - half, mean + half


@outputs_of("xc30-builds")
def _scores(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Paired differences of the builds to the strict one and their intervals."""
    from kernels import shallow_water

    (first,) = measurements
    found = first.result
    depth = shallow_water.setup(first.problem.model).mean / shallow_water.GRAVITY
    seventh, last = found.wrong
    pairs = [other - found.strict for other in (last, found.fast, seventh)]  # in the order of BUILDS
    mean, low, high = np.moveaxis(np.array([mean_interval(pair) for pair in pairs]), 1, 0)
    return {
        "lead": found.hours,
        "error_strict": found.strict.mean(axis=0),
        "rounding": np.spacing(depth),
        "build_name": list(BUILDS),
        "difference": mean,
        "difference_low": low,
        "difference_high": high,
        "pairs": first.parameters["members"],
        "off": list(_OFF),
    }
