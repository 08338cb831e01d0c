"""One writing session of a solution file, and the ways of writing U, all with the same words.

    with solution_writer(path, N, NS, IW, way="positioned", asynchronous=True) as writer:
        ...
        writer.write(fill)           # every IW steps; fill(u) puts the solution into u
        ...
        writer.finish()              # transfers complete: T_T ends here
                                     # leaving the block: read back, compare, rename

Before the first dump memory and space are checked, and the file is pre-allocated.  At the end every dump is read back
and its checksum compared, then the file gets its name; until then that name does not exist (or is an older, complete
file).

A way is a class of ``WAYS``: ``put(index, u)`` writes dump ``index``; ``finish(tail, fsync)`` writes the ``tail`` of
the file and waits for the device if ``fsync``; ``close()`` lets go whatever happened.  ``u`` is float64 (N, N, N, 5),
``[k, j, i, m]``, C-contiguous.
"""

import contextlib
import errno
import os
import struct
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from kernels.contract import require_choice
from kernels.files.filesystem import drop_cache, preallocate, pwrite_all, write_all
from kernels.files.format.layout import (
    COMPONENTS,
    DTYPE,
    WORD,
    Layout,
    Solution,
    checksum,
    dump_bytes,
    require_checksums,
)
from kernels.runtime.arrays import zeros
from kernels.runtime.atomic import atomic_write
from kernels.runtime.resources import require_disk, require_memory

__all__ = ["WAYS", "FileWay", "Writer", "end_file", "solution_file", "solution_writer"]


def _bytes(u: np.ndarray) -> memoryview:
    """The bytes of ``u`` as the file has them (a copy only on a big-endian machine)."""
    return memoryview(np.ascontiguousarray(u, DTYPE).reshape(-1).view(np.uint8))


def end_file(handle: int, trailer: bytes, layout: Layout) -> None:
    """Write the trailer, and cut the file off behind it."""
    pwrite_all(handle, trailer, layout.trailer_offset)
    os.ftruncate(handle, layout.trailer_offset + len(trailer))


class FileWay:
    """A solution file that is opened, pre-allocated, written dump by dump, and closed."""

    records = False  # k-planes as Fortran records
    arrays = False  # five arrays of three dimensions

    def __init__(self, part: Path, layout: Layout):
        self.layout, self._file = layout, open(part, "x+b", buffering=0)  # which closes with this object
        self.handle = self._file.fileno()
        preallocate(self.handle, layout.total_bytes)
        write_all(self.handle, layout.header())

    def put(self, index: int, u: np.ndarray) -> None:
        """Write dump ``index``."""
        raise NotImplementedError

    def finish(self, tail: bytes, fsync: bool) -> None:
        """Write the trailer; with ``fsync`` the device has the file."""
        end_file(self.handle, tail, self.layout)
        if fsync:
            os.fsync(self.handle)

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


@contextlib.contextmanager
def solution_file(path: Path, layout: Layout, sums: list[int]):
    """A new solution file with its header, open for whoever writes the dumps; at the end it gets its trailer."""
    path.unlink(missing_ok=True)
    with contextlib.closing(FileWay(path, layout)) as file:
        yield file.handle
        file.finish(layout.trailer(sums), False)


class Records(FileWay):
    """One record a k-plane (5 w N² bytes), as the Cray code wrote."""

    records = True

    def put(self, index, u):
        mark = struct.pack("<I", self.layout.plane_bytes)
        for plane in u:
            if os.writev(self.handle, [mark, _bytes(plane), mark]) != plane.nbytes + 8:
                raise OSError(errno.ENOSPC, "a record was written only in part")


class Array(FileWay):
    """One sequential write without record marks, as the CM-2 code wrote."""

    def put(self, index, u):
        write_all(self.handle, _bytes(u))


class Arrays(FileWay):
    """Five arrays, one sequential write each, as the faster CM-2 code wrote."""

    arrays = True

    def put(self, index, u):
        for m in range(COMPONENTS):
            write_all(self.handle, _bytes(u[..., m]))


class Positioned(FileWay):
    """The whole array in one ``pwrite``."""

    def put(self, index, u):
        pwrite_all(self.handle, _bytes(u), self.layout.offset(index))


class Elements(FileWay):
    """The writes of ``processes.write_points`` from a compiled loop: an interpreter between them would be timed too."""

    def __init__(self, part, layout):
        from kernels.files.syscalls import write_column

        super().__init__(part, layout)
        self._write_column = write_column
        write_column(np.int32(self.handle), np.uint64(0), 0, 0, 0)  # compiled before the first dump

    def put(self, index, u):
        N, element = self.layout.N, COMPONENTS * WORD
        data = np.ascontiguousarray(u, DTYPE)
        for i in range(N):
            start = self.layout.offset(index) + element * i
            os.lseek(self.handle, start, os.SEEK_SET)
            address = np.uint64(data.ctypes.data + element * i)
            done = self._write_column(np.int32(self.handle), address, N * N, element, N * element)
            if done != N * N:
                raise OSError(errno.EIO, f"element write {done} of column {i} failed")


WAYS: dict[str, type[FileWay]] = {
    "records": Records,
    "array": Array,
    "arrays": Arrays,
    "elements": Elements,
    "positioned": Positioned,
}


class Writer:
    """The session of :func:`solution_writer`.

    In seconds: ``stalls``, how long the caller of each ``write`` stood still; ``transfer_seconds`` of each transfer;
    ``finish_seconds`` of ``finish``.
    """

    def __init__(self, file, layout: Layout, buffers: list[np.ndarray], pool: ThreadPoolExecutor | None, fsync: bool):
        self._file, self.layout, self._buffers, self._pool, self._fsync = file, layout, buffers, pool, fsync
        self.checksums: list[int] = []
        self.stalls: list[float] = []
        self.transfer_seconds: list[float] = []
        self.finish_seconds: float | None = None
        self._futures: list = []

    def write(self, fill: Callable[[np.ndarray], object]) -> None:
        """Write the next dump; ``fill(u)`` puts the solution into u, float64 (N, N, N, 5) as [k, j, i, m]."""
        start, index = time.perf_counter(), len(self.stalls)
        if self._pool is not None and index >= 2:
            self._futures[index - 2].result()  # its buffer is free again
        u = self._buffers[index % len(self._buffers)]
        fill(u)
        if self._pool is None:
            self._transfer(index, u)
        else:
            self._futures.append(self._pool.submit(self._transfer, index, u))
        self.stalls.append(time.perf_counter() - start)

    def _transfer(self, index: int, u: np.ndarray) -> None:
        start = time.perf_counter()
        self.checksums.append(checksum([u]))
        self._file.put(index, u)
        self.transfer_seconds.append(time.perf_counter() - start)

    def finish(self) -> None:
        """Complete all transfers (and fsync, if asked for).  T_T ends when this returns."""
        start = time.perf_counter()
        for future in self._futures:
            future.result()
        self._file.finish(self.layout.trailer(self.checksums), self._fsync)
        self.finish_seconds = time.perf_counter() - start


@contextlib.contextmanager
def solution_writer(path, N: int, NS: int, IW: int, way="positioned", asynchronous=False, fsync=False):
    """A :class:`Writer` of the file ``path``, whose folder must exist; the file is there when the block has ended well.

    ``way`` is a name of ``WAYS``.  With ``asynchronous`` dumps are copied into one of two buffers and written by
    another thread: double buffering.  With ``fsync`` ``finish`` waits until the device has the data, and what is read
    back comes from the device (where the filesystem has one).

    ``ValueError`` for a way, size or schedule that makes no sense, or dumps that are missing. ``MemoryError`` or
    ``OSError`` if memory or space do not suffice, or the folder cannot be written.
    """
    require_choice("way", way, WAYS)
    layout, buffers = Layout(N, NS, IW, WAYS[way].records, WAYS[way].arrays), 2 if asynchronous else 1
    what = f"the solution of {layout.dumps} dumps with N = {N}"
    require_disk(Path(path).parent, layout.total_bytes, what)
    require_memory(buffers * dump_bytes(N), f"writing {what} ({way}, {buffers} buffer(s))")
    with atomic_write(path, fsync=False) as part:
        with contextlib.closing(WAYS[way](part, layout)) as file, contextlib.ExitStack() as threads:
            pool = threads.enter_context(ThreadPoolExecutor(1, "solution-writer")) if asynchronous else None
            # touched now: no dump shall pay for first use of the memory
            writer = Writer(file, layout, [zeros(layout.shape, DTYPE) for _ in range(buffers)], pool, fsync)
            yield writer
            if writer.finish_seconds is None:
                writer.finish()
        if fsync:
            drop_cache(part)
        require_checksums(solution := Solution(part))
        if solution.crc32 != writer.checksums:
            raise OSError(errno.EIO, "the checksums read back differ")
