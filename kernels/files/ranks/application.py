"""NHT-1 Application I/O over MPI-IO (N1, N6): BT on ranks, writing U every IW steps.

T_T, T_C, R_IO and zeta as in ``kernels.files.application``; the ways of writing are those of
``shared``.  Opening the file comes before the clock, joining and checksums after it.
"""

import functools
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

import numpy as np

from kernels.bt import ranks as bt
from kernels.contract import Check, Footprint, Presets, Work, one_of
from kernels.files.application import exact_plane, known_diagonal
from kernels.files.format.layout import Layout, require_checksums
from kernels.files.format.netcdf import open_solution
from kernels.files.format.solution import SolutionWriter
from kernels.files.format.verification import compare_diagonals, mean_error_checks, verify_file
from kernels.files.formulas import require_schedule, solution_bytes, transfer_rate
from kernels.files.ranks.shared import WAYS, SharedSolution, shared_folder
from kernels.files.ranks.shared import close as close
from kernels.files.work_folder import WorkFolder
from kernels.mpi import world

#: Up to this N files are compared with what one process writes.
COMPARED = 16


@dataclass(frozen=True)
class Problem(Presets):
    """One run of the benchmark on ``ranks`` ranks; N, NS and IW are the report's symbols."""

    N: int = 12  # grid points in each direction
    NS: int = 60  # time steps
    IW: int = 10  # time steps between two writes of U
    dt: float = 0.01  # length of a time step
    way: one_of("none", *WAYS) = "collective"  # see ``shared``; "none" computes only, which gives T_C
    fsync: bool = False  # T_T includes waiting for the device
    ranks: int = 1  # ranks that take part
    folder: str | None = None  # shared by all hosts; None: the system's temporary folder

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "quick": {},
        "paper": {"N": 64, "NS": 200, "IW": 5, "dt": 8e-4},
        "modern": {"N": 102, "NS": 200, "IW": 5, "dt": 3e-4},
    }

    def __post_init__(self):
        require_schedule(self.NS, self.IW)
        self.solver  # noqa: B018  refuses what the solver refuses
        self.layout  # noqa: B018  and the file

    @property
    def solver(self) -> bt.Problem:
        """The computation without writing."""
        return bt.Problem(self.N, self.NS, self.dt, self.ranks)

    @property
    def layout(self) -> Layout:
        """Of the file."""
        return Layout(self.N, self.NS, self.IW)


class State(NamedTuple):
    """Solver and folder of one rank."""

    comm: Any
    solver: bt.State
    folder: Path
    keep: WorkFolder | None


class Result(NamedTuple):
    """One run."""

    state: State
    path: Path | None
    T_T: float  # seconds, slowest rank
    R_IO: float  # bytes per second of the whole application
    norms: bt.Result


def setup(problem: Problem, seed: int = 0) -> State:
    """The solver's boxes and a folder (``seed`` is not used)."""
    solver = bt.setup(problem.solver)
    comm = solver.traffic.comm
    need, what = footprint(problem).disk, f"the solution with N = {problem.N}"
    return State(comm, solver, *shared_folder(comm, problem.folder, "mpi-application", need, what))


def _once(problem: Problem, state: State) -> Result:
    comm, path, solution = state.comm, None, None
    if problem.way != "none":
        path = state.folder / f"{problem.way}.nht1"
        solution = SharedSolution(comm, path, problem.layout, state.solver.box.limits, problem.way)

    def on_step(number, solver):
        if number % problem.IW == 0 and solution is not None:
            solution.write(number // problem.IW - 1, bt.solution(solver))

    comm.Barrier()
    start = perf_counter()
    found = bt.run(problem.solver, state.solver, on_step=on_step)
    if solution is not None:
        solution.finish(problem.fsync)
    seconds = world.largest(comm, perf_counter() - start)
    if solution is not None:
        solution.complete()
    return Result(state, path, seconds, transfer_rate(problem.N, problem.NS, problem.IW, seconds), found)


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """The benchmark, ``repeats`` times; the result with the smallest T_T."""
    return min((_once(problem, state) for _ in range(repeats)), key=lambda result: result.T_T)


@functools.cache
def _diagonal(N: int, NS: int, IW: int, dt: float) -> np.ndarray:
    """The diagonal of every dump by the plain serial solver, float64 (dumps, N, 5): small N only."""
    from kernels.files import application

    return known_diagonal(application.Problem(N, NS, IW, dt=dt))


def reference(problem: Problem, state: State) -> Result:
    """The file as one process computes and writes it (rank 0 does), with the serial writer; norms of that run."""
    comm, path = state.comm, state.folder / "serial.nht1"
    norms = None
    if comm.rank == 0:
        alone = replace(problem.solver, ranks=1)
        with SolutionWriter(path, problem.N, problem.NS, problem.IW, "positioned") as writer:

            def on_step(number, solver):
                if number % problem.IW == 0:
                    writer.write(number, bt.solution(solver))

            norms = bt.run(alone, bt.setup(alone), on_step=on_step)
            writer.finish()
    world.wait_aside(comm)
    return Result(state, path, np.nan, np.nan, norms)


def verify(problem: Problem, result: Result) -> list[Check]:
    """The solver's norms; the file's checksums, U of the last dump, its published mean errors, its diagonal.

    A small file is also compared, byte for byte, with that of :func:`reference`.
    """
    comm = result.state.comm
    checks = bt.verify(problem.solver, result.norms)
    if result.path is None:
        return checks
    (i0, i1), (j0, j1), (k0, k1) = result.state.solver.box.limits
    own = bt.solution(result.state.solver)
    with open_solution(result.path) as solution:
        if comm.rank == 0:
            require_checksums(solution)
        planes = (
            plane[j0:j1, i0:i1] for k, plane in enumerate(solution.planes(problem.layout.dumps - 1)) if k0 <= k < k1
        )
        wrong = sum(int((plane != box).sum()) for plane, box in zip(planes, own, strict=True))
    checks.append(Check.near("words of the last dump that are not in memory", world.total(comm, wrong), 0, 0))
    facts = []
    small = problem.N <= COMPARED
    true = reference(problem, result.state).path if small else None
    if comm.rank == 0:
        found = verify_file(result.path, exact_plane(problem.N))
        more = mean_error_checks(found)
        if small:
            more.append(compare_diagonals(found, _diagonal(problem.N, problem.NS, problem.IW, problem.dt)))
            other = int(result.path.read_bytes() != true.read_bytes())
            more.append(Check.near("files that differ from the serial writer's", other, 0, 0))
        facts = [astuple(check) for check in more]
    world.wait_aside(comm)
    return [*checks, *(Check(*fact) for fact in world.broadcast(comm, facts))]


NO_OUTPUT = dict.fromkeys(("state", "norms.state"), "the solution in its layout and work space")


def observe(result: Result) -> dict[str, float]:
    """T_T of one sample."""
    return {"T_T": result.T_T}


def work(problem: Problem, threads: int = 1) -> Work:
    """The solver's work and the bytes of U written."""
    solver = bt.work(problem.solver)
    written = solution_bytes(problem.N, problem.NS, problem.IW) if problem.way != "none" else 0
    return Work(solver.flops, solver.bytes_read, solver.bytes_written + written)


def footprint(problem: Problem) -> Footprint:
    """Bytes of the boxes of all ranks and of a dump each."""
    return Footprint(bt.footprint(problem.solver).memory + 2 * 40 * problem.N**3, 2 * problem.layout.total_bytes)
