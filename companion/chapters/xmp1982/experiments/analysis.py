"""The analysis: files in several places, CPU by program, and next to a forecast (X16 to X18).

Work files, read and written at random, move from place to place; the sequential files stay on the disk, past the page
cache, as in the report.  Places have these on a host: the disk is the file system of temporary files past the page
cache (through it where that is refused), buffer memory the page cache, the SSD memory that is reached by copying.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from companion.bench import Case, Measurement
from companion.experiments import Experiment, Unavailable, column, register

#: Configuration: place of the work files and of the sequential ones.
CONFIGURATIONS = {
    "all in memory": ("memory", "memory"),
    "memory": ("memory", "direct"),
    "half in memory": ("half", "direct"),
    "tmpfs": ("tmpfs", "direct"),
    "page cache": ("cache", "direct"),
    "disk": ("direct", "direct"),
}
#: The programs of Fig. 6.2, by the names of the steps.
PROGRAMS = ("PRE-GAP", "GAP (data checking)", "GAP (analysis)", "POST GAP")
#: Analysis and forecast together: the analysis' configuration, the forecast's work files and overlap.
TOGETHER = (
    ("half in memory", (1, "memory", "both")),
    ("half in memory", (4, "direct", "both")),
    ("page cache", (1, "memory", "both")),
    ("page cache", (4, "direct", "both")),
)
#: How much longer than the analysis the forecast next to it is meant to last.
LONGER = 1.3
ROUNDS = {"quick": 1, "paper": 3}


def _sized(preset: str, name: str):
    """The problem of a configuration, with the page cache for disks that refuse O_DIRECT."""
    from kernels.analysis import Problem
    from kernels.files.filesystem import direct_refusal

    problem = Problem.preset(preset)
    refused = direct_refusal(tempfile.gettempdir())
    work, rest = ("cache" if refused and place == "direct" else place for place in CONFIGURATIONS[name])
    return replace(problem, work=work, rest=rest)


def usable() -> list[str]:
    """Configurations that this host has: ``tmpfs`` needs a file system in memory that can be written."""
    import os

    from kernels.analysis import Problem

    tmpfs = Problem().tmpfs
    return [name for name in CONFIGURATIONS if name != "tmpfs" or os.access(tmpfs, os.W_OK)]


def observe(result) -> dict[str, float]:
    """Clock and CPU time from step d to w, and of every step."""
    found = {"clock": result.clock, "cpu": result.cpu, "moved": float(sum(step.moved for step in result.steps))}
    for n, step in enumerate(result.steps):
        found |= {f"step_{n:02d}_clock": step.clock, f"step_{n:02d}_cpu": step.cpu}
    return found


def _cases(preset: str, threads: int) -> list[Case]:
    from kernels import analysis

    return [Case(name, analysis, _sized(preset, name), threads, {"configuration": name}, observe) for name in usable()]


def _steps(measurements: Sequence[Measurement]) -> dict[str, dict]:
    """Names of the steps, and errors of first guess and analysis."""
    from kernels import analysis
    from kernels.analysis import verification

    problem = measurements[0].problem
    result = analysis.run(problem, analysis.setup(problem))
    before, after = (verification.errors(result, what) for what in ("first_guess", "standard"))
    return {
        "letter": column([step.letter for step in result.steps], None, "step of section 3.4", "step"),
        "step_name": column([step.name for step in result.steps], None, "what the step does", "step"),
        "field": column(list(before), None, "field on standard levels", "field"),
        "guess_error": column(list(before.values()), "1", "root mean square error of the first guess, SI", "field"),
        "analysis_error": column(list(after.values()), "1", "the same of the analysis, SI", "field"),
        "data": column(int(result.quality.size), "count", "observed numbers"),
        "rejected": column(int((result.quality == 2).sum()), "count", "of these rejected"),
    }


def _alone(preset: str, threads: int) -> list[Case]:
    from kernels import analysis
    from kernels.runtime.resources import usable_cpus

    if usable_cpus() < 2:
        raise Unavailable(
            "an analysis next to a forecast needs two CPUs, one may be used; give the process a second one"
        )
    name = "disk"
    return [Case(name, analysis, _sized(preset, name), 1, {"configuration": name, "preset": preset}, observe)]


def _forecast(preset: str, files: int, place: str, overlap: str, hours: float):
    from kernels.files.filesystem import direct_refusal
    from kernels.gridpoint import Problem

    if place == "direct" and direct_refusal(tempfile.gettempdir()):
        place = "cache"
    problem = Problem.preset(preset, physics=True, hours=hours, writeup=0.0)
    return replace(problem, files=files, place=place, overlap=overlap)


def _days(preset: str, way: tuple[int, str, str], seconds: float) -> int:
    """Days that a forecast with these work files needs to last ``seconds``."""
    from kernels.analysis import together

    return max(1, round(seconds / together.alone(_forecast(preset, *way, 24.0))["clock"]))


def _together(measurements: Sequence[Measurement]) -> dict[str, dict]:
    """Fig. 6.3: times of both alone with files on disk, and of both at once; of the forecast for each of its days."""
    from kernels import analysis
    from kernels.analysis import together

    preset = measurements[0].parameters["preset"]
    state, disk = analysis.setup(measurements[0].problem), (4, "direct", "both")
    spent = LONGER * median(measurements[0].observed["clock"])
    ways = {way for _, way in TOGETHER}
    # at the page's size starting a process takes longer than what it would be asked
    days = {
        way: 10 if preset == "quick" and way[1] == "memory" else 1 if preset == "quick" else _days(preset, way, spent)
        for way in ways
    }
    rounds = []
    for _ in range(ROUNDS[preset]):
        reference = together.beside(measurements[0].problem, state, None)[0].clock
        forecast = together.alone(_forecast(preset, *disk, 24.0 * days[disk]))["clock"] / days[disk]
        both = []
        for name, way in TOGETHER:
            result, answer = together.beside(_sized(preset, name), state, _forecast(preset, *way, 24.0 * days[way]))
            both.append((result.clock, answer["clock"] / days[way]))
        rounds.append((reference, forecast, both))
    names = [f"{name}; {'disk' if way[1] == 'direct' else 'memory'}" for name, way in TOGETHER]
    found = {
        "test": column(names, None, "work files of the analysis; of the forecast", "test_number"),
        "days": column([days[way] for _, way in TOGETHER], "1", "length of the forecast in days", "test_number"),
        "reference_analysis": column([each[0] for each in rounds], "s", "analysis alone, files on disk", "round"),
        "reference_forecast": column([each[1] for each in rounds], "s", "a day's forecast alone, on disk", "round"),
    }
    for n, (key, text) in enumerate((("analysis", "analysis"), ("forecast", "a day of the forecast next to it"))):
        values = [[each[n] for each in both] for *_, both in rounds]
        found[f"{key}_clock"] = column(values, "s", text, "round", "test_number")
    return found


register(
    Experiment(
        id="xmp1982-analysis",
        document="xmp1982",
        item="X16, X17",
        title="The analysis with its work files in every place: clock and CPU time of each step from d to w",
        cases=_cases,
        presets=("quick", "paper"),
        outputs=_steps,
        rounds=3,
        budgets={"quick": 6.0, "paper": 150.0},
    )
)
register(
    Experiment(
        id="xmp1982-together",
        document="xmp1982",
        item="X18",
        title="The analysis while a forecast runs on the other CPU",
        needs=frozenset({"affinity"}),
        cases=_alone,
        presets=("quick", "paper"),
        outputs=_together,
        rounds=3,
        budgets={"quick": 4.0, "paper": 40.0},
    )
)
