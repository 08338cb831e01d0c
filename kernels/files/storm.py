"""Output steps of a forecast with and without a storm of small files (Salmond & Towers, 2014).

At each output step the fields go to ``files`` files, a record each.  In the operational code every
task also opened, read and closed three small files (one list of directories, two namelists), and the
master task wrote one; the revised code did not.  Here tasks are shared out over threads, the file
system is this host's, and there is no metadata server: in its place stands the number of calls that
this process makes; ``latency`` makes every open as slow as a server's.

The two variants take turns step by step, so that both see the same machine.  With ``load`` other processes make,
read and remove small files of their own on the same file system meanwhile, as other jobs did there.
"""

import contextlib
import errno
import itertools
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, real, whole
from supercomputers_rerun.kernels.files.filesystem import preallocate, write_all
from supercomputers_rerun.kernels.files.processes import PROCESS_BYTES, Disturbers
from supercomputers_rerun.kernels.files.syscalls import touch_files
from supercomputers_rerun.kernels.files.work_folder import WorkFolder
from supercomputers_rerun.kernels.runtime.resources import require_memory, require_threads

__all__ = ["NO_OUTPUT", "VARIANTS", "Problem", "Result", "footprint", "plain", "reference", "run", "setup"]
__all__ += ["verify", "work"]

READ_BY_EVERY_TASK = ("dirlist", "namelist_1", "namelist_2")
WRITTEN_BY_MASTER = "ncf"
VARIANTS = ("before", "after")  # with the small files, without them


@dataclass(frozen=True)
class Problem(Presets):
    """``steps`` output steps of ``files`` records; ``tasks`` tasks that touch the small files."""

    steps: whole(1, 100_000) = 5  # output steps
    files: whole(1, 800) = 12  # output files, one record each a step
    tasks: whole(0, 1_000_000) = 24  # tasks that open, read and close the small files; 0: the revised code alone
    record_bytes: whole(16, 2**31, "bytes") = 65536  # bytes of one record
    small_bytes: whole(1, 2**24, "bytes") = 4096  # bytes of a small file (an assumption: the report has no sizes)
    latency: real(0.0, 1.0, "s") = 0.0  # seconds that a task's open takes at least; 0: what it takes here
    fsync: bool = False  # a record has reached the device before the next is written
    load: whole(0, 64, "processes") = 0  # other processes that storm small files on the same file system meanwhile
    kept: whole(0, 100_000, "steps") = 0  # steps that a file holds, later ones over the first; 0: all
    folder: str | None = None  # where to write; None: the system's temporary folder

    PRESETS: ClassVar = {
        "quick": {},
        "paper": {"steps": 125, "files": 120, "tasks": 480},
        "modern": {"steps": 125, "files": 120, "tasks": 1920, "record_bytes": 262144},
    }

    @property
    def variants(self) -> tuple[str, ...]:
        """Codes that take turns."""
        return VARIANTS if self.tasks else VARIANTS[1:]

    @property
    def held(self) -> int:
        """Records of a file."""
        return min(self.kept or self.steps, self.steps)

    def last(self, slot: int) -> int:
        """The step whose record stands in a place of a file in the end."""
        return slot + (self.steps - 1 - slot) // self.held * self.held


@dataclass(frozen=True)
class Result:
    """Per variant, ``"before"`` and ``"after"``: seconds of each step, and the calls made."""

    seconds: dict[str, np.ndarray]  # float64 (steps,)
    small_seconds: np.ndarray  # float64 (steps,): the part of ``before`` that the small files took
    calls: dict[str, int]  # system calls that open, read, write and close, of files as well as small files
    folders: dict[str, Path]
    other_sets: float  # sets of open, read or write, close that the other processes did, a second
    keep: WorkFolder = field(repr=False)


def footprint(problem: Problem) -> Footprint:
    """A record, its copy, other processes; output files of both variants, small files of the first and others."""
    records = problem.held * problem.files * problem.record_bytes
    small = (len(READ_BY_EVERY_TASK) + 1) * problem.small_bytes
    memory = 2 * problem.record_bytes + small + problem.load * PROCESS_BYTES
    disk = len(problem.variants) * records + small + problem.load * problem.small_bytes
    return Footprint(memory, disk)


def setup(problem: Problem, seed: int = 0) -> np.ndarray:
    """One record, uint8 (record_bytes,); its first 16 bytes are overwritten by step and file number."""
    require_memory(footprint(problem).memory, "a record")
    # Compiled now, so that the first output step does not pay for it.
    touch_files(np.zeros((1, 1), np.uint8), 0, 0.0, np.zeros(1, np.uint8))
    return np.random.default_rng(seed).integers(0, 256, problem.record_bytes, dtype=np.uint8)


def plain(paths: list[Path], tasks: int, latency: float = 0.0) -> int:
    """``tasks`` tasks open every small file, read it to its end, and close it; the number of system calls.

    ``latency``: seconds that an open takes at least.  ``OSError`` if a file cannot be opened or read.
    """
    calls = 0
    for _ in range(tasks):
        for path in paths:
            begin = time.perf_counter()
            handle = os.open(path, os.O_RDONLY)
            while time.perf_counter() - begin < latency:
                pass
            reads = 1
            while os.read(handle, 2**24):
                reads += 1
            os.close(handle)
            calls += 2 + reads
    return calls


def _names(paths: list[Path]) -> np.ndarray:
    """Paths as ``touch_files`` takes them."""
    names = [os.fsencode(path) for path in paths]
    longest = max(map(len, names)) + 1
    return np.array([list(name.ljust(longest, b"\0")) for name in names], np.uint8)


def _storm(problem: Problem, paths: list[Path], names: np.ndarray, pool: ThreadPoolExecutor, shares: list[int]) -> int:
    """The small files of one step, ``shares`` of the tasks on the threads of ``pool``, as :func:`plain` from a compiled
    loop; the number of system calls."""

    def touch(tasks: int) -> int:
        return touch_files(names, tasks, problem.latency, np.zeros(problem.small_bytes, np.uint8))

    calls = list(pool.map(touch, shares))
    if min(calls) < 0:
        plain(paths, 1)  # the same again: this time Python raises the error
        raise OSError(errno.EIO, "a small file could not be opened or read once")
    handle = os.open(paths[0].parent / WRITTEN_BY_MASTER, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    write_all(handle, b"x" * problem.small_bytes)
    os.close(handle)
    return sum(calls) + 3


def run(problem: Problem, state: np.ndarray, threads: int = 1, repeats: int = 1) -> Result:
    """All output steps of both variants, taking turns; ``repeats`` writes everything again.

    Times are those of the last repeat. ``ValueError``: more threads than usable CPUs. ``OSError`` if the folder
    cannot be written or has not enough space.
    """
    require_threads(threads)
    keep = WorkFolder(problem.folder, "output-steps", footprint(problem).disk, "the output steps")
    folders = {name: keep.path / name for name in problem.variants}
    with Disturbers(keep.path, problem.load, problem.small_bytes) as others:
        start = time.perf_counter()
        for _ in range(repeats):
            for folder in folders.values():  # of the repeat before
                shutil.rmtree(folder, ignore_errors=True)
            found = _all_steps(problem, folders, state.copy(), threads)
        other_sets = others.stop() / (time.perf_counter() - start)
    return Result(*found, folders, other_sets, keep)


def _all_steps(problem: Problem, folders: dict[str, Path], record: np.ndarray, threads: int):
    """Seconds of each step by variant, those of the small files, and system calls by variant."""
    variants, small = problem.variants, np.zeros(problem.steps)
    seconds = {name: np.empty(problem.steps) for name in variants}
    calls, stamp, handles = dict.fromkeys(variants, 0), record[:16].view("<i8"), {}
    with ThreadPoolExecutor(threads) as pool, contextlib.ExitStack() as files:
        for name, folder in folders.items():
            folder.mkdir()
            opened = [files.enter_context(open(path, "wb", buffering=0)) for path in _outputs(problem, folder)]
            handles[name] = [file.fileno() for file in opened]
            for handle in handles[name]:
                preallocate(handle, problem.held * problem.record_bytes)
        paths = [folders[variants[0]] / name for name in READ_BY_EVERY_TASK]
        for path in paths:
            path.write_bytes(b"x" * problem.small_bytes)
        names, shares = _names(paths), np.diff([problem.tasks * n // threads for n in range(threads + 1)]).tolist()
        for step in range(problem.steps):
            if step and step % problem.held == 0:
                for handle in itertools.chain(*handles.values()):
                    os.lseek(handle, 0, os.SEEK_SET)
            # Who goes first changes, so that neither always finds the caches warm.
            for name in variants if step % 2 == 0 else variants[::-1]:
                begin = time.perf_counter()
                if name == "before":
                    calls[name] += _storm(problem, paths, names, pool, shares)
                    small[step] = time.perf_counter() - begin
                for number, handle in enumerate(handles[name]):
                    stamp[:] = step, number
                    write_all(handle, record)
                    if problem.fsync:
                        os.fsync(handle)
                calls[name] += problem.files
                seconds[name][step] = time.perf_counter() - begin
    return seconds, small, calls


def _outputs(problem: Problem, folder: Path) -> list[Path]:
    """The output files of one variant."""
    return [folder / f"out-{number:04d}" for number in range(problem.files)]


def expected_calls(problem: Problem) -> dict[str, int]:
    """System calls of both variants, by arithmetic: a small file is read twice, its data and its end."""
    touched = problem.steps * problem.tasks * len(READ_BY_EVERY_TASK)
    records = problem.steps * problem.files
    found = {"before": 4 * touched + 3 * problem.steps + records, "after": records}
    return {name: found[name] for name in problem.variants}


def reference(problem: Problem, state: np.ndarray) -> Result:
    """The same files written one after another, each whole; calls by arithmetic, no small file touched."""
    keep = WorkFolder(problem.folder, "output-steps", footprint(problem).disk, "the output steps")
    folders = {name: keep.path / name for name in problem.variants}
    for folder in folders.values():
        folder.mkdir()
        for number, path in enumerate(_outputs(problem, folder)):
            records = np.tile(state, (problem.held, 1))
            records[:, :16].view("<i8")[:] = [(problem.last(slot), number) for slot in range(problem.held)]
            path.write_bytes(records.tobytes())
    each = np.full(problem.steps, np.nan)
    seconds = dict.fromkeys(folders, each)
    return Result(seconds, each, expected_calls(problem), folders, np.nan, keep)


def _misplaced(problem: Problem, folder: Path) -> int:
    """Records that are not where they belong (files of the wrong size count whole)."""
    wrong = 0
    for number, path in enumerate(_outputs(problem, folder)):
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size != problem.held * problem.record_bytes:
                wrong += problem.held
                continue
            for slot in range(problem.held):
                file.seek(slot * problem.record_bytes)
                wrong += tuple(np.frombuffer(file.read(16), "<i8")) != (problem.last(slot), number)
    return wrong


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every record in its place, every call accounted for; other processes did something where they were asked to."""
    checks = []
    if problem.load and not np.isnan(result.other_sets):
        sets = result.other_sets
        checks.append(Check("small files a second of the other processes, above", sets, 0.0, 0.0, sets > 0))
    expected = expected_calls(problem)
    for name in problem.variants:
        misplaced = _misplaced(problem, result.folders[name])
        checks.append(Check.near(f"{name}: records out of place", misplaced, 0, 0))
        checks.append(Check.near(f"{name}: system calls", result.calls[name], expected[name], 0))
    return checks


NO_OUTPUT = dict.fromkeys(
    ("seconds", "small_seconds"), "seconds that were measured; every record of the files is read back"
)


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes of both variants, which threads share: records, and the small files of the first."""
    records = len(problem.variants) * problem.steps * problem.files * problem.record_bytes
    return Work(
        bytes_read=problem.steps * problem.tasks * len(READ_BY_EVERY_TASK) * problem.small_bytes,
        bytes_written=records + problem.steps * problem.small_bytes,
    )
