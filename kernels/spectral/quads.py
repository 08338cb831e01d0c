"""Four vectors of eight lanes: what the transforms keep of one wavenumber of a row, or of one ``ell``.

The four are even-real, even-imaginary, odd-real and odd-imaginary.
"""

from kernels.runtime.jit import kernel
from kernels.runtime.vector import fma, load, spread, store, stream

SPAN = 32  # doubles


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
def emit(place, o, vector, streaming):
    """Write a vector, past the caches if ``streaming``."""
    if streaming:
        stream(place, o, vector)
    else:
        store(place, o, vector)


@kernel(inline=True)
def emit4(fourier, o, r, streaming):
    emit(fourier, o, r[0], streaming)
    emit(fourier, o + 8, r[1], streaming)
    emit(fourier, o + 16, r[2], streaming)
    emit(fourier, o + 24, r[3], streaming)


@kernel(inline=True)
def zero6():
    """Six quads of zeros: the sums of six latitudes or six ``ell``."""
    return zero4(), zero4(), zero4(), zero4(), zero4(), zero4()


@kernel(inline=True)
def load6(x, o):
    return (
        load4(x, o),
        load4(x, o + SPAN),
        load4(x, o + 2 * SPAN),
        load4(x, o + 3 * SPAN),
        load4(x, o + 4 * SPAN),
        load4(x, o + 5 * SPAN),
    )


@kernel(inline=True)
def store6(x, o, r):
    store4(x, o, r[0])
    store4(x, o + SPAN, r[1])
    store4(x, o + 2 * SPAN, r[2])
    store4(x, o + 3 * SPAN, r[3])
    store4(x, o + 4 * SPAN, r[4])
    store4(x, o + 5 * SPAN, r[5])
