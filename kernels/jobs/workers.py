"""Processes that do one job after another, each bound to CPUs where the system can, and the queue of their jobs.

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
from dataclasses import asdict
from pathlib import Path

from kernels.gridpoint.state import Step
from kernels.jobs.programs import Done, Job, Post


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

    Helpers take post-processing jobs from the start; without ``posts`` nobody does.  ``keep`` is a folder, ``paces``
    has the pace of each simulator.
    """

    def __init__(self, pool: Pool, jobs: tuple[Job, ...], cpus: list[list[int]], keep: Path, paces: list):
        self.pool, self.jobs, self.cpus, self.keep, self.paces = pool, jobs, cpus, keep, paces
        self.found: list[dict] = [{} for _ in jobs]
        self.posts: list[Post] = []
        self.errors: list[BaseException] = []
        self.queue: queue.SimpleQueue = queue.SimpleQueue()  # post-processing jobs; a None for each process at the end
        self.open, self.lock, self.begin = len(jobs), threading.Lock(), 0.0
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
        worker.ask({"kind": "run", "keep": str(self.keep / f"job{n}"), **self._order(n), **self.asked})  # ready
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
            order = {"kind": "post", "path": path, "device": self.jobs[of].problem.fsync, **self._order(of)}
            done = self.pool[n].ask(order | self.asked)
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
        return tuple(zlib.crc32(path.read_bytes()) for path in paths if path.exists())

    @property
    def complete(self) -> float:
        """Seconds from the start of the jobs to the end of the last, post-processing included."""
        return max([found["end"] - self.begin for found in self.found] + [post.end for post in self.posts])
