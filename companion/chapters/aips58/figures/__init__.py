"""Figures of chapter 2 from the memo's tables alone: the AIPS benchmarks on two Cray X-MPs and a Convex C1, 1989.

Functions of the document's tables.  ``ddt`` is the joined dataset ``tables.load("aips58", "ddt")`` along
size × problem × system; problems keep the order of the printed tables.
"""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.aips58 import overhead as overhead
from companion.figures.parts import log_axis, points, rows
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes, meaning

CLASSES = {"tape": "reads tape, scalar", "scalar": "scalar", "vector": "vectorises"}


def _names(systems: xr.Dataset) -> dict[str, str]:
    """``{"CLSC": "CLSC, Cray X-MP/24", …}`` in the order of the tables."""
    machines = systems["machine"].to_series()
    return {system: f"{system}, {machine}" for system, machine in machines.items()}


def times(ddt: xr.Dataset, systems: xr.Dataset, size: str) -> Shown:
    """CPU and real time of every problem at one size: a line from the one to the other for each system."""
    part = ddt[["cpu", "real"]].sel(size=size)
    figure, axis = axes(height=6.2)
    place = rows(axis, part["problem"].values)
    for number, (system, name) in enumerate(_names(systems).items()):
        cpu, real = part["cpu"].sel(system=system), part["real"].sel(system=system)
        shifted = place + 0.26 * (number - 1)
        axis.hlines(shifted, cpu, real, color=meaning("printed"), linewidth=1.2)
        points(axis, cpu, shifted, label=name, index=number, line=False)
        axis.plot(real, shifted, "|", color=meaning("printed"), markersize=8, markeredgewidth=1.8)
    for row in place[:-1]:
        axis.axhline(row + 0.5, color=INK, linewidth=0.4, alpha=0.3)
    log_axis(axis, "x")
    axis.set_xlabel("time [s], logarithmic: marker CPU, bar real")
    axis.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=1)
    text = "; ".join(
        f"{name} {float(part['cpu'].sel(system=system).sum()):.0f} s of CPU in "
        f"{float(part['real'].sel(system=system).sum()):.0f} s"
        for system, name in _names(systems).items()
    )
    return show(
        figure,
        data=part,
        name=f"aips58_{size}",
        title=f"CPU and real time of the {size} problems",
        alt=f"A line leads from the CPU time (marker) to the real time (upright bar) of each of "
        f"{part.sizes['problem']} problems on three systems, logarithmic. Sums over the problems: {text}. "
        f"CLSC needs the least CPU time for {int((part['cpu'].idxmin('system') == 'CLSC').sum())} of them, PSC the "
        f"most real time for {int((part['real'].idxmax('system') == 'PSC').sum())}.",
    )


def summary(ddt: xr.Dataset, classes: xr.Dataset) -> pd.DataFrame:
    """Geometric mean of CPU and real ratios to the Convex C1 by class of problem, over problems and sizes."""
    kinds = classes["class"].sel(problem=ddt["problem"]).values
    rows = {}
    for kind, text in CLASSES.items():
        part = ddt[["cpu", "real"]].isel(problem=kinds == kind)
        ratios = part / part.sel(system="NRAO1")
        logs = ratios.map(np.log).mean(("problem", "size"))
        rows[text] = {
            f"{name}, {system}": float(np.exp(logs[name].sel(system=system)))
            for system in ("CLSC", "PSC")
            for name in ("cpu", "real")
        }
    return pd.DataFrame(rows).T.rename_axis("class").reset_index()
