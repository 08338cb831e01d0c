"""``companion bench``: every experiment of the register that this machine can run, one after the other.

Each leaves its own run record as soon as it is done, and these records are all that a later call needs to go on: an
experiment whose record lies in the folder, made by this machine from this source with the same preset, threads and
seed, is done.  Where the newest of them is doubtful, it may be measured again.
"""

import json
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from supercomputers_rerun.companion import experiments, host
from supercomputers_rerun.companion.common import DRAWING, Refusal, Unavailable, missing, plural
from supercomputers_rerun.companion.experiments import Experiment
from supercomputers_rerun.companion.records import runs

#: Seconds for an experiment of which neither a record nor a budget says how long it takes.
_UNKNOWN = 60.0
#: Seconds for starting, which a budget does not count …
STARTING = 5.0
#: … and for compiling, where nothing of this source is compiled yet.
COMPILING = 15.0
#: Experiments that the page of ``companion report`` asks; these are measured first where time is short.
ASKED = (
    "constants", "p5plus-smt", "xmp1982-devices", "xc30-transforms", "nht1-solver", "nht1-io", "p5plus-bandwidth",
    "p5plus-latency", "xmp1982-forecast", "xc30-forecast", "aips58-ddt",
)  # fmt: skip


@dataclass
class Plan:
    """What is to be measured, with the seconds that each may take, what is done, and what this machine lacks."""

    preset: str
    threads: int | None  # of all experiments; None: each its own
    seed: int
    todo: dict[str, float] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    doubtful: dict[str, int] = field(default_factory=dict)  # of those done, doubtful_cases of the newest record
    lacking: list[str] = field(default_factory=list)  # a sentence for each experiment that cannot run here
    compiled: bool = True  # whether anything of this source is


def threads_of(entry: Experiment, threads: int | None = None) -> int:
    """Threads of an experiment: 1 for ranks, which are processes, and for what a model computes; else those asked for,
    or its own, or as many as CPUs may be used."""
    if entry.ranks or entry.simulated:
        return 1
    if threads is not None:
        return threads
    return entry.threads or host.usable_cpus()


@cache
def _newest(folder: Path) -> dict[tuple[str, str], Path]:
    """The newest record in a ``folder`` of each experiment and preset, by what its name says."""
    found: dict[tuple[str, str], tuple[str, Path]] = {}
    for path in folder.glob("*.json"):
        experiment, preset, _, date = path.stem.rsplit("_", 3)
        found[experiment, preset] = max(found.get((experiment, preset), ("", path)), (date, path))
    return {key: path for key, (_, path) in found.items()}


def estimate(entry: Experiment, preset: str) -> float:
    """Seconds that an experiment may take: as a committed record of the preset took, or its budget."""
    if path := _newest(runs.COMMITTED).get((entry.id, preset)):
        # the book's own, held by tests: to validate them all takes longer than all else that a list needs
        cases = json.loads(path.read_text(encoding="utf-8"))["measurements"]
        taken = (each["setup_s"] + each["compile_s"] + each["repeats"] * sum(each["samples"]) for each in cases)
        return STARTING + sum(taken)
    budget = entry.budgets.get(preset)  # whatever RERUN_BUDGET of tests and builds says
    return STARTING + (_UNKNOWN if budget is None else budget)


def minutes(document: str) -> str:
    """How long the experiments of a chapter take together, by preset, in sentences.

    A preset has no number where most of them have neither a record of it nor a budget: it would be a guess.
    """
    spent: dict[str, str] = {}
    guesses, stored = "", _newest(runs.COMMITTED)
    for name in experiments.PRESETS:
        each = [one for one in experiments.REGISTER.values() if one.document == document and name in one.presets]
        known = [one for one in each if (one.id, name) in stored or one.budgets.get(name) is not None]
        if 2 * len(known) > len(each):
            # a quick run's limits are seconds, and are met
            limits = name != "quick" and not any((one.id, name) in stored for one in each)
            seconds = sum(estimate(one, name) for one in (known if limits else each))
            took = plural(max(1, round(seconds / 60)), "minute")
            if limits:
                guesses += f" With the preset {name} they take about {took}, or more."
            else:
                spent[name] = f"{took} with the preset {name}"
        elif each:
            guesses += f" With the preset {name} the time is unknown."
    *first, last = spent.values()
    words = f"{', '.join(first)} and {last}" if first else last
    return f"All experiments of this chapter together take about {words}. The first time, compiling is added.{guesses}"


def plan(folder: Path, names: list[str], preset: str, threads: int | None, seed: int) -> Plan:
    """What ``names`` (all experiments if empty) still need.

    ``ValueError``: an unknown name, or settings that no experiment accepts.
    """
    wanted = [experiments.find(name) for name in names] if names else list(experiments.REGISTER.values())
    from supercomputers_rerun.kernels.runtime.jit import CACHE_FOLDER  # with numba, for which a list need not wait

    compiled = CACHE_FOLDER is not None and any(CACHE_FOLDER.rglob("*.nbi"))
    found, here = Plan(preset, threads, seed, compiled=compiled), host.describe()
    for entry in wanted:
        asked = preset, threads_of(entry, threads), seed
        kept = [
            record
            for record, _ in runs.native(entry.id, folder)
            if (record["preset"], record["threads"], record["seed"]) == asked
            and host.line(record["machine"]) == host.line(here)
            and record["machine"].get("provenance") == here["provenance"]
        ]
        if kept:
            found.done.append(entry.id)
            if count := doubtful_cases(max(kept, key=lambda record: record["date"])):
                found.doubtful[entry.id] = count
        elif preset not in entry.presets:
            found.lacking.append(f"{entry.id} has no preset {preset}; it has {', '.join(entry.presets)}")
        elif reason := experiments.unavailable(entry):
            found.lacking.append(reason)
        else:
            try:
                experiments.accept(experiments.Asked(entry.id, *asked))
                found.todo[entry.id] = estimate(entry, preset) + (0 if found.compiled else COMPILING)
            except (MemoryError, OSError) as error:  # it needs more than this machine has
                found.lacking.append(str(error))
    return found


def within(planned: Plan, seconds: float) -> Plan:
    """What of a plan fits into ``seconds``: first what :data:`ASKED` names, then the rest in its order.

    ``ValueError`` where not even one experiment fits.
    """
    left, chosen = seconds, {}
    for name in sorted(planned.todo, key=lambda name: ASKED.index(name) if name in ASKED else len(ASKED)):
        if planned.todo[name] <= left:
            chosen[name] = planned.todo[name]
            left -= chosen[name]
    if planned.todo and not chosen:
        shortest = duration(min(planned.todo.values()))
        raise ValueError(
            f"nothing fits into {duration(max(0, seconds))}; the shortest experiment takes {shortest}, "
            "so give --minutes more"
        )
    return replace(planned, todo=chosen)


class Over(KeyboardInterrupt):
    """The time is over: an experiment ends as by Ctrl-C, and leaves nothing behind."""


@contextmanager
def until(end: float | None) -> Iterator[None]:
    """Raise :class:`Over` in what is done within, once the clock (``time.monotonic``) passes ``end``."""
    if end is None or threading.current_thread() is not threading.main_thread():  # others get no signals
        yield
        return

    def over(number, frame):
        raise Over

    before = signal.signal(signal.SIGALRM, over)
    # again and again: where Python calls back from a library it drops an exception
    signal.setitimer(signal.ITIMER_REAL, max(1e-3, end - time.monotonic()), 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def doubtful_cases(record: dict) -> int:
    """Cases of a record whose flags a quieter hour may lift: others kept CPUs busy, or the samples moved."""
    return sum(bool({"load", "drift"} & {*case["flags"]}) for case in record["measurements"])


def measure(
    planned: Plan, folder: Path, end: float | None = None
) -> tuple[dict[str, Exception], list[str], dict[str, int]]:
    """Measure a plan in order, keep each record and say so.

    ``end``: of the clock ``time.monotonic``.  An experiment that is not done by then is ended, and none begins that
    takes longer than what is left.

    Returns
    -------
    failed : dict
        What a reader can mend, by the name of the experiment.
    dropped : list of str
        Experiments for which no time was left.
    doubtful : dict
        :func:`doubtful_cases` of the experiments that have any.
    """
    failed: dict[str, Exception] = {}
    dropped: list[str] = []
    doubtful: dict[str, int] = {}
    begun = time.monotonic()
    for number, (name, takes) in enumerate(planned.todo.items(), start=1):
        started, head = time.monotonic(), f"{number} of {len(planned.todo)}: {name}"
        if end is not None and started + takes > end:
            dropped.append(name)  # the call ends with all their names
            continue
        left = "" if end is None else f", {duration(end - started)} left"
        if sys.stderr.isatty():
            print(f"{head}, about {duration(takes)} ({duration(started - begun)} passed{left})", file=sys.stderr)
        try:
            threads = threads_of(experiments.find(name), planned.threads)
            # one that takes far longer than planned, on a busy machine, leaves time for others
            with until(None if end is None else min(end, started + max(3 * takes, (end - started) / 3))):
                record = experiments.run_record(name, planned.preset, threads, seed=planned.seed)
            path = runs.save(record, folder)
        except Over:
            dropped.append(name)
            print(f"{head}: dropped after {duration(time.monotonic() - started)}; it took longer than was planned")
            continue
        except (ValueError, OSError, MemoryError, Refusal) as error:
            failed[name] = error
            print(f"{head}: no record. {' '.join(str(error).split()) or 'memory ran out; choose a smaller preset'}")
            continue
        if count := doubtful_cases(record):
            doubtful[name] = count
        flagged = sum(bool(case["flags"]) for case in record["measurements"])
        doubt = f", {plural(flagged, 'doubtful case')}" if flagged else ""
        print(f"{head}: {time.monotonic() - started:.0f} s{doubt}  {path}", flush=True)
    return failed, dropped, doubtful


def measure_again(planned: Plan, doubtful: dict[str, int], folder: Path, times: int) -> int:
    """Measure experiments with :func:`doubtful_cases` anew, up to so many ``times``, while any have some.

    These are what this call left ``doubtful``, and what earlier calls did (``planned.doubtful``).  A record with fewer
    such cases is kept beside the first and is newer, so that it is the one that counts.  Returns how many were kept.
    """
    left, written = planned.doubtful | doubtful, 0
    for number in range(1, times + 1):
        for name, before in list(left.items()):
            head = f"again, {number} of {times}: {name}: "
            threads = threads_of(experiments.find(name), planned.threads)
            try:
                record = experiments.run_record(name, planned.preset, threads, seed=planned.seed)
            except (ValueError, OSError, MemoryError, Unavailable) as error:  # what ran then does not now
                reason = " ".join(str(error).split()) or "memory ran out"
                print(f"{head}no record, the earlier one stays. {reason}", flush=True)
                del left[name]
                continue
            after = doubtful_cases(record)
            kept = f"  {runs.save(record, folder)}" if after < before else "; the earlier record stays"
            print(f"{head}{plural(after, 'doubtful case')} for {before}{kept}", flush=True)
            written += after < before
            left[name] = min(after, before)
            if not after:
                del left[name]
    return written


def duration(seconds: float) -> str:
    """Seconds as a reader says them."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def _each_time(planned: Plan) -> dict[str, float]:
    """Seconds that each experiment takes which earlier calls left doubtful."""
    return {name: estimate(experiments.find(name), planned.preset) for name in planned.doubtful}


def listing(planned: Plan, again: int = 0) -> list[str]:
    """A line for each experiment to measure, or to measure up to so often ``again``, with the time that it takes."""
    anew = _each_time(planned) if again else {}
    found = [f"  {name:<20} {duration(seconds)}" for name, seconds in planned.todo.items()]
    return found + [f"  {name:<20} {duration(seconds)}, again" for name, seconds in anew.items()]


def announcement(planned: Plan, again: int = 0) -> list[str]:
    """What a call is about to do, which measures up to so often ``again`` what is doubtful."""
    takes = duration(sum(planned.todo.values()))
    compiling = "most of it compiling, which this machine does once"
    more = "longer where code is not compiled yet" if planned.compiled else compiling
    todo, done = plural(len(planned.todo), "experiment"), len(planned.done)
    first = f"{todo} to measure, about {takes}, {more}; {done} done before"
    drawing = missing(*DRAWING)
    page = [f"companion report will not draw them: {drawing}"] if drawing else []
    doubt = []
    if planned.doubtful:
        takes = duration(sum(_each_time(planned).values()))
        which = f"of these doubtful, as others kept CPUs busy or samples moved: {', '.join(planned.doubtful)}"
        how = f"measured up to {plural(again, 'time')} again, about {takes} each" if again else "--again 3 repeats them"
        doubt = [f"{which}; {how}"]
    return [first, *doubt, *(f"left out: {sentence}" for sentence in planned.lacking), *page]
