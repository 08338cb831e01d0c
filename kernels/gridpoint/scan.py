"""A time step as a scan over the rows, compiled: rows that stream from south to north, and the way back.

``STREAM`` takes the rows of a group through all stages, each row behind the one before, which keeps a row in the
cache.  It is called for one group after another; the last has three rows beyond the grid's, which flush the window.
``BACKWARD`` substitutes and transforms back.  ``OPEN`` gives X⁰ and X⁻ of as many rows as the window holds.
"""

from supercomputers_rerun.kernels.gridpoint.helmholtz import eliminate, filter_tendencies, implicit, restore, substitute
from supercomputers_rerun.kernels.gridpoint.physics import columns, radiation
from supercomputers_rerun.kernels.gridpoint.rows import advance, complete, flow, tendency
from supercomputers_rerun.kernels.runtime.jit import kernel

#: What ``scan`` does.
STREAM, BACKWARD, OPEN = range(3)


@kernel
def _row(plan, arrays, how, j):
    """Tendencies, explicit step and column work of row ``j``."""
    physics, radiating, euler = how
    tendency(plan, arrays, j)
    filter_tendencies(plan, arrays, j)
    advance(plan, arrays, j, euler)
    if physics:
        if radiating:
            radiation(plan, arrays, j)
        columns(plan, arrays, j, euler)


@kernel
def scan(plan, arrays, how, what, first, end):
    """``what`` is done to rows ``first`` to ``end`` − 1; ``plan`` and ``arrays`` as in ``plan``.

    ``how``: three truth values, whether there is physics, new radiation, Euler's first step.
    """
    nj, euler = plan.size.nj, how[2]
    if what == STREAM:
        for j in range(first, end):
            if j < nj:
                complete(plan, arrays, j)
            if 0 < j <= nj:
                flow(plan, arrays, j - 1)
            if 1 < j <= nj + 1:
                _row(plan, arrays, how, j - 2)
            if 2 < j <= nj + 2 and not euler:
                implicit(plan, arrays, j - 3)
                eliminate(plan, arrays, j - 3)
    elif what == BACKWARD:
        for j in range(end - 1, first - 1, -1):
            if j < nj - 1:
                substitute(plan, arrays, j)
            restore(plan, arrays, j)
    else:
        for j in range(first, end):
            complete(plan, arrays, j)
