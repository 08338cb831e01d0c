"""What is simulated: an interleaved memory and the vector loops of up to four CPUs."""

from dataclasses import dataclass
from typing import ClassVar

from supercomputers_rerun.kernels.contract import Presets, one_of, require_choice, require_range, whole

PORTS = ("A", "B", "C")  # two ports that load and one that stores
PRIORITIES = ("fixed", "alternating")
POWERS = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Loop:
    """A vector loop: strips of up to two loads and a store that chains to them.

    Strides are those of the ports A, B and C in words; None where the loop does not use the port.
    """

    strides: tuple[int | None, int | None, int | None] = (1, 1, 1)
    vector: int = 64  # elements of a strip
    overhead: int = 8  # cycles from the end of a strip's loads to the next strip's
    latency: int = 28  # cycles from the start of a strip's loads to its store: memory and functional units
    overlap: bool = True  # whether the next strip's loads may run beside this strip's store
    strips: int = 1  # strips before the next loop of the job

    def __post_init__(self):
        object.__setattr__(self, "strides", tuple(self.strides))
        if len(self.strides) != 3:
            raise ValueError(f"strides = {self.strides!r} must be three, of the ports A, B and C")
        for port, stride in zip(PORTS, self.strides, strict=True):
            if stride is not None:
                require_range(f"stride of port {port}", stride, 0, 2**31, "words")
        require_range("vector", self.vector, 1, 2**40, "elements")
        require_range("overhead", self.overhead, 0, 2**40, "cycles")
        require_range("latency", self.latency, 0, 2**20, "cycles")
        require_range("strips", self.strips, 1, 2**40)
        require_choice("overlap", self.overlap, (False, True))

    @property
    def elements(self) -> tuple[int, int, int]:
        """Elements that each port moves in one strip."""
        return tuple(0 if stride is None else self.vector for stride in self.strides)


@dataclass(frozen=True)
class Job:
    """The loops that one CPU repeats."""

    loops: tuple[Loop, ...] = (Loop(),)
    starts: tuple[int, int, int] = (0, 15, 7)  # first address of each port, words; vectors go on from there
    passes: int = 1000  # times that the loops are run through

    def __post_init__(self):
        loops = tuple(Loop(**loop) if isinstance(loop, dict) else loop for loop in self.loops)
        object.__setattr__(self, "loops", loops)
        object.__setattr__(self, "starts", tuple(self.starts))
        require_range("loops", len(loops), 1, 64)
        if len(self.starts) != 3:
            raise ValueError(f"starts = {self.starts!r} must be three, of the ports A, B and C")
        for port, start in zip(PORTS, self.starts, strict=True):
            require_range(f"start of port {port}", start, 0, 2**31, "words")
        require_range("passes", self.passes, 1, 2**40)

    @property
    def strips(self) -> int:
        """Strips of the whole job."""
        return self.passes * sum(loop.strips for loop in self.loops)

    @property
    def elements(self) -> tuple[int, int, int]:
        """Elements that each port moves in the whole job."""
        ports = zip(*(tuple(loop.strips * n for n in loop.elements) for loop in self.loops), strict=True)
        return tuple(self.passes * sum(port) for port in ports)


#: A loop that loads two words and stores one in every cycle that it can.  Overhead, latency and starts are
#: those with which a search came nearest to the three ratios that were measured on the X-MP (see the
#: experiment ``xmp1982-banks``); they are not read from any listing.
HEAVY = Loop()


@dataclass(frozen=True)
class Problem(Presets):
    """A memory and its jobs: presets ``quick`` (2 CPUs), ``paper`` (about a second of them) and ``modern`` (4 CPUs).
    ``ValueError`` if a field is outside its range, or there are more sections than banks."""

    banks: one_of(*POWERS) = 16  # a power of two up to 64; consecutive words lie in consecutive banks
    busy: whole(1, 15, "cycles") = 4  # cycles for which a bank that was granted refuses everybody
    sections: one_of(*POWERS) = 4  # bank b lies in section b modulo sections
    lines: whole(1, 3) = 1  # requests that one CPU may send to one section in one cycle, 1 … 3
    priority: one_of(*PRIORITIES) = "fixed"  # "fixed": the first CPU first; "alternating": reversed every other cycle
    jobs: tuple[Job, ...] = (Job(), Job())  # one a CPU, up to four
    limit: whole(0, 2**62, "cycles") = 0  # cycles to simulate, 0 for all that the jobs take

    PRESETS: ClassVar = {
        "quick": {"jobs": 2 * (Job(passes=2000),)},
        "paper": {"jobs": 2 * (Job(passes=1_000_000),)},  # about a second of the X-MP
        "modern": {"banks": 64, "jobs": 4 * (Job(passes=1_000_000),)},
    }

    def __post_init__(self):
        jobs = tuple(Job(**job) if isinstance(job, dict) else job for job in self.jobs)
        object.__setattr__(self, "jobs", jobs)
        for job in jobs:
            if not isinstance(job, Job):
                raise ValueError(f"jobs holds {job!r}; give a tuple of Job")
        if self.sections > self.banks:
            raise ValueError(f"sections = {self.sections} is outside 1 … {self.banks}, the number of banks")
        require_range("jobs", len(jobs), 1, 4)

    @property
    def cpus(self) -> int:
        """CPUs that have a job."""
        return len(self.jobs)
