"""The threads that run the programs on the clock of the host."""

import threading
import time

from kernels.files.replay.problem import Problem
from kernels.files.replay.programs import BUSY, UNTIL, Site, worker
from kernels.runtime.barriers import opaque
from kernels.runtime.jit import STRICT, kernel

#: Seconds of the shortest piece of computing, after which the CPU time is read again.
PIECE = 5e-6
#: Seconds before the end of a wait from which the thread looks at the clock instead of sleeping.
NEAR = 2e-4


@kernel(fastmath=STRICT)
def _chain(links):
    """A chain of ``links`` multiply-adds, each of which waits for the one before."""
    x, a = opaque(1.0), opaque(0.5)
    for _ in range(links):
        x = x * a + a
    return x


def links() -> int:
    """Links of the chain in a piece of computing: the best of a few."""
    _chain(1)
    best, many = 1.0, 100_000
    for _ in range(5):
        begin = time.perf_counter()
        _chain(many)
        best = min(best, time.perf_counter() - begin)
    return max(1, int(many * PIECE / best))


class _Cpu:
    """A thread that computes for as long as it is told, in CPU time, and waits."""

    def __init__(self, links: int):
        self.links, self.due = links, time.thread_time()

    def compute(self, seconds: float) -> None:
        """Until the thread has had ``seconds`` more; what it did since, other than wait, counts."""
        self.due += seconds
        while time.thread_time() < self.due:
            _chain(self.links)

    def wait(self, until: float, origin: float) -> None:
        """Until ``until`` seconds from ``origin``; how long is not counted as computing."""
        until += origin
        left = until - time.perf_counter()
        if left <= 0:
            return
        over = time.thread_time() - self.due
        while left > 0:
            if left > NEAR:
                time.sleep(left - NEAR)
            else:
                _chain(self.links)
            left = until - time.perf_counter()
        self.due = time.thread_time() - over


class Going:
    """All workers while they run, each a thread."""

    def __init__(self, problem: Problem, links: int):
        self.links, self.origin, self.errors = links, 0.0, []
        self.site = Site(problem, lambda: time.perf_counter() - self.origin)
        self.gate = threading.Barrier(len(problem.jobs), action=self._begin)
        self.stopped = False

    def _begin(self) -> None:
        self.origin = time.perf_counter()

    def _take(self):
        """The next write-up, as soon as there is one."""
        site = self.site
        with site.lock:
            while not site.waiting and site.open and not self.stopped:
                site.lock.wait()
            return None if self.stopped else site.taken()

    def _drive(self, n: int) -> None:
        self.gate.wait()
        cpu, running, given = _Cpu(self.links), worker(self.site, n), None
        while not self.stopped:
            try:
                kind, amount = running.send(given)
            except StopIteration:
                return
            given = None
            if kind == BUSY:
                cpu.compute(amount)
            elif kind == UNTIL:
                cpu.wait(amount, self.origin)
            else:
                given = self._take()
                cpu = _Cpu(self.links)

    def _guarded(self, n: int) -> None:
        try:
            self._drive(n)
        except threading.BrokenBarrierError:
            pass
        except BaseException as error:
            self.errors.append(error)
            self.stop()

    def stop(self) -> None:
        """Let every worker end."""
        self.stopped = True
        self.gate.abort()
        with self.site.lock:
            self.site.lock.notify_all()

    def run(self) -> Site:
        """Until the last worker is done."""
        threads = [threading.Thread(target=self._guarded, args=(n,)) for n in range(len(self.site.problem.jobs))]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException:
            self.stop()
            raise
        if self.errors:
            raise self.errors[0]
        return self.site
