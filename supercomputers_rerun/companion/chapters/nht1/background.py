"""The section *Does it help to write in the background?*: a second thread writes while the solver goes on (N6)."""

from supercomputers_rerun.companion import figures, models
from supercomputers_rerun.companion.chapters.nht1.writing import LATER, WAY, whole_runs, written
from supercomputers_rerun.companion.common import np, plural
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, PARTLY, Finding, conclusion


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
    single = table[table["threads"] == table["threads"].min()].sort_values("N")
    most, least = single.iloc[-1], single.iloc[0]
    rest = table.drop([most.name, least.name])
    changed = rest[(rest["run_low"] > 1) | (rest["run_high"] < 1)]
    assert (table["run_high"] >= 1).all()  # no run is measurably shorter
    others = "no measurable difference"
    if len(changed):
        others = " and ".join(f"{row.run:.2f} times with {row.what}" for row in changed.itertuples())
    return (
        f"{_once(run, most)}{'' if most['run_low'] > 1 else ': no measurable difference'}.",
        f"{_once(run, least)}{'' if least['run_low'] > 1 else ': no measurable difference'}. In the other cases there "
        f"is {others}.",
    )


def _once(run, row) -> str:
    """One case of :func:`beside_table` in words."""
    return (
        f"On machine {figures.cpu(run)}, with N = {row['N']} and one solver thread, a run takes {row['run']:.2f} "
        f"({row['run_low']:.2f} to {row['run_high']:.2f}) times as long if a further thread writes whole arrays into "
        "the page cache as if the solver waits"
    )


@conclusion(
    "nht1-c9",
    place="section 3.3",
    says="Asynchronous writes slow output down for the larger problems.",
)
def slowed() -> Finding:
    """Time of a whole run that writes beside the solver over one that waits, by grid and threads."""
    run = whole_runs.runs()[0]
    table, official = beside_table(run), written(run)["N"].max()
    small, large = (table[(table["N"] == table["N"].min()) == least] for least in (True, False))
    worst = small.loc[small["run_low"].idxmax()]
    slower, took = large[large["run_low"] > 1], "{0.run:.2f} times as long ({0.run_low:.2f} to {0.run_high:.2f})".format
    begin = f"With N = {worst['N']} a run takes {took(worst)}. "
    if len(slower):
        most = max(slower.itertuples(), key=lambda row: row.run)
        found = f"With N = {most.N} and {plural(most.threads, 'thread')} it takes {took(most)}."
    else:
        found = f"With N = {' and '.join(str(N) for N in sorted(set(large['N'])))} no run is measurably longer."
    untried = " On the largest grid of the report they were not tried." * bool(table["N"].max() < official)
    verdict = HOLDS if len(slower) == len(large) else PARTLY if len(slower) else NOT
    return Finding(verdict, begin + found + untried, bears=bool((large["run_high"] >= 1).any()))
