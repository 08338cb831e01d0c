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

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, one_of, whole, worst
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.runtime.arrays import POLICIES, allocate, huge_fraction
from supercomputers_rerun.kernels.runtime.jit import barrier, kernel
from supercomputers_rerun.kernels.runtime.resources import require_memory, run_team, team_cpus
from supercomputers_rerun.kernels.runtime.vector import LANES, fence, fma, load, store, stream

WORD = 8  # bytes of an array element
SCALAR = float(np.sqrt(2.0) - 1.0)
START = (1.0, 2.0, 0.5)  # a, b and c before the first kernel

_ARRAYS = {"copy": 2, "scale": 2, "add": 3, "triad": 3}
_FLOPS = {"copy": 0, "scale": 1, "add": 1, "triad": 2}
OPERATIONS = (*_ARRAYS, "cycle")


@dataclass(frozen=True)
class Problem(Presets):
    """Which of STREAM's kernels runs on arrays of which length: presets ``quick`` (arrays of 1 MiB), ``paper`` (64 MiB)
    and ``modern`` (512 MiB), the triad. ``ValueError`` if a field is outside its range, or n no multiple of 8."""

    n: whole(LANES, 2**40, "elements") = 2**17  # elements of one array
    operation: one_of(*OPERATIONS) = "triad"  # "copy", "scale", "add", "triad" or "cycle" (the four in turn)
    nontemporal: bool = False  # stores that bypass the caches
    pages: one_of(*POLICIES) = "default"  # "default", "small" (4 KiB) or "huge" (2 MiB)
    binding: bool = False  # bind each thread to a CPU of its own

    PRESETS: ClassVar = {"quick": {"n": 2**17}, "paper": {"n": 2**23}, "modern": {"n": 2**26}}

    def __post_init__(self):
        if self.n % LANES:
            more = self.n + -self.n % LANES
            raise ValueError(f"n = {self.n} is no multiple of {LANES}, the words of a cache line; take {more}")


def plain(operation: str, a, b, c) -> None:
    """One of STREAM's kernels on arrays, as one writes it."""
    if operation == "copy":
        c[:] = a
    elif operation == "scale":
        b[:] = SCALAR * c
    elif operation == "add":
        c[:] = a + b
    else:
        a[:] = b + SCALAR * c


# All take the three arrays, float64 (n,), which begin on a cache line and hold whole lines, STREAM's factor ``s``, and
# how often to do it, so that one name chooses among them.  ``past``: by stores that bypass the caches, which need whole
# lines.  With ordinary stores, loops over single elements take 0.95 to 1.1 of the time.


@kernel(inline=True)
def _put(array, i, value, past):
    """The line of ``array`` that begins at element ``i`` becomes ``value``."""
    if past:
        stream(array, i, value)
    else:
        store(array, i, value)


@kernel(inline=True)
def _end(array, past):
    """The end of a repeat: what was stored is stored, for all threads."""
    barrier(array)
    if past:
        fence()


@kernel
def copy(a, b, c, s, repeats, past):
    """``c = a``; arguments ``a``, ``b``, ``c``, ``s``, ``repeats``, ``past`` as above."""
    for _ in range(repeats):
        for i in range(0, a.size, LANES):
            _put(c, i, load(a, i), past)
        _end(c, past)


@kernel
def scale(a, b, c, s, repeats, past):
    """``b = s · c``; arguments ``a``, ``b``, ``c``, ``s``, ``repeats``, ``past`` as above."""
    for _ in range(repeats):
        for i in range(0, a.size, LANES):
            _put(b, i, s * load(c, i), past)
        _end(b, past)


@kernel
def add(a, b, c, s, repeats, past):
    """``c = a + b``; arguments ``a``, ``b``, ``c``, ``s``, ``repeats``, ``past`` as above."""
    for _ in range(repeats):
        for i in range(0, a.size, LANES):
            _put(c, i, load(a, i) + load(b, i), past)
        _end(c, past)


@kernel
def triad(a, b, c, s, repeats, past):
    """``a = b + s · c``; arguments ``a``, ``b``, ``c``, ``s``, ``repeats``, ``past`` as above."""
    for _ in range(repeats):
        for i in range(0, a.size, LANES):
            _put(a, i, fma(s, load(c, i), load(b, i)), past)
        _end(a, past)


KERNELS = {"copy": copy, "scale": scale, "add": add, "triad": triad}


@dataclass
class State:
    """The three arrays, (n,) float64 each, beginning on a cache line."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    huge: float | None = None  # share of array a on huge pages, None where unknown


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
    state = State(*(allocate(problem.n, np.float64, problem.pages) for _ in range(3)))
    _reset(state, slice(None))
    state.huge = huge_fraction(state.a)
    return state


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """The kernel on all elements ``repeats`` times, each thread on a contiguous share.

    No thread waits for another between repeats: element i depends on element i of the other arrays alone.  ``cycle``
    starts again from the starting values.
    """
    cpus = team_cpus(threads, problem.binding)
    parts = shares(problem.n, threads)

    def work(number: int) -> None:
        part = parts[number]
        a = state.a[part]
        b = state.b[part]
        c = state.c[part]
        if problem.operation != "cycle":
            KERNELS[problem.operation](a, b, c, SCALAR, repeats, problem.nontemporal)
            return
        _reset(state, part)
        for _ in range(repeats):
            for function in KERNELS.values():
                function(a, b, c, SCALAR, 1, problem.nontemporal)

    run_team(work, threads, cpus)
    return Result(state.a, state.b, state.c, repeats, state.huge)


def expected_values(problem: Problem, repeats: int = 1) -> tuple[float, float, float]:
    """a, b and c after the run, by the same recurrence on arrays of one element."""
    a, b, c = np.array([[1.0], [2.0], [0.5]])  # written out again: what is expected does not follow what arrays get
    for _ in range(repeats if problem.operation == "cycle" else 1):
        for operation in _ARRAYS if problem.operation == "cycle" else (problem.operation,):
            plain(operation, a, b, c)
    return float(a[0]), float(b[0]), float(c[0])


def reference(problem: Problem, state: State) -> Result:
    """Arrays a, b and c after one repeat from the starting values."""
    return Result(*(np.full(problem.n, value) for value in expected_values(problem)), 1, state.huge)


def verify(problem: Problem, result: Result) -> list[Check]:
    """Least and largest value of each array against the closed form.

    The tolerance is STREAM's own relative 1e-13 for one pass; repeated cycles add a rounding each.
    """
    expected = expected_values(problem, result.repeats)
    tolerance = 1e-13 * (1 + result.repeats / 100 if problem.operation == "cycle" else 1)
    checks = []
    for name, value in zip("abc", expected, strict=True):
        values = getattr(result, name)
        checks.append(Check.relative(f"least {name}", values.min(), value, tolerance))
        checks.append(Check.relative(f"largest {name}", values.max(), value, tolerance))
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
        arrays = [allocate(problem.n, np.float64, problem.pages) for _ in range(3)]
        for array, values in zip(arrays, np.random.default_rng(1).uniform(1.0, 2.0, (3, problem.n)), strict=True):
            array[:] = values
        expected = [array.copy() for array in arrays]
        plain(name, *expected)
        KERNELS[name](*arrays, SCALAR, 2, problem.nontemporal)
        off = worst(*(array - other for array, other in zip(arrays, expected, strict=True)))
        checks.append(Check.near(f"{name} of unlike elements: largest difference from the plain form", off, 0.0, 1e-15))
    if problem.operation == "cycle":  # begins anew whatever a run before has left
        state.a[:] = 7.0
        checks += verify(problem, run(problem, state))
    return checks


#: One rounding an element, as NumPy has it; what pages are made of is the machine's.
PROOF = Proof(
    {"n": 4096},
    each={"operation": (*_ARRAYS, "cycle"), "nontemporal": (False, True)},
    within=dict.fromkeys("abc", 1e-15),
    not_compared=("huge",),
    also=_varied,
)
