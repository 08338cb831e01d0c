"""Where a step spends its time: the step once more, with the clock around each function that it calls.

What the timed steps leave is compared with what the steps themselves leave.  A look at the clock takes some 25 ns.
"""

import math
from abc import ABC, abstractmethod

import numpy as np

from kernels.runtime.clock import monotonic, now
from kernels.runtime.jit import kernel
from kernels.runtime.vector import LANES

SAMPLE = 0.012  # seconds of steps in a sample, at least


@kernel
def until(spent, part, begin):
    """Book the seconds since ``begin`` in place ``part`` of ``spent``, float64; the clock as it is then."""
    end = monotonic()
    spent[part] += end - begin
    return end


class Steps(ABC):
    """Steps of one problem from the same state each time, with the seconds of each of so many ``parts``."""

    def __init__(self, threads: int, parts: int):
        self.threads, self.parts, self.count = threads, parts, 1

    @abstractmethod
    def begin(self) -> None:
        """Put the state back to where the steps begin."""

    @abstractmethod
    def march(self, spent: np.ndarray) -> None:
        """``count`` timed steps; each thread adds the seconds of its parts to its row of ``spent``."""

    @abstractmethod
    def step(self) -> None:
        """One step as it is."""

    @abstractmethod
    def left(self) -> list[np.ndarray]:
        """A copy of what the steps leave."""

    def calibrate(self, differ: str) -> None:
        """Choose ``count``; ``RuntimeError`` with the words ``differ`` where timed steps leave something else."""
        self.timed()
        mine = self.left()
        self.whole()
        if not all(map(np.array_equal, mine, self.left())):
            raise RuntimeError(differ)
        self.count = max(1, math.ceil(SAMPLE / self.whole()))

    def timed(self) -> np.ndarray:
        """Seconds of each part in a step, float64 (parts,), as mean over the threads."""
        spent = np.zeros((self.threads, 8 * LANES))  # threads write into cache lines of their own
        self.begin()
        self.march(spent)
        return spent[:, : self.parts].mean(axis=0) / self.count

    def part(self, place: int) -> float:
        """Seconds of one part in a step."""
        return float(self.timed()[place])

    def whole(self) -> float:
        """Seconds of a step as it is."""
        self.begin()
        begin = now()
        for _ in range(self.count):
            self.step()
        return (now() - begin) / self.count
