"""Gaussian grids: full, classic reduced and octahedral, with latitudes and weights to the last bit of a double.

The nodes are the roots of the Legendre polynomial ``P_n``.  Start values come from an asymptotic
formula (error O(n⁻⁴)); Newton steps then evaluate ``P_n`` and its derivative by the three-term
recurrence in double-double arithmetic (about 31 digits), because plain doubles leave relative errors
near ``n² ε`` in the weights next to the poles.

Sources: F. Tricomi, Ann. Mat. Pura Appl. 31, 93 (1950), for the start; T. J. Dekker, Numer. Math. 18,
224 (1971), for the arithmetic.
"""

import functools
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from supercomputers_rerun.kernels.contract import require_range
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.vector import fma

#: Largest number of latitudes between pole and equator that a grid may have.
LARGEST = 8000
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


@functools.cache
def classic_rows() -> dict[int, tuple[int, ...]]:
    """Row lengths from pole to equator of every classic reduced grid, by number of rows."""
    text = (Path(__file__).parent / "classic_rows.txt").read_text()
    words = " ".join(line for line in text.splitlines() if not line.startswith("#")).split()
    rows: dict[int, list[int]] = {}
    for word in words:
        if word.startswith("N"):
            current = rows[int(word[1:])] = []
        else:
            length, _, count = word.partition("*")
            current += [int(length)] * int(count or 1)
    return {n: tuple(lengths) for n, lengths in rows.items()}


@dataclass(frozen=True)
class Grid:
    """A Gaussian grid with ``2N`` rows from north to south, each starting at longitude 0.

    Points are numbered along the rows, north to south; a row of ``n`` points has longitudes
    ``2π i / n``.  Made by :func:`grid` alone.
    """

    name: str  # as asked for: "N640", "O1280", "F400"
    N: int  # rows between pole and equator
    latitudes: np.ndarray = field(repr=False)  # degrees, 2N, north to south
    weights: np.ndarray = field(repr=False)  # Gaussian weights, 2N, sum 2
    pl: np.ndarray = field(repr=False)  # points on each row, int64, 2N, as many north as south of the equator

    def __repr__(self) -> str:
        kind = "full" if self.full else "reduced"
        lengths = f"{self.pl[0]} to {self.pl.max()}" if kind == "reduced" else self.pl[0]
        return f"Grid {self.name}: {kind}, {2 * self.N} rows of {lengths} points, {self.points} in all"

    @functools.cached_property
    def points(self) -> int:
        """Number of grid points."""
        return int(self.pl.sum())

    @property
    def full(self) -> bool:
        """Whether all rows have the same length."""
        return bool((self.pl == self.pl[0]).all())

    @functools.cached_property
    def starts(self) -> np.ndarray:
        """Index of the first point of each row, int64, 2N."""
        return np.concatenate([[0], np.cumsum(self.pl)[:-1]]).astype(np.int64)

    @property
    def shares(self) -> np.ndarray:
        """Share of the sphere of every point, float64 of ``points``; their sum is one."""
        return np.repeat(self.weights / (2.0 * self.pl), self.pl)

    def longitudes(self, row: int) -> np.ndarray:
        """Longitudes of one row, degrees."""
        n = int(self.pl[row])
        return 360.0 * np.arange(n) / n

    def coordinates(self) -> tuple[np.ndarray, np.ndarray]:
        """Latitude and longitude of every point, radians, each float64 of ``points``."""
        mu = np.repeat(np.radians(self.latitudes), self.pl)
        index = np.arange(self.points) - np.repeat(self.starts, self.pl)
        return mu, 2 * np.pi * index / np.repeat(self.pl, self.pl)


def _lengths(name: str) -> tuple[int, tuple[int, ...]]:
    found = re.fullmatch(r"([FNO])([1-9][0-9]*)", name) if isinstance(name, str) else None
    if not found:
        raise ValueError(
            f"grid name {name!r} is unknown; use F, N or O and the number of rows between pole and "
            "equator, as in 'F400', 'N640', 'O1280'"
        )
    kind, n = found[1], int(found[2])
    require_range("rows between pole and equator", n, 1, LARGEST)
    if kind == "F":
        return n, (4 * n,) * n
    if kind == "O":
        return n, tuple(4 * i + 20 for i in range(n))
    rows = classic_rows()
    if n not in rows:
        known = ", ".join(f"N{k}" for k in rows)
        raise ValueError(
            f"grid name {name!r}: the rows of this classic reduced grid are not in the table; choose "
            f"one of {known}, or an octahedral (O{n}) or full (F{n}) grid"
        )
    return n, rows[n]


@functools.lru_cache(maxsize=16)
def grid(name: str) -> Grid:
    """The named Gaussian grid.

    >>> grid("N32")
    Grid N32: reduced, 64 rows of 20 to 128 points, 6114 in all

    ``"F400"`` has ``4N`` points on each of its ``2N`` rows; ``"O1280"`` has ``20 + 4i`` points on the
    i-th row from a pole (``4N(N + 9)`` in all); ``"N640"`` is a classic reduced grid, whose row
    lengths are data (``classic_rows.txt``).
    ``ValueError`` if the name is not a letter F, N or O with a number, or the classic grid is not tabulated.
    """
    n, half = _lengths(name)
    mu, _, cosine, _, weight = half_nodes(2 * n)
    north = np.degrees(np.arctan2(mu, cosine))
    latitudes, weights = np.concatenate([north, -north[::-1]]), np.concatenate([weight, weight[::-1]])
    arrays = latitudes, weights, np.array(half + half[::-1], dtype=np.int64)
    for array in arrays:
        array.flags.writeable = False  # nobody changes a grid on which a plan has been made
    return Grid(name, n, *arrays)
