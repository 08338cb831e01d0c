"""Exchange between pairs of ranks against message size (P4: the lost plots of 2006).

Rank r of the first half and rank r + ranks/2 send each other a message of the same size at the same time.  A batch
system that fills one node after the other puts the halves on different nodes; on one machine the messages go through
its memory.  The bandwidth of a rank is bytes sent / time; as many bytes arrive meanwhile.

A compiled loop calls the library's own function: mpi4py (:func:`plain`) would add to each call as much as a short
message takes.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from llvmlite import binding
from numba import types

from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, whole
from supercomputers_rerun.kernels.mpi import world
from supercomputers_rerun.kernels.runtime.arrays import allocate
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.resources import require_memory

__all__ = ["SIZES", "Problem", "State", "footprint", "plain", "reference", "run", "setup", "verify", "work"]

#: Communicators and types are an int or an address, by the library: as a word of 64 bits both arrive.
_ARGUMENTS = "uintp int32 uint64 int32 int32 uintp int32 uint64 int32 int32 uint64 uintp"
_sendrecv = types.ExternalFunction("MPI_Sendrecv", types.int32(*(getattr(types, name) for name in _ARGUMENTS.split())))

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
    binding.load_library_permanently(world.mpi().__file__)  # where compiled code finds the library's functions
    partner = (comm.rank + comm.size // 2) % comm.size
    out, into = (allocate(problem.bytes // 8, np.int64, "default") for _ in range(2))
    out[:], into[:] = message(comm.rank, problem.bytes // 8), -1
    return State(comm, partner, out, into)


def plain(state: State, repeats: int = 1) -> None:
    """``repeats`` exchanges of a rank with its partner, by mpi4py."""
    for _ in range(repeats):
        state.comm.Sendrecv(state.out, state.partner, recvbuf=state.into, source=state.partner)


@kernel
def _exchanges(out, into, words, kind, partner, comm, status, repeats):
    """``repeats`` calls of ``MPI_Sendrecv``; the first error code, or 0 for success.

    ``out``, ``into``: addresses of ``words`` words of the type ``kind``; ``status``: address of a place for one.
    """
    tag = np.int32(0)
    for _ in range(repeats):
        error = _sendrecv(out, words, kind, partner, tag, into, words, kind, partner, tag, comm, status)
        if error:
            return error
    return np.int32(0)


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> State:
    """``repeats`` exchanges; ``mpi4py.MPI.Exception`` with the library's words where one fails."""
    MPI, status = world.mpi(), np.zeros(world.mpi()._sizeof(world.mpi().Status), np.uint8)
    out, into, place = (np.uint64(array.ctypes.data) for array in (state.out, state.into, status))
    kind, comm = (np.uint64(MPI._handleof(each) % 2**64) for each in (MPI.INT64_T, state.comm))
    if error := _exchanges(out, into, np.int32(state.out.size), kind, np.int32(state.partner), comm, place, repeats):
        raise MPI.Exception(error)
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
