"""The small model on cases whose answer is known or published: a check of results, not of times."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from companion.bench import Case, Measurement
from companion.chapters import cases_of, outputs_of

#: Scored truncations, their time step in s, truncation of the run that stands for the truth.
SIZES = {
    "quick": ((21, 42), 600.0, 63),
    "paper": ((42, 63, 106), 150.0, 213),
    "modern": ((63, 106, 213), 150.0, 341),
}
#: Tilt of the steady flow: along the equator, and nearly over the poles as the test set asks for.
TILTS = (0.0, 1.5207963)
_STEADY_HOURS = 120.0


def _mountain(truncation: int, dt: float, hours: float):
    from kernels import shallow_water

    return shallow_water.Problem(
        truncation, shallow_water.grid_for(truncation, "quadratic"), "williamson5", dt=dt, hours=hours, diffusion=6.0
    )


@cases_of("xc30-cases")
def cases(preset: str, threads: int) -> list[Case]:
    """Every integration that is scored: steady flows, and the mountain with the run that stands for its truth."""
    return integrations(*SIZES[preset], 24.0 * _day(), threads)


def _day() -> float:
    from kernels import shallow_water

    return shallow_water.DAY


def integrations(truncations, dt: float, truth: int, hours: float, threads: int) -> list[Case]:
    """Cases by ``role``: ``scored`` and ``steady`` at ``truncations``, one ``truth`` with half the step."""
    from kernels import shallow_water

    scored = [_mountain(truncation, dt, hours) for truncation in truncations]
    asked: list[tuple] = [("truth", "truth", _mountain(truth, dt / 2, hours), {})]
    for problem in scored:
        asked.append(("scored", "mountain", problem, {}))
        for tilt in TILTS:
            steady = replace(problem, case="williamson2", diffusion=0.0, hours=_STEADY_HOURS, alpha=tilt)
            asked.append(("steady", f"steady flow tilted by {tilt:.2f} rad", steady, {"tilt_rad": tilt}))
    return [
        Case(
            f"T{problem.truncation} on {problem.grid}, {name}",
            shallow_water,
            problem,
            threads,
            {"role": role, "truncation": problem.truncation, "grid": problem.grid, **more},
        )
        for role, name, problem, more in asked
    ]


@outputs_of("xc30-cases")
def errors(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Errors of the steady flow and of the flow over the mountain, and the published ones of another model.

    The steady flow is its own truth.  For the mountain a run of higher truncation and half the time step
    stands for it.
    """
    from kernels import shallow_water
    from kernels.spectral import grid

    by_role: dict[str, list[Measurement]] = {}
    for one in measurements:
        by_role.setdefault(one.parameters["role"], []).append(one)
    (truth,), scored = by_role["truth"], by_role["scored"]
    problems = [one.problem for one in scored]
    found = [shallow_water.errors(one.result, truth.result) for one in scored]
    steady = [
        [
            shallow_water.steady_errors(one.result, one.problem)[1]
            for one in by_role["steady"]
            if one.problem.truncation == problem.truncation
        ]
        for problem in problems
    ]
    published = shallow_water.MOUNTAIN
    return {
        "truncation_scored": [problem.truncation for problem in problems],
        "points": [grid(problem.grid).points for problem in problems],
        "height_error": [one.height[1] for one in found],
        "vorticity_error": [one.vorticity[1] for one in found],
        "step": problems[0].dt,
        "day": problems[0].hours / 24.0,
        "tilt": list(TILTS),
        "steady_error": steady,
        "published_points": [one.points for one in published],
        "published_height": [one.height for one in published],
        "published_vorticity": [one.vorticity for one in published],
    }
