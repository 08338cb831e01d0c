"""The benchmark as an MPI job: BT on boxes of the grid writes through MPI-IO, and in groups of ranks (N6, N7)."""

import numpy as np

from companion import figures, tables
from companion.bench import Case
from companion.chapters import counts_to, of
from companion.chapters.nht1.groups import group_axis
from companion.chapters.nht1.writing import QUOTIENTS, percent, percent_axis
from companion.experiments import experiment
from companion.labels import plural
from companion.late import pd
from companion.records.runs import single

#: Methods of writing over MPI-IO, as a mark has room for them.
_METHODS = {
    "collective": "all ranks in one call",
    "independent": "each rank for itself",
    "elements": "40 bytes a call",
    "per-rank": "a file for each rank",
}


@experiment(
    "nht1-mpiio",
    item="N1, N2, N6",
    title="Application I/O over MPI-IO by method of writing",
    rounds=3,
    seconds={"quick": 3, "paper": 600, "modern": 1800},
    ranks=2,
)
def over_mpiio(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Every way of writing, and none, on all ranks."""
    from kernels.files.ranks import application
    from kernels.files.ranks.shared import WAYS

    cases = []
    for way in ("none", *WAYS):
        if way == "elements" and preset == "modern":
            continue  # forty million calls
        problem = application.Problem.preset(preset, way=way, ranks=ranks)
        parameters = of(problem, "N", "way")
        cases.append(Case(f"N = {problem.N}, {way}", application, problem, threads, parameters, application.observe))
    return cases


def _zeta(run):
    """Overhead in percent of every way, medians with their spread."""
    frame = figures.case_rows(single(run), "way", "N")
    elapsed, alone = figures.of_samples(run["observed_T_T"].values, frame["flags"]), frame["way"] == "none"
    ways = frame["way"][~alone].tolist()
    zeta = percent(elapsed[~alone], elapsed[alone].loc[[frame.index[alone][0]] * len(ways)])
    return figures.with_spread(pd.DataFrame({"way": ways}), zeta=zeta)


@over_mpiio.figure
def mpiio(runs) -> "figures.Shown":
    """Overhead of every method of writing over MPI-IO, below the bound that the abstract gives for the iPSC/860."""
    frames, bound = [_zeta(run) for run in runs], tables.printed("nht1", "overheads").set_index("system")
    ways, bound = frames[0]["way"].tolist(), bound.loc["iPSC/860"]
    figure, axis = figures.axes(height=2.9)
    figures.printed_ranges(axis, [0], [bound["low"]], [bound["high"]])
    drawn = [figures.spread_of(frame, "zeta") for frame in frames]
    for run, frame, zeta in zip(runs, frames, drawn, strict=True):
        place = 1 + frame["way"].map(list(_METHODS).index)
        figures.bars(axis, place, zeta, index=1, line=False, label=figures.cpu(run), across=True, run=run)
    percent_axis(axis)
    figures.rows(axis, ["iPSC/860 (1993)", *_METHODS.values()])
    axis.set_xlabel("overhead ζ [%]")
    first = runs[0]
    said = ", ".join(f"{_METHODS[way]} {zeta:.0f} percent" for way, zeta in zip(ways, drawn[0]["middle"], strict=True))
    return figures.show(
        figure,
        name="nht1_mpiio",
        runs=runs,
        data=frames,
        heading=f"{figures.rank_title(first)}, N = {first['N'].values[0]}",
        tables="overheads",
        title="Writing over MPI-IO",
        caption="Overhead of writing from several ranks, on an axis that is linear below 10 %. Hollow: the bound that "
        f"the report prints. Files of single ranks are joined after the clock has stopped. {QUOTIENTS} "
        f"{figures.doubts(first)}",
        alt=f"Overhead of four methods of writing over MPI-IO on {figures.cpu(first)}: {said}. iPSC/860 in 1993: above "
        f"{bound['low']:g} percent.",
    )


def said(run) -> str:
    """What writing over MPI-IO adds: a write for every point, and the other methods, with how far samples spread."""
    zeta = _zeta(run).set_index("way")
    points, rest = zeta.loc["elements"], zeta.drop("elements")
    least, most = rest["zeta_low"].max(), rest["zeta_high"].min()
    assert points["zeta_low"] > rest["zeta_high"].max() and least < most and rest["zeta_low"].min() < 0
    return (
        f"On the {plural(run['ranks'].values.max(), 'rank')} of an MPI job, N = {run['N'].values[0]}, a write for "
        f"every point adds {points['zeta']:.0f} % ({points['zeta_low']:.0f} to {points['zeta_high']:.0f}). The "
        "three other methods of MPI-IO cost less, and no difference between them can be measured."
    )


@experiment(
    "nht1-mpigroups",
    item="N7",
    title="Write groups of ranks over MPI-IO",
    rounds=5,
    seconds={"quick": 3, "paper": 120, "modern": 300},
    ranks=4,
)
def rank_groups(preset: str, threads: int, ranks: int = 4) -> list[Case]:
    """Every group size that halves the ranks."""
    from kernels.files.ranks import groups

    problems = [groups.Problem.preset(preset, ranks=ranks, group=group) for group in counts_to(ranks)]
    return [Case(f"groups of {p.group}", groups, p, threads, of(p, "group", "N")) for p in problems]


@rank_groups.figure
def one_file(runs) -> "figures.Shown":
    """Time to write one file against the ranks that write at a time."""
    frames = [figures.case_rows(run, "group", "N").sort_values("group").reset_index(drop=True) for run in runs]
    figure, axis = figures.axes(height=3.6)
    for run, frame in zip(runs, frames, strict=True):
        figures.spread(axis, frame["group"], frame, lambda t: 1e3 * t, index=2, label=figures.cpu(run), run=run)
    group_axis(axis, np.concatenate([frame["group"] for frame in frames]))
    axis.set(xlabel="ranks that write at a time", ylabel="time of one file [ms]", ylim=(0, None))
    figures.legend(axis, "below 2")
    first = runs[0]
    said = ", ".join(f"{1e3 * row.median:.3g} ms for {row.group}" for row in frames[0].itertuples())
    return figures.show(
        figure,
        name="nht1_rank_groups",
        runs=runs,
        data=frames,
        heading=f"{figures.rank_title(first)}, N = {first['N'].values[0]}",
        tables="figure_1_axes prose",
        title="Groups of ranks",
        caption="Time to write one file over MPI-IO, by the number of ranks that write at a time: a rank waits for the "
        "message of the one before it, as on the iPSC/860. The dotted line marks the group size of the least time in "
        f"1993. {figures.MARKED} {figures.doubts(first)}",
        alt=f"Time to write one file over MPI-IO against the number of ranks that write at a time: {said}. A dotted "
        "line marks the group size of the least time of 1993.",
    )
