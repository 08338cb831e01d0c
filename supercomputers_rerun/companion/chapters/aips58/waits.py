"""The opening figure and the section *Where does the rest of the time go?*: data in memory, and through files."""

from supercomputers_rerun.companion import figures
from supercomputers_rerun.companion.chapters.aips58 import common
from supercomputers_rerun.companion.chapters.aips58.common import KINDS, NAMES, SYSTEMS
from supercomputers_rerun.companion.chapters.aips58.pittsburgh import WAYS, habits, ways
from supercomputers_rerun.companion.common import np, pd


def shares(run) -> "np.ndarray":
    """CPU time over real time of every case and round, (cases, rounds)."""
    return run["observed_cpu"].values / run["observed_real"].values


def _together(run) -> "pd.DataFrame":
    """CPU and real time of all problems of a run together, in memory and through files."""
    flags = ["".join(run["flags"].values[chosen]) for chosen in ways(run)]
    spent = {kind: [run[f"observed_{kind}"].values[chosen].sum(axis=0) for chosen in ways(run)] for kind in KINDS}
    what = pd.DataFrame({"what": [f"today, {words}" for words in WAYS[: len(flags)]]})
    return figures.with_spread(what, **{kind: figures.of_samples(each, flags) for kind, each in spent.items()})


@habits.figure
def waits(runs) -> "figures.Shown":
    """CPU and real time of all problems of a size together: three systems, and runs in memory and through files."""
    size, tasks = common.printed_size(runs[0]), np.unique(runs[0]["task"].values)
    old = common.ddt()[["cpu", "real"]].sel(size=size, problem=tasks).sum("problem")
    printed = pd.DataFrame({"what": NAMES, **{kind: old[kind].sel(system=list(SYSTEMS)).values for kind in KINDS}})
    frames = [_together(run) for run in runs]
    shown = common.both_times(
        runs,
        frames,
        printed,
        data=pd.concat([printed, figures.together(runs, frames)], ignore_index=True),
        name="aips58_waits",
        title=f"The {len(tasks)} {size} problems together, then and now",
        caption="On the logarithmic axis CPU and real time are as far apart as their ratio is large. Numbers at the "
        "right are real times.",
        tables=f"ddt_{size}",
    )
    seconds = [*printed["real"], *frames[0]["real"]]
    figures.at_right(shown.figure.axes[0], [f"{real:.0f} s" if real > 100 else f"{real:.2f} s" for real in seconds])
    return shown


@habits.figure
def computing(runs) -> "figures.Shown":
    """CPU time over real time of every problem of a size: three systems, and runs in memory and through files."""
    size = common.printed_size(runs[0])
    ratio = (common.ddt()["cpu"] / common.ddt()["real"]).sel(size=size)
    old = {name: ratio.sel(system=system).values for name, system in zip(NAMES, SYSTEMS, strict=True)}
    found, frames = [], []
    for run in runs:
        spread = figures.of_samples(shares(run), run["flags"].values)
        each = (spread.iloc[chosen].reset_index(drop=True) for chosen in ways(run))
        found.append({f"today, {words}": part for words, part in zip(WAYS, each, strict=False)})
        frames.append(figures.with_spread(figures.cases(run, "task", "habits")[["task", "habits"]], share=spread))
    return common.strips(
        old,
        runs,
        found,
        data=frames,
        name="aips58_shares",
        title=f"The part of the real time of {size} problems that is CPU time",
        caption="Each mark is a problem, a star a median of this run; strokes with their numbers are medians.",
        tables="ddt_small ddt_medium ddt_large",
    )


def found(run) -> str:
    """How long all problems together took then, and take in a run with data in memory and through files."""
    size, old = common.printed_size(run), common.ddt()["real"]
    then = float(old.sel(size=size, system="NRAO1").sum("problem"))
    in_memory, files = (run["observed_real"].values[chosen].sum(axis=0) for chosen in ways(run)[:2])
    now, late = figures.of_samples([in_memory], [""]).iloc[0], run["messages"].values[ways(run)[1]].sum()
    return (
        f"All {size} problems took {then:.0f} s of real time on the Convex. Ours, perhaps of other sizes, take "
        f"{now['middle']:.2f} s (median, 95 % interval {now['low']:.2f} to {now['high']:.2f}) on {figures.cpu(run)} "
        f"with files in the page cache. They take {figures.times(files, in_memory).times} as long when data go through "
        f"scratch files and each of {late} messages waits at least half a millisecond, a delay that we chose."
    )


def conjecture(run) -> str:
    """What scratch files in memory gain in real time over those on a device."""
    disk, memory = (run["observed_real"].values[chosen] for chosen in ways(run)[1:])
    each = np.nanmedian(disk, axis=1) / np.nanmedian(memory, axis=1)
    return (
        "The memo expects scratch files on a solid-state disk to improve real times dramatically. On "
        f"{figures.cpu(run)} our problems together take {figures.times(disk.sum(axis=0), memory.sum(axis=0)).times} as "
        "long with their files on the disk as with the same files in memory, single ones "
        f"{each.min():.2f} to {each.max():.2f} times by medians; messages are delayed in both."
    )
