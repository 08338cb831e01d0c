"""How a task of AIPS moved its data: in pieces of 64 Kwords, through scratch files, past the system's memory of files.

The memo's pseudo array processor held 64 Kwords, so an image or a set of visibilities came from its file, went to a
scratch file, came back, and its product left piece by piece.  Here every write is waited for until the device has it,
and the page cache is asked to let go of a file before it is read, where the system offers that.
"""

import os
from pathlib import Path

import numpy as np

from kernels.files.filesystem import drop_cache, pwrite_all

#: Bytes of a piece: 64 Kwords of 8 bytes.
PIECE = 65536 * 8


def put(array, path: Path) -> bool:
    """Write ``array`` in pieces and wait for the device; whether the page cache then let go of it."""
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        for first in range(0, data.size, PIECE):
            pwrite_all(handle, data[first : first + PIECE], first)
        os.fsync(handle)
    finally:
        os.close(handle)
    return drop_cache(path)


def fetch(path: Path) -> np.ndarray:
    """The bytes of a file, uint8, read in pieces. ``OSError`` where the file became shorter meanwhile."""
    data = np.empty(path.stat().st_size, np.uint8)
    handle = os.open(path, os.O_RDONLY)
    try:
        for first in range(0, data.size, PIECE):
            piece, done = data[first : first + PIECE], 0
            while done < piece.size:
                got = os.preadv(handle, [piece[done:]], first + done)
                if got <= 0:
                    raise OSError(f"the file {path.name} ends at byte {first + done} of {data.size}; run it again")
                done += got
    finally:
        os.close(handle)
    return data


def through_scratch(path: Path, scratch: Path) -> np.ndarray:
    """The bytes of ``path`` as they come back from a scratch file, which goes afterwards."""
    drop_cache(path)
    put(fetch(path), scratch)
    data = fetch(scratch)
    scratch.unlink()
    return data


def fetched(path: Path, local: Path) -> Path:
    """A copy of ``path`` on the local disk, to be read from there."""
    drop_cache(path)
    put(fetch(path), local)
    return local
