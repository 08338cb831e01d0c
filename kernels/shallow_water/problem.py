"""What is integrated: truncation, grid, case, time step, filter and diffusion; initial states.

These are two of the standard test set and the unstable jet: D. L. Williamson et al., J. Comput. Phys. 102, 211 (1992),
cases 2 and 5; J. Galewsky, R. K. Scott, L. M. Polvani, Tellus 56A, 429 (2004).
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from supercomputers_rerun.kernels.contract import Presets, ceil_div, one_of, real, require_choice, require_range, whole
from supercomputers_rerun.kernels.spectral import grid as gaussian_grid

RADIUS = 6.37122e6  # m, Williamson et al. (1992), as are the next two
ROTATION = 7.292e-5  # rad/s
GRAVITY = 9.80616  # m/s²

CASES = ("williamson2", "williamson5", "galewsky", "galewsky_balanced")
BUILDS = ("strict", "fast")
#: Points of a full row per wavenumber: what a product of one, two or three factors asks for.
RELATIONS = {"linear": 2, "quadratic": 3, "cubic": 4}


def grid_for(truncation: int, relation: str) -> str:
    """Name of the coarsest full grid, of ``4N`` points a row, for ``relation``.

    Linear grids have ``4N ≥ 2T + 1``, quadratic ones ``3T + 1`` (products of two fields are free of
    aliasing), cubic ones ``4T + 1``.
    """
    require_range("truncation", truncation, 1, 8000)
    require_choice("relation", relation, tuple(RELATIONS))
    return f"F{ceil_div(RELATIONS[relation] * truncation + 1, 4)}"


def _named(truncation, grid, dt):
    return {"truncation": truncation, "grid": grid, "case": "galewsky", "dt": dt, "hours": 240.0, "diffusion": 3.0}


@dataclass(frozen=True)
class Problem(Presets):
    """One integration of the shallow-water equations.

    Cases: ``williamson2`` (steady zonal flow at the angle ``alpha``), ``williamson5`` (zonal flow over
    a mountain), ``galewsky`` (perturbed, unstable jet), ``galewsky_balanced`` (the jet alone).
    The presets named after truncations are ten-day forecasts; shorten ``hours`` to time single steps.
    """

    truncation: whole(10, 8000) = 63  # triangular truncation T, 1
    grid: str = "F48"  # Gaussian grid: F, N or O and the rows between pole and equator
    case: one_of(*CASES) = "williamson2"  # initial state and orography
    dt: real(1e-3, 86400.0, "s") = 900.0  # time step, s
    hours: real(1e-3, 1e6, "h") = 24.0  # length of the integration, h
    diffusion: real(0.0, 1e6, "h") = 0.0  # e-folding time of degree T under hyperdiffusion, h (0: none)
    order: one_of(2, 4, 6, 8) = 8  # order of the hyperdiffusion ∇^order, even
    asselin: real(0.0, 1.0) = 0.02  # Robert-Asselin filter, 1
    williams: real(0.5, 1.0) = 0.53  # share of the filter given to the middle level (1: Asselin's filter), 1
    alpha: real(-3.2, 3.2, "rad") = 0.0  # angle between the flow of williamson2 and the equator, rad
    perturbation: real(0.0, 1000.0, "m") = 0.0  # RMS of random height added to the initial state, m (members by seed)
    output: real(0.0, 1e6, "h") = 0.0  # hours between output steps written to disk, h (0: none)
    build: one_of(*BUILDS) = "strict"  # compiled code: IEEE 754 as written, or with named fast-math flags

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "quick": _named(63, "F48", 600.0) | {"hours": 24.0, "output": 6.0},
        "paper": _named(1279, "N640", 35.0),
        "modern": _named(639, "N320", 75.0),
        "TL1279": _named(1279, "N640", 35.0),
        "TL2047": _named(2047, "N1024", 22.5),
        "TQ1364": _named(1364, "N1024", 32.0),
        "TC1023": _named(1023, "N1024", 45.0),
        "TL2559": _named(2559, "N1280", 18.0),
        "TQ1706": _named(1706, "N1280", 27.0),
        "TC1279": _named(1279, "N1280", 35.0),
    }

    def __post_init__(self):
        gaussian_grid(self.grid)  # refuses what is no grid; a plan refuses one that does not carry the truncation

    @property
    def steps(self) -> int:
        """Number of time steps."""
        return round(self.hours * 3600.0 / self.dt)

    @property
    def coefficient(self) -> float:
        """Hyperdiffusion coefficient ``K``, m^order / s."""
        if self.diffusion == 0.0:
            return 0.0
        largest = self.truncation * (self.truncation + 1) / RADIUS**2
        return 1.0 / (3600.0 * self.diffusion * largest ** (self.order // 2))


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


def _unstable_jet(latitude, longitude, shares, perturbed):
    u = jet(latitude)
    surface = _jet_surface(latitude) / GRAVITY
    depth = surface + (_DEPTH - shares @ surface)
    if perturbed:
        east = (longitude + np.pi) % (2.0 * np.pi) - np.pi
        north = np.pi / 4 - latitude
        depth = depth + 120.0 * np.cos(latitude) * np.exp(-((3.0 * east) ** 2)) * np.exp(-((15.0 * north) ** 2))
    return Initial(u, np.zeros_like(u), depth, np.zeros_like(u), 2.0 * ROTATION * np.sin(latitude))


def initial(problem, grid) -> Initial:
    """Initial grid-point values of ``problem.case``."""
    latitude, longitude = grid.coordinates()
    if problem.case == "williamson2":
        speed = 2.0 * np.pi * RADIUS / (12.0 * 86400.0)  # once around in twelve days
        u, v, depth, coriolis = _solid_rotation(latitude, longitude, speed, 2.94e4 / GRAVITY, problem.alpha)
        return Initial(u, v, depth, np.zeros_like(u), coriolis)
    if problem.case == "williamson5":
        return _mountain(latitude, longitude)
    return _unstable_jet(latitude, longitude, grid.shares, problem.case == "galewsky")


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
