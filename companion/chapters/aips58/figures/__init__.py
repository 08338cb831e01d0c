"""Figures of chapter 2: the AIPS benchmarks on two Cray X-MPs and a Convex C1, 1989.

Functions of the document's tables.  ``ddt`` is the joined dataset ``tables.load("aips58", "ddt")`` along
size × problem × system; problems keep the order of the printed tables.
"""

import numpy as np
import pandas as pd
import xarray as xr

from companion.figures.parts import log_axis, points
from companion.figures.rendering import Shown, show
from companion.figures.style import CYCLE, INK, axes

CLASSES = {"tape": "reads tape, scalar", "scalar": "scalar", "vector": "vectorises"}


def _names(systems: xr.Dataset) -> dict[str, str]:
    """``{"CLSC": "CLSC, Cray X-MP/24", …}`` in the order of the tables."""
    machines = systems["machine"].to_series()
    return {system: f"{system}, {machine}" for system, machine in machines.items()}


def _rows(axis, names) -> np.ndarray:
    """Name the rows of a figure from top to bottom; their places."""
    axis.set_yticks(np.arange(len(names)), names)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.grid(False, axis="y")
    return np.arange(len(names))


def _count(winners: xr.DataArray, system: str) -> int:
    return int((winners == system).sum())


def times(ddt: xr.Dataset, systems: xr.Dataset, size: str) -> Shown:
    """CPU and real time of every problem at one size: a line from the one to the other for each system."""
    part = ddt[["cpu", "real"]].sel(size=size)
    figure, axis = axes(height=6.2)
    place = _rows(axis, part["problem"].values)
    for number, (system, name) in enumerate(_names(systems).items()):
        cpu, real = part["cpu"].sel(system=system), part["real"].sel(system=system)
        rows = place + 0.26 * (number - 1)
        axis.hlines(rows, cpu, real, color=CYCLE[number], linewidth=1.2)
        points(axis, cpu, rows, label=name, index=number, line=False)
        axis.plot(real, rows, "|", color=CYCLE[number], markersize=8, markeredgewidth=1.8)
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
        f"CLSC needs the least CPU time for {_count(part['cpu'].idxmin('system'), 'CLSC')} of them, PSC the most real "
        f"time for {_count(part['real'].idxmax('system'), 'PSC')}.",
    )


def over_nrao1(ddt: xr.Dataset, systems: xr.Dataset) -> Shown:
    """Time of each X-MP over that of the Convex C1, three sizes, CPU above and real below."""
    names = _names(systems)
    reference, *others = names
    figure, panels = axes(2, 1, height=8.2)
    ratios = (ddt[["cpu", "real"]] / ddt[["cpu", "real"]].sel(system=reference)).drop_sel(system=reference)
    for axis, kind, text in zip(panels, ("cpu", "real"), ("CPU time", "real time"), strict=True):
        place = _rows(axis, ratios["problem"].values)
        for number, system in enumerate(others, start=1):
            values = ratios[kind].sel(system=system)
            rows = place + 0.3 * (number - 1.5)
            axis.hlines(rows, values.min("size"), values.max("size"), color=CYCLE[number], linewidth=1)
            for step, size in enumerate(ratios["size"].values):
                line = points(
                    axis,
                    values.sel(size=size),
                    rows,
                    index=number,
                    line=False,
                    label=names[system] if step == 1 else "_",
                )
                line.set_markersize(3.5 + 2 * step)
        axis.axvline(1, color=INK, linewidth=0.8)
        axis.tick_params(axis="y", labelsize=8)
        log_axis(axis, "x")
        axis.set_xlabel(f"{text} over that of {names[reference].replace(', ', ', a ')}")
    panels[0].legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=1)
    best, slow = ratios["real"].sel(system="CLSC"), ratios["real"].sel(system="PSC")
    return show(
        figure,
        data=ratios,
        name="aips58_over_nrao1",
        title="The two X-MPs against the Convex",
        alt=f"Two panels of ratios to the Convex C1, logarithmic; larger markers are larger "
        f"problems. Real time at CLSC is {float(best.min()):.2f} to {float(best.max()):.2f} of "
        f"the C1's, median {float(best.median()):.2f}; at PSC, shared with others, "
        f"{float(slow.min()):.2f} to {float(slow.max()):.0f}, median {float(slow.median()):.1f}.",
    )


def psc_over_clsc(ddt: xr.Dataset, classes: xr.Dataset) -> Shown:
    """CPU time on one X-MP over that on the other against the CPU time itself, by class of problem."""
    short, long = ddt["cpu"].sel(system="CLSC"), ddt["cpu"].sel(system="PSC")
    ratio = long / short
    figure, axis = axes(height=3.7)
    kinds = classes["class"].sel(problem=ddt["problem"])
    for number, (kind, text) in enumerate(CLASSES.items()):
        chosen = (kinds == kind).values
        points(
            axis,
            short.isel(problem=chosen).values.ravel(),
            ratio.isel(problem=chosen).values.ravel(),
            label=text,
            index=number,
            line=False,
        )
    axis.axhline(1, color=INK, linewidth=0.8)
    log_axis(axis)
    axis.set(xlabel="CPU time at CLSC [s], logarithmic", ylabel="CPU time, PSC over CLSC", ylim=(0.6, 20))
    axis.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    axis.legend(loc="upper right")
    most = ratio.isel(ratio.argmax(...))
    excess = (long - short).median("problem")
    excesses = ", ".join(f"{float(value):.0f} s ({size})" for size, value in excess.to_series().items())
    data = xr.Dataset({"cpu_clsc": short.drop_vars("system"), "ratio": ratio, "class": kinds})
    return show(
        figure,
        data=data,
        name="aips58_psc_over_clsc",
        title="The shorter a problem, the more Pittsburgh lost",
        alt=f"Points on logarithmic axes: the shorter the CPU time at CLSC, the larger the ratio, up "
        f"to {float(most):.1f} for {str(most['size'].values)} {str(most['problem'].values)}. The "
        f"median excess at PSC is {excesses}.",
    )


def ddtload(times: xr.Dataset, systems: xr.Dataset) -> Shown:
    """CPU and real time of the run that writes hundreds of messages."""
    frame = times[["cpu", "real"]].to_dataframe()
    figure, axis = axes(height=2.2)
    names = _names(systems)
    place = _rows(axis, [names[system] for system in frame.index])
    for number, (kind, text) in enumerate((("cpu", "CPU time"), ("real", "real time"))):
        points(axis, frame[kind], place, label=text, index=number, line=False)
    log_axis(axis, "x")
    axis.set(xlabel="time [s], logarithmic", xlim=(4, 6000))
    axis.legend(loc="lower center", bbox_to_anchor=(0.35, 1.0), ncols=2)
    text = "; ".join(f"{system} {row.cpu:g} s of CPU, {row.real:g} s real" for system, row in frame.iterrows())
    return show(
        figure,
        data=frame.reset_index(),
        name="aips58_ddtload",
        title="A run that writes hundreds of messages",
        alt=f"CPU and real time of RUN DDTLOAD on three systems, logarithmic: {text}.",
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
