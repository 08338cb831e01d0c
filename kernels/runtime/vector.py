"""``Lanes(dtype, n)``: n numbers of one type in one value, so that one instruction works on as many lines or fields.

Inside compiled code ``+ - * /`` and unary ``-`` work on vectors lane by lane, and on a vector with a number, which is
cast to the vector's type and then stands in all lanes; ``spread`` puts a number into all lanes for longer use.
``fma``, ``select`` and their like take vectors, numbers of the vector's type, or both.  Nothing is fused or reordered
unless the function that calls says so, by these names or by its fast-math flags.  Vectors of whole numbers have
``+ - * & ^ <<``, and vectors of truth values are *masks*: ``less`` makes one, ``&`` joins two, ``any_true`` turns one
into a branch, ``select`` into a choice.

``load`` and ``spread`` give vectors of 8 float64 or 16 float32.  LLVM turns one into one 512-bit register where the
processor has them, into two of 256 or four of 128 bits elsewhere, so that the code runs everywhere.  Left to its own
vectoriser it takes half the width on processors whose tuning prefers 256 bits, does not keep 24 sums of eight doubles
in registers, and gives up on loop bodies as long as an elimination step; a type that *is* ``<8 x double>`` leaves it
no choice (``bt.elimination`` says what it gains there).  For WebAssembly these vectors have a quarter of the lanes; it
may lack fused operations, and take a product and a sum.

In memory, offsets count elements from the first of a C-contiguous array or from its ``address``; nothing is checked.
A vector may begin at any element, except for ``stream`` and ``transpose_stream``.  Kernels called many thousand times
pass addresses: numba counts the references to an array with locked instructions in every function that uses it in more
than one branch.
"""

import functools
import math
import operator
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, Signature, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from supercomputers_rerun.kernels.runtime.jit import HERE, LANES

#: Float32 numbers of a vector.
SINGLES = 2 * LANES
#: Float64 numbers of a narrow vector, for loops in which so many are needed at once that whole ones do not fit into the
#: registers: a whole vector where that is one register, else half of it.
NARROW = LANES if HERE.lanes >= LANES else LANES // 2

_LONG = ir.IntType(64)
_INT = ir.IntType(32)
_BIT = ir.IntType(1)
#: numba's types of the numbers in vectors, and LLVM's.
_ELEMENTS = {
    types.float64: ir.DoubleType(),
    types.float32: ir.FloatType(),
    types.int64: _LONG,
    types.int32: _INT,
    types.boolean: _BIT,
}


class Lanes(types.Type):
    """numba's type of ``count`` numbers of the type ``dtype``."""

    def __init__(self, dtype, count):
        self.dtype = dtype
        self.count = count
        super().__init__(name=f"Lanes({dtype}, {count})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, ir.VectorType(_ELEMENTS[fe_type.dtype], fe_type.count))


#: What most kernels are made of.
Vector = Lanes(types.float64, LANES)


# What intrinsics are written with, here and in modules that add their own
#
# An intrinsic is two functions: one that says by the numba types of the arguments which type comes out, when a caller
# is compiled, and one that writes the LLVM instructions in the caller's place.  ``emitted`` makes it of both::
#
#     @emitted(lambda vector: vector.dtype)          of a Lanes(float64, 8) comes a float64
#     def total(builder, vector):                    ``builder`` writes; ``vector`` is a value of LLVM
#         ...


def vector_of(dtype):
    """Type of the vectors that ``load`` and ``spread`` give, None where there is none of the numba type ``dtype``."""
    return Lanes(dtype, LANES * 64 // dtype.bitwidth) if dtype in _ELEMENTS and dtype != types.boolean else None


def wide_type(element):
    """The LLVM type of the vectors that ``load`` gives, by that of their numbers."""
    return ir.VectorType(element, SINGLES if element in (ir.FloatType(), _INT) else LANES)


def narrow_type(element):
    """The LLVM type of a narrow vector by that of its numbers."""
    return ir.VectorType(element, wide_type(element).count * NARROW // LANES)


class Memory(NamedTuple):
    """An array or an address, as intrinsics see it: LLVM's pointers are not asked what they point to."""

    pointer: Any  # to the first number
    element: Any  # LLVM type of a number


def _argument(context, builder, kind, value):
    """What ``emitted`` hands on of a value of the numba type ``kind``."""
    if isinstance(kind, (types.Array, types.CPointer)):
        return Memory(pointer(context, builder, kind, value), context.get_data_type(kind.dtype))
    return value


def emitted(answer):
    """Decorator: the intrinsic whose LLVM value is ``build(builder, *values)``.

    ``answer(*kinds)`` is the numba type of that value by those of the arguments, or a signature to which they are cast,
    and None where there is no such operation.  An array or an address arrives as ``Memory``.
    """

    def decorate(build):
        @functools.wraps(build)  # and has its parameters, by which numba counts arguments
        def typed(typingctx, *kinds):
            def code(context, builder, sig, args):
                given = zip(sig.args, args, strict=True)
                value = build(builder, *(_argument(context, builder, kind, each) for kind, each in given))
                return context.get_dummy_value() if sig.return_type == types.void else value

            kind = answer(*kinds)
            if not kind:
                return None
            return (kind if isinstance(kind, Signature) else kind(*kinds)), code

        return intrinsic(typed)

    return decorate


def pointer(context, builder, kind, value):
    """An array's LLVM pointer to its first element by its numba type ``kind``; any other value as it is."""
    return cgutils.create_struct_proxy(kind)(context, builder, value).data if isinstance(kind, types.Array) else value


def shuffled(builder, first, second, pattern):
    """Lanes of two LLVM vectors by number, those of the second counted on from those of the first."""
    return builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(_INT, len(pattern)), list(pattern)))


def repeated(builder, value, count=LANES):
    """The LLVM vector with ``value`` in all lanes."""
    undefined = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(_INT, 0))
    return shuffled(builder, first, undefined, [0] * count)


def common(*kinds):
    """The ``Lanes`` of floats among the numba types, where each other is that type or that of its numbers; the type of
    floats, where all are the same; else None."""
    kind = next((kind for kind in kinds if isinstance(kind, Lanes)), kinds[0])
    number = kind.dtype if isinstance(kind, Lanes) else kind
    return kind if isinstance(number, types.Float) and all(each in (kind, number) for each in kinds) else None


def widened(builder, *values):
    """LLVM's numbers repeated in all lanes if any of the values is a vector."""
    count = next((value.type.count for value in values if isinstance(value.type, ir.VectorType)), None)
    if count is None:
        return values
    return [each if isinstance(each.type, ir.VectorType) else repeated(builder, each, count) for each in values]


def suffix(kind):
    """What ends the name of LLVM's function of an LLVM type."""
    if isinstance(kind, ir.VectorType):
        return f"v{kind.count}{suffix(kind.element)}"
    return f"i{kind.width}" if isinstance(kind, ir.IntType) else f"f{8 * _bytes(kind)}"


def called(builder, name, answer, *values):
    """LLVM's function ``name`` of these values, whose type of answer is given."""
    kind = ir.FunctionType(answer, [value.type for value in values])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), values)


def call(builder, name, *values):
    """LLVM's function ``name`` of vectors or of numbers, all alike."""
    kind = values[0].type
    return called(builder, f"llvm.{name}.{suffix(kind)}", kind, *values)


def lanewise(build):
    """The intrinsic of ``common`` numbers and vectors whose LLVM value ``build(builder, …)`` gives for each lane."""

    @functools.wraps(build)
    def each_lane(builder, *values):
        return build(builder, *widened(builder, *values))

    return emitted(common)(each_lane)


# Arithmetic


def _binary(function, floats, integers):
    """``function`` by LLVM's instruction for floats and that for whole numbers; an empty name where it has none."""

    @infer_global(function)
    class _Typing(AbstractTemplate):
        metadata = {"target": "cpu"}  # asked before numba's own, which take six times as long to decline

        def generic(self, args, kws):
            kind = next((kind for kind in args if isinstance(kind, Lanes)), None)
            if kind and all(each == kind or isinstance(each, (types.Float, types.Integer)) for each in args):
                return signature(kind, *(each if each == kind else kind.dtype for each in args))

    def lower(context, builder, sig, args):
        name = floats if isinstance(sig.return_type.dtype, types.Float) else integers
        return getattr(builder, name)(*widened(builder, *args))

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


def fused(builder, *values):
    """LLVM's fused operation; that on vectors of few lanes is fused where the processor can."""
    few = isinstance(values[0].type, ir.VectorType) and LANES < 8
    return call(builder, "fmuladd" if few else "fma", *values)


@lanewise
def fma(builder, a, b, c):
    """a·b + c with one rounding."""
    return fused(builder, a, b, c)


@lanewise
def fms(builder, a, b, c):
    """a·b − c with one rounding."""
    return fused(builder, a, b, builder.fneg(c))


@lanewise
def fnma(builder, a, b, c):
    """c − a·b with one rounding."""
    return fused(builder, builder.fneg(a), b, c)


@lanewise
def sqrt(builder, x):
    """Square root, correctly rounded."""
    return call(builder, "sqrt", x)


@lanewise
def floor(builder, x):
    """Largest whole number not above."""
    return call(builder, "floor", x)


@lanewise
def fabs(builder, x):
    """|x|."""
    return call(builder, "fabs", x)


@lanewise
def fmax(builder, a, b):
    """The larger number; where one is NaN, the other."""
    return call(builder, "maxnum", a, b)


@emitted(vector_of)
def spread(builder, number):
    """The ``number``, of 64 or 32 bits, in all lanes; one instruction with the load, if it comes from memory."""
    return repeated(builder, number, wide_type(number.type).count)


@emitted(lambda value, x: x)
def wide(builder, value, x):
    """The number ``value``, in as many lanes as x has."""
    return widened(builder, value, x)[0]


def _folded(builder, value, last):
    """Sums, by halves, of the lanes whose numbers are alike modulo ``last``: a list of ``last`` numbers."""
    count = value.type.count
    width = count
    add = builder.add if isinstance(value.type.element, ir.IntType) else builder.fadd
    while width > last:
        width //= 2
        turned = shuffled(builder, value, value, [(lane + width) % count for lane in range(count)])
        value = add(value, turned)
    return [builder.extract_element(value, ir.Constant(_INT, lane)) for lane in range(last)]


@emitted(lambda vector: vector.dtype)
def total(builder, vector):
    """Sum of the lanes, by halves: of eight ((0+4) + (2+6)) + ((1+5) + (3+7))."""
    return _folded(builder, vector, 1)[0]


@emitted(lambda vector: types.UniTuple(vector.dtype, 2))
def even_odd_totals(builder, vector):
    """Sums of the even and of the odd lanes, two numbers."""
    return cgutils.pack_array(builder, _folded(builder, vector, 2))


@intrinsic
def spread_lane(typingctx, vector, number):
    """One lane of a vector in all lanes; ``number`` is a literal."""

    def code(context, builder, sig, args):
        return shuffled(builder, args[0], args[0], [number.literal_value] * vector.count)

    return (vector(vector, number), code) if isinstance(number, types.IntegerLiteral) else None


@emitted(lambda vector: vector.dtype if isinstance(vector, Lanes) else None)
def largest(builder, vector):
    """Largest lane, NaN only where all are."""
    kind = vector.type
    name = f"llvm.vector.reduce.fmax.{suffix(kind)}"
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind.element, [kind]), name)
    return builder.call(function, [vector], fastmath=("reassoc",))  # in any order: the largest is the same


# Masks


def _mask(a, b):
    kind = common(a, b)
    return Lanes(types.boolean, kind.count) if isinstance(kind, Lanes) else types.boolean


@emitted(_mask)
def less(builder, a, b):
    """The mask a < b."""
    return builder.fcmp_ordered("<", *widened(builder, a, b))


@emitted(lambda mask: types.boolean)
def any_true(builder, mask):
    """Is the mask true in any lane?"""
    if not isinstance(mask.type, ir.VectorType):
        return mask
    lanes = ir.IntType(mask.type.count)
    return builder.icmp_unsigned("!=", builder.bitcast(mask, lanes), ir.Constant(lanes, 0))


def _chosen(mask, a, b):
    kind = common(a, b)
    return Lanes(kind, mask.count) if isinstance(mask, Lanes) and isinstance(kind, types.Float) else kind


@emitted(_chosen)
def select(builder, mask, a, b):
    """a where the mask is true, b elsewhere; a vector where the mask has lanes, even of two numbers."""
    return builder.select(*widened(builder, mask, a, b))


# Numbers and their bits

_FLOATS = {types.int64: types.float64, types.int32: types.float32}
_WHOLE = {float_: whole for whole, float_ in _FLOATS.items()}


def _cast(table, instruction):
    """The intrinsic of one LLVM instruction from a type or its vectors to that which ``table`` names."""

    @intrinsic
    def function(typingctx, x):
        kind = Lanes(table[x.dtype], x.count) if isinstance(x, Lanes) else table[x]

        def code(context, builder, sig, args):
            return getattr(builder, instruction)(args[0], context.get_value_type(kind))

        return kind(x), code

    return function


#: The bits of floats, as whole numbers of as many bits.
bits = _cast(_WHOLE, "bitcast")
#: The floats that ``bits`` made whole numbers of.
from_bits = _cast(_FLOATS, "bitcast")
#: Whole numbers as floats of as many bits.
as_float = _cast(_FLOATS, "sitofp")


# Memory: ``place`` is an array or an address


def _bytes(element):
    """Bytes of a number by its LLVM type, which are its alignment."""
    return 4 if element in (ir.FloatType(), _INT) else 8


def _element(builder, place, offset):
    """The pointer to an element."""
    return builder.gep(place.pointer, [offset], source_etype=place.element)


def _placed(builder, place, offset, kind):
    """The pointer to an LLVM type that begins at an element."""
    return builder.bitcast(_element(builder, place, offset), kind.as_pointer())


def _read(builder, place, offset, kind):
    """The value of an LLVM type that begins at an element."""
    return builder.load(_placed(builder, place, offset, kind), align=_bytes(place.element))


def _vectors(place):
    """Type of the vectors in an array or behind an address, None where there are none."""
    return vector_of(place.dtype) if isinstance(place, (types.Array, types.CPointer)) else None


def _loads(place, offset):
    kind = _vectors(place)
    return kind and signature(kind, place, types.intp)


@emitted(_loads)
def load(builder, place, offset):
    """``load(a, o)``: the vector a[o:o+8], or of sixteen where numbers have 32 bits."""
    return _read(builder, place, offset, wide_type(place.element))


def _loads_narrow(place, offset):
    kind = _vectors(place)
    return kind and signature(Lanes(kind.dtype, kind.count * NARROW // LANES), place, types.intp)


@emitted(_loads_narrow)
def load_narrow(builder, place, offset):
    """As ``load``, a narrow vector."""
    return _read(builder, place, offset, narrow_type(place.element))


def _loads_as(place, offset, width):
    kind = place.dtype if width.count == 1 else Lanes(place.dtype, width.count)
    if isinstance(width.dtype, types.UniTuple):
        kind = types.UniTuple(Lanes(place.dtype, width.dtype.count), width.count)
    return signature(kind, place, types.intp, width) if _vectors(place) else None


@emitted(_loads_as)
def load_as(builder, place, offset, width):
    """``load_as(a, o, width)``: a vector of as many numbers as the tuple ``width`` has, or the number a[o] for one; a
    tuple of vectors, one behind the other, for a tuple of tuples."""
    element = place.element
    count = len(width.type)
    if not isinstance(width.type.element, ir.ArrayType):
        return _read(builder, place, offset, element if count == 1 else ir.VectorType(element, count))
    first = _placed(builder, place, offset, ir.VectorType(element, len(width.type.element)))
    places = (builder.gep(first, [ir.Constant(_INT, number)]) for number in range(count))
    return cgutils.pack_array(builder, [builder.load(each, align=_bytes(element)) for each in places])


def _stores(place, offset, value):
    each = value.dtype if isinstance(value, types.UniTuple) else value
    number = each.dtype if isinstance(each, Lanes) else each
    return signature(types.void, place, types.intp, value) if _vectors(place) and number == place.dtype else None


def _stored(builder, place, offset, value, align):
    """LLVM's instructions that store a value, or a tuple in a row, the first at a multiple of ``align`` bytes."""
    values = cgutils.unpack_tuple(builder, value) if isinstance(value.type, ir.ArrayType) else [value]
    first = _placed(builder, place, offset, values[0].type)
    size = _bytes(place.element) * getattr(values[0].type, "count", 1)
    stored = []
    for number, each in enumerate(values):
        target = builder.gep(first, [ir.Constant(_INT, number)])
        stored.append(builder.store(each, target, align=math.gcd(align, number * size)))
    return stored


@emitted(_stores)
def store(builder, place, offset, value):
    """``store(a, o, v)``: a[o:o+8] = v for a vector of eight, a[o] = v for a number, all of a tuple in a row."""
    _stored(builder, place, offset, value, _bytes(place.element))


def _past_caches(builder, written):
    """Mark an LLVM store so that it bypasses the caches."""
    written.set_metadata("nontemporal", builder.module.add_metadata([ir.Constant(_INT, 1)]))


@emitted(_stores)
def stream(builder, place, offset, value):
    """As ``store``, past the caches; the target must begin a cache line of 64 bytes."""
    for written in _stored(builder, place, offset, value, 64):
        _past_caches(builder, written)


@emitted(lambda place, offset, vector, active: signature(types.void, place, types.intp, vector, types.int64))
def store_some(builder, place, offset, vector, active):
    """As ``store``, only lanes whose bit in ``active`` is set; the others' memory is not touched."""
    kind = vector.type
    count = kind.count
    mask = builder.bitcast(builder.trunc(active, ir.IntType(count)), ir.VectorType(ir.IntType(1), count))
    parts = vector, _placed(builder, place, offset, kind), ir.Constant(_INT, _bytes(kind.element)), mask
    called(builder, f"llvm.masked.store.{suffix(kind)}.p0", ir.VoidType(), *parts)


@emitted(lambda place, offset, index, first: signature(_vectors(place), place, types.intp, index, types.intp))
def gather(builder, place, offset, index, first):
    """``gather(a, o, i, k)``: lanes a[o + i[k]], a[o + i[k+1]] …; ``a`` and ``i`` have numbers of as many bits."""
    vector = wide_type(place.element)
    lanes = vector.count
    where = builder.sext(_read(builder, index, first, wide_type(index.element)), ir.VectorType(_LONG, lanes))
    base = repeated(builder, _element(builder, place, offset), lanes)
    pointers = builder.gep(base, [where], source_etype=vector.element)
    every = ir.Constant(ir.VectorType(ir.IntType(1), lanes), [1] * lanes)
    align = ir.Constant(_INT, _bytes(vector.element))
    none = ir.Constant(vector, ir.Undefined)
    return called(builder, f"llvm.masked.gather.{suffix(vector)}.v{lanes}p0", vector, pointers, align, every, none)


@emitted(lambda: signature(types.void))
def fence(builder):
    """Make streamed stores visible to every thread."""
    builder.fence("seq_cst")


@emitted(lambda place, offset: signature(types.void, place, types.intp))
def prefetch(builder, place, offset):
    """Ask for the cache line of a[o]; never faults, any offset is allowed.

    Into the second-level cache: what is asked for long before it is wanted might not stay in the first.
    """
    target = _placed(builder, place, offset, ir.IntType(8))
    read = ir.Constant(_INT, 0)
    second_level = ir.Constant(_INT, 2)  # of 3, nearest, to 0, none
    data = ir.Constant(_INT, 1)
    called(builder, "llvm.prefetch.p0", ir.VoidType(), target, read, second_level, data)


@emitted(lambda array: types.CPointer(array.dtype))
def address(builder, array):
    """Pointer to the first element, of any type; the array must outlive it."""
    return array.pointer


@emitted(lambda address, offset: signature(address.dtype, address, types.intp))
def at(builder, address, offset):
    """The element at an offset from an ``address``."""
    return builder.load(_element(builder, address, offset), typ=address.element)


# Shuffles


def shuffle(*pattern):
    """The intrinsic of two vectors that gives their lanes by number, those of the second counted on."""

    @emitted(lambda a, b: Lanes(a.dtype, len(pattern)))
    def function(builder, a, b):
        return shuffled(builder, a, b, pattern)

    return function


@emitted(lambda low, high: Lanes(low.dtype, low.count * LANES // NARROW))
def joined(builder, low, high):
    """The vector of two narrow ones; of one that is whole already, the first."""
    return low if NARROW == LANES else shuffled(builder, low, high, range(2 * low.type.count))


def _blocks(source, rows, target, columns):
    if not _vectors(source) or _vectors(source) != _vectors(target):
        return None
    pair = types.UniTuple(types.intp, 2)
    return signature(types.void, source, pair, target, pair)


def _transpose(builder, kind, source, rows, target, columns):
    """``transpose_block`` of LLVM vectors of a ``kind``; a list of its stores.

    In stages, of eight rows with ``width`` 4, 2 and 1: rows so far apart exchange every other piece of so many lanes::

        row            A │ B        A │ C
                         │     ▶      │
        row + width    C │ D        B │ D
    """
    count = kind.count
    width = count
    places = _places(builder, source, rows, count)
    targets = _places(builder, target, columns, count)
    values = [builder.load(builder.bitcast(place, kind.as_pointer()), align=_bytes(kind.element)) for place in places]
    while width > 1:
        width //= 2
        low = [lane - width + count if lane & width else lane for lane in range(count)]
        high = [lane + count if lane & width else lane + width for lane in range(count)]
        for row in (row for row in range(count) if not row & width):
            a = values[row]
            b = values[row + width]
            values[row] = shuffled(builder, a, b, low)
            values[row + width] = shuffled(builder, a, b, high)
    pairs = zip(values, targets, strict=True)
    align = _bytes(kind.element)
    return [builder.store(value, builder.bitcast(place, kind.as_pointer()), align=align) for value, place in pairs]


def _places(builder, place, pair, count):
    """Pointers to so many elements; ``pair``: the offset of the first, and how far they are apart."""
    start, step = cgutils.unpack_tuple(builder, pair)
    numbers = (builder.add(start, builder.mul(step, ir.Constant(_LONG, i))) for i in range(count))
    return [_element(builder, place, number) for number in numbers]


@emitted(_blocks)
def transpose_block(builder, source, rows, target, columns):
    """Write the square block whose rows, vectors, begin at s[first + r·step] to t[begin + c·stride], transposed.

    ``rows`` is the pair (first, step), ``columns`` is (begin, stride).
    """
    _transpose(builder, wide_type(source.element), source, rows, target, columns)


@emitted(_blocks)
def transpose_narrow(builder, source, rows, target, columns):
    """As ``transpose_block``, a block of narrow vectors."""
    _transpose(builder, narrow_type(source.element), source, rows, target, columns)


@emitted(_blocks)
def transpose_stream(builder, source, rows, target, columns):
    """As ``transpose_narrow``, past the caches; narrow vectors of the target must begin at multiples of their size."""
    kind = narrow_type(source.element)
    for written in _transpose(builder, kind, source, rows, target, columns):
        written.align = kind.count * _bytes(kind.element)
        _past_caches(builder, written)
