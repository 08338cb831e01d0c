"""NHT-1 Application I/O over MPI-IO (N1, N6): BT on ranks, writing U every IW steps.

T_T, T_C, R_IO and zeta as in ``kernels.files.application``.  Opening the file comes before the clock, checksums after
it.  The layout is that of ``kernels.files.format.layout``, byte for byte: what ranks wrote together cannot be told from
what the serial writer wrote.  Three ways, those of NPB's BT-IO that write one file:

    collective   one call for all ranks (``Write_at_all``): the library may rearrange the data first
    independent  the same view of the file, every rank for itself (``Write_at``)
    elements     40 bytes a call, a point each
"""

from dataclasses import astuple, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

import numpy as np

from supercomputers_rerun.kernels.bt import ranks as bt
from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, one_of
from supercomputers_rerun.kernels.files import application
from supercomputers_rerun.kernels.files.format.layout import COMPONENTS, DTYPE, Layout, Solution, checksum
from supercomputers_rerun.kernels.files.format.verification import checksum_check, mean_error_checks, verify_file
from supercomputers_rerun.kernels.files.processes import ELEMENT, rows_of
from supercomputers_rerun.kernels.files.ways import end_file, new_file, solution_writer
from supercomputers_rerun.kernels.files.work_folder import WorkFolder
from supercomputers_rerun.kernels.mpi import world

__all__ = ["NO_OUTPUT", "WAYS", "Problem", "Result", "SharedSolution", "State", "close", "footprint"]
__all__ += ["reference", "run", "setup", "verify", "work"]

WAYS = ("collective", "independent", "elements")
#: Up to this N files are compared with what one process writes.
COMPARED = 16


@dataclass(frozen=True)
class Problem(Presets):
    """One run of the benchmark on ``ranks`` ranks; N, NS and IW are the report's symbols."""

    N: int = 12  # grid points in each direction
    NS: int = 60  # time steps
    IW: int = 10  # time steps between two writes of U
    way: one_of("none", *WAYS) = "collective"  # see above; "none" computes only, which gives T_C
    ranks: int = 1  # ranks that take part
    folder: str | None = None  # shared by all hosts; None: the system's temporary folder

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "quick": {},
        "paper": {"N": 64, "NS": 200, "IW": 5},
        "modern": {"N": 102, "NS": 200, "IW": 5},
    }

    def __post_init__(self):
        self.solver  # noqa: B018  refuses what the benchmark or the solver refuse

    @property
    def solver(self) -> bt.Problem:
        """The computation without writing, with the time step of the serial benchmark."""
        return bt.Problem(self.N, self.NS, application.Problem(self.N, self.NS, self.IW).solver.dt, self.ranks)

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
    """The solver's boxes and a work folder that rank 0 makes and holds (``seed`` is not used).

    ``OSError`` if rank 0 cannot make it, or another host does not see it.
    """
    solver = bt.setup(problem.solver)
    comm, keep = solver.comm, None
    if comm.rank == 0:
        need, what = footprint(problem).disk, f"the solution with N = {problem.N}"
        keep = WorkFolder(problem.folder, "mpi-application", need, what)
    folder = Path(world.broadcast(comm, keep and str(keep.path)))
    if world.total(comm, float(folder.is_dir())) < comm.size:
        raise OSError(f"the folder {problem.folder} is not shared by all hosts; name a shared one in folder")
    return State(comm, solver, folder, keep)


def close(state: State) -> None:
    """Remove the files of ``state``."""
    state.comm.Barrier()
    if state.keep is not None:
        state.keep.close()


class SharedSolution:
    """One solution file ``path`` in a work folder, which the ranks of ``comm`` write together.

    ``limits`` are the half-open ranges of i, j and k that this rank holds.
    """

    def __init__(self, comm, path: Path, layout: Layout, limits, way: str):
        self.comm, self.path, self.layout, self.limits, self.way = comm, path, layout, limits, way
        if comm.rank == 0:
            with new_file(path, layout):
                pass
        comm.Barrier()
        MPI = world.mpi()
        self.file = MPI.File.Open(comm, str(path), MPI.MODE_WRONLY)
        starts, stops = ([limit[end] for limit in reversed(limits)] for end in (0, 1))
        shape = (*np.subtract(stops, starts).tolist(), COMPONENTS)
        self._view = MPI.DOUBLE.Create_subarray(layout.shape, shape, [*starts, 0]).Commit()

    def write(self, index: int, u: np.ndarray) -> None:
        """Write dump ``index``; ``u`` is this rank's box, float64 [k, j, i, m]."""
        u = np.ascontiguousarray(u, DTYPE)
        if self.way == "elements":
            for place, row in rows_of(self.layout, index, u, self.limits):
                for i, point in enumerate(row.reshape(-1, COMPONENTS)):
                    self.file.Write_at(place + i * ELEMENT, point)
        else:
            self.file.Set_view(self.layout.offset(index), world.mpi().DOUBLE, self._view)
            (self.file.Write_at_all if self.way == "collective" else self.file.Write_at)(0, u)

    def complete(self) -> None:
        """After the clock: checksums of what is read back, and the trailer."""
        self._view.Free()
        if self.comm.rank == 0:
            with open(self.path, "r+b", buffering=0) as file:
                places, count = map(self.layout.offset, range(self.layout.dumps)), int(np.prod(self.layout.shape))
                sums = [checksum([np.fromfile(self.path, DTYPE, count, offset=place)]) for place in places]
                end_file(file.fileno(), self.layout, sums)
        self.comm.Barrier()


def _once(problem: Problem, state: State) -> Result:
    comm, path, solution = state.comm, None, None
    if problem.way != "none":
        path = state.folder / f"{problem.way}.nht1"
        solution = SharedSolution(comm, path, problem.layout, state.solver.fields.box.limits, problem.way)

    def on_step(number, solver):
        if solution and number % problem.IW == 0:
            solution.write(number // problem.IW - 1, bt.solution(solver))

    comm.Barrier()
    start = perf_counter()
    found = bt.run(problem.solver, state.solver, on_step=on_step)
    if solution:
        solution.file.Close()  # all transfers are complete
    seconds = world.largest(comm, perf_counter() - start)
    if solution:
        solution.complete()
    return Result(state, path, seconds, problem.layout.solution_bytes / seconds, found)


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """The benchmark, ``repeats`` times; the result with the smallest T_T."""
    return min((_once(problem, state) for _ in range(repeats)), key=lambda result: result.T_T)


def reference(problem: Problem, state: State) -> Result:
    """The file as one process computes and writes it (rank 0 does), with the serial writer; norms of that run."""
    comm, path = state.comm, state.folder / "serial.nht1"
    norms = None
    if comm.rank == 0:
        alone = replace(problem.solver, ranks=1)
        with solution_writer(path, problem.N, problem.NS, problem.IW) as writer:

            def on_step(number, solver):
                if number % problem.IW == 0:
                    writer.write(lambda out: np.copyto(out, bt.solution(solver)))

            norms = bt.run(alone, bt.setup(alone), on_step=on_step)
    world.wait_aside(comm)
    return Result(state, path, np.nan, np.nan, norms)


def verify(problem: Problem, result: Result) -> list[Check]:
    """The solver's norms; the file's checksums, U of the last dump, its published mean errors.

    A small file is also compared, byte for byte, with that of :func:`reference`.
    """
    comm = result.state.comm
    checks = bt.verify(problem.solver, result.norms)
    if result.path is None:
        return checks
    (i0, i1), (j0, j1), (k0, k1) = result.state.solver.fields.box.limits
    own = bt.solution(result.state.solver)
    last = Solution(result.path).dump(problem.layout.dumps - 1)
    wrong = int((last[k0:k1, j0:j1, i0:i1] != own).sum())
    checks.append(Check.near("words of the last dump that are not in memory", world.total(comm, wrong), 0, 0))
    facts = []
    small = problem.N <= COMPARED
    true = reference(problem, result.state).path if small else None
    if comm.rank == 0:
        found = verify_file(result.path, application.exact_plane(problem.N))
        more = [checksum_check(found), *mean_error_checks(found)]
        if small:
            other = int(result.path.read_bytes() != true.read_bytes())
            more.append(Check.near("files that differ from the serial writer's", other, 0, 0))
        facts = [astuple(check) for check in more]
    world.wait_aside(comm)
    return [*checks, *(Check(*fact) for fact in world.broadcast(comm, facts))]


NO_OUTPUT = dict.fromkeys(("state", "norms.state"), "the solution in its layout and work space")


def work(problem: Problem, threads: int = 1) -> Work:
    """The solver's work and the bytes of U written."""
    solver = bt.work(problem.solver)
    written = problem.layout.solution_bytes if problem.way != "none" else 0
    return Work(solver.flops, solver.bytes_read, solver.bytes_written + written)


def footprint(problem: Problem) -> Footprint:
    """Bytes of the boxes of all ranks and of a dump each."""
    return Footprint(bt.footprint(problem.solver).memory + 2 * 40 * problem.N**3, 2 * problem.layout.total_bytes)
