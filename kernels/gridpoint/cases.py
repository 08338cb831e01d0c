"""Initial states.

``steady`` is the zonal flow of Jablonowski and Williamson (Q. J. R. Meteorol. Soc. 132, 2006), which stays as it
is but for truncation; ``wave`` adds their bump of 1 m/s to u, from which a baroclinic wave grows; ``rest`` is
isothermal air at rest, perhaps over a mountain.
"""

import numpy as np

from kernels.gridpoint.levels import GRAVITY, OMEGA, P_REF, RADIUS, T_REF, R, latitudes, vertical
from kernels.gridpoint.problem import Problem

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


def _jablonowski(problem: Problem, lat: np.ndarray) -> dict[str, np.ndarray]:
    ni, nj = problem.ni, len(lat)
    lat, eta = lat[:, None, None], vertical(problem.levels).full[:, None]
    shape = nj, problem.levels, ni
    u = np.broadcast_to(zonal_wind(lat, eta), shape).copy()
    if problem.case == "wave":
        lon = (np.arange(ni) + 0.5) * 2 * np.pi / ni
        cosine = np.sin(LAT_BUMP) * np.sin(lat) + np.cos(LAT_BUMP) * np.cos(lat) * np.cos(lon - LON_BUMP)
        u += BUMP * np.exp(-((10 * np.arccos(np.clip(cosine, -1, 1))) ** 2))
    return {
        "u": u,
        "T": np.broadcast_to(temperature(lat, eta), shape).copy(),
        "phis": np.broadcast_to(surface_height(lat[:, 0]), (nj, ni)).copy(),
        "ps": np.full((nj, ni), P_REF),
    }


def _rest(problem: Problem, lat: np.ndarray) -> dict[str, np.ndarray]:
    ni, nj = problem.ni, len(lat)
    lat, lon = lat[:, None], np.arange(ni) * 2 * np.pi / ni
    cosine = np.sin(np.pi / 6) * np.sin(lat) + np.cos(np.pi / 6) * np.cos(lat) * np.cos(lon - np.pi / 2)
    phis = GRAVITY * problem.mountain * np.exp(-((4 * np.arccos(np.clip(cosine, -1, 1))) ** 2))
    T = np.full((nj, problem.levels, ni), T_REF)
    return {"u": np.zeros_like(T), "T": T, "phis": phis, "ps": P_REF * np.exp(-phis / (R * T_REF))}


def initial(problem: Problem) -> dict[str, np.ndarray]:
    """u, v, T, q float64 (nj, levels, ni); ps, phis (nj, ni) of the problem's case.

    With physics q is a share of saturation that falls with height; else a tracer that marks the tropics.
    """
    lat = latitudes(problem.nj)
    fields = _rest(problem, lat) if problem.case == "rest" else _jablonowski(problem, lat)
    fields["v"] = np.zeros_like(fields["u"])
    q = 0.018 * np.cos(lat[:, None, None]) ** 4 * vertical(problem.levels).full[:, None] ** 3
    fields["q"] = np.broadcast_to(q, fields["u"].shape).copy()
    return fields
