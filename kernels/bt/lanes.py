"""``Vector``: eight float64 in one value, so that eight lines are solved by one instruction stream.

Inside compiled code ``+ - * /`` and unary ``-`` work on vectors lane by lane, ``load`` and
``store`` move them, ``spread`` copies a number into all lanes.  LLVM turns a vector into one
512-bit register where the processor has them, into two or four smaller ones elsewhere.  Left to
its own vectoriser, it takes half the width on processors whose tuning prefers 256 bits, and none
at all on loop bodies as long as an elimination step.

Offsets are uint64 counts of doubles; nothing checks them, as in any compiled kernel.
"""

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

LANES = 8

_DOUBLE, _INT = ir.DoubleType(), ir.IntType(32)
_VECTOR = ir.VectorType(_DOUBLE, LANES)


class _VectorType(types.Type):
    def __init__(self):
        super().__init__(name=f"BtVector{LANES}")


Vector = _VectorType()


@register_model(_VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, _VECTOR)


def _binary(function, build):
    @infer_global(function)
    class _Typing(ConcreteTemplate):
        cases = [signature(Vector, Vector, Vector)]

    @lower_builtin(function, Vector, Vector)
    def _lower(context, builder, sig, args):
        return getattr(builder, build)(*args)


_binary(operator.add, "fadd")
_binary(operator.sub, "fsub")
_binary(operator.mul, "fmul")
_binary(operator.truediv, "fdiv")


@infer_global(operator.neg)
class _NegativeTyping(ConcreteTemplate):
    cases = [signature(Vector, Vector)]


@lower_builtin(operator.neg, Vector)
def _lower_negative(context, builder, sig, args):
    return builder.fneg(args[0])


def _pointer(context, builder, kind, array, offset):
    data = cgutils.create_struct_proxy(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), _VECTOR.as_pointer())


@intrinsic
def load(typingctx, array, offset):
    """``load(a, o)``: the vector a[o:o+8]."""
    def codegen(context, builder, sig, args):
        return builder.load(_pointer(context, builder, array, *args), align=8)

    return Vector(array, types.uint64), codegen


@intrinsic
def store(typingctx, array, offset, value):
    """``store(a, o, v)``: a[o:o+8] = v."""
    def codegen(context, builder, sig, args):
        builder.store(args[2], _pointer(context, builder, array, args[0], args[1]), align=8)
        return context.get_dummy_value()

    return types.void(array, types.uint64, Vector), codegen


@intrinsic
def spread(typingctx, number):
    """``spread(x)``: x in all lanes."""
    def codegen(context, builder, sig, args):
        undefined = ir.Constant(_VECTOR, ir.Undefined)
        first = builder.insert_element(undefined, args[0], ir.Constant(_INT, 0))
        return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_INT, LANES), [0] * LANES))

    return Vector(types.float64), codegen


@intrinsic
def prefetch(typingctx, array, offset):
    """``prefetch(a, o)``: ask for the cache line of a[o]; never faults."""
    def codegen(context, builder, sig, args):
        pointer = builder.bitcast(_pointer(context, builder, array, *args), ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, _INT, _INT, _INT])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        # read, into the second-level cache, data
        builder.call(function, [pointer, ir.Constant(_INT, 0), ir.Constant(_INT, 2), ir.Constant(_INT, 1)])
        return context.get_dummy_value()

    return types.void(array, types.uint64), codegen


@intrinsic
def transpose(typingctx, source, start, rows, target, place, columns):
    """Write the 8×8 block source[start + r·rows + c] to target[place + c·columns + r].

    Three stages of exchanges: of neighbours, of pairs, of halves.
    """
    def codegen(context, builder, sig, args):
        source_, start_, rows_, target_, place_, columns_ = args

        def line(kind, array, base, stride, number):
            offset = builder.add(base, builder.mul(stride, ir.Constant(stride.type, number)))
            return _pointer(context, builder, kind, array, offset)

        block = [builder.load(line(source, source_, start_, rows_, n), align=8) for n in range(LANES)]
        for distance in (1, 2, 4):
            low = [lane if not lane & distance else lane - distance + LANES for lane in range(LANES)]
            high = [lane + distance if not lane & distance else lane + LANES for lane in range(LANES)]
            for n in range(LANES):
                if not n & distance:
                    pair = block[n], block[n + distance]
                    for to, mask in ((n, low), (n + distance, high)):
                        pattern = ir.Constant(ir.VectorType(_INT, LANES), mask)
                        block[to] = builder.shuffle_vector(*pair, pattern)
        for n in range(LANES):
            builder.store(block[n], line(target, target_, place_, columns_, n), align=8)
        return context.get_dummy_value()

    return types.void(source, types.uint64, types.uint64, target, types.uint64, types.uint64), codegen
