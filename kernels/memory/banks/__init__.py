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

from supercomputers_rerun.kernels.contract import Check, Footprint, Work, require_range
from supercomputers_rerun.kernels.memory.banks import compiled
from supercomputers_rerun.kernels.memory.banks.compiled import ALL, ZERO
from supercomputers_rerun.kernels.memory.banks.machine import WAITS, Machine, Trace, bandwidth, plain, trace
from supercomputers_rerun.kernels.memory.banks.problem import HEAVY, PORTS, Job, Loop, Problem
from supercomputers_rerun.kernels.proof import Proof

_CHECKED = 3000  # cycles that ``verify`` follows in plain Python
_MOST = 10_000_000  # cycles that ``reference`` follows at most


@dataclass(frozen=True)
class Result:
    """What became of the jobs."""

    ends: np.ndarray  # (jobs,) int64: cycles that each job took, 0 where the limit came first
    granted: np.ndarray  # (jobs, 3) int64: elements moved by the ports A, B and C
    cycles: int  # cycles simulated


@dataclass
class State:
    """The arrays that describe the jobs to the compiled code, see ``kernels.memory.banks.compiled``."""

    cpus: np.ndarray  # (jobs,) CPU: before the first cycle
    loops: np.ndarray  # (jobs, loops) LOOP
    jobs: np.ndarray  # (jobs,) PROGRESS: before the first cycle


def stream(stride: int, start: int = 0) -> Job:
    """An endless access stream: one load port, one long vector."""
    loop = Loop(strides=(stride, None, None), vector=2**40, overhead=0, latency=0)
    return Job(loops=(loop,), starts=(start, 0, 0), passes=1)


def _repeated(place: int, period: int) -> int:
    """Bit ``place`` repeated with ``period`` over 64 bits."""
    return sum(1 << at for at in range(place % period, 64, period))


def setup(problem: Problem, seed: int = 0) -> State:
    """The jobs as arrays; nothing is random."""
    longest = max(len(job.loops) for job in problem.jobs)
    state = State(
        np.zeros(problem.cpus, compiled.CPU),
        np.zeros((problem.cpus, longest), compiled.LOOP),
        np.zeros(problem.cpus, compiled.PROGRESS),
    )
    for number, job in enumerate(problem.jobs):
        for place, loop in enumerate(job.loops):
            entry = state.loops[number, place]
            entry["stride"] = [(stride or 0) % 64 for stride in loop.strides]
            entry["elements"] = loop.elements
            entry["overhead"] = loop.overhead
            entry["latency"] = loop.latency
            entry["holds"] = ZERO if loop.overlap else ALL
            entry["strips"] = loop.strips
        cpu = state.cpus[number]
        cpu["bank"] = [_repeated(start, problem.banks) for start in job.starts]
        cpu["section"] = [_repeated(start, problem.sections) for start in job.starts[:2]]
        cpu["ready"] = ALL
        state.jobs[number] = (0, job.loops[0].strips, job.passes)
    return state


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """Simulate the jobs ``repeats`` times, each time from the start.

    ``ValueError`` for more than one thread: a simulation is one chain of cycles.
    """
    require_range("threads", threads, 1, 1)
    memory = compiled.Memory(
        busy_time=np.uint64(problem.busy),
        lines=np.uint64(problem.lines),
        alternating=np.uint64(1 if problem.priority == "alternating" else 0),
        limit=np.uint64(problem.limit or 2**63),
    )
    for _ in range(repeats):
        cpus = state.cpus.copy()
        jobs = state.jobs.copy()
        ends = np.zeros(problem.cpus, np.int64)
        cycles = compiled.simulate(tuple(memory), cpus, state.loops, jobs, ends)
    return Result(ends, cpus["moved"].astype(np.int64), int(cycles))


def reference(problem: Problem, state: State) -> Result:
    """The plain simulation; ``ValueError`` if that takes more than 10 million cycles."""
    machine = Machine(problem)
    while any(cpu.end is None for cpu in machine.cpus) and not (problem.limit and machine.t >= problem.limit):
        if machine.t >= _MOST:
            raise ValueError(f"the plain simulation was stopped after {_MOST} cycles; give fewer passes or a limit")
        plain(machine)
    ends = np.array([cpu.end or 0 for cpu in machine.cpus], np.int64)
    granted = np.array([[port.granted for port in cpu.ports] for cpu in machine.cpus], np.int64)
    return Result(ends, granted, int(ends.max()) if ends.all() else machine.t)


def verify(problem: Problem, result: Result) -> list[Check]:
    """The first cycles against the plain simulation, all against a second run; all elements moved, no more than the
    banks can give."""
    start = replace(problem, limit=min(problem.limit or _CHECKED, _CHECKED))
    ours, other = run(start, setup(start)), reference(start, setup(start))
    off = int(np.abs(ours.granted - other.granted).sum() + np.abs(ours.ends - other.ends).sum())
    checks = [Check.near(f"elements after {other.cycles} cycles, against the plain simulation", off, 0, 0)]
    second = run(problem, setup(problem))
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


#: Two jobs, one of them of two loops.
PROOF = Proof(
    {
        "jobs": (
            Job(passes=30),
            Job((Loop((1, 3, None)), Loop((2, None, 5), overlap=False, strips=2)), passes=10),
        )
    },
    each={
        "lines": (1, 2, 3),
        "priority": ("fixed", "alternating"),
        "sections": (4, 8),
        "busy": (4, 15),
        "limit": (0, 500),
    },
)
