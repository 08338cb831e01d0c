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
    """See the module's text.  ``waited`` is the time in seconds that the caller spent in here."""

    def __init__(self, overlap: str):
        self.overlap, self.waited = overlap, 0.0
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

    def _submit(self, kind: str, action) -> _Job:
        job = _Job(action)
        if self.overlap == "none":
            begin = time.perf_counter()
            job.work()
            self.waited += time.perf_counter() - begin
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
            begin = time.perf_counter()
            job.done.wait()
            self.waited += time.perf_counter() - begin
        if job.error is not None:
            raise job.error

    def close(self) -> None:
        """End the threads, after what they are doing."""
        for jobs in self._queues.values():
            jobs.put(None)
        for thread in self._threads:
            thread.join()
