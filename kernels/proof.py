"""What a kernel shows of itself before it is timed: a small problem, compared with its reference.

``verify`` looks at the result that is measured, at a size at which nothing slow can be computed beside it.  A proof
looks at a result small enough for the independent ``reference``, number by number, with one thread, and with two
where kernel and machine have them.  A kernel says what is small, and how close is close, by one more word::

    PROOF = Proof({"n": 4096}, each={"operation": ("copy", "add")})

The bench asks for it once in a process, before the first timing (``companion.bench``); an error that compiled code
makes on one processor alone shows there.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np

from supercomputers_rerun.kernels.contract import Check, worst
from supercomputers_rerun.kernels.runtime.resources import usable_cpus

__all__ = ["ROUNDING", "Proof"]

#: Largest difference over the largest magnitude of a field, where a kernel names no other.
ROUNDING = 1e-13


@dataclass(frozen=True)
class Proof:
    """How a kernel is proven."""

    #: fields of the small problem, which are otherwise those of the preset ``quick``
    small: Mapping[str, Any] = field(default_factory=dict)
    #: options that choose other code, with values to prove: a proof takes that of the problem to be measured
    each: Mapping[str, tuple] = field(default_factory=dict)
    #: option -> (another, its values with which the option chooses any code)
    only: Mapping[str, tuple[str, tuple]] = field(default_factory=dict)
    #: field of the result -> largest difference over its largest magnitude (:data:`ROUNDING`); whole numbers are equal
    within: Mapping[str, float] = field(default_factory=dict)
    #: fields that differ from machine to machine, or that the reference has otherwise
    not_compared: tuple[str, ...] = ()
    #: ``also(problem, state, result)``: checks of what the run left in its state
    also: Callable[[Any, Any, Any], list[Check]] | None = None

    def problem(self, like: Any) -> Any:
        """The small problem that goes the same ways as ``like``."""
        kept = {name: getattr(like, name) for name, values in self.each.items() if getattr(like, name) in values}
        here = {"folder": like.folder} if hasattr(like, "folder") else {}
        return type(like).preset("quick", **{**self.small, **kept, **here})

    def problems(self, kind: Any) -> Iterator[Any]:
        """The small problems of all ways, of the class ``kind``."""
        like = kind.preset("quick", **self.small)
        for values in itertools.product(*self.each.values()):
            way = dict(zip(self.each, values, strict=True))
            idle = [name for name, (other, among) in self.only.items() if way[other] not in among]
            if all(way[name] == self.each[name][0] for name in idle):
                yield self.problem(replace(like, **way))

    def checks(self, kernel: Any, problem: Any) -> list[Check]:
        """Run ``problem``, small, with one thread and, where it can, two: numbers as in ``reference``, and ``verify``.

        Every run has a state of its own, and all are kept until the last: memory that one run has filled cannot lend
        its numbers to the next.
        """
        expected = kernel.reference(problem, kernel.setup(problem))
        checks, kept = [], [expected]
        for threads in range(1, 3)[: usable_cpus()]:
            state = kernel.setup(problem)
            try:
                found = kernel.run(problem, state, threads)
            except ValueError as refusal:
                if threads > 1 and str(refusal).startswith("threads = "):
                    continue  # it has one thread by its nature
                raise
            checks += self.compare(found, expected) + kernel.verify(problem, found)
            if self.also is not None:
                checks += self.also(problem, state, found)
            kept += [state, found]
        return checks

    def compare(self, found: Any, expected: Any) -> list[Check]:
        """Each number of a result against the reference's."""
        checks = []
        for name, one, other in _numbers(found, expected, ""):
            top = name.partition(",")[0].partition(" ")[0]
            if top not in self.not_compared and name not in self.not_compared:
                checks.append(_compared(name, one, other, self.within.get(name, self.within.get(top, ROUNDING))))
        return [check for check in checks if check is not None]


def _numbers(found: Any, expected: Any, name: str) -> Iterator[tuple[str, Any, Any]]:
    """Name, found and expected of every number and array inside a result; what is no number is left out."""
    if isinstance(expected, (np.ndarray, np.generic, float, int)):
        yield name, np.asarray(found), np.asarray(expected)
    elif isinstance(expected, Mapping):
        for key in expected:
            yield from _numbers(found[key], expected[key], f"{name} {key}".strip())
    elif hasattr(expected, "_fields") or is_dataclass(expected):
        for key in getattr(expected, "_fields", None) or [each.name for each in fields(expected)]:
            yield from _numbers(getattr(found, key), getattr(expected, key), name or key)
    elif isinstance(expected, (list, tuple)):
        yield f"{name}, how many", np.asarray(len(found)), np.asarray(len(expected))
        for one, other in zip(found, expected, strict=False):
            yield from _numbers(one, other, name)


def _compared(name: str, found: np.ndarray, expected: np.ndarray, within: float) -> Check | None:
    """How far ``found`` is from ``expected``; None where the reference knows nothing (NaN)."""
    if expected.shape[:1] == (1,) and found.ndim == expected.ndim and len(found) > 1:
        found = found[:1]  # a row a thread; the reference has one
    if found.shape != expected.shape:
        return Check(f"{name}: elements, and their order", float(found.size), float(expected.size), 0.0, False)
    if expected.dtype.kind not in "fc":
        wrong = int(np.count_nonzero(found != expected))
        return Check.near(f"{name}: numbers unlike the reference's", wrong, 0, 0)
    known = ~np.isnan(expected)
    if not known.any():
        return None
    size = worst(expected[known])
    with np.errstate(invalid="ignore", over="ignore"):
        off = worst(found[known] - expected[known]) / (size or 1.0)
    return Check.near(f"{name}: largest difference from the reference, relative", off, 0.0, within)
