"""Vector loops on an interleaved memory, cycle by cycle: banks, sections, ports, lines and chaining.

Consecutive words lie in consecutive banks.  A bank that has been granted is busy for ``busy`` cycles.
Each CPU has two ports that load and one that stores (A, B, C); a port asks for the bank of its next
element and waits until it gets it.  In each cycle the CPUs ask in order of priority and each CPU's ports
in the order A, B, C.  A request is refused while its bank is busy, where another port was given the bank
in the same cycle, and where the CPU's line to the section of the bank is in use.  A store chains to
its loads: it stores an element once both loads have delivered it, and nothing in the first ``latency``
cycles of the strip.

This is the memory of the Cray X-MP as W. Oed and O. Lange describe it ("On the effective bandwidth of
interleaved memories in vector processor systems", IEEE Transactions on Computers C-34, 1985), without
its port for input and output.  Everything here is *simulated*: a cycle is one of the X-MP's clock periods of
9.5 ns, of which its CPUs made 105 million a second.

Their theorems for endless streams hold exactly; the tests state them.
"""

from dataclasses import dataclass, replace

import numpy as np

from kernels.contract import Check, Footprint, Work, require_range
from kernels.memory.banks import clock as _clock
from kernels.memory.banks import compiled as _compiled
from kernels.memory.banks.plain import WAITS, Trace, bandwidth, run_out, trace
from kernels.memory.banks.problem import HEAVY, PORTS, Job, Loop, Problem
from kernels.proof import Proof

__all__ = ["HEAVY", "PORTS", "WAITS", "Job", "Loop", "Problem", "Result", "Trace"]
__all__ += ["bandwidth", "footprint", "reference", "run", "setup", "stream", "trace", "verify", "work"]

_CHECKED = 3000  # cycles that ``verify`` follows in plain Python as well
_WALKED = 10**6  # cycles that ``verify`` goes through without leaps


@dataclass(frozen=True)
class Result:
    """What became of the jobs."""

    ends: np.ndarray  # (jobs,) int64: cycles that each job took, 0 where the limit came first
    granted: np.ndarray  # (jobs, 3) int64: elements moved by the ports A, B and C
    cycles: int  # cycles simulated
    leapt: int  # of these, by leaps over whole periods


@dataclass
class State:
    """The arrays that describe the jobs to the compiled code."""

    programs: np.ndarray  # (4, loops, 10) uint64
    rows: np.ndarray  # (4,) int64: loops of each job
    strips: np.ndarray  # (4,) int64: strips of each job
    passes: np.ndarray  # (4,) int64
    starts: np.ndarray  # (4, 3) uint64: first bank of each port


def stream(stride: int, start: int = 0) -> Job:
    """An endless access stream: one load port, one long vector."""
    loop = Loop(strides=(stride, None, None), vector=2**40, overhead=0, latency=0)
    return Job(loops=(loop,), starts=(start, 0, 0), passes=1)


def _program(job: Job) -> tuple[list[list[int]], int]:
    """Rows for the compiled code, and passes; a single loop counts its strips as passes."""
    rows = []
    for loop in job.loops:
        strides = [(stride or 0) % 64 for stride in loop.strides]
        hold = 0 if loop.overlap else 2**64 - 1
        rows.append([*strides, *loop.elements, loop.overhead, loop.latency, hold, loop.strips])
    if len(rows) == 1:
        rows[0][-1] = 1
        return rows, job.strips
    return rows, job.passes


def setup(problem: Problem, seed: int = 0) -> State:
    """The jobs as arrays; nothing is random."""
    programs = np.zeros((4, max(len(job.loops) for job in problem.jobs), 10), np.uint64)
    state = State(programs, *(np.zeros(4, np.int64) for _ in range(3)), np.zeros((4, 3), np.uint64))
    for number, job in enumerate(problem.jobs):
        rows, passes = _program(job)
        programs[number, : len(rows)] = np.array(rows, np.uint64)
        state.rows[number], state.passes[number], state.strips[number] = len(rows), passes, job.strips
        state.starts[number] = [start % problem.banks for start in job.starts]
    return state


def _repeated(places: int, period: int) -> np.uint64:
    """The bits ``places`` repeated with ``period`` over 64 bits."""
    return np.uint64(sum(places << at for at in range(0, 64, period)) & (2**64 - 1))


def states_of(problem: Problem, starts: np.ndarray) -> np.ndarray:
    """The four CPUs before the first cycle."""
    states = np.zeros((4, 16), np.uint64)
    for number in range(4):
        for port, start in enumerate(starts[number]):
            states[number, port] = _repeated(1 << int(start), problem.banks)
            if port < 2:  # no port of the CPU asks after C in a cycle: its section is not kept
                states[number, 3 + port] = _repeated(1 << int(start) % problem.sections, problem.sections)
    states[problem.cpus :, _clock.READY] = _clock.NEVER
    return states


def books_of(state: State) -> np.ndarray:
    """Where the jobs are in their programs before the first cycle."""
    books = np.zeros((4, 4), np.int64)
    books[:, _compiled.LEFT] = state.programs[:, 0, _compiled.STRIPS]
    books[:, _compiled.PASSES] = state.passes
    return books


def _memory(problem: Problem) -> _clock.Memory:
    all_ones, none = np.uint64(2**64 - 1), np.uint64(0)
    return _clock.Memory(
        np.uint64(problem.busy),
        all_ones if problem.lines == 1 else none,
        all_ones if problem.lines == 2 else none,
        np.uint64(problem.priority == "alternating"),
        problem.leap,
        np.uint64(problem.limit) if problem.limit else _clock.NEVER,
    )


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """Simulate the jobs ``repeats`` times, each time from the start.

    ``ValueError`` for more than one thread: a simulation is one chain of cycles.
    """
    require_range("threads", threads, 1, 1)
    memory, out, room = _memory(problem), np.zeros((5, 5), np.uint64), _compiled.Room.new()
    first = states_of(problem, state.starts), books_of(state)
    for _ in range(repeats):
        out[:] = 0
        out[problem.cpus : 4, 0] = 1
        states, books = (each.copy() for each in first)
        _compiled.simulate(memory, problem.cpus, states, state.programs, state.rows, state.strips, books, out, room)
    return _result(problem, out)


def _result(problem: Problem, out: np.ndarray) -> Result:
    granted = np.zeros((problem.cpus, 3), np.int64)
    for number, job in enumerate(problem.jobs):
        passes, rest = divmod(int(out[number, 1]), sum(loop.strips for loop in job.loops))
        begun = [passes * loop.strips for loop in job.loops]
        for place, loop in enumerate(job.loops):
            begun[place] += min(rest, loop.strips)
            rest = max(0, rest - loop.strips)
        for port in range(3):
            granted[number, port] = sum(n * loop.elements[port] for n, loop in zip(begun, job.loops, strict=True))
            granted[number, port] -= int(out[number, 2 + port])
    ends = out[: problem.cpus, 0].astype(np.int64)
    return Result(ends, granted, int(out[4, 0]), int(out[4, 1]))


def reference(problem: Problem, state: State) -> Result:
    """The plain simulation, up to 10 million cycles."""
    machine = run_out(problem)
    return Result(
        np.array([cpu.end or 0 for cpu in machine.cpus], np.int64),
        np.array([[port.granted for port in cpu.ports] for cpu in machine.cpus], np.int64),
        max(cpu.end for cpu in machine.cpus) if machine.done() else machine.t,
        0,
    )


def verify(problem: Problem, result: Result) -> list[Check]:
    """The first cycles against the plain simulation, all against a second run, which leaps only if it has to; all
    elements moved, no more than the banks can give.
    """
    start = replace(problem, limit=min(problem.limit or _CHECKED, _CHECKED), leap=False)
    state = setup(start)
    ours, plain = run(start, state), reference(start, state)
    off = int(np.abs(ours.granted - plain.granted).sum() + np.abs(ours.ends - plain.ends).sum())
    checks = [Check.near(f"elements after {plain.cycles} cycles, against the plain simulation", off, 0, 0)]
    again = replace(problem, leap=problem.leap and result.cycles > _WALKED)
    second = run(again, setup(again))
    off = int(np.abs(result.granted - second.granted).sum() + np.abs(result.ends - second.ends).sum())
    checks.append(Check.near("elements and ends, against a second run", off, 0, 0))
    for number, job in enumerate(problem.jobs):
        if result.ends[number]:
            missing = sum(job.elements) - int(result.granted[number].sum())
            checks.append(Check.near(f"elements of job {number} not moved", missing, 0, 0))
    share = float(result.granted.sum()) * problem.busy / (problem.banks * (result.cycles + problem.busy))
    checks.append(Check("share of the banks' time in use", share, 1.0, 0.0, share <= 1.0))
    return checks


def work(problem: Problem, threads: int = 1) -> Work:
    """The words that the simulated ports move, 8 bytes each; the host itself moves none of them."""
    loads = sum(sum(job.elements[:2]) for job in problem.jobs)
    stores = sum(job.elements[2] for job in problem.jobs)
    return Work(bytes_read=8 * loads, bytes_written=8 * stores)


def footprint(problem: Problem) -> Footprint:
    """Nothing: some kilobytes are less than an interpreter takes for itself, and a search sets up thousands."""
    return Footprint(0)


def _leaps(problem: Problem, state: State, result: Result) -> list[Check]:
    """Many passes, of two jobs and of four: leaping over whole periods must give what going through them gives."""
    checks = []
    for jobs in (problem.jobs, (*problem.jobs, Job((Loop((4, 2, 1)),), passes=20))):
        longer = tuple(replace(job, passes=100 * job.passes) for job in jobs)
        leaping, walking = (replace(problem, jobs=longer, leap=leap) for leap in (True, False))
        one, other = (run(each, setup(each)) for each in (leaping, walking))
        off = int(np.abs(one.granted - other.granted).sum() + np.abs(one.ends - other.ends).sum())
        off += abs(one.cycles - other.cycles)
        checks.append(Check.near(f"{len(jobs)} jobs: cycles and elements, leaping against going through", off, 0, 0))
        checks.append(Check(f"{len(jobs)} jobs: cycles leapt over", one.leapt, 0, 0, one.leapt > 0))
    return checks


#: Two jobs, one of them of two loops; the plain simulation never leaps.
PROOF = Proof(
    {
        "jobs": (
            Job(passes=30),
            Job((Loop((1, 3, None)), Loop((2, None, 5), overlap=False, strips=2)), passes=10),
        )
    },
    each={"lines": (1, 2, 3), "priority": ("fixed", "alternating"), "leap": (True, False)},
    not_compared=("leapt",),
    also=_leaps,
)
