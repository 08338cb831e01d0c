"""The section *Does gather in hardware speed up CLEAN?*: the two CLEANs by the form of their minor cycle."""

from companion import figures
from companion.chapters.aips58 import common, pittsburgh
from companion.chapters.aips58.common import SIZES
from companion.experiments import experiment
from companion.late import pd

_TASKS = ("APCLN", "MXCLN")


@experiment(
    "aips58-gather",
    item="A8",
    title="CLEAN with gather by loop and by instruction",
    rounds=7,
    seconds={"quick": 3, "paper": 60, "modern": 120},
)
def cleans(preset: str, threads: int) -> list:
    """The two CLEANs with each form of the minor cycle."""
    from kernels.imaging import clean

    return [
        common.problem(
            f"{task}, {method}", threads, {"method": method}, task=task, size=SIZES[preset][-1], method=method
        )
        for task in _TASKS
        for method in clean.METHODS
    ]


def _pairs(run) -> list[list[int]]:
    """Cases of each CLEAN with a loop, and with the instruction."""
    rows = list(zip(run["task"].values, run["method"].values, strict=True))
    return [[rows.index((task, method)) for task in _TASKS] for method in ("scalar", "gather")]


def old_ratios():
    """CPU time of CLEAN at Toronto over that at Pittsburgh, as printed and without the cost of files there."""
    cpu, where = common.ddt()["cpu"], {"problem": list(_TASKS), "size": ["medium", "large"]}
    return [(cpu.sel(system="CLSC") / each).sel(where) for each in (cpu.sel(system="PSC"), pittsburgh.without())]


@cleans.figure
def gathered(runs) -> "figures.Shown":
    """CPU time of CLEAN with gather by software over that by hardware: the two X-MPs, and runs."""
    printed, bare = old_ratios()
    tasks = pd.DataFrame({"what": _TASKS})
    frames = [figures.with_spread(tasks, ratio=figures.ratios(run, *_pairs(run), "observed_cpu")) for run in runs]
    old = {f"Toronto over Pittsburgh without files, {size}": bare.sel(size=size) for size in bare["size"].values}
    xlabel = "CPU time, gather by software over by hardware"
    figure, axis = common.beside(runs, frames, old, {"ratio": "{}, loop over instruction"}, xlabel, 1)
    axis.axvline(1, color=figures.INK, linewidth=0.8)
    spent = runs[0]["observed_cpu"].values
    longer = [figures.times(*spent[list(pair)]).times for pair in zip(*_pairs(runs[0]), strict=True)]
    here = "; ".join(f"{task} with a loop takes {each} as long" for task, each in zip(_TASKS, longer, strict=True))
    text = (
        f"Toronto over Pittsburgh is {float(printed.min()):.2f} to {float(printed.max()):.2f} as printed, and "
        f"{float(bare.min()):.2f} to {float(bare.max()):.2f} without the cost of files, {int((bare > 1).sum())} of "
        f"{bare.size} above 1. Today {here}"
    )
    return figures.show(
        figure,
        runs=runs,
        data=frames,
        name="aips58_gathered",
        title="What gather in hardware gains in CLEAN",
        caption=f"{text}. {common.PRESET} {figures.MARKED}",
        alt=f"CPU time of CLEAN with gather by software over by hardware. {text}.",
        tables="ddt_small ddt_medium ddt_large",
    )
