"""Legendre transforms of one field: SIMD lanes are latitudes.

The inverse transform takes three vectors of latitudes at a time where a vector is one register of 512 bits, else one:
one takes 16 to 19 % longer there.  The direct transform sums two values of ell over all latitudes
at a time.  Their eight sums and the factors of the recurrence are twelve registers; a register of latitudes takes seven
loads and two stores for twelve fused operations.  Two ``p_l`` of every latitude wait in memory for the next two ell, so
no latitude waits for itself.  One ell of a block of latitudes at a time takes 1.02 to 1.06 times as long with registers
of 512 bits, 1.3 to 1.8 times with those of 256.

Layouts (float64): coefficient scratch ``c[ell, 4]`` (even-real, even-imaginary, odd-real, odd-imaginary);
Fourier buffers hold ``[4, 8]`` numbers for every (block of eight latitudes, wavenumber).

Functions share ``functions`` (:class:`kernels.spectral.functions.Functions`), ``weights`` (``Weights``) and ``column``
(``Column``) of wavenumber ``m``; ``c``, the address of the coefficients; ``buffer``, the addresses of a
``rows.Buffer`` and whether to write past the caches; ``block``, the number of one; ``data``, the address of the
Fourier buffer, and a ``place`` in it; ``state``, the address of two values of ``p`` of every latitude.
"""

from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.vector import (
    LANES,
    address,
    at,
    fence,
    fma,
    fms,
    load,
    load_as,
    prefetch,
    shuffle,
    spread,
    store,
    store_some,
    wide,
)
from supercomputers_rerun.kernels.spectral.functions import (
    BLOCK,
    NARROW,
    QUAD,
    SPAN,
    THREE,
    WHOLE,
    add_scaled,
    any_wave,
    emit,
    first_of,
    step,
    step_one,
    terms,
    wave_at,
    zeros,
)

SLAB = 448 // BLOCK  # most blocks whose two ell are summed at once: 25 KiB with their data
VECTORS = BLOCK // LANES  # of a block of latitudes
PARTS = 4  # numbers of one ell: even-real, even-imaginary, odd-real, odd-imaginary
_WIDTH = (0.0,) * NARROW
_FOUR = (0.0,) * PARTS
_pairs = shuffle(0, 0, LANES, LANES)
_both = shuffle(*range(LANES))  # of halves
# three stages of exchanges in an 8×8 transposition: of neighbours, of pairs, of halves
_low1, _high1 = shuffle(0, 8, 2, 10, 4, 12, 6, 14), shuffle(1, 9, 3, 11, 5, 13, 7, 15)
_low2, _high2 = shuffle(0, 1, 8, 9, 4, 5, 12, 13), shuffle(2, 3, 10, 11, 6, 7, 14, 15)
_low4, _high4 = shuffle(0, 1, 2, 3, 8, 9, 10, 11), shuffle(4, 5, 6, 7, 12, 13, 14, 15)


@kernel(inline=True)
def _blocks(rows):
    """Full blocks among so many latitudes as ``rows``, and the vectors of latitudes that are left."""
    vectors = (rows + LANES - 1) // LANES
    return vectors // VECTORS, vectors % VECTORS


@kernel
def _inverse_block(block, m, functions, c, buffer):
    """Sums over ``ell`` for 24 latitudes into the Fourier buffer."""
    x = load_as(functions.squares, block * BLOCK, THREE)
    seeds = 2 * BLOCK * (functions.block + block)
    q, p = load_as(functions.seeds, seeds, THREE), load_as(functions.seeds, seeds + BLOCK, THREE)
    for i in range(seeds + functions.following, seeds + functions.following + 2 * BLOCK, LANES):
        prefetch(functions.seeds, i)
    e, f, h = zeros(QUAD), zeros(QUAD), zeros(QUAD)
    for ell in range(first_of(functions, block), functions.count):
        o = PARTS * ell
        quad = spread(at(c, o)), spread(at(c, o + 1)), spread(at(c, o + 2)), spread(at(c, o + 3))
        e = add_scaled(p[0], quad, e)
        f = add_scaled(p[1], quad, f)
        h = add_scaled(p[2], quad, h)
        q, p = step(functions, ell, x, q, p)
    values, places, counts, streaming = buffer
    o, g = m * SPAN, VECTORS * block
    if m < at(counts, g):
        emit(values, at(places, g) + o, e, streaming)
    if m < at(counts, g + 1):
        emit(values, at(places, g + 1) + o, f, streaming)
    if m < at(counts, g + 2):
        emit(values, at(places, g + 2) + o, h, streaming)


@kernel
def _inverse_vector(place, block, m, functions, c, buffer):
    """The same for vector number ``place`` of a block alone, where the last block is not full."""
    o = LANES * place
    x, seeds = load(functions.squares, block * BLOCK + o), 2 * BLOCK * (functions.block + block) + o
    q, p, sums = load(functions.seeds, seeds), load(functions.seeds, seeds + BLOCK), zeros(QUAD)
    prefetch(functions.seeds, seeds + functions.following)
    prefetch(functions.seeds, seeds + functions.following + BLOCK)
    for ell in range(first_of(functions, block), functions.count):
        # first what the next ell waits for: the processor starts the oldest operation that is ready
        q, following = step_one(functions, ell, x, q, p)
        o = PARTS * ell
        quad = spread(at(c, o)), spread(at(c, o + 1)), spread(at(c, o + 2)), spread(at(c, o + 3))
        sums = add_scaled(p, quad, sums)
        p = following
    values, places, counts, streaming = buffer
    g = VECTORS * block + place
    if m < at(counts, g):
        emit(values, at(places, g) + m * SPAN, sums, streaming)


@kernel
def _inverse_vectors(block, m, functions, c, buffer):
    """:func:`_inverse_block`, one vector after the other."""
    for place in range(VECTORS):
        _inverse_vector(place, block, m, functions, c, buffer)


@kernel(inline=True)
def _factors(weights, same, carried):
    """Even, even, odd, odd factor of ell number ``same``, and twice the carry of ell number ``carried``, 0, 0."""
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
def _from_functions(c, weights, column):
    """Transpose of ``_to_functions``; ``c`` begins after eight zeros."""
    spectrum = column.values
    for ell in range(terms(column.degrees)):
        place = LANES + PARTS * ell
        own, carry = _factors(weights, ell, ell - 1)
        below = carry * load_as(c, place - PARTS, _FOUR)
        found = fma(own, load_as(c, place, _FOUR), below)
        here = column.place + PARTS * ell
        if 2 * ell + 1 < column.degrees:
            store(spectrum, here, found)
        else:
            store_some(spectrum, here, found, 0b0011)  # without an odd coefficient


@kernel(inline=True)
def _join(functions, block, ell, state):
    """``p`` of a ``block`` before and at ``ell``, from the seeds where it matters first; one ell back if need be."""
    here, kept, start = 2 * BLOCK * (functions.block + block), BLOCK * block, first_of(functions, block)
    for i in range(0, BLOCK, LANES):
        x = load(functions.squares, BLOCK * block + i)
        q, p = load(functions.seeds, here + i), load(functions.seeds, here + BLOCK + i)
        prefetch(functions.seeds, here + i + functions.following)
        prefetch(functions.seeds, here + BLOCK + i + functions.following)
        if start > ell:
            # the recurrence is its own inverse
            p, q = step_one(functions, ell, x, p, q)
        for skipped in range(start, ell):
            q, p = step_one(functions, skipped, x, q, p)
        store(state, kept + i, q)
        store(state, kept + i + BLOCK * functions.blocks, p)


@kernel(inline=True)
def _add(p, values, place, sums):
    """``sums`` and ``p`` times as many lanes of the quad that begins at ``place`` of ``values``."""
    return (
        fma(p, load_as(values, place, _WIDTH), sums[0]),
        fma(p, load_as(values, place + LANES, _WIDTH), sums[1]),
        fma(p, load_as(values, place + 2 * LANES, _WIDTH), sums[2]),
        fma(p, load_as(values, place + 3 * LANES, _WIDTH), sums[3]),
    )


@kernel(inline=True)
def _joined(one, two):
    """Half sums of two vectors, in the halves of one."""
    return _low4(one, two) + _high4(one, two)


@kernel(inline=True)
def _joined_halves(one, two):
    """Two vectors of half the lanes as one."""
    return _both(one, two)


if not WHOLE:
    _joined = _joined_halves


@kernel(inline=True)
def _put_totals(out, place, one, two, fresh):
    """Write the totals of ``one`` and ``two``, four vectors each, to ``place`` of ``out``, or add them if it is not
    ``fresh``."""
    a, b, c, d = _joined(one[0], two[0]), _joined(one[1], two[1]), _joined(one[2], two[2]), _joined(one[3], two[3])
    a, c = _low1(a, b) + _high1(a, b), _low1(c, d) + _high1(c, d)
    a = _low2(a, c) + _high2(a, c)
    store(out, place, a if fresh else a + load(out, place))


@kernel(inline=True)
def _two_ell(functions, ell, rows, state, data, place, out, fresh):
    """Sums of ``ell`` and the next over latitudes, ``rows`` (the first and the end), whose ``state`` goes two ell on,
    to ``out[8 + 4 ell …]``, added to what is there unless it is ``fresh``."""
    k, after, zero = functions.term + ell, BLOCK * functions.blocks, wide(0.0, load_as(state, 0, _WIDTH))
    a, b, c, d = at(functions.a, k), at(functions.b, k), at(functions.a, k + 1), at(functions.b, k + 1)
    one, two = (zero, zero, zero, zero), (zero, zero, zero, zero)
    for i in range(rows[0], rows[1], NARROW):
        x, q, p = load_as(functions.squares, i, _WIDTH), load_as(state, i, _WIDTH), load_as(state, i + after, _WIDTH)
        r = fms(fma(a, x, b), p, q)
        store(state, i, r)
        store(state, i + after, fms(fma(c, x, d), r, p))
        there = place + SPAN * (i // LANES) + i % LANES
        one, two = _add(p, data, there, one), _add(r, data, there, two)
    _put_totals(out, LANES + PARTS * ell, one, two, fresh)


@kernel
def _direct_wavenumber(functions, row0, rows, out, state, data, place, near):
    """Projections of one wavenumber on ``p_l`` into ``out[8 + 4 ell …]``, an even number of them; the data of the next
    are at ``near``.

    ``row0`` is the first latitude that carries it, ``rows`` the end, in whole vectors; ``out`` and ``state`` are
    addresses.  Slabs of blocks come from the equator; within one each block, from the equator on, joins the sums at the
    first ell that matters to it.
    """
    polar, end = row0 // BLOCK, functions.blocks
    slabs = (end - polar + SLAB - 1) // SLAB
    height = (end - polar + slabs - 1) // slabs
    for equator in range(end, polar, -height):
        pole, active = max(equator - height, polar), equator
        fresh = equator == end
        for ell in range(0 if fresh else first_of(functions, equator - 1) // 2 * 2, functions.count, 2):
            while active > pole and first_of(functions, active - 1) < ell + 2:
                active -= 1
                _join(functions, active, ell, state)
                for i in range(SPAN * VECTORS * active, SPAN * VECTORS * (active + 1), LANES):
                    prefetch(data, near + i)
            _two_ell(functions, ell, (BLOCK * active, min(BLOCK * equator, rows)), state, data, place, out, fresh)


if not WHOLE:
    _inverse_block = _inverse_vectors


@kernel
def inverse(thread, threads, tables, spectra, work, buffer):
    """Legendre part of the inverse transform of one field: every ``threads``-th wavenumber.

    ``work`` is the thread's scratch, float64 (scratch_size(T, blocks),); ``buffer``, latitude-major, is written.
    """
    wave, (full, left), c = any_wave(tables, spectra, threads), _blocks(tables.rows), address(work)
    target = address(buffer.values), address(buffer.places), address(buffer.counts), buffer.streaming
    for m in range(thread, tables.offset.size, threads):
        functions, weights, column = wave_at(wave, m, tables, spectra)
        _to_functions(column, weights, c)
        for block in range(tables.first_row[m] // BLOCK, full):
            _inverse_block(block, m, functions, c, target)
        for place in range(left):
            _inverse_vector(place, full, m, functions, c, target)
    fence()


@kernel
def direct(thread, threads, tables, spectra, work, buffer):
    """Legendre part of the direct transform of one field, as the inverse; ``buffer`` is wavenumber-major."""
    wave, top = any_wave(tables, spectra, threads), tables.offset.size - 1
    out, state = address(work), address(work[work.size - 2 * BLOCK * tables.first.shape[1] :])
    data, places, rows = address(buffer.values), buffer.places, (tables.rows + LANES - 1) // LANES * LANES
    store(out, 0, spread(0.0))
    for m in range(thread, top + 1, threads):
        functions, weights, column = wave_at(wave, m, tables, spectra)
        near = places[min(m + threads, top)]
        _direct_wavenumber(functions, tables.first_row[m], rows, out, state, data, places[m], near)
        _from_functions(out, weights, column)


def scratch_size(truncation: int, blocks: int) -> int:
    """Doubles of private work space a thread needs, for both directions."""
    line = PARTS * (truncation // 2 + 2 * LANES) // LANES * LANES + 2 * LANES
    return line + 2 * BLOCK * blocks
