"""The forecast alone: work files in several places, its parts and jobs, and the simulator (X2–X5, X7, X8, X10, X11).

The places of 1982 have these on a host: the disk is the file system of the folder for temporary files past the page
cache (through it where that is refused), buffer memory the page cache, the SSD memory of the process that is reached
by copying.
"""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from companion.bench import Case, Measurement
from companion.experiments import Experiment, column, register

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


def sized(preset: str):
    """A day's forecast with physics, and its state in memory."""
    from kernels.gridpoint import Problem

    return Problem.preset(preset, physics=True, hours=24.0, writeup=6.0)


def places(problem, name: str):
    """The problem with the work files of a configuration, on this host."""
    from kernels.files.filesystem import direct_refusal

    files, place, overlap = CONFIGURATIONS[name]
    if place == "direct" and direct_refusal(problem.folder or tempfile.gettempdir()):
        place = "cache"
    return replace(problem, files=files, place=place, overlap=overlap)


def degraded(problem):
    """Less memory: one work file, and three more for the right-hand sides, which are read backwards."""
    return replace(problem, files=1, place="memory", rhs="files", lines=4)


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
            found[f"{kind}_clock"] = median(step.clock for step in steps)
    # the last step only reads and writes up; a write-up that also radiates is told by its number
    plain = [step.cpu for step in ups if step.kind == "write-up"]
    if plain:
        found["write_up_cpu"] = median(plain)
    return found


def _case(label: str, kernel, problem, threads: int, configuration: str) -> Case:
    parameters = {"configuration": configuration, "place": problem.place, "overlap": problem.overlap}
    return Case(label, kernel, problem, threads, parameters, observe)


def _alone(preset: str, threads: int) -> list[Case]:
    from kernels import gridpoint
    from kernels.runtime.resources import usable_cpus

    base = sized(preset)
    cases = [_case("in memory", gridpoint, base, threads, "memory")]
    if threads == 1 and usable_cpus() > 1:
        cases.append(_case("in memory, two threads", gridpoint, base, 2, "memory, two threads"))
    cases += [_case(name, gridpoint, places(base, name), threads, name) for name in CONFIGURATIONS]
    label = "degraded: one file and three for right-hand sides"
    return [*cases, _case(label, gridpoint, degraded(base), threads, "degraded")]


def _simulated(preset: str, threads: int) -> list[Case]:
    """The simulator in every configuration; it computes on one thread."""
    from kernels.gridpoint import simulator

    base = sized(preset)
    return [_case(name, simulator, places(base, name), threads, name) for name in CONFIGURATIONS]


def _moving(problem, threads: int) -> float:
    """Seconds, at best, in which ``threads`` read and write all records once in memory: a bound of a step in memory."""
    from concurrent.futures import ThreadPoolExecutor

    import numpy as np

    records = np.ones((problem.nj, problem.words))
    other, best = records.copy(), float("inf")
    shares = [slice(problem.nj * t // threads, problem.nj * (t + 1) // threads) for t in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(9):
            begin = time.perf_counter()
            list(pool.map(lambda share: np.copyto(other[share], records[share]), shares))
            best = min(best, time.perf_counter() - begin)
    return best


def _posts(measurements: Sequence[Measurement]) -> dict[str, dict]:
    """Clock and CPU time of the post-processing job for each write-up, whole and row by row; the memory bound."""
    from kernels import gridpoint
    from kernels.gridpoint import postprocess

    problem = measurements[0].problem
    whole, rows = [], []

    def post(path):
        whole.append(postprocess.run(path))
        rows.append(postprocess.run(path, small=True))

    gridpoint.run(problem, gridpoint.setup(problem), on_writeup=post)
    threads = sorted({each.threads for each in measurements})
    found = {
        "copiers": column(threads, "1", "threads that copy", "copy"),
        "memory_bound": column([_moving(problem, t) for t in threads], "s", "records of a step, copied once", "copy"),
    }
    for name, jobs, text in (("post", whole, "post-processing job"), ("small", rows, "the job row by row")):
        for key, unit in (("clock", "clock"), ("cpu", "CPU time")):
            found[f"{name}_{key}"] = column([each[key] for each in jobs], "s", f"{text}, {unit}", "write_up")
    return found


register(
    Experiment(
        id="xmp1982-forecast",
        document="xmp1982",
        item="X2, X3, X4, X5, X7, X8, X10",
        title="A forecast whose state streams through work files, in every configuration of the report",
        cases=_alone,
        presets=("quick", "paper"),
        outputs=_posts,
        rounds=3,
        budgets={"quick": 12.0, "paper": 500.0},
    )
)
register(
    Experiment(
        id="xmp1982-simulator",
        document="xmp1982",
        item="X10, X11",
        title="The simulator of the forecast: as long a computation and the same transfers, in little memory",
        cases=_simulated,
        presets=("quick", "paper"),
        rounds=3,
        budgets={"quick": 8.0, "paper": 400.0},
    )
)
