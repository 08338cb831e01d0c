"""The figure that opens the chapter, and the section *Does one large write beat many small ones?* (N5, N6)."""

from companion import figures, tables
from companion.chapters.nht1.balance import base_codes, waits
from companion.chapters.nht1.writing import (
    METHODS,
    PRESET,
    QUOTIENTS,
    ZETA,
    below_printed,
    by_method,
    largest,
    percent_axis,
    whole_runs,
    written,
)
from companion.common import pd, plural
from companion.records.runs import latest

#: The method of writing that the first code of the iPSC/860 had, and that of the Y-MP.
POINTS, PLANES = "40-byte elements", "sequential records, one a plane"
#: Words in the name of a method by which a second thread writes while the solver goes on.
_BESIDE = "asynchronous"
_SLOW = "arrays, slow solver"


@whole_runs.figure
def overheads(runs) -> "figures.Shown":
    """Overhead zeta of every method in which the solver waits for its writes, with most threads, by size of grid."""
    every, frames = [written(run) for run in runs], []
    for frame in every:
        waiting = frame.query("threads == threads.max() and not way.str.contains(@_BESIDE)")
        parts = {
            f"N{N}": figures.spread_of(part.set_index("way"), "zeta").set_axis(part["way"])
            for N, part in waiting.groupby("N")
        }
        table = pd.DataFrame({"what": waiting["way"].unique()})
        frames.append(figures.with_spread(table, **{N: part.reindex(table["what"]) for N, part in parts.items()}))
    sizes = sorted(set(every[0]["N"]), reverse=True)
    team = plural(int(every[0]["threads"].max()), "thread")
    old = "The stored run wrote NetCDF dump by dump, and Zarr; a run of today writes a NetCDF file at the end."
    shown = figures.dots(
        runs,
        frames,
        {f"N{N}": f"N = {N}" for N in sizes},
        names=frames[0]["what"],
        xlabel=ZETA,
        legend_at="above 3 0.3",
        data=every,
        name="nht1_overheads",
        tables="overheads",
        title="What each method of writing adds",
        caption=f"Overhead of writing with {team}, a row for each method in which the solver waits, on an axis that is "
        "linear below 10 %. The report's results by method are lost. "
        f"{old if 'Zarr' in set(frames[0]['what']) else ''} {PRESET} {QUOTIENTS}",
    )
    percent_axis(shown.figure.axes[0])
    return shown


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
    computing = waits(latest(base_codes.id)).sort_values(["N", "computing"]).query("N == N.max()")
    frames = [by_method(run)[["what", "zeta", "zeta_low", "zeta_high", "flagged"]] for run in runs]
    slow = figures.with_spread(pd.DataFrame({"what": [_SLOW]}), zeta=computing.iloc[[-1]])
    frames[0] = pd.concat([frames[0], slow], ignore_index=True)
    shown = below_printed(
        runs,
        frames,
        [*METHODS.values(), _SLOW],
        tables.printed("nht1", "overheads")["system"],
        linear=1,
        name="nht1_opening",
        heading="",
        title="What writing adds to a run",
        caption=f"Hollow: printed in 1993, arrows for bounds. Filled: N = {runs[0]['N'].values.max()}, by the methods "
        "of the Y-MP, the CM-2 and the first code of the iPSC/860. The last row is another run, of a solver "
        f"{computing['computing'].max() / computing['computing'].min():.0f} times as slow that writes two dumps "
        f"through to the disk; its value is the time that it waits for them. {QUOTIENTS}",
    )
    shown.figure.axes[0].set(xlim=(min(0, 1.2 * frames[0]["zeta_low"].min()), 3 * frames[0]["zeta_high"].max()))
    return shown


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
