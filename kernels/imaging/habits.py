"""Data in pieces of 64 Kwords, by way of scratch files, past the system's memory of files.

The memo's pseudo array processor held 64 Kwords, so an image or a set of visibilities came from its file, went to a
scratch file, came back, and its product left piece by piece.  Here a file that is written is waited for until the
device has it, where the X-MPs wrote asynchronously, and the page cache is asked to let go of a file before it is read,
where the system offers that.
"""

import contextlib
import ctypes
import math
import os
from pathlib import Path

import numpy as np

from supercomputers_rerun.kernels.files.filesystem import drop_cache, write_all

#: Bytes of a piece: 64 Kwords of 8 bytes.
PIECE = 65536 * 8


def put(array, path: Path) -> None:
    """Write ``array`` in pieces and wait for the device; the page cache may let go of it then."""
    data = memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
    with open(path, "wb", buffering=0) as file:
        for first in range(0, len(data), PIECE):
            write_all(file.fileno(), data[first : first + PIECE])
        os.fsync(file.fileno())
    drop_cache(path)


def fetch(path: Path) -> np.ndarray:
    """The bytes of a file, uint8, read in pieces. ``OSError`` where the file became shorter meanwhile."""
    data, done = np.empty(path.stat().st_size, np.uint8), 0
    with open(path, "rb", buffering=0) as file:
        while got := file.readinto(memoryview(data)[done : done + PIECE]):
            done += got
    if done < data.size:
        raise OSError(f"the file {path.name} ends at byte {done} of {data.size}; run it again")
    return data


def through_scratch(path: Path, scratch: Path) -> np.ndarray:
    """The bytes of ``path`` as they come back from a scratch file, which goes afterwards."""
    data = fetch(fetched(path, scratch))
    scratch.unlink()
    return data


def fetched(path: Path, local: Path) -> Path:
    """A copy of ``path`` at ``local``, to be read from there."""
    drop_cache(path)
    put(fetch(path), local)
    return local


def held(which: str = "VmRSS") -> float:
    """Bytes of memory that this process holds, or with "VmHWM" the most since it was asked for what it holds.

    Asked for that, it first gives back what it has set free, and forgets earlier peaks; NaN where there is no /proc.
    """
    status = Path("/proc/self/status")
    if not status.is_file():
        return math.nan
    if which == "VmRSS":
        with contextlib.suppress(AttributeError):  # of the GNU C library alone
            ctypes.CDLL(None).malloc_trim(0)
        try:
            Path("/proc/self/clear_refs").write_text("5")
        except OSError:  # a container may keep it: then the peak is that of all that was before
            return math.nan
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
    return 1024.0 * int(lines[which].split()[0]) if which in lines else math.nan
