"""Visibilities of CLEAN components by the direct Fourier sum, as ASCAL computes its model.

    V(u, v) = Σ_k S_k exp(−2πi (u l_k + v m_k))

Components lie on pixels, so a phase is a whole multiple of u·cell and v·cell.  Those are kept as whole
numbers of 2⁻³² turns; products and sums of whole numbers lose whole turns by themselves and nothing
else, so that phases of hundreds of turns are as accurate as small ones (2⁻²⁴ turns).  Sine and cosine are
polynomials, on sixteen visibilities at once.
"""

import numpy as np
from numba import float32

from kernels.imaging.array import U, V, require_form
from kernels.imaging.lanes import spread, store, wave
from kernels.runtime.arrays import require_array
from kernels.runtime.jit import CONTRACT, kernel
from kernels.runtime.threads import run_parts

#: Visibilities of a block, and components summed in float32 before they go to float64.
BLOCK, CHUNK = 64, 512
#: Floating-point operations of one component at one visibility: reduction, two polynomials, two sums.
FLOPS = 32


@kernel(fastmath=CONTRACT)
def _block(across, up, at, columns, rows, fluxes, first, end, real, imaginary):
    """Sums of the components first … end − 1 at 64 visibilities, float32, into ``real`` and ``imaginary``."""
    zero = spread(float32(0))
    ar, br, cr, dr, ai, bi, ci, di = zero, zero, zero, zero, zero, zero, zero, zero
    for k in range(np.uint64(first), np.uint64(end)):
        i, j, flux = columns[k], rows[k], fluxes[k]
        cosine, sine = wave(across, up, at, i, j, flux)
        ar, ai = ar + cosine, ai - sine
        cosine, sine = wave(across, up, at + 16, i, j, flux)
        br, bi = br + cosine, bi - sine
        cosine, sine = wave(across, up, at + 32, i, j, flux)
        cr, ci = cr + cosine, ci - sine
        cosine, sine = wave(across, up, at + 48, i, j, flux)
        dr, di = dr + cosine, di - sine
    store(real, 0, ar)
    store(real, 16, br)
    store(real, 32, cr)
    store(real, 48, dr)
    store(imaginary, 0, ai)
    store(imaginary, 16, bi)
    store(imaginary, 32, ci)
    store(imaginary, 48, di)


@kernel
def _predict(across, up, columns, rows, fluxes, out, threads, thread):
    blocks = across.size // BLOCK
    real, imaginary = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
    sums = np.empty((BLOCK, 2))
    for block in range(thread, blocks, threads):
        sums[:] = 0.0
        for first in range(0, fluxes.size, CHUNK):
            end = min(first + CHUNK, fluxes.size)
            _block(across, up, block * BLOCK, columns, rows, fluxes, first, end, real, imaginary)
            for n in range(BLOCK):
                sums[n, 0] += real[n]
                sums[n, 1] += imaginary[n]
        for n in range(BLOCK):
            out[block * BLOCK + n, 0] = sums[n, 0]
            out[block * BLOCK + n, 1] = sums[n, 1]


def phases(lengths: np.ndarray, cell: float) -> np.ndarray:
    """u·cell in units of 2⁻³² turns, int32, padded with zeros to whole blocks."""
    turns = np.rint(lengths.astype(np.float64) * cell * 2.0**32).astype(np.int64)
    out = np.zeros(-(-len(turns) // BLOCK) * BLOCK, np.int32)
    out[: len(turns)] = turns.astype(np.uint64).astype(np.uint32).view(np.int32)
    return out


def predict(records, places, fluxes, side: int, cell: float, threads: int = 1) -> np.ndarray:
    """Visibilities of components, complex64 (n,), in the order of the records.

    Parameters
    ----------
    records : ndarray, float32 (n, 8)
    places : ndarray, int32 (count, 2)
        Row and column of every component; equal ones are not merged.
    fluxes : ndarray, float32 (count,)
    side, cell : int, float
        Pixels of a row of the image, radians of a pixel.
    """
    require_form(records)
    require_array("places", places, np.int32, (None, 2))
    if np.shape(fluxes) != (len(places),):
        raise ValueError(f"fluxes of shape {np.shape(fluxes)} must be one for each of {len(places)} places")
    across, up = phases(records[:, U], cell), phases(records[:, V], cell)
    columns = (places[:, 1] - side // 2).astype(np.int32)
    rows = (places[:, 0] - side // 2).astype(np.int32)
    out = np.empty((len(across), 2), np.float32)
    fluxes = np.ascontiguousarray(fluxes, np.float32)
    run_parts(_predict, threads, across, up, columns, rows, fluxes, out, threads)
    return out[: len(records)].copy().view(np.complex64)[:, 0]


def reference(records, places, fluxes, side: int, cell: float) -> np.ndarray:
    """The same in float64 by NumPy, complex128 (n,)."""
    u, v = records[:, U].astype(np.float64), records[:, V].astype(np.float64)
    out = np.zeros(len(records), complex)
    for (j, i), flux in zip(places, fluxes, strict=True):
        out += flux * np.exp(-2j * np.pi * cell * ((int(i) - side // 2) * u + (int(j) - side // 2) * v))
    return out
