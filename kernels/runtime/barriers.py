"""Compiler intrinsics for kernels that measure: barriers, opaque values and a clock.

A loop that is timed must be executed as often as it is written.  LLVM removes passes whose results
are overwritten, hoists loads that cannot have changed and folds chains of constants.  An empty
piece of assembly that claims to read and write memory (``barrier``) or a value (``opaque``) stops
that and adds no instruction.

Stores past the caches, and the fence after them, are those of ``vector``.
"""

import platform
import time

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernels.runtime.target import WASM

_MACHINE = platform.machine().lower()
_X86 = _MACHINE in ("x86_64", "amd64")
_ARM = _MACHINE in ("aarch64", "arm64")
# None: without this clock, where every time is zero
_CLOCK = None if WASM else getattr(time, "CLOCK_MONOTONIC", None)
#: The constraint that names a register of float64.
REGISTER = "x" if _X86 else "w"


@intrinsic
def barrier(typingctx, array):
    """``barrier(array)``: whatever was stored is stored here, and is read again after here."""
    if not isinstance(array, types.Array):
        return None

    def codegen(context, builder, signature, args):
        pointer = cgutils.create_struct_proxy(array)(context, builder, args[0]).data
        kind = ir.FunctionType(ir.VoidType(), [pointer.type])
        builder.asm(kind, "", "r,~{memory}", [pointer], side_effect=True)
        return context.get_dummy_value()

    return types.void(array), codegen


def unknown(builder, value, register):
    """The LLVM ``value``, of which the compiler knows no more than its type."""
    if _X86 or _ARM:
        kind = ir.FunctionType(value.type, [value.type])
        return builder.asm(kind, "", f"={register},0", [value], side_effect=False)
    slot = cgutils.alloca_once_value(builder, value)
    kind = ir.FunctionType(ir.VoidType(), [slot.type])
    builder.asm(kind, "", "r,~{memory}", [slot], side_effect=True)
    return builder.load(slot)


@intrinsic
def opaque(typingctx, value):
    """``opaque(x) -> x`` for a float64 or uint64, with a value that the compiler does not know.

    Inside a loop it also keeps the loop from being vectorised.  On x86-64 and AArch64 the value
    stays in its register; elsewhere it takes a trip through memory.
    """
    if value not in (types.float64, types.uint64):
        return None
    register = "r" if value == types.uint64 else REGISTER

    def codegen(context, builder, signature, args):
        return unknown(builder, args[0], register)

    return value(value), codegen


@intrinsic
def monotonic(typingctx):
    """Seconds of the system's monotonic clock, float64; some twenty nanoseconds."""

    def codegen(context, builder, sig, args):
        double, long, word = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
        if _CLOCK is None:
            return ir.Constant(double, 0.0)
        place = cgutils.alloca_once(builder, ir.LiteralStructType([long, long]))
        kind = ir.FunctionType(word, [word, place.type])
        builder.call(
            cgutils.get_or_insert_function(builder.module, kind, "clock_gettime"), [ir.Constant(word, _CLOCK), place]
        )
        seconds, nanoseconds = (
            builder.sitofp(builder.load(builder.gep(place, [ir.Constant(word, 0), ir.Constant(word, k)])), double)
            for k in (0, 1)
        )
        return builder.fadd(seconds, builder.fmul(nanoseconds, ir.Constant(double, 1e-9)))

    return types.float64(), codegen
