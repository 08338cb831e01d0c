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
from kernels.runtime.arrays import require_array
from kernels.runtime.jit import CONTRACT, kernel
from kernels.runtime.threads import run_parts
from kernels.runtime.vector import fma, fnma, load, spread, total

#: Columns of the matrices: 27 antennas in whole vectors of eight.
WIDE = 32


class Solution(NamedTuple):
    gains: np.ndarray  # complex128 (intervals, 27)
    steps: np.ndarray  # int64 (intervals,): steps that each took
    change: np.ndarray  # float64 (intervals,): relative change of the last step


@kernel(fastmath=CONTRACT)
def _accumulate(records, model, first, second, when, x, y, p):
    """Sums of w V M*, real parts ``x`` and imaginary ``y``, and of w |M|², ``p``, both ways round."""
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


@kernel(inline=True, fastmath=CONTRACT)
def _closed_form(x, y, p, at, gr, gi, power):
    """Σ X g and Σ P |g|² of one antenna; rows of 32 begin at ``at``."""
    re = im = below = spread(0.0)
    for j in range(0, 32, 8):
        xr, xi, a, b = load(x, at + j), load(y, at + j), load(gr, j), load(gi, j)
        re = fma(xr, a, fnma(xi, b, re))
        im = fma(xr, b, fma(xi, a, im))
        below = fma(load(p, at + j), load(power, j), below)
    return total(re), total(im), total(below)


@kernel(fastmath=CONTRACT)
def _solve_one(x, y, p, at, gains, limit, most):
    """Gains of one interval into ``gains`` (2, 32); the number of steps and the last change."""
    gr, gi = gains[0], gains[1]
    power, new = np.zeros(WIDE), np.zeros((2, WIDE))
    change = 0.0
    for step in range(most):
        for i in range(WIDE):
            power[i] = gr[i] * gr[i] + gi[i] * gi[i]
        moved = size = 0.0
        for i in range(ANTENNAS):
            re, im, below = _closed_form(x, y, p, at + i * WIDE, gr, gi, power)
            if below > 0:
                re, im = re / below, im / below
            else:  # an antenna without data keeps a gain of one
                re, im = 1.0, 0.0
            if step % 2 == 1:
                re, im = 0.5 * (re + gr[i]), 0.5 * (im + gi[i])
            new[0, i], new[1, i] = re, im
            moved += (re - gr[i]) ** 2 + (im - gi[i]) ** 2
            size += re * re + im * im
        for i in range(ANTENNAS):
            gr[i], gi[i] = new[0, i], new[1, i]
        change = np.sqrt(moved / size)
        if step % 2 == 1 and change < limit:
            return step + 1, change
    return most, change


@kernel
def _solve(sums, gains, limit, most, steps, change, threads, thread):
    x, y, p = sums
    for t in range(thread, gains.shape[0], threads):
        steps[t], change[t] = _solve_one(x, y, p, t * ANTENNAS * WIDE, gains[t], limit, most)


def sums(records: np.ndarray, model: np.ndarray, intervals: int):
    """Real and imaginary part of X, and P, each float64 (intervals, 27, 32)."""
    require_form(records)
    require_range("intervals", intervals, 1, 2**20)
    if np.shape(model) != (len(records),):
        raise ValueError(f"model of shape {np.shape(model)} must have a value for each of {len(records)} visibilities")
    shape = (intervals, ANTENNAS, WIDE)
    x, y, p = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    first, second = antenna_numbers(records)
    for numbers in (first, second):
        if numbers.min() < 0 or numbers.max() >= ANTENNAS:
            raise ValueError(f"a baseline names no antennas from 1 to {ANTENNAS}; the column BASELINE is 256 a + b")
    if not np.isfinite(records[:, TIME]).all():
        raise ValueError("the time of a visibility is not finite; leave the record out")
    _accumulate(records, model, first, second, interval_numbers(records, intervals), x, y, p)
    return x, y, p


def solve(x, y, p, threads: int = 1, limit: float = 1e-9, most: int = 200, reference: int = 0) -> Solution:
    """Gains from the sums of :func:`sums`, phases relative to antenna ``reference``."""
    require_range("reference", reference, 0, ANTENNAS - 1)
    for name, each in (("x", x), ("y", y), ("p", p)):
        require_array(name, each, np.float64, (len(x), ANTENNAS, WIDE))
    require_range("most", most, 1, 10**6)
    count = len(x)
    gains = np.zeros((count, 2, WIDE))
    gains[:, 0, :ANTENNAS] = 1
    steps, change = np.zeros(count, np.int64), np.zeros(count)
    flat = x.reshape(-1), y.reshape(-1), p.reshape(-1)
    run_parts(_solve, threads, flat, gains, limit, most, steps, change, threads)
    found = gains[:, 0, :ANTENNAS] + 1j * gains[:, 1, :ANTENNAS]
    turn = found[:, reference, None].conj() / np.abs(found[:, reference, None])
    return Solution(found * turn, steps, change)


def solve_numpy(x, y, p, limit: float = 1e-9, most: int = 200, reference: int = 0) -> Solution:
    """The same in NumPy, all intervals at once: each takes as many steps as the slowest."""
    matrix, power = (x + 1j * y)[:, :, :ANTENNAS], p[:, :, :ANTENNAS]
    gains = np.ones(matrix.shape[:2], complex)
    for step in range(most):
        below = np.einsum("tij,tj->ti", power, np.abs(gains) ** 2)
        new = np.einsum("tij,tj->ti", matrix, gains) / np.where(below > 0, below, 1)
        new[below <= 0] = 1
        if step % 2:
            new = 0.5 * (new + gains)
        change = np.linalg.norm(new - gains, axis=1) / np.linalg.norm(new, axis=1)
        gains = new
        if step % 2 and change.max() < limit:
            break
    turn = gains[:, reference, None].conj() / np.abs(gains[:, reference, None])
    return Solution(gains * turn, np.full(len(gains), step + 1), change)


def apply(records: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """Records with V_ij divided by g_i g_j* of their interval, float32 (n, 8)."""
    first, second = antenna_numbers(records)
    when = interval_numbers(records, len(gains))
    factor = gains[when, first] * gains[when, second].conj()
    data = (records[:, RE] + 1j * records[:, IM]) / factor
    out = records.copy()
    out[:, RE], out[:, IM] = data.real, data.imag
    out[:, WEIGHT] *= np.abs(factor) ** 2
    return out
