"""The section *Does it help to write in the background?*: a second thread writes while the solver goes on (N6)."""

from supercomputers_rerun.companion import figures, models
from supercomputers_rerun.companion.chapters.nht1.writing import LATER, WAY, whole_runs, written
from supercomputers_rerun.companion.common import np
from supercomputers_rerun.companion.conclusions import NOT, Finding, conclusion


def beside_table(run):
    """Writing beside the solver over writing in turn: transfers and whole runs, with their spread, by grid and
    threads."""
    cases = figures.cases(run, "N", "way").sort_values(["N", "threads"])
    later = cases.index[cases["way"] == LATER]
    both = cases.loc[later, ["N", "threads"]].apply(tuple, axis=1).tolist()
    turn = cases.index[(cases["way"] == WAY) & cases[["N", "threads"]].apply(tuple, axis=1).isin(both)]
    run_, transfers = (figures.ratios(run, later, turn, f"observed_{name}") for name in ("T_T", "transferring"))
    table = figures.with_spread(cases.loc[turn, ["N", "threads"]], transfers=transfers, run=run_)
    return table.assign(what=[f"N = {N}, {n} thr." for N, n in table[["N", "threads"]].values])


@models.predicts(
    "nht1_beside",
    models.overlap,
    "what a run gains by writing in the background",
    "that both threads use the same memory, and that handing over a dump copies it",
    "write seek cache_rate",
    "nht1-io",
)
def hiding(run, machine):
    """Runs that write beside the solver over runs that write in turn, by the time of computing and of the bytes."""
    table, every = beside_table(run), written(run)
    every = every[every["way"] == WAY].set_index(["N", "threads"])
    rows = every.loc[list(zip(table["N"], table["threads"], strict=True))]
    nbytes = 1e6 * (rows["R_IO"] * rows["T_T"]).to_numpy()
    seconds = rows["T_C"].to_numpy()
    writing = models.transfer(0, machine.write, nbytes, machine.cache_rate)
    predicted = models.overlap(seconds, writing) / (seconds + writing)
    return table[["what"]].assign(measured=np.asarray(table["run"]), predicted=predicted)


@whole_runs.figure
def beside(runs) -> "figures.Shown":
    """:func:`beside_table` as points."""
    expected = hiding.frame(runs[0])
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
        caption="Times of whole runs and of the transfers of their dumps, if whole arrays are written into the page "
        "cache while the solver continues, over those if it waits. The pages that we have print no such times.",
        model=models.by_row(expected),
        note=models.said(hiding, expected),
    )


def said(run) -> tuple[str, str]:
    """What writing in the background changes on the largest grid with one solver thread, and on the others."""
    table = beside_table(run)
    large = table[table["N"] == table["N"].max()].sort_values("threads")
    alone, both = table[table["N"] == table["N"].min()].sort_values("threads").itertuples()
    assert (table["run_high"] >= 1).all() and alone.run_low > 1 >= max(both.run_low, large["run_low"].max())
    most, took = table["N"].max(), "{0.run:.2f} ({0.run_low:.2f} to {0.run_high:.2f}) times as long".format
    both_say = [
        f"On machine {figures.cpu(run)}, with N = {N} and one solver thread, a run takes {took(row)} if a further "
        "thread writes whole arrays into the page cache as if the solver waits"
        for N, row in ((most, next(large.itertuples())), (alone.N, alone))
    ]
    return (
        f"{both_say[0]}: no measurable difference.",
        f"{both_say[1]}. With two solver threads, and with N = {most}, there is no measurable difference.",
    )


@conclusion(
    "nht1-c9",
    place="section 3.3",
    says="Asynchronous writes slow output down for the larger problems.",
)
def slowed() -> Finding:
    """Time of a whole run that writes beside the solver over one that waits, by grid and threads."""
    run = whole_runs.runs()[0]
    table = beside_table(run)
    small, large = (table[table["N"] == N] for N in (table["N"].min(), table["N"].max()))
    worst = small.loc[small["run_low"].idxmax()]
    return Finding(
        NOT,
        f"It is the small problem that they slow down: with N = {worst['N']} a run takes {worst['run']:.2f} times as "
        f"long ({worst['run_low']:.2f} to {worst['run_high']:.2f}). With N = {large['N'].iloc[0]} there is no "
        "measurable difference. On the largest grid of the report they were not tried.",
        bears=worst["run_low"] > 1 and (large["run_low"] <= 1).all() and (large["run_high"] >= 1).all(),
    )
