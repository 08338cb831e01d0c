"""One number or eight: arithmetic that is written once and compiled for either width.

A routine is a function of *numbers*.  Called with ``SCALAR`` it works on one float64 after another,
called with ``VECTOR`` on eight at once, each operation one instruction on a processor with 512-bit
registers (LLVM splits it elsewhere).  The width is the type of an argument, so that one source gives
both builds and both do the same operations in the same order: results agree bit for bit, whatever
the width, and whatever lane of a vector a column falls into.

``+ - * /`` and unary ``-`` work on numbers, and on a vector with a float64.  Nothing is fused
unless ``fma`` says so.  Comparisons give a *mask*, a truth value for each lane; ``any_true`` turns
it into a branch, ``select`` into a choice.

Offsets count doubles from the first element of a C-contiguous float64 array; nothing checks them.
"""

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, overload, register_model

from kernels._asm import opaque

LANES = 8

#: Widths, passed to compiled functions: only the length counts.
SCALAR, VECTOR = (0,), (0,) * LANES
WIDTHS = {"scalar": SCALAR, "vector": VECTOR}

_DOUBLE, _LONG, _INT, _BIT = ir.DoubleType(), ir.IntType(64), ir.IntType(32), ir.IntType(1)
_VECTOR = ir.VectorType(_DOUBLE, LANES)


class _VectorType(types.Type):
    def __init__(self):
        super().__init__(name=f"Numbers{LANES}")


class _MaskType(types.Type):
    def __init__(self):
        super().__init__(name=f"Mask{LANES}")


Vector, Mask = _VectorType(), _MaskType()


@register_model(_VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, _VECTOR)


@register_model(_MaskType)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, ir.VectorType(_BIT, LANES))


def _like(kind, scalar):
    """LLVM type of ``scalar`` elements, as many as a number of ``kind`` has."""
    return ir.VectorType(scalar, LANES) if kind in (Vector, Mask) else scalar


def _constant(kind, scalar, value):
    return ir.Constant(_like(kind, scalar), [value] * LANES if kind in (Vector, Mask) else value)


def _widen(builder, kind, given, value):
    """``value``, repeated in all lanes if ``kind`` is the vector and it is a float64."""
    return value if given == kind else _spread(builder, value)


def _spread(builder, value):
    """A vector with ``value`` in all lanes."""
    undefined = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(_INT, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_INT, LANES), [0] * LANES))


def _common(*kinds):
    """The vector if any of ``kinds`` is, float64 if all are, None for anything else."""
    if not all(kind in (Vector, types.float64) for kind in kinds):
        return None
    return Vector if Vector in kinds else types.float64


def _binary(function, build):
    pairs = [(Vector, Vector), (Vector, types.float64), (types.float64, Vector)]

    @infer_global(function)
    class _Typing(ConcreteTemplate):
        cases = [signature(Vector, *pair) for pair in pairs]

    def _lower(context, builder, sig, args):
        left, right = (_widen(builder, Vector, *each) for each in zip(sig.args, args, strict=True))
        return getattr(builder, build)(left, right)

    for pair in pairs:
        lower_builtin(function, *pair)(_lower)


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


def _kind_of(width):
    return {1: types.float64, LANES: Vector}.get(getattr(width, "count", None))


def _pointer(context, builder, kind, array, offset):
    data = cgutils.create_struct_proxy(kind)(context, builder, array).data
    return builder.gep(data, [offset])


@intrinsic
def load(typingctx, array, offset, width):
    """``load(a, o, width)``: the number a[o], or the eight from there on."""
    kind = _kind_of(width)

    def codegen(context, builder, sig, args):
        pointer = _pointer(context, builder, array, *args[:2])
        return builder.load(builder.bitcast(pointer, _like(kind, _DOUBLE).as_pointer()), align=8)

    return kind(array, types.intp, width), codegen


@intrinsic
def store(typingctx, array, offset, value):
    """``store(a, o, v)``: a[o] = v, for one number or eight."""
    def codegen(context, builder, sig, args):
        pointer = _pointer(context, builder, array, args[0], args[1])
        builder.store(args[2], builder.bitcast(pointer, args[2].type.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), codegen


@intrinsic
def gather(typingctx, array, position, offset):
    """``gather(a, p, o)``: a[p + o] of every lane; p holds whole numbers, o is an integer."""
    def codegen(context, builder, sig, args):
        start = _pointer(context, builder, array, args[0], args[2])
        index = builder.fptosi(args[1], _like(position, _LONG))
        if position != Vector:
            return builder.load(builder.gep(start, [index]), align=8)
        first = _spread(builder, builder.ptrtoint(start, _LONG))
        bytes_ = builder.shl(index, _constant(Vector, _LONG, 3))
        places = builder.inttoptr(builder.add(bytes_, first), ir.VectorType(start.type, LANES))
        mask = ir.Constant(ir.VectorType(_BIT, LANES), [1] * LANES)
        kind = ir.FunctionType(_VECTOR, [places.type, _INT, mask.type, _VECTOR])
        function = cgutils.get_or_insert_function(
            builder.module, kind, f"llvm.masked.gather.v{LANES}f64.v{LANES}p0")
        nothing = ir.Constant(_VECTOR, ir.Undefined)
        return builder.call(function, [places, ir.Constant(_INT, 8), mask, nothing])

    return position(array, position, types.intp), codegen


@intrinsic
def wide(typingctx, value, x):
    """The float64 ``value``, in as many lanes as x has."""
    def codegen(context, builder, sig, args):
        return _widen(builder, x, types.float64, args[0]) if x == Vector else args[0]

    return x(types.float64, x), codegen


@intrinsic
def fma(typingctx, a, b, c):
    """a·b + c with one rounding."""
    given, kind = (a, b, c), _common(a, b, c)

    def codegen(context, builder, sig, args):
        values = [_widen(builder, kind, *each) for each in zip(given, args, strict=True)]
        suffix = f"v{LANES}f64" if kind == Vector else "f64"
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(values[0].type, [values[0].type] * 3), f"llvm.fma.{suffix}")
        return builder.call(function, values)

    return kind(*given), codegen


def _unary(name):
    @intrinsic
    def function(typingctx, x):
        kind = _common(x)

        def codegen(context, builder, sig, args):
            suffix = f"v{LANES}f64" if kind == Vector else "f64"
            called = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(args[0].type, [args[0].type]), f"llvm.{name}.{suffix}")
            return builder.call(called, args)

        return kind(x), codegen

    return function


root = _unary("sqrt")       #: square root, correctly rounded
floor = _unary("floor")     #: largest whole number not above


@intrinsic
def scale(typingctx, x, k):
    """x · 2ⁿ, where k = n + 1.5·2⁵² and |n| is small enough for a normal result."""
    kind = _common(x, k)

    def codegen(context, builder, sig, args):
        bits, power = (builder.bitcast(arg, _like(kind, _LONG)) for arg in args)
        shifted = builder.shl(power, _constant(kind, _LONG, 52))
        return builder.bitcast(builder.add(bits, shifted), args[0].type)

    return kind(x, k), codegen


@intrinsic
def less(typingctx, a, b):
    """The mask a < b."""
    given, kind = (a, b), _common(a, b)

    def codegen(context, builder, sig, args):
        values = [_widen(builder, kind, *each) for each in zip(given, args, strict=True)]
        return builder.fcmp_ordered("<", *values)

    return (Mask if kind == Vector else types.boolean)(a, b), codegen


@intrinsic
def both(typingctx, a, b):
    """The mask a and b."""
    def codegen(context, builder, sig, args):
        return builder.and_(*args)

    return a(a, b), codegen


@intrinsic
def any_true(typingctx, mask):
    """Is the mask true in any lane?"""
    def codegen(context, builder, sig, args):
        if mask != Mask:
            return args[0]
        lanes = builder.bitcast(args[0], ir.IntType(LANES))
        return builder.icmp_unsigned("!=", lanes, ir.Constant(ir.IntType(LANES), 0))

    return types.boolean(mask), codegen


@intrinsic
def select(typingctx, mask, a, b):
    """a where the mask is true, b elsewhere."""
    kind = Vector if mask == Mask else _common(a, b)

    def codegen(context, builder, sig, args):
        values = [_widen(builder, kind, *each) for each in zip((a, b), args[1:], strict=True)]
        return builder.select(args[0], *values)

    return kind(mask, a, b), codegen


def one_by_one(x):
    """x itself; a single float64 becomes unknown to the compiler, so that its loop stays scalar."""
    return x


@overload(one_by_one, inline="never")
def _one_by_one(x):
    if x == types.float64:
        return lambda x: opaque(x)
    return lambda x: x

