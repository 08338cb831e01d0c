"""The section *Could the toll have another cause?*: the two CLEANs by the form of their minor cycle."""

from supercomputers_rerun.companion import figures
from supercomputers_rerun.companion.chapters.aips58 import common, pittsburgh
from supercomputers_rerun.companion.chapters.aips58.common import SIZES
from supercomputers_rerun.companion.common import pd, span
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, PARTLY, THEN, UNTESTED, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment

_TASKS = ("APCLN", "MXCLN")
#: A gain below which gather would not be worth its hardware, in per cent.
_SMALL = 5


@experiment(
    "aips58-gather",
    item="A8",
    threads=1,
    rounds=21,  # CPU time of samples this short varies by a half
    seconds={"paper": 240, "modern": 120},
    unit="s of CPU time",
    of="cpu",
)
def cleans(preset: str, threads: int) -> list:
    """CLEAN with gather by loop and by instruction."""
    from supercomputers_rerun.kernels.imaging import clean

    return [
        common.problem(f"{task}, {size}, {method}", threads, {"method": method}, task=task, size=size, method=method)
        for task in _TASKS
        for size in SIZES[preset]
        for method in clean.METHODS
    ]


def _gained(run) -> "pd.DataFrame":
    """CPU time of each CLEAN with a loop over that with the instruction; the two forms differ in nothing else."""
    cases = figures.cases(run, "task", "size", "method")
    loop, instruction = (cases.index[cases["method"] == method] for method in ("fetched", "gather"))
    what = cases.loc[loop, "task"] + ", " + cases.loc[loop, "size"]
    return figures.ratios(run, loop, instruction, "observed_cpu").set_axis(what)


def old_ratios():
    """CPU time of CLEAN at Toronto over that at Pittsburgh, as printed and without the cost of files there."""
    (clsc, psc), where = pittsburgh.crays(), {"problem": list(_TASKS), "size": ["medium", "large"]}
    return [(clsc / each).sel(where) for each in (psc, pittsburgh.without())]


@cleans.figure
def gathered(runs) -> "figures.Shown":
    """CPU time of CLEAN with gather by software over that by hardware: the two X-MPs, and runs."""
    bare, found = old_ratios()[1], [_gained(run) for run in runs]
    frames = [figures.with_spread(pd.DataFrame({"what": each.index}), ratio=each) for each in found]
    printed = bare.rename("ratio").transpose("problem", "size").to_series()
    printed.index = [", ".join(map(str, each)) for each in printed.index]
    drawn = {*printed.index, *frames[0]["what"]}
    ahead = int((bare > 1).sum())
    return figures.dots(
        runs,
        frames,
        {"ratio": "today, a loop ÷ the instruction"},
        printed={"1989, Toronto ÷ Pittsburgh": printed},
        names=[f"{task}, {size}" for task in _TASKS for size in SIZES["paper"] if f"{task}, {size}" in drawn],
        xlabel="CPU time with gather in software ÷ in hardware",
        base=1,
        legend_at="above 1",
        name="aips58_gathered",
        title=f"Without its toll, Pittsburgh (gather in hardware) would lead in {ahead} of {bare.size} CLEANs",
        caption="Right of the line gather in hardware is ahead. Pittsburgh's toll in the small test is taken off its "
        "times.",
        tables="ddt_small ddt_medium ddt_large",
    )


def told(run) -> str:
    """Who was ahead in CLEAN with Pittsburgh's toll and without it, and what gather by instruction gains in a run."""
    (printed, bare), found = old_ratios(), _gained(run)
    ahead, more = int((bare > 1).sum()), found["middle"][found["low"] > 1]
    assert (printed < 1).all() and 0 < ahead < bare.size / 2
    assert more.size > 1 and (found["high"] >= 1).all(), "some take more, and none less"
    return (
        f"As printed, Toronto led in all {printed.size} medium and large CLEANs. We subtract the toll of the "
        "small test, and expect that Pittsburgh, with gather in hardware, then leads in all. But Toronto still leads "
        f"in {bare.size - ahead}. Either the toll of these CLEANs was higher than that of the small ones, or gather "
        "brought less than hoped. Today we replace the instruction for gather by a loop. Then "
        f"{more.size} of our {len(found)} CLEANs take measurably more CPU time ({span(more)} times as much)."
    )


@conclusion(
    "aips58-c13",
    place="section 3",
    says="Other things being equal, gather in hardware should make CLEAN faster.",
)
def hardware_gather() -> Finding:
    """CPU time of the CLEANs with a loop over that with the instruction."""
    run = cleans.runs()[0]
    now = _gained(run)
    sentence = (
        f"With a loop our {len(now)} CLEANs take {span(now['middle'])} times the CPU time of the form with the "
        f"instruction (with their intervals {now['low'].min():.2f} to {now['high'].max():.2f}), on {figures.cpu(run)}. "
        "Nothing else differs between the two forms"
    )
    faster = now["low"] > 1
    if not faster.any() and 100 * (now["high"].max() - 1) > _SMALL:
        return Finding(
            UNTESTED,
            f"{sentence}. That is no measurable difference, but a gain of up to {now['high'].max():.1f} times is not "
            "ruled out. To tell takes samples of a minute on a machine without neighbours.",
        )
    slower = f"In {int(faster.sum())} CLEANs the loop is measurably slower."
    verdict = HOLDS if faster.all() else PARTLY if faster.any() else NOT
    return Finding(verdict, f"{sentence}. {slower}", bears=True)


@conclusion(
    "aips58-c14",
    place="section 3",
    says="Pittsburgh's cost of files is probably worse than it appears, since its faster gather hides a part of it.",
)
def worse_than_it_appears() -> Finding:
    """CPU time of CLEAN at Toronto over Pittsburgh, as printed and without the cost of files."""
    printed, bare = old_ratios()
    return Finding(
        THEN,
        f"As printed, CLEAN at Toronto took {float(printed.min()):.2f} to {float(printed.max()):.2f} times the CPU "
        f"time of Pittsburgh. Without the extra seconds of the small test it is {float(bare.min()):.2f} to "
        f"{float(bare.max()):.2f}: Pittsburgh leads in one problem of four.",
        bears=float(printed.max()) < 1 and int((bare > 1).sum()) == 1 and bare.size == 4,
    )
