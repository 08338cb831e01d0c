"""The section *What made the forecast faster?*: a forecast under several settings, beside the printed gains."""

from typing import Any

from supercomputers_rerun.companion import figures, host, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.common import np, pd, span
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, PARTLY, THEN, UNTESTED, Finding, conclusion, not_run
from supercomputers_rerun.companion.experiments import experiment, of

#: Changes of the report, and the settings of a forecast without each.
_WITHOUT: dict[str, dict[str, Any]] = {
    "xlf90_r -qarch=pwr5": {"build": "vectors of 256 bits, fused"},
    "medium pages": {"huge": False},
    "binding, basic": {"order": ""},
}
#: A row that the list of changes has not, and all rows in words where the report's are short.
_SECOND = "a second thread on each processor"
_IN_WORDS = {
    "xlf90_r -qarch=pwr5": "code compiled for this very processor",
    "medium pages": "larger pages of memory",
    "binding, basic": "threads bound to processors",
    "binding, special": "threads bound by special code",
    "write caching and mirroring": "caching and mirroring of writes",
    "monitoring": "monitoring by synchronised sensors",
    "throttling": "throttling of the shared disks",
}
#: The case of a forecast with all changes by half of the threads.
HALF = "half of the threads"
#: Twice the threads by the lists for two threads a core, where cores have two, and the case of that for SMT.
_SMT = ("", "smt", "smt_front_loaded")
_TWO = f"two threads a core {_SMT[1]}"


@experiment(
    "p5plus-changes",
    item="P1, P6, P7, P11",
    rounds=7,
    seconds={"paper": None, "modern": None},
    needs="affinity",
    unit="ms a step",
    per="steps",
)
def changes(preset: str, threads: int) -> list[Case]:
    """A forecast at T399 with and without changes of the report: target, huge pages, bound threads.

    With all changes also by half of the threads: what twice the threads gain a job.
    """
    from supercomputers_rerun.kernels.jobs import builds, settings

    wanted: dict[str, dict[str, Any]] = {"": {}} | {
        name: new for name, new in _WITHOUT.items() if "build" not in new or not builds.refusal()
    }
    if host.smt().ok:
        wanted |= {f"two threads a core {order}": {"order": order, "doubled": True} for order in _SMT}
    cases = []
    for name, new in wanted.items():
        problem = settings.Problem.preset(preset, **({"order": "no_smt"} | new))
        parameters = {"without": name, **of(problem, "truncation", "steps", "order", "doubled")}
        cases.append(Case(f"without {name}" if name else "all changes", settings, problem, threads, parameters))
    if threads % 2 == 0:
        whole = cases[0]
        halved = {**whole.parameters, "without": HALF}
        cases.append(Case(HALF, settings, whole.problem, threads // 2, halved))
    return cases


def twice_the_threads(run):
    """What twice the threads gain a forecast, the report's f, with its interval."""
    names, seconds = run["without"].values.tolist(), run["seconds"].values
    return figures.times(seconds[names.index(HALF)], seconds[names.index("")])


def _over(run, base: str, *names: str):
    """Time of cases over that of another, by what they go without; as :func:`figures.ratios` gives it."""
    found = run["without"].values.tolist()
    return figures.ratios(run, [found.index(name) for name in names], found.index(base))


def second_thread() -> "pd.Series":
    """Gain [%] of two threads on a processor in the pairs of timed runs that differ in nothing else."""
    time = tables.load("p5plus", "smt_binding")["time"]
    return (100 * (time.sel(smt="N") / time.sel(smt="Y") - 1)).to_series()


def listed(run) -> "pd.DataFrame":
    """The printed list of changes, and two threads on a processor: gains [%] then, ``low`` and ``high``, and ``today``.

    Today's, with their interval, are those of a run; of changes that it does not try they are not a number.
    """
    printed, pair = tables.printed("p5plus", "changes"), second_thread()
    frame = pd.DataFrame(
        {
            "change": printed["change"],
            "low": printed["gain_low"].astype(float),
            "high": printed["gain_high"].fillna(printed["gain_low"]).astype(float),
            "less variability": printed["of"].astype(str).str.contains("variab"),
        }
    )
    frame.loc[len(frame)] = [_SECOND, float(pair.min()), float(pair.max()), False]
    cases = run["without"].values.tolist()
    rows = {}
    for name in (*_WITHOUT, _SECOND):
        above, below = (name, "") if name in _WITHOUT else ("", _TWO)
        if above in cases and below in cases:
            (rows[name],) = figures.converted(_over(run, below, above), lambda ratio: 100 * (ratio - 1)).itertuples()
    for end, column in (("low", "today_low"), ("middle", "today"), ("high", "today_high")):
        frame[column] = [getattr(rows.get(name), end, np.nan) for name in frame["change"]]
    return frame


@changes.figure
def gains(runs) -> "figures.Shown":
    """What each change gained in 2006, and three of them a forecast of today, as a table."""
    frame = listed(runs[0])
    said = pd.DataFrame({"change": frame["change"].map(lambda name: _IN_WORDS.get(name, name))})
    ends = frame["low"].map("{:.0f}".format), frame["high"].map("{:.0f}".format)
    said["gain then [%]"] = [low if low == high else f"{low} to {high}" for low, high in zip(*ends, strict=True)]
    said["gain today [%]"] = [_today(row) for row in frame.itertuples()]
    known = frame[["today_low", "today_high"]].dropna()
    within = (known["today_low"] < 0) & (known["today_high"] > 0)
    width = (known["today_high"] - known["today_low"]).max()
    verdict = f"No change that we tried gains measurably today: intervals of gains are up to {width:.0f} points wide"
    if not within.all():
        verdict = f"{(~within).sum()} of {len(known)} changes that we tried change the time of a forecast of today"
    return figures.table(
        said,
        caption=f"{verdict}. “Then” is Hague's list for runs with two threads a processor, “today” a small model.",
        name="p5plus_changes_today",
        notes=frame["less variability"].map({True: "times vary less by so much", False: ""}).rename("note"),
        data=frame,
    )


def _today(row) -> str:
    if np.isnan(row.today):
        return ""
    ends = f"{row.today_low:.0f} to {row.today_high:.0f}"
    return ends if row.today_low > 0 or row.today_high < 0 else f"no measurable difference ({ends})"


def faster() -> str:
    """The ten-day forecast on the old and on the new system, on as many processors of the same clock rate."""
    found = tables.load("p5plus", "p4_p5")
    old, new = (float(found["wall"].sel(system=name)) for name in ("P4+", "P5+"))
    assert old > 1.5 * new and len({float(each) for each in found["cpus"]}) == 1
    return (
        f"In 2006 a weather forecast for ten days ran on new processors in place of as many old ones, and became "
        f"{old / new:.1f} times as fast. Their clock ticked no faster, but each ran a second thread."
    )


def multiplied() -> str:
    """The printed gains, multiplied, beside what ten days gained; and that they do not simply multiply."""
    frame = listed(changes.runs()[0])
    frame = frame[~frame["less variability"]]
    least, most = ((1 + frame[end] / 100).prod() for end in ("low", "high"))
    jobs = tables.load("p5plus", "p4_p5")
    ratio = float(jobs["wall"].sel(system="P4+") / jobs["wall"].sel(system="P5+"))
    (processors,) = {int(each) for each in jobs["cpus"]}
    time = tables.load("p5plus", "smt_binding")["time"]
    bind = 100 * (time.sel(bind="N") / time.sel(bind="Y") - 1)
    alone, both = bind.sel(smt="N"), bind.sel(smt="Y")
    bound = frame.set_index("change").loc["binding, basic"]
    assert least < ratio < most and float(alone.min()) > float(both.max()) > 0 and float(both.max()) < bound["low"]
    program = tables.printed("p5plus", "changes").set_index("change")["of"]
    assert "IFS" not in program["binding, basic"] and "IFS" in program["medium pages"]
    assert tables.printed("p5plus", "p4_p5").set_index("system")["smt"].to_dict() == {"P4+": "N", "P5+": "Y"}
    return (
        f"On {processors} new processors, each with a second thread, the forecast for ten days was {ratio:.2f} times "
        f"as fast as on {processors} old ones. The gains of speed in the table, multiplied, come to between "
        f"{least:.1f} and {most:.1f}. But gains depend on each other and on the program. For binding Hague's list has "
        f"{bound['low']:.0f} to {bound['high']:.0f} %, and names no program; in timed forecasts of one day it gained "
        f"up to {float(alone.max()):.0f} % with one thread on a processor, and up to {float(both.max()):.0f} % with "
        "two."
    )


@conclusion(
    "p5plus-c1",
    place='slide "Changes for New P5+ System"',
    says="The compiler's option for the new processor and larger pages each make IFS one to three per cent faster.",
)
def option_and_pages() -> Finding:
    """Change in speed by code for this processor and by huge pages."""
    run = changes.runs()[0]
    found = _over(run, "", *(name for name in _WITHOUT if name != "binding, basic"))
    one, other = (f"{row.middle:.3f} ({row.low:.3f} to {row.high:.3f})" for row in found.itertuples())
    faster = found["low"] > 1
    return Finding(
        HOLDS if faster.all() else PARTLY if faster.any() else _undecided(found),
        f"Without the one our forecast takes {one} times as long, without the other {other}"
        f"{_resolved(run, found, 'one to three')}",
        bears=bool((found["low"] > 0).all()),
    )


def _undecided(found) -> str:
    """Verdict on gains that no run shows: refuted where each interval ends below one per cent, else not decided."""
    return NOT if (found["high"] < 1.01).all() else UNTESTED


def _resolved(run, found, then: str) -> str:
    """End of a sentence: what runs of this length can show, and of how many per cent the report speaks."""
    unlike = ((found["low"] > 1) | (found["high"] < 1)).any()
    width = 50 * (found["high"] - found["low"]).max()
    seconds = float(np.nanmedian(run["seconds"].values[0]))
    known = f"{width:.0f}" if width >= 1 else f"{width:.1f}"
    return (
        f"{'.' if unlike else ': no measurable difference.'} Runs of {seconds:.2g} s are known to {known} % here; the "
        f"report speaks of {then}.{'' if unlike or width < 1 else ' It takes a machine that nothing else disturbs.'}"
    )


@conclusion(
    "p5plus-c2",
    place='slides "Changes for New P5+ System" and "T399 on P5+: SMT and Binding"',
    says="Binding threads to processors gains a few per cent, more without SMT; a list of changes says up to 30 %.",
)
def bound() -> Finding:
    """Time without binding over that with it."""
    run = changes.runs()[0]
    table = _over(run, "", "binding, basic")
    (found,) = table.itertuples()
    return Finding(
        HOLDS if found.low > 1.01 else PARTLY if found.low > 1 else _undecided(table),
        f"Without binding our forecast takes {found.middle:.3f} times as long ({found.low:.3f} to {found.high:.3f})"
        f"{_resolved(run, table, 'a few')} With as many processors as threads there is little to bind.",
        bears=found.low > 0,
    )


not_run(
    "p5plus-c3",
    place='slide "Changes for New P5+ System"',
    says="Write caching and mirroring in the file system make IFS three to five per cent faster.",
    found=Finding(THEN, "It is a setting of one file system, GPFS."),
)


not_run(
    "p5plus-c4",
    place='slide "Changes for New P5+ System"',
    says="Throttling in the layer of shared disks makes times vary a fifth less.",
    found=Finding(THEN, "It is a setting of IBM's virtual shared disks, of which this book runs none."),
)


not_run(
    "p5plus-c5",
    place='slide "T399 on P5+: SMT and Binding"',
    says="Memory near the processors of a task is worth a per cent or two.",
    found=Finding(UNTESTED, "Our machines show one memory for all processors. It takes one with two sockets."),
)


@conclusion(
    "p5plus-c6",
    place='slide "T399 on P5+: SMT and Binding"',
    says="SMT is worth about a fifth.",
)
def smt_gains() -> Finding:
    """What SMT gained by the printed times, and gains a forecast on a machine whose cores show two threads."""
    gain = second_thread()
    printed = f"By the printed times it is {span(gain, 0)} %."
    run = next((each for each in changes.runs() if _TWO in each["without"].values), None)
    if run is None:
        takes = " Our machines show one thread on a core; it takes one that shows two, and no new code."
        return Finding(UNTESTED, printed + takes, bears=gain.min() > 15)
    (found,) = figures.converted(_over(run, _TWO, ""), lambda ratio: 100 * (ratio - 1)).itertuples()
    return Finding(
        HOLDS if 10 < found.low and found.high < 40 else PARTLY if found.low > 0 else NOT,
        f"{printed} On {figures.cpu(run)} two threads on each core make our forecast {found.middle:.0f} % "
        f"({found.low:.0f} to {found.high:.0f}) faster.",
        bears=gain.min() > 15,
    )


not_run(
    "p5plus-c7",
    place='slide "T399 on P5+: SMT and Binding"',
    says="The setting MP_TASK_AFFINITY has no noticeable effect.",
    found=Finding(THEN, "It is a setting of IBM's parallel environment. The report prints no times of it."),
)


@conclusion(
    "p5plus-c8",
    place='slide "T799L91 10-day forecast (RAPS9)"',
    says="With the same clock rate Power5+ forecasts more than one and a half times as fast as Power4+.",
)
def over_power4() -> Finding:
    """Ratio of the printed times."""
    wall = tables.load("p5plus", "p4_p5")["wall"]
    ratio = float(wall.sel(system="P4+") / wall.sel(system="P5+"))
    return Finding(THEN, f"By the printed times {ratio:.2f} times. It needs both clusters.", bears=1.5 < ratio < 1.6)


@conclusion(
    "p5plus-c9",
    place='slide "Comparison of JS21 Blade with Pwr4+ for IFS T399"',
    says="Power5+ is nearly twice as fast as JS21 blades, and 1.5 times as many blades are not 1.5 times as fast.",
)
def over_blades() -> Finding:
    """Printed ratio, and what half as many processors again gained the blades."""
    times = tables.printed("p5plus", "blades").set_index("cpus")["js21_time"].astype(float)
    gain, more = times.iloc[0] / times.iloc[-1], times.index[-1] / times.index[0]
    return Finding(
        THEN,
        f"From {times.index[0]} to {times.index[-1]} processors the blades gain {gain:.2f} of {more:.1f}. It needs "
        "both machines.",
        bears=1 < gain < more,
    )


@conclusion(
    "p5plus-c10",
    place='slide "Power v Performance"',
    says="For equal performance BlueGene/L needs the least power and the blades the most.",
)
def least_power() -> Finding:
    """Printed power for equal performance, with the error that the report calls probable."""
    power = tables.printed("p5plus", "power_performance").set_index("system")["power"].astype(float)
    error = float(tables.load("p5plus", "prose")["power_error"])
    apart = 100 * (power["Power5+"] / power["BlueGene L"] - 1)
    return Finding(
        THEN,
        f"BlueGene/L and Power5+ are {apart:.0f} % apart, and each has a probable error of {error:.0f} %: the numbers "
        "do not decide between these two. No run here measures power.",
        bears=power.idxmin() == "BlueGene L" and power.idxmax() == "JS21 Blade" and error < apart < 2 * error,
    )
