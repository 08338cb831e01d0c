"""The forecast alone: work files in several places, its parts, and what not overlapping costs (X2–X11).

The places of 1982 have these on a host: the disk is the file system of the folder for temporary files past the page
cache (through it where that is refused), buffer memory the page cache, the SSD memory of the process that is reached
by copying.  The *paced* device is memory too, which gives bytes at a chosen rate: so slow that a step's computing
and its transfers have the report's proportion.  Measured and paced places stand in columns of their own.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from companion.bench import Case, Measurement
from companion.experiments import Experiment, register

#: Configuration of the report: files, place on the host, overlap.
CONFIGURATIONS = {
    "disk4": (4, "direct", "both"),
    "bmr1": (1, "cache", "one"),
    "ssd2-sync": (2, "memory", "none"),
    "ssd2-async": (2, "memory", "both"),
    "ssd4-sync": (4, "memory", "none"),
    "ssd1-sync": (1, "memory", "none"),
    "bmr1-overlapped": (1, "cache", "both"),
    "ssd4-async": (4, "memory", "both"),
    "ssd1-async": (1, "memory", "both"),
}
#: Work files of the paced comparison: device, overlap.
PACED = (("SSD", "none"), ("SSD", "both"), ("BMR", "none"), ("BMR", "one"), ("BMR", "both"))


def sized(preset: str):
    """A day's forecast with physics, and its state in memory."""
    from kernels.gridpoint import Problem

    hours = {"modern": {"hours": 0.5}}.get(preset, {"hours": 24.0})
    return Problem.preset(preset, physics=True, files=0, place="memory", overlap="none", writeup=6.0, **hours)


def places(problem, name: str):
    """The problem with the work files of a configuration, on this host."""
    from kernels.files.filesystem import direct_refusal

    files, place, overlap = CONFIGURATIONS[name]
    if place == "direct" and direct_refusal(problem.folder or tempfile.gettempdir()):
        place = "cache"
    return replace(problem, files=files, place=place, overlap=overlap)


def observe(result) -> dict[str, float]:
    """Clock of the parts, CPU time, waiting and overlap of one forecast."""
    kinds = {kind: [step for step in result.steps if step.kind == kind] for kind in ("normal", "radiation")}
    ups = [step for step in result.steps if "write-up" in step.kind]
    found = {
        "net": result.net,
        "cpu": result.cpu,
        "forecast": result.clock,
        "waiting": sum(step.waiting for step in result.steps),
        "overlapped": result.overlapped,
        "requests": result.counters.requests_read + result.counters.requests_written,
        "bytes": result.counters.bytes_read + result.counters.bytes_written,
    }
    found |= {f"write_step_{n + 1}": step.clock for n, step in enumerate(ups)}
    for kind, steps in kinds.items():
        if steps:
            found[f"{kind}_cpu"] = median(step.cpu for step in steps)
    # the last step only reads and writes up; a write-up that also radiates is told by its number
    plain = [step.cpu for step in ups if step.kind == "write-up"]
    if plain:
        found["write_up_cpu"] = median(plain)
    return found


def _alone(preset: str, threads: int) -> list[Case]:
    from kernels import gridpoint

    base = sized(preset)
    cases = [Case("in memory", gridpoint, base, threads, {"configuration": "memory", "place": "memory"}, observe)]
    for name in CONFIGURATIONS:
        problem = places(base, name)
        parameters = {"configuration": name, "place": problem.place, "overlap": problem.overlap}
        cases.append(Case(name, gridpoint, problem, threads, parameters, observe))
    degraded = replace(base, files=1, rhs="files", lines=4)
    parameters = {"configuration": "degraded", "place": "memory", "overlap": "none"}
    cases.append(
        Case("degraded: one file and three for right-hand sides", gridpoint, degraded, threads, parameters, observe)
    )
    return cases


def _column(values, units, long_name, dims):
    return {"value": list(values), "units": units, "long_name": long_name, "dims": [dims]}


def _posts(measurements: Sequence[Measurement]) -> dict[str, dict]:
    """Clock and CPU time of the post-processing job for each write-up, whole and row by row."""
    from kernels import gridpoint
    from kernels.gridpoint import postprocess

    problem = measurements[0].problem
    whole, rows = [], []

    def post(path):
        whole.append(postprocess.run(path))
        rows.append(postprocess.run(path, small=True))

    gridpoint.run(problem, gridpoint.setup(problem), on_writeup=post)
    return {
        "post_clock": _column((each["clock"] for each in whole), "s", "post-processing job, clock", "write_up"),
        "post_cpu": _column((each["cpu"] for each in whole), "s", "post-processing job, CPU time", "write_up"),
        "small_clock": _column((each["clock"] for each in rows), "s", "the job row by row, clock", "write_up"),
        "small_cpu": _column((each["cpu"] for each in rows), "s", "the job row by row, CPU time", "write_up"),
    }


def balance() -> dict[str, float]:
    """Transfers of a step over its computing, as the report has them: volume over rate over CPU time of a step."""
    from companion import tables

    files = tables.load("xmp1982", "sec3_1")
    moved = 2 * 8 * float((files["file_size"] * files["work_files"]).max() / 2)  # Mbyte: what is read, and written
    rates = tables.load("xmp1982", "fig7_3")["stand_alone"]
    step = float(tables.load("xmp1982", "fig4_4")["cpu"].sel(section="NORMAL FORECAST TIME STEP", machine="Cray X-MP"))
    return {device: moved / float(rates.sel(target=device)) / step for device in ("SSD", "BMR")}


def _paced(preset: str, threads: int) -> list[Case]:
    """Forecasts without write-ups through paced work files, after one in memory that sets their rate."""
    from kernels import gridpoint

    base = replace(sized(preset), writeup=0.0, physics=False)
    state = gridpoint.setup(base)
    gridpoint.run(replace(base, hours=4 * base.dt / 3600), state, threads)
    step = gridpoint.run(base, state, threads).clock / base.steps
    cases = [Case("in memory", gridpoint, base, threads, {"device": "memory", "overlap": "none"}, observe)]
    moved = 2 * 8 * base.words * base.nj
    for device, overlap in PACED:
        rate = moved / (balance()[device] * step)
        files = 2 if device == "SSD" else 1
        problem = replace(base, files=files, place="paced", overlap=overlap, rate=rate)
        parameters = {"device": device, "overlap": overlap, "rate": rate}
        cases.append(Case(f"paced as {device}, {overlap}", gridpoint, problem, threads, parameters, observe))
    return cases


register(
    Experiment(
        id="xmp1982-forecast",
        document="xmp1982",
        item="X2, X3, X4, X5, X7, X8, X10",
        title="A forecast whose state streams through work files, in every configuration of the report",
        cases=_alone,
        presets=("quick", "paper"),
        outputs=_posts,
        rounds=5,
        budgets={"quick": 20.0, "paper": 150.0},
    )
)
register(
    Experiment(
        id="xmp1982-overlap",
        document="xmp1982",
        item="X6",
        title="The cost of not overlapping, on a device paced to the report's balance",
        cases=_paced,
        presets=("quick", "paper"),
        rounds=5,
        budgets={"quick": 10.0, "paper": 60.0},
    )
)
