"""The section *Could the toll have another cause?*: the two CLEANs by the form of their minor cycle."""

from supercomputers_rerun.companion import figures
from supercomputers_rerun.companion.chapters.aips58 import common, pittsburgh
from supercomputers_rerun.companion.chapters.aips58.common import SIZES
from supercomputers_rerun.companion.common import pd
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


def _pairs(run) -> list[list[int]]:
    """Cases of each CLEAN with a loop, and with the instruction; the two forms differ in nothing else."""
    rows = list(zip(run["task"].values, run["size"].values, run["method"].values, strict=True))
    return [[rows.index((*each, method)) for each in _problems(run)] for method in ("fetched", "gather")]


def _problems(run) -> list[tuple[str, str]]:
    """Tasks and sizes of a run."""
    return [*dict.fromkeys(zip(map(str, run["task"].values), map(str, run["size"].values), strict=True))]


def old_ratios():
    """CPU time of CLEAN at Toronto over that at Pittsburgh, as printed and without the cost of files there."""
    cpu, where = common.ddt()["cpu"], {"problem": list(_TASKS), "size": ["medium", "large"]}
    return [(cpu.sel(system="CLSC") / each).sel(where) for each in (cpu.sel(system="PSC"), pittsburgh.without())]


@cleans.figure
def gathered(runs) -> "figures.Shown":
    """CPU time of CLEAN with gather by software over that by hardware: the two X-MPs, and runs."""
    bare = old_ratios()[1]
    frames = []
    for run in runs:
        rows = pd.DataFrame({"what": [f"{task}, {size}" for task, size in _problems(run)]})
        frames.append(figures.with_spread(rows, ratio=figures.ratios(run, *_pairs(run), "observed_cpu")))
    printed = bare.rename("ratio").transpose("problem", "size").to_series()
    printed.index = [", ".join(map(str, each)) for each in printed.index]
    drawn = {*printed.index, *frames[0]["what"]}
    ahead = int((bare > 1).sum())
    return figures.dots(
        runs,
        frames,
        {"ratio": "today, a loop over the instruction"},
        printed={"then, Toronto over Pittsburgh": printed},
        names=[f"{task}, {size}" for task in _TASKS for size in SIZES["paper"] if f"{task}, {size}" in drawn],
        xlabel="CPU time, gather by software over by hardware",
        base=1,
        legend_at="above 1",
        name="aips58_gathered",
        title=f"Without its toll, Pittsburgh (gather in hardware) would lead in {ahead} of {bare.size} CLEANs",
        caption="Right of the line gather in hardware is ahead. Pittsburgh's toll in the small test is taken off its "
        "times.",
        tables="ddt_small ddt_medium ddt_large",
    )


def _span(values) -> str:
    """The least and the largest of some ratios, or the one that there is."""
    return " to ".join(dict.fromkeys(f"{each:.2f}" for each in (values.min(), values.max())))


def _open(run) -> str:
    """The gain by instruction that the intervals of a run still allow."""
    high = figures.ratios(run, *_pairs(run), "observed_cpu")["high"].max()
    return f"a gain of up to {high:.1f} times is not ruled out"


def told(run) -> str:
    """Who was ahead in CLEAN with Pittsburgh's toll and without it, and what gather by instruction gains in a run."""
    printed, bare = old_ratios()
    found = figures.ratios(run, *_pairs(run), "observed_cpu")
    ahead = int((bare > 1).sum())
    assert (printed < 1).all() and 0 < ahead < bare.size / 2
    apart = {"more": found["middle"][found["low"] > 1], "less": found["middle"][found["high"] < 1]}
    parts = [
        f"{each.size} take{'s' if each.size == 1 else ''} measurably {word} CPU time with it ({_span(each)} times as "
        "much)"
        for word, each in apart.items()
        if each.size
    ]
    now = (
        f"Of our {len(found)} CLEANs {' and '.join(parts)}"
        if parts
        else f"In none of our {len(found)} CLEANs do we measure a difference, but so coarsely that {_open(run)}"
    )
    return (
        f"As printed, Toronto led in all {printed.size} medium and large CLEANs. If we subtract the toll of the "
        f"small test, Pittsburgh should lead in all. But Toronto still leads in {bare.size - ahead}. Either the toll "
        "was higher there, or gather brought less than hoped. Today we replace the instruction for gather by a loop. "
        f"{now}."
    )


@conclusion(
    "aips58-c13",
    place="section 3",
    says="Other things being equal, gather in hardware should make CLEAN faster.",
)
def hardware_gather() -> Finding:
    """CPU time of the CLEANs with a loop over that with the instruction."""
    run = cleans.runs()[0]
    now = figures.ratios(run, *_pairs(run), "observed_cpu")
    sentence = (
        f"With a loop our {len(now)} CLEANs take {_span(now['middle'])} times the CPU time of the form with the "
        f"instruction (with their intervals {now['low'].min():.2f} to {now['high'].max():.2f}), on {figures.cpu(run)}. "
        "Nothing else differs between the two forms"
    )
    faster = now["low"] > 1
    if not faster.any() and 100 * (now["high"].max() - 1) > _SMALL:
        takes = f"but {_open(run)}. To tell takes samples of a minute on a machine without neighbours"
        return Finding(UNTESTED, f"{sentence}. That is no measurable difference, {takes}.")
    slower = f"In {int(faster.sum())} CLEANs the loop is measurably slower."
    verdict = HOLDS if faster.all() else PARTLY if faster.any() else NOT
    return Finding(verdict, f"{sentence}. {slower}", bears=True)


@conclusion(
    "aips58-c14",
    place="section 3",
    says="Since it hides the gain of gather, Pittsburgh's cost of files is probably worse than it appears.",
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
