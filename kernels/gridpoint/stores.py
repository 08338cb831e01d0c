"""Where the records of the rows are between two scans: work files in several numbers and places.

``state_files(folder, problem, buffer)`` opens and pre-allocates the work files; ``read(row, slot)`` and
``write(row, slot)`` move one record between a file and row ``slot`` of the buffer; ``turn()`` ends a scan.

=====  ==============================================================================================
files  what a request moves
=====  ==============================================================================================
4      half a record; two files are read while two others are written, and change places after a scan
2      a whole record ("double records"); one file is read, the other written
1      a whole record of one file, at random; a row is written back to where it was read
=====  ==============================================================================================

``half_files`` are three more, of the right-hand sides of the Helmholtz equations.
Nothing here knows what a record contains.
"""

import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kernels.files import positioned
from kernels.files.filesystem import ALIGNMENT, require_direct
from kernels.files.ways import preallocate, pwrite_all
from kernels.runtime import pages


@dataclass
class Counters:
    """What was asked of the devices, and when."""

    requests_read: int = 0
    requests_written: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    transfers: list[tuple[float, float, int]] = field(default_factory=list)  # begin, end in s, bytes


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


class Channel:
    """One paced device: a request takes its cost and its bytes over the rate, one after another."""

    def __init__(self, rate: float, request: float):
        self.rate, self.request = rate, request
        self._free, self._lock = 0.0, threading.Lock()

    def wait(self, nbytes: int) -> None:
        """Sleep until a request of ``nbytes`` that is made now would be done."""
        now = time.perf_counter()
        with self._lock:
            # A sleep that ended late is made up for by the next one, at most 1 ms of it.
            begin = max(self._free, now - 1e-3) if now - self._free < 1e-3 else now
            self._free = begin + self.request + nbytes / self.rate
            until = self._free
        time.sleep(max(0.0, until - time.perf_counter()))


class File:
    """One file of equal records of ``nbytes``, through the page cache or past it, or a paced one in memory."""

    def __init__(self, path: Path, problem, records: int, nbytes: int):
        self.path, self.nbytes = path, nbytes
        self.channel = Channel(problem.rate, problem.request) if problem.place == "paced" else None
        self.memory = None
        if problem.place in ("paced", "memory"):
            self.memory = page_aligned((1, records * nbytes // 8)).view(np.uint8)[0]
            self.memory.fill(0)  # a page that is first touched under the clock takes longer than its transfer
        self.handle = None
        if self.memory is None:
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | (os.O_DIRECT if problem.place == "direct" else 0)
            self.handle = os.open(path, flags, 0o666)
            try:
                preallocate(self.handle, records * nbytes)
            except BaseException:
                self.close()
                raise

    def read(self, record: int, data: memoryview) -> None:
        start = record * self.nbytes
        if self.memory is not None:
            np.copyto(np.frombuffer(data, np.uint8), self.memory[start : start + self.nbytes])
            if self.channel:
                self.channel.wait(self.nbytes)
            return
        got = 0
        while got < self.nbytes:
            some = positioned.fill(self.handle, data[got:], start + got)
            if some <= 0:
                raise OSError(
                    f"the work file {self.path.name} ends within record {record}: it was cut off or never written; "
                    "start again from the last write-up"
                )
            got += some

    def write(self, record: int, data: memoryview) -> None:
        start = record * self.nbytes
        if self.memory is not None:
            np.copyto(self.memory[start : start + self.nbytes], np.frombuffer(data, np.uint8))
            if self.channel:
                self.channel.wait(self.nbytes)
        else:
            pwrite_all(self.handle, data, start)

    def close(self) -> None:
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None


class RecordFiles:
    """Files of equal records, a row each; the parts of a row are in as many files.

    ``names`` are those of the files: one a part, or two, of which one is read while the other is written.  They open
    together or not at all.
    """

    def __init__(self, folder: Path, problem, buffer: np.ndarray, names: list[str], parts: int):
        self.buffer, self.parts, self.nbytes = buffer, parts, buffer.shape[1] * 8 // parts
        self.files: list[File] = []
        self.counters = Counters()
        self.source = 0  # 1 after an odd number of scans
        self._lock, self._two = threading.Lock(), len(names) == 2 * parts
        if problem.place == "direct":
            require_direct(folder)
        try:
            for name in names:
                self.files.append(File(folder / name, problem, problem.nj, self.nbytes))
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
                c.requests_written += self.parts
                c.bytes_written += nbytes
            else:
                c.requests_read += self.parts
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


def state_files(folder: Path, problem, buffer: np.ndarray) -> RecordFiles:
    """Work files of the state."""
    names = [f"work{n}" for n in range(problem.files)]
    return RecordFiles(folder, problem, buffer, names, 2 if problem.files == 4 else 1)


def half_files(folder: Path, problem, buffer: np.ndarray) -> RecordFiles:
    """Right-hand sides, eliminated: written while rows come, read backwards; a third of each row a file."""
    return RecordFiles(folder, problem, buffer, ["rhs0", "rhs1", "rhs2"], 3)
