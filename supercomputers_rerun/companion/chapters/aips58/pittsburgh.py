"""The section *Why did Pittsburgh need more CPU time?*: a cost of each problem and of each message, from the tables.

CPU time at Pittsburgh is taken as that at Toronto, plus what files cost there:

    PSC = CLSC + c + m · n

c is the cost of any problem (its files are found, opened and closed), m that of a message, n the messages
a problem writes.  The memo prints no n.  So c is the least excess of PSC over CLSC among the small problems;
``RUN DDTLOAD``, which writes hundreds of messages, gives m for a stated number of them; and the excess of each
small problem gives its n.  Taken from the small problems alone, the same seconds then predict the medium
and the large ones, which were not used.
"""

import os
from typing import NamedTuple

from supercomputers_rerun.companion import figures, models, tables
from supercomputers_rerun.companion.chapters.aips58 import common
from supercomputers_rerun.companion.chapters.aips58.common import SIZES
from supercomputers_rerun.companion.common import np, pd, significant, xr
from supercomputers_rerun.companion.conclusions import PARTLY, THEN, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment

#: Messages of RUN DDTLOAD that are tried: the memo says "hundreds"; the first gives each problem its messages.
COUNTS = (400, 800)
#: Where the data of a run are, by the value of its coordinate ``habits``.
WAYS = ("in memory", "through files", "through files in memory")
#: The same in the words of the text.
TOLLS = ("no toll", "toll, files on disk", "toll, files in memory")
#: A file system of memory, where the system has one.
_MEMORY = "/dev/shm"
#: The problem that the text tells of.
TOLD = "VTESS"
#: A difference stays if the largest of the three sizes is below this factor of the least.
_STAYS = 1.25


class Model(NamedTuple):
    """Seconds of CPU time that Pittsburgh adds."""

    problem_seconds: float  # c
    message_seconds: float  # m
    overhead: "xr.DataArray"  # c + m·n of each problem


def model(messages: int = COUNTS[0]) -> Model:
    """c, m and the overhead of every problem, from the small problems and RUN DDTLOAD."""
    load, excess = tables.load("aips58", "ddtload")["cpu"], extra().sel(size="small", drop=True)
    least = float(excess.min())
    return Model(least, (float(load.sel(system="PSC") - load.sel(system="CLSC")) - least) / messages, excess)


def crays() -> "tuple[xr.DataArray, xr.DataArray]":
    """CPU seconds at Toronto and at Pittsburgh, along size and problem."""
    cpu = common.ddt()["cpu"]
    return cpu.sel(system="CLSC", drop=True), cpu.sel(system="PSC", drop=True)


def extra() -> "xr.DataArray":
    """CPU seconds of Pittsburgh over those of Toronto, along size and problem."""
    clsc, psc = crays()
    return psc - clsc


def without() -> "xr.DataArray":
    """CPU time of Pittsburgh less the overhead, along size and problem."""
    return crays()[1] - model().overhead


def predictions() -> "pd.DataFrame":
    """Per problem: overhead, messages it stands for, printed and predicted ratios."""
    found, (clsc, psc) = model(), crays()
    columns = {
        "overhead": found.overhead.values,
        "messages": np.round((found.overhead.values - found.problem_seconds) / found.message_seconds),
    }
    for size in ("medium", "large"):
        columns[f"{size}, printed"] = (psc / clsc).sel(size=size).values
        columns[f"{size}, predicted"] = (1 + found.overhead / clsc).sel(size=size).values
    return pd.DataFrame({"problem": clsc["problem"].values} | columns)


@experiment(
    "aips58-habits",
    item="A11, A13",
    threads=1,
    rounds=7,
    seconds={"paper": 150, "modern": 300},
    unit="s of CPU time",
    of="cpu",
)
def habits(preset: str, threads: int) -> list:
    """The thirteen problems with data in memory, and with scratch files and messages on the disk and in memory.

    The number of a problem's messages follows from what it cost at Pittsburgh.
    """
    from supercomputers_rerun.kernels.imaging import tasks

    messages = predictions().set_index("problem")["messages"].astype(int)
    size, cases = SIZES[preset][-1], []
    for task in tasks.TASKS:
        for number, way in enumerate(WAYS[: 3 if os.path.isdir(_MEMORY) else 2]):
            count, folder = int(messages[task]) if number else 0, _MEMORY if number == 2 else None
            given = {"task": task, "size": size, "scratch": bool(number), "messages": count, "folder": folder}
            cases.append(common.problem(f"{task}, {way}", threads, {"habits": number, "messages": count}, **given))
    return cases


def ways(run) -> "list[np.ndarray]":
    """Cases of a run by where its data are, each in the order of the problems: two or all three ways."""
    return [np.flatnonzero(run["habits"].values == number) for number in np.unique(run["habits"].values)]


@models.predicts(
    "aips58_lost",
    models.fixed_toll,
    "how many times as long larger problems take at Pittsburgh",
    "costs that grow with a problem, such as messages for each of its parts",
)
def tolls(run, machine):
    """CPU time of Pittsburgh over Toronto in the larger tests: Toronto's, and the small problem's difference."""
    clsc, psc = (cpu.sel(size=["medium", "large"]) for cpu in crays())
    ratio = (models.fixed_toll(clsc, model().overhead) / clsc).transpose(*psc.dims)
    return pd.DataFrame({"measured": (psc / clsc).values.ravel(), "predicted": ratio.values.ravel()})


def errors() -> "pd.Series":
    """Relative distances of the predicted ratios of the medium and large problems from the printed ones."""
    found = tolls.frame()
    return (found["predicted"] / found["measured"] - 1).abs()


def stays() -> "xr.DataArray":
    """Of every problem, whether Pittsburgh needs nearly the same CPU seconds more at all three sizes."""
    more = extra()
    return (more.min("size") > 0) & (more.max("size") < _STAYS * more.min("size"))


@figures.styled
def toll() -> "figures.Shown":
    """CPU time of every problem at Pittsburgh against that at Toronto: above as a ratio, below as a difference."""
    (clsc, psc), more, fixed = crays(), extra(), stays()
    tasks, sizes = clsc["problem"].values, clsc["size"].values
    figure, panels = figures.axes(2, 1, height=5.0, sharex=True)
    for task in tasks:
        stay, told = bool(fixed.sel(problem=task)), task == TOLD
        style = {"linestyle": "-", "linewidth": 2.6 if told else 1.1, "alpha": 1.0 if told or not stay else 0.6}
        x = clsc.sel(problem=task).values
        for axis, values, unit in zip(panels, (psc / clsc, more), ("", " s"), strict=True):
            y = values.sel(problem=task).values
            drawn = figures.points(axis, x, y, label="_", colour="printed" if stay else "serial")
            drawn.set(**style)
            if told:
                axis.annotate(task, (x[0], y[0]), (-8, 0), textcoords="offset points", ha="right", va="center", size=9)
                for at in zip(x, y, strict=True):
                    words = f"{significant(float(at[1]), 2)}{unit}"
                    place = {"xytext": (0, 9), "ha": "center", "weight": "bold"} if unit else {"xytext": (6, 6)}
                    axis.annotate(words, at, textcoords="offset points", size=9, **place)
            elif more.sel(problem=task).min() < 0:
                axis.annotate(task, (x[-1], y[-1]), (7, 0), textcoords="offset points", va="center", size=9)
            elif more.sel(problem=task).max() > more.sel(problem=TOLD).max():
                axis.annotate(task, (x[-1], y[-1]), (6, 7), textcoords="offset points", ha="right", size=9)
    above, below = panels
    figures.log_axis(above)
    figures.log_axis(below, "x")
    above.set_yticks([1, 2, 5, 10], ["1", "2", "5", "10"])
    for axis, base in ((above, 1), (below, 0)):
        axis.axhline(base, color=figures.INK, linewidth=0.8)
    above.set_ylabel("times as much at Pittsburgh")
    below.set_yscale("symlog", linthresh=2, linscale=0.6)  # large IMLOD took less at Pittsburgh
    below.set(xlabel="CPU time at Toronto [s]", ylabel="more at Pittsburgh [s]", ylim=(-2, 130))
    below.set_yticks([0, 2, 5, 10, 20, 50, 100], ["0", "2", "5", "10", "20", "50", "100"])
    below.minorticks_off()
    count = int(fixed.sum())
    stays_or_not = {f"{count} tasks whose extra seconds stay": "printed", f"{fixed.size - count} others": "serial"}
    for words, colour in stays_or_not.items():
        above.plot([], [], color=figures.meaning(colour), label=words)
    figures.legend(above, "above 2 0.45")
    seconds = more.sel(problem=TOLD)
    return figures.show(
        figure,
        data=pd.DataFrame(
            {
                "problem": np.tile(tasks, len(sizes)),
                "size": np.repeat(sizes, len(tasks)),
                "toronto": clsc.transpose("size", "problem").values.ravel(),
                "ratio": (psc / clsc).transpose("size", "problem").values.ravel(),
                "difference": more.transpose("size", "problem").values.ravel(),
            }
        ),
        name="aips58_toll",
        title=f"The task {TOLD} cost {float(seconds.min()):.0f} to {float(seconds.max()):.0f} s more CPU time at "
        "Pittsburgh than at Toronto, at all three sizes",
        alt=f"{TOLD} took {' and '.join(f'{each:.1f}' for each in (psc / clsc).sel(problem=TOLD).values)} times as "
        f"much CPU time at Pittsburgh as at Toronto, and {' and '.join(f'{each:.0f}' for each in seconds.values)} s "
        f"more; of {count} tasks of {fixed.size} the seconds stay.",
        caption=f"A line: a task at three sizes. Above, its ratio falls. Below, its difference stays in {count} blue "
        "lines (scale linear up to 2 s).",
        tables="ddt_small ddt_medium ddt_large",
    )


@habits.figure
def lost(runs) -> "figures.Shown":
    """What is added, against the CPU time without: Pittsburgh over Toronto, and runs through files over in memory.

    The largest ratio of then and of today, and the tolls in seconds, stand at the marks.
    """
    clsc, psc = crays()
    toronto, ratio, small = clsc.values.ravel(), (psc / clsc).values.ravel(), model().overhead
    figure, axis = figures.axes(height=3.2)
    then = "then: Pittsburgh over Toronto, a task at three sizes"
    figures.points(axis, toronto, ratio, label=then, index=1, line=False)
    axis.plot(clsc.values, (psc / clsc).values, color=figures.meaning("printed"), linewidth=0.8, alpha=0.5)
    frames: list = []
    added, words = 0.0, "today: with our toll over without, a task at one size"
    for run in runs:
        both = ways(run)[:2]
        plain, files = (figures.sampled(run, "observed_cpu", way) for way in both)
        here = figures.ratios(run, *reversed(both), "observed_cpu")
        figures.bars(axis, plain["middle"], here, label=words, line=False, run=run)
        if not frames:
            added = float(np.median(files["middle"] - plain["middle"]))
            x = np.geomspace(0.5, 4000, 60) * plain["middle"].min()
            line = {"color": figures.meaning("measured"), "linewidth": 1.1, "linestyle": "--"}
            axis.plot(x, models.fixed_toll(x, added) / x, **line)
        tasks = pd.DataFrame({"task": run["task"].values[both[0]]})
        frames.append(figures.with_spread(tasks, plain=plain, ratio=here))
    axis.axhline(1, color=figures.INK, linewidth=0.8)
    figures.log_axis(axis)
    axis.set(ylim=(0.6, 40), xlabel="CPU time of the task without the toll [s]", ylabel="times as much with the toll")
    axis.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    figures.legend(axis, "above 1 0.45")
    most, dearest = float(ratio.max()), frames[0].loc[frames[0]["ratio"].idxmax()]
    now, beside = dearest["ratio"], {"textcoords": "offset points", "weight": "bold", "size": 9}
    axis.annotate(f"{most:.0f} times", (toronto[ratio.argmax()], most), xytext=(0, 9), ha="center", **beside)
    axis.annotate(f"{now:.1f} times", (dearest["plain"], now), xytext=(6, 24), **beside)
    beside |= {"weight": "normal", "color": figures.meaning("measured")}
    axis.annotate(f"toll: {1e3 * added:.1f} ms", (dearest["plain"], now), xytext=(6, 12), **beside)
    style = {"size": 9, "color": figures.meaning("printed"), "ha": "right", "va": "top", "transform": axis.transAxes}
    axis.text(0.99, 0.97, f"tolls: {float(small.min()):.0f} to {float(small.max()):.0f} s\nin the small test", **style)
    return figures.show(
        figure,
        runs=runs,
        data=frames,
        name="aips58_lost",
        title=f"A toll, a fixed extra time, weighs most on short tasks: up to {most:.0f} times then, up to "
        f"{now:.1f} today",
        caption=f"A line: one task of then. Dashed: what the median of today's tolls, {1e3 * added:.1f} ms, would do "
        "to every task.",
        tables="ddt_small ddt_medium ddt_large",
    )


def fades() -> list[str]:
    """How ratio and difference of one problem go with its size, and of how many problems the difference stays."""
    clsc = common.ddt()["cpu"].sel(system="CLSC", problem=TOLD).values
    more, fixed, off = extra(), stays(), errors()
    seconds = more.sel(problem=TOLD).values
    ratio = 1 + seconds / clsc
    assert (np.diff(ratio) < 0).all() and bool(fixed.sel(problem=TOLD)) and clsc[-1] > 10 * clsc[0]
    grown = (more.sel(size="large") / more.sel(size="small")).to_series()
    assert fixed.sum() > fixed.size / 2 and grown.idxmax() == "ASCAL"
    return [
        f"In the small test {TOLD} took {ratio[0]:.0f} times as much CPU time in Pittsburgh as in Toronto. In the "
        f"large test it was {ratio[2]:.1f} times. But the difference in seconds, the toll, stays: it is "
        f"between {seconds.min():.0f} and {seconds.max():.0f} s, while Toronto's own time goes from {clsc[0]:.0f} to "
        f"{clsc[2]:.0f} s.",
        f"Each task has three such differences, one for each size. In {int(fixed.sum())} of the {fixed.size} tasks "
        f"the largest is less than {100 * (_STAYS - 1):.0f} % above the smallest. If we add the difference of "
        f"the small test to Toronto's time in the larger tests, we miss Pittsburgh's time by {100 * np.median(off):.0f}"
        f" % (median of all tasks), at worst by {100 * off.max():.0f} %. In self-calibration (ASCAL) the difference "
        f"grows most, to {grown.max():.0f} times that of the small test.",
    ]


def _extremes(run) -> list:
    """How many times the CPU time files and messages make of the four shortest problems of a run together, and of the
    four longest."""
    plain, files = (run["observed_cpu"].values[chosen] for chosen in ways(run)[:2])
    order = np.nanmedian(plain, axis=1).argsort()
    return [figures.times(files[part].sum(axis=0), plain[part].sum(axis=0)) for part in (order[:4], order[-4:])]


def today(run, message: float) -> str:
    """What files and messages add to the CPU time of short and of long problems in a run.

    ``message``: CPU seconds of one whose file is opened once another process has answered (:func:`messages.asked`).
    """
    plain, files = (np.nanmedian(run["observed_cpu"].values[chosen], axis=1) for chosen in ways(run)[:2])
    short, long = _extremes(run)
    first = plain.argsort()[:4]
    told = float(run["messages"].values[ways(run)[1]][first].sum()) * message / float((files - plain)[first].sum())
    assert short.measurable and short.medians > 2 * long.medians
    assert 0 < told < 0.2
    return (
        f"With the toll the four shortest tasks together cost {short.briefly} as much CPU time as without it. For the "
        f"four longest it is {long.briefly}. In the four shortest about {100 * told:.0f} % of the toll comes from "
        "messages, the rest from copying and saving files (calculated with the price of a message in the next "
        "section). We chose what our toll consists of, so it cannot show what Pittsburgh's consisted of."
    )


def in_short(run) -> list[str]:
    """Three sentences of everyday English: the ratio, the difference, and today."""
    clsc, seconds = common.ddt()["cpu"].sel(system="CLSC", problem=TOLD).values, extra().sel(problem=TOLD).values
    ratio = 1 + seconds / clsc
    (short, long), every = _extremes(run), common.ddt()["cpu"].sel(system="CLSC").values
    assert ratio[-1] < 2 < 8 < ratio[0] and (extra().values < 0.25 * every).flat[every.argmax()]
    assert seconds.max() < _STAYS * seconds.min()
    others = extra().where(stays()).drop_sel(problem=TOLD)  # NaN where the difference does not stay
    assert 2 * int(others.notnull().all("size").sum()) > others["problem"].size and others.max() < seconds.min()
    assert short.medians > 2 and (long.medians < 1.25 or not long.measurable)
    return [
        f"One job cost, in its small size, {ratio[0]:.0f} times as much computing time in Pittsburgh as in Toronto, on "
        "a supercomputer of the same family. In its large size it cost less than twice as much.",
        f"At every size this job cost {seconds.min():.0f} to {seconds.max():.0f} seconds more of computing in "
        "Pittsburgh, like an entrance fee that does not ask how long you stay. Most other jobs paid a smaller fee.",
        "To see how such a fee acts, we build one today: a job must save its data on the disk, and ask another "
        f"program before each line of its log. Our four shortest jobs take {short.medians:.1f} times as much "
        "computing time with this fee as without, the four longest hardly more.",
    ]


@conclusion(
    "aips58-c1",
    place="abstract",
    says="On some problems both X-MPs are nearly equal; on most Pittsburgh needs more CPU time, up to over ten times.",
)
def two_machines() -> Finding:
    """Printed CPU time at Pittsburgh over that at Toronto."""
    clsc, psc = crays()
    ratio, equal = psc / clsc, int((psc / clsc < 1.2).sum())
    return Finding(
        THEN,
        f"By the tables the ratio is {float(ratio.min()):.1f} to {float(ratio.max()):.1f}, and below 1.2 in {equal} of "
        f"{ratio.size} problems. It belongs to two installations.",
        bears=float(ratio.max()) > 10 and equal > 3,
    )


@conclusion(
    "aips58-c2",
    place="section 2",
    says="Pittsburgh's management of files costs jobs that access files often more CPU and real time.",
)
def fixed_cost() -> Finding:
    """How well the extra seconds of the small problems predict the larger ones; what files add today."""
    off = errors()
    run = habits.runs()[0]
    plain, files = (run["observed_cpu"].values[chosen].sum(axis=0) for chosen in ways(run)[:2])
    short, every = _extremes(run)[0], figures.times(files, plain)
    return Finding(
        PARTLY,
        f"The memo's tables fit a fixed cost of a task: seconds added in the small test predict larger ratios within "
        f"{100 * np.median(off):.0f} % (median). Today our four shortest problems together take "
        f"{short.times} the CPU time with files and messages, all problems together {every.times}.",
        bears=np.median(off) < 0.1 and short.measurable and short.medians > 2 and every.medians < 0.5 * short.medians,
    )


@conclusion(
    "aips58-c3",
    place="section 5",
    says="Scratch files on a solid-state disk would improve real times dramatically.",
)
def solid_state() -> Finding:
    """Real time of all problems with scratch files on the disk over that with the same files in memory."""
    run = habits.runs()[0]
    disk, memory = (run["observed_real"].values[chosen].sum(axis=0) for chosen in ways(run)[1:])
    now, each = figures.times(disk, memory), figures.ratios(run, *ways(run)[1:], "observed_real")
    return Finding(
        PARTLY,
        f"With scratch files on the disk our problems together take {now.times} as long as with the same files in "
        f"memory. Of {len(each)} problems {int((each['low'] > 1).sum())} take measurably longer, up to "
        f"{each['middle'].max():.1f} times.",
        bears=now.medians < 1.3 and not now.measurable and each["low"].max() > 2,
    )
