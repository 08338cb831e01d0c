"""C10 to C12: output steps with and without a storm of small files."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from companion.bench import Case, Measurement
from companion.chapters import cases_of, of, outputs_of

#: Processes that load the file system beside the output steps, and what the steps are then called.
_LOADS = {0: "", 1: ", file system loaded"}


@cases_of("xc30-storm")
def _storm(preset: str, threads: int) -> list[Case]:
    """Output steps with and without small files, steps of both taking turns; alone, and beside a storming process.

    At ``quick`` fewer steps and files than in the talk, with all of its tasks.
    """
    from kernels.files import storm

    changes = {"steps": 25, "tasks": storm.Problem.preset("paper").tasks} if preset == "quick" else {}

    def observe(result):
        found = {
            f"{name} step {step}": seconds
            for name in storm.VARIANTS
            for step, seconds in enumerate(result.seconds[name])
        }
        for name in storm.VARIANTS:
            found[f"{name} calls"] = sum(result.calls[name].values())
            for what, spent in (("system", result.system_seconds), ("user", result.user_seconds)):
                found[f"{name} {what}"] = np.nan if spent[name] is None else spent[name]
        return {**found, "other sets": result.other_sets}

    def case(load):
        problem = storm.Problem.preset(preset, load=load, **changes)
        label = f"{problem.tasks} tasks, {problem.files} files, {problem.steps} steps{_LOADS[load]}"
        return Case(
            label, storm, problem, threads, of(problem, "steps", "files", "tasks", "record_bytes", "load"), observe
        )

    return [case(load) for load in _LOADS]


@outputs_of("xc30-storm")
def _storm_steps(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Seconds of every step of every sample, and what the operating system spent on them."""
    steps = measurements[0].parameters["steps"]
    runs = [(m, name) for m in measurements for name in ("before", "after")]
    texts = {"before": "with small files", "after": "without"}
    fewest = min(len(m.samples) for m in measurements)
    every = np.array([[m.observed[f"{name} step {step}"][:fewest] for step in range(steps)] for m, name in runs])

    def per_step(what):
        return [np.mean(m.observed[f"{name} {what}"]) / steps for m, name in runs]

    return {
        "variant_name": [texts[name] + _LOADS[m.parameters["load"]] for m, name in runs],
        "variant_load": [m.parameters["load"] for m, _ in runs],
        "step_seconds": every[..., -1],
        "every_step": every,
        "calls_per_step": per_step("calls"),
        "system_per_step": per_step("system"),
        "user_per_step": per_step("user"),
        "other_sets": [float(np.median(m.observed["other sets"])) for m, _ in runs],
    }


#: Seconds that an open of a small file takes at least; 0: what it takes here.
_LATENCIES = (0.0, 1e-4, 1e-3, 1e-2)
#: A step of these cases is that of the talk over this: as many small files for each byte, in a memory of today.
_PART = 20


@cases_of("xc30-records")
def _records(preset: str, threads: int) -> list[Case]:
    """A part of an output step with and without small files: by size of record, and by time of an open."""
    from companion import tables
    from kernels.files import storm

    talk, whole = tables.load("xc30", "hres_io"), storm.Problem.preset("paper")
    most = round(storm.full_record_bytes(1e12 * float(talk["volume"]), int(talk["steps"]), int(talk["files"])))
    sizes = [2**power for power in ((16, 20) if preset == "quick" else (16, 18, 20, 22, 24))]
    sizes += [] if preset == "quick" else [most]
    wanted = [(size, 0.0) for size in sizes]
    wanted += [(size, latency) for size in (sizes[0], sizes[-1]) for latency in _LATENCIES[1:]]
    cases = []
    for size, latency in wanted:
        problem = storm.Problem(
            steps=2 if latency > 0 else min(25, max(2, 2**29 // (size * whole.files // _PART))),
            files=whole.files // _PART,
            tasks=whole.tasks // _PART,
            record_bytes=size,
            latency=latency,
        )
        parameters = of(problem, "steps", "files", "tasks", "record_bytes", "latency")
        label = f"records of {size / 1e6:.3g} MB, opens of {1e3 * latency:g} ms at least"
        cases.append(Case(label, storm, problem, threads, parameters, _middle_steps))
    return cases


def _middle_steps(result) -> dict[str, float]:
    """Median seconds of a step without the small files, and of the small files in a step that has them."""
    return {"without": float(np.median(result.seconds["after"])), "small": float(np.median(result.small_seconds))}
