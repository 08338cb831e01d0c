"""The section *Does it help to write in the background?*: a second thread writes while the solver goes on (N6)."""

from companion import figures
from companion.chapters.nht1.writing import LATER, WAY, whole_runs


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
        "every write. The pages that we have print no such times.",
    )


def said(run) -> tuple[str, str]:
    """What writing in the background changes with a free processor, on each grid, and without one."""
    table = beside_table(run)

    def takes(threads: int) -> str:
        alike = {True: " (no measurable difference)", False: ""}
        return " and ".join(
            f"{row.run:.2f} times as long with N = {row.N}{alike[row.run_low <= 1 <= row.run_high]}"
            for row in table[table["threads"] == threads].itertuples()
        )

    return (
        f"On machine {figures.cpu(run)} a run whose writer has a processor of its own takes "
        f"{takes(table['threads'].min())} as with waiting.",
        f"If the solver uses both processors, a run takes {takes(table['threads'].max())}.",
    )
