"""The section *Can the analysis run beside the forecast?*: the analysis alone, by place of its files, and beside one.

Work files, read and written at random, move from place to place; the sequential files stay on the disk, past the page
cache, as in the report.  Places have these on a host: the disk is the file system of temporary files past the page
cache (through it where that is refused), buffer memory the page cache, the SSD memory that is reached by copying.
"""

from dataclasses import replace

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.xmp1982 import forecast, second_cpu
from supercomputers_rerun.companion.chapters.xmp1982.rows import (
    along,
    bounded,
    in_rows,
    observed,
    on_host,
    over,
    two_machines,
)
from supercomputers_rerun.companion.common import np, pd, span
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, PARTLY, THEN, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment

#: Configuration: place of the work files, its row and compiler of Fig. 6.1, and all of it in words.
_CONFIGURATIONS = {
    "disk": ("direct", "FILES ON DISK", "CFT 15K", "disk"),
    "page cache": ("cache", "FILES ON BMR", "CFT 15K", "buffer memory; page cache"),
    "half in memory": ("half", "FILES ON HALF SSD", "CFT 15K", "half SSD; half in memory"),
    "half, ahead": ("half", "FILES ON HALF SSD", "CFT 15K + NEW DRIVER", "half SSD, new driver; half, read ahead"),
    "memory": ("memory", "FILES ON SSD", "CFT 15K", "SSD; memory"),
    "memory, ahead": ("memory", "FILES ON SSD", "CFT 15K + NEW DRIVER", "SSD, new driver; memory, read ahead"),
    "memory, other build": ("memory", "FILES ON SSD", "CFT", "SSD, CFT; memory, built for x86-64-v3"),
}
#: Work files of an analysis and a forecast together, and their row of Fig. 6.3.
_TOGETHER = {
    "half in memory+ssd1-async": "half SSD; SSD",
    "half in memory+disk4": "half SSD; disks",
    "page cache+ssd1-async": "buffer; SSD",
    "page cache+disk4": "buffer; disks",
}
#: Fewer data beside a forecast, so that the analysis ends first, as in 1982.
_FEWER = {"sondes": 80, "aircraft": 150}
#: At ``quick`` a coarser grid with fewer data.
_SMALLER = {"quick": {"ni": 24, "nj": 16, "sondes": 80, "aircraft": 20}}
#: At most this many times as long is nearly as fast.
_NEARLY = 1.15
#: The programs of Fig. 6.2, by the names of the steps.
_PROGRAMS = ("PRE-GAP", "GAP (data checking)", "GAP (analysis)", "POST GAP")


def _sized(preset: str, name: str):
    """The problem of a configuration, with the page cache for disks that refuse O_DIRECT."""
    from supercomputers_rerun.kernels.analysis import Problem

    problem = Problem.preset(preset, **_SMALLER.get(preset, {}))
    work, rest = on_host(_CONFIGURATIONS[name][0]), on_host("direct")
    return replace(problem, work=work, rest=rest, ahead=name.endswith("ahead"))


def _observe(result) -> dict[str, float]:
    """Clock and CPU time from step d to w, and CPU time of every step."""
    found = {"clock": result.clock, "cpu": result.cpu}
    return found | {f"step_{n:02d}_cpu": step.cpu for n, step in enumerate(result.steps)}


@experiment(
    "xmp1982-analysis",
    item="X16, X17, X23",
    threads=1,
    rounds=7,
    seconds={"paper": 450},
    unit="s of the clock",
    of="clock",
)
def alone(preset: str, threads: int) -> list[Case]:
    """The analysis by place of its files, with reading ahead, and in another build."""
    from supercomputers_rerun.kernels import analysis, jobs
    from supercomputers_rerun.kernels.jobs import builds

    *names, other = _CONFIGURATIONS
    cases = [Case(name, analysis, _sized(preset, name), threads, {"configuration": name}, _observe) for name in names]
    if not builds.refusal():
        job = jobs.Job("analysis", _sized(preset, other))
        built, parameters = jobs.Problem((job,), build="vectors of 256 bits, fused"), {"configuration": other}
        cases.append(Case(other, jobs, built, threads, parameters, lambda result: _observe(result.jobs[0])))
    return cases


def _clocks() -> "pd.Series":
    """Seconds of clock of Fig. 6.1 by configuration, of the compiler of which it has all."""
    printed = tables.printed("xmp1982", "fig6_1")
    return printed[printed["compiler"] == "CFT 15K"].set_index("configuration")["clock"].astype(float)


@alone.figure
def places(runs) -> "figures.Shown":
    """Clock of the analysis from step d to w by place of its work files, driver and compiler (Fig. 6.1)."""
    printed = tables.printed("xmp1982", "fig6_1").set_index(["configuration", "compiler"])["clock"].astype(float)
    rows = {name: words for name, (*_, words) in _CONFIGURATIONS.items()}
    then = [printed[row, compiler] for _, row, compiler, _ in _CONFIGURATIONS.values()]
    before = _clocks()["FILES ON DISK"] / _clocks()["FILES ON SSD"]
    now = over(runs[0], "clock", "disk", "memory").medians
    return figures.dots(
        runs,
        [along(run, rows, clock=lambda cases: cases["clock"], cpu=lambda cases: cases["cpu"]) for run in runs],
        {"clock": "clock, today", "cpu": "CPU time, today"},
        printed={"clock, X-MP 1982": pd.Series(then, [*rows.values()])},
        log=True,
        xlabel="time from step d to step w [s]",
        name="xmp1982_analysis_rerun",
        title=f"On disk the analysis took {before:.1f} times as long as on SSD, and takes {now:.1f} times as in "
        "memory today",
        caption="By place of its work files, and driver or compiler. The build for x86-64-v3 runs in a process of its "
        "own.",
        tables="fig6_1",
    )


def _cpu(run) -> "np.ndarray":
    """CPU seconds (program, sample) of the four programs, both passes together, with files on disk."""
    from supercomputers_rerun.kernels.analysis.chain import STEPS

    case = observed(run).sel(configuration="disk")
    steps = [[f"step_{n:02d}_cpu" for n, step in enumerate(STEPS) if step[1] == name] for name in _PROGRAMS]
    return np.array([sum(case[step].values for step in of_program) for of_program in steps])


@alone.figure
def programs(runs) -> "figures.Shown":
    """Shares of the four programs in their CPU time (Fig. 6.2), both passes together, with files on disk."""
    printed = tables.printed("xmp1982", "fig6_2")[["cray_1a", "cray_xmp"]].to_numpy(float).T

    def here(run) -> "pd.DataFrame":
        cpu, flagged = _cpu(run), observed(run).sel(configuration="disk")["flagged"]
        return in_rows(_PROGRAMS, bool(flagged), today=100 * cpu / cpu.sum(axis=0))

    old, frames = [100 * each / each.sum() for each in printed], [*map(here, runs)]
    main = int(old[1].argmax())
    return figures.dots(
        runs,
        frames,
        {"today": "today"},
        printed={"Cray 1-A": pd.Series(old[0], [*_PROGRAMS]), "X-MP 1982": pd.Series(old[1], [*_PROGRAMS])},
        xlabel="share of the CPU time of the four [%]",
        name="xmp1982_programs_rerun",
        title=f"{_PROGRAMS[main]} took {old[1][main]:.0f} % of the CPU time of four programs, and takes "
        f"{frames[0]['today'][main]:.0f} % today",
        caption="Programs of the analysis; today with files on disk, and both passes.",
        tables="fig6_2",
    )


@alone.figure
def machines(runs) -> "figures.Shown":
    """CPU time of the four programs: the Cray 1-A over the X-MP (Fig. 6.2), and one machine of today over another."""
    ratio = tables.printed("xmp1982", "fig6_2")["ratio"].to_numpy(float)
    rows = pd.DataFrame({"what": _PROGRAMS})
    pair, frames, known = two_machines(runs, lambda run: np.median(_cpu(run).sum(axis=0))), [rows], ""
    if pair:
        flags = ["flagged" if observed(run).sel(configuration="disk")["flagged"] else "" for run in pair]
        slow, fast = (figures.of_samples(_cpu(run), len(rows) * [flag]) for run, flag in zip(pair, flags, strict=True))
        today = figures.quotient(slow, fast)
        frames = [figures.with_spread(rows, today=today), rows]
        names = [figures.letter(run) for run in pair]
        known = f"; {names[1]} takes {span(1 / today['middle'])} of {names[0]}'s"
    return figures.dots(
        pair or runs[:1],
        frames,
        {"today": "today, one machine over another"},
        printed={"Cray 1-A over X-MP": pd.Series(ratio, [*_PROGRAMS])},
        base=1,
        xlabel="CPU time on the slower machine over that on the faster one",
        name="xmp1982_analysis_machines",
        title=f"The X-MP took {span(1 / ratio)} of a Cray 1-A's CPU time for the analysis{known}",
        caption="Programs of the analysis; today with files on disk, and both passes.",
        tables="fig6_2",
    )


@experiment(
    "xmp1982-together",
    item="X18, X28",
    threads=1,
    rounds=7,
    seconds={"paper": 600},
    needs="affinity pair",
    unit="s of the clock",
    of="complete",
)
def together(preset: str, threads: int) -> list[Case]:
    """The analysis beside a forecast.

    Fig. 6.3: analysis and simulated forecast, each on a CPU of its own, and each of them alone there.
    """
    fewer = _FEWER if preset == "paper" else {}
    one = {name: (name, "analysis", replace(_sized(preset, name), **fewer))
           for name in ("disk", "half in memory", "page cache")}  # fmt: skip
    for name in ("ssd1-async", "disk4"):
        one[name] = name, "simulator", forecast.places(forecast.sized(preset), name)
    return [second_cpu.case([one[name] for name in test.split("+")]) for test in (*one, *_TOGETHER)]


def _speeds(run) -> "pd.DataFrame":
    """Speeds of the analysis and of the forecast over each alone on disk, added, in rows of the tests."""
    cases = observed(run, "test")
    both, alone = cases.sel(test=list(_TOGETHER)), cases["job_0_clock"]
    first, second = (alone.sel(test=own, drop=True) / both[f"job_{n}_clock"] for n, own in enumerate(("disk", "disk4")))
    doubt = bool(cases["flagged"].any())  # no row has a case alone
    return in_rows(_TOGETHER.values(), doubt, today=(first + second).transpose("test", "sample"))


@together.figure
def both(runs) -> "figures.Shown":
    """Analysis and forecast at once over both alone on disks of the same machine, added, then and now."""
    # the report divides by the Cray 1-A; against the same machine, what the faster one gave drops out
    tests = tables.printed("xmp1982", "fig6_3").iloc[1:]
    usual = float(tables.load("xmp1982", "fig5_1")["forecast_clock"].sel(configuration="disk4"))
    then = (_clocks()["FILES ON DISK"] / tests["analysis_time"] + usual / tests["forecast_time"]).to_numpy(float)
    frames = [*map(_speeds, runs)]
    return figures.dots(
        runs,
        frames,
        {"today": "today"},
        printed={"X-MP 1982": pd.Series(then, [*_TOGETHER.values()])},
        xlabel="both at once, both in turn on disks of the same machine take 1",
        name="xmp1982_together_rerun",
        title=f"Analysis and forecast at once had {span(then, 1)} times the speed of one, and have "
        f"{span(frames[0]['today'], 1)} today",
        tables="fig5_1 fig6_1 fig6_3",
        caption="Speeds of both, each over its own alone on disks, added. Rows are places of the analysis's files and "
        "of the forecast's.",
    )


@together.figure
def idle_after(runs) -> "figures.Shown":
    """Share of the time of an analysis and a forecast in which one CPU has nothing to do (section 6.3)."""
    frames = [along(run, _TOGETHER, "test", idle=second_cpu.idle_share) for run in runs]
    return figures.dots(
        runs,
        frames,
        {"idle": "today"},
        xlabel="share of the time in which one CPU has no job [%]",
        name="xmp1982_idle_after",
        title=f"With analysis and forecast at once a CPU has no job for {span(frames[0]['idle'], 0)} % of the time",
        tables="fig6_3",
        caption="The report notes idle time of one CPU late in each forecast, and prints no number of it.",
    )


def losses_then() -> dict[str, "np.ndarray"]:
    """How many times as long each program took beside the other as alone in the same place, in 1982 (Figs 5.1 to 6.3).

    By the order of the tests; a forecast on SSD is held to that with one file and the synchronous driver.
    """
    tests, clock = tables.printed("xmp1982", "fig6_3").iloc[1:], _clocks()
    usual = tables.load("xmp1982", "fig5_1")["forecast_clock"].to_series()
    alone = {"analysis": np.repeat([clock["FILES ON HALF SSD"], clock["FILES ON BMR"]], 2)}
    alone["forecast"] = np.tile([usual["ssd1-sync"], usual["disk4"]], 2)
    return {name: tests[f"{name}_time"].to_numpy(float) / times for name, times in alone.items()}


def losses_now(run) -> "pd.DataFrame":
    """The same of a run, in rows of the analysis and then of the forecast."""
    cases, rows = observed(run, "test"), {}
    for n, (one, other) in enumerate((("analysis", "forecast"), ("forecast", "analysis"))):
        for test, words in _TOGETHER.items():
            own, places = test.split("+")[n], words.split("; ")
            loss = cases[f"job_{n}_clock"].sel(test=test) / cases["job_0_clock"].sel(test=own)
            rows[f"{one} ({places[n]}) beside {other} ({places[1 - n]})"] = loss.values
    doubt = bool(cases["flagged"].any())  # no row has a case alone
    return in_rows(rows, doubt, today=[*rows.values()])


@together.figure
def beside_a_forecast(runs) -> "figures.Shown":
    """What analysis and forecast lose beside each other, over each alone in the same place, then and now."""
    then, frames = np.concatenate([*losses_then().values()]), [*map(losses_now, runs)]
    more = 100 * (then.max() - 1)
    slower = (frames[0]["today_low"] > 1).sum()
    shown = figures.dots(
        runs,
        frames,
        {"today": "today"},
        printed={"X-MP 1982": pd.Series(then, [*frames[0]["what"]])},
        xlabel="time beside the other program, alone takes 1",
        legend_at="above 2",
        name="xmp1982_beside",
        title=f"Side by side no program took over {np.ceil(more):.0f} % longer then; today {slower} of "
        f"{len(frames[0])} are measurably slower",
        tables="fig5_1 fig6_1 fig6_3",
        caption="Whose time a row has stands first; in brackets the place of each program's files. Below 1 a program "
        "was faster beside the other.",
    )
    return bounded(shown, 1.0, "")


def said(run) -> str:
    """What the analysis lost beside a forecast, and how many programs lose today."""
    then, now = losses_then(), losses_now(run)
    more, slower = {name: 100 * (ratios - 1) for name, ratios in then.items()}, now["today_low"] > 1
    assert max(each.max() for each in more.values()) < 25 and not slower.all() and slower[now["today"].idxmax()]
    assert more["analysis"][1::2].min() > 2 * more["analysis"][::2].max()
    return (
        f"In 1982 the analysis took {span(more['analysis'][::2], 0)} % longer beside a forecast on SSD. Beside a "
        f"forecast on disks it took {span(more['analysis'][1::2], 0)} % longer, probably because the analysis keeps "
        "other files on disks, too (not measured). Today a program takes measurably longer beside the other in "
        f"{slower.sum()} of {len(now)} cases, {now['today'].max():.2f} times as long at worst."
    )


@conclusion(
    "xmp1982-c18",
    place="sections 6.1 and 6.2",
    says="The analysis is much faster with its random files on SSD than on disk, and nearly as fast in buffer memory.",
)
def place_of_files() -> Finding:
    """Clock of the analysis with files on disk and in the page cache over that with files in memory."""
    disk, cached = (over(alone.runs()[0], "clock", name, "memory") for name in ("disk", "page cache"))
    return Finding(
        HOLDS,
        f"With files on disk it takes {disk.times} as long as in memory; in the page cache {cached.times} as long.",
        bears=disk.measurable and disk.medians > 1.3 and (cached.medians < _NEARLY or not cached.measurable),
    )


@conclusion(
    "xmp1982-c19",
    place="section 6.2",
    says="The time of the analysis is sensitive to the compiler.",
)
def compilers() -> Finding:
    """Clock with another build over that with this processor's."""
    other = over(alone.runs()[0], "clock", "memory, other build", "memory")
    return Finding(
        PARTLY if other.measurable else NOT,
        f"Built for x86-64-v3 it takes {other.times} as long. But that build ran in a process of its own, so that "
        "the build is not the only difference.",
        bears=True,
    )


@conclusion(
    "xmp1982-c20",
    place="Fig. 6.1",
    says="The new asynchronous driver does not make the analysis faster.",
)
def new_driver() -> Finding:
    """Clock with reading ahead over that without."""
    ahead = over(alone.runs()[0], "clock", "memory, ahead", "memory")
    return Finding(
        NOT if ahead.measurable and ahead.medians < 1 else HOLDS,
        f"With files in memory and reading ahead the analysis takes {ahead.times} as long as without.",
        bears=True,
    )


@conclusion(
    "xmp1982-c21",
    place="section 6.3",
    says="The programs of the analysis gain less from the X-MP's CPU than the forecast does.",
)
def analysis_gains_less() -> Finding:
    """Printed ratios of the two machines."""
    programs = tables.printed("xmp1982", "fig6_2")[["cray_1a", "cray_xmp"]].astype(float)
    gain, cpu = (programs["cray_1a"] / programs["cray_xmp"]).to_numpy(), tables.load("xmp1982", "fig4_4")["cpu"]
    day = cpu.sel(section="24 HOUR FORECAST")
    forecast_gain = float(day.sel(machine="Cray 1-A") / day.sel(machine="Cray X-MP"))
    return Finding(
        THEN,
        f"By the report's CPU times the programs gain {span(gain)}, the forecast {forecast_gain:.2f}. It needs both "
        "machines.",
        bears=gain.max() < forecast_gain,
    )


@conclusion(
    "xmp1982-c22",
    place="section 6.4",
    says="Analysis and forecast run well side by side, best with the forecast's files on SSD.",
)
def side_by_side() -> Finding:
    """Speeds of analysis and forecast at once over both alone on disk, added."""
    now = _speeds(together.runs()[0])
    disk = np.array(["disk" in name for name in _TOGETHER])
    fast, slow = now[~disk], now[disk]
    best = fast["today_low"].min() > slow["today_high"].max()
    well = now["today_low"].min() > 2
    return Finding(
        HOLDS if best and well else PARTLY if best or well else NOT,
        f"Over each alone on disk, both at once have {fast['today'].min():.1f} to {fast['today'].max():.1f} times the "
        f"speed with the forecast's files in memory, and {slow['today'].min():.1f} to {slow['today'].max():.1f} times "
        "with them on disk. Two would mean that nothing is lost or gained.",
        bears=True,
    )


@conclusion(
    "xmp1982-c23",
    place="section 6.4",
    says="With more SSD or buffer memory the analysis would have saved more.",
)
def more_memory() -> Finding:
    """Clock with half of the files in memory over that with all."""
    half = over(alone.runs()[0], "clock", "half in memory", "memory")
    return Finding(
        HOLDS if half.measurable and half.medians > 1 else NOT,
        f"With half of its files in memory the analysis takes {half.times} as long as with all.",
        bears=True,
    )
