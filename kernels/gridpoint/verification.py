"""Properties of a forecast: conserved integrals, symmetry, the residual of the Helmholtz equations."""

import numpy as np

from kernels.contract import Check
from kernels.gridpoint.cases import latitudes
from kernels.gridpoint.levels import CP, GRAVITY, OMEGA, RADIUS, vertical
from kernels.gridpoint.problem import Problem


def _area(problem: Problem) -> np.ndarray:
    """cosφ of the rows, (nj, 1): the weight that the scheme gives them."""
    return np.cos(latitudes(problem.nj))[:, None]


def mass(problem: Problem, fields) -> float:
    """Mean surface pressure, Pa."""
    return float((_area(problem) * fields["ps"]).sum() / (_area(problem).sum() * problem.ni))


def energy(problem: Problem, fields) -> float:
    """Kinetic and total potential energy over the area, J/m²: ∫ (K + c_p T) dp/g + Φ_s p_s/g."""
    u, v, T, ps, area = fields["u"], fields["v"], fields["T"], fields["ps"], _area(problem)
    thick = vertical(problem.levels).thickness[:, None]
    faces = np.cos(-np.pi / 2 + np.arange(problem.nj + 1) * np.pi / problem.nj)[:, None, None]
    faces[[0, -1]] = 0.0
    kinetic_u = 0.5 * area[:, None] * 0.5 * (ps + np.roll(ps, -1, -1))[:, None] * u**2
    pressure = 0.5 * (ps + np.roll(ps, 1, 0))[:, None]
    kinetic_v = 0.5 * faces[:-1] * pressure * v**2
    heat = area[:, None] * ps[:, None] * CP * T
    total = ((kinetic_u + kinetic_v + heat) * thick).sum() + (area * ps * fields["phis"]).sum()
    return float(total / GRAVITY / (area.sum() * problem.ni))


def angular_momentum(problem: Problem, fields) -> float:
    """About the Earth's axis, over the area, kg/s: ∫ a cosφ (u + Ω a cosφ) dp/g."""
    area, thick = _area(problem)[:, None], vertical(problem.levels).thickness[:, None]
    ps = 0.5 * (fields["ps"] + np.roll(fields["ps"], -1, -1))[:, None]
    turning = area * RADIUS * area * (fields["u"] + OMEGA * RADIUS * area) * ps
    return float((turning * thick).sum() / GRAVITY / (area.sum() * problem.ni))


def verify(problem: Problem, result) -> list[Check]:
    """Mass to rounding; energy and angular momentum within bounds; what the case promises.

    With physics the water and heat that fall and radiate leave the totals, so that only mass is checked; a
    ``Result`` without its initial state gets the checks that need none.
    """
    fields = result.fields
    finite = all(np.isfinite(fields[name]).all() for name in ("u", "v", "T", "q", "ps"))
    checks = [Check("all numbers are finite", float(finite), 1.0, 0.0, finite)]
    if result.initial is None or not finite:
        return checks
    start = result.initial.fields
    days = max(result.step - result.initial.step, 1) * problem.dt / 86400
    checks.append(Check.relative("global mass", mass(problem, fields), mass(problem, start), 1e-13 * (10 + days)))
    if problem.physics:
        return checks
    coarse = max(1.0, (192 / problem.ni) ** 2 * (15 / problem.levels))
    for name, measure, bound in (("total energy", energy, 5e-6), ("angular momentum", angular_momentum, 1e-4)):
        tolerance = bound * coarse * max(days, 1.0)
        checks.append(Check.relative(name, measure(problem, fields), measure(problem, start), tolerance))
    if problem.case == "rest" and problem.lapse == 0.0:
        wind = max(np.abs(fields["u"]).max(), np.abs(fields["v"]).max())
        checks.append(Check.near("wind over air at rest, m/s", wind, 0.0, 1e-10 * max(days, 1.0)))
    if problem.case == "steady":
        waves = np.abs(fields["u"] - fields["u"].mean(-1, keepdims=True)).max()
        checks.append(Check.near("departure from zonal symmetry, m/s", waves, 0.0, 1e-10 * max(days, 1.0)))
    return checks
