"""One writing session of a solution file, and the ways of writing U, all with the same words.

    with SolutionWriter(path, N, NS, IW, way="positioned", asynchronous=True) as writer:
        ...
        writer.write(step, u)        # every IW steps
        ...
        writer.finish()              # transfers complete: T_T ends here
                                     # leaving the block: read back, compare, rename

Before the first dump: arguments, free memory and free space are checked, the file is pre-allocated.  At the end every
dump is read back and its checksum compared, then the file gets its name; until then that name does not exist (or is
an older, complete file).

A way is a class of ``WAYS``: ``put(index, u, crc32)`` writes dump ``index``; ``finish(tail, fsync)`` writes the file's
``tail`` and waits for the device if ``fsync``; ``close()`` lets go whatever happened.  ``u`` is float64 (N, N, N, 5),
``[k, j, i, m]``, C-contiguous; ``crc32`` is its checksum, which NetCDF keeps beside the dump.
"""

import contextlib
import errno
import mmap
import os
import secrets
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from kernels.contract import require_choice
from kernels.files.filesystem import drop_cache, preallocate, pwrite_all, write_all
from kernels.files.format.layout import (
    COMPONENTS,
    DTYPE,
    WORD,
    Layout,
    checksum,
    dump_bytes,
    netcdf4,
    open_solution,
    require_checksums,
)
from kernels.runtime.pages import zeros
from kernels.runtime.resources import require_disk, require_memory, usable_cpus


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

    def __init__(self, part, layout: Layout):
        self.layout = layout
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
        raise NotImplementedError

    def finish(self, tail: bytes, fsync: bool) -> None:
        end_file(self.handle, tail, self.layout)
        if fsync:
            os.fsync(self.handle)

    def close(self) -> None:
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None


@contextlib.contextmanager
def solution_file(path, layout: Layout, sums: list[int]):
    """A new solution file with its header, open for whoever writes the dumps; at the end it gets its trailer."""
    path.unlink(missing_ok=True)
    file = FileWay(path, layout)
    try:
        yield file.handle
        file.finish(layout.trailer(sums), False)
    finally:
        file.close()


class Records(FileWay):
    """One record a k-plane (5 w N² bytes), as the Cray code wrote."""

    records = True

    def put(self, index, u, crc32):
        mark = struct.pack("<I", self.layout.plane_bytes)
        for plane in u:
            if os.writev(self.handle, [mark, _bytes(plane), mark]) != plane.nbytes + 8:
                raise OSError(errno.ENOSPC, "a record was written only in part")


class Array(FileWay):
    """One sequential write without record marks, as the CM-2 code wrote."""

    def put(self, index, u, crc32):
        write_all(self.handle, _bytes(u))


class Arrays(FileWay):
    """Five arrays, one sequential write each, as the faster CM-2 code wrote."""

    arrays = True

    def put(self, index, u, crc32):
        for m in range(COMPONENTS):
            write_all(self.handle, _bytes(u[..., m]))


class Positioned(FileWay):
    """The whole array in one ``pwrite``."""

    def put(self, index, u, crc32):
        pwrite_all(self.handle, _bytes(u), self.layout.offset(index))


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


class NetcdfWay:
    """NetCDF-4 without compression, so that every way moves the same bytes.

    The library lays the file out itself: space is checked beforehand but not pre-allocated.
    """

    records = arrays = False

    def __init__(self, part: Path, layout: Layout):
        self.part, self.layout = part, layout
        self.file = netcdf4().Dataset(part, "w")
        self.file.setncatts({"title": "NHT-1 solution", "N": layout.N, "NS": layout.NS, "IW": layout.IW})
        dimensions = ("step", "k", "j", "i", "m")
        for name, length in zip(dimensions, (None, *layout.shape), strict=True):
            self.file.createDimension(name, length)
        options = {"fill_value": False, "contiguous": False, "chunksizes": (1, *layout.shape)}
        self.u = self.file.createVariable("U", DTYPE, dimensions, **options)
        self.step = self.file.createVariable("step", "<i8", "step")
        self.crc32 = self.file.createVariable("crc32", "<u4", "step")

    def put(self, index, u, crc32):
        """Write dump ``index``."""
        self.u[index] = u
        self.step[index], self.crc32[index] = (index + 1) * self.layout.IW, crc32
        self.file.sync()

    def finish(self, tail: bytes, fsync: bool) -> None:
        self.close()
        if fsync:
            with open(self.part, "rb") as file:
                os.fsync(file.fileno())

    def close(self) -> None:
        if self.file.isopen():
            self.file.close()


WAYS: dict[str, Any] = {
    "records": Records,
    "array": Array,
    "arrays": Arrays,
    "elements": Elements,
    "positioned": Positioned,
    "parallel": Parallel,
    "mapped": Mapped,
    "netcdf": NetcdfWay,
}


def file_bytes(way: str, layout: Layout) -> int:
    """Space to have free before writing; a library adds entries of its own to the dumps."""
    if way == "netcdf":
        return layout.dumps * (dump_bytes(layout.N) + 65536) + 2**20
    return layout.total_bytes


class SolutionWriter:
    """Writes U every IW steps into ``path``, whose folder must exist.

    ``way`` is a name of ``WAYS``.  With ``asynchronous`` dumps are copied into one of two buffers and written by
    another thread: double buffering.  With ``fsync`` ``finish`` waits until the device has the data.

    ``ValueError`` for a way, size or schedule that makes no sense. ``MemoryError`` or ``OSError`` if memory or space do
    not suffice, or the folder cannot be written.

    Attributes, in seconds: ``stalls``, how long the caller of each ``write`` stood still; ``transfer_seconds`` of each
    transfer; ``finish_seconds`` of ``finish``.
    """

    def __init__(self, path, N, NS, IW, way="positioned", asynchronous=False, fsync=False):
        self.path, self.asynchronous, self.fsync = Path(path), asynchronous, fsync
        require_choice("way", way, WAYS)
        kind = WAYS[way]
        self.layout = Layout(N, NS, IW, kind.records, kind.arrays)
        what = f"the solution of {self.layout.dumps} dumps with N = {N}"
        require_disk(self.path.parent, file_bytes(way, self.layout), what)
        buffers = 2 if asynchronous else 1
        require_memory(buffers * dump_bytes(N), f"writing {what} ({way}, {buffers} buffer(s))")
        self.checksums: list[int] = []
        self.stalls: list[float] = []
        self.transfer_seconds: list[float] = []
        self.finish_seconds = 0.0
        self._part = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}.part")
        self._way = self._pool = None
        self._futures: list = []
        self._finished = False
        try:
            self._way = kind(self._part, self.layout)
            # touched now: no dump shall pay for first use of the memory
            self._buffers = [zeros(self.layout.shape, DTYPE) for _ in range(buffers)]
            if asynchronous:
                self._pool = ThreadPoolExecutor(1, thread_name_prefix="solution-writer")
        except BaseException:
            self.abort()
            raise

    def write(self, step: int, u) -> None:
        """Write the dump of time step ``step``.

        ``step`` is the next multiple of IW.  ``u`` is the solution, float64 (N, N, N, 5) as [k, j, i, m], or a function
        that fills an array of that shape, which saves a copy where the solver keeps U in another order.
        """
        start = time.perf_counter()
        index = len(self.stalls)
        expected = (index + 1) * self.layout.IW
        if self._finished or step != expected:
            raise ValueError(
                f"step = {step} is not the next to be written: expected "
                f"{'none' if self._finished or expected > self.layout.NS else expected}"
            )
        if not callable(u) and np.shape(u) != self.layout.shape:
            raise ValueError(f"u has shape {np.shape(u)}, a dump with N = {self.layout.N} has {self.layout.shape}")
        if self.asynchronous:
            if index >= 2:
                self._futures[index - 2].result()  # its buffer is free again
            self._futures.append(self._pool.submit(self._transfer, index, self._fill(index, u)))
        else:
            plain = isinstance(u, np.ndarray) and u.flags.c_contiguous and u.dtype == DTYPE
            self._transfer(index, u if plain else self._fill(index, u))
        self.stalls.append(time.perf_counter() - start)

    def _fill(self, index: int, u) -> np.ndarray:
        """A copy of U in the buffer whose turn it is."""
        staged = self._buffers[index % len(self._buffers)]
        if callable(u):
            u(staged)
        else:
            np.copyto(staged, u)
        return staged

    def _transfer(self, index: int, u: np.ndarray) -> None:
        start = time.perf_counter()
        crc32 = checksum([u])
        self._way.put(index, u, crc32)
        self.checksums.append(crc32)
        self.transfer_seconds.append(time.perf_counter() - start)

    def finish(self) -> None:
        """Complete all transfers (and fsync, if asked for).  T_T ends when this returns."""
        if self._finished:
            return
        start = time.perf_counter()
        if len(self.stalls) != self.layout.dumps:
            raise ValueError(
                f"{len(self.stalls)} of {self.layout.dumps} dumps were written; write all of them before finish"
            )
        for future in self._futures:
            future.result()
        self._way.finish(self.layout.trailer(self.checksums), self.fsync)
        self._finished = True
        self.finish_seconds = time.perf_counter() - start

    def publish(self) -> None:
        """Read the file back, compare every checksum, give it its name.

        With ``fsync`` the pages are dropped first, so that the device is read and not the page cache (where the
        filesystem has a device).
        """
        self.finish()
        self._close()
        if self.fsync:
            drop_cache(self._part)
        with open_solution(self._part) as solution:
            if solution.crc32 != self.checksums:
                raise OSError(errno.EIO, f"{self.path} was not written: the checksums read back differ")
            require_checksums(solution)
        os.replace(self._part, self.path)

    def _close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
        if self._way is not None:
            self._way.close()
            self._way = None

    def abort(self) -> None:
        """Stop writing and remove the temporary; the final name is left as it was."""
        try:
            self._close()
        finally:
            self._part.unlink(missing_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        try:
            if kind is None:
                self.publish()
        finally:
            self.abort()
