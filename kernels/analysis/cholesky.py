"""Cholesky factors of small matrices, eight rows at a time, with what is solved for as further rows.

``a`` holds a symmetric positive definite matrix A by columns: a[j, i] is A_ij for i ≥ j, float64 (n, width), n and
width multiples of eight.  ``factor`` puts L with A = L Lᵀ in its place.  Columns from n on belong to right-hand
sides: a[j, n + c] = C_jc becomes (L⁻¹ C)_jc, because [A C; Cᵀ ·] is factored like any other matrix.  So

    Cᵀ A⁻¹ d = (L⁻¹ C)ᵀ (L⁻¹ d),      (A⁻¹)_ii = Σ_k (L⁻¹)_ki²

come without a substitution backwards.  Eight columns are finished at a time; tiles of 24 × 8 numbers stay in
registers while all earlier columns are taken from them.

In the compiled functions ``a`` is the matrix or its address, ``ld`` the distance of its columns in doubles, ``j`` the
first of eight columns, ``r`` the first of eight rows, ``first`` the first column that takes from them, ``x`` eight
vectors, a column each, and ``o`` the place of the first of them.
"""

import math

from kernels.runtime.jit import CONTRACT, REDUCE, kernel
from kernels.runtime.vector import LANES, address, at, fnma, load, put, store


@kernel(inline=True)
def _three(a, ld, j, r, first):
    """Rows r to r + 23 of columns j to j + 7, less what columns ``first`` to j − 1 take from them."""
    o = j * ld + r
    p0, q0, s0 = load(a, o), load(a, o + 8), load(a, o + 16)
    p1, q1, s1 = load(a, o + ld), load(a, o + ld + 8), load(a, o + ld + 16)
    p2, q2, s2 = load(a, o + 2 * ld), load(a, o + 2 * ld + 8), load(a, o + 2 * ld + 16)
    p3, q3, s3 = load(a, o + 3 * ld), load(a, o + 3 * ld + 8), load(a, o + 3 * ld + 16)
    p4, q4, s4 = load(a, o + 4 * ld), load(a, o + 4 * ld + 8), load(a, o + 4 * ld + 16)
    p5, q5, s5 = load(a, o + 5 * ld), load(a, o + 5 * ld + 8), load(a, o + 5 * ld + 16)
    p6, q6, s6 = load(a, o + 6 * ld), load(a, o + 6 * ld + 8), load(a, o + 6 * ld + 16)
    p7, q7, s7 = load(a, o + 7 * ld), load(a, o + 7 * ld + 8), load(a, o + 7 * ld + 16)
    for k in range(first, j):
        b, x = k * ld + j, k * ld + r
        u, v, w = load(a, x), load(a, x + 8), load(a, x + 16)
        f = at(a, b)
        p0, q0, s0 = fnma(f, u, p0), fnma(f, v, q0), fnma(f, w, s0)
        f = at(a, b + 1)
        p1, q1, s1 = fnma(f, u, p1), fnma(f, v, q1), fnma(f, w, s1)
        f = at(a, b + 2)
        p2, q2, s2 = fnma(f, u, p2), fnma(f, v, q2), fnma(f, w, s2)
        f = at(a, b + 3)
        p3, q3, s3 = fnma(f, u, p3), fnma(f, v, q3), fnma(f, w, s3)
        f = at(a, b + 4)
        p4, q4, s4 = fnma(f, u, p4), fnma(f, v, q4), fnma(f, w, s4)
        f = at(a, b + 5)
        p5, q5, s5 = fnma(f, u, p5), fnma(f, v, q5), fnma(f, w, s5)
        f = at(a, b + 6)
        p6, q6, s6 = fnma(f, u, p6), fnma(f, v, q6), fnma(f, w, s6)
        f = at(a, b + 7)
        p7, q7, s7 = fnma(f, u, p7), fnma(f, v, q7), fnma(f, w, s7)
    _finish(a, ld, j, r, (p0, p1, p2, p3, p4, p5, p6, p7))
    _finish(a, ld, j, r + 8, (q0, q1, q2, q3, q4, q5, q6, q7))
    _finish(a, ld, j, r + 16, (s0, s1, s2, s3, s4, s5, s6, s7))


@kernel(inline=True)
def _reduced(a, ld, j, r, first):
    """Eight rows as ``_three`` leaves them before they are divided."""
    o = j * ld + r
    p0, p1, p2, p3 = load(a, o), load(a, o + ld), load(a, o + 2 * ld), load(a, o + 3 * ld)
    p4, p5, p6, p7 = load(a, o + 4 * ld), load(a, o + 5 * ld), load(a, o + 6 * ld), load(a, o + 7 * ld)
    for k in range(first, j):
        b, u = k * ld + j, load(a, k * ld + r)
        p0, p1 = fnma(at(a, b), u, p0), fnma(at(a, b + 1), u, p1)
        p2, p3 = fnma(at(a, b + 2), u, p2), fnma(at(a, b + 3), u, p3)
        p4, p5 = fnma(at(a, b + 4), u, p4), fnma(at(a, b + 5), u, p5)
        p6, p7 = fnma(at(a, b + 6), u, p6), fnma(at(a, b + 7), u, p7)
    return p0, p1, p2, p3, p4, p5, p6, p7


@kernel(inline=True)
def _finish(a, ld, j, r, x):
    """Divide eight rows by the diagonal block, whose diagonal holds reciprocals here, and store them."""
    x0, x1, x2, x3, x4, x5, x6, x7 = x
    d = j * ld + j  # a[j + c, j + e] is L_ec of the block
    x0 = x0 * at(a, d)
    x1, x2, x3 = fnma(at(a, d + 1), x0, x1), fnma(at(a, d + 2), x0, x2), fnma(at(a, d + 3), x0, x3)
    x4, x5 = fnma(at(a, d + 4), x0, x4), fnma(at(a, d + 5), x0, x5)
    x6, x7 = fnma(at(a, d + 6), x0, x6), fnma(at(a, d + 7), x0, x7)
    d += ld
    x1 = x1 * at(a, d + 1)
    x2, x3, x4 = fnma(at(a, d + 2), x1, x2), fnma(at(a, d + 3), x1, x3), fnma(at(a, d + 4), x1, x4)
    x5, x6, x7 = fnma(at(a, d + 5), x1, x5), fnma(at(a, d + 6), x1, x6), fnma(at(a, d + 7), x1, x7)
    d += ld
    x2 = x2 * at(a, d + 2)
    x3, x4, x5 = fnma(at(a, d + 3), x2, x3), fnma(at(a, d + 4), x2, x4), fnma(at(a, d + 5), x2, x5)
    x6, x7 = fnma(at(a, d + 6), x2, x6), fnma(at(a, d + 7), x2, x7)
    d += ld
    x3 = x3 * at(a, d + 3)
    x4, x5 = fnma(at(a, d + 4), x3, x4), fnma(at(a, d + 5), x3, x5)
    x6, x7 = fnma(at(a, d + 6), x3, x6), fnma(at(a, d + 7), x3, x7)
    d += ld
    x4 = x4 * at(a, d + 4)
    x5, x6, x7 = fnma(at(a, d + 5), x4, x5), fnma(at(a, d + 6), x4, x6), fnma(at(a, d + 7), x4, x7)
    d += ld
    x5 = x5 * at(a, d + 5)
    x6, x7 = fnma(at(a, d + 6), x5, x6), fnma(at(a, d + 7), x5, x7)
    d += ld
    x6 = x6 * at(a, d + 6)
    x7 = fnma(at(a, d + 7), x6, x7) * at(a, d + ld + 7)
    _store8(a, ld, j * ld + r, (x0, x1, x2, x3, x4, x5, x6, x7))


@kernel(inline=True)
def _store8(a, ld, o, x):
    """Store eight vectors, a column each."""
    store(a, o, x[0])
    store(a, o + ld, x[1])
    store(a, o + 2 * ld, x[2])
    store(a, o + 3 * ld, x[3])
    store(a, o + 4 * ld, x[4])
    store(a, o + 5 * ld, x[5])
    store(a, o + 6 * ld, x[6])
    store(a, o + 7 * ld, x[7])


@kernel(inline=True)
def _diagonal(a, ld, j):
    """Factor the block of columns j to j + 7; its diagonal becomes reciprocals.  False where A is not definite."""
    _store8(a, ld, j * ld + j, _reduced(a, ld, j, j, 0))
    for c in range(LANES):
        o = (j + c) * ld + j
        square = at(a, o + c)
        if not square > 0.0:
            return False
        reciprocal = 1.0 / math.sqrt(square)
        column = load(a, o) * reciprocal
        store(a, o, column)
        for e in range(c + 1, LANES):
            below = (j + e) * ld + j
            store(a, below, fnma(at(a, o + e), column, load(a, below)))
        put(a, o + c, reciprocal)
    return True


@kernel(fastmath=CONTRACT)
def factor(a, width, identity):
    """Factor ``a``, float64 (n, ld), in place; its diagonal becomes 1/L_jj.  False, and an unfinished ``a``, where A is
    not positive definite.

    What lies above the diagonal of A is not read.  ``width``: columns in use, those of right-hand sides included, at
    most ld.  ``identity``: first column of a right-hand side that is the identity, whose zeros are then skipped; n or
    more, ``width`` or more for none.  Both are multiples of eight.
    """
    n, ld = a.shape
    p = address(a)
    for j in range(0, n, LANES):
        if not _diagonal(p, ld, j):
            return False
        plain = min(width, identity)
        end = min(width, max(plain, identity + j + LANES))
        r = j + LANES
        while r < end:
            first = max(0, r - identity)
            if r + 3 * LANES <= end:
                _three(p, ld, j, r, first)
                r += 3 * LANES
            else:
                _finish(p, ld, j, r, _reduced(p, ld, j, r, first))
                r += LANES
    return True


@kernel(fastmath=REDUCE)
def backwards(a, n, column, x):
    """x = L⁻ᵀ z with z = L⁻¹ d in column ``column`` of what ``factor`` made of ``a``: A x = d for the first ``n``.

    ``x`` is float64 (at least n,) and overwritten.
    """
    for j in range(n - 1, -1, -1):
        left = a[j, column]
        for i in range(j + 1, n):
            left -= a[j, i] * x[i]
        x[j] = left * a[j, j]
