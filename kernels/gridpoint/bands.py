"""A time step of a state in memory by bands of latitude, one a thread; and rows that stream, on one thread; compiled.

``stream`` takes the rows of a group through all stages, each row behind the one before it, so that four rows of the
window are enough.  In ``step`` each thread takes its band from south to north in the same way, with a window of its
own, so that a row stays in the cache of its core.  What it needs of its neighbours it computes itself, twice in all:
the rows to the south before they change, and the row to the north, which is put aside for the end of the band.  The
stages are those of ``scan``, row for row, and so are the bits.
"""

from typing import NamedTuple

import numpy as np

from kernels.gridpoint.helmholtz import eliminate, implicit, restore, substitute
from kernels.gridpoint.physics import columns, radiation
from kernels.gridpoint.plan import HALO, YV
from kernels.gridpoint.rows import complete, flow, place
from kernels.gridpoint.scan import ALONE, ONE, wait
from kernels.gridpoint.tendencies import advance, tendency
from kernels.runtime.jit import kernel
from kernels.runtime.vector import LANES, address, load, store

#: Rows of a thread's window: the newest, and three behind it.
RING = 5
#: Fewest rows of a band.
FEWEST = 4
#: Places in ``Bands.how``.
PHYSICS, RADIATING, FIRST_STEP = range(3)


class Bands(NamedTuple):
    """What bands keep between stages; float64 where nothing else is said."""

    spare: np.ndarray  # (threads, row): the row north of each band, complete and with its flow
    edge: np.ndarray  # (threads, K · pitch): Yᵉ of v of each band's first row
    rays: np.ndarray  # work space of ``physics.radiation``
    coefficients: np.ndarray  # of its bands of wavelength
    how: np.ndarray  # int64 (3,): whether there is physics, new radiation, Euler's first step


@kernel
def _copy(to, o, source, p, count):
    for i in range(0, count, LANES):
        store(to, o + i, load(source, p + i))


@kernel
def _row(plan, room, bands, t, j):
    """Tendencies, explicit step and column work of row ``j``."""
    first_step = bands.how[FIRST_STEP] != 0
    tendency(plan, room, j, t)
    advance(plan, room, j, t, first_step)
    if bands.how[PHYSICS] != 0:
        if bands.how[RADIATING] != 0:
            radiation(plan, room, bands.rays[t : t + 1], bands.coefficients, ALONE, ONE, j, j + 1)
        columns(plan, room, ALONE, ONE, j, j + 1, first_step)


@kernel
def _neighbours(plan, room, bands, t, first, end):
    """The row to the north into ``spare``; rows to the south into the window."""
    size = plan.size
    if end < size.nj:
        for j in range(end - 1, end + 2):
            complete(plan, room, j, t)
        flow(plan, room, end, t)
        _copy(address(bands.spare[t]), 0, address(room.window), (end % size.ring) * size.row, size.row)
    if first > 0:
        for j in range(first - 2, first + 1):
            complete(plan, room, j, t)
        flow(plan, room, first - 1, t)


@kernel
def step(plan, room, bands, gate, t, threads):
    """One time step of band ``t``; all ``threads`` call it together, each with a ``room`` whose window is its own.

    ``plan`` is the ``plan.Plan`` of the run; ``bands`` (``Bands``) and ``gate``, the counter of
    arrivals (int64, (1,)), are shared by all.
    """
    size, w = plan.size, address(room.window)
    first, end = size.nj * t // threads, size.nj * (t + 1) // threads
    euler, edge = bands.how[FIRST_STEP] != 0, size.levels * size.pitch
    _neighbours(plan, room, bands, t, first, end)
    wait(gate, threads)
    for j in range(first, end + 2):
        if j < end:
            complete(plan, room, j, t)
        elif j == end < size.nj:
            _copy(w, (end % size.ring) * size.row, address(bands.spare[t]), 0, size.row)
        if first < j <= end:
            flow(plan, room, j - 1, t)
        if j - 2 >= first:
            _row(plan, room, bands, t, j - 2)
        if j - 2 == first:
            _copy(address(bands.edge[t]), 0, w, place(size, first, YV) - HALO, edge)
        if j - 3 >= first and not euler:
            implicit(plan, room, j - 3, t)
    wait(gate, threads)
    if euler:
        return
    if end < size.nj:
        _copy(w, place(size, end, YV) - HALO, address(bands.edge[t + 1]), 0, edge)
    implicit(plan, room, end - 1, t)
    wait(gate, threads)
    _solve(plan, room, gate, t, threads)


@kernel
def stream(plan, room, bands, first, end):
    """Rows ``first`` to ``end`` − 1 are completed, the stages behind them follow, the fourth three rows behind.

    Called for one group after another from south to north, and for three rows beyond the last.  ``plan``, ``room``
    and ``bands`` as in ``step``.
    """
    nj, waves, euler = plan.size.nj, plan.size.ni // 2 + 1, bands.how[FIRST_STEP] != 0
    for j in range(first, end):
        if j < nj:
            complete(plan, room, j, ALONE)
        if 0 < j <= nj:
            flow(plan, room, j - 1, ALONE)
        if 1 < j <= nj + 1:
            _row(plan, room, bands, ALONE, j - 2)
        if 2 < j <= nj + 2 and not euler:
            implicit(plan, room, j - 3, ALONE)
            eliminate(plan, room, j - 3, ALONE, waves)


@kernel
def _solve(plan, room, gate, t, threads):
    """Elimination and substitution of a share of the wavenumbers in all rows, then G of the band's rows."""
    size = plan.size
    waves, nj = size.ni // 2 + 1, size.nj
    low, high = waves * t // threads, waves * (t + 1) // threads
    for j in range(nj):
        eliminate(plan, room, j, low, high)
    for j in range(nj - 2, -1, -1):
        substitute(plan, room, j, low, high)
    wait(gate, threads)
    for j in range(nj * t // threads, nj * (t + 1) // threads):
        restore(plan, room, j, t)


def rooms(plan, room, threads: int):
    """The plan with the short window of a band, and a room for every thread."""
    short = plan._replace(size=plan.size._replace(ring=RING))
    return short, [room._replace(window=np.zeros(RING * plan.size.row)) for _ in range(threads)]


def make(plan, threads: int, rays: np.ndarray, coefficients: np.ndarray) -> Bands:
    """Memory of the bands."""
    size = plan.size
    return Bands(
        np.zeros((threads, size.row)),
        np.zeros((threads, size.levels * size.pitch)),
        rays,
        coefficients,
        np.zeros(3, np.int64),
    )
