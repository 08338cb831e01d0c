"""One forecast under settings that the report of 2006 changed (P1, P7, P11): target, pages, and binding of its threads.

Each state is a process of its own, which keeps its settings as long as it lives: numba compiles for the processor that
its environment names when it is imported, and Linux takes back huge pages for a whole process.
"""

import ctypes
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

from supercomputers_rerun.kernels import shallow_water
from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, one_of, whole
from supercomputers_rerun.kernels.files.processes import Processes
from supercomputers_rerun.kernels.jobs import BUILDS
from supercomputers_rerun.kernels.processor.smt import LISTS, list_cpus
from supercomputers_rerun.kernels.runtime.resources import require_memory, smt_siblings
from supercomputers_rerun.kernels.runtime.team import bind

__all__ = ["Problem", "footprint", "run", "setup", "verify", "work"]

_THP_DISABLE = 41  # PR_SET_THP_DISABLE of prctl(2)
_INTERPRETER = 400 * 2**20  # bytes of a process that has loaded the model


@dataclass(frozen=True)
class Problem(Presets):
    """A forecast of the shallow-water model and its settings."""

    truncation: whole(10, 8000) = 42  # triangular truncation T, 1
    grid: str = "F32"  # Gaussian grid
    dt: float = 900.0  # time step, s
    steps: whole(1, 10**6) = 48  # time steps
    build: one_of(*BUILDS) = "this processor"  # processor that is compiled for
    huge: bool = True  # arrays lie on huge pages where the system grants them
    order: one_of("", *LISTS) = ""  # list by which threads are bound, of kernels.processor.smt; empty: not bound
    doubled: bool = False  # twice the threads that are asked for, as with SMT

    PRESETS: ClassVar = {
        "quick": {},
        "paper": {"truncation": 399, "grid": "N200", "dt": 120.0, "steps": 720},  # a day, as in the report
        "modern": {"truncation": 1279, "grid": "N640", "dt": 35.0, "steps": 48},
    }

    @property
    def model(self) -> shallow_water.Problem:
        """What is integrated: the unstable jet."""
        hours = self.steps * self.dt / 3600.0
        return shallow_water.Problem(self.truncation, self.grid, "galewsky", self.dt, hours, diffusion=3.0)


def _serve(here, problem: Problem) -> None:
    """What the process does, on a second thread: its first is never bound, and says what the process may use."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(_forecasts, here, problem).result()


def _forecasts(here, problem: Problem) -> None:
    if not problem.huge:
        ctypes.CDLL(None).prctl(_THP_DISABLE, 1, 0, 0, 0)
    model, result, bound = problem.model, None, 0
    state = shallow_water.setup(model)
    while True:
        here.send([] if result is None else shallow_water.verify(model, result))
        while asked := here.recv():
            threads, repeats = asked
            if problem.order and threads != bound:
                bind(list_cpus(problem.order, smt_siblings(), threads))
                bound = threads
            result = shallow_water.run(model, state, threads, repeats)
            here.send(None)


def setup(problem: Problem, seed: int = 0) -> Processes:
    """A process with the settings that is ready to start (``seed`` is not used)."""
    require_memory(footprint(problem).memory, f"a forecast at truncation {problem.truncation}")
    process = Processes(_serve, [(problem,)], [BUILDS[problem.build]])
    process.answers()
    return process


def run(problem: Problem, state: Processes, threads: int = 1, repeats: int = 1) -> Processes:
    """The forecast, ``repeats`` times.  ``OSError`` if the process ends early; its message is on standard error."""
    state.send((2 * threads if problem.doubled else threads, repeats))
    state.answers()
    return state


def verify(problem: Problem, result: Processes) -> list[Check]:
    """The model's own checks of the last forecast, by the process."""
    result.send(None)
    return result.answers()[0]


def work(problem: Problem, threads: int = 1) -> Work:
    """That of the model, which threads share."""
    return shallow_water.work(problem.model)


def footprint(problem: Problem) -> Footprint:
    """The model and an interpreter."""
    return Footprint(_INTERPRETER + shallow_water.footprint(problem.model).memory)
