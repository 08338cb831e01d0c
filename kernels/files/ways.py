"""The ways of writing U, all with the same words.

``open_way(way, part, layout, direct)`` opens the temporary file, pre-allocated; ``put(index, u, crc32)`` writes
dump ``index``; ``finish(tail, fsync)`` writes the file's ``tail`` and waits for the device if ``fsync``;
``close()`` lets go whatever happened.
``u`` is float64 (N, N, N, 5), ``[k, j, i, m]``, C-contiguous; ``crc32`` is its checksum, which those ways
need that keep it beside the dump.
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

from kernels.contract import require_choice
from kernels.files.filesystem import ALIGNMENT, preallocate, pwrite_all, require_direct, write_all
from kernels.files.format.layout import DTYPE, HEADER_BYTES, Layout
from kernels.files.formulas import COMPONENTS, WORD
from kernels.runtime.pages import zeros
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


class DirectStream:
    """A sequential stream that reaches the device without the page cache (O_DIRECT).

    Address, offset and length of every write must be multiples of the block size, and 5 w N³ is
    none.  So the end of a dump waits in a buffer for the beginning of the next.  Whole blocks between
    go straight from the caller's array if it lies in memory as it will in the file (``place_dump``
    puts it so), through the buffer if not.
    """

    STAGE = 4 * 2**20

    def __init__(self, handle: int):
        self.handle = handle
        self.filled = 0
        self.length = 0
        # Page-aligned.  Copied into through NumPy, which lets the solver's threads run meanwhile.
        self.stage = np.frombuffer(mmap.mmap(-1, self.STAGE), np.uint8)

    def write(self, data) -> None:
        data = np.frombuffer(data, np.uint8)
        self.length += data.size
        if self.filled:
            data = self._stage(data, -self.filled % ALIGNMENT)
            self._flush()
        if not self.filled and data.size and data.ctypes.data % ALIGNMENT == 0:
            whole = data.size - data.size % ALIGNMENT
            write_all(self.handle, data[:whole])
            data = data[whole:]
        while data.size:
            data = self._stage(data, self.STAGE - self.filled)
            self._flush()

    def _stage(self, data: np.ndarray, most: int) -> np.ndarray:
        """Put at most ``most`` bytes into the buffer; returns the rest of ``data``."""
        part = min(data.size, most)
        np.copyto(self.stage[self.filled : self.filled + part], data[:part])
        self.filled += part
        return data[part:]

    def _flush(self) -> None:
        whole = self.filled - self.filled % ALIGNMENT
        write_all(self.handle, self.stage[:whole])
        rest = self.filled - whole
        self.stage[:rest] = self.stage[whole : self.filled]
        self.filled = rest

    def finish(self) -> None:
        """Write the last block padded, then cut the file to its length."""
        pad = -self.filled % ALIGNMENT
        self.stage[self.filled : self.filled + pad] = 0
        self.filled += pad
        self._flush()
        os.ftruncate(self.handle, self.length)


def dump_buffer(layout: Layout) -> np.ndarray:
    """Memory for one dump and its place within a block, every page touched; for ``place_dump``."""
    size = int(np.prod(layout.shape)) * DTYPE.itemsize
    return zeros(size + ALIGNMENT, np.uint8, ALIGNMENT)


def place_dump(buffer: np.ndarray, layout: Layout, index: int) -> np.ndarray:
    """View (N, N, N, 5) of ``buffer`` whose address within a block is the dump's offset within one."""
    start = layout.offset(index) % ALIGNMENT
    size = int(np.prod(layout.shape)) * DTYPE.itemsize
    return buffer[start : start + size].view(DTYPE).reshape(layout.shape)


class FileWay:
    """A solution file that is opened, pre-allocated, written by ``write(file, index, u)``, and closed."""

    def __init__(self, part, layout: Layout, direct: bool = False, write: Callable | None = None):
        self.layout, self._write = layout, write
        self.stream = None
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
        if direct:
            require_direct(part.parent)
            flags |= os.O_DIRECT
        self.handle = os.open(part, flags, 0o666)
        try:
            preallocate(self.handle, layout.total_bytes)
            if direct:
                self.stream = DirectStream(self.handle)
            self.append(layout.header())
        except BaseException:
            self.close()
            raise

    def append(self, data) -> None:
        """Write ``data`` where the file stands."""
        if self.stream is not None:
            self.stream.write(data)
        else:
            write_all(self.handle, data)

    def put(self, index: int, u: np.ndarray, crc32: int) -> None:
        """Write dump ``index``."""
        self._write(self, index, u)

    def finish(self, tail: bytes, fsync: bool) -> None:
        if self.stream is not None:
            self.stream.write(tail)
            self.stream.finish()
        else:
            end_file(self.handle, tail, self.layout)
        if fsync:
            os.fsync(self.handle)

    def close(self) -> None:
        self.stream = None
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None


def _records(file: FileWay, index: int, u: np.ndarray) -> None:
    mark = struct.pack("<I", file.layout.plane_bytes)
    for plane in u:
        data = _bytes(plane)
        if file.stream is not None:
            for part in (mark, data, mark):
                file.stream.write(part)
        elif os.writev(file.handle, [mark, data, mark]) != len(data) + 8:
            raise OSError(errno.ENOSPC, "a record was written only in part")


def _array(file: FileWay, index: int, u: np.ndarray) -> None:
    file.append(_bytes(u))


def _arrays(file: FileWay, index: int, u: np.ndarray) -> None:
    for m in range(COMPONENTS):
        file.append(_bytes(u[..., m]))


def _positioned(file: FileWay, index: int, u: np.ndarray) -> None:
    if file.stream is not None:
        file.stream.write(_bytes(u))
    else:
        pwrite_all(file.handle, _bytes(u), file.layout.offset(index))


class Elements(FileWay):
    """40-byte writes with a seek after each, column i after column i, as the 1-D iPSC/860 code."""

    def __init__(self, *arguments):
        from kernels.files.syscalls import write_column

        super().__init__(*arguments)
        self._write_column = write_column
        write_column(np.int32(self.handle), np.uint64(0), 0, 0, 0)  # compiled before the first dump

    def put(self, index, u, crc32):
        N, element = self.layout.N, COMPONENTS * WORD
        data = np.ascontiguousarray(u, DTYPE)
        view = _bytes(data)
        for i in range(N):
            start = self.layout.offset(index) + element * i
            os.lseek(self.handle, start, os.SEEK_SET)
            address = np.uint64(data.ctypes.data + element * i)
            done = self._write_column(np.int32(self.handle), address, N * N, element, N * element)
            if done != N * N:  # make the failing write again: this time Python raises its error
                at = element * (i + done * N)
                pwrite_all(self.handle, view[at : at + element], start + done * N * element)
                raise OSError(errno.EIO, f"element write {done} of column {i} failed and cannot be repeated")


class Parallel(FileWay):
    """Slabs of k-planes of the same serial file, written by as many threads at once as there are CPUs."""

    def __init__(self, part, layout, *others):
        self.pool = None
        super().__init__(part, layout, *others)
        self.threads = min(usable_cpus(), layout.N)
        self.pool = ThreadPoolExecutor(self.threads, thread_name_prefix="solution-slab")

    def put(self, index, u, crc32):
        data, start = _bytes(u), self.layout.offset(index)
        cuts = [self.layout.plane_bytes * (self.layout.N * n // self.threads) for n in range(self.threads + 1)]
        slabs = zip(cuts[:-1], cuts[1:], strict=True)
        futures = [self.pool.submit(pwrite_all, self.handle, data[a:b], start + a) for a, b in slabs]
        for future in futures:
            future.result()

    def close(self):
        if self.pool is not None:
            self.pool.shutdown(wait=True, cancel_futures=True)
            self.pool = None
        super().close()


class Mapped(FileWay):
    """A copy into the memory-mapped file; the system writes the pages when it likes, or at fsync."""

    def __init__(self, part, layout, *others):
        super().__init__(part, layout, *others)
        self.map = None
        try:
            self.map = mmap.mmap(self.handle, layout.trailer_offset)
        except BaseException:
            self.close()
            raise

    def put(self, index, u, crc32):
        # Through NumPy and not by slice assignment, which would hold up the solver's threads.
        np.copyto(np.frombuffer(self.map, DTYPE, u.size, self.layout.offset(index)), u.reshape(-1))

    def finish(self, tail, fsync):
        if fsync:
            self.map.flush()
        super().finish(tail, fsync)

    def close(self):
        if getattr(self, "map", None) is not None:
            with contextlib.suppress(BufferError):  # an interrupted copy still holds it; it goes with that
                self.map.close()
            self.map = None
        super().close()


class Form(NamedTuple):
    """One way of writing a solution file, and which files it makes."""

    write: Callable | None = None  # write(file, index, u) of a way without anything of its own
    kind: type[FileWay] = FileWay
    records: bool = False  # k-planes as Fortran records
    arrays: bool = False  # five arrays of three dimensions
    direct: bool = False  # can be combined with O_DIRECT


WAYS = {
    "records": Form(_records, records=True, direct=True),  # one a k-plane (5 w N² bytes), as the Cray code wrote
    "array": Form(_array, direct=True),  # one sequential write without record marks, as the CM-2 code wrote
    "arrays": Form(_arrays, arrays=True, direct=True),  # one sequential write each, as the faster CM-2 code wrote
    "elements": Form(kind=Elements),
    "positioned": Form(_positioned, direct=True),  # the whole array in one ``pwrite``
    "parallel": Form(kind=Parallel),
    "mapped": Form(kind=Mapped),
}
#: Every name that ``way`` may have; a library lays out the file of the last.
NAMES = (*WAYS, "netcdf")
#: Ways that can be combined with O_DIRECT.
DIRECT_WAYS = tuple(name for name, way in WAYS.items() if way.direct)


def require_way(way: str, direct: bool) -> None:
    """``ValueError`` unless ``way`` is known and can be combined with ``direct``."""
    require_choice("way", way, NAMES)
    if direct and way not in DIRECT_WAYS:
        raise ValueError(
            f"direct = True cannot be combined with way = {way!r}; choose direct = False or "
            f"one of {', '.join(map(repr, DIRECT_WAYS))}"
        )


def open_way(way: str, part, layout: Layout, direct: bool):
    """Open ``part`` for writing the way called ``way``."""
    if way == "netcdf":
        from kernels.files.format.netcdf import NetcdfWay

        return NetcdfWay(part, layout)
    return WAYS[way].kind(part, layout, direct, WAYS[way].write)


assert HEADER_BYTES % ALIGNMENT == 0
