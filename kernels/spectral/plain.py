"""The transforms as their definition says: three-term recurrence and plain sums, row by row.

Independent of the fast code except for nodes, weights and row lengths: another recurrence, another parity treatment,
another Fourier transform, and sums over all degrees.
"""

import numpy as np

from supercomputers_rerun.kernels.runtime.jit import kernel

#: Near the poles P_m^m underflows while P_n^m of larger n counts: such numbers are kept times this power of two.
_UP = 2.0**500


@kernel
def _functions(m, T, mu, start, ups, P):
    """``P[n - m] = P_n^m(μ)``, n = m … T, by ``μ P_n = ε_{n+1} P_{n+1} + ε_n P_{n-1}``.

    It begins with ``P_m^m = start / 2^(500 ups)``; what is below 2⁻⁵⁰⁰ is given as zero.
    """
    last, now, below = 0.0, start, 0.0
    for n in range(m, T + 1):
        if ups > 0 and abs(now) > 1.0:
            last, now, ups = last / _UP, now / _UP, ups - 1
        P[n - m] = now if ups == 0 else 0.0
        above = np.sqrt(((n + 1.0) ** 2 - m * m) / (4.0 * (n + 1.0) ** 2 - 1.0))
        last, now, below = now, (mu * now - below * last) / above, above


@kernel
def _next(m, start, ups, cosine):
    """``P_m^m = sqrt((2m + 1) / 2m) cos φ P_{m-1}^{m-1}``, and how often it stands times 2⁵⁰⁰."""
    start *= np.sqrt((2.0 * m + 1.0) / (2.0 * m)) * cosine
    return (start * _UP, ups + 1) if start < 1.0 / _UP else (start, ups)


@kernel
def plain(spectrum, T, mu, cosine):
    """Legendre transform of one field at one latitude: the Fourier coefficients ``Σ_n s_n^m P_n^m(μ)``, m = 0 … T.

    ``spectrum`` is complex128 (ncoef,), m by m; ``mu`` and ``cosine`` are sine and cosine of the latitude.
    """
    waves, P, place, start, ups = np.zeros(T + 1, np.complex128), np.empty(T + 1), 0, 1.0, 0
    for m in range(T + 1):
        if m > 0:
            start, ups = _next(m, start, ups, cosine)
        _functions(m, T, mu, start, ups, P)
        for n in range(m, T + 1):
            waves[m] += spectrum[place] * P[n - m]
            place += 1
    return waves


@kernel
def _add_transposed(waves, T, mu, cosine, spectrum):
    """The way back, without quadrature: ``s_n^m += waves_m P_n^m(μ)``; arguments as for :func:`plain`."""
    P, place, start, ups = np.empty(T + 1), 0, 1.0, 0
    for m in range(T + 1):
        if m > 0:
            start, ups = _next(m, start, ups, cosine)
        _functions(m, T, mu, start, ups, P)
        for n in range(m, T + 1):
            spectrum[place] += waves[m] * P[n - m]
            place += 1


def _row(plan, row):
    """Truncation, sine and cosine of latitude; number of points and wavenumbers of a row."""
    north = min(row, 2 * plan.nlat - 1 - row)
    sign = 1.0 if row < plan.nlat else -1.0
    n = int(plan.grid.pl[row])
    latitude = plan.truncation, sign * plan._mu[north], plan._cosine[north]
    return latitude, n, min(plan.truncation, (n - 1) // 2) + 1


def row_values(plan, spectra, row):
    """Grid values of one row, float64[fields, n], of the fields ``spectra[fields, ncoef]``."""
    latitude, n, count = _row(plan, row)
    waves = np.array([plain(each, *latitude)[:count] for each in spectra])
    return n * np.fft.irfft(waves, n)  # which takes the wavenumbers above as zero


def synthesise(plan, spectra):
    """Inverse transform of ``spectra[fields, ncoef]``."""
    return np.concatenate([row_values(plan, spectra, row) for row in range(2 * plan.nlat)], axis=-1)


def analyse(plan, values):
    """Direct transform of ``values[fields, points]``."""
    out = np.zeros((len(values), plan.ncoef), dtype=np.complex128)
    for row, start in enumerate(plan.grid.starts):
        latitude, n, count = _row(plan, row)
        waves = np.zeros((len(values), plan.truncation + 1), np.complex128)
        found = np.fft.rfft(values[:, start : start + n], axis=1) * (plan.grid.weights[row] / (2 * n))
        waves[:, :count] = found[:, :count]
        for each, spectrum in zip(waves, out, strict=True):
            _add_transposed(each, *latitude, spectrum)
    return out
