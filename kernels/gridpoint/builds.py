"""The same source compiled in more ways than one: how far their forecasts part.

numba compiles for the processor that its environment names.  Another width of vectors should change nothing, since
the compiled rows work on vectors whose elements never meet.  A processor without fused multiply-add rounds a product
before it is added to, so that last bits differ, and the weather makes them grow.
"""

import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from kernels.files.pending import WorkFolder
from kernels.gridpoint import writeup
from kernels.gridpoint.jobs import Worker
from kernels.gridpoint.problem import Problem
from kernels.runtime.resources import affinity_cpus

#: Builds by name, the first as it comes; see https://numba.readthedocs.io for the variables.
BUILDS = {
    "this processor": {},
    "vectors of 256 bits, fused": {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""},
    "x86-64 of 2003, not fused": {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""},
}
FIELDS = ("u", "v", "T", "ps")


@dataclass(frozen=True)
class Difference:
    """One build against the first, at every write-up."""

    hours: np.ndarray  # float64 (write-ups,)
    differing: np.ndarray  # float64 (write-ups,): share of the numbers of both time levels that differ in a bit
    largest: dict[str, np.ndarray]  # by field of ``FIELDS``: largest difference, in its unit (m/s, K, Pa)


def refusal() -> str | None:
    """Why the builds cannot be made here, or None."""
    return None if platform.machine() in ("x86_64", "AMD64") else f"they are for x86-64, this is {platform.machine()}"


def _write_ups(problem: Problem, environment: dict[str, str], keep: str, name: str) -> list[Path]:
    """The write-up files of one forecast by a process with that environment."""
    worker, paths = Worker(affinity_cpus(), {key: value for key, value in environment.items()}), []
    try:
        worker.ask({"kind": "forecast", "problem": asdict(problem), "keep": keep, "name": name})
        worker.wait()
        worker.ask({})
        worker.wait(lambda path: paths.append(Path(path)))
    finally:
        worker.close()
    return paths


def _difference(problem: Problem, ours: list[Path], theirs: list[Path]) -> Difference:
    hours, differing, largest = [], [], {name: [] for name in FIELDS}
    for one, other in zip(ours, theirs, strict=True):
        (a, header), (b, _) = writeup.read(one), writeup.read(other)
        names = [*writeup.NAMES[:8], "ps", "ps_before"]
        unequal = sum(int((a[name] != b[name]).sum()) for name in names)
        hours.append(header["time"] / 3600)
        differing.append(unequal / sum(a[name].size for name in names))
        for name in FIELDS:
            largest[name].append(float(np.abs(a[name] - b[name]).max()))
    return Difference(
        np.array(hours), np.array(differing), {name: np.array(values) for name, values in largest.items()}
    )


def differences(problem: Problem, builds: dict[str, dict[str, str]] | None = None) -> dict[str, Difference]:
    """Every build but the first against the first.

    Raises
    ------
    RuntimeError
        If a build's process ends early; its message is on standard error.
    """
    builds = BUILDS if builds is None else builds
    with WorkFolder(problem.folder, "forecast-builds") as work:
        keep = str(work.path)
        found = [_write_ups(problem, changes, keep, f"b{n}-{os.getpid()}") for n, changes in enumerate(builds.values())]
        return {
            name: _difference(problem, found[0], other)
            for name, other in zip(builds, found, strict=True)
            if name != next(iter(builds))
        }
