"""What periodic sensors cost ranks that wait for each other (P8).

Every rank computes for a while, then all meet at a barrier.  Every ``period`` steps a sensor takes
``delay`` seconds of each rank's CPU: at the same step on all ranks (synchronised), or at a step of its
own on each (drifted apart).  Synchronised, the ranks lose ``delay`` a period; drifted apart, every one
waits for each of the others, N · ``delay``, as the report of 2006 drew it.
"""

from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

import numpy as np

from kernels.contract import Check, Footprint, Presets, Work, one_of, real, require_range, whole
from kernels.mpi import world
from kernels.processor.disturbance import plain

__all__ = ["WAYS", "Problem", "Result", "expected", "footprint", "reference", "run", "setup", "times", "verify", "work"]

WAYS = ("none", "synchronised", "drifted")


@dataclass(frozen=True)
class Problem(Presets):
    """A run of ``steps`` steps."""

    steps: whole(1, 10**6) = 64  # steps, each with a barrier
    compute: real(1e-6, 10.0, "s") = 5e-4  # computing in a step, s
    period: int = 16  # steps between two visits of the sensor
    delay: real(0.0, 10.0, "s") = 1e-3  # what a visit takes of the CPU, s
    way: one_of(*WAYS) = "none"  # see above
    ranks: whole(1, world.LARGEST) = 1  # ranks that take part

    PRESETS: ClassVar = {
        "quick": {},
        "paper": {"steps": 600, "period": 60, "delay": 5e-3, "compute": 1e-3},
        "modern": {"steps": 2000, "period": 100, "delay": 5e-3, "compute": 1e-3},
    }

    def __post_init__(self):
        require_range("period", self.period, 1, self.steps, "steps")

    def visits(self, rank: int) -> np.ndarray:
        """Steps at which the sensor visits a rank: one in every period that fits."""
        shift = rank * self.period // self.ranks if self.way == "drifted" else 0
        return np.arange(self.steps // self.period if self.way != "none" else 0) * self.period + shift


class Result(NamedTuple):
    """What this rank met, of the last repeat."""

    comm: Any
    computing: float  # seconds, sensors included
    waiting: float  # seconds at barriers
    visits: int  # of the sensor


def setup(problem: Problem, seed: int = 0) -> Any:
    """Nothing but the communicator of the ranks (``seed`` is not used)."""
    return world.team(problem.ranks)


def _busy(seconds: float) -> None:
    end = perf_counter() + seconds
    while perf_counter() < end:
        pass


def run(problem: Problem, state: Any, threads: int = 1, repeats: int = 1) -> Result:
    """All steps, ``repeats`` times; the result is the last one's."""
    seconds, visits = np.full(problem.steps, problem.compute), problem.visits(state.rank)
    seconds[visits] += problem.delay
    for _ in range(repeats):
        state.Barrier()
        computing, waiting = plain(seconds, _busy, state.Barrier)
    return Result(state, computing, waiting, visits.size)


def expected(problem: Problem) -> float:
    """Seconds without any cost of the barriers: computing, and each delay that nobody else hides."""
    steps = {int(step) for rank in range(problem.ranks) for step in problem.visits(rank)}
    return problem.steps * problem.compute + len(steps) * problem.delay


def reference(problem: Problem, state: Any) -> Result:
    """The same without waiting for anybody: a rank's own computing, and no time at barriers but others' delays."""
    visits = problem.visits(state.rank).size
    own = problem.steps * problem.compute + visits * problem.delay
    return Result(state, own, expected(problem) - own, visits)


def verify(problem: Problem, result: Result) -> list[Check]:
    """The sensor came as often as planned, and nobody was faster than the plan allows."""
    comm = result.comm
    planned = sum(problem.visits(rank).size for rank in range(problem.ranks))
    least, due = -world.largest(comm, -(result.computing + result.waiting)), expected(problem)
    return [
        Check.near("visits of the sensor on all ranks", world.total(comm, result.visits), planned, 0),
        Check("seconds of the fastest rank reach the plan", least, due, 0.0, least >= 0.999 * due),
    ]


def times(result: Result) -> dict[str, float]:
    """Mean seconds of computing and waiting over the ranks; all ranks call it."""
    sums = (world.total(result.comm, seconds) for seconds in (result.computing, result.waiting))
    return dict(zip(("compute", "wait"), (each / result.comm.size for each in sums), strict=True))


def work(problem: Problem, threads: int = 1) -> Work:
    """It computes nothing and moves nothing: only time passes."""
    return Work()


def footprint(problem: Problem) -> Footprint:
    """Nothing worth counting."""
    return Footprint(0)
