"""Memory bandwidth per thread against working set and stride.

Each thread reads every ``stride``-th item of its own array of 4-byte items and adds them up, pass
after pass.  The curve over the working set shows the caches, the one over the stride what of a
cache line is used.  After Hague, *Performance of P5+ at ECMWF* (2006), whose plot did not survive
and whose code is unknown; sizes and strides here are ours.

Items are unsigned 32-bit integers added modulo 2³²: the sum is the same in whatever order it is
formed, so the compiler needs no permission to reorder, every thread count and every repeat must
give *exactly* the expected sum, and an addition takes one clock period, so that the loads and not
the additions are measured.

There are two loops.  Where the stride is 1, 2, 4 or 8, whole cache lines are loaded as vectors and added up lane by
lane: every line of such a stride has its wanted items in the same lanes, so the others are left out at the end
(:func:`sum_lines`).  Elsewhere each item has a load of its own (:func:`sum_items`).  Both bring every cache line that
has a wanted item once.  On Zen 3, where a line is two loads, a load for each item takes 4.6, 2.3, 1.2 and 0.65 times as
long at strides 1, 2, 4 and 8 in the first-level cache, and 1.5, 1.3, 1.1 and 1.0 times from memory.

Bandwidth counts the bytes asked for, 4 an item (``work``); from stride 16 on, each item costs a cache
line of 64 bytes.

>>> from supercomputers_rerun.kernels.memory import stride
>>> problem = stride.Problem(nbytes=2**14, stride=16)
>>> state = stride.setup(problem)
>>> result = stride.run(problem, state)
>>> all(check.ok for check in stride.verify(problem, result))
True
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from supercomputers_rerun.kernels.contract import (
    Check,
    Footprint,
    Presets,
    Work,
    ceil_div,
    one_of,
    require_choice,
    require_range,
    whole,
)
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.runtime.arrays import POLICIES, allocate, huge_fraction
from supercomputers_rerun.kernels.runtime.jit import barrier, kernel, opaque
from supercomputers_rerun.kernels.runtime.resources import require_memory, run_team, team_cpus
from supercomputers_rerun.kernels.runtime.vector import SINGLES, load, spread, total

ITEM = 4  # bytes of an item
_FACTOR = 2654435761  # item i holds factor · i + offset modulo 2³²
_MODULUS = 2**32

#: Strides with two wanted items or more in every line, always in the same lanes: whole cache lines are summed.  In
#: others the wanted lanes differ from line to line, or a line has one wanted item at most.  Stride 8 is one of them
#: since with registers of 512 bits a line is one load, its two items two; where a line is two loads, as on Zen 3, a
#: load for each takes .65 times as long in the first-level cache, and as long from memory.
IN_LINES = (1, 2, 4, 8)
#: Items of a vector: 16, a cache line; 4 in WebAssembly.
VECTOR = np.uint64(SINGLES)
#: Items of two vectors, for which masks are kept, and of the four that a turn of the loop loads.
PAIR = np.uint64(2 * SINGLES)
TURN = np.uint64(4 * SINGLES)

# numba makes a float64 of a uint64 and a signed number, such as 1
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)
_FOUR = np.uint64(4)
_EIGHT = np.uint64(8)


def _wanted() -> np.ndarray:
    """A row for each stride from 0 to 8, filled for those of IN_LINES: the masks of two vectors, all bits of an item
    set where it is wanted."""
    masks = np.zeros((max(IN_LINES) + 1, 2 * SINGLES), np.int32)
    for stride in IN_LINES:
        masks[stride, ::stride] = -1
    return masks.reshape(-1)


_WANTED = _wanted()


@kernel
def plain(a, items, stride):
    """The sum, as one writes it."""
    total = np.uint32(0)
    for i in range(0, items, stride):
        total = np.uint32(total + a[i])
    return total


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
        return self.stride in IN_LINES

    @property
    def items(self) -> int:
        """Items in the working set."""
        return self.nbytes // ITEM

    @property
    def reads(self) -> int:
        """Items read in one pass."""
        return ceil_div(self.items, self.stride)


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


# The two loops that are timed.  ``a`` is a C-contiguous array of 4-byte items, of which the first ``items`` count;
# ``out``, uint64 (2,) or longer, gets the sum of one pass and the number of passes made.  Indices are uint64: of signed
# ones numba would ask at each access whether they count from the end.


@kernel(inline=True)
def one_pass_of_lines(a, items, stride):
    """Σ a[k · stride] for k · stride < items; arguments as for :func:`sum_lines`."""
    end = items // TURN * TURN
    # Four sums, so that no addition waits for the one before it.
    s0 = spread(np.int32(0))
    s1 = spread(np.int32(0))
    s2 = spread(np.int32(0))
    s3 = spread(np.int32(0))
    for i in range(_ZERO, end, TURN):
        s0 = s0 + load(a, i)
        s1 = s1 + load(a, i + VECTOR)
        s2 = s2 + load(a, i + _TWO * VECTOR)
        s3 = s3 + load(a, i + _THREE * VECTOR)
    # Lanes alike modulo PAIR are added up, those that are not wanted left out.  A pair, since in WebAssembly stride 8
    # wants an item of every second vector.
    even = (s0 + s2) & load(_WANTED, stride * PAIR)
    odd = (s1 + s3) & load(_WANTED, stride * PAIR + VECTOR)
    found = np.uint64(np.uint32(total(even + odd)))
    i = end
    while i < items:  # what fills no turn; a range would divide by the stride
        found = found + np.uint32(a[i])
        i = i + stride
    return np.uint32(found)


@kernel(inline=True)
def one_pass_of_items(a, count, stride):
    """Σ a[k · stride] for k < count."""
    # Four sums, so that no addition waits for the one before it.  A turn has eight items, in two halves.  A pass of
    # only four items is done by the loop for the rest; with turns of four it would be a turn, and takes twice as long
    # then.  ``opaque`` hides
    # from the compiler where an index comes from.  If it knew, it would load several items with one gather, which takes
    # up to twice as long in the caches.  (Both on AMD's Zen 3.)
    s0 = _ZERO
    s1 = _ZERO
    s2 = _ZERO
    s3 = _ZERO
    i = _ZERO
    for _ in range(count // _EIGHT):
        i = opaque(i)
        s0 = s0 + a[i]
        s1 = s1 + a[i + stride]
        s2 = s2 + a[i + _TWO * stride]
        s3 = s3 + a[i + _THREE * stride]
        i = opaque(i + _FOUR * stride)
        s0 = s0 + a[i]
        s1 = s1 + a[i + stride]
        s2 = s2 + a[i + _TWO * stride]
        s3 = s3 + a[i + _THREE * stride]
        i = i + _FOUR * stride
    for _ in range(count % _EIGHT):
        s0 = s0 + a[i]
        i = i + stride
    return np.uint32(s0 + s1 + s2 + s3)


@kernel
def sum_lines(a, items, stride, passes, out):
    """``passes`` sums with a ``stride`` of 1, 2, 4 or 8; whole cache lines are loaded, as vectors.

    ``a`` is int32, as vectors are; modulo 2³² the bits of its sums are those of uint32.
    """
    for made in range(passes):
        out[0] = one_pass_of_lines(a, np.uint64(items), np.uint64(stride))
        out[1] = made + 1
        barrier(a)


@kernel
def sum_items(a, items, stride, passes, out):
    """``passes`` sums with any ``stride``, a load for each item."""
    # Counted here and not in every pass: a division takes longer than a pass of a few items.
    count = (np.uint64(items) + np.uint64(stride) - _ONE) // np.uint64(stride)
    for made in range(passes):
        out[0] = one_pass_of_items(a, count, np.uint64(stride))
        out[1] = made + 1
        barrier(a)


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
    """Arrays up to ``threads``, each first touched by a thread, with ``binding`` on the CPU that will read it."""
    first = len(state.arrays)
    missing = threads - first
    if missing <= 0:
        return
    require_memory(missing * problem.nbytes, f"stride: {missing} working set(s) of nbytes = {problem.nbytes}")

    def make(number: int) -> np.ndarray:
        a = allocate(problem.items, np.uint32, problem.pages)
        fill(a, _offset(state.seed, first + number))
        return a

    state.arrays += run_team(make, missing, cpus[first:] if cpus else None)
    if first == 0:
        state.huge = huge_fraction(state.arrays[0])


def _offset(seed: int, thread: int) -> int:
    """What is added to every item of a thread's array.  Sums of two threads differ unless their distance · 7919 · items
    read is a multiple of 2³²: 16 GiB of two neighbours, 512 MiB of threads 32 apart, at stride 1."""
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

    def read(number: int) -> np.ndarray:
        a = state.arrays[number]
        out = np.zeros(2, np.uint64)
        if problem.in_lines:
            sum_lines(a.view(np.int32), problem.items, problem.stride, repeats, out)
        else:
            sum_items(a, problem.items, problem.stride, repeats, out)
        return out

    sums, passes = np.array(run_team(read, threads, cpus)).T
    return Result(sums.astype(np.uint32), passes.astype(np.int64), repeats, state.seed, state.huge)


def expected_sum(problem: Problem, offset: int) -> int:
    """Σ over k < m of (c·k·stride + offset), c = ``_FACTOR``, = c·stride·m(m − 1)/2 + m·offset, modulo 2³²."""
    m = problem.reads
    return (_FACTOR * problem.stride * (m * (m - 1) // 2) + m * offset) % _MODULUS


def reference(problem: Problem, state: State) -> Result:
    """The sum of each array that was made by the plain loop, one pass."""
    sums = np.array([plain(a, problem.items, problem.stride) for a in state.arrays], np.uint32)
    return Result(sums, np.ones(len(sums), np.int64), 1, state.seed, state.huge)


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every thread's sum against the closed form, exactly, and its count of passes."""
    checks = []
    for thread, (found, passes) in enumerate(zip(result.sums, result.passes, strict=True)):
        expected = expected_sum(problem, _offset(result.seed, thread))
        checks.append(Check.near(f"sum of thread {thread}", int(found), expected, 0))
        checks.append(Check.near(f"passes of thread {thread}", int(passes), result.repeats, 0))
    return checks


def work(problem: Problem, threads: int = 1) -> Work:
    """One pass of every thread over its own array: the bytes asked for."""
    return Work(bytes_read=ITEM * problem.reads).times(threads)


#: Working sets that end with a line and within one; strides of both loops.
PROOF = Proof(
    each={"nbytes": (2**16, 2**16 + 60), "stride": (*range(1, 10), 13, 32, 1000, 4000)}, not_compared=("huge",)
)
