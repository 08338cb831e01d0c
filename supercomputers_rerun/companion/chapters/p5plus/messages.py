"""The section *What do messages between processors cost?*: pairs of ranks that send each other messages."""

from supercomputers_rerun.companion import figures, models
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.common import pd, plural, size
from supercomputers_rerun.companion.experiments import counts_to, experiment


@experiment(
    "p5plus-exchange",
    item="P4",
    rounds=11,
    seconds={"paper": 60, "modern": 120},
    ranks=2,
    unit="µs an exchange",
)
def exchange(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Exchange between pairs of ranks by message size."""
    from supercomputers_rerun.kernels.mpi import exchange

    exchange.Problem(ranks=ranks)  # refuses an odd number
    cases = []
    for used in counts_to(ranks)[1:]:
        for nbytes in exchange.SIZES[preset]:
            label, about = f"{size(nbytes)}, {plural(used // 2, 'pair')}", {"nbytes": nbytes, "pairs": used // 2}
            cases.append(Case(label, exchange, exchange.Problem(nbytes, used), threads, about))
    return cases


def _exchanges(run) -> "pd.DataFrame":
    """Cases of a run; what one side sends to the other, each pair and all together, MB/s."""
    frame = figures.cases(run, "ranks", "nbytes", "pairs").sort_values(["pairs", "nbytes"])
    frame["MB_per_s"] = frame["nbytes"] / frame["median"] / 1e6
    return figures.quantities(frame, all_pairs_MB_per_s=lambda time: frame["pairs"] * frame["nbytes"] / time / 1e6)


@models.predicts(
    "p5plus_exchange",
    models.transfer,
    "the rate of messages by their size",
    "that the library takes another way from some size on, and that long messages leave the caches",
    "message message_rate",
    "p5plus-exchange",
)
def by_size(run, machine):
    """Bytes a second of one side by message size, a pair alone, from the shortest and the longest message."""
    frame = _exchanges(run).query("pairs == 1")
    seconds = models.transfer(1, machine.message, frame["nbytes"], machine.message_rate)
    rate = frame["nbytes"] / seconds / 1e6
    return frame[["nbytes"]].assign(measured=frame["all_pairs_MB_per_s"], predicted=rate)


@exchange.figure
@figures.styled
def exchanged(runs) -> "figures.Shown":
    """Bytes a second of one side by message size, all pairs together, where each rank has a CPU of its own."""
    figure, axis = figures.axes(height=3.4)
    free = [run.isel(case=["oversubscribed" not in str(each) for each in run["flags"].values]) for run in runs]
    frames, rate = [_exchanges(run) for run in free], "all_pairs_MB_per_s"
    figures.lines(axis, free, frames, "nbytes", rate, "pairs", lambda pairs: f"{plural(pairs, 'pair')} of ranks")
    expected = by_size.frame(free[0])
    if expected is not None:
        figures.modelled(axis, expected["nbytes"], expected["predicted"])
    figures.bytes_axis(axis, frames[0]["nbytes"])
    figures.log_axis(axis, "y")
    axis.set(xlabel="message", ylabel="sent by one side [MB/s]")
    figures.legend(axis, "best")
    return figures.show(
        figure,
        name="p5plus_exchange",
        runs=runs,
        heading=figures.run_title(free[0]),
        data=[_exchanges(run) for run in runs],
        title="Exchange between pairs",
        caption="Ranks of one machine. Runs with more ranks than processors are in the data and not drawn.",
        tables="plots",
        note=models.said(by_size, expected),
    )
