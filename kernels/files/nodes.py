"""The solver runs, and P processes write its solution in parts, at most g of them at a time.

On the iPSC/860 of NHT-1 every node wrote its own part of U into one file: point by point with a seek before
each (``unit = "element"``), or row by row in groups of nodes (``"row"``, Figure 1: time of the whole run
against the size of the group).  Here the BT solver of ``kernels.bt`` marches in this process and hands U over
in shared memory; the processes stand for the nodes.  With ``asynchronous`` the solver goes on while they write
and waits for them at the next dump, otherwise at once.

    T_T     from the first step until the last part is written, s
    T_C     the same steps without writing, s

What differs from the report: its nodes computed as well, each on its own part.
"""

import multiprocessing
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from kernels import bt
from kernels.contract import Check, Footprint, Presets, Work, one_of, require_range
from kernels.files import groups
from kernels.files.application import Problem as Application
from kernels.files.filesystem import describe
from kernels.files.format.layout import DTYPE, Layout, checksum, write_plainly
from kernels.files.formulas import dump_bytes, require_schedule
from kernels.files.parts import WRITERS, Task, worker
from kernels.files.ways import solution_file
from kernels.files.work_folder import WorkFolder
from kernels.runtime.resources import require_memory
from kernels.runtime.threads import run_team


@dataclass(frozen=True)
class Problem(Presets):
    """One solver, P writing processes, and the group sizes to run.  N, NS and IW are the report's symbols."""

    N: int = 12  # grid points in each direction
    NS: int = 10  # time steps
    IW: int = 5  # time steps between two writes of U
    P: int = 4  # processes that write
    groups: tuple[int, ...] = ()  # group sizes g; empty: 1, 2, 4 … P
    unit: one_of(*WRITERS) = "row"  # what one write holds: a "row" of a box, or an "element" of 40 bytes
    asynchronous: bool = False  # the solver goes on while the processes write
    folder: str | None = None  # where to write; None: the system's temporary folder

    PRESETS: ClassVar = {
        "quick": {},
        "paper": {"N": 102, "NS": 20, "IW": 5, "P": 128},
        "modern": {"N": 162, "NS": 20, "IW": 5, "P": 32},
    }

    def __post_init__(self):
        require_schedule(self.NS, self.IW)
        groups.Problem(self.N, self.P, self.dumps, self.groups)  # refuses N, P and groups that make no sense
        if self.unit == "element":
            require_range("P", self.P, 1, self.N, "processes, a column each at least")
        Application(self.N, self.NS, self.IW)

    @property
    def dumps(self) -> int:
        """Number of dumps, NS/IW."""
        return self.NS // self.IW

    @property
    def sizes(self) -> tuple[int, ...]:
        """The group sizes to run, ascending."""
        return groups.group_sizes(self.P, self.groups)

    @property
    def solver(self) -> bt.Problem:
        """The computation without writing."""
        return Application(self.N, self.NS, self.IW).solver


class State(NamedTuple):
    """Solver and processes, and what the dumps must be."""

    solver: bt.State
    team: groups.Team
    fields: list[np.ndarray]  # float64 (N, N, N, 5) each, [k, j, i, m], shared with the processes
    sums: list[int]  # CRC-32 of every dump, from a run of the solver before any process wrote


@dataclass(frozen=True)
class Result:
    """Seconds of whole runs by group size, (repeats,) each, and of the same steps without writing."""

    T_T: dict[int, np.ndarray]
    T_C: np.ndarray
    last_crc32: dict[int, int]  # of the last dump in memory, by group size
    expected_crc32: int  # what it must be
    filesystem: dict
    paths: dict[int, Path]
    keep: WorkFolder = field(repr=False)


def footprint(problem: Problem) -> Footprint:
    """The solver, a shared field or two, and the processes; a file for every group size."""
    solver = bt.footprint(problem.solver)
    shared = (2 if problem.asynchronous else 1) * dump_bytes(problem.N)
    layout = Layout(problem.N, problem.NS, problem.IW)
    memory = solver.memory + shared + problem.P * groups.PROCESS_BYTES
    return Footprint(memory, len(problem.sizes) * layout.total_bytes, solver.each_thread)


def setup(problem: Problem, seed: int = 0) -> State:
    """Solver, processes, and the dumps' checksums from one run of the solver (``seed`` is not used)."""
    require_memory(footprint(problem).memory, f"{problem.P} writing processes with N = {problem.N}")
    solver, sums = bt.setup(problem.solver), []

    def keep(step, state):
        if step % problem.IW == 0:
            sums.append(checksum([bt.solution(state)]))

    bt.reset(solver)
    bt.march(problem.solver, solver, problem.NS, 1, keep)
    # anonymous memory: nothing to remove, whatever happens
    context = multiprocessing.get_context("spawn")
    words = dump_bytes(problem.N) // DTYPE.itemsize
    buffers = [context.RawArray("d", words) for _ in range(2 if problem.asynchronous else 1)]
    fields = [np.frombuffer(buffer, DTYPE).reshape(Layout(problem.N, 1, 1).shape) for buffer in buffers]
    return State(solver, groups.Team(Task.of(problem), worker, buffers), fields, sums)


def _march(problem: Problem, state: State, threads: int, on_step=None) -> float:
    bt.reset(state.solver)
    start = time.perf_counter()
    bt.march(problem.solver, state.solver, problem.NS, threads, on_step)
    return time.perf_counter() - start


def _write(problem: Problem, state: State, g: int, path: Path, threads: int) -> float:
    """T_T of one run; the file is complete afterwards."""
    team, N, flying = state.team, problem.N, False

    def on_step(step, solver):
        nonlocal flying
        if step % problem.IW:
            return
        dump = step // problem.IW - 1
        out = state.fields[dump % len(state.fields)]
        run_team(lambda n: bt.pack(solver, out, N * n // threads, N * (n + 1) // threads), threads)
        if flying:
            team.collect()
        team.send(str(path), g, dump)
        flying = True
        if not problem.asynchronous or dump == problem.dumps - 1:
            team.collect()
            flying = False

    with solution_file(path, Layout(N, problem.NS, problem.IW), state.sums):
        return _march(problem, state, threads, on_step)


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """One run without writing and one for every group size, ``repeats`` times in turn.

    ``OSError`` if a process cannot write, or the disk has not enough space.
    """
    work, paths = groups.sweep_files(problem, "nodes", footprint(problem).disk)
    T_T, T_C, last = {g: np.empty(repeats) for g in paths}, np.empty(repeats), {}
    for repeat in range(repeats):
        T_C[repeat] = _march(problem, state, threads)
        for g, path in paths.items():
            T_T[g][repeat] = _write(problem, state, g, path, threads)
            last[g] = checksum([state.fields[(problem.dumps - 1) % len(state.fields)]])
    return Result(T_T, T_C, last, state.sums[-1], describe(work.path), paths, work)


def reference(problem: Problem, state: State) -> Result:
    """The same files written whole by this process; the times are NaN."""
    work, paths = groups.sweep_files(problem, "nodes", footprint(problem).disk)
    dumps: list[np.ndarray] = []

    def keep(step, solver):
        if step % problem.IW == 0:
            dumps.append(bt.solution(solver))

    _march(problem, state, 1, keep)
    for path in paths.values():
        write_plainly(path, Layout(problem.N, problem.NS, problem.IW), dumps)
    unknown, last = np.full(1, np.nan), dict.fromkeys(paths, checksum([dumps[-1]]))
    place = describe(work.path)
    return Result(dict.fromkeys(paths, unknown), unknown, last, state.sums[-1], place, paths, work)


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every file reads back to the dumps of a run that wrote nothing, and the solver ended where that run ended."""
    ends = [
        Check.near(f"last dump in memory with write group {g}, CRC-32", found, result.expected_crc32, 0)
        for g, found in result.last_crc32.items()
    ]
    return [*groups.verify(problem, result), *ends]


NO_OUTPUT = dict.fromkeys(
    ("T_T", "T_C"), "seconds that were measured; the files are the output, and every byte of them is under a checksum"
)


def work(problem: Problem, threads: int = 1) -> Work:
    """The solver's work for every group size and once without writing, which threads share, and the files' bytes."""
    solver, runs = bt.work(problem.solver), len(problem.sizes)
    written = runs * problem.dumps * dump_bytes(problem.N)
    return Work((runs + 1) * solver.flops, (runs + 1) * solver.bytes_read, (runs + 1) * solver.bytes_written + written)
