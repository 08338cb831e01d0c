"""What a folder is on, how to keep the page cache out of a measurement (Linux; else unknown), and files of records.

A :class:`BlockFile` is a file of equal records: of the forecast, of the analysis, and of the program for devices.

======  ==========================================================================
place   where the file is
======  ==========================================================================
memory  memory of the process, reached by copying
cache   a file through the page cache
direct  a file past the page cache (O_DIRECT)
paced   memory that takes as long as a device of a given rate
======  ==========================================================================
"""

import contextlib
import errno
import math
import os
import threading
import time
from pathlib import Path

import numpy as np
import psutil

from supercomputers_rerun.kernels.files.work_folder import WorkFolder
from supercomputers_rerun.kernels.runtime.arrays import HUGE, allocate, can_advise, zeros

__all__ = ["ALIGNMENT", "IN_MEMORY", "BlockFile", "direct_refusal", "drop_cache", "filesystem_type", "page_aligned"]
__all__ += ["preallocate", "pwrite_all", "require_direct", "write_all"]

#: Filesystems that keep their files in memory.
IN_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs"})
#: What a system answers that does not offer a call for this file.
_NOT_OFFERED = frozenset({errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS, errno.ENODEV})
ALIGNMENT = 4096  # bytes; a multiple of every logical block size in use, and the page size


def write_all(handle: int, data) -> None:
    """``write`` until everything is written (the system may take less than it is given)."""
    data = memoryview(data).cast("B")
    while data:
        data = data[os.write(handle, data) :]


def pwrite_all(handle: int, data, offset: int) -> None:
    """``pwrite`` until everything is written."""
    data = memoryview(data).cast("B")
    while data:
        written = os.pwrite(handle, data, offset)
        data, offset = data[written:], offset + written


def preallocate(handle: int, nbytes: int) -> None:
    """Reserve ``nbytes`` for the file, so that a full disk shows now and not at the last dump.

    macOS has no call for it, and some file systems refuse it: there the file gets its length and no room.
    """
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(handle, 0, nbytes)
            return
        except OSError as error:
            if error.errno not in _NOT_OFFERED:
                raise
    os.ftruncate(handle, nbytes)


def filesystem_type(folder) -> str | None:
    """Name of the filesystem that holds ``folder`` as the system calls it, None where unknown."""
    where = Path(folder).resolve()
    try:
        mounts = [each for each in psutil.disk_partitions(all=True) if where.is_relative_to(each.mountpoint)]
    except OSError:
        return None
    # the innermost, and of several at one place the last
    return max(reversed(mounts), key=lambda mount: len(mount.mountpoint)).fstype if mounts else None


def direct_refusal(folder) -> str | None:
    """Why files in ``folder`` cannot bypass the page cache (O_DIRECT), or None if they can.

    A block is written and read there as experiments do it: some systems open such a file and then refuse every read.
    ``OSError`` where the folder takes no files at all.
    """
    if not hasattr(os, "O_DIRECT"):
        return "this operating system has no O_DIRECT"
    fstype = filesystem_type(folder)
    if fstype in IN_MEMORY:  # recent kernels accept the flag there and ignore it
        return f"its filesystem ({fstype}) is memory and has nothing to bypass"
    block = page_aligned((1, ALIGNMENT // 8))[0]
    with WorkFolder(folder, "direct-probe") as probe:
        (probe.path / "plain").write_bytes(bytes(ALIGNMENT))  # what refuses this, too, refuses more than O_DIRECT
        try:
            with contextlib.closing(BlockFile(probe.path / "direct", "direct", 1, ALIGNMENT)) as file:
                block.fill(1.0)
                file.write(0, memoryview(block).cast("B"))
                block.fill(0.0)
                file.read(0, memoryview(block).cast("B"))
        except OSError as error:
            return f"its filesystem ({fstype or 'of unknown type'}) does not take O_DIRECT: {error.strerror or error}"
        if not (block == 1.0).all():
            return f"its filesystem ({fstype or 'of unknown type'}) does not give back what O_DIRECT wrote"
    return None


def require_direct(folder) -> None:
    """``OSError`` with a remedy unless files in ``folder`` can be written and read with O_DIRECT."""
    reason = direct_refusal(folder)
    if reason:
        raise OSError(
            errno.EOPNOTSUPP,
            f"direct = True is not possible in {folder}: {reason}; use direct = False or a folder on a local disk",
        )


def drop_cache(path) -> None:
    """Write ``path`` back and drop its pages, so that the next read is cold.

    Does nothing without ``posix_fadvise``, where the system does not take this advice, or on a filesystem in memory.
    Dirty pages are not dropped, hence the fsync.
    """
    if hasattr(os, "posix_fadvise") and filesystem_type(os.path.dirname(path) or ".") not in IN_MEMORY:
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            with contextlib.suppress(OSError):  # a wish
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def page_aligned(shape: tuple[int, ...]) -> np.ndarray:
    """Zeros, of which rows of words begin on a page if a row is whole pages: what O_DIRECT asks for.

    From 2 MiB on they lie on huge pages where the system grants them: the kernel pins and maps a page at a time, and
    blocks of 3 MB were read past the page cache in about half the time.
    """
    items = math.prod(shape)
    if not can_advise():
        return zeros(shape, boundary=ALIGNMENT)
    policy = "huge" if 8 * items >= HUGE else "small"
    return allocate(max(items, ALIGNMENT // 8), np.float64, policy)[:items].reshape(shape)


class BlockFile:
    """``records`` records of ``nbytes`` at ``path``, which is new; "paced" moves ``rate`` bytes a second.

    A ``growing`` file gets its room record by record as it is written, others all of it now.
    """

    def __init__(self, path: Path, place: str, records: int, nbytes: int, rate: float = 0.0, growing: bool = False):
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
            if not growing:
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
