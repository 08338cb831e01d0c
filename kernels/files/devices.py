"""The report's program for devices: large blocks written and read, one job, two jobs, a fast device beside a slow one.

A job has a file of equal records; it writes all of them from the first to the last, reads them all back, and so on
until its transfers are made.  Each job is a thread with a file and a buffer of its own.  How large the files of 1982
were the report does not say; the smallest device held ten records, and ours hold 32 unless told otherwise.

A job may read its records in another order, from the last to the first or at random, or copy each to a second file as
it reads it; and its file may grow record by record, where others have all of their room from the start.

Places are those of ``filesystem``.  Every record bears its number and the pass in its first and last word, and every
record read, in the end also every record of a copy, is held to it.
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

__all__ = ["NO_OUTPUT", "PLACES", "READS", "Job", "Problem", "Result", "footprint", "plain", "reference", "run"]
__all__ += ["setup", "verify", "work"]

PLACES = ("memory", "cache", "direct")
READS = ("forward", "backward", "random", "copy")
WORD = 8
BLOCK = 512  # words of a block: records are whole ones


class Job(NamedTuple):
    """One job."""

    place: str = "memory"
    record: int = 384_000  # words
    transfers: int = 1600  # writes and reads together
    records: int = 32  # of its file
    reads: str = "forward"  # the order in which a pass reads, or "copy": forward, and each into a second file
    growing: bool = False  # the file grows as it is first written

    @property
    def bytes(self) -> int:
        """Bytes of the file, and of its copy."""
        return WORD * self.record * self.records * (2 if self.reads == "copy" else 1)


@dataclass(frozen=True)
class Problem(Presets):
    """Jobs that run at once. ``ValueError`` if a field is outside its range."""

    jobs: tuple[Job, ...] = (Job(),)
    # where files go, of several folders that of job i and the copy of job i − 1 to folder i modulo their number; None:
    # the system's temporary one
    folder: str | tuple[str, ...] | None = None

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
            require_choice("reads", job.reads, READS)
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
    cpu: tuple[float, ...]  # CPU seconds of each job
    transfers: tuple[np.ndarray, ...]  # float64 (transfers,): seconds of every one of each job


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


def order(job: Job) -> np.ndarray:
    """Numbers of the records in the order in which a pass reads them, int64 (records,)."""
    numbers = np.arange(job.records)
    if job.reads == "random":
        return np.random.default_rng(job.records).permutation(numbers)
    return numbers[::-1] if job.reads == "backward" else numbers


def plain(job: Job, files: list[BlockFile], buffer: np.ndarray) -> tuple[int, float, float, np.ndarray]:
    """All transfers: a pass of writing, a pass of reading, and so on; a copy goes into the last of the files.

    Returns the records that came back wrong, begin, CPU seconds, and when each transfer had ended, in seconds.
    """
    wrong, view, ends = 0, memoryview(buffer).cast("B"), np.empty(job.transfers)
    numbers, copying = order(job).tolist(), job.reads == "copy"
    computing, begin = time.thread_time(), time.perf_counter()
    for n in range(job.transfers):
        lap, place = n // (2 * job.records), n % job.records
        if n // job.records % 2 == 0:
            buffer[0] = buffer[-1] = lap * job.records + place
            files[0].write(place, view)
        else:
            number = numbers[place]
            files[0].read(number, view)
            wrong += _unlike(buffer, lap * job.records + number)
            if copying:
                files[1].write(number, view)
        ends[n] = time.perf_counter()
    return wrong, begin, time.thread_time() - computing, ends


def _unlike(buffer: np.ndarray, stamp: int) -> int:
    """1 where a record has another number or pass than the one that was written, else 0."""
    return int(buffer[0] != stamp or buffer[-1] != stamp)


def _wrong_copies(job: Job, copy: BlockFile, buffer: np.ndarray) -> int:
    """Records of a copy that are not those of the last pass that reached them."""
    passes, rest = divmod(job.transfers, 2 * job.records)
    wrong, view, further = 0, memoryview(buffer).cast("B"), max(0, rest - job.records)
    for number in range(job.records if passes else further):
        copy.read(number, view)
        wrong += _unlike(buffer, (passes - (number >= further)) * job.records + number)
    return wrong


def run(problem: Problem, state: list[np.ndarray], threads: int = 1, repeats: int = 1) -> Result:
    """All jobs at once, ``repeats`` times; times of the last.  ``threads`` is not used: every job is one.

    ``OSError``: what the disk refuses; nothing is left behind then.
    """
    jobs = problem.jobs
    for _ in range(repeats):
        need, what = footprint(problem).disk, "the jobs' files"
        with WorkFolder(problem.folder, "devices", need, what) as work, contextlib.ExitStack() as stack:
            if any(job.place == "direct" for job in jobs):
                for folder in work.paths:
                    require_direct(folder)
            files = [
                [
                    stack.enter_context(contextlib.closing(_file(job, work.of(n + copy) / f"{n}{name}")))
                    for copy, name in enumerate(("", "-copy")[: 2 if job.reads == "copy" else 1])
                ]
                for n, job in enumerate(jobs)
            ]
            found = run_team(lambda n, files=files: plain(jobs[n], files[n], state[n]), len(jobs))
            copies = [
                _wrong_copies(job, files[n][1], state[n]) if job.reads == "copy" else 0 for n, job in enumerate(jobs)
            ]
    wrong, begins, cpu, ends = zip(*found, strict=True)
    each = tuple(np.diff(every, prepend=begin) for begin, every in zip(begins, ends, strict=True))
    clock = max(every[-1] for every in ends) - min(begins)
    returned = tuple(n + more for n, more in zip(wrong, copies, strict=True))
    return Result(tuple(float(seconds.sum()) for seconds in each), returned, clock, cpu, each)


def _file(job: Job, path) -> BlockFile:
    return BlockFile(path, job.place, job.records, WORD * job.record, growing=job.growing)


def reference(problem: Problem, state: list[np.ndarray]) -> Result:
    """Every record came back right; the times are NaN."""
    count, unknown = len(problem.jobs), float("nan")
    each = tuple(np.full(job.transfers, unknown) for job in problem.jobs)
    return Result(count * (unknown,), count * (0,), unknown, count * (unknown,), each)


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every record came back as it was written."""
    return [Check.near(f"records of job {n} that came back wrong", wrong, 0, 0) for n, wrong in enumerate(result.wrong)]


NO_OUTPUT = dict.fromkeys(("seconds", "clock", "cpu", "transfers"), "seconds that were measured")


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes of all jobs."""
    read, written = 0, 0
    for job in problem.jobs:
        writes = sum(n // job.records % 2 == 0 for n in range(job.transfers))
        reads = job.transfers - writes
        read += WORD * job.record * reads
        written += WORD * job.record * (writes + (reads if job.reads == "copy" else 0))
    return Work(0, read, written)
