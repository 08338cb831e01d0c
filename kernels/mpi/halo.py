"""What a semi-Lagrangian scheme fetches from other ranks (C8): a halo of fixed width, or what it needs.

The rows are cut into bands, and the rows of a band each into parts, so that a rank has a patch of the sphere.
Every grid point traces the wind back over a time step and interpolates from the 4 × 4 points around its
departure point.  Points of other ranks come in two parts, as in IFS: part 1 carries what the trajectory
needs, part 2 what is interpolated.  Each part is fetched in one of two ways:

    fixed      all points within ``width`` rows and points of the own piece: known once and for all
    on demand  only the points around departure points; their numbers are sent to the owners first

Values are a function of point and field, so that each can be checked where it arrives.
"""

import math
from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar, NamedTuple

import numpy as np

from supercomputers_rerun.kernels.contract import Check, Footprint, Presets, Work, one_of, real, whole
from supercomputers_rerun.kernels.mpi import world
from supercomputers_rerun.kernels.mpi.mesh import Count, Mesh, cut, shape
from supercomputers_rerun.kernels.mpi.traffic import Planned, Traffic
from supercomputers_rerun.kernels.runtime.resources import require_memory
from supercomputers_rerun.kernels.shallow_water.problem import RADIUS

__all__ = ["WAYS", "Problem", "State", "count_messages", "parts", "plain", "reference", "run", "setup", "verify"]
__all__ += ["work"]

#: Way -> whether part 1 and part 2 are fetched from all points within the width of the halo.
WAYS = {"fixed": (True, True), "part 2 on demand": (True, False), "on demand": (False, False)}


@dataclass(frozen=True)
class Problem(Presets):
    """Grid, wind and time step, and the ranks that share the points."""

    grid: str = "F48"  # Gaussian grid
    dt: real(1.0, 86400.0, "s") = 2700.0  # time step, s
    wind: real(0.0, 300.0, "m/s") = 80.0  # strongest wind, m/s
    width: whole(2, 200) = 18  # of the fixed halo, rows and points
    levels: whole(1, 1000) = 4  # levels of every field, 1
    way: one_of(*WAYS) = "fixed"  # of both parts, see above
    ranks: whole(1, world.LARGEST) = 1  # ranks that take part

    #: Fields of part 1 (three components of the wind) and of part 2 (what is interpolated).
    PARTS: ClassVar = (3, 6)
    PRESETS: ClassVar = {
        "quick": {},
        "paper": {"grid": "N640", "dt": 600.0, "levels": 1},
        "modern": {"grid": "N640", "dt": 600.0, "levels": 10},
    }

    def __post_init__(self):
        self.mesh  # noqa: B018  refuses ranks that cannot share the work

    @property
    def mesh(self) -> Mesh:
        """The pieces of the sphere."""
        return Mesh(self.grid, 10**6, 10**6, *shape(self.ranks))


def owned(mesh: Mesh, rank: int) -> np.ndarray:
    """Sorted numbers of the points of a rank: of every row of its band, the v-th part."""
    w, v = divmod(rank, mesh.V)
    grid, rows = mesh.grid, range(mesh.bands[w], mesh.bands[w + 1])
    return np.concatenate([grid.starts[row] + np.arange(*cut(int(grid.pl[row]), mesh.V)[v : v + 2]) for row in rows])


def owners(mesh: Mesh, points: np.ndarray) -> np.ndarray:
    """Rank of every point."""
    starts, lengths = mesh.grid.starts, mesh.grid.pl
    row = np.searchsorted(starts, points, side="right") - 1
    band = np.searchsorted(mesh.bands, row, side="right") - 1
    # the v-th part ends before ⌊length · (v + 1) / V⌋
    return band * mesh.V + ((points - starts[row] + 1) * mesh.V - 1) // lengths[row]


def departures(problem: Problem, own: np.ndarray) -> np.ndarray:
    """Sorted numbers of the points of others around the departure points of the points ``own``."""
    grid, starts = problem.mesh.grid, problem.mesh.grid.starts
    home = np.searchsorted(starts, own, side="right") - 1
    latitude, longitude = np.radians(grid.latitudes)[home], 2 * np.pi * (own - starts[home]) / grid.pl[home]
    # a zonal jet and a wave across it; back in time over one step
    north = latitude - 0.4 * problem.wind * np.cos(latitude) * np.sin(3 * longitude) * problem.dt / RADIUS
    east = longitude - problem.wind * problem.dt / RADIUS
    rows = np.searchsorted(-np.radians(grid.latitudes), -north) - 1
    found = np.zeros(grid.points, bool)
    for step in range(-1, 3):
        row = np.clip(rows + step, 0, 2 * grid.N - 1)
        length = grid.pl[row]
        column = np.floor(east / (2 * np.pi) * length).astype(np.int64)
        for side in range(-1, 3):
            found[starts[row] + (column + side) % length] = True
    found[own] = False
    return np.flatnonzero(found)


def fixed_halo(mesh: Mesh, own: np.ndarray, width: int) -> np.ndarray:
    """Sorted numbers of the points of others within ``width`` rows and points of the points ``own``."""
    grid, found = mesh.grid, np.zeros(mesh.grid.points, bool)
    every = np.searchsorted(grid.starts, own, side="right") - 1
    rows, first, counts = np.unique(every, return_index=True, return_counts=True)  # a rank has one piece of a row
    west = (own[first] - grid.starts[rows]) / grid.pl[rows]
    east = (own[first] + counts - grid.starts[rows]) / grid.pl[rows]
    for near in np.unique(np.clip(rows + np.arange(-width, width + 1)[:, None], 0, 2 * grid.N - 1)).tolist():
        close, n = abs(rows - near) <= width, int(grid.pl[near])
        a, b = math.floor(west[close].min() * n) - width, math.ceil(east[close].max() * n) + width
        found[grid.starts[near] + np.arange(a, min(b, a + n)) % n] = True
    found[own] = False
    return np.flatnonzero(found)


def _points(problem: Problem, own: np.ndarray) -> list[np.ndarray]:
    """Of each part the points of others that the rank with the points ``own`` fetches."""
    fixed, second = WAYS[problem.way]
    first = fixed_halo(problem.mesh, own, problem.width) if fixed else departures(problem, own)
    return [first, first if second == fixed else departures(problem, own)]


def count_messages(problem: Problem, most: int = 100_000) -> Count:
    """Messages and bytes of both parts of one step, without running it.

    Of more than ``most`` ranks as many are counted and scaled.  Every rank gets the points of each part from
    their owners, and on demand first sends their numbers.
    """
    mesh = problem.mesh
    chosen = np.unique(np.linspace(0, problem.ranks - 1, min(most, problem.ranks)).astype(np.int64))
    messages = nbytes = 0
    for own in (owned(mesh, int(rank)) for rank in chosen):
        for part, points in enumerate(_points(problem, own)):
            asks = not WAYS[problem.way][part]
            messages += np.unique(owners(mesh, points)).size * (1 + asks)
            nbytes += 8 * points.size * (problem.PARTS[part] * problem.levels + asks)
    share = problem.ranks / chosen.size
    return Count(round(messages * share), round(nbytes * share))


class State(NamedTuple):
    """One rank: its points with their values, and the points of others that it wants."""

    problem: Problem
    traffic: Traffic
    own: np.ndarray  # numbers of the own points
    values: tuple[np.ndarray, ...]  # of part 1 and 2: float64 (own points, fields · levels)
    wanted: tuple[np.ndarray, ...]  # of each part, numbers of points by owner
    asked: tuple  # of part 1, once and for all: counts wanted, counts and numbers asked for here
    fetched: list[np.ndarray]  # values of each part after run: float64 (points, fields · levels)
    facts: dict


def point_values(points: np.ndarray, columns: int) -> np.ndarray:
    """The value of every point and field: float64 (points, columns)."""
    return points[:, None] * float(columns) + np.arange(columns)


def ask(state: State, points: np.ndarray):
    """Tell the owners which ``points`` are wanted: counts wanted, and counts and numbers asked for here, by rank."""
    comm = state.traffic.comm
    wanted = np.bincount(owners(state.problem.mesh, points), minlength=comm.size)
    asked = np.empty(comm.size, np.int64)
    comm.Alltoall(wanted, asked)
    numbers = np.empty(int(asked.sum()))
    Planned(state.traffic, comm, wanted, asked)(points.astype(float), numbers)
    return wanted, asked, numbers.astype(np.int64)


def plain(state: State, part: int) -> np.ndarray:
    """A halo exchange on demand: ask the owners for points, and get the values of a part from each of them.

    float64 (points wanted, fields · levels).
    """
    values, points = state.values[part], state.wanted[part]
    wanted, asked, numbers = state.asked if WAYS[state.problem.way][part] else ask(state, points)
    columns = values.shape[1]
    send, into = values[np.searchsorted(state.own, numbers)], np.empty((points.size, columns))
    values_of = Planned(state.traffic, state.traffic.comm, asked * columns, wanted * columns)
    values_of(send.reshape(-1), into.reshape(-1))
    return into


def setup(problem: Problem, seed: int = 0) -> State:
    """Values of the own points; the fixed halo is agreed on once (``seed`` is not used)."""
    require_memory(footprint(problem).memory, f"a semi-Lagrangian halo on {problem.grid}")
    traffic, mesh = Traffic(world.team(problem.ranks)), problem.mesh
    own = owned(mesh, traffic.comm.rank)
    values = tuple(point_values(own, fields * problem.levels) for fields in problem.PARTS)
    wanted = tuple(each[np.argsort(owners(mesh, each), kind="stable")] for each in _points(problem, own))
    state = State(problem, traffic, own, values, wanted, (), [], {})
    return state._replace(asked=ask(state, wanted[0]))


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> State:
    """Both parts of one step, ``repeats`` times."""
    traffic, told = state.traffic, {"part 1": 0.0, "part 2": 0.0, "part 1 bytes": 0, "part 2 bytes": 0}
    traffic.start()
    for _ in range(repeats):
        state.fetched.clear()
        for part in (0, 1):
            begin, before = perf_counter(), traffic.bytes
            state.fetched.append(plain(state, part))
            told[f"part {part + 1}"] += perf_counter() - begin
            told[f"part {part + 1} bytes"] += traffic.bytes - before
    state.facts.update(parts=told, repeats=repeats)
    return state


def reference(problem: Problem, state: State) -> State:
    """The values of both parts without asking anybody."""
    parts = zip(state.wanted, problem.PARTS, strict=True)
    return state._replace(fetched=[point_values(points, fields * problem.levels) for points, fields in parts])


def verify(problem: Problem, result: State) -> list[Check]:
    """Every value is its point's, every point that is needed is there, the messages are those that are counted."""
    comm, true = result.traffic.comm, reference(problem, result)
    needed = departures(problem, result.own)
    wrong = sum(int((found != due).sum()) for found, due in zip(result.fetched, true.fetched, strict=True))
    missing = sum(int(np.setdiff1d(needed, points).size) for points in result.wanted)
    return [
        Check.near("fetched values that are not their point's", world.total(comm, wrong), 0, 0),
        Check.near("points around departure points that were not fetched", world.total(comm, missing), 0, 0),
        *result.traffic.checks(count_messages(problem), result.facts["repeats"]),
    ]


NO_OUTPUT = dict.fromkeys(("own", "values", "wanted", "asked"), "what is asked for, and where it lies")


def parts(result: State) -> dict[str, float]:
    """Seconds (slowest rank) and bytes (all ranks) of each part of one step; all ranks call it."""
    comm, repeats = result.traffic.comm, result.facts["repeats"]
    found = result.traffic.counts(repeats)
    for name, value in result.facts["parts"].items():
        found[name] = (world.total if name.endswith("bytes") else world.largest)(comm, value / repeats)
    return found


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes that all ranks send to others, and receive."""
    sent = count_messages(problem).bytes
    return Work(bytes_read=sent, bytes_written=sent)


def footprint(problem: Problem) -> Footprint:
    """Bytes of values and halos of all ranks, a halo of twice the own points assumed."""
    return Footprint(4 * 8 * problem.levels * sum(problem.PARTS) * problem.mesh.grid.points)
