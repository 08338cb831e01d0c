"""A time step as one scan over the rows, from south to north, and the way back through the Helmholtz rows.

``explicit`` takes the rows of a group through the first three stages, each a row behind the one before it,
``forward`` through the fourth; rows beyond the last one flush the window.  ``backward`` substitutes and transforms
back.
All threads of a run call them together; they share the rows of a stage and wait for each other between stages.
One thread takes a row through all stages before the next one comes, as that keeps the row in its cache.

Waiting is a counter that every thread raises by one; who waits looks at it, and now and then lets others run.

``plan`` is the ``plan.Plan`` of the run, ``room`` its ``rows.Room``, ``gate`` the counter (int64, (1,)), ``t`` the
number of the
thread of ``threads``, ``first`` and ``end`` are rows, and ``first_step`` says that the step is Euler's.
"""

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernels.gridpoint.helmholtz import eliminate, implicit, restore, substitute
from kernels.gridpoint.rows import complete, flow
from kernels.gridpoint.tendencies import advance, tendency
from kernels.runtime.jit import kernel

#: The thread and the number of threads where there is one: a plain 0 has a type of its own, for which numba would
#: compile every stage a second time.
ALONE, ONE = np.int64(0), np.int64(1)

_yield = types.ExternalFunction("sched_yield", types.int32())


@intrinsic
def _raise(typingctx, array, amount):
    """Add to array[0] at once, before and after everything else; its value before."""

    def code(context, builder, sig, args):
        data = cgutils.create_struct_proxy(sig.args[0])(context, builder, args[0]).data
        return builder.atomic_rmw("add", data, args[1], "seq_cst")

    if isinstance(array, types.Array) and array.dtype == types.int64:
        return types.int64(array, types.int64), code
    return None


@kernel
def wait(gate, threads):
    """Return when all threads have come here: ``gate`` int64 (1,), zero at first, counts arrivals."""
    if threads == 1:
        return
    mine = _raise(gate, 1)
    goal = (mine // threads + 1) * threads
    looks = 0
    while _raise(gate, 0) < goal:
        looks += 1
        if looks % 256 == 0:
            _yield()


@kernel
def explicit(plan, room, gate, t, threads, first, end, first_step):
    """Rows ``first`` to ``end`` − 1 are completed; tendencies and the explicit step follow two rows behind."""
    nj = plan.size.nj
    group = plan.size.ring - 5 if threads > 1 else 1
    for start in range(first, end, group):
        stop = min(start + group, end)
        for j in range(start + t, min(stop, nj), threads):
            complete(plan, room, j, t)
        wait(gate, threads)
        for j in range(max(start - 1, 0) + t, min(stop - 1, nj), threads):
            flow(plan, room, j, t)
        wait(gate, threads)
        for j in range(max(start - 2, 0) + t, min(stop - 2, nj), threads):
            tendency(plan, room, j, t)
            advance(plan, room, j, t, first_step)
        wait(gate, threads)


@kernel
def forward(plan, room, gate, t, threads, first, end):
    """Right-hand sides of rows ``first`` to ``end`` − 1 and their elimination."""
    waves = plan.size.ni // 2 + 1
    for j in range(first + t, end, threads):
        implicit(plan, room, j, t)
    wait(gate, threads)
    for j in range(first, end):
        eliminate(plan, room, j, waves * t // threads, waves * (t + 1) // threads)
    wait(gate, threads)


@kernel
def backward(plan, room, gate, t, threads, first, end):
    """Rows ``end`` − 1 down to ``first`` of G."""
    waves = plan.size.ni // 2 + 1
    for j in range(end - 1, first - 1, -1):
        if j < plan.size.nj - 1:
            substitute(plan, room, j, waves * t // threads, waves * (t + 1) // threads)
        if threads == 1:
            restore(plan, room, j, t)
    if threads > 1:
        wait(gate, threads)
        for j in range(first + t, end, threads):
            restore(plan, room, j, t)
        wait(gate, threads)


@kernel
def open_rows(plan, room, first, end):
    """X⁰ and X⁻ of rows ``first`` to ``end`` − 1, at most as many as the window holds."""
    for j in range(first, end):
        complete(plan, room, j, ALONE)
