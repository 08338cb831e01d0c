"""Between Fourier buffers and grid rows: expand, transform, transpose, and back.

A task is one transform of eight lanes: a row pair of eight fields, or up to eight neighbouring row
pairs of one field.  Task tables (one row each):

``where[task] = (length id, number of wavenumbers, offset in the latitude-major buffer, row or block
number in the wavenumber-major buffer, whole)``; ``whole`` is 0 if some lanes are idle.
``north[task, lane]`` and ``south[task, lane]`` are offsets of the rows in the grid-point array,
negative for an idle lane; ``factors[task, 16]`` scale the even and odd parts lane by lane.
"""

import numba

from kernels._jit import kernel

from .fourier import _put, transform
from .many import SPAN, load4, store4, transpose8
from .simd import add, fence, fma, fms, load, mul, splat, store, stream, sub


@kernel
def _expand(fourier, o, count, n, even, odd, z):
    """``Z_k`` and ``Z_{n-k}`` of north + i south from even and odd parts; zeros between."""
    for k in range(count):
        er, ei, dr, di = load4(fourier, o + k * SPAN)
        dr, di = mul(odd, dr), mul(odd, di)
        nr, ni = fma(even, er, dr), fma(even, ei, di)
        sr, si = fms(even, er, dr), fms(even, ei, di)
        if k == 0:
            _put(z, 0, nr, sr)
        else:
            _put(z, 16 * k, sub(nr, si), add(ni, sr))
            _put(z, 16 * (n - k), add(nr, si), sub(sr, ni))
    zero = splat(0.0)
    for k in range(max(count, 1), n - count + 1):
        _put(z, 16 * k, zero, zero)


@kernel
def _separate(z, count, n, even, odd, fourier, places, column, whole, streaming, north, spare):
    """Even and odd parts of the first ``count`` wavenumbers of a transformed row, weights applied.

    ``z`` is the transform of south + i north, so its parts are exchanged.
    """
    for k in range(count):
        j = n - k if k else 0
        ai, ar = load(z, 16 * k), load(z, 16 * k + 8)
        bi, br = load(z, 16 * j), load(z, 16 * j + 8)
        nr, ni, sr, si = add(ar, br), sub(ai, bi), add(ai, bi), sub(br, ar)
        v = (mul(even, add(nr, sr)), mul(even, add(ni, si)), mul(odd, sub(nr, sr)), mul(odd, sub(ni, si)))
        o = places[k] + column * SPAN
        if not whole:
            store4(spare, 0, v)
            for lane in range(8):
                if north[lane] >= 0:
                    for part in range(0, SPAN, 8):
                        fourier[o + part + lane] = spare[part + lane]
        elif streaming:
            stream(fourier, o, v[0])
            stream(fourier, o + 8, v[1])
            stream(fourier, o + 16, v[2])
            stream(fourier, o + 24, v[3])
        else:
            store4(fourier, o, v)


@kernel
def _write(z, n, out, north, south, whole, streaming):
    """Real parts of ``z[n, 2, 8]`` to the northern rows, imaginary parts to the southern ones.

    ``streaming`` promises rows that start on cache lines.
    """
    body = n - n % 8 if whole else 0
    for part in range(2):
        rows = south if part else north
        p0, p1, p2, p3, p4, p5, p6, p7 = rows
        for j in range(0, body, 8):
            o = 16 * j + 8 * part
            r = transpose8(load(z, o), load(z, o + 16), load(z, o + 32), load(z, o + 48),
                           load(z, o + 64), load(z, o + 80), load(z, o + 96), load(z, o + 112))
            if streaming:
                stream(out, p7 + j, r[7])
                stream(out, p6 + j, r[6])
                stream(out, p5 + j, r[5])
                stream(out, p4 + j, r[4])
                stream(out, p3 + j, r[3])
                stream(out, p2 + j, r[2])
                stream(out, p1 + j, r[1])
                stream(out, p0 + j, r[0])
                continue
            # a missing field has the place of the last one, which is written after it
            store(out, p7 + j, r[7])
            store(out, p6 + j, r[6])
            store(out, p5 + j, r[5])
            store(out, p4 + j, r[4])
            store(out, p3 + j, r[3])
            store(out, p2 + j, r[2])
            store(out, p1 + j, r[1])
            store(out, p0 + j, r[0])
        for lane in range(7, -1, -1):
            if rows[lane] >= 0:
                for j in range(body, n):
                    out[rows[lane] + j] = z[16 * j + 8 * part + lane]


@kernel
def _read(values, n, north, south, whole, z):
    """South + i north of eight lanes; idle lanes are zero."""
    body = n - n % 8 if whole else 0
    for part in range(2):
        rows = north if part else south
        p0, p1, p2, p3, p4, p5, p6, p7 = rows
        for j in range(0, body, 8):
            r = transpose8(load(values, p0 + j), load(values, p1 + j), load(values, p2 + j),
                           load(values, p3 + j), load(values, p4 + j), load(values, p5 + j),
                           load(values, p6 + j), load(values, p7 + j))
            o = 16 * j + 8 * part
            store(z, o, r[0])
            store(z, o + 16, r[1])
            store(z, o + 32, r[2])
            store(z, o + 48, r[3])
            store(z, o + 64, r[4])
            store(z, o + 80, r[5])
            store(z, o + 96, r[6])
            store(z, o + 112, r[7])
        for lane in range(8):
            for j in range(body, n):
                z[16 * j + 8 * part + lane] = values[rows[lane] + j] if rows[lane] >= 0 else 0.0


@kernel(inline=True)
def _eight(row):
    return row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]


@kernel
def _inverse_share(t, threads, where, north, south, factors, lengths, radices, partner, chirp, starts, table,
                   spare, largest, fourier, out, streaming):
    half = 16 * largest
    x, y, sums = spare[:half], spare[half:2 * half], spare[2 * half:]
    for i in range(t, where.shape[0], threads):
        id, count, o, whole = where[i, 0], where[i, 1], where[i, 2], where[i, 4]
        n = lengths[id]
        _expand(fourier, o, count, n, load(factors[i], 0), load(factors[i], 8), x)
        z = y if transform(x, y, id, lengths, radices, partner, chirp, starts, table, sums) else x
        _write(z, n, out, _eight(north[i]), _eight(south[i]), whole != 0, streaming)
    fence()


@kernel(parallel=True)
def inverse_rows(threads, where, north, south, factors, lengths, radices, partner, chirp, starts, table,
                 scratch, largest, fourier, out, streaming):
    """Fourier part of the inverse transform: ``out`` (flat) from the latitude-major buffer."""
    for t in numba.prange(threads):
        _inverse_share(t, threads, where, north, south, factors, lengths, radices, partner, chirp, starts,
                       table, scratch[t], largest, fourier, out, streaming)


@kernel
def _direct_share(t, threads, where, north, south, factors, lengths, radices, partner, chirp, starts, table,
                  spare, largest, values, fourier, places, streaming):
    half = 16 * largest
    x, y, sums = spare[:half], spare[half:2 * half], spare[2 * half:]
    for i in range(t, where.shape[0], threads):
        id, count, column, whole = where[i, 0], where[i, 1], where[i, 3], where[i, 4]
        n = lengths[id]
        _read(values, n, _eight(north[i]), _eight(south[i]), whole != 0, x)
        z = y if transform(x, y, id, lengths, radices, partner, chirp, starts, table, sums) else x
        _separate(z, count, n, load(factors[i], 0), load(factors[i], 8), fourier, places, column,
                  whole != 0, streaming, _eight(north[i]), sums)
    fence()


@kernel(parallel=True)
def direct_rows(threads, where, north, south, factors, lengths, radices, partner, chirp, starts, table,
                scratch, largest, values, fourier, places, streaming):
    """Fourier part of the direct transform: the wavenumber-major buffer from ``values`` (flat)."""
    for t in numba.prange(threads):
        _direct_share(t, threads, where, north, south, factors, lengths, radices, partner, chirp, starts,
                      table, scratch[t], largest, values, fourier, places, streaming)
