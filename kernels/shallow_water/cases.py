"""Initial states: two of the standard test set and the unstable jet.

Sources: D. L. Williamson et al., J. Comput. Phys. 102, 211 (1992), cases 2 and 5;
J. Galewsky, R. K. Scott, L. M. Polvani, Tellus 56A, 429 (2004).
"""

from typing import NamedTuple

import numpy as np

from kernels.shallow_water.problem import GRAVITY, RADIUS, ROTATION

_DAY = 86400.0
_JET = 80.0  # m/s
_SOUTH, _NORTH = np.pi / 7, np.pi / 2 - np.pi / 7  # edges of the jet, rad
_DEPTH = 10000.0  # mean depth under the jet, m


class Initial(NamedTuple):
    """Grid-point values, each float64 of ``points``; depth of the fluid and height of the ground in m."""

    u: np.ndarray
    v: np.ndarray
    depth: np.ndarray
    ground: np.ndarray
    coriolis: np.ndarray


def _solid_rotation(latitude, longitude, speed, height, alpha):
    """Wind, surface height and Coriolis parameter of solid rotation about an axis tilted by ``alpha``."""
    sine = np.sin(latitude) * np.cos(alpha) - np.cos(longitude) * np.cos(latitude) * np.sin(alpha)
    u = speed * (np.cos(latitude) * np.cos(alpha) + np.cos(longitude) * np.sin(latitude) * np.sin(alpha))
    v = -speed * np.sin(longitude) * np.sin(alpha)
    surface = height - (RADIUS * ROTATION * speed + 0.5 * speed**2) * sine**2 / GRAVITY
    return u, v, surface, 2.0 * ROTATION * sine


def _steady(latitude, longitude, alpha):
    speed = 2.0 * np.pi * RADIUS / (12.0 * _DAY)
    u, v, depth, coriolis = _solid_rotation(latitude, longitude, speed, 2.94e4 / GRAVITY, alpha)
    return Initial(u, v, depth, np.zeros_like(u), coriolis)


def _mountain(latitude, longitude):
    u, v, surface, coriolis = _solid_rotation(latitude, longitude, 20.0, 5960.0, 0.0)
    east = (longitude - 1.5 * np.pi + np.pi) % (2.0 * np.pi) - np.pi
    distance = np.minimum(np.hypot(east, latitude - np.pi / 6), np.pi / 9)
    ground = 2000.0 * (1.0 - distance / (np.pi / 9))
    return Initial(u, v, surface - ground, ground, coriolis)


def jet(latitude):
    """Zonal wind of the balanced jet, m/s, at ``latitude`` in rad."""
    latitude = np.asarray(latitude, dtype=np.float64)
    inside = (latitude > _SOUTH) & (latitude < _NORTH)
    product = np.where(inside, (latitude - _SOUTH) * (latitude - _NORTH), -1.0)
    scale = _JET * np.exp(4.0 / (_NORTH - _SOUTH) ** 2)
    return np.where(inside, scale * np.exp(1.0 / product), 0.0)


def _jet_surface(latitude):
    """``g h`` in gradient-wind balance, up to a constant: ``-∫ a u (2Ω sin φ + u tan φ / a) dφ``."""
    nodes, weights = np.polynomial.legendre.leggauss(16)
    edges = np.clip(np.concatenate([[_SOUTH], np.sort(np.unique(latitude))]), _SOUTH, _NORTH)
    # panels narrow enough that neither end of the jet, flat to all orders, costs accuracy
    fine = np.unique(np.concatenate([edges, np.linspace(_SOUTH, _NORTH, 257)]))
    half, middle = 0.5 * np.diff(fine), 0.5 * (fine[1:] + fine[:-1])
    phi = middle[:, None] + half[:, None] * nodes
    u = jet(phi)
    force = RADIUS * u * (2.0 * ROTATION * np.sin(phi) + u * np.tan(phi) / RADIUS)
    total = np.concatenate([[0.0], np.cumsum((force @ weights) * half)])
    return -total[np.searchsorted(fine, np.clip(latitude, _SOUTH, _NORTH))]


def _unstable_jet(latitude, longitude, weight, perturbed):
    u = jet(latitude)
    surface = _jet_surface(latitude) / GRAVITY
    depth = surface + (_DEPTH - weight @ surface)
    if perturbed:
        east = (longitude + np.pi) % (2.0 * np.pi) - np.pi
        depth = depth + 120.0 * np.cos(latitude) * np.exp(-((3.0 * east) ** 2)) * np.exp(
            -((15.0 * (np.pi / 4 - latitude)) ** 2)
        )
    return Initial(u, np.zeros_like(u), depth, np.zeros_like(u), 2.0 * ROTATION * np.sin(latitude))


def initial(problem, grid) -> Initial:
    """Initial grid-point values of ``problem.case``."""
    latitude, longitude = grid.coordinates()
    if problem.case == "williamson2":
        return _steady(latitude, longitude, problem.alpha)
    if problem.case == "williamson5":
        return _mountain(latitude, longitude)
    weight = np.repeat(grid.weights / (2.0 * grid.pl), grid.pl)
    return _unstable_jet(latitude, longitude, weight, problem.case == "galewsky")


def random_height(plan, rms, seed):
    """Spectrum of a random smooth height, ``rms`` m, degrees 1 … 10; the same at every truncation."""
    spectrum = np.zeros(plan.ncoef, dtype=np.complex128)
    rng = np.random.default_rng(seed)
    for n in range(1, 11):
        for m in range(n + 1):
            real, imaginary = rng.standard_normal(2) / n
            spectrum[plan.index(m, n)] = complex(real, imaginary if m else 0.0)
    square = (np.abs(spectrum) ** 2 * np.where(plan.m == 0, 1.0, 2.0)).sum()
    return spectrum * (rms / np.sqrt(square))
