"""The out-of-core grid-point forecast of 1982: hydrostatic primitive equations, dry or with column work, whose state
lives in work files.

C grid in longitude and latitude, sigma levels, leapfrog with semi-implicit gravity waves, in the manner of ECMWF's
first operational model (Burridge and Haseler, ECMWF Technical Report 4, 1977; Simmons, Hoskins and Burridge, Mon.
Weather Rev. 106, 1978).  Modules, from what is asked for to what is computed:

``problem``, ``levels``, ``cases``                  sizes, levels and latitudes, the initial state
``plan``                                          where numbers lie, in memory and in records; coefficients
``rows``, ``helmholtz``, ``physics``, ``scan``        the compiled stages of a row, column work, their order
``stores``                                        work files, and drivers that move records
``state``, ``model``, ``writeup``, ``postprocess``  the forecast, what it writes up, the job that reads it
``simulator``                                     a stand-in that computes for as long and moves as much
``whole_arrays``                                  the reference, in NumPy

>>> from supercomputers_rerun.kernels import gridpoint
>>> problem = gridpoint.Problem(hours=2.0, files=2, overlap="both")
>>> result = gridpoint.run(problem, gridpoint.setup(problem))
>>> all(check.ok for check in gridpoint.verify(problem, result)), result.fields["T"].shape
(True, (24, 5, 48))
"""

import functools
import math

import numpy as np

from supercomputers_rerun.kernels.contract import Check, worst
from supercomputers_rerun.kernels.gridpoint.levels import CP, GRAVITY, OMEGA, RADIUS, latitudes, vertical
from supercomputers_rerun.kernels.gridpoint.model import Model, run
from supercomputers_rerun.kernels.gridpoint.problem import Problem
from supercomputers_rerun.kernels.gridpoint.state import Result, State, Step, footprint, record_bytes, setup, work
from supercomputers_rerun.kernels.gridpoint.whole_arrays import forecast, plain
from supercomputers_rerun.kernels.proof import Proof

__all__ = ["BOUNDED", "NO_OUTPUT", "PROOF", "Model", "Problem", "Result", "State", "Step", "footprint"]
__all__ += ["integrals", "plain", "record_bytes", "reference", "run", "setup", "verify", "work"]

#: Operations up to which ``verify`` compares every number with whole arrays in NumPy, a second's work.
COMPARED = 2e8
#: How far apart these are, of the largest number of a field.
_APART = 1e-10
#: The fields of :func:`reference`, to which a result is held before and after it is timed.
_known = functools.lru_cache(maxsize=4)(lambda problem, start: reference(problem, start).fields)


def reference(problem: Problem, state: State) -> Result:
    """The same forecast by whole arrays in NumPy (``whole_arrays``): small grids only; its times are NaN."""
    fields = forecast(problem, state.fields)
    return Result(fields, state, clock=math.nan, cpu=math.nan, moving=math.nan)


def integrals(problem: Problem, fields: dict[str, np.ndarray]) -> list[float]:
    """What the equations conserve, over the area, of u, v, T (nj, K, ni), ps and phis (nj, ni).

    Mass: mean surface pressure, Pa.  Kinetic and total potential energy, J/m²: ∫ (K + c_p T) dp/g + Φ_s p_s/g.
    Angular momentum about the Earth's axis, kg/s: ∫ a cosφ (u + Ω a cosφ) dp/g.
    """
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
    return (sums / (area.sum() * problem.ni)).tolist()


def verify(problem: Problem, result: Result) -> list[Check]:
    """Mass to rounding, energy and angular momentum within bounds; every number of a forecast that is short enough.

    That is where whole arrays in NumPy take no longer than a second.  With physics the water and heat that fall and
    radiate leave the totals, so that of these only mass is checked.
    """
    fields, initial = result.fields, result.initial
    finite = all(bool(np.isfinite(field).all()) for field in fields.values())
    checks = [Check("all numbers are finite", float(finite), 1.0, 0.0, finite)]
    if not finite:
        return checks
    days = (problem.steps or 1) * problem.dt / 86400
    longer = max(1.0, days) * max(1.0, (192 / problem.ni) ** 2 * (15 / problem.levels))
    bounds = {"global mass": 1e-13 * (10 + days)}
    if not problem.physics:
        bounds |= {"total energy": 5e-6 * longer, "angular momentum": 1e-4 * longer}
    start, end = integrals(problem, initial.fields), integrals(problem, fields)
    checks += [Check.relative(*each) for each in zip(bounds, end, start, bounds.values(), strict=False)]
    if work(problem).flops > COMPARED:
        return checks
    known = _known(problem, initial)
    for name, found in fields.items():
        expected = known.get(name, initial.fields[name])
        off = worst(found - expected) / (worst(expected) or 1.0)
        checks.append(Check.near(f"{name} against whole arrays, of its largest", off, 0.0, _APART))
    return checks


NO_OUTPUT = {"initial": "what the forecast starts from"}

BOUNDED = {
    "fields": (
        2 * _APART,
        "of forecasts up to 2·10⁸ operations, which are compared with whole arrays in NumPy; of longer ones no "
        "integral that the equations conserve fixes a number of its own, and NaN and infinity alone are noticed",
    )
}

PROOF = Proof(
    {"ni": 32, "nj": 12, "levels": 2, "hours": 3.0, "radiation": 1.0},
    each={"physics": (False, True), "files": (0, 1, 2, 4), "rhs": ("memory", "files")},
    within={"fields": 3e-12},
    not_compared=("initial", "steps", "computing", "transfers", "threads"),
)
