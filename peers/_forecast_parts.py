"""Where a step of the forecast spends its time: the step once more, with the clock around each stage of a row.

Bands, rows and stages are those of ``kernels.gridpoint.scan`` for a state in memory, and what they leave is compared
with what its steps leave.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from kernels import gridpoint
from kernels.contract import Work
from kernels.gridpoint import Problem
from kernels.gridpoint.helmholtz import eliminate, filter_tendencies, implicit, restore, substitute
from kernels.gridpoint.layout import HALO, PAIR, window_row
from kernels.gridpoint.model import Model
from kernels.gridpoint.rows import complete, flow
from kernels.gridpoint.scan import copy, wait
from kernels.gridpoint.state import (
    COMPLETE,
    DIVERGENCE,
    FLOW,
    MASS,
    UPDATE,
    WIND,
    record_bytes,
    transform_flops,
)
from kernels.gridpoint.tendencies import advance, tendency
from kernels.runtime.clock import monotonic
from kernels.runtime.jit import kernel
from kernels.runtime.vector import address
from peers import Comparison, alone, clocked
from peers.kit import steps
from peers.kit.steps import until

#: Points of a row and rows; with 15 levels and time steps that fit.
SIZES = ((96, 48, 1800.0), (192, 96, 900.0), (384, 192, 450.0), (768, 384, 225.0))
_LEVELS = 15
#: Parts of a step, each a place in the seconds that a thread spends.
PARTS = (
    "completing rows",
    "fluxes and heights",
    "tendencies",
    "polar filter",
    "explicit step",
    "right-hand sides of the modes",
    "elimination",
    "substitution",
    "potential from the modes",
    "rows handed to a neighbour",
    "waiting for the other thread",
)
_COMPLETE, _FLOW, _TENDENCY, _FILTER, _ADVANCE, _IMPLICIT, _ELIMINATE, _SUBSTITUTE, _RESTORE, _COPY, _WAIT = range(11)


@kernel
def _beside(plan, arrays, t, rows, spent):
    """Complete the rows from ``rows[0]`` to before ``rows[1]``, then the flow of ``rows[2]``; the clock then."""
    clock = monotonic()
    for j in range(rows[0], rows[1]):
        complete(plan, arrays, j, t)
    clock = until(spent, _COMPLETE, clock)
    flow(plan, arrays, rows[2], t)
    return until(spent, _FLOW, clock)


@kernel
def _explicit(plan, arrays, shared, t, band, spent):
    """As ``scan._step`` up to the last row's right-hand sides, with seconds into ``spent``; ``band``: first row and
    the one behind the last."""
    size, w, (first, end), clock = plan.size, address(arrays.window), band, monotonic()
    for j in range(first, end + 2):
        if j < end:
            complete(plan, arrays, j, t)
            clock = until(spent, _COMPLETE, clock)
        elif j == end < size.nj:
            copy(w, (end % size.ring) * size.row, address(shared.spare[t]), 0, size.row)
            clock = until(spent, _COPY, clock)
        if first < j <= end:
            flow(plan, arrays, j - 1, t)
            clock = until(spent, _FLOW, clock)
        if j - 2 >= first:
            tendency(plan, arrays, j - 2, t)
            clock = until(spent, _TENDENCY, clock)
            filter_tendencies(plan, arrays, j - 2, t)
            clock = until(spent, _FILTER, clock)
            advance(plan, arrays, j - 2, t, False)
            clock = until(spent, _ADVANCE, clock)
        if j - 2 == first:
            edge = window_row(size, first, 0).v_change - HALO
            copy(address(shared.edge[t]), 0, w, edge, size.levels * size.pitch)
            clock = until(spent, _COPY, clock)
        if j - 3 >= first:
            implicit(plan, arrays, j - 3, t)
            clock = until(spent, _IMPLICIT, clock)


@kernel
def _implicit(plan, arrays, shared, t, band, spent):
    """The rest of ``scan._step``; arguments as for :func:`_explicit`."""
    size, threads, clock = plan.size, shared.spare.shape[0], monotonic()
    first, end = band
    if end < size.nj:
        edge = window_row(size, end, 0).v_change - HALO
        copy(address(arrays.window), edge, address(shared.edge[t + 1]), 0, size.levels * size.pitch)
        clock = until(spent, _COPY, clock)
    implicit(plan, arrays, end - 1, t)
    clock = until(spent, _IMPLICIT, clock)
    wait(shared.gate, threads)
    clock, waves = until(spent, _WAIT, clock), size.ni // 2 + 1
    for j in range(size.nj):
        eliminate(plan, arrays, j, waves * t // threads, waves * (t + 1) // threads)
    clock = until(spent, _ELIMINATE, clock)
    for j in range(size.nj - 2, -1, -1):
        substitute(plan, arrays, j, waves * t // threads, waves * (t + 1) // threads)
    clock = until(spent, _SUBSTITUTE, clock)
    wait(shared.gate, threads)
    clock = until(spent, _WAIT, clock)
    for j in range(first, end):
        restore(plan, arrays, j, t)
    until(spent, _RESTORE, clock)


@kernel
def _march(plan, arrays, shared, t, spent, steps):
    """So many ``steps`` of band ``t`` without a look at Python; all threads call it together."""
    size, threads = plan.size, shared.spare.shape[0]
    first, end = size.nj * t // threads, size.nj * (t + 1) // threads
    for _ in range(steps):
        if end < size.nj:
            clock = _beside(plan, arrays, t, (end - 1, end + 2, end), spent)
            copy(address(shared.spare[t]), 0, address(arrays.window), (end % size.ring) * size.row, size.row)
            until(spent, _COPY, clock)
        if first > 0:
            _beside(plan, arrays, t, (first - 2, first + 1, first - 1), spent)
        clock = monotonic()
        wait(shared.gate, threads)
        until(spent, _WAIT, clock)
        _explicit(plan, arrays, shared, t, (first, end), spent)
        clock = monotonic()
        wait(shared.gate, threads)
        until(spent, _WAIT, clock)
        _implicit(plan, arrays, shared, t, (first, end), spent)
        clock = monotonic()
        wait(shared.gate, threads)
        until(spent, _WAIT, clock)


class Steps(steps.Steps):
    """Steps of one forecast in memory, from the same state each time, with the seconds of each part."""

    def __init__(self, problem: Problem, threads: int):
        """``RuntimeError`` unless the timed steps leave what those of the forecast leave."""
        super().__init__(threads, len(PARTS))
        self.model = Model(problem, gridpoint.setup(problem), threads)
        self.model.advance()  # Euler's step
        self.model.step = 2  # without radiation or write-up
        self._start = self.left()
        try:
            self.calibrate("the timed parts leave another state than a step; mend peers/_forecast_parts.py")
        except RuntimeError:
            self.close()
            raise

    def close(self) -> None:
        self.model.close()

    def _state(self) -> tuple[np.ndarray, np.ndarray]:
        return self.model.arrays.records, self.model.arrays.G

    def begin(self) -> None:
        for array, start in zip(self._state(), self._start, strict=True):
            array[:] = start
        self.model._set_how()

    def march(self, spent: np.ndarray) -> None:
        model = self.model
        model.team.run(lambda t: _march(model.short, model.bands[t], model.shared, t, spent[t], self.count))

    def step(self) -> None:
        self.model._by_bands()

    def left(self) -> list[np.ndarray]:
        return [array.copy() for array in self._state()]


def works(problem: Problem, model: Model) -> list[tuple[Work | None, int]]:
    """Operations and bytes of each part in a step, and the bytes that it walks over.

    Bytes are those of records, G and right-hand sides where a part has any of them, which are the state in memory, and
    else those of fields in the window, which is to stay in the cache.  Rows that bands compute twice count once.
    """
    size, arrays = model.plan.size, model.arrays
    points, groups = problem.ni * problem.nj * problem.levels, size.groups
    field, halves, window = 8 * points, arrays.halves.nbytes, sum(band.window.nbytes for band in model.bands)
    counted = {name: flops // problem.steps for name, flops in gridpoint.work(problem).parts}
    products = 2 * problem.ni * problem.nj * PAIR * groups
    transforms = PAIR * groups * transform_flops(problem.ni) * problem.nj // 2
    solve = problem.nj * (problem.ni // 2 + 1) * groups * 2 * PAIR
    state = arrays.records.nbytes + arrays.G.nbytes
    right = products * (2 * problem.levels + 1) + transforms + DIVERGENCE * points
    return [
        (Work(COMPLETE * points, 10 * field), state),
        (Work(FLOW * points, 8 * field, 10 * field), window),
        (Work((WIND + MASS) * points, 19 * field, 4 * field), window),
        (Work(counted["polar filter"]), window),
        (Work(UPDATE * points, 0, 8 * field), state),
        (Work(right, 0, field + halves), state),
        (Work(3 * solve, 3 * halves // 2, halves), halves),
        (Work(2 * solve, 3 * halves // 2, halves), halves),
        (Work(products * PAIR * groups + transforms, halves, field), halves + arrays.G.nbytes),
        (None, 0),
        (None, 0),
    ]


def comparisons(threads: int) -> Iterator[Comparison]:
    """Each part of a step at each size, and the step; nobody beside us."""
    for ni, nj, dt in SIZES:
        problem = Problem(ni=ni, nj=nj, levels=_LEVELS, dt=dt, hours=dt / 900, writeup=0.0)
        timer = Steps(problem, threads)
        try:
            each, arrays = works(problem, timer.model), timer.model.arrays
            flops = sum(work.flops for work, _ in each if work)
            moved = record_bytes(problem) + arrays.G.nbytes + arrays.halves.nbytes
            sides = {"a whole step": (timer.whole, (Work(flops, moved, moved), moved))}
            for place, (part, work) in enumerate(zip(PARTS, each, strict=True)):
                if work[0] or threads > 1:
                    sides[part] = partial(timer.part, place), work
            for label, (side, (work, size)) in sides.items():
                said = f"{ni} × {nj} points and {_LEVELS} levels, {label}"
                yield alone("parts of a forecast, a step", said, clocked(side), work, size or None)
        finally:
            timer.close()
