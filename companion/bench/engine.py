"""The engine: repeats chosen by the clock, then samples in rounds that visit everything in seeded random order.

Cases of kernels (:func:`companion.bench.measure`), here or on many ranks, and plain callables beside peers
(:func:`interleave`) are sampled by it.  What differs is which processes take part, who holds the clock and who
decides: :class:`Alone` says it of one process, :class:`companion.mpi.ranks.Ranks` of many.
"""

import gc
import inspect
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from companion.bench.sampling import OtherLoad, UnverifiedError, calibrate, progress_bar, shortest_sample, timed
from companion.host import machine
from companion.host.limits import require_integer

#: Most samples of a case that a record may hold.
_MOST_ROUNDS = 10_000
#: Seconds of a call from which calibration has warmed enough.
_LONG = 1.0
#: Seconds of a sample from which it is watched by itself what others keep busy: the counters tick in 10 ms.
_WATCHED = 0.1
#: By kernel and small problem: the check that failed, as text; empty where none did.
_PROVEN: dict[Any, str] = {}


def require_rounds(rounds: int) -> None:
    """``ValueError`` unless ``rounds`` is a whole number from 1 to what a record may hold."""
    require_integer("rounds", rounds, 1, _MOST_ROUNDS)


class Sampler:
    """Something to sample in rounds: ``call(repeats)``, calibrated to last long enough for the clock."""

    def __init__(self, label: str):
        self.label = label
        self.samples: list[float] = []  # seconds per repeat
        self.repeats, self.expected = 1, 0.0
        self.watched = np.zeros(3)  # of :meth:`OtherLoad.read`, over the samples

    def call(self, repeats: int) -> Any:
        """Do the work so many times."""
        raise NotImplementedError

    def clock(self, call: Callable, repeats: int) -> tuple[float, Any]:
        """Seconds and result of ``call(repeats)``."""
        return timed(call, repeats)

    def calibrate(self, shortest: float) -> tuple[float, Any]:
        """Choose repeats that last ``shortest`` seconds; seconds and result of the call that did."""
        last: list[tuple[float, Any]] = []

        def clock(call: Callable, repeats: int) -> tuple[float, Any]:
            last.clear()  # no result is held while the next is made
            last.append(self.clock(call, repeats))
            return last[0]

        self.repeats, self.expected = calibrate(self.call, shortest, self.label, clock)
        return last[0]

    def warm(self) -> None:
        """One call more, where calibration was too short to warm anything."""
        if self.expected < _LONG:
            self.call(self.repeats)

    def sample(self, final: bool) -> None:
        """One sample; ``final`` says that it is the last of this sampler."""
        self.take(*self.clock(self.call, self.repeats), final)

    def take(self, seconds: float, result: Any, final: bool) -> None:
        """Keep what one call took."""
        self.samples.append(seconds / self.repeats)


class Alone:
    """One process: it takes part in everything, its clock is the clock, and what it decides is decided."""

    #: Whether this process reports what all of them measured.
    reports = True

    def __init__(self, progress: bool = True):
        self.progress = progress  # whether a bar shows it, if someone watches

    @contextmanager
    def steps(self, total: int, what: str = "measuring"):
        """So many steps that follow, shown as progress."""
        with progress_bar(total, what, self.progress) as bar:
            self.advance: Callable[[], Any] = bar.update
            yield

    def step(self, sampler: Any, action: Callable, *arguments: Any) -> None:
        """``action(*arguments)`` by the processes that take part in ``sampler``."""
        action(*arguments)
        self.advance()

    def clock(self, case: Any, call: Callable, repeats: int) -> tuple[float, Any]:
        """Seconds of the slowest process of a case, and this one's result, of ``call(repeats)``."""
        return timed(call, repeats)

    def shared(self, case: Any, value: Any) -> Any:
        """``value``, of JSON's types, as the first process of a case has it."""
        return value

    def decided(self, value: Any) -> Any:
        """``value`` as the first process has it: for what depends on a clock."""
        return value

    def memory(self) -> int | None:
        """Bytes that states may fill together, None where all cases make one batch."""
        return machine.available_memory()

    def load(self) -> OtherLoad:
        """A watch over what others keep busy."""
        return OtherLoad()

    def described(self, case: Any) -> tuple[dict[str, Any], dict[str, str]]:
        """Parameters and flags that a case has from its processes."""
        return {}, {}


@contextmanager
def no_collection():
    """Garbage collection off, as in timeit, and back to what it was."""
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def sample_rounds(
    samplers: Sequence[Sampler], rounds: int, seed: int, end: float, by: Alone, load: OtherLoad | None = None
) -> str | None:
    """Interleaved rounds over ``samplers``; the sentence that says so if the time ended them.

    The first round always runs; no other begins that would pass ``end`` (of ``time.perf_counter``), and after it
    nothing is warmed beyond its calibration.  ``load`` watches each long sample.
    """
    generator = np.random.default_rng(seed)
    one_round = sum(sampler.expected for sampler in samplers)
    for sampler in samplers:
        if by.decided(time.perf_counter() < end):
            by.step(sampler, sampler.warm)
    for number in range(1, rounds + 1):
        last = by.decided(number == rounds or time.perf_counter() + 2 * one_round > end)
        for sampler in (samplers[index] for index in generator.permutation(len(samplers))):
            before = load.read() if load and sampler.expected >= _WATCHED else None
            by.step(sampler, sampler.sample, last)
            if load and before is not None:
                sampler.watched += load.read() - before
        if last:
            break
    return None if number == rounds else f"the time budget ended after {number} of {rounds} rounds"


def takes_repeats(function: Callable) -> bool:
    """Whether a callable has a parameter named ``repeats``."""
    try:
        return "repeats" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


class _Function(Sampler):
    """A plain callable: one that takes ``repeats`` is given them, another is called in a loop."""

    def __init__(self, label: str, function: Callable):
        super().__init__(label)
        self._function, self._takes_repeats = function, takes_repeats(function)

    def call(self, repeats: int) -> Any:
        if self._takes_repeats:
            return self._function(repeats=repeats)
        for _ in range(repeats):
            self._function()


def interleave(functions: Mapping[str, Callable], rounds: int = 11, seed: int = 0) -> dict[str, np.ndarray]:
    """Seconds per unit of work of plain callables, ndarray (rounds,) each in the order taken.

    They are calibrated and interleaved as :func:`companion.bench.measure` does it.

    A callable without arguments does one unit of work per call; one that has a parameter named ``repeats`` is asked for
    that many units in one call.  Verifying what they compute is the caller's business. ``ValueError``: no function, or
    no round.
    """
    if not functions:
        raise ValueError("functions is empty: there is nothing to measure")
    require_rounds(rounds)
    shortest = shortest_sample()
    samplers = [_Function(name, function) for name, function in functions.items()]
    for sampler in samplers:
        sampler.call(1)
        sampler.calibrate(shortest)
    by = Alone()
    with by.steps((rounds + 1) * len(samplers)), no_collection():
        sample_rounds(samplers, rounds, seed, math.inf, by)
    return {sampler.label: np.array(sampler.samples) for sampler in samplers}


def require_proof(label: str, kernel: Any, problem: Any) -> None:
    """Let a kernel show, before it is timed, that it computes here what its reference computes, if it says how.

    Once in a process: what ``verify`` says of a large result is what can be said of it quickly.  The small problem is
    compared number by number, with one thread and with two, so that an error of compiled code on a processor that
    nobody had tried is found first.  The kernel says how (``PROOF``, see ``kernels/contract.py``). ``UnverifiedError``
    where the kernel does not.
    """
    proof = getattr(kernel, "PROOF", None)
    if proof is None:
        return
    small = proof.problem(problem)
    if (kernel, small) not in _PROVEN:
        failed = [str(check) for check in proof.checks(kernel, small) if not check.ok]
        _PROVEN[kernel, small] = failed[0] if failed else ""
    if reason := _PROVEN[kernel, small]:
        raise UnverifiedError(
            f"{label}: a small problem came out otherwise than its reference here, {reason}; nothing of it is timed"
        )
