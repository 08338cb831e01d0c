"""The section *What does an astronomer gain?*: the Dirty Dozen Test."""

from dataclasses import replace

from supercomputers_rerun.companion import figures, models, tables
from supercomputers_rerun.companion.chapters.aips58 import common
from supercomputers_rerun.companion.chapters.aips58.common import KINDS, NAMES, SIZES, SYSTEMS
from supercomputers_rerun.companion.common import np, pd, significant
from supercomputers_rerun.companion.conclusions import NOT, THEN, UNTESTED, Finding, conclusion, not_run
from supercomputers_rerun.companion.experiments import experiment

#: Bytes of a word of the X-MP.
_WORD = 8


@experiment(
    "aips58-ddt",
    item="A1-A4, A7, A10, A12",
    threads=1,
    rounds=8,
    seconds={"paper": 150, "modern": 200},
    unit="s of CPU time",
    of="cpu",
)
def test(preset: str, threads: int) -> list:
    """The Dirty Dozen Test: thirteen problems, CPU and real time."""
    from supercomputers_rerun.kernels.imaging import tasks

    return [
        common.problem(f"{size} {task}", threads, {}, task=task, size=size)
        for size in SIZES[preset]
        for task in tasks.TASKS
    ]


def _gain(run, kind: str, size: str = "") -> "tuple[pd.DataFrame, np.ndarray]":
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
    runs, ratios = common.comparable(runs), over_convex()
    old = {
        f"{name.removeprefix('X-MP, ')}, {words}": ratios[kind].sel(system=system).values.ravel()
        for name, system in zip(NAMES[1:], SYSTEMS[1:], strict=True)
        for kind, words in KINDS.items()
    }
    found, frames = [], []
    for run in runs:
        both = {kind: _gain(run, kind) for kind in KINDS}
        spreads = {kind: figures.of_samples(gain, cases["flags"]) for kind, (cases, gain) in both.items()}
        found.append({f"today (our sizes), {words}": spreads[kind] for kind, words in KINDS.items()})
        frames.append(figures.with_spread(both["cpu"][0][["size", "task"]], **spreads))
    cpu, real = (float(ratios[kind].sel(system="CLSC").median()) for kind in KINDS)
    return common.strips(
        old,
        runs,
        found,
        apart="sizes of our own:\norder of magnitude",
        data=frames,
        name="aips58_gains",
        title=f"The Cray in Toronto was {cpu:.0f} times as fast as the Convex in CPU time, "
        f"{real:.1f} times in real time",
        caption="A mark is a task at one size, a stroke a median. Grey: today's tasks, of sizes of our own.",
        tables="ddt_small ddt_medium ddt_large prose",
    )


def bounded():
    """The Convex's real time over its own with Toronto's CPU time and waits as they are: Amdahl's law, by problem."""
    old = common.ddt()
    waits = 1 - (old["cpu"] / old["real"]).sel(system="NRAO1", drop=True)
    return models.amdahl(waits, over_convex()["cpu"].sel(system="CLSC", drop=True))


@test.figure
def by_class(runs) -> "figures.Shown":
    """Gain in CPU time over the Convex by problem, those that vectorise last: Toronto as printed, and runs."""
    runs, frames = common.comparable(runs), []
    for run in runs:
        size = common.printed_size(run)
        cases, gain = _gain(run, "cpu", size)
        toronto = over_convex()["cpu"].sel(size=size, problem=cases["task"].values, system="CLSC").values
        suits = _kinds(cases["task"].values) == "vector"
        frame = pd.DataFrame({"what": cases["task"], "vector": suits, "toronto": toronto})
        frame = figures.with_spread(frame, here=figures.of_samples(gain, cases["flags"]))
        frames.append(frame.sort_values(["vector", "toronto"], ascending=[True, False], ignore_index=True))
    size, first = common.printed_size(runs[0]), frames[0]
    both = [first.loc[_kinds(first["what"].values) == kind, "toronto"] for kind in ("vector", "scalar")]
    shown = figures.dots(
        runs,
        frames,
        {"here": "today"},
        printed={NAMES[1]: first.set_index("what")["toronto"]},
        xlabel="times as fast as the Convex C1, CPU time",
        log=True,
        name=f"aips58_by_class_{size}",
        title=f"Toronto gained {both[0].median():.1f} times on {size} tasks that suit vectors, "
        f"{both[1].median():.1f} on the four that do not",
        caption="Numbers are gains of Toronto, strokes their medians over the seven tasks that by the memo suit "
        "vectors and over the four that do not.",
        tables=f"ddt_{size} problem_classes",
    )
    axis, edge = shown.figure.axes[0], np.count_nonzero(~first["vector"]) - 0.5
    figures.at_right(axis, [significant(float(gain), 2) for gain in first["toronto"]])
    axis.axhline(edge, color=figures.INK, linewidth=0.9)
    for part in both:
        axis.vlines(part.median(), part.index.min() - 0.4, part.index.max() + 0.4, color=figures.meaning("printed"))
    for words, where, shift in (("do not vectorise", "bottom", -0.15), ("vectorise", "top", 0.15)):
        axis.text(0.48, edge + shift, words, transform=axis.get_yaxis_transform(), ha="center", va=where, size=9)
    return shown


def _kinds(tasks) -> "np.ndarray":
    """What a vector machine can do with problems, by the memo: ``vector``, ``scalar`` or ``tape``."""
    return tables.load("aips58", "problem_classes")["class"].sel(problem=tasks).values


def gained() -> str:
    """What an X-MP gained over the Convex in CPU and in real time, and why no more, by Amdahl's law."""
    gain, expected, waits = over_convex().sel(system="CLSC"), bounded(), common.ddt()["real"] - common.ddt()["cpu"]
    cpu, real = (float(gain[kind].median()) for kind in KINDS)
    shorter = float((waits.sel(system="CLSC") / waits.sel(system="NRAO1")).median())
    slower = 1 / float(over_convex()["real"].sel(system="PSC").median())
    behind = int((gain["real"] < 1).sum())
    assert 9.5 < cpu < 10.5 and 1.5 < float(expected.median()) < real < 3 and 0.6 < shorter < 0.9 and slower > 2
    return (
        "Suppose the Convex had had Toronto's processor, but had waited as long as before. It would have been "
        f"{float(expected.median()):.1f} times as fast in real time (median). Toronto was {real:.1f} times as fast, "
        f"because most of its tasks also waited for less time. In {behind} of {gain['real'].size} timings it was "
        f"slower. Pittsburgh, among other users, took {slower:.0f} times as long as the Convex (median)."
    )


def classes() -> str:
    """The gain in CPU time at Toronto of the large problems that vectorise, and of those that do not."""
    gain = over_convex()["cpu"].sel(size="large", system="CLSC")
    kinds = _kinds(gain["problem"].values)
    vector, scalar = (float(np.median(gain.values[kinds == kind])) for kind in ("vector", "scalar"))
    assert vector < scalar and [(kinds == kind).sum() for kind in ("vector", "scalar")] == [7, 4]
    return (
        "Large tasks that suit a vector machine (by the memo) were "
        f"{vector:.1f} times as fast in CPU time in Toronto as on the Convex (median). The four that do not were "
        f"{scalar:.1f} times as fast. So vectors did not decide the gain, probably because the Convex was a vector "
        "computer, too (not measured)."
    )


def averages(run) -> str:
    """How far the means of as many first samples as the memo averages executions are from the medians of all."""
    cases, count = figures.cases(run, "size", "task"), tables.load("aips58", "ddt")["executions"]
    n = [int(count.sel(size=row.size, problem=row.task)) for row in cases.itertuples()]
    real = run["observed_real"].values
    off = [np.nanmean(row[:n]) / np.nanmedian(row) - 1 for row, n in zip(real, n, strict=True) if n > 1]
    return (
        f"The memo gives means of up to {max(n)} executions. A single slow sample moves a mean, but hardly a median. "
        "If we, too, take means of so few samples of a task, they are up to "
        f"{100 * max(off):.0f} % above the median of all samples."
    )


@experiment(
    "aips58-memory", item="A11", threads=1, rounds=7, seconds={"paper": 120, "modern": 300}, unit="Mword", of="peak"
)
def field_lengths(preset: str, threads: int) -> list:
    """The most memory that each problem of the Dirty Dozen Test holds of its own."""
    from supercomputers_rerun.kernels.imaging import tasks

    cases = [
        common.problem(f"{size} {task}", threads, {}, task=task, size=size, peak=True)
        for size in SIZES[preset]
        for task in tasks.TASKS
    ]
    return [replace(case, observe=lambda result: {"peak": result.peak}) for case in cases]


@field_lengths.figure
def memory(runs) -> "figures.Shown":
    """The memory of each problem by size, in words of the X-MP, and the memo's bound."""
    frames = []
    for run in runs:
        cases = figures.cases(run, "size", "task")
        words = figures.converted(figures.sampled(run, "observed_peak"), lambda held: held / _WORD / 1e6)
        rows = cases["task"].unique()
        parts = {size: words.loc[part.index].set_index(part["task"]).loc[rows] for size, part in cases.groupby("size")}
        frames.append(figures.with_spread(pd.DataFrame({"what": rows}), **parts))
    sizes, most = dict.fromkeys(runs[0]["size"].values.tolist()), float(runs[0]["observed_peak"].max()) / _WORD / 1e6
    return figures.dots(
        runs,
        frames,
        {size: f"{size} problems" for size in sizes},
        xlabel="memory [Mword]",
        log=True,
        base=1,
        name="aips58_memory",
        title=f"Our {[*sizes][-1]} tasks hold up to {most:.0f} Mword; all of the memo's stayed below one",
        caption="Input, work space and products, in words of eight bytes, without the program. Left of the line lay "
        "every job of the memo.",
    )


@conclusion(
    "aips58-c4",
    place="abstract",
    says="In real time the X-MPs are at best eight times as fast as a Convex C1, typically two to three times.",
)
def real_gains() -> Finding:
    """Best and median gain in real time at Toronto."""
    gain = over_convex()["real"].sel(system="CLSC")
    return Finding(
        THEN,
        f"At Toronto the best gain is {float(gain.max()):.1f}, the median {float(gain.median()):.1f}, by the tables. "
        "Over the Convex of 1988 we gain thousands today, on sizes of our own, which says nothing about either X-MP.",
        bears=7 < float(gain.max()) < 9 and 2 < float(gain.median()) < 3,
    )


@conclusion(
    "aips58-c5",
    place="abstract",
    says="Pittsburgh's real times, even allowing for its other users, are not much better than those of a Convex C1.",
)
def no_better() -> Finding:
    """Printed real times of Pittsburgh against the Convex."""
    gain = over_convex()["real"].sel(system="PSC")
    slower = int((gain < 1).sum())
    return Finding(
        THEN,
        f"By the tables {slower} of {gain.size} problems took longer at Pittsburgh than on the Convex. Its other users "
        "cannot be had back.",
        bears=slower > 0.9 * gain.size,
    )


@conclusion(
    "aips58-c6",
    place="section 4",
    says="AIPS uses one processor and less than 1 Mword, so that further processors and more memory do not matter.",
)
def little_memory() -> Finding:
    """The most memory that a problem of each size holds."""
    run = field_lengths.runs()[0]
    words = {size: run["observed_peak"].values[run["size"].values == size].max() / _WORD / 1e6
             for size in SIZES["paper"]}  # fmt: skip
    return Finding(
        NOT,
        "Our programs hold whole images where AIPS worked through small buffers: at most "
        f"{words['small']:.1f} Mword in the small problems, {words['large']:.0f} Mword in the large ones.",
        bears=min(words.values()) > 1,
    )


@conclusion(
    "aips58-c7",
    place="section 6, notes 6 and 7",
    says="Seven of the problems suit vector machines, four do not.",
)
def suited() -> Finding:
    """Median gain in CPU time of both classes, then and now."""
    run = test.runs()[0]
    cases, here = _gain(run, "cpu", "large")
    kinds = _kinds(cases["task"].values)
    toronto = over_convex()["cpu"].sel(size="large", system="CLSC", problem=cases["task"].values).values
    (seven, four), (mine, other) = (
        [function(values[kinds == kind]) for kind in ("vector", "scalar")]
        for function, values in ((np.median, toronto), (common.middles, here))
    )
    return Finding(
        THEN,
        "Whether our programs suit vectors was our choice. Over the Convex, which has vectors too, the seven did not "
        f"gain more: at Toronto {seven:.1f} in CPU time against {four:.1f} for the four, and of ours the seven gain "
        f"{mine[0] / other[0]:.2f} times what the four gain.",
        bears=seven < four and mine[2] < other[1],
    )


not_run(
    "aips58-c8",
    place="section 6, note 1",
    says="The releases of July and October 1988 do not differ significantly.",
    found=Finding(UNTESTED, "It takes both releases of AIPS, and a machine that still runs them."),
)
