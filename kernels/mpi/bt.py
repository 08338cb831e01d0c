"""BT on a three-dimensional grid of ranks (N1, N6): NPB's solver, cut like the iPSC/860's in 1993.

Every rank has a box of the grid.  A step exchanges two layers of neighbours for the right-hand side, then
solves along i, j and k: an elimination passes through the boxes of a line from the first to the last, the
substitution comes back.  Lines go in ``bundles``, so that all boxes of a line are at work once the first
bundles have passed.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from kernels.bt import Problem as Serial
from kernels.bt.problem import SECOND, exact_parts, initial_component
from kernels.bt.published import CLASSES, TOLERANCE
from kernels.contract import Check, Footprint, Presets, Work, require_range
from kernels.files.groups import box, process_grid
from kernels.mpi import world
from kernels.mpi.bt_cells import BACKWARD, FORWARD, backward, directional, forward
from kernels.mpi.traffic import CLASSES as TIMES
from kernels.mpi.traffic import Traffic
from kernels.runtime.resources import require_memory


@dataclass(frozen=True)
class Problem(Presets):
    """One BT run over ``ranks`` boxes."""

    N: int = 12  # grid points in each direction
    NS: int = 60  # time steps
    dt: float = 0.01  # length of a time step
    ranks: int = 1  # ranks that take part
    bundles: int = 4  # bundles of lines that follow each other through the boxes

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        **{name: {"N": p.N, "NS": p.NS, "dt": p.dt} for name, p in CLASSES.items()},
        "quick": {},
        "paper": {"N": CLASSES["B"].N, "NS": CLASSES["B"].NS, "dt": CLASSES["B"].dt},
        "modern": {"N": CLASSES["C"].N, "NS": CLASSES["C"].NS, "dt": CLASSES["C"].dt},
    }

    def __post_init__(self):
        Serial(self.N, self.NS, self.dt)  # refuses what the solver refuses
        world.require_ranks(self.ranks)
        require_range("bundles", self.bundles, 1, 10_000)
        if 2 * max(process_grid(self.ranks)) > self.N:
            legal = [n for n in range(1, min(self.ranks, 4096) + 1) if 2 * max(process_grid(n)) <= self.N]
            raise ValueError(
                f"ranks = {self.ranks} makes boxes thinner than the two points that neighbours need of N = {self.N}; "
                f"the next legal number below is {legal[-1]}"
            )

    @property
    def solver(self) -> Serial:
        """The same problem for the serial solver."""
        return Serial(self.N, self.NS, self.dt)


class State(NamedTuple):
    """Box of one rank; arrays as in ``bt_cells``."""

    traffic: Traffic
    limits: tuple
    neighbours: tuple  # (lower, upper) rank along i, j, k; MPI's null process at the edges
    u: np.ndarray
    rhs: np.ndarray
    upper: np.ndarray
    forcing: np.ndarray
    start: np.ndarray


class Result(NamedTuple):
    """Norms after the last step, and the state they are of."""

    residual: np.ndarray
    error: np.ndarray
    state: State
    repeats: int


def _inner(u: np.ndarray) -> np.ndarray:
    return u[:, 2:-2, 2:-2, 2:-2]


def _exact(points: int, limits) -> np.ndarray:
    """The exact solution on a box, float64 [m, k, j, i]."""
    constant, parts = exact_parts(points)
    x, y, z = (part[:, a:b] for part, (a, b) in zip(parts, limits, strict=True))
    return constant[:, None, None, None] + x[:, None, None, :] + y[:, None, :, None] + z[:, :, None, None]


def _neighbours(comm) -> tuple:
    null, (px, py, _) = world.mpi().PROC_NULL, process_grid(comm.size)
    counts = process_grid(comm.size)
    place = (comm.rank % px, comm.rank // px % py, comm.rank // (px * py))
    strides = (1, px, px * py)
    return tuple(
        (comm.rank - step if at > 0 else null, comm.rank + step if at < count - 1 else null)
        for at, count, step in zip(place, counts, strides, strict=True)
    )


def setup(problem: Problem, seed: int = 0) -> State:
    """The initial field and the forcing on the rank's box (``seed`` is not used)."""
    require_memory(footprint(problem).memory // problem.ranks, f"a box of BT with N = {problem.N}")
    traffic = Traffic(world.team(problem.ranks), barriers=False)
    limits = box(problem.N, problem.ranks, traffic.comm.rank)
    sizes = tuple(b - a for a, b in reversed(limits))
    cut = tuple(slice(a, b) for a, b in reversed(limits))
    u = np.ones((5, *(size + 4 for size in sizes)))
    start = np.stack([initial_component(problem.N, m)[cut] for m in range(5)])
    rhs, upper, forcing = np.zeros((5, *sizes)), np.zeros((*sizes, 25)), np.zeros((5, *sizes))
    state = State(traffic, limits, _neighbours(traffic.comm), u, rhs, upper, forcing, start)
    _inner(u)[:] = _exact(problem.N, limits)
    right_hand_side(problem, state)
    forcing[:] = -rhs
    return state


def _exchange(state: State) -> None:
    """Two layers of every neighbour, direction by direction."""
    comm, u, traffic = state.traffic.comm, state.u, state.traffic
    null = world.mpi().PROC_NULL
    traffic.meet(comm)
    for axis, (lower, upper) in zip((3, 2, 1), state.neighbours, strict=True):

        def layers(a, b, axis=axis):
            window = [slice(None), slice(2, -2), slice(2, -2), slice(2, -2)]
            window[axis] = slice(a, b)
            return tuple(window)

        n = u.shape[axis]
        for target, source, give, take in (
            (lower, upper, layers(2, 4), layers(n - 2, n)),
            (upper, lower, layers(n - 4, n - 2), layers(0, 2)),
        ):
            out = np.ascontiguousarray(u[give])
            into = np.empty_like(out)
            comm.Sendrecv(out, target, recvbuf=into, source=source)
            if target != null:
                traffic.messages += 1
                traffic.bytes += out.nbytes
            if source != null:
                u[take] = into
    traffic.book("communication")


def right_hand_side(problem: Problem, state: State) -> None:
    """Operator and forcing of the present solution in ``state.rhs``, zero on the boundary."""
    _exchange(state)
    first = np.array([a for a, _ in state.limits])
    state.rhs[:] = state.forcing
    for axis in range(3):
        directional(state.u, state.rhs, axis, first, problem.N, SECOND[axis])


def _sweep(problem: Problem, state: State, axis: int) -> None:
    """Solve along one direction, bundle after bundle."""
    comm, traffic = state.traffic.comm, state.traffic
    null = world.mpi().PROC_NULL
    lower, upper = state.neighbours[axis]
    first = np.array([a for a, _ in state.limits])
    lines = state.rhs[0].size // state.rhs.shape[3 - axis]
    grid = problem.N, problem.dt, SECOND[axis]
    edges = np.unique(np.arange(problem.bundles + 1) * lines // problem.bundles)
    for words, source, target in ((FORWARD, lower, upper), (BACKWARD, upper, lower)):
        carry = np.zeros((lines, words))
        for a, b in zip(edges, edges[1:], strict=False):
            if source != null:
                traffic.book("compute")
                comm.Recv(carry[a:b], source)
                traffic.book("communication")
            if words == FORWARD:
                forward(state.u, state.rhs, state.upper, axis, first, grid, carry, a, b)
            else:
                backward(state.rhs, state.upper, axis, carry, a, b)
            if target != null:
                traffic.book("compute")
                comm.Send(carry[a:b], target)
                traffic.messages += 1
                traffic.bytes += 8 * words * int(b - a)
                traffic.book("communication")


def step(problem: Problem, state: State) -> None:
    """One time step."""
    right_hand_side(problem, state)
    np.multiply(state.rhs, problem.dt, out=state.rhs)
    for axis in range(3):
        _sweep(problem, state, axis)
    inner = _inner(state.u)
    inner += state.rhs


def reset(state: State) -> None:
    """Back to the initial field."""
    _inner(state.u)[:] = state.start


def solution(state: State) -> np.ndarray:
    """The box in the order of the file, float64 [k, j, i, m]."""
    return np.ascontiguousarray(np.moveaxis(_inner(state.u), 0, -1))


def norms(problem: Problem, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Residual and error of the whole grid, five components each, on every rank."""
    right_hand_side(problem, state)
    error = ((_inner(state.u) - _exact(problem.N, state.limits)) ** 2).sum(axis=(1, 2, 3))
    own = np.stack([(state.rhs**2).sum(axis=(1, 2, 3)), error])
    found = np.empty_like(own)
    state.traffic.comm.Allreduce(own, found)
    return tuple(np.sqrt(found / (problem.N - 2) ** 3))


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1, on_step=None) -> Result:
    """``repeats`` times: back to the initial field, then NS steps; ``on_step(number, state)`` after each."""
    traffic = state.traffic
    traffic.messages = traffic.bytes = 0
    traffic.seconds.update(dict.fromkeys(TIMES, 0.0))
    traffic.start()
    for _ in range(repeats):
        reset(state)
        for number in range(1, problem.NS + 1):
            step(problem, state)
            if on_step is not None:
                on_step(number, state)
    traffic.book("compute")
    sent = traffic.messages, traffic.bytes
    found = norms(problem, state)
    traffic.messages, traffic.bytes = sent
    return Result(*found, state, repeats)


def reference(problem: Problem, state: State) -> Result:
    """The norms of the plain serial solver (small N)."""
    from kernels import bt

    found = bt.reference(problem.solver)
    return Result(found.residual, found.error, state, 1)


def verify(problem: Problem, result: Result) -> list[Check]:
    """NPB's published norms, to its tolerance; messages and bytes as the scale model counts them."""
    from kernels.mpi.scale import bt as counted_bt

    published, checks = problem.solver.published, []
    for kind in ("residual", "error"):
        for m, name in enumerate(("ρ", "ρu", "ρv", "ρw", "E")):
            value, label = float(getattr(result, kind)[m]), f"{kind} norm of {name}"
            if published is not None:
                checks.append(Check.relative(label, value, getattr(published, kind)[m], TOLERANCE))
            else:
                checks.append(Check(f"{label} is finite", value, value, 0.0, bool(0.0 < value < np.inf)))
    messages, nbytes = result.state.traffic.totals()
    counted = counted_bt(problem)
    checks.append(Check.near("messages of one run", messages / result.repeats, counted.messages, 0))
    checks.append(Check.near("bytes of one run", nbytes / result.repeats, counted.bytes, 0))
    return checks


def split(result: Result) -> dict[str, float]:
    """Seconds of every class a run, mean over the ranks; all ranks call it."""
    return {name: seconds / result.repeats for name, seconds in result.state.traffic.means().items()}


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations as NPB credits them, and U read and written by each of the four sweeps of a step."""
    from kernels.bt import npb_flops

    field = 5 * 8 * problem.N**3 * problem.NS
    return Work(int(npb_flops(problem.solver)), 8 * field, 4 * field)


def footprint(problem: Problem) -> Footprint:
    """Bytes of the boxes of all ranks."""
    return Footprint(8 * (5 * 4 + 25) * (problem.N + 8) ** 3)
