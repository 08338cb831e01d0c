"""What the floating-point units of this machine can do: independent chains of multiply-adds.

Every chain repeats ``x ← a x + b`` on a vector of doubles that stays in a register.  One chain waits
for itself; with at least (latency × units) of them every unit starts a multiply-add in every period,
and nothing else happens: no load, no store, a branch for each round of all chains.  The rate is the
measured peak that fractions of peak refer to.  Where threads share power or a core, it falls with
their number, so it is measured with as many threads as what is held against it.

The vector is as long as the registers that code is made for (``kernels.runtime.jit``).  On AArch64 a vector
multiply-add overwrites its summand, and the chain above would copy registers as often as it multiplies; there every
chain repeats ``x ← x + a b``.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, real, whole, worst
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, HERE, barrier, kernel
from supercomputers_rerun.kernels.runtime.resources import require_memory, run_team, team_cpus
from supercomputers_rerun.kernels.runtime.vector import call, pointer, repeated

__all__ = ["CHAINS", "LANES", "PROOF", "Problem", "Result", "State", "footprint", "plain", "reference", "run"]
__all__ += ["setup", "verify", "work"]

#: Doubles of one chain, and number of chains.
LANES, CHAINS = HERE.lanes, HERE.chains


@dataclass(frozen=True)
class Problem(Presets):
    """Length of the chains: presets ``quick``, ``paper``, ``modern``; ``ValueError`` for a field outside its range."""

    n: whole(1, 2**40) = 2**18  # multiply-adds of each chain
    a: real(-1.0, 1.0) = 1.0  # factor: 1 counts the steps exactly
    b: real(-1e3, 1e3) = 1.0  # summand

    PRESETS: ClassVar = {"quick": {}, "paper": {"n": 2**22}, "modern": {"n": 2**24}}


@kernel(fastmath=CONTRACT)
def plain(x, a, b, n, sums):
    """``n`` steps of every chain, as one writes them: ``x ← a x + b``, or ``x ← x + a b`` for ``sums``."""
    for _ in range(n):
        for i in range(x.size):
            x[i] = x[i] + a * b if sums else a * x[i] + b


@intrinsic
def _chains(typingctx, start, a, b, n, out):
    """``out[:] = x`` after ``n`` steps of all chains from ``start``.  numba's code for ``plain`` keeps no chain in a
    register."""
    vector, long = ir.VectorType(ir.DoubleType(), LANES), ir.IntType(64)

    def code(context, builder, signature, args):
        def places(number):
            first = pointer(context, builder, signature.args[number], args[number])
            first = builder.bitcast(first, vector.as_pointer())
            return [builder.gep(first, [ir.Constant(long, k)]) for k in range(CHAINS)]

        a, b = (repeated(builder, value, LANES) for value in args[1:3])
        slots = [cgutils.alloca_once_value(builder, builder.load(place, align=8)) for place in places(0)]
        with cgutils.for_range(builder, args[3]):
            for slot in slots:
                x = builder.load(slot)
                # fused where the processor can, else a product and a sum
                builder.store(call(builder, "fmuladd", a, *((b, x) if HERE.sums else (x, b))), slot)
        for slot, place in zip(slots, places(4), strict=True):
            builder.store(builder.load(slot), place, align=8)
        return context.get_dummy_value()

    return types.void(start, types.float64, types.float64, types.intp, out), code


@kernel
def chains_loop(start, a, b, n, passes, out):
    """``passes`` times ``n`` steps of all chains with ``a`` and ``b`` from ``start`` into ``out``, float64 (CHAINS ·
    LANES,)."""
    for _ in range(passes):
        _chains(start, a, b, n, out)
        barrier(out)


@dataclass
class State:
    """First values of the chains, float64 (CHAINS · LANES,): all different."""

    start: np.ndarray


@dataclass(frozen=True)
class Result:
    """What the chains held at the end."""

    last: np.ndarray  # (threads, CHAINS · LANES) float64


def footprint(problem: Problem) -> Footprint:
    """First and last values of the chains; a cache line or three."""
    return Footprint(2 * 8 * CHAINS * LANES, each_thread=8 * CHAINS * LANES)


def setup(problem: Problem, seed: int = 0) -> State:
    """Chains start from 0, 1, 2, … (the seed is not used)."""
    require_memory(footprint(problem).memory, "peak: the values of the chains")
    return State(np.arange(float(CHAINS * LANES)))


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """Every thread runs all chains ``repeats`` times, each time from their first values."""
    cpus, out = team_cpus(threads), np.zeros((threads, CHAINS * LANES))

    def work(thread: int) -> None:
        chains_loop(state.start, problem.a, problem.b, problem.n, repeats, out[thread])

    run_team(work, threads, cpus)
    return Result(out)


def reference(problem: Problem, state: State) -> Result:
    """The same by the plain loop."""
    last = state.start.copy()
    plain(last, problem.a, problem.b, problem.n, HERE.sums)
    return Result(last[None])


def verify(problem: Problem, result: Result) -> list[Check]:
    """Largest difference from the closed form, ``aⁿ x + b (aⁿ - 1) / (a - 1)``, or ``x + n a b`` for ``a = 1`` and for
    sums: none for ``a = 1``, where whole numbers count the steps."""
    a, b, n, start = problem.a, problem.b, problem.n, setup(problem).start
    counted = a == 1.0 or HERE.sums
    expected = start + n * (a * b) if counted else a**n * start + b * (a**n - 1.0) / (a - 1.0)
    size = 0.0 if a == 1.0 and b == int(b) else 1e-13 * n * worst(1.0, expected)
    off = [worst(row - expected) for row in result.last]
    return [Check.near(f"chains of thread {n} against the closed form", each, 0.0, size) for n, each in enumerate(off)]


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations of all threads, each with chains of its own; nothing is read or written on the way."""
    return Work(flops=2 * CHAINS * LANES * problem.n).times(threads)


#: With a = b = 1 a step of n counts as n steps; with a = 1/2 it does not.
PROOF = Proof({"n": 1000}, each={"a": (1.0, 0.5)})
