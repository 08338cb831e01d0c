"""What the steps compute with: compiled code, and the same in plain NumPy for the reference."""

import numpy as np

from kernels.analysis import covariance, vertical
from kernels.analysis.boxes import POINTS
from kernels.analysis.constants import R
from kernels.runtime.pages import zeros


class Compiled:
    """The compiled code, with the room that one thread needs for a box of ``padded`` data."""

    def __init__(self, padded: int):
        self.room = zeros((padded, padded + 8 + max(padded, POINTS)))
        self.interpolate, self.geopotential = vertical.interpolate, vertical.geopotential
        self.evaluate = covariance.evaluate

    def check(self, points, departures, n, out) -> bool:
        """As ``covariance.check``."""
        return covariance.check(points, departures, n, self.room, out)

    def assimilate(self, points, departures, n, grid, weights, reduction) -> bool:
        """As ``covariance.assimilate``."""
        return covariance.assimilate(points, departures, n, grid, grid.shape[1], self.room, weights, reduction)


def correlations(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """All covariances of points (8, n) and others (8, m) at once, float64 (n, m)."""
    away = points[:4, :, None] - others[:4, None]
    near = np.exp(-0.5 * (away**2).sum(0))
    mine = points[4][:, None] - np.einsum("cj,cji->ji", points[5:], away[:3])
    theirs = others[4] + np.einsum("ci,cji->ji", others[5:], away[:3])
    return near * (mine * theirs + points[5:].T @ others[5:])


class Plain:
    """NumPy, dense matrices and their inverses."""

    def __init__(self, padded: int):
        self.padded = padded

    @staticmethod
    def interpolate(field, source, target, out) -> None:
        """As ``vertical.interpolate``."""
        for i in range(field.shape[1]):
            out[:, i] = np.interp(target[:, i], source[:, i], field[:, i])

    @staticmethod
    def geopotential(temperature, source, surface, target, out) -> None:
        """As ``vertical.geopotential``, by the trapezoidal rule over every level between ground and target."""
        for i in range(temperature.shape[1]):
            for j, top in enumerate(target[:, i]):
                between = source[:, i][
                    (source[:, i] > min(top, surface[0, i])) & (source[:, i] < max(top, surface[0, i]))
                ]
                x = np.unique([top, surface[0, i], *between])
                t = np.interp(x, source[:, i], temperature[:, i])
                out[j, i] = surface[1, i] + R * np.trapezoid(t, x) * (1 if top < surface[0, i] else -1)

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
        matrix = correlations(points[:, :n], points[:, :n]) + np.eye(n)
        there = correlations(points[:, :n], grid)
        weights[:n] = np.linalg.solve(matrix, departures[:n])
        reduction[:] = (there * np.linalg.solve(matrix, there)).sum(0)
        return True

    @staticmethod
    def evaluate(points, weights, n, grid, columns, out) -> None:
        """As ``covariance.evaluate``."""
        bare = grid[:, :columns].copy()
        bare[4:] = 0.0
        for row in range(4):
            bare[4:], bare[4 + row] = 0.0, 1.0
            out[row, :columns] = correlations(bare, points[:, :n]) @ weights[:n]
        bare[4:], bare[4] = 0.0, 1.0
        height = (bare[3][:, None] - points[3, :n]) * correlations(bare, points[:, :n])
        out[4, :columns] = -height @ weights[:n]
