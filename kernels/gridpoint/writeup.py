"""Write-up files: a complete state, both time levels, for the post-processing job.

A header of one block of words (magic, version, ni, nj, levels, step, time in s, the CRC-32 of all rows), then one
record a row: u, v, T, q of X⁰, the same of X⁻, cloud water and radiative heating, [level][longitude] each; p_s of X⁰
and X⁻, Φ_s, surface temperature, fallen rain and wetness.  With 192 points, 15 levels and 96 rows that is 2.9
megawords.  The file is not pre-allocated: it grows as rows come, and is whole when it has its header.
"""

import os
import time
import zlib
from pathlib import Path

import numpy as np

from kernels.files.filesystem import ALIGNMENT, page_aligned, pwrite_all
from kernels.gridpoint.plan import BEFORE, FIELDS, HALO, Extents

MAGIC, VERSION, HEADER = float(0x5832_0A17), 3.0, 512
NAMES = ("u", "v", "T", "q", "u_before", "v_before", "T_before", "q_before", "cloud", "heating")
LINES = ("ps", "ps_before", "phis", "surface", "rain", "wetness")


def row_words(ni: int, levels: int) -> int:
    """Words of one row."""
    return (len(NAMES) * levels + len(LINES)) * ni


def file_words(ni: int, nj: int, levels: int) -> int:
    """Words of one file."""
    return HEADER + nj * row_words(ni, levels)


def fields_of(rows: np.ndarray, ni: int, levels: int) -> dict[str, np.ndarray]:
    """Views of the fields (n, levels, ni) and lines (n, ni) of rows float64 (n, words)."""
    at = levels * ni * np.arange(len(NAMES) + 1)
    fields = {name: rows[:, o : o + levels * ni].reshape(-1, levels, ni) for name, o in zip(NAMES, at, strict=False)}
    return fields | {name: rows[:, at[-1] + n * ni : at[-1] + (n + 1) * ni] for n, name in enumerate(LINES)}


def in_window(window: np.ndarray, rows: np.ndarray, size: Extents) -> dict[str, np.ndarray]:
    """Copies of X⁰, X⁻ of whole ``rows``, int64 (n,), in the flat ``window``: fields (n, levels, ni), p_s (n, ni)."""
    found, lines = window.reshape(size.ring, size.row), FIELDS * size.field
    places, inside, fields = rows % size.ring, slice(HALO, HALO + size.ni), {}
    for names, first in ((NAMES[:4], 0), (NAMES[4:8], BEFORE * size.field)):
        part = found[places, first : first + 4 * size.field].reshape(len(rows), 4, size.levels, size.pitch)
        fields |= {name: part[:, n, :, inside] for n, name in enumerate(names)}
    ps = found[places, lines + size.pitch : lines + 3 * size.pitch].reshape(len(rows), 2, size.pitch)[..., inside]
    return fields | {"ps": ps[:, 0], "ps_before": ps[:, 1]}


class Writer:
    """One write-up file, in rows from south to north."""

    def __init__(self, path: Path, ni: int, nj: int, levels: int, step: int, time: float):
        self.path, self.ni, self.levels, self.sum = path, ni, levels, 0
        self.header = np.zeros(HEADER)
        self.header[:7] = MAGIC, VERSION, ni, nj, levels, step, time
        self.file = open(path, "wb", buffering=0)

    def rows(self, first: int, fields: dict[str, np.ndarray]) -> float:
        """Write rows ``first`` and on, of which ``fields`` has all fields; seconds that it took."""
        begin = time.perf_counter()
        block = np.empty((len(fields["ps"]), row_words(self.ni, self.levels)))
        for name, part in fields_of(block, self.ni, self.levels).items():
            part[:] = fields[name]
        self.sum = zlib.crc32(block, self.sum)
        pwrite_all(self.file.fileno(), block, self.header.nbytes + first * block[0].nbytes)
        return time.perf_counter() - begin

    def commit(self, fsync: bool) -> None:
        """Write the header; the device has the file then with ``fsync``."""
        self.header[7] = self.sum
        with self.file:
            pwrite_all(self.file.fileno(), self.header, 0)
            if fsync:
                os.fsync(self.file.fileno())


def room(rows: int, ni: int, levels: int) -> np.ndarray:
    """What ``read`` needs for as many rows past the page cache."""
    return page_aligned((1, rows * row_words(ni, levels) + 2 * ALIGNMENT // 8))[0]


def _past_cache(path, first: int, count: int, into: np.ndarray) -> np.ndarray:
    """``count`` words of a file from word ``first`` on, whole blocks around them read ``into`` a :func:`room`."""
    begin = 8 * first // ALIGNMENT * ALIGNMENT
    nbytes = -(-(8 * (first + count) - begin) // ALIGNMENT) * ALIGNMENT
    handle = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        got = os.preadv(handle, [memoryview(into).cast("B")[:nbytes]], begin)
    finally:
        os.close(handle)
    at = first - begin // 8
    return into[at : min(at + count, got // 8)]


def read(path, first: int = 0, end: int | None = None, into=None) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Fields (n, levels, ni) and lines (n, ni) of rows ``first`` to ``end`` − 1, or of all, and what the header says.

    Given a :func:`room` ``into`` which rows are read, they come past the page cache.
    ``OSError`` if the file is missing, cut off or foreign, or damaged where it is read as a whole.
    """
    words = np.fromfile(path, np.float64, HEADER)
    if words.size < HEADER or words[0] != MAGIC or words[1] != VERSION:
        raise OSError(f"{path} is not a write-up file of this version; give one that a forecast wrote")
    ni, nj, levels = (int(value) for value in words[2:5])
    header = {"ni": ni, "nj": nj, "levels": levels, "step": int(words[5]), "time": float(words[6])}
    header["sum"] = int(words[7])
    each, last = row_words(ni, levels), nj if end is None else min(end, nj)
    count, start = (last - first) * each, HEADER + first * each
    if into is None:
        rows = np.fromfile(path, np.float64, count, offset=8 * start)
    else:
        rows = _past_cache(path, start, count, into)
    if rows.size != count:
        raise OSError(f"{path} has no rows up to {last}: it was cut off; use another")
    if last - first == nj and zlib.crc32(rows) != words[7]:
        raise OSError(f"{path} does not fit its checksum: it is damaged; use another write-up")
    return fields_of(rows.reshape(-1, each), ni, levels), header
