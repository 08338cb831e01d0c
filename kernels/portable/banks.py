"""The simulated memory of the Cray X-MP, ``kernels.memory.banks``: two jobs of one loop each, cycle by cycle.

``words`` (uint64) and ``counts`` (int64) are the two arrays that have all of a simulation; constants of this module say
what is where.
"""

from dataclasses import replace

import numpy as np
from numba import carray

from kernels.memory import banks
from kernels.memory.banks.clock import NEVER, Memory
from kernels.memory.banks.compiled import Room, simulate
from kernels.memory.banks.plain import Machine
from kernels.portable.case import Answer, Array, Call, Case, Measure
from kernels.runtime.jit import kernel
from kernels.runtime.vector import address
from kernels.runtime.wasm import Export

FOLLOWED = 128  # cycles whose grants are compared one by one
_JOBS, _PORTS = 2, 3
#: Words of a state (4, 16), of programs (4, 1, 10), of ``out`` (5, 5) and of the parts of ``Room``.
_STATE, _PROGRAM, _OUT, _RING, _SNAP = 64, 40, 25, 16, 96
#: Places in the array ``words``: the first state and the programs, then work space.
_PROGRAMS = _STATE
_STATES = _PROGRAMS + _PROGRAM
_OUTS = _STATES + _STATE
_ROOM = _OUTS + _OUT
WORDS = _ROOM + 2 * (_RING + _SNAP)
#: Places in the array ``counts``: the first book of each job (4, 4), loops and strips of each, then work space.
_ROWS = 16
_STRIPS, _BOOKS = _ROWS + 4, _ROWS + 8
_BEGUN = _BOOKS + 16
COUNTS = _BEGUN + 4


@kernel
def _out(words):
    """``out`` of :func:`kernels.memory.banks.compiled.simulate`, in ``words``."""
    return carray(address(words[_OUTS:]), (5, 5))


@kernel
def _simulated(words, counts, memory):
    """``out`` of a simulation from the start with ``memory`` (:class:`Memory`)."""
    states, books = carray(address(words[_STATES:]), (4, 16)), carray(address(counts[_BOOKS:]), (4, 4))
    programs, out = carray(address(words[_PROGRAMS:]), (4, 1, 10)), _out(words)
    for i in range(_STATE):
        words[_STATES + i] = words[i]
    for i in range(_ROWS):
        counts[_BOOKS + i] = counts[i]
    words[_OUTS:_ROOM] = np.uint64(0)
    out[_JOBS:4, 0] = np.uint64(1)
    at = _ROOM + _RING
    room = Room(
        words[_ROOM:at],
        words[at : at + _RING],
        words[at + _RING : at + _RING + _SNAP],
        words[at + _RING + _SNAP : at + _RING + 2 * _SNAP],
        counts[_BEGUN:COUNTS],
    )
    simulate(memory, _JOBS, states, programs, counts[_ROWS:_STRIPS], counts[_STRIPS:_BOOKS], books, out, room)
    return out


@kernel
def _memory(busy, two_lines, limit):
    """Banks that stay ``busy`` for so many cycles, one line to a section or, where ``two_lines``, two, up to cycle
    ``limit``."""
    none, all_ones = np.uint64(0), ~np.uint64(0)
    one, two = (none, all_ones) if two_lines else (all_ones, none)
    return Memory(np.uint64(busy), one, two, none, False, limit)


def walk(words, counts, busy, two_lines, repeats):
    """``repeats`` times all cycles, none leapt over."""
    words, counts = carray(words, (WORDS,)), carray(counts, (COUNTS,))
    for _ in range(repeats):
        _simulated(words, counts, _memory(busy, two_lines, NEVER))


def found(words, counts, busy, two_lines, elements, answers):
    """Ends and cycles of the last run; then what each port had moved after 1, 2, … cycles, ``elements`` a strip."""
    words, counts = carray(words, (WORDS,)), carray(counts, (COUNTS,))
    answers = carray(answers, (_JOBS + 1 + FOLLOWED * _JOBS * _PORTS,))
    out = _out(words)
    answers[0], answers[1], answers[2] = out[0, 0], out[1, 0], out[4, 0]
    at = _JOBS + 1
    for cycle in range(1, FOLLOWED + 1):
        out = _simulated(words, counts, _memory(busy, two_lines, np.uint64(cycle)))
        for job in range(_JOBS):
            for port in range(_PORTS):
                answers[at] = np.float64(out[job, 1]) * elements - np.float64(out[job, 2 + port])
                at += 1


EXPORTS = (
    Export("banks_walk", walk, ("uint64[]", "int64[]", "int64", "int64", "int64")),
    Export("banks_found", found, ("uint64[]", "int64[]", "int64", "int64", "int64", "float64[]")),
)


def _grants(problem: banks.Problem) -> list[int]:
    """Elements that each port has moved after each of the first cycles, from the plain simulation."""
    machine, found_ = Machine(problem), []
    for _ in range(FOLLOWED):
        machine.cycle()
        found_ += [port.granted for cpu in machine.cpus for port in cpu.ports]
    return found_


def case(lines: int = 1, passes: int = 100) -> Case:
    """Two jobs that load two words and store one a cycle, with ``lines`` of each CPU to a section (1 or 2)."""
    job = banks.Job(passes=passes)
    problem = banks.Problem(jobs=_JOBS * (job,), lines=lines, leap=False)
    state, expected = banks.setup(problem), banks.reference(problem, None)
    words = np.concatenate([banks.states_of(problem, state.starts).ravel(), state.programs.ravel()])
    books = banks.books_of(state)
    counts = np.concatenate([books.ravel(), state.rows, state.strips])
    names = [f"cycle {t}, job {j}, port {p}" for t in range(1, FOLLOWED + 1) for j in range(_JOBS) for p in banks.PORTS]
    answers = [("end of job 0", expected.ends[0]), ("end of job 1", expected.ends[1]), ("cycles", expected.cycles)]
    answers += list(zip(names, _grants(replace(problem, limit=0)), strict=True))
    return Case(
        name=f"banks-{lines}",
        label=f"memory banks, {lines} line{'s'[: lines - 1]} to a section",
        kernel="banks",
        problem={"banks": problem.banks, "busy": problem.busy, "lines": lines, "jobs": _JOBS, "passes": passes},
        arrays={
            "words": Array("uint64[]", WORDS, tuple(map(int, words))),
            "counts": Array("int64[]", COUNTS, tuple(map(int, counts))),
        },
        whole={"busy": problem.busy, "two": lines - 1, "elements": job.loops[0].vector},
        prepare=(),
        run=Call("banks_walk", ("words", "counts", "busy", "two", "repeats")),
        verify=Call("banks_found", ("words", "counts", "busy", "two", "elements", "answers")),
        answers=tuple(Answer(name, float(value), 0.0) for name, value in answers),
        work=banks.work(problem),
        measure=Measure("million cycles a second", 1e-6 * expected.cycles),
    )
