"""Eight doubles as one value: the vector type of the Legendre and Fourier micro-kernels.

LLVM's vectorisers do not keep 24 accumulators of eight doubles in registers; a type that *is*
``<8 x double>`` leaves them no choice.  On a CPU with 256-bit registers LLVM splits each value in
two, so the code runs everywhere and is fast where registers hold 512 bits.

Offsets count doubles from the first element of a C-contiguous float64 array, or from its ``address``;
nothing is checked.  Kernels called many thousand times pass addresses: numba counts the references to
an array with locked instructions in every function that uses it in more than one branch.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model

LANES = 8

_double = ir.DoubleType()
_vector = ir.VectorType(_double, LANES)
_i32 = ir.IntType(32)


class _Vec8(types.Type):
    def __init__(self):
        super().__init__(name="Vec8")


vec8 = _Vec8()


@register_model(_Vec8)
class _Vec8Model(models.PrimitiveModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, _vector)


def _address(context, builder, kind, array, offset):
    data = array
    if isinstance(kind, types.Array):
        data = cgutils.create_struct_proxy(kind)(context, builder, array).data
    return builder.gep(data, [offset])


def _as_vector(builder, pointer):
    return builder.bitcast(pointer, _vector.as_pointer())


def _splat(builder, scalar):
    one = builder.insert_element(ir.Constant(_vector, ir.Undefined), scalar, ir.Constant(_i32, 0))
    mask = ir.Constant(ir.VectorType(_i32, LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(_vector, ir.Undefined), mask)


def _fma(builder, a, b, c):
    kind = a.type
    suffix = "v8f64" if isinstance(kind, ir.VectorType) else "f64"
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(kind, [kind] * 3), f"llvm.fma.{suffix}")
    return builder.call(function, [a, b, c])


@intrinsic
def load(typingctx, array, offset):
    """Eight consecutive doubles."""
    def code(context, builder, signature, args):
        pointer = _address(context, builder, signature.args[0], *args)
        return builder.load(_as_vector(builder, pointer), align=8)
    return vec8(array, types.intp), code


@intrinsic
def store(typingctx, array, offset, value):
    """Write eight consecutive doubles."""
    def code(context, builder, signature, args):
        pointer = _address(context, builder, signature.args[0], args[0], args[1])
        builder.store(args[2], _as_vector(builder, pointer), align=8)
        return context.get_dummy_value()
    return types.void(array, types.intp, vec8), code


@intrinsic
def stream(typingctx, array, offset, value):
    """Write eight consecutive doubles past the caches; the address must be a multiple of 64."""
    def code(context, builder, signature, args):
        pointer = _address(context, builder, signature.args[0], args[0], args[1])
        written = builder.store(args[2], _as_vector(builder, pointer), align=64)
        one = builder.module.add_metadata([ir.Constant(_i32, 1)])
        written.set_metadata("nontemporal", one)
        return context.get_dummy_value()
    return types.void(array, types.intp, vec8), code


@intrinsic
def fence(typingctx):
    """Make streamed stores visible to every thread."""
    def code(context, builder, signature, args):
        builder.fence("seq_cst")
        return context.get_dummy_value()
    return types.void(), code


@intrinsic
def prefetch(typingctx, array, offset):
    """Ask for the cache line of one element, into the second-level cache; any offset is allowed."""
    def code(context, builder, signature, args):
        pointer = _address(context, builder, signature.args[0], *args)
        byte = ir.IntType(8).as_pointer()
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, _i32, _i32, _i32]), "llvm.prefetch.p0i8")
        read, second, data = (ir.Constant(_i32, value) for value in (0, 2, 1))
        builder.call(function, [builder.bitcast(pointer, byte), read, second, data])
        return context.get_dummy_value()
    return types.void(array, types.intp), code


@intrinsic
def spread(typingctx, array, offset):
    """One double of an array in all eight lanes."""
    def code(context, builder, signature, args):
        pointer = _address(context, builder, signature.args[0], *args)
        return _splat(builder, builder.load(pointer))
    return vec8(array, types.intp), code


@intrinsic
def splat(typingctx, value):
    """One double in all eight lanes."""
    def code(context, builder, signature, args):
        return _splat(builder, args[0])
    return vec8(types.float64), code


@intrinsic
def fma(typingctx, a, b, c):
    """``a b + c`` with one rounding, for vectors and for scalars."""
    kind = vec8 if isinstance(a, _Vec8) else types.float64
    def code(context, builder, signature, args):
        return _fma(builder, *args)
    return kind(kind, kind, kind), code


@intrinsic
def fms(typingctx, a, b, c):
    """``a b - c`` with one rounding, for vectors and for scalars."""
    kind = vec8 if isinstance(a, _Vec8) else types.float64
    def code(context, builder, signature, args):
        return _fma(builder, args[0], args[1], builder.fneg(args[2]))
    return kind(kind, kind, kind), code


@intrinsic
def fnma(typingctx, a, b, c):
    """``c - a b`` with one rounding, for vectors and for scalars."""
    kind = vec8 if isinstance(a, _Vec8) else types.float64
    def code(context, builder, signature, args):
        return _fma(builder, builder.fneg(args[0]), args[1], args[2])
    return kind(kind, kind, kind), code


@intrinsic
def add(typingctx, a, b):
    """Lane by lane ``a + b``."""
    def code(context, builder, signature, args):
        return builder.fadd(*args)
    return vec8(vec8, vec8), code


@intrinsic
def sub(typingctx, a, b):
    """Lane by lane ``a - b``."""
    def code(context, builder, signature, args):
        return builder.fsub(*args)
    return vec8(vec8, vec8), code


@intrinsic
def mul(typingctx, a, b):
    """Lane by lane ``a b``."""
    def code(context, builder, signature, args):
        return builder.fmul(*args)
    return vec8(vec8, vec8), code


@intrinsic
def total(typingctx, a):
    """Sum of the eight lanes, by halves."""
    def code(context, builder, signature, args):
        value = args[0]
        undefined = ir.Constant(_vector, ir.Undefined)
        for width in (4, 2, 1):
            mask = ir.Constant(ir.VectorType(_i32, LANES),
                               [(lane + width) % LANES for lane in range(LANES)])
            value = builder.fadd(value, builder.shuffle_vector(value, undefined, mask))
        return builder.extract_element(value, ir.Constant(_i32, 0))
    return types.float64(vec8), code


def _shuffle(pattern):
    @intrinsic
    def shuffle(typingctx, a, b):
        def code(context, builder, signature, args):
            mask = ir.Constant(ir.VectorType(_i32, LANES), list(pattern))
            return builder.shuffle_vector(args[0], args[1], mask)
        return vec8(vec8, vec8), code
    return shuffle


#: Three butterfly stages of an 8×8 transposition: neighbours, pairs, halves.
low1 = _shuffle((0, 8, 2, 10, 4, 12, 6, 14))
high1 = _shuffle((1, 9, 3, 11, 5, 13, 7, 15))
low2 = _shuffle((0, 1, 8, 9, 4, 5, 12, 13))
high2 = _shuffle((2, 3, 10, 11, 6, 7, 14, 15))
low4 = _shuffle((0, 1, 2, 3, 8, 9, 10, 11))
high4 = _shuffle((4, 5, 6, 7, 12, 13, 14, 15))
#: Two successive doubles of each of two vectors, each twice: ``a0 a0 b0 b0 a1 a1 b1 b1`` and so on.
pairs0 = _shuffle((0, 0, 8, 8, 1, 1, 9, 9))
pairs1 = _shuffle((2, 2, 10, 10, 3, 3, 11, 11))
pairs2 = _shuffle((4, 4, 12, 12, 5, 5, 13, 13))
pairs3 = _shuffle((6, 6, 14, 14, 7, 7, 15, 15))


@intrinsic
def address(typingctx, array):
    """Pointer to the first element; the array must outlive it."""
    def code(context, builder, signature, args):
        return cgutils.create_struct_proxy(signature.args[0])(context, builder, args[0]).data
    return types.CPointer(array.dtype)(array), code


@intrinsic
def at(typingctx, pointer, offset):
    """One element behind an ``address``."""
    def code(context, builder, signature, args):
        return builder.load(builder.gep(args[0], [args[1]]))
    return pointer.dtype(pointer, types.intp), code


@intrinsic
def put(typingctx, pointer, offset, value):
    """Write one element behind an ``address``."""
    def code(context, builder, signature, args):
        builder.store(args[2], builder.gep(args[0], [args[1]]))
        return context.get_dummy_value()
    return types.void(pointer, types.intp, pointer.dtype), code


@intrinsic
def distance(typingctx, pointer, origin):
    """Offset of one ``address`` from another, in elements."""
    def code(context, builder, signature, args):
        i64 = ir.IntType(64)
        bytes_ = builder.sub(builder.ptrtoint(args[0], i64), builder.ptrtoint(args[1], i64))
        return builder.sdiv(bytes_, ir.Constant(i64, 8))
    return types.int64(pointer, origin), code


@intrinsic
def store_some(typingctx, pointer, offset, value, active):
    """Write those of eight doubles whose bit in ``active`` is set."""
    def code(context, builder, signature, args):
        target = _as_vector(builder, builder.gep(args[0], [args[1]]))
        bits = builder.bitcast(builder.trunc(args[3], ir.IntType(8)), ir.VectorType(ir.IntType(1), LANES))
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [_vector, target.type, _i32, bits.type]),
            "llvm.masked.store.v8f64.p0v8f64")
        builder.call(function, [args[2], target, ir.Constant(_i32, 8), bits])
        return context.get_dummy_value()
    return types.void(pointer, types.intp, vec8, types.int64), code
