"""The same source compiled in more ways than one: how far their forecasts part.

numba compiles for the processor that its environment names.  Another width of vectors should change nothing, since
the compiled rows work on vectors whose elements never meet.  A processor without fused multiply-add rounds a product
before it is added to, so that last bits differ, and the weather makes them grow.
"""

import platform
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kernels import gridpoint, jobs
from kernels.contract import Check, Work, worst
from kernels.files.work_folder import WorkFolder
from kernels.gridpoint import Problem as Problem
from kernels.gridpoint import footprint as footprint
from kernels.gridpoint import writeup
from kernels.jobs.workers import BUILDS, Pool
from kernels.runtime.resources import affinity_cpus, require_memory

__all__ = ["BUILDS", "Builds", "Difference", "Problem", "footprint", "refusal", "run", "setup", "verify", "work"]

#: Largest difference of temperature that rounding may make of a day, K.
CLOSE = 1e-6


class Difference(NamedTuple):
    """One build against the first, at every write-up."""

    differing: np.ndarray  # float64 (write-ups,): share of the numbers of both time levels that differ in a bit
    largest_T: np.ndarray  # float64 (write-ups,): largest difference of temperature, K


def refusal() -> str | None:
    """Why the builds cannot be made here, or None."""
    return None if platform.machine() in ("x86_64", "AMD64") else f"they are for x86-64, this is {platform.machine()}"


class Builds(NamedTuple):
    """Every build but the first against the first."""

    differences: dict[str, Difference]
    checksums: dict[str, list[int]]  # CRC-32 of the rows of each write-up, of every build
    wrong: tuple[str, ...]  # checks that a build's own forecast failed


def setup(problem: Problem, seed: int = 0) -> None:
    """Nothing: every build starts in a process of its own.  ``MemoryError`` if memory cannot hold a forecast."""
    require_memory(footprint(problem).memory, "a forecast")


def _forecast(problem: Problem, build: str, folder: Path) -> tuple[list[Path], tuple[str, ...]]:
    """The write-up files of one forecast by a process of a build, and its checks that failed."""
    folder.mkdir()
    job = jobs.Job("forecast", replace(problem, folder=str(folder)))
    with Pool(1, build) as pool:
        (done,), _ = pool.test(jobs.Problem((job,), posts="none"), [affinity_cpus()], (None,), folder)
    return sorted(folder.glob("job*")), done.wrong


def _difference(ours: list[Path], theirs: list[Path]) -> Difference:
    differing, largest = [], []
    for one, other in zip(ours, theirs, strict=True):
        (a, _), (b, _) = writeup.read(one), writeup.read(other)
        names = [*writeup.NAMES[:8], "ps", "ps_before"]
        unequal = sum(int((a[name] != b[name]).sum()) for name in names)
        differing.append(unequal / sum(a[name].size for name in names))
        largest.append(float(np.abs(a["T"] - b["T"]).max()))
    return Difference(np.array(differing), np.array(largest))


def run(problem: Problem, state: None, threads: int = 1, repeats: int = 1) -> Builds:
    """The forecast by every build, one after another; ``threads`` and ``repeats`` change nothing.

    ``OSError`` if a build's process ends early; its message is on standard error.
    """
    with WorkFolder(problem.folder, "forecast-builds") as work:
        made = [_forecast(problem, build, work.path / str(n)) for n, build in enumerate(BUILDS)]
        first, *others = made
        found = {name: _difference(first[0], other) for name, (other, _) in zip(list(BUILDS)[1:], others, strict=True)}
        sums = [[writeup.read(path)[1]["sum"] for path in paths] for paths, _ in made]
    return Builds(found, dict(zip(BUILDS, sums, strict=True)), tuple(text for _, wrong in made for text in wrong))


def verify(problem: Problem, result: Builds) -> list[Check]:
    """Every build's forecast is sound; the number of elements in a vector changes no bit, and rounding little."""
    checks = [Check.near(f"checks of a build that failed {' '.join(result.wrong)}", len(result.wrong), 0, 0)]
    for name, difference in result.differences.items():
        if name.endswith(", fused"):
            checks.append(Check.near(f"{name}: largest share of differing numbers", worst(difference.differing), 0, 0))
        off = worst(difference.largest_T)
        checks.append(Check.near(f"{name}: largest difference of temperature, K", off, 0, CLOSE))
    return checks


def work(problem: Problem, threads: int = 1) -> Work:
    """As many forecasts as there are builds."""
    return gridpoint.work(problem).times(len(BUILDS))
