"""Vectors in memory and their shuffles, beside the arithmetic of ``kernels.runtime.lanes``.

Offsets count elements from the first of a C-contiguous array or from its ``address``; nothing is checked.  Kernels
called many thousand times pass addresses: numba counts the references to an array with locked instructions in every
function that uses it in more than one branch.
"""

from llvmlite import ir
from numba import types
from numba.core.typing.templates import signature

from kernels.runtime.jit import kernel
from kernels.runtime.lanes import (
    LANES,
    SINGLES,
    Lanes,
    Vector,
    call,
    called,
    emitted,
    fma,
    fms,
    fnma,
    pointer,
    repeated,
    shuffled,
    spread,
    suffix,
    total,
    vector_of,
    wide_type,
)

__all__ = ["LANES", "SINGLES", "Vector", "call", "fma", "fms", "fnma", "pointer", "repeated", "shuffled", "spread"]
__all__ += ["total"]

_LONG, _INT = ir.IntType(64), ir.IntType(32)


def _bytes(element):
    """Bytes of a number by its LLVM type, which are its alignment."""
    return 4 if element in (ir.FloatType(), _INT) else 8


def _placed(builder, place, offset, kind):
    """The pointer to an LLVM type that begins at an element."""
    return builder.bitcast(builder.gep(place, [offset]), kind.as_pointer())


def _read(builder, place, offset, kind):
    """The value of an LLVM type that begins at an element."""
    return builder.load(_placed(builder, place, offset, kind), align=_bytes(place.type.pointee))


# Memory: ``place`` is an array or an address


def _vectors(place):
    """Type of the vectors in an array or behind an address, None where there are none."""
    return vector_of(place.dtype) if isinstance(place, (types.Array, types.CPointer)) else None


def _loads(place, offset):
    kind = _vectors(place)
    return kind and signature(kind, place, types.intp)


@emitted(_loads)
def load(builder, place, offset):
    """``load(a, o)``: the vector a[o:o+8], or of sixteen where numbers have 32 bits."""
    return _read(builder, place, offset, wide_type(place.type.pointee))


def _loads_as(place, offset, width):
    kind = place.dtype if width.count == 1 else Lanes(place.dtype, width.count)
    return signature(kind, place, types.intp, width) if _vectors(place) else None


@emitted(_loads_as)
def load_as(builder, place, offset, width):
    """``load_as(a, o, width)``: a vector of as many numbers as the tuple ``width`` has, or the number a[o] for one."""
    element, count = place.type.pointee, len(width.type)
    return _read(builder, place, offset, element if count == 1 else ir.VectorType(element, count))


def _stores(place, offset, value):
    number = value.dtype if isinstance(value, Lanes) else value
    return signature(types.void, place, types.intp, value) if _vectors(place) and number == place.dtype else None


@emitted(_stores)
def store(builder, place, offset, value):
    """``store(a, o, v)``: a[o:o+8] = v for a vector of eight, a[o] = v for a number."""
    builder.store(value, _placed(builder, place, offset, value.type), align=_bytes(place.type.pointee))


@emitted(_stores)
def stream(builder, place, offset, value):
    """As ``store``, past the caches; the target must begin a cache line of 64 bytes."""
    written = builder.store(value, _placed(builder, place, offset, value.type), align=64)
    written.set_metadata("nontemporal", builder.module.add_metadata([ir.Constant(_INT, 1)]))


def _stores_some(place, offset, vector, active):
    good = isinstance(vector, Lanes) and vector == _vectors(place)
    return signature(types.void, place, types.intp, vector, types.int64) if good else None


@emitted(_stores_some)
def store_some(builder, place, offset, vector, active):
    """As ``store``, only lanes whose bit in ``active`` is set; the others' memory is not touched."""
    kind, count = vector.type, vector.type.count
    bits = builder.bitcast(builder.trunc(active, ir.IntType(count)), ir.VectorType(ir.IntType(1), count))
    parts = vector, _placed(builder, place, offset, kind), ir.Constant(_INT, _bytes(kind.element)), bits
    called(builder, f"llvm.masked.store.{suffix(kind)}.p0", ir.VoidType(), *parts)


def _gathers(place, offset, index, count):
    kind, other = _vectors(place), _vectors(index)
    good = kind and other and other.count == kind.count and isinstance(index.dtype, types.Integer)
    return signature(kind, place, types.intp, index, types.intp) if good else None


@emitted(_gathers)
def gather(builder, place, offset, index, count):
    """``gather(a, o, i, k)``: lanes a[o + i[k]], a[o + i[k+1]] …; ``a`` and ``i`` have numbers of as many bits."""
    vector = wide_type(place.type.pointee)
    lanes, where = vector.count, _read(builder, index, count, wide_type(index.type.pointee))
    where = builder.sext(where, ir.VectorType(_LONG, lanes))
    base = repeated(builder, builder.gep(place, [offset]), lanes)
    pointers = builder.gep(base, [where], source_etype=vector.element)
    every = ir.Constant(ir.VectorType(ir.IntType(1), lanes), [1] * lanes)
    align, none = ir.Constant(_INT, _bytes(vector.element)), ir.Constant(vector, ir.Undefined)
    return called(builder, f"llvm.masked.gather.{suffix(vector)}.v{lanes}p0", vector, pointers, align, every, none)


@emitted(lambda: signature(types.void))
def fence(builder):
    """Make streamed stores visible to every thread."""
    builder.fence("seq_cst")


@emitted(lambda place, offset: signature(types.void, place, types.intp))
def prefetch(builder, place, offset):
    """Ask for the cache line of a[o], into the second-level cache; never faults, any offset is allowed."""
    target = _placed(builder, place, offset, ir.IntType(8))
    called(builder, "llvm.prefetch.p0", ir.VoidType(), target, *(ir.Constant(_INT, value) for value in (0, 2, 1)))


@emitted(lambda array: types.CPointer(array.dtype))
def address(builder, array):
    """Pointer to the first element, of any type; the array must outlive it."""
    return array


@emitted(lambda number, like: signature(types.CPointer(like.dtype), types.uintp, like))
def place_at(builder, number, like):
    """The ``address`` with a number that ``array.ctypes.data`` gave; of the type of the array ``like``."""
    return builder.inttoptr(number, like.type)


@emitted(lambda address, offset: signature(address.dtype, address, types.intp))
def at(builder, address, offset):
    """One element behind an ``address``."""
    return builder.load(builder.gep(address, [offset]))


@emitted(lambda address, offset, value: signature(types.void, address, types.intp, address.dtype))
def put(builder, address, offset, value):
    """Write one element behind an ``address``."""
    builder.store(value, builder.gep(address, [offset]))


@emitted(lambda address, origin: types.int64)
def distance(builder, address, origin):
    """Offset of one ``address`` from another, in doubles."""
    bytes_ = builder.sub(builder.ptrtoint(address, _LONG), builder.ptrtoint(origin, _LONG))
    return builder.sdiv(bytes_, ir.Constant(_LONG, 8))


# Shuffles


def shuffle(*pattern):
    """The intrinsic of two vectors that gives their lanes by number, those of the second counted on."""

    @emitted(lambda a, b: Lanes(a.dtype, len(pattern)))
    def function(builder, a, b):
        return shuffled(builder, a, b, pattern)

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


def _blocks(source, first, step, target, begin, stride):
    whole, good = types.intp, _vectors(source) and _vectors(source) == _vectors(target)
    return signature(types.void, source, whole, whole, target, whole, whole) if good else None


@emitted(_blocks)
def transpose_block(builder, source, first, step, target, begin, stride):
    """Write the square block whose rows, vectors, begin at s[first + r·step] to t[begin + c·stride], transposed."""
    kind = wide_type(source.type.pointee)
    count = width = kind.count

    def places(start, step):
        return [builder.add(start, builder.mul(step, ir.Constant(_LONG, row))) for row in range(count)]

    rows = [_read(builder, source, place, kind) for place in places(first, step)]
    while width > 1:
        width //= 2
        low = [lane - width + count if lane & width else lane for lane in range(count)]
        high = [lane + count if lane & width else lane + width for lane in range(count)]
        for row in (row for row in range(count) if not row & width):
            a, b = rows[row], rows[row + width]
            rows[row], rows[row + width] = (shuffled(builder, a, b, pattern) for pattern in (low, high))
    for value, place in zip(rows, places(begin, stride), strict=True):
        builder.store(value, _placed(builder, target, place, kind), align=_bytes(kind.element))
