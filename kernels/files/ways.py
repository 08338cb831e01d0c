"""The ways of writing U, all with the same words.

``open_way(way, part, layout)`` opens the temporary file, pre-allocated; ``put(index, u, crc32)`` writes dump ``index``;
``finish(tail, fsync)`` writes the file's ``tail`` and waits for the device if ``fsync``; ``close()`` lets go whatever
happened.  ``u`` is float64 (N, N, N, 5), ``[k, j, i, m]``, C-contiguous; ``crc32`` is its checksum, which NetCDF keeps
beside the dump.
"""

import contextlib
import errno
import mmap
import os
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from kernels.files.filesystem import preallocate, pwrite_all, write_all
from kernels.files.format.layout import DTYPE, Layout
from kernels.files.formulas import COMPONENTS, WORD
from kernels.runtime.resources import usable_cpus


def _bytes(u: np.ndarray) -> memoryview:
    """The bytes of ``u`` as the file has them (a copy only on a big-endian machine)."""
    return memoryview(np.ascontiguousarray(u, DTYPE).reshape(-1).view(np.uint8))


@contextlib.contextmanager
def solution_file(path, layout: Layout, sums: list[int]):
    """A new solution file with its header, open for whoever writes the dumps; at the end it gets its trailer."""
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        preallocate(handle, layout.total_bytes)
        pwrite_all(handle, layout.header(), 0)
        yield handle
        end_file(handle, layout.trailer(sums), layout)
    finally:
        os.close(handle)


def end_file(handle: int, trailer: bytes, layout: Layout) -> None:
    """Write the trailer, and cut the file off behind it."""
    pwrite_all(handle, trailer, layout.trailer_offset)
    os.ftruncate(handle, layout.trailer_offset + len(trailer))


class FileWay:
    """A solution file that is opened, pre-allocated, written by ``write(file, index, u)``, and closed."""

    def __init__(self, part, layout: Layout, write: Callable | None = None):
        self.layout, self._write = layout, write
        self.handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            preallocate(self.handle, layout.total_bytes)
            write_all(self.handle, layout.header())
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        """What a way needs before the first dump."""

    def put(self, index: int, u: np.ndarray, crc32: int) -> None:
        """Write dump ``index``."""
        self._write(self, index, u)

    def finish(self, tail: bytes, fsync: bool) -> None:
        end_file(self.handle, tail, self.layout)
        if fsync:
            os.fsync(self.handle)

    def close(self) -> None:
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None


def _records(file: FileWay, index: int, u: np.ndarray) -> None:
    mark = struct.pack("<I", file.layout.plane_bytes)
    for plane in u:
        if os.writev(file.handle, [mark, _bytes(plane), mark]) != plane.nbytes + 8:
            raise OSError(errno.ENOSPC, "a record was written only in part")


def _array(file: FileWay, index: int, u: np.ndarray) -> None:
    write_all(file.handle, _bytes(u))


def _arrays(file: FileWay, index: int, u: np.ndarray) -> None:
    for m in range(COMPONENTS):
        write_all(file.handle, _bytes(u[..., m]))


def _positioned(file: FileWay, index: int, u: np.ndarray) -> None:
    pwrite_all(file.handle, _bytes(u), file.layout.offset(index))


def plain(handle: int, layout: Layout, index: int, u: np.ndarray) -> None:
    """Dump ``index`` point by point: a seek to the 40 bytes of each point, and a write, as the iPSC/860 code did.

    ``u`` is float64 (N, N, N, 5) as [k, j, i, m]; column i after column i, each along j, then k.
    """
    N, element = layout.N, COMPONENTS * WORD
    for i in range(N):
        for k in range(N):
            for j in range(N):
                os.lseek(handle, layout.offset(index) + element * ((k * N + j) * N + i), os.SEEK_SET)
                os.write(handle, _bytes(u[k, j, i]))


class Elements(FileWay):
    """The same writes from a compiled loop, since an interpreter between them would be timed too."""

    def _prepare(self):
        from kernels.files.syscalls import write_column

        self._write_column = write_column
        write_column(np.int32(self.handle), np.uint64(0), 0, 0, 0)  # compiled before the first dump

    def put(self, index, u, crc32):
        N, element = self.layout.N, COMPONENTS * WORD
        data = np.ascontiguousarray(u, DTYPE)
        for i in range(N):
            start = self.layout.offset(index) + element * i
            os.lseek(self.handle, start, os.SEEK_SET)
            address = np.uint64(data.ctypes.data + element * i)
            done = self._write_column(np.int32(self.handle), address, N * N, element, N * element)
            if done != N * N:  # make the failing write again: this time Python raises its error
                at = element * (i + done * N)
                pwrite_all(self.handle, _bytes(data)[at : at + element], start + done * N * element)
                raise OSError(errno.EIO, f"element write {done} of column {i} failed and cannot be repeated")


class Parallel(FileWay):
    """Slabs of k-planes of the same serial file, written by as many threads at once as there are CPUs."""

    pool = None

    def _prepare(self):
        self.threads = min(usable_cpus(), self.layout.N)
        self.pool = ThreadPoolExecutor(self.threads, thread_name_prefix="solution-slab")

    def put(self, index, u, crc32):
        data, start = _bytes(u), self.layout.offset(index)
        cuts = [self.layout.plane_bytes * (self.layout.N * n // self.threads) for n in range(self.threads + 1)]
        slabs = zip(cuts[:-1], cuts[1:], strict=True)
        for future in [self.pool.submit(pwrite_all, self.handle, data[a:b], start + a) for a, b in slabs]:
            future.result()

    def close(self):
        if self.pool is not None:
            self.pool.shutdown(wait=True, cancel_futures=True)
        super().close()


class Mapped(FileWay):
    """A copy into the memory-mapped file; the system writes the pages when it likes, or at fsync."""

    map = None

    def _prepare(self):
        self.map = mmap.mmap(self.handle, self.layout.trailer_offset)

    def put(self, index, u, crc32):
        # Through NumPy and not by slice assignment, which would hold up the solver's threads.
        np.copyto(np.frombuffer(self.map, DTYPE, u.size, self.layout.offset(index)), u.reshape(-1))

    def finish(self, tail, fsync):
        if fsync:
            self.map.flush()
        super().finish(tail, fsync)

    def close(self):
        if self.map is not None:
            with contextlib.suppress(BufferError):  # an interrupted copy still holds it; it goes with that
                self.map.close()
        super().close()


class Form(NamedTuple):
    """One way of writing a solution file, and which files it makes."""

    write: Callable | None = None  # write(file, index, u) of a way without anything of its own
    kind: type[FileWay] = FileWay
    records: bool = False  # k-planes as Fortran records
    arrays: bool = False  # five arrays of three dimensions


WAYS = {
    "records": Form(_records, records=True),  # one a k-plane (5 w N² bytes), as the Cray code wrote
    "array": Form(_array),  # one sequential write without record marks, as the CM-2 code wrote
    "arrays": Form(_arrays, arrays=True),  # one sequential write each, as the faster CM-2 code wrote
    "elements": Form(kind=Elements),
    "positioned": Form(_positioned),  # the whole array in one ``pwrite``
    "parallel": Form(kind=Parallel),
    "mapped": Form(kind=Mapped),
}
#: Every name that ``way`` may have; a library lays out the file of the last.
NAMES = (*WAYS, "netcdf")


def open_way(way: str, part, layout: Layout):
    """Open ``part`` for writing the way called ``way``."""
    if way == "netcdf":
        from kernels.files.format.netcdf import NetcdfWay

        return NetcdfWay(part, layout)
    return WAYS[way].kind(part, layout, WAYS[way].write)
