"""Jobs of two forecasts on two CPUs: a queue with a limit, and the times the operating system accounts for.

``Worker(cpus)`` is a process that is bound to CPUs and does one job after another: a forecast, or a
post-processing job.  ``Pool.pair`` starts two forecasts together; each write-up puts a post-processing job into the
queue, and as soon as a forecast is done its CPU takes jobs from it: never more than two at once.  ``Pool.beside``
starts one forecast, and its jobs run on the other CPU while it goes on.  Processes are started, and their code
compiled, before the clock.

Accounts of a job, in seconds, of the thread that computes: *executing* and *waiting to execute* are the scheduler's
(``/proc/thread-self/schedstat``; None where the system keeps none), *waiting for transfers* is measured at the
driver.
"""

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from kernels.files.pending import WorkFolder
from kernels.gridpoint import postprocess
from kernels.gridpoint.model import run
from kernels.gridpoint.postprocess import packed_bytes
from kernels.gridpoint.problem import Problem
from kernels.gridpoint.state import footprint, setup
from kernels.runtime.resources import affinity_cpus, require_disk


def accounts() -> tuple[float, float] | None:
    """Seconds executed, and waited for a CPU, by this thread."""
    try:
        spent, waited = Path("/proc/thread-self/schedstat").read_text().split()[:2]
    except OSError:
        return None
    return int(spent) / 1e9, int(waited) / 1e9


def _say(answer: dict) -> None:
    """One line to the process that asked."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _forecast(order: dict) -> dict:
    problem = Problem(**order["problem"])
    state = setup(problem)
    if order.get("warm"):
        run(replace(problem, hours=4 * problem.dt / 3600, writeup=0.0), state)
        return {}
    _say({"event": "ready"})
    sys.stdin.readline()
    told = []

    def tell(path: Path) -> None:
        kept = Path(order["keep"]) / f"{order['name']}-{len(told)}"
        os.link(path, kept)
        told.append(kept)
        _say({"event": "write-up", "path": str(kept)})

    before, clock = accounts(), time.perf_counter()
    result = run(problem, state, on_writeup=tell)
    clock, after = time.perf_counter() - clock, accounts()
    executing = waiting = None
    if before and after:
        executing, waiting = after[0] - before[0], after[1] - before[1]
    return {
        "clock": clock,
        "cpu": result.cpu,
        "net": result.net,
        "write_ups": [step.clock for step in result.steps if "write-up" in step.kind],
        "executing": executing,
        "waiting": waiting,
        "transfers": sum(step.waiting for step in result.steps),
        "digest": result.digest,
        "resident": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }


def _serve() -> None:
    """Do the jobs that come as lines of JSON; answer with lines of JSON."""
    for line in sys.stdin:
        order = json.loads(line)
        if "cpus" in order:
            if hasattr(os, "sched_setaffinity"):  # elsewhere the system places it
                os.sched_setaffinity(0, order["cpus"])
            answer = {}
        elif order["kind"] == "forecast":
            answer = _forecast(order)
        else:
            begin = time.perf_counter()
            answer = postprocess.run(order["path"], small=order["small"])
            answer["clock"] = time.perf_counter() - begin
        _say({"event": "done", **answer})


class Worker:
    """A process bound to CPUs where the system can, with changes of its environment if any are given."""

    def __init__(self, cpus: list[int], environment: dict[str, str] | None = None):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kernels.gridpoint.jobs"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        self.ask({"cpus": cpus})
        self.wait()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        with contextlib.suppress(OSError):  # a process that died has let go of its end
            self.process.stdin.close()
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, order: dict) -> None:
        """Send an order, or an empty line as the word to begin."""
        self.process.stdin.write(json.dumps(order) + "\n" if order else "\n")
        self.process.stdin.flush()

    def wait(self, on_writeup=None) -> dict:
        """The answer; write-ups are told as they come.  ``RuntimeError`` if the process died."""
        while line := self.process.stdout.readline():
            answer = json.loads(line)
            if answer["event"] != "write-up":
                return answer
            if on_writeup is not None:
                on_writeup(answer["path"])
        raise RuntimeError(f"a job's process ended with code {self.process.wait()}; its message is on standard error")


@dataclass
class Pair:
    """Times of a test in seconds, from the start of both forecasts."""

    forecasts: list[dict]  # answers of the two forecasts
    #: of each forecast its post-processing jobs: begin, clock and CPU time of each
    posts: list[list[dict[str, float]]] = field(default_factory=lambda: [[], []])
    complete: float = 0.0  # until the last job's end


class _Queue:
    """Post-processing jobs that wait, and whether more may come."""

    def __init__(self, forecasts: int):
        self.jobs, self.open, self.condition = [], forecasts, threading.Condition()

    def put(self, job) -> None:
        with self.condition:
            self.jobs.append(job)
            self.condition.notify()

    def forecast_done(self) -> None:
        with self.condition:
            self.open -= 1
            self.condition.notify_all()

    def take(self):
        with self.condition:
            while not self.jobs and self.open:
                self.condition.wait()
            return self.jobs.pop(0) if self.jobs else None


class Pool:
    """Processes that are kept from test to test, one a CPU.  Use as a context manager.

    Raises
    ------
    ValueError
        If there are fewer usable CPUs than processes.
    """

    def __init__(self, size: int = 2):
        self.cpus = affinity_cpus()
        if len(self.cpus) < size:
            raise ValueError(f"{size} forecasts together need as many CPUs, {len(self.cpus)} may be used")
        self.workers: list[Worker] = []
        try:
            for cpu in self.cpus[:size]:
                self.workers.append(Worker([cpu]))
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self) -> None:
        """End the processes."""
        for worker in self.workers:
            worker.close()

    def pair(self, problems, posts: bool = True, one_cpu: bool = False, small: bool = False) -> Pair:
        """Forecasts together (two, or one to have it alone), one a CPU, or all on one CPU for a forced hang.

        Raises
        ------
        RuntimeError
            If a process ends early.
        OSError
            If the disk cannot take the files of all.
        """
        return _Test(self, problems, posts, small).run([0] * len(problems) if one_cpu else range(len(problems)))

    def beside(self, problem, small: bool = True) -> Pair:
        """One forecast on the first CPU; its post-processing jobs run on the second while it goes on."""
        return _Test(self, [problem], True, small).run([0], helpers=[1])


class _Test:
    """Forecasts, and a queue of their post-processing jobs, on the processes of a pool."""

    def __init__(self, pool: Pool, problems, posts: bool, small: bool):
        self.pool, self.problems, self.posts, self.small = pool, problems, posts, small
        self.found, self.queue = Pair([{} for _ in problems]), _Queue(len(problems))
        self.errors: list[BaseException] = []
        self.begin = 0.0

    def run(self, cpus, helpers=()) -> Pair:
        """The forecasts on ``cpus``, numbers into the pool's, and jobs on ``helpers`` from the start."""
        folder = self.problems[0].folder or tempfile.gettempdir()
        need = sum(footprint(each).disk + len(each.writeup_steps) * packed_bytes(each) for each in self.problems)
        require_disk(folder, need, "forecasts together with their work files and post-processing jobs")
        begins = threading.Barrier(len(self.problems) + 1)
        with WorkFolder(folder, "forecast-pair") as work:
            keep = str(work.path)
            threads = [
                threading.Thread(target=self._forecast, args=(n, cpu, keep, begins)) for n, cpu in enumerate(cpus)
            ]
            threads += [threading.Thread(target=self._guarded, args=(self._drain, n)) for n in helpers]
            for thread in threads[: len(self.problems)]:
                thread.start()
            with contextlib.suppress(threading.BrokenBarrierError):
                begins.wait()
            self.begin = time.perf_counter()
            for thread in threads[len(self.problems) :]:
                thread.start()
            for thread in threads:
                thread.join()
            self.found.complete = time.perf_counter() - self.begin
        if self.errors:
            raise self.errors[0]
        return self.found

    def _guarded(self, work, *arguments) -> None:
        try:
            work(*arguments)
        except BaseException as error:
            self.errors.append(error)
            self.queue.forecast_done()

    def _forecast(self, n: int, cpu: int, keep: str, begins: threading.Barrier) -> None:
        def work():
            worker = self.pool.workers[n]
            worker.ask({"cpus": [self.pool.cpus[cpu]]})
            worker.wait()
            order = {"kind": "forecast", "problem": asdict(self.problems[n]), "keep": keep, "name": f"f{n}"}
            worker.ask(order | {"warm": True})
            worker.wait()
            worker.ask(order)
            worker.wait()  # ready
            begins.wait()
            worker.ask({})
            told = (lambda path: self.queue.put((n, path))) if self.posts else None
            self.found.forecasts[n] = worker.wait(told)
            self.queue.forecast_done()
            self._drain(n)

        self._guarded(work)
        if self.errors:
            begins.abort()

    def _drain(self, n: int) -> None:
        """Post-processing jobs, until there are none and none will come."""
        while (job := self.queue.take()) is not None:
            begin = time.perf_counter() - self.begin
            self.pool.workers[n].ask({"kind": "post", "path": job[1], "small": self.small})
            done = self.pool.workers[n].wait()
            self.found.posts[job[0]].append({"begin": begin, "clock": done["clock"], "cpu": done["cpu"]})


if __name__ == "__main__":
    _serve()
