"""A time step as a scan over the rows, compiled: rows that stream from south to north, and the way back.

``STREAM`` takes rows through all stages, each row behind the one before, which keeps a row in the cache.  Of a state in
work files it is called for one group of rows after another; the last has three rows beyond the grid's, which flush the
window.  ``BACKWARD`` substitutes and transforms back.  ``OPEN`` gives X⁰ and X⁻ of some rows, for a look at the state.

Threads share a state in memory in bands of rows.  A thread streams its band through a window of its own: five rows,
0.23 MiB at the preset quick, 2.2 at paper, 32 at modern.  The stages of its outermost rows read up to three rows of its
neighbours: these it computes itself, from copies of their records that all threads make before any changes one, and
forgets what comes of them::

    records     … ○ ○ ● ● ● ● ● ● ● ● ● ● ● ● ● ○ ○ ○ …     ● of the band, ○ copies of neighbours' (``halo``)
    complete      ○ ○ ● ● ● ● ● ● ● ● ● ● ● ● ● ○ ○ ○
    flow            ○ ● ● ● ● ● ● ● ● ● ● ● ● ● ○ ○
    _row              ● ● ● ● ● ● ● ● ● ● ● ● ● ○
    implicit          ● ● ● ● ● ● ● ● ● ● ● ● ●

Elimination and substitution go from row to row: a thread alone takes them with the stage before, or after, while the
row is in its cache, which saves 3 % of a step; of several each has some wavenumbers of all rows.
Every number is computed by the same instructions from the same numbers whoever does it: answers do not depend on the
number of threads.
"""

from typing import NamedTuple

from supercomputers_rerun.kernels.gridpoint.helmholtz import eliminate, filter_tendencies, implicit, restore, substitute
from supercomputers_rerun.kernels.gridpoint.physics import columns, radiation
from supercomputers_rerun.kernels.gridpoint.plan import ForecastArrays
from supercomputers_rerun.kernels.gridpoint.problem import LAG
from supercomputers_rerun.kernels.gridpoint.rows import advance, complete, flow, tendency
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.team import meet, part_of

#: Rows of a band that are worth a thread.  Two bands of 24, with 96 points and 10 levels, are 1.23 times as fast as one
#: thread; of 16, with 64 points and 10 levels, 1.06 times; of 12, with 48 points and 5 levels, 0.8 times (EPYC, Zen 3).
FEWEST = 24
STREAM = 0  # rows through all stages, south to north
BACKWARD = 1  # substitution and G, north to south
OPEN = 2  # ``complete`` alone


class Kind(NamedTuple):
    """What belongs to a time step beside the dynamics."""

    physics: bool
    radiating: bool  # new radiation
    euler: bool  # the first step, forward in time and explicit


class Pass(NamedTuple):
    """What is done to rows ``first`` to ``end`` − 1."""

    what: int
    first: int
    end: int
    threads: int


@kernel
def _row(plan, arrays, kind, j):
    """Tendencies, explicit step and column work of row ``j``."""
    tendency(plan, arrays, j)
    filter_tendencies(plan, arrays, j)
    advance(plan, arrays, j, kind.euler)
    if kind.physics:
        if kind.radiating:
            radiation(plan, arrays, j)
        columns(plan, arrays, j, kind.euler)


@kernel
def _copy_neighbours(plan, arrays):
    """Records of the rows next to a band, two to the south and three to the north, into ``halo``."""
    size = plan.size
    for row in range(2):
        if arrays.south + row >= 2:
            arrays.halo[row, :] = arrays.records[(arrays.south + row - 2) % size.slots]
    for row in range(LAG):
        if arrays.north + row < size.nj:
            arrays.halo[row + 2, :] = arrays.records[(arrays.north + row) % size.slots]


@kernel
def _stream(plan, arrays, kind, task, thread):
    """All stages of a thread's band, as far as ``task`` go."""
    nj = plan.size.nj
    waves = plan.size.ni // 2 + 1
    south = arrays.south
    if task.threads > 1:
        _copy_neighbours(plan, arrays)
        meet(arrays.meetings, task.threads)
    for j in range(max(task.first, south - 2), min(task.end, arrays.north + LAG)):  # the newest row
        if j < nj:
            complete(plan, arrays, j)
        if max(south - 1, 0) <= j - 1 < nj:  # the band, a row to the south, two to the north
            flow(plan, arrays, j - 1)
        if south <= j - 2 < nj:  # the band, a row to the north
            _row(plan, arrays, kind, j - 2)
        if south <= j - 3 and not kind.euler:  # the band: the loop ends with its last row here
            implicit(plan, arrays, j - 3)
            if task.threads == 1:
                eliminate(plan, arrays, j - 3, 0, waves)
    if task.threads > 1 and not kind.euler:
        meet(arrays.meetings, task.threads)
        low, high = part_of(waves, task.threads, thread)
        for j in range(nj):
            eliminate(plan, arrays, j, low, high)


@kernel
def _backward(plan, arrays, task, thread):
    """G of rows ``end`` − 1 down to ``first``."""
    low, high = part_of(plan.size.ni // 2 + 1, task.threads, thread)
    for j in range(task.end - 1, task.first - 1, -1):
        if j < plan.size.nj - 1:  # elimination has solved the last row
            substitute(plan, arrays, j, low, high)
        if task.threads == 1:
            restore(plan, arrays, j)
    if task.threads > 1:
        meet(arrays.meetings, task.threads)
        for j in range(arrays.south, arrays.north):
            restore(plan, arrays, j)


@kernel
def scan(plan, arrays, kind, task, thread):
    """What ``task`` (``Pass``) says in a step of a ``kind`` (``Kind``); ``plan`` and ``arrays`` as in ``plan``."""
    south, north = part_of(plan.size.nj, task.threads, thread)
    window = thread
    if task.what == OPEN:  # every row from its own record, none from ``halo``; all rows into the one wide window
        south = 0
        north = plan.size.nj
        window = 0
    own = ForecastArrays(
        window=arrays.window[window],
        records=arrays.records,
        halo=arrays.halo[thread],
        south=south,
        north=north,
        G=arrays.G,
        spectra=arrays.spectra,
        scratch=arrays.scratch[thread],
        columns=arrays.columns[thread],
        meetings=arrays.meetings,
    )
    if task.what == STREAM:
        _stream(plan, own, kind, task, thread)
    elif task.what == BACKWARD:
        _backward(plan, own, task, thread)
    else:
        for j in range(task.first + thread, task.end, task.threads):
            complete(plan, own, j)
