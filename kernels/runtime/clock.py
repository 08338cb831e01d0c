"""The clock inside compiled code, so that threads of one region can say when they began and ended."""

import time

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernels.runtime.jit import kernel
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


@kernel
def now():
    """Seconds of the clock that regions stamp, to compare with their stamps."""
    return monotonic()


class Account:
    """Where the time of parallel regions goes, by the stamps that their threads leave.

    A region is called with ``stamps``, float64 (threads, 2), into which each thread writes the clock before and
    after its share.  What is left of a region's time is waiting: for the others to begin and to end.
    """

    def __init__(self):
        self.parts: dict[str, tuple[int, float]] = {}  # calls of each function, and s of the clock inside
        self.computing = 0.0  # s, mean over the threads
        self.waiting = 0.0  # s, mean over the threads

    def region(self, function, stamps, *arguments) -> None:
        """Call ``function(*arguments, stamps)`` and book its time."""
        begin = now()
        function(*arguments, stamps)
        elapsed = now() - begin
        busy = float((stamps[:, 1] - stamps[:, 0]).mean())
        self.computing += busy
        self.waiting += elapsed - busy
        calls, seconds = self.parts.get(function.__name__, (0, 0.0))
        self.parts[function.__name__] = calls + 1, seconds + elapsed

    def split(self, seconds: float) -> dict[str, float]:
        """``seconds`` of the clock as computing, waiting at barriers, and serial: outside of every region."""
        inside = self.computing + self.waiting
        return {"computing": self.computing, "waiting": self.waiting, "serial": max(0.0, seconds - inside)}
