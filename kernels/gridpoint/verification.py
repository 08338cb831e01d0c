"""Properties of a forecast: conserved integrals, symmetry, the residual of the Helmholtz equations."""

import numpy as np

from kernels.contract import Check, worst
from kernels.gridpoint.levels import CP, GRAVITY, OMEGA, RADIUS, latitudes, vertical
from kernels.gridpoint.problem import Problem


class Integrals:
    """Conserved integrals of a state whose rows come in groups, from south to north."""

    def __init__(self, problem: Problem):
        self.problem, self.finite = problem, True
        self._lat, self._thick = latitudes(problem.nj), vertical(problem.levels).thickness[:, None]
        self._faces = np.cos(-np.pi / 2 + np.arange(problem.nj + 1) * np.pi / problem.nj)
        self._faces[[0, -1]] = 0.0
        self._sums, self._south = np.zeros(3), None

    def add(self, first: int, fields) -> "Integrals":
        """Rows from ``first`` on: u, v, T (n, K, ni), ps and phis (n, ni)."""
        u, v, ps = fields["u"], fields["v"], fields["ps"]
        area = np.cos(self._lat[first : first + len(ps)])[:, None]
        south = np.concatenate([ps[:1] if self._south is None else self._south, ps[:-1]])
        east = 0.5 * (ps + np.roll(ps, -1, -1))[:, None]
        self.finite &= all(bool(np.isfinite(field).all()) for field in fields.values())
        faces = self._faces[first : first + len(ps)][:, None, None]
        kinetic = 0.5 * (area[:, None] * east * u**2 + faces * 0.5 * (ps + south)[:, None] * v**2)
        heat = area[:, None] * ps[:, None] * CP * fields["T"]
        turning = area[:, None] * RADIUS * area[:, None] * (u + OMEGA * RADIUS * area[:, None]) * east
        energy = ((kinetic + heat) * self._thick).sum() + (area * ps * fields["phis"]).sum()
        self._sums += (area * ps).sum(), energy, (turning * self._thick).sum()
        self._south = ps[-1:].copy()
        return self

    def _mean(self, number: int) -> float:
        return float(self._sums[number] / (np.cos(self._lat).sum() * self.problem.ni))

    @property
    def mass(self) -> float:
        """Mean surface pressure, Pa."""
        return self._mean(0)

    @property
    def energy(self) -> float:
        """Kinetic and total potential energy over the area, J/m²: ∫ (K + c_p T) dp/g + Φ_s p_s/g."""
        return self._mean(1) / GRAVITY

    @property
    def momentum(self) -> float:
        """Angular momentum about the Earth's axis, over the area, kg/s: ∫ a cosφ (u + Ω a cosφ) dp/g."""
        return self._mean(2) / GRAVITY


def integrals(problem: Problem, fields) -> Integrals:
    """Those of a whole state."""
    return Integrals(problem).add(0, fields)


def properties(problem: Problem, result) -> list[Check]:
    """Mass to rounding; energy and angular momentum within bounds; what the case promises.

    With physics the water and heat that fall and radiate leave the totals, so that only mass is checked; a
    ``Result`` without its initial state gets the checks that need none.
    """
    fields, initial = result.fields, result.initial
    if result.summary is not None:
        start, end = result.summary.start, result.summary.end
    else:
        end = integrals(problem, fields)
        start = integrals(problem, initial.fields) if initial is not None else None
    checks = [Check("all numbers are finite", float(end.finite), 1.0, 0.0, end.finite)]
    if start is None or not end.finite:
        return checks
    steps = result.step - result.initial.step or 1
    days = steps * problem.dt / 86400
    checks.append(Check.relative("global mass", end.mass, start.mass, 1e-13 * (10 + days)))
    if problem.physics:
        return checks
    longest = worst(1.0, days)
    longer = longest * max(1.0, (192 / problem.ni) ** 2 * (15 / problem.levels))
    checks.append(Check.relative("total energy", end.energy, start.energy, 5e-6 * longer))
    checks.append(Check.relative("angular momentum", end.momentum, start.momentum, 1e-4 * longer))
    if result.summary is not None:
        return checks
    if problem.case == "rest" and problem.lapse == 0.0:
        wind = worst(fields["u"], fields["v"])
        checks.append(Check.near("wind over air at rest, m/s", wind, 0.0, 1e-10 * longest))
    if problem.case == "steady":
        waves = worst(fields["u"] - fields["u"].mean(-1, keepdims=True))
        checks.append(Check.near("departure from zonal symmetry, m/s", waves, 0.0, 1e-10 * longest))
    return checks


NO_OUTPUT = {"initial": "what the forecast starts from"}
