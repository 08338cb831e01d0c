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
item has a load of its own.  Both bring every line once.  They are made of LLVM's instructions, with loads at fixed
distances from one address that moves on once a turn: LLVM on its own counts an index, gathers, or takes half of the
vector length; see each form for what that costs.  Gathers were slower at every stride
and working set but one on AMD's Zen 4, the exception by a tenth.

Bandwidth counts the bytes asked for, 4 an item (``work``); from stride 16 on, each item costs a cache
line of 64 bytes.

>>> from supercomputers_rerun.kernels.memory import stride
>>> problem = stride.Problem(nbytes=2**14, stride=16)
>>> state = stride.setup(problem)
>>> result = stride.run(problem, state)
>>> all(check.ok for check in stride.verify(problem, result))
True
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from supercomputers_rerun.kernels.contract import (
    Check,
    Footprint,
    Presets,
    Work,
    one_of,
    require_choice,
    require_range,
    whole,
)
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.runtime.arrays import POLICIES, allocate, huge_fraction
from supercomputers_rerun.kernels.runtime.jit import LANES, WASM, barrier, kernel, unknown
from supercomputers_rerun.kernels.runtime.resources import require_memory, run_team, team_cpus

ITEM = 4  # bytes of an item
_FACTOR = 2654435761  # item i holds factor · i + offset modulo 2³²
_MODULUS = 2**32


#: Items of a cache line of 64 bytes, which is one vector here.
LINE_ITEMS = 16
#: Stride up to which whole lines are summed; beyond, a line holds one item or two.
LARGEST_IN_LINE = 8
_LINE = 64  # bytes
_SUMS = 4  # of single items, so that loads overlap
_WORD, _VECTOR = ir.IntType(32), ir.VectorType(ir.IntType(32), LINE_ITEMS)
#: Addresses, and what LLVM would not find out of a sum of them in WebAssembly: it does not wrap around.
_ADDRESS, _SUM = (ir.IntType(32), ("nuw",)) if WASM else (ir.IntType(64), ())


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


# The two fast forms: ``a`` is a C-contiguous uint32 array, of which the first ``items`` count; sums modulo 2³².


def turn_lines(stride: int) -> int:
    """Cache lines of a turn: a whole number of strides, and enough for additions to wait for none before them."""
    period = stride // math.gcd(stride, LINE_ITEMS)
    return period * -(-max(1, LANES // 2) // period)


def _number(value: int):
    return ir.Constant(_ADDRESS, value)


def _walk(builder, start, pace, turns, read):
    """``read(place)`` in so many ``turns``, from the address ``start`` on by ``pace`` bytes; the address after the
    last."""
    slot = cgutils.alloca_once_value(builder, start)
    end = builder.add(start, builder.mul(pace, turns))
    again, turn, done = (builder.append_basic_block(name) for name in ("again", "turn", "done"))
    builder.branch(again)
    builder.position_at_end(again)
    place = unknown(builder, builder.load(slot), "r")  # or LLVM would make of it the sum of a base and an index
    builder.cbranch(builder.icmp_unsigned("!=", place, end), turn, done)
    builder.position_at_end(turn)
    read(place)
    builder.store(builder.add(place, pace), slot)
    builder.branch(again)
    builder.position_at_end(done)
    return place


def _add_from(builder, place, slot) -> None:
    """Add to a sum what lies at an address."""
    kind = builder.load(slot).type
    value = builder.load(builder.inttoptr(place, kind.as_pointer()), align=ITEM)
    builder.store(builder.add(builder.load(slot), value), slot)


def _zeros(builder, kind, count: int) -> list:
    return [cgutils.alloca_once_value(builder, ir.Constant(kind, None)) for _ in range(count)]


def _total(builder, slots, place, pace, left):
    """The sum of all sums, and of the ``left`` items from ``place`` on, which filled no turn."""
    rest = cgutils.alloca_once_value(builder, ir.Constant(_WORD, 0))
    _walk(builder, place, pace, left, lambda here: _add_from(builder, here, rest))
    total, *others = (builder.load(slot) for slot in slots)
    for other in others:
        total = builder.add(total, other)
    if total.type == _VECTOR:
        reduce = ir.FunctionType(_WORD, [_VECTOR])
        name = f"llvm.vector.reduce.add.v{LINE_ITEMS}i32"
        total = builder.call(cgutils.get_or_insert_function(builder.module, reduce, name), [total])
    return builder.add(total, builder.load(rest))


def _in_lines(builder, start, items, stride: int):
    """Each line of a turn goes into a sum of its own, in which the wanted items have fixed lanes."""
    lines = turn_lines(stride)
    sums, size = _zeros(builder, _VECTOR, lines), _number(LINE_ITEMS * lines)

    def read(place):
        for line, slot in enumerate(sums):
            _add_from(builder, builder.add(place, _number(_LINE * line), flags=_SUM), slot)

    place = _walk(builder, start, _number(_LINE * lines), builder.udiv(items, size), read)
    for line, slot in enumerate(sums):
        wanted = [-((LINE_ITEMS * line + lane) % stride == 0) for lane in range(LINE_ITEMS)]
        builder.store(builder.and_(builder.load(slot), ir.Constant(_VECTOR, wanted)), slot)
    left = builder.udiv(builder.add(builder.urem(items, size), _number(stride - 1)), _number(stride))
    return _total(builder, sums, place, _number(ITEM * stride), left)


def _lines(builder, start, items, stride):
    """A branch for each stride, whose lanes are then known."""
    found = cgutils.alloca_once(builder, _WORD)
    done = builder.append_basic_block("summed")
    ways = [builder.append_basic_block(f"stride{each}") for each in range(1, LARGEST_IN_LINE + 1)]
    chosen = builder.switch(stride, ways[-1])
    for each, way in enumerate(ways, 1):
        chosen.add_case(_number(each), way)
        builder.position_at_end(way)
        builder.store(_in_lines(builder, start, items, each), found)
        builder.branch(done)
    builder.position_at_end(done)
    return builder.load(found)


def _items(builder, start, items, stride):
    """Eight items a turn into four sums in turn, the later four at distances from an address of their own.

    Of 4 to 32 KiB it takes 0.77 to 0.9 of the time of turns of four (AMD's Zen 4), beyond the first cache as long.
    """
    sums, pace = _zeros(builder, _WORD, _SUMS), builder.mul(stride, _number(ITEM))
    count = builder.udiv(builder.add(items, builder.sub(stride, _number(1))), stride)
    half, turn = builder.mul(pace, _number(_SUMS)), _number(2 * _SUMS)

    def read(place):
        for here in (place, unknown(builder, builder.add(place, half, flags=_SUM), "r")):
            for k, slot in enumerate(sums):
                _add_from(builder, builder.add(here, builder.mul(pace, _number(k)), flags=_SUM), slot)

    place = _walk(builder, start, builder.mul(pace, turn), builder.udiv(count, turn), read)
    return _total(builder, sums, place, pace, builder.urem(count, turn))


def _summing(code):
    """The intrinsic ``f(a, items, stride)`` of an array and two uint64: ``code(builder, address, items, stride)``."""

    @intrinsic
    def function(typingctx, a, items, stride):
        if not (a.dtype == types.uint32 and a.layout == "C" and items == stride == types.uint64):
            return None

        def codegen(context, builder, signature, args):
            data = cgutils.create_struct_proxy(a)(context, builder, args[0]).data
            numbers = [builder.trunc(each, _ADDRESS) if WASM else each for each in args[1:]]
            return code(builder, builder.ptrtoint(data, _ADDRESS), *numbers)

        return types.uint32(a, items, stride), codegen

    return function


_sum_of_lines, _sum_of_items = _summing(_lines), _summing(_items)


@kernel
def sum_lines(a, items, stride, passes, out):
    """``passes`` sums with a ``stride`` of 1 to 8, of vectors of whole cache lines with the other items masked out.

    ``out``, uint64 (2,) or longer, gets the sum and the number of passes made.
    """
    for made in range(passes):
        out[0] = _sum_of_lines(a, np.uint64(items), np.uint64(stride))
        out[1] = made + 1
        barrier(a)


@kernel
def sum_items(a, items, stride, passes, out):
    """``passes`` sums with any ``stride``, a load for each item; ``out`` as in :func:`sum_lines`."""
    for made in range(passes):
        out[0] = _sum_of_items(a, np.uint64(items), np.uint64(stride))
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
    """Arrays up to ``threads``, each first touched by a thread on the CPU that will read it."""
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
