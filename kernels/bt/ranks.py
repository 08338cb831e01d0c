"""BT on a three-dimensional grid of ranks (N1, N6): NPB's solver, cut like the iPSC/860's second code of 1993.

Its first code was cut along one direction; with the layout "slabs" so is this one.

Every rank has a box of the grid.  A step exchanges two layers of neighbours for the right-hand side, then
solves along i, j and k: an elimination passes through the boxes of a line from the first to the last, the
substitution comes back.  Lines go in bundles, so that all boxes of a line are at work once the first
bundles have passed.  Boxes lie in memory, and are computed, as in ``kernels.bt``, of which one rank is a run.  What
eight lines hand on has all eight lanes, also where a box has fewer lines left: an elimination needs of the box before
it the upper block and the right-hand side of the last point (240 words for eight lines), a substitution of the box
after it the solution of the first point (40 words).
"""

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from supercomputers_rerun.kernels import bt as serial
from supercomputers_rerun.kernels.bt import solver
from supercomputers_rerun.kernels.bt.elimination import BACKWARD, FORWARD, UPPER, Scratch, eliminate, substitute
from supercomputers_rerun.kernels.bt.lines import TILE as _TILE
from supercomputers_rerun.kernels.bt.lines import Rows, along, vectors_of
from supercomputers_rerun.kernels.bt.solver import Box, Stepper
from supercomputers_rerun.kernels.bt.step import parts_of_work, rows_to_tile, tile_to_rows
from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, ceil_div, one_of, whole
from supercomputers_rerun.kernels.decomposition import box, process_grid
from supercomputers_rerun.kernels.mpi import world
from supercomputers_rerun.kernels.runtime.arrays import zeros
from supercomputers_rerun.kernels.runtime.jit import FINITE, kernel
from supercomputers_rerun.kernels.runtime.resources import require_memory
from supercomputers_rerun.kernels.runtime.vector import LANES

_V = np.uint64(LANES)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_FIVE = np.uint64(5)

#: Layers of neighbours' points.
HALO = 2
#: Bundles of lines that follow each other through the boxes.
BUNDLES = 8


def groups(sizes, axis: int) -> int:
    """Groups of eight lines along ``axis`` of a box of ``sizes``: lanes are rows for x, columns for y and z."""
    ni, nj, nk = sizes
    lanes, others = ((nj, nk), (ni, nk), (ni, nj))[axis]
    return ceil_div(lanes, LANES) * others


@kernel(fastmath=FINITE)
def sweep(task, fields, geometry, upper, carry, work):
    """Eliminate, if ``forward``, or substitute on groups of eight lines along an ``axis`` of a box, from ``group`` to
    ``end``: these four are the ``task``.

    ``fields`` and ``geometry`` are as in ``step``.  ``upper`` keeps the blocks of all groups, (points + 1) · UPPER
    words each; ``carry`` has FORWARD or BACKWARD words for every one of these; ``work`` is scratch.
    """
    axis, forward, group, end = task
    u, rhs, _ = fields
    place, directions, ends = geometry
    next_j = _FIVE * place.row
    vectors = vectors_of(place.ni)
    _, ring, _, tile_u, tile_rhs, block = parts_of_work(work, _TWO * _V + max(place.ni, place.nj, place.nk))
    points = place.ni if axis == 0 else (place.nj if axis == 1 else place.nk)
    across = vectors_of(place.nj) if axis == 0 else vectors
    words = np.uint64(FORWARD if forward else BACKWARD)
    for number in range(end - group):
        outer = (group + number) // across
        lanes = (group + number) % across
        handed = carry[number * words :]
        kept = upper[(group + number) * (points + _ONE) * np.uint64(UPPER) :]
        if axis == 0:
            first_row = place.base + outer * place.plane + lanes * _V * next_j
            with_halo = Rows(first_row - _V, place.row, vectors + _TWO)
            lines = along(0, _V * _TILE, place, points, _ZERO)
            rows_to_tile(rhs, with_halo, tile_rhs)
            if forward:
                rows_to_tile(u, with_halo, tile_u)
                eliminate(tile_u, tile_rhs, lines, directions[0], ends[0], Scratch(kept, ring, handed))
            else:
                substitute(tile_rhs, lines, ends[0], kept, handed)
            present = _ZERO, min(_V, place.nj - lanes * _V)
            tile_to_rows(tile_rhs, _V, rhs, Rows(first_row, place.row, vectors), present, block)
            continue
        at = place.base + lanes * _V + outer * (place.plane if axis == 1 else next_j)
        lines = along(axis, at, place, points, _ZERO)
        if forward:
            eliminate(u, rhs, lines, directions[axis], ends[axis], Scratch(kept, ring, handed))
        else:
            substitute(rhs, lines, ends[axis], kept, handed)


@dataclass(frozen=True)
class Problem(Presets):
    """One BT run over ``ranks`` boxes."""

    N: int = 12  # grid points in each direction
    NS: int = 60  # time steps
    dt: float = 0.01  # length of a time step
    ranks: whole(1, world.LARGEST) = 1  # ranks that take part
    layout: one_of("boxes", "slabs") = "boxes"  # cut along all directions as equally as can be, or along k alone

    PRESETS: ClassVar = serial.Problem.PRESETS

    def __post_init__(self):
        self.solver  # noqa: B018  refuses what the solver refuses
        if 2 * max(self.grid) > self.N:
            raise ValueError(f"ranks = {self.ranks} makes boxes of N = {self.N} thinner than the two points of a halo")

    @property
    def grid(self) -> tuple[int, int, int]:
        """Ranks along i, j and k."""
        return (1, 1, self.ranks) if self.layout == "slabs" else process_grid(self.ranks)

    @property
    def solver(self) -> serial.Problem:
        """The same problem for the serial solver."""
        return serial.Problem(self.N, self.NS, self.dt)


class State(NamedTuple):
    """Box of one rank."""

    comm: Any  # mpi4py's
    neighbours: tuple  # (lower, upper) rank along i, j, k; MPI's null process at the edges
    stepper: Stepper  # of the box's fields
    upper: np.ndarray  # upper blocks of lines that other boxes share
    carry: np.ndarray  # what lines hand on

    @property
    def fields(self) -> solver.State:
        """Solution, right-hand side and forcing of the box."""
        return self.stepper.state


class Result(NamedTuple):
    """Norms after the last step, and the state they are of."""

    residual: np.ndarray
    error: np.ndarray
    state: State


def _neighbours(comm, grid: tuple[int, int, int]) -> tuple:
    null, (px, py, pz) = world.mpi().PROC_NULL, grid
    place = (comm.rank % px, comm.rank // px % py, comm.rank // (px * py))
    return tuple(
        (comm.rank - step if at > 0 else null, comm.rank + step if at < count - 1 else null)
        for at, count, step in zip(place, (px, py, pz), (1, px, px * py), strict=True)
    )


def setup(problem: Problem, seed: int = 0) -> State:
    """The initial field and the forcing on the rank's box (``seed`` is not used)."""
    require_memory(footprint(problem).memory // problem.ranks, f"a box of BT with N = {problem.N}")
    comm = world.team(problem.ranks)
    own = Box(problem.N, problem.dt, box(problem.N, problem.ranks, comm.rank, problem.grid), HALO)
    lines = [(groups(own.sizes, axis), own.sizes[axis] + 1) for axis in range(3) if not own.whole[axis]] or [(1, 1)]
    upper, carry = (max(count * each for count, each in lines) * UPPER, max(count for count, _ in lines) * FORWARD)
    stepper = Stepper(solver.State.at_exact_solution(own))
    state = State(comm, _neighbours(comm, problem.grid), stepper, zeros(upper), zeros(carry))
    _exchange(state)
    stepper.right_hand_side()
    state.fields.force()
    return state


def _exchange(state: State) -> None:
    """Two layers of every neighbour, direction by direction."""
    null = world.mpi().PROC_NULL
    around = state.fields.box.view(state.fields.u, HALO)
    for axis, (lower, upper) in zip((3, 1, 0), state.neighbours, strict=True):

        def layers(a, b, axis=axis):
            window = [slice(HALO, -HALO), slice(HALO, -HALO), slice(None), slice(HALO, -HALO)]
            window[axis] = slice(a, b)
            return around[tuple(window)]

        n = around.shape[axis]
        ways = (lower, upper, layers(2, 4), layers(n - 2, n)), (upper, lower, layers(n - 4, n - 2), layers(0, 2))
        for target, source, give, take in ways:
            out = np.ascontiguousarray(give)
            into = np.empty_like(out)
            state.comm.Sendrecv(out, target, recvbuf=into, source=source)
            if source != null:
                take[:] = into


def _solve_lines(state: State, axis: int) -> None:
    """Solve along one direction of which other boxes have parts, bundle after bundle."""
    fields, stepper, comm, null = state.fields, state.stepper, state.comm, world.mpi().PROC_NULL
    lower, upper = state.neighbours[axis]
    edges = np.unique(np.arange(BUNDLES + 1) * groups(fields.box.sizes, axis) // BUNDLES)
    for words, source, target in ((FORWARD, lower, upper), (BACKWARD, upper, lower)):
        for a, b in itertools.pairwise(map(np.uint64, edges)):
            carry = state.carry[: int(b - a) * words]
            if source == null:
                carry[:] = 0.0  # the boundary does not change
            else:
                comm.Recv(carry, source)
            task = axis, words == FORWARD, a, b
            sweep(task, fields.arrays, stepper.geometry, state.upper, carry, stepper.work[0])
            comm.Send(carry, target)  # nothing where nobody is


def step(state: State) -> None:
    """One time step."""
    fields, stepper = state.fields, state.stepper
    whole = fields.box.whole
    if all(whole):
        stepper.step()
        return
    _exchange(state)
    stepper.by_slabs(False)
    stepper.by_planes(whole[:2])  # fewest ranks stand along x, then along y
    for axis in range(3):
        if not whole[axis]:
            _solve_lines(state, axis)
    fields.box.view(fields.u)[:] += fields.box.view(fields.rhs)


def solution(state: State) -> np.ndarray:
    """The box in the order of the file, float64 [k, j, i, m]."""
    return np.ascontiguousarray(np.swapaxes(state.fields.box.view(state.fields.u), 2, 3))


def norms(problem: Problem, state: State) -> np.ndarray:
    """Residual and error of the whole grid, five components each, on every rank."""
    _exchange(state)
    state.stepper.right_hand_side()
    own = solver.squares(state.fields)
    found = np.empty_like(own)
    state.comm.Allreduce(own, found)
    return np.sqrt(found / (problem.N - 2) ** 3)


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1, on_step=None) -> Result:
    """``repeats`` times: back to the initial field, then NS steps; ``on_step(number, state)`` after each."""
    for _ in range(repeats):
        state.fields.reset()
        for number in range(1, problem.NS + 1):
            step(state)
            if on_step is not None:
                on_step(number, state)
    return Result(*norms(problem, state), state)


def reference(problem: Problem, state: State) -> Result:
    """The norms of the plain serial solver (small N)."""
    found = serial.reference(problem.solver)
    return Result(found.residual, found.error, state)


def verify(problem: Problem, result: Result) -> list[Check]:
    """NPB's published norms, to its tolerance, alike on all ranks."""
    checks = serial.verify(problem.solver, result)
    comm, own = result.state.comm, [*result.residual.tolist(), *result.error.tolist()]
    unlike = world.total(comm, own != world.broadcast(comm, own))
    return [*checks, Check.near("ranks with other norms than the first", unlike, 0, 0)]


NO_OUTPUT = {"state": "the solution in its layout and work space; its norms are the answer"}


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations as NPB credits them, and U read and written by each of the four sweeps of a step."""
    field = 5 * 8 * problem.N**3 * problem.NS
    return Work(int(serial.npb_flops(problem.solver)), 8 * field, 4 * field)


def footprint(problem: Problem) -> Footprint:
    """Bytes of the boxes of all ranks, and of the upper blocks where more than one shares a line."""
    words = 5 * 4 + (25 if problem.ranks > 1 else 0)
    return Footprint(8 * words * (problem.N + 24) ** 3 + 2 * 40 * problem.N**3)
