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
from kernels.runtime.jit import CONTRACT, kernel
from kernels.runtime.lanes import LANES, fma, less, select, spread, total
from kernels.runtime.registers import HERE
from kernels.runtime.threads import run_parts
from kernels.runtime.vector import load, store

#: Columns of the matrices: 27 antennas in whole vectors of eight.
WIDE = 32


class Solution(NamedTuple):
    gains: np.ndarray  # complex128 (intervals, 27)
    steps: np.ndarray  # int64 (intervals,): steps that each took
    change: np.ndarray  # float64 (intervals,): relative change of the last step


@kernel(fastmath=CONTRACT)
def _accumulate(records, model, first, second, when, x, y, p):
    """Sums of w V M*, real parts ``x`` and imaginary ``y``, and of w |M|², ``p``, both ways round, each (intervals, 27,
    32).

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


@kernel(inline=True, fastmath=CONTRACT)
def _added(sums, x, y, p, o, re, im, square):
    """``sums`` of :func:`_of_four` and what an antenna with gain ``re`` + i ``im``, whose ``square`` is |g|², adds.

    ``x``, ``y``, ``p``: flat sums of :func:`_accumulate`, the antenna's from ``o`` on.
    """
    xr, xi, yr, yi, below = sums
    a, b = load(x, o), load(y, o)
    return fma(a, re, xr), fma(a, im, xi), fma(b, im, yr), fma(b, re, yi), fma(load(p, o), square, below)


@kernel(inline=True, fastmath=CONTRACT)
def _of_four(x, y, p, at, gains, squares):
    """Parts of Σ X g, and Σ P |g|², of four vectors of antennas from ``at`` on, which hide each other's latency.

    ``x``, ``y``, ``p``: flat sums of :func:`_accumulate`, where rows stand for columns, since X is Hermitian and P
    symmetric; ``gains`` (2, 32): real and imaginary parts; row 2 of ``squares`` has |g|².
    """
    first = second = third = fourth = (spread(0.0), spread(0.0), spread(0.0), spread(0.0), spread(0.0))
    for j in range(np.uint64(ANTENNAS)):
        o, re, im, square = at + np.int64(j) * WIDE, gains[0, j], gains[1, j], squares[2, j]
        first = _added(first, x, y, p, o, re, im, square)
        second = _added(second, x, y, p, o + LANES, re, im, square)
        third = _added(third, x, y, p, o + 2 * LANES, re, im, square)
        fourth = _added(fourth, x, y, p, o + 3 * LANES, re, im, square)
    return first, second, third, fourth


@kernel(inline=True, fastmath=CONTRACT)
def _of_one(x, y, p, at, gains, squares):
    """As :func:`_of_four`, of one vector; arguments ``x``, ``y``, ``p``, ``at``, ``gains``, ``squares`` as there."""
    only = (spread(0.0), spread(0.0), spread(0.0), spread(0.0), spread(0.0))
    for j in range(np.uint64(ANTENNAS)):
        only = _added(only, x, y, p, at + np.int64(j) * WIDE, gains[0, j], gains[1, j], squares[2, j])
    return (only,)


#: A vector of eight takes two of AVX2's registers, and the sums of one are all that sixteen hold.
_TOGETHER, _closed_form = (4, _of_four) if HERE.lanes == 8 else (1, _of_one)


@kernel(inline=True, fastmath=CONTRACT)
def _step(x, y, p, at, gains, share, ones, new):
    """New gains into ``gains`` (2, 32), ``share`` of the way from the old ones; their relative change.

    ``x``, ``y``, ``p``: flat sums, the interval's from ``at`` on.  ``ones``: what an antenna without data has; ``new``:
    space for gains and their squares (3, 32).
    """
    for i in range(WIDE):
        new[2, i] = gains[0, i] * gains[0, i] + gains[1, i] * gains[1, i]
    moved, size = spread(0.0), spread(0.0)
    for begin in range(0, WIDE, _TOGETHER * LANES):
        i = begin
        for xr, xi, yr, yi, below in _closed_form(x, y, p, at + begin, gains, new):
            known, inverse = less(0.0, below), 1.0 / below
            dr = (select(known, (xr + yr) * inverse, load(ones, i)) - load(gains, i)) * share
            di = (select(known, (xi - yi) * inverse, 0.0) - load(gains, WIDE + i)) * share
            re, im = load(gains, i) + dr, load(gains, WIDE + i) + di
            store(new, i, re)
            store(new, WIDE + i, im)
            moved, size = fma(dr, dr, fma(di, di, moved)), fma(re, re, fma(im, im, size))
            i += LANES
    for i in range(WIDE):
        gains[0, i], gains[1, i] = new[0, i], new[1, i]
    return np.sqrt(total(moved) / total(size))


@kernel
def _solve(sums, gains, limit, most, steps, change, threads, thread):
    """The gains of every ``threads``-th interval from ``thread`` on, in place: ``gains``, float64 (intervals, 2, 32).

    ``sums``: flat x, y and p of :func:`_accumulate`.  An interval ends after ``most`` steps, or once a mean of two
    changes by less than ``limit``; ``steps`` and ``change`` as in :class:`Solution`.
    """
    x, y, p = sums
    ones, new = np.zeros(WIDE), np.empty((3, WIDE))
    ones[:ANTENNAS] = 1.0
    for t in range(thread, gains.shape[0], threads):
        for step in range(most):
            change[t] = _step(x, y, p, t * ANTENNAS * WIDE, gains[t], 0.5 if step % 2 else 1.0, ones, new)
            steps[t] = step + 1
            if step % 2 and change[t] < limit:
                break


def sums(records: np.ndarray, model: np.ndarray, intervals: int):
    """Real and imaginary part of X, and P, each float64 (intervals, 27, 32)."""
    records = require_form(records)
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
    require_range("most", most, 1, 10**6)
    count = len(x)
    gains = np.zeros((count, 2, WIDE))
    gains[:, 0, :ANTENNAS] = 1
    steps, change = np.zeros(count, np.int64), np.zeros(count)
    flat = tuple(each.reshape(-1) for each in (x, y, p))
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
