"""Load latency by pointer chase: each load's address is the value of the load before it.

Two chases over a working set of 4-byte items:

``random``
    One random cycle through every block of ``spacing`` bytes (a cache line by default), drawn
    uniformly from all single cycles, as Sattolo's algorithm does.  Within its block each node sits
    at a random item, so that nodes of wide blocks spread over all sets of a cache.
``stride``
    Item to item in steps of ``spacing``, wrapping around at the end.  Hague, *Performance of P5+ at
    ECMWF* (2006), prints "stride = 1024" for items of 4 bytes, without a unit; we take it for items,
    steps of 4096 bytes.  The plot did not survive.  Addresses of such a walk are regular, and of
    each 4096 bytes it loads one line, so that it is shown beside the random chase.

The position is kept in the state: the next run goes on where the last one stopped, else short runs
over a large set could find their first lines in the cache.  What a run returns is how far along the
cycle it came, which is the same each time.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from supercomputers_rerun.kernels.contract import (
    Check,
    Footprint,
    Presets,
    Work,
    one_of,
    require_choice,
    require_range,
    whole,
)
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.runtime.arrays import LINE, POLICIES, allocate, huge_fraction
from supercomputers_rerun.kernels.runtime.jit import barrier, kernel
from supercomputers_rerun.kernels.runtime.resources import require_memory, run_team, team_cpus

ITEM = 4  # bytes of an item
PATTERNS = ("random", "stride")


@dataclass(frozen=True)
class Problem(Presets):
    """Which chase is run: presets ``quick`` (1 MiB), ``paper`` (64 MiB), ``modern`` (512 MiB), and ``stride1024``, in
    steps of 4096 bytes. ``ValueError`` if a field is outside its range, or the spacing exceeds the working set."""

    nbytes: whole(2**12, ITEM * 2**32, "bytes") = 2**20  # working set, bytes; items have indices of 32 bits
    pattern: one_of(*PATTERNS) = "random"  # "random" or "stride"
    spacing: int = LINE  # bytes from node to node (4096: a stride of 1024 items)
    loads: whole(1, 2**40) = 2**16  # dependent loads of one repeat and thread
    pages: one_of(*POLICIES) = "default"  # "default", "small" (4 KiB) or "huge" (2 MiB)
    binding: bool = False  # bind each thread to a CPU of its own

    PRESETS: ClassVar = {
        "quick": {"nbytes": 2**20, "loads": 2**16},
        "paper": {"nbytes": 2**26, "loads": 2**20},
        "modern": {"nbytes": 2**29, "loads": 2**20},
        "stride1024": {"nbytes": 2**26, "pattern": "stride", "spacing": 4096, "loads": 2**20},
    }

    def __post_init__(self):
        require_range("spacing", self.spacing, ITEM, self.nbytes, "bytes")
        if self.spacing % ITEM:
            raise ValueError(f"spacing = {self.spacing} bytes is not a multiple of an item's {ITEM} bytes")

    @property
    def nodes(self) -> int:
        """Nodes of the cycle."""
        return self.nbytes // self.spacing


#: Working sets of the sweeps, bytes.
GRIDS = {
    "quick": [2**p for p in range(12, 25)],
    "paper": [2**p * f // 2 for p in range(12, 29) for f in (2, 3)] + [2**29],
    "modern": [2**p * f // 4 for p in range(12, 31) for f in (4, 5, 6, 7)] + [2**31],
}


def grid(preset: str, **changes) -> list[Problem]:
    """The sweep over working sets, those smaller than the spacing left out; ``ValueError`` for an unknown preset."""
    require_choice("preset", preset, GRIDS)
    return [Problem(nbytes=n, **changes) for n in GRIDS[preset] if n >= changes.get("spacing", LINE)]


@kernel
def link(next_item, places):
    """Close the cycle: next_item[places[k]] = places[k + 1], the last leads to the first."""
    n = places.size
    for k in range(n - 1):
        next_item[places[k]] = places[k + 1]
    next_item[places[n - 1]] = places[0]


@kernel
def chase(next_item, position, loads):
    """Item reached from ``position`` after ``loads`` dependent loads through ``next_item`` (whole numbers)."""
    p = np.uint64(position)
    for _ in range(loads):
        p = np.uint64(next_item[p])
    barrier(next_item)
    return p


plain = chase  # it is as simple as it can be


@dataclass
class State:
    """The cycle and where each thread stands on it."""

    next_item: np.ndarray  # (items,) uint32: index of the following item, at the nodes
    order: np.ndarray  # (nodes,) uint32: items in the order of the chase
    rank: np.ndarray  # (nodes,) uint32: place in the order, by block of ``spacing`` bytes
    positions: list[int]  # item at which each thread continues
    huge: float | None  # share of next_item on huge pages, None where unknown


@dataclass(frozen=True)
class Result:
    """How far the threads came."""

    advance: np.ndarray  # (threads,) int64: nodes moved along the cycle, modulo its length
    items: np.ndarray  # (threads,) int64: item that each thread reached
    named: np.ndarray  # (threads,) int64: item that the order of the chase has in that place
    loads: int  # loads made by each thread
    huge: float | None  # share of the array on huge pages, None where unknown


def footprint(problem: Problem) -> Footprint:
    """The array of the cycle, and order, rank and the random numbers they are drawn from."""
    return Footprint(problem.nbytes + 24 * problem.nodes)


def setup(problem: Problem, seed: int = 0) -> State:
    """The cycle, every page touched."""
    require_memory(footprint(problem).memory, f"latency: a working set of nbytes = {problem.nbytes}")
    nodes = problem.nodes
    step = problem.spacing // ITEM
    if problem.pattern == "random":
        generator = np.random.default_rng(seed)
        blocks = generator.permutation(nodes).astype(np.uint32)
        within = generator.integers(0, step, size=nodes, dtype=np.uint32)
    else:
        blocks = np.arange(nodes, dtype=np.uint32)
        within = np.uint32(0)
    order = blocks * np.uint32(step) + within
    rank = np.empty(nodes, np.uint32)
    rank[blocks] = np.arange(nodes, dtype=np.uint32)
    next_item = allocate(problem.nbytes // ITEM, np.uint32, problem.pages)
    next_item[:] = 0
    link(next_item, order)
    return State(next_item, order, rank, [int(order[0])], huge_fraction(next_item))


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """``repeats`` times ``loads`` dependent loads; each thread on the same cycle, from its own place."""
    cpus = team_cpus(threads, problem.binding)
    while len(state.positions) < threads:  # spread over the cycle, wherever the others stand now
        state.positions.append(int(state.order[len(state.positions) * problem.nodes // threads]))
    before = state.positions[:threads]
    loads = repeats * problem.loads

    def work(number: int) -> int:
        return int(chase(state.next_item, before[number], loads))

    after = run_team(work, threads, cpus)
    state.positions[:threads] = after
    # number by number: NumPy's calls for a few would take as long as hundreds of loads
    first = [int(state.rank[item * ITEM // problem.spacing]) for item in before]
    last = [int(state.rank[item * ITEM // problem.spacing]) for item in after]
    advance = [(there - here) % problem.nodes for here, there in zip(first, last, strict=True)]
    named = [int(state.order[(here + loads) % problem.nodes]) for here in first]
    return Result(np.array(advance), np.array(after), np.array(named), loads, state.huge)


def reference(problem: Problem, state: State) -> Result:
    """Where the first thread gets in one repeat from its place, read from the order and not chased."""
    place = int(state.rank[state.positions[0] * ITEM // problem.spacing])
    moved = problem.loads % problem.nodes
    item = int(state.order[(place + moved) % problem.nodes])
    return Result(np.array([moved]), np.array([item]), np.array([item]), problem.loads, state.huge)


def verify(problem: Problem, result: Result) -> list[Check]:
    """Every thread moved exactly as many nodes along the cycle as it made loads, to the item that is there."""
    expected = result.loads % problem.nodes
    checks = [
        Check.near(f"nodes moved by thread {n}", int(moved), expected, 0) for n, moved in enumerate(result.advance)
    ]
    return [*checks, Check.near("threads at another item", np.count_nonzero(result.items != result.named), 0, 0)]


def work(problem: Problem, threads: int = 1) -> Work:
    """One repeat of every thread's chase: the bytes asked for, 4 a load."""
    return Work(bytes_read=ITEM * problem.loads).times(threads)


def _goes_on(problem: Problem, state: State, result: Result) -> list[Check]:
    """Threads begin apart, and the next run goes on where the last one stopped."""
    again = run(problem, state, len(result.items))
    places = (state.rank[result.items * ITEM // problem.spacing].astype(int) + again.loads) % problem.nodes
    on = set(again.items.tolist()) & set(state.order[places].tolist())
    return [Check.near("threads that went on, each from a place of its own", len(on), len(result.items), 0)]


PROOF = Proof(
    {"nbytes": 2**14, "loads": 1000}, each={"pattern": ("random", "stride")}, not_compared=("huge",), also=_goes_on
)
