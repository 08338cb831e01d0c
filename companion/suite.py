"""``python -m companion bench``: every experiment of the register that this machine can run, one after the other.

Each leaves its own run record as soon as it is done, and these records are all that a later call needs to go on: an
experiment whose record lies in the folder, made by this machine from this source with the same preset, threads and
seed, is done.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from companion import bench, experiments
from companion.experiments import Experiment
from companion.host import machine
from companion.labels import plural
from companion.records import runs, store

#: Seconds for an experiment of which neither a record nor a budget says how long it takes.
_UNKNOWN = 60.0
#: Seconds for starting and compiling, which a budget does not count.
STARTING = 5.0


@dataclass
class _Plan:
    """What is to be measured, what is done already, and what this machine lacks."""

    preset: str
    threads: int
    seed: int
    todo: list[Experiment] = field(default_factory=list)
    done: list[tuple[Experiment, Path]] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)  # a sentence for each experiment that cannot run here

    @cached_property
    def expected(self) -> list[float]:
        """Seconds that each experiment to do may take, estimated once."""
        return [estimate(entry, self.preset) for entry in self.todo]


def recorded_seconds(record: dict[str, Any]) -> float:
    """How long a record's cases took: setting up, compiling, and all samples with their repeats."""
    return sum(
        case["setup_s"] + case["compile_s"] + case["repeats"] * sum(case["samples"]) for case in record["measurements"]
    )


def estimate(entry: Experiment, preset: str) -> float:
    """Seconds that an experiment may take: as a committed record of the preset took, or its budget."""
    dates = {path.stem.rpartition("_")[2]: path for path in runs.COMMITTED.glob(f"{entry.id}_{preset}_*.json")}
    if dates:
        # the book's own, held by tests: to validate them all takes longer than all else that a list needs
        return STARTING + recorded_seconds(store.strict_json(dates[max(dates)].read_text(encoding="utf-8")))
    budget = entry.seconds(preset)
    return STARTING + (_UNKNOWN if budget is None else budget)


def _same_source(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return machine.line(a) == machine.line(b) and a.get("provenance") == b.get("provenance")


def _finished(folder: Path, preset: str, threads: int, seed: int) -> dict[str, Path]:
    """Experiment -> the record in ``folder`` that this machine made from this source with the same settings.

    Files that are no run records are somebody else's and are left alone.
    """
    here, found = machine.describe(), {}
    for path in sorted(folder.glob("*.json")):
        try:
            record = runs.read(path)
        except (OSError, ValueError):
            continue
        known = experiments.REGISTER.get(record["experiment"])
        wanted = (preset, _asked_threads(known, preset, threads) if known else threads, seed)
        if (record["preset"], record["threads"], record["seed"]) == wanted and _same_source(record["machine"], here):
            found[record["experiment"]] = path
    return found


def _asked_threads(entry: Experiment, preset: str, threads: int) -> int:
    """``threads``, or 1 for ranks, which are processes, and for what a model computes."""
    return 1 if entry.ranks or entry.simulated else threads


def plan(folder: Path, names: list[str], preset: str, threads: int, seed: int) -> _Plan:
    """What ``names`` (all experiments if empty) still need.

    ``ValueError``: an unknown name, or settings that no experiment accepts.
    """
    wanted = [experiments.find(name) for name in names] if names else list(experiments.REGISTER.values())
    have = _finished(folder, preset, threads, seed)
    found = _Plan(preset, threads, seed)
    for entry in wanted:
        reason = experiments.unavailable(entry)
        if entry.id in have:
            found.done.append((entry, have[entry.id]))
        elif preset not in entry.presets:
            found.lacking.append(f"{entry.id} has no preset {preset}; it has {', '.join(entry.presets)}")
        elif reason:
            found.lacking.append(reason)
        else:
            try:
                experiments.accept(entry.id, preset, _asked_threads(entry, preset, threads), seed=seed)
                found.todo.append(entry)
            except (MemoryError, OSError) as error:  # it needs more than this machine has
                found.lacking.append(str(error))
    return found


#: Experiments that the page of ``python -m companion report`` asks; these are measured first where time is short.
ASKED = (
    "p5plus-smt", "xmp1982-devices", "xc30-transforms", "nht1-io", "p5plus-bandwidth", "p5plus-latency",
    "xmp1982-forecast", "xc30-forecast", "aips58-ddt",
)  # fmt: skip


def within(planned: _Plan, seconds: float) -> _Plan:
    """What of a plan fits into ``seconds``: first what :data:`ASKED` names, then the rest in its order.

    ``ValueError`` where not even one experiment fits.
    """
    turns = {name: number for number, name in enumerate(ASKED)}
    order = sorted(zip(planned.todo, planned.expected, strict=True), key=lambda each: turns.get(each[0].id, len(turns)))
    chosen, left = [], seconds
    for entry, expected in order:
        if expected <= left:
            chosen.append(entry)
            left -= expected
    if order and not chosen:
        shortest = duration(min(planned.expected))
        raise ValueError(f"nothing fits into {duration(seconds)}; the shortest experiment takes {shortest}")
    return _Plan(planned.preset, planned.threads, planned.seed, chosen, planned.done, planned.lacking)


@dataclass
class _Outcome:
    """How one experiment ended."""

    entry: Experiment
    path: Path | None = None
    flagged: int = 0  # cases whose times are doubtful
    seconds: float = 0.0
    error: str = ""
    unverified: bool = False


def measure(entry: Experiment, planned: _Plan, folder: Path) -> _Outcome:
    """Run one experiment and keep its record; what a reader can mend becomes a sentence."""
    from companion.mpi import JobError

    started, threads = time.perf_counter(), _asked_threads(entry, planned.preset, planned.threads)
    try:
        record = experiments.run_record(entry.id, planned.preset, threads, seed=planned.seed)
        path = runs.save(record, folder)
    except (ValueError, OSError, MemoryError, bench.UnverifiedError, experiments.Unavailable, JobError) as error:
        said = str(error) or "memory ran out; choose a smaller preset"
        return _Outcome(entry, error=said, unverified=isinstance(error, bench.UnverifiedError))
    flagged = sum(bool(case["flags"]) for case in record["measurements"])
    return _Outcome(entry, path, flagged, time.perf_counter() - started)


def remaining(expected: list[float], taken: list[float]) -> str:
    """What is left after the first experiments: the estimate, times what this machine has taken of it so far."""
    if len(taken) == len(expected):
        return "done"
    pace = sum(taken) / sum(expected[: len(taken)]) if taken else 1.0
    return f"about {duration(pace * sum(expected[len(taken) :]))} left"


def go(planned: _Plan, folder: Path, say: Callable[[str], None]) -> Iterator[_Outcome]:
    """Measure what is left of a plan, in order, and say after each how much time is left."""
    taken: list[float] = []
    for entry in planned.todo:
        started = time.perf_counter()
        outcome = measure(entry, planned, folder)
        taken.append(time.perf_counter() - started)
        say(f"{len(taken)} of {len(planned.todo)}: {line(outcome)}; {remaining(planned.expected, taken)}")
        yield outcome


def line(outcome: _Outcome) -> str:
    """One outcome for a reader."""
    if outcome.error:
        return f"{outcome.entry.id}: no record. {' '.join(outcome.error.split())}"
    doubt = f", {plural(outcome.flagged, 'doubtful case')}" if outcome.flagged else ""
    return f"{outcome.entry.id}: {outcome.seconds:.0f} s{doubt}  {outcome.path}"


def duration(seconds: float) -> str:
    """Seconds as a reader says them."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def announcement(planned: _Plan) -> list[str]:
    """What a call is about to do."""
    takes = duration(sum(planned.expected))
    lines = [f"{plural(len(planned.todo), 'experiment')} to measure, about {takes}; {len(planned.done)} done before"]
    return [*lines, *(f"left out: {sentence}" for sentence in planned.lacking)]
