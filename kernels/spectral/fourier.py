"""Fourier transforms of latitude rows, eight at a time in SIMD lanes.

A row north of the equator and its mirror image have the same length, so they travel as real and
imaginary part of one complex row; odd lengths then cost nothing extra.  Rows of ``n = 2ᵃ 3ᵇ 5ᶜ …`` go
through Stockham passes of radix 8, 4, 2, 3, 5 and any other prime up to ``LARGEST_RADIX``; lengths with a
larger prime factor go through Bluestein's chirp.  Only the transform with ``exp(+2πi jk / n)`` is coded;
the other sign swaps real and imaginary parts on both sides.

Lanes are eight fields of one row pair, or eight neighbouring row pairs of one field.

Sources: C. Temperton, J. Comput. Phys. 52, 1 (1983) (Stockham passes); L. Bluestein, IEEE Trans. Audio
Electroacoust. 18, 451 (1970).
"""

import numpy as np

from kernels._jit import kernel

from .simd import add, fma, fms, fnma, load, mul, splat, spread, store, sub

LARGEST_RADIX = 31
FACTORS = 20      # room for the radices of one length
SPARE = 1024      # doubles a pass of an odd radix may use


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


def smooth(n: int) -> int:
    """Smallest ``2ᵃ 3ᵇ 5ᶜ >= n``."""
    best = 1 << (n - 1).bit_length()
    five = 1
    while five < best:
        three = five
        while three < best:
            two = three
            while two < n:
                two *= 2
            best = min(best, two)
            three *= 3
        five *= 5
    return best


def roots(n: int) -> np.ndarray:
    """``exp(2πi j / n)``, float64[n, 2], each component to the last bit or nearly so."""
    j = np.arange(n)
    eighth = (8 * j + n) // (2 * n)              # quadrant, so that the angle stays within ±π/4
    angle = (np.pi / (2 * n)) * (4 * j - eighth * n)
    c, s = np.cos(angle), np.sin(angle)
    turn = eighth % 4
    real = np.choose(turn, [c, -s, -c, s])
    imag = np.choose(turn, [s, c, -s, -c])
    return np.stack([real, imag], axis=1)


class Lengths:
    """Tables for a set of row lengths, concatenated for the compiled code.

    ``radix[id]`` lists the radices (0-terminated), ``table[start[id]:]`` the roots of unity.  Where
    ``chirp[id] >= 0`` the length goes through Bluestein's algorithm with the convolution length of
    ``partner[id]``; chirp and filter stand at that offset of ``table``.
    """

    def __init__(self, lengths):
        own = sorted({int(n) for n in lengths})
        large = [n for n in own if n > 1 and max(factorise(n)) > LARGEST_RADIX]
        every = sorted(set(own) | {smooth(2 * n - 1) for n in large})
        self.id = {n: i for i, n in enumerate(every)}
        self.n = np.array(every, dtype=np.int64)
        self.radix = np.zeros((len(every), FACTORS), dtype=np.int64)
        self.partner = np.zeros(len(every), dtype=np.int64)
        self.chirp = np.full(len(every), -1, dtype=np.int64)
        tables, self.start, size = [], np.zeros(len(every), dtype=np.int64), 0
        for i, n in enumerate(every):
            self.start[i] = size
            tables.append(roots(n).ravel())
            size += 2 * n
            if n in large:
                m = smooth(2 * n - 1)
                self.partner[i], self.chirp[i] = self.id[m], size
                tables += self._chirp(n, m)
                size += 2 * n + 2 * m
            else:
                radices = factorise(n)
                self.radix[i, :len(radices)] = radices
        self.table = np.concatenate(tables)
        #: complex elements of work space a row needs
        self.largest = max([int(self.n[self.partner[i]]) if self.chirp[i] >= 0 else n
                            for i, n in enumerate(every)])

    @staticmethod
    def _chirp(n, m):
        j = np.arange(n)
        w = roots(2 * n)[j * j % (2 * n)]          # exp(iπ j² / n)
        conjugate = np.zeros(m, dtype=complex)
        conjugate[:n] = w[:, 0] - 1j * w[:, 1]
        conjugate[m - n + 1:] = conjugate[n - 1:0:-1]
        kernel_spectrum = np.fft.ifft(conjugate)   # sign +, divided by m as the convolution needs
        return [w.ravel(), kernel_spectrum.view(np.float64)]


@kernel(inline=True)
def _cmul(xr, xi, wr, wi):
    return fms(xr, wr, mul(xi, wi)), fma(xr, wi, mul(xi, wr))


@kernel(inline=True)
def _put(y, o, r, i):
    store(y, o, r)
    store(y, o + 8, i)


@kernel
def _pass2(x, y, n, s, table, start, step):
    half = n // 2
    for p in range(half):
        wr, wi = spread(table, start + 2 * p * step), spread(table, start + 2 * p * step + 1)
        for q in range(s):
            i = 16 * (q + s * p)
            o = 16 * (q + s * 2 * p)
            ar, ai = load(x, i), load(x, i + 8)
            i += 16 * s * half
            br, bi = load(x, i), load(x, i + 8)
            _put(y, o, add(ar, br), add(ai, bi))
            r, j = _cmul(sub(ar, br), sub(ai, bi), wr, wi)
            _put(y, o + 16 * s, r, j)


@kernel
def _pass3(x, y, n, s, table, start, step):
    third = n // 3
    half, root = splat(0.5), splat(np.sqrt(0.75))
    for p in range(third):
        w = start + 2 * p * step
        ur, ui = spread(table, w), spread(table, w + 1)
        w += 2 * p * step
        vr, vi = spread(table, w), spread(table, w + 1)
        for q in range(s):
            i, d = 16 * (q + s * p), 16 * s * third
            ar, ai = load(x, i), load(x, i + 8)
            br, bi = load(x, i + d), load(x, i + d + 8)
            cr, ci = load(x, i + 2 * d), load(x, i + 2 * d + 8)
            sr, si = add(br, cr), add(bi, ci)
            tr, ti = mul(root, sub(br, cr)), mul(root, sub(bi, ci))
            o, d = 16 * (q + s * 3 * p), 16 * s
            _put(y, o, add(ar, sr), add(ai, si))
            ar, ai = fnma(half, sr, ar), fnma(half, si, ai)
            r, j = _cmul(sub(ar, ti), add(ai, tr), ur, ui)
            _put(y, o + d, r, j)
            r, j = _cmul(add(ar, ti), sub(ai, tr), vr, vi)
            _put(y, o + 2 * d, r, j)


@kernel
def _pass4(x, y, n, s, table, start, step):
    quarter = n // 4
    for p in range(quarter):
        w, d = start + 2 * p * step, 2 * p * step
        ur, ui = spread(table, w), spread(table, w + 1)
        vr, vi = spread(table, w + d), spread(table, w + d + 1)
        wr, wi = spread(table, w + 2 * d), spread(table, w + 2 * d + 1)
        for q in range(s):
            i, d = 16 * (q + s * p), 16 * s * quarter
            ar, ai = load(x, i), load(x, i + 8)
            br, bi = load(x, i + d), load(x, i + d + 8)
            cr, ci = load(x, i + 2 * d), load(x, i + 2 * d + 8)
            er, ei = load(x, i + 3 * d), load(x, i + 3 * d + 8)
            sr, si, tr, ti = add(ar, cr), add(ai, ci), sub(ar, cr), sub(ai, ci)
            gr, gi, hr, hi = add(br, er), add(bi, ei), sub(br, er), sub(bi, ei)
            o, d = 16 * (q + s * 4 * p), 16 * s
            _put(y, o, add(sr, gr), add(si, gi))
            r, j = _cmul(sub(tr, hi), add(ti, hr), ur, ui)
            _put(y, o + d, r, j)
            r, j = _cmul(sub(sr, gr), sub(si, gi), vr, vi)
            _put(y, o + 2 * d, r, j)
            r, j = _cmul(add(tr, hi), sub(ti, hr), wr, wi)
            _put(y, o + 3 * d, r, j)


@kernel(inline=True)
def _dft4(ar, ai, br, bi, cr, ci, er, ei):
    sr, si, tr, ti = add(ar, cr), add(ai, ci), sub(ar, cr), sub(ai, ci)
    gr, gi, hr, hi = add(br, er), add(bi, ei), sub(br, er), sub(bi, ei)
    return (add(sr, gr), add(si, gi), sub(tr, hi), add(ti, hr),
            sub(sr, gr), sub(si, gi), add(tr, hi), sub(ti, hr))


@kernel(inline=True)
def _half8(x, i, d):
    """Sums and differences of the elements ``i`` and ``i + 4d``."""
    ar, ai = load(x, i), load(x, i + 8)
    br, bi = load(x, i + 4 * d), load(x, i + 4 * d + 8)
    return add(ar, br), add(ai, bi), sub(ar, br), sub(ai, bi)


@kernel(inline=True)
def _turned(y, o, r, i, table, w):
    r, i = _cmul(r, i, spread(table, w), spread(table, w + 1))
    _put(y, o, r, i)


@kernel
def _pass8(x, y, n, s, table, start, step):
    eighth = n // 8
    root = splat(np.sqrt(0.5))
    for p in range(eighth):
        w = 2 * p * step
        for q in range(s):
            i, d = 16 * (q + s * p), 16 * s * eighth
            ar, ai, er, ei = _half8(x, i, d)
            br, bi, fr, fi = _half8(x, i + d, d)
            cr, ci, gr, gi = _half8(x, i + 2 * d, d)
            dr, di, hr, hi = _half8(x, i + 3 * d, d)
            o, d = 16 * (q + s * 8 * p), 16 * s
            z = _dft4(ar, ai, br, bi, cr, ci, dr, di)
            _put(y, o, z[0], z[1])
            _turned(y, o + 2 * d, z[2], z[3], table, start + 2 * w)
            _turned(y, o + 4 * d, z[4], z[5], table, start + 4 * w)
            _turned(y, o + 6 * d, z[6], z[7], table, start + 6 * w)
            # odd outputs: the differences turned by 0, 1, 2, 3 eighths
            fr, fi = mul(root, sub(fr, fi)), mul(root, add(fr, fi))
            tr = mul(root, add(hr, hi))
            hi, hr = mul(root, sub(hr, hi)), sub(splat(0.0), tr)
            z = _dft4(er, ei, fr, fi, sub(splat(0.0), gi), gr, hr, hi)
            _turned(y, o + d, z[0], z[1], table, start + w)
            _turned(y, o + 3 * d, z[2], z[3], table, start + 3 * w)
            _turned(y, o + 5 * d, z[4], z[5], table, start + 5 * w)
            _turned(y, o + 7 * d, z[6], z[7], table, start + 7 * w)


@kernel
def _pass5(x, y, n, s, table, start, step):
    fifth = n // 5
    c1, c2 = splat(0.30901699437494745), splat(-0.8090169943749475)     # cos 2π/5, cos 4π/5
    s1, s2 = splat(0.9510565162951535), splat(0.5877852522924731)       # sin 2π/5, sin 4π/5
    for p in range(fifth):
        for q in range(s):
            i, d = 16 * (q + s * p), 16 * s * fifth
            ar, ai = load(x, i), load(x, i + 8)
            br, bi = load(x, i + d), load(x, i + d + 8)
            er, ei = load(x, i + 4 * d), load(x, i + 4 * d + 8)
            pr, pi, tr, ti = add(br, er), add(bi, ei), sub(br, er), sub(bi, ei)
            br, bi = load(x, i + 2 * d), load(x, i + 2 * d + 8)
            er, ei = load(x, i + 3 * d), load(x, i + 3 * d + 8)
            qr, qi, ur, ui = add(br, er), add(bi, ei), sub(br, er), sub(bi, ei)
            o, d = 16 * (q + s * 5 * p), 16 * s
            w = 2 * p * step
            _put(y, o, add(ar, add(pr, qr)), add(ai, add(pi, qi)))
            fr, fi = fma(c2, qr, fma(c1, pr, ar)), fma(c2, qi, fma(c1, pi, ai))
            hr, hi = fma(s2, ur, mul(s1, tr)), fma(s2, ui, mul(s1, ti))
            r, j = _cmul(sub(fr, hi), add(fi, hr), spread(table, start + w), spread(table, start + w + 1))
            _put(y, o + d, r, j)
            k = start + 4 * w
            r, j = _cmul(add(fr, hi), sub(fi, hr), spread(table, k), spread(table, k + 1))
            _put(y, o + 4 * d, r, j)
            fr, fi = fma(c1, qr, fma(c2, pr, ar)), fma(c1, qi, fma(c2, pi, ai))
            hr, hi = fms(s2, tr, mul(s1, ur)), fms(s2, ti, mul(s1, ui))
            k = start + 2 * w
            r, j = _cmul(sub(fr, hi), add(fi, hr), spread(table, k), spread(table, k + 1))
            _put(y, o + 2 * d, r, j)
            k = start + 3 * w
            r, j = _cmul(add(fr, hi), sub(fi, hr), spread(table, k), spread(table, k + 1))
            _put(y, o + 3 * d, r, j)


@kernel
def _last4(x, y, s):
    """``_pass4`` with ``n = 4``, whose twiddle factors are all 1."""
    d = 16 * s
    for i in range(0, d, 16):
        ar, ai = load(x, i), load(x, i + 8)
        br, bi = load(x, i + d), load(x, i + d + 8)
        cr, ci = load(x, i + 2 * d), load(x, i + 2 * d + 8)
        er, ei = load(x, i + 3 * d), load(x, i + 3 * d + 8)
        sr, si, tr, ti = add(ar, cr), add(ai, ci), sub(ar, cr), sub(ai, ci)
        gr, gi, hr, hi = add(br, er), add(bi, ei), sub(br, er), sub(bi, ei)
        _put(y, i, add(sr, gr), add(si, gi))
        _put(y, i + d, sub(tr, hi), add(ti, hr))
        _put(y, i + 2 * d, sub(sr, gr), sub(si, gi))
        _put(y, i + 3 * d, add(tr, hi), sub(ti, hr))


@kernel
def _last5(x, y, s):
    """``_pass5`` with ``n = 5``, whose twiddle factors are all 1."""
    c1, c2 = splat(0.30901699437494745), splat(-0.8090169943749475)     # cos 2π/5, cos 4π/5
    s1, s2 = splat(0.9510565162951535), splat(0.5877852522924731)       # sin 2π/5, sin 4π/5
    d = 16 * s
    for i in range(0, d, 16):
        ar, ai = load(x, i), load(x, i + 8)
        br, bi = load(x, i + d), load(x, i + d + 8)
        er, ei = load(x, i + 4 * d), load(x, i + 4 * d + 8)
        pr, pi, tr, ti = add(br, er), add(bi, ei), sub(br, er), sub(bi, ei)
        br, bi = load(x, i + 2 * d), load(x, i + 2 * d + 8)
        er, ei = load(x, i + 3 * d), load(x, i + 3 * d + 8)
        qr, qi, ur, ui = add(br, er), add(bi, ei), sub(br, er), sub(bi, ei)
        _put(y, i, add(ar, add(pr, qr)), add(ai, add(pi, qi)))
        fr, fi = fma(c2, qr, fma(c1, pr, ar)), fma(c2, qi, fma(c1, pi, ai))
        hr, hi = fma(s2, ur, mul(s1, tr)), fma(s2, ui, mul(s1, ti))
        _put(y, i + d, sub(fr, hi), add(fi, hr))
        _put(y, i + 4 * d, add(fr, hi), sub(fi, hr))
        fr, fi = fma(c1, qr, fma(c2, pr, ar)), fma(c1, qi, fma(c2, pi, ai))
        hr, hi = fms(s2, tr, mul(s1, ur)), fms(s2, ti, mul(s1, ui))
        _put(y, i + 2 * d, sub(fr, hi), add(fi, hr))
        _put(y, i + 3 * d, add(fr, hi), sub(fi, hr))


@kernel
def _pass_odd(x, y, radix, n, s, table, start, step, sums):
    """Any odd radix: sums and differences of mirrored inputs, then real combinations of them."""
    part, half = n // radix, radix // 2
    turn = part * step                       # one radix-th of a turn in the table
    for p in range(part):
        for q in range(s):
            i, d = 16 * (q + s * p), 16 * s * part
            ar, ai = load(x, i), load(x, i + 8)
            zr, zi = ar, ai
            for j in range(1, half + 1):
                br, bi = load(x, i + j * d), load(x, i + j * d + 8)
                er, ei = load(x, i + (radix - j) * d), load(x, i + (radix - j) * d + 8)
                zr, zi = add(zr, add(br, er)), add(zi, add(bi, ei))
                _put(sums, 32 * j, add(br, er), add(bi, ei))
                _put(sums, 32 * j + 16, sub(br, er), sub(bi, ei))
            o, d = 16 * (q + s * radix * p), 16 * s
            _put(y, o, zr, zi)
            for k in range(1, half + 1):
                fr, fi, hr, hi = ar, ai, splat(0.0), splat(0.0)
                for j in range(1, half + 1):
                    w = start + 2 * (j * k % radix) * turn
                    c, g = spread(table, w), spread(table, w + 1)
                    fr, fi = fma(c, load(sums, 32 * j), fr), fma(c, load(sums, 32 * j + 8), fi)
                    hr, hi = fma(g, load(sums, 32 * j + 16), hr), fma(g, load(sums, 32 * j + 24), hi)
                w = start + 2 * k * p * step
                r, j = _cmul(sub(fr, hi), add(fi, hr), spread(table, w), spread(table, w + 1))
                _put(y, o + k * d, r, j)
                w = start + 2 * (radix - k) * p * step
                r, j = _cmul(add(fr, hi), sub(fi, hr), spread(table, w), spread(table, w + 1))
                _put(y, o + (radix - k) * d, r, j)


@kernel
def _stockham(x, y, length, radices, table, start, sums):
    """Transform ``x[length, 2, 8]``; the result is in ``x`` (0) or ``y`` (1)."""
    n, s, where = length, 1, 0
    for i in range(radices.size):
        radix = radices[i]
        if radix == 0:
            break
        step = length // n
        if radix == 8:
            _pass8(x, y, n, s, table, start, step)
        elif radix == 4:
            if n == 4:
                _last4(x, y, s)
            else:
                _pass4(x, y, n, s, table, start, step)
        elif radix == 5:
            if n == 5:
                _last5(x, y, s)
            else:
                _pass5(x, y, n, s, table, start, step)
        elif radix == 2:
            _pass2(x, y, n, s, table, start, step)
        elif radix == 3:
            _pass3(x, y, n, s, table, start, step)
        else:
            _pass_odd(x, y, radix, n, s, table, start, step, sums)
        n //= radix
        s *= radix
        x, y = y, x
        where = 1 - where
    return where


@kernel
def _twist(x, n, table, offset, swap):
    """Multiply ``x`` by a table, element by element; ``swap`` exchanges the parts of the product."""
    for j in range(n):
        r, i = _cmul(load(x, 16 * j), load(x, 16 * j + 8),
                     spread(table, offset + 2 * j), spread(table, offset + 2 * j + 1))
        if swap:
            _put(x, 16 * j, i, r)
        else:
            _put(x, 16 * j, r, i)


@kernel
def transform(x, y, id, lengths, radices, partner, chirp, starts, table, sums):
    """``X_k = Σ_j x_j exp(2πi jk / n)`` of one row of eight lanes; 0: result in ``x``, 1: in ``y``."""
    n = lengths[id]
    if chirp[id] < 0:
        return _stockham(x, y, n, radices[id], table, starts[id], sums)
    other, offset = partner[id], chirp[id]
    m = lengths[other]
    _twist(x, n, table, offset, False)
    for i in range(16 * n, 16 * m):
        x[i] = 0.0
    a, b = x, y
    first = _stockham(a, b, m, radices[other], table, starts[other], sums)
    if first:
        a, b = b, a
    _twist(a, m, table, offset + 2 * n, True)
    second = _stockham(a, b, m, radices[other], table, starts[other], sums)
    if second:
        a, b = b, a
    for j in range(n):
        r, i = _cmul(load(a, 16 * j + 8), load(a, 16 * j),
                     spread(table, offset + 2 * j), spread(table, offset + 2 * j + 1))
        _put(a, 16 * j, r, i)
    return (first + second) % 2
