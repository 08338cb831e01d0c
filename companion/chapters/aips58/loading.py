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
#: Sources of a run's files, as columns of the data name them.
_SOURCES = {"disk": "disk", "tape": "paced as a tape"}


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


def _loaded(run) -> "pd.DataFrame":
    """Real time of the loading problems of a run, by task and size of the memo, from each source."""
    cases = figures.cases(run, "size", "task", "source")
    cases = cases[cases["size"].isin(common.ddt()["size"].values)].sort_values("task", kind="stable")
    rows = {name: cases[cases["source"] == source] for name, source in _SOURCES.items()}
    frame = rows["disk"][["task", "size"]].assign(what=rows["disk"]["task"] + ", " + rows["disk"]["size"])
    return figures.with_spread(
        frame, **{name: figures.sampled(run, "observed_real", of.index) for name, of in rows.items()}
    )


@loads.figure
def taped(runs) -> "figures.Shown":
    """Real time of the two loading problems: tape on the Convex, files on the X-MPs, both in runs."""
    runs, real = common.comparable(runs), common.ddt()["real"]
    frames = [_loaded(run) for run in runs]
    printed = {
        system: np.array(
            [float(real.sel(system=system, problem=row[1], size=row[2])) for row in frames[0].itertuples()]
        )
        for system in SYSTEMS
    }
    old = dict(zip(NAMES, printed.values(), strict=True))
    sources = {"disk": "today, a file", "tape": "today, a tape's pace"}
    figure, axis = common.beside(runs, frames, old, sources, "real time [s]", height=4.2)
    figures.log_axis(axis, "x")
    gain = printed["NRAO1"] / printed["CLSC"]
    pace = 100 * frames[0]["tape"].to_numpy() / printed["NRAO1"]
    text = (
        f"Files at Toronto are {gain.min():.2f} to {gain.max():.2f} times as fast as the tape of the Convex. At a "
        f"tape's pace today's files arrive in {pace.min():.0f} to {pace.max():.0f} % of the Convex's real time"
    )
    return figures.show(
        figure,
        runs=runs,
        data=frames,
        name="aips58_taped",
        title="Loading from a tape and from a file",
        caption=f"{text}. {common.PRESET} {figures.MARKED}",
        alt=f"Real time of loading images and visibilities, logarithmic. {text}.",
        tables="ddt_small ddt_medium ddt_large",
    )
