"""What periodic sensors cost ranks that wait for each other (P8).

On the clusters of 2006 a monitoring system woke up once a minute on every processor and took it for a time.  Here every
rank watches the clock for a while, then all meet at a barrier.  Every ``period`` steps a sensor takes ``delay`` seconds
of each rank's CPU: at the same step on all ranks (synchronised), or at a step of its own on each (drifted apart).
Synchronised, the ranks lose ``delay`` a period; drifted apart, every one waits for each of the others, N · ``delay``,
as the report of 2006 drew it.

While they drift (drifting) a visit takes its time in slices, one in each of :data:`SLICES` steps, and those of a
rank begin ``rank`` steps later with each period.  Slices that still meet are lost once, so that waiting grows from
period to period until none do.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

import numpy as np

from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, one_of, real, require_range, whole
from supercomputers_rerun.kernels.mpi import world

__all__ = ["NO_OUTPUT", "WAYS", "Problem", "Result", "footprint", "plain", "reference", "run", "setup", "times"]
__all__ += ["verify", "work"]

WAYS = ("none", "synchronised", "drifted", "drifting")
SLICES = 8


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
        "paper": {"steps": 720, "period": 60, "delay": 8e-3, "compute": 1e-3},
        "modern": {"steps": 2000, "period": 100, "delay": 8e-3, "compute": 1e-3},
    }

    def __post_init__(self):
        require_range("period", self.period, 1, self.steps, "steps")

    def delays(self, rank: int) -> np.ndarray:
        """Seconds that the sensor takes of a rank in each step, float64 (steps,): a visit in every period."""
        found = np.zeros(self.steps)
        every = found[: self.steps // self.period * self.period].reshape(-1, self.period)  # a view
        if self.way == "drifting":
            slices = min(SLICES, self.period)
            for number, steps in enumerate(every):
                steps[(rank * number + np.arange(slices)) % self.period] = self.delay / slices
        elif self.way != "none":
            every[:, rank * self.period // self.ranks if self.way == "drifted" else 0] = self.delay
        return found


class Result(NamedTuple):
    """What this rank met, of the last repeat."""

    comm: Any
    problem: Problem
    seconds: np.ndarray  # of computing, sensors included, and of waiting at the barrier of each step, (2, steps)


def setup(problem: Problem, seed: int = 0) -> Any:
    """Nothing but the communicator of the ranks (``seed`` is not used)."""
    return world.team(problem.ranks)


def _busy(seconds: float) -> None:
    end = perf_counter() + seconds
    while perf_counter() < end:
        pass


def plain(amounts: Iterable, compute: Callable[[Any], object], wait: Callable[[], object]) -> np.ndarray:
    """What one rank does: in each step it computes as much as it has to, and waits for all others.

    Returns the seconds of computing and of waiting of each step, float64 (2, steps).
    """
    computing, waiting = [], []
    for amount in amounts:
        begin = perf_counter()
        compute(amount)
        done = perf_counter()
        wait()
        computing.append(done - begin)
        waiting.append(perf_counter() - done)
    return np.array([computing, waiting])


def run(problem: Problem, state: Any, threads: int = 1, repeats: int = 1) -> Result:
    """All steps, ``repeats`` times; the result is the last one's."""
    delays = problem.delays(state.rank)
    for _ in range(repeats):
        state.Barrier()
        seconds = plain(problem.compute + delays, _busy, state.Barrier)
    return Result(state, problem, seconds)


def reference(problem: Problem, state: Any) -> Result:
    """The same without any cost of the barriers: a rank's own computing, and no waiting but for the slowest."""
    every = problem.compute + np.array([problem.delays(rank) for rank in range(problem.ranks)])
    own = every[state.rank]
    return Result(state, problem, np.array([own, every.max(axis=0) - own]))


def verify(problem: Problem, result: Result) -> list[Check]:
    """Nobody was faster than the plan allows."""
    due = float(reference(problem, result.comm).seconds.sum())
    least = -world.largest(result.comm, -float(result.seconds.sum()))
    return [Check("seconds of the fastest rank reach the plan", least, due, 0.0, least >= 0.999 * due)]


NO_OUTPUT = {"problem": "what was asked for", "seconds": "seconds that were measured"}


def times(result: Result) -> dict[str, float]:
    """Seconds of computing and waiting, and of waiting in each period, mean over the ranks; all ranks call it."""
    comm, (compute, wait), problem = result.comm, result.seconds, result.problem
    found = {"compute": compute.sum(), "wait": wait.sum()}
    every = wait[: wait.size // problem.period * problem.period].reshape(-1, problem.period).sum(axis=1)
    found |= {f"wait of period {number}": seconds for number, seconds in enumerate(every)}
    return {name: world.total(comm, seconds) / comm.size for name, seconds in found.items()}


def work(problem: Problem, threads: int = 1) -> Work:
    """It computes nothing and moves nothing: only time passes."""
    return Work()


def footprint(problem: Problem) -> Footprint:
    """Nothing worth counting."""
    return Footprint(0)
