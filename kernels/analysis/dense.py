"""What the steps compute, in NumPy: dense matrices, their inverses, whole columns at once."""

import numpy as np

from kernels.gridpoint.levels import R


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


def _part(source, x):
    """Level above ``x`` (nj, 1, ni) among levels ``source``, and the part of the way to the next."""
    k = np.clip((source < x).sum(1, keepdims=True) - 1, 0, source.shape[1] - 2)
    high, low = np.take_along_axis(source, k, 1), np.take_along_axis(source, k + 1, 1)
    return k, np.clip((x - high) / (low - high), 0.0, 1.0)


class Plain:
    """What ``boxes.Compiled`` computes with, for the reference."""

    @staticmethod
    def interpolate(field, source, target):
        """As ``vertical.interpolate``."""
        found = []
        for x in np.moveaxis(target, 1, 0):
            k, part = _part(source, x[:, None])
            found.append((1 - part) * np.take_along_axis(field, k, 1) + part * np.take_along_axis(field, k + 1, 1))
        return np.concatenate(found, 1)

    @staticmethod
    def geopotential(temperature, source, lnps, ground, target):
        """As ``vertical.geopotential``: the integral of T from the highest level to the ground, less that to each."""
        steps = 0.5 * (temperature[:, 1:] + temperature[:, :-1]) * np.diff(source, axis=1)
        whole = np.concatenate([np.zeros_like(lnps), np.cumsum(steps, 1)], 1)

        def integral(x):
            there, inner = Plain.interpolate(temperature, source, x), np.clip(x, source[:, :1], source[:, -1:])
            found = []
            for n, at in enumerate(np.moveaxis(inner, 1, 0)):
                k, _ = _part(source, at[:, None])
                above = np.take_along_axis(temperature, k, 1) + there[:, n : n + 1]
                rest = 0.5 * above * (at[:, None] - np.take_along_axis(source, k, 1))
                found.append(np.take_along_axis(whole, k, 1) + rest)
            return np.concatenate(found, 1) + there * (x - inner)

        return ground + R * (integral(lnps) - integral(target))

    @staticmethod
    def check(points, departures, n, out) -> bool:
        """As ``covariance.check``."""
        inverse = np.linalg.inv(correlations(points[:, :n], points[:, :n]) + np.eye(n))
        out[1, :n] = np.diag(inverse)
        out[0, :n] = inverse @ departures[:n] / np.sqrt(out[1, :n])
        return True

    @staticmethod
    def assimilate(points, departures, n, grid, weights, reduction) -> bool:
        """As ``covariance.assimilate``."""
        weights[:n], _, reduction[:] = plain(points[:, :n], departures[:n], grid)
        return True

    @staticmethod
    def evaluate(points, weights, n, grid, out) -> None:
        """As ``covariance.evaluate``."""
        bare = grid.copy()
        for row in range(4):
            bare[4:], bare[4 + row] = 0.0, 1.0
            out[row] = correlations(bare, points[:, :n]) @ weights[:n]
        bare[4:], bare[4] = 0.0, 1.0
        height = (bare[3][:, None] - points[3, :n]) * correlations(bare, points[:, :n])
        out[4] = -height @ weights[:n]
