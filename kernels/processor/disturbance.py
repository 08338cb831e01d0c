"""A loop that waits at a barrier after every step, while something takes the processor now and then.

On the clusters of 2006 a monitoring system woke up once a minute on every processor and took it for a
time dt.  While all processors were taken at the same moment, a job that waits for its slowest processor
at every step lost dt a minute.  When the moments had drifted apart it lost up to N dt, because every
processor now delayed all others in turn (Hague, *Performance of P5+ at ECMWF*, 2006, two sketches).

Ranks do this by :func:`plain` (``kernels.mpi.monitoring``); :func:`simulate` does it with numbers for as many
processors as one likes.
"""

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

import numpy as np

__all__ = ["plain", "simulate"]


def plain(amounts: Iterable, compute: Callable[[Any], object], wait: Callable[[], object]) -> tuple[float, float]:
    """What one rank does: in each step it computes as much as it has to, and waits for all others.

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
