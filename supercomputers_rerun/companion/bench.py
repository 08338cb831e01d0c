"""Measure kernels so that a wrong or meaningless time cannot be reported.

Before its first timing in a process a kernel proves itself where it says how (``PROOF``, see ``kernels/contract.py``):
a small problem with one thread and, where it can use two, with two, compared with the kernel's independent reference.

For every case: set up once, time the first call apart (it compiles), verify, calibrate the number of repeats against
the clock, warm up, take samples in rounds that visit all cases in seeded random order, verify the last sample, and
flag what makes the numbers doubtful.  A case that is prepared after the budget is spent has one sample, its last call
of the calibration.  With a budget of zero that sample is its first call.  Cases with the same kernel and problem share
one state. Cases whose states do not fit into memory together are measured in consecutive batches; only cases of one
batch are interleaved.

What differs between one process and many ranks is who takes part, who holds the clock and who decides: the argument
``by`` says it, :class:`Alone` of one process, :class:`companion.mpi.ranks.Ranks` of many.

A study asks for a result and not for a time: :func:`study` runs each case once and keeps what it gave.

A record keeps samples; intervals are drawn from them when it is read.
"""

import gc
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

from supercomputers_rerun.companion import host, notebook_files
from supercomputers_rerun.companion.common import UnverifiedError, np, psutil, require_integer
from supercomputers_rerun.kernels.runtime.resources import online_cpus

#: A sample lasts at least this many seconds …
MIN_SAMPLE = 0.010
#: … and at least this many grains of the clock.
_MIN_GRAINS = 1000
#: A call that seems long enough is asked for again, this often in all, unless it lasts …
_CONFIRM = 3
#: … this many times what was wanted, 0.2 s or more: no interruption by the scheduler or a quota lasts that long.
_CERTAIN = 20
#: Other busy CPUs (mean over the measurement) that are still called quiet.
QUIET = 0.25
#: Most samples of a case that a record may hold.
_MOST_ROUNDS = 10_000
#: Seconds of a call from which calibration has warmed enough.
_LONG = 1.0
#: Seconds of a sample from which it is watched by itself what others keep busy: the counters tick in 10 ms.
_WATCHED = 0.1
#: By kernel and small problem: the check that failed, as text; empty where none did.
_PROVEN: dict[Any, str] = {}
#: Part of the available memory that the states of one batch may fill: chosen, so that there is room for results, checks
#: and other programs.
_MEMORY_SHARE = 0.4
_clock = time.perf_counter_ns


def clock_grain() -> float:
    """Seconds: the larger of the smallest step the clock shows and the median cost of reading it."""
    stamps = np.fromiter((_clock() for _ in range(2000)), dtype=np.int64, count=2000)
    steps = np.diff(stamps)
    positive = steps[steps > 0]
    # a clock that never moved in all the reads is taken for one of 1 ms
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


def calibrate(call, shortest: float, label: str, clock=timed) -> tuple[int, float, tuple[float, Any]]:
    """Three answers: repeats that make ``call(repeats)`` last ``shortest`` seconds; seconds of the shortest call that
    showed it; and seconds and result of the last call.

    ``call`` has been called before: the call that compiles says nothing about later ones.  A single long call proves
    nothing either: it may have been interrupted, and with the few repeats that it suggests every sample would measure
    the start of threads instead of the work.  So the shortest of ``_CONFIRM`` calls has to be long enough.
    ``clock(call, repeats)`` gives seconds and result. ``RuntimeError`` if more repeats do not make the call longer
    (``repeats`` is ignored or the work was removed).
    """
    repeats = 1
    for _ in range(24):  # each multiplies repeats by 1.3 or more: by 500 or more in all
        asked = repeats
        seconds = math.inf
        for _ in range(_CONFIRM):  # until one is too short, or too long to have been interrupted
            last: Any = None  # no result is held while the next is made
            last = clock(call, repeats)
            seconds = min(seconds, last[0])
            if seconds < shortest or seconds >= _CERTAIN * shortest:
                break
        if seconds >= shortest:
            return repeats, seconds, last
        growth = 1.3 * shortest / seconds if seconds > 0 else math.inf
        repeats = math.ceil(repeats * min(100.0, growth))
        if repeats > 2**48:
            break
    raise RuntimeError(
        f"{label}: {asked} repeats still last {seconds:.2g} s, under the {shortest:.2g} s that the clock "
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

    def read(self) -> "np.ndarray":
        """Seconds by now, from any beginning: of the clock, of busy CPUs, and of CPUs that we kept busy."""
        return np.array([time.perf_counter(), self.busy(), self.ours()])

    def busy(self) -> float:
        """CPU seconds of everybody on our CPUs; NaN where rows are zero or not those of CPUs, as in some containers."""
        try:
            rows = psutil.cpu_times(percpu=True)
            found = dict(zip(online_cpus() or range(len(rows)), rows, strict=True))
            rows = [found[cpu] for cpu in self._cpus or found]
        except (OSError, RuntimeError, ValueError, KeyError):
            return math.nan
        apart = ("idle", "iowait", "guest", "guest_nice")  # guest time is already part of user time
        busy = sum(value for row in rows for name, value in row._asdict().items() if name not in apart)
        return busy if any(map(any, rows)) else math.nan  # all zero: this system does not count

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

    def value(self, passed: "np.ndarray | None" = None) -> float | None:
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


#: Fewest samples of a trend (the exact p-value stays above 0.01 with fewer) and of an interval of 95 %.
FEWEST_SAMPLES = 6


def median_interval(samples) -> tuple[float, float] | None:
    """Interval of 95 % of the median of ``samples``, array_like (n,), from order statistics.

    With n independent samples, the number below the true median is binomial (n, 1/2); the interval
    runs from the k-th smallest to the k-th largest sample for the largest k that keeps at least that
    confidence.  Six samples are the fewest that do; with fewer the answer is None.
    """
    ordered = np.sort(np.asarray(samples, dtype=float))
    rank = _rank(ordered.size)
    return (float(ordered[rank - 1]), float(ordered[ordered.size - rank])) if rank else None


@cache
def _rank(count: int) -> int:
    """The largest k with P(X < k) <= 2.5 % for X binomial (``count``, 1/2); 0 where there is none."""
    from scipy.special import bdtr  # late, and without scipy.stats, which takes longer to load than all the rest

    below = bdtr(np.arange(count), count, 0.5)
    return int(np.searchsorted(below, (1 - 0.95) / 2, side="right"))


def trend(samples) -> float | None:
    """Relative change from first to last sample if it is a trend, otherwise None.

    A trend is a rank correlation with time (Kendall's tau) whose p-value is under 0.01 together with a
    Theil-Sen slope that moves the series by more than 2 % of its median.
    """
    samples = np.asarray(samples, dtype=float)
    if samples.size < FEWEST_SAMPLES or np.ptp(samples) == 0:
        return None
    from scipy import stats  # late: it takes longer to load than all the rest

    order = np.arange(samples.size)
    if not stats.kendalltau(order, samples).pvalue < 0.01:
        return None
    change = stats.theilslopes(samples, order).slope * (samples.size - 1) / np.median(samples)
    return float(change) if abs(change) > 0.02 else None


@dataclass(frozen=True)
class Ratio:
    """Times of B over times of A: above 1, A is faster.

    ``times`` and ``briefly`` are texts for a page, in one sentence whatever was found:
    ``f"a day takes {found.times} as long"``.
    """

    minima: float  # minimum of B / minimum of A: capability
    medians: float  # median of B / median of A: experience
    interval: tuple[float, float] | None  # 95 % of the ratio of medians; None with too few samples

    @property
    def measurable(self) -> bool:
        """Whether the interval excludes 1: without an interval, no difference is measured."""
        return self.interval is not None and not self.interval[0] <= 1.0 <= self.interval[1]

    def _words(self, template: str) -> str:
        # without an interval: digits as for one of 5 % on either side
        low, high = self.interval or (0.95 * self.medians, 1.05 * self.medians)
        # two digits of the interval's width, at most a thousandth
        decimals = int(np.clip(1 - np.floor(np.log10(max(high - low, 1e-9))), 0, 3))
        times = f"{self.medians:.{decimals}f} times"
        if self.interval is None:
            return f"{times} (too few samples for an interval)"
        remarks = []
        if template:
            remarks.append(template.format(f"{low:.{decimals}f}", f"{high:.{decimals}f}"))
        if not self.measurable:
            remarks.append("no measurable difference")
        return f"{times} ({', '.join(remarks)})" if remarks else times

    @property
    def times(self) -> str:
        """``1.60 times (95 % interval 1.52 to 1.69)``, or why that is no measurable difference."""
        return self._words("95 % interval {} to {}")

    @property
    def briefly(self) -> str:
        """The same for prose, beside a figure or a box that has the interval: ``1.60 times``."""
        return self._words("")

    def __str__(self) -> str:
        bounds = "no interval" if self.interval is None else "{:.3f} … {:.3f}".format(*self.interval)
        return f"minima {self.minima:.3f}, medians {self.medians:.3f} ({bounds})"


def ratio(samples_a, samples_b, seed: int = 0) -> Ratio:
    """How many times faster A is than B.

    The interval is the 95 % percentile bootstrap of the ratio of medians (both sides resampled, seeded, so the same
    samples give the same interval); None when a side has under six samples. ``ValueError`` if a side is empty or holds
    a time that is not positive and finite.
    """
    a = np.asarray(samples_a, dtype=float)
    b = np.asarray(samples_b, dtype=float)
    for name, samples in (("samples_a", a), ("samples_b", b)):
        if samples.size == 0 or not np.all((samples > 0) & np.isfinite(samples)):
            raise ValueError(f"{name} must hold at least one time, and only finite times above zero")
    few = min(a.size, b.size) < FEWEST_SAMPLES
    interval = None if few else _bootstrapped(tuple(a.tolist()), tuple(b.tolist()), seed)
    return Ratio(float(b.min() / a.min()), float(np.median(b) / np.median(a)), interval)


@lru_cache(maxsize=4096)
def _bootstrapped(a: tuple[float, ...], b: tuple[float, ...], seed: int) -> tuple[float, float]:
    """The interval of :func:`ratio`: a figure, the sentences beside it and a conclusion ask for the same one."""
    from scipy import stats  # late: it takes longer to load than all the rest

    def quotient(x, y, axis):
        return np.median(y, axis=axis) / np.median(x, axis=axis)

    found = stats.bootstrap(
        (np.array(a), np.array(b)), quotient, method="percentile", n_resamples=2000, rng=np.random.default_rng(seed)
    ).confidence_interval
    return float(found.low), float(found.high)


def require_rounds(rounds: int) -> None:
    """``ValueError`` unless ``rounds`` is a whole number from 1 to what a record may hold."""
    require_integer("rounds", rounds, 1, _MOST_ROUNDS)


class Sampler:
    """Something to sample in rounds: ``call(repeats)``, calibrated to last long enough for the clock."""

    call: Callable[[int], Any]  # does the work so many times

    def __init__(self, label: str):
        self.label = label
        self.samples: list[float] = []  # seconds per repeat
        self.repeats = 1  # within one sample
        self.expected = 0.0  # seconds of one sample
        self.watched = np.zeros(3)  # differences of :meth:`OtherLoad.read`, summed over long samples

    def clock(self, call: Callable, repeats: int) -> tuple[float, Any]:
        """Seconds and result of ``call(repeats)``."""
        return timed(call, repeats)

    def calibrate(self, shortest: float) -> tuple[float, Any]:
        """Choose repeats that last ``shortest`` seconds; seconds and result of the call that did."""
        self.repeats, self.expected, last = calibrate(self.call, shortest, self.label, self.clock)
        return last

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
    """One process (``mpi.ranks.Ranks``: many): it takes part in all, has the clock, and what it decides is decided."""

    #: Whether this process reports what all of them measured.
    reports = True

    def __init__(self, progress: bool = True):
        self.progress = progress  # whether a bar shows it, on a terminal or in a notebook that a person has opened

    @contextmanager
    def steps(self, total: int, what: str = "measuring"):
        """So many steps that follow, shown as progress."""
        from tqdm import tqdm

        seen = self.progress and notebook_files.opened()
        off: bool | None = None  # None: tqdm is on where standard error is a terminal
        if not self.progress:
            off = True
        elif seen:
            off = False
        with tqdm(total=total, desc=what, leave=False, disable=off) as bar:
            self.advance: Callable[[], Any] = bar.update
            yield
        if seen:
            notebook_files.forget()

    def step(self, sampler: Any, action: Callable, *arguments: Any) -> None:
        """``action(*arguments)`` by the processes that take part in ``sampler``."""
        action(*arguments)
        self.advance()

    def clock(self, case: Any, call: Callable, repeats: int) -> tuple[float, Any]:
        """Seconds of the slowest process of a case, and this one's result, of ``call(repeats)``."""
        return timed(call, repeats)

    def shared(self, case: Any, value: Any) -> Any:
        """``value``, of JSON's types, as the first of the processes that take part in a case has it."""
        return value

    def decided(self, value: Any) -> Any:
        """``value`` as the first of all processes has it: for what depends on a clock."""
        return value

    def memory(self) -> int | None:
        """Bytes that states may fill together, None where all cases make one batch."""
        return host.available_memory()

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
    rng = np.random.default_rng(seed)
    one_round = sum(sampler.expected for sampler in samplers)
    for sampler in samplers:
        if by.decided(time.perf_counter() < end):
            by.step(sampler, sampler.warm)
    for number in range(1, rounds + 1):
        # this round is the last if the next would not fit after it
        last = by.decided(number == rounds or time.perf_counter() + 2 * one_round > end)
        for sampler in (samplers[index] for index in rng.permutation(len(samplers))):
            before = load.read() if load and sampler.expected >= _WATCHED else None
            by.step(sampler, sampler.sample, last)
            if load and before is not None:
                sampler.watched += load.read() - before
        if last:
            break
    return None if number == rounds else f"the time budget ended after {number} of {rounds} rounds"


def interleave(calls: Mapping[str, Callable], rounds: int | None = None, seed: int = 0) -> "dict[str, np.ndarray]":
    """Seconds per repeat of callables ``call(repeats)``, ndarray (rounds,) each, sampled as :func:`measure` does it.

    Without ``rounds`` there are 11; where ``RERUN_BUDGET`` of the environment is zero, the first call of each is all.
    Verifying what they compute is the caller's business. ``ValueError`` where there is no round.
    """
    if rounds is None:
        rounds = 11
        if float(os.environ.get("RERUN_BUDGET") or math.inf) == 0:
            return {label: np.array([timed(call, 1)[0]]) for label, call in calls.items()}
    require_rounds(rounds)
    samplers = [Sampler(label) for label in calls]
    shortest = shortest_sample()
    by = Alone()
    for sampler in samplers:
        sampler.call = calls[sampler.label]
        sampler.call(1)
        sampler.calibrate(shortest)
    with by.steps((rounds + 1) * len(samplers)), no_collection():  # warming, rounds
        sample_rounds(samplers, rounds, seed, math.inf, by)
    return {sampler.label: np.array(sampler.samples) for sampler in samplers}


def require_proof(label: str, kernel: Any, problem: Any) -> None:
    """Let a kernel show, before it is timed, that it computes here what its reference computes, if it says how.

    Once in a process: ``verify`` can only check of a large result what is checked quickly.  The small problem is
    compared number by number, with one thread and, where kernel and process can use two, with two, so that an error of
    compiled code on a processor that nobody had tried may be found first.  The kernel says how (``PROOF``, see
    ``kernels/contract.py``). ``UnverifiedError`` where the kernel does not.
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


@dataclass(frozen=True)
class Case:
    """One thing to measure."""

    label: str  # unique within one measurement
    kernel: Any  # module or object with setup, run, verify and work
    problem: Any  # the kernel's Problem
    threads: int = 1
    parameters: Mapping[str, Any] = field(default_factory=dict)  # coordinates of the record
    #: called on the result of every sample, outside the clock; its numbers are kept beside the times
    observe: Callable[[Any], Mapping[str, float]] | None = None


@dataclass
class Measurement:
    """Everything one case gave.  ``samples`` are seconds per repeat."""

    label: str
    kernel: str
    problem: Any  # the kernel's Problem itself
    threads: int  # that computed: fewer than asked for where the result says so
    parameters: dict[str, Any]
    setup_s: float  # allocation and first touch (shared by cases of one state)
    compile_s: float  # the first call, compilation or loading of cached code included
    repeats: int  # repeats within one sample
    samples: list[float]
    work: dict[str, Any]  # of one repeat of all threads: flops, bytes_read, bytes_written, parts
    checks_before: list[dict[str, Any]]
    checks_after: list[dict[str, Any]]
    flags: dict[str, str]  # name -> sentence; empty when nothing is doubtful
    other_load: float | None  # CPUs kept busy by others during its samples; of its batch, where those are short
    batch: int  # cases of one batch were interleaved with each other
    observed: dict[str, list[float]] = field(default_factory=dict)
    result: Any = None  # of a study: what the run gave; no part of a record

    def recorded(self) -> dict[str, Any]:
        """All but the result, by name: what a record keeps, once :func:`jsonable` has flattened it."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "result"}

    @property
    def minimum(self) -> float:
        """Seconds: what the machine can do."""
        return min(self.samples)

    @property
    def median(self) -> float:
        """Seconds: what it usually does."""
        return float(np.median(self.samples))


def jsonable(value: Any) -> Any:
    """``value`` in JSON's types: of dataclasses, NumPy scalars, arrays and tuples; NaN and infinity are None."""
    if is_dataclass(value) and not isinstance(value, type):
        return jsonable(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [jsonable(item) for item in (sorted(value) if isinstance(value, (set, frozenset)) else value)]
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


#: The flag ``budget`` of a budget of zero.
_ONCE = "the time budget is zero: the only sample is the first call, with compilation"


class _Preparation(NamedTuple):
    """What the preparation of all cases keeps to."""

    seed: int  # of the states
    shortest: float  # seconds that a sample lasts at least
    end: float  # of ``time.perf_counter``: when the budget is spent; infinity without one
    once: bool  # whether the budget is zero


class _Runner(Sampler):
    """One case with its state, between preparation and report."""

    def __init__(self, case: Case, by: Alone):
        super().__init__(case.label)
        self.case = case
        self.by = by
        self.observed: dict[str, list[float]] = {}
        self.after: list[dict[str, Any]] = []

    def call(self, repeats: int) -> Any:
        case = self.case
        return case.kernel.run(case.problem, self.state, threads=case.threads, repeats=repeats)

    def clock(self, call: Callable, repeats: int) -> tuple[float, Any]:
        return self.by.clock(self.case, call, repeats)

    def set_up(self, seed: int) -> None:
        kernel = self.case.kernel
        problem = self.case.problem
        self.setup_s, self.state = self.clock(lambda _: kernel.setup(problem, seed=seed), 1)

    def prepare(self, how: _Preparation, first: "_Runner") -> None:
        """All that comes before the samples, on the state that ``first`` sets up for its group.

        A case that is ready after ``how.end`` has one sample, the call that calibrated it; where each is to run
        ``once``, the first call.
        """
        if first is self:
            self.set_up(how.seed)
        self.state = first.state
        self.setup_s = first.setup_s
        self.compile_s, result = self.clock(self.call, 1)
        self.before = self.verified(result, "before")
        if how.once:
            self.take(self.compile_s, result, final=False)
            self.after = list(self.before)
            return
        seconds, result = self.calibrate(how.shortest)
        if self.by.shared(self.case, time.perf_counter() > how.end):
            self.take(seconds, result, final=True)

    def sample(self, final: bool) -> None:
        if not self.after:  # else its one sample was taken in ``prepare``
            super().sample(final)

    def take(self, seconds: float, result: Any, final: bool) -> None:
        super().take(seconds, result, final)
        if self.case.observe is not None:  # by every process: it may ask the others
            for name, value in self.case.observe(result).items():
                self.observed.setdefault(name, []).append(float(value))
        if final:
            self.after = self.verified(result, "after")

    def verified(self, result: Any, when: str) -> list[dict[str, Any]]:
        """The checks of ``result`` as dictionaries; ``UnverifiedError`` unless all of them hold.  Keeps its threads."""
        self.threads = getattr(result, "threads", self.case.threads)  # that computed
        checks = self.case.kernel.verify(self.case.problem, result)
        wrong = [str(check) for check in checks if not check.ok] if checks else ["verify returned no check"]
        found, reason = self.by.shared(self.case, [jsonable(checks), wrong[0] if wrong else ""])
        if reason:
            raise UnverifiedError(f"{self.label}: {when} timing, {reason}; its time is not reported")
        return found

    def report(self, other: float | None, cut: str | None, batch: int) -> Measurement:
        case = self.case
        counted = case.kernel.work(case.problem, case.threads)
        parameters, flags = self.by.described(case)
        kernel = getattr(case.kernel, "__name__", type(case.kernel).__name__)
        measurement = Measurement(
            label=case.label,
            kernel=kernel.removeprefix("supercomputers_rerun."),
            problem=case.problem,
            threads=self.threads,
            parameters=jsonable({**parameters, **case.parameters}),
            setup_s=self.setup_s,
            compile_s=self.compile_s,
            repeats=self.repeats,
            samples=self.samples,
            work={
                "flops": int(counted.flops),
                "bytes_read": int(counted.bytes_read),
                "bytes_written": int(counted.bytes_written),
                "parts": {name: int(value) for name, value in counted.parts},
            },
            checks_before=self.before,
            checks_after=self.after,
            flags=flags,
            other_load=other,
            batch=batch,
            observed=self.observed,
        )
        change = trend(self.samples)
        doubts = {
            "drift": None if change is None else f"the samples move by {change:+.0%} from first to last",
            "load": disturbed(other),
            "rate over peak": _over_peak(measurement, self.threads * parameters.get("ranks", 1)),
            "budget": cut,
        }
        measurement.flags.update({name: text for name, text in doubts.items() if text})
        return measurement


def _over_peak(measurement: Measurement, threads: int) -> str | None:
    """The sentence for the ``rate over peak`` flag, or None where no rate exceeds :func:`host.ceiling`, which no CPU
    passes even from registers and its nearest cache."""
    work = measurement.work
    peak = host.ceiling()
    amounts = {"flops": (work["flops"], "flop/s"), "bytes": (work["bytes_read"] + work["bytes_written"], "byte/s")}
    for name, (amount, unit) in amounts.items():
        limit = peak.get(name)
        rate = amount / measurement.minimum
        if limit is not None and rate > limit * threads:
            return f"{rate:.3g} {unit} exceed the {limit * threads:.3g} {unit} that the threads can reach"
    return None


def _accept(cases: Sequence[Case], rounds: int) -> None:
    """``ValueError`` for what cannot be measured, ``UnverifiedError`` where a kernel fails its proof."""
    if not cases:
        raise ValueError("cases is empty: there is nothing to measure")
    require_rounds(rounds)
    labels = [case.label for case in cases]
    twice = {label for label in labels if labels.count(label) > 1}
    if twice:
        raise ValueError(f"label {sorted(twice)[0]!r} names more than one case; labels must differ")
    for case in cases:
        host.require_threads(case.threads)
    for case in cases:
        require_proof(case.label, case.kernel, case.problem)


def _groups(cases: Sequence[Case]) -> list[list[int]]:
    """Indices of the cases that share one state, in order of first appearance."""
    groups: dict[tuple, list[int]] = {}
    for index, case in enumerate(cases):
        groups.setdefault((id(case.kernel), case.problem), []).append(index)
    return list(groups.values())


def _set_up_batch(
    cases: Sequence[Case], pending: list[list[int]], how: _Preparation, limit: float, by: Alone
) -> dict[int, _Runner]:
    """Runners by index, of groups from the front of ``pending`` (which go from it) until ``limit`` bytes are held.

    What does not fit beside the others, by the kernel's own ``footprint``, opens the next batch.
    """
    runners: dict[int, _Runner] = {}
    held = 0
    while pending:
        group = [_Runner(cases[index], by) for index in pending[0]]
        first = group[0].case
        need = first.kernel.footprint(first.problem).memory_of(max(runner.case.threads for runner in group))
        if runners and held + need > limit:
            break
        try:
            for runner in group:
                by.step(runner, runner.prepare, how, group[0])
                # ranks that differ in it would take different branches in ``sample_rounds``
                runner.expected = by.decided(runner.expected)
        except MemoryError:
            if not runners or limit == math.inf:
                raise
            break
        runners.update(zip(pending.pop(0), group, strict=True))
        held += need
    return runners


def _measured(cases, rounds: int, seed: int, budget: float | None, by: Alone) -> list[Measurement]:
    """Measurements of accepted cases, in batches that fit into memory."""
    started = time.perf_counter()
    free = by.memory()
    limit = math.inf if free is None else _MEMORY_SHARE * free
    how = _Preparation(
        seed=seed,
        shortest=by.decided(shortest_sample()),
        end=math.inf if budget is None else started + budget,
        once=budget == 0,
    )
    done: dict[int, Measurement] = {}
    pending = _groups(cases)
    batch = 0
    taken = 0
    while pending:
        runners = _set_up_batch(cases, pending, how, limit, by)
        spent = time.perf_counter() - started
        share = len(runners) / (len(cases) - taken)  # later batches get theirs of what remains
        with no_collection():
            load = by.load()
            end = math.inf if budget is None else time.perf_counter() + (budget - spent) * share
            cut = sample_rounds(list(runners.values()), rounds, seed, end, by, load)
            if how.once:
                cut = _ONCE
            whole = load.value()  # by all ranks: it reads; below nothing does
        if by.reports:
            # comprehensions, since the variable of a loop would hold the last runner's state into the next batch
            during = {index: load.value(runner.watched) for index, runner in runners.items()}
            # short samples are not watched one by one: for them the whole batch speaks
            other = {index: whole if cpus is None else cpus for index, cpus in during.items()}
            done |= {index: runner.report(other[index], cut, batch) for index, runner in runners.items()}
        taken += len(runners)
        batch += 1
        runners.clear()  # and with them their states, before the next are set up
    return [done[index] for index in sorted(done)]


def measure(
    cases: Sequence[Case],
    rounds: int = 11,
    seed: int = 0,
    budget: float | None = None,
    progress: bool = True,
    by: Alone | None = None,
) -> list[Measurement]:
    """Measure ``cases`` against each other; the results are in their order, of many processes from the first alone.

    ``rounds``: samples a case; six are the fewest that give a 95 % interval.  ``seed``: of the states and of the
    random order of every round.  ``budget``: seconds for everything; rounds that do not fit are dropped (flag
    ``budget``), one always runs; with zero each case runs once, which shows that it works and no speed.  ``progress``:
    a bar on stderr, where that is a terminal.  ``by``: the processes that measure; by default this one, alone.

    ``ValueError``: no case, equal labels, no round, or more threads than usable CPUs. ``UnverifiedError`` where a
    kernel failed its proof, or a result its verification before or after the timing. ``MemoryError`` where the state of
    a single case does not fit.
    """
    _accept(cases, rounds)
    by = by or Alone(progress)
    with by.steps((rounds + 2) * len(cases)):  # preparation, warming, rounds
        return _measured(cases, rounds, seed, budget, by)


def study(cases: Sequence[Case], seed: int = 0, progress: bool = True) -> list[Measurement]:
    """Run each case once, on the clock, and verify and keep its result.

    The one sample holds compilation too and is no measure of speed; both lists of checks are those of
    the one result; ``observe`` is not called.  Parameters and errors as :func:`measure`.
    """
    _accept(cases, 1)
    done = []
    by = Alone(progress)
    with by.steps(len(cases), "studying"):
        for number, case in enumerate(cases):
            load = OtherLoad()
            runner = _Runner(case, by)
            runner.set_up(seed)
            runner.compile_s, result = runner.clock(runner.call, 1)
            runner.samples = [runner.compile_s]
            checks = runner.verified(result, "after")
            runner.before = checks
            runner.after = list(checks)
            done.append(runner.report(load.value(), None, number))
            done[-1].result = result
            by.advance()
    return done
