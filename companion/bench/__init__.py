"""Measure kernels so that a wrong or meaningless time cannot be reported.

Before its first timing in a process a kernel proves itself where it says how (``PROOF``, see ``kernels/contract.py``):
a small problem with one thread and with two, compared with the kernel's independent reference.

For every case: set up once, time the first call apart (it compiles), verify, calibrate the number
of repeats against the clock, warm up, take samples in rounds that visit all cases in seeded random
order, verify the last sample, and flag what makes the numbers doubtful.  Cases with the same kernel
and problem share one state.  Cases whose states do not fit into memory together are measured in
consecutive batches; only cases of one batch are interleaved.

A study asks for a result and not for a time: :func:`study` runs each case once and keeps what it gave.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from companion.bench.proofs import require_proof
from companion.bench.rounds import Sampler, interleave, no_collection, require_rounds, sample_rounds
from companion.bench.sampling import (
    OtherLoad,
    UnverifiedError,
    progress_bar,
    shortest_sample,
    timed,
)
from companion.bench.statistics import Ratio, median_interval, ratio, trend
from companion.host import machine

__all__ = ["Case", "Measurement", "Ratio", "UnverifiedError", "interleave", "measure", "ratio", "study"]

#: Part of the available memory that the states of one batch may fill.
MEMORY_SHARE = 0.4


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
    threads: int
    parameters: dict[str, Any]
    setup_s: float  # allocation and first touch (shared by cases of one state)
    compile_s: float  # the first call, compilation or loading of cached code included
    repeats: int  # repeats within one sample
    samples: list[float]
    work: dict[str, Any]  # of one repeat of all threads: flops, bytes_read, bytes_written, parts
    checks_before: list[dict[str, Any]]
    checks_after: list[dict[str, Any]]
    flags: dict[str, str]  # name -> sentence; empty when nothing is doubtful
    other_load: float | None  # CPUs kept busy by others meanwhile
    batch: int  # cases of one batch were interleaved with each other
    observed: dict[str, list[float]] = field(default_factory=dict)
    result: Any = None  # of a study: what the run gave; no part of a record

    def recorded(self) -> dict[str, Any]:
        """All but the result, by name: what a record keeps, once :func:`plain` has flattened it."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "result"}

    @property
    def minimum(self) -> float:
        """Seconds: what the machine can do."""
        return min(self.samples)

    @property
    def median(self) -> float:
        """Seconds: what it usually does."""
        return float(np.median(self.samples))

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % interval of the median from order statistics; None with fewer than six samples."""
        return median_interval(self.samples)

    @property
    def flop_rate(self) -> float:
        """Floating-point operations per second of all threads together, at the minimum time."""
        return self.work["flops"] / self.minimum

    @property
    def bandwidth(self) -> float:
        """Bytes per second, read and written by all threads together, at the minimum time."""
        return (self.work["bytes_read"] + self.work["bytes_written"]) / self.minimum

    def __str__(self) -> str:
        doubt = f"  [{', '.join(self.flags)}]" if self.flags else ""
        return f"{self.label}: {self.minimum:.4g} s minimum, {self.median:.4g} s median{doubt}"


def plain(value: Any) -> Any:
    """``value`` with dataclasses, NumPy scalars, arrays and tuples turned into JSON's types."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in (sorted(value) if isinstance(value, (set, frozenset)) else value)]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _verified(case: Case, result: Any, when: str) -> list[dict[str, Any]]:
    """The checks of ``result`` as dictionaries; ``UnverifiedError`` unless all of them hold."""
    checks = case.kernel.verify(case.problem, result)
    if not checks:
        raise UnverifiedError(f"{case.label}: verify returned no check, so its time is not reported")
    failed = [check for check in checks if not check.ok]
    if failed:
        raise UnverifiedError(f"{case.label}: {when} timing, {failed[0]}; its time is not reported")
    return [
        {
            "name": check.name,
            "value": float(check.value),
            "expected": float(check.expected),
            "tolerance": float(check.tolerance),
            "ok": bool(check.ok),
        }
        for check in checks
    ]


class _Runner(Sampler):
    """One case with its state, between preparation and report."""

    def __init__(self, case: Case, state: Any, setup_s: float):
        super().__init__(case.label)
        self.case, self.state, self.setup_s = case, state, setup_s
        self.observed: dict[str, list[float]] = {}
        self.after: list[dict[str, Any]] = []

    def call(self, repeats: int) -> Any:
        case = self.case
        return case.kernel.run(case.problem, self.state, threads=case.threads, repeats=repeats)

    def prepare(self, shortest: float) -> None:
        self.compile_s, result = timed(self.call, 1)
        self.before = _verified(self.case, result, "before")
        self.calibrate(shortest)

    def sample(self, final: bool) -> None:
        result = super().sample(final)
        if self.case.observe is not None:
            for name, value in self.case.observe(result).items():
                self.observed.setdefault(name, []).append(float(value))
        if final:
            self.after = _verified(self.case, result, "after")

    def report(
        self, load: OtherLoad, other: float | None, cut: str | None, batch: int, peak: Mapping[str, float | None]
    ) -> Measurement:
        case, counted = self.case, self.case.kernel.work(self.case.problem, self.case.threads)
        work = {
            "flops": int(counted.flops),
            "bytes_read": int(counted.bytes_read),
            "bytes_written": int(counted.bytes_written),
            "parts": {name: int(value) for name, value in counted.parts},
        }
        measurement = Measurement(
            case.label,
            getattr(case.kernel, "__name__", type(case.kernel).__name__),
            case.problem,
            case.threads,
            plain(case.parameters),
            self.setup_s,
            self.compile_s,
            self.repeats,
            self.samples,
            work,
            self.before,
            self.after,
            {},
            other,
            batch,
            self.observed,
        )
        flags = {
            "drift": _drift(self.samples),
            "load": load.excess(case.threads),
            "rate over peak": _over_peak(measurement, peak),
            "budget": cut,
        }
        measurement.flags.update({name: text for name, text in flags.items() if text})
        return measurement


def _drift(samples: Sequence[float]) -> str | None:
    change = trend(samples)
    return None if change is None else f"the samples move by {change:+.0%} from first to last"


def _over_peak(measurement: Measurement, peak: Mapping[str, float | None]) -> str | None:
    rates = {"flops": (measurement.flop_rate, "flop/s"), "bytes": (measurement.bandwidth, "byte/s")}
    for name, (rate, unit) in rates.items():
        limit = peak.get(name)
        if limit is not None and rate > limit * measurement.threads:
            reach = limit * measurement.threads
            return f"{rate:.3g} {unit} exceed the {reach:.3g} {unit} that the threads can reach"
    return None


def _accept(cases: Sequence[Case], rounds: int) -> None:
    """``ValueError`` or ``TypeError`` for what cannot be measured."""
    if not cases:
        raise ValueError("cases is empty: there is nothing to measure")
    require_rounds(rounds)
    labels = [case.label for case in cases]
    twice = {label for label in labels if labels.count(label) > 1}
    if twice:
        raise ValueError(f"label {sorted(twice)[0]!r} names more than one case; labels must differ")
    for case in cases:
        machine.require_threads(case.threads)
        for word in ("footprint", "setup", "run", "verify", "work"):
            if not callable(getattr(case.kernel, word, None)):
                raise TypeError(f"{case.label}: the kernel has no {word}(); see kernels/contract.py")


def _state_key(case: Case):
    try:
        hash(case.problem)
    except TypeError:
        return id(case.kernel), id(case.problem)
    return id(case.kernel), case.problem


def _groups(cases: Sequence[Case]) -> list[list[int]]:
    """Indices of the cases that share one state, in order of first appearance."""
    groups: dict[Any, list[int]] = {}
    for index, case in enumerate(cases):
        groups.setdefault(_state_key(case), []).append(index)
    return list(groups.values())


def _set_up_group(cases, group: Sequence[int], seed: int, shortest: float) -> dict[int, _Runner]:
    """One state, and each of its cases compiled, verified and calibrated on it."""
    start = time.perf_counter()
    state = cases[group[0]].kernel.setup(cases[group[0]].problem, seed=seed)
    setup_s = time.perf_counter() - start
    runners = {index: _Runner(cases[index], state, setup_s) for index in group}
    for runner in runners.values():
        runner.prepare(shortest)
    return runners


def _set_up_batch(cases, pending: list[list[int]], seed: int, shortest: float, limit: float) -> dict[int, _Runner]:
    """Sets up groups from the front of ``pending`` (and removes them) until ``limit`` bytes are held.

    What does not fit beside the others, by the kernel's own ``footprint``, opens the next batch.
    """
    runners: dict[int, _Runner] = {}
    held = 0
    while pending:
        members = [cases[index] for index in pending[0]]
        first = members[0]
        need = first.kernel.footprint(first.problem).memory_of(max(case.threads for case in members))
        if runners and held + need > limit:
            break
        try:
            group = _set_up_group(cases, pending[0], seed, shortest)
        except MemoryError:
            if not runners:
                raise
            break
        runners.update(group)
        pending.pop(0)
        held += need
    return runners


def _measure_batch(runners, batch, rounds, seed, budget, peak, bar) -> dict[int, Measurement]:
    with no_collection():
        load = OtherLoad()
        cut = sample_rounds(list(runners.values()), rounds, seed, budget, bar)
        other = load.value()
        return {index: runner.report(load, other, cut, batch, peak) for index, runner in runners.items()}


def measure(
    cases: Sequence[Case],
    rounds: int = 11,
    seed: int = 0,
    budget: float | None = None,
    progress: bool = True,
    peak: Mapping[str, float | None] | None = None,
) -> list[Measurement]:
    """Measure ``cases`` against each other.

    Parameters
    ----------
    cases : sequence of Case
    rounds : int
        Samples per case.  Six are the fewest that give a 95 % interval.
    seed : int
        Seeds the states and the random order of every round.
    budget : float, optional
        Seconds for everything; rounds that do not fit are dropped (flag ``budget``), one always runs.
    progress : bool
        A progress bar on stderr, if someone watches.
    peak : mapping, optional
        Per-thread limits ``{"flops": flop/s, "bytes": byte/s}`` for the flag ``rate over peak``;
        by default what no CPU of this architecture reaches (:func:`companion.host.machine.ceiling`).

    Returns
    -------
    list of Measurement
        In the order of ``cases``.

    Raises
    ------
    ValueError
        No case, equal labels, no round, or more threads than usable CPUs.
    UnverifiedError
        A kernel failed its proof, or a result its verification before or after the timing.
    MemoryError
        The state of a single case does not fit.
    """
    _accept(cases, rounds)
    for case in cases:
        require_proof(case.label, case.kernel, case.problem)
    peak = machine.ceiling() if peak is None else peak
    started, shortest = time.perf_counter(), shortest_sample()
    free = machine.available_memory()
    limit = float("inf") if free is None else MEMORY_SHARE * free
    done: dict[int, Measurement] = {}
    pending, batch = _groups(cases), 0
    with progress_bar(rounds * len(cases), "measuring", progress) as bar:
        while pending:
            runners = _set_up_batch(cases, pending, seed, shortest, limit)
            left = None
            if budget is not None:  # later batches get their share of what remains
                share = len(runners) / (len(cases) - len(done))
                left = (budget - (time.perf_counter() - started)) * share
            done.update(_measure_batch(runners, batch, rounds, seed, left, peak, bar))
            runners.clear()
            batch += 1
    return [done[index] for index in range(len(cases))]


def study(
    cases: Sequence[Case], seed: int = 0, budget: float | None = None, progress: bool = True
) -> list[Measurement]:
    """Run each case once, on the clock, and verify and keep its result.

    The one sample holds compilation too and is no measure of speed; both lists of checks are those of
    the one result.  All results are needed, so nothing is cut: from the case that passed ``budget`` on,
    the flag ``budget`` says how long the study had taken.  Parameters and errors as :func:`measure`.
    """
    _accept(cases, 1)
    for case in cases:
        require_proof(case.label, case.kernel, case.problem)
    started, done = time.perf_counter(), []
    with progress_bar(len(cases), "studying", progress) as bar:
        for number, case in enumerate(cases):
            load, start = OtherLoad(), time.perf_counter()
            runner = _Runner(case, case.kernel.setup(case.problem, seed=seed), 0.0)
            runner.setup_s = time.perf_counter() - start
            runner.compile_s, result = timed(runner.call, 1)
            runner.samples, runner.before = [runner.compile_s], _verified(case, result, "after")
            runner.after = list(runner.before)
            spent = time.perf_counter() - started
            late = budget is not None and spent > budget
            cut = f"the study took {spent:.0f} s up to here, its budget is {budget:.0f} s" if late else None
            done.append(runner.report(load, load.value(), cut, number, machine.ceiling()))
            done[-1].result = result
            bar.update()
    return done
