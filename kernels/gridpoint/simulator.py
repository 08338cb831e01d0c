"""A simulator of the forecast, as the report of 1982 had one: it computes for as long and moves as much.

A chain of multiply-adds lasts as long as the rows of a step took a forecast in memory on this machine
(``setup`` measures it); records and write-ups move through the same work files and drivers.  It needs the records
that are under way and no more, which is why the report could run two at once.
"""

import functools
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from kernels.contract import Check, Work
from kernels.files.work_folder import WorkFolder
from kernels.gridpoint import model, postprocess, writeup
from kernels.gridpoint import state as forecast
from kernels.gridpoint.layout import record_words, require_stamps, stamp_rows
from kernels.gridpoint.problem import LAG, Problem
from kernels.gridpoint.state import Result, Step, footprint, record_bytes, slots
from kernels.gridpoint.stores import Counters, page_aligned, state_files
from kernels.gridpoint.transfers import Accounts, Driver, Watch
from kernels.runtime.barriers import opaque
from kernels.runtime.jit import STRICT, kernel
from kernels.runtime.resources import require_disk

__all__ = ["Pace", "footprint", "run", "setup", "verify", "work"]


@dataclass(frozen=True)
class Pace:
    """How long the forecast computes: CPU seconds of a step by its kind, and links of the chain a second."""

    steps: dict[str, float] = field(repr=False)
    rate: float
    post: float = 0.0  # CPU seconds of a post-processing job


@kernel(fastmath=STRICT)
def _chain(links):
    """Multiply and add ``links`` times, each with the result of the one before."""
    x, a = opaque(1.0), opaque(0.5)
    for _ in range(links):
        x = x * a + a
    return x


def _rate() -> float:
    """Links a second, the best of a few."""
    _chain(1)
    best, links = 1.0, 2_000_000
    for _ in range(5):
        begin = time.perf_counter()
        _chain(links)
        best = min(best, time.perf_counter() - begin)
    return links / best


@functools.lru_cache(maxsize=4)
def _pace(problem: Problem) -> Pace:
    start = forecast.setup(problem)
    model.run(replace(problem, hours=4 * problem.dt / 3600, writeup=0.0), start)
    taken: dict[str, list[float]] = {}
    posts: list[float] = []
    for step in model.run(problem, start, on_writeup=lambda path: posts.append(postprocess.run(path)["cpu"])).steps:
        taken.setdefault(step.kind, []).append(step.cpu)
    return Pace({kind: median(times) for kind, times in taken.items()}, _rate(), median(posts) if posts else 0.0)


def setup(problem: Problem, seed: int = 0) -> Pace:
    """The pace of the forecast in memory, with one work file where that is bounded; measured once for all of it."""
    plain = replace(problem, overlap="none", rhs="memory", fsync=False)
    return _pace(replace(plain, files=0, place="memory") if not problem.allowed else replace(plain, files=1))


def post(path, problem: Problem, pace: Pace, device: bool) -> dict[str, float]:
    """A simulated post-processing job: what it reads and writes, and in between as long a computation."""
    with postprocess.timed(path, None, device) as (out, found):
        Path(path).read_bytes()
        _chain(int(pace.post * pace.rate))
        out.write(bytes(postprocess.packed_bytes(problem)))
    return found


class _Run:
    def __init__(self, problem: Problem, pace: Pace, folder, accounts: Accounts | None):
        self.problem, self.pace, self.step = problem, pace, 0
        self.buffer = page_aligned((slots(problem), record_words(problem.ni, problem.levels)))
        self.files = state_files(folder, problem, self.buffer) if problem.files else None
        self.driver, self.computing, self.folder = Driver(problem.overlap, accounts), [], folder
        if self.files is not None:
            self._rows(self.files.write, range(problem.nj), 0)
            self.files.turn()
            self.files.counters = Counters()

    def _rows(self, move, rows: range, step: int):
        for row in rows:
            if move == self.files.write:
                stamp_rows(self.buffer, row, row + 1, step)
            move(row, row % len(self.buffer))
            if move == self.files.read:
                require_stamps(self.buffer, row, row + 1, step)

    def _compute(self, seconds: float) -> None:
        begin = time.perf_counter()
        _chain(int(seconds * self.pace.rate))
        self.computing.append((begin, time.perf_counter()))

    def _writer(self):
        p = self.problem
        if self.step not in p.writeup_steps:
            return None
        return writeup.Writer(self.folder / f"writeup{self.step}", p.ni, p.nj, p.levels, self.step, self.step * p.dt)

    def scan(self, writes: bool) -> Path | None:
        """One pass over the rows: read ahead, compute, write back, and write up where the step does, to that path."""
        p, driver, writer = self.problem, self.driver, self._writer()
        radiating = self.step in p.radiation_steps
        share = self.pace.steps["radiation" if radiating and "radiation" in self.pace.steps else "normal"] / p.nj
        groups = [(first, min(first + p.lines, p.nj)) for first in range(0, p.nj, p.lines)]
        words, jobs = writeup.row_words(p.ni, p.levels), []
        ahead = self._start(groups[0])
        for n, (first, end) in enumerate(groups):
            driver.finish(ahead)
            for job in jobs[:-2]:
                driver.finish(job)
            del jobs[:-2]
            ahead = self._start(groups[n + 1] if n + 1 < len(groups) else None)
            if writes:
                self._compute(share * (end - first))
            if writer is not None:
                writer.rows(first, np.zeros((end - first, words)))
            if writes and self.files is not None:
                done = range(max(first - LAG, 0), p.nj if end == p.nj else max(end - LAG, 0))
                jobs.append(driver.write(partial(self._rows, self.files.write, done, self.step + 1)))
        for job in jobs:
            driver.finish(job)
        if writer is not None:
            writer.commit(p.fsync)
        if writes and self.files is not None:
            self.files.turn()
        return writer.path if writer else None

    def _start(self, group):
        if self.files is None or group is None:
            return None
        return self.driver.read(partial(self._rows, self.files.read, range(*group), self.step))

    def close(self) -> None:
        self.driver.close()
        if self.files is not None:
            self.files.close()


def run(
    problem: Problem,
    state: Pace,
    threads: int = 1,
    repeats: int = 1,
    on_writeup: Callable[[Path], None] = lambda path: None,
    on_ready: Callable[[], None] = lambda: None,
    accounts: Accounts | None = None,
) -> Result:
    """The steps of the forecast, ``repeats`` times; times and counters of the last, without fields.

    The last three arguments are those of ``model.run``. ``OSError``: what the disk refuses; nothing is left in the
    folder then.
    """
    if need := footprint(problem).disk:
        require_disk(problem.folder or tempfile.gettempdir(), need, "a simulated forecast with its work files")
    result = None
    for _ in range(repeats):
        with WorkFolder(problem.folder, "simulator") as folder:
            going = _Run(problem, state, folder.path, accounts)
            try:
                on_ready()
                watch, steps = Watch(accounts), []
                for number in range(problem.steps + 1):
                    step = Watch()
                    going.step, waited, kind = number, going.driver.waited, problem.kind(number)
                    written = going.scan(number < problem.steps)
                    steps.append(Step(number, kind, *step.spent()[:2], going.driver.waited - waited, 0.0))
                    if written:
                        on_writeup(written)
                counters = going.files.counters if going.files else Counters()
                clock, cpu, accounted = watch.spent()
                result = Result({}, problem.steps, steps, counters, going.computing, None, clock, cpu, None, accounted)
            finally:
                going.close()
    return result


def verify(problem: Problem, result: Result) -> list[Check]:
    """As many requests and bytes as the forecast makes; every record that was read bore its row and step."""
    counted = work(problem)
    moved = result.counters.bytes_read, result.counters.bytes_written
    expected = (counted.bytes_read, counted.bytes_written) if problem.files else (0, 0)
    checks = [
        Check.near(f"bytes {way}", a, b, 0) for way, a, b in zip(("read", "written"), moved, expected, strict=True)
    ]
    return [*checks, Check.near("steps", len(result.steps), problem.steps + 1, 0)]


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes as the forecast's, and no operations: what is computed has no use."""
    records = record_bytes(problem)
    return Work(0, (problem.steps + 1) * records, problem.steps * records)
