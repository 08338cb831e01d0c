"""Complex transforms of sixteen lines at once, in float32, for lengths 2^a·3^b.

    X[k] = Σ x[n] exp(+2πi nk/M)

A line's element is 32 float32: sixteen real parts, then sixteen imaginary ones, so that every butterfly
works on sixteen lines.  Stockham's form: each pass reads one buffer and writes the other, and the
result comes out in order.  Exchanging real and imaginary parts on the way in and out changes the sign.

The passes read ``x`` and write ``out``.  A pass has ``count`` butterflies, each with factors of its own (``factors``
from row ``first`` on), and each for ``stride`` elements in a row.
"""

from functools import cache

import numpy as np

from kernels.runtime.jit import CONTRACT, kernel
from kernels.runtime.lanes import SINGLES, fma, fnma
from kernels.runtime.vector import load, store

#: Numbers of a block of cells: the real parts of as many transforms as a vector has lanes, and the imaginary ones.
PAIR = 2 * SINGLES


def radices(length: int) -> list[int]:
    """Radices of the passes: four while that goes, then two, then three; ``ValueError`` for other lengths."""
    found, left = [], length
    for radix in (4, 2, 3):
        while left % radix == 0:
            found.append(radix)
            left //= radix
    if left != 1 or length < 2:
        raise ValueError(f"a transform of {length} points has prime factors other than 2 and 3")
    return found


@cache
def plan(length: int) -> tuple[np.ndarray, np.ndarray]:
    """Radices, int64, and the twiddle factors of all passes in the order of use, float32 (count, 2)."""
    turns, left = [], length
    for radix in radices(length):
        step = np.arange(left // radix)[:, None] * np.arange(1, radix)[None, :]
        turns.append(np.exp(2j * np.pi * step / left).ravel())
        left //= radix
    factors = np.concatenate(turns)
    return np.array(radices(length), np.int64), np.stack([factors.real, factors.imag], 1).astype(np.float32).copy()


@kernel(inline=True, fastmath=CONTRACT)
def _turned(out, place, re, im, c, s):
    """Sixteen complex numbers ``re`` + i ``im`` times ``c`` + i ``s``, to ``place`` in ``out``."""
    store(out, place, fnma(im, s, re * c))
    store(out, place + SINGLES, fma(im, c, re * s))


@kernel(fastmath=CONTRACT)
def _pass2(x, out, count, stride, factors, first):
    """A pass of radix 2."""
    for p in range(count):
        c, s = factors[first + p, 0], factors[first + p, 1]
        for q in range(stride):
            a = (q + stride * p) * PAIR
            b = a + stride * count * PAIR
            to = (q + stride * 2 * p) * PAIR
            ar, ai, br, bi = load(x, a), load(x, a + SINGLES), load(x, b), load(x, b + SINGLES)
            store(out, to, ar + br)
            store(out, to + SINGLES, ai + bi)
            _turned(out, to + stride * PAIR, ar - br, ai - bi, c, s)


@kernel(fastmath=CONTRACT)
def _pass3(x, out, count, stride, factors, first):
    """A pass of radix 3."""
    half, root = np.float32(-0.5), np.float32(0.8660254037844386)
    for p in range(count):
        at = first + 2 * p
        c1, s1, c2, s2 = factors[at, 0], factors[at, 1], factors[at + 1, 0], factors[at + 1, 1]
        for q in range(stride):
            a = (q + stride * p) * PAIR
            far = stride * count * PAIR
            to = (q + stride * 3 * p) * PAIR
            ar, ai = load(x, a), load(x, a + SINGLES)
            br, bi = load(x, a + far), load(x, a + far + SINGLES)
            cr, ci = load(x, a + 2 * far), load(x, a + 2 * far + SINGLES)
            sr, si, dr, di = br + cr, bi + ci, (br - cr) * root, (bi - ci) * root
            store(out, to, ar + sr)
            store(out, to + SINGLES, ai + si)
            mr, mi = fma(sr, half, ar), fma(si, half, ai)
            _turned(out, to + stride * PAIR, mr - di, mi + dr, c1, s1)
            _turned(out, to + stride * 64, mr + di, mi - dr, c2, s2)


@kernel(fastmath=CONTRACT)
def _pass4(x, out, count, stride, factors, first):
    """A pass of radix 4."""
    far = stride * count * PAIR
    for p in range(count):
        at = first + 3 * p
        c1, s1, c2, s2 = factors[at, 0], factors[at, 1], factors[at + 1, 0], factors[at + 1, 1]
        c3, s3 = factors[at + 2, 0], factors[at + 2, 1]
        for q in range(stride):
            a = (q + stride * p) * PAIR
            to = (q + stride * 4 * p) * PAIR
            ar, ai, br, bi = load(x, a), load(x, a + SINGLES), load(x, a + far), load(x, a + far + SINGLES)
            cr, ci = load(x, a + 2 * far), load(x, a + 2 * far + SINGLES)
            dr, di = load(x, a + 3 * far), load(x, a + 3 * far + SINGLES)
            er, ei, fr, fi = ar + cr, ai + ci, ar - cr, ai - ci
            gr, gi, hr, hi = br + dr, bi + di, br - dr, bi - di
            store(out, to, er + gr)
            store(out, to + SINGLES, ei + gi)
            _turned(out, to + stride * PAIR, fr - hi, fi + hr, c1, s1)
            _turned(out, to + stride * 64, er - gr, ei - gi, c2, s2)
            _turned(out, to + stride * 96, fr + hi, fi - hr, c3, s3)


@kernel
def transform(x, other, length, passes, factors):
    """Transform sixteen lines in ``x``, float32 (length·32,); ``other`` is of the same size.

    ``passes`` (int64) and ``factors`` (float32, (count, 2)) are those of ``plan(length)``.

    Returns 0 where the result is in ``x``, 1 where it is in ``other``.
    """
    count, stride, first, turn = length, 1, 0, 0
    for number in range(passes.size):
        radix = passes[number]
        count //= radix
        source, target = (x, other) if turn == 0 else (other, x)
        if radix == 4:
            _pass4(source, target, count, stride, factors, first)
        elif radix == 3:
            _pass3(source, target, count, stride, factors, first)
        else:
            _pass2(source, target, count, stride, factors, first)
        first += count * (radix - 1)
        stride *= radix
        turn = 1 - turn
    return turn


def flops(length: int) -> int:
    """Floating-point operations of one complex line, by the usual count 5 M log2 M."""
    return round(5 * length * np.log2(length))
