"""The sections on changes and on binding: a forecast under several settings, beside the gains that are printed."""

from itertools import product
from typing import Any

from supercomputers_rerun.companion import figures, host, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.common import np, pd, plural
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, PARTLY, THEN, UNTESTED, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment, of

#: Changes of the report, and the settings of a forecast without each.
_WITHOUT: dict[str, dict[str, Any]] = {
    "xlf90_r -qarch=pwr5": {"build": "vectors of 256 bits, fused"},
    "medium pages": {"huge": False},
    "binding, basic": {"order": ""},
}
#: The same in words: with what a forecast runs in place of a change.
IN_WORDS = dict(zip(_WITHOUT, ("with code for x86-64-v3", "on small pages", "with threads not bound"), strict=True))
#: The case of a forecast with all changes by half of the threads.
HALF = "half of the threads"
#: Twice the threads by the lists for two threads a core, where cores have two.
_SMT = ("", "smt", "smt_front_loaded")


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
    """What twice the threads gain a forecast, the report's f, with its interval; None where a run lacks the halves."""
    names, seconds = run["without"].values.tolist(), run["seconds"].values
    return figures.times(seconds[names.index(HALF)], seconds[names.index("")]) if HALF in names else None


def _over(run, base: str, *names: str):
    """Time of cases over that of another, by what they go without; as :func:`figures.ratios` gives it."""
    found = run["without"].values.tolist()
    return figures.ratios(run, [found.index(name) for name in names], found.index(base))


@changes.figure
@figures.styled
def gains(runs) -> "figures.Shown":
    """What each change gained, as the range that is printed, and three of them on a forecast of today."""
    printed = tables.printed("p5plus", "changes")
    low, high = printed["gain_low"], printed["gain_high"].fillna(printed["gain_low"])
    steadier = printed["of"].astype(str).str.contains("variab").to_numpy()
    figure, axis = figures.axes(height=3.1)
    place = figures.rows(axis, printed["change"] + np.where(steadier, "\n(less variability)", ""))
    axis.barh(place, high - low, left=low, height=0.5, **figures.hollow("printed"))
    for end in (low, high):
        axis.plot(end, place, "|", color=figures.INK, markersize=11)
    figures.points(axis, low[steadier], place[steadier], label="_", index=1, line=False)
    frames = []
    for run in runs:
        names = [name for name in _WITHOUT if name in run["without"].values]
        found = figures.converted(_over(run, "", *names), lambda ratio: 100 * (ratio - 1))
        at = [printed["change"].tolist().index(name) for name in names]
        figures.bars(axis, at, found, label=f"one-layer forecast, {figures.cpu(run)}", across=True, run=run)
        frames.append(figures.with_spread(pd.DataFrame({"change": names}), gain=found))
    axis.axvline(0, color=figures.INK, linewidth=0.8)
    axis.set(xlabel="gain [%]")
    figures.legend(axis, "below 1")
    widest = printed.loc[(high - low).idxmax()]
    return figures.show(
        figure,
        name="p5plus_changes",
        runs=runs,
        data=pd.concat([printed, *frames], ignore_index=True),
        title="What each change gained",
        caption="Gains as the report prints them: a bar for a range, a tick for one number. Throttling (diamond) made "
        f"times vary less. Filled: change in speed of {int(runs[0]['steps'].values[0])} steps of one layer at T399 by "
        "code for the machine's processor in place of x86-64-v3, by huge pages in place of small ones, by binding.",
        alt=f"Range bars of {len(printed)} printed gains in percent. The widest range is that of "
        f"{widest['change']}: {widest['gain_low']:g} to {widest['gain_high']:g} %.",
        tables="changes",
    )


def faster() -> str:
    """The ten-day forecast on the old and on the new system, on as many processors of the same clock rate."""
    found = tables.load("p5plus", "p4_p5")
    old, new = (float(found["wall"].sel(system=name)) for name in ("P4+", "P5+"))
    return (
        f"In the report ten days of T799 took {old:.0f} s on Power4+ and {new:.0f} s on as many Power5+ processors of "
        f"the same clock rate, with two threads on each. Their ratio is {old / new:.2f}; the report prints "
        f"{float(tables.load('p5plus', 'prose')['p4_to_p5']):g}."
    )


def gained() -> str:
    """What SMT gained a day of T399, least and most, and what binding gained at most."""
    time = tables.load("p5plus", "smt_binding")["time"]
    smt = 100 * (time.sel(smt="N") / time.sel(smt="Y") - 1)
    bind = 100 * (time.sel(bind="N") / time.sel(bind="Y") - 1)
    alone, both = (f"{float(bind.sel(smt=used).max()):.1f} %" for used in "NY")
    return (
        f"In four pairs of the report's runs two threads on a core made a day of T399 {float(smt.min()):.0f} to "
        f"{float(smt.max()):.0f} % faster. Binding made it at most {alone} faster with one thread on a core, and at "
        f"most {both} with two."
    )


def _minutes(run) -> int:
    """Minutes of weather that a forecast of a run covers."""
    from supercomputers_rerun.kernels.jobs import settings

    return round(settings.Problem.preset(run.attrs["preset"]).dt * int(run["steps"].values[0]) / 60)


@changes.figure
@figures.styled
def combinations(runs) -> "figures.Shown":
    """Time of one T399 forecast day against SMT, binding and memory affinity, and of a forecast of today."""
    cube = tables.load("p5plus", "smt_binding")
    time = cube["time"] / cube["time"].sel(smt="N", memory_affinity="N", bind="N")
    figure, axis = figures.axes(height=3.6)
    for used, affinity in product("NY", "NY"):
        days = time.sel(smt=used, memory_affinity=affinity, bind=["N", "Y"]).values
        label = f"{'with' if used == 'Y' else 'without'} SMT, memory affinity {'on' if affinity == 'Y' else 'off'}"
        line = figures.points(axis, [0, 1], days, label=label, index="NY".index(used))
        line.set_linestyle("--" if affinity == "N" else "-")
    frames, (free, *_) = [], [name for name, new in _WITHOUT.items() if new.get("order") == ""]
    for run in runs:
        ways: dict[str, tuple[str, ...]] = {"without SMT": (free, "")}
        if f"two threads a core {_SMT[0]}" in run["without"].values:
            ways["with SMT"] = tuple(f"two threads a core {order}" for order in _SMT[:2])
        for index, (label, names) in enumerate(ways.items()):
            found = _over(run, free, *names)
            figures.bars(axis, [0, 1], found, label=f"today, {label}", index=index, run=run)
            frames.append(figures.with_spread(pd.DataFrame({"way": label, "bound": ["N", "Y"]}), relative=found))
    axis.set_xticks([0, 1], ["not bound", "bound"])
    axis.set(xlim=(-0.25, 1.25), ylim=(0, None), ylabel="time over that\nnot bound, without SMT")
    figures.legend(axis, "below 1")
    return figures.show(
        figure,
        name="p5plus_smt_binding",
        runs=runs,
        data=pd.concat([cube.to_dataframe().reset_index(), *frames], ignore_index=True),
        title="SMT, binding and memory affinity",
        caption="Hollow: a day of T399 in eight combinations, over the printed time without any of the three; two "
        "threads on a core (SMT) save more than binding or memory affinity, and with SMT both of these save less. "
        f"Filled: {_minutes(runs[0])} minutes of a model of one layer at the same truncation, bound by the list "
        "without SMT or not.",
        tables="smt_binding binding_lists",
    )


def said(run, *names: str) -> str:
    """How many times as long a forecast takes without each of these changes."""
    seconds = dict(zip(run["without"].values, run["seconds"].values, strict=True))
    forecast = f"one-layer forecast by {plural(int(run['threads'].values[0]), 'thread')}"
    found = ", ".join(f"{figures.times(seconds[name], seconds['']).briefly} as long {IN_WORDS[name]}" for name in names)
    if found.count(none := " (no measurable difference)") == len(names):
        found = found.replace(none, "") + ": no measurable difference"
    return f"Compared with all three changes, a {forecast} on machine {figures.cpu(run)} takes {found}."


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
        HOLDS if faster.all() else PARTLY if faster.any() else NOT,
        f"Without the one our forecast takes {one} times as long, without the other {other}{_resolved(run, found)}",
        bears=bool((found["low"] > 0).all()),
    )


def _resolved(run, found) -> str:
    """End of a sentence: what runs of this length can show."""
    unlike = ((found["low"] > 1) | (found["high"] < 1)).any()
    width = 50 * (found["high"] - found["low"]).max()
    seconds = float(np.nanmedian(run["seconds"].values[0]))
    known = f"{width:.0f}" if width >= 1 else f"{width:.1f}"
    return (
        f"{'.' if unlike else ': no measurable difference.'} Runs of {seconds:.2g} s are known to {known} % here; the "
        "report speaks of one."
    )


@conclusion(
    "p5plus-c2",
    place='slides "Changes for New P5+ System" and "T399 on P5+: SMT and Binding"',
    says="To bind threads to processors gains some per cent, most without SMT, and up to 30 % elsewhere.",
)
def bound() -> Finding:
    """Time without binding over that with it."""
    run = changes.runs()[0]
    table = _over(run, "", "binding, basic")
    (found,) = table.itertuples()
    return Finding(
        HOLDS if found.low > 1.01 else PARTLY if found.low > 1 else NOT,
        f"Without binding our forecast takes {found.middle:.3f} times as long ({found.low:.3f} to {found.high:.3f})"
        f"{_resolved(run, table)} With as many processors as threads there is little to bind.",
        bears=found.low > 0,
    )


@conclusion(
    "p5plus-c3",
    place='slide "Changes for New P5+ System"',
    says="Write caching and mirroring in the file system make IFS three to five per cent faster.",
)
def caching() -> Finding:
    """What a test would take."""
    return Finding(THEN, "It is a setting of one file system, GPFS, and of its controllers.")


@conclusion(
    "p5plus-c4",
    place='slide "Changes for New P5+ System"',
    says="Throttling in the layer of shared disks makes times vary a fifth less.",
)
def throttling() -> Finding:
    """What a test would take."""
    return Finding(THEN, "It is a setting of IBM's virtual shared disks, of which this book runs none.")


@conclusion(
    "p5plus-c5",
    place='slide "T399 on P5+: SMT and Binding"',
    says="Memory near the processors of a task is worth a per cent or two.",
)
def memory_affinity() -> Finding:
    """What a test would take."""
    return Finding(UNTESTED, "All memory of our machines is equally near. It takes one with two sockets.")


@conclusion(
    "p5plus-c6",
    place='slide "T399 on P5+: SMT and Binding"',
    says="SMT is worth about a fifth.",
)
def smt_gains() -> Finding:
    """What SMT gained by the printed times, and gains a forecast on a machine whose cores show two threads."""
    time = tables.load("p5plus", "smt_binding")["time"]
    gain = 100 * (time.sel(smt="N") / time.sel(smt="Y") - 1)
    printed = f"By the printed times it is {float(gain.min()):.0f} to {float(gain.max()):.0f} %."
    case = f"two threads a core {_SMT[1]}"
    run = next((each for each in changes.runs() if case in each["without"].values), None)
    if run is None:
        takes = " Our machines show one thread on a core; it takes one that shows two, and no new code."
        return Finding(UNTESTED, printed + takes, bears=float(gain.min()) > 15)
    (found,) = figures.converted(_over(run, case, ""), lambda ratio: 100 * (ratio - 1)).itertuples()
    return Finding(
        HOLDS if 10 < found.low and found.high < 40 else PARTLY if found.low > 0 else NOT,
        f"{printed} On {figures.cpu(run)} two threads on each core make our forecast {found.middle:.0f} % "
        f"({found.low:.0f} to {found.high:.0f}) faster.",
        bears=float(gain.min()) > 15,
    )


@conclusion(
    "p5plus-c7",
    place='slide "T399 on P5+: SMT and Binding"',
    says="The setting MP_TASK_AFFINITY has no noticeable effect.",
)
def task_affinity() -> Finding:
    """Of whom it is true."""
    return Finding(THEN, "It is a setting of IBM's parallel environment. The report prints no times of it.")


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
    says="Power5+ is nearly twice as fast as the blades, which gain less than they should from more processors.",
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
