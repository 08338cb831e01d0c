"""What a core could compute and what programs reached of it (C2): printed for 2014, measured for this book."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.xc30.figures.live import rates
from companion.figures.parts import (
    MARKED,
    bars,
    case_intervals,
    converted,
    cpu,
    log_axis,
    points,
    quotient,
    with_spread,
)
from companion.figures.rendering import Shown, show
from companion.figures.style import CYCLE, INK, axes
from companion.labels import counted
from companion.records.runs import single


def printed_cores(runs: xr.Dataset, machines: xr.Dataset) -> pd.DataFrame:
    """Peak of one core [GFLOPS], share of it [%] and rate of the ten-day forecast, as the talk prints them."""
    peak = 1e3 * (machines["peak"] / machines["cores"]).to_series()
    frame = pd.DataFrame({"peak": peak, "share": runs["peak_percent"].to_series()})
    frame["rate"] = frame["peak"] * frame["share"] / 100
    frame.index = pd.Index("forecast, " + frame.index + " (2014)", name="what")
    return frame.reset_index()


def _one(record: xr.Dataset, chosen) -> pd.DataFrame:
    """Rate of one thread [GFLOPS] in the chosen case of a run, with its spread."""
    (row,) = np.flatnonzero(chosen)
    flops = float(record["flops"].values[row]) / float(record["threads"].values[row]) / 1e9
    return converted(case_intervals(record).loc[[row]], lambda seconds: flops / seconds)


def measured_cores(transforms: xr.Dataset, model: xr.Dataset, truncation: int) -> pd.DataFrame:
    """Rate and peak of one thread [GFLOPS] and the share [%], with spread: a whole small model, and transforms alone.

    Both have the truncation and the grid of the talk's forecast; the peak is that of a thread alone.
    """
    transforms, model = single(transforms), single(model)
    teams, peak = rates(transforms, "peak", 1e9)
    top = peak.loc[np.flatnonzero(teams["threads"] == 1)]
    alone = (transforms["what"] == "transforms") & (transforms["truncation"] == truncation)
    alone = alone & (transforms["fields"] == 8) & (transforms["threads"] == 1)
    whole = model["resolution"] == f"TL{truncation}"
    rows = []
    for name, record, chosen in (("one-layer model", model, whole), ("transforms", transforms, alone)):
        threads = int(record["threads"].values[chosen.values][0])
        rate = _one(record, chosen.values)
        share = converted(quotient(rate, top), lambda share: 100 * share)
        named = pd.DataFrame({"what": [f"{name} on {counted(threads, 'thread')}, {cpu(record)}"]})
        rows.append(with_spread(named, rate=rate, peak=top, share=share))
    return pd.concat(rows, ignore_index=True)


def _spread(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """One quantity of :func:`measured_cores` as :func:`companion.figures.parts.bars` takes it."""
    ends = {f"{name}_low": "low", name: "middle", f"{name}_high": "high"}
    return frame.rename(columns=ends)[[*ends.values(), "flagged"]]


def cores(runs: xr.Dataset, machines: xr.Dataset, transforms: xr.Dataset, model: xr.Dataset, truncation: int) -> Shown:
    """The rate of one core and its peak: whole forecasts of 2014, a small model and transforms of today."""
    printed, measured = printed_cores(runs, machines), measured_cores(transforms, model, truncation)
    frame = pd.concat([printed, measured], ignore_index=True)
    figure, axis = axes(height=2.6)
    grey, old, new = CYCLE.index("#666666"), np.arange(len(printed)), np.arange(len(printed), len(frame))
    points(axis, printed["peak"], old, label="peak, as stated", index=grey, line=False)
    points(axis, printed["rate"], old, label="reached, as printed", line=False)
    bars(axis, new, _spread(measured, "peak"), label="peak, measured", index=grey, line=False, across=True)
    bars(axis, new, _spread(measured, "rate"), label="reached, measured", line=False, across=True)
    for number, row in enumerate(frame.itertuples()):
        axis.hlines(number, 1.12 * row.rate, row.peak / 1.12, color=INK, linewidth=0.6, alpha=0.5)
        axis.text(np.sqrt(row.rate * row.peak), number - 0.12, f"{row.share:.2g} %", ha="center", va="bottom", size=9)
    axis.set_yticks(range(len(frame)), [name.replace(", ", "\n", 1) for name in frame["what"]])
    axis.set_ylim(len(frame) - 0.6, -0.6)
    axis.grid(False, axis="y")
    log_axis(axis, "x")
    axis.set(xlabel="rate of one core or thread [GFLOPS]")
    figure.legend(loc="outside lower center", ncols=2)
    text = "; ".join(
        f"{row.what} {row.rate:.3g} of {row.peak:.3g} GFLOPS, {row.share:.2g} %" for row in frame.itertuples()
    )
    return show(
        figure,
        data=frame,
        name="xc30_cores",
        title="Peak of a core, and the rate that programs reach",
        caption=f"Above, the forecast of 2014 at truncation {truncation}. Below, at the same one, a model of one "
        f"layer without physics, and its transforms; their peak was measured on {cpu(transforms)}. {MARKED}",
        run=transforms,
        alt=f"Rate and peak of one core on a logarithmic axis: {text}. {MARKED}",
    )


def whole_forecasts(record: xr.Dataset) -> pd.DataFrame:
    """Elapsed time, rate and share of the measured peak of whole forecasts of the small model."""
    forecasts, rate = rates(record, "forecast", 1e9)
    teams, peak = rates(record, "peak", 1e9)
    seconds = case_intervals(record).loc[np.flatnonzero(single(record)["what"].values == "forecast")]
    own = [int(np.flatnonzero(teams["threads"] == threads)[0]) for threads in forecasts["threads"]]
    frame = forecasts[["truncation", "days", "steps", "threads"]].assign(
        elapsed=seconds["middle"].to_numpy(), rate=rate["middle"],
        share=100 * quotient(rate, peak.loc[own])["middle"],
    )  # fmt: skip
    frame.attrs["units"] = {"elapsed": "s", "rate": "GFLOPS", "share": "%"}
    return frame
