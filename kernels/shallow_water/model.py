"""The integration: state, one time step, and the driver that times its sections."""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from supercomputers_rerun.kernels.contract import Footprint
from supercomputers_rerun.kernels.files.work_folder import WorkFolder
from supercomputers_rerun.kernels.runtime.atomic import atomic_write
from supercomputers_rerun.kernels.runtime.resources import require_memory
from supercomputers_rerun.kernels.runtime.team import run_parts
from supercomputers_rerun.kernels.shallow_water.compiled import ADVANCE, PRODUCTS
from supercomputers_rerun.kernels.shallow_water.diagnostics import means, surface
from supercomputers_rerun.kernels.shallow_water.problem import GRAVITY, RADIUS, Problem, initial, random_height
from supercomputers_rerun.kernels.spectral import Plan
from supercomputers_rerun.kernels.spectral import grid as gaussian_grid

#: What the driver times.
SECTIONS = ("inverse transforms", "grid-point", "direct transforms", "spectral", "output")
#: Mean squared vorticity and divergence, 1/s², that no meaningful state has.
_ABSURD = 1e-4


class State(NamedTuple):
    """What an integration starts from, and its work space.

    Spectra hold vorticity (1/s), geopotential of the depth less its mean (m²/s²), divergence (1/s).
    """

    plan: Plan
    spectra: np.ndarray  # complex128 (3, ncoef): ζ, φ', D at time 0
    mean: float  # mean geopotential Φ, m²/s²
    ground: np.ndarray  # complex128 (ncoef,): geopotential of the ground, m²/s²
    ground_height: np.ndarray  # float64 (points,), m, as the truncation carries it
    coriolis: np.ndarray  # float64 (points,), 1/s
    levels: np.ndarray  # complex128 (3, 3, ncoef): old, now, new
    fields: np.ndarray  # float64 (7, points): ζ, φ', two vectors, kinetic energy


class Result(NamedTuple):
    """The state at the end, and what the integration met on its way."""

    state: State
    spectra: np.ndarray  # complex128 (3, ncoef): ζ, φ', D
    steps: int
    seconds: dict[str, float]  # of each section, all repeats together
    history: np.ndarray  # structured: hour, mass, energy, enstrophy
    before: np.ndarray  # complex128 (2, 3, ncoef): the two levels before the last, the second as the filter left it
    threads: int = 1  # that computed


def footprint(problem: Problem) -> Footprint:
    """Fields, initial values, spectra and copies of transforms; on the disk the output steps, two float32 a point."""
    ncoef, points = (problem.truncation + 1) * (problem.truncation + 2) // 2, gaussian_grid(problem.grid).points
    return Footprint(8 * 30 * points + 16 * 40 * ncoef, 2 * 4 * points * (problem.steps // _every(problem)))


def _every(problem: Problem) -> int:
    """Time steps from one output step to the next; without output more than there are."""
    return max(1, round(problem.output * 3600.0 / problem.dt)) if problem.output else problem.steps + 1


def setup(problem: Problem, seed: int = 0) -> State:
    """Plan, initial spectra and work space; ``seed`` draws the perturbation of the initial height.

    ``ValueError`` if grid and truncation do not fit, or the initial state has no fluid somewhere.
    """
    require_memory(footprint(problem).memory, f"truncation {problem.truncation} on {problem.grid}")
    plan = Plan(problem.grid, problem.truncation, radius=RADIUS)
    start = initial(problem, plan.grid)
    spectra = np.zeros((3, plan.ncoef), dtype=np.complex128)
    spectra[0], spectra[2] = plan.vordiv(start.u, start.v)
    spectra[1] = GRAVITY * plan.direct(start.depth)
    if problem.perturbation:
        spectra[1] += GRAVITY * random_height(plan, problem.perturbation, seed)
    mean = float(spectra[1, 0].real)
    spectra[:, 0] = 0.0
    ground = GRAVITY * plan.direct(start.ground)
    levels, fields = np.zeros((3, 3, plan.ncoef), dtype=np.complex128), np.zeros((7, plan.grid.points))
    return State(plan, spectra, mean, ground, plan.inverse(ground) / GRAVITY, start.coriolis, levels, fields)


class Stepper:
    """One integration in progress; ``step`` advances it, ``seconds`` says where its time went."""

    def __init__(self, problem: Problem, state: State, threads: int = 1):
        self.problem = problem
        self.state = state
        self.threads = state.plan.team(1, threads)  # transforms are of one field, and take most of the time
        self.old, self.now, self.new = state.levels
        self.now[:] = state.spectra
        self.old[:] = state.spectra
        self.done = 0
        self.seconds = dict.fromkeys(SECTIONS, 0.0)
        n = np.arange(problem.truncation + 1.0)
        self._laplacian = n * (n + 1.0) / RADIUS**2
        self._size = np.zeros(problem.truncation + 1)
        self._kinetic = np.zeros(state.plan.ncoef, dtype=np.complex128)

    @property
    def hour(self) -> float:
        """Hours since the start."""
        return self.done * self.problem.dt / 3600.0

    def tendencies(self):
        """Curl and divergence of ``A = (ζ + f)(v, -u)`` and of ``φ'V``, and the kinetic energy.

        Returns complex128 ``(2, ncoef)``, ``(2, ncoef)`` and ``(ncoef,)``.
        """
        plan, threads, fields = self.state.plan, self.threads, self.state.fields
        clock = [perf_counter()]
        u, v = plan.wind(self.now[0], self.now[2], threads=threads)
        plan.inverse(self.now[:2], out=fields[:2], threads=threads)
        clock.append(perf_counter())
        winds = u, v, fields[0], fields[1]
        loop = PRODUCTS[self.problem.build]
        run_parts(loop, threads, self.state.coriolis, *winds, fields[2:4], fields[4:6], fields[6], threads)
        clock.append(perf_counter())
        curl, divergence = plan.vordiv(fields[2:4], fields[4:6], threads=threads)
        kinetic = plan.direct(fields[6], out=self._kinetic, threads=threads)
        clock.append(perf_counter())
        for section, begin, end in zip(SECTIONS, clock, clock[1:], strict=False):
            self.seconds[section] += end - begin
        return curl, divergence, kinetic

    def step(self):
        """One time step: forward from the initial state, leapfrog from then on."""
        curl, divergence, kinetic = self.tendencies()
        begin = perf_counter()
        problem, state = self.problem, self.state
        first = self.done == 0
        span = problem.dt if first else 2.0 * problem.dt
        filtered = 0.0 if first else 0.5 * problem.asselin
        damping = 1.0 / (1.0 + span * problem.coefficient * self._laplacian ** (problem.order // 2))
        run_parts(
            ADVANCE[problem.build],
            self.threads,
            problem.truncation,
            tuple(level.view(np.float64) for level in (self.old, self.now, self.new)),
            tuple(spectrum.view(np.float64) for spectrum in (curl, divergence, kinetic, state.ground)),
            self._laplacian,
            damping,
            (span, state.mean, filtered * problem.williams, -filtered * (1.0 - problem.williams)),
            self._size,
            self.threads,
        )
        self.old, self.now, self.new = self.now, self.new, self.old
        self.done += 1
        if not float(self._size.sum()) < _ABSURD:
            raise FloatingPointError(
                f"step {self.done} (hour {self.hour:.2f}) of {problem.case} at truncation {problem.truncation} has no "
                f"meaningful field any more: dt = {problem.dt:g} s is too long or diffusion too weak; take "
                f"dt = {0.5 * problem.dt:.3g} s or a shorter e-folding time"
            )
        self.seconds["spectral"] += perf_counter() - begin


def _integrate(problem, state, threads, folder):
    stepper, every = Stepper(problem, state, threads), _every(problem)
    history = [(stepper.hour, *means(state, stepper.now, threads))]
    for k in range(1, problem.steps + 1):
        stepper.step()
        due = k % every == 0
        if due or k == problem.steps:
            begin = perf_counter()
            history.append((stepper.hour, *means(state, stepper.now, threads)))
            if due:  # surface height, m, and vorticity, 1/s, at every grid point
                spectra = np.stack([surface(state, stepper.now), stepper.now[0]])
                fields = state.plan.inverse(spectra, threads=threads).astype(np.float32)
                with atomic_write(folder / f"{k // every:06d}.f32", fsync=False) as part:
                    fields.tofile(part)
            stepper.seconds["output"] += perf_counter() - begin
    return stepper, history


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """Integrate from the initial state, ``repeats`` times.

    ``seconds`` of the result are summed over the repeats; output steps go to a folder that is removed afterwards.
    Of ``threads`` a small truncation takes fewer: ``Result.threads``.  ``ValueError``: more than usable CPUs.
    ``FloatingPointError`` if the integration becomes unstable; the sentence names the step and a remedy. ``OSError`` if
    the output does not fit on the disk.
    """
    seconds = dict.fromkeys(SECTIONS, 0.0)
    with WorkFolder(None, "shallow-water", footprint(problem).disk, "the output steps") as work:
        for _ in range(repeats):
            stepper, history = _integrate(problem, state, threads, work.path)
            for name, value in stepper.seconds.items():
                seconds[name] += value
    before = np.stack([stepper.new, stepper.old])
    return Result(state, stepper.now.copy(), stepper.done, seconds, history_table(history), before, stepper.threads)


def history_table(history) -> np.ndarray:
    """Rows of times and :func:`means` as the structured array of a result."""
    names = ("hour", "mass", "energy", "enstrophy")
    return np.array(history, dtype=[(name, np.float64) for name in names])
