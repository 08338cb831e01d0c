"""The section *Why did monitoring slow the forecast?*: sensors on ranks, and simulated for more processors."""

from companion import figures, tables
from companion.bench import Case
from companion.common import np, pd
from companion.experiments import Output, experiment, of


@experiment("p5plus-sensors", item="P8", rounds=5, seconds={"paper": 60, "modern": 120}, ranks=2)
def sensors(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Sensors on ranks that wait for each other: none, synchronised, drifted apart."""
    from kernels.mpi import monitoring

    problems = [monitoring.Problem.preset(preset, way=way, ranks=ranks) for way in monitoring.WAYS]
    return [Case(each.way, monitoring, each, threads, of(each, "way"), monitoring.times) for each in problems]


#: What ranks do, by what a run observes of it: the words of legends, and the colour.
_SPENT = {"compute": ("computing, sensor included", "computing"), "wait": ("waiting for the others", "waiting")}


@sensors.figure
def spent(runs) -> "figures.Shown":
    """Computing and waiting without sensors, with synchronised ones and with drifted ones, over the time without."""
    frames = []
    for run in runs:
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
        caption="Computing and waiting at barriers without sensors, with sensors that interrupt all ranks at the same "
        "moment (synchronised), and with sensors that interrupt each at a moment of its own (drifted). The report "
        f"prints no times. {figures.doubts(runs[0])}",
    )


def disturbed(run) -> str:
    """What sensors cost ranks: at one moment against none, and at moments of their own against one moment."""
    wait = dict(zip(run["way"].values, run["observed_wait"].values, strict=True))
    none, together, apart = (f"{1e3 * np.nanmedian(wait[way]):.0f} ms" for way in ("none", "synchronised", "drifted"))
    more = figures.times(wait["drifted"], wait["synchronised"])
    assert more.measurable and not figures.times(wait["synchronised"], wait["none"]).measurable
    return (
        f"On machine {figures.cpu(run)} two processes that meet at barriers wait {together} for each other if both "
        f"spend a sensor's time at the same moments, no measurable difference from {none} without sensors, and {apart} "
        f"if they spend it in turn: {more.times} as long."
    )


_PERIOD = 60.0  # s: the report's "every minute"
#: Assumptions of the simulation, which the report does not give.
_DT, _STEPS, _DRIFT = 1e-3, (600, 6000, 60000), 2e-5  # s, barriers a minute, s/s of a clock
_HOURS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 24.0)


@experiment("p5plus-monitoring-simulated", item="P8", seconds={"paper": None}, simulated=True)
def simulation(preset: str, threads: int) -> list[Case]:
    """Loss to monitoring against processors and hours, simulated."""
    return []


@simulation.outputs_of
def _simulated(measurements) -> dict[str, Output]:
    """Loss a minute against processors, moments spread over the minute; and against hours, as clocks drift apart.

    The curve ends at the report's largest job; the clocks that drift are those of its analysis, which it saw slow down.
    """
    from kernels.processor.disturbance import simulate

    most = int(tables.load("p5plus", "run_2112")["cpus"])
    job = int(tables.load("p5plus", "ifs_times")["cpus"].sel(job="4D-Var"))
    processors = [*(2**power for power in range(most.bit_length())), most]
    drawn = [np.random.default_rng(number).uniform(0, _PERIOD, most) for number in range(5)]
    rates = _DRIFT * np.random.default_rng(5).standard_normal(job)

    def lost(phases, steps):
        return simulate(phases, _DT, _PERIOD / steps, _PERIOD) / _DT

    spread = [[np.mean([lost(each[:n], steps) for each in drawn]) for n in processors] for steps in _STEPS]
    shifted = [(_PERIOD / 2 + 3600 * hour * rates) % _PERIOD for hour in _HOURS]
    hours = [[lost(phases, steps) for phases in shifted] for steps in _STEPS]
    return {
        "processors": Output(processors, "1", "processor", "processors"),
        "barriers": Output(list(_STEPS), "1/min", "rate", "barriers a minute"),
        "lost": Output(spread, "1", "rate processor", "loss a minute over dt, moments anywhere"),
        "hours": Output(list(_HOURS), "h", "hour", "time since the moments were one"),
        "lost_after": Output(hours, "1", "rate hour", "loss a minute over dt, clocks drifting"),
        "job": Output(job, "1", "", "processors of the job whose clocks drift"),
    }


@simulation.figure
def lost(runs) -> "figures.Shown":
    """Loss to periodic disturbances, simulated for more processors and for hours."""
    run = runs[0]
    figure, (many, hours) = figures.axes(2, 1, height=6.4)
    count, job = run["processors"].values, int(run["job"])
    for axis, x, name in ((many, count, "lost"), (hours, run["hours"].values, "lost_after")):
        for style, rate, y in zip(("-", "--", "-."), run["barriers"].values, run[name].values, strict=True):
            line = figures.calculated(axis, x, y, label=f"{int(rate)} barriers a minute")
            line.set(linestyle=style, markersize=4)
        axis.set(ylabel="loss a minute over dt")
    many.plot(count, count, color=figures.INK, linewidth=0.8, linestyle=":", label="N dt")
    hours.axhline(job, color=figures.INK, linewidth=0.8, linestyle=":")
    figures.log_axis(many)
    many.set(xlabel="processors N", title="moments anywhere in the minute")
    title = f"N = {job}, clocks off by {1e6 * _DRIFT:g} · 10⁻⁶ (assumed)"
    hours.set(xlabel="hours since all moments were the same", ylim=(0, None), title=title)
    figures.legend(many, "best")
    return figures.show(
        figure,
        name="p5plus_monitoring",
        run=run,
        data=run[["lost"]].to_dataframe().reset_index(),
        title="What disturbances cost, simulated",
        caption="Time lost, in multiples of one disturbance (dt), simulated and not measured. N processors lose dt if "
        "they are disturbed at the same moment, and up to N dt if at different moments.",
        tables="run_2112 ifs_times",
    )
