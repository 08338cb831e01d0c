"""Memory bandwidth per thread against working set and stride.

Each thread reads every ``stride``-th item of its own array of 4-byte items and adds them up, pass
after pass.  The curve over the working set shows the caches, the one over the stride what of a
cache line is used.  After Hague, *Performance of P5+ at ECMWF* (2006), whose plot did not survive
and whose code is unknown; sizes and strides here are ours.

Items are unsigned 32-bit integers added modulo 2³²: the sum is the same in whatever order it is
formed, so the compiler needs no permission to vectorise, every thread count and every repeat must
give *exactly* the expected sum, and an addition takes one clock period, so that the loads and not
the additions are measured.

Up to stride 8 whole cache lines are loaded as vectors, and what was not asked for is left out; from stride 9 on, each
item has a load of its own (``kernels.memory.sums``).  Both bring every line once.  Gathers were slower at every stride
and working set but one on AMD's Zen 4, the exception by a tenth.

Bandwidth counts the bytes asked for, 4 an item (``work``); from stride 16 on, each item costs a cache
line of 64 bytes.

>>> from kernels.memory import stride
>>> problem = stride.Problem(nbytes=2**14, stride=16)
>>> state = stride.setup(problem)
>>> result = stride.run(problem, state)
>>> all(check.ok for check in stride.verify(problem, result))
True
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.contract import Check, Footprint, Presets, Work, one_of, require_choice, require_range, whole
from kernels.memory.sums import LARGEST_IN_LINE, plain, sum_items, sum_lines
from kernels.proof import Proof
from kernels.runtime import pages
from kernels.runtime.jit import kernel
from kernels.runtime.pages import POLICIES
from kernels.runtime.resources import require_memory
from kernels.runtime.threads import run_team, team_cpus

ITEM = 4  # bytes of an item
_FACTOR = 2654435761  # item i holds factor · i + offset modulo 2³²
_MODULUS = 2**32


@dataclass(frozen=True)
class Problem(Presets):
    """Which reads are made: presets ``quick`` (1 MiB), ``paper`` (64 MiB) and ``modern`` (512 MiB), stride 1.
    ``ValueError`` if a field is outside its range, or the stride exceeds the working set."""

    nbytes: whole(2**12, 2**40, "bytes") = 2**20  # working set of one thread, bytes
    stride: int = 1  # distance of consecutive reads, items of 4 bytes
    pages: one_of(*POLICIES) = "default"  # "default", "small" (4 KiB) or "huge" (2 MiB)
    binding: bool = False  # bind each thread to a CPU of its own

    PRESETS: ClassVar = {"quick": {"nbytes": 2**20}, "paper": {"nbytes": 2**26}, "modern": {"nbytes": 2**29}}

    def __post_init__(self):
        require_range("stride", self.stride, 1, self.items)

    @property
    def in_lines(self) -> bool:
        """Whether whole cache lines are loaded."""
        return self.stride <= LARGEST_IN_LINE

    @property
    def items(self) -> int:
        """Items in the working set."""
        return self.nbytes // ITEM

    @property
    def reads(self) -> int:
        """Items read in one pass."""
        return -(-self.items // self.stride)


#: Working sets (bytes) and strides (items) of the sweeps.
GRIDS = {
    "quick": ([2**14, 2**17, 2**20, 2**23], [1, 2, 8, 64, 1024]),
    "paper": ([2**p for p in range(12, 30)], [2**p for p in range(11)]),
    "modern": ([2**p for p in range(12, 32)], [2**p for p in range(11)]),
}


def grid(preset: str, **changes) -> list[Problem]:
    """The sweep over working sets and strides, strides larger than the set left out; ``ValueError`` for an unknown
    preset."""
    require_choice("preset", preset, GRIDS)
    sizes, strides = GRIDS[preset]
    pairs = [(nbytes, step) for nbytes in sizes for step in strides if step <= nbytes // ITEM]
    return [Problem(nbytes=nbytes, stride=step, **changes) for nbytes, step in pairs]


@kernel
def fill(a, offset):
    """a[i] = 2654435761 · i + offset modulo 2³²."""
    for i in range(a.size):
        a[i] = np.uint32(np.uint64(_FACTOR) * np.uint64(i) + np.uint64(offset))


@dataclass
class State:
    """One array a thread; those of further threads are made when first asked for."""

    arrays: list[np.ndarray]  # (items,) uint32 each
    seed: int
    huge: float | None = None  # share of the first array on huge pages, None where unknown


@dataclass(frozen=True)
class Result:
    """What the threads read."""

    sums: np.ndarray  # (threads,) uint32: sum of one pass, modulo 2³²
    passes: np.ndarray  # (threads,) int64: passes made
    repeats: int  # passes asked for
    seed: int
    huge: float | None  # share of the first array on huge pages, None where unknown


def _extend(problem: Problem, state: State, threads: int, cpus) -> None:
    """Arrays up to ``threads``, each first touched by a thread on the CPU that will read it."""
    first = len(state.arrays)
    missing = threads - first
    if missing <= 0:
        return
    require_memory(missing * problem.nbytes, f"stride: {missing} working set(s) of nbytes = {problem.nbytes}")

    def make(number: int) -> np.ndarray:
        a = pages.allocate(problem.items, np.uint32, problem.pages)
        fill(a, _offset(state.seed, first + number))
        return a

    state.arrays += run_team(make, missing, cpus[first:] if cpus else None)
    if first == 0:
        state.huge = pages.huge_fraction(state.arrays[0])


def _offset(seed: int, thread: int) -> int:
    return (seed * 40503 + thread * 7919 + 1) % _MODULUS


def footprint(problem: Problem) -> Footprint:
    """The working set of every thread."""
    return Footprint(problem.nbytes, each_thread=problem.nbytes)


def setup(problem: Problem, seed: int = 0) -> State:
    """The first thread's array, filled; ``MemoryError`` if it does not fit into the available memory."""
    state = State([], seed)
    _extend(problem, state, 1, team_cpus(1, problem.binding))
    return state


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """Each thread reads its own array ``repeats`` times; all start together.

    ``ValueError`` if there are more threads than usable CPUs, ``MemoryError`` if the further threads' arrays do not
    fit.
    """
    cpus = team_cpus(threads, problem.binding)
    _extend(problem, state, threads, cpus)
    read = sum_lines if problem.in_lines else sum_items

    def work(number: int) -> np.ndarray:
        out = np.zeros(8, np.uint64)
        read(state.arrays[number], problem.items, problem.stride, repeats, out)
        return out[:2]

    sums, passes = np.array(run_team(work, threads, cpus)).T
    return Result(sums.astype(np.uint32), passes.astype(np.int64), repeats, state.seed, state.huge)


def expected_sum(problem: Problem, offset: int) -> int:
    """Σ over k < m of (c·k·stride + offset) = c·stride·m(m − 1)/2 + m·offset, modulo 2³²."""
    m = problem.reads
    return (_FACTOR * problem.stride * (m * (m - 1) // 2) + m * offset) % _MODULUS


def reference(problem: Problem, state: State) -> Result:
    """The sum of each array that was made by the plain loop, one pass."""
    sums = np.array([plain(a, problem.items, problem.stride) for a in state.arrays], np.uint32)
    return Result(sums, np.ones(len(sums), np.int64), 1, state.seed, state.huge)


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every thread's sum against the closed form, exactly, and its count of passes."""
    checks = []
    for thread, (total, passes) in enumerate(zip(result.sums, result.passes, strict=True)):
        expected = expected_sum(problem, _offset(result.seed, thread))
        checks.append(Check.near(f"sum of thread {thread}", int(total), expected, 0))
        checks.append(Check.near(f"passes of thread {thread}", int(passes), result.repeats, 0))
    return checks


def work(problem: Problem, threads: int = 1) -> Work:
    """One pass of every thread over its own array: the bytes asked for."""
    return Work(bytes_read=ITEM * problem.reads).times(threads)


#: Working sets that end within a line, and strides on both sides of each form's ends.
PROOF = Proof(
    each={"nbytes": (2**16, 2**16 + 60), "stride": (*range(1, 10), 13, 32, 1000, 4000)}, not_compared=("huge",)
)
