"""The solver runs, and P processes write its solution in parts, at most g of them at a time.

On the iPSC/860 of NHT-1 every node wrote its own part of U into one file, row by row in groups of nodes
(Figure 1: time of the whole run against the size of the group).  The nodes of its first code, as many as the grid had
points in a direction, wrote all at once, each the points of its own column.

Here the BT solver of ``kernels.bt`` marches in this process and hands U over in shared memory; the processes stand for
the nodes.  The solver waits until they have written.

    T_T     from the first step until the last part is written, s
    T_C     the same steps without writing, s

What differs from the report: its nodes computed as well, each on its own part.
"""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from supercomputers_rerun.kernels import bt
from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, whole
from supercomputers_rerun.kernels.decomposition import process_grid
from supercomputers_rerun.kernels.files.application import Problem as Application
from supercomputers_rerun.kernels.files.application import serial
from supercomputers_rerun.kernels.files.format.layout import DTYPE, Layout, Solution, checksum, dump_bytes, plain
from supercomputers_rerun.kernels.files.processes import PROCESS_BYTES, SPAWN, Team
from supercomputers_rerun.kernels.files.ways import end_file, new_file
from supercomputers_rerun.kernels.files.work_folder import WorkFolder
from supercomputers_rerun.kernels.runtime.resources import require_memory

__all__ = ["Problem", "Result", "State", "footprint", "reference", "run", "setup", "verify", "work"]


@dataclass(frozen=True)
class Problem(Presets):
    """One solver and P processes that write in groups of 1, 2, 4 … P.  N, NS and IW are the report's symbols."""

    N: whole(6, 500, "grid points") = 12  # grid points in each direction
    NS: int = 10  # time steps
    IW: int = 5  # time steps between two writes of U
    P: whole(1, 256, "processes") = 4  # processes that write
    points: bool = False  # all at once, point by point, as the first code; else rows of boxes in groups
    folder: str | None = None  # where to write; None: the system's temporary folder

    PRESETS: ClassVar = {
        "quick": {},
        "paper": {"N": 102, "NS": 200, "IW": 5, "P": 128},
        "modern": {"N": 162, "NS": 20, "IW": 5, "P": 32},
    }

    def __post_init__(self):
        self.solver  # noqa: B018  refuses a schedule that makes no sense
        if max(process_grid(self.P)) > self.N:
            raise ValueError(f"P = {self.P} processes cannot share N = {self.N} points in every direction")

    @property
    def layout(self) -> Layout:
        """Of the files."""
        return Layout(self.N, self.NS, self.IW)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The group sizes to run, ascending."""
        if self.points:
            return (self.P,)
        return (*(2**n for n in range(self.P.bit_length()) if 2**n < self.P), self.P)

    @property
    def solver(self) -> bt.Problem:
        """The computation without writing."""
        return Application(self.N, self.NS, self.IW).solver


class State(NamedTuple):
    """Solver and processes, and what the dumps must be."""

    solver: bt.State
    team: Team
    field: np.ndarray  # float64 (N, N, N, 5), [k, j, i, m], shared with the processes
    sums: list[int]  # CRC-32 of every dump, from a run of the solver before any process wrote


@dataclass(frozen=True)
class Result:
    """Seconds of whole runs by group size, (repeats,) each, and of the same steps without writing."""

    T_T: dict[int, np.ndarray]
    T_C: np.ndarray
    paths: dict[int, Path]
    keep: WorkFolder = field(repr=False)


def footprint(problem: Problem) -> Footprint:
    """The solver, the shared field, and the processes; a file for every group size."""
    solver = bt.footprint(problem.solver)
    memory = solver.memory + dump_bytes(problem.N) + problem.P * PROCESS_BYTES
    return Footprint(memory, len(problem.sizes) * problem.layout.total_bytes, solver.each_thread)


def setup(problem: Problem, seed: int = 0) -> State:
    """Solver, processes, and the dumps' checksums from one run of the solver (``seed`` is not used)."""
    require_memory(footprint(problem).memory, f"{problem.P} writing processes with N = {problem.N}")
    solver, sums = bt.setup(problem.solver), []
    _march(problem, solver, 1, lambda index: sums.append(checksum([bt.solution(solver)])))
    # anonymous memory: nothing to remove, whatever happens
    buffer = SPAWN.RawArray("d", dump_bytes(problem.N) // DTYPE.itemsize)
    shared = np.frombuffer(buffer, DTYPE).reshape(problem.layout.shape)
    return State(solver, Team(problem.P, problem.layout, problem.sizes, buffer, problem.points), shared, sums)


def _march(problem: Problem, solver: bt.State, threads: int, on_dump=lambda index: None) -> float:
    """Seconds from the initial field to the end; ``on_dump`` is called with the number of each dump."""
    solver.reset()
    start = time.perf_counter()
    for index in range(problem.layout.dumps):
        bt.march(problem.solver, solver, problem.IW, threads)
        on_dump(index)
    return time.perf_counter() - start


def _sweep_files(problem: Problem) -> tuple[WorkFolder, dict[int, Path]]:
    """A folder with room for a file for each group size, and their paths."""
    work = WorkFolder(problem.folder, "nodes", footprint(problem).disk, "the files of the group sweep")
    return work, {g: work.path / f"group-{g}.nht1" for g in problem.sizes}


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """One run without writing and one for every group size, ``repeats`` times in turn.

    ``OSError`` if a process cannot write, or the disk has not enough space.
    """
    work, paths = _sweep_files(problem)
    T_T, T_C = {g: np.empty(repeats) for g in paths}, np.empty(repeats)
    try:
        for repeat in range(repeats):
            T_C[repeat] = _march(problem, state.solver, threads)
            for g, path in paths.items():

                def write(index, g=g, path=path):
                    serial(state.solver, state.field, threads)
                    state.team.write(path, g, index)

                with new_file(path, problem.layout) as handle:
                    T_T[g][repeat] = _march(problem, state.solver, threads, write)
                    end_file(handle, problem.layout, state.sums)
    except BaseException:
        state.team.close()  # before its folder goes
        raise
    return Result(T_T, T_C, paths, work)


def reference(problem: Problem, state: State) -> Result:
    """The same files written whole by this process; the times are NaN."""
    (work, paths), dumps, unknown = _sweep_files(problem), [], np.full(1, np.nan)
    _march(problem, state.solver, 1, lambda index: dumps.append(bt.solution(state.solver)))
    for path in paths.values():
        plain(path, problem.layout, dumps)
    return Result(dict.fromkeys(paths, unknown), unknown, paths, work)


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every file reads back to the dumps of a run that wrote nothing."""
    checks = []
    for g, path in result.paths.items():
        solution = Solution(path)
        damaged = sum(found != due for found, due in zip(solution.checksums(), solution.crc32, strict=True))
        checks.append(Check.near(f"damaged dumps with write group {g}", damaged, 0, 0))
    return checks


NO_OUTPUT = dict.fromkeys(
    ("T_T", "T_C"), "seconds that were measured; the files are the output, and every byte of them is under a checksum"
)


def work(problem: Problem, threads: int = 1) -> Work:
    """The solver's work for every group size and once without writing, which threads share, and the files' bytes."""
    solver, runs = bt.work(problem.solver), len(problem.sizes)
    written = runs * problem.layout.dumps * dump_bytes(problem.N)
    return Work((runs + 1) * solver.flops, (runs + 1) * solver.bytes_read, (runs + 1) * solver.bytes_written + written)
