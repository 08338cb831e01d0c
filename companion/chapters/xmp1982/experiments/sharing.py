"""Today's counterparts of memory banks: loads that meet in one cache set, and two jobs that share a level (X21); the
two-day forecast (X1)."""

from collections.abc import Sequence
from typing import Any

from companion.bench import Case, Measurement
from companion.chapters import cases_of, outputs_of
from companion.chapters.xmp1982.experiments.forecast import sized

#: Bytes from load to load: a power of two meets few sets of a cache, one line more meets all of them in turn.
_SPACINGS = {"4096 bytes": 4096, "4096 + 64 bytes": 4160, "65536 bytes": 65536, "65536 + 64 bytes": 65600}
_LINES = {"quick": (4, 8, 16, 32), "paper": (2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64)}
_LINES["modern"] = _LINES["paper"]
_LOADS = {"quick": 2**12, "paper": 2**16, "modern": 2**16}
#: Working sets of one job: in its own cache, in the cache that both share, in memory.
_LEVELS = {"quick": (2**17, 2**22), "paper": (2**15, 2**17, 2**19, 2**21, 2**22, 2**23, 2**24, 2**25, 2**26, 2**28)}
_LEVELS["modern"] = tuple(2**n for n in range(20, 32))


@cases_of("xmp1982-sharing")
def _cases(preset: str, threads: int) -> list[Case]:
    """Chases over a few lines, and sums over a working set, by one job and by two."""
    from kernels.memory import latency, stride
    from kernels.runtime.resources import usable_cpus

    cases, most = [], min(2, usable_cpus())
    for name, spacing in _SPACINGS.items():
        for lines in _LINES[preset]:
            if lines * spacing < 4096:
                continue
            walk = latency.Problem(
                lines * spacing, "stride", spacing, _LOADS[preset], "default" if preset == "quick" else "huge", True
            )
            parameters = {"kind": "one set", "spacing": name, "lines": lines, "nbytes": lines * spacing, "jobs": 1}
            cases.append(Case(f"{lines} lines, {name}", latency, walk, 1, parameters))
    for nbytes in _LEVELS[preset]:
        for jobs in range(1, most + 1):
            reads = stride.Problem(nbytes, 16, binding=True)
            parameters = {"kind": "sharing", "spacing": "line by line", "lines": 0, "nbytes": nbytes, "jobs": jobs}
            cases.append(Case(f"{nbytes} bytes, {jobs} jobs", stride, reads, jobs, parameters))
    return cases


def steps_of(result) -> dict[str, float]:
    """Clock of a step in each half of the forecast, and of every ordinary step by its number."""
    import numpy as np

    clock = np.array([step.clock for step in result.steps if step.kind in ("first", "normal")])
    number = np.array([step.number for step in result.steps if step.kind in ("first", "normal")])
    half = result.steps[-1].number / 2
    one, two = clock[(number >= 3) & (number < half)], clock[number >= half]
    found = {"first_day": float(np.median(one)), "second_day": float(np.median(two))}
    return found | {f"step_{n}": float(seconds) for n, seconds in zip(number, clock, strict=True)}


@cases_of("xmp1982-typical")
def _two_days(preset: str, threads: int) -> list[Case]:
    from dataclasses import replace

    from kernels import gridpoint

    problem = replace(sized(preset), hours=48.0, writeup=0.0, physics=False)
    return [Case("two days in memory", gridpoint, problem, threads, {"configuration": "memory"}, steps_of)]


@outputs_of("xmp1982-typical")
def _first(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Every ordinary step of the first sample."""
    found = measurements[0].observed
    kept = {int(name.removeprefix("step_")): samples[0] for name, samples in found.items() if name.startswith("step_")}
    return {"number": list(kept), "step_clock": list(kept.values())}
