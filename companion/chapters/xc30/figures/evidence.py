"""Figures and tables of chapter 5 on the cost of a day, the profile's routines, output rates and wrong builds."""

from collections.abc import Collection

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.ticker import MaxNLocator

from companion.chapters.xc30.figures.live import frame_of
from companion.chapters.xc30.figures.model import step_ends, step_seconds
from companion.figures.parts import MARKED, bars, converted, log_axis, points, run_title
from companion.figures.rendering import Shown, show
from companion.figures.style import CYCLE, INK, axes
from companion.records.runs import single

_DAY = 86400.0


def day_table(record: xr.Dataset, forecast: xr.Dataset) -> pd.DataFrame:
    """Cost of a day of forecast: steps of a day times seconds of a step, measured and by the work model.

    A time step in proportion to the grid spacing of a linear grid, that is to 1 / truncation, with
    the talk's step at the talk's truncation: an assumption, since the talk prints one step only.
    """
    record = single(record)
    step, truncation = float(forecast["timestep"]), float(forecast["truncation"])
    frame = frame_of(record, "model_resolution", "model_step")
    frame["dt"] = [step * truncation / int("".join(filter(str.isdigit, name))) for name in frame["model_resolution"]]
    frame["steps"] = _DAY / frame["dt"]
    parts = set(np.asarray(record["part"].values).ravel()) if "part" in record else {0}
    seconds = dict(zip(record["measured_resolution"].values, record["measured_step"].values, strict=True))
    frame["measured"] = [
        seconds.get(name, np.nan) * count if parts == {1} else np.nan
        for name, count in zip(frame["model_resolution"], frame["steps"], strict=True)
    ]
    frame["model"] = frame["model_step"] * frame["steps"]
    frame["relative"] = frame["model"] / frame["model"].iloc[0]
    found = frame.rename(columns={"model_resolution": "resolution", "model_step": "one step, model"})
    found.attrs["units"] = {"one step, model": "s", "dt": "s", "measured": "s", "model": "s"}
    return found


def day(record: xr.Dataset, forecast: xr.Dataset) -> Shown:
    """Seconds of a day of forecast of the small model on the seven grids of the talk."""
    frame = day_table(record, forecast)
    figure, axis = axes(height=3.6)
    place = np.arange(len(frame))
    axis.barh(place, frame["model"], height=0.6, facecolor="none", edgecolor=CYCLE[1], hatch="////",
              label="work model, full size")  # fmt: skip
    marks = ""
    if frame["measured"].notna().any():
        steps = step_seconds(record).set_index("measured_resolution")
        rows = [number for number, name in enumerate(frame["resolution"]) if name in steps.index]
        count = frame["steps"].to_numpy()[rows]
        found = converted(
            step_ends(steps.loc[frame["resolution"].iloc[rows]]), lambda seconds: count * seconds.to_numpy()
        )
        bars(axis, rows, found, label="measured: a step times the steps of a day", line=False, across=True)
        marks = f" {MARKED}"
    axis.set_yticks(place, frame["resolution"])
    axis.invert_yaxis()
    axis.grid(False, axis="y")
    axis.set(xlabel="one day of forecast, one layer [s]")
    axis.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=1)
    figure.suptitle(run_title(record), size=9)
    text = ", ".join(f"{row.resolution} {row.relative:.1f}" for row in frame.itertuples())
    return show(
        figure,
        data=frame,
        name="xc30_day",
        title="Cost of a forecast day",
        caption="Steps of a day times seconds of a step, for one layer, with a time step in proportion to 1 / "
        f"truncation. Hatched: work model; points: measured.{marks}",
        run=record,
        alt="Seconds of one day of forecast of a one-layer model on the seven grids, time step in proportion to "
        f"1 / truncation, over the first by the work model: {text}.{marks}",
    )


def profile_table(profile: xr.Dataset, known: Collection[str]) -> pd.DataFrame:
    """The twenty routines of the profile, with those marked of which this book has the algorithm."""
    frame = profile[["self_percent", "mflops", "div_percent"]].to_dataframe().reset_index()
    frame["here"] = ["measured below" if name in known else "–" for name in frame["routine"]]
    found = frame.rename(columns={"self_percent": "self time", "mflops": "rate", "div_percent": "divisions"})
    found = found[["routine", "self time", "rate", "divisions", "here"]]
    found.attrs["units"] = {"self time": "%", "rate": "MFLOPS", "divisions": "%"}
    return found


def wrong(record: xr.Dataset, samples: int) -> Shown:
    """Mean paired difference of a wrong and of a harmless build, and how many pairs show it.

    ``samples`` is the least number of samples of the talk.
    """
    record = single(record)
    figure, (size, seen) = axes(2, 1, height=6.2, sharex=True)
    lead, members = record["lead"].values / 24, int(record["pairs"])
    for number, name in enumerate(str(each) for each in record["build_name"].values):
        points(size, lead, np.abs(record["difference"].values[number]), label=name, host=True, index=number)
        points(seen, lead, record["seen_at"].values[number], label=name, host=True, index=number, line=False)
    points(size, lead, record["error_strict"], label="error of the forecast", host=True, index=2).set_linestyle("--")
    log_axis(size, "y")
    size.set(ylabel="mean difference, error [m]")
    log_axis(seen, "y")
    seen.axhline(members, color=INK, linewidth=0.8, linestyle=":", label=f"pairs of this run, {members}")
    seen.axhline(samples, color=INK, linewidth=0.8, label=f"samples of the talk, {samples}")
    seen.set(xlabel="lead time [days]", ylabel="pairs that show it")
    seen.legend(loc="upper center", bbox_to_anchor=(0.45, -0.2), ncols=1)
    size.legend(loc="center", bbox_to_anchor=(0.5, 0.34), ncols=1)  # between errors and rounding
    seen.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.suptitle(run_title(record), size=9)
    text = "; ".join(
        f"{name}: at most {np.abs(row).max():.0e} m, shown at {int(np.isfinite(at).sum())} of {lead.size} lead times"
        for name, row, at in zip(
            record["build_name"].values, record["difference"].values, record["seen_at"].values, strict=True
        )
    )
    return show(
        figure,
        data=frame_of(record, "lead", "error_strict"),
        name="xc30_wrong",
        title="A harmless and a wrong build",
        caption="Above, the size of the mean difference between each build and the strict one, and the error of the "
        "forecast itself. Below, the number of pairs from which on the 95 % interval of the difference leaves zero "
        "out; a mark is missing where this run has too few pairs.",
        run=record,
        alt=f"Upper: size of the mean paired difference of two builds to the strict one, logarithmic. Lower: the "
        f"number of pairs from which on its 95 % interval leaves zero out. {text}.",
    )
