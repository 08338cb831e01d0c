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

A way is a function of ``WAYS``: ``way(handle, layout, index, u)`` writes dump ``index``, ``u``, to an open file.  ``u``
is float64 (N, N, N, 5), ``[k, j, i, m]``, C-contiguous.
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

from supercomputers_rerun.kernels.contract import require_choice
from supercomputers_rerun.kernels.files.filesystem import drop_cache, preallocate, pwrite_all, write_all
from supercomputers_rerun.kernels.files.format.layout import (
    COMPONENTS,
    DTYPE,
    WORD,
    Layout,
    Solution,
    checksum,
    dump_bytes,
)
from supercomputers_rerun.kernels.files.syscalls import write_column
from supercomputers_rerun.kernels.runtime.arrays import zeros
from supercomputers_rerun.kernels.runtime.atomic import atomic_write
from supercomputers_rerun.kernels.runtime.resources import require_disk, require_memory

__all__ = ["WAYS", "Writer", "end_file", "new_file", "solution_writer"]


@contextlib.contextmanager
def new_file(path: Path, layout: Layout):
    """A file with its header and room for all dumps, in place of any before: its handle, for whoever writes them."""
    with open(path, "wb", buffering=0) as file:
        preallocate(file.fileno(), layout.total_bytes)
        write_all(file.fileno(), layout.header())
        yield file.fileno()


def end_file(handle: int, layout: Layout, sums: list[int]) -> None:
    """Write the trailer, with the CRC-32 of each dump, and cut the file off behind it."""
    trailer = layout.trailer(sums)
    pwrite_all(handle, trailer, layout.trailer_offset)
    os.ftruncate(handle, layout.trailer_offset + len(trailer))


def _bytes(u: np.ndarray) -> memoryview:
    """The bytes of ``u`` as the file has them (a copy only on a big-endian machine)."""
    return memoryview(np.ascontiguousarray(u, DTYPE).reshape(-1).view(np.uint8))


def records(handle: int, layout: Layout, index: int, u: np.ndarray) -> None:
    """One record a k-plane (5 w N² bytes), as the Cray code wrote."""
    mark = struct.pack("<I", layout.plane_bytes)
    for plane in u:
        if os.writev(handle, [mark, _bytes(plane), mark]) != plane.nbytes + 8:
            raise OSError(errno.ENOSPC, "a record was written only in part")


def arrays(handle: int, layout: Layout, index: int, u: np.ndarray) -> None:
    """Five arrays of three dimensions, one sequential write each, as the faster CM-2 code wrote."""
    for m in range(COMPONENTS):
        write_all(handle, _bytes(u[..., m]))


def positioned(handle: int, layout: Layout, index: int, u: np.ndarray) -> None:
    """The whole array in one ``pwrite``."""
    pwrite_all(handle, _bytes(u), layout.offset(index))


def elements(handle: int, layout: Layout, index: int, u: np.ndarray) -> None:
    """The writes of ``processes.write_points`` from a compiled loop: an interpreter between them would be timed too."""
    N, element = layout.N, COMPONENTS * WORD
    data = np.ascontiguousarray(u, DTYPE)
    for i in range(N):
        os.lseek(handle, layout.offset(index) + element * i, os.SEEK_SET)
        address = np.uint64(data.ctypes.data + element * i)
        done = write_column(np.int32(handle), address, N * N, element, N * element)
        if done != N * N:
            raise OSError(errno.EIO, f"element write {done} of column {i} failed")


WAYS: dict[str, Callable[[int, Layout, int, np.ndarray], None]] = {
    "records": records,
    "arrays": arrays,
    "elements": elements,
    "positioned": positioned,
}


class Writer:
    """The session of :func:`solution_writer`.

    In seconds: ``stalls``, how long the caller of each ``write`` stood still; ``transfer_seconds`` of each transfer;
    ``finish_seconds`` of ``finish``.
    """

    def __init__(self, handle: int, layout: Layout, way, buffers: list[np.ndarray], pool, fsync: bool):
        self._handle, self.layout, self._way, self._fsync = handle, layout, way, fsync
        self._buffers, self._pool = buffers, pool  # one thread, or None
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
        self._way(self._handle, self.layout, index, u)
        self.transfer_seconds.append(time.perf_counter() - start)

    def finish(self) -> None:
        """Complete all transfers (and fsync, if asked for).  T_T ends when this returns."""
        start = time.perf_counter()
        for future in self._futures:
            future.result()
        end_file(self._handle, self.layout, self.checksums)
        if self._fsync:
            os.fsync(self._handle)
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
    layout, buffers = Layout(N, NS, IW, way == "records", way == "arrays"), 2 if asynchronous else 1
    what = f"the solution of {layout.dumps} dumps with N = {N}"
    require_disk(Path(path).parent, layout.total_bytes, what)
    require_memory(buffers * dump_bytes(N), f"writing {what} ({way}, {buffers} buffer(s))")
    with atomic_write(path, fsync=False) as part:
        with new_file(part, layout) as handle, contextlib.ExitStack() as threads:
            if way == "elements":
                write_column(np.int32(handle), np.uint64(0), 0, 0, 0)  # compiled before the first dump
            pool = threads.enter_context(ThreadPoolExecutor(1, "solution-writer")) if asynchronous else None
            # touched now: no dump shall pay for first use of the memory
            room = [zeros(layout.shape, DTYPE) for _ in range(buffers)]
            writer = Writer(handle, layout, WAYS[way], room, pool, fsync)
            yield writer
            if writer.finish_seconds is None:
                writer.finish()
        if fsync:
            drop_cache(part)
        solution = Solution(part)
        if not solution.checksums() == solution.crc32 == writer.checksums:
            raise OSError(errno.EIO, "what was read back is not what was written")
