"""The same source compiled in more ways than one: how far their forecasts part.

numba compiles for the processor that its environment names.  Another width of vectors should change nothing, since
the compiled rows work on vectors whose elements never meet.  A processor without fused multiply-add rounds a product
before it is added to, so that last bits differ, and the weather makes them grow.
"""

import platform
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from supercomputers_rerun.kernels import gridpoint
from supercomputers_rerun.kernels.contract import Check, Footprint, Work, worst
from supercomputers_rerun.kernels.files.processes import Processes
from supercomputers_rerun.kernels.files.work_folder import WorkFolder
from supercomputers_rerun.kernels.gridpoint import Problem as Problem
from supercomputers_rerun.kernels.gridpoint import writeup
from supercomputers_rerun.kernels.jobs import BUILDS
from supercomputers_rerun.kernels.runtime.resources import require_memory

__all__ = ["BUILDS", "Problem", "Result", "difference", "footprint", "refusal", "run", "setup", "verify", "work"]

#: Largest difference of temperature that rounding may make of a day, K.
CLOSE = 1e-6


class Result(NamedTuple):
    """Every build but the first against the first, at every write-up: float64 (builds − 1, write-ups)."""

    differing: np.ndarray  # share of the numbers of both time levels that differ in a bit
    largest_T: np.ndarray  # largest difference of temperature, K
    checksums: np.ndarray  # int64 (builds, write-ups): CRC-32 of the rows of each write-up, of every build
    wrong: tuple[str, ...]  # checks that a build's own forecast failed


def refusal() -> str | None:
    """Why the builds cannot be made here, or None."""
    return None if platform.machine() in ("x86_64", "AMD64") else f"they are for x86-64, this is {platform.machine()}"


def footprint(problem: Problem) -> Footprint:
    """As many forecasts as there are builds."""
    one = gridpoint.footprint(problem)
    return Footprint(len(BUILDS) * one.memory, len(BUILDS) * one.disk)


def setup(problem: Problem, seed: int = 0) -> None:
    """Nothing: every build starts in a process of its own.  ``MemoryError`` if memory cannot hold the forecasts."""
    require_memory(footprint(problem).memory, "a forecast by each build")


def _forecast(here, problem: Problem) -> None:
    """What a process tells: each write-up, as ``writeup.read`` gives it, and the checks that failed."""
    state = gridpoint.setup(problem)
    result = gridpoint.run(problem, state, on_writeup=lambda path: here.send(writeup.read(path)))
    here.send(tuple(str(check) for check in gridpoint.verify(problem, result) if not check.ok))


def difference(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]) -> tuple[float, float]:
    """Of two write-ups: the share of numbers that differ, and the largest difference of temperature, K."""
    names = [*writeup.NAMES[:8], "ps", "ps_before"]
    unequal = sum(int((ours[name] != theirs[name]).sum()) for name in names)
    return unequal / sum(ours[name].size for name in names), float(np.abs(ours["T"] - theirs["T"]).max())


def run(problem: Problem, state: None, threads: int = 1, repeats: int = 1) -> Result:
    """The forecast by all builds, write-up for write-up; ``threads`` and ``repeats`` change nothing.

    ``OSError`` if a build's process ends early; its message is on standard error.
    """
    apart, sums = [], []
    with WorkFolder(problem.folder, "forecast-builds", footprint(problem).disk, "forecasts by all builds") as work:
        told = [(replace(problem, folder=str(work.path)),)] * len(BUILDS)
        with Processes(_forecast, told, list(BUILDS.values())) as builds:
            for _ in problem.writeup_steps:
                (first, *others), headers = zip(*builds.answers(), strict=True)
                apart.append([difference(first, other) for other in others])
                sums.append([header["sum"] for header in headers])
            wrong = sum(builds.answers(), ())
    return Result(*np.array(apart).T, np.array(sums).T, wrong)


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every build's forecast is sound; the number of elements in a vector changes no bit, and rounding little."""
    checks = [Check.near(f"checks of a build that failed {' '.join(result.wrong)}", len(result.wrong), 0, 0)]
    for name, differing, largest in zip(list(BUILDS)[1:], result.differing, result.largest_T, strict=True):
        if name.endswith(", fused"):
            checks.append(Check.near(f"{name}: largest share of differing numbers", worst(differing), 0, 0))
        checks.append(Check.near(f"{name}: largest difference of temperature, K", worst(largest), 0, CLOSE))
    return checks


def work(problem: Problem, threads: int = 1) -> Work:
    """As many forecasts as there are builds."""
    return gridpoint.work(problem).times(len(BUILDS))
