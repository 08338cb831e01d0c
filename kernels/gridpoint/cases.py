"""The initial state: the baroclinic wave of Jablonowski and Williamson (Q. J. R. Meteorol. Soc. 132, 2006).

Their zonal flow would stay as it is but for truncation.  A bump of 1 m/s is added to u, from which the wave grows.
"""

import numpy as np

from supercomputers_rerun.kernels.gridpoint.levels import GRAVITY, OMEGA, P_REF, RADIUS, R, latitudes, vertical
from supercomputers_rerun.kernels.gridpoint.problem import Problem

U_MAX, T_MEAN, LAPSE, T_STRATOSPHERE, ETA_T, ETA_0 = 35.0, 288.0, 0.005, 4.8e5, 0.2, 0.252
BUMP, LON_BUMP, LAT_BUMP = 1.0, np.pi / 9, 2 * np.pi / 9


def _poly(lat):
    """The two factors of latitude in T′ and Φ′."""
    s, c = np.sin(lat), np.cos(lat)
    return (-2 * s**6 * (c * c + 1 / 3) + 10 / 63, RADIUS * OMEGA * (8 / 5 * c**3 * (s * s + 2 / 3) - np.pi / 4))


def zonal_wind(lat, eta):
    """u of the steady state, m/s."""
    angle = (eta - ETA_0) * np.pi / 2
    return U_MAX * np.cos(angle) ** 1.5 * np.sin(2 * lat) ** 2


def temperature(lat, eta):
    """T of the steady state, K."""
    angle = (eta - ETA_0) * np.pi / 2
    mean = T_MEAN * eta ** (R * LAPSE / GRAVITY) + T_STRATOSPHERE * np.maximum(ETA_T - eta, 0.0) ** 5
    first, second = _poly(lat)
    part = 0.75 * eta * np.pi * U_MAX / R * np.sin(angle) * np.cos(angle) ** 0.5
    return mean + part * (first * 2 * U_MAX * np.cos(angle) ** 1.5 + second)


def surface_height(lat):
    """Φ_s of the steady state, m²/s²."""
    speed = U_MAX * np.cos((1 - ETA_0) * np.pi / 2) ** 1.5
    first, second = _poly(lat)
    return speed * (first * speed + second)


def initial(problem: Problem) -> dict[str, np.ndarray]:
    """u, v in m/s, T in K, q float64 (nj, levels, ni); ps in Pa, phis in m²/s² (nj, ni).

    With physics q, kg/kg, decides where it rains; else it is a tracer that marks the tropics.
    """
    ni, nj = problem.ni, problem.nj
    lat, eta = latitudes(nj)[:, None, None], vertical(problem.levels).full[:, None]
    shape = nj, problem.levels, ni
    east = (np.arange(ni) + 0.5) * 2 * np.pi / ni
    cosine = np.sin(LAT_BUMP) * np.sin(lat) + np.cos(LAT_BUMP) * np.cos(lat) * np.cos(east - LON_BUMP)
    bump = BUMP * np.exp(-((10 * np.arccos(np.clip(cosine, -1, 1))) ** 2))
    return {
        "u": np.broadcast_to(zonal_wind(lat, eta), shape) + bump,
        "v": np.zeros(shape),
        "T": np.broadcast_to(temperature(lat, eta), shape).copy(),
        "q": np.broadcast_to(0.018 * np.cos(lat) ** 4 * eta**3, shape).copy(),
        "phis": np.broadcast_to(surface_height(lat[:, 0]), (nj, ni)).copy(),
        "ps": np.full((nj, ni), P_REF),
    }
