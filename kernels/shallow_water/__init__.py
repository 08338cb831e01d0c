"""A small spectral model: the shallow-water equations on the rotating sphere.

With relative vorticity ``ζ``, divergence ``D``, geopotential of the fluid's depth ``φ = Φ + φ'`` (``Φ``
its mean), of the ground ``φ_s``, wind ``V = (u, v)``, ``A = (ζ + f)(v, -u)`` and ``K = V² / 2``:

    ∂ζ/∂t = curl A
    ∂D/∂t = div A - ∇²(K + φ + φ_s)
    ∂φ/∂t = -div(φ'V) - Φ D

Products are formed on the Gaussian grid and derivatives taken in spectra (the spectral transform
method).  Leapfrog in time, gravity waves implicit with a trapezoidal mean, Robert-Asselin-Williams
filter, implicit hyperdiffusion.  Each step takes four inverse and five direct transforms.

Sources: J. J. Hack, R. Jakob, NCAR Technical Note 343 (1992), for the equations and the semi-implicit
step; P. D. Williams, Mon. Wea. Rev. 137, 2538 (2009), for the filter; cases in ``problem``.
"""

import numpy as np

from supercomputers_rerun.kernels.contract import Check, Work, worst
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.shallow_water import plain
from supercomputers_rerun.kernels.shallow_water.compiled import COEFFICIENT_FLOPS, POINT_FLOPS
from supercomputers_rerun.kernels.shallow_water.diagnostics import compare_grids, means, surface
from supercomputers_rerun.kernels.shallow_water.model import (
    SECTIONS,
    Result,
    State,
    Stepper,
    footprint,
    history_table,
    run,
    setup,
)
from supercomputers_rerun.kernels.shallow_water.problem import BUILDS, GRAVITY, RADIUS, Problem, grid_for
from supercomputers_rerun.kernels.spectral import grid as gaussian_grid

__all__ = ["BOUNDED", "BUILDS", "DRIFT", "GRAVITY", "NO_OUTPUT", "PROOF", "Problem", "RADIUS", "Result", "SECTIONS"]
__all__ += ["State", "Stepper", "compare_grids", "fields", "footprint", "grid_for", "reference", "run", "setup"]
__all__ += ["surface", "verify", "work"]


def fields(result: Result) -> dict[str, np.ndarray]:
    """Grid values at the end: ``height`` of the surface (m), ``depth`` (m), ``vorticity`` and
    ``divergence`` (1/s), ``u`` and ``v`` (m/s), each float64[points]."""
    state, plan = result.state, result.state.plan
    vorticity, _, divergence = result.spectra
    u, v = plan.wind(vorticity, divergence)
    vorticity, height, divergence = plan.inverse(np.stack([vorticity, surface(state, result.spectra), divergence]))
    depth = height - state.ground_height
    return {"height": height, "depth": depth, "vorticity": vorticity, "divergence": divergence, "u": u, "v": v}


def reference(problem: Problem, state: State) -> Result:
    """The same integration with plain sums for transforms, and NumPy."""
    now, before = plain.integrate(problem, state)
    ends = (0.0, state.spectra), (problem.steps * problem.dt / 3600.0, now)
    history = history_table([(hour, *means(state, spectra)) for hour, spectra in ends])
    return Result(state, now, problem.steps, dict.fromkeys(SECTIONS, np.nan), history, before)


#: Largest relative drift of energy and of potential enstrophy a day: without diffusion, with it.
DRIFT = {False: (2e-6, 2e-4), True: (1e-4, 1e-2)}


def _last_step(problem: Problem, result: Result) -> list[Check]:
    """The last two time levels from those before them by NumPy's formulas: every coefficient of the result."""
    filtered, new = plain.again(problem, result.state, result.before, result.spectra)
    off = [np.abs(new - result.spectra), np.abs(filtered - result.before[1])]
    turning = worst(result.spectra[::2])  # of vorticity and divergence, which have the same unit
    sizes = {"vorticity": turning, "geopotential": worst(result.spectra[1]), "divergence": turning}
    return [
        Check.near(f"last step by other code, {name}", worst(*(each[n] for each in off)) / size, 0.0, 1e-13)
        for n, (name, size) in enumerate(sizes.items())
    ]


def verify(problem: Problem, result: Result) -> list[Check]:
    """The last step again by other code, integrals that the equations conserve, and when they were noted.

    The integrals noted at both ends are those of the spectra there; those between drift no farther.
    """
    checks = [Check.near("steps", result.steps, problem.steps, 0), *_last_step(problem, result)]
    history = result.history
    names, days = history.dtype.names[1:], max(1.0, problem.hours / 24.0)
    for when, row, spectra in (("start", 0, result.state.spectra), ("end", -1, result.spectra)):
        again = means(result.state, spectra)
        off = worst(*(value / history[row][name] - 1.0 for name, value in zip(names, again, strict=True)))
        checks.append(Check.near(f"integrals of the spectra against those noted at the {when}", off, 0.0, 1e-12))
    for name, daily in zip(names, (1e-13 / days, *DRIFT[problem.diffusion > 0]), strict=True):
        off = worst(history[name] / history[name][0] - 1.0)
        checks.append(Check.near(f"{name}: largest drift on the way", off, 0.0, daily * days))
    steps = np.round(history["hour"] * 3600.0 / problem.dt)
    off = worst(history["hour"] - steps * problem.dt / 3600.0) + abs(steps[0]) + abs(steps[-1] - problem.steps)
    checks.append(Check.near("hours at which integrals were noted, off time steps, h", off, 0.0, 1e-9))
    late = np.count_nonzero(~(np.diff(history["hour"]) > 0.0))
    checks.append(Check.near("hours that are not after the one before", late, 0, 0))
    return checks


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations and bytes of one integration, which threads share.

    Legendre sums as in ``spectral.work``: four operations for every degree, wavenumber and pair of rows;
    wind and vector transforms carry one degree more.  Fourier transforms ``2.5 n log2 n`` a row.  Bytes
    are those of the grid-point loop and of the spectral step, which stream through memory.
    """
    T, chosen = problem.truncation, gaussian_grid(problem.grid)
    pl = chosen.pl[: chosen.N]
    top = np.minimum(T, (pl - 1) // 2)
    scalar = 4 * int(((top + 1) * (T + 1) - top * (top + 1) // 2).sum())
    vector = scalar + 4 * int((top + 1).sum())
    ncoef, points = (T + 1) * (T + 2) // 2, chosen.points
    each = (
        ("Legendre", 3 * scalar + 6 * vector),
        ("FFT", 9 * 2 * int(np.rint((2.5 * pl * np.log2(pl)).sum()))),
        ("grid-point", POINT_FLOPS * points),
        ("spectral", COEFFICIENT_FLOPS * 2 * ncoef),
    )
    parts = tuple((name, problem.steps * flops) for name, flops in each)
    return Work(
        flops=sum(flops for _, flops in parts),
        parts=parts,
        bytes_read=problem.steps * 8 * (5 * points + 11 * 2 * ncoef),
        bytes_written=problem.steps * 8 * (5 * points + 6 * 2 * ncoef),
    )


NO_OUTPUT = {"state": "what the integration starts from, and its work space"}


def BOUNDED(problem: Problem) -> dict[str, tuple[float, str]]:
    """What may have been lost on the way."""
    days, why = max(1.0, problem.hours / 24.0), "between start and end they are known to their drift alone"
    daily = dict(zip(("energy", "enstrophy"), DRIFT[problem.diffusion > 0], strict=True))
    return {f"history.{name}": (2.0 * drift * days, why) for name, drift in daily.items()}


PROOF = Proof(
    {"truncation": 13, "grid": "F20", "case": "williamson5", "hours": 2.0, "dt": 1200.0},
    each={"build": BUILDS},
    within={"spectra": 1e-12},
    not_compared=("state", "history", "seconds", "before"),
)
