"""Builds of the small model scored in pairs against one of higher resolution, in the words of a kernel.

Member ``k`` adds a random height of ``perturbation`` metres RMS, drawn from ``seed + k``, to the initial state of all
integrations.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from supercomputers_rerun.kernels import shallow_water
from supercomputers_rerun.kernels.contract import Check, Footprint, Work, worst
from supercomputers_rerun.kernels.shallow_water.diagnostics import by_degree, change_truncation, means


@dataclass(frozen=True)
class Problem:
    """The strict, the fast and wrong builds of ``model``, which has a perturbation, scored against ``truth``."""

    model: shallow_water.Problem  # its build is replaced
    truth: shallow_water.Problem  # of higher truncation, with the same perturbation
    members: int  # initial states
    leads: tuple[float, ...]  # lead times, h, ascending, whole multiples of both time steps
    off: tuple[float, ...] = ()  # relative errors of the rotation in further, wrong builds

    def __post_init__(self):
        if self.truth.truncation < self.model.truncation or not 0 < self.model.perturbation == self.truth.perturbation:
            raise ValueError("give a truth of no lower truncation than the model, and both the same perturbation")

    @property
    def integrations(self) -> dict[str, tuple[shallow_water.Problem, float]]:
        """Those of one member by name, each to the last lead time, and the relative error of its rotation."""
        named = {"truth": (self.truth, 0.0)}
        named |= {build: (replace(self.model, build=build), 0.0) for build in shallow_water.BUILDS}
        named |= {f"wrong {n}": (replace(self.model, build="strict"), off) for n, off in enumerate(self.off)}
        return {name: (replace(one, hours=self.leads[-1]), off) for name, (one, off) in named.items()}


class Scores(NamedTuple):
    """Root-mean-square errors of the surface height, m, paired by member."""

    hours: np.ndarray  # lead times, h, float64[leads]
    strict: np.ndarray  # float64[members, leads]
    fast: np.ndarray  # float64[members, leads]
    #: largest relative change of mass, energy and potential enstrophy between start and end over the
    #: members, float64[3], by integration: ``truth``, ``strict``, ``fast``, and ``wrong 0``, ``wrong 1`` …
    drift: dict[str, np.ndarray]
    wrong: np.ndarray  # float64[wrong builds, members, leads]


def footprint(problem: Problem) -> Footprint:
    """One member at a time: two integrations at once."""
    return Footprint(sum(shallow_water.footprint(one).memory for one in (problem.truth, problem.model)))


@dataclass(frozen=True)
class State:
    """What tells members apart."""

    seed: int  # of the first member; the others follow


def setup(problem: Problem, seed: int = 0) -> State:
    """Nothing is allocated: each member sets up its own integrations."""
    return State(seed)


def _heights(problem, off, seed, leads, threads):
    """Plan, spectrum of the surface height at each lead time, complex128[leads, ncoef], and relative drifts.

    ``off`` is a relative error of the rotation in the model's equations, not in its initial state.
    """
    state = shallow_water.setup(problem, seed)
    state.coriolis[:] *= 1.0 + off
    stepper = shallow_water.Stepper(problem, state, threads)
    first, found = np.array(means(state, stepper.now, threads)), []
    for lead in leads:
        while stepper.hour < lead - 1e-9:
            stepper.step()
        found.append(shallow_water.surface(state, stepper.now))
    last = np.array(means(state, stepper.now, threads))
    return state.plan, np.array(found), np.abs(last / first - 1.0)


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Scores:
    """The whole ensemble, ``repeats`` times; differences are those at the lower truncation."""
    leads, found = problem.leads, None
    for _ in range(repeats):
        errors = {name: np.zeros((problem.members, len(leads))) for name in problem.integrations}
        drift = {name: np.zeros(3) for name in errors}
        for member in range(problem.members):
            truth: Any = None
            for name, (one, off) in problem.integrations.items():
                plan, heights, moved = _heights(one, off, state.seed + member, leads, threads)
                truth = truth or (plan, heights)
                np.maximum(drift[name], moved, out=drift[name])
                apart = change_truncation(*truth, plan) - heights
                errors[name][member] = [np.sqrt(by_degree(plan, each).sum()) for each in apart]
        wrong = [errors[f"wrong {n}"] for n in range(len(problem.off))]
        hours, shape = np.array(leads, dtype=np.float64), (-1, problem.members, len(leads))
        found = Scores(hours, errors["strict"], errors["fast"], drift, np.array(wrong).reshape(shape))
    return found


def verify(problem: Problem, result: Scores) -> list[Check]:
    """Integrals that every member conserves, within what the model allows, and an error at every lead time."""
    checks = []
    for name, (one, _) in problem.integrations.items():
        energy, enstrophy = shallow_water.DRIFT[one.diffusion > 0]
        days = worst(1.0, one.hours / 24.0)
        limits = {"mass": 1e-13, "energy": energy * days, "enstrophy": enstrophy * days}
        checks += [
            Check.near(f"{name}: {integral}, largest drift of {problem.members} members", moved, 0.0, limit)
            for (integral, limit), moved in zip(limits.items(), result.drift[name], strict=True)
        ]
    for name, errors in (("strict", result.strict), ("fast", result.fast), ("wrong", result.wrong)):
        scored = int((np.isfinite(errors) & (errors > 0)).sum())
        wanted = problem.members * len(problem.leads) * (len(problem.off) if name == "wrong" else 1)
        checks.append(Check.near(f"{name}: errors found", scored, wanted, 0))
    return checks


def work(problem: Problem, threads: int = 1) -> Work:
    """That of all integrations."""
    each = [shallow_water.work(one, threads) for one, _ in problem.integrations.values()]
    sums = (sum(getattr(one, name) for one in each) for name in ("flops", "bytes_read", "bytes_written"))
    return Work(*sums).times(problem.members)
