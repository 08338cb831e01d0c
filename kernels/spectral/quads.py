"""Four vectors of eight lanes: what the transforms keep of one wavenumber of a row, or of one ``ell``.

The four are even-real, even-imaginary, odd-real and odd-imaginary.  In the functions below ``values`` is an
array or an address of float64, ``place`` an offset in doubles, ``quad`` such a tuple of four vectors, ``six``
a tuple of six quads, and ``streaming`` says whether to write past the caches (to whole cache lines).
"""

from kernels.runtime.jit import kernel
from kernels.runtime.vector import LANES, fma, load, spread, store, stream

SPAN = 4 * LANES  # doubles of a quad


@kernel(inline=True)
def add_scaled(factor, quad, sums):
    """``sums + factor · quad``: one row of the register block; ``factor`` a vector, the others quads."""
    return (
        fma(factor, quad[0], sums[0]),
        fma(factor, quad[1], sums[1]),
        fma(factor, quad[2], sums[2]),
        fma(factor, quad[3], sums[3]),
    )


@kernel(inline=True)
def load4(values, place):
    """The quad that begins at ``place`` of ``values``."""
    return (
        load(values, place),
        load(values, place + LANES),
        load(values, place + 2 * LANES),
        load(values, place + 3 * LANES),
    )


@kernel(inline=True)
def store4(values, place, quad):
    """Write ``quad`` to ``values`` from ``place`` on."""
    store(values, place, quad[0])
    store(values, place + LANES, quad[1])
    store(values, place + 2 * LANES, quad[2])
    store(values, place + 3 * LANES, quad[3])


@kernel(inline=True)
def zero4():
    """A quad of zeros."""
    z = spread(0.0)
    return z, z, z, z


@kernel(inline=True)
def emit(values, place, vector, streaming):
    """Write ``vector`` to ``values`` at ``place``, past the caches if ``streaming``."""
    if streaming:
        stream(values, place, vector)
    else:
        store(values, place, vector)


@kernel(inline=True)
def emit4(values, place, quad, streaming):
    """Write ``quad`` to ``values`` from ``place`` on, past the caches if ``streaming``."""
    emit(values, place, quad[0], streaming)
    emit(values, place + LANES, quad[1], streaming)
    emit(values, place + 2 * LANES, quad[2], streaming)
    emit(values, place + 3 * LANES, quad[3], streaming)


@kernel(inline=True)
def zero6():
    """Six quads of zeros: the sums of six latitudes or six ``ell``."""
    return zero4(), zero4(), zero4(), zero4(), zero4(), zero4()


@kernel(inline=True)
def load6(values, place):
    """The six quads that begin at ``place`` of ``values``."""
    return (
        load4(values, place),
        load4(values, place + SPAN),
        load4(values, place + 2 * SPAN),
        load4(values, place + 3 * SPAN),
        load4(values, place + 4 * SPAN),
        load4(values, place + 5 * SPAN),
    )


@kernel(inline=True)
def store6(values, place, six):
    """Write ``six`` to ``values`` from ``place`` on."""
    store4(values, place, six[0])
    store4(values, place + SPAN, six[1])
    store4(values, place + 2 * SPAN, six[2])
    store4(values, place + 3 * SPAN, six[3])
    store4(values, place + 4 * SPAN, six[4])
    store4(values, place + 5 * SPAN, six[5])
