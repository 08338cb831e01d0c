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
none     no one: the job is done before ``read`` or ``write`` returns (a synchronous driver)
one      one that reads; a record is written before ``write`` returns
both     one that reads and one that writes
=======  =================================================================================
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kernels.files.filesystem import BlockFile, require_direct

#: Seconds that the thread which asks has executed, and has waited for a CPU.
Accounts = Callable[[], tuple[float, float]]


@dataclass
class Counters:
    """What the work files moved, and when."""

    bytes_read: int = 0
    bytes_written: int = 0
    transfers: list[tuple[float, float, int]] = field(default_factory=list)  # begin, end in s, bytes


class RecordFiles:
    """Files of equal records, a row each; the parts of a row are in as many files.

    ``names`` are those of the files: one a part, or two, of which one is read while the other is written.  They open
    together or not at all.  Records move from and to the rows of ``buffer``, float64 (slots, words).
    """

    def __init__(self, folder: Path, problem, buffer: np.ndarray, names: list[str], parts: int):
        self.buffer, self.parts, self.nbytes = buffer, parts, buffer.shape[1] * 8 // parts
        self.files: list[BlockFile] = []
        self.counters = Counters()
        self.source = 0  # 1 after an odd number of scans
        self._lock, self._two = threading.Lock(), len(names) == 2 * parts
        if problem.place == "direct":
            require_direct(folder)
        try:
            for name in names:
                self.files.append(BlockFile(folder / name, problem.place, problem.nj, self.nbytes, problem.rate))
        except BaseException:
            self.close()
            raise

    def _move(self, row: int, slot: int, writing: bool) -> None:
        begin, data = time.perf_counter(), memoryview(self.buffer[slot]).cast("B")
        for part in range(self.parts):
            file = self.files[part + self.parts * (self.source ^ writing) if self._two else part]
            (file.write if writing else file.read)(row, data[part * self.nbytes : (part + 1) * self.nbytes])
        with self._lock:
            c, nbytes = self.counters, self.parts * self.nbytes
            c.transfers.append((begin, time.perf_counter(), nbytes))
            if writing:
                c.bytes_written += nbytes
            else:
                c.bytes_read += nbytes

    def read(self, row: int, slot: int) -> None:
        """Record ``row`` into row ``slot`` of the buffer."""
        self._move(row, slot, False)

    def write(self, row: int, slot: int) -> None:
        """Row ``slot`` of the buffer to record ``row``."""
        self._move(row, slot, True)

    def turn(self) -> None:
        """What was written is read in the next scan."""
        self.source ^= 1

    def close(self) -> None:
        """Let all files go."""
        for file in self.files:
            file.close()


class Driver:
    """Does the jobs that ``read`` and ``write`` are given.

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

    def _submit(self, number: int, action: Callable[[], object]) -> Future | None:
        def counted():
            begin = time.thread_time()
            action()
            self.moving.append(time.thread_time() - begin)

        if number < len(self._threads):
            return self._threads[number].submit(counted)
        return self._wait(counted)

    def read(self, action) -> Future | None:
        """Do ``action()``, which reads; what ``finish`` takes."""
        return self._submit(0, action)

    def write(self, action) -> Future | None:
        """Do ``action()``, which writes; what ``finish`` takes."""
        return self._submit(1, action)

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
