"""BT on a three-dimensional grid of ranks (N1, N6): NPB's solver, cut like the iPSC/860's in 1993.

Every rank has a box of the grid.  A step exchanges two layers of neighbours for the right-hand side, then
solves along i, j and k: an elimination passes through the boxes of a line from the first to the last, the
substitution comes back.  Lines go in bundles, so that all boxes of a line are at work once the first
bundles have passed.  Eight lines are solved at once by the code of ``kernels.bt``; what they hand on has all eight
lanes, also where a box has fewer lines left.

In memory a box has the layout of ``kernels.bt``, U[k][j][m][i] with rows on cache lines, and two layers of the
neighbours' points on every side::

    row of one component:  6 × padding, i = −2, −1 | i = 0 … ni−1, ni, ni+1, padding to an odd number of lines

Rows that eight lines of x take together may reach beyond the box; they are there, and hold ones.  An elimination
needs of the box before it the upper block and the right-hand side of the last point (240 words for eight lines), a
substitution of the box after it the solution of the first point (40 words).

In the compiled functions ``u`` and ``rhs`` are a box's field and right-hand side with their neighbours (float64,
flat), ``place`` says where its points lie in them, ``direction`` is a ``lines.Direction``, ``ends`` says where the box
reaches the boundary of the grid, and ``work`` is a thread's scratch.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from kernels import bt as serial
from kernels.bt import step as one_step
from kernels.bt.differences import differences, weights
from kernels.bt.elimination import BACKWARD, FORWARD, UPPER, eliminate, solve, substitute
from kernels.bt.lines import TILE as _TILE
from kernels.bt.lines import Direction, Ends, along
from kernels.bt.problem import SECOND, exact_parts, initial_component
from kernels.bt.step import fill, scratch, turn_back
from kernels.contract import Check, Footprint, Presets, Work, whole
from kernels.decomposition import box, process_grid
from kernels.mpi import world
from kernels.mpi.scale import Count
from kernels.mpi.traffic import Traffic
from kernels.runtime.jit import FINITE, kernel
from kernels.runtime.pages import aligned, zeros
from kernels.runtime.resources import require_memory
from kernels.runtime.vector import LANES

_V, _ZERO, _ONE, _TWO, _FIVE = (np.uint64(n) for n in (LANES, 0, 1, 2, 5))
_UPPER, _FORWARD, _BACKWARD = np.uint64(UPPER), np.uint64(FORWARD), np.uint64(BACKWARD)
_HALO = np.uint64(2 * LANES)  # cells of a tile that are not the box's

#: Layers of neighbours' points.
HALO = 2
#: Bundles of lines that follow each other through the boxes.
BUNDLES = 8


class Place(NamedTuple):
    """Where u[k, j, m, i] of a box lies: ``base + k·plane + (5·j + m)·row + i``; all uint64, in doubles."""

    base: np.uint64  # offset of the box's first point
    plane: np.uint64  # from one k to the next
    row: np.uint64  # from one component of a row to the next
    ni: np.uint64  # points of the box along i
    nj: np.uint64  # along j
    nk: np.uint64  # along k


class Box:
    """Layout and directions of a box.

    ``points``: N, along every edge of the whole grid; ``dt``: time step; ``limits``: half-open ranges of i, j and k
    that the box holds.
    """

    def __init__(self, points: int, dt: float, limits):
        self.points, self.dt, self.limits = points, dt, tuple(limits)
        self.sizes = tuple(stop - start for start, stop in limits)
        ni, nj, nk = self.sizes
        self.row = LANES * ((1 + -(-(ni + HALO) // LANES)) | 1)
        self.rows = -(-nj // LANES) * LANES + 2 * HALO
        self.plane = LANES * (self.rows * 5 * self.row // LANES | 1)
        self.base = LANES + HALO * self.plane + HALO * 5 * self.row + LANES
        self.size = LANES + (nk + 2 * HALO) * self.plane + LANES
        self.place = Place(*map(np.uint64, (self.base, self.plane, self.row, ni, nj, nk)))
        self.ends = tuple(Ends(a == 0, b == points) for a, b in limits)
        self.whole = tuple(all(ends) for ends in self.ends)  # no other box has a part of the lines
        self.directions = tuple(self._direction(axis) for axis in range(3))

    def _direction(self, axis: int) -> Direction:
        """Weights begin at the first cell that differences visit: the boundary, or two cells before the box."""
        (start, stop), ends = self.limits[axis], self.ends[axis]
        table = np.zeros((self.points + 2 * HALO, 5))
        table[HALO:-HALO] = weights(self.points, self.dt, SECOND[axis])
        own = table[start + (HALO if ends.low else 0) : stop + (HALO if ends.high else 2 * HALO)]
        return Direction(self.dt, np.ascontiguousarray(own).reshape(-1), SECOND[axis], 1.0 / (self.points - 1.0))

    def new(self, value: float = 0.0) -> np.ndarray:
        """Flat array filled with ``value`` that begins on a cache line, every page touched."""
        array = aligned(self.size)
        array[:] = value
        return array

    def view(self, array: np.ndarray, halo: int = 0) -> np.ndarray:
        """View [k, j, m, i] of a flat array: the box, with ``halo`` layers around it."""
        ni, nj, nk = self.sizes
        planes = array[LANES : LANES + (nk + 2 * HALO) * self.plane].reshape(nk + 2 * HALO, self.plane)
        whole = planes[:, : self.rows * 5 * self.row].reshape(nk + 2 * HALO, self.rows, 5, self.row)
        off = HALO - halo
        return whole[off : nk + 2 * HALO - off, off : nj + 2 * HALO - off, :, LANES - halo : LANES + ni + halo]

    def inner(self, array: np.ndarray) -> np.ndarray:
        """View [k, j, m, i] of the points of the box that do not lie on the boundary of the grid."""
        i, j, k = (
            slice(int(ends.low), size - int(ends.high)) for ends, size in zip(self.ends, self.sizes, strict=True)
        )
        return self.view(array)[k, j, :, i]

    def groups(self, axis: int) -> int:
        """Groups of eight lines along an axis."""
        return groups(self.sizes, axis)


def groups(sizes, axis: int) -> int:
    """Groups of eight lines along ``axis`` of a box of ``sizes``: lanes are rows for x, columns for y and z."""
    ni, nj, nk = sizes
    lanes, others = ((nj, nk), (ni, nk), (ni, nj))[axis]
    return -(-lanes // LANES) * others


@kernel(inline=True)
def _own(place):
    """The scratch's cells, and the groups of eight columns of a box."""
    return _HALO + max(place.ni, place.nj, place.nk), (place.ni + _V - _ONE) // _V


@kernel(inline=True)
def _visited(ends, points):
    """First cell that differences visit, as cells before the box, and how many they visit."""
    before, after = (_ZERO if ends.low else _TWO), (_ZERO if ends.high else _TWO)
    return before, points + before + after


@kernel(fastmath=FINITE)
def columns(u, forcing, rhs, place, direction, ends):
    """rhs = forcing + z part of dt times the right-hand side, on all inner points of a box."""
    before, points = _visited(ends, place.nk)
    for j in range(place.nj):
        for group in range(_own(place)[1]):
            at = place.base + j * _FIVE * place.row + group * _V - before * place.plane
            differences(u, forcing, rhs, along(2, at, place, points), direction, _ZERO)


@kernel(fastmath=FINITE)
def planes(u, rhs, place, directions, ends, solves, work):
    """y and x part of dt times the right-hand side, plane after plane; then eliminations, where ``solves`` asks.

    ``directions``, ``ends`` and ``solves`` are pairs, for x and for y; only whole lines can be solved here.
    """
    cells, groups = _own(place)
    upper, ring, carry, tile_u, tile_r, block = scratch(work, cells)
    line = _FIVE * place.row
    before, points = _visited(ends[1], place.nj)
    first, cells = _visited(ends[0], place.ni)
    for k in range(place.nk):
        at = place.base + k * place.plane
        for group in range(groups):
            differences(u, rhs, rhs, along(1, at + group * _V - before * line, place, points), directions[1], _ZERO)
        for group in range((place.nj + _V - _ONE) // _V):
            rows = at + group * _V * line
            fill(u, rows - _V, place.row, groups + _TWO, tile_u)
            fill(rhs, rows - _V, place.row, groups + _TWO, tile_r)
            lines = along(0, (_V - first) * _TILE, place, cells)
            differences(tile_u, tile_r, tile_r, lines, directions[0], _ZERO)
            if solves[0]:
                lines = along(0, _V * _TILE, place, place.ni)
                solve(tile_u, tile_r, lines, directions[0], ends[0], upper, ring, carry, _ZERO)
            turn_back(tile_r, _V, rhs, rows, place.row, groups, _ZERO, min(_V, place.nj - group * _V), block)
        if solves[1]:
            for group in range(groups):
                lines = along(1, at + group * _V, place, place.nj)
                solve(u, rhs, lines, directions[1], ends[1], upper, ring, carry, _ZERO)


class Sweep(NamedTuple):
    """Which part of the line solves of one direction: groups first <= group < last."""

    axis: int  # 0 x, 1 y, 2 z
    forward: bool  # eliminate
    backward: bool  # substitute; with both, one group after the other
    first: np.uint64
    last: np.uint64


@kernel(fastmath=FINITE)
def sweep(u, rhs, place, direction, ends, part, upper, carry, work):
    """Eliminate or substitute on groups of eight lines of a box.

    ``upper`` keeps the blocks of all groups, (points + 1)·UPPER words each; where a group is eliminated and
    substituted at once they lie in the scratch and ``upper`` is not used.  ``carry`` has FORWARD or BACKWARD
    words for every group from ``part.first`` on.
    """
    cells, groups = _own(place)
    own, ring, nothing, tile_u, tile_r, block = scratch(work, cells)
    axis, line = part.axis, _FIVE * place.row
    points = place.ni if axis == 0 else (place.nj if axis == 1 else place.nk)
    across = (place.nj + _V - _ONE) // _V if axis == 0 else groups
    words = _FORWARD if part.forward else _BACKWARD
    for group in range(part.first, part.last):
        outer, lanes = group // across, group % across
        handed = carry[(group - part.first) * words :]
        kept = upper[group * (points + _ONE) * _UPPER :]
        if axis == 0:
            rows = place.base + outer * place.plane + lanes * _V * line
            lines = along(0, _V * _TILE, place, points)
            fill(rhs, rows - _V, place.row, groups + _TWO, tile_r)
            if part.forward:
                fill(u, rows - _V, place.row, groups + _TWO, tile_u)
                eliminate(tile_u, tile_r, lines, direction, ends, kept, ring, handed, _ZERO)
            else:
                substitute(tile_r, lines, ends, kept, handed)
            turn_back(tile_r, _V, rhs, rows, place.row, groups, _ZERO, min(_V, place.nj - lanes * _V), block)
            continue
        at = place.base + lanes * _V + outer * (place.plane if axis == 1 else line)
        lines = along(axis, at, place, points)
        if part.forward and part.backward:
            solve(u, rhs, lines, direction, ends, own, ring, nothing, _ZERO)
        elif part.forward:
            eliminate(u, rhs, lines, direction, ends, kept, ring, handed, _ZERO)
        else:
            substitute(rhs, lines, ends, kept, handed)


@kernel
def add(u, rhs, place, ends):
    """u += rhs on the points of a box that do not lie on the boundary of the grid; zero rhs on the boundary."""
    for k in range(place.nk):
        edge_k = (ends[2].low and k == _ZERO) or (ends[2].high and k == place.nk - _ONE)
        for j in range(place.nj):
            edge = edge_k or (ends[1].low and j == _ZERO) or (ends[1].high and j == place.nj - _ONE)
            for m in range(_FIVE):
                at = place.base + k * place.plane + (_FIVE * j + m) * place.row
                if edge:
                    for i in range(place.ni):
                        rhs[at + i] = 0.0
                    continue
                if ends[0].low:
                    rhs[at] = 0.0
                if ends[0].high:
                    rhs[at + place.ni - _ONE] = 0.0
                for i in range(place.ni):
                    u[at + i] += rhs[at + i]


@dataclass(frozen=True)
class Problem(Presets):
    """One BT run over ``ranks`` boxes."""

    N: int = 12  # grid points in each direction
    NS: int = 60  # time steps
    dt: float = 0.01  # length of a time step
    ranks: whole(1, world.LARGEST) = 1  # ranks that take part

    PRESETS: ClassVar = serial.Problem.PRESETS

    def __post_init__(self):
        self.solver  # noqa: B018  refuses what the solver refuses
        if 2 * max(process_grid(self.ranks)) > self.N:
            legal = [n for n in range(1, min(self.ranks, 4096) + 1) if 2 * max(process_grid(n)) <= self.N]
            raise ValueError(
                f"ranks = {self.ranks} makes boxes thinner than the two points that neighbours need of N = {self.N}; "
                f"the next legal number below is {legal[-1]}"
            )

    @property
    def solver(self) -> serial.Problem:
        """The same problem for the serial solver."""
        return serial.Problem(self.N, self.NS, self.dt)


class State(NamedTuple):
    """Box of one rank; arrays as in ``box``."""

    traffic: Traffic
    box: Box
    neighbours: tuple  # (lower, upper) rank along i, j, k; MPI's null process at the edges
    u: np.ndarray
    rhs: np.ndarray  # dt times the right-hand side, then the update
    forcing: np.ndarray  # dt times the forcing
    start: np.ndarray
    upper: np.ndarray  # upper blocks of lines that other boxes share
    carry: np.ndarray  # what lines hand on
    work: np.ndarray  # scratch


class Result(NamedTuple):
    """Norms after the last step, and the state they are of."""

    residual: np.ndarray
    error: np.ndarray
    state: State
    repeats: int


def _exact(points: int, limits) -> np.ndarray:
    """The exact solution on a box, float64 [k, j, m, i]."""
    constant, parts = exact_parts(points)
    x, y, z = (part[:, a:b] for part, (a, b) in zip(parts, limits, strict=True))
    return constant[:, None] + x + y.T[None, :, :, None] + z.T[:, None, :, None]


def _neighbours(comm) -> tuple:
    null, (px, py, _) = world.mpi().PROC_NULL, process_grid(comm.size)
    counts = process_grid(comm.size)
    place = (comm.rank % px, comm.rank // px % py, comm.rank // (px * py))
    strides = (1, px, px * py)
    return tuple(
        (comm.rank - step if at > 0 else null, comm.rank + step if at < count - 1 else null)
        for at, count, step in zip(place, counts, strides, strict=True)
    )


def _scratch(box: Box) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``upper``, ``carry`` and ``work`` of a state."""
    shared = [axis for axis in range(3) if not box.whole[axis]]
    upper = max((box.groups(axis) * (box.sizes[axis] + 1) * UPPER for axis in shared), default=0)
    carry = max((box.groups(axis) * FORWARD for axis in shared), default=0)
    return zeros(max(upper, LANES)), zeros(max(carry, FORWARD)), zeros(one_step.work_size(2 * LANES + max(box.sizes)))


def setup(problem: Problem, seed: int = 0) -> State:
    """The initial field and the forcing on the rank's box (``seed`` is not used)."""
    require_memory(footprint(problem).memory // problem.ranks, f"a box of BT with N = {problem.N}")
    traffic = Traffic(world.team(problem.ranks), barriers=False)
    own = Box(problem.N, problem.dt, box(problem.N, problem.ranks, traffic.comm.rank))
    cut = tuple(slice(a, b) for a, b in reversed(own.limits))
    u, rhs, forcing, start = own.new(1.0), own.new(), own.new(), own.new(1.0)
    state = State(traffic, own, _neighbours(traffic.comm), u, rhs, forcing, start, *_scratch(own))
    own.view(u)[:] = _exact(problem.N, own.limits)
    for m in range(5):
        own.view(start)[:, :, m] = initial_component(problem.N, m)[cut]
    right_hand_side(state)
    own.inner(forcing)[:] = -own.inner(rhs)
    return state


def _exchange(state: State) -> None:
    """Two layers of every neighbour, direction by direction."""
    comm, traffic = state.traffic.comm, state.traffic
    null = world.mpi().PROC_NULL
    around = state.box.view(state.u, HALO)
    traffic.book("compute")
    for axis, (lower, upper) in zip((3, 1, 0), state.neighbours, strict=True):

        def layers(a, b, axis=axis):
            window = [slice(HALO, -HALO), slice(HALO, -HALO), slice(None), slice(HALO, -HALO)]
            window[axis] = slice(a, b)
            return tuple(window)

        n = around.shape[axis]
        for target, source, give, take in (
            (lower, upper, layers(2, 4), layers(n - 2, n)),
            (upper, lower, layers(n - 4, n - 2), layers(0, 2)),
        ):
            if target == null and source == null:
                continue
            out = np.ascontiguousarray(around[give])
            into = np.empty_like(out)
            comm.Sendrecv(out, target, recvbuf=into, source=source)
            if target != null:
                traffic.messages += 1
                traffic.bytes += out.nbytes
            if source != null:
                around[take] = into
    traffic.book("communication")


def right_hand_side(state: State, solve=(False, False)) -> None:
    """dt times operator and forcing of the present solution in ``state.rhs``; then x and y solved, if wanted."""
    own = state.box
    _exchange(state)
    columns(state.u, state.forcing, state.rhs, own.place, own.directions[2], own.ends[2])
    planes(state.u, state.rhs, own.place, own.directions[:2], own.ends[:2], solve, state.work)


def _line_solve(state: State, axis: int) -> None:
    """Solve along one direction, bundle after bundle where other boxes have a part of the lines."""
    own, traffic = state.box, state.traffic
    groups, fixed = own.groups(axis), (own.place, own.directions[axis], own.ends[axis])
    if own.whole[axis]:
        part = Sweep(axis, True, True, np.uint64(0), np.uint64(groups))
        sweep(state.u, state.rhs, *fixed, part, state.upper, state.carry, state.work)
        return
    comm, null = traffic.comm, world.mpi().PROC_NULL
    lower, upper = state.neighbours[axis]
    edges = np.unique(np.arange(BUNDLES + 1) * groups // BUNDLES)
    for words, source, target in ((FORWARD, lower, upper), (BACKWARD, upper, lower)):
        for a, b in zip(edges, edges[1:], strict=False):
            carry = state.carry[: int(b - a) * words]
            if source == null:
                carry[:] = 0.0  # the boundary does not change
            else:
                traffic.book("compute")
                comm.Recv(carry, source)
                traffic.book("communication")
            part = Sweep(axis, words == FORWARD, words == BACKWARD, np.uint64(a), np.uint64(b))
            sweep(state.u, state.rhs, *fixed, part, state.upper, carry, state.work)
            if target != null:
                traffic.book("compute")
                comm.Send(carry, target)
                traffic.messages += 1
                traffic.bytes += carry.nbytes
                traffic.book("communication")


def step(state: State) -> None:
    """One time step."""
    whole = state.box.whole
    right_hand_side(state, (whole[0], whole[0] and whole[1]))  # x comes before y
    for axis in range(3):
        if not (axis == 0 and whole[0] or axis == 1 and whole[0] and whole[1]):
            _line_solve(state, axis)
    add(state.u, state.rhs, state.box.place, state.box.ends)


def reset(state: State) -> None:
    """Back to the initial field."""
    state.u[:] = state.start


def solution(state: State) -> np.ndarray:
    """The box in the order of the file, float64 [k, j, i, m]."""
    return np.ascontiguousarray(np.swapaxes(state.box.view(state.u), 2, 3))


def norms(problem: Problem, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Residual and error of the whole grid, five components each, on every rank."""
    right_hand_side(state)
    error = ((state.box.view(state.u) - _exact(problem.N, state.box.limits)) ** 2).sum(axis=(0, 1, 3))
    own = np.stack([(state.box.inner(state.rhs) ** 2).sum(axis=(0, 1, 3)) / problem.dt**2, error])
    found = np.empty_like(own)
    state.traffic.comm.Allreduce(own, found)
    return tuple(np.sqrt(found / (problem.N - 2) ** 3))


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1, on_step=None) -> Result:
    """``repeats`` times: back to the initial field, then NS steps; ``on_step(number, state)`` after each."""
    traffic = state.traffic
    traffic.start()
    for _ in range(repeats):
        reset(state)
        for number in range(1, problem.NS + 1):
            step(state)
            if on_step is not None:
                on_step(number, state)
    traffic.book("compute")
    sent = traffic.messages, traffic.bytes, dict(traffic.seconds)  # norms exchange layers too
    found = norms(problem, state)
    traffic.messages, traffic.bytes, traffic.seconds = sent
    return Result(*found, state, repeats)


def reference(problem: Problem, state: State) -> Result:
    """The norms of the plain serial solver (small N)."""
    found = serial.reference(problem.solver)
    return Result(found.residual, found.error, state, 1)


def counted(problem: Problem) -> Count:
    """What all ranks send in one run: two layers of every face, and six sweeps in bundles, a step."""
    N, grid = problem.N, process_grid(problem.ranks)
    edges = [np.diff(np.arange(count + 1) * N // count) for count in grid]
    messages = nbytes = 0
    for axis, parts in enumerate(grid):
        others = [edges[place] if place != axis else edges[place][:1] for place in range(3)]
        boxes = [(ni, nj, nk) for ni in others[0] for nj in others[1] for nk in others[2]]
        grouped = [int(groups(sizes, axis)) for sizes in boxes]
        bundles = sum(min(BUNDLES, count) for count in grouped)
        messages += (parts - 1) * (2 * len(boxes) + 2 * bundles)
        nbytes += (parts - 1) * 8 * (2 * 2 * 5 * N * N + (FORWARD + BACKWARD) * sum(grouped))
    return Count(problem.NS * messages, problem.NS * nbytes)


def verify(problem: Problem, result: Result) -> list[Check]:
    """NPB's published norms, to its tolerance, alike on all ranks; messages and bytes as counted."""
    checks = serial.verify(problem.solver, result)
    comm, own = result.state.traffic.comm, [*result.residual.tolist(), *result.error.tolist()]
    unlike = world.total(comm, own != world.broadcast(comm, own))
    checks.append(Check.near("ranks with other norms than the first", unlike, 0, 0))
    return checks + result.state.traffic.checks(counted(problem), result.repeats, "run")


NO_OUTPUT = {"state": "the solution in its layout and work space; its norms are the answer"}


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations as NPB credits them, and U read and written by each of the four sweeps of a step."""
    field = 5 * 8 * problem.N**3 * problem.NS
    return Work(int(serial.npb_flops(problem.solver)), 8 * field, 4 * field)


def footprint(problem: Problem) -> Footprint:
    """Bytes of the boxes of all ranks, and of the upper blocks where more than one shares a line."""
    words = 5 * 4 + (25 if problem.ranks > 1 else 0)
    return Footprint(8 * words * (problem.N + 24) ** 3 + 2 * 40 * problem.N**3)
