"""The programs of 1982 that run at once, the processes that do them, and the queue of their post-processing jobs.

``Worker`` talks to ``kernels.jobs.serve`` in lines of JSON.  ``Pool`` has as many as are asked for.  ``Going`` is one
test: jobs that start together, and their post-processing jobs.
"""

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
import weakref
import zlib
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from kernels import analysis, gridpoint
from kernels.gridpoint import simulator
from kernels.gridpoint.state import Step

PROGRAMS: dict[str, Any] = {"forecast": gridpoint, "simulator": simulator, "analysis": analysis}
KINDS: dict[str, type] = {"forecast": gridpoint.Problem, "simulator": gridpoint.Problem, "analysis": analysis.Problem}


class Job(NamedTuple):
    """One job."""

    program: str = "forecast"  # of PROGRAMS
    problem: gridpoint.Problem | analysis.Problem = gridpoint.Problem(writeup=1.5)

    @property
    def write_ups(self) -> int:
        """Files that it leaves for post-processing."""
        return 0 if self.program == "analysis" else len(self.problem.writeup_steps)

    @property
    def steps(self) -> int:
        """Time steps, and the scan that ends them."""
        return 0 if self.program == "analysis" else self.problem.steps + 1

    @property
    def moved(self) -> tuple[int, int]:
        """Requests and bytes of the work files; an analysis does not count them."""
        if self.program == "analysis" or not self.problem.files:
            return 0, 0
        scans = 2 * self.problem.steps + 1
        halves = 2 if self.problem.files == 4 else 1
        return scans * self.problem.nj * halves, scans * gridpoint.record_bytes(self.problem)


@dataclass(frozen=True)
class Done:
    """One job as it went; times in seconds."""

    clock: float
    cpu: float
    end: float  # from the start of all jobs
    answer: int  # checksum of all numbers that the program gives; 0 for a simulator
    packed: tuple[int, ...] = ()  # checksums of what its post-processing jobs wrote
    wrong: tuple[str, ...] = ()  # checks of the program's own that failed
    steps: tuple[Step, ...] = field(default=(), repr=False)
    requests: int = 0
    bytes: int = 0
    overlapped: float = 0.0  # share of the bytes that moved during computation
    executing: float = float("nan")  # accounts of the thread that computes; NaN where the system keeps none
    queued: float = float("nan")  # waiting to execute

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
    if program == "simulator":
        return 0
    if program == "forecast":
        return int(result.digest[:12], 16)
    checksum = 0
    for array in (result.fields, result.standard, result.errors, result.quality):
        checksum = zlib.crc32(array.tobytes(), checksum)
    return checksum


class Worker:
    """A process with changes of its environment if any are given."""

    def __init__(self, environment: dict[str, str] | None = None):
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"supercomputers_rerun.{__package__}.serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONSAFEPATH": "1", **(environment or {})},
            start_new_session=True,  # Ctrl-C is for the process that ends this one
        )

    def close(self) -> None:
        """End the process, whatever it is doing."""
        with contextlib.suppress(OSError):  # a process that died has let go of its end
            self.process.stdin.close()
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def send(self, order: dict) -> None:
        """Send an order."""
        with contextlib.suppress(BrokenPipeError):  # who waits for the answer is told that the process ended
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()

    def wait(self, on_writeup=None) -> dict:
        """The next answer; write-ups are told as they come.  ``OSError`` if the process died."""
        while line := self.process.stdout.readline():
            answer = json.loads(line)
            if answer["event"] != "write-up":
                return answer
            if on_writeup is not None:
                on_writeup(answer["path"])
        raise OSError(f"a job's process ended with code {self.process.wait()}; its message is on standard error")

    def ask(self, order: dict, on_writeup=None) -> dict:
        """Send an order and wait for its answer."""
        self.send(order)
        return self.wait(on_writeup)


class Pool(dict):
    """Processes by number, started when they are first asked for; they end with the pool, or with this process.

    As a context manager it ends them when a test fails: what they were doing is not known then.
    """

    def __init__(self):
        super().__init__()
        self._workers: list[Worker] = []
        weakref.finalize(self, Pool._close, self._workers)

    @staticmethod
    def _close(workers: list[Worker]) -> None:
        while workers:
            workers.pop().close()

    def __missing__(self, number: int) -> Worker:
        self[number] = worker = Worker()
        self._workers.append(worker)
        return worker

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is not None:
            self.clear()
            Pool._close(self._workers)


_SHARED: "weakref.WeakValueDictionary[str, Pool]" = weakref.WeakValueDictionary()


def shared() -> Pool:
    """The pool that all problems of this process use, as long as a state holds it."""
    pool = _SHARED.get("pool")
    if pool is None:
        pool = _SHARED["pool"] = Pool()
    return pool


class Going:
    """``jobs`` on workers of ``pool`` bound to ``cpus``, one list of CPUs each; further lists are those of helpers.

    Helpers take post-processing jobs from the start.  ``keep`` is a folder, ``paces`` has the pace of each simulator;
    ``asked`` goes into every order: the number of threads, and whether post-processing jobs are small.
    """

    def __init__(self, pool: Pool, jobs: tuple[Job, ...], cpus: list[list[int]], keep: Path, paces: list, asked: dict):
        self.pool, self.jobs, self.cpus, self.keep = pool, jobs, cpus, keep
        self.orders = [
            {"program": job.program, "problem": asdict(job.problem), "pace": pace and asdict(pace), **asked}
            for job, pace in zip(jobs, paces, strict=True)
        ]
        self.found: list[dict] = [{} for _ in jobs]
        self.posts: list[Post] = []
        self.errors: list[BaseException] = []
        self.queue: queue.SimpleQueue = queue.SimpleQueue()  # post-processing jobs; a None for each process at the end
        self.open, self.lock, self.begin = len(jobs), threading.Lock(), 0.0
        self.gate = threading.Barrier(len(jobs), action=lambda: setattr(self, "begin", time.perf_counter()))

    def run(self, posts: str) -> None:
        """Everything, until the last job has ended; then the answers, which no clock sees."""
        works = [(self._job, n, posts) for n in range(len(self.jobs))]
        works += [(self._drain, n) for n in range(len(self.jobs), len(self.cpus))]
        for n, cpus in enumerate(self.cpus):
            self.pool[n].ask({"kind": "bind", "cpus": cpus})
        others = [threading.Thread(target=self._guarded, args=work) for work in works]
        for thread in others:
            thread.start()
        for thread in others:
            thread.join()
        if self.errors:
            raise self.errors[0]
        for n in range(len(self.jobs)):
            self.found[n] |= self.pool[n].ask({"kind": "check"})

    def _ended(self) -> None:
        """One job fewer is going; after the last nothing more comes into the queue."""
        with self.lock:
            self.open -= 1
            if self.open == 0:
                for _ in self.cpus:
                    self.queue.put(None)

    def _guarded(self, work, *arguments) -> None:
        try:
            work(*arguments)
        except threading.BrokenBarrierError:
            self._ended()
        except BaseException as error:
            self.errors.append(error)
            self.gate.abort()
            self._ended()

    def _job(self, n: int, posts: str) -> None:
        worker = self.pool[n]
        worker.ask({"kind": "run", "keep": str(self.keep / f"job{n}"), **self.orders[n]})  # ready
        self.gate.wait()
        worker.send({})
        self.found[n] = worker.wait((lambda path: self.queue.put((n, path))) if posts != "none" else None)
        self._ended()
        if posts == "after":
            self._drain(n)

    def _drain(self, n: int) -> None:
        """Post-processing jobs, until there are none and none will come."""
        while (post := self.queue.get()) is not None:
            of, path = post
            device = self.jobs[of].problem.fsync
            done = self.pool[n].ask({"kind": "post", "path": path, "device": device, **self.orders[of]})
            times = done["begin"] - self.begin, done["end"] - self.begin, done["clock"], done["cpu"]
            self.posts.append(Post(of, *times))

    def done(self, n: int) -> Done:
        """What became of a job."""
        found = {key: value for key, value in self.found[n].items() if key != "event"}
        paths = (self.keep / f"job{n}-{count}.packed" for count in range(self.jobs[n].write_ups))
        packed = tuple(zlib.crc32(path.read_bytes()) for path in paths if path.exists())
        if self.jobs[n].program != "forecast":  # what a simulator's jobs pack is nobody's answer
            packed = ()
        found |= {"end": found["end"] - self.begin, "wrong": tuple(found["wrong"]), "packed": packed}
        return Done(**found | {"steps": tuple(Step(*step) for step in found.get("steps", ()))})

    @property
    def complete(self) -> float:
        """Seconds from the start of the jobs to the end of the last, post-processing included."""
        return max([found["end"] - self.begin for found in self.found] + [post.end for post in self.posts])
