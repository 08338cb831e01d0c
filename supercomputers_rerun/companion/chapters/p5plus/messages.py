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
            label, made = f"{size(nbytes)}, {plural(used // 2, 'pair')}", {"nbytes": nbytes, "pairs": used // 2}
            cases.append(Case(label, exchange, exchange.Problem(nbytes, used), threads, made))
    return cases


def _exchanges(run) -> "pd.DataFrame":
    """Cases of a run; µs of an exchange, and what one side sends to the other, each pair and all together, MB/s."""
    frame = figures.cases(run, "ranks", "nbytes", "pairs").sort_values(["pairs", "nbytes"])
    frame["MB_per_s"] = frame["nbytes"] / frame["median"] / 1e6
    return figures.quantities(
        frame,
        us=lambda time: 1e6 * time,
        all_pairs_MB_per_s=lambda time: frame["pairs"] * frame["nbytes"] / time / 1e6,
    )


@models.predicts(
    "p5plus_exchange",
    models.transfer,
    "the time of messages by their size",
    "that the library may take another way from some size on, and that long messages leave the caches",
    "message message_rate",
    "p5plus-exchange",
)
def by_size(run, machine):
    """Microseconds of an exchange by message size, a pair alone, from the shortest and the longest message."""
    frame = _exchanges(run).query("pairs == 1")
    seconds = models.transfer(1, machine.message, frame["nbytes"], machine.message_rate)
    return frame[["nbytes"]].assign(measured=frame["us"], predicted=1e6 * seconds)


def _alone(run) -> "pd.Series":
    """Microseconds of an exchange of a pair alone, by message size."""
    return _exchanges(run).query("pairs == 1").set_index("nbytes")["us"]


@exchange.figure
def exchanged(runs) -> "figures.Shown":
    """Time of an exchange by message size, where each rank has a CPU of its own."""
    figure, axis = figures.axes(height=3.2)
    free = [run.isel(case=["oversubscribed" not in str(each) for each in run["flags"].values]) for run in runs]
    frames = [_exchanges(run) for run in free]
    figures.lines(axis, free, frames, "nbytes", "us", "pairs", lambda pairs: f"{plural(pairs, 'pair')} of ranks")
    alone = _alone(free[0])
    expected, call = by_size.frame(free[0]), alone.iloc[0]
    if expected is not None:
        figures.modelled(axis, expected["nbytes"], expected["predicted"])
    else:
        ends = models.transfer(1, call, alone.index, alone.index[-1] / alone.iloc[-1])
        figures.modelled(axis, alone.index, ends, label="call + bytes / bandwidth of the longest")
    figures.bytes_axis(axis, frames[0]["nbytes"])
    figures.log_axis(axis, "y")
    axis.set(xlabel="size of the message", ylabel="time of one exchange [µs]")
    figures.legend(axis, "upper left")
    axis.set_ylim(bottom=call / 3)  # room below the first mark
    first = alone.index[0], call
    beside = {"textcoords": "offset points", "size": 9, "weight": "bold", "va": "top"}
    axis.annotate(f"{call:.2g} µs, the call", first, xytext=(-3, -12), **beside)
    if expected is not None:
        off = (expected["measured"] / expected["predicted"]).to_numpy()
        worst = expected.iloc[off.argmax()]
        if off.max() > 1.5 * max(off[0], off[-1]):
            words = f"{figures.bytes_label(worst['nbytes'])}: probably\nsent in another way"
            style = {"textcoords": "offset points", "size": 9, "ha": "right", "va": "bottom"}
            axis.annotate(words, (worst["nbytes"], worst["measured"]), xytext=(-2, 8), **style)
    flags = [words for words in free[0]["flags"].values.astype(str) if words]
    changed = ", as times changed while we measured" if all("drift" in words for words in flags) else ""
    doubtful = f" Crosses: doubtful{changed}." if flags else ""
    return figures.show(
        figure,
        name="p5plus_exchange",
        runs=runs,
        heading=figures.run_title(free[0]),
        data=[_exchanges(run) for run in runs],
        title=f"A short message costs its call, {call:.2g} µs, and a long one its bytes",
        caption="Two ranks of one machine send each other a message at the same time." + doubtful,
        tables="plots",
        note=models.said(by_size, expected),
    )


def called(run) -> str:
    """What a short message costs, from which size the bytes count, and how far the model is off in between."""
    took, drawn = _alone(run), by_size.frame(run)
    call, kilobyte = took.iloc[0], took[2**10]
    double = (took / (2 * call) - 1).abs().idxmin()
    assert drawn is not None  # else the figure draws the sum of the ends
    off = drawn["measured"] / drawn["predicted"]
    between = drawn["nbytes"].iloc[off.argmax()]
    assert kilobyte < 1.5 * call and 1.5 < took[double] / call < 2.5
    assert off.max() > 1.5 * max(off.iloc[0], off.iloc[-1])
    return (
        f"Today two ranks exchange messages of 8 bytes in {call:.1f} µs. An exchange of a kilobyte takes "
        f"{kilobyte / call:.1f} times as long, one of {figures.bytes_label(double)} {took[double] / call:.1f} times. "
        "The simplest model, latency + bytes / bandwidth, is dashed. For messages of middle size it is far too low: "
        f"{figures.bytes_label(between)} take {off.max():.1f} times as long as by the model, probably because the "
        "library sends them in another way (not measured)."
    )
