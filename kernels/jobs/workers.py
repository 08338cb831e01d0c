"""The programs of 1982 that run at once, and the processes that do them and their post-processing jobs.

Accounts of a job, in seconds, of the thread that computes: *executing* is its CPU time, *waiting to execute* is the
scheduler's (``/proc/thread-self/schedstat``), *waiting for transfers* is what waits at the driver took beyond these.
"""

import functools
import itertools
import os
import time
import weakref
import zlib
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from kernels import analysis, gridpoint
from kernels.files.processes import SPAWN, Processes
from kernels.gridpoint import postprocess, simulator
from kernels.gridpoint.state import Step
from kernels.mpi.world import end_with_parent

__all__ = ["BUILDS", "PROGRAMS", "Done", "Job", "Pool", "Post", "answer", "environment", "in_memory", "shared"]

PROGRAMS: dict[str, Any] = {"forecast": gridpoint, "simulator": simulator, "analysis": analysis}

#: Builds by name, the first as it comes; see https://numba.readthedocs.io for the variables.
BUILDS = {
    "this processor": {},
    "vectors of 256 bits, fused": {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""},
    "x86-64 of 2003, not fused": {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""},
}


class Job(NamedTuple):
    """One job."""

    program: str = "forecast"  # of PROGRAMS
    problem: gridpoint.Problem | analysis.Problem = gridpoint.Problem(writeup=1.5)

    @property
    def write_ups(self) -> int:
        """Files that it leaves for post-processing."""
        return 0 if self.program == "analysis" else len(self.problem.writeup_steps)


@dataclass(frozen=True)
class Done:
    """One job as it went; times in seconds."""

    clock: float
    cpu: float
    end: float  # from the start of all jobs
    steps: tuple[Step, ...] = field(default=(), repr=False)  # of a forecast or simulator
    overlapped: float = 0.0  # share of the bytes that moved during computation
    moving: float = 0.0  # of the CPU time, in moving records
    executing: float = float("nan")  # accounts of the thread that computes; NaN where the system keeps none
    queued: float = float("nan")  # waiting to execute
    answer: int = 0  # checksum of all numbers that the program gives; 0 for a simulator
    packed: tuple[int, ...] = ()  # checksums of what the post-processing jobs of a forecast wrote
    wrong: tuple[str, ...] = ()  # checks of the program's own that failed

    @property
    def waiting(self) -> float:
        """Seconds that the computing thread waited for transfers."""
        return sum(step.waiting for step in self.steps)

    @property
    def net(self) -> float:
        """Clock without write-up steps."""
        return sum(step.clock for step in self.steps if "write-up" not in step.kind)


class Post(NamedTuple):
    """One post-processing job; times in seconds."""

    job: int  # number of the job whose write-up it reads
    begin: float  # from the start of all jobs
    end: float
    clock: float
    cpu: float


def in_memory(program: str, problem):
    """The same problem with all of its files in memory, which has the same answer."""
    if program == "analysis":
        return replace(problem, work="memory", rest="memory", folder=None)
    return replace(problem, files=0, place="memory", overlap="none", rhs="memory", fsync=False, folder=None)


def answer(program: str, result) -> int:
    """Checksum of all numbers that a run gave."""
    if program == "forecast":
        return int(result.digest[:12], 16)
    arrays = (result.fields, result.standard, result.errors, result.quality) if program == "analysis" else ()
    return functools.reduce(lambda checksum, array: zlib.crc32(array.tobytes(), checksum), arrays, 0)


@functools.cache
def _accounts() -> Callable[[], tuple[float, float]] | None:
    """What gives the seconds that this thread has executed and has waited for a CPU; None where nobody counts them."""
    try:
        handle = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
    except OSError:
        return None

    def read() -> tuple[float, float]:
        queued = int(os.pread(handle, 128, 0).split()[1])
        return time.thread_time(), queued / 1e9  # what the scheduler says of executing is up to a tick old

    return read


@functools.lru_cache(maxsize=2)
def _start(problem):
    return gridpoint.setup(problem)


_WARM: set = set()  # configurations whose code this process has compiled


def _forecast(problem):
    """The state that a forecast starts from, with all compiled by a few steps."""
    state, kind = _start(in_memory("forecast", problem)), replace(problem, folder=None, fsync=False)
    if kind not in _WARM:
        gridpoint.run(replace(problem, hours=4 * problem.dt / 3600, writeup=0.0, fsync=False), state)
        _WARM.add(kind)
    return state


def _test(here, number: int, queue, test, cpus, paces, folder: Path) -> None:
    """The job of process ``number`` if there is one, then post-processing jobs, then the answer: a word after each.

    ``test``, ``cpus``, ``paces`` and ``folder`` are those of :meth:`Pool.test`.
    """
    job, begin, write_ups = next(iter(test.jobs[number:]), None), 0.0, itertools.count()
    if hasattr(os, "sched_setaffinity"):  # elsewhere the system places it
        os.sched_setaffinity(0, cpus[number])

    def kept(number: int, write_up: int) -> Path:
        return folder / f"job{number}-{write_up:04d}"

    def ready() -> None:
        nonlocal begin
        here.send(None)
        begin = here.recv()

    def announce(path: Path) -> None:
        found = number, next(write_ups)
        os.link(path, kept(*found))
        if test.posts != "none":
            queue.put(found)

    def run(program: str, problem) -> tuple[Any, Done]:
        kernel, how = PROGRAMS[program], {"on_ready": ready}
        if program == "analysis":  # its programs compute and move in turn: accounts are not asked for
            state = kernel.setup(problem)
        else:
            state = _forecast(problem) if program == "forecast" else paces[number]
            how |= {"on_writeup": announce, "accounts": _accounts()}
        result = kernel.run(problem, state, **how)
        end = time.perf_counter() - begin
        if program == "analysis":
            return result, Done(result.clock, result.cpu, end)
        accounts = result.accounts or ()
        told = tuple(result.steps), result.overlapped, result.moving
        return result, Done(result.clock, result.cpu, end, *told, *accounts)

    def post(number: int, write_up: int) -> Post:
        (program, problem), path = test.jobs[number], kept(number, write_up)
        if program == "forecast":
            found = postprocess.run(path, small=test.small, device=problem.fsync)
        else:
            found = simulator.post(path, problem, paces[number], problem.fsync)
        return Post(number, found["begin"] - begin, found["end"] - begin, found["clock"], found["cpu"])

    result, done = run(*job) if job else (ready(), None)
    here.send(done)
    here.send([post(*each) for each in iter(queue.get, None)] if number in test.takers else [])
    here.recv()  # what follows no clock sees
    if job:
        wrong = tuple(str(check) for check in PROGRAMS[job.program].verify(job.problem, result) if not check.ok)
        paths = sorted(folder.glob(f"job{number}-*.packed")) if job.program == "forecast" else ()
        packed = tuple(zlib.crc32(path.read_bytes()) for path in paths)
        done = replace(done, answer=answer(job.program, result), packed=packed, wrong=wrong)
    here.send(done)


def _serve(here, number: int, queue) -> None:
    end_with_parent()  # also one that waits for the queue
    while True:
        _test(here, number, queue, *here.recv())


@contextmanager
def environment(changes: dict[str, str]):
    """Processes that are started inside have this environment."""
    before = dict(os.environ)
    os.environ.update(changes)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class Pool(Processes):
    """``count`` processes of a build that do one test after the other, and the queue of their post-processing jobs."""

    def __init__(self, count: int, build: str = "this processor"):
        self.queue = SPAWN.SimpleQueue()  # numbers of a job and of its write-up; a None for each taker at the end
        with environment(BUILDS[build]):
            super().__init__(_serve, [(number, self.queue) for number in range(count)])

    def test(self, test, cpus: list[list[int]], paces: tuple, folder: Path) -> tuple[list[Done], list[Post]]:
        """All jobs of ``test``, a ``Problem``, as they went, and the post-processing jobs in the order of their begins.

        ``cpus``: of each process; ``paces``: of each job that is a simulator; ``folder``: for everything that is kept
        until the end.  ``OSError`` if a process ends early.
        """
        self.send((test, cpus, paces, folder))
        self.answers()  # ready
        self.send(time.perf_counter())
        self.answers()
        for _ in test.takers:
            self.queue.put(None)
        posts = sum(self.answers(), [])
        self.send(None)
        return self.answers()[: len(test.jobs)], sorted(posts, key=lambda post: post.begin)


_SHARED: "weakref.WeakValueDictionary[tuple[int, str], Pool]" = weakref.WeakValueDictionary()


def shared(count: int, build: str = "this processor") -> Pool:
    """The ``count`` processes of a build that all problems of this process use, as long as a state holds them."""
    pool = _SHARED.get((count, build))
    if pool is None or not pool.close.alive:
        pool = _SHARED[count, build] = Pool(count, build)
    return pool
