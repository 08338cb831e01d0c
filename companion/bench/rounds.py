"""Rounds that visit everything to be sampled in seeded random order, for cases of kernels and for plain callables."""

import gc
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from companion.bench.sampling import Deadline, calibrate, orders, progress_bar, shortest_sample, timed

#: Seconds of a call from which calibration has warmed enough.
LONG = 1.0


def require_rounds(rounds: int) -> None:
    """``ValueError`` unless ``rounds`` is a whole number of at least 1."""
    if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
        raise ValueError(f"rounds = {rounds!r} must be a whole number of at least 1")


class Sampler:
    """Something to sample in rounds: ``call(repeats)``, calibrated to last long enough for the clock."""

    def __init__(self, label: str):
        self.label = label
        self.samples: list[float] = []  # seconds per repeat
        self.repeats, self.expected = 1, 0.0

    def call(self, repeats: int) -> Any:
        """Do the work so many times."""
        raise NotImplementedError

    def calibrate(self, shortest: float) -> None:
        """Choose repeats that last ``shortest`` seconds."""
        self.repeats, self.expected = calibrate(self.call, shortest, self.label)

    def sample(self, final: bool) -> Any:
        """One sample; ``final`` says that it is the last of this sampler."""
        seconds, result = timed(self.call, self.repeats)
        self.samples.append(seconds / self.repeats)
        return result


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


def sample_rounds(samplers: Sequence[Sampler], rounds, seed, budget, bar) -> str | None:
    """Interleaved rounds over ``samplers``; the budget sentence if it cut them."""
    deadline, one_round = Deadline(budget), sum(sampler.expected for sampler in samplers)
    for sampler in samplers:
        if sampler.expected < LONG:
            sampler.call(sampler.repeats)
    for number, order in enumerate(orders(len(samplers), rounds, seed), start=1):
        last = number == rounds or deadline.last(one_round)
        for index in order:
            samplers[index].sample(last)
            bar.update()
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


def interleave(
    functions: Mapping[str, Callable],
    rounds: int = 11,
    seed: int = 0,
    budget: float | None = None,
    progress: bool = True,
) -> dict[str, np.ndarray]:
    """Samples of plain callables, calibrated and interleaved as :func:`companion.bench.measure` does.

    A callable without arguments does one unit of work per call; one that has a parameter named
    ``repeats`` is asked for that many units in one call.  Verifying what they compute is the
    caller's business.

    Returns
    -------
    dict of str to ndarray, shape (rounds,)
        Seconds per unit of work, in the order taken; fewer where the budget ended.

    Raises
    ------
    ValueError
        No function, or no round.
    """
    if not functions:
        raise ValueError("functions is empty: there is nothing to measure")
    require_rounds(rounds)
    started, shortest = time.perf_counter(), shortest_sample()
    samplers = [_Function(name, function) for name, function in functions.items()]
    for sampler in samplers:
        sampler.call(1)
        sampler.calibrate(shortest)
    left = None if budget is None else budget - (time.perf_counter() - started)
    with progress_bar(rounds * len(samplers), "measuring", progress) as bar, no_collection():
        sample_rounds(samplers, rounds, seed, left, bar)
    return {sampler.label: np.array(sampler.samples) for sampler in samplers}
