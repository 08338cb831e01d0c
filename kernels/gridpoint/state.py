"""What a forecast starts from and gives: states, steps, results; and what it takes of the machine."""

import hashlib
import math
from dataclasses import dataclass, field

import numpy as np

from supercomputers_rerun.kernels.contract import Footprint, Work
from supercomputers_rerun.kernels.gridpoint import cases, writeup
from supercomputers_rerun.kernels.gridpoint.plan import PAIR, extents, row_coefficients, shapes
from supercomputers_rerun.kernels.gridpoint.problem import Problem
from supercomputers_rerun.kernels.runtime.resources import require_memory

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


@dataclass(frozen=True)
class Result:
    """The state at the end and how the forecast went."""

    fields: dict[str, np.ndarray] = field(repr=False)  # float64, as in ``State``
    initial: State = field(repr=False)
    steps: list[Step] = field(default_factory=list, repr=False)
    transfers: list[tuple[float, float, int, bool]] = field(default_factory=list, repr=False)  # of ``RecordFiles``
    computing: list[tuple[float, float]] = field(default_factory=list, repr=False)  # begin and end, s
    clock: float = 0.0
    cpu: float = 0.0
    accounts: tuple[float, float] | None = None  # s that the computing thread executed, and waited for a CPU
    moving: float = 0.0  # of the CPU time, in moving records
    threads: int = 1  # that computed

    @property
    def digest(self) -> str:
        """SHA-256 of all fields."""
        found = hashlib.sha256()
        for name in sorted(self.fields):
            found.update(np.ascontiguousarray(self.fields[name]))
        return found.hexdigest()

    @property
    def net(self) -> float:
        """Clock without write-up steps, s."""
        return sum(step.clock for step in self.steps if "write-up" not in step.kind)

    @property
    def overlapped(self) -> float:
        """Share of the transferred bytes that moved while the computing thread computed."""
        return overlapped_share(self.transfers, self.computing)

    def moved(self, written: bool) -> int:
        """Bytes read from the work files, or written to them."""
        return sum(nbytes for _, _, nbytes, way in self.transfers if way == written)


def overlapped_share(transfers, computing) -> float:
    """Bytes moved during the intervals ``computing`` over all bytes, each transfer at an even rate."""
    total = sum(nbytes for _, _, nbytes, _ in transfers)
    if not total or not computing:
        return 0.0
    begins, ends = np.array(computing).T
    moved = 0.0
    for begin, end, nbytes, _ in transfers:
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
    """What the forecast computes in, three copies of the state; work files and write-ups."""
    size = extents(problem)
    row = writeup.row_form(problem.ni, problem.levels).itemsize
    files = min(problem.files, 2) * record_bytes(problem) + (problem.rhs == "files") * 8 * size.nj * size.spectrum
    ups = len(problem.writeup_steps) * (8 * writeup.HEADER + size.nj * row)
    in_memory = files if problem.place in ("memory", "paced") else 0
    memory = 3 * size.nj * row + resident(problem) + in_memory
    return Footprint(memory, ups + files - in_memory, resident(problem, 2) - resident(problem))


def resident(problem: Problem, threads: int = 1) -> int:
    """Bytes that a forecast computes in: windows, records in memory, right-hand sides, scratch, and pivots."""
    size = extents(problem)
    pivots = size.nj * (size.ni // 2 + 1) * size.groups * PAIR
    look = problem.lines * size.row
    return 8 * (pivots + look + sum(map(math.prod, shapes(size, threads).values())))


def record_bytes(problem: Problem) -> int:
    """Bytes of the records of all rows."""
    return 8 * problem.nj * 2 * extents(problem).half_record


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations of the dynamics and bytes of the records that a forecast moves; the same for any ``threads``.

    A scan reads each record once and writes it once; the last scan reads only.  ``parts``: the stages of rows, the
    Helmholtz equations, the polar filter.
    """
    ni, nj, levels, size = problem.ni, problem.nj, problem.levels, extents(problem)
    modes, waves = PAIR * size.groups, ni // 2 + 1
    rows = ni * nj * levels * (COMPLETE + FLOW + WIND + MASS + UPDATE + DIVERGENCE)
    products = 2 * ni * nj * modes * (2 * levels + 1 + modes)
    each = round(5 * ni * math.log2(ni))  # of one complex transform, as they are counted
    transforms = modes * each * nj  # sixteen real rows are eight complex ones; two ways
    solve = nj * waves * 2 * modes * (3 + 2)
    flags = row_coefficients(problem).filtered[:nj]
    fields = 3 * int((flags & 1).sum()) + int((flags & 2).sum() // 2)
    polar = fields * size.tendency * each
    implicit = products + transforms + solve
    steps, records = problem.steps, record_bytes(problem)
    parts = (("rows", steps * rows), ("Helmholtz", max(steps - 1, 0) * implicit), ("polar filter", steps * polar))
    return Work(sum(flops for _, flops in parts), (steps + 1) * records, steps * records, parts)
