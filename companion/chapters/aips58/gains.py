"""The sections *What does an astronomer gain?* and *Do problems that vectorise gain more?*: the Dirty Dozen Test."""

import numpy as np

from companion import figures, tables
from companion.chapters.aips58 import common
from companion.chapters.aips58.common import KINDS, NAMES, SIZES, SYSTEMS
from companion.experiments import experiment
from companion.labels import significant
from companion.late import pd
from companion.records.runs import single

#: Bytes of a word of the X-MP.
_WORD = 8


@experiment(
    "aips58-ddt",
    item="A1-A4, A7, A10, A11",
    title="The Dirty Dozen Test: thirteen problems, CPU and real time",
    rounds=7,
    seconds={"quick": 3, "paper": 150, "modern": 200},
)
def test(preset: str, threads: int) -> list:
    """All thirteen problems at every size of the preset."""
    from kernels.imaging import tasks

    return [
        common.problem(f"{size} {task}", threads, {}, task=task, size=size)
        for size in SIZES[preset]
        for task in tasks.TASKS
    ]


def _faster(run, kind: str, size: str = "") -> tuple["pd.DataFrame", np.ndarray, np.ndarray]:
    """Cases of one size, or of every size of the memo: size and task, their numbers, and the Convex's times of them."""
    old = common.ddt()[kind].sel(system="NRAO1")
    frame = common.frame(run, "size", "task")
    frame = frame[frame["size"].isin([size] if size else old["size"].values)]
    convex = [float(old.sel(size=size, problem=task)) for size, task in frame.to_numpy()]
    return frame.reset_index(drop=True), frame.index.to_numpy(), np.array(convex)


def _gain(run, kind: str, size: str = "") -> np.ndarray:
    """The Convex's time over that of each round, (problems, rounds)."""
    _, cases, convex = _faster(run, kind, size)
    return convex[:, None] / single(run)[f"observed_{kind}"].values[cases]


def _gains(run, kind: str, size: str = "") -> "pd.DataFrame":
    """The Convex's time over that of a run, with the spread of the run."""
    _, cases, convex = _faster(run, kind, size)
    return figures.converted(common.samples(run, kind, cases), lambda seconds: convex / seconds)


def over_convex():
    """How many times as fast as the Convex each problem was, in CPU and in real time."""
    old = common.ddt()[["cpu", "real"]]
    return old.sel(system="NRAO1", drop=True) / old


@test.figure
def gains(runs) -> "figures.Shown":
    """How many times as fast as the Convex every problem is, in CPU and in real time: the X-MPs, and runs."""
    runs, facts = common.comparable(runs), tables.load("aips58", "prose")
    figure, axis = figures.axes(height=2.8)
    names = [f"{where}, {kind}" for where in ("Toronto", "Pittsburgh", "today") for kind in KINDS.values()]
    ratios = over_convex()
    medians: list[float] = []
    frames: list = []
    for index, system in enumerate(SYSTEMS[1:], start=1):
        for kind in KINDS:
            ratio, row = ratios[kind].sel(system=system).values.ravel(), len(medians)
            figures.points(axis, ratio, row + common.jitter(ratio), label="_", index=index, line=False)
            medians.append(common.median(axis, row, ratio, "{:.2g}" if kind == "real" else "{:.1f}"))
    for run in runs:
        found = {kind: _gains(run, kind) for kind in KINDS}
        middles = [common.problems(axis, row, each, "{:.0f}", run) for row, each in enumerate(found.values(), start=4)]
        medians += [] if frames else middles
        frames.append(figures.with_spread(_faster(run, "cpu")[0], **found))
    figures.rows(axis, names, 0.6)
    axis.axvline(1, color=figures.INK, linewidth=0.8)
    figures.log_axis(axis, "x")
    axis.set_xlim(right=20 * max(frames[0]["cpu_high"].max(), frames[0]["real_high"].max()))
    axis.set_xlabel("times as fast as the Convex C1")
    best = ratios["real"].max(("size", "problem")).to_series()
    text = ", ".join(f"{name} {significant(middle, 3)}" for name, middle in zip(names, medians, strict=True))
    return common.show(
        figure,
        runs,
        frames,
        name="aips58_gains",
        title="The X-MPs gained more in CPU time than in real time",
        caption="A mark is a problem at one size, strokes with their numbers are medians. The memo says of real times: "
        f"best about {float(facts['real_best']):.0f}, typically {float(facts['real_typical_least']):.0f} to "
        f"{float(facts['real_typical_most']):.0f}. The best at Toronto is {best['CLSC']:.1f}, at Pittsburgh "
        f"{best['PSC']:.1f}.",
        alt=f"Speed of every problem over that of the Convex C1, logarithmic. Medians: {text}.",
        tables="ddt_small ddt_medium ddt_large prose",
    )


@test.figure
def by_class(runs) -> "figures.Shown":
    """Gain in CPU time over the Convex by problem, those that vectorise apart: Toronto as printed, and runs."""
    runs = common.comparable(runs)
    size = common.printed_size(runs[0])
    tasks = _faster(runs[0], "cpu", size)[0]["task"].to_numpy()
    vector = _vectorise(tasks)
    order = np.argsort(vector, kind="stable")
    tasks, vector = tasks[order], vector[order]
    toronto = over_convex()["cpu"].sel(size=size, problem=tasks, system="CLSC").values
    figure, axis = figures.axes(height=3.2)
    place, frames = common.beside(axis, tasks, {NAMES[1]: toronto}, first=1), []
    for run in runs:
        found = _gains(run, "cpu", common.printed_size(run)).iloc[order].reset_index(drop=True)
        figures.bars(axis, place, found, label=figures.cpu(run), line=False, across=True, run=run)
        frames.append(figures.with_spread(pd.DataFrame({"task": tasks, "toronto": toronto}), here=found))
    edge = np.count_nonzero(~vector) - 0.5
    axis.axhline(edge, color=figures.INK, linewidth=0.9)
    for words, where, shift in (("do not vectorise", "bottom", -0.15), ("vectorise", "top", 0.15)):
        axis.text(0.48, edge + shift, words, transform=axis.get_yaxis_transform(), ha="center", va=where, size=9)
    figures.log_axis(axis, "x")
    axis.set_xlabel(f"times as fast as the Convex C1 in CPU time, {size} problems")
    figures.legend(axis, "above 1 0.45")
    medians = [np.median(each[of]) for each in (toronto, frames[0]["here"].to_numpy()) for of in (~vector, vector)]
    text = (
        "Medians of those that do not vectorise and of those that do: {:.1f} and {:.1f} at Toronto, {:.0f} and {:.0f} "
        f"on {figures.cpu(runs[0])}"
    ).format(*medians)
    return common.show(
        figure,
        runs,
        frames,
        name=f"aips58_by_class_{size}",
        title=f"Gain in CPU time of the {size} problems",
        caption=f"{text}.",
        alt=f"Gain in CPU time over the Convex C1 of the {size} problems, logarithmic. {text}.",
        tables=f"ddt_{size} problem_classes",
    )


def _vectorise(tasks) -> np.ndarray:
    """Which problems lend themselves to vectors, by the memo."""
    return tables.load("aips58", "problem_classes")["class"].sel(problem=tasks).values == "vector"


@test.figure
def as_printed(runs) -> "figures.Table":
    """The largest problems as the memo lays them out: CPU, real, C/R, and times of the three systems over these."""
    run = common.comparable(runs)[0]
    size, of = common.printed_size(run), figures.cpu(run)
    frame, cases, _ = _faster(run, "cpu", size)
    spent, real = (common.samples(run, kind, cases)["middle"].to_numpy() for kind in KINDS)
    out = pd.DataFrame({"problem": frame["task"], "CPU": spent, "real": real, "C/R": spent / real})
    for system in SYSTEMS:
        old = common.ddt().sel(size=size, system=system, problem=frame["task"].values)
        out[f"CPU, {system}/{of}"] = old["cpu"].values / spent
        out[f"real, {system}/{of}"] = old["real"].values / real
    return figures.table(
        out,
        digits=3,
        index=False,
        name="aips58_here",
        units={"CPU": "s", "real": "s"},
        caption=f"The {size} problems as the memo lays them out. {figures.run_title(run)}".replace("\n", ", "),
    )


def said(run) -> str:
    """How much the median problem gained over the Convex, in CPU and in real time, on an X-MP and in a run."""
    then = over_convex().sel(system="CLSC").median()
    here = {kind: _gain(run, kind) for kind in KINDS}
    more = np.median(np.nanmedian(here["real"], axis=1)) > np.median(np.nanmedian(here["cpu"], axis=1))
    return (
        f"At Toronto the median gain over the Convex was {float(then['cpu']):.1f} in CPU time and "
        f"{float(then['real']):.1f} in real time. On {figures.cpu(run)} it is {common.typical(here['cpu'])} in CPU "
        f"time and {common.typical(here['real'])} in real time. "
        + ("Real time gains more here, because less of it is waiting." if more else "Real time gains less here, too.")
    )


def classes(run) -> str:
    """The gain in CPU time of large problems that vectorise and of those that do not, then and now."""
    tasks = _faster(run, "cpu", "large")[0]["task"].to_numpy()
    toronto = over_convex()["cpu"].sel(size="large", system="CLSC", problem=tasks)
    vector, here = _vectorise(tasks), _gain(run, "cpu", "large")
    one, other = (common.middles(here[of]) for of in (vector, ~vector))
    than = "less" if one[2] < other[1] else "more" if one[1] > other[2] else "not measurably more or less"
    return (
        f"At Toronto the median gain of the large problems is {float(toronto[vector].median()):.1f} for the seven that "
        f"vectorise and {float(toronto[~vector].median()):.1f} for the six others. The largest belongs to "
        f"{toronto.idxmax('problem').item()}, which combines two images. On {figures.cpu(run)} "
        f"problems that vectorise gain {than} than the others: {common.typical(here[vector])} against "
        f"{common.typical(here[~vector])}."
    )


def memory() -> str:
    """The memory that problems of each size ask for, in words of the X-MP."""
    from kernels.imaging import ddt

    words = [ddt.footprint(ddt.Problem(size=size)).memory / _WORD / 1e6 for size in SIZES["paper"]]
    least, middle, most = (significant(each, 2) for each in words)
    return f"Here the problems of a size ask for {least}, {middle} and {most} Mword before they begin."
