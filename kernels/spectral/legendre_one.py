"""Legendre transforms of one field: SIMD lanes are latitudes.

A block has three vectors of latitudes where a vector is a register of 512 bits.  Where it takes two of 256, their sums
alone need 24 of 16 registers; a block has one vector there (``quads.TALL``), and two values of ell are summed over all
latitudes at a time.  Their eight sums, of half the lanes, and the factors of the recurrence are twelve vectors; four
latitudes take seven loads and two stores for twelve fused operations.  Two ``p_l`` of every latitude wait in memory for
the next two ell, so no latitude waits for itself.

Layouts (float64): coefficient scratch ``c[ell, 4]`` (even-real, even-imaginary, odd-real, odd-imaginary);
Fourier buffers hold ``[4, 8]`` numbers for every (block of eight latitudes, wavenumber).

Functions share ``functions`` (:class:`kernels.spectral.functions.Functions`), ``weights`` (``Weights``) and ``column``
(``Column``) of wavenumber ``m``; ``c``, the address of the coefficients; ``buffer``, the addresses of a
``tasks.Buffer`` and whether to write past the caches; ``block``, the number of one; ``data``, the address of the
Fourier buffer, and a ``place`` in it; ``state``, the address of two values of ``p`` of every latitude; ``sums``, that
of the sums over latitudes.
"""

from kernels.runtime.jit import CONTRACT, kernel
from kernels.runtime.vector import (
    LANES,
    address,
    at,
    fence,
    fma,
    fms,
    high1,
    high2,
    high4,
    load,
    load_as,
    low1,
    low2,
    low4,
    pairs0,
    pairs1,
    pairs2,
    pairs3,
    prefetch,
    put,
    shuffle,
    spread,
    store,
)
from kernels.spectral.functions import (
    any_wave,
    first_of,
    load_block,
    step,
    step_one,
    store_block,
    terms,
    wave_at,
)
from kernels.spectral.quads import (
    BLOCK,
    SPAN,
    TALL,
    WHOLE,
    add_scaled,
    emit4,
    load4,
    store4,
    zero4,
)

CHUNK = 96  # most ell whose sums stay in the first-level cache in the direct transform: 24 KiB at most
SLAB = 56  # most blocks of ``TALL`` latitudes whose two ell are summed at once: 25 KiB with their data
VECTORS = TALL // LANES  # of a block of latitudes
PARTS = 4  # numbers of one ell: even-real, even-imaginary, odd-real, odd-imaginary
HALF = LANES // 2
_WIDTH = (0.0,) * HALF
# of halves of vectors: neighbours, and pairs
low_pair, high_pair = shuffle(0, 4, 2, 6), shuffle(1, 5, 3, 7)
low_two, high_two = shuffle(0, 1, 4, 5), shuffle(2, 3, 6, 7)
_half = shuffle(*range(HALF))


@kernel(inline=True)
def _blocks(rows):
    """Full blocks among so many latitudes as ``rows``, and the vectors of latitudes that are left."""
    vectors = (rows + LANES - 1) // LANES
    return vectors // VECTORS, vectors % VECTORS


@kernel(inline=True)
def _begin(functions, block, state):
    """Seeds of a ``block`` of latitudes to its place in ``state``; those of the thread's next wavenumber are asked for
    meanwhile."""
    kept, here = 2 * TALL * block, 2 * TALL * (functions.block + block)
    for i in range(0, 2 * TALL, LANES):
        store(state, kept + i, load(functions.seeds, here + i))
        prefetch(functions.seeds, here + i + functions.following)


@kernel
def _inverse_block(block, m, functions, c, buffer):
    """Sums over ``ell`` for 24 latitudes into the Fourier buffer."""
    x = load_block(functions.squares, block * TALL)
    seeds = 2 * TALL * (functions.block + block)
    q, p = load_block(functions.seeds, seeds), load_block(functions.seeds, seeds + TALL)
    for i in range(seeds + functions.following, seeds + functions.following + 2 * TALL, LANES):
        prefetch(functions.seeds, i)
    e, f, h = zero4(), zero4(), zero4()
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
        emit4(values, at(places, g) + o, e, streaming)
    if m < at(counts, g + 1):
        emit4(values, at(places, g + 1) + o, f, streaming)
    if m < at(counts, g + 2):
        emit4(values, at(places, g + 2) + o, h, streaming)


@kernel
def _inverse_vector(place, block, m, functions, c, buffer):
    """The same for vector number ``place`` of a block alone, where the last block is not full."""
    o = LANES * place
    x, seeds = load(functions.squares, block * TALL + o), 2 * TALL * (functions.block + block) + o
    q, p, sums = load(functions.seeds, seeds), load(functions.seeds, seeds + TALL), zero4()
    prefetch(functions.seeds, seeds + functions.following)
    prefetch(functions.seeds, seeds + functions.following + TALL)
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
        emit4(values, at(places, g) + m * SPAN, sums, streaming)


@kernel(inline=True)
def _direct_block(functions, block, span, start, state, data, place, sums, fresh):
    """Add 24 latitudes to ``sums[ell - start]``, quads, of a ``span`` of ell, or write them there if they are
    ``fresh``; ``state`` carries two values of ``p`` on.
    """
    kept = 2 * TALL * block
    x = load_block(functions.squares, block * TALL)
    q, p = load_block(state, kept), load_block(state, kept + TALL)
    d0, d1, d2 = load4(data, place), load4(data, place + SPAN), load4(data, place + 2 * SPAN)
    for ell in range(span[0], span[1]):
        o = SPAN * (ell - start)
        quad = add_scaled(p[0], d0, zero4() if fresh else load4(sums, o))
        quad = add_scaled(p[1], d1, quad)
        quad = add_scaled(p[2], d2, quad)
        store4(sums, o, quad)
        q, p = step(functions, ell, x, q, p)
    store_block(state, kept, q)
    store_block(state, kept + TALL, p)


@kernel(inline=True)
def _direct_vector(functions, block, vector, span, start, state, data, place, sums, fresh):
    """The same for vector number ``vector`` of the last block, where it is not full; ``span``, ``start`` and ``fresh``
    as for :func:`_direct_block`."""
    o = LANES * vector
    x, kept = load(functions.squares, block * TALL + o), 2 * TALL * block + o
    q, p, d = load(state, kept), load(state, kept + TALL), load4(data, place)
    for ell in range(span[0], span[1]):
        o = SPAN * (ell - start)
        store4(sums, o, add_scaled(p, d, zero4() if fresh else load4(sums, o)))
        q, p = step_one(functions, ell, x, q, p)
    store(state, kept, q)
    store(state, kept + TALL, p)


@kernel
def _inverse_one(block, m, functions, c, buffer):
    """:func:`_inverse_block` of one vector."""
    _inverse_vector(0, block, m, functions, c, buffer)


@kernel
def _reduce(sums, count, out, base):
    """``out[base + 4 i + r] = Σ_lane sums[i, r, lane]`` for ``i`` below ``count``; two ``i`` at a time, room for
    both."""
    for i in range(0, count, 2):
        u, v = load4(sums, SPAN * i), load4(sums, SPAN * i + SPAN)
        a, b = low1(u[0], u[1]) + high1(u[0], u[1]), low1(u[2], u[3]) + high1(u[2], u[3])
        c, d = low1(v[0], v[1]) + high1(v[0], v[1]), low1(v[2], v[3]) + high1(v[2], v[3])
        a, c = low2(a, b) + high2(a, b), low2(c, d) + high2(c, d)
        store(out, base + PARTS * i, low4(a, c) + high4(a, c))


@kernel(inline=True)
def _weigh(factors, source, same, before, out, o):
    """Eight ``ell``, two a vector, to place ``o`` of ``out``: even or odd ``factors`` times the numbers at
    ``source[same]``, plus the third factor times the even ones at ``source[before]``."""
    u, w, v = factors
    n = spread(0.0)
    store(out, o, fma(pairs0(u, w), load(source, same), pairs0(v, n) * load(source, before)))
    o, same, before = o + LANES, same + LANES, before + LANES
    store(out, o, fma(pairs1(u, w), load(source, same), pairs1(v, n) * load(source, before)))
    o, same, before = o + LANES, same + LANES, before + LANES
    store(out, o, fma(pairs2(u, w), load(source, same), pairs2(v, n) * load(source, before)))
    o, same, before = o + LANES, same + LANES, before + LANES
    store(out, o, fma(pairs3(u, w), load(source, same), pairs3(v, n) * load(source, before)))


@kernel(fastmath=CONTRACT)
def _to_functions(column, weights, c):
    """Coefficients of ``p_l`` of one wavenumber from those of ``P_n`` (see ``functions``)."""
    even, carry, odd, term = weights
    spectrum, degrees = column.values, column.degrees
    count = terms(degrees)
    last = count - 1
    whole = last // LANES * LANES
    for ell in range(0, whole, LANES):
        k, s = term + ell, column.place + PARTS * ell
        _weigh((load(even, k), load(odd, k), load(carry, k)), spectrum, s, s + PARTS, c, PARTS * ell)
    for ell in range(whole, last):
        s, o = column.place + PARTS * ell, PARTS * ell
        u, v, w = at(even, term + ell), at(carry, term + ell), at(odd, term + ell)
        put(c, o, u * at(spectrum, s) + v * at(spectrum, s + PARTS))
        put(c, o + 1, u * at(spectrum, s + 1) + v * at(spectrum, s + PARTS + 1))
        put(c, o + 2, w * at(spectrum, s + 2))
        put(c, o + 3, w * at(spectrum, s + 3))
    s, o, u = column.place + PARTS * last, PARTS * last, at(even, term + last)
    put(c, o, u * at(spectrum, s))
    put(c, o + 1, u * at(spectrum, s + 1))
    lone = 2 * count > degrees
    put(c, o + 2, 0.0 if lone else at(odd, term + last) * at(spectrum, s + 2))
    put(c, o + 3, 0.0 if lone else at(odd, term + last) * at(spectrum, s + 3))


@kernel(fastmath=CONTRACT)
def _from_functions(c, weights, column):
    """Transpose of ``_to_functions``; ``c`` begins after eight zeros."""
    even, carry, odd, term = weights
    spectrum, degrees = column.values, column.degrees
    count = terms(degrees)
    whole = (count - 1) // LANES * LANES
    for ell in range(0, whole, LANES):
        k, i = term + ell, LANES + PARTS * ell
        factors = load(even, k), load(odd, k), load(carry, k - 1)
        _weigh(factors, c, i, i - PARTS, spectrum, column.place + PARTS * ell)
    for ell in range(whole, count):
        s, i = column.place + PARTS * ell, LANES + PARTS * ell
        u, v, w = at(even, term + ell), at(carry, term + ell - 1), at(odd, term + ell)
        put(spectrum, s, u * at(c, i) + v * at(c, i - PARTS))
        put(spectrum, s + 1, u * at(c, i + 1) + v * at(c, i - PARTS + 1))
        if 2 * ell + 1 < degrees:
            put(spectrum, s + 2, w * at(c, i + 2))
            put(spectrum, s + 3, w * at(c, i + 3))


@kernel
def _direct_last(functions, left, span, start, state, data, place, sums):
    """The block next to the equator, which begins the sums: a full one, or the vectors that are ``left``; ``span`` and
    ``start`` as for :func:`_direct_block`."""
    block = functions.blocks - 1
    if left == 0:
        _direct_block(functions, block, span, start, state, data, place, sums, True)
    else:
        _direct_vector(functions, block, 0, span, start, state, data, place, sums, True)
        for vector in range(1, left):
            there = place + vector * SPAN
            _direct_vector(functions, block, vector, span, start, state, data, there, sums, False)


@kernel
def _direct_wavenumber(functions, rows, room, data, place, near):
    """Projections of one wavenumber on ``p_l`` into ``c[8 + 4 ell …]``; the next is at ``near``.

    ``rows`` are the first latitude that carries it, and the vectors of the last block, 0 if that is full; ``room`` has
    the addresses ``c``, ``sums`` and ``state``.  Blocks come from the equator, where most ell matter, so that the first
    one writes the sums and few zeros are needed.
    """
    (row0, left), (c, sums, state) = rows, room
    parts = (functions.count + CHUNK - 1) // CHUNK
    size = (functions.count + 2 * parts - 1) // (2 * parts) * 2
    last = functions.blocks - 1
    for low in range(0, functions.count, size):
        high = min(low + size, functions.count)
        for ell in range(low, min(first_of(functions, last), high)):
            store4(sums, SPAN * (ell - low), zero4())
        for block in range(last, row0 // TALL - 1, -1):
            start, here = first_of(functions, block), VECTORS * block * SPAN
            if start < high:
                if start >= low:
                    _begin(functions, block, state)
                    for i in range(0, VECTORS * SPAN, LANES):
                        prefetch(data, near + here + i)
                span, there = (max(start, low), high), place + here
                if block == last:
                    _direct_last(functions, left, span, low, state, data, there, sums)
                else:
                    _direct_block(functions, block, span, low, state, data, there, sums, False)
        _reduce(sums, high - low, c, LANES + PARTS * low)


@kernel(inline=True)
def _join(functions, block, ell, state):
    """``p`` of a ``block`` before and at ``ell``, from the seeds where it matters first; one ell back if need be."""
    here, kept, start = 2 * TALL * (functions.block + block), 2 * TALL * block, first_of(functions, block)
    for i in range(0, TALL, LANES):
        x = load(functions.squares, TALL * block + i)
        q, p = load(functions.seeds, here + i), load(functions.seeds, here + TALL + i)
        prefetch(functions.seeds, here + i + functions.following)
        prefetch(functions.seeds, here + TALL + i + functions.following)
        if start > ell:
            # the recurrence is its own inverse
            p, q = step_one(functions, ell, x, p, q)
        for skipped in range(start, ell):
            q, p = step_one(functions, skipped, x, q, p)
        store(state, kept + i, q)
        store(state, kept + TALL + i, p)


@kernel(inline=True)
def _add(p, values, place, sums):
    """``sums``, of half the lanes, and ``p`` times half of the quad that begins at ``place`` of ``values``."""
    return (
        fma(p, load_as(values, place, _WIDTH), sums[0]),
        fma(p, load_as(values, place + LANES, _WIDTH), sums[1]),
        fma(p, load_as(values, place + 2 * LANES, _WIDTH), sums[2]),
        fma(p, load_as(values, place + 3 * LANES, _WIDTH), sums[3]),
    )


@kernel(inline=True)
def _put_total(out, place, sums, fresh):
    """Write the totals of the four ``sums`` to ``place`` of ``out``, or add them if it is not ``fresh``."""
    a, b, c, d = sums
    a, b = low_pair(a, b) + high_pair(a, b), low_pair(c, d) + high_pair(c, d)
    a = low_two(a, b) + high_two(a, b)
    store(out, place, a if fresh else a + load_as(out, place, _WIDTH))


@kernel(inline=True)
def _four_latitudes(squares, factors, state, kept, data, there, sums):
    """``sums`` of two ell and four latitudes more, whose two values of ``p`` at ``state[kept]`` go two ell on.

    Their μ² are ``squares``; ``factors`` of the recurrence; their data begin at ``there``.
    """
    a, b, c, d = factors
    q, p = load_as(state, kept, _WIDTH), load_as(state, kept + TALL, _WIDTH)
    r = fms(fma(a, squares, b), p, q)
    store(state, kept, r)
    store(state, kept + TALL, fms(fma(c, squares, d), r, p))
    return _add(p, data, there, sums[0]), _add(r, data, there, sums[1])


@kernel(inline=True)
def _two_ell(functions, ell, blocks, state, data, place, out, fresh):
    """Sums of ``ell`` and the next over ``blocks`` (the first and the end), whose ``state`` goes two ell on, to
    ``out[8 + 4 ell …]``, added to what is there unless it is ``fresh``."""
    k, zero, x = functions.term + ell, _half(spread(0.0), spread(0.0)), functions.squares
    factors = at(functions.a, k), at(functions.b, k), at(functions.a, k + 1), at(functions.b, k + 1)
    sums = (zero, zero, zero, zero), (zero, zero, zero, zero)
    for block in range(blocks[0], blocks[1]):
        i, kept, there = TALL * block, 2 * TALL * block, place + SPAN * block
        sums = _four_latitudes(load_as(x, i, _WIDTH), factors, state, kept, data, there, sums)
        x4 = load_as(x, i + HALF, _WIDTH)
        sums = _four_latitudes(x4, factors, state, kept + HALF, data, there + HALF, sums)
    _put_total(out, LANES + PARTS * ell, sums[0], fresh)
    _put_total(out, LANES + PARTS * (ell + 1), sums[1], fresh)


@kernel
def _direct_by_two(functions, rows, room, data, place, near):
    """Projections of one wavenumber on ``p_l`` into ``out[8 + 4 ell …]``, an even number of them; the data of the next
    are at ``near``.

    ``rows`` are the first latitude that carries it, and a number that is not used here; ``room`` has the addresses
    ``out``, of scratch that is not used here, and ``state``.  Slabs of blocks come from the equator; within one each
    block, from the equator on, joins the sums at the first ell that matters to it.
    """
    (row0, _), (out, _, state) = rows, room
    polar, end = row0 // TALL, functions.blocks
    slabs = (end - polar + SLAB - 1) // SLAB
    height = (end - polar + slabs - 1) // slabs
    for equator in range(end, polar, -height):
        pole, active = max(equator - height, polar), equator
        fresh = equator == end
        for ell in range(0 if fresh else first_of(functions, equator - 1) // 2 * 2, functions.count, 2):
            while active > pole and first_of(functions, active - 1) < ell + 2:
                active -= 1
                _join(functions, active, ell, state)
                for i in range(SPAN * active, SPAN * (active + 1), LANES):
                    prefetch(data, near + i)
            _two_ell(functions, ell, (active, equator), state, data, place, out, fresh)


if not WHOLE:
    _inverse_block, _direct_wavenumber = _inverse_one, _direct_by_two


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
        for block in range(tables.first_row[m] // TALL, full):
            _inverse_block(block, m, functions, c, target)
        for place in range(left):
            _inverse_vector(place, full, m, functions, c, target)
    fence()


@kernel
def direct(thread, threads, tables, spectra, work, buffer):
    """Legendre part of the direct transform of one field, as the inverse; ``buffer`` is wavenumber-major."""
    wave, top = any_wave(tables, spectra, threads), tables.offset.size - 1
    state = work.size - 2 * TALL * tables.first.shape[1]
    room = address(work), address(work[state - CHUNK * SPAN :]), address(work[state:])
    data, places = address(buffer.values), buffer.places
    store(room[0], 0, spread(0.0))
    for m in range(thread, top + 1, threads):
        functions, weights, column = wave_at(wave, m, tables, spectra)
        rows, near = (tables.first_row[m], _blocks(tables.rows)[1]), places[min(m + threads, top)]
        _direct_wavenumber(functions, rows, room, data, places[m], near)
        _from_functions(room[0], weights, column)


def scratch_size(truncation: int, blocks: int) -> int:
    """Doubles of private work space a thread needs, for both directions."""
    line = PARTS * (truncation // 2 + 2 * LANES) // LANES * LANES + 2 * LANES
    return line + CHUNK * SPAN + 2 * BLOCK * blocks
