"""Properties of a forecast: conserved integrals, symmetry, winds that a case does not have."""

from typing import NamedTuple

import numpy as np

from kernels.contract import Check, worst
from kernels.gridpoint.levels import CP, GRAVITY, OMEGA, RADIUS, latitudes, vertical
from kernels.gridpoint.problem import Problem


class Integrals(NamedTuple):
    """Conserved integrals of a state, over the area."""

    mass: float  # mean surface pressure, Pa
    energy: float  # kinetic and total potential energy, J/m²: ∫ (K + c_p T) dp/g + Φ_s p_s/g
    momentum: float  # angular momentum about the Earth's axis, kg/s: ∫ a cosφ (u + Ω a cosφ) dp/g


def integrals(problem: Problem, fields) -> Integrals:
    """Those of u, v, T (nj, K, ni), ps and phis (nj, ni)."""
    u, v, ps = fields["u"], fields["v"], fields["ps"]
    area, thick = np.cos(latitudes(problem.nj))[:, None], vertical(problem.levels).thickness[:, None]
    faces = np.cos(-np.pi / 2 + np.arange(problem.nj) * np.pi / problem.nj)[:, None, None]
    faces[0] = 0.0
    south, east = np.concatenate([ps[:1], ps[:-1]]), 0.5 * (ps + np.roll(ps, -1, -1))[:, None]
    kinetic = 0.5 * (area[:, None] * east * u**2 + faces * 0.5 * (ps + south)[:, None] * v**2)
    heat = area[:, None] * ps[:, None] * CP * fields["T"]
    turning = area[:, None] * RADIUS * area[:, None] * (u + OMEGA * RADIUS * area[:, None]) * east
    energy = ((kinetic + heat) * thick).sum() + (area * ps * fields["phis"]).sum()
    sums = np.array([(area * ps).sum(), energy / GRAVITY, (turning * thick).sum() / GRAVITY])
    return Integrals(*(sums / (area.sum() * problem.ni)).tolist())


def properties(problem: Problem, result) -> list[Check]:
    """Mass to rounding; energy and angular momentum within bounds; what the case promises.

    With physics the water and heat that fall and radiate leave the totals, so that only mass is checked; a
    ``Result`` without its initial state gets the checks that need none.
    """
    fields, initial = result.fields, result.initial
    finite = all(bool(np.isfinite(field).all()) for field in fields.values())
    checks = [Check("all numbers are finite", float(finite), 1.0, 0.0, finite)]
    if initial is None or not finite:
        return checks
    start, end = integrals(problem, initial.fields), integrals(problem, fields)
    days = (result.step or 1) * problem.dt / 86400
    checks.append(Check.relative("global mass", end.mass, start.mass, 1e-13 * (10 + days)))
    if problem.physics:
        return checks
    longest = worst(1.0, days)
    longer = longest * max(1.0, (192 / problem.ni) ** 2 * (15 / problem.levels))
    checks.append(Check.relative("total energy", end.energy, start.energy, 5e-6 * longer))
    checks.append(Check.relative("angular momentum", end.momentum, start.momentum, 1e-4 * longer))
    if problem.case == "rest":
        wind = worst(fields["u"], fields["v"])
        checks.append(Check.near("wind over air at rest, m/s", wind, 0.0, 1e-10 * longest))
    if problem.case == "steady":
        waves = worst(fields["u"] - fields["u"].mean(-1, keepdims=True))
        checks.append(Check.near("departure from zonal symmetry, m/s", waves, 0.0, 1e-10 * longest))
    return checks


NO_OUTPUT = {"initial": "what the forecast starts from"}
