"""An ensemble that scores builds of the small model, in the words of a kernel: the study of ``xc30-builds``."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernels import shallow_water
from kernels.contract import Check, Footprint, Work, worst
from kernels.shallow_water import Scores


@dataclass(frozen=True)
class Problem:
    """Both builds of ``model`` scored against ``truth``; what :func:`kernels.shallow_water.paired_scores` takes."""

    model: shallow_water.Problem  # its build is replaced
    truth: shallow_water.Problem  # of higher truncation
    members: int  # initial states
    leads: tuple[float, ...]  # lead times, h, ascending
    off: tuple[float, ...] = ()  # relative errors of the rotation in further, wrong builds


def _integrations(problem: Problem) -> dict[str, shallow_water.Problem]:
    """The integrations of one member by name, each to the last lead time."""
    builds = {build: replace(problem.model, build=build) for build in shallow_water.BUILDS}
    builds |= {f"wrong {number}": builds["strict"] for number in range(len(problem.off))}
    return {name: replace(one, hours=problem.leads[-1]) for name, one in {"truth": problem.truth, **builds}.items()}


def footprint(problem: Problem) -> Footprint:
    """One member at a time: two integrations at once."""
    sizes = [shallow_water.footprint(one).memory for one in (problem.truth, problem.model)]
    return Footprint(sum(sizes))


@dataclass(frozen=True)
class State:
    """What tells members apart."""

    seed: int  # of the first member; the others follow


def setup(problem: Problem, seed: int = 0) -> State:
    """Nothing is allocated: each member sets up its own integrations."""
    return State(seed)


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Scores:
    """The whole ensemble, ``repeats`` times."""
    found: Any = None
    for _ in range(repeats):
        found = shallow_water.paired_scores(
            problem.model, problem.truth, problem.members, problem.leads, threads, state.seed, problem.off
        )
    return found


def verify(problem: Problem, result: Scores) -> list[Check]:
    """Integrals that every member conserves, within what the model allows, and an error at every lead time."""
    checks = []
    for name, one in _integrations(problem).items():
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
    each = [shallow_water.work(one, threads) for one in _integrations(problem).values()]
    flops, read, written = (
        sum(getattr(one, name) for one in each) for name in ("flops", "bytes_read", "bytes_written")
    )
    return Work(flops, read, written).times(problem.members)
