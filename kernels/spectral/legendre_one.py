"""Legendre transforms of one field: SIMD lanes are latitudes.

One wavenumber, with its functions p_l(μ) of latitude j and coefficients c_l (``functions``)::

    inverse   S_j = Σ_l c_l p_l(μ_j)        direct   c_l = Σ_j S_j p_l(μ_j)

for four numbers at a time, real and imaginary, even and odd in μ.  S_j is a Fourier component of northern latitude j,
north plus or minus south; in the direct transform it has the weight of the quadrature (``plan.Plan._scales``).  No
table of p_l is kept: the recurrence runs along.

Inverse: the sums of some latitudes stay in registers over all l.  Where a vector is one register of 512 bits these are
three vectors, or two where threes do not come out even; else one vector.  With registers of 512 bits one at a time
takes 16 to 19 % longer.  Each vector begins at the first l that matters to it: where all of a block began together, the
Legendre part of an inverse transform took 1.03 times as long (T159, Zen 4).

Direct: two l at a time are summed over the latitudes of a slab.  Their eight sums and the factors of the recurrence are
twelve registers; a register of latitudes takes seven loads and two stores for twelve fused operations.  Two p_l of
every latitude wait in memory for the next two l, so no latitude waits for itself.  The alternative, one l of one block
at a time, takes 1.02 to 1.06 times as long with registers of 512 bits, 1.3 to 1.8 times with those of 256.

Layouts (float64)::

    coefficients   c[l, 4]      even real, even imaginary, odd real, odd imaginary
    Fourier buffer [4, 8]       the same four numbers of eight latitudes in lanes, for every (vector of latitudes,
                                wavenumber): a quad
    state          [2, padded]  p_{l−1} of every latitude, then p_l of every latitude, in whole blocks

The inverse takes 1.16 (T159) and 1.08 times (T399) as long as the operations of its sums need at the measured peak
(Zen 4, 58 Gflop/s), the direct transform 1.27 and 1.12 times: with 20 to 100 turns a loop, starts and ends of loops
show, and coefficients take 4 of the 112 µs of T159.  What prefetches and the height of a slab buy has no number
here; ``book/peers.md`` has whole transforms.

Functions share ``functions``, ``weights`` and ``column`` of a wavenumber ``m`` (``functions.Wave``); ``c``, the address
of the coefficients; ``vector``, the number of eight latitudes; and the :class:`Target` of the inverse, or the
:class:`Source` of the direct transform.
"""

from typing import Any, NamedTuple

from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.vector import (
    LANES,
    NARROW,
    address,
    at,
    fence,
    fma,
    fms,
    joined,
    load,
    load_as,
    load_narrow,
    prefetch,
    shuffle,
    spread,
    store,
    store_some,
    wide,
)
from supercomputers_rerun.kernels.spectral.functions import (
    BLOCK,
    QUAD,
    SPAN,
    WHOLE,
    add_scaled,
    any_wave,
    first_of_vector,
    step_one,
    terms,
    vector_seeds_of,
    wave_at,
    write,
    zeros,
)

#: Most vectors whose two l are summed at once: μ², state and data of 432 latitudes, 1 + 2 + 4 doubles each, take 24
#: KiB, and are read again for the next two l from the first-level cache.
SLAB = 54
#: Coefficients of one l: even and odd, real and imaginary.
PARTS = 4
# the width in which ``load_as`` loads them
_FOUR = (0.0,) * PARTS
# two numbers, each twice, by a vector of the one and a vector of the other
_pairs = shuffle(0, 0, LANES, LANES)
# three stages of exchanges in an 8×8 transposition: of neighbours, of pairs, of halves
_low1 = shuffle(0, 8, 2, 10, 4, 12, 6, 14)
_high1 = shuffle(1, 9, 3, 11, 5, 13, 7, 15)
_low2 = shuffle(0, 1, 8, 9, 4, 5, 12, 13)
_high2 = shuffle(2, 3, 10, 11, 6, 7, 14, 15)
_low4 = shuffle(0, 1, 2, 3, 8, 9, 10, 11)
_high4 = shuffle(4, 5, 6, 7, 12, 13, 14, 15)


class Target(NamedTuple):
    """The latitude-major Fourier buffer, which the inverse transform writes."""

    values: Any  # address of float64
    places: Any  # address, int64: where each vector of latitudes starts, doubles
    streaming: bool  # write past the caches


class Source(NamedTuple):
    """One wavenumber of the wavenumber-major Fourier buffer, which the direct transform reads."""

    values: Any  # address of float64
    place: int  # where the quad of latitudes 0 … 7 would stand, doubles; that of latitude j is SPAN · (j // 8) further
    following: int  # the same of the thread's next wavenumber


class Latitudes(NamedTuple):
    """Latitudes from ``first`` to ``end``, whole vectors, that are summed."""

    first: int
    end: int


class Pair(NamedTuple):
    """Two l, the earlier of them, and where their sums go."""

    ell: int
    #: address of float64: eight zeros, then c[l, 4].  ``_from_functions`` reads one l back, for l = 0 among the zeros
    out: Any
    fresh: bool  # whether these sums are the first, and not added to others


# Coefficients of P_n and of p_l


@kernel(inline=True)
def _factors(weights, same, carried):
    """The vectors even, even, odd, odd of l number ``same``, and carry, carry, 0, 0 of l number ``carried``."""
    zero = spread(0.0)
    even = wide(at(weights.even, weights.term + same), zero)
    odd = wide(at(weights.odd, weights.term + same), zero)
    carry = wide(at(weights.carry, weights.term + carried), zero)
    return _pairs(even, odd), _pairs(carry, zero)


@kernel
def _to_functions(column, weights, c):
    """Coefficients of ``p_l`` of one wavenumber from those of ``P_n`` (see ``functions``)."""
    spectrum = column.values
    last = terms(column.degrees) - 1
    for ell in range(last):
        here = column.place + PARTS * ell
        own, carry = _factors(weights, ell, ell)
        above = carry * load_as(spectrum, here + PARTS, _FOUR)
        store(c, PARTS * ell, fma(own, load_as(spectrum, here, _FOUR), above))
    here = column.place + PARTS * last
    even = at(weights.even, weights.term + last)
    odd = at(weights.odd, weights.term + last)
    store(c, PARTS * last, even * at(spectrum, here))
    store(c, PARTS * last + 1, even * at(spectrum, here + 1))
    lone = 2 * last + 1 == column.degrees  # without an odd coefficient
    store(c, PARTS * last + 2, 0.0 if lone else odd * at(spectrum, here + 2))
    store(c, PARTS * last + 3, 0.0 if lone else odd * at(spectrum, here + 3))


@kernel
def _from_functions(out, weights, column):
    """Transpose of ``_to_functions``; ``out``: eight zeros, then c[l, 4]."""
    spectrum = column.values
    for ell in range(terms(column.degrees)):
        place = LANES + PARTS * ell
        own, carry = _factors(weights, ell, ell - 1)  # of l = 0 what stands before in the table, times zeros of ``out``
        below = carry * load_as(out, place - PARTS, _FOUR)
        numbers = fma(own, load_as(out, place, _FOUR), below)
        here = column.place + PARTS * ell
        if 2 * ell + 1 < column.degrees:
            store(spectrum, here, numbers)
        else:
            store_some(spectrum, here, numbers, 0b0011)  # without an odd coefficient


@kernel(inline=True)
def _begin(functions, vector):
    """μ² of a ``vector`` of latitudes, by number, and the two values from which its recurrence starts.

    Those of the thread's next wavenumber are asked for.
    """
    seeds = vector_seeds_of(functions, vector)
    prefetch(functions.vector_seeds, seeds + functions.following)
    prefetch(functions.vector_seeds, seeds + functions.following + LANES)
    q = load(functions.vector_seeds, seeds)
    return load(functions.squares, LANES * vector), q, load(functions.vector_seeds, seeds + LANES)


# Inverse


@kernel(inline=True)
def _in_all_lanes(c, ell):
    """The four coefficients of an ``ell``, each in all lanes."""
    place = PARTS * ell
    return spread(at(c, place)), spread(at(c, place + 1)), spread(at(c, place + 2)), spread(at(c, place + 3))


@kernel(inline=True)
def _write_vector(target, vector, m, sums):
    """Write the ``sums`` of wavenumber ``m`` of a ``vector`` of latitudes."""
    write(target.values, at(target.places, vector) + m * SPAN, sums, target.streaming)


@kernel
def _sum_three(vector, m, functions, c, target):
    """Sums over l for a ``vector`` of latitudes and the two south of it into the Fourier buffer.

    The southernmost begins alone, at the first l that matters to it; the middle one, then the northernmost join: the
    first l never grows towards the equator, since towards a pole p_l decays without zeros.
    """
    x0, q0, p0 = _begin(functions, vector)
    x1, q1, p1 = _begin(functions, vector + 1)
    x2, q2, p2 = _begin(functions, vector + 2)
    first0 = first_of_vector(functions, vector)
    first1 = first_of_vector(functions, vector + 1)
    sums0 = zeros(QUAD)
    sums1 = zeros(QUAD)
    sums2 = zeros(QUAD)
    for ell in range(first_of_vector(functions, vector + 2), first1):
        sums2 = add_scaled(p2, _in_all_lanes(c, ell), sums2)
        q2, p2 = step_one(functions, ell, x2, q2, p2)
    for ell in range(first1, first0):
        quad = _in_all_lanes(c, ell)
        sums1 = add_scaled(p1, quad, sums1)
        sums2 = add_scaled(p2, quad, sums2)
        q1, p1 = step_one(functions, ell, x1, q1, p1)
        q2, p2 = step_one(functions, ell, x2, q2, p2)
    for ell in range(first0, functions.count):
        quad = _in_all_lanes(c, ell)
        sums0 = add_scaled(p0, quad, sums0)
        sums1 = add_scaled(p1, quad, sums1)
        sums2 = add_scaled(p2, quad, sums2)
        q0, p0 = step_one(functions, ell, x0, q0, p0)
        q1, p1 = step_one(functions, ell, x1, q1, p1)
        q2, p2 = step_one(functions, ell, x2, q2, p2)
    _write_vector(target, vector, m, sums0)
    _write_vector(target, vector + 1, m, sums1)
    _write_vector(target, vector + 2, m, sums2)


@kernel
def _sum_two(vector, m, functions, c, target):
    """:func:`_sum_three` of a ``vector`` and the next."""
    x0, q0, p0 = _begin(functions, vector)
    x1, q1, p1 = _begin(functions, vector + 1)
    first0 = first_of_vector(functions, vector)
    sums0 = zeros(QUAD)
    sums1 = zeros(QUAD)
    for ell in range(first_of_vector(functions, vector + 1), first0):
        sums1 = add_scaled(p1, _in_all_lanes(c, ell), sums1)
        q1, p1 = step_one(functions, ell, x1, q1, p1)
    for ell in range(first0, functions.count):
        quad = _in_all_lanes(c, ell)
        sums0 = add_scaled(p0, quad, sums0)
        sums1 = add_scaled(p1, quad, sums1)
        q0, p0 = step_one(functions, ell, x0, q0, p0)
        q1, p1 = step_one(functions, ell, x1, q1, p1)
    _write_vector(target, vector, m, sums0)
    _write_vector(target, vector + 1, m, sums1)


@kernel
def _sum_one(vector, m, functions, c, target):
    """:func:`_sum_three` of one ``vector``."""
    x, q, p = _begin(functions, vector)
    sums = zeros(QUAD)
    for ell in range(first_of_vector(functions, vector), functions.count):
        # first what the next l waits for: the processor starts the oldest operation that is ready
        q, later = step_one(functions, ell, x, q, p)
        sums = add_scaled(p, _in_all_lanes(c, ell), sums)
        p = later
    _write_vector(target, vector, m, sums)


@kernel
def _sum_in_threes(polar, vectors, m, functions, c, target):
    """Sums over l for vectors ``polar`` to ``vectors`` − 1, three at a time; for the last two or four two at a time
    where threes do not come out even; of a vector alone."""
    vector = polar
    while vector < vectors:
        left = vectors - vector
        if left == 3 or left > 4:
            _sum_three(vector, m, functions, c, target)
            vector += 3
        elif left > 1:
            _sum_two(vector, m, functions, c, target)
            vector += 2
        else:
            _sum_one(vector, m, functions, c, target)
            vector += 1


@kernel
def _sum_one_by_one(polar, vectors, m, functions, c, target):
    """:func:`_sum_in_threes`, one vector at a time."""
    for vector in range(polar, vectors):
        _sum_one(vector, m, functions, c, target)


_sum_all = _sum_in_threes if WHOLE else _sum_one_by_one


@kernel
def inverse(share, tables, spectra, work, buffer):
    """Legendre part of the inverse transform of one field: a ``share`` of the wavenumbers (``functions.Share``).

    ``work`` is the thread's scratch, float64 (scratch_size(T, blocks),); ``buffer`` (``rows.Buffer``), latitude-major,
    is written.
    """
    c = address(work)
    any_m = any_wave(tables, spectra, share.threads)
    vectors = (tables.rows + LANES - 1) // LANES
    target = Target(address(buffer.values), address(buffer.places), buffer.streaming)
    for m in range(share.thread, tables.offset.size, share.threads):
        wave = wave_at(any_m, m, tables, spectra)
        _to_functions(wave.column, wave.weights, c)
        _sum_all(tables.first_row[m] // LANES, vectors, m, wave.functions, c, target)
    fence()


# Direct


@kernel(inline=True)
def _join(functions, vector, ell, state):
    """p_{ell−1} and p_ell of a ``vector`` of latitudes, which joins the sums now, into the ``state`` of all of them.

    They come from the seeds, which stand at the first l that matters: ``ell`` or the next, since l come by two, or an
    earlier one, where the vector to the south joined later.
    """
    x, q, p = _begin(functions, vector)
    start = first_of_vector(functions, vector)
    latitude = LANES * vector
    if start > ell:
        # the recurrence is its own inverse: of p_{l+1} and p_l it gives p_{l-1}
        p, q = step_one(functions, ell, x, p, q)
    for skipped in range(start, ell):
        q, p = step_one(functions, skipped, x, q, p)
    store(state, latitude, q)
    store(state, BLOCK * functions.blocks + latitude, p)


@kernel(inline=True)
def _add(p, values, place, sums):
    """``sums`` plus ``p`` times the same lanes of a quad's four vectors; ``place``: of the first lane in the first."""
    return (
        fma(p, load_narrow(values, place), sums[0]),
        fma(p, load_narrow(values, place + LANES), sums[1]),
        fma(p, load_narrow(values, place + 2 * LANES), sums[2]),
        fma(p, load_narrow(values, place + 3 * LANES), sums[3]),
    )


@kernel(inline=True)
def _half_sums(one, two):
    """Half sums of two vectors, in the halves of one."""
    return _low4(one, two) + _high4(one, two)


# narrow vectors are half sums already
_in_halves = _half_sums if WHOLE else joined


@kernel(inline=True)
def _put_totals(pair, one, two):
    """Write the totals of the lanes of ``one`` and ``two``, four vectors for each l of the ``pair``.

    The exchanges of a transposition, with a sum after each instead: eight vectors become one of eight totals::

        a       | one[0] ×4          | two[0] ×4          |    b, c, d likewise of number 1, 2, 3
        ab      | a b a b            | a b a b            |
        totals  | a b c d, l of pair | a b c d, l + 1     |    as they stand in c[l, 4] and c[l + 1, 4]

    """
    a = _in_halves(one[0], two[0])
    b = _in_halves(one[1], two[1])
    c = _in_halves(one[2], two[2])
    d = _in_halves(one[3], two[3])
    ab = _low1(a, b) + _high1(a, b)
    cd = _low1(c, d) + _high1(c, d)
    totals = _low2(ab, cd) + _high2(ab, cd)
    place = LANES + PARTS * pair.ell
    store(pair.out, place, totals if pair.fresh else totals + load(pair.out, place))


@kernel(inline=True)
def _two_ell(functions, pair, latitudes, state, source):
    """Sums of two l over ``latitudes``, whose ``state`` goes two l on."""
    term = functions.term + pair.ell
    a0 = at(functions.a, term)
    b0 = at(functions.b, term)
    a1 = at(functions.a, term + 1)
    b1 = at(functions.b, term + 1)
    padded = BLOCK * functions.blocks
    zero = wide(0.0, load_narrow(state, 0))  # the load only tells how many lanes; LLVM drops it
    one = zero, zero, zero, zero
    two = zero, zero, zero, zero
    for latitude in range(latitudes.first, latitudes.end, LANES):
        quad = source.place + PARTS * latitude  # four numbers a latitude
        for lane in range(0, LANES, NARROW):
            i = latitude + lane
            x = load_narrow(functions.squares, i)
            q = load_narrow(state, i)
            p = load_narrow(state, padded + i)
            later = fms(fma(a0, x, b0), p, q)
            store(state, i, later)
            store(state, padded + i, fms(fma(a1, x, b1), later, p))
            one = _add(p, source.values, quad + lane, one)
            two = _add(later, source.values, quad + lane, two)
    _put_totals(pair, one, two)


@kernel
def _sum_wavenumber(functions, polar, vectors, out, state, source):
    """Projections of one wavenumber on ``p_l`` into ``out[8 + 4 l …]``, an even number of them; the last may lie beyond
    the last l, runs on the factors that follow in the table, and is not read.

    ``out`` and ``state`` are addresses.  Vectors ``polar`` to ``vectors`` − 1 of latitudes are cut into slabs of one
    height.  Slabs come from the equator; within one each vector, from the equator on, joins the sums at the first l
    that matters to it.  Its data of the next wavenumber are asked for then::

        vector  polar …        pole …          active …        equator
                the slabs      of this slab,   summed so far   the slabs
                to come        to join yet                     done
    """
    slabs = (vectors - polar + SLAB - 1) // SLAB
    height = (vectors - polar + slabs - 1) // slabs  # as even as can be, so that the last is not small
    for equator in range(vectors, polar, -height):
        pole = max(equator - height, polar)
        active = equator
        fresh = equator == vectors
        # the first slab writes all l from 0 on, so that the others can add to them
        start = 0 if fresh else first_of_vector(functions, equator - 1) // 2 * 2
        for ell in range(start, functions.count, 2):
            while active > pole and first_of_vector(functions, active - 1) < ell + 2:
                active -= 1
                _join(functions, active, ell, state)
                for i in range(SPAN * active, SPAN * (active + 1), LANES):
                    prefetch(source.values, source.following + i)
            # from a vector's first latitude on: those of its latitudes to which no l matters add next to nothing
            joint = Latitudes(LANES * active, LANES * equator)
            _two_ell(functions, Pair(ell, out, fresh), joint, state, source)


@kernel
def direct(share, tables, spectra, work, buffer):
    """Legendre part of the direct transform of one field, as the inverse; ``buffer`` is wavenumber-major."""
    any_m = any_wave(tables, spectra, share.threads)
    top = tables.offset.size - 1
    vectors = (tables.rows + LANES - 1) // LANES
    out = address(work)
    state = address(work[work.size - 2 * BLOCK * tables.seeds.shape[1] :])  # behind ``out``, see ``scratch_size``
    data = address(buffer.values)
    store(out, 0, spread(0.0))
    for m in range(share.thread, top + 1, share.threads):
        wave = wave_at(any_m, m, tables, spectra)
        source = Source(data, buffer.places[m], buffer.places[min(m + share.threads, top)])
        _sum_wavenumber(wave.functions, tables.first_row[m] // LANES, vectors, out, state, source)
        _from_functions(out, wave.weights, wave.column)


def scratch_size(truncation: int, blocks: int) -> int:
    """Doubles of private work space a thread needs, for both directions: coefficients, and the state of the direct one.

    There is room behind the last l: l come by two, and sums are written as whole vectors.
    """
    # up to T // 2 + 2 l (degrees go up to T + 1), with their room 16 at least; eight zeros before, a vector behind
    line = PARTS * (truncation // 2 + 2 * LANES) // LANES * LANES + 2 * LANES
    return line + 2 * BLOCK * blocks
