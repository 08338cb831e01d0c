"""The section *What do messages between processors cost?*: pairs of ranks that send each other messages."""

from companion import figures, tables
from companion.bench import Case
from companion.common import pd, plural, size
from companion.experiments import Output, counts_to, experiment


@experiment("p5plus-exchange", item="P4", rounds=11, seconds={"paper": 60, "modern": 120}, ranks=2)
def exchange(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Exchange between pairs of ranks by message size."""
    from kernels.mpi import exchange

    exchange.Problem(ranks=ranks)  # refuses an odd number
    cases = []
    for used in counts_to(ranks)[1:]:
        for nbytes in exchange.SIZES[preset]:
            label, about = f"{size(nbytes)}, {plural(used // 2, 'pair')}", {"nbytes": nbytes, "pairs": used // 2}
            cases.append(Case(label, exchange, exchange.Problem(nbytes, used), threads, about))
    return cases


@exchange.outputs_of
def _then(measurements) -> dict[str, Output]:
    """The mean message of the report's forecast, T799L91, in a transposition between the tasks of its lost plot."""
    from kernels.mpi import scale

    plot = tables.load("p5plus", "plots").sel(figure=5)
    tasks = int(plot["nodes"] * plot["tasks_per_node"])
    moved = scale.forecast("N400", 799, 91, tasks)
    assert moved is not None
    words = "mean message, counted for the report's forecast"
    return {
        "then_message": Output(moved.bytes / moved.messages, "byte", "", words),
        "then_tasks": Output(tasks, "1", "", "MPI tasks of the report's transposition"),
    }


def _exchanges(run) -> "pd.DataFrame":
    """Cases of a run; what one side sends to the other, each pair and all together, MB/s."""
    frame = figures.cases(run, "ranks", "nbytes", "pairs").sort_values(["pairs", "nbytes"])
    frame["MB_per_s"] = frame["nbytes"] / frame["median"] / 1e6
    sent = frame["pairs"] * frame["nbytes"]
    return figures.quantities(frame, all_pairs_MB_per_s=lambda seconds: sent / seconds / 1e6)


@exchange.figure
def exchanged(runs) -> "figures.Shown":
    """Bytes a second of one side by message size: all pairs together, a line for each number of pairs."""
    figure, axis = figures.axes(height=3.4)
    frames = [_exchanges(run) for run in runs]
    rate = "all_pairs_MB_per_s"
    figures.lines(axis, runs, frames, "nbytes", rate, "pairs", lambda pairs: f"{plural(pairs, 'pair')} together")
    nbytes, tasks = float(runs[0]["then_message"]), int(runs[0]["then_tasks"])
    label = f"report's forecast, {nbytes / 1e6:.3g} MB"
    axis.axvline(nbytes, color=figures.INK, linestyle=":", linewidth=1.2, label=label)
    figures.bytes_axis(axis, frames[0]["nbytes"])
    figures.log_axis(axis, "y")
    axis.set(xlabel="message", ylabel="sent by one side [MB/s]")
    figures.legend(axis, "best")
    return figures.show(
        figure,
        name="p5plus_exchange",
        runs=runs,
        data=frames,
        title="Exchange between pairs",
        caption="Two sides send each other a message at the same time. In the report they are two nodes with four "
        "tasks each, or other numbers; here they are on one machine. The sizes of the report's messages are lost: the "
        f"dotted line is the mean message of its forecast in a transposition between {tasks} tasks, counted. "
        f"{figures.MARKED} {figures.doubts(runs[0])}",
        tables="plots",
    )
