"""Compiled parts of the semi-Lagrangian interpolation; equations and sources in ``interpolation``.

A field with margin is one array of doubles: ``along`` apart are the rows of a level, ``up`` apart the
levels, and its point (0, 0, 0) is at ``start``.  The position of a grid box is a whole number kept in a
float64, so that it lies in the same kind of array as the weights.

The compiled schemes work on a ``thread``'s share of the ``blocks`` (:class:`blocking.Blocks`), ``width`` (``SCALAR`` or
``VECTOR``) columns at a time.  All arrays are float64 and flat: ``field`` with margin, as ``mesh`` (:class:`Mesh`)
says; ``departure``, points (x, y, z) in grid intervals; ``stencil``, what :func:`weights` writes; ``values``, in the
field's unit.  ``top`` is the number of the last level.
"""

from typing import NamedTuple

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from supercomputers_rerun.kernels.routines.blocking import one_by_one, share
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.vector import (
    LANES,
    Lanes,
    floor,
    fma,
    less,
    load_as,
    pointer,
    select,
    shuffled,
    store,
)

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
            start = builder.gep(pointer(context, builder, array, args[0]), [args[2]])
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


class Mesh(NamedTuple):
    """Where the points of a field with margin lie in its array; doubles."""

    start: int  # the point (0, 0, 0)
    along: int  # from a row of a level to the next
    up: int  # from a level to the next


@kernel(inline=True)
def box(x, y, z, last, along, up):
    """Position of the corner (0, 0, 0) of the grid box of the point ``x``, ``y``, ``z``, and the distances from it.

    ``last`` is the number of the last layer; the position counts from the first point of the grid.
    """
    column, row, layer = floor(x), floor(y), floor(z)
    layer = select(less(layer, 0.0), 0.0, layer)
    layer = select(less(last, layer), last, layer)
    return fma(layer, up, fma(row, along, column)), x - column, y - row, z - layer


@kernel(inline=True)
def between(a, b, s):
    """a + s (b − a)."""
    return fma(s, b - a, a)


@kernel(inline=True)
def four_corners(field, position, start, along, dx, dy):
    """Bilinear value on one level.

    ``field`` (float64, flat) counts from ``start``; ``position`` is that of the corner (0, 0), ``along`` the
    distance of rows, both in doubles; ``dx``, ``dy`` in grid intervals.
    """
    near = between(*gather_two(field, position, start), dx)
    far = between(*gather_two(field, position, start + along), dx)
    return between(near, far, dy)


@kernel(inline=True)
def eight_corners(field, position, mesh, dx, dy, dz):
    """Trilinear value at the distances ``dx``, ``dy``, ``dz`` from the corner at ``position``, see ``four_corners``
    for ``field``; ``mesh`` is a ``Mesh``."""
    return between(
        four_corners(field, position, mesh.start, mesh.along, dx, dy),
        four_corners(field, position, mesh.start + mesh.up, mesh.along, dx, dy),
        dz,
    )


@kernel(inline=True)
def cubic_weights(s):
    """Lagrange's weights at −1, 0, 1, 2."""
    before, after, beyond = s + 1.0, s - 1.0, s - 2.0
    inner, outer = after * beyond, before * s
    return s * inner * (-1.0 / 6.0), before * inner * 0.5, outer * beyond * -0.5, outer * after * (1.0 / 6.0)


@kernel
def weights(departure, stencil, mesh, top, width, blocks, thread):
    """Position, three distances and twelve weights of every point of ``departure``, blocked, into ``stencil``."""
    row, along, up = blocks.row, float(mesh.along), float(mesh.up)
    first, end = share(blocks, thread)
    for line in range(first * blocks.levels, end * blocks.levels):
        for lane in range(0, blocks.count, len(width)):
            i = 3 * line * row + lane
            z = one_by_one(load_as(departure, i + 2 * row, width))
            x, y = load_as(departure, i, width), load_as(departure, i + row, width)
            p, dx, dy, dz = box(x, y, z, top - 1.0, along, up)
            o = 16 * line * row + lane
            store(stencil, o, p)
            store(stencil, o + row, dx)
            store(stencil, o + 2 * row, dy)
            store(stencil, o + 3 * row, dz)
            for axis, s in enumerate((dx, dy, dz)):
                w0, w1, w2, w3 = cubic_weights(s)
                if axis == 2:  # linear in the outermost layers
                    outside = less(z, 1.0)
                    w0, w3 = select(outside, 0.0, w0), select(outside, 0.0, w3)
                    w1, w2 = select(outside, 1.0 - s, w1), select(outside, s, w2)
                    outside = less(top - 1.0, z)
                    w0, w3 = select(outside, 0.0, w0), select(outside, 0.0, w3)
                    w1, w2 = select(outside, 1.0 - s, w1), select(outside, s, w2)
                at = o + (4 + 4 * axis) * row
                store(stencil, at, w0)
                store(stencil, at + row, w1)
                store(stencil, at + 2 * row, w2)
                store(stencil, at + 3 * row, w3)


@kernel(inline=True)
def four_numbers(stencil, i, row, width):
    """Position and distances, or the weights of one axis: from place ``i`` of ``stencil`` on, every ``row`` doubles."""
    return (
        load_as(stencil, i, width),
        load_as(stencil, i + row, width),
        load_as(stencil, i + 2 * row, width),
        load_as(stencil, i + 3 * row, width),
    )


@kernel
def linear(field, stencil, values, mesh, width, blocks, thread):
    """Trilinear values of ``field`` into ``values``."""
    row = blocks.row
    first, end = share(blocks, thread)
    for line in range(first * blocks.levels, end * blocks.levels):
        for lane in range(0, blocks.count, len(width)):
            p, dx, dy, dz = four_numbers(stencil, 16 * line * row + lane, row, width)
            store(values, line * row + lane, eight_corners(field, one_by_one(p), mesh, dx, dy, dz))


@kernel(inline=True)
def four_terms(w0, w1, w2, w3, a, b, c, d):
    """``w0·a + w1·b + w2·c + w3·d``, numbers or vectors."""
    return fma(w3, d, fma(w2, c, fma(w1, b, w0 * a)))


@kernel(inline=True)
def smaller(a, b):
    """The smaller of ``a`` and ``b``."""
    return select(less(b, a), b, a)


@kernel(inline=True)
def larger(a, b):
    """The larger of ``a`` and ``b``."""
    return select(less(a, b), b, a)


@kernel(inline=True)
def twelve_points(field, p, start, along, dx, wx, wy):
    """Value on a near level, and the range of its four corners.

    ``field``, ``p`` (the position), ``start``, ``along`` and ``dx`` as in ``four_corners``; ``wx`` and ``wy`` are
    four weights each.
    """
    row0 = between(*gather_two(field, p, start - along), dx)
    a, b, c, d = gather_four(field, p, start - 1)
    least, most = smaller(b, c), larger(b, c)
    row1 = four_terms(*wx, a, b, c, d)
    a, b, c, d = gather_four(field, p, start + along - 1)
    least, most = smaller(least, smaller(b, c)), larger(most, larger(b, c))
    row2 = four_terms(*wx, a, b, c, d)
    row3 = between(*gather_two(field, p, start + 2 * along), dx)
    return four_terms(*wy, row0, row1, row2, row3), least, most


@kernel
def cubic(field, stencil, values, mesh, width, blocks, thread):
    """Cubic values of ``field`` into ``values``, within the range of the eight corners."""
    row, along, up, begin = blocks.row, mesh.along, mesh.up, mesh.start
    first, end = share(blocks, thread)
    for line in range(first * blocks.levels, end * blocks.levels):
        for lane in range(0, blocks.count, len(width)):
            i = 16 * line * row + lane
            p = one_by_one(load_as(stencil, i, width))
            dx, dy = load_as(stencil, i + row, width), load_as(stencil, i + 2 * row, width)
            wx = four_numbers(stencil, i + 4 * row, row, width)
            wy = four_numbers(stencil, i + 8 * row, row, width)
            level1, least1, most1 = twelve_points(field, p, begin, along, dx, wx, wy)
            level2, least2, most2 = twelve_points(field, p, begin + up, along, dx, wx, wy)
            level0 = four_corners(field, p, begin - up, along, dx, dy)
            level3 = four_corners(field, p, begin + 2 * up, along, dx, dy)
            wz = four_numbers(stencil, i + 12 * row, row, width)
            value = larger(four_terms(*wz, level0, level1, level2, level3), smaller(least1, least2))
            store(values, line * row + lane, smaller(value, larger(most1, most2)))
