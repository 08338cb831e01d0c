"""Passes of Stockham's Fourier transform over eight SIMD lanes: radix 2, 3, 4, 5, 8 and any odd prime.

An element is ``[2, 8]`` doubles: real and imaginary part of eight lanes.  One pass of radix ``r`` reads,
for every butterfly ``p`` and every member ``q`` of a batch of neighbouring elements, ``r`` elements of the
inputs, transforms them, turns output ``k`` by the root of unity number ``k (first + p) step`` of a table, and
writes it to the outputs.  Where these stand is the caller's choice (``Elements``), so that a pass can work on
a slice of a row that stays in the first-level cache.  ``p = first = 0`` needs no turning.

Everything lies in one private array ``work``, given by its address (of float64) like the tables, and places
are offsets in it, in doubles.  The first ``SPARE`` numbers belong to the pass of an odd radix.

Only the sign ``exp(+2πi jk / n)`` is coded; the other swaps real and imaginary parts on both sides.

Source: C. Temperton, J. Comput. Phys. 52, 1 (1983).

Functions of one butterfly take elements ``a``, ``b`` and so on, or the array ``x``, the place ``i`` of the first
element and the distance ``d`` to the next (``_four_of`` alone has ``c`` and ``d`` as elements).  Those of a pass take
``work``, ``inputs``, ``outputs``, ``count``, ``batch`` and ``roots`` of :func:`butterflies`; ``p`` is the number of a
butterfly, and ``turned`` says whether its outputs are turned.
"""

from typing import Any, NamedTuple

import numpy as np

from kernels.runtime.jit import kernel
from kernels.runtime.lanes import wide
from kernels.runtime.registers import HERE
from kernels.runtime.vector import LANES, at, fma, fms, fnma, load, load_as, spread, store

LARGEST_RADIX = 31
ELEMENT = 2 * LANES  # doubles
PART = LANES if HERE.lanes >= LANES else LANES // 2  # lanes of an element that a butterfly takes at once
_WIDTH = (0.0,) * PART
SPARE = ELEMENT * (LARGEST_RADIX + 1)  # doubles that the pass of an odd radix uses


class Elements(NamedTuple):
    """Inputs or outputs of the butterflies of a pass; doubles."""

    place: int  # of the first element of butterfly 0
    across: int  # from a butterfly to the next
    apart: int  # from an element of a butterfly to the next


class Roots(NamedTuple):
    """By which roots of unity a pass turns its outputs."""

    table: Any  # address of float64: cosine and sine of 2π j / n in turn
    start: int  # where the roots begin in the table, doubles
    first: int  # number of butterfly 0 in the whole pass
    step: int  # root number ``k (first + p) step`` turns output k of butterfly p
    unit: int  # number of the first root of order radix, which the pass of an odd radix needs


@kernel(inline=True)
def multiply(z, w):
    """Complex product of ``z`` and ``w``, each a pair of real and imaginary part (vectors)."""
    return fms(z[0], w[0], z[1] * w[1]), fma(z[0], w[1], z[1] * w[0])


@kernel(inline=True)
def element(values, place):
    """The element that begins at ``place`` of ``values`` (address of float64), a pair of vectors."""
    return load(values, place), load(values, place + LANES)


@kernel(inline=True)
def put_element(values, place, z):
    """Write the element ``z``, a pair of vectors, to ``values`` (address of float64) at ``place``."""
    store(values, place, z[0])
    store(values, place + LANES, z[1])


@kernel(inline=True)
def root(table, place):
    """The complex number at ``place`` of ``table`` (address of float64), each part in all lanes."""
    return spread(at(table, place)), spread(at(table, place + 1))


@kernel(inline=True)
def _part(values, place):
    """``PART`` lanes of the element that begins at ``place`` of ``values``, or from one of its lanes on."""
    return load_as(values, place, _WIDTH), load_as(values, place + LANES, _WIDTH)


@kernel(inline=True)
def _root(table, place):
    """The complex number at ``place`` of ``table`` (address of float64)."""
    return at(table, place), at(table, place + 1)


@kernel(inline=True)
def _plus(a, b):
    """``a + b``."""
    return a[0] + b[0], a[1] + b[1]


@kernel(inline=True)
def _minus(a, b):
    """``a - b``."""
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
    return c * z[0], c * z[1]


@kernel(inline=True)
def _more(c, z, a):
    """``a + c z`` with a real ``c``."""
    return fma(c, z[0], a[0]), fma(c, z[1], a[1])


@kernel(inline=True)
def _three(x, i, d):
    """Transform of three elements."""
    a, b, c = _part(x, i), _part(x, i + d), _part(x, i + 2 * d)
    s, t = _plus(b, c), _scaled(np.sqrt(0.75), _minus(b, c))
    e = fnma(0.5, s[0], a[0]), fnma(0.5, s[1], a[1])
    return _plus(a, s), _plus_i(e, t), _minus_i(e, t)


@kernel(inline=True)
def _four_of(a, b, c, d):
    """Transform of four elements."""
    s, t, u, v = _plus(a, c), _minus(a, c), _plus(b, d), _minus(b, d)
    return _plus(s, u), _plus_i(t, v), _minus(s, u), _minus_i(t, v)


@kernel(inline=True)
def _four(x, i, d):
    """Transform of four elements of an array."""
    return _four_of(_part(x, i), _part(x, i + d), _part(x, i + 2 * d), _part(x, i + 3 * d))


@kernel(inline=True)
def _five(x, i, d):
    """Transform of five elements."""
    c1, c2 = 0.30901699437494745, -0.8090169943749475  # cos 2π/5, cos 4π/5
    s1, s2 = 0.9510565162951535, 0.5877852522924731  # sin 2π/5, sin 4π/5
    a, b, c = _part(x, i), _part(x, i + d), _part(x, i + 2 * d)
    e, f = _part(x, i + 3 * d), _part(x, i + 4 * d)
    p, t, q, u = _plus(b, f), _minus(b, f), _plus(c, e), _minus(c, e)
    g, h = _more(c2, q, _more(c1, p, a)), _more(s2, u, _scaled(s1, t))
    k = _more(c1, q, _more(c2, p, a))
    m = fms(s2, t[0], s1 * u[0]), fms(s2, t[1], s1 * u[1])
    return _plus(a, _plus(p, q)), _plus_i(g, h), _plus_i(k, m), _minus_i(k, m), _minus_i(g, h)


@kernel(inline=True)
def _halves(x, i, d):
    """Sum and difference of the elements ``i`` and ``i + 4d``."""
    a, b = _part(x, i), _part(x, i + 4 * d)
    return _plus(a, b), _minus(a, b)


@kernel(inline=True)
def _eight(x, i, d):
    """Transform of eight elements."""
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
def _send(work, place, z, roots, w, turned):
    """Write the output ``z`` of a butterfly to ``place``, turned by the root of unity ``w`` doubles into the roots if
    it has to be."""
    put_element(work, place, multiply(z, _root(roots.table, roots.start + w)) if turned else z)


@kernel(inline=True)
def _butterflies4(work, inputs, outputs, p, batch, roots, turned):
    """Butterfly ``p`` of radix 4 of every member of the batch."""
    w = 2 * (roots.first + p) * roots.step
    for q in range(0, ELEMENT * batch, ELEMENT):
        for h in range(q, q + LANES, PART):
            z = _four(work, inputs.place + p * inputs.across + h, inputs.apart)
            o, d = outputs.place + p * outputs.across + h, outputs.apart
            put_element(work, o, z[0])
            _send(work, o + d, z[1], roots, w, turned)
            _send(work, o + 2 * d, z[2], roots, 2 * w, turned)
            _send(work, o + 3 * d, z[3], roots, 3 * w, turned)


@kernel(inline=True)
def _butterflies5(work, inputs, outputs, p, batch, roots, turned):
    """Butterfly ``p`` of radix 5 of every member of the batch."""
    w = 2 * (roots.first + p) * roots.step
    for q in range(0, ELEMENT * batch, ELEMENT):
        for h in range(q, q + LANES, PART):
            z = _five(work, inputs.place + p * inputs.across + h, inputs.apart)
            o, d = outputs.place + p * outputs.across + h, outputs.apart
            put_element(work, o, z[0])
            _send(work, o + d, z[1], roots, w, turned)
            _send(work, o + 2 * d, z[2], roots, 2 * w, turned)
            _send(work, o + 3 * d, z[3], roots, 3 * w, turned)
            _send(work, o + 4 * d, z[4], roots, 4 * w, turned)


@kernel(inline=True)
def _butterflies8(work, inputs, outputs, p, batch, roots, turned):
    """Butterfly ``p`` of radix 8 of every member of the batch."""
    w = 2 * (roots.first + p) * roots.step
    for q in range(0, ELEMENT * batch, ELEMENT):
        for h in range(q, q + LANES, PART):
            z = _eight(work, inputs.place + p * inputs.across + h, inputs.apart)
            o, d = outputs.place + p * outputs.across + h, outputs.apart
            put_element(work, o, z[0])
            _send(work, o + d, z[1], roots, w, turned)
            _send(work, o + 2 * d, z[2], roots, 2 * w, turned)
            _send(work, o + 3 * d, z[3], roots, 3 * w, turned)
            _send(work, o + 4 * d, z[4], roots, 4 * w, turned)
            _send(work, o + 5 * d, z[5], roots, 5 * w, turned)
            _send(work, o + 6 * d, z[6], roots, 6 * w, turned)
            _send(work, o + 7 * d, z[7], roots, 7 * w, turned)


@kernel(inline=True)
def _pass2(work, inputs, outputs, count, batch, roots):
    """A pass of radix 2."""
    for p in range(count):
        u = _root(roots.table, roots.start + 2 * (roots.first + p) * roots.step)
        for q in range(0, ELEMENT * batch, ELEMENT):
            for h in range(q, q + LANES, PART):
                i, o = inputs.place + p * inputs.across + h, outputs.place + p * outputs.across + h
                a, b = _part(work, i), _part(work, i + inputs.apart)
                put_element(work, o, _plus(a, b))
                put_element(work, o + outputs.apart, multiply(_minus(a, b), u))


@kernel(inline=True)
def _pass3(work, inputs, outputs, count, batch, roots):
    """A pass of radix 3."""
    for p in range(count):
        w = 2 * (roots.first + p) * roots.step
        u, v = _root(roots.table, roots.start + w), _root(roots.table, roots.start + 2 * w)
        for q in range(0, ELEMENT * batch, ELEMENT):
            for h in range(q, q + LANES, PART):
                z = _three(work, inputs.place + p * inputs.across + h, inputs.apart)
                o = outputs.place + p * outputs.across + h
                put_element(work, o, z[0])
                put_element(work, o + outputs.apart, multiply(z[1], u))
                put_element(work, o + 2 * outputs.apart, multiply(z[2], v))


@kernel(inline=True)
def _pass4(work, inputs, outputs, count, batch, roots):
    """A pass of radix 4."""
    for p in range(count):
        if (roots.first + p) * roots.step == 0:
            _butterflies4(work, inputs, outputs, p, batch, roots, False)
        else:
            _butterflies4(work, inputs, outputs, p, batch, roots, True)


@kernel(inline=True)
def _pass5(work, inputs, outputs, count, batch, roots):
    """A pass of radix 5."""
    for p in range(count):
        if (roots.first + p) * roots.step == 0:
            _butterflies5(work, inputs, outputs, p, batch, roots, False)
        else:
            _butterflies5(work, inputs, outputs, p, batch, roots, True)


@kernel(inline=True)
def _pass8(work, inputs, outputs, count, batch, roots):
    """A pass of radix 8."""
    for p in range(count):
        if (roots.first + p) * roots.step == 0:
            _butterflies8(work, inputs, outputs, p, batch, roots, False)
        else:
            _butterflies8(work, inputs, outputs, p, batch, roots, True)


@kernel(inline=True)
def _sums_and_differences(work, radix, i, apart):
    """Of mirrored inputs, of so many as the ``radix``, the first at ``i`` and each ``apart`` from the one before, to
    the spare numbers; and the sum of all inputs."""
    z = _part(work, i)
    for j in range(1, radix // 2 + 1):
        b, e = _part(work, i + j * apart), _part(work, i + (radix - j) * apart)
        s, pair = _plus(b, e), 2 * ELEMENT * (j - 1)
        z = _plus(z, s)
        put_element(work, pair, s)
        put_element(work, pair + ELEMENT, _minus(b, e))
    return z


@kernel
def _pass_odd(radix, work, inputs, outputs, count, batch, roots):
    """Any odd radix: sums and differences of mirrored inputs, then real combinations of them."""
    half = radix // 2
    table, start, first, step, unit = roots
    for p in range(count):
        for q in range(0, ELEMENT * batch, ELEMENT):
            for h in range(q, q + LANES, PART):
                i, o = inputs.place + p * inputs.across + h, outputs.place + p * outputs.across + h
                a = _part(work, i)
                put_element(work, o, _sums_and_differences(work, radix, i, inputs.apart))
                for k in range(1, half + 1):
                    f, g = a, (wide(0.0, a[0]), wide(0.0, a[0]))
                    for j in range(1, half + 1):
                        w, pair = _root(table, start + 2 * (j * k % radix) * unit), 2 * ELEMENT * (j - 1)
                        f = _more(w[0], _part(work, pair), f)
                        g = _more(w[1], _part(work, pair + ELEMENT), g)
                    w = 2 * (first + p) * step
                    put_element(work, o + k * outputs.apart, multiply(_plus_i(f, g), _root(table, start + k * w)))
                    v = _root(table, start + (radix - k) * w)
                    put_element(work, o + (radix - k) * outputs.apart, multiply(_minus_i(f, g), v))


@kernel
def butterflies(radix, work, inputs, outputs, count, batch, roots):
    """One pass, or a slice of one.

    Parameters
    ----------
    radix : int
        2, 4, 8 or odd, up to ``LARGEST_RADIX``.
    work : address of float64
        Where everything lies.
    inputs, outputs : Elements
        Where the elements of every butterfly stand.
    count : int
        Butterflies.
    batch : int
        Neighbouring elements that go the same way.
    roots : Roots
    """
    if radix == 8:
        _pass8(work, inputs, outputs, count, batch, roots)
    elif radix == 4:
        _pass4(work, inputs, outputs, count, batch, roots)
    elif radix == 5:
        _pass5(work, inputs, outputs, count, batch, roots)
    elif radix == 2:
        _pass2(work, inputs, outputs, count, batch, roots)
    elif radix == 3:
        _pass3(work, inputs, outputs, count, batch, roots)
    else:
        _pass_odd(radix, work, inputs, outputs, count, batch, roots)


@kernel
def stockham(work, x, y, length, batch, radices, i, table, start):
    """Transform ``[length, batch, 2, 8]`` over its first axis; the place of the result, ``x`` or ``y``.

    Parameters
    ----------
    work : address of float64
    x, y : int
        Places of the elements and of as many others that serve as scratch, doubles.
    length, batch : int
        Elements to transform, and transforms side by side.
    radices : address of int64
        The passes have the radices ``i``, ``i + 1``, … of it, up to a 0.
    i : int
    table : address of float64
        Roots of unity of order ``length`` begin at ``start``, doubles.
    start : int
    """
    n, s, step = length, batch, 1
    radix = at(radices, i)
    while radix:
        n //= radix
        inputs = Elements(x, ELEMENT * s, ELEMENT * s * n)
        outputs = Elements(y, ELEMENT * s * radix, ELEMENT * s)
        butterflies(radix, work, inputs, outputs, n, s, Roots(table, start, 0, step, n * step))
        s *= radix
        step *= radix
        i += 1
        radix = at(radices, i)
        x, y = y, x
    return x
