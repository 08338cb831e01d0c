"""Studies of the forecast: what other builds make of it (X9), and the published cases that it is held to."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from companion.bench import Case, Measurement
from companion.chapters import cases_of, outputs_of
from companion.chapters.xmp1982.experiments.forecast import sized
from companion.experiments import Unavailable

#: Cases of the dynamics by their label: fields of the problem.
CASES: dict[str, dict[str, Any]] = {
    "wave": {"case": "wave"},
    "wave, half as fine": {"case": "wave", "halved": True},
    "steady state": {"case": "steady"},
    "rest over a mountain": {"case": "rest", "mountain": 2000.0},
}
_DAYS = {"quick": 1, "paper": 10}
#: Day of the map: the wave is deep and has not broken.
_MAP_DAY = 9


@cases_of("xmp1982-builds")
def _one_build(preset: str, threads: int) -> list[Case]:
    from kernels.jobs import builds

    if reason := builds.refusal():
        raise Unavailable(f"xmp1982-builds makes builds of its own: {reason}")
    problem = replace(sized(preset), writeup=3.0)
    return [Case("all builds", builds, problem, threads, {"configuration": "memory"})]


@outputs_of("xmp1982-builds")
def _others(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Every other build against this one, through the day."""
    found = measurements[0].result.differences
    names, each = list(found), list(found.values())
    return {
        "build": names,
        "hours": [float(hour) for hour in each[0].hours],
        "differing": [[float(x) for x in d.differing] for d in each],
        **{f"largest_{name}": [[float(x) for x in d.largest[name]] for d in each] for name in ("u", "v", "T", "ps")},
    }


@cases_of("xmp1982-baroclinic")
def _published(preset: str, threads: int) -> list[Case]:
    from kernels.gridpoint import Problem, daily

    cases = []
    for label, changes in CASES.items():
        fields = dict(changes)
        problem = Problem.preset(preset, hours=24.0 * _DAYS[preset], writeup=0.0)
        if fields.pop("halved", False):
            points = -(-problem.ni // 32) * 16  # a multiple of sixteen
            problem = replace(problem, ni=points, nj=problem.nj // 2, dt=2 * problem.dt)
        if fields["case"] == "rest":
            problem = replace(problem, hours=min(problem.hours, 120.0))
        cases.append(Case(label, daily, replace(problem, **fields), threads, {"test": label}))
    return cases


@outputs_of("xmp1982-baroclinic")
def _series(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """What each day showed, by case; missing days are missing numbers."""
    from kernels.gridpoint.daily import MEASURES

    longest = max((m.result.days for m in measurements), key=len)
    found = {"test": [m.label for m in measurements], "days": [float(day) for day in longest]}
    for name in MEASURES:
        rows = [[float(x) for x in m.result.series[name]] for m in measurements]
        found[f"daily_{name}"] = [row + [None] * (len(longest) - len(row)) for row in rows]
    return found | _weather([m.result for m in measurements if m.label.startswith("wave")])


def _weather(waves) -> dict[str, Any]:
    """The northern hemisphere on the day of the map, or the last one before, on each grid."""
    found = {}
    for number, wave in enumerate(waves):
        day = int((wave.days <= _MAP_DAY).sum()) - 1
        north = slice(wave.pressure.shape[1] // 2, None)
        for name, field in (("pressure", wave.pressure), ("warmth", wave.warmth)):
            found[f"{name}_{number}"] = field[day, north].round(1)
        found[f"map_day_{number}"] = float(wave.days[day])
    return found
