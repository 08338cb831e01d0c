"""The machine in plain Python: a list of banks, and ports that ask one after the other.

It also says what the compiled simulator does not: who was given which bank when, and why a port had to wait.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from supercomputers_rerun.kernels.memory.banks.problem import PORTS, Job, Loop, Problem

#: Why a port waited: its bank was busy from before, another port took the bank in the same cycle, or
#: another port of the same CPU had the line to the section.
WAITS = ("busy", "simultaneous", "section")


@dataclass
class Port:
    """A port: the address it asks for next, and how many elements are left and were moved."""

    address: int
    stride: int = 0
    left: int = 0
    granted: int = 0


class Cpu:
    """A CPU: its ports and its place in its job."""

    def __init__(self, job: Job):
        self.ports = [Port(start) for start in job.starts]
        self._strips = (loop for _ in range(job.passes) for loop in job.loops for _ in range(loop.strips))
        self._loop: Loop | None = None
        self._coming: Loop | None = None  # the loop of the next strip, from when its overhead runs
        self._ready = 0  # cycle in which it begins
        self._old = 0  # elements of the strip before that are still to be stored
        self._chained = 0  # cycle from which the store may run
        self.end: int | None = None

    def begin(self, t: int) -> None:
        """Begin the next strip if it is due in cycle ``t``, or end the job."""
        a, b, c = self.ports
        if self.end is not None or a.left or b.left or self._old:
            return
        if c.left and self._loop and not self._loop.overlap:
            return
        if self._coming is None:
            self._coming = next(self._strips, None)
            if self._coming is None:
                self.end = None if c.left else t
                return
            self._ready = t + self._coming.overhead
        if t < self._ready:
            return
        self._loop = self._coming
        self._coming = None
        self._old = c.left
        self._chained = t + self._loop.latency
        for port, stride, count in zip(self.ports, self._loop.strides, self._loop.elements, strict=True):
            port.left = count
            port.stride = stride or 0

    def wants(self, number: int, t: int) -> bool:
        """Whether a port asks for its bank in cycle ``t``."""
        a, b, c = self.ports
        if number < 2:
            return self.ports[number].left > 0
        return self._old > 0 or (t >= self._chained and c.left > max(a.left, b.left))

    def move(self, number: int) -> None:
        """A port moves its element."""
        port = self.ports[number]
        port.address += port.stride
        port.granted += 1
        if number == 2 and self._old:
            self._old -= 1
        else:
            port.left -= 1


class Machine:
    """A memory and its CPUs before the first cycle; :func:`plain` goes on by one."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.t = 0  # cycle
        self.free_at = [0] * problem.banks  # cycle from which each bank is free
        self.cpus = [Cpu(job) for job in problem.jobs]

    def state(self) -> tuple:
        """All that decides the future of endless streams (one load a CPU, one long strip)."""
        places = tuple(tuple(port.address % self.problem.banks for port in cpu.ports) for cpu in self.cpus)
        return places, tuple(max(0, free - self.t) for free in self.free_at)


def plain(machine: Machine) -> tuple[list, list]:
    """One cycle: the grants, as (CPU, port, bank), and the waits, as (CPU, port, index into WAITS)."""
    problem = machine.problem
    t = machine.t
    grants = []
    waits = []
    taken = set()  # banks granted in this cycle
    order = list(enumerate(machine.cpus))
    if problem.priority == "alternating" and t % 2:
        order.reverse()
    for who, cpu in order:
        cpu.begin(t)
        lines = []  # sections to which this CPU has sent a request
        for number, port in enumerate(cpu.ports):
            if not cpu.wants(number, t):
                continue
            bank = port.address % problem.banks
            if machine.free_at[bank] > t:
                waits.append((who, number, int(bank in taken)))
            elif lines.count(bank % problem.sections) == problem.lines:
                waits.append((who, number, 2))
            else:
                machine.free_at[bank] = t + problem.busy
                cpu.move(number)
                taken.add(bank)
                lines.append(bank % problem.sections)
                grants.append((who, number, bank))
    machine.t += 1
    return grants, waits


def bandwidth(problem: Problem) -> Fraction:
    """Grants a cycle that endless streams settle to, exactly: the state is followed until it returns.

    For jobs of one loop and one long strip; ports that chain are not followed.
    """
    machine = Machine(problem)
    seen = {}  # state -> cycle, and grants before it
    grants = 0
    while machine.state() not in seen:
        seen[machine.state()] = (machine.t, grants)
        grants += len(plain(machine)[0])
    then, before = seen[machine.state()]
    return Fraction(grants - before, machine.t - then)


@dataclass
class Trace:
    """What happened: rows are cycles."""

    holder: np.ndarray  # (cycles, banks) int8: 3 · CPU + port that holds the bank, −1 for nobody
    waits: np.ndarray  # (cycles, CPUs, 3) int8: index into WAITS of why the port waited, −1 for none


def trace(problem: Problem, cycles: int) -> Trace:
    """The first ``cycles`` cycles, bank by bank and port by port."""
    machine = Machine(problem)
    found = Trace(
        np.full((cycles, problem.banks), -1, np.int8), np.full((cycles, problem.cpus, len(PORTS)), -1, np.int8)
    )
    for t in range(cycles):
        grants, waits = plain(machine)
        for who, port, bank in grants:
            found.holder[t : t + problem.busy, bank] = 3 * who + port
        for who, port, kind in waits:
            found.waits[t, who, port] = kind
    return found
