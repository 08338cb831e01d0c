"""Compiler intrinsics for kernels that measure: barriers, opaque values, sums over whole cache lines.

A loop that is timed must be executed as often as it is written.  LLVM removes passes whose results
are overwritten, hoists loads that cannot have changed and folds chains of constants.  An empty
piece of assembly that claims to read and write memory (``barrier``) or a value (``opaque``) stops
that and adds no instruction.

Stores past the caches, and the fence after them, are those of ``vector``.
"""

import math
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


def _unknown(builder, value, register):
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
    register = "r" if value == types.uint64 else "x" if _X86 else "w"

    def codegen(context, builder, signature, args):
        return _unknown(builder, args[0], register)

    return value(value), codegen


#: 4-byte items of a cache line of 64 bytes, which is one vector here.
LINE_ITEMS = 16
_LINE = 64  # bytes of it


def turn_lines(step: int) -> int:
    """Cache lines that one turn of ``sum_lines`` with this step reads: at least four, and a whole number of steps."""
    period = step // math.gcd(step, LINE_ITEMS)
    return period * -(-4 // period)


def _lines_summed(step: int):
    """``sum_lines(a, n) -> uint32``: sum modulo 2³² of every ``step``-th of the first items of a uint32 array.

    It reads ``n`` turns of ``turn_lines(step)`` whole lines, each line into a sum of its own, in which the wanted
    items have fixed lanes; only these are added up at the end.  ``a`` is C-contiguous, ``n`` a uint64.  Written out
    because LLVM takes half that vector length on CPUs whose early models slowed their clock for it, and gathers or
    loads item by item where the step is not one.
    """
    lines = turn_lines(step)

    @intrinsic
    def sum_lines(typingctx, array, turns):
        if not (isinstance(array, types.Array) and array.dtype == types.uint32 and array.layout == "C"):
            return None
        if turns != types.uint64:
            return None

        def codegen(context, builder, signature, args):
            word, long = ir.IntType(32), ir.IntType(64)
            vector = ir.VectorType(word, LINE_ITEMS)
            data = cgutils.create_struct_proxy(array)(context, builder, args[0]).data
            start = builder.bitcast(data, ir.IntType(8).as_pointer())
            sums = [cgutils.alloca_once(builder, vector) for _ in range(lines)]
            for slot in sums:
                builder.store(ir.Constant(vector, [0] * LINE_ITEMS), slot)
            place = cgutils.alloca_once_value(builder, ir.Constant(long, 0))
            end = builder.mul(args[1], ir.Constant(long, _LINE * lines))
            again, turn, done = (builder.append_basic_block(name) for name in ("again", "turn", "done"))
            builder.branch(again)
            builder.position_at_end(again)
            base = _unknown(builder, builder.load(place), "r")  # or LLVM unrolls, which was 5 % slower in the caches
            builder.cbranch(builder.icmp_unsigned("<", base, end), turn, done)
            builder.position_at_end(turn)
            for line, slot in enumerate(sums):
                place_of_line = builder.gep(start, [builder.add(base, ir.Constant(long, _LINE * line))])
                loaded = builder.load(builder.bitcast(place_of_line, vector.as_pointer()))
                loaded.align = 4
                builder.store(builder.add(builder.load(slot), loaded), slot)
            builder.store(builder.add(base, ir.Constant(long, _LINE * lines)), place)
            builder.branch(again)
            builder.position_at_end(done)
            wanted = [[(LINE_ITEMS * line + lane) % step == 0 for lane in range(LINE_ITEMS)] for line in range(lines)]
            both = ir.Constant(vector, [0] * LINE_ITEMS)
            for slot, lanes in zip(sums, wanted, strict=True):
                mask = ir.Constant(vector, [2**32 - 1 if lane else 0 for lane in lanes])
                both = builder.add(both, builder.and_(builder.load(slot), mask))
            kind = ir.FunctionType(word, [vector])
            reduce = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.add.v{LINE_ITEMS}i32")
            return builder.call(reduce, [both])

        return types.uint32(array, turns), codegen

    return sum_lines


sum_lines_1, sum_lines_2, sum_lines_3, sum_lines_4 = (_lines_summed(step) for step in (1, 2, 3, 4))
sum_lines_5, sum_lines_6, sum_lines_7, sum_lines_8 = (_lines_summed(step) for step in (5, 6, 7, 8))
