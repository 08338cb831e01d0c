"""Four vectors of eight lanes: what the transforms keep of one wavenumber of a row, or of one ``ell``.

The four are even-real, even-imaginary, odd-real and odd-imaginary.
"""

from kernels._jit import kernel
from kernels._vector import fma, load, spread, store, stream

SPAN = 32     # doubles


@kernel(inline=True)
def row4(factor, c0, c1, c2, c3, a0, a1, a2, a3):
    """One row of the register block: ``a += factor c``."""
    return fma(factor, c0, a0), fma(factor, c1, a1), fma(factor, c2, a2), fma(factor, c3, a3)


@kernel(inline=True)
def load4(x, o):
    return load(x, o), load(x, o + 8), load(x, o + 16), load(x, o + 24)


@kernel(inline=True)
def store4(x, o, a):
    store(x, o, a[0])
    store(x, o + 8, a[1])
    store(x, o + 16, a[2])
    store(x, o + 24, a[3])


@kernel(inline=True)
def zero4():
    z = spread(0.0)
    return z, z, z, z


@kernel(inline=True)
def emit4(fourier, o, r, streaming):
    if streaming:
        stream(fourier, o, r[0])
        stream(fourier, o + 8, r[1])
        stream(fourier, o + 16, r[2])
        stream(fourier, o + 24, r[3])
    else:
        store4(fourier, o, r)
