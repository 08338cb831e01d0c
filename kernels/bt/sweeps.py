"""The two line kernels of BT: differences along eight lines, and the elimination along them.

Both work in any direction.  A line is a start offset, a distance from cell to cell and five
offsets of components within a cell, given in the order density ρ, the two momenta across the line
(a, b), the momentum along it (n), energy E.  The two momenta across enter alike, so one piece of
code serves x, y and z.

Equations: Bailey et al., *The NAS Parallel Benchmarks*, NASA Ames report RNR-94-007, chapter 3.
"""

import numpy as np

from kernels._jit import CONTRACT, kernel
from kernels.bt.lanes import LANES, load, prefetch, spread, store
from kernels.bt.problem import C1, C2, C3C4, C1345, FOUR_THIRDS, FOURTH

_V = np.uint64(LANES)
_ONE, _TWO = np.uint64(1), np.uint64(2)

#: Doubles that the elimination keeps for a cell: the 5×5 block that couples it to the next.
UPPER = 25 * LANES


def weights(points: int, dt: float, second: float) -> np.ndarray:
    """Five-point weights of both dissipations, times dt, for every cell of a line, shape (points, 5).

    Second differences have the factor ``second``/h², fourth ones −FOURTH.  The fourth difference
    is (1, −4, 6, −4, 1); at the first inner cell (0, 0, 5, −4, 1) and at the second
    (0, −4, 6, −4, 1), at the other end mirrored.  On five points the middle cell is second from
    both ends and keeps (0, −4, 6, −4, 0).
    """
    fourth = np.tile([1.0, -4.0, 6.0, -4.0, 1.0], (points, 1))
    fourth[1, :3] = 0.0, 0.0, 5.0
    fourth[2, 0] = 0.0
    fourth[-3, 4] = 0.0
    fourth[-2, 2:] = 5.0, 0.0, 0.0
    table = dt * second * (points - 1.0) ** 2 * np.array([0.0, 1.0, -2.0, 1.0, 0.0]) - dt * FOURTH * fourth
    table[0] = table[-1] = 0.0
    return table


@kernel(fastmath=CONTRACT)
def differences(u, source, target, at, cell, o0, o1, o2, o3, o4, points, dt, table, ahead):
    """target = source + dt · (terms of one direction) on the inner cells of eight lines.

    With f the convective flux and g what the viscous terms difference twice, cell n receives
    M(n−1) − 2·g(n) + P(n+1), M = g + f and P = g − f, all with their factors of dt and h, and the
    five-point dissipation ``table``.  Cell by cell only M and the sum of the first two are kept.
    """
    h = 1.0 / (np.float64(points) - 1.0)
    convect, diffuse = spread(dt / (2.0 * h)), spread(dt * C3C4 / (h * h))
    along = spread(dt * C3C4 * FOUR_THIRDS / (h * h))
    speed, normal = spread(0.5 * dt * C3C4 * (1.0 - C1 * C1) / (h * h)), spread(dt * C3C4 / (6.0 * h * h))
    heat, one, two = spread(dt * C1345 / (h * h)), spread(1.0), spread(2.0)
    pressure, kinetic = spread(C2), spread(0.5 * C2)
    zero = spread(0.0)
    s0 = s1 = s2 = s3 = s4 = zero
    m0 = m1 = m2 = m3 = m4 = zero
    back = np.uint64(2) * cell
    for n in range(np.uint64(points)):
        here = at + n * cell
        ma, mb, mn, energy = load(u, here + o1), load(u, here + o2), load(u, here + o3), load(u, here + o4)
        inverse = one / load(u, here + o0)
        a, b, c = ma * inverse, mb * inverse, mn * inverse
        twice = ma * a + mb * b + mn * c
        p = pressure * energy - kinetic * twice
        ga, gb, gc = diffuse * a, diffuse * b, along * c
        ge = speed * (twice * inverse) + heat * (energy * inverse) + normal * (c * c)
        f0, fa, fb = convect * mn, convect * (ma * c), convect * (mb * c)
        fc, fe = convect * (mn * c + p), convect * ((energy + p) * c)
        if ahead != np.uint64(0):
            for offset in (o0, o1, o2, o3, o4):
                prefetch(source, here + ahead + offset)
        if n >= _TWO:
            centre = here - cell
            row = (n - _ONE) * np.uint64(5)
            w0, w1, w2 = spread(table[row]), spread(table[row + _ONE]), spread(table[row + _TWO])
            w3, w4 = spread(table[row + np.uint64(3)]), spread(table[row + np.uint64(4)])
            # The outer neighbours of the edge cells have weight zero: read any valid cell there.
            left = centre - (back if n > _TWO else cell)
            right = centre + (back if n + _ONE < np.uint64(points) else cell)
            store(target, centre + o0, load(source, centre + o0) + s0 - f0
                  + w0 * load(u, left + o0) + w1 * load(u, centre - cell + o0) + w2 * load(u, centre + o0)
                  + w3 * load(u, here + o0) + w4 * load(u, right + o0))
            store(target, centre + o1, load(source, centre + o1) + s1 + (ga - fa)
                  + w0 * load(u, left + o1) + w1 * load(u, centre - cell + o1) + w2 * load(u, centre + o1)
                  + w3 * load(u, here + o1) + w4 * load(u, right + o1))
            store(target, centre + o2, load(source, centre + o2) + s2 + (gb - fb)
                  + w0 * load(u, left + o2) + w1 * load(u, centre - cell + o2) + w2 * load(u, centre + o2)
                  + w3 * load(u, here + o2) + w4 * load(u, right + o2))
            store(target, centre + o3, load(source, centre + o3) + s3 + (gc - fc)
                  + w0 * load(u, left + o3) + w1 * load(u, centre - cell + o3) + w2 * load(u, centre + o3)
                  + w3 * load(u, here + o3) + w4 * load(u, right + o3))
            store(target, centre + o4, load(source, centre + o4) + s4 + (ge - fe)
                  + w0 * load(u, left + o4) + w1 * load(u, centre - cell + o4) + w2 * load(u, centre + o4)
                  + w3 * load(u, here + o4) + w4 * load(u, right + o4))
        s0, s1, s2, s3, s4 = m0, m1 - two * ga, m2 - two * gb, m3 - two * gc, m4 - two * ge
        m0, m1, m2, m3, m4 = f0, ga + fa, gb + fb, gc + fc, ge + fe


@kernel(fastmath=CONTRACT, inline=True)
def _describe(u, here, o0, o1, o2, o3, o4, ring, slot, k):
    """1/ρ, velocities and three energy terms of one cell into the ring (7 vectors)."""
    c2t2, c1t2, two_kd, k3, sigma = k
    inverse = spread(1.0) / load(u, here + o0)
    a, b, n = load(u, here + o1) * inverse, load(u, here + o2) * inverse, load(u, here + o3) * inverse
    e = load(u, here + o4) * inverse
    q = spread(0.5) * (a * a + b * b + n * n)
    p = c2t2 * q
    store(ring, slot, inverse)
    store(ring, slot + _V, a)
    store(ring, slot + np.uint64(2) * _V, b)
    store(ring, slot + np.uint64(3) * _V, n)
    store(ring, slot + np.uint64(4) * _V, p)
    store(ring, slot + np.uint64(5) * _V, c1t2 * e - p)
    store(ring, slot + np.uint64(6) * _V, inverse * (two_kd * q + k3 * (n * n) + sigma * e))


@kernel(inline=True)
def _store_row(array, place, v0, v1, v2, v3, v4):
    store(array, place, v0)
    store(array, place + _V, v1)
    store(array, place + np.uint64(2) * _V, v2)
    store(array, place + np.uint64(3) * _V, v3)
    store(array, place + np.uint64(4) * _V, v4)


@kernel(inline=True)
def _load_column(array, place):
    return (load(array, place), load(array, place + np.uint64(5) * _V), load(array, place + np.uint64(10) * _V),
            load(array, place + np.uint64(15) * _V), load(array, place + np.uint64(20) * _V))


@kernel(fastmath=CONTRACT)
def eliminate(u, r, at, cell, o0, o1, o2, o3, o4, points, dt, second, upper, ring, ahead):
    """Solve the block-tridiagonal systems of eight lines; r becomes the solution.

    Block row n of (I + dt·∂F/∂x − dt·∂²G/∂x²) Δ = r reads −Â(n−1)·Δ(n−1) + B(n)·Δ(n) − Ĉ(n+1)·Δ(n+1):
    Â and Ĉ have one form that differs in the sign of the convective factor t2, 18 of 25 entries are
    not zero.  Forward, X(n) = (B − Â·X(n−1))⁻¹ Ĉ and y(n) by one LU decomposition with six right-hand
    sides; backward, Δ(n) = y(n) + X(n)·Δ(n+1).  Only X is kept.
    """
    h = 1.0 / (np.float64(points) - 1.0)
    t1, t2s = dt / (h * h), dt / (2.0 * h)
    kd, kd4 = t1 * (C3C4 - C1345), t1 * (FOUR_THIRDS * C3C4 - C1345)
    k1, k43, sigma = spread(t1 * C3C4), spread(t1 * FOUR_THIRDS * C3C4), spread(t1 * C1345)
    vkd, vkd4 = spread(kd), spread(kd4)
    t2, c2t2, c1t2 = spread(t2s), spread(C2 * t2s), spread(C1 * t2s)
    along = spread((1.0 - C2) * t2s)
    dd, one, two = spread(t1 * second), spread(1.0), spread(2.0)
    diagonal = spread(1.0 + 2.0 * t1 * second)
    zero = spread(0.0)
    factors = (c2t2, c1t2, spread(2.0 * kd), spread(kd4 - kd), sigma)
    for entry in range(np.uint64(25)):
        store(upper, entry * _V, zero)
    y0 = y1 = y2 = y3 = y4 = zero
    size = np.uint64(7) * _V
    behind, middle, front = np.uint64(0), size, size + size
    _describe(u, at, o0, o1, o2, o3, o4, ring, behind, factors)
    _describe(u, at + cell, o0, o1, o2, o3, o4, ring, middle, factors)
    x = np.uint64(0)
    for n in range(_ONE, np.uint64(points) - _ONE):
        here = at + n * cell
        _describe(u, here + cell, o0, o1, o2, o3, o4, ring, front, factors)
        if ahead != np.uint64(0):
            for offset in (o0, o1, o2, o3, o4):
                prefetch(u, here + ahead + offset)
                prefetch(r, here + ahead + offset)
        # B(n)
        inverse, a = load(ring, middle), load(ring, middle + _V)
        b, c = load(ring, middle + np.uint64(2) * _V), load(ring, middle + np.uint64(3) * _V)
        g = load(ring, middle + np.uint64(6) * _V)
        v, v4, vs = two * k1 * inverse, two * k43 * inverse, two * sigma * inverse
        ve = two * vkd * inverse
        b10, b20, b30, b40 = -(v * a), -(v * b), -(v4 * c), -(two * g)
        b11, b33, b44 = diagonal + v, diagonal + v4, diagonal + vs
        b41, b42, b43 = ve * a, ve * b, two * vkd4 * inverse * c
        # Â(n−1)
        inverse, a = load(ring, behind), load(ring, behind + _V)
        b, c = load(ring, behind + np.uint64(2) * _V), load(ring, behind + np.uint64(3) * _V)
        p, w = load(ring, behind + np.uint64(4) * _V), load(ring, behind + np.uint64(5) * _V)
        g = load(ring, behind + np.uint64(6) * _V)
        s, s4 = k1 * inverse + t2 * c, k43 * inverse + t2 * c
        a10, a20, a11, a13, a23 = -(a * s), -(b * s), s + dd, t2 * a, t2 * b
        a30, a31, a32, a33 = p - c * s4, -(c2t2 * a), -(c2t2 * b), s4 + along * c + dd
        t = vkd * inverse - c2t2 * c
        a40, a41, a42 = (p - w) * c - g, a * t, b * t
        a43, a44 = w + c * (vkd4 * inverse - c2t2 * c), c1t2 * c + sigma * inverse + dd
        # r + Â·y; here and below the terms stand in the order in which they become known
        r0 = load(r, here + o0) + t2 * y3 + dd * y0
        r1 = load(r, here + o1) + a13 * y3 + a11 * y1 + a10 * y0
        r2 = load(r, here + o2) + a23 * y3 + a11 * y2 + a20 * y0
        r3 = load(r, here + o3) + c2t2 * y4 + a33 * y3 + a32 * y2 + a31 * y1 + a30 * y0
        r4 = load(r, here + o4) + a44 * y4 + a43 * y3 + a42 * y2 + a41 * y1 + a40 * y0
        # B − Â·X, column by column
        x0, x1, x2, x3, x4 = _load_column(upper, x)
        m00 = diagonal - t2 * x3 - dd * x0
        m10 = b10 - a13 * x3 - a11 * x1 - a10 * x0
        m20 = b20 - a23 * x3 - a11 * x2 - a20 * x0
        m30 = b30 - c2t2 * x4 - a33 * x3 - a32 * x2 - a31 * x1 - a30 * x0
        m40 = b40 - a44 * x4 - a43 * x3 - a42 * x2 - a41 * x1 - a40 * x0
        x0, x1, x2, x3, x4 = _load_column(upper, x + np.uint64(1) * _V)
        m01 = -(t2 * x3) - dd * x0
        m11 = b11 - a13 * x3 - a11 * x1 - a10 * x0
        m21 = -(a23 * x3) - a11 * x2 - a20 * x0
        m31 = -(c2t2 * x4) - a33 * x3 - a32 * x2 - a31 * x1 - a30 * x0
        m41 = b41 - a44 * x4 - a43 * x3 - a42 * x2 - a41 * x1 - a40 * x0
        x0, x1, x2, x3, x4 = _load_column(upper, x + np.uint64(2) * _V)
        m02 = -(t2 * x3) - dd * x0
        m12 = -(a13 * x3) - a11 * x1 - a10 * x0
        m22 = b11 - a23 * x3 - a11 * x2 - a20 * x0
        m32 = -(c2t2 * x4) - a33 * x3 - a32 * x2 - a31 * x1 - a30 * x0
        m42 = b42 - a44 * x4 - a43 * x3 - a42 * x2 - a41 * x1 - a40 * x0
        x0, x1, x2, x3, x4 = _load_column(upper, x + np.uint64(3) * _V)
        m03 = -(t2 * x3) - dd * x0
        m13 = -(a13 * x3) - a11 * x1 - a10 * x0
        m23 = -(a23 * x3) - a11 * x2 - a20 * x0
        m33 = b33 - c2t2 * x4 - a33 * x3 - a32 * x2 - a31 * x1 - a30 * x0
        m43 = b43 - a44 * x4 - a43 * x3 - a42 * x2 - a41 * x1 - a40 * x0
        x0, x1, x2, x3, x4 = _load_column(upper, x + np.uint64(4) * _V)
        m04 = -(t2 * x3) - dd * x0
        m14 = -(a13 * x3) - a11 * x1 - a10 * x0
        m24 = -(a23 * x3) - a11 * x2 - a20 * x0
        m34 = -(c2t2 * x4) - a33 * x3 - a32 * x2 - a31 * x1 - a30 * x0
        m44 = b44 - a44 * x4 - a43 * x3 - a42 * x2 - a41 * x1 - a40 * x0
        # Ĉ(n+1): the form of Â with −t2
        inverse, a = load(ring, front), load(ring, front + _V)
        b, c = load(ring, front + np.uint64(2) * _V), load(ring, front + np.uint64(3) * _V)
        p, w = load(ring, front + np.uint64(4) * _V), load(ring, front + np.uint64(5) * _V)
        g = load(ring, front + np.uint64(6) * _V)
        s, s4 = k1 * inverse - t2 * c, k43 * inverse - t2 * c
        c10, c20, c11, c13, c23 = -(a * s), -(b * s), s + dd, -(t2 * a), -(t2 * b)
        c30, c31, c32, c33 = -p - c * s4, c2t2 * a, c2t2 * b, s4 - along * c + dd
        t = vkd * inverse + c2t2 * c
        c40, c41, c42 = (w - p) * c - g, a * t, b * t
        c43, c44 = c * (vkd4 * inverse + c2t2 * c) - w, sigma * inverse - c1t2 * c + dd
        # pivot 0; only columns 0, 3 and the right-hand side are in row 0 of Ĉ
        d = one / m00
        m01, m02, m03, m04 = m01 * d, m02 * d, m03 * d, m04 * d
        c00, c03, r0 = dd * d, -(t2 * d), r0 * d
        m11, m12, m13, m14 = m11 - m10 * m01, m12 - m10 * m02, m13 - m10 * m03, m14 - m10 * m04
        m21, m22, m23, m24 = m21 - m20 * m01, m22 - m20 * m02, m23 - m20 * m03, m24 - m20 * m04
        m31, m32, m33, m34 = m31 - m30 * m01, m32 - m30 * m02, m33 - m30 * m03, m34 - m30 * m04
        m41, m42, m43, m44 = m41 - m40 * m01, m42 - m40 * m02, m43 - m40 * m03, m44 - m40 * m04
        c10, c13, r1 = c10 - m10 * c00, c13 - m10 * c03, r1 - m10 * r0
        c20, c23, r2 = c20 - m20 * c00, c23 - m20 * c03, r2 - m20 * r0
        c30, c33, r3 = c30 - m30 * c00, c33 - m30 * c03, r3 - m30 * r0
        c40, c43, r4 = c40 - m40 * c00, c43 - m40 * c03, r4 - m40 * r0
        # pivot 1: columns 0, 1, 3
        d = one / m11
        m12, m13, m14 = m12 * d, m13 * d, m14 * d
        c10, c11_, c13, r1 = c10 * d, c11 * d, c13 * d, r1 * d
        m22, m23, m24 = m22 - m21 * m12, m23 - m21 * m13, m24 - m21 * m14
        m32, m33, m34 = m32 - m31 * m12, m33 - m31 * m13, m34 - m31 * m14
        m42, m43, m44 = m42 - m41 * m12, m43 - m41 * m13, m44 - m41 * m14
        c20, c21, c23, r2 = c20 - m21 * c10, -(m21 * c11_), c23 - m21 * c13, r2 - m21 * r1
        c30, c31, c33, r3 = c30 - m31 * c10, c31 - m31 * c11_, c33 - m31 * c13, r3 - m31 * r1
        c40, c41, c43, r4 = c40 - m41 * c10, c41 - m41 * c11_, c43 - m41 * c13, r4 - m41 * r1
        # pivot 2: columns 0, 1, 2, 3
        d = one / m22
        m23, m24 = m23 * d, m24 * d
        c20, c21, c22, c23, r2 = c20 * d, c21 * d, c11 * d, c23 * d, r2 * d
        m33, m34 = m33 - m32 * m23, m34 - m32 * m24
        m43, m44 = m43 - m42 * m23, m44 - m42 * m24
        c30, c31, c32, c33 = c30 - m32 * c20, c31 - m32 * c21, c32 - m32 * c22, c33 - m32 * c23
        c40, c41, c42, c43 = c40 - m42 * c20, c41 - m42 * c21, c42 - m42 * c22, c43 - m42 * c23
        r3, r4 = r3 - m32 * r2, r4 - m42 * r2
        # pivots 3 and 4
        d = one / m33
        m34 = m34 * d
        c30, c31, c32, c33, c34, r3 = c30 * d, c31 * d, c32 * d, c33 * d, c2t2 * -d, r3 * d
        m44 = m44 - m43 * m34
        c40, c41, c42 = c40 - m43 * c30, c41 - m43 * c31, c42 - m43 * c32
        c43, c44, r4 = c43 - m43 * c33, c44 - m43 * c34, r4 - m43 * r3
        d = one / m44
        c40, c41, c42, c43, c44, y4 = c40 * d, c41 * d, c42 * d, c43 * d, c44 * d, r4 * d
        # back substitution
        c30, c31, c32 = c30 - m34 * c40, c31 - m34 * c41, c32 - m34 * c42
        c33, c34, y3 = c33 - m34 * c43, c34 - m34 * c44, r3 - m34 * y4
        c20, c21, c22 = c20 - m24 * c40 - m23 * c30, c21 - m24 * c41 - m23 * c31, c22 - m24 * c42 - m23 * c32
        c23, c24, y2 = c23 - m24 * c43 - m23 * c33, -(m24 * c44) - m23 * c34, r2 - m24 * y4 - m23 * y3
        c10 = c10 - m14 * c40 - m13 * c30 - m12 * c20
        c11 = c11_ - m14 * c41 - m13 * c31 - m12 * c21
        c12 = -(m14 * c42) - m13 * c32 - m12 * c22
        c13 = c13 - m14 * c43 - m13 * c33 - m12 * c23
        c14 = -(m14 * c44) - m13 * c34 - m12 * c24
        y1 = r1 - m14 * y4 - m13 * y3 - m12 * y2
        c00 = c00 - m04 * c40 - m03 * c30 - m02 * c20 - m01 * c10
        c01 = -(m04 * c41) - m03 * c31 - m02 * c21 - m01 * c11
        c02 = -(m04 * c42) - m03 * c32 - m02 * c22 - m01 * c12
        c03 = c03 - m04 * c43 - m03 * c33 - m02 * c23 - m01 * c13
        c04 = -(m04 * c44) - m03 * c34 - m02 * c24 - m01 * c14
        y0 = r0 - m04 * y4 - m03 * y3 - m02 * y2 - m01 * y1
        x = n * np.uint64(UPPER)
        _store_row(upper, x, c00, c01, c02, c03, c04)
        _store_row(upper, x + np.uint64(5) * _V, c10, c11, c12, c13, c14)
        _store_row(upper, x + np.uint64(10) * _V, c20, c21, c22, c23, c24)
        _store_row(upper, x + np.uint64(15) * _V, c30, c31, c32, c33, c34)
        _store_row(upper, x + np.uint64(20) * _V, c40, c41, c42, c43, c44)
        store(r, here + o0, y0)
        store(r, here + o1, y1)
        store(r, here + o2, y2)
        store(r, here + o3, y3)
        store(r, here + o4, y4)
        behind, middle, front = middle, front, behind


@kernel(fastmath=CONTRACT)
def substitute(r, at, cell, o0, o1, o2, o3, o4, points, upper):
    """Back substitution of :func:`eliminate`: Δ(n) = y(n) + X(n)·Δ(n+1)."""
    zero = spread(0.0)
    y0 = y1 = y2 = y3 = y4 = zero
    for step in range(_TWO, np.uint64(points)):
        n = np.uint64(points) - step
        here, x = at + n * cell, n * np.uint64(UPPER)
        z0 = load(r, here + o0) + load(upper, x) * y0 + load(upper, x + _V) * y1 \
            + load(upper, x + np.uint64(2) * _V) * y2 + load(upper, x + np.uint64(3) * _V) * y3 \
            + load(upper, x + np.uint64(4) * _V) * y4
        z1 = load(r, here + o1) + load(upper, x + np.uint64(5) * _V) * y0 + load(upper, x + np.uint64(6) * _V) * y1 \
            + load(upper, x + np.uint64(7) * _V) * y2 + load(upper, x + np.uint64(8) * _V) * y3 \
            + load(upper, x + np.uint64(9) * _V) * y4
        z2 = load(r, here + o2) + load(upper, x + np.uint64(10) * _V) * y0 + load(upper, x + np.uint64(11) * _V) * y1 \
            + load(upper, x + np.uint64(12) * _V) * y2 + load(upper, x + np.uint64(13) * _V) * y3 \
            + load(upper, x + np.uint64(14) * _V) * y4
        z3 = load(r, here + o3) + load(upper, x + np.uint64(15) * _V) * y0 + load(upper, x + np.uint64(16) * _V) * y1 \
            + load(upper, x + np.uint64(17) * _V) * y2 + load(upper, x + np.uint64(18) * _V) * y3 \
            + load(upper, x + np.uint64(19) * _V) * y4
        z4 = load(r, here + o4) + load(upper, x + np.uint64(20) * _V) * y0 + load(upper, x + np.uint64(21) * _V) * y1 \
            + load(upper, x + np.uint64(22) * _V) * y2 + load(upper, x + np.uint64(23) * _V) * y3 \
            + load(upper, x + np.uint64(24) * _V) * y4
        y0, y1, y2, y3, y4 = z0, z1, z2, z3, z4
        store(r, here + o0, y0)
        store(r, here + o1, y1)
        store(r, here + o2, y2)
        store(r, here + o3, y3)
        store(r, here + o4, y4)
