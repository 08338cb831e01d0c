"""The matrix product both the vertical integration and the Legendre product come down to.

    out[j, i] = Σ_k weights[k, j] · x[k, i],      i runs along the lanes

``weights`` is stored with j fastest, so that the twelve weights of one k stand side by side.  A panel
of 12 rows j and two vectors i keeps its 24 sums in registers of 512 bits while k runs: for each k two loads of x,
twelve weights that feed all lanes, 24 fused multiply-adds.  Where a vector takes several registers, or there are
fewer, a panel has as many sums as fit (``shape``).  Every sum runs over k in order, whatever
panel it falls into, so results do not depend on the panel's shape or the width.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernels.runtime.jit import kernel
from kernels.runtime.registers import HERE, Registers
from kernels.runtime.vector import LANES, call, repeated


class Matrix(NamedTuple):
    """A matrix in an array, row by row."""

    values: np.ndarray  # float64, flat
    place: int  # of its first number, doubles
    stride: int  # from a row to the next, doubles


_SHORT, _ONE = (0,) * 4, (0,)


def shape(lanes: int, registers: Registers = HERE) -> tuple[int, int]:
    """Rows and vectors of a panel whose sums, of ``lanes`` numbers each, stay in the ``registers``."""
    sums = registers.chains // max(1, lanes // registers.lanes)
    return (12, 2) if sums >= 24 else (6, 2) if sums >= 12 else (sums, 1)


def _shape_by_width(part):
    """The intrinsic that gives a tuple as long as one part of the shape for a width."""

    @intrinsic
    def function(typingctx, width):
        kind = types.UniTuple(types.int64, shape(width.count)[part])

        def codegen(context, builder, sig, args):
            return context.get_constant_null(kind)

        return kind(width), codegen

    return function


_tall, _several = _shape_by_width(0), _shape_by_width(1)


@intrinsic
def _panel(typingctx, shape, weights, x, out, depth):
    """One panel; ``shape`` is (rows, vectors, width), of which only the lengths count.

    out[r, i] = Σ_k weights[k, r] · x[k, i]; the three are ``Matrix``, ``depth`` counts k.
    """
    rows, vectors, lanes = (part.count for part in shape.types)

    def codegen(context, builder, sig, args):
        (w_, w0_, ws_), (x_, x0_, xs_), (out_, o0_, os_) = (cgutils.unpack_tuple(builder, each) for each in args[1:4])
        depth_ = args[4]
        double, long = ir.DoubleType(), ir.IntType(64)
        number = ir.VectorType(double, lanes) if lanes > 1 else double

        def place(kind, array, offset):
            return builder.gep(cgutils.create_struct_proxy(kind)(context, builder, array).data, [offset])

        def along(start, steps, stride):
            return builder.add(start, builder.mul(steps, stride))

        zero = ir.Constant(number, [0.0] * lanes if lanes > 1 else 0.0)
        sums = [[cgutils.alloca_once_value(builder, zero) for _ in range(vectors)] for _ in range(rows)]
        for slot in (slot for line in sums for slot in line):
            builder.store(zero, slot)
        with cgutils.for_range(builder, depth_, intp=long) as loop:
            first = place(x.types[0], x_, along(x0_, loop.index, xs_))
            given = [
                builder.load(
                    builder.bitcast(builder.gep(first, [ir.Constant(long, v * lanes)]), number.as_pointer()), align=8
                )
                for v in range(vectors)
            ]
            start = place(weights.types[0], w_, along(w0_, loop.index, ws_))
            for r, line in enumerate(sums):
                weight = builder.load(builder.gep(start, [ir.Constant(long, r)]), align=8)
                if lanes > 1:
                    weight = repeated(builder, weight)
                for value, slot in zip(given, line, strict=True):
                    builder.store(call(builder, "fma", weight, value, builder.load(slot)), slot)
        for r, line in enumerate(sums):
            target = place(out.types[0], out_, along(o0_, ir.Constant(long, r), os_))
            for v, slot in enumerate(line):
                pointer = builder.gep(target, [ir.Constant(long, v * lanes)])
                builder.store(builder.load(slot), builder.bitcast(pointer, number.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(shape, weights, x, out, types.intp), codegen


@kernel
def multiply(weights, x, out, rows, depth, count, width):
    """The product of two matrices, ``width`` (``SCALAR`` or ``VECTOR``) columns at a time.

    ``weights``, ``x``, ``out``: ``Matrix`` of shapes (``depth``, ``rows``), (``depth``, ``count``) and (``rows``,
    ``count``), the last written; ``count``: places of a row, whole vectors.
    """
    high, many = _tall(width), _several(width)
    r, step, least = 0, len(width), len(high)
    while r < rows:
        # the last panel starts early enough to be full: a few rows are computed twice, alike
        tall, short = rows >= least and rows - r > 4, rows >= 4
        r = min(r, rows - least) if tall else min(r, rows - 4) if short else r
        w, i = (weights.values, weights.place + r, weights.stride), 0
        while i < count:
            wide = count - i >= len(many) * step
            y, o = (x.values, x.place + i, x.stride), (out.values, out.place + r * out.stride + i, out.stride)
            if tall and wide:
                _panel((high, many, width), w, y, o, depth)
            elif tall:
                _panel((high, _ONE, width), w, y, o, depth)
            elif short and wide:
                _panel((_SHORT, many, width), w, y, o, depth)
            elif short:
                _panel((_SHORT, _ONE, width), w, y, o, depth)
            elif wide:
                _panel((_ONE, many, width), w, y, o, depth)
            else:
                _panel((_ONE, _ONE, width), w, y, o, depth)
            i += len(many) * step if wide else step
        r += least if tall else 4 if short else 1


def padded(columns: int) -> int:
    """Places of a row of ``columns`` numbers, in whole vectors."""
    return -(-columns // LANES) * LANES
