"""Points of the sphere, their east and north, and random fields on it whose covariance is known.

A field is a sum of M waves in space and ln p,

    ψ = sqrt(2/M) Σ_m cos(k_m·x + φ_m),     k_m ~ N(0, 1)⁴,  φ_m uniform,

of unit variance and correlation exp(−½ |x − x'|²) over the draws, whose values and gradients are known everywhere.
"""

from typing import NamedTuple

import numpy as np

from kernels.gridpoint.levels import OMEGA, RADIUS

WAVES = 96


class Places(NamedTuple):
    """Points on the sphere: unit vectors, float64 (3, n) each."""

    up: np.ndarray
    east: np.ndarray
    north: np.ndarray

    @property
    def coriolis(self) -> np.ndarray:
        """f, 1/s, float64 (n,)."""
        return 2 * OMEGA * self.up[2]


def places(latitude, longitude) -> Places:
    """Of latitudes and longitudes in radians, which broadcast."""
    phi, lam = (np.ravel(each) for each in np.broadcast_arrays(latitude, longitude))
    up = np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)])
    east = np.stack([-np.sin(lam), np.cos(lam), np.zeros_like(lam)])
    north = np.stack([-np.sin(phi) * np.cos(lam), -np.sin(phi) * np.sin(lam), np.cos(phi)])
    return Places(up, east, north)


class Field:
    """One draw."""

    def __init__(self, rng, length: float, depth: float):
        self.length, self.depth = length, depth
        self.waves = rng.normal(size=(WAVES, 4))
        self.phase = rng.uniform(0, 2 * np.pi, WAVES)

    def sample(self, up: np.ndarray, base: np.ndarray, levels: np.ndarray):
        """At points ``up`` (3, n) and ln p = ``base`` (n,) + ``levels`` (J,).

        Returns
        -------
        tuple
            ψ float64 (n, J), length ∇ψ float64 (3, n, J), depth ∂ψ/∂ln p float64 (n, J).
        """
        k = self.waves
        angle = up.T @ k[:, :3].T * (RADIUS / self.length) + self.phase + np.outer(base / self.depth, k[:, 3])
        turn = np.outer(k[:, 3], levels / self.depth)
        c, s = np.cos(angle) * np.sqrt(2 / WAVES), np.sin(angle) * np.sqrt(2 / WAVES)
        ct, st = np.cos(turn), np.sin(turn)
        slope = [-(s @ (ct * k[:, m : m + 1]) + c @ (st * k[:, m : m + 1])) for m in range(4)]
        return c @ ct - s @ st, np.stack(slope[:3]), slope[3]
