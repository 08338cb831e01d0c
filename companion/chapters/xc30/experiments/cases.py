"""The small model on cases whose answer is known or published: a check of results, not of times."""

from collections.abc import Sequence
from dataclasses import replace

from companion.bench import Case, Measurement
from companion.chapters.xc30.experiments.model import column

#: Scored truncations, their time step in s, truncation of the run that stands for the truth.
SIZES = {
    "quick": ((21, 42, 63), 600.0, 106),
    "paper": ((42, 63, 106), 150.0, 213),
    "modern": ((63, 106, 213), 150.0, 341),
}
#: Tilt of the steady flow: along the equator, and nearly over the poles as the test set asks for.
TILTS = (0.0, 1.5207963)
STEADY_HOURS = 120.0


def _mountain(truncation: int, dt: float, hours: float):
    from kernels import shallow_water

    return shallow_water.Problem(
        truncation, shallow_water.grid_for(truncation, "quadratic"), "williamson5", dt=dt, hours=hours, diffusion=6.0
    )


def cases(preset: str, threads: int) -> list[Case]:
    """Flow over the mountain at several truncations; timed are three hours, scored is the published day."""
    from kernels import shallow_water

    truncations, dt, truth = SIZES[preset]
    found = []
    for truncation in truncations:
        problem = _mountain(truncation, dt, 3.0)
        found.append(
            Case(
                f"T{truncation} on {problem.grid}",
                shallow_water,
                problem,
                threads,
                {
                    "truncation": truncation,
                    "grid": problem.grid,
                    "truth_truncation": truth,
                    "forecast_hours": 24.0 * shallow_water.DAY,
                },
            )
        )
    return found


def _end(problem, threads):
    """The integration to its end, which must pass the model's own checks."""
    from kernels import shallow_water

    result = shallow_water.run(problem, shallow_water.setup(problem), threads=threads)
    failed = [str(check) for check in shallow_water.verify(problem, result) if not check.ok]
    if failed:
        raise ArithmeticError(f"{problem.case} at truncation {problem.truncation}: {'; '.join(failed)}")
    return result


def errors(measurements: Sequence[Measurement]) -> dict[str, dict]:
    """Errors of the steady flow and of the flow over the mountain, and the published ones of another model.

    The steady flow is its own truth.  For the mountain a run of higher truncation and half the time step
    stands for it.
    """
    from kernels import shallow_water
    from kernels.spectral import grid

    first = measurements[0]
    hours = first.parameters["forecast_hours"]
    problems = [replace(shallow_water.Problem(**m.problem), hours=hours) for m in measurements]
    truth = _end(_mountain(first.parameters["truth_truncation"], problems[0].dt / 2, hours), first.threads)
    found = [shallow_water.errors(_end(problem, first.threads), truth) for problem in problems]
    steady = []
    for problem in problems:
        tilted = [
            replace(problem, case="williamson2", diffusion=0.0, hours=STEADY_HOURS, alpha=alpha) for alpha in TILTS
        ]
        steady.append([shallow_water.steady_errors(_end(one, first.threads), one)[1] for one in tilted])
    published = shallow_water.MOUNTAIN
    return {
        "truncation_scored": column([problem.truncation for problem in problems], "1", "truncation", "scored"),
        "points": column([grid(problem.grid).points for problem in problems], "1", "grid points", "scored"),
        "height_error": column(
            [one.height[1] for one in found], "1", "relative l2 error of height, flow over the mountain", "scored"
        ),
        "vorticity_error": column(
            [one.vorticity[1] for one in found], "1", "relative l2 error of vorticity, flow over the mountain", "scored"
        ),
        "step": column(problems[0].dt, "s", "time step of the scored runs"),
        "day": column(hours / 24.0, "d", "day of the errors over the mountain"),
        "tilt": column(list(TILTS), "rad", "angle between the steady flow and the equator", "tilt"),
        "steady_error": column(
            steady, "1", "relative l2 error of depth, steady flow after five days", "scored", "tilt"
        ),
        "published_points": column([one.points for one in published], "1", "grid points", "published"),
        "published_height": column(
            [one.height for one in published], "1", "relative l2 error of height, published", "published"
        ),
        "published_vorticity": column(
            [one.vorticity for one in published], "1", "relative l2 error of vorticity, published", "published"
        ),
    }
