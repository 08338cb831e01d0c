"""Semi-Lagrangian interpolation slow and obvious, by NumPy on whole fields: what ``interpolation`` is held to.

``problem`` is an ``interpolation.Problem``; points are arrays (levels, columns) of x, y, z in grid intervals.
"""

import numpy as np


def nodes(problem, wide: np.ndarray, x, y, z):
    """Function of offsets that gives the field ``wide`` (with margin) at that node of every point's grid box.

    Also the distances of the points in their boxes, and the layers.
    """
    column, row = np.floor(x).astype(int), np.floor(y).astype(int)
    layer = np.clip(np.floor(z).astype(int), 0, problem.levels - 2)
    m = problem.margin
    inner = wide[1:-1, m : m + problem.ny, m : m + problem.nx]

    def node(i, j, k):
        level = np.clip(layer + k, 0, problem.levels - 1)
        return inner[level, (row + j) % problem.ny, (column + i) % problem.nx]

    return node, (x - column, y - row, z - layer), layer


def lagrange(s):
    """Cubic weights at −1, 0, 1, 2 for the distance ``s``, from their definition as products."""
    return [
        np.prod([(s - other) / (node - other) for other in range(-1, 3) if other != node], axis=0)
        for node in range(-1, 3)
    ]


def vertical_weights(problem, layer, s):
    """Cubic weights, linear ones in the top and the bottom layer."""
    inside = (layer > 0) & (layer < problem.levels - 2)
    flat = (0.0 * s, 1.0 - s, s, 0.0 * s)
    return [np.where(inside, cubic, plain) for cubic, plain in zip(lagrange(s), flat, strict=True)]


def trilinear(problem, wide, x, y, z):
    """Values of the field ``wide`` (with margin) at points, linear in each direction."""
    node, s, _ = nodes(problem, wide, x, y, z)
    share = [(1.0 - each, each) for each in s]
    return sum(node(i, j, k) * share[0][i] * share[1][j] * share[2][k] for i in (0, 1) for j in (0, 1) for k in (0, 1))


def quasi_cubic(problem, wide, x, y, z):
    """Sum over the 32 points of the field ``wide`` (with margin), held within the corners' range if ``monotone``."""
    node, s, layer = nodes(problem, wide, x, y, z)
    wx, wy, wz = lagrange(s[0]), lagrange(s[1]), vertical_weights(problem, layer, s[2])
    near = {0: 1.0 - s[0], 1: s[0]}
    flat = {0: 1.0 - s[1], 1: s[1]}
    value = 0.0
    for k in range(-1, 3):
        if k in (0, 1):
            rows = [
                sum(wx[i + 1] * node(i, j, k) for i in range(-1, 3))
                if j in (0, 1)
                else sum(near[i] * node(i, j, k) for i in (0, 1))
                for j in range(-1, 3)
            ]
            level = sum(w * row for w, row in zip(wy, rows, strict=True))
        else:
            level = sum(near[i] * flat[j] * node(i, j, k) for i in (0, 1) for j in (0, 1))
        value = value + wz[k + 1] * level
    corners = np.array([node(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    return np.clip(value, corners.min(axis=0), corners.max(axis=0)) if problem.monotone else value
