"""The section *Can the analysis run beside the forecast?*: the analysis alone, by place of its files, and beside one.

Work files, read and written at random, move from place to place; the sequential files stay on the disk, past the page
cache, as in the report.  Places have these on a host: the disk is the file system of temporary files past the page
cache (through it where that is refused), buffer memory the page cache, the SSD memory that is reached by copying.
"""

import os
import tempfile
from dataclasses import replace

import numpy as np

from companion import figures, tables
from companion.bench import Case
from companion.chapters.xmp1982 import forecast, second_cpu
from companion.chapters.xmp1982.rows import Measured, any_flagged, dots, medians, observed, ranged, span, spread_text
from companion.experiments import Output, experiment
from companion.late import pd, xr
from companion.records.runs import single

#: Configuration: place of the work files and of the sequential ones, and that of Fig. 6.1 whose place it takes.
_CONFIGURATIONS = {
    "disk": ("direct", "direct", "FILES ON DISK"),
    "page cache": ("cache", "direct", "FILES ON BMR"),
    "half in memory": ("half", "direct", "FILES ON HALF SSD"),
    "memory": ("memory", "direct", "FILES ON SSD"),
    "tmpfs": ("tmpfs", "direct", None),
    "all in memory": ("memory", "memory", None),
}
_NAMES = {"disk": "disk", "page cache": "buffer memory; page cache", "half in memory": "half SSD; half in memory"}
_NAMES |= {
    "memory": "SSD; memory",
    "tmpfs": "file system in memory",
    "all in memory": "sequential files in memory, too",
}
#: Analysis and forecast together: the analysis' configuration, the forecast's work files.
_TOGETHER = (
    ("half in memory", "ssd1-async"),
    ("half in memory", "disk4"),
    ("page cache", "ssd1-async"),
    ("page cache", "disk4"),
)
#: Length of the forecast beside the analysis in days, so that it lasts longer than the analysis, as in 1982.
_DAYS = {"ssd1-async": 4, "disk4": 1}
#: At ``quick`` a coarser grid with fewer data.
_SMALLER = {"quick": {"ni": 24, "nj": 16, "sondes": 80, "aircraft": 20}}
#: The programs of Fig. 6.2, by the names of the steps.
_PROGRAMS = ("PRE-GAP", "GAP (data checking)", "GAP (analysis)", "POST GAP")
_OWN = ("quick", "paper")


def _sized(preset: str, name: str):
    """The problem of a configuration, with the page cache for disks that refuse O_DIRECT."""
    from kernels.analysis import Problem
    from kernels.files.filesystem import direct_refusal

    problem, refused = Problem.preset(preset, **_SMALLER.get(preset, {})), direct_refusal(tempfile.gettempdir())
    work, rest = ("cache" if refused and place == "direct" else place for place in _CONFIGURATIONS[name][:2])
    return replace(problem, work=work, rest=rest)


def _observe(result) -> dict[str, float]:
    """Clock and CPU time from step d to w, and of every step."""
    found = {"clock": result.clock, "cpu": result.cpu, "moved": float(sum(step.moved for step in result.steps))}
    for n, step in enumerate(result.steps):
        found |= {f"step_{n:02d}_clock": step.clock, f"step_{n:02d}_cpu": step.cpu}
    return found


@experiment(
    "xmp1982-analysis",
    item="X16, X17",
    title="The analysis by place of its files",
    rounds=3,
    seconds={"quick": 3, "paper": 150},
    presets=_OWN,
)
def alone(preset: str, threads: int) -> list[Case]:
    """The analysis in every place that this host has: one needs a file system in memory that can be written."""
    from kernels import analysis

    names = [name for name in _CONFIGURATIONS if name != "tmpfs" or os.access(analysis.Problem().tmpfs, os.W_OK)]
    return [Case(name, analysis, _sized(preset, name), threads, {"configuration": name}, _observe) for name in names]


@alone.outputs_of
def _steps(measurements) -> dict[str, Output]:
    """Names of the steps."""
    from kernels.analysis.chain import STEPS

    return {"step_name": Output([name for _, name, *_ in STEPS], None, "step", "what the step does")}


def _clocks() -> "pd.Series":
    """Seconds of clock of Fig. 6.1 by configuration, of the compiler of which it has all."""
    printed = tables.printed("xmp1982", "fig6_1")
    return printed[printed["compiler"] == "CFT 15K"].set_index("configuration")["clock"].astype(float)


@alone.figure
def places(runs) -> "figures.Shown":
    """Clock of the analysis from step d to w by place of its work files (Fig. 6.1), then and now."""
    names = [name for name in _CONFIGURATIONS if name in runs[0]["configuration"].values]
    return dots(
        runs,
        {name: _NAMES[name] for name in names},
        {"clock, X-MP 1982": _clocks().reindex([_CONFIGURATIONS[name][2] for name in names]).to_numpy()},
        {"clock, today": lambda cases: cases["clock"], "CPU time, today": lambda cases: cases["cpu"]},
        log=True,
        xlabel="time from step d to step w [s]",
        name="xmp1982_analysis_rerun",
        title="The analysis by place of its work files, then and now",
        tables="fig6_1",
    )


@alone.figure
def programs(runs) -> "figures.Table":
    """CPU time of the four programs (Fig. 6.2), then and now, and their shares of the four."""
    run, printed = runs[0], tables.printed("xmp1982", "fig6_2")
    cases, names = observed(run).sel(configuration="disk"), run["step_name"].values.astype(str)
    here = [sum(cases[f"step_{n:02d}_cpu"].values for n in np.flatnonzero(names == name)) for name in _PROGRAMS]
    xmp, middles = printed["cray_xmp"].to_numpy(float), medians(here)
    frame = pd.DataFrame(
        {
            "program": list(_PROGRAMS),
            "Cray 1-A": printed["cray_1a"].to_numpy(float),
            "X-MP": xmp,
            "today": [spread_text(each) for each in here],
            "share, X-MP": (xmp / xmp.sum()).round(3),
            "share, today": (middles / middles.sum()).round(3),
        }
    )
    return figures.table(
        frame,
        name="xmp1982_programs_rerun",
        units=dict.fromkeys(frame.columns[1:4], "s"),
        run=run,
        caption=f"CPU time of the main programs of the analysis (Fig. 6.2), and both passes on {figures.cpu(run)} with "
        "files on disk",
    )


@experiment(
    "xmp1982-together",
    item="X18",
    title="The analysis beside a forecast",
    rounds=3,
    seconds={"quick": 3, "paper": 290},
    presets=_OWN,
    needs="affinity",
)
def together(preset: str, threads: int) -> list[Case]:
    """Fig. 6.3: analysis and forecast, each on a CPU of its own, and each of them alone there."""
    second_cpu.require_two()
    base = forecast.sized(preset)
    one = {name: (name, "analysis", _sized(preset, name)) for name in ("disk", "half in memory", "page cache")}
    for name, days in _DAYS.items():
        one[name] = name, "forecast", replace(forecast.places(base, name), hours=24.0 * days)
    return [second_cpu.case([one[name] for name in names], "one each") for names in (*((n,) for n in one), *_TOGETHER)]


@together.outputs_of
def _together(measurements) -> dict[str, Output]:
    """Fig. 6.3: times of both, alone with files on disk, and at once; of the forecast for each of its days."""
    of = {each.parameters["test"]: {name: np.array(values) for name, values in each.observed.items()}
          for each in measurements}  # fmt: skip
    both, days = [of["+".join(pair)] for pair in _TOGETHER], [_DAYS[way] for _, way in _TOGETHER]
    forecasts = np.transpose([each["job_1_clock"] / d for each, d in zip(both, days, strict=True)])
    names = [f"{name}; {'disk' if way == 'disk4' else 'memory'}" for name, way in _TOGETHER]
    alone_forecast = of["disk4"]["job_0_clock"] / _DAYS["disk4"]
    return second_cpu.gain(measurements) | {
        "test": Output(names, None, "test_number", "work files of the analysis; of the forecast"),
        "days": Output(days, "1", "test_number", "length of the forecast in days"),
        "reference_analysis": Output(of["disk"]["job_0_clock"], "s", "round", "analysis alone, files on disk"),
        "reference_forecast": Output(alone_forecast, "s", "round", "a day's forecast alone, on disk"),
        "analysis_clock": Output(
            np.transpose([each["job_0_clock"] for each in both]), "s", "round test_number", "analysis"
        ),
        "forecast_clock": Output(forecasts, "s", "round test_number", "a day of the forecast next to it"),
    }


def _speeds(run) -> "xr.Dataset":
    """Of each test, round by round: speeds of analysis and forecast over both alone on disk."""
    names = ("analysis", "forecast")
    return xr.Dataset({name: single(run)[f"reference_{name}"] / run[f"{name}_clock"] for name in names})


@together.figure
def both(runs) -> "figures.Shown":
    """Analysis and forecast at once over both alone on disks of the same machine, added, then and now.

    The report divides by the Cray 1-A; against the same machine, what the faster one gave drops out.
    """
    tests = tables.printed("xmp1982", "fig6_3").iloc[1:]
    usual = float(tables.load("xmp1982", "fig5_1")["forecast_clock"].sel(configuration="disk4"))
    then = (_clocks()["FILES ON DISK"] / tests["analysis_time"] + usual / tests["forecast_time"]).to_numpy(float)

    def here(run) -> dict[str, Measured]:
        speeds = _speeds(run)
        values = (speeds["analysis"] + speeds["forecast"]).transpose("test_number", "round").values
        return {"today": Measured(values, any_flagged(run))}

    return dots(
        runs,
        {str(n): f"{row[0]} + {row[1].replace('DISKS', 'disks')}" for n, row in enumerate(tests.to_numpy())},
        {"X-MP 1982": then},
        here,
        xlabel="speeds added, each alone on disks = 1",
        name="xmp1982_together_rerun",
        title="Analysis and forecast at once, 1982 and today",
        tables="fig5_1 fig6_1 fig6_3",
        more="Both start together and the analysis ends first. In 1982 post-processing jobs then took its place; today "
        "the forecast goes on alone.",
    )


def said(run) -> list[str]:
    """What each program lost beside the other in 1982 (Figs 6.1, 6.3), and what a forecast keeps of its speed now."""
    tests, clock = tables.printed("xmp1982", "fig6_3").iloc[1:], _clocks()
    usual = tables.load("xmp1982", "fig5_1")["forecast_clock"].to_series()
    alone = {"analysis": np.repeat([clock["FILES ON HALF SSD"], clock["FILES ON BMR"]], 2)}
    alone["forecast"] = np.tile([usual["ssd1-sync"], usual["disk4"]], 2)
    more = {name: 100 * (tests[f"{name}_time"].to_numpy(float) / times - 1) for name, times in alone.items()}
    speed = _speeds(run)["forecast"].transpose("test_number", "round").values
    return [
        f"They could in 1982: beside a forecast on SSD the analysis took {span(more['analysis'][::2], 0)} % longer "
        "than alone. Beside one on disks, where part of its own files were, it took "
        f"{span(more['analysis'][1::2], 0)} % longer.",
        f"The forecast itself took {span(more['forecast'][::2], 0)} % longer on SSD and "
        f"{span(more['forecast'][1::2], 0)} % longer on disks than alone in the same place.",
        "Today a forecast on disk beside the analysis has "
        f"{' and '.join(ranged(speed[n], nothing=1) for n in (1, 3))} of its speed alone.",
    ]
