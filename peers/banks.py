"""The bank simulator beside the same simulation in C: two CPUs or one.

Both walk through every cycle.
"""

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from kernels.memory import banks
from kernels.memory.banks import Job, Problem
from peers import Absent, Comparison, differ, repeating
from peers.kit import compiled

_NEVER = 2**64 - 1
#: (banks, CPUs): the configurations of the 1982 report, and the machine that customers got.
_CONFIGURATIONS = ((32, 1), (16, 1), (16, 2), (32, 2), (64, 2))
_PASSES = 4000


class _Cpu(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_uint64 * count if count > 1 else ctypes.c_uint64)
        for name, count in (
            ("bank", 3), ("section", 2), ("left", 3), ("old", 1), ("by", 3), ("chained", 1), ("holds", 1), ("ready", 1),
            ("vector", 3), ("overhead", 1), ("latency", 1), ("passes", 1), ("gap", 1), ("end", 1),
        )
    ]  # fmt: skip


def _word(place: int, period: int) -> int:
    return sum(1 << at for at in range(place % period, 64, period))


def _cpu(problem: Problem, number: int) -> _Cpu:
    if number >= problem.cpus:
        return _Cpu(end=1, ready=_NEVER)
    job = problem.jobs[number]
    (loop,) = job.loops
    made = _Cpu(overhead=loop.overhead, latency=loop.latency, passes=job.strips)
    made.holds = 0 if loop.overlap else _NEVER
    for port in range(3):
        made.bank[port] = _word(job.starts[port], problem.banks)
        made.by[port] = (loop.strides[port] or 0) % 64
        made.vector[port] = loop.elements[port]
    for port in range(2):
        made.section[port] = _word(job.starts[port], problem.sections)
    return made


def _c_side(library, problem: Problem) -> Callable:
    lines = [_NEVER if problem.lines == count else 0 for count in (1, 2)]
    banks_run = compiled.function(library, "banks_run", "annn", ctypes.c_uint64)

    def work() -> np.ndarray:
        cpus = (_Cpu * 2)(*(_cpu(problem, number) for number in range(2)))
        cycles = banks_run(cpus, problem.busy, *lines)
        return np.array([cycles, *(cpus[number].end for number in range(problem.cpus))])

    return repeating(work)


def _ours(problem: Problem) -> Callable:
    state = banks.setup(problem)

    def call(repeats=1):
        result = banks.run(problem, state, repeats=repeats)
        return np.array([result.cycles, *result.ends])

    return call


versions = compiled.versions


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """One thread: a simulation is one chain of cycles."""
    if threads > 1:
        return
    libraries, absent = compiled.variants("banks.c")
    yield from absent
    for count, cpus in _CONFIGURATIONS:
        problem = replace(Problem(banks=count, leap=False), jobs=cpus * (Job(passes=_PASSES),))
        yield Comparison(
            group="simulated memory banks",
            label=f"{count} banks, {cpus} {'CPU' if cpus == 1 else 'CPUs'}",
            ours=_ours(problem),
            peers={name: _c_side(library, problem) for name, library in libraries.items()},
            check=differ,
            tolerance=0.0,
            builds=libraries,
        )
