"""BT on a three-dimensional grid of ranks (N1, N6): NPB's solver, cut like the iPSC/860's in 1993.

Every rank has a box of the grid.  A step exchanges two layers of neighbours for the right-hand side, then
solves along i, j and k: an elimination passes through the boxes of a line from the first to the last, the
substitution comes back.  Lines go in bundles, so that all boxes of a line are at work once the first
bundles have passed.  Eight lines are solved at once by the code of ``kernels.bt``; what they hand on has all eight
lanes, also where a box has fewer lines left.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from kernels import bt as serial
from kernels.bt.elimination import BACKWARD, FORWARD, UPPER
from kernels.bt.problem import exact_parts, initial_component
from kernels.bt.ranks.box import BUNDLES, HALO, Box
from kernels.bt.ranks.lines import Sweep, add, columns, planes, sweep, work_size
from kernels.contract import Check, Footprint, Presets, Work, whole
from kernels.decomposition import box, process_grid
from kernels.mpi import world
from kernels.mpi.traffic import Traffic
from kernels.runtime.pages import zeros
from kernels.runtime.resources import require_memory
from kernels.runtime.vector import LANES


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
    return zeros(max(upper, LANES)), zeros(max(carry, FORWARD)), zeros(work_size(box.sizes))


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


def verify(problem: Problem, result: Result) -> list[Check]:
    """NPB's published norms, to its tolerance, alike on all ranks; messages and bytes as the scale model counts."""
    from kernels.mpi.scale import bt as counted_bt

    checks = serial.verify(problem.solver, result)
    comm, own = result.state.traffic.comm, [*result.residual.tolist(), *result.error.tolist()]
    unlike = world.total(comm, own != world.broadcast(comm, own))
    checks.append(Check.near("ranks with other norms than the first", unlike, 0, 0))
    return checks + result.state.traffic.checks(counted_bt(problem), result.repeats, "run")


NO_OUTPUT = {"state": "the solution in its layout and work space; its norms are the answer"}


def split(result: Result) -> dict[str, float]:
    """Seconds of every class a run, mean over the ranks, and what all sent; all ranks call it."""
    return result.state.traffic.split(result.repeats)


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations as NPB credits them, and U read and written by each of the four sweeps of a step."""
    field = 5 * 8 * problem.N**3 * problem.NS
    return Work(int(serial.npb_flops(problem.solver)), 8 * field, 4 * field)


def footprint(problem: Problem) -> Footprint:
    """Bytes of the boxes of all ranks, and of the upper blocks where more than one shares a line."""
    words = 5 * 4 + (25 if problem.ranks > 1 else 0)
    return Footprint(8 * words * (problem.N + 24) ** 3 + 2 * 40 * problem.N**3)
