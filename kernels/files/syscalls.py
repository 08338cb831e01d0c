"""Loops of system calls made from compiled code.

An interpreter between two small calls would be timed with them, and its lock would let only one
thread at a time prepare the next call.
"""

import time

import numpy as np
from numba.core import types

from supercomputers_rerun.kernels.runtime.jit import kernel

__all__ = ["seek_calls", "touch_files", "write_calls", "write_column"]

_write = types.ExternalFunction("write", types.intp(types.int32, types.uintp, types.uintp))
_read = types.ExternalFunction("read", types.intp(types.int32, types.uintp, types.uintp))
_lseek = types.ExternalFunction("lseek", types.int64(types.int32, types.int64, types.int32))
_open = types.ExternalFunction("open", types.int32(types.uintp, types.int32))
_close = types.ExternalFunction("close", types.int32(types.int32))
_clock_gettime = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.uintp))
_SEEK_SET, _SEEK_CUR = 0, 1
_CLOCK = np.int32(getattr(time, "CLOCK_MONOTONIC", 1))  # which Windows does not have


@kernel
def write_column(handle, address, count, nbytes, stride):
    """``count`` elements of ``nbytes`` bytes from ``address`` on, ``stride`` bytes apart in memory and in the file.

    The first goes where ``handle`` stands: 40 bytes, a seek, 40 bytes …, as a program with a 1-D
    decomposition writes U.  Returns the number written; fewer than ``count`` if a call failed or
    wrote less than asked.
    """
    for n in range(np.uint64(count)):
        if _write(handle, address + n * np.uint64(stride), np.uint64(nbytes)) != nbytes:
            return np.int64(n)
        if _lseek(handle, stride - nbytes, np.int32(_SEEK_CUR)) < 0:
            return np.int64(n)
    return np.int64(count)


@kernel
def write_calls(handle, address, nbytes, count):
    """``count`` writes of the ``nbytes`` bytes at ``address``, from where ``handle`` stands; how many wrote all."""
    done = 0
    for _ in range(np.uint64(count)):
        done += _write(handle, address, np.uint64(nbytes)) == nbytes
    return done


@kernel
def seek_calls(handle, count):
    """``count`` seeks to the file's first byte and its second in turn; how many arrived there."""
    done = 0
    for number in range(np.int64(count)):
        done += _lseek(handle, number & 1, np.int32(_SEEK_SET)) == number & 1
    return done


@kernel
def monotonic(moment):
    """Seconds of the system's monotonic clock, float64, by way of ``moment``, int64 (2,)."""
    _clock_gettime(_CLOCK, np.uint64(moment.ctypes.data))
    return moment[0] + 1e-9 * moment[1]


@kernel
def touch_files(names, tasks, latency, buffer):
    """``tasks`` times: open each file of ``names``, read it to its end, close it.

    ``names``, uint8 (files, longest): paths, each closed by a zero byte; ``latency``: seconds that each open takes at
    least, since where a local file system answers sooner, the processor waits; ``buffer``, uint8 (n,): where the bytes
    go, n at a time.  Returns the number of calls, or -1 as soon as a file could not be opened or read.
    """
    calls, address, nbytes = 0, np.uint64(buffer.ctypes.data), np.uint64(buffer.size)
    moment = np.empty(2, np.int64)
    for _ in range(np.uint64(tasks)):
        for f in range(np.uint64(names.shape[0])):
            begin = monotonic(moment)
            handle = _open(np.uint64(names[f].ctypes.data), np.int32(0))
            while latency > 0 and monotonic(moment) - begin < latency:
                pass
            got = 1
            while got > 0 and handle >= 0:
                got = _read(handle, address, nbytes)
                calls += 1
            if handle < 0 or got < 0 or _close(handle):
                return -1
            calls += 2
    return calls
