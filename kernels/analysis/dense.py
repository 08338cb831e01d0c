"""What the main program computes, in NumPy: dense matrices and their inverses.

:func:`check`, :func:`assimilate` and :func:`evaluate` are those of ``covariance``, for the reference.
"""

import numpy as np


def correlations(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """All covariances of points (8, n) and others (8, m) at once, float64 (n, m)."""
    away = points[:4, :, None] - others[:4, None]
    near = np.exp(-0.5 * (away**2).sum(0))
    mine = points[4][:, None] - np.einsum("cj,cji->ji", points[5:], away[:3])
    theirs = others[4] + np.einsum("ci,cji->ji", others[5:], away[:3])
    return near * (mine * theirs + points[5:].T @ others[5:])


def plain(points, departures, grid):
    """Optimum interpolation of one box: what data at ``points`` (8, n) say at ``grid`` (8, m), and how well.

    ``departures`` (n,): observations less background, over the observations' errors.  Returns weights (n,), increments
    and by how much the error's variance falls (m,).
    """
    matrix = correlations(points, points) + np.eye(len(departures))
    there = correlations(points, grid)
    weights = np.linalg.solve(matrix, departures)
    return weights, weights @ there, (there * np.linalg.solve(matrix, there)).sum(0)


def check(a, points, departures, n, out) -> bool:
    """Each datum against all others; ``a`` is not used."""
    inverse = np.linalg.inv(correlations(points[:, :n], points[:, :n]) + np.eye(n))
    out[1, :n] = np.diag(inverse)
    out[0, :n] = inverse @ departures[:n] / np.sqrt(out[1, :n])
    return True


def assimilate(a, points, departures, n, grid, weights, reduction) -> bool:
    """Weights of data, and what they take off the variance; ``a`` is not used."""
    weights[:n], _, reduction[:] = plain(points[:, :n], departures[:n], grid)
    return True


def evaluate(points, weights, n, grid, out) -> None:
    """What weighted data say at grid points."""
    bare = grid.copy()
    for row in range(4):
        bare[4:], bare[4 + row] = 0.0, 1.0
        out[row] = correlations(bare, points[:, :n]) @ weights[:n]
    bare[4:], bare[4] = 0.0, 1.0
    height = (bare[3][:, None] - points[3, :n]) * correlations(bare, points[:, :n])
    out[4] = -height @ weights[:n]
