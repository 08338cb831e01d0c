"""A loop that waits at a barrier after every step, while something takes the processor now and then.

On the clusters of 2006 a monitoring system woke up once a minute on every processor and took it for a
time dt.  While all processors were taken at the same moment, a job that waits for its slowest processor
at every step lost dt a minute.  When the moments had drifted apart it lost up to N dt, because every
processor now delayed all others in turn (Hague, *Performance of P5+ at ECMWF*, 2006, two sketches).

``run`` does this on threads: each computes ``n`` additions a step, and in one step of every ``period``
``extra`` times as many more, in the same step for all threads (``synchronised``) or each in a step of its own
(``drifted``).  ``simulate`` does the same with numbers for as many processors as one likes.
"""

import threading
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.contract import Check, Footprint, Presets, Work, one_of, whole
from kernels.processor.loops import s1_loop
from kernels.proof import Proof
from kernels.runtime.threads import Placement, run_team, where_bound

PATTERNS = ("undisturbed", "synchronised", "drifted")


@dataclass(frozen=True)
class Problem(Presets):
    """``steps`` steps of ``n`` additions, and a barrier after each."""

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
    """What each thread added and how long it computed and waited."""

    sums: np.ndarray  # (threads,) float64: additions of all steps
    computing: np.ndarray  # (threads,) s
    waiting: np.ndarray  # (threads,) s, at the barriers


def footprint(problem: Problem) -> Footprint:
    """Nothing but a few words a thread."""
    return Footprint(0, each_thread=64)


def setup(problem: Problem, seed: int = 0) -> Placement:
    """Where threads go, each on a CPU of its own; the seed is not used."""
    return Placement()


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


def run(problem: Problem, state: Placement, threads: int = 1, repeats: int = 1) -> Result:
    """All threads do their steps, waiting for each other after each.

    ``ValueError`` if there are more threads than usable CPUs, or than a period has steps.
    """
    cpus = state.cpus(threads, where_bound)
    amounts = additions(problem, threads)
    gate = threading.Barrier(threads)

    def work(thread: int) -> tuple[float, float, float]:
        out, total, computing, waiting = np.zeros(8), 0.0, 0.0, 0.0
        for _ in range(repeats):
            total = 0.0
            for amount in amounts[thread]:
                start = time.perf_counter()
                s1_loop(amount, 1, out)
                done = time.perf_counter()
                gate.wait()
                waiting += time.perf_counter() - done
                computing += done - start
                total += out[0]
        return total, computing, waiting

    found = np.array(run_team(work, threads, cpus))
    return Result(found[:, 0], found[:, 1], found[:, 2])


def reference(problem: Problem, state: Placement) -> Result:
    """The sums of one thread, by counting; its times are not known."""
    disturbed = problem.pattern != "undisturbed"
    total = problem.n * (problem.steps + disturbed * problem.extra * (problem.steps // problem.period))
    return Result(np.array([float(total)]), np.array([np.nan]), np.array([np.nan]))


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every thread added exactly what was asked of it: sums of ones below 2⁵³ are exact."""
    (expected,) = reference(problem, Placement()).sums
    return [Check.relative(f"sum of thread {n}", total, expected, 0.0) for n, total in enumerate(result.sums)]


NO_OUTPUT = dict.fromkeys(("computing", "waiting"), "seconds that were measured")


def work(problem: Problem, threads: int = 1) -> Work:
    """Additions of all threads in one repeat."""
    return Work(flops=int(additions(problem, threads).sum()))


def simulate(phases: np.ndarray, dt: float, step: float, period: float) -> float:
    """Seconds that a period loses to disturbances of ``dt`` at ``phases``, one for each processor.

    Processors compute for ``step`` and then wait for the slowest.  One that is taken for ``dt`` computes
    no further meanwhile; one that is taken while it waits loses nothing.  Many processors lose N dt
    together as long as their moments are apart, and never more than the moments' union allows.

    Parameters
    ----------
    phases : ndarray, shape (N,)
        Moment of each processor's disturbance, s, 0 … period.
    dt, step, period : float
        s, above zero.

    Returns
    -------
    float
        Seconds until all steps of the undisturbed period are done, less the period.
    """
    moments, steps = np.sort(np.asarray(phases, dtype=float)), round(period / step)
    now, done, first = 0.0, 0, 0
    while done < steps:
        ahead = int((moments[first] - now) / step) if first < moments.size else steps
        quiet = min(max(ahead, 0), steps - done)  # steps in which nobody is disturbed
        now, done = now + quiet * step, done + quiet
        if done == steps:
            break
        delay = 0.0
        while first < moments.size and moments[first] < now + step:
            # one that began while its processor waited in the step before has only its rest left
            delay = max(delay, moments[first] + dt - max(moments[first], now))
            first += 1
        now, done = now + step + delay, done + 1
    return now - steps * step


PROOF = Proof({"n": 100}, each={"pattern": PATTERNS})
