"""Compiler intrinsics for kernels that measure: barriers, opaque values, non-temporal stores.

A loop that is timed must be executed as often as it is written.  LLVM removes passes whose results
are overwritten, hoists loads that cannot have changed and folds chains of constants.  An empty
piece of assembly that claims to read and write memory (``barrier``) or a value (``opaque``) stops
that and adds no instruction.

Non-temporal stores write whole cache lines without reading them first (no write-allocate), which
is what STREAM-like kernels gain from on data larger than the caches.
"""

import platform

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_MACHINE = platform.machine().lower()
_X86 = _MACHINE in ("x86_64", "amd64")
_ARM = _MACHINE in ("aarch64", "arm64")

#: Doubles in one non-temporal block: a cache line of 64 bytes.
LANES = 8


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


@intrinsic
def store_fence(typingctx):
    """``store_fence()``: non-temporal stores before it are visible to every CPU after it."""

    def codegen(context, builder, signature, args):
        if _X86:
            builder.call(
                builder.module.declare_intrinsic("llvm.x86.sse.sfence", fnty=ir.FunctionType(ir.VoidType(), [])), []
            )
        else:
            builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), codegen


def _block_of(context, builder, kind, value, index, vector):
    """Pointer to the cache line that begins at item ``index`` of an array."""
    data = cgutils.create_struct_proxy(kind)(context, builder, value).data
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


def _is_block_array(kind) -> bool:
    return isinstance(kind, types.Array) and kind.dtype == types.float64 and kind.layout == "C"


@intrinsic
def stream_block(typingctx, target, left, right, scale, index):
    """``stream_block(t, x, y, s, i)``: t[i:i+8] = x[i:i+8] + s · y[i:i+8], stored non-temporally.

    All are C-contiguous float64 arrays whose item ``i`` begins a cache line of 64 bytes (the caller
    answers for that), ``i`` a uint64.  Where ``y`` is None the block is s · x, and where ``s`` is
    None there is no factor, so that copy, scale, add and triad are one intrinsic.
    """
    has_right, has_scale = right != types.none, scale != types.none
    if not all(map(_is_block_array, (target, left, right) if has_right else (target, left))):
        return None
    signature = types.void(target, left, right, scale if not has_scale else types.float64, types.uint64)

    def codegen(context, builder, signature, args):
        vector = ir.VectorType(ir.DoubleType(), LANES)

        def load(kind, value):
            instruction = builder.load(_block_of(context, builder, kind, value, args[4], vector))
            instruction.align = 64
            return instruction

        value = load(left, args[1])
        other = load(right, args[2]) if has_right else None
        if has_scale:
            lane = builder.insert_element(ir.Constant(vector, ir.Undefined), args[3], ir.Constant(ir.IntType(32), 0))
            mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
            factor = builder.shuffle_vector(lane, ir.Constant(vector, ir.Undefined), mask)
            if has_right:
                # A product and a sum, fused as the C compilers fuse them.
                other = builder.fmul(other, factor, flags=("contract",))
            else:
                value = builder.fmul(value, factor)
        if has_right:
            value = builder.fadd(value, other, flags=("contract",))
        store = builder.store(value, _block_of(context, builder, target, args[0], args[4], vector), align=64)
        store.set_metadata("nontemporal", builder.module.add_metadata([ir.Constant(ir.IntType(32), 1)]))
        return context.get_dummy_value()

    return signature, codegen
