"""``Lanes(dtype, n)``: n numbers of one type in one value, so that one instruction works on as many lines or fields.

Inside compiled code ``+ - * /`` and unary ``-`` work on vectors lane by lane, and on a vector with a number,
which then stands in all lanes; ``spread`` puts a number into all lanes for longer use.  ``fma``, ``select``
and their like take vectors, numbers, or both.  Nothing is fused or reordered unless the function that calls says
so, by these names or by its fast-math flags.  Vectors of whole numbers have ``+ - * & ^ <<``, and vectors of truth
values are *masks*: ``less`` makes one, ``any_true`` turns it into a branch, ``select`` into a choice.

``load`` and ``spread`` give vectors of 8 float64 or 16 float32.  LLVM turns one into one 512-bit register where the
processor has them, into two of 256 or four of 128 bits elsewhere, so that the code runs everywhere.  Left to its own
vectoriser it takes half the width on processors whose tuning prefers 256 bits, does not keep 24 sums of eight doubles
in registers, and gives up on loop bodies as long as an elimination step; a type that *is* ``<8 x double>`` leaves it
no choice.  For some targets these vectors have a quarter of the lanes (``target``); they may lack fused operations,
and take a product and a sum.
"""

import functools
import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from kernels.runtime.target import LANES

#: Float32 numbers of a vector.
SINGLES = 2 * LANES

_LONG, _INT, _BIT = ir.IntType(64), ir.IntType(32), ir.IntType(1)
_ELEMENTS = {types.float64: ir.DoubleType(), types.float32: ir.FloatType(), types.boolean: _BIT}
_ELEMENTS |= {types.int32: _INT, types.int64: _LONG}


class Lanes(types.Type):
    """numba's type of ``count`` numbers of the type ``dtype``."""

    def __init__(self, dtype, count):
        self.dtype, self.count = dtype, count
        super().__init__(name=f"Lanes({dtype}, {count})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, ir.VectorType(_ELEMENTS[fe_type.dtype], fe_type.count))


#: What most kernels are made of.
Vector = Lanes(types.float64, LANES)


# What intrinsics are written with, here and in modules that add their own


def vector_of(dtype):
    """Type of the vectors that ``load`` and ``spread`` give, None where there is none of the numba type ``dtype``."""
    return Lanes(dtype, LANES * 64 // dtype.bitwidth) if dtype in _ELEMENTS and dtype != types.boolean else None


def shuffled(builder, first, second, pattern):
    """Lanes of two LLVM vectors by number, those of the second counted on from those of the first."""
    return builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(_INT, len(pattern)), list(pattern)))


def repeated(builder, value, count=LANES):
    """The LLVM vector with ``value`` in all lanes."""
    undefined = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(_INT, 0))
    return shuffled(builder, first, undefined, [0] * count)


def common(*kinds):
    """The ``Lanes`` of floats among the numba types where the others are the same or its numbers, the type of floats
    that are all alike, None for anything else."""
    kind = next((kind for kind in kinds if isinstance(kind, Lanes)), kinds[0])
    number = kind.dtype if isinstance(kind, Lanes) else kind
    return kind if isinstance(number, types.Float) and all(each in (kind, number) for each in kinds) else None


def widened(builder, kinds, values):
    """Numbers repeated in all lanes if any of ``kinds`` is ``Lanes``."""
    count = next((kind.count for kind in kinds if isinstance(kind, Lanes)), None)
    if count is None:
        return values
    return [
        value if isinstance(kind, Lanes) else repeated(builder, value, count)
        for kind, value in zip(kinds, values, strict=True)
    ]


def suffix(kind):
    """What ends the name of LLVM's function of an LLVM type."""
    vector = isinstance(kind, ir.VectorType)
    bits = 64 if (kind.element if vector else kind) == ir.DoubleType() else 32
    return f"v{kind.count}f{bits}" if vector else f"f{bits}"


def call(builder, name, *values):
    """LLVM's function ``name`` of vectors or of numbers, all alike."""
    kind = values[0].type
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(kind, [kind] * len(values)), f"llvm.{name}.{suffix(kind)}"
    )
    return builder.call(function, values)


def lanewise(build):
    """The intrinsic of ``common`` numbers and vectors whose LLVM value ``build(builder, …)`` gives for each lane."""

    @functools.wraps(build)  # and has its parameters, by which numba counts arguments
    def typed(typingctx, *kinds):
        def code(context, builder, sig, args):
            return build(builder, *widened(builder, sig.args, args))

        kind = common(*kinds)
        return kind and (kind(*kinds), code)

    return intrinsic(typed)


# Arithmetic


def _binary(function, floats, integers):
    """``function`` by LLVM's instruction for floats and that for whole numbers."""

    @infer_global(function)
    class _Typing(AbstractTemplate):
        metadata = {"target": "cpu"}  # asked before numba's own, which take six times as long to decline

        def generic(self, args, kws):
            kind = next((kind for kind in args if isinstance(kind, Lanes)), None)
            if kind and all(each == kind or isinstance(each, (types.Float, types.Integer)) for each in args):
                return signature(kind, *(each if each == kind else kind.dtype for each in args))

    def lower(context, builder, sig, args):
        name = floats if isinstance(sig.return_type.dtype, types.Float) else integers
        return getattr(builder, name)(*widened(builder, sig.args, args))

    for pair in ((Lanes, Lanes), (Lanes, types.Number), (types.Number, Lanes)):
        lower_builtin(function, *pair)(lower)


_binary(operator.add, "fadd", "add")
_binary(operator.sub, "fsub", "sub")
_binary(operator.mul, "fmul", "mul")
_binary(operator.truediv, "fdiv", "")
_binary(operator.and_, "", "and_")
_binary(operator.xor, "", "xor")
_binary(operator.lshift, "", "shl")


@infer_global(operator.neg)
class _NegativeTyping(AbstractTemplate):
    def generic(self, args, kws):
        return signature(*args, *args) if common(*args) and isinstance(args[0], Lanes) else None


@lower_builtin(operator.neg, Lanes)
def _lower_negative(context, builder, sig, args):
    return builder.fneg(args[0])


def _fused(builder, *values):
    """LLVM's fused operation; that on vectors of few lanes is fused where the processor can."""
    few = isinstance(values[0].type, ir.VectorType) and LANES < 8
    return call(builder, "fmuladd" if few else "fma", *values)


@lanewise
def fma(builder, a, b, c):
    """a·b + c with one rounding."""
    return _fused(builder, a, b, c)


@lanewise
def fms(builder, a, b, c):
    """a·b − c with one rounding."""
    return _fused(builder, a, b, builder.fneg(c))


@lanewise
def fnma(builder, a, b, c):
    """c − a·b with one rounding."""
    return _fused(builder, builder.fneg(a), b, c)


@lanewise
def root(builder, x):
    """Square root, correctly rounded."""
    return call(builder, "sqrt", x)


@lanewise
def floor(builder, x):
    """Largest whole number not above."""
    return call(builder, "floor", x)


@lanewise
def magnitude(builder, x):
    """|x|."""
    return call(builder, "fabs", x)


@lanewise
def larger(builder, a, b):
    """The larger number, and the other of one that is NaN."""
    return call(builder, "maxnum", a, b)


@intrinsic
def spread(typingctx, number):
    """The float64 or float32 ``number`` in all lanes; one instruction with the load, if it comes from memory."""

    def code(context, builder, sig, args):
        return repeated(builder, args[0], sig.return_type.count)

    return vector_of(number)(number), code


@intrinsic
def wide(typingctx, value, x):
    """The number ``value``, in as many lanes as x has."""

    def code(context, builder, sig, args):
        return widened(builder, sig.args, args)[0]

    return x(value, x), code


def _folded(builder, value, last):
    """Sums by halves of the lanes whose numbers are alike modulo ``last``, the first of them."""
    count = width = value.type.count
    while width > last:
        width //= 2
        turned = shuffled(builder, value, value, [(lane + width) % count for lane in range(count)])
        value = builder.fadd(value, turned)
    return [builder.extract_element(value, ir.Constant(_INT, lane)) for lane in range(last)]


@intrinsic
def total(typingctx, vector):
    """Sum of the lanes, by halves: of eight ((0+4) + (2+6)) + ((1+5) + (3+7))."""

    def code(context, builder, sig, args):
        return _folded(builder, args[0], 1)[0]

    return vector.dtype(vector), code


@intrinsic
def even_odd_totals(typingctx, vector):
    """Sums of the even and of the odd lanes, two numbers."""

    def code(context, builder, sig, args):
        return context.make_tuple(builder, sig.return_type, _folded(builder, args[0], 2))

    return types.UniTuple(vector.dtype, 2)(vector), code


@intrinsic
def spread_lane(typingctx, vector, number):
    """One lane of a vector in all lanes; ``number`` is a literal."""

    def code(context, builder, sig, args):
        return shuffled(builder, args[0], args[0], [number.literal_value] * vector.count)

    return (vector(vector, number), code) if isinstance(number, types.IntegerLiteral) else None


@intrinsic
def largest(typingctx, vector):
    """Largest lane."""

    def code(context, builder, sig, args):
        kind = args[0].type
        name = f"llvm.vector.reduce.fmax.{suffix(kind)}"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind.element, [kind]), name)
        return builder.call(function, args, fastmath=("reassoc",))

    return (vector.dtype(vector), code) if isinstance(vector, Lanes) else None


# Masks


@intrinsic
def less(typingctx, a, b):
    """The mask a < b."""

    def code(context, builder, sig, args):
        return builder.fcmp_ordered("<", *widened(builder, sig.args, args))

    kind = common(a, b)
    return (Lanes(types.boolean, kind.count) if isinstance(kind, Lanes) else types.boolean)(a, b), code


@intrinsic
def both(typingctx, a, b):
    """The mask a and b."""

    def code(context, builder, sig, args):
        return builder.and_(*args)

    return a(a, b), code


@intrinsic
def any_true(typingctx, mask):
    """Is the mask true in any lane?"""

    def code(context, builder, sig, args):
        if not isinstance(mask, Lanes):
            return args[0]
        lanes = ir.IntType(mask.count)
        return builder.icmp_unsigned("!=", builder.bitcast(args[0], lanes), ir.Constant(lanes, 0))

    return types.boolean(mask), code


@intrinsic
def select(typingctx, mask, a, b):
    """a where the mask is true, b elsewhere; of a mask's lanes even from two numbers."""

    def code(context, builder, sig, args):
        return builder.select(args[0], *widened(builder, sig.args, args)[1:])

    kind = common(a, b)
    if isinstance(mask, Lanes) and not isinstance(kind, Lanes):
        kind = Lanes(kind, mask.count)
    return kind(mask, a, b), code


# Numbers and their bits

_FLOATS = {types.int64: types.float64, types.int32: types.float32}
_WHOLE = {float_: whole for whole, float_ in _FLOATS.items()}


def _changed(table, instruction, x):
    """Signature and code of one LLVM instruction from a type or its vectors to that which ``table`` names."""

    def code(context, builder, sig, args):
        return getattr(builder, instruction)(args[0], context.get_value_type(sig.return_type))

    kind = Lanes(table[x.dtype], x.count) if isinstance(x, Lanes) else table[x]
    return kind(x), code


@intrinsic
def bits(typingctx, x):
    """The bits of floats, as whole numbers of as many bits."""
    return _changed(_WHOLE, "bitcast", x)


@intrinsic
def from_bits(typingctx, x):
    """The floats that ``bits`` made whole numbers of."""
    return _changed(_FLOATS, "bitcast", x)


@intrinsic
def rounded(typingctx, x):
    """Whole numbers as floats of as many bits."""
    return _changed(_FLOATS, "sitofp", x)
