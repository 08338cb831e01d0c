"""Complex transforms of sixteen lines at once, in float32, of two arrays in turn.

    X[k] = Σ x[n] exp(+2πi nk/M)

A line's element is 32 float32: sixteen real parts, then sixteen imaginary ones.  Exchanging real and imaginary parts on
the way in and out changes the sign.
"""

from functools import cache

import numpy as np

from kernels import fft
from kernels.runtime.jit import kernel
from kernels.runtime.vector import SINGLES, address

#: Numbers of a block of cells: the real parts of as many transforms as a vector has lanes, and the imaginary ones.
PAIR = 2 * SINGLES


@cache
def plan(length: int) -> tuple[np.ndarray, np.ndarray]:
    """Radices, int64 and 0-terminated, and roots of unity, float32 (length, 2)."""
    return np.array([*fft.factorise(length), 0], np.int64), fft.roots(length).astype(np.float32)


@kernel
def transform(x, other, length, passes, factors):
    """Transform sixteen lines in ``x``, float32 (length·32,); ``other`` is of the same size.

    ``passes`` (int64) and ``factors`` (float32, (length, 2)) are those of ``plan(length)``.

    Returns 0 where the result is in ``x``, 1 where it is in ``other``.
    """
    work = address(x)
    there = (np.int64(other.ctypes.data) - np.int64(x.ctypes.data)) // x.itemsize
    return 0 if fft.stockham(work, 0, there, length, address(passes), address(factors)) == 0 else 1


def flops(length: int) -> int:
    """Floating-point operations of one complex line, by the usual count 5 M log2 M."""
    return round(5 * length * np.log2(length))
