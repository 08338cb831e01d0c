"""The section *Does one large write beat many small ones?*: overheads by method of writing (N4, N5, N6)."""

from companion import figures
from companion.chapters.nht1.writing import LATER, PRESET, QUOTIENTS, largest, percent_axis, whole_runs, written
from companion.labels import plural
from companion.late import pd
from companion.records.runs import single

#: The method of writing that the first code of the iPSC/860 had, and that of the Y-MP.
POINTS, PLANES = "40-byte elements", "sequential records, one a plane"
#: Words in the name of a method by which a second thread writes while the solver goes on.
_BESIDE = "asynchronous"


@whole_runs.figure
def overheads(runs) -> "figures.Shown":
    """Overhead zeta of every method in which the solver waits for its writes, with most threads, by size of grid."""
    every = [written(run) for run in runs]
    waiting = [
        frame[~frame["way"].str.contains(_BESIDE) & (frame["threads"] == frame["threads"].max())] for frame in every
    ]
    ways, sizes = list(dict.fromkeys(waiting[0]["way"])), sorted(set(waiting[0]["N"]), reverse=True)
    figure, axis = figures.axes(height=1.2 + 0.19 * len(ways))
    for run, frame in zip(runs, waiting, strict=True):
        for number, N in enumerate(sizes):
            mine = frame[(frame["N"] == N) & frame["way"].isin(ways)]
            # one below the other, since spreads of equal rows would hide each other
            place = mine["way"].map(ways.index) + 0.25 * (number - (len(sizes) - 1) / 2)
            style = {"index": 1 + number, "line": False, "across": True, "run": run}
            figures.bars(axis, place, figures.spread_of(mine, "zeta"), label=f"N = {N}", **style)
    percent_axis(axis)
    axis.axvline(0, color=figures.INK, linewidth=0.8)
    axis.set_yticks(range(len(ways)), ways, size=8)
    axis.invert_yaxis()
    axis.set_xlabel("overhead ζ [%]")
    axis.legend(loc="lower center", bbox_to_anchor=(0.3, 1.0), ncols=len(sizes))
    old = "The stored run wrote NetCDF dump by dump, and Zarr; a run of today writes a NetCDF file at the end."
    zeta = waiting[0][waiting[0]["N"] == sizes[0]].set_index("way")["zeta"]
    team = plural(int(every[0]["threads"].max()), "thread")
    return figures.show(
        figure,
        name="nht1_overheads",
        runs=runs,
        data=figures.together(runs, every),
        tables="overheads",
        title="What each method of writing adds",
        caption=f"Overhead of writing with {team}, a row for each method in which the solver waits, on an axis that is "
        f"linear below 10 %. The report's results by method are lost. {old if 'Zarr' in ways else ''} "
        f"{PRESET} {QUOTIENTS}",
        alt="Overhead of writing in percent by method, on an axis that is linear below ten percent, on "
        f"{figures.cpu(runs[0])} with {team}. On the largest grid: {zeta.idxmin()} {zeta.min():.0f} percent; "
        f"{zeta.idxmax()} {zeta.max():.0f} percent.",
    )


def waits(run):
    """By way, of the largest grid and most threads, seconds that the solver waits at dumps and at the end; median."""
    run = single(run)
    where = (run["N"].values == run["N"].values.max()) & (run["threads"].values == run["threads"].values.max())
    spent = (run["observed_stalled"] + run["observed_finish"]).median("sample").values
    return pd.Series(spent[where], run["way"].values[where].astype(str)).drop("none")


def small(run) -> str:
    """Large writes against writes of a point, on the largest grid: what both add, and whether large ones differ."""
    frame = largest(run)
    point, rest, N = frame.loc[POINTS], frame.drop(POINTS), frame["N"].max()
    within, between = (rest["T_T_high"] / rest["T_T_low"]).max(), rest["T_T"].max() / rest["T_T"].min()
    assert point["zeta_low"] > rest["zeta_high"].max() and within > between
    return (
        f"On the largest grid a write for every point adds {point['zeta']:.0f} %: each of the {N**3 / 1e6:.1f} million "
        f"points of a dump needs a system call. The methods that write planes or arrays add "
        f"{rest['zeta'].min():.0f} to {rest['zeta'].max():.0f} %. They cannot be ranked: samples of one method differ "
        f"by a factor of up to {within:.2f}, medians of two methods by {between:.2f}."
    )


def handed_over(run) -> str:
    """What a second thread that writes changes on the largest grid with a solver thread on every processor."""
    waiting, row = waits(run)[LATER], largest(run).loc[LATER]
    longer = row["T_T"] - waiting - row["T_C"]
    assert waiting < 0.2 * longer
    return (
        f"On the largest grid it then waits {waiting:.1f} s for its dumps, and its steps take {longer:.1f} s longer "
        "than without writing."
    )
