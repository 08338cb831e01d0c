"""Jobs that run at once on the CPUs of this machine: forecasts, simulated forecasts, analyses, and post-processing.

Each job is a process.  They are prepared, with their work files made and their code compiled, and start together.
Every write-up of a forecast puts a post-processing job into a queue.  With ``posts = "after"`` a process whose own job
is done takes jobs from it, so that never more run than there are processes, as under the job limit of 1982; with
``posts = "beside"`` one more process takes them from the start.

Accounts of a job, in seconds, of the thread that computes: *executing* is its CPU time, *waiting to execute* is the
scheduler's (``/proc/thread-self/schedstat``), *waiting for transfers* is what waits at the driver took beyond these.

``builds`` compares forecasts that were compiled in different ways, and ``settings`` times another model under settings
that the report of 2006 changed.
"""

import contextlib
import functools
import itertools
import os
import time
import weakref
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from supercomputers_rerun.kernels import analysis, gridpoint
from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, one_of, require_range
from supercomputers_rerun.kernels.files.processes import SPAWN, Processes
from supercomputers_rerun.kernels.files.work_folder import WorkFolder
from supercomputers_rerun.kernels.gridpoint import postprocess, simulator
from supercomputers_rerun.kernels.mpi.world import end_with_parent
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.runtime.resources import affinity_cpus, require_memory, require_threads, team_cpus

__all__ = ["BUILDS", "NO_OUTPUT", "PROOF", "Done", "Job", "Pool", "Post", "Problem", "Result", "State", "footprint"]
__all__ += ["reference", "run", "setup", "verify", "work"]

PROGRAMS: dict[str, Any] = {"forecast": gridpoint, "simulator": simulator, "analysis": analysis}

#: Builds by name, the first as it comes; see https://numba.readthedocs.io for the variables.
BUILDS: dict[str, dict[str, str]] = {
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
class Problem(Presets):
    """At most 16 jobs that start together.

    With the binding "one each" a process has a CPU of its own, which its transfers share with the computation; if it is
    "free" the system places both.
    """

    jobs: tuple[Job, ...] = (Job(), Job())
    binding: one_of("one each", "free") = "free"  # where the processes run
    posts: one_of("none", "after", "beside") = "after"  # who takes post-processing jobs, see the head of the module
    small: bool = False  # post-processing jobs hold one field at a time
    build: one_of(*BUILDS) = "this processor"  # what the processes compile for, see ``BUILDS``
    folder: str | None = None  # where files go; None: what each job's own problem says

    PRESETS: ClassVar = {
        "quick": {},
        "paper": {"jobs": 2 * (Job("forecast", gridpoint.Problem.preset("paper", physics=True, fsync=True)),)},
        "modern": {"jobs": 2 * (Job("forecast", gridpoint.Problem.preset("modern")),)},
    }

    def __post_init__(self):
        require_range("jobs", len(self.jobs), 1, 16)
        if not all(isinstance(job, Job) for job in self.jobs):
            raise ValueError(f"jobs = {self.jobs!r} must be a tuple of Job")

    @property
    def processes(self) -> int:
        """Processes that run at once."""
        return len(self.jobs) + (self.posts == "beside")

    @property
    def takers(self) -> range:
        """Numbers of the processes that take post-processing jobs."""
        return range(0 if self.posts == "after" else len(self.jobs), self.processes)


class Done(NamedTuple):
    """One job as it went; times in seconds.  An analysis has the first three alone."""

    end: float  # from the start of all jobs
    clock: float
    cpu: float
    steps: tuple[gridpoint.Step, ...] = ()
    net: float = 0.0  # clock without write-up steps
    overlapped: float = 0.0  # share of the bytes that moved during computation
    moving: float = 0.0  # of the CPU time, in moving records
    executing: float = float("nan")  # accounts of the thread that computes; NaN where the system keeps none
    queued: float = float("nan")  # waiting to execute


class Post(NamedTuple):
    """One post-processing job; times in seconds."""

    job: int  # number of the job whose write-up it reads
    begin: float  # from the start of all jobs
    end: float
    clock: float
    cpu: float


@dataclass(frozen=True)
class Result:
    """What every job gave and took."""

    checksums: tuple[tuple[int, ...], ...]  # of each job: of a forecast (else 0), and of what is made of each write-up
    wrong: tuple[str, ...] = ()  # checks of the programs' own that failed
    jobs: tuple[Done, ...] = field(default=(), repr=False)
    posts: tuple[Post, ...] = field(default=(), repr=False)  # in the order in which they began
    complete: float = float("nan")  # s, from the start of the jobs to the end of the last


def footprint(problem: Problem) -> Footprint:
    """What all jobs take together, and the files of the post-processing jobs."""
    each = [PROGRAMS[job.program].footprint(job.problem) for job in problem.jobs]
    packed = sum(job.write_ups * postprocess.packed_bytes(job.problem) for job in problem.jobs if job.write_ups)
    return Footprint(sum(one.memory for one in each), sum(one.disk for one in each) + packed)


def _cpus(problem: Problem) -> list[list[int]]:
    """The CPUs of each process; ``ValueError`` if there are fewer than processes that want one each."""
    if problem.binding == "free":
        return problem.processes * [affinity_cpus()]
    return [[cpu] for cpu in team_cpus(problem.processes)]


def _in_memory(problem: gridpoint.Problem) -> gridpoint.Problem:
    """The same forecast with all of its files in memory, which has the same answer."""
    return replace(problem, files=0, place="memory", overlap="none", rhs="memory", fsync=False, folder=None)


def _checksum(result: gridpoint.Result) -> int:
    return int(result.digest[:12], 16)


@functools.lru_cache(maxsize=8)
def _alone(problem: gridpoint.Problem) -> tuple[int, ...]:
    """Checksums of a forecast that this process does alone, and of what its post-processing jobs write."""
    packed = []

    def post(path: Path) -> None:
        postprocess.run(path)
        packed.append(zlib.crc32(path.with_name(f"{path.name}.packed").read_bytes()))

    return _checksum(gridpoint.run(problem, gridpoint.setup(problem), on_writeup=post)), *packed


def _due(job: Job) -> tuple[int, ...]:
    """The checksums of a job: but for a forecast no answer, and post-processing jobs that write zeros."""
    if job.program == "forecast":
        return _alone(_in_memory(job.problem))
    return 0, *job.write_ups * (zlib.crc32(bytes(postprocess.packed_bytes(job.problem))),)


@functools.cache
def _accounts() -> Callable[[], tuple[float, float]] | None:
    """What gives the seconds that this thread has executed and has waited for a CPU; None where nobody counts them."""
    try:
        handle = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
    except OSError:
        return None
    # what the scheduler says of executing is up to a tick old
    return lambda: (time.thread_time(), int(os.pread(handle, 128, 0).split()[1]) / 1e9)


@functools.lru_cache(maxsize=2)
def _start(problem: gridpoint.Problem) -> gridpoint.State:
    """What a forecast in memory starts from, with its code compiled by a few steps."""
    state = gridpoint.setup(problem)
    gridpoint.run(replace(problem, hours=4 * problem.dt / 3600, writeup=0.0), state)
    return state


def _test(here, number: int, queue, test: Problem, cpus, paces, folder: Path) -> None:
    """The job of process ``number`` if there is one, then post-processing jobs: a word after each, and what they gave.

    ``test``, ``cpus``, ``paces`` and ``folder`` are those of :meth:`Pool.test`.
    """
    job, begin, write_ups = next(iter(test.jobs[number:]), None), 0.0, itertools.count()
    # a process without a CPU of its own is only let go again, which a system need not allow
    with contextlib.suppress(OSError) if test.binding == "free" else contextlib.nullcontext():
        if hasattr(os, "sched_setaffinity"):  # elsewhere the system places it
            os.sched_setaffinity(0, cpus[number])

    def ready() -> None:
        nonlocal begin
        here.send(None)
        begin = here.recv()

    def announce(path: Path) -> None:
        kept = folder / f"job{number}-{next(write_ups):04d}"
        os.link(path, kept)
        if test.posts != "none":
            queue.put((number, kept))

    def run(job: Job) -> tuple[Any, Done]:
        kernel, told = PROGRAMS[job.program], {"on_ready": ready}
        if job.program == "analysis":  # its programs compute and move in turn: accounts are not asked for
            result = kernel.run(job.problem, kernel.setup(job.problem), **told)
            return result, Done(time.perf_counter() - begin, result.clock, result.cpu)
        state = paces[number] or _start(_in_memory(job.problem))
        result = kernel.run(job.problem, state, **told, on_writeup=announce, accounts=_accounts())
        times = time.perf_counter() - begin, result.clock, result.cpu
        moved = result.overlapped, result.moving
        return result, Done(*times, tuple(result.steps), result.net, *moved, *(result.accounts or ()))

    def post(number: int, path: Path) -> Post:
        (program, problem), pace = test.jobs[number], paces[number]
        if program == "forecast":
            found = postprocess.run(path, small=test.small, device=problem.fsync)
        else:
            found = simulator.post(path, problem, pace, problem.fsync)
        return Post(number, found["begin"] - begin, found["end"] - begin, found["clock"], found["cpu"])

    result, done = run(job) if job else (ready(), None)
    here.send(None)
    posts = [post(*each) for each in iter(queue.get, None)] if number in test.takers else []
    here.send(None)
    here.recv()  # what follows no clock sees
    wrong, checksums = (), ()
    if job:
        wrong = tuple(str(check) for check in PROGRAMS[job.program].verify(job.problem, result) if not check.ok)
        packed = (zlib.crc32(path.read_bytes()) for path in sorted(folder.glob(f"job{number}-*.packed")))
        checksums = _checksum(result) if job.program == "forecast" else 0, *packed
    here.send((posts, done, checksums, wrong))


def _serve(here, number: int, queue) -> None:
    end_with_parent()  # also one that waits for the queue
    while True:
        _test(here, number, queue, *here.recv())


class Pool(Processes):
    """``count`` processes of a build that do one test after the other, and the queue of their post-processing jobs."""

    def __init__(self, count: int, build: str = "this processor"):
        self.queue = SPAWN.SimpleQueue()  # number of a job, and its write-up; a None for each taker at the end
        super().__init__(_serve, [(number, self.queue) for number in range(count)], count * [BUILDS[build]])

    def test(self, test: Problem, cpus: list[list[int]], paces: tuple, folder: Path) -> list[tuple]:
        """All jobs of ``test``: of each process its post-processing jobs; of its own job how it went (``Done``, or
        None), its checksums, and the checks of the program's own that failed.

        ``cpus``: of each process; ``paces``: of each job that is a simulator; ``folder``: for everything that is kept
        until the end.  ``OSError`` if a process ends early.
        """
        self.send((test, cpus, paces, folder))
        self.answers()  # ready
        self.send(time.perf_counter())
        self.answers()
        for _ in test.takers:
            self.queue.put(None)
        self.answers()
        self.send(None)
        return self.answers()


_POOLS: "weakref.WeakValueDictionary[tuple[int, str], Pool]" = weakref.WeakValueDictionary()


def shared(count: int, build: str = "this processor") -> Pool:
    """The ``count`` processes of a build that all problems of this process use, as long as a state holds them."""
    pool = _POOLS.get((count, build))
    if pool is None or not pool.close.alive:
        pool = _POOLS[count, build] = Pool(count, build)
    return pool


class State(NamedTuple):
    """What the jobs need before they start."""

    pool: Pool
    paces: tuple[simulator.Pace | None, ...]  # of each simulator


def setup(problem: Problem, seed: int = 0) -> State:
    """The processes' pool, and the pace of simulators (``seed`` is not used).

    ``MemoryError`` if memory cannot hold all jobs. ``ValueError`` if there are too few CPUs.
    """
    require_memory(footprint(problem).memory, "jobs that run at once")
    _cpus(problem)
    paces = (simulator.setup(job.problem) if job.program == "simulator" else None for job in problem.jobs)
    return State(shared(problem.processes, problem.build), tuple(paces))


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """All jobs at once, each on one thread whatever ``threads`` is, ``repeats`` times; times of the last.

    ``OSError`` if a process ends early, or the disk cannot take the files of all.
    """
    require_threads(threads)
    base, need, cpus = problem.folder or problem.jobs[0].problem.folder, footprint(problem).disk, _cpus(problem)
    for _ in range(repeats):
        with WorkFolder(base, "jobs", need, "jobs with their work files and post-processing") as work:
            # inside this folder, so that nothing stays where a process is killed
            inside = tuple(map(str, work.paths))
            told = (inside[0] if job.program == "analysis" else inside for job in problem.jobs)
            jobs = tuple(
                job._replace(problem=replace(job.problem, folder=folder))
                for job, folder in zip(problem.jobs, told, strict=True)
            )
            try:
                told = state.pool.test(replace(problem, jobs=jobs), cpus, state.paces, work.path)
            except BaseException:  # what the processes were doing is not known
                state.pool.close()
                raise
    posts, done, checksums, wrong = zip(*told, strict=True)
    count, late = len(problem.jobs), sorted(sum(posts, []), key=lambda post: post.begin)
    complete = max(each.end for each in (*done[:count], *late))
    return Result(checksums[:count], sum(wrong, ()), done[:count], tuple(late), complete)


def reference(problem: Problem, state: State) -> Result:
    """The checksums from this process, one forecast after another, with files in memory."""
    due = (_due(job) for job in problem.jobs)
    return Result(tuple(each if problem.posts != "none" else each[:1] for each in due))


def verify(problem: Problem, result: Result) -> list[Check]:
    """What a program checks of its own answer holds; and every forecast has the answer that it has alone with its files
    in memory, bit for bit, as has what post-processing jobs wrote.  Other builds may round in other ways.
    """
    checks = [Check.near(f"checks of programs' own that failed {' '.join(result.wrong)}", len(result.wrong), 0, 0)]
    if problem.build == Problem.build:
        known = reference(problem, None).checksums
        for n, (job, found, due) in enumerate(zip(problem.jobs, result.checksums, known, strict=True), 1):
            checks.append(Check.near(f"{job.program} {n}: checksums unlike those of it alone", found != due, 0, 0))
    return checks


NO_OUTPUT = dict.fromkeys(("jobs", "posts", "complete"), "seconds that were measured, and what follows from them")


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations and bytes of all jobs, without post-processing; the same for any ``threads``."""
    each = [PROGRAMS[job.program].work(job.problem) for job in problem.jobs]
    return Work(*(sum(getattr(one, name) for one in each) for name in ("flops", "bytes_read", "bytes_written")))


_SHORT = gridpoint.Problem(32, 12, 5, files=2, place="cache", overlap="both", writeup=1.5)
PROOF = Proof(
    {"jobs": 2 * (Job("forecast", _SHORT),)},
    {"posts": ("after", "beside", "none"), "small": (False, True)},
    only={"small": ("posts", ("after", "beside"))},
    not_compared=("jobs", "posts"),  # the clock's
)
