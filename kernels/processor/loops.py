"""The compiled loops of ``smt``: chains of additions, alone and fed from an array.

``n`` is the number of iterations of a pass; ``out``, float64, gets the sums of the last pass.  The additions stay in
order; product and sum may fuse.
"""

import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic

from kernels.runtime.barriers import REGISTER, barrier, opaque, unknown
from kernels.runtime.jit import CONTRACT, kernel

FACTOR = 1.1


@kernel(fastmath=CONTRACT)
def plain(a, step, n):
    """The sums of ``streaming`` (step 2) and of ``skipping`` (step 10), as one writes them; ``a``: n · step words."""
    s1 = s2 = 0.0
    for i in range(0, step * n, step):
        s1 += FACTOR * a[i]
        s2 += FACTOR * a[i + 1]
    return s1, s2


@intrinsic
def _one_more(typingctx, sums):
    """One added to each of ``sums``, a tuple of float64 whose values the compiler does not know."""

    def code(context, builder, sig, args):
        one = ir.Constant(ir.DoubleType(), 1.0)
        each = (
            builder.fadd(unknown(builder, value, REGISTER), one) for value in cgutils.unpack_tuple(builder, args[0])
        )
        return context.make_tuple(builder, sums, list(each))

    return sums(sums), code


@kernel
def chains(n, passes, sums, out):
    """As many chains as ``sums``, a tuple, has zeros: out[: len(sums)] = n.  They do not become lanes of a vector."""
    for _ in range(passes):
        found = sums
        for _i in range(n):
            found = _one_more(found)
        out[: len(sums)] = found
        barrier(out)


@kernel(fastmath=CONTRACT)
def array_loop(a, step, n, passes, out):
    """Two chains fed by words i and i + 1 of every ``step`` of ``a``, float64 (at least n · step,)."""
    stride = np.uint64(step)
    for _ in range(passes):
        s1 = s2 = 0.0
        i = np.uint64(0)
        for _i in range(n):
            s1 = opaque(s1) + FACTOR * a[i]
            s2 = opaque(s2) + FACTOR * a[i + np.uint64(1)]
            i += stride
        out[0], out[1] = s1, s2
        barrier(a)


@kernel(fastmath=CONTRACT)
def array_loop_fused(a, b, step, n, passes, out):
    """Two fused streams of ``array_loop``, each on its own array: the sums of ``a``, then those of ``b``."""
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
        out[0], out[1], out[2], out[3] = s1, s2, t1, t2
        barrier(a)
