"""The report's program for devices: large blocks written and read, one job, two jobs, a fast device beside a slow one.

A job has a file of equal records; it writes all of them from the first to the last, reads them all back, and so on
until its transfers are made.  Each job is a thread with a file and a buffer of its own.  How large the files of 1982
were the report does not say; the smallest device held ten records, and ours hold 32 unless told otherwise.

Places are those of ``filesystem``.  Every record bears its number and the pass in its first and last word, and every
record read is held to it.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from kernels.contract import Check, Footprint, Presets, Work, require_choice, require_range
from kernels.files.filesystem import BlockFile, page_aligned, require_direct
from kernels.files.work_folder import WorkFolder
from kernels.runtime.resources import require_memory
from kernels.runtime.threads import run_team

PLACES = ("memory", "cache", "direct")
WORD = 8
BLOCK = 512  # words of a block: records are whole ones


class Job(NamedTuple):
    """One job."""

    place: str = "memory"
    record: int = 384_000  # words
    transfers: int = 1600  # writes and reads together
    records: int = 32  # of its file

    @property
    def bytes(self) -> int:
        """Bytes of the file."""
        return WORD * self.record * self.records


@dataclass(frozen=True)
class Problem(Presets):
    """Jobs that run at once. ``ValueError`` if a field is outside its range."""

    jobs: tuple[Job, ...] = (Job(),)
    folder: str | None = None  # where files go; None: the system's temporary folder

    PRESETS: ClassVar = {
        "quick": {"jobs": (Job("cache", 7680, 24, 4),)},
        "paper": {},
        "modern": {"jobs": (Job("direct", 3_840_000, 320, 32),)},
    }

    def __post_init__(self):
        require_range("jobs", len(self.jobs), 1, 16)
        for job in self.jobs:
            if not isinstance(job, Job):
                raise ValueError(f"jobs holds {job!r}; give a tuple of Job")
            require_choice("place", job.place, PLACES)
            require_range("record", job.record, BLOCK, 2**30, "words")
            if job.record % BLOCK:
                raise ValueError(f"record = {job.record} words must be a multiple of {BLOCK}, a block")
            require_range("transfers", job.transfers, 2, 10**9)
            require_range("records", job.records, 1, 10**6)


class State(NamedTuple):
    """Buffers of the jobs."""

    buffers: list[np.ndarray]  # float64 (1, record) each, page-aligned


@dataclass(frozen=True)
class Result:
    """What every job took."""

    begins: tuple[float, ...]  # s, from the start of the first
    seconds: tuple[float, ...]  # of each job
    written: tuple[float, ...]  # s spent writing, job by job
    read: tuple[float, ...]  # s spent reading
    wrong: tuple[int, ...]  # records that came back other than they were written
    transfers: tuple[int, ...]
    clock: float  # s, from the first start to the last end


def footprint(problem: Problem) -> Footprint:
    """Buffers, and the files of jobs in memory; files of others."""
    inside = sum(job.bytes for job in problem.jobs if job.place == "memory")
    outside = sum(job.bytes for job in problem.jobs if job.place in ("cache", "direct"))
    return Footprint(inside + 2 * sum(WORD * job.record for job in problem.jobs), outside)


def setup(problem: Problem, seed: int = 0) -> State:
    """Buffers, filled."""
    require_memory(footprint(problem).memory, "the jobs' buffers and files")
    rng, buffers = np.random.default_rng(seed), []
    for job in problem.jobs:
        buffer = page_aligned((1, job.record))
        buffer[0] = rng.random()
        buffers.append(buffer)
    return State(buffers)


class _Going:
    """One job while it runs."""

    def __init__(self, job: Job, buffer: np.ndarray, path: Path):
        self.job, self.buffer = job, buffer
        self.file = BlockFile(path, job.place, job.records, WORD * job.record)
        self.begin = self.seconds = self.written = self.read = 0.0
        self.wrong = 0

    def run(self) -> None:
        """All transfers: a pass of writing, a pass of reading, and so on."""
        self.begin = time.perf_counter()
        job, view, line = self.job, memoryview(self.buffer[0]).cast("B"), self.buffer[0]
        for n in range(job.transfers):
            number, lap = n % job.records, n // (2 * job.records)
            stamp = float(lap * job.records + number)
            begin = time.perf_counter()
            if n // job.records % 2 == 0:
                line[0] = line[-1] = stamp
                self.file.write(number, view)
                self.written += time.perf_counter() - begin
            else:
                self.file.read(number, view)
                self.read += time.perf_counter() - begin
                self.wrong += int(line[0] != stamp or line[-1] != stamp)
        self.seconds = time.perf_counter() - self.begin


def _work(problem: Problem, state: State, folder: Path) -> Result:
    going: list[_Going] = []
    try:
        for n, (job, buffer) in enumerate(zip(problem.jobs, state.buffers, strict=True)):
            going.append(_Going(job, buffer, folder / f"file{n}"))
        run_team(lambda n: going[n].run(), len(going))
    finally:
        for each in going:
            each.file.close()
    first = min(each.begin for each in going)
    begins = tuple(each.begin - first for each in going)
    found = (tuple(getattr(each, name) for each in going) for name in ("seconds", "written", "read", "wrong"))
    transfers = tuple(job.transfers for job in problem.jobs)
    return Result(begins, *found, transfers, max(each.begin + each.seconds for each in going) - first)


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """All jobs at once, ``repeats`` times; times of the last.  ``threads`` is not used: every job is one.

    ``OSError``: what the disk refuses; nothing is left behind then.
    """
    for _ in range(repeats):
        with WorkFolder(problem.folder, "devices", footprint(problem).disk, "the jobs' files") as work:
            if any(job.place == "direct" for job in problem.jobs):
                require_direct(work.path)
            result = _work(problem, state, work.path)
    return result


def reference(problem: Problem, state: State) -> Result:
    """Every job's transfers into a dictionary, one job after another; its times are NaN."""
    wrong = []
    for job in problem.jobs:
        kept, bad = {}, 0
        for n in range(job.transfers):
            number, stamp = n % job.records, n // (2 * job.records) * job.records + n % job.records
            if n // job.records % 2 == 0:
                kept[number] = stamp
            else:
                bad += kept[number] != stamp
        wrong.append(bad)
    unknown = (float("nan"),) * len(problem.jobs)
    counts = tuple(job.transfers for job in problem.jobs)
    return Result(unknown, unknown, unknown, unknown, tuple(wrong), counts, float("nan"))


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every record came back as it was written; all transfers were made."""
    checks = []
    for n, job in enumerate(problem.jobs):
        checks.append(Check.near(f"records of job {n} that came back wrong", result.wrong[n], 0, 0))
        checks.append(Check.near(f"transfers of job {n}", result.transfers[n], job.transfers, 0))
    return checks


NO_OUTPUT = dict.fromkeys(("begins", "seconds", "written", "read", "clock"), "seconds that were measured")


def _writes(job: Job) -> int:
    laps, rest = divmod(job.transfers, 2 * job.records)
    return laps * job.records + min(rest, job.records)


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes of all jobs."""
    size = [WORD * job.record for job in problem.jobs]
    written = sum(_writes(job) * each for job, each in zip(problem.jobs, size, strict=True))
    total = sum(job.transfers * each for job, each in zip(problem.jobs, size, strict=True))
    return Work(0, total - written, written)
