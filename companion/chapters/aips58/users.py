"""The section *What did other users cost?*: four problems alone, and beside busy processes."""

import numpy as np

from companion import figures, tables
from companion.chapters.aips58 import common
from companion.chapters.aips58.common import SIZES
from companion.experiments import experiment
from companion.host import machine
from companion.late import pd


@experiment(
    "aips58-load",
    item="A7",
    title="The same problems alone and on a loaded machine",
    rounds=7,
    seconds={"quick": 3, "paper": 60, "modern": 120},
)
def load(preset: str, threads: int) -> list:
    """Four problems alone and beside as many busy processes as there are CPUs."""
    return [
        common.problem(
            f"{task}, {'loaded' if beside else 'alone'}",
            threads,
            {"beside": beside},
            task=task,
            size=SIZES[preset][-1],
            beside=beside,
        )
        for task in ("UVSRT", "UVMAP", "ASCAL", "VTESS")
        for beside in (0, machine.usable_cpus())
    ]


def _pairs(run) -> tuple[list[int], list[int]]:
    """Cases alone and beside others, in the order of the problems."""
    beside = run["beside"].values > 0
    return np.flatnonzero(~beside).tolist(), np.flatnonzero(beside).tolist()


@load.figure
def shared(runs) -> "figures.Shown":
    """Real time on a machine that others use over that on one that nobody else uses: the X-MPs, and runs."""
    runs, real = common.sized(runs), common.ddt()["real"]
    size, tasks = common.printed_size(runs[0]), list(dict.fromkeys(runs[0]["task"].values.tolist()))
    old = (real.sel(system="PSC") / real.sel(system="CLSC")).sel(size=size)
    figure, axis = figures.axes(height=2.2)
    place = common.beside(axis, tasks, {f"Pittsburgh over Toronto, {size}": old.sel(problem=tasks)}, first=2)
    found = []
    for run in runs:
        alone, loaded = _pairs(run)
        found.append(common.ratios(run, "real", loaded, alone))
        label = f"{figures.cpu(run)}, loaded over alone"
        figures.bars(axis, place, found[-1], label=label, line=False, across=True, run=run)
    axis.axvline(1, color=figures.INK, linewidth=0.8)
    figures.log_axis(axis, "x")
    axis.set_xlabel("real time, shared over to oneself")
    figures.legend(axis, "above 1 0.45")
    listed = []
    for task, row in zip(tasks, found[0].itertuples(), strict=True):
        doubt = "" if row.low > 1 or row.high < 1 else ", no measurable difference"
        listed.append(f"{task} {row.middle:.2f} ({row.low:.2f} to {row.high:.2f}{doubt})")
    text = (
        f"Of these problems Pittsburgh took {float(old.sel(problem=tasks).min()):.1f} to "
        f"{float(old.sel(problem=tasks).max()):.0f} times the real time of Toronto, the cost of its files included. "
        f"Today: {', '.join(listed)}"
    )
    return common.show(
        figure,
        runs,
        [figures.with_spread(pd.DataFrame({"task": tasks}), ratio=each) for each in found],
        name="aips58_shared",
        title="What other users cost",
        caption=f"{text}.",
        alt=f"Real time of problems on a shared machine over that on a machine to oneself, logarithmic. {text}.",
        tables=f"ddt_{size}",
    )


def spread(run) -> str:
    """How much the runs of problems alone differ, and how much of that is CPU time."""
    alone, _ = _pairs(run)
    real, spent = (run[f"observed_{kind}"].values[alone] for kind in ("real", "cpu"))
    ends = [(int(np.nanargmin(row)), int(np.nanargmax(row))) for row in real]
    apart = [100 * (row[last] / row[first] - 1) for row, (first, last) in zip(real, ends, strict=True)]
    share = [
        100 * (each[last] - each[first]) / (row[last] - row[first])
        for row, each, (first, last) in zip(real, spent, ends, strict=True)
    ]
    limit = float(tables.load("aips58", "prose")["repeatability"])
    return (
        f"On the Convex, which nobody else used, successive runs of a problem differed by up to {limit:.0f} %. Alone "
        f"on {figures.cpu(run)} the slowest of seven runs took {min(apart):.0f} to {max(apart):.0f} % longer than the "
        f"fastest, and CPU time is {min(share):.0f} to {max(share):.0f} % of that difference."
    )
