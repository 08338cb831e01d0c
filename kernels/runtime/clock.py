"""Clocks: the system's in compiled code, and that at which a core runs at this moment."""

import time

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernels.runtime.jit import WASM, kernel, opaque

# None: without this clock, where every time is zero
_CLOCK = None if WASM else getattr(time, "CLOCK_MONOTONIC", None)
#: Additions of a chain, some milliseconds; long beside the clock's resolution and short beside a time slice.
LENGTH = 8_000_000


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


@kernel
def chain(length):
    """Add an unknown number ``length`` times (a multiple of 8), each time to the sum before; uint64.

    The addend is in a register, since processors of today carry out additions of constants without waiting.
    """
    total, addend = opaque(np.uint64(1)), opaque(np.uint64(3))
    for _ in range(length // 8):
        for _ in range(8):
            total = opaque(total + addend)
    return total


def hertz(samples: int = 5) -> float:
    """Clock periods a second of the core that runs this: length of the chain over its shortest time.

    Turbo is included, so it lies above the nominal clock where the processor allows that. ``ArithmeticError`` where the
    chain gave another sum than additions do.
    """
    chain(8)  # compile
    best = float("inf")
    for _ in range(samples):
        start = time.perf_counter()
        total = chain(LENGTH)
        best = min(best, time.perf_counter() - start)
        if total != 1 + 3 * LENGTH:
            raise ArithmeticError(f"a chain of {LENGTH} additions gave {total}, not {1 + 3 * LENGTH}")
    return LENGTH / best
