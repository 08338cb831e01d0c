"""One file of equal records, on a device, in the page cache, or in memory: of the forecast, the analysis, the devices.

======  ==========================================================================
place   where the file is
======  ==========================================================================
memory  memory of the process, reached by copying
tmpfs   a file in a file system that is memory
cache   a file through the page cache
direct  a file past the page cache (O_DIRECT)
paced   memory that takes as long as a device of a given rate
======  ==========================================================================
"""

import os
import threading
import time
from pathlib import Path

import numpy as np

from kernels.files.filesystem import ALIGNMENT, preallocate, pwrite_all
from kernels.runtime import pages


def page_aligned(shape: tuple[int, int]) -> np.ndarray:
    """Zeros (rows, words) whose rows begin on a page if a row is whole pages: what O_DIRECT asks for.

    From 2 MiB on they lie on huge pages where the system grants them: the kernel pins and maps a page at a time, and
    blocks of 3 MB were read past the page cache in about half the time.
    """
    items = shape[0] * shape[1]
    if not pages.can_advise():
        return pages.zeros(shape, boundary=ALIGNMENT)
    policy = "huge" if 8 * items >= pages.HUGE else "small"
    return pages.allocate(max(items, ALIGNMENT // 8), np.float64, policy)[:items].reshape(shape)


class BlockFile:
    """``records`` records of ``nbytes`` at ``path``, which is new; "paced" moves ``rate`` bytes a second."""

    def __init__(self, path: Path, place: str, records: int, nbytes: int, rate: float = 0.0):
        self.path, self.nbytes, self.rate = path, nbytes, rate if place == "paced" else 0.0
        self.handle = self.memory = None
        self._free, self._lock = 0.0, threading.Lock()
        if place in ("paced", "memory"):
            self.memory = page_aligned((1, records * nbytes // 8)).view(np.uint8)[0]
            self.memory.fill(0)  # a page that is first touched under the clock takes longer than its transfer
            return
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | (os.O_DIRECT if place == "direct" else 0)
        self.handle = os.open(path, flags, 0o666)
        try:
            preallocate(self.handle, records * nbytes)
        except BaseException:
            self.close()
            raise

    def _wait(self) -> None:
        """Sleep until the paced device, which takes one request after another, is done with one made now."""
        now = time.perf_counter()
        with self._lock:
            # A sleep that ended late is made up for by the next one, at most 1 ms of it.
            begin = max(self._free, now - 1e-3) if now - self._free < 1e-3 else now
            self._free = until = begin + self.nbytes / self.rate
        time.sleep(max(0.0, until - time.perf_counter()))

    def read(self, record: int, data: memoryview) -> None:
        """A record into ``data``; ``OSError`` that names it where the file ends before."""
        start, got = record * self.nbytes, 0
        if self.memory is not None:
            np.copyto(np.frombuffer(data, np.uint8), self.memory[start : start + self.nbytes])
            if self.rate:
                self._wait()
            return
        while got < self.nbytes:
            some = os.preadv(self.handle, [data[got:]], start + got)
            if some <= 0:
                raise OSError(
                    f"the file {self.path.name} ends within record {record}: it was cut off or never written; "
                    "start again"
                )
            got += some

    def write(self, record: int, data: memoryview) -> None:
        """``data`` into a record."""
        start = record * self.nbytes
        if self.memory is None:
            pwrite_all(self.handle, data, start)
            return
        np.copyto(self.memory[start : start + self.nbytes], np.frombuffer(data, np.uint8))
        if self.rate:
            self._wait()

    def close(self) -> None:
        """Let the file go; harmless a second time."""
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None
