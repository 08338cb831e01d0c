"""The compiled loops of ``smt``: chains of additions, alone and fed from arrays.

The loops without an array take ``n`` (iterations of a pass), ``passes`` and ``out`` (float64, at least as long
as the loop has chains), which gets the sums of the last pass.  The additions stay in order; product and sum may
fuse.
"""

import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic

from kernels.runtime.barriers import _X86, barrier, opaque, unknown
from kernels.runtime.jit import CONTRACT, kernel

FACTOR = 1.1


@intrinsic
def _one_more(typingctx, sums):
    """One added to each of ``sums``, a tuple of float64 whose values the compiler does not know."""

    def code(context, builder, sig, args):
        one = ir.Constant(ir.DoubleType(), 1.0)
        each = (
            builder.fadd(unknown(builder, value, "x" if _X86 else "w"), one)
            for value in cgutils.unpack_tuple(builder, args[0])
        )
        return context.make_tuple(builder, sums, list(each))

    return sums(sums), code


@kernel(inline=True)
def _chains(n, passes, sums, out):
    """As many chains as ``sums`` has zeros: out[: len(sums)] = n.  They do not become the lanes of one vector."""
    for _ in range(passes):
        found = sums
        for _i in range(n):
            found = _one_more(found)
        out[: len(sums)] = found
        barrier(out)


@kernel
def s1_loop(n, passes, out):
    """One chain: out[0] = n."""
    _chains(n, passes, (0.0,), out)


@kernel
def s2_loop(n, passes, out):
    """Two chains, or two fused streams of one chain each: out[:2] = n."""
    _chains(n, passes, (0.0,) * 2, out)


@kernel
def s4_loop(n, passes, out):
    """Two fused streams of two chains each: out[:4] = n."""
    _chains(n, passes, (0.0,) * 4, out)


@kernel
def s10_loop(n, passes, out):
    """Ten chains: out[:10] = n."""
    _chains(n, passes, (0.0,) * 10, out)


@kernel
def s20_loop(n, passes, out):
    """Two fused streams of ten chains each: out[:20] = n."""
    _chains(n, passes, (0.0,) * 20, out)


@kernel(fastmath=CONTRACT)
def array_loop(a, step, n, passes, out):
    """Two chains fed by words i and i + 1 of every ``step`` of ``a``, float64 (at least n · step,).

    ``n``: iterations of a pass; ``passes``; ``out``, float64 (at least 2,), gets the sums of the last pass.
    """
    stride = np.uint64(step)
    for _ in range(passes):
        s1 = s2 = 0.0
        i = np.uint64(0)
        for _i in range(n):
            s1 = opaque(s1) + FACTOR * a[i]
            s2 = opaque(s2) + FACTOR * a[i + np.uint64(1)]
            i += stride
        out[0] = s1
        out[1] = s2
        barrier(a)


@kernel(fastmath=CONTRACT)
def array_loop_fused(a, b, step, n, passes, out):
    """Two fused streams of ``array_loop``, each on its own array.

    ``a`` and ``b`` (float64, at least n · step words each), ``step``, ``n`` and ``passes`` as there; ``out``
    (float64, at least 4) gets the sums of ``a``, then those of ``b``.
    """
    stride = np.uint64(step)
    for _ in range(passes):
        s1 = s2 = t1 = t2 = 0.0
        i = np.uint64(0)
        for _i in range(n):
            s1 = opaque(s1) + FACTOR * a[i]
            s2 = opaque(s2) + FACTOR * a[i + np.uint64(1)]
            t1 = opaque(t1) + FACTOR * b[i]
            t2 = opaque(t2) + FACTOR * b[i + np.uint64(1)]
            i += stride
        out[0] = s1
        out[1] = s2
        out[2] = t1
        out[3] = t2
        barrier(a)
