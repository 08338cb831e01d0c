"""Passes of Stockham's Fourier transform over eight SIMD lanes: radix 2, 3, 4, 5, 8 and any odd prime.

An element is ``[2, 8]`` doubles: real and imaginary part of eight lanes.  One pass of radix ``r`` reads,
for every ``p`` and every member ``q`` of a batch, the elements ``work[x + p px + 16 q + j dx]``, ``j < r``,
transforms them, turns output ``k`` by the root of unity number ``k (first + p) step`` of a table, and
writes it to ``work[y + p py + 16 q + k dy]``.  Strides are the caller's, so that a pass can work on a slice
of a row that stays in the first-level cache.  ``p = first = 0`` needs no turning.

Everything lies in one private array ``work``, given by its address like ``table`` and ``radices``, and places
are offsets in it.  The first ``SPARE`` numbers belong to the pass of an odd radix.

Only the sign ``exp(+2πi jk / n)`` is coded; the other swaps real and imaginary parts on both sides.

Source: C. Temperton, J. Comput. Phys. 52, 1 (1983).
"""

import numpy as np

from kernels.runtime.jit import kernel
from kernels.runtime.vector import at, fma, fms, fnma, load, spread, store

LARGEST_RADIX = 31
SPARE = 16 * (LARGEST_RADIX + 1)  # doubles that the pass of an odd radix uses


@kernel(inline=True)
def multiply(xr, xi, wr, wi):
    return fms(xr, wr, xi * wi), fma(xr, wi, xi * wr)


@kernel(inline=True)
def element(x, o):
    return load(x, o), load(x, o + 8)


@kernel(inline=True)
def put_element(y, o, z):
    store(y, o, z[0])
    store(y, o + 8, z[1])


@kernel(inline=True)
def root(table, w):
    return spread(at(table, w)), spread(at(table, w + 1))


@kernel(inline=True)
def _turn(z, w):
    return multiply(z[0], z[1], w[0], w[1])


@kernel(inline=True)
def _plus(a, b):
    return a[0] + b[0], a[1] + b[1]


@kernel(inline=True)
def _minus(a, b):
    return a[0] - b[0], a[1] - b[1]


@kernel(inline=True)
def _plus_i(a, b):
    """``a + i b``."""
    return a[0] - b[1], a[1] + b[0]


@kernel(inline=True)
def _minus_i(a, b):
    """``a - i b``."""
    return a[0] + b[1], a[1] - b[0]


@kernel(inline=True)
def _scaled(c, z):
    return c * z[0], c * z[1]


@kernel(inline=True)
def _more(c, z, a):
    """``a + c z`` with a real ``c``."""
    return fma(c, z[0], a[0]), fma(c, z[1], a[1])


@kernel(inline=True)
def _three(x, i, d):
    a, b, c = element(x, i), element(x, i + d), element(x, i + 2 * d)
    s, t = _plus(b, c), _scaled(np.sqrt(0.75), _minus(b, c))
    e = fnma(0.5, s[0], a[0]), fnma(0.5, s[1], a[1])
    return _plus(a, s), _plus_i(e, t), _minus_i(e, t)


@kernel(inline=True)
def _four_of(a, b, c, d):
    s, t, u, v = _plus(a, c), _minus(a, c), _plus(b, d), _minus(b, d)
    return _plus(s, u), _plus_i(t, v), _minus(s, u), _minus_i(t, v)


@kernel(inline=True)
def _four(x, i, d):
    return _four_of(element(x, i), element(x, i + d), element(x, i + 2 * d), element(x, i + 3 * d))


@kernel(inline=True)
def _five(x, i, d):
    c1, c2 = 0.30901699437494745, -0.8090169943749475  # cos 2π/5, cos 4π/5
    s1, s2 = 0.9510565162951535, 0.5877852522924731  # sin 2π/5, sin 4π/5
    a, b, c = element(x, i), element(x, i + d), element(x, i + 2 * d)
    e, f = element(x, i + 3 * d), element(x, i + 4 * d)
    p, t, q, u = _plus(b, f), _minus(b, f), _plus(c, e), _minus(c, e)
    g, h = _more(c2, q, _more(c1, p, a)), _more(s2, u, _scaled(s1, t))
    k = _more(c1, q, _more(c2, p, a))
    m = fms(s2, t[0], s1 * u[0]), fms(s2, t[1], s1 * u[1])
    return _plus(a, _plus(p, q)), _plus_i(g, h), _plus_i(k, m), _minus_i(k, m), _minus_i(g, h)


@kernel(inline=True)
def _halves(x, i, d):
    """Sum and difference of the elements ``i`` and ``i + 4d``."""
    a, b = element(x, i), element(x, i + 4 * d)
    return _plus(a, b), _minus(a, b)


@kernel(inline=True)
def _eight(x, i, d):
    a, e = _halves(x, i, d)
    b, f = _halves(x, i + d, d)
    c, g = _halves(x, i + 2 * d, d)
    v, h = _halves(x, i + 3 * d, d)
    z = _four_of(a, b, c, v)
    # odd outputs: the differences turned by 0, 1, 2, 3 eighths
    half = np.sqrt(0.5)
    f = half * (f[0] - f[1]), half * (f[0] + f[1])
    g = 0.0 - g[1], g[0]
    h = 0.0 - half * (h[0] + h[1]), half * (h[0] - h[1])
    w = _four_of(e, f, g, h)
    return z[0], w[0], z[1], w[1], z[2], w[2], z[3], w[3]


@kernel(inline=True)
def _pass2(work, x, px, dx, y, py, dy, count, batch, table, start, first, step):
    for p in range(count):
        w = root(table, start + 2 * (first + p) * step)
        for q in range(0, 16 * batch, 16):
            i, o = x + p * px + q, y + p * py + q
            a, b = element(work, i), element(work, i + dx)
            put_element(work, o, _plus(a, b))
            put_element(work, o + dy, _turn(_minus(a, b), w))


@kernel(inline=True)
def _pass3(work, x, px, dx, y, py, dy, count, batch, table, start, first, step):
    for p in range(count):
        w = 2 * (first + p) * step
        u, v = root(table, start + w), root(table, start + 2 * w)
        for q in range(0, 16 * batch, 16):
            z = _three(work, x + p * px + q, dx)
            o = y + p * py + q
            put_element(work, o, z[0])
            put_element(work, o + dy, _turn(z[1], u))
            put_element(work, o + 2 * dy, _turn(z[2], v))


@kernel(inline=True)
def _send(work, o, z, table, w, turned):
    """Write one output of a butterfly, turned by the root of unity at ``table[w]`` if it has to be."""
    put_element(work, o, _turn(z, root(table, w)) if turned else z)


@kernel(inline=True)
def _line4(work, x, dx, y, dy, batch, table, start, w, turned):
    for q in range(0, 16 * batch, 16):
        z, o = _four(work, x + q, dx), y + q
        put_element(work, o, z[0])
        _send(work, o + dy, z[1], table, start + w, turned)
        _send(work, o + 2 * dy, z[2], table, start + 2 * w, turned)
        _send(work, o + 3 * dy, z[3], table, start + 3 * w, turned)


@kernel(inline=True)
def _pass4(work, x, px, dx, y, py, dy, count, batch, table, start, first, step):
    for p in range(count):
        w = 2 * (first + p) * step
        if w == 0:
            _line4(work, x + p * px, dx, y + p * py, dy, batch, table, start, w, False)
        else:
            _line4(work, x + p * px, dx, y + p * py, dy, batch, table, start, w, True)


@kernel(inline=True)
def _line5(work, x, dx, y, dy, batch, table, start, w, turned):
    for q in range(0, 16 * batch, 16):
        z, o = _five(work, x + q, dx), y + q
        put_element(work, o, z[0])
        _send(work, o + dy, z[1], table, start + w, turned)
        _send(work, o + 2 * dy, z[2], table, start + 2 * w, turned)
        _send(work, o + 3 * dy, z[3], table, start + 3 * w, turned)
        _send(work, o + 4 * dy, z[4], table, start + 4 * w, turned)


@kernel(inline=True)
def _pass5(work, x, px, dx, y, py, dy, count, batch, table, start, first, step):
    for p in range(count):
        w = 2 * (first + p) * step
        if w == 0:
            _line5(work, x + p * px, dx, y + p * py, dy, batch, table, start, w, False)
        else:
            _line5(work, x + p * px, dx, y + p * py, dy, batch, table, start, w, True)


@kernel(inline=True)
def _line8(work, x, dx, y, dy, batch, table, start, w, turned):
    for q in range(0, 16 * batch, 16):
        z, o = _eight(work, x + q, dx), y + q
        put_element(work, o, z[0])
        _send(work, o + dy, z[1], table, start + w, turned)
        _send(work, o + 2 * dy, z[2], table, start + 2 * w, turned)
        _send(work, o + 3 * dy, z[3], table, start + 3 * w, turned)
        _send(work, o + 4 * dy, z[4], table, start + 4 * w, turned)
        _send(work, o + 5 * dy, z[5], table, start + 5 * w, turned)
        _send(work, o + 6 * dy, z[6], table, start + 6 * w, turned)
        _send(work, o + 7 * dy, z[7], table, start + 7 * w, turned)


@kernel(inline=True)
def _pass8(work, x, px, dx, y, py, dy, count, batch, table, start, first, step):
    for p in range(count):
        w = 2 * (first + p) * step
        if w == 0:
            _line8(work, x + p * px, dx, y + p * py, dy, batch, table, start, w, False)
        else:
            _line8(work, x + p * px, dx, y + p * py, dy, batch, table, start, w, True)


@kernel
def _pass_odd(radix, work, x, px, dx, y, py, dy, count, batch, table, start, first, step, turn):
    """Any odd radix: sums and differences of mirrored inputs, then real combinations of them.

    ``turn`` is the distance of two ``radix``-th roots of unity in the table.
    """
    half = radix // 2
    for p in range(count):
        for q in range(0, 16 * batch, 16):
            i, o = x + p * px + q, y + p * py + q
            a = element(work, i)
            z = a
            for j in range(1, half + 1):
                b, e = element(work, i + j * dx), element(work, i + (radix - j) * dx)
                s = _plus(b, e)
                z = _plus(z, s)
                put_element(work, 32 * j - 32, s)
                put_element(work, 32 * j - 16, _minus(b, e))
            put_element(work, o, z)
            for k in range(1, half + 1):
                f, h = a, (spread(0.0), spread(0.0))
                for j in range(1, half + 1):
                    w = root(table, start + 2 * (j * k % radix) * turn)
                    f = _more(w[0], element(work, 32 * j - 32), f)
                    h = _more(w[1], element(work, 32 * j - 16), h)
                w = 2 * (first + p) * step
                put_element(work, o + k * dy, _turn(_plus_i(f, h), root(table, start + k * w)))
                v = root(table, start + (radix - k) * w)
                put_element(work, o + (radix - k) * dy, _turn(_minus_i(f, h), v))


@kernel
def butterflies(radix, work, x, px, dx, y, py, dy, count, batch, table, start, first, step, turn):
    """One pass, or a slice of one; see the module's text for the arguments."""
    if radix == 8:
        _pass8(work, x, px, dx, y, py, dy, count, batch, table, start, first, step)
    elif radix == 4:
        _pass4(work, x, px, dx, y, py, dy, count, batch, table, start, first, step)
    elif radix == 5:
        _pass5(work, x, px, dx, y, py, dy, count, batch, table, start, first, step)
    elif radix == 2:
        _pass2(work, x, px, dx, y, py, dy, count, batch, table, start, first, step)
    elif radix == 3:
        _pass3(work, x, px, dx, y, py, dy, count, batch, table, start, first, step)
    else:
        _pass_odd(radix, work, x, px, dx, y, py, dy, count, batch, table, start, first, step, turn)


@kernel
def stockham(work, x, y, length, batch, radices, i, table, start):
    """Transform ``[length, batch, 2, 8]`` at ``work[x]`` over its first axis with the help of ``work[y]``.

    The passes have the ``radices[i], radices[i + 1], …`` up to a 0.  Returns the place of the result, ``x``
    or ``y``.
    """
    n, s, step = length, batch, 1
    radix = at(radices, i)
    while radix:
        n //= radix
        butterflies(
            radix, work, x, 16 * s, 16 * s * n, y, 16 * s * radix, 16 * s, n, s, table, start, 0, step, n * step
        )
        s *= radix
        step *= radix
        i += 1
        radix = at(radices, i)
        x, y = y, x
    return x
