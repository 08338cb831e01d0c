"""A loop that waits at a barrier after every step, while something takes the processor now and then.

On the clusters of 2006 a monitoring system woke up once a minute on every processor and took it for a
time dt.  While all processors were taken at the same moment, a job that waits for its slowest processor
at every step lost dt a minute.  When the moments had drifted apart it lost up to N dt, because every
processor now delayed all others in turn (Hague, *Performance of P5+ at ECMWF*, 2006, two sketches).

``run`` does this on threads: each computes ``n`` additions a step, and in one step of every ``period``
``extra`` times as many more, in the same step for all threads (``synchronised``) or each in a step of its own
(``drifted``).  Ranks do the same by :func:`plain`, with a barrier of their own (``kernels.mpi.monitoring``).
``simulate`` does it with numbers for as many processors as one likes.
"""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from kernels.contract import Check, Footprint, Presets, Work, one_of, whole
from kernels.processor.smt import chains
from kernels.proof import Proof
from kernels.runtime.threads import run_team, team_cpus

PATTERNS = ("undisturbed", "synchronised", "drifted")


@dataclass(frozen=True)
class Problem(Presets):
    """``steps`` steps of ``n`` additions, and a barrier after each: presets ``quick``, ``paper``, ``modern``."""

    pattern: one_of(*PATTERNS) = "undisturbed"  # when the threads are disturbed
    n: whole(1, 2**40) = 2**17  # additions of a step, a thread
    steps: whole(1, 10**7) = 64  # steps, a multiple of the period
    period: whole(1, 10**7) = 32  # steps from one disturbance of a thread to its next
    extra: whole(1, 10**6) = 32  # additions of a disturbance, in multiples of n

    PRESETS: ClassVar = {"quick": {}, "paper": {"steps": 512, "period": 128}, "modern": {"steps": 2048, "period": 512}}

    def __post_init__(self):
        if self.steps % self.period:
            raise ValueError(f"steps = {self.steps} must be a multiple of period = {self.period}")


@dataclass(frozen=True)
class Result:
    """What each thread did in all repeats, and how long it computed and waited."""

    sums: np.ndarray  # (threads,) float64: additions
    together: np.ndarray  # (threads,) float64: steps after whose barrier no other thread was behind
    computing: np.ndarray  # (threads,) s
    waiting: np.ndarray  # (threads,) s, at the barriers
    repeats: int


def footprint(problem: Problem) -> Footprint:
    """Nothing but a few words a thread."""
    return Footprint(0, each_thread=64)


def setup(problem: Problem, seed: int = 0) -> None:
    """Nothing; the seed is not used."""


def additions(problem: Problem, threads: int) -> np.ndarray:
    """(threads, steps) int64: additions of every step.

    ``ValueError`` if more threads are to be disturbed in steps of their own than a period has.
    """
    found = np.full((threads, problem.steps), problem.n)
    if problem.pattern == "undisturbed":
        return found
    if problem.pattern == "drifted" and threads > problem.period:
        raise ValueError(f"threads = {threads} exceeds period = {problem.period}: no step of its own for each")
    for thread in range(threads):
        first = thread * problem.period // threads if problem.pattern == "drifted" else 0
        found[thread, first :: problem.period] += problem.extra * problem.n
    return found


def plain(amounts: Iterable, compute: Callable[[Any], object], wait: Callable[[], object]) -> tuple[float, float]:
    """What one thread or rank does: in each step it computes as much as it has to, and waits for all others.

    Returns the seconds of computing and of waiting.
    """
    computing = waiting = 0.0
    for amount in amounts:
        begin = perf_counter()
        compute(amount)
        done = perf_counter()
        wait()
        computing += done - begin
        waiting += perf_counter() - done
    return computing, waiting


def run(problem: Problem, state: None, threads: int = 1, repeats: int = 1) -> Result:
    """All threads do their steps, waiting for each other after each.

    ``ValueError`` if there are more threads than usable CPUs, or than a period has steps.
    """
    cpus = team_cpus(threads)
    amounts = additions(problem, threads)
    gate, done = threading.Barrier(threads), [0] * threads  # steps of each thread

    def work(thread: int) -> tuple[float, ...]:
        out, sums, together = np.zeros(8), [], []

        def add(amount: int) -> None:
            chains(amount, 1, (0.0,), out)
            sums.append(out[0])

        def wait() -> None:
            done[thread] += 1
            gate.wait()
            together.append(min(done) == done[thread])

        times = [plain(amounts[thread], add, wait) for _ in range(repeats)]
        return sum(sums), sum(together), *np.sum(times, axis=0)

    return Result(*np.array(run_team(work, threads, cpus)).T, repeats)


def reference(problem: Problem, state: None) -> Result:
    """The additions of one thread, counted; its times are not known."""
    unknown, steps = np.array([np.nan]), np.array([float(problem.steps)])
    return Result(additions(problem, 1).sum(axis=1).astype(float), steps, unknown, unknown, 1)


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every thread added exactly what was asked of it, sums of ones below 2⁵³ being exact, and none ran ahead."""
    disturbances = problem.steps // problem.period if problem.pattern != "undisturbed" else 0
    expected = result.repeats * problem.n * (problem.steps + problem.extra * disturbances)
    checks = [Check.relative(f"sum of thread {n}", total, expected, 0.0) for n, total in enumerate(result.sums)]
    steps = result.repeats * problem.steps
    return checks + [
        Check.near(f"steps of thread {n} that all had done", each, steps, 0) for n, each in enumerate(result.together)
    ]


NO_OUTPUT = dict.fromkeys(("computing", "waiting"), "seconds that were measured")


def work(problem: Problem, threads: int = 1) -> Work:
    """Additions of all threads in one repeat."""
    return Work(flops=int(additions(problem, threads).sum()))


def simulate(phases: np.ndarray, dt: float, step: float, period: float) -> float:
    """Seconds that a ``period`` of steps of ``step`` seconds loses to disturbances of ``dt`` at ``phases``, s, (N,).

    Processors compute for a step and then wait for the slowest.  One that is taken for ``dt`` computes
    no further meanwhile; one that is taken while it waits loses nothing.
    """
    moments, first, lost = np.sort(phases).tolist(), 0, 0.0
    for done in range(round(period / step)):
        now, delay = done * step + lost, 0.0
        while first < len(moments) and moments[first] < now + step:
            # one that began while its processor waited in the step before has only its rest left
            delay = max(delay, moments[first] + dt - max(moments[first], now))
            first += 1
        lost += delay
    return lost


PROOF = Proof({"n": 100}, each={"pattern": PATTERNS})
