"""The section *Why did monitoring slow the forecast?*: sensors on ranks."""

from supercomputers_rerun.companion import figures, models, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.p5plus.words import about
from supercomputers_rerun.companion.common import np, pd
from supercomputers_rerun.companion.conclusions import HOLDS, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment, of


@experiment("p5plus-sensors", item="P8", rounds=7, seconds={"paper": 60, "modern": 120}, ranks=2, unit="s")
def sensors(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Sensors on ranks that wait for each other: none, synchronised, drifted apart, and drifting."""
    from supercomputers_rerun.kernels.mpi import monitoring

    problems = [monitoring.Problem.preset(preset, way=way, ranks=ranks) for way in monitoring.WAYS]
    return [Case(each.way, monitoring, each, threads, of(each, "way"), monitoring.times) for each in problems]


#: When sensors come, in words.
_WAYS = {"none": "never", "synchronised": "at the same time", "drifted": "in turn", "drifting": "drifting apart"}
_COMPARED = ("none", "synchronised", "drifted")


def medians(run, way: str) -> tuple[float, float]:
    """Seconds of computing, sensors included, and of waiting, mean of the ranks, medians of the samples."""
    place = run["way"].values.tolist().index(way)
    computing, waiting = (float(np.nanmedian(run[f"observed_{name}"].values[place])) for name in ("compute", "wait"))
    return computing, waiting


def lost(run) -> tuple[float, float, float]:
    """Seconds that a sensor takes of each rank, and seconds by which it makes a run longer, at once and in turn."""
    (computing, _), (with_sensor, _) = medians(run, "none"), medians(run, "synchronised")
    whole = {way: sum(medians(run, way)) for way in _COMPARED}
    at_once, in_turn = (whole[way] - whole["none"] for way in ("synchronised", "drifted"))
    return with_sensor - computing, at_once, in_turn


@sensors.figure
def spent(runs) -> "figures.Shown":
    """What sensors add to the computing of ranks: their own time, and waiting, by when they come."""
    frames, names = [], []
    for run in runs:
        cases = [run["way"].values.tolist().index(way) for way in _COMPARED]
        percent = 100 / medians(run, "none")[0]
        taken = np.array([medians(run, way)[0] for way in _COMPARED]) * percent - 100
        found = {name: figures.sampled(run, f"observed_{name}", cases) for name in ("compute", "wait")}
        wait = figures.converted(found["wait"], lambda seconds, percent=percent: percent * seconds)
        in_ms = {f"{name}_ms": 1e3 * part["middle"] for name, part in found.items()}
        frames.append(figures.with_spread(pd.DataFrame({"way": _COMPARED, "sensor": taken, **in_ms}), wait=wait))
        # a bar has no mark that could be crossed
        names += [
            (_WAYS[way] if len(runs) == 1 else f"{_WAYS[way]},\n{figures.cpu(run)}") + (", doubtful" if flagged else "")
            for way, flagged in zip(_COMPARED, frames[-1]["flagged"], strict=True)
        ]
    figure, axis = figures.axes(height=1.5 + 0.36 * len(names))
    place = figures.rows(axis, names)
    for run, frame in zip(runs, frames, strict=True):
        at, place = place[: len(frame)], place[len(frame) :]
        first = run is runs[0]
        for left, part, label, colour in (
            (0.0, frame["sensor"], "the interruption itself", "computing"),
            (frame["sensor"], frame["wait"], "waiting for the others", "waiting"),
        ):
            paint = {"color": figures.meaning(colour), "alpha": 1.0 if first else 0.5}
            axis.barh(at, part, left=left, height=0.5, label=label if first else "_", **paint)
        if first:
            ends = (frame["sensor"] + frame[end] for end in ("wait_low", "wait_high"))
            axis.hlines(at, *ends, color=figures.INK, linewidth=1.2)
        else:
            axis.axhline(at[0] - 0.5, color=figures.INK, linewidth=0.8)
    figures.at_right(axis, [f"{whole:.0f} %" for frame in frames for whole in frame["sensor"] + frame["wait"]])
    # a run beside busy programs waits so long that nothing could be seen of the first one
    axis.set(xlabel="added to the computing of a rank [%]", ylabel="interruptions come")
    axis.set_xlim(0, min(axis.get_xlim()[1], 3 * (frames[0]["sensor"] + frames[0]["wait_high"]).max()))
    figures.legend(axis, "above 2 0.3")
    _, at_once, in_turn = lost(runs[0])
    title = "What interruptions add to the computing of a rank"
    if 0 < at_once < in_turn:
        title = f"In turn, the same interruptions cost {about(in_turn / at_once)} as much as at the same time"
    return figures.show(
        figure,
        name="p5plus_sensors",
        run=runs[0],
        data=figures.together(runs, frames),
        title=title,
        caption="Bars show what two ranks spend beside their work; the sum is at the right. Black: its spread"
        f"{f', for {figures.letter(runs[0])} alone' if len(runs) > 1 else ''}.",
        alt="; ".join(
            f"{_WAYS[row.way]}: the interruption itself {row.sensor:.1f} %, waiting {row.wait:.1f} %"
            for row in frames[0].itertuples()
        ),
    )


@models.predicts(
    "p5plus_drift",
    models.slowest,
    "waiting in each period while sensors drift apart",
    "the barrier itself, and ranks that the system interrupts",
    "",
    "p5plus-sensors",
)
def planned(run, machine):
    """Waiting of each period, mean of the ranks, from the plan of the sensors: what the slowest needs beyond it."""
    from supercomputers_rerun.kernels.mpi import monitoring

    ranks, rows = int(run["ranks"].values[0]), []
    for place, way in enumerate(run["way"].values):
        if way == "none":
            continue
        problem = monitoring.Problem.preset(run.attrs["preset"], way=str(way), ranks=ranks)
        delays = np.array([problem.delays(rank) for rank in range(ranks)])
        for number in range(problem.steps // problem.period):
            each = delays[:, number * problem.period : (number + 1) * problem.period]
            wait = models.slowest(each) - each.sum(axis=1).mean()
            measured = np.nanmedian(run[f"observed_wait of period {number}"].values[place])
            rows.append((str(way), number + 1, 1e3 * measured, 1e3 * wait))
    return pd.DataFrame(rows, columns=["way", "period", "measured", "predicted"])


def _period(runs) -> str:
    """What a period of the runs is, in words."""
    from supercomputers_rerun.kernels.mpi import monitoring

    steps = {monitoring.Problem.preset(run.attrs["preset"]).period for run in runs}
    return f"period of {' or '.join(map(str, sorted(steps)))} steps, with one interruption of each rank"


def _named(axis, line, way: str) -> None:
    """The way of the sensors beside its line, where lines are apart; of those that stay level what ranks wait."""
    x, y = line.get_data()
    at, up, side = {"drifted": (0, -15, "left"), "drifting": (7, -16, "left")}.get(way, (len(x) - 1, 12, "right"))
    at = min(at, len(x) - 1)
    line.set_linewidth(2.4 if way == "drifting" else 1.2)
    level = "" if way == "drifting" else f": {_said(np.nanmedian(y))} ms"
    style = {"textcoords": "offset points", "size": 9, "color": line.get_color(), "ha": side, "weight": "bold"}
    axis.annotate(f"{_WAYS[way]}{level}", (x[at], y[at]), xytext=(0, up), **style)


def _said(milliseconds: float) -> str:
    return f"{milliseconds:.0f}" if milliseconds >= 1 else f"{milliseconds:.1f}"


@sensors.figure
def drift(runs) -> "figures.Shown":
    """Waiting in each period while sensors drift apart, beside that with synchronised and with drifted ones."""
    from supercomputers_rerun.kernels.mpi.monitoring import SLICES

    bars = ""
    figure, axis = figures.axes(height=2.9)
    frames = []
    for run in runs:
        count = sum(name.startswith("observed_wait of period") for name in run)
        periods, parts = np.arange(1, count + 1), []
        for place, way in enumerate(run["way"].values):
            every = [figures.sampled(run, f"observed_wait of period {n}", [place]) for n in range(count)]
            wait = figures.converted(pd.concat(every, ignore_index=True), lambda seconds: 1e3 * seconds)
            if way != "none":
                line = figures.bars(axis, periods, wait, label=_WAYS[way], index=way, run=run)
                if run is runs[0]:
                    _named(axis, line, way)
                    samples = run["observed_wait of period 0"].values[place]
                    least, most = np.nanmin(samples), np.nanmax(samples)
                    if np.allclose(wait[["low", "high"]].iloc[0], [1e3 * least, 1e3 * most]):
                        bars = f" Bars: least to most of {np.isfinite(samples).sum()} runs."
            parts.append(figures.with_spread(pd.DataFrame({"way": way, "period": periods}), wait_ms=wait))
        frames.append(pd.concat(parts, ignore_index=True))
    expected = planned.frame(runs[0])
    if expected is not None:
        for number, (_, part) in enumerate(expected.groupby("way")):
            figures.modelled(axis, part["period"], part["predicted"], label="_model" if number else "model")
    axis.set(xlabel=_period(runs), ylim=(-0.5, None))  # a model of no waiting is not the axis
    axis.set_ylabel("waiting for the others,\nmean of ranks [ms]")
    title = "Waiting while sensors drift apart"
    grown = frames[0].query("way == 'drifting'")["wait_ms"]
    if grown.iloc[0] < grown.iloc[-1]:
        ends = f"{_said(grown.iloc[0])} to {_said(grown.iloc[-1])} ms"
        title = f"As interruptions of ranks drift apart, waiting in a period grows from {ends}"
    return figures.show(
        figure,
        name="p5plus_drift",
        runs=runs,
        data=frames,
        title=title,
        caption=f"Drifting: an interruption is spread over {SLICES} steps; rank 2's begins a step later each period."
        f"{bars}",
        note=models.said(planned, expected),
    )


def disturbed(run) -> str:
    """What sensors at moments of their own cost two ranks, over what sensors at the same moments do."""
    wait = dict(zip(run["way"].values, run["observed_wait"].values, strict=True))
    assert np.nanmin(wait["drifted"]) > 2 * np.nanmax(wait["synchronised"])
    _, at_once, in_turn = lost(run)
    return (
        "When two programs wait for each other after each step, short interruptions that come to them in turn cost "
        f"{about(in_turn / at_once)} as much time as if they came to both at once."
    )


def conditions(run) -> "figures.Shown":
    """What *today* is on the page, of the machine of a run, in small print."""
    where = f"{figures.cpu(run)}, {str(run.attrs['machine']).rpartition(', ')[2]}"
    return figures.paragraph(
        f"In this chapter “then” means 2006, and “today” machine {where}. Its numbers are medians of stored runs at "
        f"full size (preset {run.attrs['preset']}); no run waits for a disk. Ranks are processes that send each other "
        "messages; the report calls them tasks.",
        tag="small",
    )


def charged(run) -> str:
    """What sensors cost ranks at once and in turn, and how many tasks a job of 2006 had."""
    taken, at_once, in_turn = lost(run)
    ranks = int(run["ranks"].values[0])
    assert ranks == 2 and abs(at_once / taken - 1) < 0.25 and abs(in_turn / at_once / ranks - 1) < 0.25
    tasks, cpus = tables.printed("p5plus", "ifs_times").set_index("job").loc["4D-Var", ["tasks", "cpus"]].astype(int)
    share = 100 * taken / medians(run, "none")[0]
    return (
        f"Today an imitated sensor takes {1e3 * taken:.0f} ms of each rank in a whole run, {share:.0f} % of what the "
        "rank computes. If it comes to both ranks at once, the run takes about that much longer. If it comes to them "
        f"in turn, the run loses {about(in_turn / at_once)} as much, because each rank pays for its own interruption "
        "and then waits for the other's. In 2006 the slow messages were those of the analysis, the part of IFS that "
        "fits the model to observations. The slides do not say how many tasks that run had. Another run of the "
        f"analysis, in the next section, had {tasks} tasks on {cpus} CPUs: each could wait for {tasks - 1} others."
    )


@conclusion(
    "p5plus-c14",
    place='slides "Effect of monitoring" and "Changes for New P5+ System"',
    says="Sensors that drift apart delay a job once for every task; synchronised they delay it once.",
)
def synchronised() -> Finding:
    """How long ranks wait with sensors at moments of their own and at the same."""
    run = sensors.runs()[0]
    wait = dict(zip(run["way"].values, run["observed_wait"].values, strict=True))
    apart, together = (figures.of_samples([1e3 * wait[way]], [""]).iloc[0] for way in ("drifted", "synchronised"))
    return Finding(
        HOLDS,
        f"With imitated sensors two ranks wait {apart['middle']:.0f} ms for each other ({apart['low']:.0f} to "
        f"{apart['high']:.0f}) if these come in turn, and {together['middle']:.0f} ms ({together['low']:.0f} to "
        f"{together['high']:.0f}) if at the same steps.",
        bears=apart["low"] > 3 * together["high"],
    )
