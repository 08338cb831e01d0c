"""Memory bandwidth per thread against working set and stride.

Each thread reads every ``stride``-th item of its own array of 4-byte items and adds them up, pass
after pass.  The curve over the working set shows the caches, the one over the stride what of a
cache line is used.  After Hague, *Performance of P5+ at ECMWF* (2006), whose plot did not survive
and whose code is unknown; sizes and strides here are ours.

Items are unsigned 32-bit integers added modulo 2³²: the sum is the same in whatever order it is
formed, so the compiler needs no permission to vectorise, every thread count and every repeat must
give *exactly* the expected sum, and an addition takes one clock period, so that the loads and not
the additions are measured.

The report does not say how its loop was compiled, and three questions can be asked with it.  ``loads`` chooses:

``vector``
    How many bytes of whole cache lines the memory delivers.  Up to stride 8, whole lines are loaded as vectors, and
    what was not asked for is left out; from stride 9 on, whatever brings an item brings its line.
``scalar``
    How many loads a second the processor makes: one for each item.
``any``
    How many items a second arrive, by any means: whole lines, a load for each, or gathers.

Each question is measured with its fastest loop (``Problem.methods``).  Which one that is depends on the stride, the
working set, the processor and the number of threads; the first ``run`` of a state times them all for a moment.

Bandwidth counts the bytes asked for, 4 an item (``work``); from stride 16 on, each item costs a cache
line of 64 bytes.
"""

import time
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from kernels.contract import Check, Footprint, Presets, Work, one_of, require_choice, require_range, whole
from kernels.memory.loops import METHODS
from kernels.memory.sums import LARGEST_FEW, LARGEST_IN_LINE
from kernels.proof import Proof
from kernels.runtime import pages
from kernels.runtime.jit import kernel
from kernels.runtime.pages import POLICIES
from kernels.runtime.resources import require_memory
from kernels.runtime.threads import Placement, first_cpus, run_team

ITEM = 4  # bytes of an item
LINE = 64  # bytes of a cache line, as on x86-64 and most AArch64
_FACTOR = 2654435761  # item i holds factor · i + offset modulo 2³²
_MODULUS = 2**32
LOADS = ("vector", "scalar", "any")
_LARGEST_INDEX = 2**31 // 16  # stride below which a gather's indices fit into 32 bits
_TRIAL = 2**20  # items that each loop reads in a round of the trial, at least a pass
_LEFT = 99, 99, 8, 8, 4, 4, 4, 4  # loops that take part in each round of the trial: none goes after a single sample


@dataclass(frozen=True)
class Problem(Presets):
    """Which reads are made.

    Raises
    ------
    ValueError
        If a field is outside its range, or the stride exceeds the working set.
    """

    nbytes: whole(2**12, 2**40, "bytes") = 2**20  # working set of one thread, bytes
    stride: int = 1  # distance of consecutive reads, items of 4 bytes
    loads: one_of(*LOADS) = "vector"  # whole lines up to stride 8; "scalar": one an item; "any": the fastest
    pages: one_of(*POLICIES) = "default"  # "default", "small" (4 KiB) or "huge" (2 MiB)
    binding: bool = False  # bind each thread to a CPU of its own

    PRESETS: ClassVar = {
        "quick": {"nbytes": 2**20, "stride": 1},
        "paper": {"nbytes": 2**26, "stride": 1},
        "modern": {"nbytes": 2**29, "stride": 1},
    }

    def __post_init__(self):
        require_range("stride", self.stride, 1, self.items)

    @property
    def in_lines(self) -> bool:
        """Whether whole cache lines are loaded, and nothing else."""
        return self.loads == "vector" and self.stride <= LARGEST_IN_LINE

    @property
    def methods(self) -> list[str]:
        """Names in ``METHODS`` of the loops that answer the question."""
        lines = self.loads != "scalar" and self.stride <= LARGEST_IN_LINE
        gathers = self.loads != "scalar" and self.stride < _LARGEST_INDEX
        few = not self.in_lines and self.reads <= LARGEST_FEW
        kinds = {"lines": lines, "items": not self.in_lines, "few": few, "gathers": gathers and not self.in_lines}
        return [name for name in METHODS if any(name.startswith(kind) for kind, asked in kinds.items() if asked)]

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
    """The sweep over working sets and strides, strides larger than the set left out.

    Raises
    ------
    ValueError
        If the preset is unknown.
    """
    require_choice("preset", preset, GRIDS)
    sizes, strides = GRIDS[preset]
    return [
        Problem(nbytes=nbytes, stride=stride, **changes)
        for nbytes in sizes
        for stride in strides
        if stride <= nbytes // ITEM
    ]


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
    placement: Placement = field(default_factory=Placement)
    methods: dict[tuple[Problem, int], str] = field(default_factory=dict)  # the fastest, by problem and threads


@dataclass(frozen=True)
class Result:
    """What the threads read."""

    sums: np.ndarray  # (threads,) uint32: sum of one pass, modulo 2³²
    passes: np.ndarray  # (threads,) int64: passes made
    repeats: int  # passes asked for
    seed: int
    huge: float | None  # share of the first array on huge pages, None where unknown
    method: str = ""  # the loop that read


def _extend(problem: Problem, state: State, threads: int, cpus) -> None:
    """Arrays up to ``threads``, each first touched by a thread on the CPU that will read it."""
    missing = threads - len(state.arrays)
    if missing <= 0:
        return
    require_memory(missing * problem.nbytes, f"stride: {missing} working set(s) of nbytes = {problem.nbytes}")
    first = len(state.arrays)

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


def _read(problem: Problem, a: np.ndarray, method: str, repeats: int) -> tuple[int, int]:
    """Sum of one pass, and the passes made."""
    function, ahead = METHODS[method]
    out = np.zeros(16, np.uint32)
    for done in range(0, repeats, 2**31):  # the counter in ``out`` has 32 bits
        function(a, problem.items, problem.stride, ahead, min(repeats - done, 2**31), out)
    return int(out[0]), int(out[1])


def _fastest(problem: Problem, state: State, threads: int, cpus) -> str:
    """The method whose slowest thread was fastest in one of a few rounds, of which the later ones are for the best."""
    passes = max(1, _TRIAL // problem.reads)
    best = dict.fromkeys(problem.methods, np.inf)

    def seconds(number: int) -> float:
        start = time.perf_counter()
        _read(problem, state.arrays[number], method, passes)
        return time.perf_counter() - start

    for function, ahead in map(METHODS.__getitem__, best):  # compiled with a single item
        function(state.arrays[0], problem.stride, problem.stride, ahead, 1, np.zeros(16, np.uint32))
    left = list(best)
    method = left[0]
    run_team(seconds, threads, cpus)  # fills the caches
    for count in _LEFT:
        left = sorted(left, key=best.__getitem__)[:count]
        for method in left:
            best[method] = min(best[method], max(run_team(seconds, threads, cpus)))
    return min(best, key=best.__getitem__)


def setup(problem: Problem, seed: int = 0) -> State:
    """The first thread's array, filled.

    Raises
    ------
    MemoryError
        If the working set does not fit into the available memory.
    """
    state = State([], seed)
    cpus = state.placement.cpus(1, first_cpus if problem.binding else lambda _: None)
    _extend(problem, state, 1, cpus)
    return state


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """Each thread reads its own array ``repeats`` times; all start together.

    The first run of a problem with so many threads chooses the method before.

    Raises
    ------
    ValueError
        If there are more threads than usable CPUs.
    MemoryError
        If the further threads' arrays do not fit.
    """
    cpus = state.placement.cpus(threads, first_cpus if problem.binding else lambda _: None)
    _extend(problem, state, threads, cpus)

    if (problem, threads) not in state.methods:
        state.methods[problem, threads] = _fastest(problem, state, threads, cpus)
    method = state.methods[problem, threads]
    pairs = run_team(lambda number: _read(problem, state.arrays[number], method, repeats), threads, cpus)
    return Result(
        np.array([total for total, _ in pairs], np.uint32),
        np.array([made for _, made in pairs]),
        repeats,
        state.seed,
        state.huge,
        method,
    )


def expected_sum(problem: Problem, offset: int) -> int:
    """Σ over k < m of (c·k·stride + offset) = c·stride·m(m − 1)/2 + m·offset, modulo 2³²."""
    m = problem.reads
    return (_FACTOR * problem.stride * (m * (m - 1) // 2) + m * offset) % _MODULUS


def reference(problem: Problem, state: State) -> Result:
    """NumPy's sum of every ``stride``-th item of each array that was made, one pass."""
    sums = [a[:: problem.stride].sum(dtype=np.uint32) for a in state.arrays]
    return Result(np.array(sums, np.uint32), np.ones(len(sums), np.int64), 1, state.seed, state.huge)


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every thread's sum against the closed form, exactly, and its count of passes."""
    checks = []
    for thread, (total, passes) in enumerate(zip(result.sums, result.passes, strict=True)):
        expected = expected_sum(problem, _offset(result.seed, thread))
        checks.append(Check.near(f"sum of thread {thread}", int(total), expected, 0))
        checks.append(Check.near(f"passes of thread {thread}", int(passes), result.repeats % _MODULUS, 0))
    return checks


def work(problem: Problem, threads: int = 1) -> Work:
    """One pass of every thread over its own array: the bytes asked for."""
    return Work(bytes_read=ITEM * problem.reads).times(threads)


def _by_every_method(problem: Problem, state: State, result: Result) -> list[Check]:
    """The sum of the first array by each loop that answers the question, whichever is the fastest."""
    expected = expected_sum(problem, _offset(result.seed, 0))
    return [
        Check.near(f"sum, {method}", _read(problem, state.arrays[0], method, 2)[0], expected, 0)
        for method in problem.methods
    ]


PROOF = Proof(
    {"nbytes": 2**16},
    each={"stride": (*range(1, 10), 13, 32, 1000, 4000), "loads": LOADS},
    not_compared=("huge",),
    also=_by_every_method,
)
