"""One wavenumber: its Legendre functions, 24 latitudes at a time while the sums are computed that need them, and the
coefficients that these sums take.

``p_{l+1} = (a_l μ² + b_l) p_l - p_{l-1}`` (see ``legendre``), three vectors of eight latitudes a block.  In the
functions below a ``state`` holds two values of ``p`` for every latitude of a block, 2·BLOCK doubles: the
earlier ones, then the later ones.

``P_{m+2l} = even_l p_l + carry_{l-1} p_{l-1}`` and ``P_{m+2l+1} = μ odd_l p_l`` turn the coefficients of ``P_n``,
degree by degree, into those of ``p_l``: even-real, even-imaginary, odd-real, odd-imaginary, eight fields in lanes.

Those four vectors of one ``ell``, or of one wavenumber of a row, are a ``quad``, which begins at a ``place`` of
``values``, an address of float64; a ``strip`` is that part of it of which six fit into the registers, ``six`` a tuple
of six strips, and ``streaming`` says whether to write past the caches (to whole cache lines).
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from supercomputers_rerun.kernels.runtime.jit import HERE, kernel
from supercomputers_rerun.kernels.runtime.vector import (
    LANES,
    Lanes,
    address,
    at,
    emitted,
    fma,
    fms,
    fused,
    load,
    load_as,
    prefetch,
    spread,
    store,
    stream,
    transpose_block,
)

WHOLE = HERE.lanes >= LANES  # whether a vector is one register: else a third as many sums fit into them, or fewer
SPAN = 4 * LANES  # doubles of a quad
STRIP = SPAN if WHOLE else LANES  # doubles of a strip
BLOCK = 3 * LANES  # latitudes per block: three vectors of eight, four groups of six
ALL = 2**LANES - 1  # bits of eight active lanes
#: Lanes of the recurrence's vectors: a block of latitudes fits into the registers as vectors of one register each.
NARROW = LANES if WHOLE else LANES // 2
#: What ``load_as`` is told to load: the latitudes of a block, a quad, a strip of it.
THREE, QUAD, ONE_STRIP = (((0.0,) * LANES,) * vectors for vectors in (3, 4, STRIP // LANES))
_PART = ((0.0,) * NARROW,) * 3  # of a block


class LegendreTables(NamedTuple):
    """What a plan knows of the Legendre functions of wavenumbers 0 … T and degrees up to T + 1."""

    factors: np.ndarray  # float64, (5, terms): a, b, even, carry, odd of ``legendre.coefficients``, 1
    offset: np.ndarray  # int64, (T + 1,): where the terms of each wavenumber start in a row of ``factors``
    squares: np.ndarray  # float64, (rows,): μ² of the northern latitudes, padded to whole blocks
    rows: int  # latitudes without padding
    first_row: np.ndarray  # int64, (T + 1,): first latitude that carries each wavenumber
    first: np.ndarray  # int64, (T + 1, blocks): first ell at which the block matters
    seeds: np.ndarray  # float64, (T + 1, blocks, 2·BLOCK): two values of p to start from


class Spectra(NamedTuple):
    """Spectra of up to eight fields."""

    values: Any  # float64, flat: real and imaginary parts in turn, m by m
    columns: Any  # int64, (T + 2,): first coefficient of each wavenumber, and the end
    extra: int  # 0 or 1: degrees go up to the truncation plus this
    lanes: Any  # int64, (8,): offset of the field in each lane, doubles; missing fields share the last one's
    fields: int  # 1 … 8


class Functions(NamedTuple):
    """The functions ``p_l`` of one wavenumber; addresses are of float64 unless it says otherwise."""

    count: int  # values of ell: 0 … count - 1
    a: Any  # address of the recurrence's first factors, 1
    b: Any  # address of its second factors, 1
    term: int  # where this wavenumber's factors start in ``a`` and ``b``
    squares: Any  # address of μ² of every latitude, padded to whole blocks
    first: Any  # address, int64: first ell that matters, of every block of every wavenumber
    seeds: Any  # address of the two values to start from, 2·BLOCK for every block of every wavenumber
    block: int  # number of this wavenumber's first block in ``first`` and ``seeds``
    blocks: int  # blocks of a wavenumber
    following: int  # doubles from the seeds of a block to those of the thread's next wavenumber


class Weights(NamedTuple):
    """Factors of one wavenumber between ``P_n`` and ``p_l``; addresses of float64."""

    even: Any
    carry: Any
    odd: Any
    term: int  # place of the first ell in all three


class Column(NamedTuple):
    """One wavenumber of ``Spectra``."""

    values: Any  # address of ``Spectra.values``
    place: int  # its first coefficient in a field, doubles
    lanes: Any  # address of ``Spectra.lanes``
    fields: int  # 1 … 8
    degrees: int  # coefficients


@kernel(inline=True)
def terms(degrees):
    """Values of ell for ``degrees`` coefficients."""
    return (degrees - 1) // 2 + 1


@kernel(inline=True)
def any_wave(tables, spectra, threads):
    """``Functions``, ``Weights`` and ``Column`` of no wavenumber yet, from the plan's ``tables`` (``LegendreTables``)
    and ``spectra`` (``Spectra``).

    Each of ``threads`` threads takes every ``threads``-th wavenumber.  Made once a thread: numba counts the
    references to an array with locked instructions wherever its address is taken.
    """
    blocks, factors = tables.first.shape[1], tables.factors
    a, b = address(factors[0]), address(factors[1])
    squares, first, seeds = address(tables.squares), address(tables.first), address(tables.seeds)
    return (
        Functions(0, a, b, 0, squares, first, seeds, 0, blocks, threads * blocks * tables.seeds.shape[2]),
        Weights(address(factors[2]), address(factors[3]), address(factors[4]), 0),
        Column(address(spectra.values), 0, address(spectra.lanes), spectra.fields, 0),
    )


@kernel(inline=True)
def wave_at(wave, m, tables, spectra):
    """``wave`` (of ``any_wave``) at wavenumber ``m``; ``tables`` and ``spectra`` as there."""
    (_, a, b, _, squares, first, seeds, _, blocks, following), (even, carry, odd, _), column = wave
    term, degrees = tables.offset[m], spectra.columns.size - 1 + spectra.extra - m
    return (
        Functions(terms(degrees), a, b, term, squares, first, seeds, m * blocks, blocks, following),
        Weights(even, carry, odd, term),
        Column(column.values, 2 * spectra.columns[m], column.lanes, column.fields, degrees),
    )


@kernel(inline=True)
def first_of(functions, block):
    """First ell of ``functions`` that matters to a ``block`` of latitudes, by number."""
    return at(functions.first, functions.block + block)


@kernel(inline=True)
def step(functions, ell, x, q, p):
    """``p_l, p_{l+1}`` from ``q`` = ``p_{l-1}`` and ``p`` = ``p_l``, ``l = ell``; ``x`` = μ², three vectors
    each, with the factors of ``functions`` (``Functions``)."""
    a, b = at(functions.a, functions.term + ell), at(functions.b, functions.term + ell)
    return p, (
        fms(fma(a, x[0], b), p[0], q[0]),
        fms(fma(a, x[1], b), p[1], q[1]),
        fms(fma(a, x[2], b), p[2], q[2]),
    )


@kernel(inline=True)
def step_one(functions, ell, x, q, p):
    """``step`` of one vector each: ``functions``, ``ell``, ``x``, ``q`` and ``p`` are as there."""
    a, b = spread(at(functions.a, functions.term + ell)), spread(at(functions.b, functions.term + ell))
    return p, fms(fma(a, x, b), p, q)


@kernel(inline=True)
def begin(functions, block, state, place):
    """Seeds of a ``block`` of latitudes of ``functions`` (``Functions``) to ``state[place:]``.

    Meanwhile the seeds of the same block of the thread's next wavenumber are asked for.
    """
    here = 2 * BLOCK * (functions.block + block)
    for i in range(0, 2 * BLOCK, LANES):
        store(state, place + i, load(functions.seeds, here + i))
        prefetch(functions.seeds, here + i + functions.following)


@kernel(inline=True)
def build(functions, block, ell, count, panel, width, state):
    """``p_l`` of the 24 latitudes of a ``block`` for ``count`` values of ell from ``ell`` on; ``state`` carries two on.

    Where a vector takes two registers, half of the latitudes after the other: all would need eighteen.  ``panel``,
    which is written, and ``state`` are an address and a place; ``width``: doubles from one ell to the next.
    """
    for part in range(0, BLOCK, 3 * NARROW):
        x, kept = load_as(functions.squares, block * BLOCK + part, _PART), state[1] + part
        q, p = load_as(state[0], kept, _PART), load_as(state[0], kept + BLOCK, _PART)
        for i in range(count):
            store(panel[0], panel[1] + i * width + part, p)
            q, p = step(functions, ell + i, x, q, p)
        store(state[0], kept, q)
        store(state[0], kept + BLOCK, p)


@kernel
def build_or_zero(functions, block, ell, end, panel, width, state):
    """As ``build``, ``functions``, ``panel`` and ``width`` too, for ``ell … end - 1``, with zeros where ``p_l``
    does not matter yet; the state of block
    number ``block`` is the ``block``-th of ``state`` (address of float64)."""
    start, kept = first_of(functions, block), 2 * BLOCK * block
    low = min(max(start, ell), end) - ell
    for i in range(low):
        store(panel[0], panel[1] + i * width, zeros(THREE))
    if start < end:
        if start >= ell:
            begin(functions, block, state, kept)
        build(functions, block, ell + low, end - ell - low, (panel[0], panel[1] + low * width), width, (state, kept))


@kernel
def to_functions(column, weights, edge, c):
    """Coefficients of ``p_l`` into ``c`` (ell, 4, 8), which has room for eight degrees more, from those of ``P_n``.

    ``edge`` (8, 8) is scratch; both are addresses of float64.
    """
    even, carry, odd, term = weights
    size, whole = 2 * column.degrees, 2 * column.degrees // LANES * LANES
    for n in range(0, size, LANES):
        place = column.place + n
        if n < whole and column.fields == LANES:
            transpose_block(column.values, place, at(column.lanes, 1), c, LANES * n, LANES)
            continue
        for f in range(LANES):
            for i in range(LANES):
                store(edge, LANES * f + i, at(column.values, at(column.lanes, f) + place + i) if n + i < size else 0.0)
        transpose_block(edge, 0, LANES, c, LANES * n, LANES)
    last = terms(column.degrees) - 1
    for ell in range(last + 1):
        place, above = SPAN * ell, SPAN * min(ell + 1, last)
        u, v, w = spread(at(even, term + ell)), spread(0.0), spread(at(odd, term + ell))
        if ell < last:
            v = spread(at(carry, term + ell))
        store(c, place, fma(u, load(c, place), v * load(c, above)))
        store(c, place + LANES, fma(u, load(c, place + LANES), v * load(c, above + LANES)))
        store(c, place + 2 * LANES, w * load(c, place + 2 * LANES))
        store(c, place + 3 * LANES, w * load(c, place + 3 * LANES))
    if 2 * last + 1 == column.degrees:
        store(c, SPAN * last + 2 * LANES, spread(0.0))
        store(c, SPAN * last + 3 * LANES, spread(0.0))


@kernel
def from_functions(c, weights, edge, column):
    """Transpose of ``to_functions``: coefficients of ``P_n`` of the fields that there are.

    ``c``, which is spent, ``weights``, ``edge`` and ``column`` as there; the last is written.
    """
    even, carry, odd, term = weights
    size = 2 * column.degrees
    for ell in range(terms(column.degrees) - 1, -1, -1):
        place, below = SPAN * ell, SPAN * max(ell - 1, 0)
        u, v, w = spread(at(even, term + ell)), spread(0.0), spread(at(odd, term + ell))
        if ell:
            v = spread(at(carry, term + ell - 1))
        store(c, place, fma(u, load(c, place), v * load(c, below)))
        store(c, place + LANES, fma(u, load(c, place + LANES), v * load(c, below + LANES)))
        store(c, place + 2 * LANES, w * load(c, place + 2 * LANES))
        store(c, place + 3 * LANES, w * load(c, place + 3 * LANES))
    whole = size // LANES * LANES
    for n in range(0, size, LANES):
        place = column.place + n
        if n < whole and column.fields == LANES:
            transpose_block(c, LANES * n, LANES, column.values, place, at(column.lanes, 1))
            continue
        transpose_block(c, LANES * n, LANES, edge, 0, LANES)
        for f in range(column.fields):
            for i in range(min(LANES, size - n)):
                store(column.values, at(column.lanes, f) + place + i, at(edge, LANES * f + i))


@emitted(lambda factor, strip, sums: sums)
def add_scaled(builder, factor, strip, sums):
    """``sums + factor · strip``, one row of the register block: ``factor`` is a vector, the others tuples of them."""
    pairs = zip(cgutils.unpack_tuple(builder, strip), cgutils.unpack_tuple(builder, sums), strict=True)
    return cgutils.pack_array(builder, [fused(builder, factor, *pair) for pair in pairs])


@emitted(lambda shape: types.UniTuple(Lanes(types.float64, shape.dtype.count), shape.count))
def zeros(builder, shape):
    """Zeros in what ``load_as`` loads of a ``shape``."""
    return ir.Constant(ir.ArrayType(ir.VectorType(ir.DoubleType(), len(shape.type.element)), len(shape.type)), None)


@kernel(inline=True)
def emit(values, place, vectors, streaming):
    """Write a tuple of ``vectors`` to ``values`` from ``place`` on, past the caches if ``streaming``."""
    if streaming:
        stream(values, place, vectors)
    else:
        store(values, place, vectors)


@kernel(inline=True)
def zero6():
    """Six strips of zeros: the sums of six latitudes or six ``ell``."""
    z = zeros(ONE_STRIP)
    return z, z, z, z, z, z


@kernel(inline=True)
def load6(values, place):
    """The six strips that begin at ``place`` of ``values``, a quad apart."""
    return (
        load_as(values, place, ONE_STRIP),
        load_as(values, place + SPAN, ONE_STRIP),
        load_as(values, place + 2 * SPAN, ONE_STRIP),
        load_as(values, place + 3 * SPAN, ONE_STRIP),
        load_as(values, place + 4 * SPAN, ONE_STRIP),
        load_as(values, place + 5 * SPAN, ONE_STRIP),
    )


@kernel(inline=True)
def store6(values, place, six):
    """Write ``six`` to ``values`` from ``place`` on, a quad apart."""
    store(values, place, six[0])
    store(values, place + SPAN, six[1])
    store(values, place + 2 * SPAN, six[2])
    store(values, place + 3 * SPAN, six[3])
    store(values, place + 4 * SPAN, six[4])
    store(values, place + 5 * SPAN, six[5])
