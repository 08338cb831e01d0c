"""What a core could compute and what programs reached of it (C2): printed for 2014, measured for this book."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.xc30.figures.live import rates
from companion.figures.beside import each_machine
from companion.figures.parts import bars, case_intervals, converted, cpu, points, quotient, spread_of, with_spread
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes
from companion.labels import plural
from companion.records.runs import single


def printed_cores(runs: xr.Dataset, machines: xr.Dataset) -> pd.DataFrame:
    """Peak of one core [GFLOPS], share of it [%] and rate of the ten-day forecast, as the talk prints them."""
    peak = 1e3 * (machines["peak"] / machines["cores"]).to_series()
    frame = pd.DataFrame({"peak": peak, "share": runs["peak_percent"].to_series()})
    frame["rate"] = frame["peak"] * frame["share"] / 100
    frame.index = pd.Index("forecast, " + frame.index + " (2014)", name="what")
    return frame.reset_index()


def _of_a_thread(record: xr.Dataset, what: str, chosen: Any = True) -> tuple[int, pd.DataFrame, pd.DataFrame]:
    """Threads of one case of a run; its rate and the peak that as many threads had in the same run, of one thread, in
    GFLOPS, with their spread."""
    cases, found = rates(record, what, 1e9)
    (row,) = np.flatnonzero(np.broadcast_to(chosen, len(cases)))
    threads = int(cases["threads"][row])
    teams, peaks = rates(record, "peak", 1e9)
    (own,) = np.flatnonzero(teams["threads"] == threads)
    rate, peak = (converted(each.loc[[at]], lambda whole: whole / threads) for each, at in ((found, row), (peaks, own)))
    return threads, rate, peak


def measured_cores(transforms: xr.Dataset, forecast: xr.Dataset | None, truncation: int) -> pd.DataFrame:
    """Rate and peak of one thread [GFLOPS] and the share [%], with spread: a forecast of the small model, and the
    transforms alone.

    Each has the peak of its own run, measured with as many threads, so that no machine is compared with another.  The
    transforms have the truncation of the talk's forecast; without a stored run of a forecast they are alone.
    """
    cases, _ = rates(transforms, "transforms", 1e9)
    alone = (cases["truncation"] == truncation) & (cases["fields"] == 8) & (cases["threads"] == 1)
    parts = [] if forecast is None else [("one-layer model", forecast, _of_a_thread(forecast, "forecast"))]
    parts.append(("transforms", transforms, _of_a_thread(transforms, "transforms", alone)))
    rows = []
    for name, record, (threads, rate, peak) in parts:
        share = converted(quotient(rate, peak), lambda share: 100 * share)
        named = pd.DataFrame({"what": [f"{name} on {plural(threads, 'thread')}, {cpu(record)}"]})
        rows.append(with_spread(named, rate=rate, peak=peak, share=share))
    return pd.concat(rows, ignore_index=True)


def _filled(forecast: xr.Dataset | None, truncation: int) -> str:
    """What the filled marks are, for a caption."""
    alone = f"spectral transforms alone at truncation {truncation}"
    if forecast is None:
        return alone
    cases, _ = rates(forecast, "forecast", 1e9)
    return f"a forecast with one layer and no physics at truncation {cases['truncation'][0]:.0f}, and {alone}"


@each_machine
def cores(
    runs: xr.Dataset, machines: xr.Dataset, transforms: xr.Dataset, forecast: xr.Dataset | None, truncation: int
) -> Shown:
    """The rate of one core and its peak: whole forecasts of 2014, a small model and transforms of today."""
    printed, measured = printed_cores(runs, machines), measured_cores(transforms, forecast, truncation)
    frame = pd.concat([printed, measured], ignore_index=True)
    figure, axis = axes(height=2.6)
    old, new = np.arange(len(printed)), np.arange(len(printed), len(frame))
    points(axis, printed["peak"], old, label="peak, as stated", colour="serial", index=1, line=False)
    points(axis, printed["rate"], old, label="reached, as printed", line=False)
    bars(axis, new, spread_of(measured, "peak"), label="peak, measured", colour="serial", line=False, across=True)
    bars(axis, new, spread_of(measured, "rate"), label="reached, measured", line=False, across=True)
    for number, row in enumerate(frame.itertuples()):
        axis.hlines(number, 1.12 * row.rate, row.peak / 1.12, color=INK, linewidth=0.6, alpha=0.5)
        axis.text(np.sqrt(row.rate * row.peak), number - 0.12, f"{row.share:.2g} %", ha="center", va="bottom", size=9)
    axis.set_yticks(range(len(frame)), [name.replace(", ", "\n", 1) for name in frame["what"]])
    axis.set_ylim(len(frame) - 0.6, -0.6)
    said: dict[str, Any] = {"truncation": truncation, "filled": _filled(forecast, truncation)}
    return show(figure, data=frame, name="xc30_cores", run=transforms, items=frame, **said)


def whole_forecasts(record: xr.Dataset) -> pd.DataFrame:
    """Elapsed time, rate and share of the measured peak of whole forecasts of the small model, medians."""
    cases, _ = rates(record, "forecast", 1e9)
    threads, rate, peak = _of_a_thread(record, "forecast")
    frame = cases[["truncation", "days", "steps", "threads"]].assign(
        elapsed=_elapsed(record)["middle"].to_numpy(),
        rate=threads * rate["middle"].to_numpy(),
        share=100 * quotient(rate, peak)["middle"].to_numpy(),
    )
    frame.attrs["units"] = {"elapsed": "s", "rate": "GFLOPS", "share": "%"}
    return frame


def _elapsed(record: xr.Dataset) -> pd.DataFrame:
    """Seconds of a whole forecast with their spread."""
    return case_intervals(record).loc[np.flatnonzero(single(record)["what"].values == "forecast")]


def whole_said(record: xr.Dataset | None, forecast: xr.Dataset, runs: xr.Dataset) -> str:
    """Elapsed time and share of peak of a stored forecast of the small model, beside the talk's.

    ``forecast`` and ``runs`` are the talk's tables.  Without a stored run, how to make one.
    """
    if record is None:
        return (
            "No forecast of the small model is stored with this edition; "
            "`python -m companion run xc30-forecast --preset paper --threads 2` makes one."
        )
    ((found, elapsed),) = zip(whole_forecasts(record).itertuples(), _elapsed(record).itertuples(), strict=True)
    threads, rate, peak = _of_a_thread(record, "forecast")
    share = converted(quotient(rate, peak), lambda share: 100 * share).iloc[0]
    cores = " or ".join(f"{count:.0f}" for count in runs["cores"].values)
    step, part = np.nanmax(record["time_step"].values), float(forecast["truncation"]) // found.truncation
    size = f", 1/{part:.0f} of the talk's {float(forecast['truncation']):.0f}" if part > 1 else ""
    return (
        "A whole forecast can be timed with a small model of one layer and without physics. At truncation "
        f"{found.truncation:.0f}{size}, a forecast of {plural(int(found.days), 'day')} takes {found.elapsed:.0f} s "
        f"({elapsed.low:.0f} to {elapsed.high:.0f}) on {plural(threads, 'thread')} of {cpu(record)}, in steps of "
        f"{step:.0f} s and with output every two hours. This is {share['middle']:.0f} % ({share['low']:.0f} to "
        f"{share['high']:.0f}) of their peak. The talk's {float(forecast['days']):.0f} days, with "
        f"{float(forecast['levels']):.0f} levels, physics and steps of {float(forecast['timestep']):.0f} s, took about "
        f"{float(forecast['elapsed']):.0f} s on {cores} cores."
    )
