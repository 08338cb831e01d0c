"""Experiments: what each document measured, with which kernel, what that needs, and what is drawn of it.

A function of a chapter that gives the cases of an experiment is made one by :func:`experiment`; what its record holds
beside times, and what is drawn of it, stands below it::

    @experiment("p5plus-latency", item="P3", rounds=11)
    def latency(preset, threads):
        "Memory latency."
        return [Case(...), ...]

    @latency.outputs_of
    def _caches(measurements):
        return {"reported_capacity": Output([...], "byte", "cache", "data caches the system reports")}

    @latency.figure
    def load_times(runs):
        return show(...)

Kernels are imported when an experiment asks for its cases, so that a broken kernel stops its own experiments and
nothing else.
"""

import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from supercomputers_rerun import HOME
from supercomputers_rerun.companion import bench, host, notebook_files
from supercomputers_rerun.companion.bench import Measurement
from supercomputers_rerun.companion.common import Unavailable, require_integer
from supercomputers_rerun.companion.figures import styled
from supercomputers_rerun.companion.records import runs
from supercomputers_rerun.kernels.runtime.resources import Refused

PRESETS = ("quick", "paper", "modern")
# Units of what a case is said to take, by the first word of an experiment's ``unit``
#: Seconds times this is a time in the unit.
TIMES = {"ns": 1e9, "µs": 1e6, "ms": 1e3, "s": 1.0}
#: A rate: what is counted for it, and how much of that makes one.
RATES = {"GB/s": ("bytes", 1e9), "MB/s": ("bytes", 1e6), "GFLOPS": ("flops", 1e9), "MFLOPS": ("flops", 1e6)}
#: Bytes of memory.
SIZES = {"MB": 1e6, "Mword": 8e6}
#: What gives the cases of an experiment.
Cases = Callable[..., list[Any]]


@dataclass(frozen=True)
class Output:
    """A result of an experiment other than a time, as its record keeps it."""

    value: Any  # a number, a text, or a list of these
    units: str | None = None  # "1" of a plain number; a text has none
    dims: str = ""  # names of its dimensions, separated by spaces
    meaning: str = ""

    def recorded(self) -> dict[str, Any]:
        """The entry of ``outputs`` in a record."""
        value = list(self.value) if isinstance(self.value, Iterator) else self.value
        return {"value": value, "units": self.units, "dims": self.dims.split(), "long_name": self.meaning}


@dataclass(eq=False)
class Experiment:
    """One experiment of a document; made by :func:`experiment`."""

    id: str  # lower-case words joined by hyphens, the document first
    document: str
    item: str  # item(s) of the document's checklist: "P2", "P7, P11"
    title: str
    #: ``cases(preset, threads)``: imports its kernel and returns what is measured; over MPI
    #: ``cases(preset, threads, ranks)``, the last with a default
    cases: Cases
    presets: tuple[str, ...] = PRESETS
    needs: frozenset[str] = frozenset()  # words of companion.host.NEEDS
    #: ``outputs(measurements)``: results other than times, ``{name: {"value", "units", ...}}``
    outputs: Callable[[Any], dict[str, dict[str, Any]]] | None = None
    rounds: int = 11
    budgets: Mapping[str, float | None] = field(default_factory=lambda: {"quick": 3.0})  # seconds
    simulated: bool = False  # outputs come from a model; such an experiment has no cases
    #: a "timing" samples its cases in rounds; a "study" runs each once, for the ``result`` that its outputs read
    kind: str = "timing"
    ranks: int = 0  # ranks to start unless asked otherwise; 0: not an MPI program
    threads: int | None = None  # unless asked otherwise, 1 of a program of one processor; None: all that may be used
    unit: str = ""  # of what the command line says, a word of TIMES, RATES or SIZES first: "ns a load"; empty: a time
    per: str = ""  # field or parameter of a case by which that is divided, "loads"
    of: str = ""  # observation of a case that is said in place of its time, "cpu"
    #: Functions that draw it: ``figure(runs)`` takes runs as :meth:`runs` gives them.
    figures: list[Callable] = field(default_factory=list)

    def __post_init__(self):
        if self.ranks:
            self.needs = self.needs | {"mpi"}

    def outputs_of(self, function: Callable) -> Callable:
        """Mark ``function(measurements)``, which gives the outputs by name, each an :class:`Output`."""
        self.outputs = lambda measurements: {name: output.recorded() for name, output in function(measurements).items()}
        return function

    def figure(self, function: Callable) -> Callable:
        """Mark a function that draws this experiment, in the house style; commands, report and record call it."""
        self.figures.append(styled(function))
        return self.figures[-1]

    def run(self, preset: str = "quick", threads: int = 1, **options: Any):
        """Run it here; the record as an ``xarray.Dataset``, drawn as "this run" (options as of :func:`run_record`).

        With ``RERUN_RUNS=stored`` in the environment the newest stored run is given, where there is one, and nothing is
        measured: a notebook is committed with pictures of stored runs alone.  In a notebook, what this machine lacks is
        a sentence on the page, and the newest stored run, where there is one, takes the place of one made here.
        """
        if os.environ.get("RERUN_RUNS") == "stored" and (stored := runs.latest(self.id)) is not None:
            return stored
        try:
            made = runs.dataset(run_record(self.id, preset, threads, **options))
        except Unavailable as reason:
            kept = runs.latest(self.id) if notebook_files.inside() else None
            if kept is None:
                raise
            notebook_files.say(f"Not measured here: {reason}. The newest committed run stands in its place.")
            return kept
        return made.assign_attrs(label="this run", own=1)

    def runs(self, *here: Any) -> list[Any]:
        """What a figure of it draws: the newest stored run of each machine, then those made ``here``.

        The first is that of the machine which the prose names, and is drawn in full.  The attribute ``mark`` of each
        other one is the shape of its medians.  Stored runs that :meth:`run` gave in place of one made here are there
        already.
        """
        made = [run for run in here if run is not None and "file" not in run.attrs]
        return runs.marked([*runs.each(self.id), *made])

    def seconds(self, preset: str) -> float | None:
        """Budget of a preset.  A timing keeps to ``RERUN_BUDGET`` of the environment where that is less."""
        given = self.budgets.get(preset)
        most = os.environ.get("RERUN_BUDGET")
        if not most or self.kind == "study":
            return given
        return float(most) if given is None else min(given, float(most))


REGISTER: dict[str, Experiment] = {}
#: Section -> why it cannot be imported, a sentence: its experiments are missing, and no others.
BROKEN: dict[str, str] = {}
#: what reads and checks a file that an experiment left: ``verifier(path)`` gives lines to print and checks
VERIFIERS: list[Callable[[Any], tuple[list[str], list]]] = []


def experiment(
    id: str,
    *,
    item: str,
    rounds: int = 0,
    seconds: Mapping[str, float | None] | None = None,
    needs: str = "",
    **more: Any,
) -> Callable[[Cases], Experiment]:
    """Make an experiment of the function that gives its cases, ``cases(preset, threads)``; over MPI it takes ``ranks``.

    The first line of the function's docstring is its title.  ``ValueError`` for an id given twice, an unknown need or
    unit, or a study on ranks.

    Parameters
    ----------
    id : str
        Lower-case words joined by hyphens, the document first.
    item : str
        Item or items of the document's checklist, ``"P7, P11"``.
    rounds : int
        Samples of each case; 0 for a study, whose cases run once, for results that every run repeats to the last digit.
    seconds : mapping, optional
        Budget of each preset; ``quick`` has 3 s unless it is named here. None where every round counts.  The presets
        that are named here, and ``quick``, are those that the experiment has.
    needs : str
        Words of ``companion.host.NEEDS``.
    **more
        Other fields of :class:`Experiment`: ranks, threads, simulated, unit, per, of.
    """

    budgets = {"quick": 3.0} | dict(seconds or {})

    def decorate(function: Cases) -> Experiment:
        made = Experiment(
            id=id,
            document=id.partition("-")[0],
            item=item,
            title=(function.__doc__ or id).partition("\n")[0].removesuffix("."),
            cases=function,
            presets=tuple(budgets),
            needs=frozenset(needs.split()),
            rounds=rounds or 1,
            budgets=budgets,
            kind="timing" if rounds else "study",
            **more,
        )
        if unknown := sorted(made.needs - {*host.NEEDS}):
            raise ValueError(f"experiment {id!r}: need {unknown[0]!r} is unknown")
        if id in REGISTER:
            raise ValueError(f"experiment {id!r}: it is registered twice")
        if made.unit and made.unit.partition(" ")[0] not in {**TIMES, **RATES, **SIZES}:
            raise ValueError(f"experiment {id!r}: unit {made.unit!r} is unknown")
        if made.ranks and not rounds:
            raise ValueError(f"experiment {id!r}: a study runs in one process")
        REGISTER[id] = made
        return made

    return decorate


def find(id: str) -> Experiment:
    """The experiment with this id; ``ValueError`` that says why sections of its chapter cannot be imported, else names
    the one of nearly the same letters, or how to see all."""
    if id not in REGISTER:
        near = get_close_matches(id, REGISTER, n=1)
        remedy = f"did you mean {near[0]}?" if near else "companion list shows all"
        chapter = id.partition("-")[0]
        broken = [reason for section, reason in BROKEN.items() if f".{chapter}." in section]
        raise ValueError("; ".join([f"experiment = {id!r} is unknown", *(broken or [remedy])]))
    return REGISTER[id]


def where_written(entry: Experiment) -> list[str]:
    """Where an experiment is written: its object, the functions that draw it, and the kernels of its quick cases."""
    import inspect  # which a list of all need not wait for

    def place(function: Callable) -> str:
        written = inspect.unwrap(function)
        file = Path(inspect.getfile(written)).relative_to(HOME)
        return f"{file}:{inspect.getsourcelines(written)[1]} {written.__name__}"

    try:
        kernels = sorted({case.kernel.__name__ for case in entry.cases("quick", 1)})
    except Unavailable as reason:
        kernels = [f"not here: {reason}"]
    drawn = [f"figure  {place(figure)}" for figure in entry.figures]
    return [f"object  {place(entry.cases)}", *drawn, *(f"kernel  {name}" for name in kernels)]


def drawn_from(run, figures=None) -> tuple[list[Any], list[str]]:
    """What figures, by default all of its experiment, show of one run; a sentence for each that lacks what it takes."""
    if figures is None:
        figures = find(run.attrs["experiment"]).figures
    shown = []
    lacking = []
    for figure in figures:
        try:
            shown.append(figure([run]))
        except (KeyError, IndexError, ValueError, AssertionError) as error:  # an older run, or another sweep
            lacking.append(f"{figure.__name__} does not find in this record what it draws ({error})")
    return shown, lacking


def unavailable(entry: Experiment, needs=None) -> str | None:
    """Why this machine cannot run the experiment, in one sentence, or None if it can; ``needs`` are its own if None."""
    for need in sorted(entry.needs if needs is None else needs):
        finding = host.NEEDS[need]()
        if not finding.ok:
            remedy = f"; {finding.remedy}" if finding.remedy else ""
            return f"{entry.id} needs {finding.name}: {finding.detail}{remedy}"
    return None


@dataclass(frozen=True)
class Asked:
    """What is asked of an experiment."""

    id: str
    preset: str = "quick"
    threads: int = 1  # 1 … usable CPUs
    seed: int = 0  # of states and order; 0 … 2**63 - 1
    budget: float | None = None  # seconds; None: what the experiment gives its preset; zero lets each case run once
    rounds: int | None = None  # samples per case; None: the experiment's; a study runs each case once
    ranks: int | None = None  # of an MPI program; None: the experiment's
    oversubscribe: bool = False  # more ranks than four a CPU are wanted; never more than memory holds


def accept(asked: Asked, started: bool = False) -> tuple[Experiment, list[Any]]:
    """The entry and its cases, if this machine can run it as asked; see :func:`run_record` for what is refused.

    ``started`` says that its ranks run already, perhaps on other machines: what they take is not looked at.
    """
    host.refuse_windows()
    id = asked.id
    preset = asked.preset
    threads = asked.threads
    ranks = asked.ranks
    entry = find(id)
    if ranks is not None and not entry.ranks:
        names = ", ".join(other.id for other in REGISTER.values() if other.ranks)
        raise ValueError(f"ranks = {ranks}: {id} is no MPI program; leave ranks out or choose one of {names or 'none'}")
    if preset not in entry.presets:
        raise Refused(f"preset = {preset!r} is unknown to {id}; choose one of {', '.join(entry.presets)}")
    host.require_threads(threads)
    if asked.budget is not None and not 0 <= asked.budget < float("inf"):
        raise ValueError(f"budget = {asked.budget} s must be zero or more")
    require_integer("seed", asked.seed, 0, 2**63 - 1)
    bench.require_rounds(1 if asked.rounds is None else asked.rounds)
    require_integer("ranks", 1 if ranks is None else ranks, 1, host.MOST_RANKS)
    if reason := unavailable(entry):
        raise Unavailable(reason)
    host.temporary()
    if entry.ranks:
        ranks = ranks or entry.ranks
        if not started:
            host.require_ranks(ranks, threads, oversubscribe=asked.oversubscribe)  # before the cases, perhaps many
        cases = entry.cases(preset, threads, ranks)  # it refuses a number of ranks that it cannot use
        if not started:
            host.require_ranks(ranks, threads, cases, asked.oversubscribe)
    else:
        cases = entry.cases(preset, threads)
        bound = any(getattr(case.problem, "binding", None) is True for case in cases)
        if bound and (reason := unavailable(entry, ["affinity"])):
            raise Unavailable(reason)
        host.require_cases(id, cases)
    return entry, cases


def run_record(id: str, preset: str = "quick", threads: int = 1, *, progress: bool = True, **more) -> dict[str, Any]:
    """Run one experiment and return its record, ready for :func:`companion.records.runs.save`.

    ``more`` are the other fields of :class:`Asked`.

    ``ValueError``: unknown id or preset; threads, budget, seed, rounds or ranks out of range.
    ``companion.mpi.JobError`` where a rank died or failed; nothing of the job is left. ``Unavailable`` where
    the machine lacks something. ``MemoryError`` or ``OSError`` where the run needs more memory, disk, processes or open
    files than this process may use (:mod:`companion.host`); nothing was started. ``UnverifiedError`` or
    ``MemoryError``: see :func:`companion.bench.measure`.
    """
    asked = Asked(id, preset, threads, **more)
    entry, cases = accept(asked)
    if entry.ranks:
        from supercomputers_rerun.companion.mpi import launcher

        told = {name: getattr(asked, name) for name in ("preset", "threads", "seed", "budget", "rounds")}
        return launcher.run_record(id, asked.ranks or entry.ranks, asked.oversubscribe, **told)
    return record_of(asked, entry, cases, bench.Alone(progress))


def record_of(asked: Asked, entry: Experiment, cases: list[Any], by: bench.Alone) -> dict[str, Any]:
    """The record of what the cases give, by these processes; of those that do not report, nothing."""
    date = runs.now()
    measurements: list[Measurement] = []
    if cases and entry.kind == "study":
        measurements = bench.study(cases, asked.seed, by.progress)
    elif cases:
        rounds = entry.rounds if asked.rounds is None else asked.rounds
        budget = entry.seconds(asked.preset) if asked.budget is None else asked.budget
        measurements = bench.measure(cases, rounds, asked.seed, budget, by=by)
    if not by.reports:
        return {}
    record = {
        "schema": runs.SCHEMA,
        "version": runs.VERSION,
        "experiment": entry.id,
        "document": entry.document,
        "item": entry.item,
        "title": entry.title,
        "preset": asked.preset,
        "threads": asked.threads,
        "seed": asked.seed,
        "date": date,
        "simulated": entry.simulated,
        "kind": entry.kind,
        "few_samples": "every run repeats the results" if entry.kind == "study" else None,
        "machine": host.describe(measured=True),
        "measurements": [measurement.recorded() for measurement in measurements],
        "outputs": entry.outputs(measurements) if entry.outputs else {},
    }
    return runs.validate(bench.jsonable(record))


def of(problem: Any, *names: str) -> dict[str, Any]:
    """Fields of a problem by name, as coordinates of a case."""
    return {name: getattr(problem, name) for name in names}


def counts_to(most: int) -> list[int]:
    """1, 2, 4, … and ``most``: threads or ranks of a sweep."""
    return sorted({most, *(2**n for n in range(most.bit_length()))})


def sent(moved: Any) -> dict[str, int]:
    """What a case over MPI sends, counted beforehand, as coordinates."""
    return {"sent_bytes": moved.bytes, "messages": moved.messages}


def _load() -> None:
    """Import the sections of all chapters, and with them their experiments and figures."""
    for path in sorted((Path(__file__).parent / "chapters").glob("*/*.py")):
        name = f"{__package__}.chapters.{path.parent.name}.{path.stem}"
        try:
            if path.stem not in ("__init__", "claims"):
                importlib.import_module(name)
        except Exception as error:
            BROKEN[name] = f"{name} cannot be imported ({type(error).__name__}: {error})"


_load()
