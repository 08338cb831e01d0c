"""Measure kernels so that a wrong or meaningless time cannot be reported.

Before its first timing in a process a kernel proves itself where it says how (``PROOF``, see ``kernels/contract.py``):
a small problem with one thread and with two, compared with the kernel's independent reference.

For every case: set up once, time the first call apart (it compiles), verify, calibrate the number of repeats against
the clock, warm up, take samples in rounds that visit all cases in seeded random order, verify the last sample, and
flag what makes the numbers doubtful.  A case that is prepared after the budget is spent has one sample, its last call
of the calibration.  With a budget of zero that sample is its first call.  Cases with the same kernel and problem share
one state. Cases whose states do not fit into memory together are measured in consecutive batches; only cases of one
batch are interleaved.

A study asks for a result and not for a time: :func:`study` runs each case once and keeps what it gave.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from companion.bench.engine import (
    Alone,
    Sampler,
    interleave,
    no_collection,
    require_proof,
    require_rounds,
    sample_rounds,
)
from companion.bench.sampling import OtherLoad, UnverifiedError, disturbed, shortest_sample
from companion.bench.statistics import Ratio, median_interval, ratio, trend
from companion.host import machine
from companion.named import name_of

#: Part of the available memory that the states of one batch may fill.
_MEMORY_SHARE = 0.4


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
    other_load: float | None  # CPUs kept busy by others during its samples; of its batch, where those are short
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


#: The flag ``budget`` of a budget of zero.
_ONCE = "the time budget is zero: the only sample is the first call, with compilation"


class _Runner(Sampler):
    """One case with its state, between preparation and report."""

    def __init__(self, case: Case, by: Alone):
        super().__init__(case.label)
        self.case, self.by = case, by
        self.observed: dict[str, list[float]] = {}
        self.after: list[dict[str, Any]] = []

    def call(self, repeats: int) -> Any:
        case = self.case
        return case.kernel.run(case.problem, self.state, threads=case.threads, repeats=repeats)

    def clock(self, call: Callable, repeats: int) -> tuple[float, Any]:
        return self.by.clock(self.case, call, repeats)

    def set_up(self, seed: int) -> None:
        kernel, problem = self.case.kernel, self.case.problem
        self.setup_s, self.state = self.clock(lambda _: kernel.setup(problem, seed=seed), 1)

    def prepare(self, seed: int, shortest: float, end: float, first: "_Runner") -> None:
        """All that comes before the samples, on the state that ``first`` sets up for its group.

        Past ``end`` (of ``time.perf_counter``) the call that calibrated is the only sample; without any time, at the
        end -inf, it is the first call.
        """
        if first is self:
            self.set_up(seed)
        self.state, self.setup_s = first.state, first.setup_s
        self.compile_s, result = self.clock(self.call, 1)
        self.before = self.verified(result, "before")
        if end == -math.inf:
            self.take(self.compile_s, result, final=False)
            self.after = list(self.before)
            return
        seconds, result = self.calibrate(shortest)
        if self.by.shared(self.case, time.perf_counter() > end):
            self.take(seconds, result, final=True)

    def sample(self, final: bool) -> None:
        if not self.after:
            super().sample(final)

    def take(self, seconds: float, result: Any, final: bool) -> None:
        super().take(seconds, result, final)
        if self.case.observe is not None:  # by every process: it may ask the others
            for name, value in self.case.observe(result).items():
                self.observed.setdefault(name, []).append(float(value))
        if final:
            self.after = self.verified(result, "after")

    def verified(self, result: Any, when: str) -> list[dict[str, Any]]:
        """The checks of ``result`` as dictionaries; ``UnverifiedError`` unless all of them hold."""
        checks = self.case.kernel.verify(self.case.problem, result)
        wrong = [str(check) for check in checks if not check.ok] if checks else ["verify returned no check"]
        found, reason = self.by.shared(self.case, [plain(checks), wrong[0] if wrong else ""])
        if reason:
            raise UnverifiedError(f"{self.label}: {when} timing, {reason}; its time is not reported")
        return found

    def report(self, other: float | None, cut: str | None, batch: int, peak: Mapping[str, float | None]) -> Measurement:
        case, counted = self.case, self.case.kernel.work(self.case.problem, self.case.threads)
        parameters, flags = self.by.described(case)
        measurement = Measurement(
            case.label,
            name_of(case.kernel),
            case.problem,
            case.threads,
            plain({**parameters, **case.parameters}),
            self.setup_s,
            self.compile_s,
            self.repeats,
            self.samples,
            {
                **{name: int(getattr(counted, name)) for name in ("flops", "bytes_read", "bytes_written")},
                "parts": {name: int(value) for name, value in counted.parts},
            },
            self.before,
            self.after,
            flags,
            other,
            batch,
            self.observed,
        )
        change = trend(self.samples)
        doubts = {
            "drift": None if change is None else f"the samples move by {change:+.0%} from first to last",
            "load": disturbed(other),
            "rate over peak": _over_peak(measurement, peak, case.threads * parameters.get("ranks", 1)),
            "budget": cut,
        }
        flags.update({name: text for name, text in doubts.items() if text})
        return measurement


def _over_peak(measurement: Measurement, peak: Mapping[str, float | None], threads: int) -> str | None:
    work = measurement.work
    amounts = {"flops": (work["flops"], "flop/s"), "bytes": (work["bytes_read"] + work["bytes_written"], "byte/s")}
    for name, (amount, unit) in amounts.items():
        limit, rate = peak.get(name), amount / measurement.minimum
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
        machine.require_threads(case.threads)
    for case in cases:
        require_proof(case.label, case.kernel, case.problem)


def _groups(cases: Sequence[Case]) -> list[list[int]]:
    """Indices of the cases that share one state, in order of first appearance."""
    groups: list[list[int]] = []
    for index, case in enumerate(cases):
        for group in groups:
            first = cases[group[0]]
            if first.kernel is case.kernel and first.problem == case.problem:
                group.append(index)
                break
        else:
            groups.append([index])
    return groups


def _set_up_batch(
    cases, pending: list[list[int]], seed: int, shortest: float, end: float, limit: float, by: Alone
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
                by.step(runner, runner.prepare, seed, shortest, end, group[0])
                runner.expected = by.decided(runner.expected)
        except MemoryError:
            if not runners or limit == math.inf:
                raise
            break
        runners.update(zip(pending.pop(0), group, strict=True))
        held += need
    return runners


def _measured(cases, rounds: int, seed: int, budget: float | None, peak, by: Alone) -> list[Measurement]:
    """Measurements of accepted cases, in batches that fit into memory."""
    started, shortest = time.perf_counter(), by.decided(shortest_sample())
    free = by.memory()
    limit = math.inf if free is None else _MEMORY_SHARE * free
    latest = math.inf if budget is None else started + budget if budget else -math.inf
    done: dict[int, Measurement] = {}
    pending, batch, taken = _groups(cases), 0, 0
    while pending:
        runners = _set_up_batch(cases, pending, seed, shortest, latest, limit, by)
        spent = time.perf_counter() - started
        share = len(runners) / (len(cases) - taken)  # later batches get theirs of what remains
        with no_collection():
            load = by.load()
            end = math.inf if budget is None else time.perf_counter() + (budget - spent) * share
            cut = sample_rounds(list(runners.values()), rounds, seed, end, by, load)
            cut = _ONCE if budget == 0 else cut
            whole = load.value()
        if by.reports:
            own = {index: load.value(runner.watched) for index, runner in runners.items()}
            other = {index: whole if cpus is None else cpus for index, cpus in own.items()}
            done |= {index: runner.report(other[index], cut, batch, peak) for index, runner in runners.items()}
        taken, batch = taken + len(runners), batch + 1
        runners.clear()  # and with them their states, before the next are set up
    return [done[index] for index in sorted(done)]


def measure(
    cases: Sequence[Case],
    rounds: int = 11,
    seed: int = 0,
    budget: float | None = None,
    progress: bool = True,
    peak: Mapping[str, float | None] | None = None,
    by: Alone | None = None,
) -> list[Measurement]:
    """Measure ``cases`` against each other; the results are in their order, of many processes from the first alone.

    ``rounds``: samples a case; six are the fewest that give a 95 % interval.  ``seed``: of the states and of the
    random order of every round.  ``budget``: seconds for everything; rounds that do not fit are dropped (flag
    ``budget``), one always runs; with zero each case runs once, which shows that it works and no speed.  ``progress``:
    a bar on stderr, if someone watches.  ``peak``: limits of a thread for the flag ``rate over peak``, ``{"flops":
    flop/s, "bytes": byte/s}``; by default what no CPU of this architecture reaches
    (:func:`companion.host.machine.ceiling`).  ``by``: the processes that measure; by default this one, alone.

    ``ValueError``: no case, equal labels, no round, or more threads than usable CPUs. ``UnverifiedError`` where a
    kernel failed its proof, or a result its verification before or after the timing. ``MemoryError`` where the state of
    a single case does not fit.
    """
    _accept(cases, rounds)
    peak = machine.ceiling() if peak is None else peak
    by = by or Alone(progress)
    with by.steps((rounds + 2) * len(cases)):
        return _measured(cases, rounds, seed, budget, peak, by)


def study(
    cases: Sequence[Case], seed: int = 0, budget: float | None = None, progress: bool = True
) -> list[Measurement]:
    """Run each case once, on the clock, and verify and keep its result.

    The one sample holds compilation too and is no measure of speed; both lists of checks are those of
    the one result.  All results are needed, so nothing is cut: from the case that passed ``budget`` on,
    the flag ``budget`` says how long the study had taken.  Parameters and errors as :func:`measure`.
    """
    _accept(cases, 1)
    started, done = time.perf_counter(), []
    by = Alone(progress)
    with by.steps(len(cases), "studying"):
        for number, case in enumerate(cases):
            load, runner = OtherLoad(), _Runner(case, by)
            runner.set_up(seed)
            runner.compile_s, result = runner.clock(runner.call, 1)
            runner.samples, runner.before = [runner.compile_s], runner.verified(result, "after")
            runner.after = list(runner.before)
            spent = time.perf_counter() - started
            late = budget is not None and spent > budget
            cut = f"the study took {spent:.0f} s up to here, its budget is {budget:.0f} s" if late else None
            done.append(runner.report(load.value(), cut, number, machine.ceiling()))
            done[-1].result = result
            by.advance()
    return done
