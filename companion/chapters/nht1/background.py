"""The section *Does it help to write in the background?*: a second thread writes while the solver goes on (N6)."""

import numpy as np

from companion import figures
from companion.chapters.nht1.writing import LATER, QUOTIENTS, WAY, whole_runs
from companion.late import pd
from companion.records.runs import single


def beside_table(run):
    """Writing beside the solver over writing in turn: transfers and whole runs, with their spread, by grid and
    threads."""
    run = single(run)
    cases = pd.DataFrame({name: run[name].values for name in ("N", "threads", "way")}).sort_values(["N", "threads"])
    turn, later = (cases.index[cases["way"] == way] for way in (WAY, LATER))
    found = {}
    for name, key in (("transfers", "observed_transferring"), ("run", "observed_T_T")):
        sides = (figures.of_samples(run[key].values[each], run["flags"].values[each]) for each in (later, turn))
        found[name] = figures.quotient(*sides)
    return figures.with_spread(cases.loc[turn, ["N", "threads"]], **found)


@whole_runs.figure
def beside(runs) -> "figures.Shown":
    """:func:`beside_table` as points."""
    frames = [beside_table(run) for run in runs]
    places = sorted({(row.N, row.threads) for frame in frames for row in frame.itertuples()})
    figure, axis = figures.axes(height=1.4 + 0.25 * len(places))
    for run, frame in zip(runs, frames, strict=True):
        place = np.array([places.index((row.N, row.threads)) for row in frame.itertuples()])
        for index, (name, label) in enumerate((("run", "the whole run"), ("transfers", "the transfers"))):
            style = {"index": 1 + index, "line": False, "across": True, "run": run}
            drawn = figures.spread_of(frame, name)
            figures.bars(axis, place + 0.3 * (index - 0.5), drawn, label=label, **style)
    axis.axvline(1, color=figures.INK, linewidth=0.8)
    figures.log_axis(axis, "x")
    figures.rows(axis, [f"N = {N}, {threads} thr." for N, threads in places])
    axis.set_xlabel("time when written beside the solver, over in turn")
    figures.legend(axis, "above 2")
    said = "; ".join(
        f"N = {row.N}, {row.threads} thr. {row.transfers:.2f} and {row.run:.2f}" for row in frames[0].itertuples()
    )
    return figures.show(
        figure,
        name="nht1_beside",
        runs=runs,
        data=frames,
        title="Writing beside the solver",
        caption="Times with a second thread that writes while the solver continues, divided by those of waiting for "
        f"every write. The surviving pages print no such times. {QUOTIENTS}",
        alt="Time of transfers and of whole runs with asynchronous writing over synchronous, on "
        f"{figures.cpu(runs[0])}: {said}.",
    )


def later(run) -> str:
    """A run that writes in the background over one that waits, on the largest grid with a processor to spare."""
    table = beside_table(run)
    row = table[table["N"] == table["N"].max()].sort_values("threads").iloc[0]
    assert row["run_high"] < 1
    return (
        f"With a free processor, writing in the background shortens a run on the largest grid to {row['run']:.2f} "
        f"({row['run_low']:.2f} to {row['run_high']:.2f}) of its time, on machine {figures.cpu(run)}."
    )


def said(run) -> str:
    """What writing in the background changes with a free processor, on each grid, and without one."""
    table = beside_table(run).set_index(["N", "threads"])
    sizes, threads = (sorted(set(table.index.get_level_values(name))) for name in ("N", "threads"))
    small, free = table.loc[(sizes[0], threads[0])], [table.loc[(N, threads[0])] for N in sizes[1:]]
    shared = table.loc[[(N, threads[-1]) for N in sizes]]
    assert small["run_low"] > 1 and all(row["run_high"] < 1 for row in free)
    assert (shared["run_low"] < 1).all() and (shared["run_high"] > 1).all()
    assert (table["transfers_low"] < 1).all() and (table["transfers_high"] > 1).all()
    times = " and ".join(f"{row['run']:.2f}" for row in free)
    return (
        f"If the writer has a processor of its own, runs on the grids of {' and '.join(map(str, sizes[1:]))} points a "
        f"direction take {times} times as long as with waiting. On the grid of {sizes[0]}, where a run lasts "
        f"milliseconds, they take {small['run']:.2f} times as long. If the solver uses both processors, there is no "
        "measurable difference on any grid. Whether the transfers themselves become longer, as on the iPSC/860, these "
        "samples cannot tell."
    )
