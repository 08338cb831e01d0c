"""One number or eight: arithmetic that is written once and compiled for either width.

A routine is a function of *numbers*.  Called with ``SCALAR`` it works on one float64 after another,
called with ``VECTOR`` on eight at once (``kernels.runtime.vector``).  The width is the type of an argument, so that
one source gives both builds and both do the same operations in the same order: results agree bit for bit,
whatever the width, and whatever lane of a vector a column falls into.

Comparisons give a *mask*, a truth value for each lane; ``any_true`` turns it into a branch, ``select``
into a choice.  Wherever a vector is expected, a float64 stands for itself in all lanes.

Offsets count doubles from the first element of a C-contiguous float64 array; nothing checks them.
"""

from typing import NamedTuple

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model

from kernels.runtime.barriers import opaque
from kernels.runtime.vector import LANES, Vector, call, common, pointer, repeated, widened

#: Widths, passed to compiled functions: only the length counts.
SCALAR, VECTOR = (0,), (0,) * LANES
WIDTHS = {"scalar": SCALAR, "vector": VECTOR}

_DOUBLE, _LONG, _INT, _BIT = ir.DoubleType(), ir.IntType(64), ir.IntType(32), ir.IntType(1)


class Part(NamedTuple):
    """Some blocks of blocked fields (blocks, levels, row), which one call works on."""

    first: int  # the first block
    end: int  # the block after the last
    levels: int
    row: int  # places of a row in memory
    count: int  # places of a row that are computed


class _MaskType(types.Type):
    def __init__(self):
        super().__init__(name=f"Mask{LANES}")


Mask = _MaskType()


@register_model(_MaskType)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, ir.VectorType(_BIT, LANES))


def _like(kind, scalar):
    """LLVM type of ``scalar`` elements, as many as a number of ``kind`` has."""
    return ir.VectorType(scalar, LANES) if kind == Vector else scalar


def _constant(kind, scalar, value):
    return ir.Constant(_like(kind, scalar), [value] * LANES if kind == Vector else value)


@intrinsic
def load(typingctx, array, offset, width):
    """``load(a, o, width)``: the number a[o], or the eight from there on."""
    kind = {1: types.float64, LANES: Vector}[width.count]

    def codegen(context, builder, sig, args):
        place = pointer(context, builder, array, *args[:2])
        return builder.load(builder.bitcast(place, _like(kind, _DOUBLE).as_pointer()), align=8)

    return kind(array, types.intp, width), codegen


@intrinsic
def store(typingctx, array, offset, value):
    """``store(a, o, v)``: a[o] = v, for one number or eight."""

    def codegen(context, builder, sig, args):
        place = pointer(context, builder, array, *args[:2])
        builder.store(args[2], builder.bitcast(place, args[2].type.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), codegen


def _neighbours(count):
    """The intrinsic ``f(a, p, o)``: a[p + o], a[p + o + 1], … of every lane, ``count`` numbers or vectors.

    Each lane takes its neighbours in one load, and shuffles turn the rows of lanes into vectors: a gather for each
    neighbour would take eight loads where this takes a part of them, and on many processors a gather is a long
    sequence of smaller instructions besides.
    """

    @intrinsic
    def function(typingctx, array, position, offset):
        def codegen(context, builder, sig, args):
            start = pointer(context, builder, array, args[0], args[2])
            index = builder.fptosi(args[1], _like(position, _LONG))
            if position == Vector:
                lanes = [builder.extract_element(index, ir.Constant(_INT, lane)) for lane in range(LANES)]
                found = _columns(builder, [_row(builder, start, lane, count) for lane in lanes])
            else:
                places = [builder.add(index, ir.Constant(_LONG, number)) for number in range(count)]
                found = [builder.load(builder.gep(start, [place]), align=8) for place in places]
            return context.make_tuple(builder, sig.return_type, found)

        return types.UniTuple(position, count)(array, position, types.intp), codegen

    return function


gather_two = _neighbours(2)
gather_four = _neighbours(4)


def _row(builder, start, place, count):
    """``count`` doubles in a row as one LLVM vector."""
    target = builder.gep(start, [place])
    return builder.load(builder.bitcast(target, ir.VectorType(_DOUBLE, count).as_pointer()), align=8)


def _chosen(builder, first, second, pattern):
    """Elements of two LLVM vectors by number, those of the second counted on from those of the first."""
    return builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(_INT, len(pattern)), list(pattern)))


def _columns(builder, rows):
    """Eight rows of two or four doubles, turned: a vector of every row's first, of every row's second, …"""
    while rows[0].type.count < LANES:
        both = range(2 * rows[0].type.count)
        rows = [_chosen(builder, a, b, both) for a, b in zip(rows[::2], rows[1::2], strict=True)]
    if len(rows) == 2:
        return [_chosen(builder, *rows, [k + 2 * lane for lane in range(LANES)]) for k in range(2)]
    found = []
    for k in (0, 2):  # two columns of four lanes, then their halves
        pattern = [column + 4 * lane for column in (k, k + 1) for lane in range(4)]
        left, right = _chosen(builder, *rows[:2], pattern), _chosen(builder, *rows[2:], pattern)
        found += [_chosen(builder, left, right, [*range(at, at + 4), *range(at + 8, at + 12)]) for at in (0, 4)]
    return found


@intrinsic
def wide(typingctx, value, x):
    """The float64 ``value``, in as many lanes as x has."""

    def codegen(context, builder, sig, args):
        return widened(builder, sig.args, args)[0]

    return x(types.float64, x), codegen


def _unary(name):
    @intrinsic
    def function(typingctx, x):
        def codegen(context, builder, sig, args):
            return call(builder, name, *args)

        return common(x)(x), codegen

    return function


root = _unary("sqrt")  #: square root, correctly rounded
floor = _unary("floor")  #: largest whole number not above


@intrinsic
def scale(typingctx, x, k):
    """x · 2ⁿ, where k = n + 1.5·2⁵² and |n| is small enough for a normal result."""
    kind = common(x, k)

    def codegen(context, builder, sig, args):
        bits, power = (builder.bitcast(arg, _like(kind, _LONG)) for arg in args)
        shifted = builder.shl(power, _constant(kind, _LONG, 52))
        return builder.bitcast(builder.add(bits, shifted), args[0].type)

    return kind(x, k), codegen


@intrinsic
def less(typingctx, a, b):
    """The mask a < b."""

    def codegen(context, builder, sig, args):
        return builder.fcmp_ordered("<", *widened(builder, sig.args, args))

    return (Mask if common(a, b) == Vector else types.boolean)(a, b), codegen


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
    kind = Vector if mask == Mask else common(a, b)

    def codegen(context, builder, sig, args):
        # a mask makes vectors even of two float64
        values = [
            value if each == kind else repeated(builder, value)
            for each, value in zip(sig.args[1:], args[1:], strict=True)
        ]
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
