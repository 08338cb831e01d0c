"""A simulator of the forecast, as the report of 1982 had one: it computes for as long and moves as much.

Records and write-ups move through the same work files and drivers.  In between a chain of multiply-adds lasts for what
a step of the forecast takes more than one that only moves them (``setup`` measures both on this machine).
"""

import functools
import time
import timeit
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from supercomputers_rerun.kernels.contract import Check, Work
from supercomputers_rerun.kernels.gridpoint import model, postprocess
from supercomputers_rerun.kernels.gridpoint import state as forecast
from supercomputers_rerun.kernels.gridpoint.problem import Problem
from supercomputers_rerun.kernels.gridpoint.scan import STREAM
from supercomputers_rerun.kernels.gridpoint.state import Result, footprint
from supercomputers_rerun.kernels.runtime.jit import STRICT, kernel, opaque

__all__ = ["Pace", "footprint", "run", "setup", "verify", "work"]


@dataclass(frozen=True)
class Pace:
    """How long the forecast computes: seconds of a step by its kind, and links of the chain a second."""

    steps: dict[str, float] = field(repr=False)  # "post": of a post-processing job
    rate: float


@kernel(fastmath=STRICT)
def _chain(links):
    """Multiply and add ``links`` times, each with the result of the one before."""
    x, a = opaque(1.0), opaque(0.5)
    for _ in range(links):
        x = x * a + a
    return x


@functools.lru_cache(maxsize=4)
def _pace(problem: Problem) -> Pace:
    def taken(program: type[model.Model], state, work: Callable) -> dict[str, float]:
        """CPU seconds of steps by their kind, medians, and of a post-processing job, the least: others slow it most."""
        found: dict[str, list[float]] = {"post": []}
        jobs = found["post"]
        told = model.run(problem, state, on_writeup=lambda path: jobs.extend(map(work, 3 * [path])), model=program)
        for step in told.steps:
            found.setdefault(step.kind, []).append(step.cpu)
        return {kind: (min if kind == "post" else median)(times) for kind, times in found.items() if times}

    start = forecast.setup(problem)
    rate = 2_000_000 / min(timeit.repeat(lambda: _chain(2_000_000), number=1, repeat=6))  # the best of a few
    model.run(replace(problem, hours=4 * problem.dt / 3600, writeup=0.0), start)
    whole = taken(model.Model, start, lambda path: postprocess.run(path, device=True)["cpu"])
    idle = Pace({}, rate)
    moving = taken(_Simulated, idle, lambda path: post(path, problem, idle, True)["cpu"])
    return Pace({kind: max(0.0, seconds - moving[kind]) for kind, seconds in whole.items()}, rate)


def setup(problem: Problem, seed: int = 0) -> Pace:
    """The pace of the forecast with two files in memory, measured once for all places of the files."""
    return _pace(replace(problem, files=2, place="memory", overlap="none", rhs="memory", fsync=False))


def post(path, problem: Problem, pace: Pace, device: bool) -> dict[str, float]:
    """A simulated post-processing job: what it reads and writes, and in between as long a computation."""
    with postprocess.timed(path, None, device) as (out, found):
        Path(path).read_bytes()
        _chain(int(pace.steps.get("post", 0.0) * pace.rate))
        out.write(bytes(postprocess.packed_bytes(problem)))
    return found


class _Simulated(model.Model):
    """A forecast that computes nothing of use."""

    def _fill(self, pace: Pace) -> None:
        self.pace = pace
        super()._fill(pace)

    def _put(self, state, rows: range) -> None:
        pass

    def _stage(self, what: int, first: int, end: int) -> None:
        if what != STREAM:
            return
        steps, nj, begin = self.pace.steps, self.problem.nj, time.perf_counter()
        kind = "radiation" if self.step in self.problem.radiation_steps else "normal"
        _chain(int(steps.get(kind, 0.0) * (min(end, nj) - first) / nj * self.pace.rate))
        self.computing.append((begin, time.perf_counter()))


#: ``model.run``, from a pace in place of a state.
run = functools.partial(model.run, model=_Simulated)


def verify(problem: Problem, result: Result) -> list[Check]:
    """As many bytes and steps as the forecast's."""
    counted = work(problem)
    due = (counted.bytes_read, counted.bytes_written) if problem.files else (0, 0)
    return [
        Check.near("bytes read", result.moved(False), due[0], 0),
        Check.near("bytes written", result.moved(True), due[1], 0),
        Check.near("steps", len(result.steps), problem.steps + 1, 0),
    ]


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes as the forecast's, and no operations: what is computed has no use."""
    return replace(forecast.work(problem), flops=0, parts=())
