"""The section *Does it help to write in the background?*: a second thread writes while the solver goes on (N6)."""

from supercomputers_rerun.companion import figures, models
from supercomputers_rerun.companion.chapters.nht1.writing import LATER, WAY, usable_cpus, whole_runs, written
from supercomputers_rerun.companion.common import plural
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
    return table.assign(what=[f"{N}³ points, {plural(n, 'thread')}" for N, n in table[["N", "threads"]].values])


def _in_turn(run, table):
    """Of :func:`written`, the runs whose solver waits, in the rows of :func:`beside_table`."""
    every = written(run).query("way == @WAY").set_index(["N", "threads"])
    return every.loc[list(zip(table["N"], table["threads"], strict=True))]


@models.predicts(
    "nht1_beside",
    models.overlap,
    "what a run gains by writing in the background",
    "that both threads use the same memory, that handing over a dump copies it, and that long writes are slower",
    "write seek cache_rate",
    "nht1-io",
)
def hiding(run, machine):
    """Runs that write beside the solver over runs that write in turn, by the time of computing and of the bytes."""
    table = beside_table(run)
    rows = _in_turn(run, table)
    nbytes, seconds = 1e6 * (rows["R_IO"] * rows["T_T"]).to_numpy(), rows["T_C"].to_numpy()
    writing = models.transfer(0, machine.write, nbytes, machine.cache_rate)
    predicted = models.overlap(seconds, writing) / (seconds + writing)
    return table[["what"]].assign(measured=table["run"], predicted=predicted)


@whole_runs.figure
def beside(runs) -> "figures.Shown":
    """:func:`beside_table` as points, of whole runs."""
    expected, frames = hiding.frame(runs[0]), [beside_table(run) for run in runs]
    gains = (frames[0]["run_high"] < 1).sum()
    found = f"{gains} of {len(frames[0])} runs" if gains else "no run measurably"
    shown = figures.dots(
        runs,
        frames,
        {"run": "measured"},
        xlabel="time of a run ÷ time of one whose solver waits",
        base=1,
        legend_at="above 2",
        name="nht1_beside",
        title=f"Writing in the background made {found} shorter",
        caption="Time of a run that writes five arrays in the background over that of one whose solver waits. A whole "
        "bar below 1: it helps.",
        model=models.by_row(expected),
        note=models.said(hiding, expected),
    )
    axis = shown.figure.axes[0]
    left = usable_cpus(runs[0]) - frames[0]["threads"]
    figures.at_right(axis, ["a CPU is free" if each > 0 else "none is free" for each in left])
    axis.set_ylim(axis.get_ylim()[0], -1.1)  # room for words
    for words, away, side in (("shorter", -6, "right"), ("longer", 6, "left")):
        axis.annotate(words, (1, -0.75), xytext=(away, 0), textcoords="offset points", ha=side, va="center",
                      style="italic", size=9)  # fmt: skip
    return shown


def said(run) -> str:
    """Which runs writing in the background makes shorter, by how much, and how much there is to hide."""
    table = beside_table(run)
    rows = _in_turn(run, table)
    share = 100 * (rows["waiting"] / rows["T_T"]).max()
    gained = (table["run_high"] < 1).to_numpy()
    shorter = table[gained]
    assert len(shorter) == 2 and len(table) > 2 and (table["run_low"] <= 1).all()
    known, rates = models.constants(run), 1e6 * rows["R_IO"] * rows["T_T"] / rows["waiting"]
    rate = rates[gained].max()
    assert (shorter["threads"] < usable_cpus(run)).sum() == 1 and known is not None and rate < known.cache_rate / 4
    official = written(run)["N"].max()
    assert set(table.loc[table["N"] == official, "threads"]) == {usable_cpus(run)}, "not with one thread"
    gains = " and ".join(
        f"by {100 * (1 - row.run):.0f} % on {row.N}³ points with {plural(row.threads, 'thread')}"
        for row in shorter.itertuples()
    )
    return (
        f"Sometimes. Of {len(table)} runs ({official}³ points with 1 thread were not tried) {len(shorter)} became "
        f"measurably shorter: {gains}. None became measurably longer. Writing in the background can save at most the "
        f"time in which the solver waits for dumps. We timed this waiting separately: it is at most {share:.0f} % of a "
        "run with writing. A free CPU alone does not decide whether it helps: one of the two shorter runs had none. "
        "Both shorter runs gained more than the model says (dashed in the figure). The model assumes that a dump moves "
        f"at {models.spoken(known.cache_rate, 'byte/s')}, a rate from a separate measurement. But in these two runs "
        f"dumps moved at {models.spoken(rate, 'byte/s')} or less, so that there was more waiting to hide."
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
    untried = " On the largest grid of the report they were not tried." if table["N"].max() < official else ""
    verdict = HOLDS if len(slower) == len(large) else PARTLY if len(slower) else NOT
    return Finding(verdict, begin + found + untried, bears=bool((large["run_high"] >= 1).any()))
