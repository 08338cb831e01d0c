"""ASCAL: complex gains of the antennas from a model of the source (self-calibration).

For every solution interval the gains g minimise

    Σ_ij w |V_ij − g_i g_j* M_ij|²

where V are the visibilities and M those of the model.  With X_ij = Σ w V_ij M_ij* and
P_ij = Σ w |M_ij|² over the interval, each gain has the closed form g_i = Σ_j X_ij g_j / Σ_j P_ij |g_j|²
while the others are held; every second step takes the mean of the last two (Mitchell et al. 2008,
Salvini and Wijnholds 2014).  Phases refer to one antenna.
"""

import numpy as np

from supercomputers_rerun.kernels.contract import require_range, worst
from supercomputers_rerun.kernels.imaging.array import ANTENNAS, IM, RE, TIME, WEIGHT, require_form
from supercomputers_rerun.kernels.imaging.sky import antenna_numbers, factors, interval_numbers
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, kernel

#: Relative change of an interval's gains at which its steps end, and how many they are at most.
LIMIT, MOST = 1e-9, 200


@kernel(fastmath=CONTRACT)
def _accumulate(records, model, first, second, when, cross, power):
    """Sums of w V M* into ``cross``, complex128, and of w |M|² into ``power``, both ways round; ``first`` and
    ``second``, int (n,): antennas; ``when``: interval."""
    for n in range(np.uint64(records.shape[0])):
        weight = np.float64(records[n, np.uint64(WEIGHT)])
        if not weight > 0:
            continue
        vr, vi = np.float64(records[n, np.uint64(RE)]), np.float64(records[n, np.uint64(IM)])
        mr, mi = np.float64(model[n].real), np.float64(model[n].imag)
        product = complex(weight * (vr * mr + vi * mi), weight * (vi * mr - vr * mi))
        square = weight * (mr * mr + mi * mi)
        t, i, j = when[n], first[n], second[n]
        cross[t, i, j] += product
        cross[t, j, i] += product.conjugate()
        power[t, i, j] += square
        power[t, j, i] += square


def sums(records: np.ndarray, model: np.ndarray, intervals: int) -> tuple[np.ndarray, np.ndarray]:
    """X, complex128, and P, float64, each (intervals, 27, 27).

    ``records``: float32 (n, 8); ``model``: complex (n,), visibilities of the model.  ``ValueError``: antennas or times
    that are none.
    """
    records = require_form(records)
    require_range("intervals", intervals, 1, 2**20)
    if np.shape(model) != (len(records),):
        raise ValueError(f"model of shape {np.shape(model)} must have a value for each of {len(records)} visibilities")
    shape = intervals, ANTENNAS, ANTENNAS
    cross, power = np.zeros(shape, complex), np.zeros(shape)
    first, second = antenna_numbers(records)
    if not 0 <= min(first.min(), second.min()) <= max(first.max(), second.max()) < ANTENNAS:
        raise ValueError(f"a baseline names no antennas from 1 to {ANTENNAS}; the column BASELINE is 256 a + b")
    if not np.isfinite(records[:, TIME]).all():
        raise ValueError("the time of a visibility is not finite; leave the record out")
    _accumulate(records, model, first, second, interval_numbers(records, intervals), cross, power)
    return cross, power


@kernel(fastmath=CONTRACT)
def _solve(cross, power, gains):
    """Steps of every interval, from the ``gains`` on, complex128 (intervals, 27), in place."""
    new = gains[0].copy()
    for t in range(gains.shape[0]):
        for step in range(MOST):
            change = size = 0.0
            for i in range(ANTENNAS):
                above, below, old = 0j, 0.0, gains[t, i]
                for j in range(ANTENNAS):
                    above += cross[t, i, j] * gains[t, j]
                    below += power[t, i, j] * (gains[t, j].real ** 2 + gains[t, j].imag ** 2)
                if below > 0.0:
                    above *= 1.0 / below
                    new[i] = 0.5 * (above + old) if step % 2 else above
                else:
                    new[i] = old
                moved = new[i] - old
                change += moved.real**2 + moved.imag**2
                size += new[i].real ** 2 + new[i].imag ** 2
            gains[t] = new
            if step % 2 and change < LIMIT**2 * size:
                break


def solve(cross, power) -> np.ndarray:
    """Gains, complex128 (intervals, 27), from the sums of :func:`sums`; phases relative to the first antenna.

    An interval takes steps until a mean of two changes by less than ``LIMIT``, ``MOST`` at most.  An antenna without
    data gets 1.
    """
    gains = np.ones(cross.shape[:2], complex)
    _solve(cross, power, gains)
    return gains * (gains[:, :1].conj() / np.abs(gains[:, :1]))


def unsettled(cross, power, gains) -> float:
    """Largest distance of ``gains`` from the closed form that all others give them, relative to the largest gain."""
    closed = np.einsum("tij,tj->ti", cross, gains) / np.einsum("tij,tj->ti", power, np.abs(gains) ** 2)
    return worst(closed - gains) / worst(gains)


def apply(records: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """Records, float32 (n, 8), with V_ij divided by g_i g_j* of their interval; ``gains`` complex (intervals, 27)."""
    factor = factors(records, gains)
    data = (records[:, RE] + 1j * records[:, IM]) / factor
    out = records.copy()
    out[:, RE], out[:, IM] = data.real, data.imag
    out[:, WEIGHT] *= np.abs(factor) ** 2
    return out
