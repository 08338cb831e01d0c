"""Figures of chapter 2 that show one cause each, as printed and rerun: messages, gather, other users, loading."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.aips58.figures import marks
from companion.chapters.aips58.figures.live import WAY_NAMES, runs_frame
from companion.chapters.aips58.figures.marks import HERE, KINDS, NAMES, SYSTEMS
from companion.figures.beside import each_machine
from companion.figures.parts import bars, cpu, log_axis, points, times
from companion.figures.rendering import Shown
from companion.figures.style import INK, axes


@each_machine
def loading(load: xr.Dataset, record: xr.Dataset) -> Shown:
    """RUN DDTLOAD: CPU and real time on three systems, and in a run by how messages reach their file."""
    ways = list(runs_frame(record)["way"])
    figure, axis = axes(height=2.6)
    marks.rows(axis, [*NAMES, *(f"here: {WAY_NAMES[way]}" for way in ways)])
    for row, system in enumerate(SYSTEMS):
        marks.printed(axis, row, system, *(float(load[kind].sel(system=system)) for kind in KINDS))
    found = {kind: marks.samples(record, kind) for kind in KINDS}
    for number in range(len(ways)):
        marks.rerun(axis, len(SYSTEMS) + number, {kind: each.iloc[[number]] for kind, each in found.items()})
    log_axis(axis, "x")
    axis.set_xlabel("marker: CPU time, stroke: real time [s]")
    late, off = (record["observed_cpu"].values[ways.index(way)] for way in ("late", "off"))
    old = float(load["cpu"].sel(system="PSC") / load["cpu"].sel(system="CLSC"))
    text = (
        f"Pittsburgh took {old:.1f} times the CPU time of Toronto. Here messages whose file answers late take "
        f"{times(late, off).times} the CPU time of messages without a file"
    )
    frame = pd.DataFrame({"way": ways})
    drawn = "CPU and real time of RUN DDTLOAD, logarithmic"
    return marks.said(
        figure,
        record,
        frame,
        drawn,
        text,
        name="aips58_loading",
        title="A run that writes hundreds of messages",
        **found,
    )


@each_machine
def gathered(ddt: xr.Dataset, bare: xr.DataArray, record: xr.Dataset) -> Shown:
    """CPU time of CLEAN with gather by software over that by hardware: the two X-MPs, and a run.

    ``bare`` is the CPU time of Pittsburgh without the cost of its files.
    """
    frame = runs_frame(record)
    tasks = list(dict.fromkeys(frame["task"]))
    old = (ddt["cpu"].sel(system="CLSC") / bare).sel(problem=tasks, size=["medium", "large"])
    pairs = [
        [frame.index[(frame["task"] == task) & (frame["method"] == method)][0] for method in ("scalar", "gather")]
        for task in tasks
    ]
    here = marks.ratios(record, "cpu", *(list(each) for each in zip(*pairs, strict=True)))
    figure, axis = axes(height=2.3)
    printed = {f"Toronto over Pittsburgh without files, {size}": old.sel(size=size) for size in old["size"].values}
    marks.beside(axis, tasks, printed, here, f"{cpu(record)}, loop over instruction", first=1)
    axis.axvline(1, color=INK, linewidth=0.8)
    axis.set_xlabel("CPU time, gather by software over by hardware")
    marks.keyed(axis)
    cpu_times = record["observed_cpu"].values
    found = (
        f"{task} with a loop takes {times(*(cpu_times[each] for each in pair)).times} as long"
        for task, pair in zip(tasks, pairs, strict=True)
    )
    text = (
        f"The memo's four ratios lie from {float(old.min()):.2f} to {float(old.max()):.2f}, "
        f"{int((old > 1).sum())} of them above 1. Here {'; '.join(found)}"
    )
    frame = pd.DataFrame({"task": tasks})
    drawn = "CPU time of CLEAN with gather by software over by hardware"
    return marks.said(
        figure,
        record,
        frame,
        drawn,
        text,
        name="aips58_gathered",
        title="What gather in hardware gains in CLEAN",
        ratio=here,
    )


@each_machine
def shared(ddt: xr.Dataset, record: xr.Dataset) -> Shown:
    """Real time on a machine that others use over that on one that nobody else uses: the X-MPs, and a run."""
    frame = runs_frame(record)
    tasks = list(dict.fromkeys(frame["task"]))
    alone, loaded = ([frame.index[frame["task"] == task][number] for task in tasks] for number in (0, 1))
    here = marks.ratios(record, "real", loaded, alone)
    old = (ddt["real"].sel(system="PSC") / ddt["real"].sel(system="CLSC")).sel(size="large", problem=tasks)
    figure, axis = axes(height=2.2)
    marks.beside(
        axis, tasks, {"Pittsburgh over Toronto, large": old}, here, f"{cpu(record)}, loaded over alone", first=2
    )
    axis.axvline(1, color=INK, linewidth=0.8)
    log_axis(axis, "x")
    axis.set_xlabel("real time, shared over to oneself")
    marks.keyed(axis)
    doubts = ["" if low > 1 or high < 1 else ", no measurable difference" for low, high in here[["low", "high"]].values]
    found = ", ".join(
        f"{task} {row.middle:.2f} ({row.low:.2f} to {row.high:.2f}{doubt})"
        for task, row, doubt in zip(tasks, here.itertuples(), doubts, strict=True)
    )
    text = (
        f"Pittsburgh took {float(old.min()):.1f} to {float(old.max()):.0f} times the real time of Toronto, the cost "
        f"of its files included. Here: {found}"
    )
    frame = pd.DataFrame({"task": tasks})
    drawn = "Real time of problems on a shared machine over that on a machine to oneself, logarithmic"
    return marks.said(
        figure, record, frame, drawn, text, name="aips58_shared", title="What other users cost", ratio=here
    )


#: Sources of a run's files, as the legend names them.
_SOURCES = {"disk": "here, file", "paced as a tape": "here, at a tape's pace"}


@each_machine
def taped(ddt: xr.Dataset, record: xr.Dataset) -> Shown:
    """Real time of the two loading problems: tape on the Convex, files on the X-MPs, both in a run."""
    frame = runs_frame(record)
    sizes = list(dict.fromkeys(frame["size"][frame["size"].isin(ddt["size"].values)]))
    cases = [(task, size) for task in ("IMLOD", "UVLOD") for size in sizes]
    figure, axis = axes(height=3.4)
    place = marks.rows(axis, [f"{task}, {size}" for task, size in cases])
    found = {}
    for index, system in enumerate(SYSTEMS):
        old = np.array([float(ddt["real"].sel(system=system, problem=task, size=size)) for task, size in cases])
        points(axis, old, place, label=NAMES[index], index=index, line=False)
        found[system] = old
    here = {}
    for number, (source, name) in enumerate(_SOURCES.items()):
        chosen = [frame.index[(frame["task"] == task) & (frame["size"] == size) & (frame["source"] == source)][0]
                  for task, size in cases]  # fmt: skip
        here[source] = marks.samples(record, "real", chosen)
        bars(axis, place, here[source], label=name, index=HERE + number, line=False, across=True)
    log_axis(axis, "x")
    axis.set_xlabel("real time [s]")
    axis.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    gain, least = found["NRAO1"] / found["CLSC"], here["paced as a tape"]["middle"] / here["disk"]["middle"]
    text = (
        f"Files at Toronto against the tape of the Convex: {gain.min():.2f} to {gain.max():.2f} times as fast. Here a "
        f"file against the pace of a tape: {least.min():.0f} to {least.max():.0f} times"
    )
    frame = pd.DataFrame(cases, columns=["task", "size"])
    drawn = "Real time of loading images and visibilities, logarithmic"
    return marks.said(
        figure,
        record,
        frame,
        drawn,
        text,
        name="aips58_taped",
        title="Loading from a tape and from a file",
        disk=here["disk"],
        tape=here["paced as a tape"],
    )
