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

import numpy as np

from kernels.contract import Check, Work
from kernels.gridpoint import model, postprocess
from kernels.gridpoint import state as forecast
from kernels.gridpoint.problem import Problem
from kernels.gridpoint.scan import STREAM
from kernels.gridpoint.state import Result, footprint, record_bytes
from kernels.runtime.jit import STRICT, kernel, opaque

__all__ = ["Pace", "footprint", "run", "setup", "verify", "work"]


@dataclass(frozen=True)
class Pace:
    """How long the forecast computes: seconds of a step by its kind, and links of the chain a second."""

    steps: dict[str, float] = field(repr=False)
    rate: float
    post: float = 0.0  # s that a post-processing job computes


@kernel(fastmath=STRICT)
def _chain(links):
    """Multiply and add ``links`` times, each with the result of the one before."""
    x, a = opaque(1.0), opaque(0.5)
    for _ in range(links):
        x = x * a + a
    return x


def _rate() -> float:
    """Links a second, the best of a few."""
    return 2_000_000 / min(timeit.repeat(lambda: _chain(2_000_000), number=1, repeat=6))


@functools.lru_cache(maxsize=4)
def _pace(problem: Problem) -> Pace:
    def taken(program: type[model.Model], state, work: Callable) -> dict[str, float]:
        """Median CPU seconds of steps by their kind, and of a post-processing job."""
        found: dict[str, list[float]] = {"post": []}
        told = model.run(problem, state, on_writeup=lambda path: found["post"].append(work(path)["cpu"]), model=program)
        for step in told.steps:
            found.setdefault(step.kind, []).append(step.cpu)
        return {kind: median(times) for kind, times in found.items() if times}

    start, rate = forecast.setup(problem), _rate()
    model.run(replace(problem, hours=4 * problem.dt / 3600, writeup=0.0), start)
    whole = taken(model.Model, start, postprocess.run)
    idle = Pace({}, rate)
    moving = taken(_Simulated, idle, lambda path: post(path, problem, idle, False))
    computing = {kind: max(0.0, seconds - moving[kind]) for kind, seconds in whole.items()}
    return Pace(computing, rate, computing.get("post", 0.0))


def setup(problem: Problem, seed: int = 0) -> Pace:
    """The pace of the forecast with two files in memory, measured once for all places of the files."""
    return _pace(replace(problem, files=2, place="memory", overlap="none", rhs="memory", fsync=False))


def post(path, problem: Problem, pace: Pace, device: bool) -> dict[str, float]:
    """A simulated post-processing job: what it reads and writes, and in between as long a computation."""
    with postprocess.timed(path, None, device) as (out, found):
        Path(path).read_bytes()
        _chain(int(pace.post * pace.rate))
        out.write(bytes(postprocess.packed_bytes(problem)))
    return found


class _Simulated(model.Model):
    """A forecast that computes nothing of use."""

    def _fill(self, pace: Pace) -> None:
        self.pace = pace
        super()._fill(pace)

    def _records(self, state, rows: slice) -> np.ndarray:
        return np.zeros((rows.stop - rows.start, self.arrays.records.shape[1]))

    def _stage(self, what: int, first: int, end: int, short: bool = False) -> None:
        if what != STREAM:
            return
        steps, nj, begin = self.pace.steps, self.problem.nj, time.perf_counter()
        radiating = self.step in self.problem.radiation_steps and "radiation" in steps
        rows = min(end, nj) - first
        _chain(int(steps.get("radiation" if radiating else "normal", 0.0) * rows / nj * self.pace.rate))
        self.computing.append((begin, time.perf_counter()))


def run(problem: Problem, state: Pace, threads: int = 1, repeats: int = 1, **told) -> Result:
    """The steps of the forecast, ``repeats`` times, on one thread; times and counters of the fastest.

    ``told``: ``on_writeup``, ``on_ready`` and ``accounts`` of ``model.run``. ``OSError``: what the disk refuses;
    nothing is left in the folder then.
    """
    return model.run(problem, state, 1, repeats, model=_Simulated, **told)


def verify(problem: Problem, result: Result) -> list[Check]:
    """As many bytes and steps as the forecast's."""
    counted, counters = work(problem), result.counters
    moved = counters.bytes_read, counters.bytes_written
    expected = (counted.bytes_read, counted.bytes_written) if problem.files else (0, 0)
    checks = [
        Check.near(f"bytes {way}", a, b, 0) for way, a, b in zip(("read", "written"), moved, expected, strict=True)
    ]
    return [*checks, Check.near("steps", len(result.steps), problem.steps + 1, 0)]


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes as the forecast's, and no operations: what is computed has no use."""
    records = record_bytes(problem)
    return Work(0, (problem.steps + 1) * records, problem.steps * records)
