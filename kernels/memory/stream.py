"""STREAM's four kernels, plain and with non-temporal stores.

======  =======================  ==================  =========================
kernel  operation                bytes an iteration  flops an iteration
======  =======================  ==================  =========================
copy    c[i] = a[i]              16                  0
scale   b[i] = s · c[i]          16                  1
add     c[i] = a[i] + b[i]       24                  1
triad   a[i] = b[i] + s · c[i]   24                  2
======  =======================  ==================  =========================

in 8-byte words, after McCalpin, *Memory bandwidth and machine balance in current high performance
computers* (1995).  Bytes are counted as STREAM counts them: one for each byte that the source reads
or writes.  A plain store to a line that is not cached makes the processor read the line first
(write-allocate), 8 bytes more an iteration than are counted; a non-temporal store writes the line
without reading it, so that the same memory system shows more STREAM bytes a second.

``cycle`` runs the four in turn, as STREAM does.  Its factor is s = √2 − 1 instead of 3: then
s² + 2s = 1, so the values stay where they are and any number of repeats is possible.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernels.contract import Check, Footprint, Presets, Work, extremes, one_of, whole, worst
from kernels.proof import Proof
from kernels.runtime import pages, walks
from kernels.runtime.barriers import barrier
from kernels.runtime.jit import kernel
from kernels.runtime.pages import POLICIES
from kernels.runtime.registers import HERE
from kernels.runtime.resources import require_memory
from kernels.runtime.threads import Placement, first_cpus, run_team
from kernels.runtime.vector import LANES, fence, fma, load, repeated, store, stream

WORD = 8  # bytes of an array element
LINE = 64  # bytes of a cache line
SCALAR = float(np.sqrt(2.0) - 1.0)
#: Elements of an array from which the triad goes by pairs of words.  On AMD's Zen 3, with registers of four words, that
#: took 0.85 to 0.89 of the time with one thread and three arrays of 16 to 256 MiB, about the same with two threads, and
#: 1.12 with three arrays of 8 MiB, which a cache holds.  gcc's loop of whole lines, which stores four pairs a line, is
#: as fast; why more instructions take less time was not measured.  In WebAssembly all lengths go by pairs.
PAIRS_FROM = 0 if LANES == 2 else 2**21 if HERE.lanes == 4 else 2**62
START = (1.0, 2.0, 0.5)  # a, b and c before the first kernel

_ARRAYS = {"copy": 2, "scale": 2, "add": 3, "triad": 3}
_FLOPS = {"copy": 0, "scale": 1, "add": 1, "triad": 2}
OPERATIONS = (*_ARRAYS, "cycle")


@dataclass(frozen=True)
class Problem(Presets):
    """Which of STREAM's kernels runs on arrays of which length.

    Raises
    ------
    ValueError
        If a field is outside its range, or n is no multiple of 8 (a cache line).
    """

    n: whole(LANES, 2**40, "elements") = 2**17  # elements of one array
    operation: one_of(*OPERATIONS) = "triad"  # "copy", "scale", "add", "triad" or "cycle" (the four in turn)
    nontemporal: bool = False  # stores that bypass the caches
    pages: one_of(*POLICIES) = "default"  # "default", "small" (4 KiB) or "huge" (2 MiB)
    binding: bool = False  # bind each thread to a CPU of its own

    PRESETS: ClassVar = {
        "quick": {"n": 2**17},
        "paper": {"n": 2**23},
        "modern": {"n": 2**26},
    }

    def __post_init__(self):
        if self.n % LANES:
            raise ValueError(
                f"n = {self.n} is no multiple of {LANES}, the words of a cache line; take {self.n + -self.n % LANES}"
            )


# All eight take the three arrays (float64, (n,); they begin on a cache line and hold whole lines), STREAM's factor and
# the number of repeats, so that one name chooses among them.  Each moves whole lines: LLVM takes vectors of half a line
# on processors whose tuning prefers 256 bits, and two stores a line.


@kernel
def copy(a, b, c, s, repeats):
    """``c = a``, ``repeats`` times; ``a``, ``b``, ``c`` are float64 (n,), ``s`` and ``b`` are not used."""
    for _ in range(repeats):
        for i in range(0, a.size, LANES):
            store(c, i, load(a, i))
        barrier(c)


@kernel
def scale(a, b, c, s, repeats):
    """``b = s · c``, ``repeats`` times; ``a``, ``b``, ``c`` are float64 (n,)."""
    for _ in range(repeats):
        for i in range(0, a.size, LANES):
            store(b, i, s * load(c, i))
        barrier(b)


@kernel
def add(a, b, c, s, repeats):
    """``c = a + b``, ``repeats`` times; ``a``, ``b``, ``c`` are float64 (n,), ``s`` is not used."""
    for _ in range(repeats):
        for i in range(0, a.size, LANES):
            store(c, i, load(a, i) + load(b, i))
        barrier(c)


@intrinsic
def triad_by_address(typingctx, a, b, c, s):
    """``triad_by_address(a, b, c, s)``: a = b + s c on C-contiguous float64 arrays of whole cache lines.

    Two lines a turn in vectors of two, at fixed distances from three addresses.  V8, which has one address and a
    constant for an access of WebAssembly, otherwise spends three additions on each vector.
    """
    if not (a == b == c and a.dtype == types.float64 and a.layout == "C" and s == types.float64):
        return None
    pair = ir.VectorType(ir.DoubleType(), 2)

    def codegen(context, builder, signature, args):
        arrays = [cgutils.create_struct_proxy(a)(context, builder, each) for each in args[:3]]
        starts = [builder.ptrtoint(each.data, walks.ADDRESS) for each in arrays]
        factor = repeated(builder, args[3], 2)

        def turn(lines):
            def pairs(*places):
                for distance in range(0, LINE * lines, 2 * WORD):
                    to, *of = (walks.beyond(builder, place, distance) for place in places)
                    left, right = (walks.load(builder, place, pair, WORD) for place in of)
                    walks.store(builder, builder.fadd(left, builder.fmul(factor, right)), to, WORD)

            return pairs

        lines = builder.udiv(arrays[0].nitems, walks.long(LINE // WORD))
        for at_once, turns in ((2, builder.lshr(lines, walks.long(1))), (1, builder.and_(lines, walks.long(1)))):
            pace = walks.gap(builder, LINE * at_once)
            starts = walks.walk(builder, starts, pace, turns, turn(at_once))
        return context.get_dummy_value()

    return types.void(a, b, c, s), codegen


@kernel
def triad(a, b, c, s, repeats):
    """``a = b + s · c``, ``repeats`` times; ``a``, ``b``, ``c`` are float64 (n,)."""
    for _ in range(repeats):
        if a.size >= PAIRS_FROM:
            triad_by_address(a, b, c, s)
        else:
            for i in range(0, a.size, LANES):
                store(a, i, fma(s, load(c, i), load(b, i)))
        barrier(a)


@kernel
def copy_nontemporal(a, b, c, s, repeats):
    """``copy`` past the caches, arguments ``a``, ``b``, ``c``, ``s``, ``repeats`` as there."""
    for _ in range(repeats):
        for i in range(0, a.size, LANES):
            stream(c, i, load(a, i))
        fence()


@kernel
def scale_nontemporal(a, b, c, s, repeats):
    """``scale`` past the caches, arguments ``a``, ``b``, ``c``, ``s``, ``repeats`` as there."""
    for _ in range(repeats):
        for i in range(0, a.size, LANES):
            stream(b, i, s * load(c, i))
        fence()


@kernel
def add_nontemporal(a, b, c, s, repeats):
    """``add`` past the caches, arguments ``a``, ``b``, ``c``, ``s``, ``repeats`` as there."""
    for _ in range(repeats):
        for i in range(0, a.size, LANES):
            stream(c, i, load(a, i) + load(b, i))
        fence()


@kernel
def triad_nontemporal(a, b, c, s, repeats):
    """``triad`` past the caches, arguments ``a``, ``b``, ``c``, ``s``, ``repeats`` as there."""
    for _ in range(repeats):
        for i in range(0, a.size, LANES):
            stream(a, i, fma(s, load(c, i), load(b, i)))
        fence()


PLAIN = {"copy": copy, "scale": scale, "add": add, "triad": triad}
NONTEMPORAL = {"copy": copy_nontemporal, "scale": scale_nontemporal, "add": add_nontemporal, "triad": triad_nontemporal}


@dataclass
class State:
    """The three arrays, (n,) float64 each, beginning on a cache line."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    huge: float | None = None  # share of array a on huge pages, None where unknown
    placement: Placement = field(default_factory=Placement)


@dataclass(frozen=True)
class Result:
    """The arrays as the run left them (views, which the next run overwrites)."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    repeats: int
    huge: float | None  # share of array a on huge pages, None where unknown


def _reset(state: State, part: slice) -> None:
    for array, value in zip((state.a, state.b, state.c), START, strict=True):
        array[part] = value


def shares(n: int, threads: int) -> list[slice]:
    """Contiguous shares of n elements, whole cache lines each, one a thread."""
    ends = [n // LANES * k // threads * LANES for k in range(threads + 1)]
    return [slice(low, high) for low, high in zip(ends, ends[1:], strict=False)]


def footprint(problem: Problem) -> Footprint:
    """The three arrays, which all threads share."""
    return Footprint(3 * WORD * problem.n)


def setup(problem: Problem, seed: int = 0) -> State:
    """The three arrays at their starting values (the seed is not used: STREAM's data are constants)."""
    require_memory(footprint(problem).memory, f"stream: three arrays of n = {problem.n}")
    state = State(*(pages.allocate(problem.n, np.float64, problem.pages) for _ in range(3)))
    _reset(state, slice(None))
    state.huge = pages.huge_fraction(state.a)
    return state


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """The kernel on all elements ``repeats`` times, each thread on a contiguous share.

    Element i depends on nothing but element i of the other arrays, so that the threads need not
    wait for each other between repeats.  Copy, scale, add and triad do not read what they write
    and give the same result each time; ``cycle`` starts again from the starting values.
    """
    cpus = state.placement.cpus(threads, first_cpus if problem.binding else lambda _: None)
    parts = shares(problem.n, threads)
    functions = NONTEMPORAL if problem.nontemporal else PLAIN

    def work(number: int) -> None:
        part = parts[number]
        a, b, c = state.a[part], state.b[part], state.c[part]
        if problem.operation != "cycle":
            functions[problem.operation](a, b, c, SCALAR, repeats)
            return
        _reset(state, part)
        for _ in range(repeats):
            for function in functions.values():
                function(a, b, c, SCALAR, 1)

    run_team(work, threads, cpus)
    return Result(state.a, state.b, state.c, repeats, state.huge)


def expected_values(problem: Problem, repeats: int = 1) -> tuple[float, float, float]:
    """a, b and c after the run, by the same recurrence on three scalars."""
    a, b, c = 1.0, 2.0, 0.5  # written out again: what is expected does not follow what the arrays get
    for _ in range(repeats if problem.operation == "cycle" else 1):
        for operation in _ARRAYS if problem.operation == "cycle" else (problem.operation,):
            if operation == "copy":
                c = a
            elif operation == "scale":
                b = SCALAR * c
            elif operation == "add":
                c = a + b
            else:
                a = b + SCALAR * c
    return a, b, c


def reference(problem: Problem, state: State) -> Result:
    """Arrays a, b and c after one repeat from the starting values, by NumPy on whole arrays."""
    arrays = [np.full(state.a.size, value) for value in START]
    for operation in _ARRAYS if problem.operation == "cycle" else (problem.operation,):
        arrays = _by_numpy(operation, *arrays)
    return Result(*arrays, 1, state.huge)


def _by_numpy(operation: str, a, b, c) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """a, b and c after one operation."""
    if operation == "copy":
        return a, b, a.copy()
    if operation == "scale":
        return a, SCALAR * c, c
    if operation == "add":
        return a, b, a + b
    return b + SCALAR * c, b, c


def verify(problem: Problem, result: Result) -> list[Check]:
    """Least and largest value of each array against the closed form.

    The tolerance is STREAM's own relative 1e-13 for one pass; repeated cycles add a rounding each.
    """
    expected = expected_values(problem, result.repeats)
    tolerance = 1e-13 * (1 + result.repeats / 100 if problem.operation == "cycle" else 1)
    checks = []
    for name, value in zip("abc", expected, strict=True):
        least, largest = extremes(getattr(result, name))
        checks.append(Check.relative(f"least {name}", least, value, tolerance))
        checks.append(Check.relative(f"largest {name}", largest, value, tolerance))
    return checks


def work(problem: Problem, threads: int = 1) -> Work:
    """One repeat on the whole arrays, which threads share, as STREAM counts (write-allocate is not counted)."""
    names = tuple(_ARRAYS) if problem.operation == "cycle" else (problem.operation,)
    return Work(
        flops=problem.n * sum(_FLOPS[name] for name in names),
        bytes_read=WORD * problem.n * sum(_ARRAYS[name] - 1 for name in names),
        bytes_written=WORD * problem.n * len(names),
    )


def _varied(problem: Problem, state: State, result: Result) -> list[Check]:
    """The operations of the problem on arrays whose elements all differ, as STREAM's own do not."""
    checks = []
    for name in _ARRAYS if problem.operation == "cycle" else (problem.operation,):
        found = [pages.allocate(problem.n, np.float64, problem.pages) for _ in range(3)]
        for array, values in zip(found, np.random.default_rng(1).uniform(1.0, 2.0, (3, problem.n)), strict=True):
            array[:] = values
        expected = _by_numpy(name, *(array.copy() for array in found))
        (NONTEMPORAL if problem.nontemporal else PLAIN)[name](*found, SCALAR, 2)
        off = worst(*(one - other for one, other in zip(found, expected, strict=True)))
        checks.append(Check.near(f"{name} of unlike elements: largest difference from NumPy", off, 0.0, 1e-15))
    return checks


#: One rounding an element, as NumPy has it; what pages are made of is the machine's.
PROOF = Proof(
    {"n": 4096},
    each={"operation": (*_ARRAYS, "cycle"), "nontemporal": (False, True)},
    within=dict.fromkeys("abc", 1e-15),
    not_compared=("huge",),
    also=_varied,
)
