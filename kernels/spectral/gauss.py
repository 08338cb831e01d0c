"""Gaussian latitudes and weights to the last bit of double precision.

The nodes are the roots of the Legendre polynomial ``P_n``.  Start values come from an asymptotic
formula (error O(n⁻⁴)); Newton steps then evaluate ``P_n`` and its derivative by the three-term
recurrence in double-double arithmetic (about 31 digits), because plain doubles leave relative errors
near ``n² ε`` in the weights next to the poles.

Sources: F. Tricomi, Ann. Mat. Pura Appl. 31, 93 (1950), for the start; T. J. Dekker, Numer. Math. 18,
224 (1971), for the arithmetic.
"""

import functools

import numpy as np

from kernels.runtime.jit import kernel
from kernels.runtime.vector import fma

STEPS = 3  # next to the poles the start is good to 1e-5 only; each step squares the relative error


@kernel(inline=True)
def two_sum(a, b):
    """``a + b`` and its rounding error, float64."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@kernel(inline=True)
def dd_add(a, al, b, bl):
    """Sum of the double-doubles ``a + al`` and ``b + bl``."""
    s, e = two_sum(a, b)
    e += al + bl
    h = s + e
    return h, e - (h - s)


@kernel(inline=True)
def dd_mul(a, al, b, bl):
    """Product of the double-doubles ``a + al`` and ``b + bl``."""
    p = a * b
    e = fma(a, b, -p)
    e = fma(a, bl, fma(al, b, e))
    h = p + e
    return h, e - (h - p)


@kernel(inline=True)
def dd_div(a, al, b, bl):
    """Quotient of the double-doubles ``a + al`` and ``b + bl``."""
    q = a / b
    r, rl = dd_mul(q, 0.0, b, bl)
    d, dl = dd_add(a, al, -r, -rl)
    q2 = (d + dl) / b
    h = q + q2
    return h, q2 - (h - q)


@kernel
def _legendre(n, x, xl, p, pl, q, ql):
    """``p = P_n(x)`` and ``q = P_{n-1}(x)`` for every node, all in double-double: low parts are ``xl``, ``pl`` and
    ``ql``."""
    for j in range(x.size):
        p[j] = x[j]
        pl[j] = xl[j]
        q[j] = 1.0
        ql[j] = 0.0
    for k in range(2, n + 1):
        c, cl = dd_div(float(k - 1), 0.0, float(k), 0.0)
        for j in range(x.size):
            t, tl = dd_mul(x[j], xl[j], p[j], pl[j])
            d, dl = dd_add(t, tl, -q[j], -ql[j])
            d, dl = dd_mul(c, cl, d, dl)
            d, dl = dd_add(t, tl, d, dl)
            q[j] = p[j]
            ql[j] = pl[j]
            p[j] = d
            pl[j] = dl


@kernel
def _nodes(n, steps, x, xl, s, sl, w):
    """Polish the nodes ``x`` of ``P_n`` by so many Newton ``steps``; give ``s = sqrt(1 - x²)`` and the weights ``w`` as
    well.

    ``n`` is even; ``xl`` and ``sl`` are the low parts of ``x`` and ``s``; arrays are float64 (n/2,).
    """
    size = x.size
    p, pl, q, ql = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    for step in range(steps + 1):
        _legendre(n, x, xl, p, pl, q, ql)
        for j in range(size):
            # cos² = (1 - x)(1 + x) and g = (1 - x²) P_n' = n (P_{n-1} - x P_n)
            a, al = dd_add(1.0, 0.0, -x[j], -xl[j])
            b, bl = dd_add(1.0, 0.0, x[j], xl[j])
            c, cl = dd_mul(a, al, b, bl)
            t, tl = dd_mul(x[j], xl[j], p[j], pl[j])
            g, gl = dd_add(q[j], ql[j], -t, -tl)
            g, gl = dd_mul(g, gl, float(n), 0.0)
            if step < steps:
                d, dl = dd_mul(p[j], pl[j], c, cl)
                d, dl = dd_div(d, dl, g, gl)
                x[j], xl[j] = dd_add(x[j], xl[j], -d, -dl)
            else:
                r = np.sqrt(c)
                t, tl = dd_mul(r, 0.0, r, 0.0)
                d, dl = dd_add(c, cl, -t, -tl)
                s[j], sl[j] = two_sum(r, d / (2.0 * r))
                # w = 2 / ((1 - x²) P_n'²) = 2 (1 - x²) / g²
                g, gl = dd_mul(g, gl, g, gl)
                c, cl = dd_div(2.0 * c, 2.0 * cl, g, gl)
                w[j] = c


@functools.lru_cache(maxsize=8)
def half_nodes(n: int):
    """Nodes of ``P_n`` (``n`` even) in the northern hemisphere, pole to equator.

    Returns
    -------
    mu, mu_low, cosine, cosine_low, weight : float64 arrays of n/2
        ``mu + mu_low`` is the sine of latitude and ``cosine + cosine_low`` its cosine, each to about
        31 digits; the weights of both hemispheres add up to 2.
    """
    k = np.arange(1, n // 2 + 1)
    theta = np.pi * (4 * k - 1) / (4 * n + 2)
    shrink = 1 - (n - 1) / (8 * n**3) - (39 - 28 / np.sin(theta) ** 2) / (384 * n**4)
    mu = shrink * np.cos(theta)
    low, cosine, cosine_low, weight = (np.zeros_like(mu) for _ in range(4))
    _nodes(n, STEPS + (n < 12), mu, low, cosine, cosine_low, weight)
    arrays = mu, low, cosine, cosine_low, weight
    for array in arrays:
        array.flags.writeable = False
    return arrays


def gaussian(n: int):
    """Nodes (sine of latitude, north to south) and weights of the ``n``-point Gauss–Legendre rule.

    ``n`` is even; weights add up to 2; the rule is exact for polynomials of degree ``2n - 1``.
    """
    mu, _, _, _, weight = half_nodes(n)
    return np.concatenate([mu, -mu[::-1]]), np.concatenate([weight, weight[::-1]])
