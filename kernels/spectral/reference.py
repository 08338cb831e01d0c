"""The transforms as their definition says: three-term recurrence, plain sums, row by row.

Independent of the fast code except for nodes, weights and row lengths: another recurrence, another
parity treatment, another Fourier transform, and an extended number range instead of planned seeds.
"""

from functools import lru_cache

import numpy as np

from kernels.spectral.legendre import epsilon


def legendre_row(plan, mu, cosine):
    """``P_n^m`` at one latitude for every coefficient of the plan, float64[ncoef].

    ``μ P_n = ε_{n+1} P_{n+1} + ε_n P_{n-1}`` started from
    ``P_m^m = sqrt((2m + 1) / 2m) cos φ P_{m-1}^{m-1}``; NumPy's long double supplies the range.
    """
    T = plan.truncation
    m = np.arange(T + 1)
    step = np.ones(T + 1, dtype=np.longdouble)
    step[1:] = np.sqrt((2 * m[1:] + 1) / (2 * m[1:]).astype(np.longdouble)) * np.longdouble(cosine)
    last, now = np.zeros(T + 1, dtype=np.longdouble), np.cumprod(step)
    found = np.empty(plan.ncoef)
    columns = np.searchsorted(plan.m, m)
    for i, (here, above) in enumerate(_factors(T)):  # degree n = m + i of all wavenumbers at once
        now = now[: len(here)]
        found[columns[: len(here)] + i] = now
        last, now = now, (np.longdouble(mu) * now - here * last[: len(here)]) / above
    return found


@lru_cache(maxsize=4)
def _factors(T):
    """For degrees n = m + i, i from 0 to T: ``ε_n`` and ``ε_{n+1}`` of all wavenumbers m that have it."""
    waves = [np.arange(T + 1 - i) for i in range(T + 1)]
    return [(epsilon(m + i, m), epsilon(m + i + 1, m)) for i, m in enumerate(waves)]


def _row(plan, row):
    """Signed sine and cosine of latitude, number of points and wavenumbers of a row."""
    north = min(row, 2 * plan.nlat - 1 - row)
    sign = 1.0 if row < plan.nlat else -1.0
    n = int(plan.grid.pl[row])
    return sign * plan._mu[north], plan._cosine[north], n, min(plan.truncation, (n - 1) // 2) + 1


def row_values(plan, spectra, row):
    """Grid values of one row, float64[..., n], of the fields ``spectra[..., ncoef]``."""
    mu, cosine, n, count = _row(plan, row)
    product = spectra * legendre_row(plan, mu, cosine)
    columns = np.searchsorted(plan.m, np.arange(plan.truncation + 1))
    fourier = np.add.reduceat(product, columns, axis=-1)[..., :count]
    return n * np.fft.irfft(fourier, n)  # which takes the wavenumbers above as zero


def synthesise(plan, spectra):
    """Inverse transform of ``spectra[fields, ncoef]``."""
    return np.concatenate([row_values(plan, spectra, row) for row in range(2 * plan.nlat)], axis=-1)


def analyse(plan, values):
    """Direct transform of ``values[fields, points]``."""
    out = np.zeros((len(values), plan.ncoef), dtype=np.complex128)
    for row, start in enumerate(plan.grid.starts):
        mu, cosine, n, count = _row(plan, row)
        weighted = legendre_row(plan, mu, cosine) * (plan.grid.weights[row] / 2)
        fourier = np.fft.rfft(values[:, start : start + n], axis=1) / n
        fourier = np.pad(fourier[:, :count], ((0, 0), (0, plan.truncation + 1 - count)))
        out += fourier[:, plan.m] * weighted
    return out
