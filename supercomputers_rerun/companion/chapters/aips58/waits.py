"""The section *Where does the rest of the time go?*: data in memory, and through files."""

from supercomputers_rerun.companion import figures
from supercomputers_rerun.companion.chapters.aips58 import common
from supercomputers_rerun.companion.chapters.aips58.common import KINDS, NAMES, SYSTEMS
from supercomputers_rerun.companion.chapters.aips58.pittsburgh import TOLLS, habits, ways
from supercomputers_rerun.companion.common import np, pd


def shares(run) -> "np.ndarray":
    """CPU time over real time of every case and round, (cases, rounds)."""
    return run["observed_cpu"].values / run["observed_real"].values


def _together(run) -> "pd.DataFrame":
    """CPU and real time of all problems of a run together, in memory and through files."""
    flags = ["".join(run["flags"].values[chosen]) for chosen in ways(run)]
    spent = {kind: [run[f"observed_{kind}"].values[chosen].sum(axis=0) for chosen in ways(run)] for kind in KINDS}
    what = pd.DataFrame({"what": [f"today, {words}" for words in TOLLS[: len(flags)]]})
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
        title=f"The {len(tasks)} {size} tasks together took {printed['real'][0] / 60:.0f} minutes on the Convex, "
        f"{printed['real'][1] / 60:.0f} in Toronto",
        caption="CPU and real time; real times are at the right.",
        tables=f"ddt_{size}",
    )
    seconds = [*printed["real"], *frames[0]["real"]]
    figures.at_right(shown.figure.axes[0], [common.spoken(real) for real in seconds])
    return shown


@habits.figure
def computing(runs) -> "figures.Shown":
    """CPU time over real time of every problem of a size, in per cent: three systems, and runs by where data are."""
    size = common.printed_size(runs[0])
    ratio = 100 * (common.ddt()["cpu"] / common.ddt()["real"]).sel(size=size)
    old = {name: ratio.sel(system=system).values for name, system in zip(NAMES, SYSTEMS, strict=True)}
    part = {name: np.median(values) for name, values in old.items()}
    found, frames = [], []
    for run in runs:
        spread = figures.of_samples(100 * shares(run), run["flags"].values)
        each = (spread.iloc[chosen].reset_index(drop=True) for chosen in ways(run))
        found.append({f"today, {words}": part for words, part in zip(TOLLS, each, strict=False)})
        frames.append(figures.with_spread(figures.cases(run, "task", "habits")[["task", "habits"]], share=spread))
    return common.strips(
        old,
        runs,
        found,
        data=frames,
        name="aips58_shares",
        title=f"A task had the CPU for {part[NAMES[0]]:.0f} % of its time on the Convex, {part[NAMES[1]]:.0f} % on "
        "Toronto's Cray",
        caption=f"A mark is a {size} task; strokes with their numbers are medians. Toll: results and copies "
        "of inputs saved, another process asked before messages.",
        tables=f"ddt_{size}",
    )


def rest(run) -> str:
    """For how much of a large problem's time the CPU works on it: on three systems, and in a run by where data are."""
    old = common.ddt().sel(size=common.printed_size(run))
    convex, toronto, pittsburgh = ((old["cpu"] / old["real"]).median("problem").sel(system=list(SYSTEMS)).values) * 100
    here, files = (100 * common.middles(shares(run)[chosen])[0] for chosen in ways(run)[:2])
    assert pittsburgh < toronto < 25 < 50 < convex and files < here
    waited = old["real"] - old["cpu"]
    assert float((waited.sel(system="CLSC") < waited.sel(system="NRAO1")).mean()) > 0.5
    return (
        f"In Pittsburgh the CPU worked on a task for {pittsburgh:.0f} % of its real time (median of the large tasks), "
        f"in Toronto for {toronto:.0f} %, on the Convex for {convex:.0f} %. Toronto's share is small although most "
        "tasks waited less there than on the Convex: the fast processor shortened the computing far more. On our "
        f"machine the share is {here:.0f} % without the toll. With the toll, and with files on the disk, it is "
        f"{files:.0f} %."
    )


def conjecture(run) -> str:
    """What scratch files in memory gain in real time over those on a device: of short tasks, and of all."""
    both = [run["observed_real"].values[chosen] for chosen in ways(run)[1:]]
    order = np.nanmedian(run["observed_cpu"].values[ways(run)[0]], axis=1).argsort()
    short, every = (figures.times(*(real[part].sum(axis=0) for real in both)) for part in (order[:4], order))
    assert short.measurable and short.medians > 1.4 and every.medians < 1.25
    return (
        f"Today, with the toll, our four shortest tasks together take {short.briefly} as long with files on the disk "
        f"as with files in memory. For all tasks together it is {every.briefly}. So waiting for the disk acts "
        "like a toll, too: it shows in our short tasks, and hardly in the total."
    )
