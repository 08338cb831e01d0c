"""How one sample is taken: the clock and its grain, calibration, other load, progress, order."""

import math
import sys
import time

import numpy as np
import psutil

#: A sample lasts at least this many seconds …
MIN_SAMPLE = 0.010
#: … and at least this many grains of the clock.
MIN_GRAINS = 1000
#: A call that seems long enough is asked for again, this often in all, unless it lasts …
CONFIRM = 3
#: … this many times what was wanted: no interruption by the scheduler or a quota lasts 0.2 s.
CERTAIN = 20
#: Other busy CPUs (mean over the measurement) that are still called quiet.
QUIET = 0.25

_clock = time.perf_counter_ns


class UnverifiedError(RuntimeError):
    """A result failed its verification; its timing is not reported."""


def clock_grain(reads: int = 2000) -> float:
    """Seconds: the larger of the smallest step the clock shows and the median cost of reading it."""
    stamps = np.fromiter((_clock() for _ in range(reads)), dtype=np.int64, count=reads)
    steps = np.diff(stamps)
    positive = steps[steps > 0]
    # A clock that never moved within all the reads is at best as fine as their whole span.
    smallest = positive.min() if positive.size else 1_000_000
    return float(max(smallest, np.median(steps))) * 1e-9


def shortest_sample() -> float:
    """Seconds one sample must last: 10 ms and 1000 grains of the clock."""
    return max(MIN_SAMPLE, MIN_GRAINS * clock_grain())


def timed(call, repeats: int):
    """``(seconds, result)`` of ``call(repeats)``."""
    start = _clock()
    result = call(repeats)
    return (_clock() - start) * 1e-9, result


def calibrate(call, shortest: float, label: str) -> tuple[int, float]:
    """Repeats that make ``call(repeats)`` last ``shortest`` seconds, and how long it then lasted.

    ``call`` has been called before: the call that compiles says nothing about later ones.  A single
    long call proves nothing either: it may have been interrupted, and with the few repeats that it
    suggests every sample would measure the start of threads instead of the work.  So the shortest of
    ``CONFIRM`` calls has to be long enough.

    Raises
    ------
    RuntimeError
        If more repeats do not make the call longer (``repeats`` is ignored or the work was removed).
    """
    repeats = 1
    for _ in range(24):
        seconds = _shortest_call(call, repeats, shortest)
        if seconds >= shortest:
            return repeats, seconds
        growth = 1.3 * shortest / seconds if seconds > 0 else 100.0
        repeats = math.ceil(repeats * min(100.0, max(1.3, growth)))
        if repeats > 2**48:
            break
    raise RuntimeError(
        f"{label}: {repeats} repeats still last {seconds:.2g} s, under the {shortest:.2g} s that the clock "
        "needs; the kernel ignores repeats or its work was optimised away"
    )


def _shortest_call(call, repeats: int, wanted: float) -> float:
    """Seconds of the shortest of up to ``CONFIRM`` calls; further ones only while they may matter."""
    best = math.inf
    for _ in range(CONFIRM):
        best = min(best, timed(call, repeats)[0])
        if best < wanted or best >= CERTAIN * wanted:
            break
    return best


class OtherLoad:
    """Mean number of CPUs kept busy by others since the start, on the CPUs this process may use.

    The system's counters per CPU (steal time of a hypervisor included) less the CPU time of this process and of
    all its descendants, living or finished.  ``value()`` is None where the system does not count, or where too
    little time passed for counters that tick a hundred times a second.
    """

    def __init__(self):
        self._process = psutil.Process()
        self._start = self._read()

    def _read(self):
        try:
            cpus = self._process.cpu_affinity()
        except (AttributeError, psutil.Error):
            cpus = None
        rows = psutil.cpu_times(percpu=True)
        rows = rows if cpus is None else [rows[cpu] for cpu in cpus if cpu < len(rows)]
        # Guest time is already part of user time.
        busy = sum(
            sum(value for name, value in row._asdict().items() if name not in ("idle", "iowait", "guest", "guest_nice"))
            for row in rows
        )
        return time.perf_counter(), busy, self._ours(), len(rows)

    def _ours(self) -> float:
        """CPU seconds of this process and its descendants; each holds those of its finished children."""
        total = 0.0
        for process in (self._process, *self._process.children(recursive=True)):
            try:
                times = process.cpu_times()
            except psutil.Error:  # it ended since it was listed
                continue
            total += times.user + times.system + times.children_user + times.children_system
        return total

    def value(self) -> float | None:
        now = self._read()
        wall, busy, mine = (now[i] - self._start[i] for i in range(3))
        return max(0.0, (busy - mine) / wall) if wall >= 0.2 else None

    def excess(self, threads: int) -> str | None:
        """The sentence for the ``load`` flag, or None when ``threads`` had the CPUs to themselves."""
        other = self.value()
        cpus = self._start[3]
        if other is None or other + threads <= cpus + QUIET:
            return None
        return f"others kept {other:.2f} CPUs busy beside {threads} thread(s) on {cpus} usable CPUs"


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


def orders(count: int, rounds: int, seed: int):
    """One seeded random order of ``count`` items per round."""
    generator = np.random.default_rng(seed)
    for _ in range(rounds):
        yield [int(index) for index in generator.permutation(count)]


class Deadline:
    """A time budget; it knows before a round whether that round is the last one it can pay for."""

    def __init__(self, budget: float | None):
        self._end = math.inf if budget is None else time.perf_counter() + budget

    def last(self, round_seconds: float) -> bool:
        """True if, after one round of ``round_seconds``, another one would pass the budget."""
        return time.perf_counter() + 2 * round_seconds > self._end
