"""A product of two square matrices that stay in the cache: ``C = A B``, ``c[i, j] = Σ_k a[i, k] b[k, j]``, float64.

Hague (*Performance of P5+ at ECMWF*, 2006) names SGEMM, a product of matrices (here in double precision), among the
programs that gain nothing from a second thread on a core, and prints no rate of it.

A block of C, six rows of two vectors, is summed in registers::

                  b[k]   ┌──────┬──────┐     one k: two vectors of a row of B,
                         │ left │ right│     six numbers of a column of A,
                         └──────┴──────┘     twelve multiply-adds
    a[i … i + 5, k]   □  ┌──────┬──────┐
                      □  │      │      │
                      …  │ c[i … i + 5]│     twelve sums, each a chain of its own:
                      □  │      │      │     enough to keep two pipes of latency 4 busy
                      □  └──────┴──────┘

With registers of 256 or 512 bits twelve sums, two vectors of B and a number of A take fifteen, of 16 or more; with
those of 128 bits each vector takes two.

The columns of B under a block, at most 9 KiB, or 18 with registers of 512 bits, are used for all rows of A and stay in
the first-level cache; A streams from the second.  Orders 48, 96 and 144 reach 91, 92 and 97 % of the rate of
multiply-adds in registers (Zen 3), order 192, whose rows fall on few sets of the cache, 78 % of that of 144.  The
numbers are small and whole, so that every sum is exact in whatever order.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, one_of, worst
from supercomputers_rerun.kernels.decomposition import cut
from supercomputers_rerun.kernels.processor.smt import thread_cpus
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.runtime.jit import barrier, kernel
from supercomputers_rerun.kernels.runtime.resources import require_memory, require_threads, run_team
from supercomputers_rerun.kernels.runtime.vector import NARROW, fma, load_narrow, store, wide

__all__ = ["COLUMNS", "PROOF", "ROWS", "Problem", "Result", "State", "footprint", "matrices", "plain", "product"]
__all__ += ["reference", "run", "setup", "verify", "work"]

#: Rows and columns of a block of C.
ROWS = 6
COLUMNS = 2 * NARROW


@kernel
def plain(a, b, c):
    """``c = a b`` as one writes it; all float64 (n, n)."""
    n = len(a)
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += a[i, k] * b[k, j]
            c[i, j] = total


@kernel(inline=True)
def add_products(sums, factor, left, right):
    """``sums``, two vectors of a row of C, plus ``factor`` times ``left`` and ``right``."""
    return fma(factor, left, sums[0]), fma(factor, right, sums[1])


@kernel
def product(a, b, c, rows, passes):
    """The rows ``rows[0]`` … ``rows[1]`` − 1 of ``c = a b``, ``passes`` times; all float64 (n, n).

    ``rows`` has multiples of ROWS; n is a multiple of COLUMNS.
    """
    n = a.shape[1]
    first, end = rows
    for _ in range(passes):
        for j in range(0, n, COLUMNS):
            for i in range(first, end, ROWS):
                zero = wide(0.0, load_narrow(b, j))  # the load only tells how many lanes; LLVM drops it
                s0 = (zero, zero)
                s1 = (zero, zero)
                s2 = (zero, zero)
                s3 = (zero, zero)
                s4 = (zero, zero)
                s5 = (zero, zero)
                for k in range(n):
                    left = load_narrow(b, k * n + j)
                    right = load_narrow(b, k * n + j + NARROW)
                    s0 = add_products(s0, a[i, k], left, right)
                    s1 = add_products(s1, a[i + 1, k], left, right)
                    s2 = add_products(s2, a[i + 2, k], left, right)
                    s3 = add_products(s3, a[i + 3, k], left, right)
                    s4 = add_products(s4, a[i + 4, k], left, right)
                    s5 = add_products(s5, a[i + 5, k], left, right)
                store(c, i * n + j, s0)  # both vectors, one behind the other
                store(c, (i + 1) * n + j, s1)
                store(c, (i + 2) * n + j, s2)
                store(c, (i + 3) * n + j, s3)
                store(c, (i + 4) * n + j, s4)
                store(c, (i + 5) * n + j, s5)
        barrier(c)


@dataclass(frozen=True)
class Problem(Presets):
    """Order of the matrices, and how threads share the cores: presets ``quick`` (48), ``paper`` (96), ``modern``
    (144).  ``ValueError`` if a field is outside its range."""

    n: one_of(48, 96, 144) = 48  # order: whole blocks, at most 0.5 MB in all; 192 would be slower, see above
    threads_per_core: one_of(1, 2) = 1  # threads bound to a core: 1, or 2 where cores have two hardware threads
    binding: bool = True  # bind each thread to a CPU of its own
    shared: bool = False  # the threads divide the rows of one product instead of doing one each

    PRESETS: ClassVar = {"quick": {"n": 48}, "paper": {"n": 96}, "modern": {"n": 144}}


@dataclass
class State:
    """A and B, float64 (n, n) each, for each thread that makes a product of its own: those of further threads, equal
    ones, are made when first asked for."""

    factors: list[tuple[np.ndarray, np.ndarray]]
    seed: int


@dataclass(frozen=True)
class Result:
    """The products after the last pass."""

    c: np.ndarray  # (threads, n, n) float64; ``shared``: (1, n, n), of all threads together
    seed: int


NO_OUTPUT = {"seed": "chosen by the caller"}


def matrices(problem: Problem, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A and B, float64 (n, n): whole numbers from −9 to 9."""
    a, b = np.random.default_rng(seed).integers(-9, 10, (2, problem.n, problem.n)).astype(float)
    return a, b


def footprint(problem: Problem) -> Footprint:
    """A, B and C of each thread (``shared``: of all threads together)."""
    three = 3 * 8 * problem.n**2
    return Footprint(three, each_thread=0 if problem.shared else three)


def setup(problem: Problem, seed: int = 0) -> State:
    """The first thread's matrices; ``MemoryError`` if they do not fit."""
    require_memory(footprint(problem).memory, f"product: three matrices of order {problem.n}")
    return State([matrices(problem, seed)], seed)


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """Every thread makes its product (or, ``shared``, its rows of one) ``repeats`` times.

    ``ValueError`` if there are more threads than usable CPUs, or as ``smt.thread_cpus`` says.
    """
    cpus = thread_cpus(problem, require_threads(threads))
    own = 1 if problem.shared else threads
    state.factors += [matrices(problem, state.seed) for _ in range(own - len(state.factors))]
    c = np.zeros((own, problem.n, problem.n))
    blocks = problem.n // ROWS

    def one_thread(thread: int) -> None:
        mine = 0 if problem.shared else thread
        first, end = cut(blocks, threads, thread) if problem.shared else (0, blocks)
        product(*state.factors[mine], c[mine], (ROWS * first, ROWS * end), repeats)

    run_team(one_thread, threads, cpus)
    return Result(c, state.seed)


def reference(problem: Problem, state: State) -> Result:
    """One product by the plain loops."""
    c = np.empty((1, problem.n, problem.n))
    plain(*state.factors[0], c[0])
    return Result(c, state.seed)


def verify(problem: Problem, result: Result) -> list[Check]:
    """Largest difference from NumPy's product, which is exact like ours: zero."""
    a, b = matrices(problem, result.seed)
    expected = a @ b
    off = [worst(c - expected) for c in result.c]
    return [Check.near(f"product of thread {thread} against NumPy", each, 0.0, 0.0) for thread, each in enumerate(off)]


def work(problem: Problem, threads: int = 1) -> Work:
    """One repeat: a whole product a thread, or one that they divide (``shared``); bytes: each matrix once."""
    matrix = 8 * problem.n**2
    one = Work(flops=2 * problem.n**3, bytes_read=2 * matrix, bytes_written=matrix)
    return one if problem.shared else one.times(threads)


PROOF = Proof({"n": 48, "binding": False}, each={"shared": (False, True)})
