"""The section *Why did forecasts wait for small files?*: output steps with and without them; what opens take."""

import os
import tempfile
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from supercomputers_rerun.companion import figures, models, tables
from supercomputers_rerun.companion.bench import Case, interleave
from supercomputers_rerun.companion.common import np, pd, significant
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, PARTLY, THEN, Finding, conclusion, not_run, not_yet
from supercomputers_rerun.companion.experiments import experiment, of

#: Above this ratio of the slowest step to the median one, steps vary.
_VARIES = 1.2
#: Processes that load the file system beside the output steps, and what the steps are then called.
_LOADS = {0: "", 1: ", file system loaded"}
_CODES = {"before": "with small files", "after": "without"}


@experiment(
    "xc30-storm",
    item="C10-C12",
    threads=1,
    rounds=7,
    seconds={"paper": 120, "modern": 300},
    unit="ms a step",
    per="steps",
)
def storm(preset: str, threads: int) -> list[Case]:
    """Output steps with and without a storm of small files.

    At ``quick`` fewer steps and files than in the talk, with 480 tasks, which fit its count.
    """
    from supercomputers_rerun.kernels.files import storm

    changes = {"steps": 25, "tasks": storm.Problem.preset("paper").tasks} if preset == "quick" else {}
    cases = []
    for load, beside in _LOADS.items():
        problem = storm.Problem.preset(preset, load=load, **changes)
        label = f"{problem.tasks} tasks, {problem.files} files, {problem.steps} steps{beside}"
        cases.append(Case(label, storm, problem, threads, _about(problem), _every_step))
    return cases


def _every_step(result) -> dict[str, float]:
    """Seconds of every step, and the system calls, of each code."""
    found = {f"{name} step {n}": time for name, times in result.seconds.items() for n, time in enumerate(times)}
    return found | {f"{name} calls": calls for name, calls in result.calls.items()}


@storm.figure
def output_steps(runs) -> "figures.Shown":
    """Time of every output step with and without the small files, alone and while others load the file system."""
    run = runs[0]
    number = np.arange(int(run["steps"].values[0]))
    figure, panels = figures.axes(run.sizes["case"], 1, height=6.2, sharex=True, sharey=True)
    data = pd.DataFrame({"step": number})
    for row, axis in enumerate(np.ravel(panels)):
        for colour, (code, name) in enumerate(_CODES.items()):
            name += _LOADS[int(run["load"].values[row])]
            every = 1e3 * np.array([run[f"observed_{code} step {n}"].values[row] for n in number])
            data[name] = np.nanmedian(every, axis=1)
            ends, paint = (np.nanmin(every, axis=1), np.nanmax(every, axis=1)), figures.series(colour)
            axis.fill_between(number + 1, *ends, color=paint, alpha=0.3, linewidth=0)
            axis.plot(number + 1, data[name], color=paint, linewidth=1.2, label=name)
        figures.log_axis(axis, "y")
        axis.set_ylabel("time of the step [ms]")
        figures.legend(axis, "above 1")
    np.ravel(panels)[-1].set_xlabel("output step")
    typical = data.drop(columns="step").median()
    longer = typical[_CODES["before"]] / typical[_CODES["after"]]
    return figures.show(
        figure,
        name="xc30_storm",
        run=run,
        data=data,
        title=f"With small files a step of {figures.bytes_label(run['record_bytes'].values[0])} a file takes "
        f"{longer:.1f} times as long",
        caption=f"{run['files'].values[0]} records a step to the page cache; lines are medians, bands ranges of the "
        f"samples. {figures.doubts(run)}",
    )


#: Steps of a case with all files and tasks of the talk: each takes seconds.
_FULL_STEPS = 4


@experiment("xc30-bulk", item="C10, C11", threads=1, rounds=7, seconds={"paper": None, "modern": None}, unit="MB/s")
def bulk(preset: str, threads: int) -> list[Case]:
    """Output steps of the talk's forecast: its files and records, each flushed to the device.

    One step; then several with and without the small files of all tasks, alone and beside a process that loads the file
    system, each kept.  The files of these hold one step, which the next overwrites.
    """
    from supercomputers_rerun.kernels.files import storm

    talk, tasks = tables.load("xc30", "hres_io"), storm.Problem.preset("paper").tasks
    files = int(talk["files"])
    size = round(1e12 * float(talk["volume"]) / (int(talk["steps"]) * files))
    files, size = (files // 20, size // 20) if preset == "quick" else (files, size)
    problem = storm.Problem(steps=1, files=files, tasks=0, record_bytes=size, fsync=True)
    label = f"{files} records of {size / 1e6:.3g} MB, each flushed"
    cases = [Case(label, storm, problem, threads, _about(problem), _every_step)]
    for load, beside in _LOADS.items():
        problem = replace(problem, steps=_FULL_STEPS, kept=1, tasks=tasks, load=load)
        whole = f"{label}, {tasks} tasks, {problem.steps} steps{beside}"
        cases.append(Case(whole, storm, problem, threads, _about(problem), _every_step))
    return cases


def _about(problem) -> dict[str, int]:
    return of(problem, "steps", "files", "tasks", "record_bytes", "load")


def _file_rate(run) -> "pd.DataFrame":
    """MB/s of a file of one flushed output step, with its spread."""
    run = run.isel(case=[0])
    megabytes = run["files"].values * run["record_bytes"].values / 1e6
    return figures.converted(figures.sampled(run, "observed_after step 0"), lambda seconds: megabytes / seconds)


@bulk.figure
def rate(runs) -> "figures.Shown":
    """Rate of a file of an output step, and the rate of a file that the talk states."""
    what, stated = "a file of an output step", float(tables.load("xc30", "hres_io")["file_rate"])
    frames = [figures.with_spread(pd.DataFrame({"what": [what]}), rate=_file_rate(run)) for run in runs]
    return figures.dots(
        runs,
        frames,
        {"rate": "{}"},
        printed={"the talk, at least": {what: stated}},
        xlabel="rate of one file [MB/s]",
        legend_at="above 2",
        name="xc30_bulk",
        title=f"One file gets {frames[0]['rate'].item():.0f} MB/s from a disk",
        caption=f"{runs[0]['label'].values[0]}, one file after the other, to one local disk; the talk's went to a "
        "parallel file system.",
        tables="hres_io",
    )


#: A file system of memory, where the system has one.
_MEMORY = "/dev/shm"
#: Seconds that an open of a small file takes at least; 0: what it takes here.
_LATENCIES = (0.0, 1e-4, 1e-3, 1e-2)
#: A step of these cases is that of the talk over this: as many small files for each byte, in a memory of today.
_PART = 20


@experiment(
    "xc30-records",
    item="C11, C12",
    threads=1,
    rounds=7,
    seconds={"paper": 150, "modern": 300},
    unit="ms a step",
    per="steps",
)
def records(preset: str, threads: int) -> list[Case]:
    """Output steps with and without small files by time of an open.

    One more case is on another file system, in memory, where the machine has one.
    """
    from supercomputers_rerun.kernels.files import storm

    talk, whole = tables.load("xc30", "hres_io"), storm.Problem.preset("paper")
    most = round(1e12 * float(talk["volume"]) / (int(talk["steps"]) * int(talk["files"])))
    files, tasks, cases = whole.files // _PART, whole.tasks // _PART, []
    for size, latency in product([2**16] if preset == "quick" else [2**16, most], _LATENCIES):
        steps = 2 if latency > 0 else min(25, max(2, 2**29 // (size * files)))
        problem = storm.Problem(steps=steps, files=files, tasks=tasks, record_bytes=size, latency=latency)
        label = f"records of {size / 1e6:.3g} MB, opens of {1e3 * latency:g} ms at least"
        cases.append(Case(label, storm, problem, threads, _record(problem), middle_steps))
    if os.path.isdir(_MEMORY):
        problem = replace(cases[0].problem, folder=_MEMORY)
        cases.append(Case(f"{cases[0].label}, in {_MEMORY}", storm, problem, threads, _record(problem), middle_steps))
    return cases


def _record(problem) -> dict[str, Any]:
    about = of(problem, "steps", "files", "tasks", "record_bytes", "latency")
    return about | {"place": problem.folder or "temporary files"}


def _usual(run):
    """A run without the case on another file system."""
    return run.isel(case=run["place"].values != _MEMORY)


def middle_steps(result) -> dict[str, float]:
    """Median seconds of a step without the small files, and of the small files in a step that has them."""
    return {"without": float(np.median(result.seconds["after"])), "small": float(np.median(result.small_seconds))}


def by_task() -> int:
    """Small files that a task opens in a step."""
    talk = tables.load("xc30", "hres_io")
    return int(talk["list_files"] + talk["namelist_files"])


def with_small_files(run):
    """Size of a record, time of an open and, of every sample, a step with small files over one without, with spread.

    The step with small files is the one without and the time of the small files: both write the same.
    """
    run = _usual(run)
    without, small = (run[f"observed_{name}"].values for name in ("without", "small"))
    found = figures.of_samples(1 + small / without, run["flags"].values)
    frame = pd.DataFrame({"record_bytes": run["record_bytes"].values, "asked": run["latency"].values})
    frame["open"] = np.nanmedian(small, axis=1) / (run["tasks"].values * by_task())
    frame["without"] = np.nanmedian(without, axis=1)
    return figures.with_spread(frame, times=found)


@models.predicts(
    "xc30_opens",
    models.transfer,
    "how many times as long a step takes with its small files",
    "that the rate of writing varies from run to run",
    "write opened cache_rate",
    "xc30-records",
)
def opening(run, machine):
    """A step with small files over one without: records, each a write, and sets of open, read and close."""
    frame, run = with_small_files(run), _usual(run)
    files, sets = run["files"].values, run["tasks"].values * by_task() / run["threads"].values
    without = models.transfer(files, machine.write, files * run["record_bytes"].values, machine.cache_rate)
    small = models.transfer(sets, frame["asked"].to_numpy() + machine.opened)
    ms = 1e3 * (frame["asked"] + machine.opened)
    return frame[["record_bytes"]].assign(ms=ms, measured=frame["times"], predicted=1 + small / without)


def largest(run):
    """Of :func:`with_small_files`, the cases with the largest records, by the time of an open."""
    frame = with_small_files(run)
    return frame[frame["record_bytes"] == frame["record_bytes"].max()].sort_values("open")


#: How strong a line is drawn that is not that of the title.
_PALE = 0.5


def counted_opens() -> "pd.Series":
    """Sets of open, read or write, and close of each suite, as the talk counts them."""
    return tables.printed("xc30", "io_to_remove").set_index("suite")["open_close"].astype(float)


def _count(number: float) -> str:
    """``180 000`` or ``1.2 million``."""
    return f"{number / 1e6:.2g} million" if number >= 1e6 else f"{number:,.0f}".replace(",", " ")


def _minutes(seconds: float) -> str:
    """``2 s``, ``30 minutes``, ``8 hours``: a time as people say it."""
    steps = ((3600.0, "hours"), (60.0, "minutes"), (1.0, "s"))
    size, unit = next((step for step in steps if seconds >= 1.5 * step[0]), steps[-1])
    return f"{significant(seconds / size, 2) if seconds < 1 else round(seconds / size)} {unit}"


def _other_way(number):
    """Times a second by milliseconds each, and back; infinite at 0."""
    with np.errstate(divide="ignore"):
        return 1e3 / np.asarray(number, dtype=float)


@records.figure
def every_open(runs) -> "figures.Shown":
    """What all opens of a suite take, one after another, by what one takes: printed counts times a latency."""
    sets, slow = counted_opens(), max(_LATENCIES)
    took = [largest(run)["open"].iloc[0] for run in runs]
    here = took[0]
    latency = np.array([min(1e-5, here), 1e-4, 1e-3, slow])
    figure, axis = figures.axes(height=3.0)
    figures.calculated(axis, 1e3 * latency, sets["HRES"] * latency, label=f"{_count(sets['HRES'])} opens")
    near = {"xytext": (8, 0), "textcoords": "offset points", "va": "center", "size": 9}
    words = f"assumed:\n{_minutes(sets['HRES'] * slow)}"
    axis.annotate(words, (1e3 * slow, sets["HRES"] * slow), annotation_clip=False, **near)
    for run, one in zip(runs, took, strict=True):
        style = {"label": f"the forecast's opens, {figures.cpu(run)}", "host": True, "line": False, "run": run}
        figures.points(axis, [1e3 * one], [sets["HRES"] * one], **style)
    for one, word in ((here, "measured today: "), (1e-3, "assumed: ")):
        near = {"xytext": (8, -10), "textcoords": "offset points", "size": 9}
        axis.annotate(f"{word}{_minutes(sets['HRES'] * one)}", (1e3 * one, sets["HRES"] * one), **near)
    whole = float(tables.load("xc30", "forecast")["elapsed"])
    axis.axhline(whole, color=figures.meaning("printed"), linewidth=1.2)
    words = f"a whole forecast: {_minutes(whole)}"
    axis.text(1e3 * latency[0], 0.85 * whole, words, va="top", color=figures.meaning("printed"), size=9)
    figures.log_axis(axis)
    ticks = {1: "1 s", 10: "10 s", 60: "1 min", 600: "10 min", 3600: "1 h"}
    axis.set_yticks(list(ticks), list(ticks.values()))
    axis.minorticks_off()
    axis.set(xlabel="one open, read, close [ms]", ylabel="time of all opens,\none after another", ylim=(0.8, 9000))
    figures.tells(axis, y=lambda seconds: f"{significant(seconds, 3)} s")
    rate = axis.secondary_xaxis("top", functions=(_other_way, _other_way))
    rate.xaxis.set_major_formatter(lambda value, _: _count(value))
    rate.minorticks_off()
    rate.set_xlabel("files opened a second")
    return figures.show(
        figure,
        name="xc30_every_open",
        runs=runs,
        data=[pd.DataFrame({"suite": sets.index, "sets": sets.values, "here [s]": one * sets.values}) for one in took],
        title=f"{_count(sets['HRES'])} file opens take {_minutes(sets['HRES'] * here)} today, and would take "
        f"{_minutes(sets['HRES'] * slow)} if each took {1e3 * slow:g} ms",
        caption="Number of opens times the time of one: today on a local file system, cached; half-filled: assumed. "
        "Blue: a forecast of 2014, without full output.",
        tables="io_to_remove forecast",
    )


@records.figure
def opens(runs) -> "figures.Shown":
    """What small files cost an output step by the time of an open, for the least and the largest records."""
    frames = [with_small_files(run) for run in runs]
    least, most = frames[0]["record_bytes"].agg(["min", "max"])
    words = {each: f"{each / 1e6:.2g} MB to each output file" for each in (least, most)}
    words[most] += ", as in the talk"
    drawn = [frame.sort_values(["record_bytes", "open"], ascending=[False, True]) for frame in frames]
    figure, axis = figures.axes(height=3.0)
    for run, frame in zip(runs, drawn, strict=True):
        for size, part in frame.groupby("record_bytes", sort=False):
            style = {"label": words[size], "colour": "" if size == most else "serial", "run": run}
            line = figures.bars(axis, 1e3 * part["open"], figures.spread_of(part, "times"), **style)
            line.set_alpha(line.get_alpha() if size == most else _PALE)
    expected = opening.frame(runs[0])
    if expected is not None:
        for size, part in expected.sort_values("ms").groupby("record_bytes"):
            if size in words:
                label = "model" if size == most else "_model"
                line = figures.modelled(axis, part["ms"], part["predicted"], label=label)
                line.set_alpha(None if size == most else _PALE)
    figures.log_axis(axis)
    axis.axhline(1, color=figures.INK, linewidth=0.8)
    slow = largest(runs[0]).iloc[-1]
    longer = f"{slow['times_low']:.1f} to {slow['times_high']:.0f}"
    said = f"{slow['times']:.1f} times, bar {longer}"
    near = {"xytext": (4, 7), "textcoords": "offset points", "ha": "right", "size": 9, "weight": "bold"}
    axis.annotate(said, (1e3 * slow["open"], slow["times_high"]), **near)
    axis.set(xlabel="one open, read, close [ms]", ylabel="a step with small files\nover one without")
    figures.legend(axis, "upper left")
    return figures.show(
        figure,
        name="xc30_opens",
        runs=runs,
        data=frames,
        title=f"If opening a small file takes {1e3 * slow['open']:.0f} ms, our output step takes {slow['times']:.1f} "
        f"times as long ({longer})",
        caption="With and without small files a step writes the same bytes, on the grey curve few. All but the "
        "leftmost opens are delayed.",
        tables="hres_io io_to_remove",
        note=models.said(opening, expected),
    )


def _step() -> tuple[float, float, float]:
    """Of an output step of the talk: opens, MB to each file, and seconds that these take at the rate of a file."""
    talk = tables.load("xc30", "hres_io")
    steps, files, rate = (float(talk[name]) for name in ("steps", "files", "file_rate"))
    megabytes = 1e6 * float(talk["volume"]) / (steps * files)
    return counted_opens()["HRES"] / steps, megabytes, megabytes / rate


def allowed() -> str:
    """How long an open may take, by the talk's numbers, until opens cost a step as much as what it writes."""
    talk, (each, megabytes, writing) = tables.load("xc30", "hres_io"), _step()
    assert by_task() == 3
    return (
        f"By the talk, because every task opened small files in every output step. One step had {each:.0f} opens, "
        f"three from each of {each / by_task():.0f} tasks, the whole forecast {_count(counted_opens()['HRES'])}. In "
        f"the same step {megabytes:.0f} MB of weather went to each of {float(talk['files']):.0f} large files, at "
        f"{float(talk['file_rate']):.0f} MB/s and more. If all are written at once, as we assume, this takes "
        f"{significant(writing, 1)} s at most. If one server answers one open after another, {each:.0f} opens double "
        f"the step when each takes {1e3 * writing / each:.2f} ms. With slower opens, the three small files of each "
        "task take longer than the weather."
    )


def plainly(run) -> str:
    """What slow opens do to an output step, for everybody."""
    slow = largest(run).iloc[-1]
    assert slow["asked"] == 0.01 and slow["times_low"] > 1.5
    return (
        "When each small file took a hundredth of a second to open, an output step of our test took "
        f"{slow['times']:.1f} times as long ({slow['times_low']:.1f} to {slow['times_high']:.0f}), without one byte "
        "more to write."
    )


def cost(run) -> str:
    """What small files add to an output step with the largest records, and the sum that says why."""
    here, *_, slow = largest(run).itertuples()
    tasks = int(run["tasks"].values[0])
    sets = tasks * by_task()
    expected, told = 1 + sets * slow.asked / slow.without, opening.frame(run)
    assert told is not None
    formula = told["predicted"][slow.Index]
    written = run["observed_without"].values[slow.Index]
    fastest, slowest = np.nanmin(written), np.nanmax(written)
    each, _, writing = _step()
    here_limit, limit = fastest / sets, writing / each
    assert _PART == 20 and here.times < 1.1 and slow.times_low > 1.5 and 0.5 < slow.times / expected < 2
    assert slowest > 3 * fastest and 1 + sets * slow.asked / slowest < slow.times < 1 + sets * slow.asked / fastest
    assert here_limit > 2 * limit and formula > 2 * slow.times
    return (
        f"The test is a twentieth of such a step, with {sets} opens. Opens that are not delayed take "
        f"{1e6 * here.open:.0f} µs each, and hardly matter. Opens of {1e3 * slow.asked:g} ms need "
        f"{significant(sets * slow.asked, 2)} s together. The bytes of the step alone need from "
        f"{significant(fastest, 1)} to {significant(slowest, 2)} s, from run to run. So the opens make it "
        f"{slow.times:.1f} times as long ({slow.times_low:.1f} to {slow.times_high:.0f}). Our formula, which takes the "
        f"same rate of writing in all runs, gives {formula:.1f}. In the fastest of our runs, opens of "
        f"{1e3 * here_limit:.1f} ms would take as long as the bytes. In the talk's step opens of {1e3 * limit:.2f} ms "
        f"already take as long as the bytes: if all its files are written at once, its bytes move "
        f"{here_limit / limit:.0f} times as fast as in our fastest run."
    )


def on_disk(run) -> str:
    """What a file gets from a disk beside what the talk states, and whole steps there with and without small files."""
    rate, stated = _file_rate(run)["middle"].item(), float(tables.load("xc30", "hres_io")["file_rate"])
    small, plain = (_steps(run, 0, code) for code in _CODES)
    single, longer = run["observed_after step 0"].values[0], figures.times(small[1:], plain[1:])
    with_small, without = (np.nanmedian(each[1:]) for each in (small, plain))
    opening_them = _step()[0] * largest(records.runs()[0])["open"].iloc[0]
    assert rate > 2 * stated and longer.measurable and opening_them < (with_small - without) / 5
    assert np.nanmin(plain[0]) > 2 * max(np.nanmax(small[0]), np.nanmax(single))
    ends = [f"{np.nanmin(each):.2g} to {np.nanmax(each):.2g} s" for each in (small[0], plain[0], single)]
    rounded = float(f"{rate:.2g}")
    return (
        "These files go to memory. In a second test we write steps of the talk's full size to a disk, one file after "
        f"another, each record flushed. If only one step is written, each file in its turn gets about {rounded:.0f} "
        f"MB/s; in the talk each gets {stated:.0f} and more, probably all at once. When steps follow one another, each "
        f"after the first overwrites files, which is faster. Such a step takes {with_small:.1f} s with small files and "
        f"{without:.1f} s without, {longer.medians:.2f} times as long ({longer.interval[0]:.2f} to "
        f"{longer.interval[1]:.2f}). Opens that are not delayed explain only {significant(opening_them, 1)} s of the "
        "difference. Steps with and without small files take turns. We leave out the first of either kind, which is "
        f"slow: {ends[0]} with small files, which goes first, and even {ends[1]} without. Small files can hardly be "
        "why, since the slowest step opens none. Probably that step is slow because the one before it has just written "
        f"as much. If nothing was written before, a step without small files takes {ends[2]}."
    )


def by_python() -> str:
    """The loop of opens in Python over the compiled one, on this machine."""
    from supercomputers_rerun.kernels.files import storm
    from supercomputers_rerun.kernels.files.syscalls import touch_files

    with tempfile.TemporaryDirectory(prefix="rerun-") as folder:
        paths = [Path(folder, name) for name in "abc"[: by_task()]]
        for path in paths:
            path.write_bytes(bytes(storm.Problem().small_bytes))
        names = np.array([[*os.fsencode(path), 0] for path in paths], np.uint8)
        buffer = np.zeros(storm.Problem().small_bytes, np.uint8)
        took = interleave(
            {
                "plain": lambda repeats: storm.plain(paths, repeats),
                "timed": lambda repeats: touch_files(names, repeats, 0.0, buffer),
            }
        )
    plain, timed = (float(np.median(took[name])) / by_task() for name in ("plain", "timed"))
    slow = (plain + 1e-3) / (timed + 1e-3)
    return (
        f"Here the loop takes {figures.times(took['plain'], took['timed']).times} as long in Python as compiled. If "
        f"every open took 1 ms more, it would take {slow:.3f} times as long, because no compiler makes an answer come "
        "sooner."
    )


@conclusion(
    "xc30-c11",
    place='slide "A Look at HRES IO"',
    says="Bulk output goes well: each file gets 200 MB/s and more.",
)
def bulk_goes_well() -> Finding:
    """Rate of a file of one output step, each flushed to the device."""
    (found,) = _file_rate(bulk.runs()[0]).itertuples()
    least = float(tables.load("xc30", "hres_io")["file_rate"])
    return Finding(
        HOLDS,
        f"One after the other, flushed to a virtual disk, files get {found.middle:.0f} MB/s ({found.low:.0f} to "
        f"{found.high:.0f}).",
        bears=found.low > least,
    )


@conclusion(
    "xc30-c12",
    place='slide "A Look at HRES IO"',
    says="What delays the forecast is small files that every task opens in every output step.",
)
def small_files_delay() -> Finding:
    """A step with small files over one without: as this host opens, and with slow opens."""
    here, *_, slow = largest(records.runs()[0]).itertuples()
    return Finding(
        PARTLY,
        f"Not where an open costs {1e6 * here.open:.0f} µs: a step with records of the talk's size takes "
        f"{here.times:.2f} times as long with small files ({here.times_low:.2f} to {here.times_high:.2f}). Where it "
        f"costs {1e3 * slow.open:.0f} ms, on purpose, it takes {significant(slow.times, 2)} times as long "
        f"({significant(slow.times_low, 2)} to {significant(slow.times_high, 2)}).",
        bears=here.times_high < 1.1 and slow.times_low > 1.5,
    )


def _steps(run, load: int, code: str = "before") -> "np.ndarray":
    """Seconds of whole steps of the talk in one code, (steps, samples), beside ``load`` processes that load the file
    system.

    The first step writes to new places of the disk, the others over what it wrote.  In it, and in every second step
    after it, the code with small files goes first.
    """
    row = int(np.flatnonzero((run["load"].values == load) & (run["tasks"].values > 0))[0])
    names = (f"observed_{code} step {n}" for n in range(int(run["steps"].values[row])))
    return np.array([run[name].values[row] for name in names])


def _off(seconds) -> "np.ndarray":
    """By how much of the median of its sample the step farthest from it is longer or shorter, of each sample."""
    middle = np.nanmedian(seconds, axis=0)
    return np.maximum(np.nanmax(np.abs(seconds / middle - 1), axis=0), 1e-9)


@conclusion(
    "xc30-c13",
    place='slides "We have a Tuning Challenge" and "A Look at HRES IO"',
    says="The times of output steps vary.",
)
def steps_vary() -> Finding:
    """The slowest step over the median one, alone."""
    every = _steps(bulk.runs()[0], 0)[1:]
    worst = figures.of_samples([np.nanmax(every, axis=0) / np.nanmedian(every, axis=0)], [""]).iloc[0]
    varies = worst["low"] > _VARIES
    return Finding(
        HOLDS if varies else NOT,
        f"Of {len(every)} steps with small files the slowest takes {worst['middle']:.2f} times as long as the median "
        f"one ({worst['low']:.2f} to {worst['high']:.2f}). They are the talk's whole steps, each record flushed to the "
        f"disk, of {np.nanmedian(every):.2g} s. A first step, to new places of the disk, is left out, because it "
        "always takes longer.",
        bears=True,
    )


@conclusion(
    "xc30-c14",
    place='slide "A Look at HRES IO"',
    says="The variation gets worse on a heavily loaded file system.",
)
def worse_when_loaded() -> Finding:
    """A step, and by how much steps differ from their median, alone and beside processes that load the file system."""
    alone, loaded = (_steps(bulk.runs()[0], load)[1:] for load in _LOADS)
    longer, wider = figures.times(loaded.ravel(), alone.ravel()), figures.times(_off(loaded), _off(alone))
    more, slower = (each.measurable and each.medians > 1 for each in (wider, longer))
    return Finding(
        HOLDS if more else PARTLY if slower else NOT,
        f"Beside a process that loads our file system a step with small files takes {longer.times} as long as alone, "
        f"and the one farthest from the median departs from it {wider.times} as far. Each record is flushed to "
        "a local disk.",
        bears=True,
    )


@conclusion(
    "xc30-c15",
    place='slide "IO that needs to be removed"',
    says="Hundreds of thousands to millions of opens in a suite must be removed.",
)
def to_be_removed() -> Finding:
    """What the opens of the talk's forecast cost at what one costs here."""
    run, sets = _usual(records.runs()[0]), counted_opens()
    here, *_ = largest(run).itertuples()
    one = run["observed_small"].values[here.Index] / (run["tasks"].values[here.Index] * by_task())
    spent = figures.of_samples([sets["HRES"] * one], [""]).iloc[0]
    return Finding(
        THEN,
        f"The counts are those of ECMWF's suites. At what an open costs here, all {sets['HRES']:.0f} of its forecast "
        f"would take {spent['middle']:.1f} s ({spent['low']:.1f} to {spent['high']:.1f}), one after another.",
        bears=spent["high"] < 10,
    )


@conclusion(
    "xc30-c16",
    place='slide "We have a Tuning Challenge"',
    says="Lustre is not GPFS: another parallel file system has other characteristics.",
)
def lustre_is_not_gpfs() -> Finding:
    """Small files and records of the same steps on two file systems of a machine."""
    run = records.runs()[0]
    if not (other := run["place"].values == _MEMORY).any():
        return not_yet(records.id, "No run of the book has a second file system")
    pair = [int(np.flatnonzero(other)[0]), 0]
    opened, written = (
        figures.times(*(run[f"observed_{name}"].values[row] for row in pair[::-1])) for name in ("small", "without")
    )
    differ = opened.measurable or written.measurable
    return Finding(
        PARTLY if differ else NOT,
        f"In the folder for temporary files the small files of a step take {opened.times} as long as in {_MEMORY}, a "
        f"file system of memory, and its records {written.times} as long. Neither is a parallel file system.",
        bears=run["latency"].values[0] == 0,
    )


not_run(
    "xc30-c17",
    place='slide "Lessons Learned"',
    says="Complexity keeps growing, and needs more resources to meet it.",
    found=Finding(THEN, "It is the judgement of those who moved the forecast. Nothing that runs can test it."),
)
