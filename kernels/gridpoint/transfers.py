"""Drivers that move records: in line with the computation, or on threads of their own.

``Driver(overlap)`` takes jobs with ``read`` and ``write`` and says with ``finish`` when one is done.

=======  =================================================================================
overlap  transfers under way while a row is computed
=======  =================================================================================
none     no one: the job is done before ``read`` or ``write`` returns (a synchronous driver)
one      one at a time, reading or writing
both     one that reads and one that writes
=======  =================================================================================
"""

import queue
import threading
import time
from collections.abc import Callable

#: Seconds that the thread which asks has executed, and has waited for a CPU.
Accounts = Callable[[], tuple[float, float]]


class Watch:
    """Clock, CPU time of the process, and accounts of this thread since it was made."""

    def __init__(self, accounts: Accounts | None = None):
        self._accounts, self._clock, self._cpu = accounts, time.perf_counter(), time.process_time()
        self._begin = accounts() if accounts else (0.0, 0.0)

    def spent(self) -> tuple[float, float, tuple[float, float] | None]:
        """Seconds of the clock, of CPU time, and of the accounts (None without), which the clock encloses."""
        found = None
        if self._accounts:
            executed, queued = self._accounts()
            found = executed - self._begin[0], queued - self._begin[1]
        return time.perf_counter() - self._clock, time.process_time() - self._cpu, found


class _Job:
    __slots__ = ("action", "done", "error")

    def __init__(self, action):
        self.action, self.error = action, None
        self.done = threading.Event()

    def work(self) -> None:
        try:
            self.action()
        except BaseException as error:
            self.error = error
        self.done.set()


class Driver:
    """See the module's text.  ``waited`` is the time in seconds that the caller spent in here.

    Where ``accounts()`` gives the seconds that the caller's thread has executed and has waited for a CPU, these are
    no part of ``waited``: the three add up to the clock.
    """

    def __init__(self, overlap: str, accounts: Accounts | None = None):
        self.overlap, self.waited, self._accounts = overlap, 0.0, accounts
        self._queues, self._threads = {}, []
        if overlap != "none":
            kinds = ("read", "write") if overlap == "both" else ("any",)
            for kind in kinds:
                self._queues[kind] = queue.SimpleQueue()
                thread = threading.Thread(target=self._serve, args=(self._queues[kind],), daemon=True)
                self._threads.append(thread)
                thread.start()

    @staticmethod
    def _serve(jobs: queue.SimpleQueue) -> None:
        while (job := jobs.get()) is not None:
            job.work()

    def _wait(self, action: Callable[[], object]) -> None:
        """Do ``action`` and count its time, less what the thread executed or waited for a CPU meanwhile."""
        before = sum(self._accounts()) if self._accounts else 0.0
        begin = time.perf_counter()
        action()
        taken = time.perf_counter() - begin
        if self._accounts:
            taken -= sum(self._accounts()) - before
        self.waited += max(0.0, taken)

    def _submit(self, kind: str, action) -> _Job:
        job = _Job(action)
        if self.overlap == "none":
            self._wait(job.work)
        else:
            self._queues[kind if self.overlap == "both" else "any"].put(job)
        return job

    def read(self, action) -> _Job:
        """Do ``action()``, which reads."""
        return self._submit("read", action)

    def write(self, action) -> _Job:
        """Do ``action()``, which writes."""
        return self._submit("write", action)

    def finish(self, job: _Job | None) -> None:
        """Wait for a job; raises what it raised."""
        if job is None:
            return
        if not job.done.is_set():
            self._wait(job.done.wait)
        if job.error is not None:
            raise job.error

    def close(self) -> None:
        """End the threads, after what they are doing."""
        for jobs in self._queues.values():
            jobs.put(None)
        for thread in self._threads:
            thread.join()
