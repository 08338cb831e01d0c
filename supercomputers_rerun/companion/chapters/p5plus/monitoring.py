"""The section *Why did monitoring slow the forecast?*: sensors on ranks."""

from supercomputers_rerun.companion import figures, models
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.common import np, pd
from supercomputers_rerun.companion.conclusions import HOLDS, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment, of


@experiment("p5plus-sensors", item="P8", rounds=7, seconds={"paper": 60, "modern": 120}, ranks=2, unit="s")
def sensors(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Sensors on ranks that wait for each other: none, synchronised, drifted apart, and drifting."""
    from supercomputers_rerun.kernels.mpi import monitoring

    problems = [monitoring.Problem.preset(preset, way=way, ranks=ranks) for way in monitoring.WAYS]
    return [Case(each.way, monitoring, each, threads, of(each, "way"), monitoring.times) for each in problems]


#: What ranks do, by what a run observes of it: the words of legends, and the colour.
_SPENT = {"compute": ("computing, sensor included", "computing"), "wait": ("waiting for the others", "waiting")}


@sensors.figure
def spent(runs) -> "figures.Shown":
    """Computing and waiting without sensors, with synchronised ones and with drifted ones, over the time without."""
    frames = []
    for run in runs:
        run = run.isel(case=run["way"].values != "drifting")
        found = {name: figures.sampled(run, f"observed_{name}") for name in _SPENT}
        whole = sum(part["middle"][0] for part in found.values()) / 100
        frame = pd.DataFrame({"what": run["way"].values.astype(str)})
        shares = {name: figures.converted(part, lambda time, whole=whole: time / whole) for name, part in found.items()}
        in_ms = {f"{name}_ms": 1e3 * part["middle"] for name, part in found.items()}
        frames.append(figures.with_spread(frame.assign(**in_ms), **shares))
    return figures.dots(
        runs,
        frames,
        {name: words for name, (words, _) in _SPENT.items()},
        colours=[colour for _, colour in _SPENT.values()],
        xlabel="time over that without sensors [%], mean of the ranks",
        legend_at="above 1",
        name="p5plus_sensors",
        title="Sensors at one moment and at several",
        caption="Imitated computing, and waiting at barriers: without sensors, with the time of an imitated sensor at "
        "the same step on all ranks (synchronised), and at steps of their own (drifted). The report prints no times. "
        f"{figures.doubts(runs[0])}",
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


@sensors.figure
@figures.styled
def drift(runs) -> "figures.Shown":
    """Waiting in each period while sensors drift apart, beside that with synchronised and with drifted ones."""
    runs, frames = [run for run in runs if "drifting" in run["way"].values], []
    figure, axis = figures.axes(height=2.9)
    for run in runs:
        count = sum(name.startswith("observed_wait of period") for name in run)
        periods, parts = np.arange(1, count + 1), []
        for place, way in enumerate(run["way"].values):
            every = [figures.sampled(run, f"observed_wait of period {n}", [place]) for n in range(count)]
            wait = figures.converted(pd.concat(every, ignore_index=True), lambda seconds: 1e3 * seconds)
            if way != "none":
                figures.bars(axis, periods, wait, label=way, index=way, run=run)
            parts.append(figures.with_spread(pd.DataFrame({"way": way, "period": periods}), wait_ms=wait))
        frames.append(pd.concat(parts, ignore_index=True))
    expected = planned.frame(runs[0]) if runs else None
    if expected is not None:
        for number, (_, part) in enumerate(expected.groupby("way")):
            figures.modelled(axis, part["period"], part["predicted"], label="_model" if number else "model")
    axis.set(xlabel="period (the report: minutes)", ylabel="waiting, mean of ranks [ms]", ylim=(0, None))
    figures.legend(axis, "above 3")
    return figures.show(
        figure,
        name="p5plus_drift",
        runs=runs,
        data=frames or None,
        title="Waiting while sensors drift apart",
        caption="Waiting at barriers in each period. The time of a drifting sensor is cut into slices, one a step. "
        "Both ranks' begin together, and each period the second's come a step later. The report's curves are lost.",
        note=models.said(planned, expected),
    )


def disturbed(run) -> str:
    """How long ranks wait for each other with sensors at moments of their own, and at the same moments."""
    wait = dict(zip(run["way"].values, run["observed_wait"].values, strict=True))
    lost = np.ptp(np.nanmedian(run["observed_compute"].values[:2], axis=1))  # without sensors, and with
    together, apart = (f"{1e3 * np.nanmedian(wait[way]):.0f} ms" for way in ("synchronised", "drifted"))
    assert np.nanmin(wait["drifted"]) > np.nanmax(wait["synchronised"]) > np.nanmin(wait["none"])
    assert np.nanmin(wait["synchronised"]) < np.nanmax(wait["none"])
    return (
        f"On machine {figures.cpu(run)} two processes meet at barriers, and imitated sensors take {1e3 * lost:.0f} ms "
        f"of a run from each. They wait {apart} for each other (mean of both, median of runs) if sensors take them in "
        f"turn, and {together} if at the same steps. The samples of the latter overlap those without sensors."
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
