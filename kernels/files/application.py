"""NHT-1 Application I/O Benchmark: BT writing its solution every IW steps (Fineberg, RND-93-007).

The block-tridiagonal solver of ``kernels.bt`` marches NS steps; after every IW-th the solution U goes
to a serial file in one of the ways of ``kernels.files.ways``.  What is reported:

    T_T     from the start of the first step until the last transfer is complete, in seconds
    T_C     the same without writing: of the same code, or the best verified one there is
    R_IO    5 w N³ (NS/IW) / T_T, bytes per second: of the whole application, computing included
    zeta    T_T/T_C − 1

Opening and pre-allocating the file come before the clock, the read-back and the verification after
it, as the report has it.
"""

import contextlib
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from supercomputers_rerun.kernels import bt
from supercomputers_rerun.kernels.bt import plain
from supercomputers_rerun.kernels.bt.problem import CLASSES, SMALLEST_N, exact_parts, initial_field
from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, one_of, whole, worst
from supercomputers_rerun.kernels.files.format.layout import Layout, Solution, checksum, dump_bytes
from supercomputers_rerun.kernels.files.format.layout import plain as whole_file
from supercomputers_rerun.kernels.files.format.verification import (
    EPSILON,
    checksum_check,
    mean_error_checks,
    verify_file,
)
from supercomputers_rerun.kernels.files.ways import WAYS, solution_writer
from supercomputers_rerun.kernels.files.work_folder import WorkFolder
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.runtime.resources import run_team
from supercomputers_rerun.kernels.runtime.team import worthwhile

__all__ = ["NO_OUTPUT", "PROOF", "Problem", "Result", "exact_plane", "footprint", "reference", "run", "serial", "setup"]
__all__ += ["verify", "work"]

#: Numbers of a dump that are worth a thread, which is started for them.  One thread's time over that of two, by the
#: numbers of both together: .54 at 0.55 million, 1.14 at 1.3, 1.69 at 2.6 (EPYC, Zen 3, two CPUs).
FEWEST = 2**19
_TIME_STEPS = {entry.N: entry.dt for entry in CLASSES.values()}


@dataclass(frozen=True)
class Problem(Presets):
    """One run of the benchmark.  N, NS and IW are the report's symbols."""

    N: whole(SMALLEST_N, 1000, "grid points") = 12  # grid points in each direction
    NS: int = 60  # time steps
    IW: int = 10  # time steps between two writes of U
    way: one_of(*WAYS) = "positioned"  # way of writing, see ``ways``
    asynchronous: bool = False  # double buffering: a second thread writes while the solver goes on
    fsync: bool = False  # T_T includes waiting for the device
    code: one_of("lanes", "plain") = "lanes"  # the solver's, see ``bt.Problem``
    folder: str | None = None  # where to write; None: the system's temporary folder

    PRESETS: ClassVar = {
        "quick": {},
        "small": {},
        "medium": {"N": 64, "NS": 200, "IW": 5},
        "paper": {"N": 102, "NS": 200, "IW": 5},
        "modern": {"N": 162, "NS": 200, "IW": 5},
    }

    def __post_init__(self):
        self.layout  # noqa: B018  refuses a schedule that makes no sense

    @property
    def solver(self) -> bt.Problem:
        """The computation without writing, with the time step of NPB for this N, else 0.0008."""
        return bt.Problem(self.N, self.NS, _TIME_STEPS.get(self.N, 8e-4), self.code)

    @property
    def layout(self) -> Layout:
        """Of the file."""
        return Layout(self.N, self.NS, self.IW, self.way == "records", self.way == "arrays")

    @property
    def solution_bytes(self) -> int:
        """Bytes of U in the file."""
        return self.layout.solution_bytes


@dataclass(frozen=True)
class Result:
    """One run with writing."""

    T_T: float  # elapsed time, s
    R_IO: float  # computed transfer rate, bytes/s
    stalls: np.ndarray  # float64 (dumps,): s that the solver stood still at each dump
    transfers: np.ndarray  # float64 (dumps,): s that each took; but for microseconds the same when synchronous
    finish_seconds: float  # the last part of T_T, after the last step
    last_crc32: int  # of U in memory after the last step
    path: Path  # the solution file; it lives as long as this object
    keep: WorkFolder = field(repr=False)


def footprint(problem: Problem) -> Footprint:
    """The solver's memory and the buffers of the writer; the best file so far and the one being written."""
    solver = bt.footprint(problem.solver)
    buffers = (2 if problem.asynchronous else 1) * dump_bytes(problem.N)
    return Footprint(solver.memory + buffers, 2 * problem.layout.total_bytes, solver.each_thread)


def setup(problem: Problem, seed: int = 0) -> bt.State:
    """State of the solver (``seed`` is not used: the initial field is part of the problem)."""
    return bt.setup(problem.solver, seed)


def serial(state: bt.State, out: np.ndarray, threads: int) -> None:
    """Fill ``out``, float64 (N, N, N, 5) as [k, j, i, m], with U, k-planes shared out over ``threads``, or fewer."""
    planes = out.shape[0]
    threads = worthwhile(threads, out.size, FEWEST)
    run_team(lambda n: bt.pack(state, out, planes * n // threads, planes * (n + 1) // threads), threads)


def _once(problem: Problem, state: bt.State, threads: int) -> Result:
    state.reset()
    form = problem.way, problem.asynchronous, problem.fsync
    with contextlib.ExitStack() as stack:
        keep = stack.enter_context(WorkFolder(problem.folder, "application-io"))
        path = keep.path / "solution.nht1"
        with solution_writer(path, problem.N, problem.NS, problem.IW, *form) as writer:
            bt.pack(state, np.empty(writer.layout.shape), 0, 0)  # compiled before the clock starts
            start = time.perf_counter()
            for _ in range(problem.layout.dumps):
                bt.march(problem.solver, state, problem.IW, threads)
                writer.write(lambda out: serial(state, out, threads))
            writer.finish()
            T_T = time.perf_counter() - start
        stack.pop_all()  # it lives as long as the result
    return Result(
        T_T,
        problem.solution_bytes / T_T,
        np.array(writer.stalls),
        np.array(writer.transfer_seconds),
        writer.finish_seconds,
        checksum(np.ascontiguousarray(bt.solution(state))),
        path,
        keep,
    )


def run(problem: Problem, state: bt.State, threads: int = 1, repeats: int = 1) -> Result:
    """The benchmark, ``repeats`` times; the result of the last: the fastest would be compared with one run's T_C.

    ``OSError`` or ``MemoryError`` as ``solution_writer``; nothing is left in the folder then.
    """
    for _ in range(repeats):
        result = _once(problem, state, threads)
    return result


def _plain_dumps(problem: Problem):
    """The dumps by the plain solver, float64 (N, N, N, 5) each: small N only."""
    dt = problem.solver.dt
    u, forced = initial_field(problem.N), dt * plain.forcing(problem.N)
    for step in range(1, problem.NS + 1):
        plain.step(u, forced, dt)
        if step % problem.IW == 0:
            yield u


def reference(problem: Problem, state: bt.State | None = None) -> Result:
    """The file by the plain solver, written dump by dump in one piece: small N only; times are NaN."""
    keep = WorkFolder(problem.folder, "application-io", footprint(problem).disk, "the solution file")
    path, unknown = keep.path / "solution.nht1", np.full(problem.layout.dumps, np.nan)
    *_, last = whole_file(path, Layout(problem.N, problem.NS, problem.IW), _plain_dumps(problem))
    return Result(np.nan, np.nan, unknown, unknown, np.nan, last, path, keep)


def exact_plane(N: int):
    """``exact_plane(N)(k)`` is the exact solution of BT in plane k, float64 (N, N, 5) as [j, i, m]."""
    constant, (x, y, z) = exact_parts(N)
    base = constant + x.T[None, :, :] + y.T[:, None, :]
    return lambda k: base + z[:, k]


def verify(problem: Problem, result: Result) -> list[Check]:
    """The separate verification of the file.

    Reads it sequentially; compares checksums, and U of the last dump with the one in memory; for (N, NS, IW) of NPB
    the mean error norms of all dumps and the residual of the last one read back.
    """
    found = verify_file(result.path, exact_plane(problem.N))
    u = Solution(result.path).dump(problem.layout.dumps - 1)
    checks = [
        checksum_check(found),
        Check.near("dumps in the file", found.layout.dumps, problem.layout.dumps, 0),
        Check.near("checksum of the last dump against memory", checksum([u]), result.last_crc32, 0),
    ]
    published = problem.solver.published
    if published is not None:
        checks += mean_error_checks(found)
        read_back = bt.setup(problem.solver)
        bt.unpack(u, read_back)
        residual, _ = bt.norms(read_back)
        checks += [
            Check.relative(f"residual norm {m + 1} of the last dump read back", value, expected, EPSILON)
            for m, (value, expected) in enumerate(zip(residual, published.residual, strict=True))
        ]
    return checks


NO_OUTPUT = dict.fromkeys(("stalls", "transfers"), "seconds that were measured")


def work(problem: Problem, threads: int = 1) -> Work:
    """Flops and bytes of the solver, which threads share, and the bytes of U written."""
    solver = bt.work(problem.solver)
    return Work(solver.flops, solver.bytes_read, solver.bytes_written + problem.solution_bytes, solver.parts)


def _every_dump(problem: Problem, state, result: Result) -> list[Check]:
    """Each dump of the file against the plain solver's, whole: more than the diagonals that the report compared."""
    solution = Solution(result.path)
    off = worst(*[worst(solution.dump(n) - u) / worst(u) for n, u in enumerate(_plain_dumps(problem))])
    return [Check.near("dumps: largest difference from the reference, relative", off, 0.0, 1e-13)]


PROOF = Proof(
    {"N": 9, "NS": 6, "IW": 1},  # more dumps than there are buffers
    {"code": ("lanes", "plain"), "way": tuple(WAYS), "asynchronous": (False, True)},
    only={"way": ("code", ("lanes",)), "asynchronous": ("code", ("lanes",))},
    not_compared=("last_crc32",),
    also=_every_dump,
)
