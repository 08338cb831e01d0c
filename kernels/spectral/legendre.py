"""Associated Legendre functions by Ishioka's recurrence, and where each starts to matter.

With ``P_n^m`` normalised to unit mean square over the sphere (``½ ∫ P² dμ = 1``, no Condon–Shortley
sign) and ``ε_n = sqrt((n² - m²) / (4n² - 1))``, the functions

    q_l = P_{m+2l+1}^m / μ

serve both parities: ``P_{m+2l+1} = μ q_l`` and ``P_{m+2l} = ε_{m+2l+1} q_l + ε_{m+2l} q_{l-1}``.
Scaled as ``q_l = c_l p_l`` they obey ``p_{l+1} = (a_l μ² + b_l) p_l - p_{l-1}``: two fused
multiply-adds for two degrees.

``p_l`` underflows near the poles.  For every wavenumber the plan stores the first ``ell`` at which ``|q_l|`` exceeds
``TINY`` at a latitude, or at one to the north of it in its block, and two values to start from for every block of 24
latitudes (eight fields) and every vector of eight (one field), so that the transforms need no rescaling.

Source: K. Ishioka, J. Meteor. Soc. Japan 96, 241 (2018).
"""

import numpy as np

from supercomputers_rerun.kernels.contract import ceil_div
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.vector import LANES
from supercomputers_rerun.kernels.spectral.functions import BLOCK, VECTORS, LegendreTables
from supercomputers_rerun.kernels.spectral.grids import Grid, dd_div, dd_mul, half_nodes

TINY = 1e-20  # what |q_l| must exceed to be summed
_FLUSH = 1e-280  # seeds below this are zero, which keeps subnormal numbers out of the hot loops
_UP, _DOWN = 2.0**256, 2.0**-256


def position(m, n, truncation: int):
    """Where the coefficients of wavenumber ``m`` and degree ``n`` stand in a spectrum, elementwise."""
    return m * (truncation + 1) - m * (m - 1) // 2 + n - m


def epsilon(n, m):
    """``ε_n^m = sqrt((n² - m²) / (4n² - 1))``, elementwise; zero for ``n <= m``."""
    n, m = np.asarray(n, dtype=np.float64), np.asarray(m, dtype=np.float64)
    return np.sqrt(np.maximum(n * n - m * m, 0.0) / np.maximum(4.0 * n * n - 1.0, 1.0))


@kernel(inline=True)
def _eps(n, m):
    """``ε_n`` of wavenumber ``m``, for ``n`` from m on."""
    return np.sqrt((n - m) * (n + m) / (4.0 * n * n - 1.0))


@kernel
def coefficients(top, offset, factors):
    """Recurrence and combination coefficients of wavenumbers 0 … ``top``, degrees up to ``top + 1``.

    For ``ell`` of wavenumber ``m`` at ``offset[m] + ell`` (``offset`` int64, (top + 1,)) of the rows of
    ``factors`` (float64, (5, terms)): a, b of the recurrence, and of the combinations
    even = ``c_l ε_{m+2l+1}``, carry = ``c_l ε_{m+2l+2}``, odd = ``c_l``.
    """
    a, b, even, carry, odd = factors[0], factors[1], factors[2], factors[3], factors[4]
    for m in range(top + 1):
        kappa = 0.25
        c = np.sqrt(kappa / (_eps(m + 1.0, m) * _eps(m + 2.0, m)))
        for ell in range((top + 1 - m) // 2 + 1):
            k = offset[m] + ell
            n = float(m + 2 * ell + 1)
            e0, e1, e2 = _eps(n, m), _eps(n + 1, m), _eps(n + 2, m)
            a[k] = c * c / kappa
            b[k] = -a[k] * (e0 * e0 + e1 * e1)
            odd[k] = c
            even[k] = c * e0
            carry[k] = c * e1
            c = kappa / (c * e1 * e2)


@kernel
def _ratio_root(m):
    """``sqrt((2m + 1) / 2m)`` in double-double, for a float ``m``."""
    h, hl = dd_div(2.0 * m + 1.0, 0.0, 2.0 * m, 0.0)
    r = np.sqrt(h)
    t, tl = dd_mul(r, 0.0, r, 0.0)
    return r, ((h - t) + (hl - tl)) / (2.0 * r)


@kernel
def _keep(q, p, scale, low, high, seeds):
    """Latitudes ``low`` to ``high`` − 1 of ``q`` · 2^(256 ``scale``), then of ``p``, as ``seeds``."""
    for j in range(low, high):
        u, v = q[j], p[j]
        for _ in range(min(5, -scale[j])):
            u *= _DOWN
            v *= _DOWN
        seeds[j - low] = u if abs(u) > _FLUSH else 0.0
        seeds[high - low + j - low] = v if abs(v) > _FLUSH else 0.0


@kernel
def _seed_block(tables, m, block, p, scale):
    """Run the recurrence of wavenumber ``m`` until all of a ``block`` matters, or ell ends; its ``first``, which has
    the number of ells, ``seeds`` and ``vector_seeds`` into ``tables`` (``LegendreTables``).

    ``p`` · 2^(256 ``scale``), (size,): p_0 of each latitude.
    """
    size = p.size
    q, p, k = np.zeros(size), p.copy(), scale.copy()
    term = tables.offset[m]
    a, b, c = tables.factors[0, term:], tables.factors[1, term:], tables.factors[4, term:]
    x = tables.squares[size * block : size * (block + 1)]
    first = tables.first[m, size * block : size * (block + 1)]
    never = first[0]
    north = size  # latitudes before this one do not matter yet
    for ell in range(never):
        begun = north < size
        for j in range(north):
            if k[j] == 0 and abs(p[j]) * c[ell] > TINY:
                first[j:north] = ell
                for vector in range(VECTORS):
                    end = LANES * (vector + 1)
                    if j < end <= north:
                        _keep(q, p, k, end - LANES, end, tables.vector_seeds[m, VECTORS * block + vector])
                north = j
                break
        if north < size and not begun:
            _keep(q, p, k, 0, size, tables.seeds[m, block])
        if north == 0:
            break
        for j in range(north):
            new = (a[ell] * x[j] + b[ell]) * p[j] - q[j]
            old = p[j]
            shrink = abs(new) > 2.0**128
            q[j] = old * _DOWN if shrink else old
            p[j] = new * _DOWN if shrink else new
            k[j] += 1 if shrink else 0


@kernel(inline=True)
def _next_sectoral(m, cosine, cosine_low, hi, lo, exponent):
    """``P_m^m = sqrt((2m + 1) / 2m) cos φ P_{m-1}^{m-1}``, in double-double: its error grows with ``m``.

    ``cosine + cosine_low`` is cos φ; (``hi + lo``) · 2^(256 ``exponent``) is replaced.  All are (rows,).
    """
    r, rl = _ratio_root(float(m))
    for j in range(cosine.size):
        g, gl = dd_mul(cosine[j], cosine_low[j], r, rl)
        hi[j], lo[j] = dd_mul(hi[j], lo[j], g, gl)
        if hi[j] < 2.0**-128 and hi[j] > 0.0:
            hi[j] *= _UP
            lo[j] *= _UP
            exponent[j] -= 1


@kernel
def _plan_seeds(tables, cosine, cosine_low):
    """Write the first ``ell`` of every latitude and the seeds of every block and vector, for every wavenumber, into
    ``tables`` (``LegendreTables``).

    ``cosine + cosine_low`` (float64, (rows,), padded to whole blocks with 0) is cos φ.  A block none of whose
    rows carries the wavenumber never begins.
    """
    rows, size = cosine.size, tables.seeds.shape[2] // 2
    hi, lo = np.empty(rows), np.zeros(rows)
    for j in range(rows):  # np.where brings SciPy's linear algebra from the cache: half a second of a first call
        hi[j] = 1.0 if cosine[j] > 0.0 else 0.0
    exponent = np.zeros(rows, dtype=np.int64)
    start = np.empty(rows)
    top = tables.offset.size - 1
    for m in range(top + 1):
        if m:
            _next_sectoral(m, cosine, cosine_low, hi, lo, exponent)
        count = (top + 1 - m) // 2 + 1
        divisor = tables.factors[4, tables.offset[m]] * _eps(m + 1.0, m)
        for j in range(rows):
            start[j] = hi[j] / divisor
        for block in range(rows // size):
            j = block * size
            here = slice(j, j + size)
            tables.first[m, here] = count
            if j + size > tables.first_row[m]:
                _seed_block(tables, m, block, start[here], exponent[here])


def _terms_of(truncation: int) -> np.ndarray:
    """Values of ell of each wavenumber 0 … T, with degrees up to T + 1; int64[T + 1]."""
    return (truncation + 1 - np.arange(truncation + 1)) // 2 + 1


def blocks_of(grid: Grid) -> int:
    """Blocks of latitudes from pole to equator, the last one padded."""
    return ceil_div(grid.N, BLOCK)


def table_bytes(truncation: int, rows: int) -> int:
    """Bytes of the tables of a plan with so many rows between pole and equator."""
    latitudes = ceil_div(rows, BLOCK) * BLOCK
    return 8 * 5 * int(_terms_of(truncation).sum()) + (truncation + 1) * latitudes * (4 * 8 + 2)


def legendre_tables(grid: Grid, truncation: int) -> tuple[LegendreTables, np.ndarray]:
    """LegendreTables, and the number of wavenumbers that each northern latitude carries, int64[N].

    A row of L points carries wavenumbers up to ``(L - 1) // 2``, without those that never exceed ``TINY`` there.
    """
    T, blocks = truncation, blocks_of(grid)
    count = _terms_of(T)
    offset = np.concatenate([[0], np.cumsum(count)[:-1]]).astype(np.int64)
    factors = np.zeros((5, int(count.sum())))
    coefficients(T, offset, factors)
    mu, low, cosine, cosine_low, _ = half_nodes(2 * grid.N)
    pad = blocks * BLOCK - grid.N
    capped = np.minimum(T, (grid.pl[: grid.N] - 1) // 2) + 1
    tables = LegendreTables(
        factors,
        offset,
        np.pad(mu * mu + 2 * mu * low, (0, pad)),
        grid.N,
        _first_rows(capped, T),
        np.zeros((T + 1, BLOCK * blocks), dtype=np.int16),
        np.zeros((T + 1, blocks, 2 * BLOCK)),
        np.zeros((T + 1, VECTORS * blocks, 2 * LANES)),
    )
    _plan_seeds(tables, np.pad(cosine, (0, pad)), np.pad(cosine_low, (0, pad)))
    matters = tables.first[:, : grid.N] < count[:, None]
    alive = np.maximum.accumulate(T + 1 - matters[::-1].argmax(axis=0))
    counts = np.minimum(capped, alive).astype(np.int64)
    return tables._replace(first_row=_first_rows(counts, T)), counts


def _first_rows(counts: np.ndarray, truncation: int) -> np.ndarray:
    """First latitude that carries each wavenumber, from the number that each latitude carries."""
    return np.searchsorted(counts, np.arange(truncation + 1), side="right").astype(np.int64)
