"""The report's program for devices: large blocks written and read, one job, two jobs, a fast device beside a slow one.

A job has a file of equal records; it writes all of them from the first to the last, reads them all back, and so on
until its transfers are made.  Each job is a thread with a file and a buffer of its own.  How large the files of 1982
were the report does not say; the smallest device held ten records, and ours hold 32 unless told otherwise.

Places are those of ``filesystem``.  Every record bears its number and the pass in its first and last word, and every
record read is held to it.
"""

import contextlib
import time
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, require_choice, require_range
from supercomputers_rerun.kernels.files.filesystem import BlockFile, page_aligned, require_direct
from supercomputers_rerun.kernels.files.work_folder import WorkFolder
from supercomputers_rerun.kernels.runtime.resources import require_memory, run_team

__all__ = ["NO_OUTPUT", "PLACES", "Job", "Problem", "Result", "footprint", "plain", "reference", "run", "setup"]
__all__ += ["verify", "work"]

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


class Result(NamedTuple):
    """What every job took."""

    seconds: tuple[float, ...]  # of each job
    wrong: tuple[int, ...]  # records that came back other than they were written
    clock: float  # s, from the first start to the last end


def footprint(problem: Problem) -> Footprint:
    """Buffers, and the files of jobs in memory; files of others."""
    inside = sum(job.bytes for job in problem.jobs if job.place == "memory")
    outside = sum(job.bytes for job in problem.jobs if job.place in ("cache", "direct"))
    return Footprint(inside + 2 * sum(WORD * job.record for job in problem.jobs), outside)


def setup(problem: Problem, seed: int = 0) -> list[np.ndarray]:
    """A buffer for each job, float64 (record,), filled, on a page boundary."""
    require_memory(footprint(problem).memory, "the jobs' buffers and files")
    rng, buffers = np.random.default_rng(seed), [page_aligned((1, job.record))[0] for job in problem.jobs]
    for buffer in buffers:
        buffer[:] = rng.random()
    return buffers


def plain(job: Job, file: BlockFile, buffer: np.ndarray) -> tuple[float, float, int]:
    """All transfers: a pass of writing, a pass of reading, and so on.

    Returns begin and end in seconds, and the records that came back wrong.
    """
    wrong, view, begin = 0, memoryview(buffer).cast("B"), time.perf_counter()
    for n in range(job.transfers):
        number, lap = n % job.records, n // (2 * job.records)
        stamp = float(lap * job.records + number)
        if n // job.records % 2 == 0:
            buffer[0] = buffer[-1] = stamp
            file.write(number, view)
        else:
            file.read(number, view)
            wrong += int(buffer[0] != stamp or buffer[-1] != stamp)
    return begin, time.perf_counter(), wrong


def run(problem: Problem, state: list[np.ndarray], threads: int = 1, repeats: int = 1) -> Result:
    """All jobs at once, ``repeats`` times; times of the last.  ``threads`` is not used: every job is one.

    ``OSError``: what the disk refuses; nothing is left behind then.
    """
    jobs = problem.jobs
    for _ in range(repeats):
        need, what = footprint(problem).disk, "the jobs' files"
        with WorkFolder(problem.folder, "devices", need, what) as work, contextlib.ExitStack() as stack:
            if any(job.place == "direct" for job in jobs):
                require_direct(work.path)
            made = (BlockFile(work.path / f"{n}", j.place, j.records, WORD * j.record) for n, j in enumerate(jobs))
            files = [stack.enter_context(contextlib.closing(file)) for file in made]
            found = run_team(lambda n, files=files: plain(jobs[n], files[n], state[n]), len(jobs))
    begins, ends, wrong = zip(*found, strict=True)
    return Result(tuple(np.subtract(ends, begins).tolist()), wrong, max(ends) - min(begins))


def reference(problem: Problem, state: list[np.ndarray]) -> Result:
    """Every record came back right; the times are NaN."""
    count = len(problem.jobs)
    return Result(count * (float("nan"),), count * (0,), float("nan"))


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every record came back as it was written."""
    return [Check.near(f"records of job {n} that came back wrong", wrong, 0, 0) for n, wrong in enumerate(result.wrong)]


NO_OUTPUT = dict.fromkeys(("seconds", "clock"), "seconds that were measured")


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes of all jobs."""
    total, written = 0, 0
    for job in problem.jobs:
        total += WORD * job.record * job.transfers
        written += WORD * job.record * sum(n // job.records % 2 == 0 for n in range(job.transfers))
    return Work(0, total - written, written)
