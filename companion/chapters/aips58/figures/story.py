"""Figures of chapter 2 that show the whole test, as printed and rerun, on one axis."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.aips58.figures import marks
from companion.chapters.aips58.figures.live import largest, runs_frame
from companion.chapters.aips58.figures.marks import HERE, KINDS, NAMES, SYSTEMS
from companion.chapters.aips58.figures.studies import together
from companion.figures.beside import each_machine
from companion.figures.parts import bars, converted, cpu, log_axis, of_samples, points, rows
from companion.figures.rendering import Shown
from companion.figures.style import INK, axes, meaning
from companion.figures.tabular import significant

#: Habits of a run: data in memory, and moved as AIPS moved them.
_HABITS = ("in memory", "as AIPS")


def _five(axis) -> list[str]:
    """Rows of the three systems and of a run with both habits; their names."""
    names = [*NAMES, *(f"here, {words}" for words in _HABITS)]
    rows(axis, names, 0.6)
    return names


@each_machine
def waits(ddt: xr.Dataset, moved: xr.Dataset) -> Shown:
    """CPU and real time of all problems of a size together: three systems, and a run in memory and as AIPS."""
    frame = runs_frame(moved)
    size, tasks = str(frame["size"].iloc[0]), list(dict.fromkeys(frame["task"]))
    old = ddt[["cpu", "real"]].sel(size=size, problem=tasks).sum("problem")
    figure, axis = axes(height=2.3)
    names, spent = _five(axis), []
    for row, system in enumerate(SYSTEMS):
        spent.append({kind: float(old[kind].sel(system=system)) for kind in KINDS})
        marks.printed(axis, row, system, *spent[row].values())
    for habits in range(len(_HABITS)):
        chosen = (frame["habits"] == habits).to_numpy()
        flags = ["; ".join(filter(None, moved["flags"].values[chosen]))]
        found = {kind: of_samples(together(moved, chosen, kind)[None], flags) for kind in KINDS}
        marks.rerun(axis, len(spent), found)
        spent.append({kind: float(each["middle"].iloc[0]) for kind, each in found.items()})
    for row, each in enumerate(spent):
        text = f"{each['real']:.0f} s" if each["real"] > 100 else f"{each['real']:.2f} s"
        axis.text(1.5 * each["real"], row, text, va="center", size=9)
    axis.set_xlim(0.4 * min(each["cpu"] for each in spent), 20 * max(each["real"] for each in spent))
    frame = pd.DataFrame(spent).assign(row=names)
    text = "; ".join(
        f"{row.row} {significant(row.cpu, 4)} s of CPU in {significant(row.real, 4)} s" for row in frame.itertuples()
    )
    return marks.said(figure, moved, "aips58_waits", frame, {}, tasks=len(tasks), size=size, text=text)


def _gains(ddt: xr.Dataset, record: xr.Dataset, frame: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The Convex's time over that of a run, with the spread of the run, for its rows ``frame``."""
    old = ddt[kind].sel(system="NRAO1")
    convex = np.array([float(old.sel(size=size, problem=task)) for size, task in frame[["size", "task"]].to_numpy()])
    return converted(marks.samples(record, kind, frame.index), lambda t: convex / t)


@each_machine
def gains(ddt: xr.Dataset, record: xr.Dataset, facts: xr.Dataset) -> Shown:
    """How many times as fast as the Convex every problem is, in CPU and in real time: the X-MPs, and a run."""
    frame = runs_frame(record)
    frame = frame[frame["size"].isin(ddt["size"].values)]
    figure, axis = axes(height=2.8)
    names = [f"{where}, {kind}" for where in ("Toronto", "Pittsburgh", "here") for kind in KINDS.values()]
    medians: list[float] = []
    ratios = ddt[["cpu", "real"]].sel(system="NRAO1", drop=True) / ddt[["cpu", "real"]]
    for index, system in enumerate(SYSTEMS[1:], start=1):
        for kind in KINDS:
            ratio, row = ratios[kind].sel(system=system).values.ravel(), len(medians)
            points(axis, ratio, row + marks.jitter(ratio), label="_", index=index, line=False)
            medians.append(marks.median(axis, row, ratio, "{:.2g}" if kind == "real" else "{:.1f}"))
    found = {kind: _gains(ddt, record, frame, kind) for kind in KINDS}
    for each in found.values():
        row = len(medians)
        bars(axis, row + marks.jitter(each), each, label="_", index=HERE, line=False, across=True)
        medians.append(marks.median(axis, row, each["middle"], "{:.0f}", each["high"]))
    rows(axis, names, 0.6)
    axis.axvline(1, color=INK, linewidth=0.8)
    log_axis(axis, "x")
    axis.set_xlim(right=20 * max(each["high"].max() for each in found.values()))
    best = ratios["real"].max(("size", "problem")).to_series()
    text = ", ".join(f"{name} {significant(middle, 3)}" for name, middle in zip(names, medians, strict=True))
    words = {name: float(facts[f"real_{name}"]) for name in ("best", "typical_least", "typical_most")}
    frame = frame[["size", "task"]]
    return marks.said(figure, record, "aips58_gains", frame, found, memo=words, reached=best, text=text)


@each_machine
def by_class(ddt: xr.Dataset, classes: xr.Dataset, record: xr.Dataset, size: str = "") -> Shown:
    """Gain in CPU time over the Convex by problem, those that vectorise apart: Toronto as printed, and a run."""
    frame, size = runs_frame(record), size or largest(ddt, record)
    frame = frame[frame["size"] == size]
    vector = classes["class"].sel(problem=frame["task"].values).values == "vector"
    order = np.argsort(vector, kind="stable")
    frame, vector = frame.iloc[order], vector[order]
    old = ddt["cpu"].sel(size=size, problem=frame["task"].values)
    toronto = (old.sel(system="NRAO1") / old.sel(system="CLSC")).values
    here = _gains(ddt, record, frame, "cpu")
    figure, axis = axes(height=3.2)
    marks.beside(axis, frame["task"].values, {NAMES[1]: toronto}, here, cpu(record), first=1)
    edge = np.count_nonzero(~vector) - 0.5
    axis.axhline(edge, color=INK, linewidth=0.9)
    for words, where, shift in (("do not vectorise", "bottom", -0.15), ("vectorise", "top", 0.15)):
        axis.text(0.48, edge + shift, words, transform=axis.get_yaxis_transform(), ha="center", va=where, size=9)
    log_axis(axis, "x")
    axis.set_xlabel(f"times as fast as the Convex C1 in CPU time, {size}")
    axis.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=1)
    medians = [np.median(values[kind]) for values in (toronto, here["middle"].to_numpy()) for kind in (~vector, vector)]
    text = (
        "Medians of those that do not vectorise and of those that do: {:.1f} and {:.1f} at Toronto, {:.0f} and {:.0f}"
    )
    text = f"{text.format(*medians)} on {cpu(record)}"
    return marks.said(
        figure,
        record,
        f"aips58_by_class_{size}",
        pd.DataFrame({"task": frame["task"].values, "toronto": toronto}),
        {"here": here},
        title=f"Gain in CPU time of the {size} problems",
        alt=f"Gain in CPU time over the Convex C1 of the {size} problems, logarithmic. {text}.",
        caption=f"{text}. {marks.measured(record)}",
    )


@each_machine
def shares(ddt: xr.Dataset, moved: xr.Dataset) -> Shown:
    """CPU time over real time of every problem of a size: three systems, and a run in memory and as AIPS."""
    frame = runs_frame(moved)
    size, tasks = str(frame["size"].iloc[0]), list(dict.fromkeys(frame["task"]))
    old = (ddt["cpu"] / ddt["real"]).sel(size=size, problem=tasks)
    here = of_samples(marks.shares(moved), moved["flags"].values)
    figure, axis = axes(height=2.6)
    names, medians = _five(axis), []
    for row, system in enumerate(SYSTEMS):
        values = old.sel(system=system).values
        points(axis, values, row + marks.jitter(values), label="_", index=row, line=False)
        medians.append(marks.median(axis, row, values, "{:.2f}"))
    for habits in range(len(_HABITS)):
        each, row = here[(frame["habits"] == habits).to_numpy()], len(medians)
        bars(axis, row + marks.jitter(each), each, label="_", index=HERE, line=False, across=True)
        medians.append(marks.median(axis, row, each["middle"], "{:.2f}", each["high"]))
    axis.set(xlim=(0, 1.15), xlabel=f"CPU time over real time, {size} problems")
    text = ", ".join(f"{name} {middle:.2f}" for name, middle in zip(names, medians, strict=True))
    return marks.said(figure, moved, "aips58_shares", frame[["task", "habits"]], {"share": here}, size=size, text=text)


@each_machine
def lost(ddt: xr.Dataset, moved: xr.Dataset) -> Shown:
    """What files add, against the CPU time without: Pittsburgh over Toronto, a run as AIPS over one in memory."""
    frame = runs_frame(moved)
    toronto, pittsburgh = (ddt["cpu"].sel(system=system).values.ravel() for system in SYSTEMS[1:])
    ways = [np.flatnonzero(frame["habits"] == number) for number in (0, 1)]
    plain, aips = (marks.samples(moved, "cpu", way) for way in ways)
    here = marks.ratios(moved, "cpu", *reversed(ways))
    figure, axis = axes(height=2.9)
    points(axis, toronto, pittsburgh / toronto, label="Pittsburgh over Toronto", index=2, line=False)
    bars(axis, plain["middle"], here, label=f"{cpu(moved)}: as AIPS over in memory", index=HERE, line=False)
    fixed = [float(np.median(pittsburgh - toronto)), float(np.median(aips["middle"] - plain["middle"]))]
    for seconds, kind, short in ((fixed[0], "printed", toronto.min()), (fixed[1], "measured", plain["middle"].min())):
        x = np.geomspace(0.5 * short, 4000 * short, 60)
        axis.plot(x, 1 + seconds / x, color=meaning(kind), linewidth=0.9, alpha=0.6)
    axis.axhline(1, color=INK, linewidth=0.8)
    log_axis(axis)
    axis.set(ylim=(0.6, 30), xlabel="CPU time without the added cost [s]", ylabel="CPU time, with over without")
    axis.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    tasks = frame["task"].to_numpy()[ways[0]]
    worst = [f"{(pittsburgh / toronto).max():.1f}", f"{here['middle'].max():.1f} ({tasks[here['middle'].argmax()]})"]
    text = f"Largest at Pittsburgh {worst[0]}, median difference {fixed[0]:.1f} s; here {worst[1]}, {fixed[1]:.4f} s"
    spreads = {"plain": plain, "ratio": here}
    return marks.said(figure, moved, "aips58_lost", pd.DataFrame({"task": tasks}), spreads, text=text)
