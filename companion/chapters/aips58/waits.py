"""The opening figure and the section *Where does the rest of the time go?*: data in memory, and through files."""

import numpy as np

from companion import figures
from companion.chapters.aips58 import common
from companion.chapters.aips58.common import KINDS, NAMES, SYSTEMS
from companion.chapters.aips58.pittsburgh import WAYS, habits, ways
from companion.labels import significant
from companion.late import pd


def shares(run) -> np.ndarray:
    """CPU time over real time of every case and round, (cases, rounds)."""
    return run["observed_cpu"].values / run["observed_real"].values


def _five(axis) -> list[str]:
    """Rows of the three systems and of a run both ways; their names."""
    names = [*NAMES, *(f"today, {words}" for words in WAYS)]
    figures.rows(axis, names, 0.6)
    return names


@habits.figure
def waits(runs) -> "figures.Shown":
    """CPU and real time of all problems of a size together: three systems, and runs in memory and through files."""
    runs = common.sized(runs)
    size, tasks = common.printed_size(runs[0]), list(dict.fromkeys(runs[0]["task"].values.tolist()))
    old = common.ddt()[["cpu", "real"]].sel(size=size, problem=tasks).sum("problem")
    figure, axis = figures.axes(height=2.3)
    names, frames = _five(axis), []
    printed = [{kind: float(old[kind].sel(system=system)) for kind in KINDS} for system in SYSTEMS]
    for row, system in enumerate(SYSTEMS):
        common.old_times(axis, row, system, *printed[row].values())
    for run in runs:
        spent = list(printed)
        for chosen in ways(run):
            flags = ["; ".join(filter(None, run["flags"].values[chosen]))]
            found = {kind: figures.of_samples(common.total(run, chosen, kind)[None], flags) for kind in KINDS}
            common.new_times(axis, len(spent), found, run)
            spent.append({kind: float(each["middle"].iloc[0]) for kind, each in found.items()})
        frames.append(pd.DataFrame(spent).assign(row=names))
    for row, each in enumerate(frames[0].itertuples()):
        text = f"{each.real:.0f} s" if each.real > 100 else f"{each.real:.2f} s"
        axis.text(1.5 * each.real, row, text, va="center", size=9)
    figures.log_axis(axis, "x")
    axis.set_xlim(0.4 * min(frame["cpu"].min() for frame in frames), 20 * frames[0]["real"].max())
    axis.set_xlabel("marker: CPU time, stroke: real time [s]")
    text = "; ".join(
        f"{each.row} {significant(each.cpu, 4)} s of CPU in {significant(each.real, 4)} s"
        for each in frames[0].itertuples()
    )
    return common.show(
        figure,
        runs,
        frames,
        name="aips58_waits",
        title=f"The {len(tasks)} {size} problems together, then and now",
        caption="The axis is logarithmic, so the line from the marker (CPU time) to the stroke (real time) is as long "
        "as their ratio is large. Hollow marks are printed in the memo.",
        alt=f"CPU time and real time of the {len(tasks)} {size} problems together, logarithmic. {text}.",
        tables=f"ddt_{size}",
    )


@habits.figure
def computing(runs) -> "figures.Shown":
    """CPU time over real time of every problem of a size: three systems, and runs in memory and through files."""
    runs = common.sized(runs)
    size = common.printed_size(runs[0])
    frames: list = []
    old = (common.ddt()["cpu"] / common.ddt()["real"]).sel(size=size)
    figure, axis = figures.axes(height=2.6)
    names, medians = _five(axis), []
    for row, system in enumerate(SYSTEMS):
        values = old.sel(system=system).values
        figures.points(axis, values, row + common.jitter(values), label="_", index=row, line=False)
        medians.append(common.median(axis, row, values, "{:.2f}"))
    for run in runs:
        found = figures.of_samples(shares(run), run["flags"].values)
        parts = [found.iloc[chosen].reset_index(drop=True) for chosen in ways(run)]
        middles = [common.problems(axis, row, each, "{:.2f}", run) for row, each in enumerate(parts, start=3)]
        medians += [] if frames else middles
        frames.append(figures.with_spread(common.frame(run, "task", "habits"), share=found))
    axis.set(xlim=(0, 1.15), xlabel=f"CPU time over real time, {size} problems")
    text = ", ".join(f"{name} {middle:.2f}" for name, middle in zip(names, medians, strict=True))
    return common.show(
        figure,
        runs,
        frames,
        name="aips58_shares",
        title="The part of the real time that is CPU time",
        caption="Each mark is a problem, strokes with their numbers are medians.",
        alt=f"CPU time over real time of the {size} problems on five rows, from 0 to 1. Medians: {text}.",
        tables="ddt_small ddt_medium ddt_large",
    )


def found(run) -> str:
    """How long all problems together took then, and take in a run with data in memory and through files."""
    size, old = common.printed_size(run), common.ddt()["real"]
    then = float(old.sel(size=size, system="NRAO1").sum("problem"))
    in_memory, files = (common.total(run, chosen, "real") for chosen in ways(run))
    now = figures.of_samples(in_memory[None], [""]).iloc[0]
    return (
        f"All {size} problems took {then:.0f} s on the Convex and take {now['middle']:.2f} s ({now['low']:.2f} to "
        f"{now['high']:.2f}) on {figures.cpu(run)} with their data in memory. They take "
        f"{figures.times(files, in_memory).times} as long when the data go through scratch files and the tasks write "
        "messages."
    )


def said(run) -> str:
    """Which part of the real time is CPU time: on two systems as printed, and in a run both ways."""
    together = common.ddt()[["cpu", "real"]].sum("problem")
    busy = 100 * (together["cpu"] / together["real"]).sel(system=["NRAO1", "CLSC"])
    ends = [f"{float(row.min()):.0f} to {float(row.max()):.0f} %" for row in busy.transpose("system", ...)]
    in_memory, files = (common.typical(shares(run)[chosen]) for chosen in ways(run))
    return (
        f"Of the real time of all problems of a size together, {ends[0]} was CPU time on the Convex and {ends[1]} at "
        f"Toronto. On {figures.cpu(run)} the median share of the large problems is {in_memory} with data in memory and "
        f"{files} through files."
    )
