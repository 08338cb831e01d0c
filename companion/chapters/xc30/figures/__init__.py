"""Figures of chapter 5: IFS from IBM Power7 to Cray XC30, 2014.

Functions of the document's tables are here; those of run records, which draw the host, in
``live`` and ``model``.
"""

import re

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.ticker import MultipleLocator

from companion.chapters.xc30.figures.evidence import day, day_table, profile_table, wrong
from companion.chapters.xc30.figures.findings import (
    densest_part,
    linear_cost,
    met_twice,
    same_forecast,
    small_files_cost,
)
from companion.chapters.xc30.figures.live import (
    cycle_table,
    nproma,
    routine_table,
    routines,
    transforms,
)
from companion.chapters.xc30.figures.model import aliasing, cases, costs, scores, sections, steady_table
from companion.chapters.xc30.figures.output import output_rates, requests, storm, storm_sizes, storm_table
from companion.chapters.xc30.figures.ranks import halo, inflight, inflight_times, moves, split, volume
from companion.chapters.xc30.figures.threads import classes
from companion.figures.parts import log_axis, points
from companion.figures.rendering import Shown, show
from companion.figures.style import CYCLE, INK, axes

__all__ = [
    "aliasing",
    "cases",
    "classes",
    "costs",
    "cycle_table",
    "halo",
    "inflight",
    "inflight_times",
    "moves",
    "day",
    "day_table",
    "densest_part",
    "linear_cost",
    "met_twice",
    "nproma",
    "output_rates",
    "overlap",
    "profile_table",
    "requests",
    "resolutions",
    "routine_table",
    "routines",
    "same_forecast",
    "scores",
    "sections",
    "share_of_peak",
    "small_files",
    "small_files_cost",
    "steady_table",
    "split",
    "storm",
    "storm_sizes",
    "storm_table",
    "systems",
    "timeline",
    "transforms",
    "volume",
    "wrong",
]

IBM, CRAY = "IBM Power7", "Cray XC30"


def systems(machines: xr.Dataset) -> Shown:
    """What one Cray system has over one IBM system, as ratios."""
    facts = {
        "clock": machines["clock"],
        "peak of a core": machines["peak"] / machines["cores"],
        "memory of a node": machines["memory_per_node"],
        "cores of a node": machines["cores_per_node"],
        "cores": machines["cores"],
        "nodes": machines["nodes"],
        "peak": machines["peak"],
    }
    ratio = pd.Series({name: float(value.sel(system=CRAY) / value.sel(system=IBM)) for name, value in facts.items()})
    figure, axis = axes(height=2.9)
    place = np.arange(len(ratio))
    axis.barh(place, ratio - 1, left=1, height=0.55, color=[CYCLE[int(value < 1)] for value in ratio])
    axis.axvline(1, color=INK, linewidth=0.9)
    for number, value in enumerate(ratio):
        axis.text(max(value, 1) + 0.06, number, f"{value:.2f}", va="center", size=9)
    axis.set_yticks(place, ratio.index)
    axis.invert_yaxis()
    axis.grid(False, axis="y")
    axis.set(xlabel=f"one {CRAY} over one {IBM}", xlim=(0, 5))
    text = ", ".join(f"{name} {value:.2f}" for name, value in ratio.items())
    return show(
        figure,
        data=ratio.rename_axis("fact").rename("ratio").reset_index(),
        name="xc30_systems",
        title="One new system over one old",
        caption="Ratios, drawn from the line at 1. A core became slower and a system larger: what the Cray gained, it "
        "gained by the number of its cores.",
        alt=f"Bars of ratios, one Cray system over one IBM system, from the line at 1: {text}.",
    )


def share_of_peak(runs: xr.Dataset, machines: xr.Dataset, forecast: xr.Dataset) -> Shown:
    """Peak of the nodes that each forecast used, and the rate that it reached."""
    rate = float(forecast["tflops"])
    peak = (machines["peak"] * runs["nodes"] / machines["nodes"]).to_series()
    figure, axis = axes(height=2.0)
    axis.barh(peak.index, peak, height=0.55, facecolor="none", edgecolor=CYCLE[0], linewidth=1.4)
    axis.barh(peak.index, rate, height=0.55, color=CYCLE[0])
    for number, (system, printed) in enumerate(runs["peak_percent"].to_series().items()):
        axis.text(peak[system] + 1, number, f"{printed:g} %", va="center", size=9)
    axis.invert_yaxis()
    axis.grid(False, axis="y")
    axis.set(xlabel="peak of the nodes used, and rate reached (filled) [TFLOPS]", xlim=(0, 1.2 * peak.max()))
    frame = pd.DataFrame(
        {"peak [TFLOPS]": peak, "rate [TFLOPS]": rate, "printed share [%]": runs["peak_percent"].to_series()}
    )
    text = "; ".join(f"{row.Index} {row[1]:.0f} TFLOPS, printed share {row[3]:g} %" for row in frame.itertuples())
    return show(
        figure,
        data=frame.reset_index(),
        name="xc30_share_of_peak",
        title="Peak used and rate reached",
        caption="Peak of the nodes that each forecast ran on, and the part of it that the forecast reached, with the "
        "share that the talk prints.",
        alt=f"Bars of the peak of the nodes used: {text}. Both forecasts reach {rate:g} TFLOPS, the "
        f"short filled part of each bar.",
    )


def resolutions(table: xr.Dataset) -> Shown:
    """Truncations that match each grid: linear, quadratic, cubic."""
    figure, axis = axes(height=3.4)
    size = table["grid_points"].values / 1e6
    for number, matching in enumerate(table["matching"].values):
        truncation = table["truncation"].sel(matching=matching).values
        points(
            axis, size[np.isfinite(truncation)], truncation[np.isfinite(truncation)], label=str(matching), index=number
        )
    axis.set(xlabel="horizontal grid points [million]", ylabel="truncation", xlim=(0, None), ylim=(0, None))
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    pairs = table["truncation"].to_series().dropna()
    text = ", ".join(f"{matching} {value:.0f} on {number} points" for (number, matching), value in pairs.items())
    return show(
        figure,
        data=table,
        name="xc30_resolutions",
        title="Grids and truncations",
        caption="Seven pairs of a grid and a truncation. Points one above the other belong to one grid; the cubic "
        "truncation of the finest grid is the linear one of the coarsest.",
        alt=f"Truncation against grid points for seven pairs, a line each for linear, quadratic and "
        f"cubic matching: {text}.",
    )


def overlap(times: xr.Dataset) -> Shown:
    """Inverse Legendre transform with and without overlapped transpositions."""
    frame = times["time"].to_pandas()
    figure, axis = axes(height=2.6)
    place = np.arange(frame.shape[1])
    labels = {"original": "waits for communication", "new": "communication overlapped"}
    for number, version in enumerate(frame.index):
        bars = axis.barh(
            place + 0.36 * (number - 0.5),
            frame.loc[version],
            height=0.33,
            color=CYCLE[number],
            label=labels.get(version, version),
        )
        axis.bar_label(bars, fmt="%g", padding=3, size=9)
    axis.set_yticks(place, frame.columns)
    axis.invert_yaxis()
    axis.grid(False, axis="y")
    axis.set(xlabel="inverse Legendre transform [s]", xlim=(0, 1.12 * frame.to_numpy().max()))
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=1)
    gains = ", ".join(
        f"{name} by {100 * (1 - frame.loc['new', name] / frame.loc['original', name]):.0f} %" for name in frame
    )
    return show(
        figure,
        data=times,
        name="xc30_overlap",
        title="What overlapping saved",
        caption="Seconds of the inverse Legendre transform, waiting for communication and overlapped with it. Saved: "
        f"{gains}.",
        alt=f"Bars of the time of the inverse Legendre transform at two truncations. Overlap shortens it: {gains}.",
    )


def small_files(table: xr.Dataset) -> Shown:
    """Operations on small files that were to be removed, by suite."""
    frame = table[["temporary_files", "open_close"]].to_dataframe()
    figure, axis = axes(height=2.8)
    place = np.arange(len(frame))
    points(axis, frame["open_close"], place, label="open, read or write, close", index=0, line=False)
    points(axis, frame["temporary_files"], place, label="temporary files", index=1, line=False)
    axis.set_yticks(place, frame.index)
    axis.grid(False, axis="y")
    log_axis(axis, "x")
    axis.set(xlabel="count", xlim=(1e5, 1e7), ylim=(len(frame) - 0.5, -0.5))
    axis.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    text = ", ".join(f"{suite} {value:,.0f}" for suite, value in frame["open_close"].items())
    return show(
        figure,
        data=table,
        name="xc30_io_to_remove",
        title="Small files to be removed",
        caption="How often the programs of each suite open a small file, read or write it, and close it, and the "
        "temporary files behind this where the talk counts them. The talk wanted all of it removed. The axis is "
        "logarithmic.",
        alt=f"Counts on a logarithmic axis of sets of open, read or write, close that were to be "
        f"removed: {text}; for two suites also the temporary files behind them.",
    )


def _when(date: str, year: int) -> float:
    """Years as a number from ``2011-06``, ``10-19`` (of ``year``) or ``2015``."""
    parts = [int(part) for part in date.split("-")]
    if parts[0] < 1000:
        parts = [year, *parts]
    day = (parts[2] - 1) / 30.5 if len(parts) > 2 else 0.5
    return parts[0] + ((parts[1] - 1 + day) / 12 if len(parts) > 1 else 0.5)


def timeline(table: xr.Dataset, year: int) -> Shown:
    """Dates of the migration in order; a day printed without a year is placed in ``year``."""
    dates = pd.Series(table["date"].values, table["event"].values)
    when = dates.map(lambda date: _when(date, year)).sort_values()
    figure, axis = axes(height=3.2)
    place = np.arange(len(when))
    axis.hlines(place, when.min() - 0.3, when, color=INK, linewidth=0.5, alpha=0.4)
    assumed = dates[when.index].str.fullmatch(r"\d\d-\d\d").to_numpy()
    for chosen, name, marker in ((~assumed, "printed", "s"), (assumed, "year assumed", "D")):
        axis.plot(
            when.to_numpy()[chosen],
            place[chosen],
            marker,
            markerfacecolor="none",
            markeredgewidth=1.4,
            color=CYCLE[int(marker == "D")],
            label=name,
        )
    axis.set_yticks(place, [re.sub("metadata server, ", "server load, ", event) for event in when.index], size=9)
    axis.invert_yaxis()
    axis.grid(False, axis="y")
    axis.xaxis.set_major_locator(MultipleLocator(1))
    axis.set_xlim(when.min() - 0.3, when.max() + 0.4)
    axis.legend(loc="lower center", bbox_to_anchor=(0.3, 1.0), ncols=2)
    text = "; ".join(f"{event} {dates[event]}" for event in when.index)
    return show(
        figure,
        data=table,
        name="xc30_timeline",
        title="Dates of the migration",
        caption="Dates that the talk states. Three days of server load are printed without a year and drawn in the "
        "year of the talk.",
        alt=f"Dates of the migration on an axis of years: {text}. The days of the server plots have no printed year.",
    )
