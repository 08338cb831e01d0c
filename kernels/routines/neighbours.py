"""Successive numbers at a place that each lane has for itself."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from kernels.runtime.vector import LANES, Lanes, pointer, shuffled

_DOUBLE, _LONG, _INT = ir.DoubleType(), ir.IntType(64), ir.IntType(32)


def _neighbours(count):
    """The intrinsic ``f(a, p, o)``: a[p + o], a[p + o + 1], … of every lane, ``count`` numbers or vectors.

    Each lane takes its neighbours in one load, and shuffles turn the rows of lanes into vectors: a gather for each
    neighbour would take eight loads where this takes a part of them, and on many processors a gather is a long
    sequence of smaller instructions besides.
    """

    @intrinsic
    def function(typingctx, array, position, offset):
        def code(context, builder, sig, args):
            start = pointer(context, builder, array, args[0], args[2])
            if isinstance(position, Lanes):
                index = builder.fptosi(args[1], ir.VectorType(_LONG, LANES))
                lanes = [builder.extract_element(index, ir.Constant(_INT, lane)) for lane in range(LANES)]
                found = _columns(builder, [_row(builder, start, lane, count) for lane in lanes])
            else:
                index = builder.fptosi(args[1], _LONG)
                places = [builder.add(index, ir.Constant(_LONG, number)) for number in range(count)]
                found = [builder.load(builder.gep(start, [place]), align=8) for place in places]
            return context.make_tuple(builder, sig.return_type, found)

        return types.UniTuple(position, count)(array, position, types.intp), code

    return function


gather_two = _neighbours(2)
gather_four = _neighbours(4)


def _row(builder, start, place, count):
    """``count`` doubles in a row as one LLVM vector."""
    target = builder.gep(start, [place])
    return builder.load(builder.bitcast(target, ir.VectorType(_DOUBLE, count).as_pointer()), align=8)


def _columns(builder, rows):
    """Eight rows of two or four doubles, turned: a vector of every row's first, of every row's second, …"""
    while rows[0].type.count < LANES:
        both = range(2 * rows[0].type.count)
        rows = [shuffled(builder, a, b, both) for a, b in zip(rows[::2], rows[1::2], strict=True)]
    if len(rows) == 2:
        return [shuffled(builder, *rows, [k + 2 * lane for lane in range(LANES)]) for k in range(2)]
    found = []
    for k in (0, 2):  # two columns of four lanes, then their halves
        pattern = [column + 4 * lane for column in (k, k + 1) for lane in range(4)]
        left, right = shuffled(builder, *rows[:2], pattern), shuffled(builder, *rows[2:], pattern)
        found += [shuffled(builder, left, right, [*range(at, at + 4), *range(at + 8, at + 12)]) for at in (0, 4)]
    return found
