"""What a forecast starts from and gives: states, steps, results; and what it takes of the machine."""

import hashlib
import math
from dataclasses import dataclass, field

import numpy as np

from kernels.contract import Footprint, Work
from kernels.gridpoint import cases, writeup
from kernels.gridpoint.plan import PAIR, record_words, row_coefficients
from kernels.gridpoint.problem import LAG, WORD, Problem
from kernels.gridpoint.stores import Counters
from kernels.runtime.resources import require_memory

#: Parts of a record that the dynamics does not change, by name in a write-up.
KEPT = ("cloud", "heating", "phis", "surface", "rain", "wetness")
#: Operations of one point of one level in each stage, a fused multiply-add as two.
COMPLETE, FLOW, WIND, MASS, UPDATE, DIVERGENCE = 28, 68, 118, 92, 24, 7


@dataclass(frozen=True, eq=False)
class State:
    """What a forecast starts from: both time levels and all that the records keep, as ``writeup.read`` gives them."""

    fields: dict[str, np.ndarray] = field(repr=False)


@dataclass(frozen=True)
class Step:
    """One time step as it was met: seconds."""

    number: int
    kind: str  # as ``Problem.kind`` calls it
    clock: float
    cpu: float  # of the whole process, all threads
    waiting: float  # for transfers, of the thread that computes
    writeup: float  # of the clock, in writing up


@dataclass(frozen=True)
class Result:
    """The state at the end and how the forecast went."""

    fields: dict[str, np.ndarray] = field(repr=False)  # float64, as in ``State``
    step: int
    steps: list[Step] = field(default_factory=list, repr=False)
    counters: Counters = field(default_factory=Counters, repr=False)
    computing: list[tuple[float, float]] = field(default_factory=list, repr=False)  # begin and end, s
    initial: State | None = field(default=None, repr=False)
    clock: float = 0.0
    cpu: float = 0.0
    accounts: tuple[float, float] | None = None  # s that the computing thread executed, and waited for a CPU
    moving: float = 0.0  # of the CPU time, in moving records

    @property
    def digest(self) -> str:
        """SHA-256 of both time levels, row by row."""
        found = hashlib.sha256()
        for row in range(len(self.fields["ps"])):
            for name in (*writeup.NAMES[:9], "ps", "ps_before", "rain"):
                found.update(np.ascontiguousarray(self.fields[name][row]).tobytes())
        return found.hexdigest()

    @property
    def net(self) -> float:
        """Clock without write-up steps, s."""
        return sum(step.clock for step in self.steps if "write-up" not in step.kind)

    @property
    def overlapped(self) -> float:
        """Share of the transferred bytes that moved while the computing thread computed."""
        return overlapped_share(self.counters.transfers, self.computing)


def overlapped_share(transfers, computing) -> float:
    """Bytes moved during the intervals ``computing`` over all bytes, each transfer at an even rate."""
    total = sum(nbytes for _, _, nbytes in transfers)
    if not total or not computing:
        return 0.0
    begins, ends = np.array(computing).T
    moved = 0.0
    for begin, end, nbytes in transfers:
        a, b = np.searchsorted(ends, begin), np.searchsorted(begins, end)
        shared = np.clip(np.minimum(ends[a:b], end) - np.maximum(begins[a:b], begin), 0, None).sum()
        moved += nbytes * (shared / (end - begin) if end > begin else 0.0)
    return float(moved / total)


def setup(problem: Problem, seed: int = 0) -> State:
    """The initial state, the same for every ``seed``.

    ``MemoryError`` if memory cannot take what ``footprint`` says.
    """
    require_memory(footprint(problem).memory, "a forecast")
    fields = cases.initial(problem)
    fields |= {f"{name}_before": fields[name] for name in ("u", "v", "T", "q", "ps")}
    fields |= {name: np.zeros_like(fields["T"]) for name in ("cloud", "heating")}
    fields |= {name: np.zeros_like(fields["ps"]) for name in ("rain", "wetness")}
    return State(fields | {"surface": fields["T"][:, -1].copy()})


def footprint(problem: Problem) -> Footprint:
    """What the forecast computes in, two copies of the state; work files and write-ups."""
    state = 2 * 12 * problem.levels * problem.ni * problem.nj
    work = record_bytes(problem) // WORD * {0: 0, 1: 1, 2: 2, 4: 2}[problem.files]
    rhs = _padded_waves(problem) * problem.nj if problem.rhs == "files" else 0
    ups = len(problem.writeup_steps) * writeup.file_words(problem.ni, problem.nj, problem.levels)
    in_memory = problem.place in ("memory", "paced")
    memory = WORD * (state + (work + rhs if in_memory else 0)) + resident(problem)
    return Footprint(memory, WORD * (ups + (0 if in_memory else work + rhs)))


def resident(problem: Problem) -> int:
    """Bytes that a forecast computes in: records in memory, right-hand sides, window, pivots and scratch."""
    row = problem.levels * (problem.ni + 16)
    window = (problem.lines + LAG + 2) * 19 * row
    words = slots(problem) * record_words(problem.ni, problem.levels) + halves(problem) * _padded_waves(problem)
    words += window + problem.nj * ((problem.ni // 2 + 1) * (-(-problem.levels // 16)) * 16 + row)
    return WORD * (words + 5 * (16 * (problem.levels // 16 + 1) + 8) * (problem.ni + 16) + 40 * problem.ni)


def _lines(problem: Problem) -> int:
    """Rows in memory but for those held back: read, computed and written at once where transfers overlap."""
    return problem.lines * (1 if problem.overlap == "none" else 4)


def slots(problem: Problem) -> int:
    """Records in memory."""
    return problem.nj if problem.files == 0 else min(problem.nj, _lines(problem) + LAG)


def halves(problem: Problem) -> int:
    """Rows of right-hand sides in memory."""
    return problem.nj if problem.rhs == "memory" else min(problem.nj, _lines(problem) + 2 * LAG)


def _padded_waves(problem: Problem) -> int:
    return padded((problem.ni // 2 + 1) * (-(-problem.levels // 16)) * 32)


def padded(waves: int) -> int:
    """Words of a row of right-hand sides: three parts of whole blocks."""
    return -(-waves // 1536) * 1536


def record_bytes(problem: Problem) -> int:
    """Bytes of the records of all rows."""
    return WORD * problem.nj * record_words(problem.ni, problem.levels)


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations of the dynamics and bytes of the records that a forecast moves; the same for any ``threads``.

    A scan reads each record once and writes it once; the last scan reads only.  ``parts``: the stages of rows, the
    Helmholtz equations, the polar filter.
    """
    ni, nj, levels = problem.ni, problem.nj, problem.levels
    points = ni * nj * levels
    groups = -(-levels // PAIR)
    modes, waves = PAIR * groups, ni // 2 + 1
    rows = points * (COMPLETE + FLOW + WIND + MASS + UPDATE + DIVERGENCE)
    products = 2 * ni * nj * modes * (2 * levels + 1 + modes)
    each = round(5 * ni * math.log2(ni))  # of one complex transform, as they are counted
    transforms = PAIR * groups * each * nj  # sixteen real rows are eight complex ones; two ways
    solve = nj * waves * groups * 2 * PAIR * (3 + 2)
    flags = row_coefficients(problem).filtered[:nj]
    fields = 3 * int((flags & 1).sum()) + int((flags & 2).sum() // 2)
    polar = fields * PAIR * (-(-(levels + 1) // PAIR)) * each
    implicit = products + transforms + solve
    steps, records = problem.steps, record_bytes(problem)
    parts = (("rows", steps * rows), ("Helmholtz", max(steps - 1, 0) * implicit), ("polar filter", steps * polar))
    return Work(sum(flops for _, flops in parts), (steps + 1) * records, steps * records, parts)
