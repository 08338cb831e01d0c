"""Figures of chapter 2 that show one cause each, as printed and rerun: messages, gather, other users, loading."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.aips58.figures import marks
from companion.chapters.aips58.figures.live import WAY_NAMES, runs_frame
from companion.chapters.aips58.figures.marks import HERE, KINDS, NAMES, SYSTEMS
from companion.figures.beside import each_machine
from companion.figures.parts import bars, cpu, points, rows, times
from companion.figures.rendering import Shown
from companion.figures.style import INK, axes


@each_machine
def loading(load: xr.Dataset, record: xr.Dataset) -> Shown:
    """RUN DDTLOAD: CPU and real time on three systems, and in a run by how messages reach their file."""
    ways = list(runs_frame(record)["way"])
    figure, axis = axes(height=2.6)
    rows(axis, [*NAMES, *(f"here: {WAY_NAMES[way]}" for way in ways)], 0.6)
    for row, system in enumerate(SYSTEMS):
        marks.printed(axis, row, system, *(float(load[kind].sel(system=system)) for kind in KINDS))
    found = {kind: marks.samples(record, kind) for kind in KINDS}
    for number in range(len(ways)):
        marks.rerun(axis, len(SYSTEMS) + number, {kind: each.iloc[[number]] for kind, each in found.items()})
    late, off = (record["observed_cpu"].values[ways.index(way)] for way in ("late", "off"))
    old = float(load["cpu"].sel(system="PSC") / load["cpu"].sel(system="CLSC"))
    frame = pd.DataFrame({"way": ways})
    return marks.said(figure, record, "aips58_loading", frame, found, old=old, late=times(late, off).times)


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
    cpu_times = record["observed_cpu"].values
    longer = [times(*(cpu_times[each] for each in pair)).times for pair in pairs]
    text = "; ".join(f"{task} with a loop takes {each} as long" for task, each in zip(tasks, longer, strict=True))
    frame, above = pd.DataFrame({"task": tasks}), int((old > 1).sum())
    return marks.said(figure, record, "aips58_gathered", frame, {"ratio": here}, old=old, above=above, here=text)


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
    doubts = ["" if low > 1 or high < 1 else ", no measurable difference" for low, high in here[["low", "high"]].values]
    found = ", ".join(
        f"{task} {row.middle:.2f} ({row.low:.2f} to {row.high:.2f}{doubt})"
        for task, row, doubt in zip(tasks, here.itertuples(), doubts, strict=True)
    )
    return marks.said(
        figure, record, "aips58_shared", pd.DataFrame({"task": tasks}), {"ratio": here}, old=old, here=found
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
    place = rows(axis, [f"{task}, {size}" for task, size in cases], 0.6)
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
    gain, least = found["NRAO1"] / found["CLSC"], here["paced as a tape"]["middle"] / here["disk"]["middle"]
    frame, spreads = (
        pd.DataFrame(cases, columns=["task", "size"]),
        dict(zip(("disk", "tape"), here.values(), strict=True)),
    )
    return marks.said(figure, record, "aips58_taped", frame, spreads, gain=gain, here=least)
