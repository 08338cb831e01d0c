"""The words every kernel answers to.

A kernel is a module (or package) with these names at its top; ``tests/kernels/test_every_kernel.py`` finds
every one of them and holds it to this page:

``Problem``
    Frozen dataclass.  Fields carry the document's own symbols, ranges in their annotations and units in their comments.
    ``Problem.preset(name)`` knows ``"quick"`` (seconds in CI), ``"paper"`` (the document's size),
    ``"modern"`` (fills today's machine) and names in use elsewhere, such as NPB's classes.
``footprint(problem) -> Footprint``
    Bytes of memory and of disk.  Before anything is made, ``setup`` refuses what memory cannot hold, and whatever
    writes refuses what the disk cannot hold (``require_memory``, ``require_disk`` of ``runtime.resources``).
``setup(problem, seed=0) -> state``
    Allocates and touches every page.
``run(problem, state, threads=1, repeats=1) -> result``
    Does the work ``repeats`` times in plain Python over pure compiled functions.  Calling it again on
    the same state gives the same result; loops too short for the clock take ``repeats`` into
    compiled code.  Where the work is too small for ``threads``, fewer compute, and ``result.threads`` says how many.
``reference(problem, state) -> result``
    The same result with one thread and one repeat, slow and obvious.  It is of the type that ``run``
    returns, so that ``verify`` takes either; what only a clock can tell is NaN in it.
``verify(problem, result) -> list[Check]``
    Published constants, residuals, invariants.
``work(problem, threads=1) -> Work``
    Operations and bytes of one repeat, counted from the algorithm: always the total of all threads.
    Where threads share the work it does not depend on their number; where each does as much, it is
    their number times one thread's.

A kernel that computes has a word more, ``PROOF`` (``kernels/proof.py``): the small problem on which it is compared
with its ``reference`` before it is timed.

``verify`` notices any number of the result that is NaN, infinite, lost or changed by a thousandth.  What it does not
notice stands beside it with the reason, by the name of the field:

``NO_OUTPUT``
    Field -> why it is no answer of the run: inputs that the result carries along, times.  A function of the problem
    where that decides it.
``BOUNDED``
    Field -> ``(bound, why)``: a change is noticed from ``bound`` times the largest magnitude of the array on, and why a
    smaller one is within what can be known of it; without a bound (None) only NaN and infinity are.

States and results are dataclasses or ``NamedTuple``s (an object that holds processes is a class of its
own); the comment of each field gives shape, type and unit.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from numbers import Integral, Real
from os import PathLike
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, get_args, get_origin

import numpy as np

from supercomputers_rerun.kernels.runtime.resources import Refused

__all__ = [
    "Check",
    "Footprint",
    "Presets",
    "Refused",
    "Work",
    "ceil_div",
    "one_of",
    "real",
    "require_choice",
    "require_range",
    "whole",
    "worst",
]


def ceil_div(number: int, divisor: int) -> int:
    """The smallest whole number not below ``number`` / ``divisor``, of whole numbers with ``divisor`` > 0."""
    return -(-number // divisor)


@dataclass(frozen=True)
class Check:
    """One verified property: ``|value - expected| <= tolerance`` unless ``ok`` says otherwise."""

    name: str
    value: float
    expected: float
    tolerance: float
    ok: bool

    @classmethod
    def near(cls, name: str, value: float, expected: float, tolerance: float) -> "Check":
        """Absolute comparison; NaN never passes."""
        return cls(name, float(value), float(expected), float(tolerance), bool(abs(value - expected) <= tolerance))

    @classmethod
    def relative(cls, name: str, value: float, expected: float, tolerance: float) -> "Check":
        """Relative comparison (``tolerance`` is relative to ``expected``, which is not zero)."""
        return cls.near(name, value, expected, tolerance * abs(expected))

    def __str__(self) -> str:
        state = "ok" if self.ok else "FAILED"
        return f"{self.name}: {self.value:.6g}, expected {self.expected:.6g} ± {self.tolerance:.2g}: {state}"


def worst(*differences) -> float:
    """Largest magnitude in arrays or numbers, NaN where one of them is NaN; 0 of none.

    ``verify`` takes the largest of anything by this: Python's ``max(worst, nan)`` is ``worst``, and NaN passes.
    """
    extremes = [0.0]
    for difference in differences:
        # the two ends instead of np.abs, so that real arrays of gigabytes are not copied
        values = np.abs(difference) if np.iscomplexobj(difference) else np.asarray(difference)
        if values.size:
            extremes += [float(values.min()), float(values.max())]
    return float(np.max(np.abs(extremes)))


@dataclass(frozen=True)
class Work:
    """What one repeat of all threads together does, counted from the algorithm and not from a counter."""

    flops: int = 0  # floating-point operations (a fused multiply-add is two)
    bytes_read: int = 0  # bytes the algorithm must read
    bytes_written: int = 0  # bytes the algorithm must write
    parts: tuple[tuple[str, int], ...] = ()  # flops of named sections, where they differ in kind

    @property
    def bytes(self) -> int:
        """Bytes read and written."""
        return self.bytes_read + self.bytes_written

    def times(self, count: int) -> "Work":
        """The work of ``count`` threads, members or builds that each do this."""
        parts = tuple((name, count * flops) for name, flops in self.parts)
        return Work(count * self.flops, count * self.bytes_read, count * self.bytes_written, parts)


@dataclass(frozen=True)
class Footprint:
    """What a problem takes of the machine while it runs, in bytes."""

    memory: int  # state, work space and copies made on the way, with one thread
    disk: int = 0  # files that exist at once
    each_thread: int = 0  # memory that every further thread adds, where threads own data of their own

    def memory_of(self, threads: int) -> int:
        """Bytes of memory with ``threads`` threads."""
        return self.memory + (threads - 1) * self.each_thread


class Presets:
    """Mixin for ``Problem``: named sizes in ``PRESETS``, a dict of name to field values, and a check of every field.

    Before ``__post_init__`` every field is held to its annotation, a range (:func:`whole`, :func:`real`), choices
    (:func:`one_of`) or a type: a bool is not accepted as a number, nor a str as a bool.  ``ValueError`` names field,
    value and what it may be.
    """

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {}

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if named := cls.__dict__.get("PRESETS"):
            cls.__doc__ = f"{cls.__doc__}\n\n    Presets, see ``preset``: {', '.join(named)}.\n    "
        own = cls.__dict__.get("__post_init__")
        if own is None and hasattr(cls, "__post_init__"):
            return  # inherited, and wrapped where it was defined

        # before @dataclass looks for it; annotations must be objects, so a kernel does not import them from __future__
        def post_init(self):
            for field in fields(self):
                # a range or choices (``whole``, ``real``, ``one_of``) bring what they require; else the type does
                for require in getattr(field.type, "__metadata__", (_require_kind(field.type),)):
                    require(field.name, getattr(self, field.name))
            if own is not None:
                try:
                    own(self)
                except ValueError as error:
                    raise Refused(str(error)) from None

        cls.__post_init__ = post_init

    @classmethod
    def preset(cls, name: str, **changes: Any):
        """The named problem, with fields replaced by ``changes``.

        ``ValueError`` if the name is unknown; the message lists the known ones.
        """
        if name not in cls.PRESETS:
            known = ", ".join(repr(key) for key in cls.PRESETS)
            raise Refused(f"preset = {name!r} is unknown to {cls.__module__}; choose one of {known}")
        return cls(**cls.PRESETS[name] | changes)


#: Type of an annotation -> the values that it takes, in words and in types.
_KINDS: dict[Any, tuple[str, Any]] = {
    bool: ("True or False", bool),
    str: ("a text", (str, PathLike)),
    tuple: ("a tuple", tuple),
    int: ("a whole number", Integral),
    float: ("a number", Real),
}


def _is_a(value: Any, types: Any) -> bool:
    """``isinstance``, but that a truth value is no number."""
    if isinstance(value, bool):
        return types is bool
    return isinstance(value, types)


def _require_kind(annotation: Any) -> Any:
    """The check of a field whose annotation is a type without a range, or several types (``int | None``)."""
    options = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    types = [get_origin(option) or option for option in options if option is not NoneType]  # tuple[int, ...] -> tuple
    known = [_KINDS[kind] for kind in types if kind in _KINDS]
    unknown = len(known) < len(types)  # of a type that the table lacks, any value is taken
    may_be_none = NoneType in options

    def require(name: str, value: Any) -> None:
        if unknown or (value is None and may_be_none):
            return
        if not any(_is_a(value, kind) for _, kind in known):
            raise Refused(f"{name} = {value!r} must be {' or '.join(words for words, _ in known)}")
        if isinstance(value, tuple) and tuple[str, ...] in options:
            if not value or not all(isinstance(each, (str, PathLike)) for each in value):
                raise Refused(f"{name} = {value!r} must be a tuple of one or more texts")

    return require


def require_range(field: str, value, low, high, unit: str = "") -> None:
    """``ValueError`` that names field, value and range unless ``low <= value <= high``.

    Whole bounds ask for a whole number.  NaN lies in no range; a truth value is no number.
    """
    unit = f" {unit}" if unit else ""
    integral = isinstance(low, int) and isinstance(high, int)
    if isinstance(value, bool) or not isinstance(value, Integral if integral else Real):
        kind = "whole number" if integral else "number"
        raise Refused(f"{field} = {value!r} must be a {kind} in {low} … {high}{unit}")
    if not low <= value <= high:
        raise Refused(f"{field} = {value!r}{unit} is outside {low} … {high}{unit}")


def require_choice(field: str, value, choices) -> None:
    """``ValueError`` that names field, value and choices unless ``value`` is one of them."""
    # True == 1, but a switch is no number
    if not any(isinstance(value, bool) == isinstance(choice, bool) and value == choice for choice in choices):
        raise Refused(f"{field} = {value!r} is unknown; choose one of {', '.join(map(repr, choices))}")


class Allowed:
    """What a field may hold: ``allowed(name, value)`` refuses any other value, ``repr`` gives it in words."""

    def __init__(self, words: str, check: Callable[[str, Any], Any]):
        self.words = words
        self.check = check

    def __call__(self, name: str, value: Any) -> None:
        self.check(name, value)

    def __repr__(self) -> str:
        return self.words


def _range(low: float, high: float, unit: str) -> Allowed:
    words = f"{low} to {high}{f' {unit}' if unit else ''}"
    return Allowed(words, lambda name, value: require_range(name, value, low, high, unit))


def whole(low: int, high: int, unit: str = "") -> Any:
    """The annotation of a field that holds a whole number of ``low … high``, both ends included."""
    return Annotated[int, _range(low, high, unit)]


def real(low: float, high: float, unit: str = "") -> Any:
    """The annotation of a field that holds a number of ``low … high``, both ends included, in ``unit``."""
    return Annotated[float, _range(low, high, unit)]


def one_of(*choices: Any) -> Any:
    """The annotation of a field that holds one of ``choices``, all of one type."""
    words = f"one of {', '.join(map(repr, choices))}"
    return Annotated[type(choices[0]), Allowed(words, lambda name, value: require_choice(name, value, choices))]
