"""A time step as scans over the rows, compiled: rows that stream, the way back, and bands of a state in memory.

``_stream`` takes the rows of a group through all stages, each row behind the one before, which keeps a row in the
cache; rows beyond the last one flush the window.  ``_backward`` substitutes and transforms back.

In ``_step`` each thread takes a band of a state in memory from south to north, with a window of its own.  What it needs
of its neighbours it computes itself, twice in all: the rows to the south before they change, and the row to the north,
which is put aside for the end of the band.  With 192 × 96 points, 15 levels and two threads that is 1.6 times as fast
as threads that share the rows of each stage.

Python calls ``scan`` alone, since numba compiles all that a function of Python calls anew for each.  Waiting is a
counter that every thread raises by one; who waits looks at it, and now and then lets others run.  ``plan`` and
``arrays`` as in ``plan``; ``shared`` is the run's ``Shared``, ``t`` the number of the thread of ``threads``,
``first`` and ``end`` are rows.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernels.gridpoint.helmholtz import eliminate, filter_tendencies, implicit, restore, substitute
from kernels.gridpoint.physics import ABSORPTION, WEIGHTS, columns, radiation, radiation_spaces
from kernels.gridpoint.plan import HALO, Extents, window_row
from kernels.gridpoint.rows import advance, complete, flow, tendency
from kernels.runtime.jit import kernel
from kernels.runtime.vector import LANES, address, load, store

#: The thread where there is one: a plain 0 has a type of its own, for which numba would compile every stage again.
ALONE = np.int64(0)
#: Rows of the window that the stages of one row after another need: the newest, three behind it, and the one that the
#: newest takes the place of.
RING = 5
FEWEST = 4  # rows of a band
#: Places in ``Shared.how``.
PHYSICS, RADIATING, FIRST_STEP = range(3)
#: What ``scan`` does.
STEP, STREAM, BACKWARD, OPEN = range(4)
LOOKS = 4096  # at the counter, between two chances for other programs

_yield = types.ExternalFunction("sched_yield", types.int32())


class Shared(NamedTuple):
    """What the threads of a run share; float64 where nothing else is said."""

    gate: np.ndarray  # int64 (1,): arrivals
    how: np.ndarray  # int64 (3,): whether there is physics, new radiation, Euler's first step
    spaces: np.ndarray  # work space of ``physics.radiation``
    coefficients: np.ndarray  # of its bands of wavelength
    spare: np.ndarray  # (threads, row): the row north of each band, complete and with its flow
    edge: np.ndarray  # (threads, K · pitch): Yᵉ of v of each band's first row


def share(size: Extents, threads: int) -> Shared:
    """That of a run."""
    gate, how = np.zeros(1, np.int64), np.zeros(3, np.int64)
    spare, edge = np.zeros((threads, size.row)), np.zeros((threads, size.levels * size.pitch))
    return Shared(gate, how, radiation_spaces(size.levels, threads), np.stack([ABSORPTION, WEIGHTS]), spare, edge)


@intrinsic
def _raise(typingctx, array, amount):
    """Add to array[0] at once, before and after everything else; its value before."""

    def code(context, builder, sig, args):
        data = cgutils.create_struct_proxy(sig.args[0])(context, builder, args[0]).data
        return builder.atomic_rmw("add", data, args[1], "seq_cst")

    if isinstance(array, types.Array) and array.dtype == types.int64:
        return types.int64(array, types.int64), code
    return None


@intrinsic
def _seen(typingctx, array):
    """array[0] as it is now, read and not written, so that who waits does not take its cache line from who comes."""

    def code(context, builder, sig, args):
        data = cgutils.create_struct_proxy(sig.args[0])(context, builder, args[0]).data
        return builder.load_atomic(data, "seq_cst", 8)

    if isinstance(array, types.Array) and array.dtype == types.int64:
        return types.int64(array), code
    return None


@kernel
def wait(gate, threads):
    """Return when all threads have come here: ``gate`` int64 (1,), zero at first, counts arrivals."""
    if threads == 1:
        return
    mine = _raise(gate, 1)
    goal = (mine // threads + 1) * threads
    looks = 0
    while _seen(gate) < goal:
        looks += 1
        if looks % LOOKS == 0:
            _yield()


@kernel
def copy(to, o, source, p, count):
    """``count`` numbers, in whole vectors, from place ``p`` of ``source`` to place ``o`` of ``to``."""
    for i in range(0, count, LANES):
        store(to, o + i, load(source, p + i))


@kernel
def _row(plan, arrays, shared, t, j):
    """Tendencies, explicit step and column work of row ``j``."""
    euler = shared.how[FIRST_STEP] != 0
    tendency(plan, arrays, j, t)
    filter_tendencies(plan, arrays, j, t)
    advance(plan, arrays, j, t, euler)
    if shared.how[PHYSICS] != 0:
        if shared.how[RADIATING] != 0:
            radiation(plan, arrays, j, t, shared.spaces, shared.coefficients)
        columns(plan, arrays, j, euler)


@kernel
def _stream(plan, arrays, shared, first, end):
    """Rows ``first`` to ``end`` − 1 are completed, the stages behind them follow, the fourth three rows behind.

    Called for one group after another from south to north; the last has three rows beyond the grid's.
    """
    nj, waves, euler, t = plan.size.nj, plan.size.ni // 2 + 1, shared.how[FIRST_STEP] != 0, ALONE
    for j in range(first, end):
        if j < nj:
            complete(plan, arrays, j, t)
        if 0 < j <= nj:
            flow(plan, arrays, j - 1, t)
        if 1 < j <= nj + 1:
            _row(plan, arrays, shared, t, j - 2)
        if 2 < j <= nj + 2 and not euler:
            implicit(plan, arrays, j - 3, t)
            eliminate(plan, arrays, j - 3, t, waves)


@kernel
def _backward(plan, arrays, first, end):
    """Rows ``end`` − 1 down to ``first`` of G."""
    for j in range(end - 1, first - 1, -1):
        if j < plan.size.nj - 1:
            substitute(plan, arrays, j, ALONE, plan.size.ni // 2 + 1)
        restore(plan, arrays, j, ALONE)


@kernel
def _around(plan, arrays, shared, t, first, end):
    """The row to the north of a band into ``spare``; rows to the south into the window."""
    size = plan.size
    if end < size.nj:
        for j in range(end - 1, end + 2):
            complete(plan, arrays, j, t)
        flow(plan, arrays, end, t)
        copy(address(shared.spare[t]), 0, address(arrays.window), (end % size.ring) * size.row, size.row)
    if first > 0:
        for j in range(first - 2, first + 1):
            complete(plan, arrays, j, t)
        flow(plan, arrays, first - 1, t)


@kernel
def _step(plan, arrays, shared, t, threads):
    """One time step of band ``t``; all ``threads`` call it together, each with ``arrays`` whose window is its own."""
    size, w, gate = plan.size, address(arrays.window), shared.gate
    first, end = size.nj * t // threads, size.nj * (t + 1) // threads
    euler, edge = shared.how[FIRST_STEP] != 0, size.levels * size.pitch
    _around(plan, arrays, shared, t, first, end)
    wait(gate, threads)
    for j in range(first, end + 2):
        if j < end:
            complete(plan, arrays, j, t)
        elif j == end < size.nj:
            copy(w, (end % size.ring) * size.row, address(shared.spare[t]), 0, size.row)
        if first < j <= end:
            flow(plan, arrays, j - 1, t)
        if j - 2 >= first:
            _row(plan, arrays, shared, t, j - 2)
        if j - 2 == first:
            copy(address(shared.edge[t]), 0, w, window_row(size, first, 0).v_change - HALO, edge)
        if j - 3 >= first and not euler:
            implicit(plan, arrays, j - 3, t)
    wait(gate, threads)
    if euler:
        return
    if end < size.nj:
        copy(w, window_row(size, end, 0).v_change - HALO, address(shared.edge[t + 1]), 0, edge)
    implicit(plan, arrays, end - 1, t)
    wait(gate, threads)
    _solve(plan, arrays, gate, t, threads)


@kernel
def _solve(plan, arrays, gate, t, threads):
    """Elimination and substitution of a share of the wavenumbers in all rows, then G of the band's rows; threads wait
    for each other at the ``gate`` of ``shared``."""
    size = plan.size
    waves, nj = size.ni // 2 + 1, size.nj
    low, high = waves * t // threads, waves * (t + 1) // threads
    for j in range(nj):
        eliminate(plan, arrays, j, low, high)
    for j in range(nj - 2, -1, -1):
        substitute(plan, arrays, j, low, high)
    wait(gate, threads)
    for j in range(nj * t // threads, nj * (t + 1) // threads):
        restore(plan, arrays, j, t)


@kernel
def scan(plan, arrays, shared, t, threads, what, first, end):
    """``what``: a time step of band ``t``, STEP; or of rows ``first`` to ``end`` − 1 STREAM, BACKWARD, or OPEN, which
    gives X⁰ and X⁻ of as many as the window holds."""
    if what == STEP:
        _step(plan, arrays, shared, t, threads)
    elif what == STREAM:
        _stream(plan, arrays, shared, first, end)
    elif what == BACKWARD:
        _backward(plan, arrays, first, end)
    else:
        for j in range(first, end):
            complete(plan, arrays, j, t)
