"""Semi-Lagrangian interpolation: departure points, weights, linear and quasi-monotone cubic values.

========== ============================================================ ==========================
scheme      work                                                         profile's name
========== ============================================================ ==========================
trajectory  departure points from the wind                               –
weights     grid box, distances and cubic weights of departure points    LASCAW
linear      values from the 8 corners of the box                         LAITLI
cubic       values from 32 points, held within the 8 corners' range      LAITQM
========== ============================================================ ==========================

IFS calls the three routines one after the other on a block, while the sixteen numbers a point that LASCAW
writes are still in cache, and interpolates several fields with them.  Here LASCAW is measured apart, and
on more columns than the cache holds its numbers come from memory, for the first of ``fields`` fields of a
block; the others find them in cache.  The preset ``"share"`` holds one processor's columns.

The grid is a doubly periodic plane of nx × ny columns with ``levels`` levels, lengths counted in grid
intervals; a margin of copied points spares the loops all wrapping, as IFS's halo does.

*Trajectory.*  The displacement solves d = Δt V(x − d/2) by iteration, V by linear interpolation
(Robert, Atmosphere-Ocean 19, 1981).

*Cubic.*  Lagrange's weights at the nodes −1, 0, 1, 2 for the distance s ∈ [0, 1):

    w = (−s(s−1)(s−2)/6, (s+1)(s−1)(s−2)/2, −(s+1)s(s−2)/2, (s+1)s(s−1)/6)

On the two levels next to the point, four in longitude on the two near rows and two on the outer rows,
then four in latitude; on the outer levels the four nearest points; then four in the vertical: 12 + 12
+ 4 + 4 points (Ritchie et al., Mon. Wea. Rev. 123, 1995).  In the top and the bottom layer the
vertical weights are linear.  The result is held between the least and the largest of the eight corners
(Bermejo and Staniforth, Mon. Wea. Rev. 120, 1992).
"""

from dataclasses import dataclass, field, replace
from math import ceil
from typing import ClassVar

import numpy as np

from kernels.contract import Check, Footprint, Work, extremes, one_of, real, whole, worst
from kernels.proof import Proof
from kernels.routines import stencil
from kernels.routines.blocking import BlockedProblem, block, over_blocks, unblock
from kernels.routines.plain_interpolation import lagrange, nodes, quasi_cubic, trilinear, vertical_weights
from kernels.routines.smooth import farthest
from kernels.routines.width import WIDTHS
from kernels.runtime.pages import zeros
from kernels.runtime.resources import require_memory

#: Scheme: the profile's name for this work.
ROUTINES = {"trajectory": None, "weights": "LASCAW", "linear": "LAITLI", "cubic": "LAITQM"}

# Operations of one point, comparisons not counted; tests/kernels/routines/test_counts.py counts them.
_FLOPS = {"weights": 48, "linear": 21, "cubic": 79}
_FLOPS_ITERATION = 76
_BOX = 4  # position, and the distances in x, y, z
_STENCIL = 16  # the box, and four weights each in x, y, z
_READ = {"weights": 3, "linear": _BOX, "cubic": _STENCIL - 1}
_GATHERED = {"weights": 0, "linear": 8, "cubic": 32}
_WRITTEN = {"trajectory": 3, "weights": _STENCIL, "linear": 1, "cubic": 1}


@dataclass(frozen=True, kw_only=True)
class Problem(BlockedProblem):
    """A plane of nx × ny columns and how far the wind carries. ``ValueError`` if a field is outside its range."""

    columns: int = field(init=False, default=0)  # nx·ny
    nx: whole(4, 20_000) = 64
    ny: whole(4, 20_000) = 32
    fields: whole(1, 1000) = 1  # interpolated with the same weights, a block at a time
    scheme: one_of(*ROUTINES) = "cubic"  # "trajectory", "weights", "linear" or "cubic"
    courant: real(0.0, 100.0, "grid intervals") = 4.0  # largest displacement of the random wind, grid intervals
    iterations: whole(1, 100) = 3  # of the trajectory
    monotone: bool = True  # hold cubic values within the corners' range

    PRESETS: ClassVar = {
        "quick": {"nx": 64, "ny": 32, "levels": 20, "nproma": 32},
        "paper": {"nx": 652, "ny": 326, "levels": 62, "nproma": 32},  # about the points of T399 L62
        "share": {"nx": 64, "ny": 35, "levels": 62, "nproma": 32},  # the same on one of 96 processors
        "modern": {"nx": 256, "ny": 256, "levels": 137, "nproma": 64},
    }
    FEWEST_LEVELS = 4

    def __post_init__(self):
        object.__setattr__(self, "columns", self.nx * self.ny)
        super().__post_init__()

    @property
    def margin(self) -> int:
        """Copied points on each side: the way of the wind and the stencil's reach."""
        return ceil(self.courant) + 2

    @property
    def strides(self) -> tuple[int, int]:
        """Doubles from one row, and from one level, of a field with margin to the next."""
        along = self.nx + 2 * self.margin
        return along, along * (self.ny + 2 * self.margin)


@dataclass(frozen=True)
class State:
    """Fields with margin are (levels + 2, ny + 2 margin, nx + 2 margin), the outermost levels twice."""

    wind: np.ndarray  # (3, …): displacement in a time step in x, y, z, with margin
    field: np.ndarray  # (fields, …), with margin
    phase: np.ndarray  # (fields, 3): of the smooth functions that the fields hold
    arrival: np.ndarray  # (blocks, 1, 2·row): x and y of the columns
    departure: np.ndarray  # (blocks, levels, 3·row): x, y, z
    stencil: np.ndarray  # (blocks, levels, 16·row): position, distances, weights
    values: np.ndarray  # (blocks, levels, fields · row)


def with_margin(problem: Problem, values: np.ndarray) -> np.ndarray:
    """A field (levels, ny, nx) with its margin: periodic in x and y, the outer levels repeated."""
    m = problem.margin
    wide = zeros((problem.levels + 2, problem.ny + 2 * m, problem.nx + 2 * m))
    y, x = np.arange(-m, problem.ny + m) % problem.ny, np.arange(-m, problem.nx + m) % problem.nx
    for level in range(problem.levels + 2):
        source = values[min(max(level - 1, 0), problem.levels - 1)]
        wide[level] = source[y[:, None], x]
    return wide


def _blocked(problem: Problem, quantities: list[np.ndarray]) -> np.ndarray:
    """Quantities (levels, columns) side by side: (blocks, levels, quantities · row)."""
    return np.concatenate([block(problem, values) for values in quantities], axis=2)


def _smooth(problem: Problem, phase, x, y, z):
    """A smooth function of the position, periodic in x and y."""
    kx, ky, kz = _wavenumbers(problem)
    return np.sin(kx * x + phase[0]) * np.cos(ky * y + phase[1]) * np.cos(kz * z + phase[2])


def _wavenumbers(problem: Problem) -> tuple[float, float, float]:
    return 2.0 * np.pi / problem.nx, 2.0 * np.pi / problem.ny, np.pi / problem.levels


def footprint(problem: Problem) -> Footprint:
    """Wind and fields with their margin, the blocked quantities, and copies while they are made."""
    wide = 8 * (problem.levels + 2) * problem.strides[1]
    blocked = (2 * _STENCIL + 7 + 2 * problem.fields) * problem.field_bytes()
    return Footprint((4 + problem.fields) * wide + blocked)


def setup(problem: Problem, seed: int = 0) -> State:
    """Smooth wind and field of random phase; for ``linear`` and ``cubic`` the weights are made as well."""
    require_memory(footprint(problem).memory, "semi-Lagrangian interpolation")
    rng = np.random.default_rng(seed)
    phase = rng.uniform(0.0, 2.0 * np.pi, (3 + problem.fields, 3))
    z, y, x = np.ogrid[: problem.levels, : problem.ny, : problem.nx]
    wind = zeros((3, problem.levels + 2, problem.ny + 2 * problem.margin, problem.nx + 2 * problem.margin))
    for component, scale in enumerate((1.0, 1.0, min(1.0, problem.levels / 40.0))):
        wind[component] = with_margin(problem, problem.courant * scale * _smooth(problem, phase[component], x, y, z))
    columns = np.arange(problem.columns)
    arrival = _align(_blocked(problem, [(columns % problem.nx)[None], (columns // problem.nx)[None]]))
    fields = zeros((problem.fields, *wind.shape[1:]))
    for place, each in zip(fields, phase[3:], strict=True):
        place[:] = with_margin(problem, _smooth(problem, each, x, y, z))
    shape = (problem.blocks, problem.levels)
    state = State(
        wind,
        fields,
        phase[3:],
        arrival,
        zeros((*shape, 3 * problem.row)),
        zeros((*shape, _STENCIL * problem.row)),
        zeros((*shape, problem.fields * problem.row)),
    )
    if problem.scheme != "trajectory":
        _work(problem, state, "trajectory")(problem.part(0, problem.blocks))
    if problem.scheme in ("linear", "cubic"):
        _work(problem, state, "weights")(problem.part(0, problem.blocks))
    return state


def _align(values: np.ndarray) -> np.ndarray:
    """A copy that begins a cache line."""
    copy = zeros(values.shape)
    copy[:] = values
    return copy


def _work(problem: Problem, state: State, scheme: str):
    """``work(part)`` of one scheme on the state's arrays."""
    along, up = problem.strides
    start = up + problem.margin * along + problem.margin
    wind, field, arrival, departure, weights, values = (
        array.reshape(-1)
        for array in (state.wind, state.field, state.arrival, state.departure, state.stencil, state.values)
    )
    top, width = float(problem.levels - 1), WIDTHS[problem.build]
    mesh = stencil.Mesh(start, along, up, (problem.levels + 2) * up)

    def work(part):
        if scheme == "trajectory":
            stencil.trajectory(wind, arrival, departure, mesh, part, problem.iterations, top, width)
        elif scheme == "weights":
            stencil.weights(departure, weights, mesh, part, top, width)
        elif scheme == "linear":
            stencil.linear(field, weights, values, problem.fields, mesh, part, width)
        else:
            stencil.cubic(field, weights, values, problem.fields, mesh, part, problem.monotone, width)

    return work


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> State:
    """The scheme on every point; the answer is in ``departure``, ``stencil`` or ``values``.

    The gathers check no bounds: ``stencil`` must come from the scheme ``weights``, on departure points within
    ``courant`` of the grid. ``ValueError`` if there are more threads than usable CPUs, or a wind carries farther than
    ``courant`` or is no number.
    """
    if problem.scheme == "trajectory":
        farthest = max(state.wind[:2].max(), -state.wind[:2].min())
        if not farthest <= problem.courant:
            raise ValueError(
                f"wind = {farthest:.4g} grid intervals a step is not within courant = {problem.courant}; raise courant"
            )
    over_blocks(problem, _work(problem, state, problem.scheme), threads, repeats)
    return state


def quantities(problem: Problem, field: np.ndarray) -> np.ndarray:
    """A blocked array of several quantities as (quantities, levels, columns)."""
    parts = np.split(field, field.shape[2] // problem.row, axis=2)
    return np.array([unblock(problem, part) for part in parts])


def reference(problem: Problem, state: State) -> State:
    """NumPy's answer in ``departure``, ``stencil`` or ``values``."""
    answer = _blocked(problem, list(plain_answer(problem, state)))
    return replace(state, **{WRITES[problem.scheme]: answer})


def plain_answer(problem: Problem, state: State) -> np.ndarray:
    """NumPy's answer as (quantities, levels, columns): 3 coordinates, 16 of the stencil, or the values."""
    columns = np.arange(problem.columns)
    x, y = columns % problem.nx + 0.0, columns // problem.nx + 0.0
    z = np.arange(problem.levels)[:, None] + 0.0 * x
    x, y, last = x + 0.0 * z, y + 0.0 * z, problem.levels - 1.0
    if problem.scheme == "trajectory":
        d = np.zeros((3, *z.shape))
        for _ in range(problem.iterations):
            middle = x - d[0] / 2, y - d[1] / 2, np.clip(z - d[2] / 2, 0.0, last)
            d = np.array([trilinear(problem, component, *middle) for component in state.wind])
        return np.array([x - d[0], y - d[1], np.clip(z - d[2], 0.0, last)])
    x, y, z = quantities(problem, state.departure)
    fields = state.field.reshape(problem.fields, *state.field.shape[-3:])
    if problem.scheme == "weights":
        _, s, layer = nodes(problem, fields[0], x, y, z)
        along, up = problem.strides
        position = layer * up + np.floor(y) * along + np.floor(x)
        return np.array([position, *s, *lagrange(s[0]), *lagrange(s[1]), *vertical_weights(problem, layer, s[2])])
    interpolate = trilinear if problem.scheme == "linear" else quasi_cubic
    return np.array([interpolate(problem, each, x, y, z) for each in fields])


def verify(problem: Problem, result: State) -> list[Check]:
    """Invariants of each scheme.

    Trajectory: no displacement exceeds the wind's; the iteration's residual is below what its contraction
    rate allows; every point is NumPy's.  Weights: box and distances lead to the departure point; moments 0 … 2 of
    the nodes.  Values: within the field's range, and what a product of waves gives in closed form (``smooth``).
    """
    if problem.scheme == "trajectory":
        return _verify_trajectory(problem, result)
    if problem.scheme == "weights":
        position, *rest = quantities(problem, result.stencil)
        s, places, (along, up) = rest[:3], (-1.0, 0.0, 1.0, 2.0), problem.strides
        x, y, z = quantities(problem, result.departure)
        there = (z - s[2]) * up + (y - s[1]) * along + (x - s[0])
        checks = [
            Check.near(
                "largest distance of the box and its point from the departure point",
                worst(there - position),
                0.0,
                1e-9 * up,
            )
        ]
        for axis, name in enumerate("xyz"):
            w = rest[3 + 4 * axis : 7 + 4 * axis]
            for power in (0, 1) if name == "z" else (0, 1, 2):
                moment = sum(weight * node**power for node, weight in zip(places, w, strict=True))
                off = worst(moment - s[axis] ** power)
                checks.append(Check.near(f"moment {power} of the weights in {name}", off, 0.0, 1e-14))
        return checks
    values, points = quantities(problem, result.values), quantities(problem, result.departure)
    kind = 0 if problem.scheme == "linear" else 2 if problem.monotone else 1
    off = worst(
        *(
            farthest(each, *points, np.array([_wavenumbers(problem), phase]), problem.levels, kind)
            for each, phase in zip(values, result.phase, strict=True)
        )
    )
    checks = [Check.near("largest distance from interpolated waves in closed form", off, 0.0, 1e-12)]
    if kind != 1:
        (low, high), (least, most) = extremes(result.field), extremes(values)
        beyond = worst(np.maximum(0.0, [most - high, low - least]))
        checks.append(Check.near("overshoot of the field's range", beyond, 0.0, 1e-15))
    return checks


def _verify_trajectory(problem: Problem, result: State) -> list[Check]:
    x, y, z = quantities(problem, result.departure)
    columns, level = np.arange(problem.columns), np.arange(problem.levels)[:, None]
    d = np.array([columns % problem.nx - x, columns // problem.nx - y, level - z])
    middle = columns % problem.nx - d[0] / 2, columns // problem.nx - d[1] / 2, level - d[2] / 2
    wind = np.array([trilinear(problem, component, *middle) for component in result.wind])
    inside = (z > 0.0) & (z < problem.levels - 1.0)
    residual = worst((wind - d)[:, inside])
    steepest = (sum(worst(np.diff(component, axis=axis)) for axis in range(3)) for component in result.wind)
    rate, limit, moved = 0.5 * worst(*steepest), worst(result.wind), worst(d)
    off = worst(quantities(problem, result.departure) - plain_answer(problem, result))
    return [
        Check("largest displacement, grid intervals", moved, limit, 1e-12, moved <= limit + 1e-12),
        Check.near(
            "largest residual of the displacement, grid intervals",
            residual,
            0.0,
            rate**problem.iterations * limit + 1e-12,
        ),
        Check.near("largest difference from NumPy's departure points, grid intervals", off, 0.0, 1e-11),
    ]


#: Scheme -> what it writes.
WRITES = {"trajectory": "departure", "weights": "stencil", "linear": "values", "cubic": "values"}


def NO_OUTPUT(problem: Problem) -> dict[str, str]:
    """All but what the scheme writes."""
    given = dict.fromkeys(("wind", "field", "phase", "arrival"), "what is interpolated, and where")
    others = {name: "where another scheme writes: this one reads it or leaves it" for name in WRITES.values()}
    return given | {name: why for name, why in others.items() if name != WRITES[problem.scheme]}


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations and bytes of one repeat, which threads share.

    A gathered value counts eight bytes wherever it comes from.
    """
    points, scheme, fields = problem.columns * problem.levels, problem.scheme, problem.fields
    if scheme == "trajectory":
        fields, flops = 1, 3 + problem.iterations * _FLOPS_ITERATION
        read = 3 * 8 * problem.iterations
    else:
        fields = 1 if scheme == "weights" else fields
        flops, read = _FLOPS[scheme] * fields, _READ[scheme] + _GATHERED[scheme] * fields
    return Work(points * flops, 8 * points * read, 8 * points * _WRITTEN[scheme] * fields)


PROOF = Proof(
    {"nx": 16, "ny": 12, "levels": 7, "nproma": 24, "fields": 2},
    each={"build": tuple(WIDTHS), "scheme": ("trajectory", "weights", "linear", "cubic"), "monotone": (True, False)},
    within={"departure": 1e-14, "stencil": 1e-14, "values": 1e-14},
)
