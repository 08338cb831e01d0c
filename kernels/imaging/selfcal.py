"""ASCAL: complex gains of the antennas from a model of the source (self-calibration).

For every solution interval the gains g minimise

    Σ_ij w |V_ij − g_i g_j* M_ij|²

where V are the visibilities and M those of the model.  With X_ij = Σ w V_ij M_ij* and
P_ij = Σ w |M_ij|² over the interval, each gain has the closed form g_i = Σ_j X_ij g_j / Σ_j P_ij |g_j|²
while the others are held; every second step takes the mean of the last two (Mitchell et al. 2008,
Salvini and Wijnholds 2014).  Phases refer to one antenna.
"""

from typing import NamedTuple

import numpy as np

from kernels.contract import require_range
from kernels.imaging.array import ANTENNAS, IM, RE, TIME, WEIGHT, require_form
from kernels.imaging.sky import antenna_numbers, interval_numbers
from kernels.runtime.jit import CONTRACT, REDUCE, kernel
from kernels.runtime.threads import run_parts


class Solution(NamedTuple):
    """Gains, and how they were found."""

    gains: np.ndarray  # complex128 (intervals, 27)
    steps: np.ndarray  # int64 (intervals,): steps that each took
    change: np.ndarray  # float64 (intervals,): relative change of the last step


@kernel(fastmath=CONTRACT)
def _accumulate(records, model, first, second, when, x, y, p):
    """Sums of w V M*, real parts ``x`` and imaginary ``y``, and of w |M|², ``p``, both ways round, each (intervals, 27,
    27).

    ``records``, float32 (n, 8); ``model``, complex (n,): M; ``first``, ``second``, ``when``, int (n,): antennas and
    interval.
    """
    for n in range(np.uint64(records.shape[0])):
        weight = np.float64(records[n, np.uint64(WEIGHT)])
        if not weight > 0:
            continue
        vr, vi = np.float64(records[n, np.uint64(RE)]), np.float64(records[n, np.uint64(IM)])
        mr, mi = np.float64(model[n].real), np.float64(model[n].imag)
        re, im = weight * (vr * mr + vi * mi), weight * (vi * mr - vr * mi)
        power = weight * (mr * mr + mi * mi)
        t, i, j = when[n], first[n], second[n]
        x[t, i, j] += re
        x[t, j, i] += re
        y[t, i, j] += im
        y[t, j, i] -= im
        p[t, i, j] += power
        p[t, j, i] += power


@kernel(fastmath=REDUCE)
def _step(x, y, p, re, im, share):
    """Take the gains ``re`` + i ``im`` of one interval a ``share`` of the way to their closed form; relative change.

    ``x``, ``y``, ``p``: its sums of :func:`_accumulate`.  An antenna without data gets 1.
    """
    a, b = re.copy(), im.copy()
    moved = size = 0.0
    for i in range(a.size):
        above, beside, below = 0.0, 0.0, 0.0
        for j in range(a.size):
            above += x[i, j] * a[j] - y[i, j] * b[j]
            beside += x[i, j] * b[j] + y[i, j] * a[j]
            below += p[i, j] * (a[j] * a[j] + b[j] * b[j])
        known = below > 0
        dr = share * ((above / below if known else 1.0) - a[i])
        di = share * ((beside / below if known else 0.0) - b[i])
        re[i], im[i] = a[i] + dr, b[i] + di
        moved, size = moved + dr * dr + di * di, size + re[i] * re[i] + im[i] * im[i]
    return np.sqrt(moved / size)


@kernel
def _solve(sums, gains, limit, most, steps, change, threads, thread):
    """The gains of every ``threads``-th interval from ``thread`` on, in place: ``gains``, float64 (intervals, 2, 27).

    ``sums``: x, y and p of :func:`_accumulate`.  An interval ends after ``most`` steps, or once a mean of two
    changes by less than ``limit``; ``steps`` and ``change`` as in :class:`Solution`.
    """
    x, y, p = sums
    for t in range(thread, gains.shape[0], threads):
        for step in range(most):
            change[t] = _step(x[t], y[t], p[t], gains[t, 0], gains[t, 1], 0.5 if step % 2 else 1.0)
            steps[t] = step + 1
            if step % 2 and change[t] < limit:
                break


def sums(records: np.ndarray, model: np.ndarray, intervals: int):
    """Real and imaginary part of X, and P, each float64 (intervals, 27, 27).

    ``records``: float32 (n, 8); ``model``: complex (n,), visibilities of the model.  ``ValueError``: antennas or times
    that are none.
    """
    records = require_form(records)
    require_range("intervals", intervals, 1, 2**20)
    if np.shape(model) != (len(records),):
        raise ValueError(f"model of shape {np.shape(model)} must have a value for each of {len(records)} visibilities")
    x, y, p = np.zeros((3, intervals, ANTENNAS, ANTENNAS))
    first, second = antenna_numbers(records)
    for numbers in (first, second):
        if numbers.min() < 0 or numbers.max() >= ANTENNAS:
            raise ValueError(f"a baseline names no antennas from 1 to {ANTENNAS}; the column BASELINE is 256 a + b")
    if not np.isfinite(records[:, TIME]).all():
        raise ValueError("the time of a visibility is not finite; leave the record out")
    _accumulate(records, model, first, second, interval_numbers(records, intervals), x, y, p)
    return x, y, p


def _referred(gains: np.ndarray, steps, change) -> Solution:
    """Phases relative to the first antenna."""
    return Solution(gains * (gains[:, :1].conj() / np.abs(gains[:, :1])), steps, change)


def solve(x, y, p, threads: int = 1, limit: float = 1e-9, most: int = 200) -> Solution:
    """Gains from the sums of :func:`sums`, phases relative to the first antenna."""
    require_range("most", most, 1, 10**6)
    gains = np.zeros((len(x), 2, ANTENNAS))
    gains[:, 0] = 1
    steps, change = np.zeros(len(x), np.int64), np.zeros(len(x))
    run_parts(_solve, threads, (x, y, p), gains, limit, most, steps, change, threads)
    return _referred(gains[:, 0] + 1j * gains[:, 1], steps, change)


def plain(x, y, p, limit: float = 1e-9, most: int = 200) -> Solution:
    """The same in NumPy, all intervals at once: each takes as many steps as the slowest."""
    matrix, gains = x + 1j * y, np.ones(x.shape[:2], complex)
    for step in range(most):
        below = np.einsum("tij,tj->ti", p, np.abs(gains) ** 2)
        new = np.einsum("tij,tj->ti", matrix, gains) / np.where(below > 0, below, 1)
        new[below <= 0] = 1
        if step % 2:
            new = 0.5 * (new + gains)
        change = np.linalg.norm(new - gains, axis=1) / np.linalg.norm(new, axis=1)
        gains = new
        if step % 2 and change.max() < limit:
            break
    return _referred(gains, np.full(len(gains), step + 1), change)


def apply(records: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """Records, float32 (n, 8), with V_ij divided by g_i g_j* of their interval; ``gains`` complex (intervals, 27)."""
    first, second = antenna_numbers(records)
    when = interval_numbers(records, len(gains))
    factor = gains[when, first] * gains[when, second].conj()
    data = (records[:, RE] + 1j * records[:, IM]) / factor
    out = records.copy()
    out[:, RE], out[:, IM] = data.real, data.imag
    out[:, WEIGHT] *= np.abs(factor) ** 2
    return out
