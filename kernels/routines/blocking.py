"""Columns in blocks of NPROMA, as IFS keeps its grid-point fields.

A field is an array (blocks, levels, row): block b holds columns b·nproma … (b+1)·nproma − 1, the
index of the column runs fastest.  ``row`` is NPROMA rounded up to whole vectors and every row begins
a cache line; the places beyond the last column repeat it, so that whole vectors can be computed.

A block is worked on by one thread from its first row to its last, and shares nothing with others:
results depend neither on the number of threads nor on NPROMA.  A state has the ``threads`` of its last run.

A routine is a function of *numbers*.  Called with ``SCALAR`` it works on one float64 after another, called with
``VECTOR`` on eight at once (``kernels.runtime.vector``).  The width is the type of an argument: one source gives
both builds and both do the same operations in the same order: results agree bit for bit.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from supercomputers_rerun.kernels.contract import Presets, ceil_div, one_of, require_range, whole
from supercomputers_rerun.kernels.runtime.arrays import zeros
from supercomputers_rerun.kernels.runtime.jit import kernel, opaque
from supercomputers_rerun.kernels.runtime.resources import require_threads
from supercomputers_rerun.kernels.runtime.team import part_of, run_parts, worthwhile
from supercomputers_rerun.kernels.runtime.vector import LANES

#: Widths, passed to compiled functions: only the length counts.
SCALAR, VECTOR = (0,), (0,) * LANES
WIDTHS = {"scalar": SCALAR, "vector": VECTOR}
#: Points that are worth a thread.  One thread's time over that of two, of the cloud process, saturation and cubic
#: interpolation, by the points of both together: .82, .76 and .78 at 1280, 1.24, 1.16 and 1.24 at 5120, 1.78, 1.76 and
#: 1.77 at 41 000 (EPYC, Zen 3, two CPUs).
FEWEST_POINTS = 2**11
#: A problem for proofs: blocks that a vector does not fill, the last filled in part, and enough for two threads.
SMALL_BLOCKS = {"columns": 595, "levels": 7, "nproma": 24}


class Blocks(NamedTuple):
    """Blocked fields (blocks, levels, row), and how many threads share the blocks."""

    number: int
    levels: int
    row: int  # places of a row in memory
    count: int  # places of a row that are computed
    threads: int = 1


@kernel(inline=True)
def share(blocks, thread):
    """The first of a ``thread``'s own ``blocks``, and the one after its last."""
    return part_of(blocks.number, blocks.threads, thread)


def one_by_one(x):
    """x itself; a single float64 becomes unknown to the compiler, so that its loop stays scalar."""
    return x


@overload(one_by_one, inline="never")
def _one_by_one(x):
    if x == types.float64:
        return lambda x: opaque(x)
    return lambda x: x


@dataclass(frozen=True)
class BlockedProblem(Presets):
    """Fields that every routine on columns has. ``ValueError`` if a field is outside its range."""

    columns: whole(1, 2**31) = 2048  # grid points of one level
    levels: int = 20  # model levels
    nproma: whole(1, 2**20, "columns") = 32  # columns of one block
    build: one_of(*WIDTHS) = "vector"  # "vector" (eight columns an instruction) or "scalar" (one)

    FEWEST_LEVELS = 1
    PRESETS: ClassVar = {
        "quick": {"columns": 2048, "levels": 20, "nproma": 32},
        "paper": {"columns": 213_988, "levels": 62, "nproma": 32},  # T399 L62, grid N200
        "share": {"columns": 2229, "levels": 62, "nproma": 32},  # the same on one of 96 processors
        "modern": {"columns": 65_536, "levels": 137, "nproma": 64},
    }

    def __post_init__(self):
        require_range("levels", self.levels, self.FEWEST_LEVELS, 10_000)

    @property
    def blocks(self) -> int:
        """Number of blocks; the last may be filled in part."""
        return ceil_div(self.columns, self.nproma)

    @property
    def row(self) -> int:
        """Places of one row in memory."""
        return ceil_div(self.nproma, LANES) * LANES

    @property
    def count(self) -> int:
        """Places of a row that are computed: all in vectors, NPROMA one by one."""
        return self.row if self.build == "vector" else self.nproma

    def field_bytes(self, levels: int | None = None) -> int:
        """Bytes of one blocked field."""
        return 8 * self.blocks * (self.levels if levels is None else levels) * self.row


def block(problem: BlockedProblem, values: np.ndarray) -> np.ndarray:
    """``values`` (levels, columns) as a blocked field (blocks, levels, row)."""
    levels = values.shape[0]
    wanted = np.minimum(
        np.arange(problem.blocks)[:, None] * problem.nproma + np.minimum(np.arange(problem.row), problem.nproma - 1),
        problem.columns - 1,
    )
    field = zeros((problem.blocks, levels, problem.row))
    for level in range(levels):
        field[:, level, :] = values[level][wanted]
    return field


def unblock(problem: BlockedProblem, field: np.ndarray) -> np.ndarray:
    """A blocked field as (levels, columns)."""
    levels = field.shape[1]
    return field[:, :, : problem.nproma].transpose(1, 0, 2).reshape(levels, -1)[:, : problem.columns]


def over_blocks(problem: BlockedProblem, work, threads: int, repeats: int, *arguments) -> int:
    """``work(*arguments, blocks, thread)``, compiled, ``repeats`` times by each thread; how many threads these were.

    ``ValueError``: more threads than usable CPUs.
    """
    threads = worthwhile(require_threads(threads), problem.blocks * problem.levels * problem.row, FEWEST_POINTS)
    blocks = Blocks(problem.blocks, problem.levels, problem.row, problem.count, threads)
    for _ in range(repeats):
        run_parts(work, threads, *arguments, blocks)
    return threads


def random_columns(problem: BlockedProblem, seed: int) -> dict[str, np.ndarray]:
    """Moist columns, each array (levels, columns): ``p`` [Pa], ``dp`` [Pa], ``t`` [K], ``rh`` [1].

    Pressure in even layers from 50 hPa down to about 1000 hPa, temperature along 6.5 K/km up to a
    tropopause at 210 K, relative humidity around 0.7 with patches above saturation.
    """
    rng = np.random.default_rng(seed)
    surface = 1.0e5 + 2.0e3 * rng.standard_normal(problem.columns)
    top = 5.0e3
    sigma = (np.arange(problem.levels) + 0.5)[:, None] / problem.levels
    dp = np.broadcast_to((surface - top) / problem.levels, (problem.levels, problem.columns))
    p = top + sigma * (surface - top)
    warm = 265.0 + 35.0 * rng.random(problem.columns)
    t = np.maximum(210.0, warm * (p / surface) ** 0.19)
    rh = 0.7 + 0.25 * rng.standard_normal((problem.levels, problem.columns))
    return {"p": p, "dp": np.ascontiguousarray(dp), "t": t, "rh": np.clip(rh, 0.05, 1.3)}
