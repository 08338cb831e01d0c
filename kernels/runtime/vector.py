"""``Vector``: eight float64 in one value, so that one instruction works on eight lines, fields or columns.

Inside compiled code ``+ - * /`` and unary ``-`` work on vectors lane by lane, and on a vector with a float64,
which then stands in all lanes; ``spread`` puts a number into all lanes for longer use.  ``fma``, ``fms`` and
``fnma`` take vectors, numbers, or both.  Nothing is fused or reordered unless the function that calls says
so, by these names or by its fast-math flags.

LLVM turns a vector into one 512-bit register where the processor has them, into two of 256 or four of
128 bits elsewhere, so that the code runs everywhere.  Left to its own vectoriser it takes half the width on
processors whose tuning prefers 256 bits, does not keep 24 sums of eight doubles in registers, and gives up
on loop bodies as long as an elimination step; a type that *is* ``<8 x double>`` leaves it no choice.  For some
targets a vector has two float64 instead (``target``); they may lack fused operations, and take a product and a sum.

Offsets count doubles from the first element of a C-contiguous float64 array or from its ``address``; nothing
is checked.  Kernels called many thousand times pass addresses: numba counts the references to an array
with locked instructions in every function that uses it in more than one branch.
"""

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from kernels.runtime.jit import kernel
from kernels.runtime.target import LANES

_DOUBLE, _LONG, _INT, _BIT = ir.DoubleType(), ir.IntType(64), ir.IntType(32), ir.IntType(1)
_VECTOR = ir.VectorType(_DOUBLE, LANES)


class _VectorType(types.Type):
    def __init__(self):
        super().__init__(name=f"Vector{LANES}")


Vector = _VectorType()


@register_model(_VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, _VECTOR)


# What intrinsics are written with, here and in modules that add their own


def pointer(context, builder, kind, base, offset):
    """LLVM pointer to one element of an array or behind an address, whose numba type is ``kind``."""
    if isinstance(kind, types.Array):
        base = cgutils.create_struct_proxy(kind)(context, builder, base).data
    return builder.gep(base, [offset])


def vector_pointer(context, builder, kind, base, offset):
    """The same, as a pointer to the vector that begins there."""
    return builder.bitcast(pointer(context, builder, kind, base, offset), _VECTOR.as_pointer())


def shuffled(builder, first, second, pattern):
    """Lanes of two LLVM vectors by number, those of the second from 8 on."""
    return builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(_INT, LANES), list(pattern)))


def repeated(builder, value):
    """The LLVM vector with ``value`` in all lanes."""
    undefined = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(_INT, 0))
    return shuffled(builder, first, undefined, [0] * LANES)


def common(*kinds):
    """``Vector`` if any of the numba types is, float64 if all are, None for anything else."""
    if not all(kind in (Vector, types.float64) for kind in kinds):
        return None
    return Vector if Vector in kinds else types.float64


def widened(builder, kinds, values):
    """Float64 values repeated in all lanes if any of ``kinds`` is ``Vector``."""
    if Vector not in kinds:
        return values
    return [value if kind == Vector else repeated(builder, value) for kind, value in zip(kinds, values, strict=True)]


def call(builder, name, *values):
    """LLVM's function ``name`` of vectors or of numbers, all alike."""
    kind = values[0].type
    suffix = f"v{LANES}f64" if isinstance(kind, ir.VectorType) else "f64"
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(kind, [kind] * len(values)), f"llvm.{name}.{suffix}"
    )
    return builder.call(function, values)


def ask_for(builder, target):
    """Ask for the cache line behind an LLVM pointer to a byte, into the second-level cache; never faults."""
    kind = ir.FunctionType(ir.VoidType(), [target.type, _INT, _INT, _INT])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    read, second, data = (ir.Constant(_INT, value) for value in (0, 2, 1))
    builder.call(function, [target, read, second, data])


# Arithmetic


def _binary(function, build):
    pairs = [(Vector, Vector), (Vector, types.float64), (types.float64, Vector)]

    @infer_global(function)
    class _Typing(ConcreteTemplate):
        cases = [signature(Vector, *pair) for pair in pairs]

    def lower(context, builder, sig, args):
        return getattr(builder, build)(*widened(builder, sig.args, args))

    for pair in pairs:
        lower_builtin(function, *pair)(lower)


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


#: LLVM's fused operation on vectors; the second is fused where the processor can.
_FUSED = "fma" if LANES == 8 else "fmuladd"


def _fused(negative):
    """a·b + c with the argument number ``negative`` negated."""

    def typed(a, b, c):
        kind = common(a, b, c)

        def code(context, builder, sig, args):
            values = list(widened(builder, sig.args, args))
            if negative is not None:
                values[negative] = builder.fneg(values[negative])
            return call(builder, _FUSED if Vector in sig.args else "fma", *values)

        return kind and (kind(a, b, c), code)

    return typed


_plus, _minus, _from = _fused(None), _fused(2), _fused(0)


@intrinsic
def fma(typingctx, a, b, c):
    """a·b + c with one rounding."""
    return _plus(a, b, c)


@intrinsic
def fms(typingctx, a, b, c):
    """a·b − c with one rounding."""
    return _minus(a, b, c)


@intrinsic
def fnma(typingctx, a, b, c):
    """c − a·b with one rounding."""
    return _from(a, b, c)


@intrinsic
def spread(typingctx, number):
    """The float64 ``number`` in all lanes; one instruction with the load, if it comes from memory."""

    def code(context, builder, sig, args):
        return repeated(builder, args[0])

    return Vector(types.float64), code


@intrinsic
def total(typingctx, vector):
    """Sum of the eight lanes, by halves: ((0+4) + (2+6)) + ((1+5) + (3+7))."""

    def code(context, builder, sig, args):
        value = args[0]
        for width in (width for width in (4, 2, 1) if width < LANES):
            turned = shuffled(builder, value, value, [(lane + width) % LANES for lane in range(LANES)])
            value = builder.fadd(value, turned)
        return builder.extract_element(value, ir.Constant(_INT, 0))

    return types.float64(Vector), code


# Memory: ``place`` is an array or an address


def _doubles(place):
    return isinstance(place, (types.Array, types.CPointer)) and place.dtype == types.float64


@intrinsic
def load(typingctx, place, offset):
    """``load(a, o)``: the vector a[o:o+8]."""

    def code(context, builder, sig, args):
        return builder.load(vector_pointer(context, builder, place, *args), align=8)

    return (Vector(place, types.intp), code) if _doubles(place) else None


def _written(place, align, **metadata):
    """Signature and code of a store of whole vectors."""

    def code(context, builder, sig, args):
        target = vector_pointer(context, builder, place, *args[:2])
        written = builder.store(args[2], target, align=align)
        for name, value in metadata.items():
            written.set_metadata(name, builder.module.add_metadata([ir.Constant(_INT, value)]))
        return context.get_dummy_value()

    return (types.void(place, types.intp, Vector), code) if _doubles(place) else None


@intrinsic
def store(typingctx, place, offset, vector):
    """``store(a, o, v)``: a[o:o+8] = v."""
    return _written(place, 8)


@intrinsic
def stream(typingctx, place, offset, vector):
    """As ``store``, past the caches; the target must begin a cache line of 64 bytes."""
    return _written(place, 64, nontemporal=1)


@intrinsic
def store_some(typingctx, place, offset, vector, active):
    """As ``store``, only lanes whose bit in ``active`` is set; the others' memory is not touched."""

    def code(context, builder, sig, args):
        target = vector_pointer(context, builder, place, *args[:2])
        bits = builder.bitcast(builder.trunc(args[3], ir.IntType(LANES)), ir.VectorType(_BIT, LANES))
        kind = ir.FunctionType(ir.VoidType(), [_VECTOR, target.type, _INT, bits.type])
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.store.v{LANES}f64.p0")
        builder.call(function, [args[2], target, ir.Constant(_INT, 8), bits])
        return context.get_dummy_value()

    return (types.void(place, types.intp, Vector, types.int64), code) if _doubles(place) else None


@intrinsic
def fence(typingctx):
    """Make streamed stores visible to every thread."""

    def code(context, builder, sig, args):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), code


@intrinsic
def prefetch(typingctx, place, offset):
    """Ask for the cache line of a[o], into the second-level cache; never faults, any offset is allowed."""

    def code(context, builder, sig, args):
        ask_for(builder, builder.bitcast(pointer(context, builder, place, *args), ir.IntType(8).as_pointer()))
        return context.get_dummy_value()

    return types.void(place, types.intp), code


@intrinsic
def address(typingctx, array):
    """Pointer to the first element, of any type; the array must outlive it."""

    def code(context, builder, sig, args):
        return cgutils.create_struct_proxy(array)(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), code


@intrinsic
def place_at(typingctx, number, like):
    """The ``address`` with a number that ``array.ctypes.data`` gave; of the type of the array ``like``."""

    def code(context, builder, sig, args):
        return builder.inttoptr(args[0], context.get_value_type(sig.return_type))

    return types.CPointer(like.dtype)(types.uintp, like), code


@intrinsic
def at(typingctx, address, offset):
    """One element behind an ``address``."""

    def code(context, builder, sig, args):
        return builder.load(builder.gep(args[0], [args[1]]))

    return address.dtype(address, types.intp), code


@intrinsic
def put(typingctx, address, offset, value):
    """Write one element behind an ``address``."""

    def code(context, builder, sig, args):
        builder.store(args[2], builder.gep(args[0], [args[1]]))
        return context.get_dummy_value()

    return types.void(address, types.intp, address.dtype), code


@intrinsic
def distance(typingctx, address, origin):
    """Offset of one ``address`` from another, in doubles."""

    def code(context, builder, sig, args):
        bytes_ = builder.sub(builder.ptrtoint(args[0], _LONG), builder.ptrtoint(args[1], _LONG))
        return builder.sdiv(bytes_, ir.Constant(_LONG, 8))

    return types.int64(address, origin), code


# Shuffles


def _shuffle(*pattern):
    @intrinsic
    def shuffle(typingctx, a, b):
        def code(context, builder, sig, args):
            return shuffled(builder, *args, pattern)

        return Vector(Vector, Vector), code

    return shuffle


#: Three stages of exchanges in an 8×8 transposition: of neighbours, of pairs, of halves.
low1, high1 = _shuffle(0, 8, 2, 10, 4, 12, 6, 14), _shuffle(1, 9, 3, 11, 5, 13, 7, 15)
low2, high2 = _shuffle(0, 1, 8, 9, 4, 5, 12, 13), _shuffle(2, 3, 10, 11, 6, 7, 14, 15)
low4, high4 = _shuffle(0, 1, 2, 3, 8, 9, 10, 11), _shuffle(4, 5, 6, 7, 12, 13, 14, 15)
#: The transposition of a 2×2 matrix, where a vector has two lanes.
low_of_two, high_of_two = _shuffle(0, 2), _shuffle(1, 3)
#: Two successive doubles of each of two vectors, each twice: ``a0 a0 b0 b0 a1 a1 b1 b1`` and so on.
pairs0, pairs1 = _shuffle(0, 0, 8, 8, 1, 1, 9, 9), _shuffle(2, 2, 10, 10, 3, 3, 11, 11)
pairs2, pairs3 = _shuffle(4, 4, 12, 12, 5, 5, 13, 13), _shuffle(6, 6, 14, 14, 7, 7, 15, 15)


@kernel(inline=True)
def transpose(a, b, c, d, e, f, g, h):
    """The eight columns of the 8×8 matrix whose rows are the vectors ``a``, ``b``, ``c``, ``d``, ``e``, ``f``,
    ``g``, ``h``."""
    a, b, c, d = low1(a, b), high1(a, b), low1(c, d), high1(c, d)
    e, f, g, h = low1(e, f), high1(e, f), low1(g, h), high1(g, h)
    a, c, b, d = low2(a, c), high2(a, c), low2(b, d), high2(b, d)
    e, g, f, h = low2(e, g), high2(e, g), low2(f, h), high2(f, h)
    return (low4(a, e), low4(b, f), low4(c, g), low4(d, h), high4(a, e), high4(b, f), high4(c, g), high4(d, h))
