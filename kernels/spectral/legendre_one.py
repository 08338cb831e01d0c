"""Legendre transforms of one field: SIMD lanes are latitudes.

Layouts (float64): coefficient scratch ``c[ell, 4]`` (even-real, even-imaginary, odd-real, odd-imaginary);
Fourier buffers hold ``[4, 8]`` numbers for every (block of eight latitudes, wavenumber).
"""

import numba

from kernels.runtime.jit import CONTRACT, kernel
from kernels.runtime.vector import (
    address,
    at,
    fence,
    fma,
    fms,
    high1,
    high2,
    high4,
    load,
    low1,
    low2,
    low4,
    pairs0,
    pairs1,
    pairs2,
    pairs3,
    prefetch,
    spread,
    store,
)
from kernels.spectral.legendre import BLOCK
from kernels.spectral.legendre_eight import seed
from kernels.spectral.quads import SPAN, emit4, load4, row4, store4, zero4

CHUNK = 96  # most ell whose sums stay in the first-level cache in the direct transform: 24 KiB


@kernel
def _inverse_block(g, low, count, a, b, k, x, seeds, so, ahead, c, fourier, places, counts, m, streaming):
    """Sums over ``ell`` for 24 latitudes into the Fourier buffer."""
    x0, x1, x2 = load(x, g * BLOCK), load(x, g * BLOCK + 8), load(x, g * BLOCK + 16)
    q0, q1, q2 = load(seeds, so), load(seeds, so + 8), load(seeds, so + 16)
    p0, p1, p2 = load(seeds, so + 24), load(seeds, so + 32), load(seeds, so + 40)
    for i in range(so + ahead, so + ahead + 2 * BLOCK, 8):
        prefetch(seeds, i)
    e, f, h = zero4(), zero4(), zero4()
    for ell in range(low, count):
        c0, c1 = spread(at(c, 4 * ell)), spread(at(c, 4 * ell + 1))
        c2, c3 = spread(at(c, 4 * ell + 2)), spread(at(c, 4 * ell + 3))
        al, bl = spread(at(a, k + ell)), spread(at(b, k + ell))
        e = row4(p0, c0, c1, c2, c3, e[0], e[1], e[2], e[3])
        f = row4(p1, c0, c1, c2, c3, f[0], f[1], f[2], f[3])
        h = row4(p2, c0, c1, c2, c3, h[0], h[1], h[2], h[3])
        q0, p0 = p0, fms(fma(al, x0, bl), p0, q0)
        q1, p1 = p1, fms(fma(al, x1, bl), p1, q1)
        q2, p2 = p2, fms(fma(al, x2, bl), p2, q2)
    o = m * SPAN
    if m < at(counts, 3 * g):
        emit4(fourier, at(places, 3 * g) + o, e, streaming)
    if m < at(counts, 3 * g + 1):
        emit4(fourier, at(places, 3 * g + 1) + o, f, streaming)
    if m < at(counts, 3 * g + 2):
        emit4(fourier, at(places, 3 * g + 2) + o, h, streaming)


@kernel
def _direct_block(low, high, a, b, k, x, xo, state, so, data, place, sums, start):
    """Add 24 latitudes to ``sums[ell - start, 4, 8]``; ``state`` carries two values of ``p`` on."""
    x0, x1, x2 = load(x, xo), load(x, xo + 8), load(x, xo + 16)
    q0, q1, q2 = load(state, so), load(state, so + 8), load(state, so + 16)
    p0, p1, p2 = load(state, so + 24), load(state, so + 32), load(state, so + 40)
    d0, d1, d2 = load4(data, place), load4(data, place + SPAN), load4(data, place + 2 * SPAN)
    for ell in range(low, high):
        o = SPAN * (ell - start)
        s0, s1, s2, s3 = load4(sums, o)
        s0, s1, s2, s3 = fma(p0, d0[0], s0), fma(p0, d0[1], s1), fma(p0, d0[2], s2), fma(p0, d0[3], s3)
        s0, s1, s2, s3 = fma(p1, d1[0], s0), fma(p1, d1[1], s1), fma(p1, d1[2], s2), fma(p1, d1[3], s3)
        s0, s1, s2, s3 = fma(p2, d2[0], s0), fma(p2, d2[1], s1), fma(p2, d2[2], s2), fma(p2, d2[3], s3)
        store4(sums, o, (s0, s1, s2, s3))
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


@kernel
def _reduce(sums, count, out, base):
    """``out[base + 4 i + r] = Σ_lane sums[i, r, lane]``, then zero; two ``i`` at a time, room for both."""
    for i in range(0, count, 2):
        u, v = load4(sums, SPAN * i), load4(sums, SPAN * i + SPAN)
        store4(sums, SPAN * i, zero4())
        store4(sums, SPAN * i + SPAN, zero4())
        a, b = low1(u[0], u[1]) + high1(u[0], u[1]), low1(u[2], u[3]) + high1(u[2], u[3])
        c, d = low1(v[0], v[1]) + high1(v[0], v[1]), low1(v[2], v[3]) + high1(v[2], v[3])
        a, c = low2(a, b) + high2(a, b), low2(c, d) + high2(c, d)
        store(out, base + 4 * i, low4(a, c) + high4(a, c))


@kernel(inline=True)
def _weigh(u, w, v, z, s, t, out, o):
    """Eight ``ell``, two a vector: ``u`` or ``w`` times the even or odd numbers at ``z[s]``, plus ``v`` times
    the even ones at ``z[t]``."""
    n = spread(0.0)
    store(out, o, fma(pairs0(u, w), load(z, s), pairs0(v, n) * load(z, t)))
    store(out, o + 8, fma(pairs1(u, w), load(z, s + 8), pairs1(v, n) * load(z, t + 8)))
    store(out, o + 16, fma(pairs2(u, w), load(z, s + 16), pairs2(v, n) * load(z, t + 16)))
    store(out, o + 24, fma(pairs3(u, w), load(z, s + 24), pairs3(v, n) * load(z, t + 24)))


@kernel(fastmath=CONTRACT)
def _combine(degrees, count, spectrum, s, even, carry, odd, k, c):
    """Coefficients of ``p_l`` of one wavenumber, whose coefficients start at ``spectrum[s]``."""
    last = count - 1
    whole = last // 8 * 8
    for ell in range(0, whole, 8):
        _weigh(
            load(even, k + ell),
            load(odd, k + ell),
            load(carry, k + ell),
            spectrum,
            s + 4 * ell,
            s + 4 * ell + 4,
            c,
            4 * ell,
        )
    for ell in range(whole, last):
        o = s + 4 * ell
        u, v, w = even[k + ell], carry[k + ell], odd[k + ell]
        c[4 * ell] = u * spectrum[o] + v * spectrum[o + 4]
        c[4 * ell + 1] = u * spectrum[o + 1] + v * spectrum[o + 5]
        c[4 * ell + 2] = w * spectrum[o + 2]
        c[4 * ell + 3] = w * spectrum[o + 3]
    o, u = s + 4 * last, even[k + last]
    c[4 * last], c[4 * last + 1] = u * spectrum[o], u * spectrum[o + 1]
    lone = 2 * count > degrees
    c[4 * last + 2] = 0.0 if lone else odd[k + last] * spectrum[o + 2]
    c[4 * last + 3] = 0.0 if lone else odd[k + last] * spectrum[o + 3]


@kernel(fastmath=CONTRACT)
def _separate(degrees, count, c, even, carry, odd, k, spectrum, s):
    """Transpose of ``_combine``; ``c`` begins after eight zeros."""
    whole = (count - 1) // 8 * 8
    for ell in range(0, whole, 8):
        _weigh(
            load(even, k + ell),
            load(odd, k + ell),
            load(carry, k + ell - 1),
            c,
            8 + 4 * ell,
            4 + 4 * ell,
            spectrum,
            s + 4 * ell,
        )
    for ell in range(whole, count):
        o, i = s + 4 * ell, 8 + 4 * ell
        u, v, w = even[k + ell], carry[k + ell - 1], odd[k + ell]
        spectrum[o] = u * c[i] + v * c[i - 4]
        spectrum[o + 1] = u * c[i + 1] + v * c[i - 3]
        if 2 * ell + 1 < degrees:
            spectrum[o + 2] = w * c[i + 2]
            spectrum[o + 3] = w * c[i + 3]


@kernel
def _direct_wavenumber(count, row0, blocks, a, b, k, x, first, fo, seeds, ahead, c, sums, state, fourier, place, near):
    """Projections of one wavenumber on ``p_l`` into ``c[8 + 4 ell …]``; the next is at ``near``."""
    parts = (count + CHUNK - 1) // CHUNK
    size = (count + 2 * parts - 1) // (2 * parts) * 2
    for low in range(0, count, size):
        high = min(low + size, count)
        for g in range(row0 // BLOCK, blocks):
            begin = at(first, fo + g)
            if begin < high:
                if begin >= low:
                    seed(seeds, 2 * BLOCK * (fo + g), ahead, state, 2 * BLOCK * g)
                    for i in range(0, 3 * SPAN, 8):
                        prefetch(fourier, near + 3 * g * SPAN + i)
                _direct_block(
                    max(begin, low),
                    high,
                    a,
                    b,
                    k,
                    x,
                    g * BLOCK,
                    state,
                    2 * BLOCK * g,
                    fourier,
                    place + 3 * g * SPAN,
                    sums,
                    low,
                )
        _reduce(sums, high - low, c, 8 + 4 * low)


@kernel
def _inverse_share(
    t,
    threads,
    top,
    extra,
    spectrum,
    columns,
    table,
    offset,
    x,
    first_row,
    blocks,
    first,
    seeds,
    c,
    fourier,
    places,
    counts,
    streaming,
):
    a, b = address(table[0]), address(table[1])
    ahead = threads * blocks * 2 * BLOCK
    for m in range(t, top + 1, threads):
        degrees = top + extra - m + 1
        count = (degrees - 1) // 2 + 1
        k = offset[m]
        _combine(degrees, count, spectrum, 2 * columns[m], table[2], table[3], table[4], k, c)
        for g in range(first_row[m] // BLOCK, blocks):
            o = m * blocks + g
            _inverse_block(
                g,
                at(first, o),
                count,
                a,
                b,
                k,
                x,
                seeds,
                2 * BLOCK * o,
                ahead,
                address(c),
                fourier,
                places,
                counts,
                m,
                streaming,
            )
    fence()


@kernel(parallel=True)
def inverse_legendre(
    threads,
    extra,
    spectrum,
    columns,
    table,
    offset,
    x,
    first_row,
    first,
    seeds,
    scratch,
    fourier,
    places,
    counts,
    streaming,
):
    """Legendre part of the inverse transform of one field (``spectrum`` flat, re and im in turn).

    ``places[block8]`` and ``counts[block8]``: offset and number of wavenumbers of each latitude block.
    """
    for t in numba.prange(threads):
        _inverse_share(
            t,
            threads,
            columns.size - 2,
            extra,
            spectrum,
            columns,
            table,
            offset,
            address(x),
            first_row,
            first.shape[1],
            address(first),
            address(seeds),
            scratch[t],
            address(fourier),
            address(places),
            address(counts),
            streaming,
        )


@kernel
def _direct_share(
    t, threads, top, extra, spectrum, columns, table, offset, x, first_row, blocks, first, seeds, work, fourier, places
):
    a, b = address(table[0]), address(table[1])
    ahead = threads * blocks * 2 * BLOCK
    sums = work.size - CHUNK * SPAN - 2 * BLOCK * blocks
    state = sums + CHUNK * SPAN
    c, sums, state = work[:sums], address(work[sums:]), address(work[state:])
    c[:8] = 0.0
    for i in range(0, CHUNK * SPAN, 8):
        store(sums, i, spread(0.0))
    for m in range(t, top + 1, threads):
        degrees = top + extra - m + 1
        count = (degrees - 1) // 2 + 1
        k = offset[m]
        near = places[min(m + threads, top)]
        _direct_wavenumber(
            count,
            first_row[m],
            blocks,
            a,
            b,
            k,
            x,
            first,
            m * blocks,
            seeds,
            ahead,
            address(c),
            sums,
            state,
            fourier,
            places[m],
            near,
        )
        _separate(degrees, count, c, table[2], table[3], table[4], k, spectrum, 2 * columns[m])


@kernel(parallel=True)
def direct_legendre(
    threads, extra, spectrum, columns, table, offset, x, first_row, first, seeds, scratch, fourier, places
):
    """Legendre part of the direct transform of one field.

    ``places[m]``: offset that block 0 would have in the wavenumber-major buffer.
    """
    for t in numba.prange(threads):
        _direct_share(
            t,
            threads,
            columns.size - 2,
            extra,
            spectrum,
            columns,
            table,
            offset,
            address(x),
            first_row,
            first.shape[1],
            address(first),
            address(seeds),
            scratch[t],
            address(fourier),
            places,
        )


def scratch_size(truncation: int, blocks: int) -> int:
    """Doubles of private work space a thread needs, for both directions."""
    line = 4 * (truncation // 2 + 16) // 8 * 8 + 16
    return line + CHUNK * SPAN + 2 * BLOCK * blocks
