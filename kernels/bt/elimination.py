"""Block-tridiagonal elimination along eight lines at once, in any direction.

One factor of a time step, I + dt·∂F/∂x − dt·∂²G/∂x², along the points n of a line, with Δ the wanted update::

    −Â(n−1)·Δ(n−1) + B(n)·Δ(n) − Ĉ(n+1)·Δ(n+1) = r(n)

F and G are 5×5 Jacobians: of the convective flux along the line, and of what the viscous terms and the second-order
dissipation take second differences of.  By central differences over a distance h, with t2 = dt/(2h) and t1 = dt/h²,
Â = t2·F + t1·G and Ĉ = −t2·F + t1·G of the neighbour, B = I + 2·t1·G of the cell itself; ``plain`` has the Jacobians in
index form.  18 of the 25 entries of Â and Ĉ are not zero, and all blocks follow from 1/ρ, three velocities and three
energy terms of a cell.

Forward, with Â of n−1 and Ĉ of n+1::

    X(n) = (B − Â·X(n−1))⁻¹ Ĉ        y(n) = (B − Â·X(n−1))⁻¹ (r + Â·y(n−1))

by one LU decomposition with six right-hand sides; y takes the place of r, X needs room of its own.  Backward::

    Δ(n) = y(n) + X(n)·Δ(n+1)

``Lines`` (:mod:`.lines`, as ``Direction`` and ``Ends``) says where the cells and the components of eight lines lie;
the velocities across them are called a and b, the one along them c.

What makes it fast: the decomposition goes column by column and is left-looking, so that of what it makes no more than
the triangles and one column, 30 vectors, are alive (the entries of Â come besides); AVX-512 has 32 registers of eight
lanes, other processors keep a vector in several.  Reciprocals of pivots come in pairs whose two divisions do not wait
for each other (the second is m/det of a 2×2 block, m the first pivot).  Sums are written in the order in which their
terms become known (``FINITE`` may fuse a product and a sum, and may not reorder).  The cells of the lines that come
next are prefetched.  What each of these gains has no number; ``book/peers.md``, *What our solver waits for*, has what
was measured of this loop on a Zen 3: it waits neither for memory nor for the block before.

Equations: Bailey et al., *The NAS Parallel Benchmarks*, NASA Ames report RNR-94-007, chapter 3.

Functions share ``u`` and ``r``, fields (float64, flat); ``lines``, the ``Lines`` of eight lines; and ``here``, where a
cell begins in both fields.  Each of ``Factors`` is one number in all eight lanes; each of ``Terms``, ``Below`` and
``Triangles``, and each of the five of a *column*, is a vector with one lane a line.  The scratch of eight lines::

    upper   X of cell −1 | X of cell 0 | X of cell 1 | …      a cell: 5 columns of 5 entries of 8 lanes, 25 · 8
    ring    Terms of cell n−1 | of cell n | of cell n+1       a slot: 7 terms of 8 lanes, 7 · 8; the oldest is
                                                              overwritten by those of cell n+2

The whole of BT one line after the other, with full blocks, takes 17 to 26 times as long (``plain``); with this
algorithm and without lanes 4.7 to 5.1 times (machine and class are not recorded).
"""

from typing import Any, NamedTuple

import numpy as np

from supercomputers_rerun.kernels.bt.lines import inner
from supercomputers_rerun.kernels.bt.problem import C1, C2, C3C4, C1345, FOUR_THIRDS
from supercomputers_rerun.kernels.runtime.jit import FINITE, kernel
from supercomputers_rerun.kernels.runtime.vector import LANES, load, load_as, prefetch, spread, store

# Unsigned as the offsets of ``Lines``: of int64 and uint64 numba makes float64.  Those are so for ``differences``,
# which indexes a table by them: of a signed index numba would ask each time whether it counts from the end.
#: Doubles of a vector.
_V = np.uint64(LANES)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
#: Entries of X, each a vector.
_ENTRIES = np.uint64(25)
#: Doubles from one column of X to the next.
_COLUMN = np.uint64(5 * LANES)

#: Doubles that the elimination keeps for a cell: X, by columns.
UPPER = 25 * LANES
#: Doubles of the ring: seven terms of three cells.
RING = 3 * 7 * LANES
#: Doubles that a piece of eight lines hands on to the next: X and y forward (25 + 5 vectors), Δ backward (5).
FORWARD = 30 * LANES
BACKWARD = 5 * LANES
#: Doubles of a slot of the ring, and of X of a cell, as offsets.
_SLOT = np.uint64(7 * LANES)
_UPPER = np.uint64(UPPER)
# The shape in which ``load_as`` gives a column and a slot of the ring: five and seven vectors.
_FIVE = ((0.0,) * LANES,) * 5
_SEVEN = ((0.0,) * LANES,) * 7


class Factors(NamedTuple):
    """The factors of the blocks of one direction; t1 = dt/h², t2 = dt/(2h), and the constants of ``problem``.

    C1 is the ratio of specific heats, C2 = C1 − 1; ``C3C4`` belongs to viscosity, ``C1345`` to the conduction of heat.
    """

    t2: Any
    c1t2: Any  # C1 · t2
    c2t2: Any  # C2 · t2
    c3t2: Any  # (1 − C2) · t2
    damping: Any  # t1 · coefficient of the second-order dissipation
    k: Any  # t1 · C3C4: viscosity across the lines
    k4: Any  # 4/3 of it: along them
    sigma: Any  # t1 · C1345: conduction of heat
    kd: Any  # k − sigma
    kd4: Any  # k4 − sigma
    one: Any  # 1 + 2 · damping


class Terms(NamedTuple):
    """What the blocks of a cell are made of: a and b are the velocities across the lines, c is the one along them."""

    inverse: Any  # 1/ρ
    a: Any
    b: Any
    c: Any
    kinetic: Any  # c2t2 · (a² + b² + c²)/2
    enthalpy: Any  # c1t2 · E/ρ − kinetic: t2 times the total enthalpy (E + p)/ρ
    diffusion: Any  # (kd·(a² + b² + c²) + (k4 − k)·c² + sigma·E/ρ)/ρ


class Below(NamedTuple):
    """Â: the 17 different entries that are not zero; aij is row i, column j, components in the order of ``Lines``::

              ρ    a    b    c    E
        ρ    a00   ·    ·   a03   ·
        a    a10  a11   ·   a13   ·
        b    a20   ·   a11  a23   ·
        c    a30  a31  a32  a33  a34
        E    a40  a41  a42  a43  a44

    a03, a00 and a34 are factors.
    """

    a03: Any
    a00: Any
    a34: Any
    a10: Any
    a20: Any
    a30: Any
    a40: Any
    a11: Any  # and a22
    a31: Any
    a41: Any
    a32: Any
    a42: Any
    a13: Any
    a23: Any
    a33: Any
    a43: Any
    a44: Any


class Triangles(NamedTuple):
    """L·U = B − Â·X after Crout, without pivoting: L has the pivots (here their reciprocals d), U has ones."""

    l10: Any
    l20: Any
    l30: Any
    l40: Any
    l21: Any
    l31: Any
    l41: Any
    l32: Any
    l42: Any
    l43: Any
    d0: Any
    d1: Any
    d2: Any
    d3: Any
    d4: Any
    u01: Any
    u02: Any
    u03: Any
    u04: Any
    u12: Any
    u13: Any
    u14: Any
    u23: Any
    u24: Any
    u34: Any


class Scratch(NamedTuple):
    """What eight lines need beside their cells: flat float64 arrays."""

    upper: np.ndarray  # ((points + 1) · UPPER,): X of every cell, column by column; the first slot: the cell before
    ring: np.ndarray  # (RING,): terms of three cells
    carry: np.ndarray  # (FORWARD,): what one piece of a line hands on to the next


@kernel(inline=True)
def _factors(direction):
    """The factors of one ``direction`` (``Direction``)."""
    h = direction.h
    t1 = direction.dt / (h * h)
    t2 = direction.dt / (2.0 * h)
    k = t1 * C3C4
    k4 = t1 * FOUR_THIRDS * C3C4
    sigma = t1 * C1345
    return Factors(
        t2=spread(t2),
        c1t2=spread(C1 * t2),
        c2t2=spread(C2 * t2),
        c3t2=spread((1.0 - C2) * t2),
        damping=spread(t1 * direction.second),
        k=spread(k),
        k4=spread(k4),
        sigma=spread(sigma),
        kd=spread(k - sigma),
        kd4=spread(k4 - sigma),
        one=spread(1.0 + 2.0 * t1 * direction.second),
    )


@kernel(fastmath=FINITE, inline=True)
def _store_terms(u, here, lines, ring, slot, f):
    """The ``Terms`` of one cell into a slot of the ring; ``f``: ``Factors``."""
    inverse = spread(1.0) / load(u, here + lines.density)
    a = load(u, here + lines.first) * inverse
    b = load(u, here + lines.second) * inverse
    c = load(u, here + lines.along) * inverse
    energy = load(u, here + lines.energy) * inverse
    square = a * a + b * b + c * c
    kinetic = f.c2t2 * (spread(0.5) * square)
    enthalpy = f.c1t2 * energy - kinetic
    diffusion = inverse * (f.kd * square + (f.k4 - f.k) * (c * c) + f.sigma * energy)
    store(ring, slot, (inverse, a, b, c, kinetic, enthalpy, diffusion))


@kernel(fastmath=FINITE, inline=True)
def _below(q, f):
    """Â of the cell with the ``Terms`` q; ``f``: ``Factors``."""
    s = f.k * q.inverse + f.t2 * q.c
    s4 = f.k4 * q.inverse + f.t2 * q.c
    t = f.kd * q.inverse - f.c2t2 * q.c
    return Below(
        a03=f.t2,
        a00=f.damping,
        a34=f.c2t2,
        a10=-(q.a * s),
        a20=-(q.b * s),
        a30=q.kinetic - q.c * s4,
        a40=(q.kinetic - q.enthalpy) * q.c - q.diffusion,
        a11=s + f.damping,
        a31=-(f.c2t2 * q.a),
        a41=q.a * t,
        a32=-(f.c2t2 * q.b),
        a42=q.b * t,
        a13=f.t2 * q.a,
        a23=f.t2 * q.b,
        a33=s4 + f.c3t2 * q.c + f.damping,
        a43=q.enthalpy + q.c * (f.kd4 * q.inverse - f.c2t2 * q.c),
        a44=f.c1t2 * q.c + f.sigma * q.inverse + f.damping,
    )


@kernel(fastmath=FINITE, inline=True)
def _above(q, f):
    """Ĉ of the cell with the ``Terms`` q as five columns, right-hand sides of ``_solve``: the form of Â with −t2."""
    zero = spread(0.0)
    s = f.k * q.inverse - f.t2 * q.c
    s4 = f.k4 * q.inverse - f.t2 * q.c
    t = f.kd * q.inverse + f.c2t2 * q.c
    column_0 = (
        f.damping,
        -(q.a * s),
        -(q.b * s),
        -q.kinetic - q.c * s4,
        (q.enthalpy - q.kinetic) * q.c - q.diffusion,
    )
    column_1 = (zero, s + f.damping, zero, f.c2t2 * q.a, q.a * t)
    column_2 = (zero, zero, s + f.damping, f.c2t2 * q.b, q.b * t)
    column_3 = (
        -f.t2,
        -(f.t2 * q.a),
        -(f.t2 * q.b),
        s4 - f.c3t2 * q.c + f.damping,
        q.c * (f.kd4 * q.inverse + f.c2t2 * q.c) - q.enthalpy,
    )
    column_4 = (zero, zero, zero, -f.c2t2, f.sigma * q.inverse - f.c1t2 * q.c + f.damping)
    return column_0, column_1, column_2, column_3, column_4


@kernel(fastmath=FINITE, inline=True)
def _diagonal(q, f):
    """B of the cell with the ``Terms`` q as five columns."""
    zero = spread(0.0)
    two = spread(2.0)
    v = two * f.k * q.inverse
    v4 = two * f.k4 * q.inverse
    ve = two * f.kd * q.inverse
    return (
        (f.one, -(v * q.a), -(v * q.b), -(v4 * q.c), -(two * q.diffusion)),
        (zero, f.one + v, zero, zero, ve * q.a),
        (zero, zero, f.one + v, zero, ve * q.b),
        (zero, zero, zero, f.one + v4, two * f.kd4 * q.inverse * q.c),
        (zero, zero, zero, zero, f.one + two * f.sigma * q.inverse),
    )


@kernel(fastmath=FINITE, inline=True)
def _minus_product(column, below, x):
    """column − Â·x with ``below``, Â; the last-known entries of x last."""
    x0, x1, x2, x3, x4 = x
    return (
        column[0] - below.a03 * x3 - below.a00 * x0,
        column[1] - below.a13 * x3 - below.a11 * x1 - below.a10 * x0,
        column[2] - below.a23 * x3 - below.a11 * x2 - below.a20 * x0,
        column[3] - below.a34 * x4 - below.a33 * x3 - below.a32 * x2 - below.a31 * x1 - below.a30 * x0,
        column[4] - below.a44 * x4 - below.a43 * x3 - below.a42 * x2 - below.a41 * x1 - below.a40 * x0,
    )


@kernel(inline=True)
def _load_column(upper, x, number):
    """A column of the X that begins at ``x``."""
    return load_as(upper, x + np.uint64(number) * _COLUMN, _FIVE)


@kernel(fastmath=FINITE, inline=True)
def _decompose(diagonal, below, upper, x):
    """The ``Triangles`` of B − Â·X, with B as the columns ``diagonal`` and the X that begins at ``x``."""
    # Each column is multiplied, freed of the columns left of it, and done with: few numbers are alive.  Of each pair of
    # reciprocal pivots the second is m/det of a 2×2 block, m the first pivot, and needs no 1/m.  So two divisions run
    # side by side, and three waits for a division are left of five.  m and l of a new column are entries of B − Â·X
    # until the columns left of them are taken off, under the same names.
    one = spread(1.0)
    m00, l10, l20, l30, l40 = _minus_product(diagonal[0], below, _load_column(upper, x, 0))

    m01, m11, l21, l31, l41 = _minus_product(diagonal[1], below, _load_column(upper, x, 1))
    d1 = m00 / (m11 * m00 - l10 * m01)
    d0 = one / m00
    u01 = m01 * d0
    l21 = l21 - l20 * u01
    l31 = l31 - l30 * u01
    l41 = l41 - l40 * u01

    m02, m12, m22, l32, l42 = _minus_product(diagonal[2], below, _load_column(upper, x, 2))
    u02 = m02 * d0
    u12 = (m12 - l10 * u02) * d1
    m22 = m22 - l20 * u02 - l21 * u12
    l32 = l32 - l30 * u02 - l31 * u12
    l42 = l42 - l40 * u02 - l41 * u12

    m03, m13, m23, m33, l43 = _minus_product(diagonal[3], below, _load_column(upper, x, 3))
    u03 = m03 * d0
    u13 = (m13 - l10 * u03) * d1
    m23 = m23 - l20 * u03 - l21 * u13
    d3 = m22 / ((m33 - l30 * u03 - l31 * u13) * m22 - l32 * m23)
    d2 = one / m22
    u23 = m23 * d2
    l43 = l43 - l40 * u03 - l41 * u13 - l42 * u23

    m04, m14, m24, m34, m44 = _minus_product(diagonal[4], below, _load_column(upper, x, 4))
    u04 = m04 * d0
    u14 = (m14 - l10 * u04) * d1
    u24 = (m24 - l20 * u04 - l21 * u14) * d2
    u34 = (m34 - l30 * u04 - l31 * u14 - l32 * u24) * d3
    d4 = one / (m44 - l40 * u04 - l41 * u14 - l42 * u24 - l43 * u34)
    lower = l10, l20, l30, l40, l21, l31, l41, l32, l42, l43
    return Triangles(*lower, d0, d1, d2, d3, d4, u01, u02, u03, u04, u12, u13, u14, u23, u24, u34)


@kernel(fastmath=FINITE, inline=True)
def _solve(column, t):
    """(L·U)⁻¹ column with the ``Triangles`` t; the compiler drops what a zero at the top of the column makes zero."""
    v0, v1, v2, v3, v4 = column
    v0 = v0 * t.d0
    v1 = (v1 - t.l10 * v0) * t.d1
    v2 = (v2 - t.l20 * v0 - t.l21 * v1) * t.d2
    v3 = (v3 - t.l30 * v0 - t.l31 * v1 - t.l32 * v2) * t.d3
    v4 = (v4 - t.l40 * v0 - t.l41 * v1 - t.l42 * v2 - t.l43 * v3) * t.d4
    v3 = v3 - t.u34 * v4
    v2 = v2 - t.u24 * v4 - t.u23 * v3
    v1 = v1 - t.u14 * v4 - t.u13 * v3 - t.u12 * v2
    v0 = v0 - t.u04 * v4 - t.u03 * v3 - t.u02 * v2 - t.u01 * v1
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
def eliminate(u, r, lines, direction, ends, scratch):
    """Forward elimination on the inner cells of eight lines, or of the piece of them that this box has (``ranks``).

    ``u``: conserved variables, in the benchmark's unit; ``r``: dt times the right-hand side, which becomes y;
    ``direction`` (``Direction``), whose ``weights`` are not used; ``ends`` (``Ends``).  Of the ``scratch``
    (``Scratch``) ``upper`` receives X of every cell; ``carry`` has X and y of the cell before the first inner one, zero
    at a boundary, and receives those of the last.
    """
    upper, ring, carry = scratch
    f = _factors(direction)
    cell = lines.cell
    begin, stop = inner(lines.points, ends)
    x = begin * _UPPER
    for entry in range(_ENTRIES):
        store(upper, x + entry * _V, load(carry, entry * _V))
    y = load_as(carry, _UPPER, _FIVE)
    # A block needs three cells' terms, each of which is worked out once: the ring's slots take turns.
    behind = _ZERO
    middle = _SLOT
    front = _SLOT + _SLOT
    first = lines.at + begin * cell
    _store_terms(u, first - cell, lines, ring, behind, f)
    _store_terms(u, first, lines, ring, middle, f)
    for n in range(begin, stop):
        here = lines.at + n * cell
        _store_terms(u, here + cell, lines, ring, front, f)
        # u and r of the same cell of the lines that come next, so that they are in a cache by then
        if lines.ahead != _ZERO:
            for offset in (lines.density, lines.first, lines.second, lines.along, lines.energy):
                prefetch(u, here + lines.ahead + offset)
                prefetch(r, here + lines.ahead + offset)
        before = x
        x = x + _UPPER
        below = _below(Terms(*load_as(ring, behind, _SEVEN)), f)
        triangles = _decompose(_diagonal(Terms(*load_as(ring, middle, _SEVEN)), f), below, upper, before)
        columns = _above(Terms(*load_as(ring, front, _SEVEN)), f)
        store(upper, x, _solve(columns[0], triangles))
        store(upper, x + _COLUMN, _solve(columns[1], triangles))
        store(upper, x + np.uint64(2) * _COLUMN, _solve(columns[2], triangles))
        store(upper, x + np.uint64(3) * _COLUMN, _solve(columns[3], triangles))
        store(upper, x + np.uint64(4) * _COLUMN, _solve(columns[4], triangles))
        right = _load_cell(r, here, lines)
        # r + Â·y(n − 1), as r − Â·(−y)
        y = _solve(_minus_product(right, below, (-y[0], -y[1], -y[2], -y[3], -y[4])), triangles)
        _store_cell(r, here, lines, y)
        oldest = behind
        behind = middle
        middle = front
        front = oldest
    for entry in range(_ENTRIES):
        store(carry, entry * _V, load(upper, x + entry * _V))
    store(carry, _UPPER, y)


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
    delta = load_as(carry, _ZERO, _FIVE)  # Δ(n + 1)
    for step in range(_ONE, stop - begin + _ONE):  # n downwards; unsigned, it must not pass zero
        n = stop - step
        here = lines.at + n * lines.cell
        x = (n + _ONE) * _UPPER
        total = _load_cell(r, here, lines)  # y(n), to which X(n)·Δ(n + 1) is added
        total = _add_scaled(total, _load_column(upper, x, 4), delta[4])
        total = _add_scaled(total, _load_column(upper, x, 3), delta[3])
        total = _add_scaled(total, _load_column(upper, x, 2), delta[2])
        total = _add_scaled(total, _load_column(upper, x, 1), delta[1])
        delta = _add_scaled(total, _load_column(upper, x, 0), delta[0])
        _store_cell(r, here, lines, delta)
    store(carry, _ZERO, delta)


@kernel(inline=True)
def solve(u, r, lines, direction, ends, scratch):
    """``eliminate`` and ``substitute`` on eight whole lines, whose ends are boundaries; arguments as for the former."""
    scratch.carry[:FORWARD] = 0.0
    eliminate(u, r, lines, direction, ends, scratch)
    scratch.carry[:BACKWARD] = 0.0
    substitute(r, lines, ends, scratch.upper, scratch.carry)
