"""The Dirty Dozen Test: thirteen problems at three sizes, each from files to files.

As a task of AIPS does, a run reads its input from disk, works, and writes what it made.  Both times of
the memo are taken: CPU time of the process, all threads together, and elapsed time.  Files are
plain numbers; IMLOD and UVLOD read FITS.  What lies in the page cache of the system is read from there.
"""

import math
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, one_of, real, whole
from supercomputers_rerun.kernels.files import messages
from supercomputers_rerun.kernels.files.work_folder import WorkFolder
from supercomputers_rerun.kernels.imaging import checks, clean, fits, habits, tasks
from supercomputers_rerun.kernels.imaging.direct import FLOPS
from supercomputers_rerun.kernels.imaging.dirty import flops, plain
from supercomputers_rerun.kernels.imaging.masters import CELL, SIZES, Masters, bytes_of, masters
from supercomputers_rerun.kernels.imaging.taps import DEGREE, TAPS, grid_side
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.runtime.resources import require_memory

__all__ = ["BOUNDED", "NO_OUTPUT", "PROOF", "Problem", "Result", "State", "footprint", "plain", "reference", "run"]
__all__ += ["setup", "verify", "work"]


@dataclass(frozen=True)
class Problem(Presets):
    """One task at one size."""

    task: one_of(*tasks.TASKS) = "UVMAP"  # of TASKS
    size: one_of(*SIZES) = "small"  # of SIZES
    method: one_of(*clean.METHODS) = "gather"  # of CLEAN's minor cycle
    folder: str | None = None  # where files lie; None: the system's temporary folder
    beside: whole(0, 64) = 0  # other processes that keep a CPU and the device busy meanwhile
    scratch: bool = False  # inputs go in pieces, through scratch files; the page cache is asked to drop them
    # of the task, to a file that is opened and closed for each, by way of a late broker
    messages: whole(0, 1_000_000) = 0
    pace: real(0.0, 1e6, "MB/s") = 0.0  # MB/s at which FITS files arrive, as from a tape; 0: as fast as the disk gives
    peak: bool = False  # the most memory that it holds is read as well, which slows it

    PRESETS: ClassVar = {
        "quick": {"size": "small"},
        "paper": {"size": "large"},
        "modern": {"size": "modern"},
    }


@dataclass(frozen=True)
class State:
    """What runs of one problem share."""

    masters: Masters  # what the task starts from
    keep: WorkFolder  # holds the files until this object goes
    inputs: list[Path]  # the masters that the task reads, as files
    out: Path  # where products go
    lines: list[bytes]  # messages, one at least


@dataclass(frozen=True)
class Result:
    """What a run gave, and the times of the memo."""

    products: dict[str, Any]
    inputs: list  # the arrays, or the paths of FITS files
    cpu_s: float  # CPU seconds a repeat, all threads
    real_s: float  # elapsed seconds a repeat
    lines: int  # messages in the file
    peak: float  # bytes, the most that the last repeat held of its own; NaN where it is not read
    masters: Masters = field(repr=False)


def footprint(problem: Problem) -> Footprint:
    """Masters, a grid of the beam's side and products; on disk at most eight images and four sets of records."""
    size = SIZES[problem.size]
    memory = bytes_of(size) + 12 * grid_side(2 * size.side) ** 2 + 5 * 32 * size.visibilities
    disk = 40 * size.side**2 + 4 * 32 * size.visibilities + 16 * size.components + 2**14
    disk += 80 * problem.messages + 2**22 * problem.beside
    memory += 300 * problem.messages
    if problem.scratch:  # the largest input once more
        more = max(16 * size.side**2, 32 * size.visibilities)
        disk, memory = disk + more, memory + more
    return Footprint(memory, disk, 2 * 128 * grid_side(2 * size.side))


def _messages(problem: Problem) -> messages.Problem:
    """The messages of a run, and how they reach their file."""
    return messages.Problem(messages=max(problem.messages, 1), way="late" if problem.messages else "off")


def _written(path: Path, made: Masters) -> Path:
    """One input file."""
    if path.name == "dirty.fits":
        fits.write_image(path, made.dirty, CELL)
    elif path.name == "records.fits":
        fits.write_visibilities(path, made.records)
    else:
        getattr(made, path.name).tofile(path)
    return path


def setup(problem: Problem, seed: int = 0) -> State:
    """Masters of the size, and the files that the task reads.

    ``MemoryError`` where they do not fit, ``OSError`` where inputs and products do not fit on the disk.
    """
    need, what = footprint(problem), f"{problem.task} at size {problem.size}"
    require_memory(need.memory, what)
    made, keep = masters(problem.size, seed), WorkFolder(problem.folder, "ddt", need.disk, what)
    out = keep.path / "products"
    out.mkdir()
    inputs = [_written(keep.path / name, made) for name in tasks.INPUTS[problem.task]]
    return State(made, keep, inputs, out, messages.setup(_messages(problem)).lines)


def _read(path: Path, made: Masters, scratch: Path | None = None):
    """Array of one input file, by way of a scratch file; FITS files stay paths, for the tasks that load them."""
    if path.suffix == ".fits":
        return path if scratch is None else habits.fetched(path, scratch.with_suffix(".fits"))
    like = getattr(made, path.name)
    data = np.fromfile(path, like.dtype) if scratch is None else habits.through_scratch(path, scratch).view(like.dtype)
    return data.reshape(like.shape)


#: What one of the others does: it computes for some 20 ms, then writes 4 MB through to the device.
_OTHER = """import os, sys
parent, file = os.getppid(), open(sys.argv[1], "wb", buffering=0)
while os.getppid() == parent:
    sum(range(1_000_000))
    os.pwrite(file.fileno(), bytes(2**22), 0)
    os.fsync(file.fileno())
"""


@contextmanager
def _others(count: int, folder: Path):
    """``count`` other processes, ended with the block; their files lie in ``folder``."""
    commands = [[sys.executable, "-c", _OTHER, f"{folder}/other-{number}"] for number in range(count)]
    busy = [subprocess.Popen(command, start_new_session=True) for command in commands]
    try:
        if busy:
            time.sleep(0.1)  # they start meanwhile
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def _fetched(path: Path, pace: float, out: Path) -> Path:
    """A FITS file copied at ``pace`` MB/s; without a pace, where it is."""
    if path.suffix != ".fits" or not pace:
        return path
    start, done, local = time.perf_counter(), 0, out / path.name
    with open(path, "rb") as source, open(local, "wb") as target:
        while block := source.read(2**16):
            target.write(block)
            done += len(block)
            time.sleep(max(0.0, done / (pace * 1e6) - (time.perf_counter() - start)))
    return local


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """Read, work and write ``repeats`` times."""
    size, told, way = SIZES[problem.size], state.keep.path / "messages", _messages(problem)
    scratch = state.out / "scratch" if problem.scratch else None
    put = habits.put if problem.scratch else np.ndarray.tofile
    with _others(problem.beside, state.out), messages.broker(way) as ask:
        cpu, real = time.process_time(), time.perf_counter()
        for _ in range(repeats):
            inputs = products = None  # what the repeat before held counts for nothing
            held = habits.held() if problem.peak else 0
            paths = (_fetched(path, problem.pace, state.out) for path in state.inputs)
            inputs = [_read(path, state.masters, scratch) for path in paths]
            products = tasks.perform(problem.task, inputs, size, threads, problem.method)
            for name, value in products.items():
                put(value, state.out / name)
            if problem.messages:
                told.unlink(missing_ok=True)
                messages.hand_over(way, told, state.lines, ask)
        cpu, real = time.process_time() - cpu, time.perf_counter() - real
    peak = habits.held("VmHWM") - held if problem.peak else math.nan
    lines = told.read_bytes().count(b"\n") if problem.messages else 0
    return Result(products, inputs, cpu / repeats, real / repeats, lines, peak, state.masters)


def reference(problem: Problem, state: State) -> Result:
    """The same products by NumPy and SciPy; minutes and gigabytes beyond the small size."""
    made = state.masters
    inputs = [_read(path, made) for path in state.inputs]
    products = tasks.reference(problem.task, inputs, SIZES[problem.size], made, problem.method)
    return Result(products, inputs, math.nan, math.nan, problem.messages, math.nan, made)


def verify(problem: Problem, result: Result) -> list[Check]:
    """DDT's bits of every product, inputs and messages whole, all numbers finite; see :mod:`kernels.imaging.checks`."""
    made = result.masters
    found = checks.of(problem.task, result.products, result.inputs, SIZES[problem.size], made)
    pairs = zip(tasks.INPUTS[problem.task], result.inputs, strict=True)
    other = sum(not np.array_equal(value, getattr(made, name)) for name, value in pairs if not isinstance(value, Path))
    wrong = sum(np.count_nonzero(~np.isfinite(product)) for product in result.products.values())
    return [
        *found,
        Check.near("numbers of all products that are not finite", wrong, 0, 0),
        Check.near("inputs that came otherwise than they were written", other, 0, 0),
        Check.near("messages in their file", result.lines, problem.messages, 0),
    ]


NO_OUTPUT = {
    "inputs": "what the task reads, and refuses where it is no visibility",
    "masters": "what its input files were made from, and the truth",
    "peak": "memory that was measured",
}

#: A residual has at least this part of the image's peak: of deeper ones more than a thousandth may go unnoticed.
LEAST = 0.01


def BOUNDED(problem: Problem) -> dict[str, str]:
    """Products whose pixels and visibilities are known to so many bits of the peak, and no better."""
    gridded = 2.0 ** (1 - checks.GRIDDED), "gridding keeps five digits of the peak"
    convolved = 2.0 ** (1 - checks.CONVOLVED), "transforms in single precision keep six digits of the image's peak"
    left = 2.0 ** (1 - checks.EDGES) / LEAST, "it is what is left of an image whose peak is known to five digits"
    steps = None, "first and last are recomputed; of the iterations between nothing but these numbers is left"
    names = {
        "APCLN": {"clean": convolved, "residual": left},
        "APRES": {"residual": left},
        "ASCAL": {"model": gridded},
        "MXCLN": {"clean": convolved, "residual": left, "dirty": gridded, "response": gridded},
        "MXMAP": {"dirty": gridded, "beam": gridded},
        "UVMAP": {"dirty": gridded, "beam": gridded},
        "VTESS": {"model": left, "residual": left, "rms": steps, "entropy": steps},
    }
    return {f"products['{name}']": known for name, known in names.get(problem.task, {}).items()}


def _transform(side: int) -> int:
    """Both directions over a grid of half a plane."""
    grid = grid_side(side)
    return (grid // 2 + side // 2) * flops(grid)


def _flops(problem: Problem) -> int:
    """Of one repeat; zero for what only moves data.  Searches for peaks are not counted."""
    size = SIZES[problem.size]
    side, count = size.side, size.visibilities
    gridded = count * (2 * 2 * TAPS * DEGREE + 2 * TAPS + 4 * TAPS * TAPS)
    mapped = 2 * (gridded + _transform(side))
    convolved = (side + 2 * (side + 1)) * flops(2 * side)
    subtracted = 2 * size.components * (2 * clean.HALF + 1) ** 2
    return {
        "COMB": 3 * side * side,
        "UVDIF": 8 * count,
        "APCLN": subtracted + 2 * convolved,
        "APRES": convolved + 3 * side * side,
        "ASCAL": FLOPS * count * size.components,
        "MXCLN": subtracted + mapped + 2 * gridded + _transform(2 * side) + 2 * _transform(side),
        "MXMAP": mapped,
        "UVMAP": mapped,
        "VTESS": (tasks.ITERATIONS + 1) * convolved + 18 * tasks.ITERATIONS * side * side,
    }.get(problem.task, 0)


def work(problem: Problem, threads: int = 1) -> Work:
    """The least that the task must do: one major cycle of a CLEAN, every input read and product written."""
    size = SIZES[problem.size]
    image, records = 4 * size.side**2, 32 * size.visibilities
    kinds = {"beam": 4 * image, "places": 8 * size.components, "fluxes": 4 * size.components}
    kinds |= {"dirty": image, "residual": image, "dirty.fits": image, "flux": 4}
    read = sum(kinds.get(name, records) for name in tasks.INPUTS[problem.task])
    written = {
        "IMLOD": image,
        "UVLOD": records,
        "COMB": image,
        "SUBIM": image // 4,
        "UVDIF": 96,
        "UVSRT": 2 * records,
        "APCLN": 3 * image + 12 * size.components,
        "APRES": image,
        "ASCAL": records + 8 * size.visibilities + 16 * 27 * size.intervals,
        "MXCLN": 8 * image + 12 * size.components,
        "MXMAP": 2 * image,
        "UVMAP": 2 * image,
        "VTESS": 2 * image + 16 * (tasks.ITERATIONS + 1),
    }[problem.task]
    return Work(_flops(problem), read, written)


#: Products are float32; peaks as high as each other may be found in another order.
PROOF = Proof(
    {"size": "tiny"},
    each={
        "task": tasks.TASKS,
        "method": clean.METHODS,
        "scratch": (False, True),
        "messages": (0, 2),
        "pace": (0.0, 1000.0),
    },
    only={
        "method": ("task", ("APCLN", "MXCLN")),
        "scratch": ("task", ("UVLOD", "UVSRT")),
        "messages": ("task", ("COMB",)),
        "pace": ("task", ("IMLOD",)),
    },
    within={"products": 5e-6, "products residual": 2e-5, "products gains": 1e-6},
    not_compared=("inputs", "masters", "products places", "products fluxes"),
)
