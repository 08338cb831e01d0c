"""The compiled loops of ``smt``: chains of additions, alone and fed from arrays.

The loops without an array take ``n`` (iterations of a pass), ``passes`` and ``out`` (float64, at least as long
as the loop has chains), which gets the sums of the last pass.  The additions stay in order; product and sum may
fuse.
"""

import numpy as np

from kernels.runtime.barriers import barrier, opaque
from kernels.runtime.jit import CONTRACT, kernel

FACTOR = 1.1


@kernel
def s1_loop(n, passes, out):
    """One chain: out[0] = n."""
    for _ in range(passes):
        s1 = 0.0
        for _i in range(n):
            s1 = opaque(s1) + 1.0
        out[0] = s1
        barrier(out)


@kernel
def s2_loop(n, passes, out):
    """Two chains, or two fused streams of one chain each: out[:2] = n."""
    for _ in range(passes):
        s1 = s2 = 0.0
        for _i in range(n):
            s1 = opaque(s1) + 1.0
            s2 = opaque(s2) + 1.0
        out[0] = s1
        out[1] = s2
        barrier(out)


@kernel
def s4_loop(n, passes, out):
    """Two fused streams of two chains each: out[:4] = n."""
    for _ in range(passes):
        s1 = s2 = t1 = t2 = 0.0
        for _i in range(n):
            s1 = opaque(s1) + 1.0
            s2 = opaque(s2) + 1.0
            t1 = opaque(t1) + 1.0
            t2 = opaque(t2) + 1.0
        out[0] = s1
        out[1] = s2
        out[2] = t1
        out[3] = t2
        barrier(out)


@kernel
def s10_loop(n, passes, out):
    """Ten chains: out[:10] = n.  ``opaque`` also keeps them from becoming the lanes of one vector."""
    for _ in range(passes):
        s1 = s2 = s3 = s4 = s5 = s6 = s7 = s8 = s9 = s10 = 0.0
        for _i in range(n):
            s1 = opaque(s1) + 1.0
            s2 = opaque(s2) + 1.0
            s3 = opaque(s3) + 1.0
            s4 = opaque(s4) + 1.0
            s5 = opaque(s5) + 1.0
            s6 = opaque(s6) + 1.0
            s7 = opaque(s7) + 1.0
            s8 = opaque(s8) + 1.0
            s9 = opaque(s9) + 1.0
            s10 = opaque(s10) + 1.0
        out[:10] = (s1, s2, s3, s4, s5, s6, s7, s8, s9, s10)
        barrier(out)


@kernel
def s20_loop(n, passes, out):
    """Two fused streams of ten chains each: out[:20] = n."""
    for _ in range(passes):
        s1 = s2 = s3 = s4 = s5 = s6 = s7 = s8 = s9 = s10 = 0.0
        t1 = t2 = t3 = t4 = t5 = t6 = t7 = t8 = t9 = t10 = 0.0
        for _i in range(n):
            s1, t1 = opaque(s1) + 1.0, opaque(t1) + 1.0
            s2, t2 = opaque(s2) + 1.0, opaque(t2) + 1.0
            s3, t3 = opaque(s3) + 1.0, opaque(t3) + 1.0
            s4, t4 = opaque(s4) + 1.0, opaque(t4) + 1.0
            s5, t5 = opaque(s5) + 1.0, opaque(t5) + 1.0
            s6, t6 = opaque(s6) + 1.0, opaque(t6) + 1.0
            s7, t7 = opaque(s7) + 1.0, opaque(t7) + 1.0
            s8, t8 = opaque(s8) + 1.0, opaque(t8) + 1.0
            s9, t9 = opaque(s9) + 1.0, opaque(t9) + 1.0
            s10, t10 = opaque(s10) + 1.0, opaque(t10) + 1.0
        out[:10] = (s1, s2, s3, s4, s5, s6, s7, s8, s9, s10)
        out[10:20] = (t1, t2, t3, t4, t5, t6, t7, t8, t9, t10)
        barrier(out)


@kernel(fastmath=CONTRACT)
def array_loop(a, step, n, passes, out):
    """Two chains fed by words i and i + 1 of every ``step``.

    Parameters
    ----------
    a : float64, (at least n · step,)
    step, n, passes : int
        Words from one iteration to the next; iterations of a pass; passes.
    out : float64, (at least 2,)
        The sums of the last pass.
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
