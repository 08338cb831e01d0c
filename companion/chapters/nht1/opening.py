"""The figure that opens the chapter: what writing added in 1993, and what the same methods of writing add here."""

import numpy as np

from companion import figures, tables
from companion.chapters.nht1.balance import base_codes, waits
from companion.chapters.nht1.methods import PLANES, POINTS
from companion.chapters.nht1.writing import METHODS, QUOTIENTS, largest, percent_axis, whole_runs
from companion.labels import plural
from companion.late import pd
from companion.records.runs import latest

_SLOW = "arrays, slow solver"


def _methods(run):
    """Overhead in percent, with its spread, of the methods of 1993 on the largest grid with most threads."""
    return figures.spread_of(largest(run).loc[list(METHODS)], "zeta").assign(what=list(METHODS.values()))


@whole_runs.figure
def opening(runs) -> "figures.Shown":
    """The ranges of the abstract above the overheads here, on one axis."""
    printed, slow = tables.printed("nht1", "overheads"), latest(base_codes.id)
    last = waits(slow).sort_values(["N", "computing"]).iloc[[-1]].assign(what=_SLOW)
    frames = [_methods(run) for run in runs]
    frames[0] = pd.concat([frames[0], last[frames[0].columns]], ignore_index=True).astype({"flagged": bool})
    figure, axis = figures.axes(height=3.0)
    figures.printed_ranges(axis, np.arange(len(printed)), printed["low"], printed["high"])
    for run, here in zip(runs, frames, strict=True):
        for index, chosen, of in ((1, slice(0, 3), run), (2, slice(3, 4), slow)):
            label = f"{figures.cpu(of)}, {plural(int(of['threads'].values.max()), 'thread')}"
            style = {"index": index, "line": False, "across": True, "run": run}
            figures.bars(axis, len(printed) + here.index[chosen], here[chosen], label=label, **style)
    percent_axis(axis, 1)
    axis.axhline(len(printed) - 0.5, color=figures.INK, linewidth=0.8)
    figures.rows(axis, [*(f"{name} (1993)" for name in printed["system"]), *frames[0]["what"]])
    here, fast = frames[0], figures.cpu(runs[0])
    axis.set(xlim=(min(0, 1.2 * here["low"].min()), 3 * here["high"].max()), xlabel="added to the computing time [%]")
    figures.legend(axis, "below 1")
    computing, ends = waits(slow).query("N == N.max()")["computing"], printed.set_index("system")
    hosts = fast if figures.cpu(slow) == fast else f"{fast}, the last on {figures.cpu(slow)}"
    values = ", ".join(f"{row.what} {row.middle:.2g} percent" for row in here.itertuples())
    return figures.show(
        figure,
        name="nht1_opening",
        heading="",
        runs=runs,
        data=figures.together(runs, [figures.with_spread(each[["what"]], overhead=each) for each in frames]),
        tables="overheads",
        title="What writing adds to a run",
        caption=f"Hollow: printed in 1993, arrows for bounds. Filled: N = {runs[0]['N'].values.max()}, by the methods "
        "of the Y-MP, the CM-2 and the first code of the iPSC/860. The last row is another run, of a solver "
        f"{computing.max() / computing.min():.0f} times as slow that writes two dumps through to the disk; its value "
        f"is the time that it waits for them. {QUOTIENTS}",
        alt="Overhead of writing in percent, linear below one percent. Printed in 1993: Y-MP "
        f"{ends.loc['Y-MP', 'low']:g} to {ends.loc['Y-MP', 'high']:g}, CM-2 below {ends.loc['CM-2', 'high']:g}, "
        f"iPSC/860 above {ends.loc['iPSC/860', 'low']:g}. {hosts}: {values}.",
    )


def added(run) -> str:
    """What writing added in 1993, and adds on the largest grid of a run with a solver thread on every processor, by
    the methods of the Y-MP and of the first code of the iPSC/860: medians with their intervals."""
    old, here = tables.printed("nht1", "overheads").set_index("system"), largest(run)
    names = ["zeta", "zeta_low", "zeta_high"]
    plane, point = ("{:.0f} % ({:.0f} to {:.0f})".format(*here.loc[way, names]) for way in (PLANES, POINTS))
    return (
        f"Writing added {old.loc['Y-MP', 'low']:g} to {old.loc['Y-MP', 'high']:g} % to a run on the Y-MP of 1993, "
        f"typically below {old.loc['CM-2', 'high']:g} % on the CM-2, and could add over "
        f"{old.loc['iPSC/860', 'low']:g} % on the iPSC/860. On machine {figures.cpu(run)} it adds {plane} if a plane "
        f"is written at a time and {point} if a point is."
    )
