"""Exchange between pairs of ranks against message size (P4: the lost plots of 2006).

Rank r of the first half and rank r + ranks/2 send each other a message of the same size at the same
time.  A batch system that fills one node after the other puts the halves on different nodes; on one
machine the messages go through its memory.  The bandwidth of a rank is bytes sent / time; as many bytes
arrive meanwhile.

A compiled loop calls the library's own function at its address: mpi4py (:func:`plain`) would add to each call as much
as a short message takes.
"""

import ctypes
import functools
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernels.contract import Check, Footprint, Presets, Work, whole
from kernels.mpi import world
from kernels.runtime.jit import kernel
from kernels.runtime.pages import allocate
from kernels.runtime.resources import require_memory
from kernels.runtime.vector import pointer

__all__ = ["NO_OUTPUT", "SIZES", "Problem", "State", "footprint", "plain", "reference", "run", "setup", "verify"]
__all__ += ["work"]

#: Message sizes of a curve, bytes.
SIZES = {
    "quick": tuple(8 * 8**n for n in range(7)),
    "paper": tuple(8 * 2**n for n in range(20)),
    "modern": tuple(8 * 2**n for n in range(23)),
}


@dataclass(frozen=True)
class Problem(Presets):
    """One message size for every pair at once."""

    bytes: whole(8, 2**30) = 65536  # of one message, a multiple of 8
    ranks: whole(1, world.LARGEST) = 2  # ranks that take part: two a pair

    PRESETS: ClassVar = {"quick": {}, "paper": {"bytes": 2**20}, "modern": {"bytes": 2**24}}

    def __post_init__(self):
        if self.bytes % 8:
            raise ValueError(f"bytes = {self.bytes} is no multiple of 8; take {self.bytes // 8 * 8}")
        if self.ranks % 2:
            raise ValueError(f"ranks = {self.ranks} cannot be paired; legal are the even numbers 2, 4, 6 …")


class State(NamedTuple):
    """Buffers of one rank."""

    comm: Any
    partner: int
    out: np.ndarray  # int64[words]
    into: np.ndarray


def message(rank: int, words: int) -> np.ndarray:
    """What a rank sends: every word of every rank is different."""
    return np.arange(words, dtype=np.int64) + (rank << 32)


def setup(problem: Problem, seed: int = 0) -> State:
    """Buffers with every page touched (``seed`` is not used)."""
    require_memory(footprint(problem).memory, f"{problem.ranks} ranks with messages of {problem.bytes} bytes")
    comm = world.team(problem.ranks)
    partner = (comm.rank + comm.size // 2) % comm.size
    out, into = (allocate(problem.bytes // 8, np.int64, "default") for _ in range(2))
    out[:], into[:] = message(comm.rank, problem.bytes // 8), -1
    return State(comm, partner, out, into)


def plain(state: State, repeats: int = 1) -> None:
    """``repeats`` exchanges of a rank with its partner, by mpi4py."""
    for _ in range(repeats):
        state.comm.Sendrecv(state.out, state.partner, recvbuf=state.into, source=state.partner)


@functools.cache
def _address(name: str) -> int:
    """Where the library that mpi4py has loaded has the function ``name``."""
    return ctypes.cast(getattr(ctypes.CDLL(world.mpi().__file__), name), ctypes.c_void_p).value


def _handle(of) -> np.integer:
    """A communicator or a type as the library has it: an int with a sign, or an address."""
    kind = np.int32 if world.mpi()._sizeof(of) == 4 else np.int64
    return np.array(world.mpi()._handleof(of) % 2**64, np.uint64).astype(kind)[()]


@intrinsic
def _call(typingctx, function, arguments):
    """The error code of the function at an address with a tuple of ``arguments``, of which arrays come as their
    addresses."""

    def code(context, builder, sig, args):
        function, packed = args
        values, first = cgutils.unpack_tuple(builder, packed), ir.Constant(ir.IntType(64), 0)
        values = [
            pointer(context, builder, kind, value, first) if isinstance(kind, types.Array) else value
            for kind, value in zip(sig.args[1], values, strict=True)
        ]
        called = ir.FunctionType(ir.IntType(32), [value.type for value in values])
        return builder.call(builder.inttoptr(function, called.as_pointer()), values)

    return types.int32(function, arguments), code


@kernel
def _exchanges(function, out, into, words, kind, partner, comm, status, repeats):
    """``repeats`` calls of ``function``, the address of ``MPI_Sendrecv``; the first error code, or 0 for success.

    ``out`` and ``into``: buffers of ``words`` words of the type ``kind``; ``status``: place of one.
    """
    tag = np.int32(0)
    for _ in range(repeats):
        error = _call(function, (out, words, kind, partner, tag, into, words, kind, partner, tag, comm, status))
        if error:
            return error
    return np.int32(0)


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> State:
    """``repeats`` exchanges; ``mpi4py.MPI.Exception`` with the library's words where one fails."""
    comm, partner, out, into = state
    status = np.zeros(world.mpi()._sizeof(world.mpi().Status), np.uint8)
    message = out, into, np.int32(out.size), _handle(world.mpi().INT64_T), np.int32(partner), _handle(comm)
    if error := _exchanges(_address("MPI_Sendrecv"), *message, status, repeats):
        raise world.mpi().Exception(error)
    return state


def reference(problem: Problem, state: State) -> State:
    """What every rank must hold afterwards, without sending anything."""
    return state._replace(into=message(state.partner, problem.bytes // 8))


def verify(problem: Problem, result: State) -> list[Check]:
    """Every word on every rank is the partner's."""
    wrong = int((result.into != message(result.partner, problem.bytes // 8)).sum())
    result.into[:] = -1  # the next exchange has to bring them again
    return [Check.near("words of all ranks that are not the partner's", world.total(result.comm, wrong), 0, 0)]


NO_OUTPUT = {"out": "what is sent"}


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes sent and received by all ranks in one exchange."""
    return Work(bytes_read=problem.ranks * problem.bytes, bytes_written=problem.ranks * problem.bytes)


def footprint(problem: Problem) -> Footprint:
    """Bytes of the buffers of all ranks."""
    return Footprint(2 * problem.ranks * problem.bytes)
