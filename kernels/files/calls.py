"""What the system's help costs: a write, a seek, an open with read and close, a page of memory.

``write``  ``count`` writes of ``nbytes`` bytes, one after the other, into the page cache: a file that was empty
``seek``   ``count`` seeks to and fro in a file
``touch``  ``count`` pages of 4 KB of memory that is new to this process are touched for the first time: the system, and
           in a virtual machine its host, has to provide them
``open``   ``count`` times a file of ``nbytes`` bytes is opened, read to its end and closed; the system has it cached

With a few bytes a write costs the call, with a million the bytes; these are the two constants of the model *calls ×
latency + bytes / rate*.  ``seconds`` is the time of the calls alone: that the file is emptied between two repeats is
left out.
"""

import mmap
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, one_of, whole
from supercomputers_rerun.kernels.files.syscalls import seek_calls, touch_files, write_calls
from supercomputers_rerun.kernels.files.work_folder import WorkFolder
from supercomputers_rerun.kernels.runtime.resources import require_memory

__all__ = ["CALLS", "NO_OUTPUT", "Problem", "Result", "State", "footprint", "plain", "reference", "run", "setup"]
__all__ += ["verify", "work"]

CALLS = ("write", "seek", "open", "touch")
#: Bytes of a page that is touched.
_PAGE = 4096
#: What is written: the same byte everywhere, so that the sum of the file tells what is in it.
_BYTE = 0x5A


@dataclass(frozen=True)
class Problem(Presets):
    """``count`` calls of one kind. ``ValueError`` if a field is outside its range."""

    call: one_of(*CALLS) = "write"
    nbytes: whole(1, 2**30, "bytes") = 8  # of a write, or of the file that is opened
    count: whole(1, 10**9) = 10_000  # calls, or sets of open, read and close, of one repeat
    folder: str | None = None  # where the file lies; None: the system's temporary folder

    PRESETS: ClassVar = {"quick": {}, "paper": {"count": 100_000}, "modern": {"count": 1_000_000}}

    @property
    def file_bytes(self) -> int:
        """Bytes of the file when all is done; a page that is touched has one byte."""
        return self.nbytes * (self.count if self.call == "write" else 1)


class State(NamedTuple):
    """What calls need."""

    keep: WorkFolder
    path: Path  # the file
    data: np.ndarray  # uint8 (nbytes,): what is written, and where it is read to


class Result(NamedTuple):
    """What the last repeat did."""

    seconds: float  # of all calls
    done: int  # calls that did what they should
    held: int  # sum of all bytes of the file


def footprint(problem: Problem) -> Footprint:
    """The buffer, the file as it is read back, pages to touch, and the file."""
    pages = 2 * _PAGE * problem.count if problem.call == "touch" else 0  # those of a repeat may go late
    return Footprint(problem.nbytes + problem.file_bytes + pages, problem.file_bytes)


def setup(problem: Problem, seed: int = 0) -> State:
    """A folder with the file, which is empty for writes (the seed is not used)."""
    require_memory(footprint(problem).memory, f"{problem.count} calls with {problem.nbytes} bytes")
    keep = WorkFolder(problem.folder, "calls", footprint(problem).disk, "the file of the calls")
    data = np.full(problem.nbytes, _BYTE, np.uint8)
    path = keep.path / "file"
    path.write_bytes(b"" if problem.call == "write" else data.tobytes())
    return State(keep, path, data)


def plain(call: str, path: Path, data, count: int) -> int:
    """``count`` calls, as one writes them; how many did what they should."""
    done = 0
    with open(path, "r+b", buffering=0) as file, mmap.mmap(-1, _PAGE * count) as memory:
        for number in range(count):
            if call == "write":
                done += file.write(data) == len(data)
            elif call == "seek":
                done += file.seek(number % 2) == number % 2
            elif call == "touch":
                done += memory[_PAGE * number] == 0
                memory[_PAGE * number] = _BYTE
            else:
                with open(path, "rb", buffering=0) as other:
                    done += len(other.read(len(data))) == len(data) and other.read(1) == b""
    return done


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """``repeats`` times ``count`` calls; the time is the mean of the repeats.  ``threads`` is not used: one calls.

    ``OSError`` where a call fails.
    """
    spent, address = 0.0, np.uint64(state.data.ctypes.data)
    name = np.frombuffer(os.fsencode(state.path) + b"\0", np.uint8)[None]
    buffer = np.empty(problem.nbytes, np.uint8)
    for _ in range(repeats):
        if problem.call == "touch":
            seconds, done = _touched(problem.count)
            spent += seconds
            continue
        with open(state.path, "r+b", buffering=0) as file:
            if problem.call == "write":
                file.truncate(0)
            begin = time.perf_counter()
            if problem.call == "write":
                done = write_calls(file.fileno(), address, problem.nbytes, problem.count)
            elif problem.call == "seek":
                done = seek_calls(file.fileno(), problem.count)
            else:  # each set is an open, two reads and a close
                done = touch_files(name, problem.count, 0.0, buffer) // 4
            spent += time.perf_counter() - begin
        if done < 0:
            plain(problem.call, state.path, state.data, 1)  # the same again: this time Python raises the error
    return Result(spent / repeats, int(done), _sum(state.path))


def _touched(count: int) -> tuple[float, int]:
    """Seconds to touch ``count`` new pages of memory, and how many then have what was stored."""
    pages = np.frombuffer(mmap.mmap(-1, _PAGE * count), np.uint8)[::_PAGE]
    begin = time.perf_counter()
    pages[:] = _BYTE
    return time.perf_counter() - begin, int(np.count_nonzero(pages == _BYTE))


def _sum(path: Path) -> int:
    return int(np.fromfile(path, np.uint8).sum(dtype=np.int64))


def reference(problem: Problem, state: State) -> Result:
    """The same by Python's own calls; the time is NaN."""
    if problem.call == "write":
        os.truncate(state.path, 0)
    done = plain(problem.call, state.path, state.data, problem.count)
    return Result(float("nan"), done, _sum(state.path))


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every call did what it should, and the file holds what was written."""
    return [
        Check.near("calls that did what they should", result.done, problem.count, 0),
        Check.near("sum of all bytes of the file", result.held, _BYTE * problem.file_bytes, 0),
    ]


NO_OUTPUT = {"seconds": "seconds that were measured"}


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes of one repeat; a seek moves none, and a page that is touched counts whole."""
    moved = problem.nbytes * problem.count
    written = {"write": moved, "touch": _PAGE * problem.count}
    return Work(bytes_read=moved * (problem.call == "open"), bytes_written=written.get(problem.call, 0))
