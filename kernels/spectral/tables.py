"""Legendre tables of one truncation on one grid, and which wavenumbers each latitude carries."""

import numpy as np

from kernels.spectral.gauss import half_nodes
from kernels.spectral.grids import Grid
from kernels.spectral.legendre import BLOCK, Tables, coefficients, plan_seeds


def terms_of(truncation: int) -> np.ndarray:
    """Values of ell of each wavenumber 0 … T, with degrees up to T + 1; int64[T + 1]."""
    return (truncation + 1 - np.arange(truncation + 1)) // 2 + 1


def blocks_of(grid: Grid) -> int:
    """Blocks of latitudes from pole to equator, the last one padded."""
    return -(-grid.N // BLOCK)


def table_bytes(truncation: int, rows: int) -> int:
    """Bytes of the tables of a plan with so many rows between pole and equator."""
    return 8 * (5 * int(terms_of(truncation).sum()) + (truncation + 1) * -(-rows // BLOCK) * (2 * BLOCK + 1))


def legendre_tables(grid: Grid, truncation: int) -> tuple[Tables, np.ndarray]:
    """Tables, and the number of wavenumbers that each northern latitude carries, int64[N].

    A row of L points carries wavenumbers up to ``(L - 1) // 2``; those that never exceed ``TINY`` in a block
    are not carried by its rows.
    """
    T, blocks = truncation, blocks_of(grid)
    count = terms_of(T)
    offset = np.concatenate([[0], np.cumsum(count)[:-1]]).astype(np.int64)
    factors = np.zeros((5, int(count.sum())))
    coefficients(T, offset, factors)
    mu, low, cosine, cosine_low, _ = half_nodes(2 * grid.N)
    pad = blocks * BLOCK - grid.N
    capped = np.minimum(T, (grid.pl[: grid.N] - 1) // 2) + 1
    tables = Tables(
        factors,
        offset,
        np.pad(mu * mu + 2 * mu * low, (0, pad)),
        grid.N,
        _first_rows(capped, T),
        np.zeros((T + 1, blocks), dtype=np.int64),
        np.zeros((T + 1, blocks, 2 * BLOCK)),
    )
    plan_seeds(tables, np.pad(cosine, (0, pad)), np.pad(cosine_low, (0, pad)))
    alive = [int(np.flatnonzero(tables.first[:, block] < count).max(initial=0)) + 1 for block in range(blocks)]
    alive = np.maximum.accumulate(alive)
    counts = np.minimum(capped, alive[np.arange(grid.N) // BLOCK]).astype(np.int64)
    return tables._replace(first_row=_first_rows(counts, T)), counts


def _first_rows(counts: np.ndarray, truncation: int) -> np.ndarray:
    """First latitude that carries each wavenumber, from the number that each latitude carries."""
    return np.searchsorted(counts, np.arange(truncation + 1), side="right").astype(np.int64)
