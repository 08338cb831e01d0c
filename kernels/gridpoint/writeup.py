"""Write-up files: a complete state, both time levels, for the post-processing job.

A header of one block of words (magic, version, ni, nj, levels, step, time in s, the CRC-32 of all rows), then one
record a row: u, v, T, q of X⁰, the same of X⁻, cloud water and radiative heating, [level][longitude] each; p_s of X⁰
and X⁻, Φ_s, surface temperature, fallen rain and wetness.  With 192 points, 15 levels and 96 rows that is 2.9
megawords.  The file is not pre-allocated: it grows as rows come, and is whole when it has its header.
"""

import os
import zlib
from pathlib import Path

import numpy as np

from supercomputers_rerun.kernels.contract import ceil_div
from supercomputers_rerun.kernels.files.filesystem import ALIGNMENT, page_aligned, pwrite_all
from supercomputers_rerun.kernels.gridpoint.plan import Extents, window_row
from supercomputers_rerun.kernels.gridpoint.problem import Problem

MAGIC, VERSION, HEADER = float(0x5832_0A17), 3.0, 512
NAMES = ("u", "v", "T", "q", "u_before", "v_before", "T_before", "q_before", "cloud", "heating")
LINES = ("ps", "ps_before", "phis", "surface", "rain", "wetness")


def row_form(ni: int, levels: int) -> np.dtype:
    """One row: fields (levels, ni) and lines (ni,) by name."""
    shapes = {name: (levels, ni) for name in NAMES} | {name: (ni,) for name in LINES}
    return np.dtype([(name, "<f8", shape) for name, shape in shapes.items()])


def in_window(window: np.ndarray, size: Extents) -> dict[str, np.ndarray]:
    """X⁰ and X⁻ of the rows of a ``window``, float64 (rows, words): views (rows, levels, ni), of p_s (rows, ni)."""
    found = {}
    for name, first in window_row.py_func(size, 0, 0)._asdict().items():
        if name in NAMES:
            levels = window[:, first : first + size.field].reshape(len(window), size.levels, size.pitch)
            found[name] = levels[:, :, : size.ni]
        elif name in LINES:
            found[name] = window[:, first : first + size.ni]
    return found


class Writer:
    """One write-up file, in rows from south to north."""

    def __init__(self, path: Path, problem: Problem, step: int):
        self.path = path
        self.form = row_form(problem.ni, problem.levels)
        self.block = np.empty(problem.lines, self.form)
        self.sum = 0
        self.header = np.zeros(HEADER)
        self.header[:7] = MAGIC, VERSION, problem.ni, problem.nj, problem.levels, step, step * problem.dt
        self.file = open(path, "wb", buffering=0)

    def rows(self, first: int, fields: dict[str, np.ndarray]) -> None:
        """Write rows ``first`` and on, of which ``fields`` has all fields."""
        block = self.block[: len(fields["ps"])]
        for name in self.form.names:
            block[name] = fields[name]
        data = block.view(np.uint8)
        self.sum = zlib.crc32(data, self.sum)
        pwrite_all(self.file.fileno(), data, self.header.nbytes + first * self.form.itemsize)

    def commit(self, fsync: bool) -> None:
        """Write the header; the device has the file then with ``fsync``."""
        self.header[7] = self.sum
        with self.file:
            pwrite_all(self.file.fileno(), self.header, 0)
            if fsync:
                os.fsync(self.file.fileno())


def room(rows: int, ni: int, levels: int) -> np.ndarray:
    """What ``read`` needs for as many rows past the page cache."""
    return page_aligned((1, rows * row_form(ni, levels).itemsize // 8 + 2 * ALIGNMENT // 8))[0].view(np.uint8)


def _past_cache(path, start: int, count: int, into: np.ndarray) -> np.ndarray:
    """``count`` bytes of a file from ``start`` on, whole blocks around them read ``into`` a :func:`room`."""
    begin = start // ALIGNMENT * ALIGNMENT
    nbytes = ceil_div(start + count - begin, ALIGNMENT) * ALIGNMENT
    handle = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        got = os.preadv(handle, [memoryview(into)[:nbytes]], begin)
    finally:
        os.close(handle)
    return into[start - begin : min(start - begin + count, got)]


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
    form, last = row_form(ni, levels), nj if end is None else min(end, nj)
    count, start = (last - first) * form.itemsize, 8 * HEADER + first * form.itemsize
    if into is None:
        data = np.fromfile(path, np.uint8, count, offset=start)
    else:
        data = _past_cache(path, start, count, into)
    if data.size != count:
        raise OSError(f"{path} has no rows up to {last}: it was cut off; use another")
    if last - first == nj and zlib.crc32(data) != words[7]:
        raise OSError(f"{path} does not fit its checksum: it is damaged; use another write-up")
    rows = data.view(form)
    return {name: rows[name] for name in form.names}, header
