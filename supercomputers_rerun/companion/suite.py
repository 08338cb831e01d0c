"""``companion bench``: every experiment of the register that this machine can run, one after the other.

Each leaves its own run record as soon as it is done, and these records are all that a later call needs to go on: an
experiment whose record lies in the folder, made by this machine from this source with the same preset, threads and
seed, is done.
"""

import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from supercomputers_rerun.companion import experiments, host
from supercomputers_rerun.companion.common import DRAWING, Refusal, missing, plural, strict_json
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
    "p5plus-smt", "xmp1982-devices", "xc30-transforms", "nht1-solver", "nht1-io", "p5plus-bandwidth",
    "p5plus-latency", "xmp1982-forecast", "xc30-forecast", "aips58-ddt",
)  # fmt: skip


@dataclass
class Plan:
    """What is to be measured, with the seconds that each may take, what is done, and what this machine lacks."""

    preset: str
    threads: int
    seed: int
    todo: dict[str, float] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)  # a sentence for each experiment that cannot run here
    compiled: bool = True  # whether anything of this source is

    def threads_of(self, entry: Experiment) -> int:
        """The threads asked for, or 1 for ranks, which are processes, and for what a model computes."""
        return 1 if entry.ranks or entry.simulated else self.threads


def estimate(entry: Experiment, preset: str) -> float:
    """Seconds that an experiment may take: as a committed record of the preset took, or its budget."""
    dates = {path.stem.rpartition("_")[2]: path for path in runs.COMMITTED.glob(f"{entry.id}_{preset}_*.json")}
    if dates:
        # the book's own, held by tests: to validate them all takes longer than all else that a list needs
        cases = strict_json(dates[max(dates)].read_text(encoding="utf-8"))["measurements"]
        taken = (each["setup_s"] + each["compile_s"] + each["repeats"] * sum(each["samples"]) for each in cases)
        return STARTING + sum(taken)
    budget = entry.seconds(preset)
    return STARTING + (_UNKNOWN if budget is None else budget)


def plan(folder: Path, names: list[str], preset: str, threads: int, seed: int) -> Plan:
    """What ``names`` (all experiments if empty) still need.

    ``ValueError``: an unknown name, or settings that no experiment accepts.
    """
    wanted = [experiments.find(name) for name in names] if names else list(experiments.REGISTER.values())
    from supercomputers_rerun.kernels.runtime.jit import CACHE_FOLDER  # with numba, for which a list need not wait

    compiled = CACHE_FOLDER is not None and any(CACHE_FOLDER.rglob("*.nbi"))
    found, here = Plan(preset, threads, seed, compiled=compiled), host.describe()
    for entry in wanted:
        asked = preset, found.threads_of(entry), seed
        if any(
            (record["preset"], record["threads"], record["seed"]) == asked
            and host.line(record["machine"]) == host.line(here)
            and record["machine"].get("provenance") == here["provenance"]
            for record, _ in runs.native(entry.id, folder)
        ):
            found.done.append(entry.id)
        elif preset not in entry.presets:
            found.lacking.append(f"{entry.id} has no preset {preset}; it has {', '.join(entry.presets)}")
        elif reason := experiments.unavailable(entry):
            found.lacking.append(reason)
        else:
            try:
                experiments.accept(entry.id, preset, found.threads_of(entry), seed=seed)
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
        raise ValueError(f"nothing fits into {duration(seconds)}; the shortest experiment takes {shortest}")
    return replace(planned, todo=chosen)


def measure(planned: Plan, folder: Path) -> dict[str, Exception]:
    """Measure a plan in order, keep each record and say so; what a reader can mend of what failed, by name."""
    failed: dict[str, Exception] = {}
    for number, name in enumerate(planned.todo, start=1):
        started, head = time.perf_counter(), f"{number} of {len(planned.todo)}: {name}"
        try:
            threads = planned.threads_of(experiments.find(name))
            record = experiments.run_record(name, planned.preset, threads, seed=planned.seed)
            path = runs.save(record, folder)
        except (ValueError, OSError, MemoryError, Refusal) as error:
            failed[name] = error
            print(f"{head}: no record. {' '.join(str(error).split()) or 'memory ran out; choose a smaller preset'}")
            continue
        flagged = sum(bool(case["flags"]) for case in record["measurements"])
        doubt = f", {plural(flagged, 'doubtful case')}" if flagged else ""
        print(f"{head}: {time.perf_counter() - started:.0f} s{doubt}  {path}", flush=True)
    return failed


def duration(seconds: float) -> str:
    """Seconds as a reader says them."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def announcement(planned: Plan) -> list[str]:
    """What a call is about to do."""
    takes = duration(sum(planned.todo.values()))
    more = "longer where code is not compiled yet" if planned.compiled else "most of it compiling, once"
    todo, done = plural(len(planned.todo), "experiment"), len(planned.done)
    first = f"{todo} to measure, about {takes}, {more}; {done} done before"
    drawing = missing(*DRAWING)
    page = [f"companion report will not draw them: {drawing}"] if drawing else []
    return [first, *(f"left out: {sentence}" for sentence in planned.lacking), *page]
