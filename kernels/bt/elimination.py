"""Block-tridiagonal elimination along eight lines at once, in any direction.

Block row n of (I + dt·∂F/∂x − dt·∂²G/∂x²) Δ = r reads −Â(n−1)·Δ(n−1) + B(n)·Δ(n) − Ĉ(n+1)·Δ(n+1) = r(n).
Â and Ĉ have one form that differs in the sign of the convective factor t2; 18 of their 25 entries
are not zero, and all blocks follow from 1/ρ, three velocities and three energy terms of a cell.

Forward: X(n) = (B − Â·X(n−1))⁻¹ Ĉ and y(n) = (B − Â·X(n−1))⁻¹ (r + Â·y(n−1)) by one LU decomposition
with six right-hand sides; only X is kept.  Backward: Δ(n) = y(n) + X(n)·Δ(n+1).

``Lines`` says where the cells and the components of eight lines lie; the momenta across them are
called a and b, the one along them c.

What makes it fast: the decomposition goes column by column and looks left, so that no more than
the triangles and one column are alive, about what fits into 32 vector registers; pivots come in
pairs whose two divisions do not wait for each other (the second is m₀₀ / det of a 2×2 block);
sums are written in the order in which their terms become known.

Equations: Bailey et al., *The NAS Parallel Benchmarks*, NASA Ames report RNR-94-007, chapter 3.

Functions share ``u`` and ``r``, fields (float64, flat); ``lines``, the ``Lines`` of eight lines; ``here``, the
place of a cell in both fields; ``ring``, scratch with the terms of three cells, each in its ``slot``; ``constants``,
those of :func:`_constants`; and ``upper``, where X of a cell begins at ``x``.  A ``block`` is the 17 entries of
:func:`_below`, a ``column`` five numbers, each in eight lanes.

One line after the other, with full blocks, takes 17 to 26 times as long (``plain``); this algorithm without lanes 4.7
to 5.1 times.
"""

import numpy as np

from supercomputers_rerun.kernels.bt.lines import inner
from supercomputers_rerun.kernels.bt.problem import C1, C2, C3C4, C1345, FOUR_THIRDS
from supercomputers_rerun.kernels.runtime.jit import FINITE, kernel
from supercomputers_rerun.kernels.runtime.vector import LANES, load, load_as, prefetch, spread, store

_V = np.uint64(LANES)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_V5, _V10, _V15, _V20, _V25 = (np.uint64(n * LANES) for n in (5, 10, 15, 20, 25))

#: Doubles that the elimination keeps for a cell: X, by columns.
UPPER = 25 * LANES
#: Doubles of the ring: seven terms of three cells.
RING = 3 * 7 * LANES
#: Doubles that eight lines hand on from box to box: X and y forward, Δ backward.
FORWARD, BACKWARD = 30 * LANES, 5 * LANES
_CELL, _UPPER = np.uint64(7 * LANES), np.uint64(UPPER)
_FIVE, _SEVEN = ((0.0,) * LANES,) * 5, ((0.0,) * LANES,) * 7  # what ``load_as`` is told of a column and of a slot


@kernel(inline=True)
def _constants(direction):
    """The scalar factors of the blocks of one ``direction`` (``Direction``), each in all lanes."""
    dt, second, h = direction.dt, direction.second, direction.h
    t1, t2 = dt / (h * h), dt / (2.0 * h)
    k, k4, sigma = t1 * C3C4, t1 * FOUR_THIRDS * C3C4, t1 * C1345
    return (
        spread(t2),
        spread(C1 * t2),
        spread(C2 * t2),
        spread((1.0 - C2) * t2),
        spread(t1 * second),
        spread(k),
        spread(k4),
        spread(sigma),
        spread(k - sigma),
        spread(k4 - sigma),
        spread(1.0 + 2.0 * t1 * second),
    )


@kernel(fastmath=FINITE, inline=True)
def _describe(u, here, lines, ring, slot, constants):
    """Seven terms of one cell into the ring: 1/ρ, velocities, and three energy terms of the blocks."""
    _, c1t2, c2t2, _, _, k, k4, sigma, kd, _, _ = constants
    inverse = spread(1.0) / load(u, here + lines.density)
    a, b = load(u, here + lines.first) * inverse, load(u, here + lines.second) * inverse
    c, e = load(u, here + lines.along) * inverse, load(u, here + lines.energy) * inverse
    twice = a * a + b * b + c * c
    p = c2t2 * (spread(0.5) * twice)
    store(ring, slot, (inverse, a, b, c, p, c1t2 * e - p, inverse * (kd * twice + (k4 - k) * (c * c) + sigma * e)))


@kernel(fastmath=FINITE, inline=True)
def _below(ring, slot, constants):
    """Â of the cell in ``slot``: the 17 different entries that are not zero."""
    t2, c1t2, c2t2, along, dd, k, k4, sigma, kd, kd4, _ = constants
    inverse, a, b, c, p, w, g = load_as(ring, slot, _SEVEN)
    s, s4, t = k * inverse + t2 * c, k4 * inverse + t2 * c, kd * inverse - c2t2 * c
    return (
        t2,
        dd,
        c2t2,
        -(a * s),
        -(b * s),
        p - c * s4,
        (p - w) * c - g,
        s + dd,
        -(c2t2 * a),
        a * t,
        -(c2t2 * b),
        b * t,
        t2 * a,
        t2 * b,
        s4 + along * c + dd,
        w + c * (kd4 * inverse - c2t2 * c),
        c1t2 * c + sigma * inverse + dd,
    )


@kernel(fastmath=FINITE, inline=True)
def _above(ring, slot, constants):
    """Ĉ of the cell in ``slot`` as five columns: the form of Â with −t2."""
    t2, c1t2, c2t2, along, dd, k, k4, sigma, kd, kd4, _ = constants
    zero = spread(0.0)
    inverse, a, b, c, p, w, g = load_as(ring, slot, _SEVEN)
    s, s4, t = k * inverse - t2 * c, k4 * inverse - t2 * c, kd * inverse + c2t2 * c
    return (
        (dd, -(a * s), -(b * s), -p - c * s4, (w - p) * c - g),
        (zero, s + dd, zero, c2t2 * a, a * t),
        (zero, zero, s + dd, c2t2 * b, b * t),
        (-t2, -(t2 * a), -(t2 * b), s4 - along * c + dd, c * (kd4 * inverse + c2t2 * c) - w),
        (zero, zero, zero, -c2t2, sigma * inverse - c1t2 * c + dd),
    )


@kernel(fastmath=FINITE, inline=True)
def _diagonal(ring, slot, constants):
    """B of the cell in ``slot`` as five columns."""
    _, _, _, _, _, k, k4, sigma, kd, kd4, one = constants
    zero, two = spread(0.0), spread(2.0)
    inverse, a, b, c, _, _, g = load_as(ring, slot, _SEVEN)
    v, v4, ve = two * k * inverse, two * k4 * inverse, two * kd * inverse
    return (
        (one, -(v * a), -(v * b), -(v4 * c), -(two * g)),
        (zero, one + v, zero, zero, ve * a),
        (zero, zero, one + v, zero, ve * b),
        (zero, zero, zero, one + v4, two * kd4 * inverse * c),
        (zero, zero, zero, zero, one + two * sigma * inverse),
    )


@kernel(fastmath=FINITE, inline=True)
def _minus_product(column, block, x):
    """column − Â·x with the ``block`` Â, the last-known entries of x last."""
    t2, dd, c2t2, a10, a20, a30, a40, a11, a31, a41, a32, a42, a13, a23, a33, a43, a44 = block
    x0, x1, x2, x3, x4 = x
    return (
        column[0] - t2 * x3 - dd * x0,
        column[1] - a13 * x3 - a11 * x1 - a10 * x0,
        column[2] - a23 * x3 - a11 * x2 - a20 * x0,
        column[3] - c2t2 * x4 - a33 * x3 - a32 * x2 - a31 * x1 - a30 * x0,
        column[4] - a44 * x4 - a43 * x3 - a42 * x2 - a41 * x1 - a40 * x0,
    )


@kernel(fastmath=FINITE, inline=True)
def _decompose(diagonal, block, upper, x):
    """LU decomposition of B − Â·X, with B as the columns ``diagonal``: lower triangle, reciprocal pivots, upper
    triangle of ones."""
    one = spread(1.0)
    m00, l10, l20, l30, l40 = _minus_product(diagonal[0], block, load_as(upper, x, _FIVE))
    m01, m11, l21, l31, l41 = _minus_product(diagonal[1], block, load_as(upper, x + _V5, _FIVE))
    d1 = m00 / (m11 * m00 - l10 * m01)
    d0 = one / m00
    u01 = m01 * d0
    l21, l31, l41 = l21 - l20 * u01, l31 - l30 * u01, l41 - l40 * u01
    m02, m12, m22, l32, l42 = _minus_product(diagonal[2], block, load_as(upper, x + _V10, _FIVE))
    u02 = m02 * d0
    u12 = (m12 - l10 * u02) * d1
    m22 = m22 - l20 * u02 - l21 * u12
    l32, l42 = l32 - l30 * u02 - l31 * u12, l42 - l40 * u02 - l41 * u12
    m03, m13, m23, m33, l43 = _minus_product(diagonal[3], block, load_as(upper, x + _V15, _FIVE))
    u03 = m03 * d0
    u13 = (m13 - l10 * u03) * d1
    m23 = m23 - l20 * u03 - l21 * u13
    d3 = m22 / ((m33 - l30 * u03 - l31 * u13) * m22 - l32 * m23)
    d2 = one / m22
    u23 = m23 * d2
    l43 = l43 - l40 * u03 - l41 * u13 - l42 * u23
    m04, m14, m24, m34, m44 = _minus_product(diagonal[4], block, load_as(upper, x + _V20, _FIVE))
    u04 = m04 * d0
    u14 = (m14 - l10 * u04) * d1
    u24 = (m24 - l20 * u04 - l21 * u14) * d2
    u34 = (m34 - l30 * u04 - l31 * u14 - l32 * u24) * d3
    d4 = one / (m44 - l40 * u04 - l41 * u14 - l42 * u24 - l43 * u34)
    return (
        (l10, l20, l30, l40, l21, l31, l41, l32, l42, l43),
        (d0, d1, d2, d3, d4),
        (u01, u02, u03, u04, u12, u13, u14, u23, u24, u34),
    )


@kernel(fastmath=FINITE, inline=True)
def _solve(column, triangles):
    """(L·U)⁻¹ column with the ``triangles`` of :func:`_decompose`; the compiler drops what a zero at the top of the
    column makes zero."""
    l10, l20, l30, l40, l21, l31, l41, l32, l42, l43 = triangles[0]
    d0, d1, d2, d3, d4 = triangles[1]
    u01, u02, u03, u04, u12, u13, u14, u23, u24, u34 = triangles[2]
    v0, v1, v2, v3, v4 = column
    v0 = v0 * d0
    v1 = (v1 - l10 * v0) * d1
    v2 = (v2 - l20 * v0 - l21 * v1) * d2
    v3 = (v3 - l30 * v0 - l31 * v1 - l32 * v2) * d3
    v4 = (v4 - l40 * v0 - l41 * v1 - l42 * v2 - l43 * v3) * d4
    v3 = v3 - u34 * v4
    v2 = v2 - u24 * v4 - u23 * v3
    v1 = v1 - u14 * v4 - u13 * v3 - u12 * v2
    v0 = v0 - u04 * v4 - u03 * v3 - u02 * v2 - u01 * v1
    return v0, v1, v2, v3, v4


@kernel(inline=True)
def _load_cell(r, here, lines):
    """The five components of a cell, in the order of ``Lines``."""
    return (
        load(r, here + lines.density),
        load(r, here + lines.first),
        load(r, here + lines.second),
        load(r, here + lines.along),
        load(r, here + lines.energy),
    )


@kernel(inline=True)
def _store_cell(r, here, lines, five):
    """The five components of a cell, in the order of ``Lines``, become ``five``."""
    store(r, here + lines.density, five[0])
    store(r, here + lines.first, five[1])
    store(r, here + lines.second, five[2])
    store(r, here + lines.along, five[3])
    store(r, here + lines.energy, five[4])


@kernel(fastmath=FINITE)
def eliminate(u, r, lines, direction, ends, upper, ring, carry, ahead):
    """Forward elimination on the inner cells of eight lines, or of a piece of them whose rest others have.

    ``u``: conserved variables, in the benchmark's unit; ``r``: dt times the right-hand side, which becomes y;
    ``direction`` (``Direction``), whose ``weights`` are not used; ``ends`` (``Ends``); ``upper``, float64
    ((points + 1) · UPPER,), receives X of every cell, column by column, that of the cell before the piece first;
    ``ring`` is float64 (RING,); ``carry``, float64 (FORWARD,), has X and y of the cell before the first inner one, zero
    at a boundary, and receives those of the last; ``ahead``: distance, in doubles, of the lines whose u and r are
    fetched into the cache meanwhile, 0: none.
    """
    cell, constants = lines.cell, _constants(direction)
    begin, stop = inner(lines.points, ends)
    x = begin * _UPPER
    for entry in range(np.uint64(25)):
        store(upper, x + entry * _V, load(carry, entry * _V))
    y = load_as(carry, _V25, _FIVE)
    behind, middle, front = _ZERO, _CELL, _CELL + _CELL
    first = lines.at + begin * cell
    _describe(u, first - cell, lines, ring, behind, constants)
    _describe(u, first, lines, ring, middle, constants)
    for n in range(begin, stop):
        here = lines.at + n * cell
        _describe(u, here + cell, lines, ring, front, constants)
        if ahead != _ZERO:
            for offset in (lines.density, lines.first, lines.second, lines.along, lines.energy):
                prefetch(u, here + ahead + offset)
                prefetch(r, here + ahead + offset)
        before, x = x, x + _UPPER
        block = _below(ring, behind, constants)
        triangles = _decompose(_diagonal(ring, middle, constants), block, upper, before)
        columns = _above(ring, front, constants)
        store(upper, x, _solve(columns[0], triangles))
        store(upper, x + _V5, _solve(columns[1], triangles))
        store(upper, x + _V10, _solve(columns[2], triangles))
        store(upper, x + _V15, _solve(columns[3], triangles))
        store(upper, x + _V20, _solve(columns[4], triangles))
        right = _load_cell(r, here, lines)
        y = _solve(_minus_product(right, block, (-y[0], -y[1], -y[2], -y[3], -y[4])), triangles)
        _store_cell(r, here, lines, y)
        behind, middle, front = middle, front, behind
    for entry in range(np.uint64(25)):
        store(carry, entry * _V, load(upper, x + entry * _V))
    store(carry, _V25, y)


@kernel(fastmath=FINITE, inline=True)
def _add_scaled(sums, column, factor):
    """``sums`` + ``column`` · ``factor``, of five numbers each."""
    return (
        sums[0] + column[0] * factor,
        sums[1] + column[1] * factor,
        sums[2] + column[2] * factor,
        sums[3] + column[3] * factor,
        sums[4] + column[4] * factor,
    )


@kernel(fastmath=FINITE)
def substitute(r, lines, ends, upper, carry):
    """Back substitution on the same cells: y in ``r``, as ``eliminate`` left it, becomes the solution Δ.

    ``upper`` has X of every cell; ``carry``, float64 (BACKWARD,), has Δ of the cell behind the last, zero at a
    boundary, and receives that of the first.
    """
    begin, stop = inner(lines.points, ends)
    y = load_as(carry, _ZERO, _FIVE)
    for step in range(_ONE, stop - begin + _ONE):
        n = stop - step
        here, x = lines.at + n * lines.cell, (n + _ONE) * _UPPER
        z = _load_cell(r, here, lines)
        z = _add_scaled(z, load_as(upper, x + _V20, _FIVE), y[4])
        z = _add_scaled(z, load_as(upper, x + _V15, _FIVE), y[3])
        z = _add_scaled(z, load_as(upper, x + _V10, _FIVE), y[2])
        z = _add_scaled(z, load_as(upper, x + _V5, _FIVE), y[1])
        y = _add_scaled(z, load_as(upper, x, _FIVE), y[0])
        _store_cell(r, here, lines, y)
    store(carry, _ZERO, y)


@kernel(inline=True)
def solve(u, r, lines, direction, ends, upper, ring, carry, ahead):
    """Both on eight lines whose ends are boundaries; arguments as for :func:`eliminate`."""
    carry[:FORWARD] = 0.0
    eliminate(u, r, lines, direction, ends, upper, ring, carry, ahead)
    carry[:BACKWARD] = 0.0
    substitute(r, lines, ends, upper, carry)
