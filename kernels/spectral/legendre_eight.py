"""Legendre transforms of eight fields at once: SIMD lanes are fields.

For each wavenumber a panel of functions ``p_l`` is built on the fly, small enough for the first-level
cache, and a register-blocked product combines it with eight fields.  The inverse transform builds 24
latitudes and many ``ell``, so that its sums stay in registers while coefficients stream from the
second-level cache.  The direct transform builds twelve ``ell`` and a slice of the latitudes, whose data
two products then find in the first-level cache.

Layouts (all float64): coefficient scratch ``c[ell, 4, 8]`` with the four rows even-real, even-imaginary,
odd-real, odd-imaginary and the last axis fields; Fourier buffers hold the same 32 numbers for every
(latitude, wavenumber), latitude-major for the inverse and wavenumber-major for the direct transform,
so that each stage writes scattered blocks and reads contiguous ones.
"""

import numba

from kernels.runtime.jit import kernel
from kernels.runtime.vector import address, at, fence, fma, fms, load, prefetch, put, spread, store, transpose
from kernels.spectral.legendre import BLOCK
from kernels.spectral.quads import SPAN, emit4, load4, load6, row4, store4, store6, zero6

CHUNK = 96  # most values of ell in a panel of the inverse transform: 18 KiB
SLICE = 3  # blocks of latitudes in a panel of the direct transform: 7 KiB, 25 with the latitudes
STEP = 12  # values of ell in a panel of the direct transform: two products
_WIDTH = SLICE * BLOCK


@kernel(inline=True)
def _six(x, xo, step, advance, c, co, count, other, near, pace, r):
    """``r_j += Σ_i x[xo + j step + i advance] c[i]`` for six j; ``c[i]`` and ``r_j`` hold 32.

    Every term asks for ``other[near + i pace]``, which so arrives from memory while this computes.
    """
    r0, r1, r2, r3, r4, r5 = r
    for i in range(count):
        c0, c1, c2, c3 = load4(c, co + i * SPAN)
        k = xo + i * advance
        prefetch(other, near + i * pace)
        r0 = row4(spread(at(x, k)), c0, c1, c2, c3, r0[0], r0[1], r0[2], r0[3])
        r1 = row4(spread(at(x, k + step)), c0, c1, c2, c3, r1[0], r1[1], r1[2], r1[3])
        r2 = row4(spread(at(x, k + 2 * step)), c0, c1, c2, c3, r2[0], r2[1], r2[2], r2[3])
        r3 = row4(spread(at(x, k + 3 * step)), c0, c1, c2, c3, r3[0], r3[1], r3[2], r3[3])
        r4 = row4(spread(at(x, k + 4 * step)), c0, c1, c2, c3, r4[0], r4[1], r4[2], r4[3])
        r5 = row4(spread(at(x, k + 5 * step)), c0, c1, c2, c3, r5[0], r5[1], r5[2], r5[3])
    return r0, r1, r2, r3, r4, r5


@kernel
def _sum_degrees(
    panel, j, row, c, co, count, other, near, acc, resumed, finished, fourier, places, wave, low, high, streaming
):
    """Six latitudes, from zero or from ``acc``, to ``acc`` or to rows ``low … high-1`` of the buffer.

    Streamed stores drain while the next six latitudes are computed.
    """
    o = j * SPAN
    r = zero6()
    if resumed:
        r = load6(acc, o)
    r = _six(panel, j, 1, BLOCK, c, co, count, other, near, 1, r)
    if finished:
        if low <= row < high:
            emit4(fourier, at(places, row) + wave, r[0], streaming)
        if low <= row + 1 < high:
            emit4(fourier, at(places, row + 1) + wave, r[1], streaming)
        if low <= row + 2 < high:
            emit4(fourier, at(places, row + 2) + wave, r[2], streaming)
        if low <= row + 3 < high:
            emit4(fourier, at(places, row + 3) + wave, r[3], streaming)
        if low <= row + 4 < high:
            emit4(fourier, at(places, row + 4) + wave, r[4], streaming)
        if low <= row + 5 < high:
            emit4(fourier, at(places, row + 5) + wave, r[5], streaming)
    else:
        store6(acc, o, r)


@kernel
def _sum_latitudes(panel, po, data, place, count, other, near, pace, resumed, c, o):
    """Projections of ``count`` latitudes on six ``p_l``, from zero or added to ``c``."""
    r = zero6()
    if resumed:
        r = load6(c, o)
    store6(c, o, _six(panel, po, _WIDTH, 1, data, place, count, other, near, pace, r))


@kernel(inline=True)
def build(panel, po, width, count, a, b, k, x, xo, state, so):
    """``count`` rows of a panel: ``p_l`` of 24 latitudes; ``state`` carries two values on."""
    x0, x1, x2 = load(x, xo), load(x, xo + 8), load(x, xo + 16)
    q0, q1, q2 = load(state, so), load(state, so + 8), load(state, so + 16)
    p0, p1, p2 = load(state, so + 24), load(state, so + 32), load(state, so + 40)
    for ell in range(count):
        o = po + ell * width
        store(panel, o, p0)
        store(panel, o + 8, p1)
        store(panel, o + 16, p2)
        al, bl = spread(at(a, k + ell)), spread(at(b, k + ell))
        q0, p0 = p0, fms(fma(al, x0, bl), p0, q0)
        q1, p1 = p1, fms(fma(al, x1, bl), p1, q1)
        q2, p2 = p2, fms(fma(al, x2, bl), p2, q2)
    store(state, so, q0)
    store(state, so + 8, q1)
    store(state, so + 16, q2)
    store(state, so + 24, p0)
    store(state, so + 32, p1)
    store(state, so + 40, p2)


@kernel(inline=True)
def seed(seeds, o, ahead, state, so):
    """Begin a recurrence, and ask for the seeds of the same block of the thread's next wavenumber."""
    for i in range(0, 2 * BLOCK, 8):
        store(state, so + i, load(seeds, o + i))
        prefetch(seeds, o + i + ahead)


@kernel(inline=True)
def _four_degrees(values, o0, o1, o2, o3, o4, o5, o6, o7):
    """Real and imaginary parts of four degrees, one vector of eight fields each."""
    return transpose(
        load(values, o0),
        load(values, o1),
        load(values, o2),
        load(values, o3),
        load(values, o4),
        load(values, o5),
        load(values, o6),
        load(values, o7),
    )


@kernel
def combine(spectrum, column, lanes, degrees, even, carry, odd, k, edge, c):
    """Coefficients of ``p_l`` from those of ``P_n`` of eight fields: see ``legendre``.

    From the highest degree down, two ``ell`` at a time; ``edge[8, 8]`` pads the last few degrees.
    """
    last = (degrees - 1) // 4 * 4
    for f in range(8):
        for i in range(8):
            n = 2 * last + i
            put(edge, 8 * f + i, at(spectrum, at(lanes, f) + 2 * column + n) if n < 2 * degrees else 0.0)
    r = _four_degrees(edge, 0, 8, 16, 24, 32, 40, 48, 56)
    above = spread(0.0), spread(0.0)
    top = k + (degrees - 1) // 2
    for i in range(last, -1, -4):
        if i < last:
            o = 2 * (column + i)
            r = _four_degrees(
                spectrum,
                at(lanes, 0) + o,
                at(lanes, 1) + o,
                at(lanes, 2) + o,
                at(lanes, 3) + o,
                at(lanes, 4) + o,
                at(lanes, 5) + o,
                at(lanes, 6) + o,
                at(lanes, 7) + o,
            )
        low, high = k + i // 2, min(k + i // 2 + 1, top)
        u, v, w = spread(at(even, low)), spread(at(carry, low)), spread(at(odd, low))
        store4(c, 16 * i, (fma(u, r[0], v * r[4]), fma(u, r[1], v * r[5]), w * r[2], w * r[3]))
        u, v, w = spread(at(even, high)), spread(at(carry, high)), spread(at(odd, high))
        store4(c, 16 * i + SPAN, (fma(u, r[4], v * above[0]), fma(u, r[5], v * above[1]), w * r[6], w * r[7]))
        above = r[0], r[1]


@kernel
def separate(c, even, carry, odd, k, spectrum, column, lanes, fields, degrees, edge):
    """Transpose of ``combine``: coefficients of ``P_n`` of the first ``fields`` lanes."""
    last = (degrees - 1) // 4 * 4
    top = k + (degrees - 1) // 2
    below = spread(0.0), spread(0.0)
    for i in range(0, last + 4, 4):
        s, t = load4(c, 16 * i), load4(c, 16 * i + SPAN)
        low, high = k + i // 2, min(k + i // 2 + 1, top)
        u, v, w = spread(at(even, low)), spread(at(carry, low)), spread(at(odd, low))
        y, z = spread(at(even, high)), spread(at(odd, high))
        r = transpose(
            fma(u, s[0], below[0]),
            fma(u, s[1], below[1]),
            w * s[2],
            w * s[3],
            fma(y, t[0], v * s[0]),
            fma(y, t[1], v * s[1]),
            z * t[2],
            z * t[3],
        )
        v = spread(at(carry, high))
        below = v * t[0], v * t[1]
        if i < last:
            o = 2 * (column + i)
            # a missing field's lane is written first and to the last field, which then overwrites it
            store(spectrum, at(lanes, 7) + o, r[7])
            store(spectrum, at(lanes, 6) + o, r[6])
            store(spectrum, at(lanes, 5) + o, r[5])
            store(spectrum, at(lanes, 4) + o, r[4])
            store(spectrum, at(lanes, 3) + o, r[3])
            store(spectrum, at(lanes, 2) + o, r[2])
            store(spectrum, at(lanes, 1) + o, r[1])
            store(spectrum, at(lanes, 0) + o, r[0])
        else:
            store4(edge, 0, (r[0], r[1], r[2], r[3]))
            store4(edge, SPAN, (r[4], r[5], r[6], r[7]))
    for f in range(fields):
        for i in range(2 * (degrees - last)):
            put(spectrum, at(lanes, f) + 2 * (column + last) + i, at(edge, 8 * f + i))


@kernel
def _inverse_block(
    base,
    count,
    begin,
    row0,
    rows,
    a,
    b,
    k,
    x,
    seeds,
    so,
    ahead,
    c,
    panel,
    state,
    acc,
    spectrum,
    lanes,
    near,
    fourier,
    places,
    wave,
    streaming,
):
    """Sums over degree of 24 latitudes into the Fourier buffer.

    Meanwhile a part of the next coefficients is fetched: each product takes one of the eight fields.
    """
    parts = max((count - begin + CHUNK - 1) // CHUNK, 1)
    size = (count - begin + parts - 1) // parts
    seed(seeds, so, ahead, state, 0)
    for part in range(parts):
        start = begin + part * size
        terms = min(size, count - start)
        build(panel, 0, BLOCK, terms, a, b, k + start, x, base, state, 0)
        for j in range(0, BLOCK, 6):
            if base + j + 6 > row0 and base + j < rows:
                lane = at(lanes, (base + j) // 6 % 8)
                _sum_degrees(
                    panel,
                    j,
                    base + j,
                    c,
                    start * SPAN,
                    terms,
                    spectrum,
                    lane + near + part * size,
                    acc,
                    part > 0,
                    part == parts - 1,
                    fourier,
                    places,
                    wave,
                    row0,
                    rows,
                    streaming,
                )


@kernel
def _panel_block(panel, po, width, start, end, begin, a, b, k, x, xo, seeds, o, ahead, state, so):
    """Panel rows of ``ell = start … end-1`` for a block that begins at ``begin`` (0 before it)."""
    low = min(max(begin, start), end) - start
    for ell in range(low):
        for i in range(0, BLOCK, 8):
            store(panel, po + ell * width + i, spread(0.0))
    if begin < end:
        if begin >= start:
            seed(seeds, o, ahead, state, so)
        build(panel, po + low * width, width, end - start - low, a, b, k + start + low, x, xo, state, so)


@kernel
def _direct_wavenumber(
    count,
    row0,
    rows,
    blocks,
    a,
    b,
    k,
    x,
    first,
    fo,
    seeds,
    ahead,
    c,
    panel,
    state,
    fourier,
    place,
    near,
    spectrum,
    column,
    lanes,
):
    """Projections on ``p_l`` of one wavenumber, summed over latitudes, into ``c[ell, 4, 8]``.

    ``first[fo + block]``: where blocks begin; ``place``: offset that row 0 would have in the
    wavenumber-major buffer.  Meanwhile the next wavenumber, at ``near`` of that buffer, is fetched, and
    the part of the spectrum that will be written: products take turns, for each of the eight fields.
    """
    polar, active = row0 // BLOCK, blocks  # blocks north of ``active`` are zero so far
    turns = max(count // (8 * STEP), 1)
    pace = min(1 + SPAN * STEP // count, 8), min(1 + 4 * count // (turns * (rows - row0)), 8)
    for start in range(0, count, STEP):
        end = min(start + STEP, count)
        for g in range(active - 1, polar - 1, -1):
            if at(first, fo + g) < end:
                active = g
        turn = start // STEP
        o = at(lanes, turn % 8) + 2 * column + turn // 8 * pace[1] * (rows - row0)
        for north in range(active, blocks, SLICE):
            south = min(north + SLICE, blocks)
            for g in range(north, south):
                _panel_block(
                    panel,
                    (g - north) * BLOCK,
                    _WIDTH,
                    start,
                    end,
                    at(first, fo + g),
                    a,
                    b,
                    k,
                    x,
                    g * BLOCK,
                    seeds,
                    (fo + g) * 2 * BLOCK,
                    ahead,
                    state,
                    2 * BLOCK * g,
                )
            j = max(row0, north * BLOCK)
            po, p, n = j - north * BLOCK, place + j * SPAN, min(south * BLOCK, rows) - j
            _sum_latitudes(panel, po, fourier, p, n, fourier, near, pace[0], north > active, c, start * SPAN)
            near += pace[0] * n
            if start + 6 < end:
                _sum_latitudes(
                    panel, po + 6 * _WIDTH, fourier, p, n, spectrum, o, pace[1], north > active, c, (start + 6) * SPAN
                )
                o += pace[1] * n


@kernel
def _cut(work, truncation, blocks):
    """Private work space: coefficients, an 8 × 8 matrix, sums, state of the recurrences, panel."""
    edge = _line(truncation)
    acc = edge + 64
    state = acc + BLOCK * SPAN
    panel = state + 2 * BLOCK * blocks
    return (address(work), address(work[edge:]), address(work[acc:]), address(work[state:]), address(work[panel:]))


@kernel
def _tables(table):
    return address(table[0]), address(table[1]), address(table[2]), address(table[3]), address(table[4])


@kernel
def _inverse_share(
    t,
    threads,
    top,
    extra,
    spectrum,
    columns,
    lanes,
    table,
    offset,
    x,
    first_row,
    rows,
    blocks,
    first,
    seeds,
    work,
    fourier,
    places,
    streaming,
):
    c, edge, acc, state, panel = _cut(work, top, blocks)
    a, b, even, carry, odd = _tables(table)
    stride = threads * blocks * 2 * BLOCK
    for m in range(t, top + 1, threads):
        degrees = top + extra - m + 1
        count = (degrees - 1) // 2 + 1
        combine(spectrum, columns[m], lanes, degrees, even, carry, odd, offset[m], edge, c)
        polar = first_row[m] // BLOCK
        share = 4 * count // max((blocks - polar) // 2, 1)  # two blocks fetch it of every field
        for g in range(polar, blocks):
            o = m * blocks + g
            near = 2 * columns[min(m + threads, top)] + (g - polar) // 2 * share
            _inverse_block(
                g * BLOCK,
                count,
                at(first, o),
                first_row[m],
                rows,
                a,
                b,
                offset[m],
                x,
                seeds,
                2 * BLOCK * o,
                stride,
                c,
                panel,
                state,
                acc,
                spectrum,
                lanes,
                near,
                fourier,
                places,
                m * SPAN,
                streaming,
            )
    fence()


@kernel(parallel=True)
def inverse_legendre(
    threads,
    extra,
    spectrum,
    columns,
    lanes,
    table,
    offset,
    x,
    first_row,
    rows,
    first,
    seeds,
    scratch,
    fourier,
    places,
    streaming,
):
    """Legendre part of the inverse transform of up to eight fields.

    ``extra`` is 0 or 1: degrees up to the truncation plus ``extra``; ``table[5, …]`` holds the rows
    a, b, even, carry, odd; ``scratch[thread, …]`` is private work space.
    """
    for t in numba.prange(threads):
        _inverse_share(
            t,
            threads,
            columns.size - 2,
            extra,
            address(spectrum),
            columns,
            address(lanes),
            table,
            offset,
            address(x),
            first_row,
            rows,
            first.shape[1],
            address(first),
            address(seeds),
            scratch[t],
            address(fourier),
            address(places),
            streaming,
        )


@kernel
def _direct_share(
    t,
    threads,
    top,
    extra,
    spectrum,
    columns,
    lanes,
    fields,
    table,
    offset,
    x,
    first_row,
    rows,
    blocks,
    first,
    seeds,
    work,
    fourier,
    places,
):
    c, edge, _, state, panel = _cut(work, top, blocks)
    a, b, even, carry, odd = _tables(table)
    stride = threads * blocks * 2 * BLOCK
    for m in range(t, top + 1, threads):
        degrees = top + extra - m + 1
        count = (degrees - 1) // 2 + 1
        later = min(m + threads, top)
        _direct_wavenumber(
            count,
            first_row[m],
            rows,
            blocks,
            a,
            b,
            offset[m],
            x,
            first,
            m * blocks,
            seeds,
            stride,
            c,
            panel,
            state,
            fourier,
            places[m],
            places[later] + first_row[later] * SPAN,
            spectrum,
            columns[m],
            lanes,
        )
        separate(c, even, carry, odd, offset[m], spectrum, columns[m], lanes, fields, degrees, edge)


@kernel(parallel=True)
def direct_legendre(
    threads,
    extra,
    spectrum,
    columns,
    lanes,
    fields,
    table,
    offset,
    x,
    first_row,
    rows,
    first,
    seeds,
    scratch,
    fourier,
    places,
):
    """Legendre part of the direct transform of up to eight fields; arguments as for the inverse."""
    for t in numba.prange(threads):
        _direct_share(
            t,
            threads,
            columns.size - 2,
            extra,
            address(spectrum),
            columns,
            address(lanes),
            fields,
            table,
            offset,
            address(x),
            first_row,
            rows,
            first.shape[1],
            address(first),
            address(seeds),
            scratch[t],
            address(fourier),
            places,
        )


@kernel
def _line(truncation):
    """Doubles of the coefficients of one wavenumber, with room for a last panel of the direct transform."""
    return (truncation // 2 + 16) * SPAN


def scratch_size(truncation: int, blocks: int) -> int:
    """Doubles of private work space a thread needs, for both directions."""
    panel = max(CHUNK, STEP * SLICE) * BLOCK
    return _line(truncation) + 64 + BLOCK * SPAN + panel + 2 * BLOCK * blocks
