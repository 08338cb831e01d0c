"""COMB, UVDIF and APRES: sums of images, differences of visibilities, residuals.

COMB    out = a·x + b·y                       12 bytes a pixel, so memory is the limit
UVDIF   records that differ, by column and amplitude
APRES   out = dirty − beam ∗ (all components)
"""

import numpy as np

from supercomputers_rerun.kernels.imaging.array import require_form
from supercomputers_rerun.kernels.imaging.clean import summed
from supercomputers_rerun.kernels.imaging.convolution import Convolver
from supercomputers_rerun.kernels.runtime.arrays import aligned, require_array
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, kernel
from supercomputers_rerun.kernels.runtime.team import run_parts, worthwhile


@kernel(fastmath=CONTRACT)
def _combine(x, y, factors, out, threads, thread):
    """a · ``x`` + b · ``y``, flat float32, with the pair ``factors`` into ``out``: part ``thread`` of ``threads``."""
    a, b = factors
    for n in range(np.uint64(x.size * thread // threads), np.uint64(x.size * (thread + 1) // threads)):
        out[n] = a * x[n] + b * y[n]


def combine(x, y, a: float, b: float, threads: int = 1) -> np.ndarray:
    """COMB: a·x + b·y, float32; ``ValueError`` for arrays of other types and shapes."""
    require_array("x", x, np.float32, np.shape(x))
    require_array("y", y, np.float32, x.shape)
    out = aligned(x.shape, np.float32)
    threads = worthwhile(threads, 3 * x.size)
    factors = np.float32(a), np.float32(b)
    run_parts(_combine, threads, x.reshape(-1), y.reshape(-1), factors, out.reshape(-1), threads)
    return out


@kernel(fastmath=CONTRACT)
def _differences(x, y, limits, counts, largest):
    """Of each column of ``x`` and ``y``, float32 (n, 8): adds to ``counts`` int64 (8,) how many differences exceed its
    of the ``limits``, and raises ``largest``, both float32 (8,)."""
    for n in range(x.shape[0]):
        for column in range(8):
            difference = abs(x[n, column] - y[n, column])
            counts[column] += not difference <= limits[column]
            largest[column] = max(largest[column], difference)


def differences(x: np.ndarray, y: np.ndarray, limits) -> dict[str, np.ndarray]:
    """UVDIF, column by column: how many records differ, ``columns`` int64 (8,), and by how much, ``largest`` float32
    (8,); a value that is not a number differs.

    ``x``, ``y``: float32 (n, 8); ``limits``: eight numbers that a difference must exceed to count.
    """
    x, y = require_form(x), require_form(y)
    require_array("visibilities", y, np.float32, x.shape)
    counts, largest = np.zeros(8, np.int64), np.zeros(8, np.float32)
    _differences(x, y, np.asarray(limits, np.float32), counts, largest)
    return {"columns": counts, "largest": largest}


def subtract(dirty, beam, places, fluxes, threads: int = 1) -> np.ndarray:
    """APRES: the dirty image less the beam at every component, float32 (side, side), Jy per beam."""
    model = summed(places, fluxes, dirty.shape[0])
    return combine(dirty, Convolver(beam, threads)(model), 1.0, -1.0, threads=threads)
