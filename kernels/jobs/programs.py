"""The programs of 1982 that run at once: forecasts, simulated forecasts and analyses, and what is told of each run."""

import zlib
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from kernels import analysis, gridpoint
from kernels.gridpoint import simulator
from kernels.gridpoint.state import Step

PROGRAMS: dict[str, Any] = {"forecast": gridpoint, "simulator": simulator, "analysis": analysis}
KINDS: dict[str, type] = {"forecast": gridpoint.Problem, "simulator": gridpoint.Problem, "analysis": analysis.Problem}


class Job(NamedTuple):
    """One job."""

    program: str = "forecast"  # of PROGRAMS
    problem: gridpoint.Problem | analysis.Problem = gridpoint.Problem(writeup=1.5)

    @property
    def write_ups(self) -> int:
        """Files that it leaves for post-processing."""
        return 0 if self.program == "analysis" else len(self.problem.writeup_steps)

    @property
    def steps(self) -> int:
        """Time steps, and the scan that ends them."""
        return 0 if self.program == "analysis" else self.problem.steps + 1

    @property
    def moved(self) -> tuple[int, int]:
        """Requests and bytes of the work files; an analysis does not count them."""
        if self.program == "analysis" or not self.problem.files:
            return 0, 0
        scans = 2 * self.problem.steps + 1
        halves = 2 if self.problem.files == 4 else 1
        return scans * self.problem.nj * halves, scans * gridpoint.record_bytes(self.problem)


@dataclass(frozen=True)
class Done:
    """One job as it went; times in seconds."""

    clock: float
    cpu: float
    end: float  # from the start of all jobs
    answer: int  # checksum of all numbers that the program gives; 0 for a simulator
    packed: tuple[int, ...] = ()  # checksums of what its post-processing jobs wrote
    wrong: tuple[str, ...] = ()  # checks of the program's own that failed
    steps: tuple[Step, ...] = field(default=(), repr=False)
    requests: int = 0
    bytes: int = 0
    overlapped: float = 0.0  # share of the bytes that moved during computation
    executing: float = float("nan")  # accounts of the thread that computes; NaN where the system keeps none
    queued: float = float("nan")  # waiting to execute

    @property
    def waiting(self) -> float:
        """Seconds that the computing thread waited for transfers."""
        return sum(step.waiting for step in self.steps)

    @property
    def net(self) -> float:
        """Clock without write-up steps."""
        return sum(step.clock for step in self.steps if "write-up" not in step.kind)


class Post(NamedTuple):
    """One post-processing job; times in seconds."""

    job: int  # number of the job whose write-up it reads
    begin: float  # from the start of all jobs
    end: float
    clock: float
    cpu: float


def in_memory(program: str, problem):
    """The same problem with all of its files in memory, which has the same answer."""
    if program == "analysis":
        return replace(problem, work="memory", rest="memory", folder=None)
    return replace(problem, files=0, place="memory", overlap="none", rhs="memory", fsync=False, folder=None)


def answer(program: str, result) -> int:
    """Checksum of all numbers that a run gave."""
    if program == "simulator":
        return 0
    if program == "forecast":
        return int(result.digest[:12], 16)
    checksum = 0
    for array in (result.fields, result.standard, result.errors, result.quality):
        checksum = zlib.crc32(array.tobytes(), checksum)
    return checksum
