"""Studies: aliasing at equal truncation, scores of two builds of one code, errors of a steady state."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kernels.contract import require_choice, require_range
from kernels.runtime.threads import numba_threads
from kernels.shallow_water.cases import initial
from kernels.shallow_water.diagnostics import by_degree, change_truncation, integrals, norms
from kernels.shallow_water.model import Result, State, Stepper, setup
from kernels.shallow_water.problem import BUILDS, GRAVITY, RADIUS, Problem, grid_for
from kernels.spectral import Plan


class Aliasing(NamedTuple):
    """What one grid makes of a truncation."""

    grid: str  # grid the model ran on
    latitude: np.ndarray  # of the drawn grid's rows, degrees, float64[rows]
    longitude: np.ndarray  # of its columns, degrees, float64[columns]
    vorticity: np.ndarray  # at the end, 1/s, float64[rows, columns]
    product_error: np.ndarray  # relative error of the vorticity tendency, by degree, float64[T + 1]


def product_error(plan: Plan, exact: Plan, spectra, coriolis, exact_coriolis, threads: int = 1):
    """Error of ``curl((ζ + f)(v, -u))`` on one grid, by degree, relative to the whole tendency.

    ``sqrt(Σ_m |error_n^m|² / Σ |tendency|²)`` for each degree ``n`` up to the truncation of ``plan``;
    ``exact`` is a plan of the same truncation on a grid that carries the product without aliasing.
    """
    found = []
    for chosen, f in ((plan, coriolis), (exact, exact_coriolis)):
        u, v = chosen.wind(spectra[0], spectra[2], threads=threads)
        absolute = chosen.inverse(spectra[0], threads=threads) + f
        found.append(chosen.vordiv(absolute * v, -absolute * u, threads=threads)[0])
    return np.sqrt(by_degree(plan, found[0] - found[1]) / by_degree(plan, found[1]).sum())


def compare_grids(problem: Problem, ends: Mapping[str, Result], threads: int = 1) -> dict[str, Aliasing]:
    """What the grid of each relation makes of ``problem``, from the ends of its integrations there.

    The vorticity is drawn on one full grid, the cubic one.  On the linear grid the quadratic products of the equations
    fold back onto the resolved waves, on the others they do not.  ``product_error`` compares each grid's vorticity
    tendency, for the final state of the first relation, with the cubic grid's.
    """
    finest = Plan(grid_for(problem.truncation, "cubic"), problem.truncation, radius=RADIUS)
    exact_coriolis = setup(replace(problem, grid=finest.grid.name, perturbation=0.0)).coriolis
    rows, columns = 2 * finest.grid.N, int(finest.grid.pl[0])
    found, probe = {}, None
    for relation, result in ends.items():
        state = result.state
        probe = result.spectra if probe is None else probe
        vorticity = finest.inverse(result.spectra[0], threads=threads)
        found[relation] = Aliasing(
            state.plan.grid.name,
            finest.grid.latitudes,
            finest.grid.longitudes(0),
            vorticity.reshape(rows, columns),
            product_error(state.plan, finest, probe, state.coriolis, exact_coriolis, threads),
        )
    return found


class Scores(NamedTuple):
    """Root-mean-square errors of the surface height, m, paired by member."""

    hours: np.ndarray  # lead times, h, float64[leads]
    strict: np.ndarray  # float64[members, leads]
    fast: np.ndarray  # float64[members, leads]
    #: largest relative change of mass, energy and potential enstrophy between start and end over the
    #: members, float64[3], by integration: ``truth``, ``strict``, ``fast``, and ``wrong 0``, ``wrong 1`` …
    drift: dict[str, np.ndarray]
    wrong: np.ndarray  # float64[wrong builds, members, leads]

    @property
    def difference(self) -> np.ndarray:
        """``fast - strict`` of each pair, m, float64[members, leads]."""
        return self.fast - self.strict


def _heights(problem, seed, leads, threads, off=0.0):
    """Plan, spectrum of the surface height at each lead time, complex128[leads, ncoef], and relative drifts.

    ``off`` is a relative error of the rotation in the model's equations, not in its initial state.
    """
    state = setup(problem, seed)
    state.coriolis[:] *= 1.0 + off
    stepper = Stepper(problem, state, threads)
    first, found = np.array(integrals(stepper)[1:]), []
    for lead in leads:
        with numba_threads(threads):
            while stepper.hour < lead - 1e-9:
                stepper.step()
        found.append(_surface(state, stepper.now))
    return state.plan, np.array(found), np.abs(np.array(integrals(stepper)[1:]) / first - 1.0)


def scores(truth_plan, truth, plan, heights) -> np.ndarray:
    """RMS difference of height over the sphere at each lead time, at the lower truncation."""
    cut = change_truncation(truth_plan, truth, plan)
    return np.array([np.sqrt(by_degree(plan, one - other).sum()) for one, other in zip(cut, heights, strict=True)])


def _require_finer(truth: int, scored: int) -> None:
    if truth < scored:
        raise ValueError(f"truth has truncation {truth}, below the scored {scored}; give it the higher one")


def paired_scores(
    problem: Problem, truth: Problem, members: int, leads, threads: int = 1, seed: int = 0, off=()
) -> Scores:
    """Score the strict, the fast and wrong builds of ``problem`` against ``truth`` for an ensemble.

    Member ``k`` adds a random height of ``problem.perturbation`` metres RMS, drawn from ``seed + k``, to the initial
    state of all integrations. ``ValueError`` if a lead time is no multiple of a time step, truth has the lower
    truncation, or there is no perturbation to tell members apart.

    Parameters
    ----------
    problem, truth : Problem
        The model that is scored and the one of higher resolution; ``truth`` keeps its own build.
    members : int
        Size of the ensemble.
    leads : sequence of float
        Lead times, h, ascending, whole multiples of both time steps.
    off : sequence of float
        For each, one build more is scored: strict, with the rotation wrong by this relative amount.
    """
    require_range("members", members, 1, 100000)
    _require_finer(truth.truncation, problem.truncation)
    if problem.perturbation <= 0.0:
        raise ValueError("perturbation = 0 m makes all members equal; give a perturbation above 0 m")
    for lead in leads:
        for name, chosen in (("problem", problem), ("truth", truth)):
            steps = lead * 3600.0 / chosen.dt
            if steps <= 0 or abs(steps - round(steps)) > 1e-6:
                raise ValueError(
                    f"lead time {lead} h is no multiple of the time step {chosen.dt:g} s of "
                    f"{name}; choose another lead time or step"
                )
    truth = replace(truth, perturbation=problem.perturbation)
    builds = {build: (replace(problem, build=build), 0.0) for build in BUILDS}
    builds |= {f"wrong {number}": (replace(problem, build="strict"), each) for number, each in enumerate(off)}
    found = {name: np.empty((members, len(leads))) for name in builds}
    drift = {name: np.zeros(3) for name in ("truth", *builds)}
    for member in range(members):
        truth_plan, true, moved = _heights(truth, seed + member, leads, threads)
        np.maximum(drift["truth"], moved, out=drift["truth"])
        for name, (build, wrong) in builds.items():
            plan, heights, moved = _heights(build, seed + member, leads, threads, wrong)
            np.maximum(drift[name], moved, out=drift[name])
            found[name][member] = scores(truth_plan, true, plan, heights)
    times = np.asarray(leads, dtype=np.float64)
    others = np.array([found[name] for name in builds if name not in BUILDS])
    return Scores(times, found["strict"], found["fast"], drift, others)


def _surface(state: State, spectra: np.ndarray) -> np.ndarray:
    """Spectrum of the height of the free surface, m."""
    height = (spectra[1] + state.ground) / GRAVITY
    height[0] += state.mean / GRAVITY
    return height


def steady_errors(result: Result, problem: Problem) -> tuple[float, float, float]:
    """Relative ``(l1, l2, l∞)`` errors of the depth at the end where the initial state is steady, 1.

    ``ValueError`` if the case of ``problem`` is not steady.
    """
    require_choice("case", problem.case, ("williamson2", "galewsky_balanced"))
    plan = result.state.plan
    depth = (plan.inverse(result.spectra[1]) + result.state.mean) / GRAVITY
    return norms(plan.grid, depth, initial(problem, plan.grid).depth)
