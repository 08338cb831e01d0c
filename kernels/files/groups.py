"""Write groups: P processes write their parts of U into one file, at most g of them at a time.

U is cut along three dimensions, so every process writes rows of a few hundred bytes, each at its own
place: the pattern for which NHT-1's iPSC/860 code needed groups of 16 out of 128 nodes (Figure 1,
time against group size).  Here the nodes are processes of one machine, usually more of them than
CPUs, and the file system is this host's.
"""

import multiprocessing
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from kernels.contract import Check, Footprint, Presets, Work, require_range, whole
from kernels.decomposition import box, process_grid
from kernels.files.filesystem import describe
from kernels.files.format.layout import (
    DTYPE,
    Layout,
    SolutionError,
    checksum,
    require_checksums,
    write_plainly,
)
from kernels.files.format.netcdf import open_solution
from kernels.files.formulas import COMPONENTS, WORD, dump_bytes
from kernels.files.processes import Processes
from kernels.files.ways import pwrite_all, solution_file
from kernels.files.work_folder import WorkFolder
from kernels.runtime.resources import require_memory

ELEMENT = COMPONENTS * WORD  # bytes of U at a point
PROCESS_BYTES = 40 * 2**20  # memory of a Python process with NumPy


def field_values(N: int, dump: int, i: tuple[int, int], j: tuple[int, int], k: tuple[int, int]) -> np.ndarray:
    """The stand-in for U on a box: every word of the file has a value of its own, exact in float64."""
    m = np.arange(COMPONENTS)
    kk, jj, ii = (np.arange(*limits) for limits in (k, j, i))
    place = ((kk[:, None, None] * N + jj[:, None]) * N + ii)[..., None] * COMPONENTS + m
    return (place + dump * COMPONENTS * N**3).astype(DTYPE)


def group_sizes(P: int, groups: tuple[int, ...]) -> tuple[int, ...]:
    """``groups`` ascending, or if there are none the powers of two below P, and P."""
    if groups:
        return tuple(sorted(set(groups)))
    return (*(2**n for n in range(P.bit_length()) if 2**n < P), P)


@dataclass(frozen=True)
class Problem(Presets):
    """P processes write ``dumps`` dumps of U (5×N×N×N) for each group size."""

    N: whole(2, 500, "grid points") = 24  # grid points in each direction
    P: whole(1, 256, "processes") = 4  # processes
    dumps: whole(1, 1000) = 2  # dumps a file
    groups: tuple[int, ...] = ()  # group sizes g; empty: 1, 2, 4 … P
    fsync: bool = False  # wait for the device inside the time
    folder: str | None = None  # where to write; None: the system's temporary folder

    PRESETS: ClassVar = {
        "quick": {},
        "paper": {"N": 102, "P": 128, "dumps": 2},
        "modern": {"N": 162, "P": 32, "dumps": 4},
    }

    def __post_init__(self):
        if max(process_grid(self.P)) > self.N:
            raise ValueError(
                f"P = {self.P} processes cannot each hold a part of N = {self.N} points in "
                "every direction; choose fewer processes"
            )
        for g in self.groups:
            require_range("g", g, 1, self.P, "processes")

    @property
    def sizes(self) -> tuple[int, ...]:
        """The group sizes to run, ascending."""
        return group_sizes(self.P, self.groups)


@dataclass(frozen=True)
class Result:
    """Elapsed seconds by group size, (repeats,) each, and how the data travelled."""

    seconds: dict[int, np.ndarray]
    filesystem: dict
    paths: dict[int, Path]
    keep: WorkFolder = field(repr=False)


def _worker(connection, rank, problem, barrier, gates):
    """One process: holds its part of U, writes it whenever told to."""
    limits = box(problem.N, problem.P, rank)
    parts = [field_values(problem.N, dump, *limits) for dump in range(problem.dumps)]
    layout = Layout(problem.N, problem.dumps, 1)

    def write(handle, g):
        for dump, part in enumerate(parts):
            with gates[g]:
                write_box(handle, layout, dump, part, limits)

    serve(connection, write, barrier)


def serve(connection, write, barrier=None):
    r"""One process of a :class:`Team`: ``write(handle, *rest)`` for every message (path, \*rest) of the starter.

    Answers are begin and end, s; with ``barrier`` all processes begin together.
    """
    connection.send((0.0, 0.0))
    while message := _told(connection):
        path, *rest = message
        try:
            handle = os.open(path, os.O_WRONLY)
            try:
                if barrier is not None:
                    barrier.wait()
                start = time.perf_counter()  # one clock for all processes of a machine
                write(handle, *rest)
                end = time.perf_counter()
            finally:
                os.close(handle)
            connection.send((start, end))
        except Exception as error:
            if barrier is not None:
                barrier.abort()
            connection.send(f"{type(error).__name__}: {error}")


def _told(connection):
    """The next message; None when nobody will send one."""
    try:
        return connection.recv()
    except (EOFError, ConnectionResetError):
        return None


def rows_of(layout, dump, part, limits):
    """Every row along i of a box, and its place in the file, bytes."""
    (i0, _), (j0, j1), (k0, k1) = limits
    N, start = layout.N, layout.offset(dump)
    for k in range(k0, k1):
        for j in range(j0, j1):
            yield start + ((k * N + j) * N + i0) * ELEMENT, part[k - k0, j - j0].reshape(-1)


def write_box(handle, layout, dump, part, limits):
    """Rows along i, each at its own place in the file."""
    for place, row in rows_of(layout, dump, part, limits):
        pwrite_all(handle, row.view(np.uint8), place)


class Team:
    """The P processes of a problem, started once and used for every group size.

    ``problem`` has ``P`` and ``sizes``; each process runs ``worker(connection, rank, problem, barrier, gates,
    *shared)``, whose first answer says that it is ready.
    """

    def __init__(self, problem, worker=_worker, shared=()):
        context = multiprocessing.get_context("spawn")
        self.barrier = context.Barrier(problem.P)
        gates = {g: context.Semaphore(g) for g in problem.sizes}
        common = problem, self.barrier, gates, *shared
        self.processes = Processes(worker, [(rank, *common) for rank in range(problem.P)])
        self.close = self.processes.close
        self.collect()

    def send(self, *message) -> None:
        """Give every process the same task."""
        self.processes.send(message)

    def collect(self) -> float:
        """Wait for the answers; seconds from the first start to the last end."""
        answers = self.processes.answers()
        errors = [answer for answer in answers if isinstance(answer, str)]
        if errors:
            self.barrier.reset()
            # The others only report that the barrier broke: the cause sorts before them.
            cause = min(errors, key=lambda text: text.startswith("BrokenBarrier"))
            raise OSError(f"writing in groups failed: {cause}")
        return max(end for _, end in answers) - min(start for start, _ in answers)

    def write(self, path: Path, g: int, handle: int | None) -> float:
        """Seconds from the first start until the last process is done (and fsync of ``handle``)."""
        self.send(str(path), g)
        seconds = self.collect()
        if handle is not None:
            start = time.perf_counter()
            os.fsync(handle)
            seconds += time.perf_counter() - start
        return seconds


def footprint(problem: Problem) -> Footprint:
    """Every process with its part of U, one dump in the calling process; a file for every group size."""
    memory = problem.dumps * dump_bytes(problem.N) + problem.P * PROCESS_BYTES + 2 * dump_bytes(problem.N)
    disk = len(problem.sizes) * Layout(problem.N, problem.dumps, 1).total_bytes
    return Footprint(memory, disk)


def setup(problem: Problem, seed: int = 0) -> Team:
    """Start the processes, each with its part of U in memory (``seed`` is not used)."""
    require_memory(footprint(problem).memory, f"{problem.P} writing processes with N = {problem.N}")
    return Team(problem)


def run(problem: Problem, state: Team, threads: int = 1, repeats: int = 1) -> Result:
    """Write the file once a group size and repeat, group sizes interleaved.

    ``threads`` is not used: the processes of ``state`` do the work.
    """
    work, paths = sweep_files(problem, "write-groups", footprint(problem).disk)
    layout, sums = Layout(problem.N, problem.dumps, 1), [checksum([u]) for u in _all_dumps(problem)]
    seconds = {g: np.empty(repeats) for g in problem.sizes}
    for repeat in range(repeats):
        for g, path in paths.items():
            with solution_file(path, layout, sums) as handle:
                seconds[g][repeat] = state.write(path, g, handle if problem.fsync else None)
    return Result(seconds, describe(work.path, fsync=problem.fsync), paths, work)


def sweep_files(problem, name: str, nbytes: int) -> tuple[WorkFolder, dict[int, Path]]:
    """A folder with room for a file for each group size of ``problem``, and their paths."""
    work = WorkFolder(problem.folder, name, nbytes, "the files of the group sweep")
    return work, {g: work.path / f"group-{g}.nht1" for g in problem.sizes}


def _all_dumps(problem: Problem):
    """Every dump, as no single process of a run has it."""
    return (field_values(problem.N, dump, *[(0, problem.N)] * 3) for dump in range(problem.dumps))


def reference(problem: Problem, state: Team) -> Result:
    """The same files written whole by this process; the times are NaN."""
    work, paths = sweep_files(problem, "write-groups", footprint(problem).disk)
    for path in paths.values():
        write_plainly(path, Layout(problem.N, problem.dumps, 1), _all_dumps(problem))
    return Result({g: np.full(1, np.nan) for g in paths}, describe(work.path), paths, work)


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every file must read back to the values no single process ever had together."""
    checks = []
    for g, path in result.paths.items():
        try:
            with open_solution(path) as solution:
                require_checksums(solution)
            damaged = 0
        except SolutionError:
            damaged = 1
        checks.append(Check.near(f"damaged files with write group {g}", damaged, 0, 0))
    return checks


NO_OUTPUT = {"seconds": "measured; the files are the output, and every byte of them is under a checksum"}


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes of one file for each group size, whatever the number of threads: processes write."""
    return Work(bytes_written=len(problem.sizes) * problem.dumps * dump_bytes(problem.N))
