"""What a barrier costs threads that have nothing to wait for.

Each thread adds one to a counter that all share and then reads it until all have done so: the plainest barrier.  Its
price is that of handing a cache line from core to core.  Before it arrives a thread notes the number of the step in a
cache line of its own, and behind the barrier it reads the notes of all others: one who is behind was not waited for.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, whole
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.resources import require_memory, run_team, team_cpus

__all__ = ["PROOF", "Problem", "Result", "footprint", "plain", "reference", "run", "setup", "verify", "work"]

#: Words of 8 bytes between two that threads write: two cache lines, since some processors fetch them in pairs.
_APART = 16


@dataclass(frozen=True)
class Problem(Presets):
    """``n`` barriers, one right after the other. ``ValueError`` if a field is outside its range."""

    n: whole(1, 2**40) = 10_000  # barriers of one repeat

    PRESETS: ClassVar = {"quick": {}, "paper": {"n": 100_000}, "modern": {"n": 100_000}}


class Result(NamedTuple):
    """What each thread met."""

    passed: np.ndarray  # int64 (threads,): barriers that it passed, of all repeats
    early: np.ndarray  # int64 (threads,): times that it passed before another had arrived


def _word(builder, context, signature, args):
    """LLVM's address of ``words[i]``."""
    data = cgutils.create_struct_proxy(signature.args[0])(context, builder, args[0]).data
    return builder.gep(data, [args[1]])


@intrinsic
def _arrive(typingctx, words, i):
    """``words[i] += 1`` for all threads at once, and whatever this one stored before is seen by who sees it."""

    def code(context, builder, signature, args):
        builder.atomic_rmw("add", _word(builder, context, signature, args), ir.Constant(ir.IntType(64), 1), "seq_cst")
        return context.get_dummy_value()

    return types.void(words, types.intp), code


@intrinsic
def _seen(typingctx, words, i):
    """``words[i]`` as memory has it now."""

    def code(context, builder, signature, args):
        return builder.load_atomic(_word(builder, context, signature, args), "seq_cst", 8)

    return types.int64(words, types.intp), code


@kernel
def meet(words, number, team, steps):
    """Thread ``number`` of a ``team`` goes through ``steps`` barriers; how often another was behind.

    ``words``, int64 ((team + 1) * _APART,), zero at first: arrivals of all threads, and the step of each.
    """
    early = 0
    for step in range(1, steps + 1):
        words[(number + 1) * _APART] = step
        _arrive(words, 0)
        while _seen(words, 0) < step * team:
            pass
        for other in range(1, team + 1):
            early += _seen(words, other * _APART) < step
    return early


plain = meet  # it is as simple as it can be


def footprint(problem: Problem) -> Footprint:
    """The shared words of one thread, and of each further one."""
    return Footprint(2 * 8 * _APART, each_thread=8 * _APART)


def setup(problem: Problem, seed: int = 0) -> None:
    """Nothing: every run begins with words of its own (the seed is not used)."""
    require_memory(footprint(problem).memory, "the words of a barrier")


def run(problem: Problem, state: None, threads: int = 1, repeats: int = 1) -> Result:
    """``threads`` threads meet ``repeats · n`` times."""
    cpus, words, steps = team_cpus(threads), np.zeros((threads + 1) * _APART, np.int64), repeats * problem.n
    early = run_team(lambda number: int(meet(words, number, threads, steps)), threads, cpus)
    return Result(words[_APART::_APART].copy(), np.array(early, np.int64))


def reference(problem: Problem, state: None) -> Result:
    """One thread passes them all, and nobody is behind."""
    return Result(np.array([problem.n]), np.array([0]))


def verify(problem: Problem, result: Result) -> list[Check]:
    """All threads passed as many barriers, a whole number of repeats, and none before another had arrived."""
    checks = []
    for number, (passed, early) in enumerate(zip(result.passed, result.early, strict=True)):
        checks += [
            Check.near(f"barriers that thread {number} lacks", max(0, problem.n - passed), 0, 0),
            Check.near(f"barriers of thread {number} beyond whole repeats", passed % problem.n, 0, 0),
            Check.near(f"barriers that thread {number} passed too early", early, 0, 0),
        ]
    return checks


def work(problem: Problem, threads: int = 1) -> Work:
    """What every thread writes and reads at a barrier, the notes of itself alone among those it reads."""
    return Work(bytes_read=16 * problem.n, bytes_written=16 * problem.n).times(threads)


PROOF = Proof({"n": 1000})
