"""Our kernels beside other people's software, in one process and one run.

``make peers`` (``python -m supercomputers_rerun.peers``) walks every module of this package, which has one function::

    def comparisons(threads: int) -> Iterable[Comparison | Absent]

It may be a generator: a comparison is measured as soon as it is yielded and then dropped, so
large arrays need not live together.  A peer that cannot run here is yielded as ``Absent``; that
is said in the report and is no failure.  Before samples are taken, every callable runs once and
its result is compared with ours; a peer that gives another answer is not timed.

It may also offer ``versions() -> Mapping[str, str]``: by name of a peer, which version of it ran and
how it was built.  It is asked once, after the module's comparisons.

A ratio is always *peer's time / our time*: above 1 we are faster.  ``--out FOLDER`` keeps a run record of kind "peer"
for each module (:mod:`companion.records.runs`).
"""

import contextlib
import functools
import importlib
import importlib.metadata
import inspect
import pkgutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import binding
from numba.core import config

from supercomputers_rerun.companion.bench import OtherLoad, calibrate, disturbed, interleave
from supercomputers_rerun.companion.common import plural

_SAMPLE = 0.012  # seconds a sample of our side lasts at least
_KEPT = 2  # builds that are timed after a trial
#: Steps of a trial: the part of a sample that each build does, as its inverse, and how many builds stay after it.
_TRIAL = ((32, 16), (4, 6), (1, 4), (1, _KEPT))
_LONG = 0.5  # seconds of a call that tells enough of a build: the call that checks its answer is the trial then


@dataclass(frozen=True)
class Comparison:
    """One piece of work done by us and by others."""

    group: str  # what is summarised together, for example ``"stride bandwidth"``
    label: str  # the point within the group, for example ``"1 MiB, stride 8"``
    #: Does the work and returns what ``check`` understands.  Takes no argument, or ``repeats=1``: how often to do it.
    #: Compiled functions are compiled by the checking call that precedes all timing.
    ours: Callable[[], Any]
    peers: Mapping[str, Callable[[], Any]]  # the same work, by name of the peer
    #: ``check(our_result, peer_result)`` is their distance, 0 for equal, NaN for none that counts as close.
    check: Callable[[Any, Any], float]
    tolerance: float = 1e-12  # largest distance that counts as the same answer: a peer beyond it is not timed
    #: Peers that are one source built in several ways: a short trial picks the fastest few, which alone are timed.
    builds: Collection[str] = ()
    #: What a trial of the module's own chose, for example the layout of a peer.  It is no part of the label: the case
    #: is the same whatever the trial of another day chooses.
    chosen: str = ""


@dataclass(frozen=True)
class Absent:
    """A peer that cannot run on this machine, and why."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name} ({self.reason})"


def relative_difference(ours, theirs) -> float:
    """max |ours − theirs| / max |theirs|, infinite where the shapes differ (a usual ``check``)."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.shape != theirs.shape:
        return float("inf")
    scale = np.max(np.abs(theirs), initial=0.0)
    return float(np.max(np.abs(ours - theirs), initial=0.0) / (scale if scale > 0 else 1.0))


def differ(ours, theirs) -> float:
    """1 where numbers that must be equal are not."""
    return float(np.any(np.asarray(ours) != np.asarray(theirs)))


def repeating(work: Callable[[], Any]) -> Callable:
    """A side that does ``work`` as often as it is asked to, and returns what the last time gave."""

    def call(repeats=1):
        for _ in range(repeats):
            result = work()
        return result

    return call


def installed(**packages: str) -> dict[str, str]:
    """Versions of the packages that are installed, by the names of their peers."""
    found = {}
    for peer, package in packages.items():
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[peer] = importlib.metadata.version(package)
    return found


def modules() -> list[str]:
    """Names of the peer modules, in alphabetical order."""
    return sorted(
        found.name for found in pkgutil.iter_modules(__path__) if not found.ispkg and not found.name.startswith("_")
    )


def require_known(names: Iterable[str]) -> list[str]:
    """The names as a list; ``ValueError`` that lists the known ones if one is no peer module."""
    known, names = modules(), list(names)
    for name in names:
        if name not in known:
            raise ValueError(f"peers = {name!r} is unknown; choose one of {', '.join(map(repr, known))}")
    return names


def _module(name: str) -> Any:
    """The named module, or the ``ImportError`` in its place."""
    try:
        return importlib.import_module(f"{__name__}.{name}")
    except ImportError as error:
        return error


def collect(name: str, threads: int) -> Iterator[Comparison | Absent]:
    """All comparisons of the named module, which counts as absent where it cannot be imported."""
    module = _module(name)
    if isinstance(module, ImportError):
        yield Absent(name, f"{module.name or 'a module'} cannot be imported")
    else:
        yield from module.comparisons(threads)


def versions(name: str) -> dict[str, str]:
    """How our kernels are compiled, and what the named module says about the versions of its peers."""
    processor = config.CPU_NAME or binding.get_host_cpu_name()
    found = {"ours": f"numba -O{int(config.OPT)} for {processor}, fast-math by flags that each function names"}
    return found | getattr(_module(name), "versions", dict)()


def measure(comparison: Comparison, threads: int, rounds: int, seed: int) -> tuple[list[dict[str, Any]], list[Absent]]:
    """Check every peer against us, then time all in interleaved rounds of seeded order.

    Returns the sides as a record has them, ours first, and the peers with another answer, which get no time.  Where our
    side and a peer take ``repeats``, both are asked for the same number of them.
    """
    ours = comparison.ours()
    right, checks, first, wrong = {"ours": comparison.ours}, {}, {}, []
    for name, peer in comparison.peers.items():
        start = time.perf_counter()
        answer = peer()
        first[name] = time.perf_counter() - start
        distance = float(comparison.check(ours, answer))
        if distance <= comparison.tolerance:
            right[name] = peer
            checks[name] = {"value": distance, "expected": 0.0, "tolerance": comparison.tolerance, "ok": True}
        else:
            place = f"{comparison.group}, {comparison.label}"
            wrong.append(Absent(name, f"another answer for {place}: distance {distance!r}"))
    repeats = 1
    if all(map(_takes_repeats, right.values())):
        # one number for all: a side calibrated apart might be given few, and be charged with the start of its threads
        repeats, *_ = calibrate(lambda count: comparison.ours(repeats=count), _SAMPLE, comparison.label)
    tried = _trial({name: right[name] for name in comparison.builds if name in right}, repeats, first)
    functions = {name: _times(function, repeats) for name, function in right.items() if name not in tried}
    load = OtherLoad()
    samples = interleave(functions, rounds=rounds, seed=seed)
    other = load.value()
    doubt = disturbed(other)
    case = {"family": comparison.group, "case": comparison.label}
    chosen = {"chosen": comparison.chosen} if comparison.chosen else {}
    trials = {f"trial of {name}": [seconds] for name, seconds in tried.items()}
    sides = []
    for name in functions:
        mine, times = name == "ours", np.asarray(samples[name], dtype=float) / repeats
        sides.append(
            {
                "label": f"{comparison.group}: {comparison.label}, {plural(threads, 'thread')}, {name}",
                "threads": threads,
                "parameters": {**case, "side": name, **(chosen if mine else {})},
                "samples": times.tolist(),
                "checks": [{"name": "distance of the answers", **checks[name]}] if name in checks else [],
                "flags": {"load": doubt} if doubt else {},
                "other_load": other,
                "observed": trials if mine else {},
            }
        )
    return sides, wrong


def ratios(ours: dict[str, Any], peer: dict[str, Any]) -> tuple[float, float]:
    """Peer's time over ours: of the fastest samples, what each code can do, and of the medians."""
    fastest, median = (each(peer["samples"]) / each(ours["samples"]) for each in (np.min, np.median))
    return float(fastest), float(median)


def _trial(builds: Mapping[str, Callable], repeats: int, first: Mapping[str, float]) -> dict[str, float]:
    """Seconds of one repeat, by name, of the builds that are not among the fastest few of a few calls in turns.

    After each step the slower ones leave, and the next is longer: some builds take ten times as long as the
    fastest, and whole samples of them all would take longer than what is timed.  ``first`` are
    seconds of one call each: the first step where that is no longer, and the whole trial where they were long.
    """
    if len(builds) <= _KEPT:
        return {}
    best = {name: first[name] for name in builds}
    if min(best.values()) > _LONG:
        return {name: best[name] for name in sorted(best, key=best.__getitem__)[_KEPT:]}
    left = list(builds)
    for number, (divisor, stay) in enumerate(_TRIAL):
        count = max(1, repeats // divisor)
        if number == 0 and count > 1:
            best = dict.fromkeys(builds, np.inf)
        for name in left if number or count > 1 else ():
            build = functools.partial(builds[name], repeats=count) if count > 1 else builds[name]
            start = time.perf_counter()
            build()
            best[name] = min(best[name], (time.perf_counter() - start) / count)
        fast = sorted(left, key=best.__getitem__)[:stay]
        left = [name for name in left if name in fast]
    return {name: best[name] for name in sorted(set(builds) - set(left), key=best.__getitem__)}


def _takes_repeats(function: Callable) -> bool:
    return "repeats" in inspect.signature(function).parameters


def _times(function: Callable, each: int) -> Callable[[int], Any]:
    """``call(count)`` asks a side for ``each`` repeats, ``count`` times."""
    work = function if _takes_repeats(function) else repeating(function)
    return lambda count: work(repeats=count * each)
