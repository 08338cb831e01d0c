"""How one sample is taken: the clock and its grain, calibration, other load, progress, order."""

import math
import sys
import time
from contextlib import suppress

import numpy as np
import psutil

from kernels.runtime.resources import online_cpus

#: A sample lasts at least this many seconds …
MIN_SAMPLE = 0.010
#: … and at least this many grains of the clock.
_MIN_GRAINS = 1000
#: A call that seems long enough is asked for again, this often in all, unless it lasts …
_CONFIRM = 3
#: … this many times what was wanted: no interruption by the scheduler or a quota lasts 0.2 s.
_CERTAIN = 20
#: Other busy CPUs (mean over the measurement) that are still called quiet.
QUIET = 0.25

_clock = time.perf_counter_ns


class UnverifiedError(RuntimeError):
    """A result failed its verification; its timing is not reported."""


def clock_grain() -> float:
    """Seconds: the larger of the smallest step the clock shows and the median cost of reading it."""
    stamps = np.fromiter((_clock() for _ in range(2000)), dtype=np.int64, count=2000)
    steps = np.diff(stamps)
    positive = steps[steps > 0]
    # A clock that never moved within all the reads is at best as fine as their whole span.
    smallest = positive.min() if positive.size else 1_000_000
    return float(max(smallest, np.median(steps))) * 1e-9


def shortest_sample() -> float:
    """Seconds one sample must last: 10 ms and 1000 grains of the clock."""
    return max(MIN_SAMPLE, _MIN_GRAINS * clock_grain())


def timed(call, repeats: int):
    """``(seconds, result)`` of ``call(repeats)``."""
    start = _clock()
    result = call(repeats)
    return (_clock() - start) * 1e-9, result


def calibrate(call, shortest: float, label: str, clock=timed) -> tuple[int, float]:
    """Repeats that make ``call(repeats)`` last ``shortest`` seconds, and how long it then lasted.

    ``call`` has been called before: the call that compiles says nothing about later ones.  A single long call proves
    nothing either: it may have been interrupted, and with the few repeats that it suggests every sample would measure
    the start of threads instead of the work.  So the shortest of ``_CONFIRM`` calls has to be long enough.
    ``clock(call, repeats)`` gives seconds and result. ``RuntimeError`` if more repeats do not make the call longer
    (``repeats`` is ignored or the work was removed).
    """
    repeats = 1
    for _ in range(24):
        seconds = math.inf
        for _ in range(_CONFIRM):  # further ones only while they may matter
            seconds = min(seconds, clock(call, repeats)[0])
            if seconds < shortest or seconds >= _CERTAIN * shortest:
                break
        if seconds >= shortest:
            return repeats, seconds
        growth = 1.3 * shortest / seconds if seconds > 0 else math.inf
        repeats = math.ceil(repeats * min(100.0, growth))
        if repeats > 2**48:
            break
    raise RuntimeError(
        f"{label}: {repeats} repeats still last {seconds:.2g} s, under the {shortest:.2g} s that the clock "
        "needs; the kernel ignores repeats or its work was optimised away"
    )


class OtherLoad:
    """Mean number of CPUs kept busy by others since the start, on the CPUs this process may use.

    The system's counters per CPU (steal time of a hypervisor included) less the CPU time of this process and of
    all its descendants, living or finished.
    """

    def __init__(self):
        self._process = psutil.Process()
        self._cpus = self.usable()
        self._start = self.read()

    def usable(self) -> list[int]:
        """The CPUs that are ours to use; empty for all."""
        with suppress(AttributeError, psutil.Error):
            return list(self._process.cpu_affinity())
        return []

    def read(self) -> np.ndarray:
        """Seconds by now, from any beginning: of the clock, of busy CPUs, and of CPUs that we kept busy."""
        return np.array([time.perf_counter(), self.busy(), self.ours()])

    def busy(self) -> float:
        """CPU seconds of everybody on our CPUs; NaN where rows are zero or not those of CPUs, as in some containers."""
        try:
            rows = psutil.cpu_times(percpu=True)
            found = dict(zip(online_cpus() or range(len(rows)), rows, strict=True))
            ours = [found[cpu] for cpu in self._cpus or found]
        except (OSError, RuntimeError, ValueError, KeyError):
            return math.nan
        apart = ("idle", "iowait", "guest", "guest_nice")  # guest time is already part of user time
        busy = sum(value for row in ours for name, value in row._asdict().items() if name not in apart)
        return busy if any(map(any, ours)) else math.nan

    def ours(self) -> float:
        """CPU seconds of this process and its descendants, living or finished; NaN where processes are hidden."""
        total = 0.0
        try:
            for process in (self._process, *self._process.children(recursive=True)):
                with suppress(psutil.NoSuchProcess):  # it ended since it was listed
                    times = process.cpu_times()
                    total += times.user + times.system + times.children_user + times.children_system
        except (OSError, RuntimeError, psutil.Error):
            return math.nan
        return total

    def value(self, passed: np.ndarray | None = None) -> float | None:
        """CPUs of others since the start, or over what ``passed``, a sum of differences of readings.

        None where the system does not count, or where too little time passed for counters that tick a hundred
        times a second.
        """
        wall, busy, ours = self.read() - self._start if passed is None else passed
        return max(0.0, float((busy - ours) / wall)) if wall >= 0.2 and math.isfinite(busy - ours) else None


def disturbed(other: float | None) -> str | None:
    """The sentence for the ``load`` flag, or None where others left the host quiet."""
    if other is None or other <= QUIET:
        return None
    return f"others kept {other:.2f} CPUs busy, more than the {QUIET:g} that count as quiet"


def watched() -> bool:
    """True where a person watches: stderr is a terminal, or a notebook's front end takes input.

    Executed for the book or by a test, a notebook takes no input, so no progress bar is stored
    in its outputs.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    kernel = getattr(shell, "kernel", None)
    if kernel is not None:
        return bool(getattr(kernel, "_allow_stdin", False))
    return bool(sys.stderr is not None and sys.stderr.isatty())


def progress_bar(total: int, description: str, wanted: bool = True):
    """A tqdm bar that removes itself, silent unless someone watches."""
    from tqdm.auto import tqdm

    return tqdm(total=total, desc=description, leave=False, disable=not (wanted and watched()))
