"""The sections *What does an astronomer gain?* and *Do problems that vectorise gain more?*: the Dirty Dozen Test."""

import numpy as np

from companion import figures, tables
from companion.chapters.aips58 import common
from companion.chapters.aips58.common import KINDS, NAMES, SIZES, SYSTEMS
from companion.common import pd, significant
from companion.experiments import experiment

#: Bytes of a word of the X-MP.
_WORD = 8


@experiment("aips58-ddt", item="A1-A4, A7, A10, A11", rounds=7, seconds={"paper": 150, "modern": 200})
def test(preset: str, threads: int) -> list:
    """The Dirty Dozen Test: thirteen problems, CPU and real time."""
    from kernels.imaging import tasks

    return [
        common.problem(f"{size} {task}", threads, {}, task=task, size=size)
        for size in SIZES[preset]
        for task in tasks.TASKS
    ]


def _gain(run, kind: str, size: str = "") -> tuple["pd.DataFrame", np.ndarray]:
    """Cases of one size, or of every size of the memo, and the Convex's time over that of each round, (cases,
    rounds)."""
    cases, convex = figures.cases(run, "size", "task"), common.ddt()[kind].sel(system="NRAO1")
    cases = cases[cases["size"].isin([size] if size else convex["size"].values)]
    old = [float(convex.sel(size=row[1], problem=row[2])) for row in cases.itertuples()]
    return cases, np.array(old)[:, None] / run[f"observed_{kind}"].values[cases.index]


def over_convex():
    """How many times as fast as the Convex each problem was, in CPU and in real time."""
    old = common.ddt()[["cpu", "real"]]
    return old.sel(system="NRAO1", drop=True) / old


@test.figure
def gains(runs) -> "figures.Shown":
    """How many times as fast as the Convex every problem is, in CPU and in real time: the X-MPs, and runs."""
    runs, facts, ratios = common.comparable(runs), tables.load("aips58", "prose"), over_convex()
    old = {
        f"{name.removeprefix('X-MP, ')}, {words}": ratios[kind].sel(system=system).values.ravel()
        for name, system in zip(NAMES[1:], SYSTEMS[1:], strict=True)
        for kind, words in KINDS.items()
    }
    found, frames = [], []
    for run in runs:
        both = {kind: _gain(run, kind) for kind in KINDS}
        spreads = {kind: figures.of_samples(gain, cases["flags"]) for kind, (cases, gain) in both.items()}
        found.append({f"today, {words}": spreads[kind] for kind, words in KINDS.items()})
        frames.append(figures.with_spread(both["cpu"][0][["size", "task"]], **spreads))
    best = ratios["real"].max(("size", "problem")).to_series()
    return common.strips(
        old,
        runs,
        found,
        data=frames,
        name="aips58_gains",
        title="The X-MPs gained more in CPU time than in real time",
        caption="A mark is a problem at one size, strokes with their numbers are medians. The memo says of real times: "
        f"best about {float(facts['real_best']):.0f}, typically {float(facts['real_typical_least']):.0f} to "
        f"{float(facts['real_typical_most']):.0f}. The best at Toronto is {best['CLSC']:.1f}, at Pittsburgh "
        f"{best['PSC']:.1f}. {common.PRESET} {figures.MARKED}",
        tables="ddt_small ddt_medium ddt_large prose",
    )


@test.figure
def by_class(runs) -> "figures.Shown":
    """Gain in CPU time over the Convex by problem, those that vectorise last: Toronto as printed, and runs."""
    runs, frames = common.comparable(runs), []
    for run in runs:
        size = common.printed_size(run)
        cases, gain = _gain(run, "cpu", size)
        toronto = over_convex()["cpu"].sel(size=size, problem=cases["task"].values, system="CLSC").values
        frame = pd.DataFrame({"what": cases["task"], "vector": _vectorise(cases["task"].values), "toronto": toronto})
        frame = figures.with_spread(frame, here=figures.of_samples(gain, cases["flags"]))
        frames.append(frame.sort_values("vector", kind="stable", ignore_index=True))
    size, first = common.printed_size(runs[0]), frames[0]
    shown = figures.dots(
        runs,
        frames,
        {"here": "{}"},
        printed={NAMES[1]: first.set_index("what")["toronto"]},
        xlabel="times as fast as the Convex C1, CPU time",
        log=True,
        name=f"aips58_by_class_{size}",
        title=f"Gain in CPU time of the {size} problems",
        caption=f"{common.PRESET} {figures.MARKED}",
        tables=f"ddt_{size} problem_classes",
    )
    axis, edge = shown.figure.axes[0], np.count_nonzero(~first["vector"]) - 0.5
    axis.axhline(edge, color=figures.INK, linewidth=0.9)
    for words, where, shift in (("do not vectorise", "bottom", -0.15), ("vectorise", "top", 0.15)):
        axis.text(0.48, edge + shift, words, transform=axis.get_yaxis_transform(), ha="center", va=where, size=9)
    return shown


def _vectorise(tasks) -> np.ndarray:
    """Which problems lend themselves to vectors, by the memo."""
    return tables.load("aips58", "problem_classes")["class"].sel(problem=tasks).values == "vector"


def said(run) -> str:
    """How much the median problem gained over the Convex, in CPU and in real time, on an X-MP and in a run."""
    then = over_convex().sel(system="CLSC").median()
    here = {kind: _gain(run, kind)[1] for kind in KINDS}
    more = np.median(np.nanmedian(here["real"], axis=1)) > np.median(np.nanmedian(here["cpu"], axis=1))
    return (
        f"At Toronto the median gain over the Convex was {float(then['cpu']):.1f} in CPU time and "
        f"{float(then['real']):.1f} in real time. On {figures.cpu(run)} it is {common.typical(here['cpu'])} in CPU "
        f"time and {common.typical(here['real'])} in real time. "
        + ("Real time gains more here, because less of it is waiting." if more else "Real time gains less here, too.")
    )


def classes(run) -> str:
    """The gain in CPU time of large problems that vectorise and of those that do not, then and now."""
    cases, here = _gain(run, "cpu", "large")
    toronto = over_convex()["cpu"].sel(size="large", system="CLSC", problem=cases["task"].values)
    vector = _vectorise(cases["task"].values)
    one, other = (common.middles(here[of]) for of in (vector, ~vector))
    than = "less" if one[2] < other[1] else "more" if one[1] > other[2] else "not measurably more or less"
    return (
        f"At Toronto the median gain of the large problems is {float(toronto[vector].median()):.1f} for the seven that "
        f"vectorise and {float(toronto[~vector].median()):.1f} for the six others. On {figures.cpu(run)} "
        f"problems that vectorise gain {than} than the others: {common.typical(here[vector])} against "
        f"{common.typical(here[~vector])}."
    )


def memory() -> str:
    """The memory that problems of each size ask for, in words of the X-MP."""
    from kernels.imaging import ddt

    words = [ddt.footprint(ddt.Problem(size=size)).memory / _WORD / 1e6 for size in SIZES["paper"]]
    least, middle, most = (significant(each, 2) for each in words)
    return f"Here the problems of a size ask for {least}, {middle} and {most} Mword before they begin."
