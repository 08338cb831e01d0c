"""Four vectors of eight lanes: what the transforms keep of one wavenumber of a row, or of one ``ell``.

The four are even-real, even-imaginary, odd-real and odd-imaginary.  In the functions below ``values`` is an
array or an address of float64, ``place`` an offset in doubles, ``quad`` such a tuple of four vectors, ``six``
a tuple of six quads, and ``streaming`` says whether to write past the caches (to whole cache lines).
"""

from kernels.runtime.jit import kernel
from kernels.runtime.registers import HERE
from kernels.runtime.vector import (
    LANES,
    fma,
    load,
    spread,
    store,
    stream,
)

WHOLE = HERE.lanes >= LANES  # whether a vector is one register: else a third as many sums fit into them, or fewer
SPAN = 4 * LANES  # doubles of a quad
STRIP = SPAN if WHOLE else LANES  # doubles of that part of a quad of which six fit into the registers
BLOCK = 3 * LANES  # latitudes per block: three vectors of eight, four groups of six
TALL = BLOCK if WHOLE else LANES  # latitudes of one field whose sums fit into the registers
ALL = 2**LANES - 1  # bits of eight active lanes


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
def _add_scaled_one(factor, strip, sums):
    """:func:`add_scaled` of strips of one vector: ``sums + factor · strip``."""
    return (fma(factor, strip[0], sums[0]),)


@kernel(inline=True)
def _load_one(values, place):
    """The strip of one vector at ``place`` of ``values``."""
    return (load(values, place),)


@kernel(inline=True)
def _store_one(values, place, strip):
    """Write a ``strip`` of one vector to ``values`` at ``place``."""
    store(values, place, strip[0])


@kernel(inline=True)
def _zero_one():
    """A strip of one vector, zero."""
    return (spread(0.0),)


@kernel(inline=True)
def _emit_one(values, place, strip, streaming):
    """Write a ``strip`` of one vector to ``values`` at ``place``, past the caches if ``streaming``."""
    emit(values, place, strip[0], streaming)


if WHOLE:
    add_scaled_strip, load_strip, store_strip, zero_strip, emit_strip = add_scaled, load4, store4, zero4, emit4
else:
    add_scaled_strip, load_strip, store_strip = _add_scaled_one, _load_one, _store_one
    zero_strip, emit_strip = _zero_one, _emit_one


@kernel(inline=True)
def zero6():
    """Six strips of zeros: the sums of six latitudes or six ``ell``."""
    return zero_strip(), zero_strip(), zero_strip(), zero_strip(), zero_strip(), zero_strip()


@kernel(inline=True)
def load6(values, place):
    """The six strips that begin at ``place`` of ``values``, a quad apart."""
    return (
        load_strip(values, place),
        load_strip(values, place + SPAN),
        load_strip(values, place + 2 * SPAN),
        load_strip(values, place + 3 * SPAN),
        load_strip(values, place + 4 * SPAN),
        load_strip(values, place + 5 * SPAN),
    )


@kernel(inline=True)
def store6(values, place, six):
    """Write ``six`` to ``values`` from ``place`` on, a quad apart."""
    store_strip(values, place, six[0])
    store_strip(values, place + SPAN, six[1])
    store_strip(values, place + 2 * SPAN, six[2])
    store_strip(values, place + 3 * SPAN, six[3])
    store_strip(values, place + 4 * SPAN, six[4])
    store_strip(values, place + 5 * SPAN, six[5])
