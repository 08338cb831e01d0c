"""Where the records of the rows are between two scans, and the drivers that move them.

=====  ==============================================================================================
files  what a request moves
=====  ==============================================================================================
4      half a record; two files are read while two others are written, and change places after a scan
2      a whole record ("double records"); one file is read, the other written
1      a whole record of one file, at random; a row is written back to where it was read
=====  ==============================================================================================

Three more files have the right-hand sides of the Helmholtz equations, a third of each row in each; they are written
while rows come, and read backwards.  Nothing here knows what a record contains.

=======  =================================================================================
overlap  transfers under way while a row is computed
=======  =================================================================================
none     no one: the job is done before ``start`` returns (a synchronous driver)
one      one that reads; a record is written before ``start`` returns
both     one that reads and one that writes
=======  =================================================================================
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np

from supercomputers_rerun.kernels.files.filesystem import BlockFile, require_direct
from supercomputers_rerun.kernels.files.work_folder import WorkFolder

#: Seconds that the thread which asks has executed, and has waited for a CPU.
Accounts = Callable[[], tuple[float, float]]


class RecordFiles:
    """Files of equal records, a row each; the parts of a row are in as many files.

    There are ``count`` files of a ``name`` in the folders of ``work``: one a part, or two, of which one is read while
    the other is written.  ``opened`` closes them.  Row ``j`` moves to and from row j mod slots of ``buffer`` (slots,
    words).  ``transfers``: of each, begin and end in s, bytes, and whether they were written.
    """

    def __init__(
        self, opened: ExitStack, work: WorkFolder, problem, buffer: np.ndarray, name: str, count: int, parts: int
    ):
        self.buffer, self.parts, self.nbytes = buffer, parts, buffer.shape[1] * 8 // parts
        self.files: list[BlockFile] = []
        self.transfers: list[tuple[float, float, int, bool]] = []
        self.source, self._two = 0, count == 2 * parts  # source: 1 after an odd number of scans
        if problem.place == "direct":
            for folder in work.paths:
                require_direct(folder)
        for n in range(count):
            path = work.of(n) / f"{name}{n}"
            self.files.append(BlockFile(path, problem.place, problem.nj, self.nbytes, problem.rate))
            opened.callback(self.files[-1].close)

    def move(self, rows: Sequence[int], writing: bool) -> None:
        """Records of ``rows`` into the buffer, or out of it where ``writing``."""
        for row in rows:
            begin, data = time.perf_counter(), memoryview(self.buffer[row % len(self.buffer)]).cast("B")
            for part in range(self.parts):
                file = self.files[part + self.parts * (self.source ^ writing) if self._two else part]
                (file.write if writing else file.read)(row, data[part * self.nbytes : (part + 1) * self.nbytes])
            self.transfers.append((begin, time.perf_counter(), self.parts * self.nbytes, writing))

    def turn(self) -> None:
        """What was written is read in the next scan."""
        self.source ^= 1


class Driver:
    """Does the jobs that ``start`` is given.

    ``waited`` is the time in seconds that the caller spent here.  Where ``accounts()`` gives the seconds that the
    caller's thread has executed and has waited for a CPU, these are no part of it: the three add up to the clock.
    ``moving``: CPU seconds of each job, of whatever thread did it.
    """

    def __init__(self, overlap: str, accounts: Accounts | None = None):
        self.waited, self._accounts, self.moving = 0.0, accounts, []
        self._threads = [ThreadPoolExecutor(1) for _ in range({"none": 0, "one": 1, "both": 2}[overlap])]

    def _wait(self, action: Callable[[], object]) -> None:
        """Do ``action`` and count its time, less what the thread executed or waited for a CPU meanwhile."""
        before, begin = sum(self._accounts()) if self._accounts else 0.0, time.perf_counter()
        action()
        taken = time.perf_counter() - begin
        if self._accounts:
            taken -= sum(self._accounts()) - before
        self.waited += max(0.0, taken)

    def start(self, action: Callable[[], object], writing: bool) -> Future | None:
        """Do ``action()``, which reads or writes; what ``finish`` takes."""

        def counted():
            begin = time.thread_time()
            action()
            self.moving.append(time.thread_time() - begin)

        if writing < len(self._threads):
            return self._threads[writing].submit(counted)
        return self._wait(counted)

    def finish(self, job: Future | None) -> None:
        """Wait for a job; raises what it raised."""
        if job is not None:
            if not job.done():
                self._wait(job.exception)
            job.result()

    def close(self) -> None:
        """End the threads, after what they are doing."""
        for thread in self._threads:
            thread.shutdown(cancel_futures=True)
