"""The analysis: files in several places, CPU by program, and next to a forecast (X16 to X18).

Work files, read and written at random, move from place to place; the sequential files stay on the disk, past the page
cache, as in the report.  Places have these on a host: the disk is the file system of temporary files past the page
cache (through it where that is refused), buffer memory the page cache, the SSD memory that is reached by copying.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from companion.bench import Case, Measurement
from companion.chapters import cases_of, outputs_of
from companion.chapters.xmp1982.experiments import pairs
from companion.chapters.xmp1982.experiments.forecast import places, sized

#: Configuration: place of the work files and of the sequential ones.
_CONFIGURATIONS = {
    "all in memory": ("memory", "memory"),
    "memory": ("memory", "direct"),
    "half in memory": ("half", "direct"),
    "tmpfs": ("tmpfs", "direct"),
    "page cache": ("cache", "direct"),
    "disk": ("direct", "direct"),
}
#: Analysis and forecast together: the analysis' configuration, the forecast's work files.
_TOGETHER = (
    ("half in memory", "ssd1-async"),
    ("half in memory", "disk4"),
    ("page cache", "ssd1-async"),
    ("page cache", "disk4"),
)
#: At ``quick`` a coarser grid with fewer data.
_SMALLER = {"quick": {"ni": 24, "nj": 16, "sondes": 80, "aircraft": 20}}
#: Length of the forecast next to the analysis in days, so that it lasts longer than the analysis, as in 1982.
_DAYS = {"ssd1-async": 4, "disk4": 1}


def _sized(preset: str, name: str):
    """The problem of a configuration, with the page cache for disks that refuse O_DIRECT."""
    from kernels.analysis import Problem
    from kernels.files.filesystem import direct_refusal

    problem = Problem.preset(preset, **_SMALLER.get(preset, {}))
    refused = direct_refusal(tempfile.gettempdir())
    work, rest = ("cache" if refused and place == "direct" else place for place in _CONFIGURATIONS[name])
    return replace(problem, work=work, rest=rest)


def usable() -> list[str]:
    """Configurations that this host has: ``tmpfs`` needs a file system in memory that can be written."""
    import os

    from kernels.analysis import Problem

    tmpfs = Problem().tmpfs
    return [name for name in _CONFIGURATIONS if name != "tmpfs" or os.access(tmpfs, os.W_OK)]


def observe(result) -> dict[str, float]:
    """Clock and CPU time from step d to w, and of every step; errors against the truth, and what was rejected."""
    from kernels.analysis import verification

    found = {"clock": result.clock, "cpu": result.cpu, "moved": float(sum(step.moved for step in result.steps))}
    for key, what in (("guess_error", "first_guess"), ("analysis_error", "standard")):
        found |= {f"{key}_{name}": value for name, value in verification.errors(result, what).items()}
    found |= {"data": float(result.quality.size), "rejected": float((result.quality == 2).sum())}
    for n, step in enumerate(result.steps):
        found |= {f"step_{n:02d}_clock": step.clock, f"step_{n:02d}_cpu": step.cpu}
    return found


@cases_of("xmp1982-analysis")
def _cases(preset: str, threads: int) -> list[Case]:
    from kernels import analysis

    return [Case(name, analysis, _sized(preset, name), threads, {"configuration": name}, observe) for name in usable()]


@outputs_of("xmp1982-analysis")
def _steps(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Names of the steps, and errors of first guess and analysis."""
    from kernels.analysis.chain import STEPS
    from kernels.analysis.constants import NAMES

    found = measurements[0].observed
    return {
        "letter": [letter for letter, *_ in STEPS],
        "step_name": [name for _, name, *_ in STEPS],
        "field": list(NAMES),
        "guess_error": [found[f"guess_error_{name}"][0] for name in NAMES],
        "analysis_error": [found[f"analysis_error_{name}"][0] for name in NAMES],
        "data": int(found["data"][0]),
        "rejected": int(found["rejected"][0]),
    }


@cases_of("xmp1982-together")
def _beside(preset: str, threads: int) -> list[Case]:
    """Fig. 6.3: analysis and forecast, each on a CPU of its own, and each of them alone there."""
    pairs.require_two()
    base, found = sized(preset), []
    forecasts = {name: replace(places(base, name), hours=24.0 * days) for name, days in _DAYS.items()}
    analyses = {name: _sized(preset, name) for name in ("disk", "half in memory", "page cache")}
    one = {name: (name, "analysis", problem) for name, problem in analyses.items()}
    one |= {name: (name, "forecast", problem) for name, problem in forecasts.items()}
    for names in (*((name,) for name in one), *_TOGETHER):
        found.append(pairs.case([one[name] for name in names], "one each"))
    return found


@outputs_of("xmp1982-together")
def _together(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Fig. 6.3: times of both, alone with files on disk, and at once; of the forecast for each of its days."""
    of = {each.parameters["test"]: each.observed for each in measurements}
    names = [f"{name}; {'disk' if way == 'disk4' else 'memory'}" for name, way in _TOGETHER]
    days = [_DAYS[way] for _, way in _TOGETHER]
    both = [of["+".join(pair)] for pair in _TOGETHER]
    analyses = list(zip(*(each["job_0_clock"] for each in both), strict=True))
    forecasts = zip(*([t / d for t in each["job_1_clock"]] for each, d in zip(both, days, strict=True)), strict=True)
    disk = [t / _DAYS["disk4"] for t in of["disk4"]["job_0_clock"]]
    return pairs.gain(measurements) | {
        "test": names,
        "days": days,
        "reference_analysis": of["disk"]["job_0_clock"],
        "reference_forecast": disk,
        "analysis_clock": analyses,
        "forecast_clock": list(forecasts),
    }
