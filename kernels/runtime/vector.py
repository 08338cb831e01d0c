"""Vectors in memory and their shuffles, beside the arithmetic of ``kernels.runtime.lanes``.

Offsets count elements from the first of a C-contiguous array or from its ``address``; nothing is checked.  Kernels
called many thousand times pass addresses: numba counts the references to an array with locked instructions in every
function that uses it in more than one branch.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernels.runtime.jit import kernel
from kernels.runtime.lanes import (
    LANES,
    SINGLES,
    Lanes,
    Vector,
    call,
    fma,
    fms,
    fnma,
    repeated,
    shuffled,
    spread,
    suffix,
    total,
    vector_of,
)

__all__ = ["LANES", "SINGLES", "Vector", "call", "fma", "fms", "fnma", "repeated", "shuffled", "spread", "total"]

_LONG, _INT = ir.IntType(64), ir.IntType(32)


def pointer(context, builder, kind, base, offset):
    """LLVM pointer to one element of an array or behind an address, whose numba type is ``kind``."""
    if isinstance(kind, types.Array):
        base = cgutils.create_struct_proxy(kind)(context, builder, base).data
    return builder.gep(base, [offset])


def _vector_pointer(context, builder, kind, base, offset):
    """The same, as a pointer to the vector that begins there."""
    wide = context.get_value_type(vector_of(kind.dtype))
    return builder.bitcast(pointer(context, builder, kind, base, offset), wide.as_pointer())


def ask_for(builder, target, level=2):
    """Ask for the cache line behind an LLVM pointer to a byte, into the cache of a level from 1 to 3; never faults."""
    kind = ir.FunctionType(ir.VoidType(), [target.type, _INT, _INT, _INT])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    read, near, data = (ir.Constant(_INT, value) for value in (0, 4 - level, 1))
    builder.call(function, [target, read, near, data])


# Memory: ``place`` is an array or an address


def _vectors(place):
    """Type of the vectors in an array or behind an address, None where there are none."""
    return vector_of(place.dtype) if isinstance(place, (types.Array, types.CPointer)) else None


@intrinsic
def load(typingctx, place, offset):
    """``load(a, o)``: the vector a[o:o+8], or of sixteen where numbers have 32 bits."""

    def code(context, builder, sig, args):
        target = _vector_pointer(context, builder, place, *args)
        return builder.load(target, align=place.dtype.bitwidth // 8)

    kind = _vectors(place)
    return kind and (kind(place, types.intp), code)


@intrinsic
def load_as(typingctx, place, offset, width):
    """``load_as(a, o, width)``: a vector of as many numbers as the tuple ``width`` has, or the number a[o] for one."""

    def code(context, builder, sig, args):
        target = pointer(context, builder, place, *args[:2])
        wanted = context.get_value_type(sig.return_type).as_pointer()
        return builder.load(builder.bitcast(target, wanted), align=place.dtype.bitwidth // 8)

    kind = place.dtype if width.count == 1 else Lanes(place.dtype, width.count)
    return (kind(place, types.intp, width), code) if _vectors(place) else None


def _written(place, value, align=None, **metadata):
    """Signature and code of a store of a vector or of one number."""

    def code(context, builder, sig, args):
        target = builder.bitcast(pointer(context, builder, place, *args[:2]), args[2].type.as_pointer())
        written = builder.store(args[2], target, align=align or place.dtype.bitwidth // 8)
        for name, number in metadata.items():
            written.set_metadata(name, builder.module.add_metadata([ir.Constant(_INT, number)]))
        return context.get_dummy_value()

    number = value.dtype if isinstance(value, Lanes) else value
    good = _vectors(place) and number == place.dtype
    return (types.void(place, types.intp, value), code) if good else None


@intrinsic
def store(typingctx, place, offset, value):
    """``store(a, o, v)``: a[o:o+8] = v for a vector of eight, a[o] = v for a number."""
    return _written(place, value)


@intrinsic
def stream(typingctx, place, offset, vector):
    """As ``store``, past the caches; the target must begin a cache line of 64 bytes."""
    return _written(place, vector, 64, nontemporal=1)


@intrinsic
def store_some(typingctx, place, offset, vector, active):
    """As ``store``, only lanes whose bit in ``active`` is set; the others' memory is not touched."""

    def code(context, builder, sig, args):
        target = _vector_pointer(context, builder, place, *args[:2])
        kind, count = args[2].type, vector.count
        bits = builder.bitcast(builder.trunc(args[3], ir.IntType(count)), ir.VectorType(ir.IntType(1), count))
        name = f"llvm.masked.store.{suffix(kind)}.p0"
        masked = ir.FunctionType(ir.VoidType(), [kind, target.type, _INT, bits.type])
        function = cgutils.get_or_insert_function(builder.module, masked, name)
        builder.call(function, [args[2], target, ir.Constant(_INT, place.dtype.bitwidth // 8), bits])
        return context.get_dummy_value()

    good = isinstance(vector, Lanes) and vector == _vectors(place)
    return (types.void(place, types.intp, vector, types.int64), code) if good else None


@intrinsic
def gather(typingctx, place, offset, index, count):
    """``gather(a, o, i, k)``: lanes a[o + i[k]], a[o + i[k+1]] …; ``a`` and ``i`` have numbers of as many bits."""

    def code(context, builder, sig, args):
        vector, lanes = context.get_value_type(kind), kind.count
        base = repeated(builder, pointer(context, builder, place, *args[:2]), lanes)
        where = builder.load(_vector_pointer(context, builder, index, *args[2:]), align=index.dtype.bitwidth // 8)
        pointers = builder.gep(base, [builder.sext(where, ir.VectorType(_LONG, lanes))], source_etype=vector.element)
        every = ir.Constant(ir.VectorType(ir.IntType(1), lanes), [1] * lanes)
        parts = [pointers, ir.Constant(_INT, place.dtype.bitwidth // 8), every, ir.Constant(vector, ir.Undefined)]
        masked = ir.FunctionType(vector, [part.type for part in parts])
        name = f"llvm.masked.gather.{suffix(vector)}.v{lanes}p0"
        return builder.call(cgutils.get_or_insert_function(builder.module, masked, name), parts)

    kind = _vectors(place)
    good = kind and _vectors(index) and _vectors(index).count == kind.count and isinstance(index.dtype, types.Integer)
    return (kind(place, types.intp, index, types.intp), code) if good else None


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


def shuffle(*pattern):
    """The intrinsic of two vectors that gives their lanes by number, those of the second counted on."""

    @intrinsic
    def function(typingctx, a, b):
        def code(context, builder, sig, args):
            return shuffled(builder, *args, pattern)

        return Lanes(a.dtype, len(pattern))(a, b), code

    return function


#: Three stages of exchanges in an 8×8 transposition: of neighbours, of pairs, of halves.
low1, high1 = shuffle(0, 8, 2, 10, 4, 12, 6, 14), shuffle(1, 9, 3, 11, 5, 13, 7, 15)
low2, high2 = shuffle(0, 1, 8, 9, 4, 5, 12, 13), shuffle(2, 3, 10, 11, 6, 7, 14, 15)
low4, high4 = shuffle(0, 1, 2, 3, 8, 9, 10, 11), shuffle(4, 5, 6, 7, 12, 13, 14, 15)
#: The transposition of a 2×2 matrix, where a vector has two lanes.
low_of_two, high_of_two = shuffle(0, 2), shuffle(1, 3)
#: Two successive doubles of each of two vectors, each twice: ``a0 a0 b0 b0 a1 a1 b1 b1`` and so on.
pairs0, pairs1 = shuffle(0, 0, 8, 8, 1, 1, 9, 9), shuffle(2, 2, 10, 10, 3, 3, 11, 11)
pairs2, pairs3 = shuffle(4, 4, 12, 12, 5, 5, 13, 13), shuffle(6, 6, 14, 14, 7, 7, 15, 15)


@kernel(inline=True)
def transpose(a, b, c, d, e, f, g, h):
    """The eight columns of the 8×8 matrix whose rows are the vectors ``a``, ``b``, ``c``, ``d``, ``e``, ``f``,
    ``g``, ``h``."""
    a, b, c, d = low1(a, b), high1(a, b), low1(c, d), high1(c, d)
    e, f, g, h = low1(e, f), high1(e, f), low1(g, h), high1(g, h)
    a, c, b, d = low2(a, c), high2(a, c), low2(b, d), high2(b, d)
    e, g, f, h = low2(e, g), high2(e, g), low2(f, h), high2(f, h)
    return (low4(a, e), low4(b, f), low4(c, g), low4(d, h), high4(a, e), high4(b, f), high4(c, g), high4(d, h))


@intrinsic
def transpose_block(typingctx, source, first, step, target, begin, stride):
    """Write the square block whose rows, vectors, begin at s[first + r·step] to t[begin + c·stride], transposed."""

    def code(context, builder, sig, args):
        def places(kind, base, start, step):
            for row in range(count):
                offset = builder.add(start, builder.mul(step, ir.Constant(_LONG, row)))
                yield _vector_pointer(context, builder, kind, base, offset)

        align, count = source.dtype.bitwidth // 8, vector.count
        rows = [builder.load(place, align=align) for place in places(source, *args[:3])]
        width = count
        while width > 1:
            width //= 2
            low = [lane - width + count if lane & width else lane for lane in range(count)]
            high = [lane + count if lane & width else lane + width for lane in range(count)]
            for row in (row for row in range(count) if not row & width):
                a, b = rows[row], rows[row + width]
                rows[row], rows[row + width] = (shuffled(builder, a, b, pattern) for pattern in (low, high))
        for value, place in zip(rows, places(target, *args[3:]), strict=True):
            builder.store(value, place, align=align)
        return context.get_dummy_value()

    vector, whole = _vectors(source), types.intp
    return (types.void(source, whole, whole, target, whole, whole), code) if vector == _vectors(target) else None
