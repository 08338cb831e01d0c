"""Complex Fourier transforms of as many rows at once as a vector has lanes, in Stockham's form.

    X[k] = Σ x[n] exp(+2πi nk / N)

An element is a vector of real parts and one of imaginary parts: 2 · 8 float64, or 2 · 16 float32.  Everything lies in
one array ``work``, an address whose type says which; places in it count numbers.  Each pass reads all elements and
writes them elsewhere, and the last leaves the result in order.  Radices are 2, 3, 4, 5, 8 and any odd prime, whose cost
grows with it.  Real and imaginary parts exchanged on the way in and on the way out change the sign.

``plain`` says what is computed.  scipy.fft on the same rows takes 1.3 to 2.2 times as long as all that the spectral
transforms do around and in these.

Source: C. Temperton, J. Comput. Phys. 52, 1 (1983).

A butterfly takes elements ``d`` apart from ``i`` on to places ``e`` apart from ``o`` on; its output k is turned by the
root of unity at ``k · w`` of a ``table``, in which a turn of 1 / ``radix`` is number ``unit``, if it is ``turned``.
"""

import numpy as np
from numba import types
from numba.extending import intrinsic

from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.vector import at, fma, fms, load, store, vector_of

__all__ = ["LARGEST_RADIX", "element", "factorise", "plain", "roots", "stockham"]

#: Largest prime factor that callers with a choice should take: a pass takes time by it.
LARGEST_RADIX = 31


def plain(x: np.ndarray) -> np.ndarray:
    """The transform of complex128 (N, …) over its first axis, by its definition."""
    n = np.arange(len(x))
    return np.tensordot(np.exp(2j * np.pi / len(x) * (np.outer(n, n) % len(x))), x, 1)


def factorise(n: int) -> list[int]:
    """Radices of the passes: eights first (a pass costs memory traffic, so few passes), then the rest."""
    twos = (n & -n).bit_length() - 1
    n >>= twos
    eights, left = divmod(twos, 3)
    if left == 1 and eights:
        eights, left = eights - 1, 4
    radices = [8] * eights + {0: [], 1: [2], 2: [4], 4: [4, 4]}[left]
    p = 3
    while n > 1:
        while n % p == 0:
            radices.append(p)
            n //= p
        p += 2
    return radices


def roots(n: int) -> np.ndarray:
    """``exp(2πi j / n)``, float64[n, 2], each component to the last bit or nearly so."""
    j = np.arange(n)
    quarter = (8 * j + n) // (2 * n)  # of a turn, so that the angle stays within ±π/4
    angle = (np.pi / (2 * n)) * (4 * j - quarter * n)
    c, s = np.cos(angle), np.sin(angle)
    turn = quarter % 4
    return np.stack([np.choose(turn, [c, -s, -c, s]), np.choose(turn, [s, c, -s, -c])], axis=1)


@intrinsic
def lanes(typingctx, place):
    """How many numbers a vector has that ``load`` takes from an address, by its type."""
    count = vector_of(place.dtype).count
    return types.intp(place), lambda context, builder, sig, args: context.get_constant(types.intp, count)


@intrinsic
def _number(typingctx, value, z):
    """A number of the type that the element ``z`` has."""

    def code(context, builder, sig, args):
        return context.cast(builder, args[0], value, sig.return_type)

    return z[0].dtype(value, z), code


@kernel(inline=True)
def multiply(z, w):
    """Complex product of ``z`` and ``w``, each a pair of real and imaginary part."""
    return fms(z[0], w[0], z[1] * w[1]), fma(z[0], w[1], z[1] * w[0])


@kernel(inline=True)
def element(work, place):
    """The element that begins at ``place``."""
    return load(work, place), load(work, place + lanes(work))


@kernel(inline=True)
def _plus(a, b):
    return a[0] + b[0], a[1] + b[1]


@kernel(inline=True)
def _minus(a, b):
    return a[0] - b[0], a[1] - b[1]


@kernel(inline=True)
def _plus_i(a, b):
    return a[0] - b[1], a[1] + b[0]


@kernel(inline=True)
def _minus_i(a, b):
    return a[0] + b[1], a[1] - b[0]


@kernel(inline=True)
def _scaled(c, z):
    """``c z`` with a real ``c``."""
    c = _number(c, z)
    return c * z[0], c * z[1]


@kernel(inline=True)
def _more(c, z, a):
    """``a + c z`` with a real ``c``."""
    c = _number(c, z)
    return fma(c, z[0], a[0]), fma(c, z[1], a[1])


@kernel(inline=True)
def _send(work, place, z, table, w, turned):
    """Write the output ``z`` of a butterfly to ``place``, turned by the root of unity at ``w`` if it has to be."""
    store(work, place, multiply(z, (at(table, w), at(table, w + 1))) if turned else z)


@kernel(inline=True)
def _two(radix, work, i, d, o, e, table, w, unit, turned):
    a, b = element(work, i), element(work, i + d)
    store(work, o, _plus(a, b))
    _send(work, o + e, _minus(a, b), table, w, turned)


@kernel(inline=True)
def _three(radix, work, i, d, o, e, table, w, unit, turned):
    a, b, c = element(work, i), element(work, i + d), element(work, i + 2 * d)
    s, t = _plus(b, c), _scaled(np.sqrt(0.75), _minus(b, c))
    h = _more(-0.5, s, a)
    store(work, o, _plus(a, s))
    _send(work, o + e, _plus_i(h, t), table, w, turned)
    _send(work, o + 2 * e, _minus_i(h, t), table, 2 * w, turned)


@kernel(inline=True)
def _four_of(a, b, c, d):
    s, t, u, v = _plus(a, c), _minus(a, c), _plus(b, d), _minus(b, d)
    return _plus(s, u), _plus_i(t, v), _minus(s, u), _minus_i(t, v)


@kernel(inline=True)
def _four(radix, work, i, d, o, e, table, w, unit, turned):
    z = _four_of(element(work, i), element(work, i + d), element(work, i + 2 * d), element(work, i + 3 * d))
    store(work, o, z[0])
    _send(work, o + e, z[1], table, w, turned)
    _send(work, o + 2 * e, z[2], table, 2 * w, turned)
    _send(work, o + 3 * e, z[3], table, 3 * w, turned)


@kernel(inline=True)
def _five(radix, work, i, d, o, e, table, w, unit, turned):
    c1, c2 = 0.30901699437494745, -0.8090169943749475  # cos 2π/5, cos 4π/5
    s1, s2 = 0.9510565162951535, 0.5877852522924731  # sin 2π/5, sin 4π/5
    a, b, c = element(work, i), element(work, i + d), element(work, i + 2 * d)
    f, g = element(work, i + 3 * d), element(work, i + 4 * d)
    p, t, q, u = _plus(b, g), _minus(b, g), _plus(c, f), _minus(c, f)
    h, k = _more(c2, q, _more(c1, p, a)), _more(s2, u, _scaled(s1, t))
    m, n = _more(c1, q, _more(c2, p, a)), _more(-s1, u, _scaled(s2, t))
    store(work, o, _plus(a, _plus(p, q)))
    _send(work, o + e, _plus_i(h, k), table, w, turned)
    _send(work, o + 2 * e, _plus_i(m, n), table, 2 * w, turned)
    _send(work, o + 3 * e, _minus_i(m, n), table, 3 * w, turned)
    _send(work, o + 4 * e, _minus_i(h, k), table, 4 * w, turned)


@kernel(inline=True)
def _halves(x, i, d):
    """Sum and difference of the elements ``i`` and ``i + 4d``."""
    a, b = element(x, i), element(x, i + 4 * d)
    return _plus(a, b), _minus(a, b)


@kernel(inline=True)
def _eight(radix, work, i, d, o, e, table, w, unit, turned):
    a, p = _halves(work, i, d)
    b, f = _halves(work, i + d, d)
    c, g = _halves(work, i + 2 * d, d)
    v, h = _halves(work, i + 3 * d, d)
    # odd outputs: the differences turned by 0, 1, 2, 3 eighths
    half = np.sqrt(0.5)
    f, g = _scaled(half, (f[0] - f[1], f[0] + f[1])), (-g[1], g[0])
    h = _scaled(half, (-(h[0] + h[1]), h[0] - h[1]))
    y, z = _four_of(a, b, c, v), _four_of(p, f, g, h)
    store(work, o, y[0])
    _send(work, o + e, z[0], table, w, turned)
    _send(work, o + 2 * e, y[1], table, 2 * w, turned)
    _send(work, o + 3 * e, z[1], table, 3 * w, turned)
    _send(work, o + 4 * e, y[2], table, 4 * w, turned)
    _send(work, o + 5 * e, z[2], table, 5 * w, turned)
    _send(work, o + 6 * e, y[3], table, 6 * w, turned)
    _send(work, o + 7 * e, z[3], table, 7 * w, turned)


@kernel(inline=True)
def _odd(radix, work, i, d, o, e, table, w, unit, turned):
    a = element(work, i)
    total = a
    for j in range(1, radix):
        total = _plus(total, element(work, i + j * d))
    store(work, o, total)
    for k in range(1, radix // 2 + 1):
        f, g = a, _minus(a, a)  # real combinations of sums and differences of mirrored inputs
        for j in range(1, radix // 2 + 1):
            b, c, turn = element(work, i + j * d), element(work, i + (radix - j) * d), 2 * (j * k % radix) * unit
            f, g = _more(at(table, turn), _plus(b, c), f), _more(at(table, turn + 1), _minus(b, c), g)
        _send(work, o + k * e, _plus_i(f, g), table, k * w, turned)
        _send(work, o + (radix - k) * e, _minus_i(f, g), table, (radix - k) * w, turned)


def _pass(butterfly):
    """A pass of one radix: ``butterfly`` takes inputs ``left · span`` apart and gives outputs ``span`` apart, of which
    number k is turned by root number ``k · p · turn``."""

    @kernel(cache=False)
    def butterflies(radix, work, x, y, left, span, table, turn):
        for p in range(left):
            i, o, w = x + p * span, y + p * span * radix, 2 * p * turn
            for q in range(0, span, 2 * lanes(work)):
                if p:
                    butterfly(radix, work, i + q, left * span, o + q, span, table, w, left * turn, True)
                else:
                    butterfly(radix, work, i + q, left * span, o + q, span, table, w, left * turn, False)

    return butterflies


_pass2, _pass3, _pass4, _pass5, _pass8, _pass_odd = map(_pass, (_two, _three, _four, _five, _eight, _odd))


@kernel
def stockham(work, x, y, n, radices, table):
    """Transform the ``n`` elements at ``x``, with as many at ``y`` as scratch; the place of the result, ``x`` or ``y``.

    ``radices`` is the address of those of ``factorise(n)`` and a 0, int64, ``table`` that of ``roots(n)``, of the kind
    of ``work``.
    """
    left, span, number = n, 2 * lanes(work), 0  # elements of the parts that are left; numbers of what is done
    radix = at(radices, 0)
    while radix:
        left //= radix
        turn = n // (left * radix)
        if radix == 8:
            _pass8(radix, work, x, y, left, span, table, turn)
        elif radix == 4:
            _pass4(radix, work, x, y, left, span, table, turn)
        elif radix == 5:
            _pass5(radix, work, x, y, left, span, table, turn)
        elif radix == 3:
            _pass3(radix, work, x, y, left, span, table, turn)
        elif radix == 2:
            _pass2(radix, work, x, y, left, span, table, turn)
        else:
            _pass_odd(radix, work, x, y, left, span, table, turn)
        span *= radix
        number += 1
        radix = at(radices, number)
        x, y = y, x
    return x
