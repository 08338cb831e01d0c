"""The arrays of a state, as ``setup`` made them: what ``run`` checks before compiled code gets their addresses.

Compiled code checks no bounds and asks no page whether it may be written: an array that is shorter, of another
type, read-only, or the same memory as another ends the process or gives another answer.  ``setup`` therefore
leaves a note of every array's shape, type and place, and ``run`` compares the state that it is given with the
note: about 8 µs an array, and 3 µs where the same arrays passed in the last call.  What they hold is the caller's.
"""

import functools
import weakref
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from kernels.contract import require_range
from kernels.runtime.pages import LINE
from kernels.runtime.resources import require_memory, require_threads

#: Most repeats of one call; compiled counters have 64 bits.
MOST_REPEATS = 2**40
#: Notes that are kept of one kernel; the oldest goes.
KEPT = 1024


class Note(NamedTuple):
    """What is remembered of one array."""

    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # bytes
    writeable: bool
    on_line: bool  # whether it begins a cache line

    def __str__(self) -> str:
        return f"{'writable' if self.writeable else 'read-only'} {self.dtype} of shape {self.shape}"


def arrays(state: Any, path: str = "state") -> list[tuple[str, np.ndarray]]:
    """Every array in nested dataclasses, named tuples, tuples, lists and dicts, with its path; others are left out."""
    if isinstance(state, np.ndarray):
        return [(path, state)] if state.dtype != object else []
    if is_dataclass(state) and not isinstance(state, type):
        inner = [(f"{path}.{field.name}", getattr(state, field.name, None)) for field in fields(state)]
    elif isinstance(state, tuple) and hasattr(state, "_fields"):
        inner = [(f"{path}.{name}", value) for name, value in zip(state._fields, state, strict=True)]
    elif isinstance(state, list | tuple):
        inner = [(f"{path}[]", value) for value in state]
    elif isinstance(state, dict):
        inner = [(f"{path}[{key!r}]", value) for key, value in state.items()]
    else:
        return []
    return [found for name, value in inner for found in arrays(value, name)]


def note(array: np.ndarray) -> Note:
    """What is remembered of ``array``."""
    flags = array.flags
    return Note(array.dtype, array.shape, array.strides, flags.writeable, array.ctypes.data % LINE == 0)


def placed(array: np.ndarray) -> bool:
    """Whether ``kernels.runtime.pages`` put the array on a cache line; NumPy's own lie on one by chance only."""
    return getattr(array.base, "dtype", None) == np.uint8 and array.ctypes.data % LINE == 0


def shared(found: list[tuple[str, np.ndarray]]) -> set[tuple[str, str]]:
    """Pairs of paths whose ranges of addresses overlap where one of the two is writable."""
    spans = sorted(
        (low, high, path, array.flags.writeable)
        for path, array in found
        if array.size
        for low, high in [np.lib.array_utils.byte_bounds(array)]
    )
    pairs, open_spans = set(), []
    for low, high, path, writeable in spans:
        open_spans = [span for span in open_spans if span[1] > low]
        pairs |= {(min(path, span[2]), max(path, span[2])) for span in open_spans if writeable or span[3]}
        open_spans.append((low, high, path, writeable))
    return pairs


class Layout(NamedTuple):
    """What ``setup`` left a note of."""

    notes: dict[str, set[Note]]  # by path; the items of one list share a path
    shared: set[tuple[str, str]]  # pairs that overlap by design

    @classmethod
    def of(cls, state: Any) -> "Layout":
        """The layout of a state just made."""
        found, notes = arrays(state), {}
        for path, array in found:
            notes.setdefault(path, set()).add(note(array)._replace(on_line=placed(array)))
        return cls(notes, shared(found))

    def complaint(self, found: list[tuple[str, np.ndarray]]) -> str | None:
        """One sentence on the first of a state's :func:`arrays` that does not fit, None where all do."""
        missing = set(self.notes) - {path for path, _ in found}
        if missing:
            return f"{min(missing)} is no array; setup made one"
        for path, array in found:
            wanted = self.notes.get(path)
            if wanted and not any(_fits(note(array), one) for one in wanted):
                place = " not on a cache line" if not note(array).on_line else ""
                return f"{path} is {note(array)}, strides {array.strides}{place}; setup made {next(iter(wanted))}"
        # what a run adds to its state, views of its own messages for example, is the kernel's affair
        extra = shared([one for one in found if one[0] in self.notes]) - self.shared
        return f"{' and '.join(min(extra))} share memory; setup made them apart" if extra else None


def _fits(given: Note, wanted: Note) -> bool:
    return (
        given[:3] == wanted[:3] and (given.writeable or not wanted.writeable) and (given.on_line or not wanted.on_line)
    )


def _key(problem: Any, besides: tuple[str, ...]) -> tuple:
    named = tuple(getattr(problem, field.name) for field in fields(problem) if field.name not in besides)
    return type(problem), *named


class Notes:
    """The layouts of one kernel's states by problem; ``setup`` and ``run`` wrap its words of that name.

    ``besides`` names fields of the problem on which no array depends: a state may serve problems that differ in
    these, and in the folder of their files.
    """

    def __init__(self, *besides: str):
        self.besides = (*besides, "folder")
        self._layouts: dict[tuple, list[Layout]] = {}
        #: Problem and arrays that passed last.
        self._passed: tuple[list, list[weakref.ref]] = [], []

    def setup(self, setup: Callable) -> Callable:
        """``setup`` that leaves a note of what it made."""

        @functools.wraps(setup)
        def noted(problem, seed: int = 0, *args, **kwargs):
            state = setup(problem, seed, *args, **kwargs)
            self.add(problem, state)
            return state

        return noted

    def add(self, problem: Any, state: Any) -> None:
        """Leave a note that the arrays of ``state``, as they lie, serve ``problem``."""
        known = self._layouts.setdefault(_key(problem, self.besides), [])
        layout = Layout.of(state)
        if layout not in known:
            known.append(layout)
        while len(self._layouts) > KEPT:
            del self._layouts[next(iter(self._layouts))]

    def run(self, run: Callable) -> Callable:
        """``run`` that refuses a state which ``setup`` did not make for its problem, fewer repeats than one, and more
        threads than usable CPUs, by ``ValueError``."""

        @functools.wraps(run)
        def checked(problem, state, threads: int = 1, repeats: int = 1, *args, **kwargs):
            require_threads(threads)
            require_range("repeats", repeats, 1, MOST_REPEATS)
            self.require(problem, state)
            return run(problem, state, threads, repeats, *args, **kwargs)

        return checked

    def require(self, problem: Any, state: Any) -> None:
        """``ValueError`` unless the arrays of ``state`` lie as ``setup(problem)`` left them."""
        key, found = _key(problem, self.besides), arrays(state)
        looks = [key, *((path, each.shape, each.strides, each.dtype, each.flags.writeable) for path, each in found)]
        before, same = self._passed
        # an array that has kept its shape and strides has not moved
        if looks == before and all(one() is each for one, (_, each) in zip(same, found, strict=True)):
            return
        known = self._layouts.get(key)
        if not known:
            raise ValueError(f"state was not made for {problem}; call setup(problem)")
        complaints = [layout.complaint(found) for layout in known]
        if None not in complaints:
            raise ValueError(f"{complaints[0]}; call setup(problem)")
        self._passed = looks, [weakref.ref(each) for _, each in found]


#: The notes of each kernel, by its module.
_KERNELS: dict[str, Notes] = {}


def noted(what: str = "", *besides: str) -> Callable[[Callable], Callable]:
    """Decorates ``setup``: it refuses what memory cannot hold, and leaves a note of what it made.

    ``what`` names in the refusal, a ``MemoryError``, what ``footprint`` counts; ``{problem.N}`` in it is a field.
    Without it ``setup`` asks for its memory itself.  ``besides`` as for :class:`Notes`.
    """

    def mark(setup: Callable) -> Callable:
        @functools.wraps(setup)
        def made(problem, *args, **kwargs):
            if what:
                require_memory(setup.__globals__["footprint"](problem).memory, what.format(problem=problem))
            return setup(problem, *args, **kwargs)

        if what:
            made.__doc__ = f"{setup.__doc__}\n\n    ``MemoryError`` where memory cannot hold what ``footprint`` says."
        _KERNELS[setup.__module__] = Notes(*besides)
        return _KERNELS[setup.__module__].setup(made)

    return mark


def checked(run: Callable) -> Callable:
    """Decorates ``run`` of a kernel whose ``setup`` is :func:`noted`; see :meth:`Notes.run`."""
    found = _KERNELS[run.__module__].run(run)
    found.__doc__ = (
        f"{run.__doc__}\n\n    ``ValueError`` for more threads than usable CPUs, or a state of another problem."
    )
    return found
