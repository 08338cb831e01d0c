"""Legendre transforms of one field: SIMD lanes are latitudes.

Layouts (float64): coefficient scratch ``c[ell, 4]`` (even-real, even-imaginary, odd-real, odd-imaginary);
Fourier buffers hold ``[4, 8]`` numbers for every (block of eight latitudes, wavenumber).
"""

import numba

from kernels._jit import CONTRACT, kernel

from .legendre import BLOCK
from .many import SPAN, emit4, load4, store4
from .simd import (add, fence, fma, fms, high1, high2, high4, load, low1, low2, low4, splat, spread,
                   store)

CHUNK = 64    # values of ell whose sums stay in the first-level cache during the direct transform


@kernel
def _inverse_block(low, count, a, b, k, x, xo, seeds, c, out):
    """Sums over ``ell`` for 24 latitudes, ``out[3, 4, 8]``."""
    x0, x1, x2 = load(x, xo), load(x, xo + 8), load(x, xo + 16)
    q0, q1, q2 = load(seeds, 0), load(seeds, 8), load(seeds, 16)
    p0, p1, p2 = load(seeds, 24), load(seeds, 32), load(seeds, 40)
    z = splat(0.0)
    e0, f0, g0, h0 = z, z, z, z
    e1, f1, g1, h1 = z, z, z, z
    e2, f2, g2, h2 = z, z, z, z
    for ell in range(low, count):
        c0, c1 = spread(c, 4 * ell), spread(c, 4 * ell + 1)
        c2, c3 = spread(c, 4 * ell + 2), spread(c, 4 * ell + 3)
        al, bl = spread(a, k + ell), spread(b, k + ell)
        e0, f0, g0, h0 = fma(c0, p0, e0), fma(c1, p0, f0), fma(c2, p0, g0), fma(c3, p0, h0)
        e1, f1, g1, h1 = fma(c0, p1, e1), fma(c1, p1, f1), fma(c2, p1, g1), fma(c3, p1, h1)
        e2, f2, g2, h2 = fma(c0, p2, e2), fma(c1, p2, f2), fma(c2, p2, g2), fma(c3, p2, h2)
        q0, p0 = p0, fms(fma(al, x0, bl), p0, q0)
        q1, p1 = p1, fms(fma(al, x1, bl), p1, q1)
        q2, p2 = p2, fms(fma(al, x2, bl), p2, q2)
    store4(out, 0, (e0, f0, g0, h0))
    store4(out, SPAN, (e1, f1, g1, h1))
    store4(out, 2 * SPAN, (e2, f2, g2, h2))


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
        al, bl = spread(a, k + ell), spread(b, k + ell)
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
    """``out[base + 4 i + r] = Σ_lane sums[i, r, lane]``; two ``i`` at a time, room for an even count."""
    for i in range(0, count, 2):
        u, v = load4(sums, SPAN * i), load4(sums, SPAN * i + SPAN)
        a, b = add(low1(u[0], u[1]), high1(u[0], u[1])), add(low1(u[2], u[3]), high1(u[2], u[3]))
        c, d = add(low1(v[0], v[1]), high1(v[0], v[1])), add(low1(v[2], v[3]), high1(v[2], v[3]))
        a, c = add(low2(a, b), high2(a, b)), add(low2(c, d), high2(c, d))
        store(out, base + 4 * i, add(low4(a, c), high4(a, c)))


@kernel(fastmath=CONTRACT)
def _combine(degrees, count, spectrum, s, even, carry, odd, k, c):
    """Coefficients of ``p_l`` of one wavenumber, whose coefficients start at ``spectrum[s]``."""
    last = count - 1
    for ell in range(last):
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
    """Transpose of ``_combine``."""
    spectrum[s], spectrum[s + 1] = even[k] * c[0], even[k] * c[1]
    for ell in range(1, count):
        o = s + 4 * ell
        u, v, w = even[k + ell], carry[k + ell - 1], odd[k + ell - 1]
        spectrum[o - 2] = w * c[4 * ell - 2]
        spectrum[o - 1] = w * c[4 * ell - 1]
        spectrum[o] = u * c[4 * ell] + v * c[4 * ell - 4]
        spectrum[o + 1] = u * c[4 * ell + 1] + v * c[4 * ell - 3]
    last = count - 1
    if 2 * count <= degrees:
        o = s + 4 * last
        spectrum[o + 2] = odd[k + last] * c[4 * last + 2]
        spectrum[o + 3] = odd[k + last] * c[4 * last + 3]


@kernel
def _inverse_wavenumber(m, count, row0, a, b, k, x, first, seeds, c, out, fourier, places, counts, streaming):
    for g in range(row0 // BLOCK, first.size):
        _inverse_block(first[g], count, a, b, k, x, g * BLOCK, seeds[g], c, out)
        for i in range(3):
            block = 3 * g + i
            if m < counts[block]:
                emit4(fourier, places[block] + m * SPAN, load4(out, i * SPAN), streaming)


@kernel
def _direct_wavenumber(count, row0, a, b, k, x, first, seeds, c, sums, state, fourier, place):
    for start in range(0, count, CHUNK):
        end = min(start + CHUNK, count)
        for i in range(CHUNK * SPAN):
            sums[i] = 0.0
        for g in range(row0 // BLOCK, first.size):
            begin = first[g]
            if begin >= end:
                continue
            so = 2 * BLOCK * g
            if begin >= start:
                for i in range(2 * BLOCK):
                    state[so + i] = seeds[g, i]
            _direct_block(max(begin, start), end, a, b, k, x, g * BLOCK, state, so, fourier,
                          place + 3 * g * SPAN, sums, start)
        _reduce(sums, end - start, c, 4 * start)


@kernel
def _inverse_share(t, threads, extra, spectrum, columns, table, offset, x, first_row, first, seeds, c,
                   fourier, places, counts, streaming):
    top = columns.size - 2
    out = c[c.size - 3 * SPAN:]
    for m in range(t, top + 1, threads):
        degrees = top + extra - m + 1
        count = (degrees - 1) // 2 + 1
        k = offset[m]
        _combine(degrees, count, spectrum, 2 * columns[m], table[2], table[3], table[4], k, c)
        _inverse_wavenumber(m, count, first_row[m], table[0], table[1], k, x, first[m], seeds[m], c, out,
                            fourier, places, counts, streaming)
    fence()


@kernel(parallel=True)
def inverse_legendre(threads, extra, spectrum, columns, table, offset, x, first_row, first, seeds, scratch,
                     fourier, places, counts, streaming):
    """Legendre part of the inverse transform of one field (``spectrum`` flat, re and im in turn).

    ``places[block8]`` and ``counts[block8]``: offset and number of wavenumbers of each latitude block.
    """
    for t in numba.prange(threads):
        _inverse_share(t, threads, extra, spectrum, columns, table, offset, x, first_row, first, seeds,
                       scratch[t], fourier, places, counts, streaming)


@kernel
def _direct_share(t, threads, extra, spectrum, columns, table, offset, x, first_row, first, seeds, work,
                  fourier, places):
    top = columns.size - 2
    size = work.size - CHUNK * SPAN - 2 * BLOCK * first.shape[1]
    c, sums, state = work[:size], work[size:size + CHUNK * SPAN], work[size + CHUNK * SPAN:]
    for m in range(t, top + 1, threads):
        degrees = top + extra - m + 1
        count = (degrees - 1) // 2 + 1
        k = offset[m]
        _direct_wavenumber(count, first_row[m], table[0], table[1], k, x, first[m], seeds[m], c, sums,
                           state, fourier, places[m])
        _separate(degrees, count, c, table[2], table[3], table[4], k, spectrum, 2 * columns[m])


@kernel(parallel=True)
def direct_legendre(threads, extra, spectrum, columns, table, offset, x, first_row, first, seeds, scratch,
                    fourier, places):
    """Legendre part of the direct transform of one field.

    ``places[m]``: offset that block 0 would have in the wavenumber-major buffer.
    """
    for t in numba.prange(threads):
        _direct_share(t, threads, extra, spectrum, columns, table, offset, x, first_row, first, seeds,
                      scratch[t], fourier, places)


def scratch_size(truncation: int, blocks: int) -> int:
    """Doubles of private work space a thread needs, for both directions."""
    line = 4 * (truncation // 2 + 16) // 8 * 8 + 8
    return line + CHUNK * SPAN + 2 * BLOCK * blocks
