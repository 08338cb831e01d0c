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


def _pairs(run) -> list[np.ndarray]:
    """Cases beside others and alone, in the order of the problems."""
    beside = run["beside"].values > 0
    return [np.flatnonzero(beside), np.flatnonzero(~beside)]


@load.figure
def shared(runs) -> "figures.Shown":
    """Real time on a machine that others use over that on one that nobody else uses: the X-MPs, and runs."""
    real, size = common.ddt()["real"], common.printed_size(runs[0])
    tasks = list(dict.fromkeys(runs[0]["task"].values.tolist()))
    what = pd.DataFrame({"what": tasks})
    frames = [figures.with_spread(what, ratio=figures.ratios(run, *_pairs(run), "observed_real")) for run in runs]
    old = (real.sel(system="PSC") / real.sel(system="CLSC")).sel(size=size, problem=tasks)
    label, xlabel = f"Pittsburgh over Toronto, {size}", "real time, shared over to oneself"
    figure, axis = common.beside(runs, frames, {label: old}, {"ratio": "{}, loaded over alone"}, xlabel, 2)
    axis.axvline(1, color=figures.INK, linewidth=0.8)
    figures.log_axis(axis, "x")
    listed = []
    for row in frames[0].itertuples():
        doubt = "" if row.ratio_low > 1 or row.ratio_high < 1 else ", no measurable difference"
        listed.append(f"{row.what} {row.ratio:.2f} ({row.ratio_low:.2f} to {row.ratio_high:.2f}{doubt})")
    text = (
        f"Of these problems Pittsburgh took {float(old.min()):.1f} to "
        f"{float(old.max()):.0f} times the real time of Toronto, the cost of its files included. "
        f"Today: {', '.join(listed)}"
    )
    return figures.show(
        figure,
        runs=runs,
        data=frames,
        name="aips58_shared",
        title="What other users cost",
        caption=f"{text}. {common.PRESET} {figures.MARKED}",
        alt=f"Real time of problems on a shared machine over that on a machine to oneself, logarithmic. {text}.",
        tables=f"ddt_{size}",
    )


def spread(run) -> str:
    """How much the runs of problems alone differ, and how much of that is CPU time."""
    alone = _pairs(run)[1]
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
