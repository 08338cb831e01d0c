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

>>> from supercomputers_rerun.kernels import analysis
>>> problem = analysis.Problem(ni=24, nj=16, sondes=80, aircraft=20)
>>> result = analysis.run(problem, analysis.setup(problem))
>>> all(check.ok for check in analysis.verify(problem, result)), result.standard.shape
(True, (16, 5, 15, 24))
"""

import functools
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from supercomputers_rerun.kernels.analysis import boxes, chain, covariance, dense, synthetic
from supercomputers_rerun.kernels.analysis.boxes import ACCEPTED, POINTS, REJECTED, at_data
from supercomputers_rerun.kernels.analysis.chain import Chain, StepTime
from supercomputers_rerun.kernels.analysis.covariance import PAIR_FLOPS
from supercomputers_rerun.kernels.analysis.dense import plain
from supercomputers_rerun.kernels.analysis.problem import LN_P, NAMES, SEEN, Problem
from supercomputers_rerun.kernels.contract import Check, Footprint, Work, worst
from supercomputers_rerun.kernels.files.filesystem import require_direct
from supercomputers_rerun.kernels.files.work_folder import WorkFolder
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.runtime.resources import require_memory, require_threads

__all__ = ["Problem", "Result", "State", "footprint", "plain", "reference", "run", "setup", "verify", "work"]
__all__ += ["BOUNDED", "NO_OUTPUT", "PROOF", "errors"]


@dataclass(frozen=True, repr=False)
class State:
    """What the chain starts from, and the truth, of which it is told nothing."""

    guess: np.ndarray  # float64 (nj, 4 levels + 2, ni): u, v, T, q, ln p_s, Φ of the ground
    data: synthetic.Data
    gross: np.ndarray  # bool (data,): which have a planted gross error
    true: np.ndarray  # float64 (nj, 5, 15, ni): phi, u, v, T, q on standard levels
    pressure: np.ndarray  # float64 (nj, ni): ln p_s


@dataclass(frozen=True, repr=False)
class Result:
    """The analysis, and what it took."""

    fields: np.ndarray  # float64 (nj, 4 levels + 2, ni), as the first guess
    standard: np.ndarray  # float64 (nj, 5, 15, ni) on standard levels, before the way back
    first_guess: np.ndarray  # the same of the first guess
    errors: np.ndarray  # float64 (nj, 15, ni): standard error of geopotential, predicted, m²/s²
    quality: np.ndarray  # float64 (data,): 1 accepted, 2 rejected, 0 not looked at
    steps: tuple[StepTime, ...]  # of the last repeat
    state: State

    @property
    def clock(self) -> float:
        """Seconds from step d to step w."""
        return sum(step.clock for step in self.steps)

    @property
    def cpu(self) -> float:
        """CPU seconds of the process."""
        return sum(step.cpu for step in self.steps)


def footprint(problem: Problem) -> Footprint:
    """State, results, the files in memory, and room for a box."""
    points, files = problem.nj * problem.ni, chain.layout(problem)
    kept = 8 * points * (8 * (4 * problem.levels + 2) + LN_P.size * 64) + 800 * files["quality"].shape[0]
    room = 8 * problem.padded * (problem.padded + 8 + max(problem.padded, POINTS))
    disk = sum(file.bytes for file in files.values() if file.place != "memory")
    return Footprint(kept + room + sum(file.bytes for file in files.values()) - disk + 2**26, disk)


def setup(problem: Problem, seed: int = 0) -> State:
    """A truth, a first guess, and observations.  ``MemoryError`` if memory cannot take what ``footprint`` says."""
    require_memory(footprint(problem).memory, "an analysis with its files")
    return _state_in_memory(replace(problem, work="memory", rest="memory", ahead=False, folder=None), seed)


@functools.lru_cache(maxsize=2)
def _state_in_memory(problem: Problem, seed: int) -> State:
    """One state for all places of the files."""
    rng = np.random.default_rng(seed)
    truth = synthetic.Truth(problem, rng)
    guess, *known = synthetic.first_guess(problem, truth)
    return State(guess, *synthetic.observe(problem, truth, rng), *known)


def _run(problem: Problem, state: State, tools, on_ready=lambda: None) -> Result:
    need = footprint(problem).disk
    with WorkFolder(problem.folder, "analysis", need, "an analysis with its files") as folder, ExitStack() as opened:
        if "direct" in (problem.work, problem.rest):
            require_direct(folder.path)
        going = Chain(problem, state, tools, folder.path, opened)
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
    for _ in range(repeats):
        result = _run(problem, state, covariance, on_ready)
    return result


def reference(problem: Problem, state: State) -> Result:
    """The same steps with dense matrices and their inverses in NumPy; its times are those of NumPy."""
    return _run(problem, state, dense)


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations of the main program with full boxes that are looked at once, and bytes moved by all steps."""
    n, count, m = problem.padded, 2 * len(boxes.boxes(problem)), POINTS
    half, factor = n * (n + 8) // 2, n**3 // 3
    parts = (
        ("data checking", count * (half * PAIR_FLOPS + 2 * factor + n * n * 8)),
        ("analysis", count * ((half + n * m) * PAIR_FLOPS + factor + n * n * (m + 9))),
        ("post", count * m * n * (PAIR_FLOPS + 12)),
    )
    files = chain.layout(problem).values()
    written, read = (sum(getattr(file, way) * file.bytes for file in files) for way in ("written", "read"))
    return Work(sum(flops for _, flops in parts), read, written, parts)


def _rms(values) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def errors(result: Result, what: str) -> dict[str, float]:
    """Root mean square errors over the grid of ``first_guess`` or ``standard``, by field, on observed levels."""
    off = getattr(result, what) - result.state.true
    return {name: _rms(off[:, n, SEEN]) for n, name in enumerate(NAMES)}


def verify(problem: Problem, result: Result) -> list[Check]:
    """Errors lower than those of the first guess and of the data, as low as predicted; gross errors found.

    Every number of the steps before and after the main program is computed again; tests hold these to closed forms.
    """
    state, data, guess, off = result.state, result.state.data, result.state.guess, result.standard - result.state.true
    checks = []
    for name in ("fields", "standard", "first_guess", "errors"):
        unknown = np.count_nonzero(~np.isfinite(getattr(result, name)))
        checks.append(Check.near(f"numbers of {name} that are not finite", unknown, 0, 0))
    first = chain.unstaggered(chain.on_pressure(guess))
    final = chain.on_sigma(guess, chain.staggered(result.standard - result.first_guess))
    for name, true in {"first_guess": first, "fields": chain.corrected(guess, final)}.items():
        sizes = np.abs(true).max((0, -1), keepdims=True)
        apart = worst((getattr(result, name) - true) / np.where(sizes > 0, sizes, 1.0))
        checks.append(Check.near(f"{name} computed again, relative to its level", apart, 0.0, 1e-10))
    judged, used = result.quality > 0, result.quality == ACCEPTED
    others = np.count_nonzero(~np.isin(result.quality, (0, ACCEPTED, REJECTED)))
    checks.append(Check.near("data judged neither accepted nor rejected nor left out", others, 0, 0))
    before, after = errors(result, "first_guess"), errors(result, "standard")
    before["ln p_s"], after["ln p_s"] = (_rms(each[:, -2] - state.pressure) for each in (guess, result.fields))
    ratios = {f"error of {name} over that of the first guess": (after[name], before[name]) for name in after}
    here = at_data(problem, data, off[:, [0, 1, 2, 4]])[used] / data.error[used]
    ratios["error at the data over that of the data"] = _rms(here), 1.0
    for name, (value, other) in ratios.items():
        ratio = value / other if other else nan
        checks.append(Check(name, ratio, 1.0, 0.0, ratio < 1.0))
    # levels that observations enclose
    found, predicted = _rms(off[:, 0, 4:14]), _rms(result.errors[:, 4:14])
    ratio = found / predicted if predicted else nan
    checks.append(Check.near("error of geopotential over the predicted one", ratio, 1.0, 0.3))
    rejected = result.quality == REJECTED
    if (state.gross & judged).sum() >= ENOUGH:
        share = float(rejected[state.gross & judged].mean())
        checks.append(Check("gross errors found", share, 1.0, 0.1, share >= 0.9))
    lost = float(rejected[~state.gross & judged].mean())
    checks.append(Check("good data rejected", lost, 0.0, 0.02, lost <= 0.02))
    return checks


#: Data with gross errors of which fewer than this say nothing of a share.
ENOUGH = 30
NO_OUTPUT = {"state": "what the analysis starts from, and the truth"}
BOUNDED = dict.fromkeys(
    ("standard", "errors", "quality"),
    (None, "judged by root mean squares against the truth and by shares; the proof compares every number"),
)
PROOF = Proof(
    {"ni": 24, "nj": 16, "sondes": 80, "aircraft": 20},
    each={"work": ("memory", "cache"), "ahead": (False, True)},
    not_compared=("steps", "state"),
)
