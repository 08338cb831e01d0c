"""The MPI library's own functions for compiled code, and copies as a C program makes them.

mpi4py adds to each call as much as a short message takes.  Here a function is called at its address; communicators and
types come as the library has them, as an int or as an address, and results are MPI's error codes, 0 for success.
"""

import ctypes
import functools
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernels.mpi import world
from kernels.runtime.jit import kernel
from kernels.runtime.vector import pointer


@functools.cache
def address_of(name: str) -> int:
    """Where the library that mpi4py has loaded has the function ``name``."""
    return ctypes.cast(getattr(ctypes.CDLL(world.mpi().__file__), name), ctypes.c_void_p).value


def handle(of) -> np.integer:
    """The handle of a communicator or a type: an int with a sign, or an address."""
    kind = np.int32 if world.mpi()._sizeof(of) == 4 else np.int64
    return np.array(world.mpi()._handleof(of) % 2**64, np.uint64).astype(kind)[()]


def require_success(error: int) -> None:
    """``mpi4py.MPI.Exception`` with the library's words unless ``error`` is 0."""
    if error:
        raise world.mpi().Exception(error)


@intrinsic
def call(typingctx, function, arguments):
    """The error code of the function at an address with a tuple of ``arguments``, of which arrays come as their
    addresses."""

    def code(context, builder, sig, args):
        function, packed = args
        values = cgutils.unpack_tuple(builder, packed)
        first = ir.Constant(ir.IntType(64), 0)
        values = [
            pointer(context, builder, kind, value, first) if isinstance(kind, types.Array) else value
            for kind, value in zip(sig.args[1], values, strict=True)
        ]
        called = ir.FunctionType(ir.IntType(32), [value.type for value in values])
        return builder.call(builder.inttoptr(function, called.as_pointer()), values)

    return types.int32(function, arguments), code


@intrinsic
def copy(typingctx, target, to, source, at, count):
    """``target[to + i] = source[at + i]`` for all i < ``count``, by memcpy; arrays of one type, seen as flat."""

    def code(context, builder, sig, args):
        places = (pointer(context, builder, sig.args[n], args[n], args[n + 1]) for n in (0, 2))
        size = context.get_abi_sizeof(context.get_value_type(target.dtype))
        cgutils.raw_memcpy(builder, *places, args[4], size)
        return context.get_dummy_value()

    if isinstance(target, types.Array) and isinstance(source, types.Array) and target.dtype == source.dtype:
        return types.void(target, types.intp, source, types.intp, types.intp), code
    return None


class Collective(NamedTuple):
    """``MPI_Alltoallv`` with counts that stay."""

    function: int
    comm: np.integer
    kind: np.integer  # the type of a number
    send_counts: np.ndarray  # int32 (ranks,), as MPI takes them
    send_starts: np.ndarray
    receive_counts: np.ndarray
    receive_starts: np.ndarray


@kernel
def all_to_all(plan, send, receive):
    """The error code of the ``Collective`` ``plan`` from ``send`` to ``receive``."""
    sent, got = (plan.send_counts, plan.send_starts), (plan.receive_counts, plan.receive_starts)
    return call(plan.function, (send, sent[0], sent[1], plan.kind, receive, got[0], got[1], plan.kind, plan.comm))
