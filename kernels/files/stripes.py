"""A file of images in one piece or striped over several files, block by block.

The memo's Convex kept its maps on a partition striped over four disks and waited for each request; its X-MPs
joined disks without striping and did not wait.  Three ways to move the same blocks:

    one            all blocks in one file, one request after another
    striped        block n in file n mod ``files``, one request after another
    asynchronous   the same, with a thread for each file

Writing ends when the device has everything (``fsync``); before reading the page cache is asked to let go of
the file, where the system offers that.  Files are on one filesystem: whether that has several disks is its own.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from kernels.contract import Check, Footprint, Presets, Work, one_of, whole
from kernels.files import filesystem
from kernels.files.work_folder import WorkFolder
from kernels.runtime.resources import require_memory

WAYS = ("one", "striped", "asynchronous")


@dataclass(frozen=True)
class Problem(Presets):
    """``blocks`` blocks of ``block_bytes`` bytes, moved in one of WAYS."""

    blocks: whole(1, 1_000_000) = 64
    block_bytes: whole(512, 2**26, "bytes") = 65536  # bytes
    files: whole(1, 256) = 4  # files of the striped ways
    way: one_of(*WAYS) = "one"
    folder: str | None = None  # where the files lie; None: the system's temporary folder

    PRESETS: ClassVar = {"quick": {}, "paper": {"blocks": 1024}, "modern": {"blocks": 8192}}

    @property
    def parts(self) -> int:
        """Files that this way uses."""
        return 1 if self.way == "one" else self.files


@dataclass(frozen=True)
class State:
    data: np.ndarray  # uint8 (blocks, block_bytes)
    found: np.ndarray  # of the same shape: what was read


@dataclass(frozen=True)
class Result:
    write_s: float  # s of a repeat, until the device has it
    read_s: float  # s of a repeat
    cold: bool  # the page cache let go of the files before they were read
    sizes: tuple[int, ...]  # bytes of every file
    wrong: int  # blocks read back otherwise than written
    keep: WorkFolder | None = field(repr=False)


def footprint(problem: Problem) -> Footprint:
    """The blocks, written, read back and compared; the files."""
    size = problem.blocks * problem.block_bytes
    return Footprint(3 * size + 2**20, size)


def setup(problem: Problem, seed: int = 0) -> State:
    """Blocks of random bytes."""
    require_memory(footprint(problem).memory, f"{problem.blocks} blocks")
    shape = problem.blocks, problem.block_bytes
    data = np.random.default_rng(seed).integers(0, 256, shape, np.uint8)
    return State(data, np.zeros_like(data))


def _put(handle: int, block: np.ndarray) -> None:
    if os.write(handle, block) != block.nbytes:
        raise OSError("a file of stripes took only a part of a block; the disk may be full")


def _get(handle: int, block: np.ndarray) -> None:
    os.readv(handle, [block])


def _in_turn(paths, blocks, write: bool) -> None:
    """One request after another, file after file; writes end on the device."""
    flags, move = (os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _put) if write else (os.O_RDONLY, _get)
    handles = [os.open(path, flags, 0o600) for path in paths]
    try:
        for number, block in enumerate(blocks):
            move(handles[number % len(handles)], block)
        for handle in handles if write else ():
            os.fsync(handle)
    finally:
        for handle in handles:
            os.close(handle)


def _move(problem: Problem, paths, blocks, write: bool) -> None:
    if problem.way != "asynchronous":
        _in_turn(paths, blocks, write)
        return
    parts = [(path, blocks[number :: len(paths)]) for number, path in enumerate(paths)]
    with ThreadPoolExecutor(len(paths)) as pool:
        list(pool.map(lambda part: _in_turn([part[0]], part[1], write), parts))


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """Write all blocks to new files and read them back, ``repeats`` times.

    ``OSError`` where the folder cannot take the files.
    """
    keep = WorkFolder(problem.folder, "stripes", footprint(problem).disk, f"{problem.blocks} blocks")
    paths = [keep.path / f"stripe{number}" for number in range(problem.parts)]
    written = read = 0.0
    for _ in range(repeats):
        state.found[:] = 0
        start = time.perf_counter()
        _move(problem, paths, state.data, True)
        written += time.perf_counter() - start
        cold = all([filesystem.drop_cache(path) for path in paths])
        start = time.perf_counter()
        _move(problem, paths, state.found, False)
        read += time.perf_counter() - start
    wrong = int(np.count_nonzero((state.found != state.data).any(axis=1)))
    sizes = tuple(path.stat().st_size for path in paths)
    return Result(written / repeats, read / repeats, cold, sizes, wrong, keep)


def reference(problem: Problem, state: State) -> Result:
    """What must be there: every block once, dealt out in turn."""
    sizes = tuple(len(range(part, problem.blocks, problem.parts)) for part in range(problem.parts))
    return Result(np.nan, np.nan, False, tuple(count * problem.block_bytes for count in sizes), 0, None)


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every block came back as it went, and every file has its share."""
    expected = reference(problem, None).sizes
    return [
        Check.near("blocks that came back otherwise", result.wrong, 0, 0),
        Check.near("bytes of all files", sum(result.sizes), problem.blocks * problem.block_bytes, 0),
        Check.near("files of the wrong size", sum(map(int.__ne__, result.sizes, expected)), 0, 0),
    ]


NO_OUTPUT = {
    **dict.fromkeys(("write_s", "read_s"), "seconds that were measured"),
    "cold": "whether the page cache let go of the files",
}


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes written and read; no arithmetic."""
    size = problem.blocks * problem.block_bytes
    return Work(bytes_read=size, bytes_written=size)
