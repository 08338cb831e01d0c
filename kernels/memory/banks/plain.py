"""The same machine in plain Python: a list of banks, and ports that ask one after the other.

Nothing is packed and nothing is skipped.  It also keeps what the compiled simulator does not: who held
which bank when, and why a port had to wait.
"""

import itertools
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from kernels.memory.banks.problem import PORTS, Problem

#: Why a port waited: its bank was busy from before, another port took the bank in the same cycle, or
#: another port of the same CPU had the line to the section.
WAITS = ("busy", "simultaneous", "section")
_MAX_CYCLES = 10_000_000


@dataclass
class Port:
    """A port: the address it asks for next and how many elements are left."""

    address: int
    stride: int = 0
    left: int = 0
    granted: int = 0


@dataclass
class Cpu:
    """A CPU: its ports and its place in its job."""

    job: object
    ports: list[Port]
    loop: object = None
    old: int = 0  # elements of the strip before that are still to be stored
    chained: int = 0  # cycle from which the store may run
    ready: int | None = None  # cycle in which the next strip begins
    plan: object = None  # iterator over the strips
    end: int | None = None

    def idle(self) -> bool:
        return not self.old and not any(port.left for port in self.ports)


@dataclass
class Trace:
    """What happened: rows are cycles."""

    holder: np.ndarray  # (cycles, banks) int8: 3 · CPU + port that holds the bank, −1 for nobody
    waits: np.ndarray  # (cycles, CPUs, 3) int8: index into WAITS of why the port waited, −1 for none
    kinds: dict[str, int] = field(default_factory=dict)  # cycles waited, by kind


def _strips(job):
    """The loops of all strips of a job, one after the other."""
    for _ in range(job.passes):
        for loop in job.loops:
            yield from itertools.repeat(loop, loop.strips)


class Machine:
    """The simulated machine, one cycle at a time."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.free_at = [0] * problem.banks
        self.t = 0
        self.cpus = []
        for job in problem.jobs:
            self.cpus.append(Cpu(job, [Port(start) for start in job.starts], plan=_strips(job)))
        self.waits: list[tuple[int, int, int]] = []  # (CPU, port, kind) of the last cycle
        self.grants: list[tuple[int, int, int]] = []  # (CPU, port, bank) of the last cycle

    def _begin(self, cpu: Cpu) -> None:
        """Begin the next strip if it is due."""
        store = cpu.ports[2].left if cpu.loop is not None and not cpu.loop.overlap else 0
        if cpu.ports[0].left or cpu.ports[1].left or cpu.old or store:
            return
        if cpu.ready is None:
            cpu.coming = next(cpu.plan, None)
            if cpu.coming is None:
                if cpu.idle():
                    cpu.end = self.t
                return
            cpu.ready = self.t + cpu.coming.overhead
        if self.t < cpu.ready:
            return
        loop, cpu.ready = cpu.coming, None
        cpu.old = cpu.ports[2].left
        for port, stride, count in zip(cpu.ports, loop.strides, loop.elements, strict=True):
            port.left, port.stride = count, stride or 0
        cpu.loop, cpu.chained = loop, self.t + loop.latency

    def _wants(self, cpu: Cpu, number: int) -> bool:
        """Whether the port asks for its bank in this cycle."""
        a, b, c = cpu.ports
        if number < 2:
            return cpu.ports[number].left > 0
        return cpu.old > 0 or (self.t >= cpu.chained and c.left > max(a.left, b.left))

    def _ask(self, who: int, cpu: Cpu, taken: set, sections: list) -> None:
        p = self.problem
        for number, port in enumerate(cpu.ports):
            if not self._wants(cpu, number):
                continue
            bank = port.address % p.banks
            if self.free_at[bank] > self.t:
                self.waits.append((who, number, 1 if bank in taken else 0))
            elif sections.count(bank % p.sections) >= p.lines:
                self.waits.append((who, number, 2))
            else:
                taken.add(bank)
                sections.append(bank % p.sections)
                self.free_at[bank] = self.t + p.busy
                port.address += port.stride
                port.granted += 1
                if number == 2 and cpu.old:
                    cpu.old -= 1
                else:
                    port.left -= 1
                self.grants.append((who, number, bank))

    def cycle(self) -> None:
        """One cycle."""
        self.waits, self.grants = [], []
        taken: set[int] = set()
        order = list(enumerate(self.cpus))
        if self.problem.priority == "alternating" and self.t % 2:
            order.reverse()
        for who, cpu in order:
            if cpu.end is None:
                self._begin(cpu)
                if cpu.end is None:
                    self._ask(who, cpu, taken, [])
        self.t += 1

    def done(self) -> bool:
        return all(cpu.end is not None for cpu in self.cpus)

    def state(self) -> tuple:
        """All that decides the future of endless streams (one load a CPU, one long strip)."""
        places = tuple(tuple(port.address % self.problem.banks for port in cpu.ports) for cpu in self.cpus)
        return places, tuple(max(0, free - self.t) for free in self.free_at)


def bandwidth(problem: Problem) -> Fraction:
    """Grants a cycle that endless streams settle to, exactly: the state is followed until it returns.

    For jobs of one loop and one long strip; ports that chain are not followed.
    """
    machine, seen, grants = Machine(problem), {}, 0
    while machine.state() not in seen:
        seen[machine.state()] = (machine.t, grants)
        machine.cycle()
        grants += len(machine.grants)
    then, before = seen[machine.state()]
    return Fraction(grants - before, machine.t - then)


def trace(problem: Problem, cycles: int) -> Trace:
    """The first ``cycles`` cycles, bank by bank and port by port."""
    machine = Machine(problem)
    holder = np.full((cycles, problem.banks), -1, np.int8)
    waits = np.full((cycles, problem.cpus, len(PORTS)), -1, np.int8)
    for t in range(cycles):
        machine.cycle()
        for who, port, bank in machine.grants:
            holder[t : t + problem.busy, bank] = 3 * who + port
        for who, port, kind in machine.waits:
            waits[t, who, port] = kind
    kinds = {name: int((waits == number).sum()) for number, name in enumerate(WAITS)}
    return Trace(holder, waits, kinds)


def run_out(problem: Problem) -> Machine:
    """The machine after its jobs, or after ``limit`` cycles.

    Raises
    ------
    ValueError
        If that takes more than 10 million cycles, which would take minutes.
    """
    machine = Machine(problem)
    while not machine.done() and not (problem.limit and machine.t >= problem.limit):
        if machine.t >= _MAX_CYCLES:
            raise ValueError(
                f"the plain simulation was stopped after {_MAX_CYCLES} cycles; give fewer passes or a limit"
            )
        machine.cycle()
    return machine
