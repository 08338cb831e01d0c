"""Figures of chapter 5: IFS from IBM to Cray XC30, 2014.

Functions of the document's tables are here; those of run records, which draw the host, in
``live`` and ``model``.
"""

import re

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.ticker import MultipleLocator

from companion.chapters.xc30.figures.evidence import *
from companion.chapters.xc30.figures.findings import *
from companion.chapters.xc30.figures.live import *
from companion.chapters.xc30.figures.model import *
from companion.chapters.xc30.figures.output import *
from companion.chapters.xc30.figures.peak import *
from companion.chapters.xc30.figures.ranks import *
from companion.chapters.xc30.figures.threads import *
from companion.figures.parts import log_axis, points
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes, hollow

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
    axis.barh(place, ratio - 1, left=1, height=0.55, **hollow("printed"))
    axis.axvline(1, color=INK, linewidth=0.9)
    for number, value in enumerate(ratio):
        axis.text(max(value, 1) + 0.06, number, f"{value:.2f}", va="center", size=9)
    axis.set_yticks(place, ratio.index)
    axis.set(xlabel=f"one {CRAY} over one {IBM}", xlim=(0, 5))
    data = ratio.rename_axis("fact").rename("ratio").reset_index()
    return show(figure, data=data, name="xc30_systems", items=ratio)


def small_files(table: xr.Dataset) -> Shown:
    """Operations on small files that were to be removed, by suite."""
    frame = table[["temporary_files", "open_close"]].to_dataframe()
    figure, axis = axes(height=2.8)
    place = np.arange(len(frame))
    points(axis, frame["open_close"], place, label="open, read or write, close", index=0, line=False)
    points(axis, frame["temporary_files"], place, label="temporary files", index=1, line=False)
    axis.set_yticks(place, frame.index)
    return show(figure, data=table, name="xc30_io_to_remove", items=frame["open_close"])


def _when(date: str, year: int) -> float:
    """Years as a number from ``2011-06``, ``10-19`` (of ``year``) or ``2015``."""
    parts = [int(part) for part in date.split("-")]
    if parts[0] < 1000:
        parts = [year, *parts]
    month = (parts[2] - 1) / 30.5 if len(parts) > 2 else 0.5
    return parts[0] + ((parts[1] - 1 + month) / 12 if len(parts) > 1 else 0.5)


def timeline(table: xr.Dataset, year: int) -> Shown:
    """Dates of the migration in order; a day printed without a year is placed in ``year``."""
    dates = pd.Series(table["date"].values, table["event"].values)
    when = dates.map(lambda date: _when(date, year)).sort_values()
    figure, axis = axes(height=3.2)
    place = np.arange(len(when))
    axis.hlines(place, when.min() - 0.3, when, color=INK, linewidth=0.5, alpha=0.4)
    assumed = dates[when.index].str.fullmatch(r"\d\d-\d\d").to_numpy()
    for index, (chosen, name) in enumerate(((~assumed, "printed"), (assumed, "year assumed"))):
        points(axis, when.to_numpy()[chosen], place[chosen], label=name, index=index, line=False)
    axis.set_yticks(place, [re.sub("metadata server, ", "server load, ", event) for event in when.index], size=9)
    axis.xaxis.set_major_locator(MultipleLocator(1))
    axis.set_xlim(when.min() - 0.3, when.max() + 0.4)
    return show(figure, data=table, name="xc30_timeline", items=dates[when.index])
