"""Legendre transforms of eight fields at once: SIMD lanes are fields.

For each wavenumber the functions ``p_l`` of a few blocks of 24 latitudes are built on the fly, ``CHUNK``
values of ``ell`` at a time, into a panel that stays in the first-level cache; a register-blocked
product then combines it with the coefficients of eight fields.

Layouts (all float64): coefficient scratch ``c[ell, 4, 8]`` with the four rows even-real, even-imaginary,
odd-real, odd-imaginary and the last axis fields; Fourier buffers hold the same 32 numbers for every
(latitude, wavenumber), latitude-major for the inverse and wavenumber-major for the direct transform,
so that each stage writes scattered blocks and reads contiguous ones.
"""

import numba

from kernels._jit import kernel

from .legendre import BLOCK
from .simd import (fence, fma, fms, high1, high2, high4, load, low1, low2, low4, mul, splat, spread,
                   store, stream)

CHUNK = 60    # values of ell in one panel, a multiple of 6: with their coefficients they fit 48 KiB
GROUP = 1     # blocks of 24 latitudes that share one pass over the coefficients
SPAN = 32     # doubles for one (latitude, wavenumber) or one ell: four rows of eight lanes
_PANEL = CHUNK * BLOCK


@kernel(inline=True)
def transpose8(a, b, c, d, e, f, g, h):
    """Transpose an 8 × 8 matrix held in eight vectors."""
    a, b = low1(a, b), high1(a, b)
    c, d = low1(c, d), high1(c, d)
    e, f = low1(e, f), high1(e, f)
    g, h = low1(g, h), high1(g, h)
    a, c = low2(a, c), high2(a, c)
    b, d = low2(b, d), high2(b, d)
    e, g = low2(e, g), high2(e, g)
    f, h = low2(f, h), high2(f, h)
    return (low4(a, e), low4(b, f), low4(c, g), low4(d, h),
            high4(a, e), high4(b, f), high4(c, g), high4(d, h))


@kernel(inline=True)
def row4(factor, c0, c1, c2, c3, a0, a1, a2, a3):
    """One row of the register block: ``a += factor c``."""
    return fma(factor, c0, a0), fma(factor, c1, a1), fma(factor, c2, a2), fma(factor, c3, a3)


@kernel(inline=True)
def load4(x, o):
    return load(x, o), load(x, o + 8), load(x, o + 16), load(x, o + 24)


@kernel(inline=True)
def store4(x, o, a):
    store(x, o, a[0])
    store(x, o + 8, a[1])
    store(x, o + 16, a[2])
    store(x, o + 24, a[3])


@kernel
def product(x, xo, step, advance, c, co, count, out, oo):
    """``out[j] += Σ_i x[xo + j step + i advance] c[i]`` for six j; ``c[i]`` and ``out[j]`` hold 32."""
    r0, r1, r2 = load4(out, oo), load4(out, oo + SPAN), load4(out, oo + 2 * SPAN)
    r3, r4, r5 = load4(out, oo + 3 * SPAN), load4(out, oo + 4 * SPAN), load4(out, oo + 5 * SPAN)
    for i in range(count):
        c0, c1, c2, c3 = load4(c, co + i * SPAN)
        k = xo + i * advance
        r0 = row4(spread(x, k), c0, c1, c2, c3, r0[0], r0[1], r0[2], r0[3])
        r1 = row4(spread(x, k + step), c0, c1, c2, c3, r1[0], r1[1], r1[2], r1[3])
        r2 = row4(spread(x, k + 2 * step), c0, c1, c2, c3, r2[0], r2[1], r2[2], r2[3])
        r3 = row4(spread(x, k + 3 * step), c0, c1, c2, c3, r3[0], r3[1], r3[2], r3[3])
        r4 = row4(spread(x, k + 4 * step), c0, c1, c2, c3, r4[0], r4[1], r4[2], r4[3])
        r5 = row4(spread(x, k + 5 * step), c0, c1, c2, c3, r5[0], r5[1], r5[2], r5[3])
    store4(out, oo, r0)
    store4(out, oo + SPAN, r1)
    store4(out, oo + 2 * SPAN, r2)
    store4(out, oo + 3 * SPAN, r3)
    store4(out, oo + 4 * SPAN, r4)
    store4(out, oo + 5 * SPAN, r5)


@kernel
def build(panel, po, low, high, a, b, k, x, xo, state, so):
    """Rows ``low … high-1`` of a panel: ``p_l`` of 24 latitudes; ``state`` carries two values on."""
    x0, x1, x2 = load(x, xo), load(x, xo + 8), load(x, xo + 16)
    q0, q1, q2 = load(state, so), load(state, so + 8), load(state, so + 16)
    p0, p1, p2 = load(state, so + 24), load(state, so + 32), load(state, so + 40)
    for ell in range(low, high):
        o = po + ell * BLOCK
        store(panel, o, p0)
        store(panel, o + 8, p1)
        store(panel, o + 16, p2)
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
def fill(panel, po, start, end, begin, a, b, k, x, xo, seeds, state, so):
    """Fill panel rows of ``ell = start … end-1`` for one block that begins at ``begin`` (0 before it)."""
    low = min(max(begin, start), end) - start
    for i in range(po, po + low * BLOCK):
        panel[i] = 0.0
    if begin >= end:
        return
    if begin >= start:
        for i in range(2 * BLOCK):
            state[so + i] = seeds[i]
    build(panel, po, low, end - start, a, b, k + start, x, xo, state, so)


@kernel
def gather(spectrum, column, lanes, degrees, work):
    """``work[i, 2, 8]``: coefficients of ``degrees`` successive degrees of eight fields, then zeros."""
    whole = degrees - degrees % 4
    for i in range(0, whole, 4):
        o = 2 * (column + i)
        r = transpose8(load(spectrum, lanes[0] + o), load(spectrum, lanes[1] + o),
                       load(spectrum, lanes[2] + o), load(spectrum, lanes[3] + o),
                       load(spectrum, lanes[4] + o), load(spectrum, lanes[5] + o),
                       load(spectrum, lanes[6] + o), load(spectrum, lanes[7] + o))
        store4(work, 16 * i, (r[0], r[1], r[2], r[3]))
        store4(work, 16 * i + 32, (r[4], r[5], r[6], r[7]))
    for i in range(2 * whole, 2 * degrees):
        for f in range(8):
            work[8 * i + f] = spectrum[lanes[f] + 2 * column + i]
    for i in range(16 * degrees, 16 * degrees + 64):
        work[i] = 0.0


@kernel
def scatter(spectrum, column, lanes, fields, degrees, work):
    """Inverse of ``gather``: write the first ``fields`` lanes."""
    whole = degrees - degrees % 4
    for i in range(0, whole, 4):
        a, b = load4(work, 16 * i), load4(work, 16 * i + 32)
        r = transpose8(a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3])
        o = 2 * (column + i)
        # a missing field's lane is written first and to the last field, which then overwrites it
        store(spectrum, lanes[7] + o, r[7])
        store(spectrum, lanes[6] + o, r[6])
        store(spectrum, lanes[5] + o, r[5])
        store(spectrum, lanes[4] + o, r[4])
        store(spectrum, lanes[3] + o, r[3])
        store(spectrum, lanes[2] + o, r[2])
        store(spectrum, lanes[1] + o, r[1])
        store(spectrum, lanes[0] + o, r[0])
    for i in range(2 * whole, 2 * degrees):
        for f in range(fields):
            spectrum[lanes[f] + 2 * column + i] = work[8 * i + f]


@kernel
def combine(work, k, even, carry, odd, count, c):
    """Coefficients of ``p_l`` from those of ``P_n``: see ``legendre``."""
    for ell in range(count):
        e0r, e0i, o0r, o0i = load4(work, SPAN * ell)
        e1r, e1i = load(work, SPAN * ell + 32), load(work, SPAN * ell + 40)
        u, v, w = spread(even, k + ell), spread(carry, k + ell), spread(odd, k + ell)
        store(c, SPAN * ell, fma(u, e0r, mul(v, e1r)))
        store(c, SPAN * ell + 8, fma(u, e0i, mul(v, e1i)))
        store(c, SPAN * ell + 16, mul(w, o0r))
        store(c, SPAN * ell + 24, mul(w, o0i))


@kernel
def separate(c, k, even, carry, odd, count, work):
    """Transpose of ``combine``: coefficients of ``P_n`` from projections on ``p_l``."""
    br, bi = splat(0.0), splat(0.0)
    for ell in range(count):
        er, ei, orr, oi = load4(c, SPAN * ell)
        u, v, w = spread(even, k + ell), spread(carry, k + ell), spread(odd, k + ell)
        store4(work, SPAN * ell, (fma(u, er, br), fma(u, ei, bi), mul(w, orr), mul(w, oi)))
        br, bi = mul(v, er), mul(v, ei)


@kernel(inline=True)
def emit4(fourier, o, r, streaming):
    if streaming:
        stream(fourier, o, r[0])
        stream(fourier, o + 8, r[1])
        stream(fourier, o + 16, r[2])
        stream(fourier, o + 24, r[3])
    else:
        store4(fourier, o, r)


@kernel(inline=True)
def _chunk(low, count):
    """Length of equal chunks of at most ``CHUNK`` that cover ``low … count-1``; a multiple of 6."""
    parts = (count - low + CHUNK - 1) // CHUNK
    size = (count - low + parts - 1) // max(parts, 1)
    return max(6, (size + 5) // 6 * 6)


@kernel
def _inverse_group(g, m, count, row0, rows, a, b, k, x, first, seeds, c, panel, state, acc, fourier, places,
                   streaming):
    """Sums of one group of latitude blocks into the Fourier buffer."""
    low = count
    for h in range(GROUP):
        low = min(low, first[g + h])
    for i in range(GROUP * BLOCK * SPAN):
        acc[i] = 0.0
    size = _chunk(low, count)
    for start in range(low, count, size):
        end = min(start + size, count)
        for h in range(GROUP):
            begin = first[g + h]
            if begin >= end:
                continue
            base = (g + h) * BLOCK
            fill(panel, h * _PANEL, start, end, begin, a, b, k, x, base, seeds[g + h], state, 2 * h * BLOCK)
            i = max(begin, start)
            for j in range(0, BLOCK, 6):
                if base + j + 6 > row0 and base + j < rows:
                    product(panel, h * _PANEL + (i - start) * BLOCK + j, 1, BLOCK, c, i * SPAN, end - i,
                            acc, (h * BLOCK + j) * SPAN)
    for row in range(max(row0, g * BLOCK), min(rows, (g + GROUP) * BLOCK)):
        emit4(fourier, places[row] + m * SPAN, load4(acc, (row - g * BLOCK) * SPAN), streaming)


@kernel
def inverse_wavenumber(m, count, row0, rows, tables, k, x, first, seeds, c, panel, state, acc,
                       fourier, places, streaming):
    """Sums over degree of one wavenumber for every latitude, into the latitude-major buffer."""
    a, b = tables
    for g in range(row0 // (GROUP * BLOCK) * GROUP, first.size, GROUP):
        _inverse_group(g, m, count, row0, rows, a, b, k, x, first, seeds, c, panel, state, acc, fourier,
                       places, streaming)


@kernel
def direct_wavenumber(count, row0, rows, tables, k, x, first, seeds, c, panel, state, fourier, place):
    """Projections on ``p_l`` of one wavenumber, summed over latitudes, into ``c[ell, 4, 8]``.

    ``place`` is the offset that row 0 would have in the wavenumber-major buffer.
    """
    a, b = tables
    for i in range((count + 6) * SPAN):
        c[i] = 0.0
    for g in range(row0 // (GROUP * BLOCK) * GROUP, first.size, GROUP):
        low = count
        for h in range(GROUP):
            low = min(low, first[g + h])
        size = _chunk(low, count)
        for start in range(low, count, size):
            end = min(start + size, count)
            for h in range(GROUP):
                begin = first[g + h]
                if begin < end:
                    fill(panel, h * _PANEL, start, end, begin, a, b, k, x, (g + h) * BLOCK,
                            seeds[g + h], state, 2 * h * BLOCK)
            for i in range(start, end, 6):
                for h in range(GROUP):
                    base = (g + h) * BLOCK
                    j, last = max(row0, base), min(rows, base + BLOCK)
                    if first[g + h] < min(i + 6, end) and j < last:
                        product(panel, h * _PANEL + (i - start) * BLOCK + j - base, BLOCK, 1,
                                fourier, place + j * SPAN, last - j, c, i * SPAN)


@kernel
def _cut(work):
    """Private work space: coefficients, degrees, panels, recurrence state, sums."""
    third = work.size // 3
    panel = work[2 * third:]
    state = panel[GROUP * _PANEL:]
    return work[:third], work[third:2 * third], panel, state, state[2 * GROUP * BLOCK:]


@kernel
def _inverse_share(t, threads, extra, spectrum, columns, lanes, table, offset, x, first_row, rows, first,
                   seeds, work, fourier, places, streaming):
    top = columns.size - 2
    c, rest, panel, state, acc = _cut(work)
    for m in range(t, top + 1, threads):
        degrees = top + extra - m + 1
        count = (degrees - 1) // 2 + 1
        k = offset[m]
        gather(spectrum, columns[m], lanes, degrees, rest)
        combine(rest, k, table[2], table[3], table[4], count, c)
        inverse_wavenumber(m, count, first_row[m], rows, (table[0], table[1]), k, x, first[m], seeds[m],
                           c, panel, state, acc, fourier, places, streaming)
    fence()


@kernel(parallel=True)
def inverse_legendre(threads, extra, spectrum, columns, lanes, table, offset, x, first_row, rows, first,
                     seeds, scratch, fourier, places, streaming):
    """Legendre part of the inverse transform of up to eight fields.

    ``extra`` is 0 or 1: degrees up to the truncation plus ``extra``; ``table[5, …]`` holds the rows
    a, b, even, carry, odd; ``scratch[thread, …]`` is private work space.
    """
    for t in numba.prange(threads):
        _inverse_share(t, threads, extra, spectrum, columns, lanes, table, offset, x, first_row, rows, first,
                       seeds, scratch[t], fourier, places, streaming)


@kernel
def _direct_share(t, threads, extra, spectrum, columns, lanes, fields, table, offset, x, first_row, rows,
                  first, seeds, work, fourier, places):
    top = columns.size - 2
    c, rest, panel, state, _ = _cut(work)
    for m in range(t, top + 1, threads):
        degrees = top + extra - m + 1
        count = (degrees - 1) // 2 + 1
        k = offset[m]
        direct_wavenumber(count, first_row[m], rows, (table[0], table[1]), k, x, first[m], seeds[m],
                          c, panel, state, fourier, places[m])
        separate(c, k, table[2], table[3], table[4], count, rest)
        scatter(spectrum, columns[m], lanes, fields, degrees, rest)


@kernel(parallel=True)
def direct_legendre(threads, extra, spectrum, columns, lanes, fields, table, offset, x, first_row, rows,
                    first, seeds, scratch, fourier, places):
    """Legendre part of the direct transform of up to eight fields; arguments as for the inverse."""
    for t in numba.prange(threads):
        _direct_share(t, threads, extra, spectrum, columns, lanes, fields, table, offset, x, first_row, rows,
                      first, seeds, scratch[t], fourier, places)


def scratch_size(truncation: int) -> int:
    """Doubles of private work space a thread needs: coefficients, degrees, panel with sums."""
    line = (truncation // 2 + 10) * SPAN
    panel = GROUP * (_PANEL + 2 * BLOCK + BLOCK * SPAN)
    return 3 * (max(line, panel) // 8 * 8 + 8)
