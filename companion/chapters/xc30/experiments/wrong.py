"""C9: a build that is wrong in the seventh digit of one constant, and a harmless one, under the same paired test."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from companion.bench import Case, Measurement
from companion.chapters.xc30.experiments.model import column, mean_interval
from companion.experiments import ONCE, Experiment, register

#: One part in ten million of the Earth's rotation.
OFF = 1e-7
BUILDS = ("fast-math flags", "rotation off in the seventh digit")


def _cases(preset: str, threads: int) -> list[Case]:
    """One ensemble, scored every day up to ``forecast_hours`` in three builds."""
    from kernels import shallow_water
    from kernels.shallow_water import ensemble

    members, truncation, dt = {"quick": (8, 21, 1800.0), "paper": (80, 42, 900.0), "modern": (200, 42, 900.0)}[preset]
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
    asked = ensemble.Problem(problem, truth, members, leads, OFF)
    return [Case("scored model", ensemble, asked, threads, {"members": members, "forecast_hours": hours})]


def seen_at(differences: np.ndarray) -> np.ndarray:
    """Least sample size from which on the 95 % interval of the mean leaves zero out; NaN where it never does.

    ``differences`` is (members, leads), both above one; members are taken in their order.
    """
    found = np.full(differences.shape[1], np.nan)
    for n in range(len(differences), 1, -1):
        _, low, high = mean_interval(differences[:n])
        out = (low > 0) | (high < 0)
        last = np.isnan(found) if n == len(differences) else found == n + 1
        found[out & last] = n
    return found


def _scores(measurements: Sequence[Measurement]) -> dict[str, dict]:
    """Paired differences of both builds to the strict one, their intervals, and the sample sizes that show them."""
    (first,) = measurements
    found = first.result
    pairs = (found.fast - found.strict, found.wrong - found.strict)
    mean, low, high = np.moveaxis(np.array([mean_interval(pair) for pair in pairs]), 1, 0)
    return {
        "lead": column(found.hours, "h", "lead time", "lead_time"),
        "error_strict": column(found.strict.mean(axis=0), "m", "RMS error of height, strict build", "lead_time"),
        "build_name": column(list(BUILDS), None, "build compared with the strict one", "other"),
        "difference": column(mean, "m", "mean paired difference", "other", "lead_time"),
        "difference_low": column(low, "m", "lower end of the 95 % interval", "other", "lead_time"),
        "difference_high": column(high, "m", "upper end of the 95 % interval", "other", "lead_time"),
        "seen_at": column(
            [seen_at(pair) for pair in pairs],
            "1",
            "pairs from which on the interval leaves zero out",
            "other",
            "lead_time",
        ),
        "pairs": column(first.parameters["members"], "1", "pairs"),
        "off": column(OFF, "1", "relative change of the rotation"),
    }


register(
    Experiment(
        "xc30-wrong",
        "xc30",
        "C9",
        "Paired scores of a wrong build and of a harmless one",
        _cases,
        outputs=_scores,
        kind="study",
        few_samples=ONCE,
        budgets={"quick": 8.0, "paper": 120.0, "modern": 600.0},
    )
)
