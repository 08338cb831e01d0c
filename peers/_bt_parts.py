"""Where a step of BT spends its time: the step once more, with the clock around each function that it calls.

Lines, their order and the functions are those of ``kernels.bt.step``, so that every part finds its numbers where a
real step finds them, and its state is compared with that of a real step.  A look at the clock takes some 25 ns, which
is a sixtieth of a step of class W and less of the others.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from kernels import bt
from kernels.bt.differences import differences
from kernels.bt.elimination import eliminate, substitute
from kernels.bt.lines import along
from kernels.bt.solver import Stepper
from kernels.bt.step import fill_tiles, scratch, turn_back, update
from kernels.contract import Work
from kernels.runtime.clock import monotonic
from kernels.runtime.jit import kernel
from kernels.runtime.threads import Team
from kernels.runtime.vector import LANES
from peers import Comparison, alone, clocked
from peers.kit import steps
from peers.kit.steps import until

#: Parts of a step, each a place in the seconds that a thread spends: name, which of ``bt.work``'s operations it does a
#: third of in a step, fields that it reads and writes, and whether it finds them in the cache, a plane at a time.
_PARTS = (
    ("right-hand side in x", "differences", 2, 1, True),
    ("right-hand side in y", "differences", 2, 1, False),
    ("right-hand side in z", "differences", 2, 1, False),
    ("lines in x turned into vectors and back", None, 2, 1, True),
    ("elimination in x", "elimination", 2, 1, True),
    ("substitution in x", "substitution", 1, 1, True),
    ("elimination in y", "elimination", 2, 1, True),
    ("substitution in y", "substitution", 1, 1, True),
    ("elimination in z", "elimination", 2, 1, False),
    ("substitution in z", "substitution", 1, 1, False),
    ("adding to the solution", "update", 2, 1, False),
)
_R_X, _R_Y, _R_Z, _TURN, _E_X, _S_X, _E_Y, _S_Y, _E_Z, _S_Z, _ADD = range(len(_PARTS))
_V, _ZERO, _ONE = (np.uint64(n) for n in (LANES, 0, 1))


@kernel
def _planes(u, rhs, grid, direction, work, spent, first, last):
    """As ``step.planes`` with elimination; ``spent``, float64 (parts,), receives seconds."""
    points, line = grid.points, np.uint64(5) * grid.row
    upper, ring, tile_u, tile_r, block = scratch(work, points)
    groups, x = (points + _V - _ONE) // _V, along(0, _ZERO, grid, points)
    for k in range(np.uint64(first), np.uint64(last)):
        at, clock = grid.base + k * grid.plane, monotonic()
        for group in range(groups):
            differences(u, rhs, rhs, along(1, at + group * _V, grid, points), direction, _ZERO)
        clock, j = until(spent, _R_Y, clock), _ONE
        while j < points - _ONE:
            start = min(j, max(points - _ONE, _V + _ONE) - _V)
            place = at + start * line
            fill_tiles(u, rhs, place, grid, tile_u, tile_r)
            clock = until(spent, _TURN, clock)
            differences(tile_u, tile_r, tile_r, x, direction, _ZERO)
            clock = until(spent, _R_X, clock)
            eliminate(tile_u, tile_r, x, direction, upper, ring, _ZERO)
            clock = until(spent, _E_X, clock)
            substitute(tile_r, x, upper)
            clock = until(spent, _S_X, clock)
            turn_back(tile_r, rhs, place, grid, j - start, min(_V, points - _ONE - start), block)
            clock, j = until(spent, _TURN, clock), start + _V
        for group in range(groups):
            lines = along(1, at + group * _V, grid, points)
            eliminate(u, rhs, lines, direction, upper, ring, grid.plane)
            clock = until(spent, _E_Y, clock)
            substitute(rhs, lines, upper)
            clock = until(spent, _S_Y, clock)


@kernel
def _rows(u, rhs, forcing, grid, direction, work, spent, first, last):
    """As ``step.rows`` with elimination; ``spent`` as for :func:`_planes`."""
    points, line = grid.points, np.uint64(5) * grid.row
    upper, ring = scratch(work, points)[:2]
    for j in range(np.uint64(first), np.uint64(last)):
        for group in range((points + _V - _ONE) // _V):
            place = grid.base + j * line + group * _V
            lines, clock = along(2, place, grid, points), monotonic()
            eliminate(u, rhs, lines, direction, upper, ring, line)
            clock = until(spent, _E_Z, clock)
            substitute(rhs, lines, upper)
            clock = until(spent, _S_Z, clock)
            update(u, rhs, place, grid)
            clock = until(spent, _ADD, clock)
            differences(u, forcing, rhs, lines, direction, line)
            until(spent, _R_Z, clock)


class Steps(steps.Steps):
    """Steps of one problem from its initial field, with the seconds of each part."""

    def __init__(self, problem: bt.Problem, team: Team, threads: int):
        """``RuntimeError`` unless the timed steps leave what those of the solver leave."""
        super().__init__(threads, len(_PARTS))
        self.team, self.state = team, bt.setup(problem)
        self.stepper = Stepper(self.state, threads)
        self.calibrate("the timed parts of BT leave another field than its steps; mend peers/_bt_parts.py")

    def begin(self) -> None:
        bt.reset(self.state)
        self.stepper.step()

    def march(self, spent: np.ndarray) -> None:
        state, stepper, inner = self.state, self.stepper, self.state.layout.N - 2
        shares = [(1 + t * inner // self.threads, 1 + (t + 1) * inner // self.threads) for t in range(self.threads)]

        def planes(t):
            _planes(state.u, state.rhs, stepper.grid, stepper.across, stepper.work[t], spent[t], *shares[t])

        def rows(t):
            fields = state.u, state.rhs, state.forcing
            _rows(*fields, stepper.grid, stepper.along_z, stepper.work[t], spent[t], *shares[t])

        for _ in range(self.count):
            self.team.run(planes)
            self.team.run(rows)

    def step(self) -> None:
        self.stepper.step()

    def left(self) -> list[np.ndarray]:
        return [bt.solution(self.state)]


def _work(problem: bt.Problem, operations: str | None, read: int, written: int) -> Work:
    """Of a part in a step; fields alone, since the blocks of the elimination and turned lines are scratch."""
    flops, field = dict(bt.work(problem).parts), 5 * 8 * problem.N**3
    each = flops.get(operations, 0) // problem.NS // (1 if operations == "update" else 3)
    return Work(each, read * field, written * field)


def comparisons(name: str, threads: int) -> Iterator[Comparison]:
    """Each part of a step of class ``name``, and the step; nobody beside us."""
    problem = bt.Problem.preset(name)
    with Team(threads) as team:
        timer, field, whole = Steps(problem, team, threads), 5 * 8 * problem.N**3, bt.work(problem)
        sides = {"a whole step": (timer.whole, Work(whole.flops // problem.NS, 5 * field, 3 * field), 4 * field)}
        for place, (part, operations, read, written, cached) in enumerate(_PARTS):
            size = 2 * field // problem.N if cached else 3 * field
            side = partial(timer.part, place)
            sides[part] = side, _work(problem, operations, read, written), size
        for label, (side, work, size) in sides.items():
            yield alone("parts of BT, a step", f"class {name}, {label}", clocked(side), work, size)
