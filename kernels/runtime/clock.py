"""The clock inside compiled code."""

import time

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernels.runtime.target import WASM

# None: without this clock, where every time is zero
_CLOCK = None if WASM else getattr(time, "CLOCK_MONOTONIC", None)


@intrinsic
def monotonic(typingctx):
    """Seconds of the system's monotonic clock, float64; some twenty nanoseconds."""

    def codegen(context, builder, sig, args):
        double, long, word = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
        if _CLOCK is None:
            return ir.Constant(double, 0.0)
        place = cgutils.alloca_once(builder, ir.LiteralStructType([long, long]))
        kind = ir.FunctionType(word, [word, place.type])
        builder.call(
            cgutils.get_or_insert_function(builder.module, kind, "clock_gettime"), [ir.Constant(word, _CLOCK), place]
        )
        seconds, nanoseconds = (
            builder.sitofp(builder.load(builder.gep(place, [ir.Constant(word, 0), ir.Constant(word, k)])), double)
            for k in (0, 1)
        )
        return builder.fadd(seconds, builder.fmul(nanoseconds, ir.Constant(double, 1e-9)))

    return types.float64(), codegen
