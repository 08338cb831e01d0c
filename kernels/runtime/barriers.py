"""Compiler intrinsics for kernels that measure: barriers, opaque values, a sum over whole cache lines.

A loop that is timed must be executed as often as it is written.  LLVM removes passes whose results
are overwritten, hoists loads that cannot have changed and folds chains of constants.  An empty
piece of assembly that claims to read and write memory (``barrier``) or a value (``opaque``) stops
that and adds no instruction.

Stores past the caches, and the fence after them, are those of ``vector``.
"""

import platform

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_MACHINE = platform.machine().lower()
_X86 = _MACHINE in ("x86_64", "amd64")
_ARM = _MACHINE in ("aarch64", "arm64")


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


@intrinsic
def opaque(typingctx, value):
    """``opaque(x) -> x`` for a float64 or uint64, with a value that the compiler does not know.

    Inside a loop it also keeps the loop from being vectorised.  On x86-64 and AArch64 the value
    stays in its register; elsewhere it takes a trip through memory.
    """
    if value not in (types.float64, types.uint64):
        return None
    register = "r" if value == types.uint64 else "x" if _X86 else "w"

    def codegen(context, builder, signature, args):
        if _X86 or _ARM:
            kind = ir.FunctionType(args[0].type, [args[0].type])
            return builder.asm(kind, "", f"={register},0", [args[0]], side_effect=False)
        slot = cgutils.alloca_once_value(builder, args[0])
        kind = ir.FunctionType(ir.VoidType(), [slot.type])
        builder.asm(kind, "", "r,~{memory}", [slot], side_effect=True)
        return builder.load(slot)

    return value(value), codegen


@intrinsic
def sum_lines(typingctx, array, blocks):
    """``sum_lines(a, n) -> uint32``: sum modulo 2³² of the first 32·n items of a uint32 array.

    Two vector sums of 64 bytes; ``a`` is C-contiguous, ``n`` a uint64.  Written out because LLVM
    takes half that vector length on CPUs whose early models slowed their clock for it.
    """
    if not (isinstance(array, types.Array) and array.dtype == types.uint32 and array.layout == "C"):
        return None
    if blocks != types.uint64:
        return None

    def codegen(context, builder, signature, args):
        word, long = ir.IntType(32), ir.IntType(64)
        vector = ir.VectorType(word, 16)
        data = cgutils.create_struct_proxy(array)(context, builder, args[0]).data
        start = builder.bitcast(data, vector.as_pointer())
        sums = [cgutils.alloca_once(builder, vector) for _ in range(2)]
        for slot in sums:
            builder.store(ir.Constant(vector, [0] * 16), slot)
        with cgutils.for_range(builder, args[1], intp=long) as loop:
            base = builder.mul(loop.index, ir.Constant(long, 2))
            for lane, slot in enumerate(sums):
                loaded = builder.load(builder.gep(start, [builder.add(base, ir.Constant(long, lane))]))
                loaded.align = 4
                builder.store(builder.add(builder.load(slot), loaded), slot)
        both = builder.add(builder.load(sums[0]), builder.load(sums[1]))
        total = ir.Constant(word, 0)
        for lane in range(16):
            total = builder.add(total, builder.extract_element(both, ir.Constant(word, lane)))
        return total

    return types.uint32(array, blocks), codegen
