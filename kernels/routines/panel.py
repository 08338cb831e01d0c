"""The matrix product both the vertical integration and the Legendre product come down to.

    out[j, i] = Σ_k weights[k, j] · x[k, i],      i runs along the lanes

``weights`` is stored with j fastest, so that the twelve weights of one k stand side by side.  A panel
of 12 rows j and two vectors i keeps its 24 sums in registers while k runs: for each k two loads of x,
twelve weights that feed all lanes, 24 fused multiply-adds.  Every sum runs over k in order, whatever
panel it falls into, so results do not depend on the panel's shape or the width.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernels.runtime.jit import kernel
from kernels.runtime.vector import LANES, call, repeated

_TALL, _SHORT, _ONE = (0,) * 12, (0,) * 4, (0,)
_PAIR = (0,) * 2


@intrinsic
def _panel(typingctx, shape, weights, w0, ws, x, x0, xs, out, o0, os, depth):
    """One panel; ``shape`` is (rows, vectors, width), of which only the lengths count.

    out[o0 + r·os + i] = Σ_k weights[w0 + k·ws + r] · x[x0 + k·xs + i], offsets in doubles.
    """
    rows, vectors, lanes = (part.count for part in shape.types)

    def codegen(context, builder, sig, args):
        _, w_, w0_, ws_, x_, x0_, xs_, out_, o0_, os_, depth_ = args
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
            first = place(x, x_, along(x0_, loop.index, xs_))
            given = [
                builder.load(
                    builder.bitcast(builder.gep(first, [ir.Constant(long, v * lanes)]), number.as_pointer()), align=8
                )
                for v in range(vectors)
            ]
            start = place(weights, w_, along(w0_, loop.index, ws_))
            for r, line in enumerate(sums):
                weight = builder.load(builder.gep(start, [ir.Constant(long, r)]), align=8)
                if lanes > 1:
                    weight = repeated(builder, weight)
                for value, slot in zip(given, line, strict=True):
                    builder.store(call(builder, "fma", weight, value, builder.load(slot)), slot)
        for r, line in enumerate(sums):
            target = place(out, out_, along(o0_, ir.Constant(long, r), os_))
            for v, slot in enumerate(line):
                pointer = builder.gep(target, [ir.Constant(long, v * lanes)])
                builder.store(builder.load(slot), builder.bitcast(pointer, number.as_pointer()), align=8)
        return context.get_dummy_value()

    offset = types.intp
    return types.void(shape, weights, offset, offset, x, offset, offset, out, offset, offset, offset), codegen


@kernel
def multiply(weights, w0, ws, x, x0, xs, out, o0, os, rows, depth, count, width):
    """The product for ``rows`` rows and ``count`` places of a row (whole vectors), offsets in doubles."""
    r = 0
    while r < rows:
        # the last panel starts early enough to be full: a few rows are computed twice, alike
        tall, short = rows >= 12 and rows - r > 4, rows >= 4
        r = min(r, rows - 12) if tall else min(r, rows - 4) if short else r
        w, o, i = w0 + r, o0 + r * os, 0
        while i < count:
            wide = count - i >= 2 * len(width)
            if tall and wide:
                _panel((_TALL, _PAIR, width), weights, w, ws, x, x0 + i, xs, out, o + i, os, depth)
            elif tall:
                _panel((_TALL, _ONE, width), weights, w, ws, x, x0 + i, xs, out, o + i, os, depth)
            elif short and wide:
                _panel((_SHORT, _PAIR, width), weights, w, ws, x, x0 + i, xs, out, o + i, os, depth)
            elif short:
                _panel((_SHORT, _ONE, width), weights, w, ws, x, x0 + i, xs, out, o + i, os, depth)
            elif wide:
                _panel((_ONE, _PAIR, width), weights, w, ws, x, x0 + i, xs, out, o + i, os, depth)
            else:
                _panel((_ONE, _ONE, width), weights, w, ws, x, x0 + i, xs, out, o + i, os, depth)
            i += 2 * len(width) if wide else len(width)
        r += 12 if tall else 4 if short else 1


def padded(columns: int) -> int:
    """Places of a row of ``columns`` numbers, in whole vectors."""
    return -(-columns // LANES) * LANES
