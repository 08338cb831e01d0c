"""Jobs that run at once on the CPUs of this machine: forecasts, simulated forecasts, analyses, and post-processing.

Each job is a process.  They are prepared, with their work files made and their code compiled, and start together.
Every write-up of a forecast puts a post-processing job into a queue.  With ``posts = "after"`` a process whose own job
is done takes jobs from it, so that never more run than there are processes, as under the job limit of 1982; with
``posts = "beside"`` one more process takes them from the start.

``workers`` has the processes, ``builds`` compares forecasts that were compiled in different ways, and ``settings``
times another model under settings that the report of 2006 changed.
"""

import functools
import zlib
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from kernels import gridpoint
from kernels.contract import Check, Footprint, Presets, Work, one_of, require_range
from kernels.files.work_folder import WorkFolder
from kernels.gridpoint import postprocess, simulator
from kernels.gridpoint.state import Step
from kernels.jobs.workers import BUILDS, PROGRAMS, Done, Job, Pool, Post, answer, in_memory, shared
from kernels.proof import Proof
from kernels.runtime.resources import affinity_cpus, require_memory, require_threads

__all__ = ["NO_OUTPUT", "PROOF", "Job", "Problem", "Result", "State", "footprint", "reference", "run", "setup"]
__all__ += ["verify", "work"]


@dataclass(frozen=True)
class Problem(Presets):
    """At most 16 jobs that start together.

    With the binding "one each" a process has a CPU of its own, which its transfers share with the computation; if it is
    "free" the system places both.
    """

    jobs: tuple[Job, ...] = (Job(), Job())
    binding: one_of("one each", "free") = "free"  # where the processes run
    posts: one_of("none", "after", "beside") = "after"  # who takes post-processing jobs, see the head of the module
    small: bool = False  # post-processing jobs hold few rows at a time
    build: one_of(*BUILDS) = "this processor"  # what the processes compile for, see ``workers.BUILDS``
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


@dataclass(frozen=True)
class State:
    """What the jobs need before they start."""

    pool: Pool
    paces: tuple[simulator.Pace | None, ...]  # of each simulator


@dataclass(frozen=True)
class Result:
    """What every job took and gave."""

    jobs: tuple[Done, ...]
    posts: tuple[Post, ...]  # in the order in which they began
    complete: float  # s, from the start of the jobs to the end of the last


def footprint(problem: Problem) -> Footprint:
    """What all jobs take together, and the files of the post-processing jobs."""
    each = [PROGRAMS[job.program].footprint(job.problem) for job in problem.jobs]
    packed = sum(job.write_ups * postprocess.packed_bytes(job.problem) for job in problem.jobs if job.write_ups)
    return Footprint(sum(one.memory for one in each), sum(one.disk for one in each) + packed)


def _cpus(problem: Problem) -> list[list[int]]:
    """The CPUs of each process; ``ValueError`` if there are fewer than processes that want one each."""
    usable = affinity_cpus()
    if problem.binding == "free":
        return [usable] * problem.processes
    if len(usable) < problem.processes:
        raise ValueError(
            f"{problem.processes} processes on a CPU each need as many, {len(usable)} may be used; "
            "choose another binding or give the process more CPUs"
        )
    return [[cpu] for cpu in usable[: problem.processes]]


@functools.lru_cache(maxsize=8)
def _expected(program: str, problem: Any) -> tuple[int, tuple[int, ...]]:
    """Answer of a job whose files are in memory, and checksums of what its post-processing jobs write."""
    if program == "simulator":
        return 0, ()
    kernel, packed = PROGRAMS[program], []

    def post(path):
        postprocess.run(path)
        packed.append(zlib.crc32(path.with_name(f"{path.name}.packed").read_bytes()))

    more = {"on_writeup": post} if program == "forecast" else {}
    return answer(program, kernel.run(problem, kernel.setup(problem), **more)), tuple(packed)


def _known(problem: Problem, job: Job) -> tuple[int, tuple[int, ...]]:
    found, packed = _expected(job.program, in_memory(job.program, job.problem))
    return found, packed if problem.posts != "none" else ()


def setup(problem: Problem, seed: int = 0) -> State:
    """The processes' pool, the pace of simulators, and the answers to come (``seed`` is not used).

    ``MemoryError`` if memory cannot hold all jobs. ``ValueError`` if there are too few CPUs.
    """
    require_memory(footprint(problem).memory, "jobs that run at once")
    _cpus(problem)
    for job in problem.jobs:
        _known(problem, job)
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
            jobs = tuple(job._replace(problem=replace(job.problem, folder=str(work.path))) for job in problem.jobs)
            try:
                done, posts = state.pool.test(replace(problem, jobs=jobs), cpus, state.paces, work.path)
            except BaseException:  # what the processes were doing is not known
                state.pool.close()
                raise
    return Result(tuple(done), tuple(posts), max(each.end for each in (*done, *posts)))


def reference(problem: Problem, state: State) -> Result:
    """The same answers from this process, one job after another, with files in memory; times are NaN."""
    unknown, jobs, posts = float("nan"), [], []
    for n, job in enumerate(problem.jobs):
        found, packed = _known(problem, job)
        count = 0 if job.program == "analysis" else job.problem.steps + 1
        steps = tuple(Step(step, "", *3 * (unknown,)) for step in range(count))
        jobs.append(Done(*3 * (unknown,), steps, *4 * (unknown,), found, packed))
        posts += [Post(n, *4 * (unknown,)) for _ in range(job.write_ups if problem.posts != "none" else 0)]
    return Result(tuple(jobs), tuple(posts), unknown)


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every job has the answer that it has alone with its files in memory, bit for bit; so has what was packed.

    What a program checks of its own answer holds as well, and every write-up was post-processed.  Other builds may
    round in other ways: of them the program's own checks alone.
    """
    checks = []
    for n, (job, done) in enumerate(zip(problem.jobs, result.jobs, strict=True)):
        expected, packed = _known(problem, job) if problem.build == Problem.build else (done.answer, done.packed)
        made = sum(post.job == n for post in result.posts)
        known = [
            (f"checks of its own that failed {' '.join(done.wrong)}", len(done.wrong), 0),
            ("checksum of its answer", done.answer, expected),
            ("write-ups post-processed", made, job.write_ups if problem.posts != "none" else 0),
            ("packed files unlike those of the job alone", done.packed != packed, 0),
        ]
        checks += [Check.near(f"{job.program} {n + 1}: {what}", value, due, 0) for what, value, due in known]
    return checks


_TIMES = "seconds that were measured, and what follows from them"
NO_OUTPUT = {
    "complete": _TIMES,
    **{f"jobs[].{name}": _TIMES for name in "clock cpu end steps overlapped moving executing queued".split()},
    **{f"posts[].{name}": _TIMES for name in ("begin", "end", "clock", "cpu")},
}


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations and bytes of all jobs, without post-processing; the same for any ``threads``."""
    each = [PROGRAMS[job.program].work(job.problem) for job in problem.jobs]
    return Work(*(sum(getattr(one, name) for one in each) for name in ("flops", "bytes_read", "bytes_written")))


_SHORT = gridpoint.Problem(32, 12, 5, files=2, place="cache", overlap="both", writeup=1.5)
PROOF = Proof(
    {"jobs": 2 * (Job("forecast", _SHORT),)},
    {"posts": ("after", "beside", "none"), "small": (False, True)},
    only={"small": ("posts", ("after", "beside"))},
    not_compared=("posts",),  # in which order they began is the clock's
)
