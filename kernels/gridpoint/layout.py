"""Where the numbers of a forecast lie: rows in the window, records of the work files, and what else a run holds.

A row of latitude passes several stages (``rows``), between which it lies in the window: fields [level][longitude]
with ``HALO`` places on either side of each level, then rows of longitude.  ``window_row`` and ``record_row`` give the
place of everything by name, which is how the stages find it.

The record of a row in the work files is two halves of whole blocks of eight-byte words:

==============================  =======================================================================
half A                          64 words of header, then P of u, v, T, q; D; radiative heating, each
                                [level][longitude]; then rows of longitude: P of p_s, Φ_s, surface temperature
half B                          Q of u, v, T, q; cloud water, ω; then Q of p_s, fallen rain, wetness; and
                                the same header in the last 64 words
==============================  =======================================================================

P + c and Q + ε c are the two time levels once the semi-implicit correction c of the step is known; D is the
divergence of the explicit step.  With 192 points and 15 levels a half has exactly 35 blocks of 512 words and no spare
place but in its header.  Words are little-endian float64.  The header begins with a magic number, the layout's
version, row and step; a record whose headers do not say what was asked for was torn or lost.

In all stages ``plan`` is the ``plan.ForecastPlan`` of the run, ``arrays`` its ``ForecastArrays``, ``size`` its
``Extents``, ``t`` the number of the thread, ``j`` that of a row from south to north, ``k`` that of a level; ``w`` is
an array of float64, ``o`` a place in it and ``ni`` the points of one of its rows.
"""

from typing import NamedTuple

import numpy as np

from kernels.runtime.jit import kernel
from kernels.runtime.vector import LANES, load, store

HALO = 8  # places on either side of a row in memory, for neighbours across the date line
#: The real and the imaginary parts of a vector: sixteen rows of longitude, or modes, side by side.
PAIR = 2 * LANES
BLOCK, HEADER = 512, 64  # words
MAGIC, VERSION = float(0x5832_1982), 1.0


class Extents(NamedTuple):
    """Counts and distances, in doubles where nothing else is said."""

    ni: int
    nj: int
    levels: int
    pitch: int  # between levels in the window
    field: int  # of a field in the window
    row: int  # of all fields of one row in the window
    ring: int  # rows of the window
    slots: int  # records in memory
    halves: int  # rows of right-hand sides in memory
    half: int  # of half a record
    groups: int  # of sixteen modes
    tendency: int  # rows of longitude of one field's tendency, a multiple of sixteen
    fourier: int  # where the Fourier transform's work space begins in a thread's scratch


class ForecastArrays(NamedTuple):
    """Memory of a run; all float64, C-contiguous."""

    window: np.ndarray  # (ring · row,): rows of the window
    records: np.ndarray  # (slots, words): records of the rows that are in memory
    G: np.ndarray  # (nj, K, pitch): the implicit correction's potential of the step before
    halves: np.ndarray  # (halves, ni/2 + 1, groups, 4, 8): right-hand sides in wavenumber space
    scratch: np.ndarray  # (threads, words)


class WindowRow(NamedTuple):
    """First number of each field of a row in the window, at one level; of the rows of longitude behind the fields.

    Yᵉ takes the place of X⁻, which nothing reads once its own row has made its explicit step.
    """

    u: int  # X⁰
    v: int
    T: int
    q: int
    u_bend: int  # second differences of X⁻ in latitude
    v_bend: int
    T_bend: int
    q_bend: int
    flux_u: int  # p_s u
    flux_v: int  # p_s v cosφ
    sinking: int  # ṁ below the level
    head: int  # K + Φ
    eta: int  # (f + ζ)/p_s of the south face
    conversion: int  # κ T ω/p but for what moves along σ
    u_before: int  # X⁻
    v_before: int
    T_before: int
    q_before: int
    u_change: int  # Yᵉ, where X⁻ was
    v_change: int
    T_change: int
    divergence: int  # of Yᵉ
    ps_change: int  # rows of longitude; the first belongs to Yᵉ and follows its divergence
    ps: int
    ps_before: int
    log_ps: int
    ps_rate: int  # −Σ D Δσ


#: Of these, fields [level][longitude] and rows of longitude; the number of the first field of X⁻.
FIELDS, LINES, BEFORE = 18, 5, 14


class RecordRow(NamedTuple):
    """First word of each field in a record, at one level; of its rows of longitude."""

    P_u: int
    P_v: int
    P_T: int
    P_q: int
    D: int
    heating: int
    P_ps: int
    phis: int
    surface: int
    Q_u: int
    Q_v: int
    Q_T: int
    Q_q: int
    cloud: int
    omega: int
    Q_ps: int
    rain: int
    wetness: int


@kernel(inline=True)
def window_row(size, j, k):
    """The ``WindowRow`` of row ``j`` at level ``k``."""
    start, f, p = (j % size.ring) * size.row + HALO, size.field, size.pitch
    o, line = start + k * p, start + FIELDS * f
    before = o + BEFORE * f
    return WindowRow(
        *(o, o + f, o + 2 * f, o + 3 * f, o + 4 * f, o + 5 * f, o + 6 * f, o + 7 * f),
        *(o + 8 * f, o + 9 * f, o + 10 * f, o + 11 * f, o + 12 * f, o + 13 * f),
        *(before, before + f, before + 2 * f, before + 3 * f),
        *(before, before + f, before + 2 * f, before + 3 * f),
        *(line, line + p, line + 2 * p, line + 3 * p, line + 4 * p),
    )


@kernel(inline=True)
def record_row(size, k):
    """The ``RecordRow`` of level ``k``."""
    f, ni = size.levels * size.ni, size.ni
    a, b = HEADER + k * ni, size.half + k * ni
    c, d = HEADER + 6 * f, size.half + 6 * f
    return RecordRow(
        *(a, a + f, a + 2 * f, a + 3 * f, a + 4 * f, a + 5 * f, c, c + ni, c + 2 * ni),
        *(b, b + f, b + 2 * f, b + 3 * f, b + 4 * f, b + 5 * f, d, d + ni, d + 2 * ni),
    )


@kernel(inline=True)
def neighbours(size, j):
    """Numbers of the rows to the south and to the north; at a pole of the row itself."""
    return max(j - 1, 0), min(j + 1, size.nj - 1)


@kernel(inline=True)
def wrap(w, o, ni):
    """Repeat both ends of the row at ``o``: neighbours across the date line."""
    store(w, o + ni, load(w, o))
    store(w, o - HALO, load(w, o + ni - HALO))


def half_words(ni: int, levels: int) -> int:
    """Words of half a record, in whole blocks."""
    return -(-(HEADER + (6 * levels + 3) * ni) // BLOCK) * BLOCK


def record_words(ni: int, levels: int) -> int:
    """Words of a record."""
    return 2 * half_words(ni, levels)


def views(records: np.ndarray, size: Extents) -> dict[str, np.ndarray]:
    """The fields of many records, float64 (rows, words), as arrays (rows, levels, ni) or (rows, ni)."""
    found = {}
    for n, (name, start) in enumerate(record_row.py_func(size, 0)._asdict().items()):
        shape = (size.levels, size.ni) if n % 9 < 6 else (size.ni,)
        found[name] = records[:, start : start + int(np.prod(shape))].reshape(len(records), *shape)
    return found


@kernel
def stamp_rows(records, first, end, step):
    """Write the headers of rows ``first`` to ``end`` − 1 after ``step``, each in its slot of ``records``, float64
    (slots, words)."""
    slots, words = records.shape
    for row in range(first, end):
        for start in (0, words - HEADER):
            header = records[row % slots, start:]
            header[0], header[1], header[2], header[3] = MAGIC, VERSION, row, step


@kernel
def wrong_half(records, first, end, step):
    """Twice the first of the rows ``first`` to ``end`` − 1 whose headers are not those of ``stamp_rows`` with its
    ``records`` and ``step``, and 1 more if only the second is wrong; −1 if there is none."""
    slots, words = records.shape
    for row in range(first, end):
        for half in range(2):
            header = records[row % slots, half * (words - HEADER) :]
            if header[0] != MAGIC or header[1] != VERSION or header[2] != row or header[3] != step:
                return 2 * row + half
    return -1


def require_stamps(records: np.ndarray, first: int, end: int, step: int) -> None:
    """``OSError`` that names the row unless both headers of rows ``first`` to ``end`` − 1 are those of ``step``."""
    if (wrong := wrong_half(records, first, end, step)) >= 0:
        raise OSError(
            f"the {('first', 'second')[wrong % 2]} half of row {wrong // 2} in the work files is not the one written "
            f"for step {step}: the work file was overwritten or damaged; start again from the last write-up"
        )
