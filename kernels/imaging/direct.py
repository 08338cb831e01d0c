"""Visibilities of CLEAN components by the direct Fourier sum, as ASCAL computes its model.

    V(u, v) = Σ_k S_k exp(−2πi (u l_k + v m_k))

Components lie on pixels, so a phase is a whole multiple of u·cell and v·cell.  Those are kept as whole
numbers of 2⁻³² turns; products and sums of whole numbers lose whole turns by themselves and nothing
else, so that phases of hundreds of turns are as accurate as small ones (2⁻²⁴ turns).  Sine and cosine are
polynomials, on sixteen visibilities at once.
"""

import numpy as np
from numba import float32

from supercomputers_rerun.kernels.contract import ceil_div
from supercomputers_rerun.kernels.imaging.array import U, V, require_form
from supercomputers_rerun.kernels.imaging.sky import Sky, visibilities
from supercomputers_rerun.kernels.runtime.arrays import require_array
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, kernel
from supercomputers_rerun.kernels.runtime.team import run_parts
from supercomputers_rerun.kernels.runtime.vector import SINGLES, as_float, bits, fma, from_bits, load, spread, store

#: Components summed in float32 before they go to float64.
CHUNK = 512
#: Floating-point operations of one component at one visibility: reduction, two polynomials, two sums.
FLOPS = 32
#: A quarter and half of a turn, in units of 2⁻³² turns.
_QUARTER, _SIGN = 1 << 30, -(1 << 31)


def _wave_coefficients():
    """sin(2πt)/t and cos(2πt) in t² for |t| ≤ 1/4, Chebyshev fits within 2e-8, as float32."""
    t = np.cos(np.pi * (np.arange(400) + 0.5) / 400) / 4
    t = t[t > 0]
    for values in (np.sin(2 * np.pi * t) / t, np.cos(2 * np.pi * t)):
        fit = np.polynomial.Polynomial.fit(t**2, values, 5, domain=[0, 1 / 16])
        yield tuple(fit.convert().coef.astype(np.float32))


_SINE, _COSINE = _wave_coefficients()


@kernel(inline=True, fastmath=CONTRACT)
def _polynomial(x, c):
    """The polynomial of degree 5 with the coefficients ``c``, constant first, at the sixteen numbers ``x``."""
    y = fma(fma(fma(spread(c[5]), x, c[4]), x, c[3]), x, c[2])
    return fma(fma(y, x, c[1]), x, c[0])


@kernel(inline=True, fastmath=CONTRACT)
def _wave(across, up, at, i, j, amplitude):
    """``amplitude`` times cosine and sine of the sixteen phases across[at:]·i + up[at:]·j, which are whole numbers."""
    turns = load(across, at) * i + load(up, at) * j
    odd = (turns + _QUARTER) & _SIGN  # half a turn changes both signs
    t = as_float(turns - odd) * float32(2.0**-32)
    square = t * t
    scaled = from_bits(bits(spread(amplitude)) ^ odd)
    return _polynomial(square, _COSINE) * scaled, _polynomial(square, _SINE) * t * scaled


@kernel(fastmath=CONTRACT)
def _predict(across, up, columns, rows, fluxes, out, threads, thread):
    """Every ``threads``-th vector of visibilities from number ``thread`` on into ``out``, float32 (n, 2): real and
    imaginary part.

    ``across``, ``up``, int32: 2⁻³² turns a pixel; ``columns``, ``rows``, int32: pixels from the middle.
    """
    real, imaginary = np.empty((2, SINGLES), np.float32)
    sums = np.empty((2, SINGLES))
    for at in range(SINGLES * thread, across.size, SINGLES * threads):
        sums[:] = 0.0
        for first in range(0, fluxes.size, CHUNK):
            re, im = spread(float32(0)), spread(float32(0))
            for k in range(np.uint64(first), np.uint64(min(first + CHUNK, fluxes.size))):
                cosine, sine = _wave(across, up, at, columns[k], rows[k], fluxes[k])
                re, im = re + cosine, im - sine
            store(real, 0, re)
            store(imaginary, 0, im)
            for n in range(SINGLES):
                sums[0, n] += real[n]
                sums[1, n] += imaginary[n]
        for n in range(SINGLES):
            out[at + n, 0], out[at + n, 1] = sums[0, n], sums[1, n]


def phases(lengths: np.ndarray, cell: float) -> np.ndarray:
    """u·cell in units of 2⁻³² turns, int32, padded with zeros to whole vectors."""
    turns = np.rint(lengths.astype(np.float64) * cell * 2.0**32).astype(np.int64)
    out = np.zeros(ceil_div(len(turns), SINGLES) * SINGLES, np.int32)
    out[: len(turns)] = turns.astype(np.uint64).astype(np.uint32).view(np.int32)
    return out


def predict(records, places, fluxes, side: int, cell: float, threads: int = 1) -> np.ndarray:
    """Visibilities of components, complex64 (n,), in the order of the records.

    ``records``: float32 (n, 8); ``places``, int32 (count, 2): row and column of every component, equal ones not merged;
    ``fluxes``: float32 (count,); ``side``, ``cell``: pixels of a row of the image, radians of a pixel.
    """
    records = require_form(records)
    require_array("places", places, np.int32, (None, 2))
    if np.shape(fluxes) != (len(places),):
        raise ValueError(f"fluxes of shape {np.shape(fluxes)} must be one for each of {len(places)} places")
    across, up = phases(records[:, U], cell), phases(records[:, V], cell)
    rows, columns = np.ascontiguousarray(places.T - side // 2, np.int32)
    out = np.empty((len(across), 2), np.float32)
    fluxes = np.ascontiguousarray(fluxes, np.float32)
    run_parts(_predict, threads, across, up, columns, rows, fluxes, out, threads)
    return out[: len(records)].copy().view(np.complex64)[:, 0]


def reference(records, places, fluxes, side: int, cell: float) -> np.ndarray:
    """The same in float64 by NumPy, complex128 (n,)."""
    up, across = cell * (places.T - side // 2)
    return visibilities(Sky(fluxes, across, up, np.zeros(len(places))), records[:, U], records[:, V])
