"""Complex Fourier transforms of as many rows at once as a vector has lanes, in Stockham's form.

    X[k] = Σ x[n] exp(+2πi nk / N)

An element is a vector of real parts and, behind it, one of imaginary parts.  All elements lie in one array, float64 or
float32; places in it count numbers.  Each pass reads all elements and writes them elsewhere, and the last leaves the
result in order.  Radices are 2, 3, 4, 5, 8 and any odd prime, whose cost grows with it.  Real and imaginary parts
exchanged on the way in and on the way out change the sign.

``plain`` says what is computed.  On the rows of eight fields scipy.fft alone takes 4.2 (inverse) and 3.3 (direct) times
as long as the whole Fourier part of the spectral transforms of T159, 2.4 and 2.2 times at T399 (Zen 3).

Source: C. Temperton, J. Comput. Phys. 52, 1 (1983).

A pass of radix r consists of *butterflies*, transforms of r elements, whose output number k is then multiplied by a
root of unity, its twiddle factor.  A butterfly of radix 8 needs 16 vectors at once.  Where each takes two registers it
does one half of the lanes after the other: all at once have to be moved to memory in between, and the Fourier part of a
spectral transform then takes 1.1 to 1.2 times as long (AVX2).
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from supercomputers_rerun.kernels.runtime.jit import kernel, opaque
from supercomputers_rerun.kernels.runtime.vector import LANES, NARROW, at, fma, fms, load_narrow, store, vector_of

__all__ = ["LARGEST_RADIX", "Elements", "factorise", "plain", "roots", "stockham", "transform"]

#: Largest prime factor that callers with a choice should take: a pass takes time by it.
LARGEST_RADIX = 31


class Elements(NamedTuple):
    """Where elements lie."""

    values: Any  # address of float64 or float32
    width: Any  # tuple of as many None as a part has numbers; an element has two parts


class Points(NamedTuple):
    """Inputs or outputs of a butterfly."""

    place: int  # of the first
    apart: int  # from one to the next


class Twiddle(NamedTuple):
    """Factors of a butterfly's outputs: output k is multiplied by the root at place ``k · step``, unless ``k`` is 0."""

    roots: Any  # address of those of ``roots(n)``
    step: int  # place of output 1's factor in ``roots``: twice its number
    unit: int  # number of the root exp(2πi / radix)
    needed: bool  # False where all factors are 1, for ``p`` = 0


def plain(x: np.ndarray) -> np.ndarray:
    """The transform of complex128 (N, …) over its first axis, by its definition."""
    n = np.arange(len(x))
    return np.tensordot(np.exp(2j * np.pi / len(x) * (np.outer(n, n) % len(x))), x, 1)


def factorise(n: int) -> list[int]:
    """Radices of the passes in order: a 2, a 4 or two of them, odd primes, eights; many eights make few passes, each of
    which moves all elements.  Two fours replace 8 and 2.

    With eights first rows of 320, 800, 1280 and 2560 points take 1.1, 1.1, 1.1 and 1.3 times as long (Zen 4; with
    registers of 256 bits rows of 240 and 400 points .95 times), probably because a pass that comes early takes inputs
    from far apart, and eight compete for more places of a cache than five.
    """
    twos = (n & -n).bit_length() - 1
    n >>= twos
    eights, left = divmod(twos, 3)
    if left == 1 and eights:  # 4 · 4 in place of 8 · 2
        eights -= 1
        left = 4
    radices = {0: [], 1: [2], 2: [4], 4: [4, 4]}[left]
    p = 3
    while n > 1:
        while n % p == 0:
            radices.append(p)
            n //= p
        p += 2
    return radices + [8] * eights


def roots(n: int) -> np.ndarray:
    """``exp(2πi j / n)``, float64[n, 2], each component to the last bit or nearly so."""
    j = np.arange(n)
    quarter = (8 * j + n) // (2 * n)  # of a turn, so that the angle stays within ±π/4
    angle = (np.pi / (2 * n)) * (4 * j - quarter * n)
    c, s = np.cos(angle), np.sin(angle)
    turn = quarter % 4
    return np.stack([np.choose(turn, [c, -s, -c, s]), np.choose(turn, [s, c, -s, -c])], axis=1)


@intrinsic
def _width(typingctx, place):
    """The ``Elements.width`` of the vectors that ``load`` takes from an address, by its type."""
    width = types.UniTuple(types.none, vector_of(place.dtype).count)
    return width(place), lambda context, builder, sig, args: context.get_constant_undef(width)


@kernel(inline=True)
def _points(first, apart):
    """``Points`` from ``first`` on, of which the compiler does not see that they advance evenly.

    Else it keeps all 32 addresses of a radix-8 butterfly, more than there are registers, in memory, and adds to each in
    every turn of the loop: transforms of 320 points then reach 13 instead of 32 Gflop/s (one core of Zen 3).
    """
    first = opaque(first)
    return Points(first, opaque(first + apart) - first)


@intrinsic
def _number(typingctx, value, z):
    """A number of the type that the element ``z`` has."""

    def code(context, builder, sig, args):
        return context.cast(builder, args[0], value, sig.return_type)

    return z[0].dtype(value, z), code


@kernel(inline=True)
def _multiply(z, w):
    """Complex product of ``z`` and ``w``, each a pair of real and imaginary part."""
    return fms(z[0], w[0], z[1] * w[1]), fma(z[0], w[1], z[1] * w[0])


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
    """``c z`` with a real ``c``."""
    c = _number(c, z)
    return c * z[0], c * z[1]


@kernel(inline=True)
def _more(c, z, a):
    """``a + c z`` with a real ``c``."""
    c = _number(c, z)
    return fma(c, z[0], a[0]), fma(c, z[1], a[1])


@kernel(inline=True)
def _input(row, source, j):
    """Input ``j`` of a butterfly: narrow vectors of its two parts."""
    place = source.place + j * source.apart
    return load_narrow(row.values, place), load_narrow(row.values, place + len(row.width))


@kernel(inline=True)
def _send(row, target, k, z, twiddle):
    """Write ``z``, output ``k`` of a butterfly, times its factor."""
    place = target.place + k * target.apart
    if twiddle.needed and k:
        root = k * twiddle.step
        z = _multiply(z, (at(twiddle.roots, root), at(twiddle.roots, root + 1)))
    store(row.values, place, z[0])
    store(row.values, place + len(row.width), z[1])


@kernel(inline=True)
def _two(radix, row, source, target, twiddle):
    a = _input(row, source, 0)
    b = _input(row, source, 1)
    _send(row, target, 0, _plus(a, b), twiddle)
    _send(row, target, 1, _minus(a, b), twiddle)


@kernel(inline=True)
def _three(radix, row, source, target, twiddle):
    a = _input(row, source, 0)
    b = _input(row, source, 1)
    c = _input(row, source, 2)
    total = _plus(b, c)
    turned = _scaled(np.sqrt(0.75), _minus(b, c))
    middle = _more(-0.5, total, a)
    _send(row, target, 0, _plus(a, total), twiddle)
    _send(row, target, 1, _plus_i(middle, turned), twiddle)
    _send(row, target, 2, _minus_i(middle, turned), twiddle)


@kernel(inline=True)
def _four_of(a, b, c, d):
    """The transform of four elements."""
    even_sum = _plus(a, c)
    even_difference = _minus(a, c)
    odd_sum = _plus(b, d)
    odd_difference = _minus(b, d)
    return (
        _plus(even_sum, odd_sum),
        _plus_i(even_difference, odd_difference),
        _minus(even_sum, odd_sum),
        _minus_i(even_difference, odd_difference),
    )


@kernel(inline=True)
def _four(radix, row, source, target, twiddle):
    z = _four_of(_input(row, source, 0), _input(row, source, 1), _input(row, source, 2), _input(row, source, 3))
    _send(row, target, 0, z[0], twiddle)
    _send(row, target, 1, z[1], twiddle)
    _send(row, target, 2, z[2], twiddle)
    _send(row, target, 3, z[3], twiddle)


@kernel(inline=True)
def _five(radix, row, source, target, twiddle):
    c1 = 0.30901699437494745  # cos 2π/5
    c2 = -0.8090169943749475  # cos 4π/5
    s1 = 0.9510565162951535  # sin 2π/5
    s2 = 0.5877852522924731  # sin 4π/5
    a = _input(row, source, 0)
    b = _input(row, source, 1)
    c = _input(row, source, 2)
    d = _input(row, source, 3)
    e = _input(row, source, 4)
    outer = _plus(b, e)
    outer_difference = _minus(b, e)
    inner = _plus(c, d)
    inner_difference = _minus(c, d)
    real1 = _more(c2, inner, _more(c1, outer, a))
    real2 = _more(c1, inner, _more(c2, outer, a))
    turned1 = _more(s2, inner_difference, _scaled(s1, outer_difference))
    turned2 = _more(-s1, inner_difference, _scaled(s2, outer_difference))
    _send(row, target, 0, _plus(a, _plus(outer, inner)), twiddle)
    _send(row, target, 1, _plus_i(real1, turned1), twiddle)
    _send(row, target, 2, _plus_i(real2, turned2), twiddle)
    _send(row, target, 3, _minus_i(real2, turned2), twiddle)
    _send(row, target, 4, _minus_i(real1, turned1), twiddle)


@kernel(inline=True)
def _halves(row, source, j):
    """Sum and difference of the inputs ``j`` and ``j + 4`` of a butterfly."""
    a = _input(row, source, j)
    b = _input(row, source, j + 4)
    return _plus(a, b), _minus(a, b)


@kernel(inline=True)
def _eight(radix, row, source, target, twiddle):
    sum0, difference0 = _halves(row, source, 0)
    sum1, difference1 = _halves(row, source, 1)
    sum2, difference2 = _halves(row, source, 2)
    sum3, difference3 = _halves(row, source, 3)
    # odd outputs: the differences turned by 0, 1, 2, 3 eighths
    half = np.sqrt(0.5)
    turned1 = _scaled(half, (difference1[0] - difference1[1], difference1[0] + difference1[1]))
    turned2 = -difference2[1], difference2[0]
    turned3 = _scaled(half, (-(difference3[0] + difference3[1]), difference3[0] - difference3[1]))
    even = _four_of(sum0, sum1, sum2, sum3)
    odd = _four_of(difference0, turned1, turned2, turned3)
    _send(row, target, 0, even[0], twiddle)
    _send(row, target, 1, odd[0], twiddle)
    _send(row, target, 2, even[1], twiddle)
    _send(row, target, 3, odd[1], twiddle)
    _send(row, target, 4, even[2], twiddle)
    _send(row, target, 5, odd[2], twiddle)
    _send(row, target, 6, even[3], twiddle)
    _send(row, target, 7, odd[3], twiddle)


@kernel(inline=True)
def _odd(radix, row, source, target, twiddle):
    """Any odd radix: outputs k and ``radix`` − k are real combinations of sums and differences of mirrored inputs."""
    a = _input(row, source, 0)
    total = a
    for j in range(1, radix):
        total = _plus(total, _input(row, source, j))
    _send(row, target, 0, total, twiddle)
    for k in range(1, radix // 2 + 1):
        middle = a
        turned = _minus(a, a)
        for j in range(1, radix // 2 + 1):
            b = _input(row, source, j)
            c = _input(row, source, radix - j)
            root = 2 * (j * k % radix) * twiddle.unit
            middle = _more(at(twiddle.roots, root), _plus(b, c), middle)
            turned = _more(at(twiddle.roots, root + 1), _minus(b, c), turned)
        _send(row, target, k, _plus_i(middle, turned), twiddle)
        _send(row, target, radix - k, _minus_i(middle, turned), twiddle)


def _pass(butterfly):
    """A pass of one radix: elements from ``x`` on to ``y`` on.

    ``butterfly`` takes inputs ``left · span`` apart and gives outputs ``span`` apart, of which number k is multiplied
    by root number ``k · p · turn``, where ``turn``, the product of the radices before, is n / (left · radix)::

        x[p, q], x[p + left, q], x[p + 2 left, q] …  ─▶  y[radix p, q], y[radix p + 1, q] …     q < span, p < left

    """

    @kernel(cache=False)
    def butterflies(radix, row, places, left, span, table):
        x, y, turn = places
        lanes = len(row.width)
        narrow = len(_width(row.values)) * NARROW // LANES
        for p in range(left):
            first = x + p * span
            result = y + p * span * radix
            for element in range(0, span, 2 * lanes):
                for q in range(element, element + lanes, narrow):  # real parts; imaginary ones lie ``lanes`` further
                    source = _points(first + q, left * span)
                    target = _points(result + q, span)
                    if p:
                        butterfly(radix, row, source, target, Twiddle(table, 2 * p * turn, left * turn, True))
                    else:
                        butterfly(radix, row, source, target, Twiddle(table, 0, left * turn, False))

    return butterflies


_pass2, _pass3, _pass4, _pass5, _pass8, _pass_odd = map(_pass, (_two, _three, _four, _five, _eight, _odd))


@kernel
def transform(row, x, y, n, radices, table):
    """Transform the ``n`` elements at ``x`` of a ``row`` (:class:`Elements`), with as many at ``y`` as scratch; the
    place of the result, ``x`` or ``y``.

    ``radices`` is the address of those of ``factorise(n)`` and a 0, int64, ``table`` that of ``roots(n)``, of the kind
    of the elements.
    """
    left = n  # points of the transforms that are left to do
    span = 2 * len(row.width)  # numbers that move together: an element for each output of the radices before
    number = 0
    radix = at(radices, number)
    while radix:
        left //= radix
        places = x, y, n // (left * radix)
        if radix == 8:
            _pass8(radix, row, places, left, span, table)
        elif radix == 4:
            _pass4(radix, row, places, left, span, table)
        elif radix == 5:
            _pass5(radix, row, places, left, span, table)
        elif radix == 3:
            _pass3(radix, row, places, left, span, table)
        elif radix == 2:
            _pass2(radix, row, places, left, span, table)
        else:
            _pass_odd(radix, row, places, left, span, table)
        span *= radix
        number += 1
        radix = at(radices, number)
        x, y = y, x
    return x


@kernel
def stockham(work, x, y, n, radices, table):
    """As :func:`transform` for the elements behind the address ``work``, with the lanes of a vector of their type."""
    return transform(Elements(work, _width(work)), x, y, n, radices, table)
