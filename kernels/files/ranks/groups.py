"""Write groups over MPI-IO: at most g ranks write their rows into one file at a time (N7).

As in the report of 1993, rank r waits for word from rank r − g before it writes and gives word to rank
r + g afterwards.  U is cut along three dimensions, so a rank writes rows of a few hundred bytes, each at
its own place.  Time is from a common start to the last rank's end.
"""

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

import numpy as np

from kernels.contract import Check, Footprint, Presets, Work, one_of, require_range, whole
from kernels.decomposition import box, process_grid
from kernels.files.format.layout import DTYPE, Layout, require_checksums
from kernels.files.format.netcdf import open_solution
from kernels.files.format.solution import SolutionWriter
from kernels.files.formulas import COMPONENTS, dump_bytes
from kernels.files.groups import rows_of
from kernels.files.ranks.shared import WAYS, SharedSolution, shared_folder
from kernels.files.ranks.shared import close as close
from kernels.files.work_folder import WorkFolder
from kernels.mpi import world
from kernels.runtime.resources import require_memory

#: Files up to this size are compared with the serial writer's, byte for byte.
COMPARED = 64 * 2**20


def field_values(N: int, dump: int, i: tuple[int, int], j: tuple[int, int], k: tuple[int, int]) -> np.ndarray:
    """The stand-in for U on a box: every word of the file has a value of its own, exact in float64."""
    m = np.arange(COMPONENTS)
    kk, jj, ii = (np.arange(*limits) for limits in (k, j, i))
    place = ((kk[:, None, None] * N + jj[:, None]) * N + ii)[..., None] * COMPONENTS + m
    return (place + dump * COMPONENTS * N**3).astype(DTYPE)


@dataclass(frozen=True)
class Problem(Presets):
    """``ranks`` ranks write ``dumps`` dumps of U, ``group`` of them at a time."""

    N: whole(2, 500, "grid points") = 24  # grid points in each direction
    ranks: whole(1, world.LARGEST) = 1  # ranks that write
    dumps: whole(1, 1000) = 2  # dumps a file
    group: int = 0  # ranks that write at a time; 0: all
    way: one_of("rows", *WAYS) = "rows"  # rows one by one, or a way of ``shared`` (which takes no groups)
    fsync: bool = False  # wait for the device inside the time
    folder: str | None = None  # shared by all hosts; None: the system's temporary folder

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "quick": {},
        "paper": {"N": 102, "dumps": 2},
        "modern": {"N": 162, "dumps": 4},
    }

    def __post_init__(self):
        if max(process_grid(self.ranks)) > self.N:
            raise ValueError(
                f"ranks = {self.ranks} cannot each hold a part of N = {self.N} points in every direction; "
                f"take at most {self.N} ranks, or a number with smaller factors"
            )
        require_range("group", self.group, 0, self.ranks, "ranks")
        if self.group and self.way != "rows":
            raise ValueError(f"group = {self.group} goes with way = 'rows' only; choose group = 0")

    @property
    def layout(self) -> Layout:
        """Of the file."""
        return Layout(self.N, self.dumps, 1)


class State(NamedTuple):
    """What one rank holds."""

    comm: Any
    folder: Path
    keep: WorkFolder | None
    limits: tuple
    parts: list[np.ndarray]  # its box of every dump


class Result(NamedTuple):
    """One file, and what writing it took."""

    state: State
    path: Path
    seconds: float  # slowest rank, best of the repeats


def setup(problem: Problem, seed: int = 0) -> State:
    """The rank's part of every dump (``seed`` is not used)."""
    require_memory(footprint(problem).memory, f"writing with N = {problem.N}")
    comm = world.team(problem.ranks)
    need, what = footprint(problem).disk, "the files of the write groups"
    folder, keep = shared_folder(comm, problem.folder, "mpi-groups", need, what)
    limits = box(problem.N, comm.size, comm.rank)
    parts = [np.ascontiguousarray(field_values(problem.N, dump, *limits)) for dump in range(problem.dumps)]
    return State(comm, folder, keep, limits, parts)


def _in_turn(state: State, solution: SharedSolution, group: int) -> None:
    """Write all rows of this rank once rank − group has; then let rank + group."""
    comm, word = state.comm, np.zeros(1)
    if group and comm.rank >= group:
        comm.Recv(word, comm.rank - group)
    for dump, part in enumerate(state.parts):
        for place, row in rows_of(solution.layout, dump, part, state.limits):
            solution.file.Write_at(place, row)
    if group and comm.rank + group < comm.size:
        comm.Send(word, comm.rank + group)


def _once(problem: Problem, state: State, path: Path) -> float:
    way = "independent" if problem.way == "rows" else problem.way
    solution = SharedSolution(state.comm, path, problem.layout, state.limits, way)
    state.comm.Barrier()
    start = perf_counter()
    if problem.way == "rows":
        _in_turn(state, solution, problem.group)
    else:
        for dump, part in enumerate(state.parts):
            solution.write(dump, part)
    solution.finish(problem.fsync)
    seconds = perf_counter() - start
    solution.complete()
    return world.largest(state.comm, seconds)


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """Write the file ``repeats`` times; the last one stays."""
    path = state.folder / f"{problem.way}-{problem.group}.nht1"
    return Result(state, path, min(_once(problem, state, path) for _ in range(repeats)))


def serial_file(problem: Problem, folder: Path) -> Path:
    """The same file from the serial writer of ``kernels.files``."""
    path = folder / "serial.nht1"
    with SolutionWriter(path, problem.N, problem.dumps, 1, "positioned") as writer:
        for dump in range(problem.dumps):
            writer.write(dump + 1, field_values(problem.N, dump, *[(0, problem.N)] * 3))
        writer.finish()
    return path


def reference(problem: Problem, state: State) -> Result:
    """The file as one process writes it (rank 0 does)."""
    path = state.folder / "serial.nht1"
    if state.comm.rank == 0:
        serial_file(problem, state.folder)
    world.wait_aside(state.comm)
    return Result(state, path, 0.0)


def verify(problem: Problem, result: Result) -> list[Check]:
    """The file's checksums hold, and its bytes are those of the serial writer."""
    comm, facts = result.state.comm, None
    small = problem.layout.total_bytes <= COMPARED
    true = reference(problem, result.state).path if small else None
    if comm.rank == 0:
        with open_solution(result.path) as solution:
            require_checksums(solution)
            differing = 0
            for dump in range(problem.dumps):
                for k, plane in enumerate(solution.planes(dump)):
                    expected = field_values(problem.N, dump, (0, problem.N), (0, problem.N), (k, k + 1))[0]
                    differing += int((plane != expected).sum())
        same = not small or result.path.read_bytes() == true.read_bytes()
        facts = [differing, int(not same)]
    world.wait_aside(comm)
    differing, other = world.broadcast(comm, facts)
    return [
        Check.near("words of the file that are not the field's", differing, 0, 0),
        Check.near("files that differ from the serial writer's", other, 0, 0),
    ]


NO_OUTPUT = {"state": "what is written; the file is the output, and every word of it is read back"}


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes of U in the file."""
    return Work(bytes_written=problem.dumps * dump_bytes(problem.N))


def footprint(problem: Problem) -> Footprint:
    """Bytes of all ranks' parts, and of one dump that rank 0 reads back."""
    return Footprint((problem.dumps + 2) * dump_bytes(problem.N), 2 * problem.layout.total_bytes)
