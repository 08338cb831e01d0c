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
from supercomputers_rerun.companion.common import np, pd, xr
from supercomputers_rerun.companion.conclusions import NOT, PARTLY, THEN, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment

#: Messages of RUN DDTLOAD that are tried: the memo says "hundreds"; the middle one gives each problem its messages.
COUNTS = (200, 400, 800)
#: Where the data of a run are, by the value of its coordinate ``habits``.
WAYS = ("in memory", "through files", "through files in memory")
#: A file system of memory, where the system has one.
_MEMORY = "/dev/shm"


class Model(NamedTuple):
    """Seconds of CPU time that Pittsburgh adds."""

    problem_seconds: float  # c
    message_seconds: float  # m
    overhead: "xr.DataArray"  # c + m·n of each problem


def model(messages: int = COUNTS[1]) -> Model:
    """c, m and the overhead of every problem, from the small problems and RUN DDTLOAD."""
    load, excess = tables.load("aips58", "ddtload")["cpu"], extra().sel(size="small", drop=True)
    least = float(excess.min())
    return Model(least, (float(load.sel(system="PSC") - load.sel(system="CLSC")) - least) / messages, excess)


def extra() -> "xr.DataArray":
    """CPU seconds of Pittsburgh over those of Toronto, along size and problem."""
    cpu = common.ddt()["cpu"]
    return cpu.sel(system="PSC", drop=True) - cpu.sel(system="CLSC", drop=True)


def without() -> "xr.DataArray":
    """CPU time of Pittsburgh less the overhead, along size and problem."""
    return common.ddt()["cpu"].sel(system="PSC", drop=True) - model().overhead


def predictions() -> "pd.DataFrame":
    """Per problem: overhead, messages it stands for, printed and predicted ratios."""
    found, cpu = model(), common.ddt()["cpu"]
    clsc, psc = (cpu.sel(system=name, drop=True) for name in ("CLSC", "PSC"))
    columns = {
        "overhead": found.overhead.values,
        "messages": np.round((found.overhead.values - found.problem_seconds) / found.message_seconds),
    }
    for size in ("medium", "large"):
        columns[f"{size}, printed"] = (psc / clsc).sel(size=size).values
        columns[f"{size}, predicted"] = (1 + found.overhead / clsc).sel(size=size).values
    return pd.DataFrame({"problem": cpu["problem"].values} | columns)


def errors(frame: "pd.DataFrame") -> "np.ndarray":
    """Relative distances of the predicted ratios of the medium and large problems from the printed ones."""
    off = [np.abs(frame[f"{size}, predicted"] / frame[f"{size}, printed"] - 1) for size in ("medium", "large")]
    return np.concatenate(off)


@experiment(
    "aips58-habits",
    item="A11, A13",
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
    cpu = common.ddt()["cpu"].sel(size=["medium", "large"])
    clsc, psc = (cpu.sel(system=name, drop=True) for name in ("CLSC", "PSC"))
    ratio = (models.fixed_toll(clsc, model().overhead) / clsc).transpose(*psc.dims)
    return pd.DataFrame({"measured": (psc / clsc).values.ravel(), "predicted": ratio.values.ravel()})


def _told() -> str:
    """How far the larger problems are from what the small ones predict."""
    found = models.parted(*(tolls.frame()[name] for name in ("measured", "predicted")))
    return (
        "The toll that each problem pays in the small test predicts the larger ones: printed over predicted, "
        f"{found.median:.2f} in the median, {found.worst:.2f} at worst."
    )


@habits.figure
@figures.styled
def lost(runs) -> "figures.Shown":
    """What is added, against the CPU time without: Pittsburgh over Toronto, and runs through files over in memory."""
    toronto, pittsburgh = (common.ddt()["cpu"].sel(system=system).values.ravel() for system in ("CLSC", "PSC"))
    figure, axis = figures.axes(height=2.9)
    figures.points(axis, toronto, pittsburgh / toronto, label="Pittsburgh over Toronto", index=2, line=False)
    frames: list = []
    fixed = [("printed", float(np.median(pittsburgh - toronto)), toronto.min())]
    for run in runs:
        both = ways(run)[:2]
        plain, files = (figures.sampled(run, "observed_cpu", way) for way in both)
        here = figures.ratios(run, *reversed(both), "observed_cpu")
        label = f"{figures.cpu(run)}: through files over in memory"
        figures.bars(axis, plain["middle"], here, label=label, line=False, run=run)
        if not frames:
            added = float(np.median(files["middle"] - plain["middle"]))
            fixed.append(("measured", added, plain["middle"].min()))
        tasks = pd.DataFrame({"task": run["task"].values[both[0]]})
        frames.append(figures.with_spread(tasks, plain=plain, ratio=here))
    for kind, seconds, short in fixed:
        x = np.geomspace(0.5 * short, 4000 * short, 60)
        expected = models.fixed_toll(x, seconds) / x
        axis.plot(x, expected, color=figures.meaning(kind), linewidth=1.1, linestyle="--", alpha=0.7)
    axis.axhline(1, color=figures.INK, linewidth=0.8)
    figures.log_axis(axis)
    axis.set(ylim=(0.6, 30), xlabel="CPU time without the added cost [s]", ylabel="CPU time, with over without")
    axis.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    figures.legend(axis, "above 1 0.45")
    return figures.show(
        figure,
        runs=runs,
        data=frames,
        name="aips58_lost",
        title="What is added, by the length of a problem",
        caption=f"Dashed: any length with the median of what is added, {fixed[0][1]:.1f} s at Pittsburgh "
        f"and {fixed[1][1]:.4f} s to the {common.printed_size(runs[0])} problems today.",
        tables="ddt_small ddt_medium ddt_large",
        note=_told(),
    )


def found() -> str:
    """How well the extra seconds of the small problems predict the ratios of the larger ones."""
    frame, seconds = predictions(), model().overhead
    off = errors(frame)
    return (
        f"In the small test Pittsburgh needs {float(seconds.min()):.0f} to {float(seconds.max()):.0f} s more CPU time "
        "for a task than Toronto. The same seconds, added to Toronto's times, predict the ratio of both CPU times in "
        f"the larger tests; the median error is {100 * np.median(off):.0f} %, the largest {100 * off.max():.0f} %."
    )


def growth() -> str:
    """How the difference between both X-MPs and the CPU time itself grow from small to large problems, medians."""
    clsc = common.ddt()["cpu"].sel(system="CLSC").median("problem")
    grown = [float(each.sel(size="large") / each.sel(size="small")) for each in (extra().median("problem"), clsc)]
    return (
        "From the small to the large problems the median of Pittsburgh's extra seconds grows by a factor of "
        f"{grown[0]:.2f}, the median CPU time at Toronto by a factor of {grown[1]:.1f}."
    )


@conclusion(
    "aips58-c1",
    place="abstract",
    says="On some problems both X-MPs are equal; on most Pittsburgh needs more CPU time, ten times as much and more.",
)
def two_machines() -> Finding:
    """Printed CPU time at Pittsburgh over that at Toronto."""
    ratio = common.ddt()["cpu"].sel(system="PSC", drop=True) / common.ddt()["cpu"].sel(system="CLSC", drop=True)
    equal = int((ratio < 1.2).sum())
    return Finding(
        THEN,
        f"By the tables the ratio is {float(ratio.min()):.1f} to {float(ratio.max()):.1f}, and below 1.2 in {equal} of "
        f"{ratio.size} problems. It belongs to two installations.",
        bears=float(ratio.max()) > 10 and equal > 3,
    )


@conclusion(
    "aips58-c2",
    place="section 2",
    says="What Pittsburgh needs more is the price of files: a fixed cost whenever a job opens or closes one.",
)
def fixed_cost() -> Finding:
    """How well the extra seconds of the small problems predict the larger ones; what files add today."""
    off = errors(predictions())
    run = habits.runs()[0]
    plain, files = (run["observed_cpu"].values[chosen].sum(axis=0) for chosen in ways(run)[:2])
    now = figures.times(files, plain)
    return Finding(
        PARTLY,
        f"The memo's own tables bear it: seconds added in the small test predict the larger ratios within "
        f"{100 * np.median(off):.0f} % (median). Today files and messages cost our problems {now.times} the CPU time.",
        bears=np.median(off) < 0.1 and now.medians > 1,
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
    now = figures.times(disk, memory)
    return Finding(
        NOT,
        f"With scratch files on the disk our problems take {now.times} as long as with the same files in memory, "
        "probably because the system keeps them in memory anyway (not measured).",
        bears=now.medians < 1.3 and not now.measurable,
    )
