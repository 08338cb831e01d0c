"""The figure that opens the chapter, and the section *Does one large write beat many small ones?* (N5, N6)."""

from companion import figures, tables
from companion.chapters.nht1.balance import base_codes, waits
from companion.chapters.nht1.writing import (
    METHODS,
    PRESET,
    QUOTIENTS,
    below_printed,
    largest,
    percent_axis,
    whole_runs,
    written,
)
from companion.labels import plural
from companion.late import pd
from companion.records.runs import latest

#: The method of writing that the first code of the iPSC/860 had, and that of the Y-MP.
POINTS, PLANES = "40-byte elements", "sequential records, one a plane"
#: Words in the name of a method by which a second thread writes while the solver goes on.
_BESIDE = "asynchronous"
_SLOW = "arrays, slow solver"


@whole_runs.figure
def overheads(runs) -> "figures.Shown":
    """Overhead zeta of every method in which the solver waits for its writes, with most threads, by size of grid."""
    every = [written(run) for run in runs]
    waiting = [frame.query("threads == threads.max() and not way.str.contains(@_BESIDE)") for frame in every]
    ways, sizes = list(dict.fromkeys(waiting[0]["way"])), sorted(set(waiting[0]["N"]), reverse=True)
    figure, axis = figures.axes(height=1.2 + 0.19 * len(ways))
    for run, frame in zip(runs, waiting, strict=True):
        for number, N in enumerate(sizes):
            mine = frame[(frame["N"] == N) & frame["way"].isin(ways)]
            # one below the other, since spreads of equal rows would hide each other
            place = mine["way"].map(ways.index) + 0.25 * (number - (len(sizes) - 1) / 2)
            zeta = figures.spread_of(mine, "zeta")
            figures.bars(axis, place, zeta, label=f"N = {N}", index=1 + number, across=True, run=run)
    percent_axis(axis)
    axis.set_yticks(range(len(ways)), ways, size=8)
    axis.invert_yaxis()
    axis.legend(loc="lower center", bbox_to_anchor=(0.3, 1.0), ncols=len(sizes))
    old = "The stored run wrote NetCDF dump by dump, and Zarr; a run of today writes a NetCDF file at the end."
    zeta = waiting[0][waiting[0]["N"] == sizes[0]].set_index("way")["zeta"]
    team = plural(int(every[0]["threads"].max()), "thread")
    return figures.show(
        figure,
        name="nht1_overheads",
        runs=runs,
        data=every,
        tables="overheads",
        title="What each method of writing adds",
        caption=f"Overhead of writing with {team}, a row for each method in which the solver waits, on an axis that is "
        f"linear below 10 %. The report's results by method are lost. {old if 'Zarr' in ways else ''} "
        f"{PRESET} {QUOTIENTS}",
        alt="Overhead of writing in percent by method, on an axis that is linear below ten percent, on "
        f"{figures.cpu(runs[0])} with {team}. On the largest grid: {zeta.idxmin()} {zeta.min():.0f} percent; "
        f"{zeta.idxmax()} {zeta.max():.0f} percent.",
    )


def small(run) -> str:
    """Large writes against writes of a point, on the largest grid: what both add, and whether large ones differ."""
    frame = largest(run)
    point, rest, N = frame.loc[POINTS], frame.drop(POINTS), frame["N"].max()
    within, between = (rest["T_T_high"] / rest["T_T_low"]).max(), rest["T_T"].max() / rest["T_T"].min()
    assert point["zeta_low"] > rest["zeta_high"].max() and within > between
    return (
        f"On the largest grid a write for every point adds {point['zeta']:.0f} %: each of the {N**3 / 1e6:.1f} million "
        f"points of a dump needs a system call. The methods that write planes or arrays add "
        f"{rest['zeta'].min():.0f} to {rest['zeta'].max():.0f} %. They cannot be ranked, because samples of one method "
        "differ more than medians of two."
    )


@whole_runs.figure
def opening(runs) -> "figures.Shown":
    """The ranges of the abstract above the overheads of the methods of 1993, and a slow solver's, on one axis."""
    slow = latest(base_codes.id)
    computing = waits(slow).sort_values(["N", "computing"]).query("N == N.max()")
    frames = [largest(run).loc[list(METHODS)].assign(what=list(METHODS.values())) for run in runs]
    systems = tables.printed("nht1", "overheads")["system"]
    figure, axis, printed = below_printed(runs, frames, [*METHODS.values(), _SLOW], systems, linear=1)
    label = f"{figures.cpu(slow)}, {plural(int(slow['threads'].values.max()), 'thread')}"
    figures.bars(axis, [len(printed) + len(METHODS)], computing.iloc[[-1]], label=label, index=2, across=True)
    axis.set(xlim=(min(0, 1.2 * frames[0]["zeta_low"].min()), 3 * frames[0]["zeta_high"].max()))
    figures.legend(axis, "below 1")
    last = figures.with_spread(pd.DataFrame({"what": [_SLOW]}), zeta=computing.iloc[[-1]])
    frames[0] = pd.concat([frames[0], last], ignore_index=True)
    values = ", ".join(f"{row.what} {row.zeta:.2g} percent" for row in frames[0].itertuples())
    return figures.show(
        figure,
        name="nht1_opening",
        heading="",
        runs=runs,
        data=[frame[["what", "zeta", "zeta_low", "zeta_high", "flagged"]] for frame in frames],
        tables="overheads",
        title="What writing adds to a run",
        caption=f"Hollow: printed in 1993, arrows for bounds. Filled: N = {runs[0]['N'].values.max()}, by the methods "
        "of the Y-MP, the CM-2 and the first code of the iPSC/860. The last row is another run, of a solver "
        f"{computing['computing'].max() / computing['computing'].min():.0f} times as slow that writes two dumps "
        f"through to the disk; its value is the time that it waits for them. {QUOTIENTS}",
        alt="Overhead of writing in percent, linear below one percent. Printed in 1993: Y-MP "
        f"{printed.loc['Y-MP', 'low']:g} to {printed.loc['Y-MP', 'high']:g}, CM-2 below "
        f"{printed.loc['CM-2', 'high']:g}, iPSC/860 above {printed.loc['iPSC/860', 'low']:g}. "
        f"{figures.cpu(runs[0])}, the last on {figures.cpu(slow)}: {values}.",
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
