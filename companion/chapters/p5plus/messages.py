"""The section *What do messages between processors cost?*: pairs of ranks, and the moves of a spectral model."""

import re

import numpy as np

from companion import figures, tables
from companion.bench import Case
from companion.chapters import counts_to, of, sent
from companion.experiments import Output, experiment
from companion.labels import plural, size
from companion.records.runs import single


@experiment(
    "p5plus-exchange",
    item="P4",
    title="Exchange between pairs of ranks by message size",
    rounds=11,
    seconds={"quick": 3, "paper": 60, "modern": 120},
    ranks=2,
)
def exchange(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Every message size with one pair, and with as many pairs as the ranks make."""
    from kernels.mpi import exchange

    exchange.Problem(ranks=ranks)  # refuses an odd number
    cases = []
    for used in counts_to(ranks)[1:]:
        for nbytes in exchange.SIZES[preset]:
            label, about = f"{size(nbytes)}, {plural(used // 2, 'pair')}", {"nbytes": nbytes, "pairs": used // 2}
            cases.append(Case(label, exchange, exchange.Problem(nbytes, used), threads, about))
    return cases


#: Fields of the transposition curve: their number sets the size of the messages.
_FIELDS = {"quick": (2, 8), "paper": (2, 4, 8, 16, 32, 64), "modern": (4, 16, 64)}


@experiment(
    "p5plus-transposition",
    item="P4",
    title="Transpositions of a spectral model by size of the messages",
    rounds=7,
    seconds={"quick": 3, "paper": 60, "modern": 120},
    ranks=2,
)
def transposition(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """All four transpositions there and back by number of fields, that is by size of messages, and by ranks."""
    from kernels.mpi import moves, scale

    cases = []
    for used, fields in [(used, fields) for used in counts_to(ranks)[1:] for fields in _FIELDS[preset]]:
        problem = moves.Problem.preset(preset, fields=fields, ranks=used)
        label = f"T{problem.truncation}, {fields} fields, {used} ranks"
        parameters = of(problem, "truncation", "fields") | sent(scale.transposition(problem.mesh))
        parameters |= {"across": problem.mesh.V}
        cases.append(Case(label, moves, problem, threads, parameters, moves.times))
    return cases


@exchange.outputs_of
@transposition.outputs_of
def _then(measurements) -> dict[str, Output]:
    """What a message of the report was: its plots have lost their sizes, but the decomposition of its forecast has one.

    The forecast is that in the title of the table of systems, the tasks are those of the lost plot of transpositions.
    """
    from kernels.mpi import scale
    from kernels.spectral import classic_rows

    title, plot = tables.load("p5plus", "p4_p5").attrs["title"], tables.load("p5plus", "plots").sel(figure=5)
    ((truncation, levels),) = ((int(t), int(n)) for t, n in re.findall(r"T(\d+)L(\d+)", title))
    rows = next(n for n in sorted(classic_rows()) if 4 * n >= 2 * truncation + 1)
    tasks = int(plot["nodes"] * plot["tasks_per_node"])
    moved = scale.forecast(f"N{rows}", truncation, levels, tasks)
    assert moved is not None
    return {
        "then_message": Output(
            moved.bytes / moved.messages, "byte", "", "mean message, counted for the report's forecast"
        ),
        "then_tasks": Output(tasks, "1", "", "MPI tasks of the report's transposition"),
    }


def _curves(runs, frames, x: str, count: str, noun: str, step: int) -> tuple:
    """MB/s by the size of a message, a line for each number of pairs or ranks: the figure, its axis, and a sentence.

    ``frames`` have the bytes ``sent`` that are counted; the mean message of the report's forecast is marked.
    """
    figure, axis = figures.axes(height=3.4)
    for run, frame in zip(runs, frames, strict=True):
        for number, part in frame.groupby(count):
            sent, style = part["sent"] / 1e6, {"index": int(np.log2(number)), "run": run}
            label = plural(number, noun) + " together" * (noun == "pair")
            figures.spread(axis, part[x], part, lambda t, sent=sent: sent / t, label=label, **style)
    nbytes, tasks = float(runs[0]["then_message"]), int(runs[0]["then_tasks"])
    label = f"report's forecast, {nbytes / 1e6:.3g} MB"
    axis.axvline(nbytes, color=figures.INK, linestyle=":", linewidth=1.2, label=label)
    figures.bytes_axis(axis, np.concatenate([frame[x] for frame in frames]), step=step)
    figures.legend(axis, "best")
    said = (
        "The sizes of the report's messages are lost. The dotted line is the mean message of its forecast in a "
        f"transposition between {tasks} tasks, counted from its decomposition: {nbytes / 1e6:.3g} MB. "
        f"{figures.MARKED} {figures.doubts(runs[0])}"
    )
    return figure, axis, said


@exchange.figure
def exchanged(runs) -> "figures.Shown":
    """Bytes a second of one side by message size: all pairs together, a line for each number of pairs."""
    frames = [figures.case_rows(run, "nbytes", "pairs").sort_values(["pairs", "nbytes"]) for run in runs]
    for frame in frames:
        frame["MB_per_s"] = frame["nbytes"] / frame["median"] / 1e6
        frame["all_pairs_MB_per_s"] = frame["pairs"] * frame["MB_per_s"]
        frame["sent"] = frame["pairs"] * frame["nbytes"]
    figure, axis, said = _curves(runs, frames, "nbytes", "pairs", "pair", 8)
    figures.log_axis(axis, "y")
    axis.set(xlabel="message", ylabel="sent by one side [MB/s]")
    most = frames[0].groupby("pairs")["all_pairs_MB_per_s"].max()
    listed = "; ".join(f"{plural(pairs, 'pair')} {rate:.0f}" for pairs, rate in most.items())
    return figures.show(
        figure,
        name="p5plus_exchange",
        runs=runs,
        data=frames,
        title="Exchange between pairs",
        caption="Two sides send each other a message at the same time. In the report they are two nodes with four "
        f"tasks each, or other numbers; here they are on one machine. {said}",
        alt="Megabytes a second that ranks send to their partners, and receive meanwhile, against the size of the "
        f"message, both axes logarithmic. Largest rate of one side by number of pairs: {listed} MB/s.",
        tables="plots",
    )


@transposition.figure
def moved(runs) -> "figures.Shown":
    """Bytes per second of a rank in the four transpositions, by the mean size of a message and by ranks."""
    frames = [figures.case_rows(run, "sent_bytes", "messages", "fields") for run in runs]
    frames = [frame[frame["messages"] > 0].sort_values(["ranks", "sent_bytes"]) for frame in frames]
    for frame in frames:
        frame["message_bytes"] = frame["sent_bytes"] / frame["messages"]
        frame["sent"] = frame["sent_bytes"] / frame["ranks"]
        frame["MB_per_s"] = frame["sent"] / frame["median"] / 1e6
    figure, axis, said = _curves(runs, frames, "message_bytes", "ranks", "rank", 4)
    axis.set(xlabel="mean message", ylabel="sent by each rank [MB/s]", ylim=(0, None))
    return figures.show(
        figure,
        name="p5plus_transposition",
        runs=runs,
        data=frames,
        title="Transposition",
        caption="Bytes a second that each rank sends in the four moves of a spectral model, packing included, by the "
        f"mean size of a message. {said}",
        alt="Megabytes a second that each rank sends in the transpositions of a spectral model, there and back, "
        f"against the mean size of a message; at most {frames[0]['MB_per_s'].max():.0f} MB/s.",
        tables="plots",
    )


def found(run) -> str:
    """How long one pair takes to exchange its smallest and its largest message, and the rate of the largest."""
    run = single(run)
    frame = figures.case_rows(run, "nbytes", "pairs").query("pairs == 1").sort_values("nbytes")
    first, last = frame.iloc[0], frame.iloc[-1]
    return (
        f"On {figures.cpu(run)} one pair exchanges {figures.bytes_label(first['nbytes'])} in "
        f"{1e6 * first['median']:.1f} µs and {figures.bytes_label(last['nbytes'])} in {1e6 * last['median']:.0f} µs, "
        f"which is {last['nbytes'] / last['median'] / 1e9:.0f} GB/s each way."
    )
