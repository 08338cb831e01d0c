"""ASCAL: complex gains of the antennas from a model of the source (self-calibration).

For every solution interval the gains g minimise

    Σ_ij w |V_ij − g_i g_j* M_ij|²

where V are the visibilities and M those of the model.  With X_ij = Σ w V_ij M_ij* and
P_ij = Σ w |M_ij|² over the interval, each gain has the closed form g_i = Σ_j X_ij g_j / Σ_j P_ij |g_j|²
while the others are held; every second step takes the mean of the last two (Mitchell et al. 2008,
Salvini and Wijnholds 2014).  Phases refer to one antenna.
"""

import numpy as np

from kernels.contract import require_range, worst
from kernels.imaging.array import ANTENNAS, IM, RE, TIME, WEIGHT, require_form
from kernels.imaging.sky import antenna_numbers, interval_numbers
from kernels.runtime.jit import CONTRACT, kernel


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


def solve(x, y, p, limit: float = 1e-9, most: int = 200) -> np.ndarray:
    """Gains, complex128 (intervals, 27), from the sums of :func:`sums`; phases relative to the first antenna.

    All intervals take steps until in each a mean of two steps changes by less than ``limit``, ``most`` at most.  An
    antenna without data gets 1.
    """
    require_range("most", most, 1, 10**6)
    matrix, gains, empty = x + 1j * y, np.ones(x.shape[:2], complex), p.sum(axis=2) <= 0
    for step in range(most):
        below = (p @ (gains.real**2 + gains.imag**2)[..., None])[..., 0]
        below[empty] = 1
        new = (matrix @ gains[..., None])[..., 0] / below
        new[empty] = 1
        if step % 2 == 0:
            gains = new
            continue
        before, gains = gains, 0.5 * (new + gains)
        if (np.linalg.norm(gains - before, axis=1) < limit * np.linalg.norm(gains, axis=1)).all():
            break
    return gains * (gains[:, :1].conj() / np.abs(gains[:, :1]))


def unsettled(x, y, p, gains) -> float:
    """Largest distance of ``gains`` from the closed form that all others give them, relative to the largest gain."""
    closed = np.einsum("tij,tj->ti", x + 1j * y, gains) / np.einsum("tij,tj->ti", p, np.abs(gains) ** 2)
    return worst(closed - gains) / worst(gains)


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
