"""The analysis of 1982 as a chain of steps with files between them: what it took to make a forecast's first state.

Observations of geopotential, wind and humidity are checked against each other and weighed against a first guess by
optimum interpolation in boxes, three variables at once (Lorenc, Mon. Weather Rev. 109, 1981).  The report lists the
steps (section 3.4) and gives the times of some; its programs do not survive, and ours share the method with them and
no line.  Observations are synthetic, so that the truth is known.  Modules, from what is asked for to what is computed:

``problem``                              sizes, places of files, standard levels
``synthetic``                            random fields, the truth, first guess and observations
``chain``                                files, and the steps from d to w
``vertical``, ``boxes``                  columns by ln p; the main program, box by box
``covariance``, ``cholesky``             compiled: covariances, the work of one box, factors of small matrices
``dense``                                the same in NumPy
``verification``                         what is checked

>>> from kernels import analysis
>>> problem = analysis.Problem(ni=24, nj=16, sondes=80, aircraft=20)
>>> result = analysis.run(problem, analysis.setup(problem))
>>> all(check.ok for check in analysis.verify(problem, result)), result.standard.shape
(True, (16, 5, 15, 24))
"""

import contextlib
import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from kernels.analysis import boxes, chain, covariance, dense, synthetic
from kernels.analysis.boxes import POINTS
from kernels.analysis.chain import Chain, StepTime
from kernels.analysis.covariance import PAIR_FLOPS
from kernels.analysis.dense import plain
from kernels.analysis.problem import LN_P, Problem
from kernels.analysis.verification import BOUNDED, NO_OUTPUT, verify
from kernels.contract import Footprint, Work
from kernels.files.filesystem import require_direct
from kernels.files.work_folder import WorkFolder
from kernels.proof import Proof
from kernels.runtime.resources import require_memory, require_threads

__all__ = ["Problem", "Result", "State", "footprint", "plain", "reference", "run", "setup", "verify", "work"]
__all__ += ["BOUNDED", "NO_OUTPUT", "PROOF"]


@dataclass(frozen=True)
class State:
    """What the chain starts from, and the truth, of which it is told nothing."""

    guess: np.ndarray = field(repr=False)  # float64 (nj, 4 levels + 2, ni): u, v, T, q, ln p_s, Φ of the ground
    data: synthetic.Data = field(repr=False)
    true: np.ndarray = field(repr=False)  # float64 (nj, 5, 15, ni): phi, u, v, T, q on standard levels
    pressure: np.ndarray = field(repr=False)  # float64 (nj, ni): ln p_s


@dataclass(frozen=True)
class Result:
    """The analysis, and what it took."""

    fields: np.ndarray = field(repr=False)  # float64 (nj, 4 levels + 2, ni), as the first guess
    standard: np.ndarray = field(repr=False)  # float64 (nj, 5, 15, ni) on standard levels, before the way back
    first_guess: np.ndarray = field(repr=False)  # the same of the first guess
    errors: np.ndarray = field(repr=False)  # float64 (nj, 15, ni): standard error of geopotential, predicted, m²/s²
    quality: np.ndarray = field(repr=False)  # float64 (data,): 1 accepted, 2 rejected, 0 not looked at
    steps: tuple[StepTime, ...]  # of the last repeat
    state: State = field(repr=False)

    @property
    def clock(self) -> float:
        """Seconds from step d to step w."""
        return sum(step.clock for step in self.steps)

    @property
    def cpu(self) -> float:
        """CPU seconds of the process."""
        return sum(step.cpu for step in self.steps)


def _data(problem: Problem) -> int:
    return problem.sondes * len(LN_P[synthetic.SEEN]) * 4 + 2 * problem.aircraft


def footprint(problem: Problem) -> Footprint:
    """State, results, the files in memory, and room for a box."""
    points, data = problem.nj * problem.ni, _data(problem)
    kept = 8 * points * (8 * (4 * problem.levels + 2) + LN_P.size * 64) + 8 * 100 * data
    room = 8 * problem.padded * (problem.padded + 8 + max(problem.padded, POINTS))
    files = chain.layout(problem, data).values()
    disk = sum(file.bytes for file in files if chain.place(problem, file.kind) != "memory")
    return Footprint(kept + room + sum(file.bytes for file in files) - disk + 2**26, disk)


def setup(problem: Problem, seed: int = 0) -> State:
    """A truth, a first guess, and observations.  ``MemoryError`` if memory cannot take what ``footprint`` says."""
    require_memory(footprint(problem).memory, "an analysis with its files")
    return _state_in_memory(replace(problem, work="memory", rest="memory", ahead=False, folder=None), seed)


@functools.lru_cache(maxsize=2)
def _state_in_memory(problem: Problem, seed: int) -> State:
    """One state for all places of the files."""
    rng = np.random.default_rng(seed)
    truth = synthetic.draw(problem, rng)
    guess, *known = synthetic.first_guess(problem, truth)
    return State(guess, synthetic.observe(problem, truth, rng), *known)


def _run(problem: Problem, state: State, tools, on_ready=lambda: None) -> Result:
    with WorkFolder(problem.folder, "analysis", footprint(problem).disk, "an analysis with its files") as folder:
        if "direct" in (problem.work, problem.rest):
            require_direct(folder.path)
        with contextlib.closing(Chain(problem, state, tools, folder.path)) as going:
            on_ready()
            steps = tuple(going.run())
            names = "corrected", "plotted", "first_guess", "kept_errors", "quality"
            fields, standard, first_guess, errors, (quality,) = map(going.read, names)
            return Result(fields, standard, first_guess, errors, quality, steps, state)


def run(
    problem: Problem, state: State, threads: int = 1, repeats: int = 1, on_ready: Callable[[], None] = lambda: None
) -> Result:
    """The chain, ``repeats`` times, on one thread whatever ``threads`` is.

    ``on_ready()`` is called when the files are there, before the clock starts. ``OSError``: what the disk refuses;
    nothing is left in the folders then. ``ArithmeticError`` if the covariances of a box's data are not positive
    definite. ``ValueError``: more threads than usable CPUs.
    """
    require_threads(threads)
    result = None
    for _ in range(repeats):
        result = _run(problem, state, covariance, on_ready)
    return result


def reference(problem: Problem, state: State) -> Result:
    """The same steps with dense matrices and their inverses in NumPy; its times are those of NumPy."""
    return _run(problem, state, dense)


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations of the main program with full boxes that are looked at once, and bytes moved by all steps."""
    n, count, m = problem.padded, len(boxes.boxes(problem)), POINTS
    half = n * (n + 8) // 2
    checking = half * PAIR_FLOPS + n**3 // 3 + n**3 // 3 + n * n * 8
    analysis = (half + n * m) * PAIR_FLOPS + n**3 // 3 + n * n * (m + 8) + n * n
    posting = m * n * (PAIR_FLOPS + 12)
    passes = (
        ("data checking", 2 * count * checking),
        ("analysis", 2 * count * analysis),
        ("post", 2 * count * posting),
    )
    files = chain.layout(problem, _data(problem)).values()
    written, read = (sum(getattr(file, way) * file.bytes for file in files) for way in ("written", "read"))
    return Work(sum(flops for _, flops in passes), read, written, passes)


PROOF = Proof(
    {"ni": 24, "nj": 16, "sondes": 80, "aircraft": 20},
    each={"work": ("memory", "cache"), "ahead": (False, True)},
    not_compared=("steps", "state"),
)
