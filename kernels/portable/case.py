"""What a problem is to a program that has only compiled functions: arrays, numbers, calls, answers."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from supercomputers_rerun.kernels.contract import Work

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
