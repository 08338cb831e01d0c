"""The section *Does it help to write in the background?*: a second thread writes while the solver goes on (N6)."""

from companion import figures
from companion.chapters.nht1.writing import LATER, QUOTIENTS, WAY, whole_runs

#: Times of a run with writing that are compared, by column.
_PARTS = {"transfers": "transferring", "run": "T_T"}


def beside_table(run):
    """Writing beside the solver over writing in turn: transfers and whole runs, with their spread, by grid and
    threads."""
    cases = figures.cases(run, "N", "way").sort_values(["N", "threads"])
    turn, later = (cases.index[cases["way"] == way] for way in (WAY, LATER))
    found = {name: figures.ratios(run, later, turn, f"observed_{key}") for name, key in _PARTS.items()}
    table = figures.with_spread(cases.loc[turn, ["N", "threads"]], **found)
    return table.assign(what=[f"N = {N}, {n} thr." for N, n in table[["N", "threads"]].values])


@whole_runs.figure
def beside(runs) -> "figures.Shown":
    """:func:`beside_table` as points."""
    return figures.dots(
        runs,
        [beside_table(run) for run in runs],
        {"run": "the whole run", "transfers": "the transfers"},
        xlabel="time when written beside the solver, over in turn",
        log=True,
        base=1,
        legend_at="above 2",
        name="nht1_beside",
        title="Writing beside the solver",
        caption="Times with a second thread that writes while the solver continues, divided by those of waiting for "
        f"every write. The surviving pages print no such times. {QUOTIENTS}",
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
