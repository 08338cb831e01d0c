"""The forecast alone: work files in several places, its parts and jobs, and the simulator (X2–X5, X7, X8, X10, X11).

The places of 1982 have these on a host: the disk is the file system of the folder for temporary files past the page
cache (through it where that is refused), buffer memory the page cache, the SSD memory of the process that is reached
by copying.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from companion.bench import Case, Measurement
from companion.chapters import cases_of, outputs_of
from companion.experiments import Unavailable

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
    """A day's forecast with physics, its state in memory; what it writes up is on the device when a step ends.

    At ``modern`` half an hour without write-ups, whose state exceeds the memory that it is allowed.
    """
    from kernels.gridpoint import Problem

    if preset == "modern":
        return Problem.preset(preset, physics=True)
    return Problem.preset(preset, physics=True, hours=24.0, writeup=6.0, fsync=True)


def held(problem, name: str) -> bool:
    """Whether the memory that the problem is allowed, if that is bounded, can do without a configuration's files."""
    return not problem.allowed or CONFIGURATIONS[name][1] != "memory"


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
        "requests": result.requests,
        "bytes": result.bytes,
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


def _observe_forecast(result) -> dict[str, float]:
    """The same of a forecast that ran as a job, and of its post-processing jobs."""
    found = observe(result.jobs[0]) | {"complete": result.complete}
    for n, post in enumerate(result.posts):
        found |= {f"post_{n + 1}_clock": post.clock, f"post_{n + 1}_cpu": post.cpu}
    return found


def _case(label: str, program: str, problem, threads: int, configuration: str, binding: str = "free", **how) -> Case:
    """A forecast or its simulator, and its post-processing jobs one by one after it."""
    from kernels import jobs

    parameters = {"configuration": configuration, "place": problem.place, "overlap": problem.overlap}
    job = jobs.Problem((jobs.Job(program, problem),), binding, **{"posts": "after", **how})
    return Case(label, jobs, job, threads, parameters, _observe_forecast)


@cases_of("xmp1982-forecast")
def _alone(preset: str, threads: int) -> list[Case]:
    from kernels import gridpoint
    from kernels.memory import stream
    from kernels.runtime.resources import usable_cpus

    base = sized(preset)
    whole = "overlapped" if base.allowed else "memory"
    where = "in the page cache" if base.allowed else "in memory"
    cases = [_case(where, "forecast", base, threads, whole)]
    if threads == 1 and usable_cpus() > 1:
        cases.append(_case(f"{where}, two threads", "forecast", base, 2, f"{whole}, two threads"))
    names = [name for name in CONFIGURATIONS if held(base, name)]
    cases += [_case(name, "forecast", places(base, name), threads, name) for name in names]
    if base.allowed:
        return cases
    records = stream.Problem(gridpoint.record_bytes(base) // 8, "copy")
    for count in sorted({case.threads for case in cases}):
        cases.append(
            Case(f"records copied, {count} threads", stream, records, count, {"configuration": f"copy, {count}"})
        )
    return cases


@cases_of("xmp1982-simulator")
def _simulated(preset: str, threads: int) -> list[Case]:
    """The simulator in every configuration; it computes on one thread."""
    base = sized(preset)
    return [_case(name, "simulator", places(base, name), threads, name) for name in CONFIGURATIONS]


def degraded(problem):
    """Less memory: one work file, and three more for the right-hand sides, which are read backwards."""
    return replace(problem, files=1, place="memory", rhs="files", lines=4)


@cases_of("xmp1982-degraded")
def _less(preset: str, threads: int) -> list[Case]:
    """The usual forecast and the degraded one, with usual and degraded jobs, in turn and on the second CPU."""
    from kernels.runtime.resources import usable_cpus

    if usable_cpus() < 2:
        raise Unavailable("jobs beside their forecast need two CPUs, one may be used; give the process a second one")
    base, cases = sized(preset), []
    for name, problem in (("usual", places(base, "ssd1-sync")), ("degraded", degraded(base))):
        for posts, when in (("after", "in turn"), ("beside", "second CPU")):
            for small in (False, True):
                label = f"{name} forecast, {'degraded' if small else 'usual'} jobs, {when}"
                how = {"posts": posts, "small": small}
                cases.append(_case(label, "forecast", problem, threads, label, "one each", **how))
    return cases


@outputs_of("xmp1982-forecast")
def _posts(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Post-processing jobs of the forecast in memory, medians by write-up; what copying its records takes at best."""
    first = measurements[0].observed
    copies = {
        each.threads: each.minimum for each in measurements if each.parameters["configuration"].startswith("copy")
    }
    found = {"copiers": list(copies), "memory_bound": list(copies.values())}
    ups = [name.removesuffix("_cpu") for name in first if name.startswith("post_") and name.endswith("_cpu")]
    return found | {f"post_{key}": [median(first[f"{name}_{key}"]) for name in ups] for key in ("clock", "cpu")}
