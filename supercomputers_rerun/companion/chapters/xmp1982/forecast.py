"""The sections *Why does the forecast wait more?* and *What does a faster place for the files gain?*.

The forecast, its simulator, and two days of it.

The places of 1982 have these on a host: the disk is the file system of the folder for temporary files past the page
cache (through it where that is refused), buffer memory the page cache, the SSD memory of the process that is reached
by copying.
"""

from dataclasses import replace
from statistics import median

from supercomputers_rerun.companion import figures, models, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.xmp1982 import blocks
from supercomputers_rerun.companion.chapters.xmp1982.rows import (
    along,
    at_mark,
    bounded,
    grouped,
    in_rows,
    label,
    observed,
    on_host,
    over,
    spreads,
    two_machines,
)
from supercomputers_rerun.companion.common import np, pd, rounded, span, xr
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, PARTLY, THEN, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment
from supercomputers_rerun.companion.records.runs import partner

#: Configuration of the report: files, place on the host, overlap.
CONFIGURATIONS = {
    "disk4": (4, "direct", "both"),
    "bmr1": (1, "cache", "one"),
    "ssd2-sync": (2, "memory", "none"),
    "ssd2-async": (2, "memory", "both"),
    "ssd4-sync": (4, "memory", "none"),
    "ssd1-sync": (1, "memory", "none"),
    "bmr1-overlapped": (1, "cache", "both"),
    "ssd4-async": (4, "memory", "both"),
    "ssd1-async": (1, "memory", "both"),
}
#: Two steps of medians that are this near to each other are alike.
_ALIKE = 0.05
#: Fewer files on disk (section 4.2), of which the report prints no times.
_FEWER = {"disk1": (1, "direct", "one"), "disk2": (2, "direct", "both")}
#: The fastest configuration of 1982.
_FASTEST = "ssd2-async"


def sized(preset: str):
    """A day's forecast with physics, its state in memory; what it writes up is on the device when a step ends."""
    from supercomputers_rerun.kernels.gridpoint import Problem

    return Problem.preset(preset, physics=True, hours=24.0, writeup=6.0, fsync=True)


def places(problem, name: str):
    """The problem with the work files of a configuration, on this host."""
    files, place, overlap = (CONFIGURATIONS | _FEWER)[name]
    return replace(problem, files=files, place=on_host(place, problem.folder), overlap=overlap)


def observe(result) -> dict[str, float]:
    """Clock of the parts, CPU time, waiting and overlap of one forecast."""
    ups = [step for step in result.steps if "write-up" in step.kind]
    found = {"net": result.net, "cpu": result.cpu, "moving": result.moving, "forecast": result.clock}
    found |= {"waiting": sum(step.waiting for step in result.steps), "overlapped": result.overlapped}
    found |= {f"write_step_{n + 1}": step.clock for n, step in enumerate(ups)}
    # the last step, of a kind of its own, only reads and writes up
    for kind in ("normal", "radiation", "write-up"):
        if alike := [step.cpu for step in result.steps if step.kind == kind]:
            found[f"{kind.replace('-', '_')}_cpu"] = median(alike)
    return found


def _observe_job(result) -> dict[str, float]:
    """The same of a forecast that ran as a job, and of its post-processing jobs."""
    found = observe(result.jobs[0]) | {"complete": result.complete}
    for n, post in enumerate(result.posts):
        found |= {f"post_{n + 1}_clock": post.clock, f"post_{n + 1}_cpu": post.cpu}
    return found


def case(configuration: str, program: str, problem, threads: int, **how) -> Case:
    """A forecast or its simulator, and its post-processing jobs one by one after it unless ``how`` says otherwise."""
    from supercomputers_rerun.kernels import jobs

    job = jobs.Problem((jobs.Job(program, problem),), **{"posts": "after", **how})
    return Case(configuration, jobs, job, threads, {"configuration": configuration}, _observe_job)


def jobs_of(cases, key: str) -> "xr.DataArray":
    """Mean of the post-processing jobs of every sample: ``clock`` or ``cpu``."""
    names = [name for name in cases.data_vars if str(name).startswith("post_") and str(name).endswith(key)]
    return cases[names].to_dataarray("post").mean("post")


@experiment(
    "xmp1982-forecast",
    item="X2, X3, X4, X5, X8, X26",
    threads=1,
    rounds=7,
    seconds={"paper": 500},
    unit="s of the clock",
    of="forecast",
)
def forecast(preset: str, threads: int) -> list[Case]:
    """A forecast whose state streams through work files."""
    base = sized(preset)
    problems = {"memory": base} | {name: places(base, name) for name in CONFIGURATIONS | _FEWER}
    return [case(name, "forecast", problem, threads) for name, problem in problems.items()]


@experiment(
    "xmp1982-simulator",
    item="X10, X11",
    threads=1,
    rounds=7,
    seconds={"paper": 400},
    unit="s of the clock",
    of="forecast",
)
def simulator(preset: str, threads: int) -> list[Case]:
    """The simulator of the forecast."""
    base = sized(preset)
    return [case(name, "simulator", places(base, name), threads) for name in CONFIGURATIONS]


#: Where work files are, then and today: the test of :mod:`blocks` that has its rate, and a configuration.
_PLACES = {"disk": ("disk", "disk4"), "buffer; page cache": ("bmr", "bmr1"), "SSD; memory": ("ssd", _FASTEST)}


def waited() -> dict[str, float]:
    """Share of its clock in which the forecast of 1982 did not compute, %, by configuration (Fig. 4.1)."""
    printed = tables.load("xmp1982", "fig4_1")
    return (100 * (1 - printed["forecast_cpu"] / printed["forecast_clock"])).to_series().to_dict()


def waiting(run) -> "xr.DataArray":
    """Share of its clock in which a forecast waits for its work files, %, of every sample."""
    cases = observed(run)
    return (100 * cases["waiting"] / cases["forecast"]).transpose("configuration", "sample")


def waits_now(run) -> float:
    """The median of :func:`waiting` with four files on disk."""
    return float(waiting(run).sel(configuration="disk4").median())


def counted_as_then(run) -> "np.ndarray":
    """Share of its clock in which a forecast of today does not compute, %, medians: in each place as :func:`waited`.

    Its CPU time is without that of copying records, which channels moved in 1982.
    """
    cases = observed(run).sel(configuration=[name for _, name in _PLACES.values()])
    share = 100 * (1 - (cases["cpu"] - cases["moving"]) / cases["forecast"])
    return share.median("sample").values


def rates_beside(run) -> dict[str, float]:
    """MB/s of each test of :mod:`blocks` on the machine of a run; NaN where it has no run of these."""
    other = partner(run, blocks.devices.id)
    return dict.fromkeys(blocks.TESTS, np.nan) if other is None else blocks.rates_now(other)


@forecast.figure
def waits(runs) -> "figures.Shown":
    """For how much of its time the forecast waits, by place of its files, and what became how many times as fast."""
    figure, (share_axis, gain_axis) = figures.axes(2, 1, height=4.2)
    tests, names = zip(*_PLACES.values(), strict=True)
    rates, shares, frames = [blocks.rates_then()[test] for test in tests], [waited()[name] for name in names], []
    place = figures.rows(share_axis, [*_PLACES], above=0.6, below=0.6)
    figures.points(share_axis, shares, place - 0.12, label="X-MP 1982", line=False)
    for run in runs:
        rate, gains = [rates_beside(run)[test] for test in tests], gained(run)
        share = spreads(observed(run).assign(share=waiting(run)), "share", names)
        figures.bars(share_axis, place + 0.12, share, label="today", across=True, run=run)
        rows = figures.rows(gain_axis, [*gains], above=0.6, below=0.6)
        figures.points(gain_axis, [*gains.values()], rows, label="today", host=True, line=False, run=run)
        frame = pd.DataFrame({"what": [*_PLACES], "rate, 1982": rates, "rate": rate, "waited, 1982": shares})
        frame = frame.assign(gained=[*gains], times=[*gains.values()])
        frames.append(figures.with_spread(frame, waits=share))
    then, now = shares[0], waits_now(runs[0])
    at_mark(share_axis, (then, -0.12), f"{then:.0f} %, four disks", up=5)
    at_mark(share_axis, (now, 0.12), f"{now:.0f} %, one disk", right=14)
    counted = counted_as_then(runs[0])
    figures.calculated(share_axis, counted, place + 0.3, label="today, counted as in 1982", line=False)
    times = [f"{rounded(gain)} times" if np.isfinite(gain) else "" for gain in frames[0]["times"]]
    figures.at_right(gain_axis, times)
    for number in gain_axis.texts[1:]:  # of the title
        number.set_weight("bold")
    share_axis.set_xlabel("share of its time in which the forecast waits [%]", loc="right")
    share_axis.set_xlim(-3, 100)
    gain_axis.set_xlabel("times as fast today as in 1982", loc="right")
    gain_axis.set_xlim(left=0)
    figures.legend(share_axis, "above 2")
    _, computing, moved = gained(runs[0]).values()
    why = f"; computing is {times[1]} as fast, moving its data {rounded(moved)} times" if computing > moved else ""
    return figures.show(
        figure,
        runs=runs,
        data=frames,
        name="xmp1982_waits",
        title=f"A forecast waited {then:.0f} % in 1982, {now:.0f} % now{why}",
        caption="Rows: then; today. Waiting of 1982 is clock minus CPU time; counted so, today's is "
        "{:.0f}, {:.0f} and {:.0f} %. Disks below: large blocks.".format(*counted),
        tables="fig4_1 fig4_4 fig7_2 fig7_3 sec3_1",
    )


#: Places of the work files as the forecast had them, of 1982 and of today.
_MOVED = {"disk": "four disks; one today", "bmr": "buffer; page cache", "ssd": "SSD; memory"}


def step_then() -> float:
    """CPU seconds of an ordinary step on the X-MP (Fig. 4.4)."""
    return float(tables.load("xmp1982", "fig4_4")["cpu"].sel(section="NORMAL FORECAST TIME STEP", machine="Cray X-MP"))


def moving_then() -> dict[str, float]:
    """Seconds in which each place of 1982 moves a step's data: what is read and what is written, over its rate."""
    files, rates = tables.load("xmp1982", "sec3_1"), tables.load("xmp1982", "fig7_3")
    moved = 2 * 8 * float((files["file_size"] * files["work_files"]).max() / 2)  # Mbyte
    four = float(rates["two_copies"].sel(target="4 DISKS (A2)"))
    alone = rates["stand_alone"].to_series()
    return {"disk": moved / four, "bmr": moved / alone["BMR"], "ssd": moved / alone["SSD"]}


def step_now(run) -> "np.ndarray":
    """CPU seconds of an ordinary step without work files, of every sample."""
    return observed(run)["normal_cpu"].sel(configuration="memory").values


def moving_now(run) -> dict[str, float]:
    """Seconds in which each place of today moves a step's data, as fast as it moves large blocks in a run apart."""
    from supercomputers_rerun.kernels.gridpoint import record_bytes

    moved, rates = 2 * record_bytes(sized(run.attrs["preset"])) / 1e6, rates_beside(run)
    return {place: moved / rates[place] for place in _MOVED}


def grown(run) -> tuple[float, float]:
    """How many times as fast as in 1982 a step is computed in a run, and its data moved: by four disks then, by one."""
    return step_then() / float(np.median(step_now(run))), moving_then()["disk"] / moving_now(run)["disk"]


def gained(run) -> dict[str, float]:
    """How many times as fast as in 1982 one disk is, a step is computed, and its data moved by one disk for four.

    Steps of another preset than ``paper`` are smaller than those of 1982, and NaN stands for them.
    """
    computing, moved = grown(run) if run.attrs["preset"] == "paper" else (np.nan, np.nan)
    disk = rates_beside(run)["disk"] / blocks.rates_then()["disk"]
    return {"one disk": disk, "computing a step": computing, _MOVED["disk"]: moved}


def over_computing(run, disks: int = 1) -> float:
    """How many times as long as computing a step ``disks`` like today's one need to move its data."""
    return float(moving_now(run)["disk"] / disks / np.median(step_now(run)))


@forecast.figure
def balance(runs) -> "figures.Shown":
    """Moving a step's data over computing the step, by place, then and now: where it is below one, it can be hidden."""
    then = np.array([moving_then()[place] for place in _MOVED]) / step_then()
    now = over_computing(runs[0])
    today = f", {now:.2f} today (one)" if np.isfinite(now) else ""
    ratios = [[moving_now(run)[place] / step_now(run) for place in _MOVED] for run in runs]
    shown = figures.dots(
        runs,
        [in_rows(_MOVED.values(), today=each) for each in ratios],
        {"today": "today"},
        printed={"X-MP 1982": pd.Series(then, [*_MOVED.values()])},
        log=True,
        xlabel="moving a step's data, where computing the step takes 1",
        height=2.3,
        legend_at="above 2 0.3",
        name="xmp1982_balance",
        title=f"Moving a step's data took {then[0]:.2f} of its computing time in 1982 (four disks){today}",
        caption="At the rates of large blocks. Left of the line computing lasts long enough to hide all moving; right "
        "of it the processor must wait.",
        tables="fig4_4 fig7_3 sec3_1",
    )
    axis = shown.figure.axes[0]
    at_mark(axis, (then[0], -0.22), f"{then[0]:.2f}", right=-8)
    at_mark(axis, (now, 0.22), f"{now:.2f}", right=0, up=-10)
    for words, side in (("hidden", -4), ("CPU waits", 4)):
        at_mark(axis, (1.0, len(_MOVED) - 1), words, right=side, weight="normal")
    return bounded(shown, 1.0, "computing")


#: Share of the transfers that each way of overlapping can hide: with one file reading alone.
_HIDES = {"none": 0.0, "one": 0.5, "both": 1.0}


def moving(place: str, files: int, nbytes: float, preset: str, machine: models.Constants) -> float:
    """Seconds in which ``nbytes`` move to and from work files; a request is half a row with four files, else a row.

    Memory reads and writes each byte that is copied.
    """
    from supercomputers_rerun.kernels.gridpoint import record_bytes

    problem = sized(preset)
    request = record_bytes(problem) / problem.nj / (2 if files > 2 else 1)
    latency = {"direct": machine.disk_call, "cache": machine.write, "memory": 0.0}[place]
    rate = {"direct": machine.disk_rate, "cache": machine.cache_rate, "memory": machine.bandwidth / 2}[place]
    return models.transfer(nbytes / request, latency, nbytes, rate)


@models.predicts(
    "xmp1982_net_times_rerun",
    models.overlap,
    "the net time of a forecast by the place of its work files",
    "that moving takes a CPU's time and memory from computing, and that threads hand over each record",
    "disk_call disk_rate write cache_rate bandwidth",
    "xmp1982-forecast",
)
def placed(run, machine):
    """Net times from that without work files and the bytes of these; ``over`` is the fastest of 1982 as measured."""
    names = run["configuration"].values.astype(str)
    net = observed(run)["net"].median("sample").to_series()
    moved = pd.Series((run["bytes_read"] + run["bytes_written"]).values.astype(float), names)
    rows = []
    for name in (name for name in names if name != "memory"):
        files, place, way = (CONFIGURATIONS | _FEWER)[name]
        seconds = moving(place, files, moved[name], run.attrs["preset"], machine)
        hidden = models.overlap(net["memory"], _HIDES[way] * seconds)
        rows.append((label(name), net[name], hidden + (1 - _HIDES[way]) * seconds))
    found = pd.DataFrame(rows, columns=["what", "measured", "predicted"])
    return found.assign(over=found["predicted"] / net[_FASTEST])


@forecast.figure
def net_times(runs) -> "figures.Shown":
    """Net time of every configuration over that of two SSD files with the asynchronous driver, then and now."""
    then = tables.load("xmp1982", "fig4_2")["net_forecast"].to_series().drop("cray1a-disk4")
    then, expected = then.sort_values(ascending=False) / then[_FASTEST], placed.frame(runs[0])
    before, now = on_disk(runs[0])
    rows = {name: label(name) for name in (*_FEWER, "disk4", *then.index.drop("disk4"), "memory")}
    four = len(_FEWER)  # the row of four files on disk
    shown = figures.dots(
        runs,
        [
            along(run, rows, today=lambda cases: cases["net"] / cases["net"].sel(configuration=_FASTEST).median())
            for run in runs
        ],
        {"today": "today"},
        printed={"X-MP 1982": then.reindex([*rows]).set_axis([*rows.values()])},
        log=True,
        xlabel="times as long as with two files on SSD, async",
        legend_at="above 2",
        name="xmp1982_net_times_rerun",
        title=f"In 1982 a forecast took {before:.2f} times as long on disk as on SSD; today {now.medians:.1f} times as "
        "long as in memory",
        tables="fig4_2",
        caption="Without steps that save fields. For one and two files on disk no times of 1982 are printed. Today's "
        "SSD is memory.",
        model=models.by_row(expected, "over"),
        note=models.said(placed, expected),
    )
    axis, ends = shown.figure.axes[0], shown.figure.axes[0].get_xlim()
    axis.set_xticks([1, 1.5, 2, 3, 5, 10])
    axis.set_xticks([], minor=True)
    axis.set_xlim(ends)  # which ticks had widened
    at_mark(axis, (before, four - 0.22), f"{before:.2f}")
    at_mark(axis, (now.medians, four + 0.22), f"{now.medians:.1f}", right=2, up=8)
    return grouped(bounded(shown, 1.0, ""), {"on disk": four + 1, "not on disk": len(then)})


@simulator.figure
@forecast.figure
def forecast_times(runs) -> "figures.Shown":
    """CPU and clock time of the forecast, of a job after it and of all (Fig. 4.1; 5.1 of the simulator), then and now.

    The X-MP's channels moved the records; here a CPU copies them, which is no part of the CPU time that is drawn.
    """
    program = runs[0].attrs["experiment"].removeprefix("xmp1982-")
    table = {"forecast": "fig4_1", "simulator": "fig5_1"}[program]
    printed, parts = tables.load("xmp1982", table), {"forecast": program, "pp": "a job", "total": "all"}
    names = [*printed["configuration"].values, *(["memory"] if program == "forecast" else [])]
    rows = [f"{words}: {label(name)}" for words in parts.values() for name in names]
    old, keys = printed.reindex(configuration=names), {"cpu": "CPU time", "clock": "clock"}
    then = {f"{words}, 1982": pd.Series(np.concatenate([old[f"{part}_{key}"] for part in parts]), rows)
            for key, words in keys.items()}  # fmt: skip

    def here(run) -> "pd.DataFrame":
        cases = observed(run).reindex(configuration=names, fill_value={"flagged": False})
        own, cpu, clock = cases["cpu"] - cases["moving"], jobs_of(cases, "cpu"), jobs_of(cases, "clock")
        told = {"cpu": [own, cpu, own + 5 * cpu], "clock": [cases["forecast"], clock, cases["complete"]]}
        return in_rows(rows, np.tile(cases["flagged"], 3), **{key: np.concatenate(of) for key, of in told.items()})

    return figures.dots(
        runs,
        [*map(here, runs)],
        {key: f"{words}, today" for key, words in keys.items()},
        printed=then,
        log=True,
        xlabel="time [s]",
        name=f"xmp1982_{program}_times_rerun",
        title="A day and its five jobs took "
        f"{span(old['total_clock'].where(old['configuration'] != 'cray1a-disk4'), 0)} s on the X-MP, and take "
        f"{span(observed(runs[0])['complete'].median('sample'), 1)} s today",
        tables=table,
        caption=f"The {program}, its jobs and both; today's CPU time is without that of copying records, which "
        "channels moved in 1982.",
    )


@simulator.figure
@forecast.figure
def write_steps(runs) -> "figures.Shown":
    """Every write-up step (of today the median one), their sum, the steps between and all (Figs 4.2, 5.2)."""
    program = runs[0].attrs["experiment"].removeprefix("xmp1982-")
    table = {"forecast": "fig4_2", "simulator": "fig5_2"}[program]
    printed = tables.load("xmp1982", table).transpose("configuration", "step")
    then = {"each step": "write_step", "sum of the steps": "write_sum", "without them": "net_forecast", "all": "total"}
    rows = {str(name): label(name) for name in printed["configuration"].values}

    def ups(cases) -> "xr.DataArray":
        return cases[[f"write_step_{n}" for n in range(1, 6)]].to_dataarray("step")

    def old(key: str) -> "pd.Series":
        values = printed[key].values.ravel()
        return pd.Series(values, np.repeat([*rows.values()], len(values) // len(rows)))

    def here(run) -> "pd.DataFrame":
        return along(
            run,
            rows,
            step=lambda cases: ups(cases).median("step"),
            steps=lambda cases: ups(cases).sum("step"),
            net=lambda cases: cases["net"],
            forecast=lambda cases: cases["forecast"],
        )

    shares = (printed["write_sum"] / printed["total"])[printed["configuration"] != "cray1a-disk4"]
    cases = observed(runs[0]).median("sample")
    return figures.dots(
        runs,
        [*map(here, runs)],
        {
            "step": "median step, today",
            "steps": "sum of the steps, today",
            "net": "without them, today",
            "forecast": "all, today",
        },
        printed={f"{words}, 1982": old(key) for words, key in then.items()},
        log=True,
        xlabel="clock [s]",
        name=f"xmp1982_{program}_write_steps_rerun",
        title=f"Five write-up steps took {span(100 * shares, 0)} % of the {program}'s time then, and take "
        f"{span(100 * ups(cases).sum('step') / cases['forecast'], 0)} % today",
        tables=table,
    )


def _parts_of(run) -> "tuple[pd.DataFrame, bool]":
    """CPU seconds of the rows of Fig. 4.4, by sample of a forecast without work files, and whether it is doubtful."""
    whole = observed(run).sel(configuration="memory")
    step, up, radiation, day = (whole[f"{name}cpu"].values for name in ("normal_", "write_up_", "radiation_", ""))
    job = jobs_of(whole, "cpu").values
    rows = [step, up, up - step, radiation, radiation - step, day, job, 5 * job, day + 5 * job]
    return pd.DataFrame(rows, tables.printed("xmp1982", "fig4_4")["section"]), bool(whole["flagged"])


@forecast.figure
def cpu_parts(runs) -> "figures.Shown":
    """CPU time of the parts of a forecast in units of a normal step (Fig. 4.4), on both machines and in a run."""
    names = [name for name in tables.printed("xmp1982", "fig4_4")["section"] if "OVERHEAD" not in name]
    words = [name.capitalize().replace("f/c + 5 x pp", "forecast and 5 post-processing") for name in names]
    printed = tables.load("xmp1982", "fig4_4")["cpu"].transpose("section", "machine").to_pandas().loc[names]
    printed = (printed / printed.iloc[0]).set_axis(words)

    def here(run) -> "pd.DataFrame":
        cpu, doubt = _parts_of(run)
        seconds = cpu.loc[names].to_numpy()
        return in_rows(words, doubt, today=seconds / np.nanmedian(seconds[0]))

    frames = [*map(here, runs)]
    return figures.dots(
        runs,
        frames,
        {"today": "today"},
        printed={str(machine): printed[machine] for machine in printed},
        log=True,
        xlabel="CPU time over that of a normal step",
        name="xmp1982_parts_rerun",
        title=f"A write-up step took {printed['Cray X-MP'].iloc[1]:.1f} ordinary steps of CPU time on the X-MP, "
        f"and takes {frames[0]['today'].iloc[1]:.1f} today",
        caption="Parts of a forecast in units of an ordinary step; today's is without work files.",
        tables="fig4_4",
    )


@forecast.figure
def machines(runs) -> "figures.Shown":
    """The Cray 1-A over the X-MP (sections 4.4 and 4.5), and one machine of today over another.

    CPU time of each part of a forecast; net time on four disks of the slower machine over that in the faster one's
    places.
    """
    parts = tables.printed("xmp1982", "fig4_4").set_index("section")["ratio"]
    net = tables.printed("xmp1982", "sec4_5").set_index("configuration")["ratio"]
    words = "CPU time: " + parts.index.str.lower().str.replace("f/c + 5 x pp", "forecast and 5 post-processing")
    rows = pd.DataFrame({"what": [*words, *(f"net time: {label(name)}" for name in net.index)]})
    pair, frames, known = two_machines(runs, lambda run: np.median(step_now(run))), [rows], ""

    def both(run, places) -> "pd.DataFrame":
        cpu, doubt = _parts_of(run)
        seconds = figures.of_samples(cpu, len(cpu) * ["flagged" if doubt else ""])
        return pd.concat([seconds, spreads(observed(run), "net", places)], ignore_index=True)

    if pair:
        slow, fast = pair
        ratio = figures.quotient(both(slow, ["disk4"] * len(net)), both(fast, net.index))
        frames = [figures.with_spread(rows, today=ratio), rows]
        names = [figures.letter(run) for run in (fast, slow)]
        known = f"; {names[0]} takes {span(1 / ratio['middle'][: len(parts)])} of the CPU time of {names[1]}"
    return figures.dots(
        pair or runs[:1],
        frames,
        {"today": "today, one machine over another"},
        printed={"Cray 1-A over X-MP": pd.Series([*parts, *net], rows["what"])},
        log=True,
        base=1,
        xlabel="time on the slower machine over time on the faster one",
        name="xmp1982_machines",
        title=f"The X-MP took {span(1 / parts)} of a Cray 1-A's CPU time{known}",
        caption="Parts of a forecast, and its time without write-up steps, on the slower machine always with four "
        "files on disk.",
        tables="fig4_4 sec4_5",
    )


@simulator.figure
def simulators(runs) -> "figures.Shown":
    """Net time of the simulator over that of the forecast on the same machine (section 5.1), then and now."""
    net = tables.load("xmp1982", "write_ups")["net_forecast"].reindex(configuration=list(CONFIGURATIONS))
    rows = {name: label(name) for name in CONFIGURATIONS}

    def here(run) -> "pd.DataFrame":
        both = [each for each in (run, partner(run, forecast.id)) if each is not None]
        found = [along(each, rows, net=lambda cases: cases["net"]) for each in both]
        what, nets = found[0][["what"]], [figures.spread_of(each, "net") for each in found]
        return figures.with_spread(what, today=figures.quotient(*nets)) if len(nets) == 2 else what

    then, frames = (net.sel(model="simulator") / net.sel(model="forecast")).values, [*map(here, runs)]
    known = f", and takes {span(frames[0]['today'])} times today" if "today" in frames[0] else ""
    return figures.dots(
        runs,
        frames,
        {"today": "today"},
        printed={"X-MP 1982": pd.Series(then, [*rows.values()])},
        xlabel="net time of the simulator over that of the forecast",
        name="xmp1982_simulators_rerun",
        title=f"The simulator took {span(then)} times as long as the forecast{known}",
        tables="fig4_2 fig5_2",
    )


@experiment("xmp1982-typical", item="X1", threads=1, rounds=7, seconds={"paper": 90})
def typical(preset: str, threads: int) -> list[Case]:
    """A forecast of two days."""
    from supercomputers_rerun.kernels import gridpoint

    name = "ssd2-sync"
    problem = replace(places(sized(preset), name), hours=48.0)
    return [Case("two days", gridpoint, problem, threads, {"configuration": name}, _by_day)]


def _by_day(result) -> dict[str, float]:
    """Clock of an ordinary step in each half of the forecast, the first three left out; of these, and of the same three
    of the second half, together."""
    every = [step.clock for step in result.steps]
    clock = {step.number: step.clock for step in result.steps if step.kind in ("first", "normal")}
    half = result.steps[-1].number // 2
    first = median(clock[n] for n in clock if 3 <= n < half)
    found = {"first_day": first, "second_day": median(clock[n] for n in clock if n >= half)}
    return found | {"first_three": sum(every[:3]), "later_three": sum(every[half : half + 3])}


@typical.figure
def days(runs) -> "figures.Shown":
    """Whether one day is typical of two: clock of an ordinary step in each, over the median of the first day.

    And that of the first three steps over the same three of the second day.
    """
    rows = ["first day, after three steps", "second day", "first three steps, over those of the second day"]

    def here(run) -> "pd.DataFrame":
        whole = observed(run).isel(configuration=0)
        both = whole[["first_day", "second_day"]].to_dataarray("day").values
        three = (whole["first_three"] / whole["later_three"]).values
        return in_rows(rows, bool(whole["flagged"]), today=[*(both / np.nanmedian(both[0])), three])

    frames = [*map(here, runs)]
    return figures.dots(
        runs,
        frames,
        {"today": "today"},
        xlabel="clock of an ordinary step, first day = 1",
        name="xmp1982_days",
        title=f"A step of the second day takes {frames[0]['today'].iloc[1]:.2f} times as long as one of the first",
        caption="The report found one day typical but for three steps, and printed no times.",
    )


def on_disk(run) -> tuple:
    """How many times as long a forecast takes with its files on disk as in the fastest place, then and in a run."""
    net = tables.load("xmp1982", "fig4_2")["net_forecast"]
    then = float(net.sel(configuration="disk4") / net.sel(configuration=_FASTEST))
    return then, over(run, "net", "disk4", _FASTEST)


def opening(run) -> list[str]:
    """The chapter in three sentences that need no term."""
    (gain, computing, _), before, now = gained(run).values(), waited()["disk4"], waits_now(run)
    assert 150 < gain < 1000 and now > 2 * before, "hundreds of times as fast, and it waits more"
    assert gain > computing, "disk against disk it gained more than computing"
    return [
        f"Our disk of today moves large blocks about {rounded(gain)} times as fast as a disk of 1982.",
        f"In 1982, with the data on four disks, the forecast's processor did not compute for {before:.0f} % of the "
        "time.",
        f"Our forecast, with its data in four files on one disk, spends {now:.0f} % of its time waiting for them.",
    ]


def why(run) -> list[str]:
    """What a step computes and moves, then and now, and what latency adds to that."""
    before, now, moved, moves = step_then(), float(np.median(step_now(run))), moving_then(), moving_now(run)
    gain, computing, moving_gain = gained(run).values()
    assert gain > computing > 1.5 * moving_gain and moved["disk"] < before and over_computing(run) > 1.2
    usual, ups = (tables.load("xmp1982", name).sel(configuration="disk4") for name in ("fig4_1", "fig4_2"))
    parts = tables.load("xmp1982", "fig4_4")["cpu"].sel(machine="Cray X-MP")
    saving = float((ups["write_step"] - parts.sel(section="FORECAST WRITE-UP STEP")).sum())
    assert 0 < saving < float(usual["forecast_clock"] - usual["forecast_cpu"]) / 4, "a small part"
    four = float(tables.load("xmp1982", "fig7_3")["two_copies"].sel(target="4 DISKS (A2)"))
    cases = observed(run).median("sample")
    disk, memory = (cases.sel(configuration=name) for name in ("disk4", "memory"))
    # by the model, whose forecast on disk takes as long as moving
    longer = models.by_row(placed.frame(run))[label("disk4")] / float(memory["net"])
    took = float(disk["net"] / memory["net"])
    assert longer > 1.5 * over_computing(run) and abs(longer / took - 1) < 0.25
    assert disk["net"] - disk["waiting"] > 1.2 * memory["net"] and disk["moving"] > memory["net"] / 2
    return [
        f"In 1982 computing a step took {before:.1f} s. The four disks needed {moved['disk']:.1f} s to move its data, "
        "so that nearly all of this moving could go on while the processor computed. Still it did not compute for "
        f"{waited()['disk4']:.0f} % of the time. The rates do not explain that. Steps that save fields on disk explain "
        f"only a small part of it. Today computing takes {rounded(1e3 * now)} ms, and the one disk needs "
        f"{rounded(1e3 * moves['disk'])} ms.",
        f"Computing became {rounded(computing)} times as fast, and a single disk {rounded(gain)} times. But one disk "
        "replaces four. The X-MP's eight disks formed two groups of four; the faster group moved "
        f"{rounded(four / blocks.rates_then()['disk'])} times as much as one disk. So moving "
        f"became only {rounded(moving_gain)} times as fast.",
        "So far we calculated with rates for large blocks. But the forecast asks for small pieces: with four work "
        "files each request moves half a row. Let the whole forecast without work files take the time 1. If each "
        f"request also costs its latency, moving alone takes {longer:.1f} (calculated from a rate and a latency of "
        f"other tests). Computing is shorter, and can go on meanwhile. So the forecast, too, should take {longer:.1f} "
        f"times as long as without work files. With four files on disk we measured {took:.1f} times. Not all of the "
        "added time is waiting, probably because moving takes CPU time, too.",
    ]


def said(run) -> list[str]:
    """What the place of the files could change in 1982, and what it changes today."""
    xmp, net = tables.load("xmp1982", "fig4_1").drop_sel(configuration="cray1a-disk4"), observed(run)["net"]
    then, now = on_disk(run)
    one, two, four = (float(net.sel(configuration=f"disk{n}").median()) for n in (1, 2, 4))
    assert (xmp["forecast_cpu"] == xmp["forecast_cpu"].max()).all() and 5 * waited()["disk4"] < 100 < 2 * waits_now(run)
    assert then < 7 / 6 and now.interval[0] > 2 and four > max(one, two)
    model = models.by_row(placed.frame(run))
    more = model[label("disk4")] / model[label("disk2")]
    assert more > 1.2 and abs(more / (four / two) - 1) < 0.25
    return [
        "By the dashed model a forecast with an asynchronous driver takes as long as the longer of computing and "
        "moving, with a synchronous one as long as both together. Each request adds its latency. Four files on our "
        "one disk make twice as many requests as two, each half as large. By the model the forecast takes "
        f"{rounded(more)} times as long with four as with two; we measured {rounded(four / two)} times."
    ]


@conclusion(
    "xmp1982-c1",
    place="section 3.1",
    says="The forecast computes most of the time, though it moves much data.",
)
def computes_mostly() -> Finding:
    """Share of the clock that the forecast waits for its files, by their place."""
    run = forecast.runs()[0]
    names = [name for _, name in _PLACES.values()]
    shares = figures.of_samples(waiting(run).sel(configuration=names), [""] * len(names))
    share, cache, memory = (shares.iloc[place] for place in range(len(names)))
    return Finding(
        PARTLY,
        f"With four work files on disk ours waits for them {share['middle']:.0f} % of the time "
        f"({share['low']:.0f} to {share['high']:.0f}), in the page cache {cache['middle']:.0f} %, and in memory "
        f"{memory['middle']:.0f} %, on {figures.cpu(run)}.",
        bears=share["low"] > 50 and max(cache["high"], memory["high"]) < 50,
    )


@conclusion(
    "xmp1982-c2",
    place="section 3.2",
    says="The post-processing job waits for its transfers most of the time.",
)
def jobs_wait() -> Finding:
    """CPU time of a post-processing job over its clock, with files on disk."""
    run = forecast.runs()[0]
    cases = observed(run).sel(configuration="disk4")
    share = figures.of_samples([100 * (jobs_of(cases, "cpu") / jobs_of(cases, "clock")).values], [""]).iloc[0]
    return Finding(
        NOT,
        f"Ours uses a CPU for {share['middle']:.0f} % of its time ({share['low']:.0f} to {share['high']:.0f}), "
        "although it reads its input from the disk and waits until its output is there.",
        bears=share["low"] > 50,
    )


@conclusion(
    "xmp1982-c5",
    place="section 4.1",
    says="One day of the forecast is like any other, except for its first three steps.",
)
def typical_day() -> Finding:
    """Clock of an ordinary step of the second day over one of the first; the first three over those of the second."""
    cases = observed(typical.runs()[0]).isel(configuration=0)
    second = figures.of_samples([(cases["second_day"] / cases["first_day"]).values], [""]).iloc[0]
    same = second["low"] <= 1 <= second["high"]
    alike = same or abs(second["middle"] - 1) < _ALIKE
    three = figures.times(cases["first_three"].values, cases["later_three"].values)
    apart = three.measurable and three.medians > 1
    return Finding(
        HOLDS if alike and apart else PARTLY if alike else NOT,
        f"An ordinary step of the second day takes {second['middle']:.2f} times as long as one of the first "
        f"({second['low']:.2f} to {second['high']:.2f}){': no measurable difference' if same else ''}. The first "
        f"three steps take {three.times} as long as the same three of the second day.",
        bears=True,
    )


@conclusion(
    "xmp1982-c6",
    place="section 4.2",
    says="On disks four work files are best.",
)
def four_files() -> Finding:
    """Net time with one, two and four files on disk."""
    run = forecast.runs()[0]
    one, two, four = (float(observed(run)["net"].sel(configuration=f"disk{n}").median()) for n in (1, 2, 4))
    more = over(run, "net", "disk4", "disk2")
    return Finding(
        NOT,
        f"Four files are the slowest: {one:.1f} s with one, {two:.1f} s with two, {four:.1f} s with four. With four "
        f"the forecast takes {more.times} as long as with two, probably because each of twice as many requests costs "
        "latency (not measured). In 1982 each had a controller.",
        bears=more.measurable and more.medians > 1 and four > max(one, two),
    )


@conclusion(
    "xmp1982-c7",
    place="section 4.5",
    says="The X-MP forecasts about twice as fast as the Cray 1, less where its work files are slow.",
)
def over_the_cray_1() -> Finding:
    """What the place of the files changes, then and now; the ratio of two machines is theirs."""
    then, now = on_disk(forecast.runs()[0])
    return Finding(
        PARTLY,
        "The ratio of the two Crays is theirs. That faster work files make a faster forecast holds, and more than "
        f"then: on disk it took {then:.2f} times as long as in the fastest place, and takes {now.times} as long today.",
        bears=now.measurable and now.medians > 2 * then,
    )


@conclusion(
    "xmp1982-c8",
    place="section 4.8",
    says="In every part of the forecast the X-MP's CPU is faster than the Cray 1-A's, at best by over four fifths.",
)
def by_parts() -> Finding:
    """Least and largest printed ratio."""
    cpu = tables.load("xmp1982", "fig4_4")["cpu"]
    gain = (cpu.sel(machine="Cray 1-A") / cpu.sel(machine="Cray X-MP")).values
    return Finding(
        THEN,
        f"By the report's CPU times the gain is {span(gain)}. It needs both machines; our parts are those of "
        "another program.",
        bears=1.25 < np.nanmin(gain) and np.nanmax(gain) < 1.9,
    )


@conclusion(
    "xmp1982-c9",
    place="section 5.1",
    says="The simulator takes slightly less time than the forecast that it stands for.",
)
def simulator_is_faster() -> Finding:
    """Net time of the simulator over that of the forecast, configuration by configuration."""
    net, real = (observed(each.runs()[0])["net"] for each in (simulator, forecast))
    found = [figures.times(*(each.sel(configuration=name).values for each in (net, real))) for name in CONFIGURATIONS]
    less = sum(each.measurable and each.medians < 1 for each in found)
    more = sum(each.measurable and each.medians > 1 for each in found)
    middle = [each.medians for each in found]
    return Finding(
        PARTLY,
        f"It takes {span(middle)} times as long. Of {len(found)} configurations {less} are measurably faster, {more} "
        "slower, and the others show no measurable difference.",
        bears=more < less < len(found),
    )
