"""One wavenumber m: its Legendre functions p_l, computed along with the sums that need them, and their coefficients.

Functions, at μ = sin φ (source and factors: ``legendre``)::

    p_{l+1} = (a_l μ² + b_l) p_l − p_{l−1},    P_{m+2l} = even_l p_l + carry_{l−1} p_{l−1},    P_{m+2l+1} = μ odd_l p_l

So Σ_n s_n P_n becomes two sums over l of p_l, one that is even in μ and one that is odd.  ``to_functions`` computes
their coefficients from s_n, ``from_functions`` does the same for the transposed sums::

    even_l s_{m+2l} + carry_l s_{m+2l+2} of the even part,    odd_l s_{m+2l+1} of the odd one

The factor μ of the odd part is not here, nor is the weight of the quadrature: both are in the scales with which
``rows`` reads and writes a Fourier buffer.

What makes it fast: one recurrence, two fused operations a latitude, serves both parities, and l that add nothing are
skipped.  A transform reads each seed once, so seeds are asked for ahead; what that gains has no number here.  ``plan``,
``legendre_one`` and ``legendre_eight`` have measured times.

Three units of work recur, all float64 (eight and 24 are ``LANES`` and ``BLOCK``; in WebAssembly these are 2 and 6)::

    block   24 latitudes from north to south, three vectors of eight:  | 0 … 7 | 8 … 15 | 16 … 23 |
            both are numbered from the pole
    state   where the recurrence of a block stands:                    | 24 values of p_{l−1} | 24 values of p_l |
    quad    one l of the coefficients, or one wavenumber of a row, of eight fields in lanes (in the Fourier buffers of
            ``legendre_one``, one wavenumber of eight rows of one field):
                       | even, real: 8 fields | even, imaginary: 8 | odd, real: 8 | odd, imaginary: 8 |

A strip is the part of a quad of which six fit into the registers: all of it where a vector is one register, else one of
the four vectors.  Below, ``functions``, ``weights`` and ``column`` are those of one wavenumber (:class:`Wave`);
``values`` is an address of float64 and ``place`` an offset from it, in doubles; ``streaming`` says whether to write
whole cache lines past the caches.
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.vector import (
    LANES,
    NARROW,
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

#: Whether a vector is one register: of 512 bits, in WebAssembly of 128.  Else it takes two of 256 bits or four of 128.
WHOLE = NARROW == LANES
#: Doubles of a quad, and of a strip.
SPAN = 4 * LANES
STRIP = SPAN if WHOLE else LANES
#: Vectors of a block of latitudes, and latitudes: three vectors of eight, four groups of six.
VECTORS = 3
BLOCK = VECTORS * LANES
# what ``load_as`` is told to load: the latitudes of a block, a quad, a strip, three narrow vectors
THREE = ((0.0,) * LANES,) * 3
QUAD = ((0.0,) * LANES,) * 4
ONE_STRIP = ((0.0,) * LANES,) * (STRIP // LANES)
_THREE_NARROW = ((0.0,) * NARROW,) * 3


class LegendreTables(NamedTuple):
    """What a plan knows of the Legendre functions of wavenumbers 0 … T and degrees up to T + 1."""

    factors: np.ndarray  # float64, (5, terms): a, b, even, carry, odd of ``legendre.coefficients``
    offset: np.ndarray  # int64, (T + 1,): where the terms of each wavenumber start in a row of ``factors``
    squares: np.ndarray  # float64, (24 · blocks,): μ² of the northern latitudes, then zeros
    rows: int  # latitudes without padding
    first_row: np.ndarray  # int64, (T + 1,): first latitude that carries each wavenumber
    #: int16, (T + 1, 24 · blocks): first ell that matters to a latitude, or to one north of it in its block; it never
    #: grows towards the equator
    first: np.ndarray
    seeds: np.ndarray  # float64, (T + 1, blocks, 2·BLOCK): p_{l−1} of a block, then p_l, for l = ``first_of``
    vector_seeds: np.ndarray  # float64, (T + 1, 3 · blocks, 2·LANES): the same of a vector, l = ``first_of_vector``


class Spectra(NamedTuple):
    """Spectra of up to eight fields."""

    values: Any  # float64, flat: real and imaginary parts in turn, m by m
    columns: Any  # int64, (T + 2,): first coefficient of each wavenumber, and the end
    extra: int  # 0 or 1: degrees go up to the truncation plus this
    lanes: Any  # int64, (8,): offset of the field in each lane, doubles; missing fields share the last one's
    fields: int  # 1 … 8


class Share(NamedTuple):
    """Which part of the work is done: number ``thread``, and every ``threads``-th from there on."""

    thread: int
    threads: int


class Functions(NamedTuple):
    """The functions ``p_l`` of one wavenumber; addresses are of float64 unless it says otherwise."""

    count: int  # values of ell: 0 … count - 1
    a: Any  # address of the recurrence's first factors
    b: Any  # address of its second factors
    term: int  # where this wavenumber's factors start in ``a`` and ``b``
    squares: Any  # address of μ² of every latitude, padded to whole blocks
    #: address, int16: first ell that matters, of every latitude of every block and wavenumber; ``count`` or more: never
    first: Any
    seeds: Any  # address of the two values to start from, 2·BLOCK for every block of every wavenumber
    vector_seeds: Any  # the same, 2·LANES for every vector of latitudes
    block: int  # number of this wavenumber's first block among those of all wavenumbers
    blocks: int  # blocks of a wavenumber
    following: int  # doubles from the seeds of a block, or vector, to those of the thread's next wavenumber


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
    degrees: int  # how many it has


class Wave(NamedTuple):
    """All that concerns one wavenumber."""

    functions: Functions
    weights: Weights
    column: Column


class Panel(NamedTuple):
    """``p_l`` of some ell, one a row, and of neighbouring latitudes."""

    values: Any  # address of float64
    place: int  # of the first ell and latitude, doubles
    width: int  # from one ell to the next, doubles


class Ahead(NamedTuple):
    """What is asked for while something is computed or written, so that it arrives from memory meanwhile."""

    values: Any  # address of float64
    place: int  # where it begins, doubles
    pace: int  # doubles a term, or for every ``NARROW`` points of a row


class State(NamedTuple):
    """Where the recurrence of a block stands."""

    values: Any  # address of float64
    place: int  # of the block, doubles


@kernel(inline=True)
def terms(degrees):
    """Values of ell for ``degrees`` coefficients."""
    return (degrees - 1) // 2 + 1


@kernel(inline=True)
def any_wave(tables, spectra, threads):
    """The ``Wave`` of no wavenumber yet, from the plan's ``tables`` (``LegendreTables``) and ``spectra`` (``Spectra``).

    Each of ``threads`` threads takes every ``threads``-th wavenumber.  Made once a thread: numba counts the
    references to an array with locked instructions wherever its address is taken.
    """
    blocks = tables.seeds.shape[1]
    functions = Functions(
        count=0,
        a=address(tables.factors[0]),
        b=address(tables.factors[1]),
        term=0,
        squares=address(tables.squares),
        first=address(tables.first),
        seeds=address(tables.seeds),
        vector_seeds=address(tables.vector_seeds),
        block=0,
        blocks=blocks,
        following=threads * blocks * tables.seeds.shape[2],
    )
    weights = Weights(
        even=address(tables.factors[2]),
        carry=address(tables.factors[3]),
        odd=address(tables.factors[4]),
        term=0,
    )
    column = Column(
        values=address(spectra.values),
        place=0,
        lanes=address(spectra.lanes),
        fields=spectra.fields,
        degrees=0,
    )
    return Wave(functions, weights, column)


@kernel(inline=True)
def wave_at(wave, m, tables, spectra):
    """``wave`` (of ``any_wave``) at wavenumber ``m``; ``tables`` and ``spectra`` as there."""
    functions = wave.functions
    weights = wave.weights
    column = wave.column
    term = tables.offset[m]
    degrees = spectra.columns.size - 1 + spectra.extra - m
    return Wave(
        Functions(
            count=terms(degrees),
            a=functions.a,
            b=functions.b,
            term=term,
            squares=functions.squares,
            first=functions.first,
            seeds=functions.seeds,
            vector_seeds=functions.vector_seeds,
            block=m * functions.blocks,
            blocks=functions.blocks,
            following=functions.following,
        ),
        Weights(even=weights.even, carry=weights.carry, odd=weights.odd, term=term),
        Column(
            values=column.values,
            place=2 * spectra.columns[m],
            lanes=column.lanes,
            fields=column.fields,
            degrees=degrees,
        ),
    )


@kernel(inline=True)
def first_at(functions, latitude):
    """First ell of ``functions`` that matters to the ``latitude`` of this number, or to one north of it in its block.

    For smaller ell p_l is so small there (``legendre.TINY``; near the poles p_l ~ cosᵐφ) that it is left out.
    """
    return at(functions.first, BLOCK * functions.block + latitude)


@kernel(inline=True)
def first_of(functions, block):
    """First ell of ``functions`` that matters to any latitude of a ``block``: to its southernmost."""
    return first_at(functions, BLOCK * block + BLOCK - 1)


@kernel(inline=True)
def first_of_vector(functions, vector):
    """First ell of ``functions`` that matters to any latitude of a ``vector``, or to one north of it in its block."""
    return first_at(functions, LANES * vector + LANES - 1)


@kernel(inline=True)
def step(functions, ell, x, q, p):
    """``p_l, p_{l+1}`` with ``l = ell``, three vectors each, of ``q`` = ``p_{l-1}``, ``p`` = ``p_l``, ``x`` = μ²."""
    a = at(functions.a, functions.term + ell)
    b = at(functions.b, functions.term + ell)
    return p, (
        fms(fma(a, x[0], b), p[0], q[0]),
        fms(fma(a, x[1], b), p[1], q[1]),
        fms(fma(a, x[2], b), p[2], q[2]),
    )


@kernel(inline=True)
def step_one(functions, ell, x, q, p):
    """``step`` of one vector each: ``functions``, ``ell``, ``x``, ``q`` and ``p`` are as there."""
    a = spread(at(functions.a, functions.term + ell))
    b = spread(at(functions.b, functions.term + ell))
    return p, fms(fma(a, x, b), p, q)


@kernel(inline=True)
def seeds_of(functions, block):
    """Place of the two values from which the recurrence of a ``block`` starts in ``functions.seeds``."""
    return 2 * BLOCK * (functions.block + block)


@kernel(inline=True)
def vector_seeds_of(functions, vector):
    """Place in ``functions.vector_seeds`` of the two values from which the recurrence of a ``vector`` starts."""
    return 2 * LANES * (VECTORS * functions.block + vector)


@kernel(inline=True)
def begin(functions, block, state):
    """The seeds of a ``block`` of latitudes to its ``state``.

    Meanwhile the seeds of the same block of the thread's next wavenumber are asked for.
    """
    seeds = seeds_of(functions, block)
    for i in range(0, 2 * BLOCK, LANES):
        store(state.values, state.place + i, load(functions.seeds, seeds + i))
        prefetch(functions.seeds, seeds + i + functions.following)


@kernel(inline=True)
def build(functions, block, span, panel, state):
    """``p_l`` of the 24 latitudes of a ``block`` for ``span``, the first ell and the end, to the ``panel``.

    ``state``, which stands at the first ell, goes on to the end.  Where a vector takes two registers, the second half
    of the latitudes comes after the first: with μ² and two values of p, all would need eighteen of sixteen registers.
    """
    first, end = span
    for part in range(0, BLOCK, 3 * NARROW):
        earlier = state.place + part
        later = earlier + BLOCK
        x = load_as(functions.squares, block * BLOCK + part, _THREE_NARROW)
        q = load_as(state.values, earlier, _THREE_NARROW)
        p = load_as(state.values, later, _THREE_NARROW)
        for ell in range(first, end):
            store(panel.values, panel.place + (ell - first) * panel.width + part, p)
            q, p = step(functions, ell, x, q, p)
        store(state.values, earlier, q)
        store(state.values, later, p)


@kernel
def build_or_zero(functions, block, span, panel, states):
    """As ``build``, with zeros for those ell of the ``span`` that do not matter to the block yet.

    ``states`` is the address of the states of all blocks.  Spans of a block follow each other without a gap: only the
    one in which the block begins takes the seeds, a later one goes on from the state.
    """
    first, end = span
    start = first_of(functions, block)
    low = min(max(start, first), end)
    for ell in range(first, low):
        store(panel.values, panel.place + (ell - first) * panel.width, zeros(THREE))
    if start < end:
        state = State(states, 2 * BLOCK * block)
        if start >= first:
            begin(functions, block, state)
        rest = Panel(panel.values, panel.place + (low - first) * panel.width, panel.width)
        build(functions, block, (low, end), rest, state)


@kernel(inline=True)
def _weigh(c, ell, neighbour, weights, carry):
    """Quad ``ell`` of ``c`` times its weights, plus ``carry`` times the even part of quad ``neighbour``."""
    here = SPAN * ell
    there = SPAN * neighbour
    even = spread(at(weights.even, weights.term + ell))
    odd = spread(at(weights.odd, weights.term + ell))
    store(c, here, fma(even, load(c, here), carry * load(c, there)))
    store(c, here + LANES, fma(even, load(c, here + LANES), carry * load(c, there + LANES)))
    store(c, here + 2 * LANES, odd * load(c, here + 2 * LANES))
    store(c, here + 3 * LANES, odd * load(c, here + 3 * LANES))


@kernel
def to_functions(column, weights, edge, c):
    """Coefficients of ``p_l`` into ``c`` (ell, 4, 8), with room for six more numbers a field, from those of ``P_n``.

    ``edge`` (8, 8) is scratch; both are addresses of float64.  Squares of eight numbers of eight fields are transposed,
    so that fields come into lanes; where numbers or fields are missing, from ``edge``, filled up number by number.
    """
    size = 2 * column.degrees
    whole = size // LANES * LANES
    for n in range(0, size, LANES):
        place = column.place + n
        if n < whole and column.fields == LANES:
            # lanes[1]: from one field to the next
            transpose_block(column.values, (place, at(column.lanes, 1)), c, (LANES * n, LANES))
            continue
        for lane in range(LANES):
            for i in range(LANES):
                number = at(column.values, at(column.lanes, lane) + place + i) if n + i < size else 0.0
                store(edge, LANES * lane + i, number)
        transpose_block(edge, (0, LANES), c, (LANES * n, LANES))
    last = terms(column.degrees) - 1
    for ell in range(last):  # upwards: the quad above is still without its weights
        _weigh(c, ell, ell + 1, weights, spread(at(weights.carry, weights.term + ell)))
    _weigh(c, last, last, weights, spread(0.0))
    if 2 * last + 1 == column.degrees:  # without an odd coefficient
        store(c, SPAN * last + 2 * LANES, spread(0.0))
        store(c, SPAN * last + 3 * LANES, spread(0.0))


@kernel
def from_functions(c, weights, edge, column):
    """Transpose of ``to_functions``: coefficients of ``P_n`` of the fields that there are.

    ``c``, which is spent, ``weights``, ``edge`` and ``column`` as there; the last is written.
    """
    for ell in range(terms(column.degrees) - 1, 0, -1):  # downwards: the quad below is still without its weights
        _weigh(c, ell, ell - 1, weights, spread(at(weights.carry, weights.term + ell - 1)))
    _weigh(c, 0, 0, weights, spread(0.0))
    size = 2 * column.degrees
    whole = size // LANES * LANES
    for n in range(0, size, LANES):
        place = column.place + n
        if n < whole and column.fields == LANES:
            # lanes[1]: from one field to the next
            transpose_block(c, (LANES * n, LANES), column.values, (place, at(column.lanes, 1)))
            continue
        transpose_block(c, (LANES * n, LANES), edge, (0, LANES))
        for lane in range(column.fields):
            for i in range(min(LANES, size - n)):
                store(column.values, at(column.lanes, lane) + place + i, at(edge, LANES * lane + i))


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
def write(values, place, vectors, streaming):
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
