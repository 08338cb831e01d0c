"""The section *Where does the rest of the time go?*: loading from a file, and at the pace of a tape."""

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.chapters.aips58 import common
from supercomputers_rerun.companion.chapters.aips58.common import NAMES, SIZES, SYSTEMS
from supercomputers_rerun.companion.common import pd
from supercomputers_rerun.companion.conclusions import HOLDS, Finding, conclusion
from supercomputers_rerun.companion.experiments import experiment

#: Bytes on an inch of tape; the memo prints the drive's speed in inches a second and not the density.
_DENSITY = 6250
_TASKS = ("IMLOD", "UVLOD")
#: Sources of a run's files, as columns of the data name them.
_SOURCES = {"disk": "disk", "fetched": "disk, cold, fetched", "tape": "paced as a tape"}


@experiment("aips58-tape", item="A9", threads=1, rounds=7, seconds={"paper": 180, "modern": 360}, unit="s", of="real")
def loads(preset: str, threads: int) -> list:
    """Loading FITS files from the page cache, from a cold disk by way of a copy, and at the pace of a tape."""
    tape = float(tables.load("aips58", "prose")["tape_speed"]) * _DENSITY / 1e6  # MB/s
    fields: tuple[dict, ...] = ({}, {"scratch": True}, {"pace": tape})
    return [
        common.problem(f"{size} {task}, {source}", threads, {"source": source}, task=task, size=size, **given)
        for size in SIZES[preset]
        for task in _TASKS
        for source, given in zip(_SOURCES.values(), fields, strict=True)
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
    problems = frames[0][["task", "size"]].itertuples(index=False)
    printed = pd.DataFrame([real.sel(problem=task, size=size).values for task, size in problems], frames[0]["what"])
    printed = printed.set_axis(real["system"].values, axis=1)[list(SYSTEMS)]
    size = frames[0]["size"].iloc[-1]
    last = real.sel(problem="IMLOD", size=size, system=["CLSC", "NRAO1"]).values
    return figures.dots(
        runs,
        frames,
        {"disk": "today, a file", "fetched": "today, fetched from a cold disk", "tape": "today, a tape's pace"},
        printed=dict(printed.set_axis(NAMES, axis=1).items()),
        xlabel="real time [s]",
        log=True,
        name="aips58_taped",
        title=f"Loading a {size} image took {last[0]:.0f} s in Toronto from a file, {last[1]:.0f} s on the Convex "
        "from tape",
        caption="Real times. The X-MPs fetched their files from a front-end computer first.",
        tables="ddt_small ddt_medium ddt_large",
    )


def paced(run) -> str:
    """Loading at the pace of a tape over loading from a file in a run."""
    found = _loaded(run)
    slower = found["tape"] / found["disk"]
    assert slower.min() > 10
    return (
        "Today we also load as slowly as from a tape: we limit the speed to a tape's. The memo does not print how "
        f"densely that tape is written; this we choose. Loading then takes {slower.min():.0f} to {slower.max():.0f} "
        "times as long as from a file, because nearly all of its time goes into moving bytes at that speed."
    )


@conclusion(
    "aips58-c15",
    place="section 6, note 5",
    says="The Convex loaded from tape, the X-MPs from files; these times are not to be compared with each other.",
)
def tape_and_files() -> Finding:
    """Real time of loading at the pace of a tape over that from a file."""
    found = _loaded(loads.runs()[0])
    slower = found["tape"] / found["disk"]
    return Finding(
        HOLDS,
        f"At the pace of a tape, by a density of ours, loading takes {slower.min():.0f} to {slower.max():.0f} times as "
        "long as from a file in the page cache.",
        bears=(found["tape_low"] > 2 * found["disk_high"]).all(),
    )
