"""The section *Was the tape slow?*: images and visibilities loaded from a file, and at the pace of a tape."""

import numpy as np

from companion import figures, tables
from companion.chapters.aips58 import common
from companion.chapters.aips58.common import NAMES, SIZES, SYSTEMS
from companion.experiments import experiment
from companion.late import pd

#: Bytes on an inch of tape; the memo prints the drive's speed in inches a second and not the density.
_DENSITY = 6250
_TASKS = ("IMLOD", "UVLOD")
#: Sources of a run's files, as columns of the data and the legend name them.
_SOURCES = {"disk": ("disk", "a file"), "paced as a tape": ("tape", "a tape's pace")}


@experiment(
    "aips58-tape",
    item="A9",
    title="Loading FITS files from disk and at the pace of a tape",
    rounds=3,
    seconds={"quick": 3, "paper": 60, "modern": 120},
)
def loads(preset: str, threads: int) -> list:
    """The loading problems, from the disk and at the pace of the memo's tape drive."""
    tape = float(tables.load("aips58", "prose")["tape_speed"]) * _DENSITY / 1e6  # MB/s
    return [
        common.problem(f"{size} {task}, {source}", threads, {"source": source}, task=task, size=size, pace=pace)
        for size in SIZES[preset]
        for task in _TASKS
        for source, pace in (("disk", 0.0), ("paced as a tape", tape))
    ]


def _cases(run, source: str, cases: list[tuple[str, str]]) -> list[int]:
    """Rows of a run's cases of one source, for tasks and sizes."""
    rows = list(zip(*(run[name].values for name in ("task", "size", "source")), strict=True))
    return [rows.index((task, size, source)) for task, size in cases]


@loads.figure
def taped(runs) -> "figures.Shown":
    """Real time of the two loading problems: tape on the Convex, files on the X-MPs, both in runs."""
    runs, old = common.comparable(runs), common.ddt()["real"]
    known = set(runs[0]["size"].values)
    cases = [(task, size) for task in _TASKS for size in old["size"].values if size in known]
    figure, axis = figures.axes(height=3.4)
    place = figures.rows(axis, [f"{task}, {size}" for task, size in cases], 0.6)
    printed = {
        system: np.array([float(old.sel(system=system, problem=task, size=size)) for task, size in cases])
        for system in SYSTEMS
    }
    for index, system in enumerate(SYSTEMS):
        figures.points(axis, printed[system], place, label=NAMES[index], index=index, line=False)
    frames = []
    for run in runs:
        own = [each for each in cases if each[1] in run["size"].values]
        at, found = place[[cases.index(each) for each in own]], {}
        for number, (source, (column, words)) in enumerate(_SOURCES.items()):
            found[column] = common.samples(run, "real", _cases(run, source, own))
            figures.bars(
                axis, at, found[column], label=f"today, {words}", index=number, line=False, across=True, run=run
            )
        frames.append(figures.with_spread(pd.DataFrame(own, columns=["task", "size"]), **found))
    figures.log_axis(axis, "x")
    axis.set_xlabel("real time [s]")
    figures.legend(axis, "above 2 0.4")
    gain = printed["NRAO1"] / printed["CLSC"]
    pace = 100 * frames[0]["tape"].to_numpy() / printed["NRAO1"]
    text = (
        f"Files at Toronto are {gain.min():.2f} to {gain.max():.2f} times as fast as the tape of the Convex. At a "
        f"tape's pace today's files arrive in {pace.min():.0f} to {pace.max():.0f} % of the Convex's real time"
    )
    return common.show(
        figure,
        runs,
        frames,
        name="aips58_taped",
        title="Loading from a tape and from a file",
        caption=f"{text}.",
        alt=f"Real time of loading images and visibilities, logarithmic. {text}.",
        tables="ddt_small ddt_medium ddt_large",
    )
