"""What a problem is to a program that has only compiled functions: arrays, numbers, calls, answers."""

import base64
import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from kernels.contract import Check, Work
from kernels.runtime.pages import aligned
from kernels.runtime.wasm import Export, native

#: NumPy's types of the kinds of arrays.
TYPES = {"float64[]": np.float64, "int64[]": np.int64, "uint64[]": np.uint64, "uint32[]": np.uint32}


class Array(NamedTuple):
    """An array that begins on a cache line; zero, or with ``data`` as its beginning."""

    kind: str  # a key of ``TYPES``
    length: int
    data: Sequence[float] | np.ndarray = ()


class Answer(NamedTuple):
    """What a number in ``answers`` must be."""

    name: str
    expected: float
    tolerance: float  # absolute


class Measure(NamedTuple):
    """What is said of the time of a repeat: ``amount`` over the seconds, or times them."""

    unit: str
    amount: float
    rate: bool = True


class Call(NamedTuple):
    """An exported function and the names of its arguments, arrays or numbers; ``repeats`` is what the caller says."""

    function: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """One problem of one kernel."""

    name: str  # which no other case has
    label: str  # the same for a reader
    kernel: str  # the module of this package that has its exports
    problem: dict[str, Any]  # fields of the kernel's Problem
    arrays: dict[str, Array]
    prepare: tuple[Call, ...]
    run: Call
    verify: Call  # fills the array ``answers``
    answers: tuple[Answer, ...]
    work: Work
    whole: dict[str, int] = field(default_factory=dict)  # numbers of 64 bits
    real: dict[str, float] = field(default_factory=dict)
    measure: "Measure | None" = None  # None: operations a second

    def __post_init__(self):
        length = max(1, len(self.answers))
        object.__setattr__(self, "arrays", {**self.arrays, "answers": Array("float64[]", length)})

    def described(self) -> dict[str, Any]:
        """The same as JSON has it.  Numbers of 64 bits are texts, since JavaScript's have 53."""
        return {
            "name": self.name,
            "label": self.label,
            "kernel": self.kernel,
            "problem": self.problem,
            "arrays": {name: {**array._asdict(), "data": _packed(array)} for name, array in self.arrays.items()},
            "whole": {name: str(value) for name, value in self.whole.items()},
            "real": self.real,
            "prepare": [list(call) for call in self.prepare],
            "run": list(self.run),
            "verify": list(self.verify),
            "answers": [list(answer) for answer in self.answers],
            "measure": list(self.measure or Measure("GFLOPS", 1e-9 * self.work.flops)),
            "work": {"flops": self.work.flops, "bytes_read": self.work.bytes_read}
            | {"bytes_written": self.work.bytes_written, "parts": dict(self.work.parts)},
        }


def _packed(array: Array) -> str:
    """What an array begins with: its bytes, little-endian, as base64."""
    return base64.b64encode(np.asarray(array.data, np.dtype(TYPES[array.kind]).newbyteorder("<")).tobytes()).decode()


def size(nbytes: int) -> str:
    """``16 KB``, ``64 MB``."""
    return f"{nbytes >> 20} MB" if nbytes >= 2**20 else f"{nbytes >> 10} KB"


class Native:
    """A case on this processor, through the functions that WebAssembly is made of."""

    def __init__(self, case: Case, exports: Iterable[Export]):
        self.case = case
        calls = {call.function for call in (*case.prepare, case.run, case.verify)}
        self.functions = {export.name: native(export) for export in exports if export.name in calls}
        self.arrays = {name: _filled(array) for name, array in case.arrays.items()}
        for call in case.prepare:
            self._call(call)

    def _call(self, call: Call, repeats: int = 1) -> None:
        self.functions[call.function].ctypes(*(self._value(name, repeats) for name in call.arguments))

    def _value(self, name: str, repeats: int):
        if name in self.arrays:
            return ctypes.cast(self.arrays[name].ctypes.data, _pointer(self.arrays[name].dtype))
        return {**self.case.whole, **self.case.real, "repeats": repeats}[name]

    def run(self, repeats: int = 1) -> None:
        """The timed work."""
        self._call(self.case.run, repeats)

    def verify(self) -> list[Check]:
        """Every answer of what was run last."""
        self._call(self.case.verify)
        pairs = zip(self.arrays["answers"], self.case.answers, strict=False)
        return [Check.near(answer.name, value, answer.expected, answer.tolerance) for value, answer in pairs]


def _filled(array: Array) -> np.ndarray:
    made = aligned(array.length, TYPES[array.kind])
    made[:] = 0
    made[: len(array.data)] = array.data
    return made


def _pointer(dtype: np.dtype):
    return ctypes.POINTER(np.ctypeslib.as_ctypes_type(dtype))
