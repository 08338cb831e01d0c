"""Record of one row of latitude in the work files: two halves of whole blocks, eight-byte words.

==============================  =======================================================================
half A                          64 words of header, then P of u, v, T, q; D; radiative heating, each
                                [level][longitude]; then rows of longitude: P of p_s, Φ_s, surface temperature
half B                          Q of u, v, T, q; cloud water, ω; then Q of p_s, fallen rain, wetness; and
                                the same header in the last 64 words
==============================  =======================================================================

P + c and Q + ε c are the two time levels once the semi-implicit correction c of the step is known
(``rows``); D is the divergence of the explicit step.  With 192 points and 15 levels a half has exactly
35 blocks of 512 words and no spare place but in its header.

Words are little-endian float64.  The header begins with a magic number, the layout's version, row and step; a
record whose headers do not say what was asked for was torn or lost.
"""

import numpy as np

from kernels.runtime.jit import kernel

BLOCK = 512  # words
HEADER = 64  # words
MAGIC = float(0x5832_1982)
VERSION = 1.0
#: Fields [level][longitude] of a half, in their order, and rows [longitude].
FIELDS_A = ("P_u", "P_v", "P_T", "P_q", "D", "heating")
ROWS_A = ("P_ps", "phis", "surface")
FIELDS_B = ("Q_u", "Q_v", "Q_T", "Q_q", "cloud", "omega")
ROWS_B = ("Q_ps", "rain", "wetness")


def half_words(ni: int, levels: int) -> int:
    """Words of half a record, in whole blocks."""
    words = HEADER + (6 * levels + 3) * ni
    return -(-words // BLOCK) * BLOCK


def record_words(ni: int, levels: int) -> int:
    """Words of a record."""
    return 2 * half_words(ni, levels)


def places(ni: int, levels: int) -> dict[str, tuple[int, tuple[int, ...]]]:
    """Of every field its first word in the record and its shape."""
    found, size = {}, levels * ni
    for fields, rows, start in (
        (FIELDS_A, ROWS_A, HEADER),
        (FIELDS_B, ROWS_B, half_words(ni, levels)),
    ):
        for name in fields:
            found[name] = start, (levels, ni)
            start += size
        for name in rows:
            found[name] = start, (ni,)
            start += ni
    return found


def views(records: np.ndarray, ni: int, levels: int) -> dict[str, np.ndarray]:
    """The fields of many records, float64 (rows, words), as arrays (rows, levels, ni) or (rows, ni)."""
    return {
        name: records[:, start : start + int(np.prod(shape))].reshape(len(records), *shape)
        for name, (start, shape) in places(ni, levels).items()
    }


@kernel
def stamp_rows(records, first, end, step):
    """The headers of rows ``first`` to ``end`` − 1 after ``step``, each in its slot of ``records``, float64 (slots,
    words)."""
    slots, words = records.shape
    for row in range(first, end):
        for start in (0, words - HEADER):
            header = records[row % slots, start:]
            header[0], header[1], header[2], header[3] = MAGIC, VERSION, row, step


@kernel
def wrong_row(records, first, end, step):
    """The first of the rows ``first`` to ``end`` − 1 whose headers are not those of ``stamp_rows``, with its
    ``records`` and ``step``; −1 if there is none."""
    slots, words = records.shape
    for row in range(first, end):
        for start in (0, words - HEADER):
            header = records[row % slots, start:]
            if header[0] != MAGIC or header[1] != VERSION or header[2] != row or header[3] != step:
                return row
    return -1


def stamp(records: np.ndarray, first: int, step: int) -> None:
    """Write both headers of records float64 (rows, words) of the rows from ``first`` on."""
    for header in (records[:, :4], records[:, -HEADER : -HEADER + 4]):
        header[:, 0], header[:, 1], header[:, 3] = MAGIC, VERSION, step
        header[:, 2] = np.arange(first, first + len(records))


def require_stamps(records: np.ndarray, first: int, step: int, where: str) -> None:
    """``OSError`` that names the row unless both headers of every record are those of ``stamp``."""
    rows = np.arange(first, first + len(records))
    for half, header in (("first", records[:, :4]), ("second", records[:, -HEADER : -HEADER + 4])):
        good = (header[:, 0] == MAGIC) & (header[:, 1] == VERSION) & (header[:, 2] == rows) & (header[:, 3] == step)
        if not good.all():
            row = int(rows[np.argmin(good)])
            raise OSError(
                f"the {half} half of row {row} in {where} is not the one written for step {step}: the work file was "
                "overwritten or damaged; start again from the last write-up"
            )
