"""Reads and writes at a place of a file, also where the system has no such call (Windows).

There the file's own position is moved and put back under a lock: right, and no way to measure side by side.
"""

import os
import threading

_LOCK = threading.Lock()


def _at(handle: int, offset: int, call, *arguments):
    """``call(handle, …)`` at ``offset``; the position of the file is then as before."""
    with _LOCK:
        before = os.lseek(handle, 0, os.SEEK_CUR)
        os.lseek(handle, offset, os.SEEK_SET)
        try:
            return call(handle, *arguments)
        finally:
            os.lseek(handle, before, os.SEEK_SET)


def _read(handle: int, nbytes: int, offset: int) -> bytes:
    return _at(handle, offset, os.read, nbytes)


def _write(handle: int, data, offset: int) -> int:
    return _at(handle, offset, os.write, data)


#: ``read(handle, nbytes, offset)`` gives bytes, at most so many; ``write(handle, data, offset)`` how many it took.
read = getattr(os, "pread", _read)
write = getattr(os, "pwrite", _write)


def _fill(handle: int, data, offset: int) -> int:
    found = read(handle, memoryview(data).nbytes, offset)
    memoryview(data).cast("B")[: len(found)] = found
    return len(found)


def _vector(handle: int, data, offset: int) -> int:
    return os.preadv(handle, [data], offset)


#: ``fill(handle, data, offset)`` reads into ``data``, contiguous, and says how many bytes came: 0 at the file's end.
fill = _vector if hasattr(os, "preadv") else _fill
