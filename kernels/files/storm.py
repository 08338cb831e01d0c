"""Output steps of a forecast with and without a storm of small files (Salmond & Towers, 2014).

At each output step the fields go to ``files`` files, a record each.  In the operational code every
task also opened, read and closed three small files (one list of directories, two namelists), and the
master task wrote one; the revised code did not.  Here tasks are shared out over threads, the file
system is this host's, and there is no metadata server: in its place stands the number of calls that
this process makes; ``latency`` makes every open as slow as a server's.

The two variants take turns step by step, so that both see the same machine.  With ``load`` other processes make,
read and remove small files of their own on the same file system meanwhile, as other jobs did there.
"""

import errno
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from kernels.contract import Check, Footprint, Presets, Work, real, whole
from kernels.files.filesystem import preallocate, write_all
from kernels.files.processes import PROCESS_BYTES, Disturbers
from kernels.files.syscalls import touch_files
from kernels.files.work_folder import WorkFolder
from kernels.runtime.resources import require_memory, require_threads

READ_BY_EVERY_TASK = ("dirlist", "namelist_1", "namelist_2")
WRITTEN_BY_MASTER = "ncf"
VARIANTS = ("before", "after")  # with the small files, without them


@dataclass(frozen=True)
class Problem(Presets):
    """``steps`` output steps of ``files`` records; ``tasks`` tasks that touch the small files."""

    steps: whole(1, 100_000) = 5  # output steps
    files: whole(1, 800) = 12  # output files, one record each a step
    tasks: whole(1, 1_000_000) = 24  # tasks that open, read and close the small files
    # bytes of one record (a scale of its own; see ``full_record_bytes``)
    record_bytes: whole(16, 2**31, "bytes") = 65536
    small_bytes: whole(1, 2**24, "bytes") = 4096  # bytes of a small file (an assumption: the report has no sizes)
    latency: real(0.0, 1.0, "s") = 0.0  # seconds that a task's open takes at least; 0: what it takes here
    load: whole(0, 64, "processes") = 0  # other processes that storm small files on the same file system meanwhile
    folder: str | None = None  # where to write; None: the system's temporary folder

    PRESETS: ClassVar = {
        "quick": {},
        "paper": {"steps": 125, "files": 120, "tasks": 480},
        "modern": {"steps": 125, "files": 120, "tasks": 1920, "record_bytes": 262144},
    }


def small_file_sets(steps: int, tasks: int) -> int:
    """Sets of open, read or write, close of small files: three of each task and one of the master in a step."""
    return steps * (tasks * len(READ_BY_EVERY_TASK) + 1)


def full_record_bytes(total_bytes: float, steps: int, files: int) -> float:
    """Bytes of one record if ``total_bytes`` go to ``files`` files in ``steps`` steps."""
    return total_bytes / (steps * files)


@dataclass(frozen=True)
class Result:
    """Per variant, ``"before"`` and ``"after"``: seconds of each step, and the calls made."""

    seconds: dict[str, np.ndarray]  # float64 (steps,)
    small_seconds: np.ndarray  # float64 (steps,): the part of ``before`` that the small files took
    calls: dict[str, dict[str, int]]
    folders: dict[str, Path]
    other_sets: float  # sets of open, read or write, close that the other processes did, a second
    keep: WorkFolder = field(repr=False)


def footprint(problem: Problem) -> Footprint:
    """A record, its copy, other processes; output files of both variants, small files of the first and others."""
    records = problem.steps * problem.files * problem.record_bytes
    small = (len(READ_BY_EVERY_TASK) + 1) * problem.small_bytes
    memory = 2 * problem.record_bytes + small + problem.load * PROCESS_BYTES
    disk = len(VARIANTS) * (records + small) + problem.load * problem.small_bytes
    return Footprint(memory, disk)


def setup(problem: Problem, seed: int = 0) -> np.ndarray:
    """One record, uint8 (record_bytes,); its first 16 bytes are overwritten by step and file number."""
    require_memory(footprint(problem).memory, "a record")
    # Compiled now, so that the first output step does not pay for it.
    touch_files(np.zeros((1, 1), np.uint8), 0, os.O_RDONLY, 0.0, np.zeros(1, np.uint8), np.zeros(3, np.int64))
    return np.random.default_rng(seed).integers(0, 256, problem.record_bytes, dtype=np.uint8)


def _touch_small(problem: Problem, paths: list[Path], names: np.ndarray, tasks: int) -> np.ndarray:
    """``tasks`` tasks open, read to the end and close every small file.

    Returns the calls that succeeded, int64 (3,): open, read, close.
    """
    counts, buffer = np.zeros(3, np.int64), np.zeros(problem.small_bytes, np.uint8)
    failed = touch_files(names, tasks, os.O_RDONLY, problem.latency, buffer, counts)
    if failed >= 0:
        paths[failed].read_bytes()  # the same again: this time Python raises the error
        raise OSError(errno.EIO, f"{paths[failed]} could not be opened or read once")
    return counts


class _Variant:
    """One of the two codes: its output files and its counts."""

    def __init__(self, problem, folder, pool, threads):
        self.problem, self.folder, self.pool = problem, folder, pool
        folder.mkdir()
        bounds = [problem.tasks * n // threads for n in range(threads + 1)]
        self.shares = [high - low for low, high in zip(bounds, bounds[1:], strict=False)]
        self.small = [folder / name for name in READ_BY_EVERY_TASK]
        for path in self.small:
            path.write_bytes(b"x" * problem.small_bytes)
        names = [os.fsencode(path) for path in self.small]
        longest = max(map(len, names)) + 1
        self.names = np.array([list(name.ljust(longest, b"\0")) for name in names], np.uint8)
        self.calls = dict.fromkeys(("open", "read", "write", "close"), 0)
        self.handles = []

    def open(self):
        for number in range(self.problem.files):
            handle = os.open(self.folder / f"out-{number:04d}", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
            self.handles.append(handle)
            preallocate(handle, self.problem.steps * self.problem.record_bytes)

    def close(self):
        while self.handles:
            os.close(self.handles.pop())

    def step(self, step: int, record: np.ndarray, storm: bool) -> tuple[float, float]:
        """One output step; returns its seconds and those of the small files."""
        start = time.perf_counter()
        if storm:
            self._storm()
        middle = time.perf_counter()
        stamp = record[:16].view("<i8")
        for number, handle in enumerate(self.handles):
            stamp[:] = step, number
            write_all(handle, record)
        self.calls["write"] += len(self.handles)
        return time.perf_counter() - start, middle - start

    def _storm(self) -> None:
        problem = self.problem
        counts = sum(self.pool.map(lambda share: _touch_small(problem, self.small, self.names, share), self.shares))
        handle = os.open(self.folder / WRITTEN_BY_MASTER, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        write_all(handle, b"x" * problem.small_bytes)
        os.close(handle)
        for name, count in zip(("open", "read", "close"), counts + [1, 0, 1], strict=True):
            self.calls[name] += int(count)
        self.calls["write"] += 1


def run(problem: Problem, state: np.ndarray, threads: int = 1, repeats: int = 1) -> Result:
    """All output steps of both variants, taking turns; ``repeats`` writes everything again.

    Times are those of the last repeat. ``ValueError``: more threads than usable CPUs. ``OSError`` if the folder
    cannot be written or has not enough space.
    """
    require_threads(threads)
    keep = WorkFolder(problem.folder, "output-steps", footprint(problem).disk, "the output steps")
    record = state.copy()
    with Disturbers(keep.path, problem.load, problem.small_bytes) as others:
        start = time.perf_counter()
        for _ in range(repeats):
            for name in VARIANTS:  # of the repeat before
                shutil.rmtree(keep.path / name, ignore_errors=True)
            variants, seconds, small = _all_steps(problem, keep.path, record, threads)
        other_sets = others.stop() / (time.perf_counter() - start)
    calls = {name: variant.calls for name, variant in variants.items()}
    return Result(seconds, small, calls, {name: keep.path / name for name in VARIANTS}, other_sets, keep)


def _all_steps(problem: Problem, folder: Path, record: np.ndarray, threads: int):
    """Both variants after all steps, seconds of each step by variant, and those of the small files."""
    seconds, small = {name: np.empty(problem.steps) for name in VARIANTS}, np.empty(problem.steps)
    with ThreadPoolExecutor(threads) as pool:
        variants = {name: _Variant(problem, folder / name, pool, threads) for name in VARIANTS}
        try:
            for variant in variants.values():
                variant.open()
            for step in range(problem.steps):
                # Who goes first changes, so that neither always finds the caches warm.
                for name in VARIANTS if step % 2 == 0 else VARIANTS[::-1]:
                    total, part = variants[name].step(step, record, name == "before")
                    seconds[name][step] = total
                    if name == "before":
                        small[step] = part
        finally:
            for variant in variants.values():
                variant.close()
    return variants, seconds, small


def expected_calls(problem: Problem) -> dict[str, dict[str, int]]:
    """The calls of both variants, by arithmetic."""
    sets = small_file_sets(problem.steps, problem.tasks)
    records = problem.steps * problem.files
    reads = 2 * problem.steps * problem.tasks * len(READ_BY_EVERY_TASK)  # the data and the end of file
    return {
        "before": {"open": sets, "read": reads, "write": records + problem.steps, "close": sets},
        "after": {"open": 0, "read": 0, "write": records, "close": 0},
    }


def reference(problem: Problem, state: np.ndarray) -> Result:
    """The same files written one after another, each whole; calls by arithmetic, no small file touched."""
    keep = WorkFolder(problem.folder, "output-steps", footprint(problem).disk, "the output steps")
    folders = {name: keep.path / name for name in VARIANTS}
    for folder in folders.values():
        folder.mkdir()
        for number in range(problem.files):
            records = np.tile(state, (problem.steps, 1))
            records[:, :16].view("<i8")[:] = [(step, number) for step in range(problem.steps)]
            (folder / f"out-{number:04d}").write_bytes(records.tobytes())
    each = np.full(problem.steps, np.nan)
    seconds = dict.fromkeys(VARIANTS, each)
    return Result(seconds, each, expected_calls(problem), folders, np.nan, keep)


def _misplaced(problem: Problem, folder: Path) -> int:
    """Records that are not where they belong (files of the wrong size count whole)."""
    wrong = 0
    for number in range(problem.files):
        with open(folder / f"out-{number:04d}", "rb") as file:
            if os.fstat(file.fileno()).st_size != problem.steps * problem.record_bytes:
                wrong += problem.steps
                continue
            for step in range(problem.steps):
                file.seek(step * problem.record_bytes)
                wrong += tuple(np.frombuffer(file.read(16), "<i8")) != (step, number)
    return wrong


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every record in its place, every call accounted for; other processes did something where they were asked to."""
    checks = []
    if problem.load and not np.isnan(result.other_sets):
        sets = result.other_sets
        checks.append(Check("small files a second of the other processes, above", sets, 0.0, 0.0, sets > 0))
    expected = expected_calls(problem)
    for name in VARIANTS:
        misplaced = _misplaced(problem, result.folders[name])
        checks.append(Check.near(f"{name}: records out of place", misplaced, 0, 0))
        for call, count in expected[name].items():
            checks.append(Check.near(f"{name}: {call} calls", result.calls[name][call], count, 0))
    return checks


NO_OUTPUT = dict.fromkeys(
    ("seconds", "small_seconds"), "seconds that were measured; every record of the files is read back"
)


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes of both variants, which threads share: records, and the small files of the first."""
    records = len(VARIANTS) * problem.steps * problem.files * problem.record_bytes
    return Work(
        bytes_read=problem.steps * problem.tasks * len(READ_BY_EVERY_TASK) * problem.small_bytes,
        bytes_written=records + problem.steps * problem.small_bytes,
    )
