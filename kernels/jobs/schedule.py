"""One test: jobs that start together, and the queue of their post-processing jobs."""

import contextlib
import os
import threading
import time
import zlib
from dataclasses import asdict
from pathlib import Path

from kernels.gridpoint.state import Step
from kernels.jobs.programs import Done, Job, Post
from kernels.jobs.workers import Pool


class _Queue:
    """Post-processing jobs that wait, and whether more may come."""

    def __init__(self, jobs: int):
        self.waiting, self.open, self.condition = [], jobs, threading.Condition()

    def put(self, post) -> None:
        with self.condition:
            self.waiting.append(post)
            self.condition.notify()

    def job_done(self) -> None:
        with self.condition:
            self.open -= 1
            self.condition.notify_all()

    def take(self):
        with self.condition:
            while not self.waiting and self.open:
                self.condition.wait()
            return self.waiting.pop(0) if self.waiting else None


class Going:
    """``jobs`` on workers of ``pool`` bound to ``cpus``, one list of CPUs each; further lists are those of helpers.

    Helpers take post-processing jobs from the start; without ``posts`` nobody does.  ``keep`` is a folder, ``paces``
    has the pace of each simulator.
    """

    def __init__(self, pool: Pool, jobs: tuple[Job, ...], cpus: list[list[int]], keep: Path, paces: list):
        self.pool, self.jobs, self.cpus, self.keep, self.paces = pool, jobs, cpus, keep, paces
        self.found: list[dict] = [{} for _ in jobs]
        self.posts: list[Post] = []
        self.queue, self.errors = _Queue(len(jobs)), []
        self.begin = 0.0
        self.gate = threading.Barrier(len(jobs), action=lambda: setattr(self, "begin", time.perf_counter()))

    def _order(self, n: int) -> dict:
        job = self.jobs[n]
        return {"program": job.program, "problem": asdict(job.problem), "pace": self.paces[n]}

    def run(self, threads: int, posts: str, small: bool) -> None:
        """Everything, until the last job has ended; then the answers, which no clock sees."""
        self.asked = {"threads": threads, "small": small}
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

    def _guarded(self, work, *arguments) -> None:
        try:
            work(*arguments)
        except threading.BrokenBarrierError:
            self.queue.job_done()
        except BaseException as error:
            self.errors.append(error)
            self.gate.abort()
            self.queue.job_done()

    def _job(self, n: int, posts: str) -> None:
        worker = self.pool[n]
        worker.ask({"kind": "run", "keep": str(self.keep / f"job{n}"), **self._order(n), **self.asked})  # ready
        self.gate.wait()
        worker.send({})
        self.found[n] = worker.wait((lambda path: self.queue.put((n, path))) if posts != "none" else None)
        self.queue.job_done()
        if posts == "after":
            self._drain(n)

    def _drain(self, n: int) -> None:
        """Post-processing jobs, until there are none and none will come."""
        while (post := self.queue.take()) is not None:
            of, path = post
            device = self.jobs[of].problem.fsync
            order = {"kind": "post", "path": path, "device": device, **self._order(of), **self.asked}
            done = self.pool[n].ask(order)
            times = done["begin"] - self.begin, done["end"] - self.begin, done["clock"], done["cpu"]
            self.posts.append(Post(of, *times))

    def done(self, n: int) -> Done:
        """What became of a job."""
        found = {key: value for key, value in self.found[n].items() if key != "event"}
        found |= {"end": found["end"] - self.begin, "wrong": tuple(found["wrong"]), "packed": self._packed(n)}
        return Done(**found | {"steps": tuple(Step(*step) for step in found.get("steps", ()))})

    def _packed(self, n: int) -> tuple[int, ...]:
        """Checksums of what the post-processing jobs wrote, in the order of the write-ups."""
        paths = (self.keep / f"job{n}-{count}.packed" for count in range(self.jobs[n].write_ups))
        return tuple(zlib.crc32(path.read_bytes()) for path in paths if os.path.exists(path))

    @property
    def complete(self) -> float:
        """Seconds from the start of the jobs to the end of the last, post-processing included."""
        return max([found["end"] - self.begin for found in self.found] + [post.end for post in self.posts])


@contextlib.contextmanager
def unbroken(pool: Pool):
    """A pool whose processes end when a test fails: what they were doing is not known."""
    try:
        yield pool
    except BaseException:
        pool.close()
        raise
