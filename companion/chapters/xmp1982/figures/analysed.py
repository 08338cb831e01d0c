"""The analysis rerun: the report's Figs 6.1 to 6.3 with the numbers of a run in columns and rows of their own."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.xmp1982.figures.dots import Series, any_flagged, dots, middle, observed, ranged, spread_text
from companion.figures.beside import each_machine
from companion.figures.parts import cpu
from companion.figures.rendering import Shown
from companion.figures.tabular import Table, table
from companion.records.runs import single

#: Configuration here -> that of Fig. 6.1 whose place it takes.
_PLACES = {
    "disk": "FILES ON DISK",
    "page cache": "FILES ON BMR",
    "half in memory": "FILES ON HALF SSD",
    "memory": "FILES ON SSD",
    "tmpfs": None,
    "all in memory": None,
}
NAMES = {"disk": "disk", "page cache": "buffer memory; page cache", "half in memory": "half SSD; half in memory"}
NAMES |= {"memory": "SSD; memory", "tmpfs": "file system in memory", "all in memory": "sequential files in memory, too"}
_COMPILER = "CFT 15K"
#: The programs of Fig. 6.2, by the names of the steps.
_PROGRAMS = ("PRE-GAP", "GAP (data checking)", "GAP (analysis)", "POST GAP")


def clocks(analyses: pd.DataFrame) -> pd.Series:
    """Seconds of clock of Fig. 6.1 by configuration, of the compiler of which it has all."""
    return analyses[analyses["compiler"] == _COMPILER].set_index("configuration")["clock"].astype(float)


@each_machine
def times(printed: pd.DataFrame, record: xr.Dataset) -> Shown:
    """Clock of the analysis from step d to w by place of its work files (Fig. 6.1), then and now."""
    cases = observed(record)
    names = [name for name in _PLACES if name in cases["configuration"]]
    clock = clocks(printed)
    then = np.array([clock.get(_PLACES[name], np.nan) for name in names])
    here = cases.sel(configuration=names)
    middles = middle(here["clock"]).values
    return dots(
        [NAMES[name] for name in names],
        [
            Series("clock, X-MP 1982", then),
            Series(f"clock, {cpu(record)}", here["clock"].values, host=True, flagged=here["flagged"].values),
            Series(f"CPU time, {cpu(record)}", here["cpu"].values, host=True, index=1, flagged=here["flagged"].values),
        ],
        record=record,
        name="xmp1982_analysis_rerun",
        then=then,
        middles=middles,
    )


def step_times(record: xr.Dataset) -> pd.DataFrame:
    """Median clock and CPU time of every step with files in memory and on disk, seconds."""
    found, cases = single(record), observed(record)
    frame = pd.DataFrame({"step": found["letter"].values, "what it does": found["step_name"].values})
    for name, text in (("all in memory", "in memory"), ("disk", "on disk")):
        for kind, word in (("cpu", "CPU"), ("clock", "clock")):
            values = [middle(cases[f"step_{n:02d}_{kind}"]).sel(configuration=name) for n in range(len(frame))]
            frame[f"{word}, files {text}"] = np.array(values, float)
    return frame


def steps(record: xr.Dataset) -> Table:
    """:func:`step_times` in milliseconds."""
    frame = step_times(record)
    frame[frame.columns[2:]] = (1e3 * frame[frame.columns[2:]]).round(2)
    units = dict.fromkeys(frame.columns[2:], "ms")
    return table(frame, name="xmp1982_analysis_steps", units=units, run=record)


def _program(record: xr.Dataset, configuration: str, name: str, kind: str) -> np.ndarray:
    """Samples of the steps called ``name``, both passes together."""
    cases, names = observed(record), single(record)["step_name"].values.astype(str)
    numbers = np.flatnonzero(names == name)
    return np.sum([cases[f"step_{n:02d}_{kind}"].sel(configuration=configuration).values for n in numbers], axis=0)


def programs(printed: pd.DataFrame, record: xr.Dataset) -> Table:
    """Fig. 6.2: CPU time of the four programs, then and now, and their shares of the four."""
    here = [_program(record, "disk", name, "cpu") for name in _PROGRAMS]
    middles = np.array([np.nanmedian(each) for each in here])
    xmp = printed["cray_xmp"].to_numpy(float)
    frame = pd.DataFrame(
        {
            "program": list(_PROGRAMS),
            "Cray 1-A": printed["cray_1a"].to_numpy(float),
            "X-MP": xmp,
            cpu(record): [spread_text(each) for each in here],
            "share, X-MP": (xmp / xmp.sum()).round(3),
            f"share, {cpu(record)}": (middles / middles.sum()).round(3),
        }
    )
    units = dict.fromkeys(frame.columns[1:4], "s") | dict.fromkeys(frame.columns[4:], "1")
    return table(frame, name="xmp1982_programs_rerun", units=units, run=record)


def accuracy(record: xr.Dataset) -> Table:
    """Errors of first guess and analysis against the truth, by field."""
    found = single(record)
    units = {"phi": "m²/s²", "u": "m/s", "v": "m/s", "T": "K", "q": "kg/kg"}
    names = [str(name) for name in found["field"].values]
    before, after = found["guess_error"].values, found["analysis_error"].values
    frame = pd.DataFrame(
        {
            "field": names,
            "unit": [units[name] for name in names],
            "first guess": [f"{value:.3g}" for value in before],
            "analysis": [f"{value:.3g}" for value in after],
            "analysis over first guess": (after / before).round(2),
        }
    )
    return table(frame, name="xmp1982_analysis_errors", run=record, left=100 * (after / before))


def _ratios(record: xr.Dataset) -> xr.Dataset:
    """Of each test, round by round: ratios of analysis and forecast to both alone on disk, and their sum."""
    found = single(record)
    analysis = found["reference_analysis"] / found["analysis_clock"]
    forecast = found["reference_forecast"] / found["forecast_clock"]
    return xr.Dataset({"analysis": analysis, "forecast": forecast, "combined": analysis + forecast})


def _both(analysis: str, forecast: str) -> str:
    """Where two programs have their files; SSD and BMR are names, disks are not."""
    places = [place if "SSD" in place or "BMR" in place else place.lower() for place in (analysis, forecast)]
    return f"analysis {places[0]}, forecast {places[1]}"


def printed_together(tests: pd.DataFrame, analyses: pd.DataFrame, forecasts: xr.Dataset) -> np.ndarray:
    """Analysis and forecast of Fig. 6.3 over both alone with their files on disks of the X-MP (Figs 6.1, 5.1), added.

    The report divides by the Cray 1-A; against the same machine, what the faster one gave drops out.
    """
    forecast = float(forecasts["forecast_clock"].sel(configuration="disk4"))
    tests, alone = tests.iloc[1:], clocks(analyses)["FILES ON DISK"]
    return (alone / tests["analysis_time"] + forecast / tests["forecast_time"]).to_numpy(float)


@each_machine
def together(tests: pd.DataFrame, analyses: pd.DataFrame, forecasts: xr.Dataset, record: xr.Dataset) -> Shown:
    """Analysis and forecast at once over both alone on disks of the same machine, then and now."""
    here, flagged = _ratios(record)["combined"].transpose("test_number", "round").values, any_flagged(record, 4)
    rows = [f"{a} + {b.lower() if b == 'DISKS' else b}" for a, b in tests.iloc[1:, :2].itertuples(index=False)]
    then, middles = printed_together(tests, analyses, forecasts), np.median(here, axis=1)
    return dots(
        rows,
        [Series("X-MP 1982", then), Series("today", here, host=True, flagged=flagged)],
        record=record,
        name="xmp1982_together_rerun",
        then=then,
        middles=middles,
    )


def together_said(clock: pd.Series, record: xr.Dataset) -> str:
    """What the analysis lost beside a forecast in 1982 (Fig. 6.1), and what two programs at once gain now."""
    half = clock / clock["FILES ON HALF SSD"] - 1
    buffer = clock / clock["FILES ON BMR"] - 1
    ssd = half["1/2 SSD WITH F/C RUNNING ON SSD"], buffer["BMR WITH F/C ON SSD"]
    disks = half["1/2 SSD WITH F/C ON DISK"], buffer["BMR WITH F/C ON DISK"]
    found = _ratios(record)["forecast"].transpose("test_number", "round").values
    disk, memory = (" and ".join(ranged(found[n], nothing=1) for n in tests) for tests in ([1, 3], [0, 2]))
    return (
        f"In 1982 the analysis took {100 * ssd[0]:.0f} and {100 * ssd[1]:.0f} % longer beside a forecast on SSD than "
        f"alone. Beside one on disks, where part of its files were, it took {100 * disks[0]:.0f} and "
        f"{100 * disks[1]:.0f} % longer. Today the speed of a forecast on disk beside the analysis, over its speed "
        f"alone, is {disk}. In memory it runs {memory} times as fast as alone on disk. This explains most of the "
        "excess of the sums over two."
    )


def together_table(printed: pd.DataFrame, record: xr.Dataset) -> Table:
    """Fig. 6.3 in its layout: a row of the report, then one of the run."""
    found, ratios, rows = single(record), _ratios(record), []
    keys = ("analysis_time", "analysis_ratio", "forecast_time", "forecast_ratio", "combined_ratio")
    titles = ("analysis", "its ratio", "forecast", "its ratio ", "combined")

    def row(name, when, values):
        rows.append({"test": name, "when": when} | dict(zip(titles, values, strict=True)))

    row("each alone, on disk", "1982, Cray 1-A", [f"{float(printed.iloc[0][key]):g}" for key in keys])
    alone = [spread_text(found[f"reference_{name}"].values) for name in ("analysis", "forecast")]
    row("each alone, on disk", cpu(record), [alone[0], "1", alone[1], "1", "1"])
    for number in range(4):
        then = printed.iloc[number + 1]
        name = _both(*then.iloc[:2])
        row(name, "1982, X-MP", [f"{float(then[key]):g}" for key in keys])
        clock = [found[f"{each}_clock"].sel(test_number=number).values for each in ("analysis", "forecast")]
        part = [ratios[each].sel(test_number=number).values for each in ("analysis", "forecast", "combined")]
        values = [clock[0], part[0], clock[1], part[1], part[2]]
        row(name, cpu(record), [spread_text(each) for each in values])
    units = {"analysis": "s", "forecast": "s"}
    return table(pd.DataFrame(rows), name="xmp1982_together_table", units=units, run=record)
