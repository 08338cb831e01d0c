"""Semi-Lagrangian interpolation: weights, linear and quasi-monotone cubic values at departure points.

========== ============================================================ ==========================
scheme      work                                                         profile's name
========== ============================================================ ==========================
weights     grid box, distances and cubic weights of departure points    LASCAW
linear      values from the 8 corners of the box                         LAITLI
cubic       values from 32 points, held within the 8 corners' range      LAITQM
========== ============================================================ ==========================

IFS calls the three routines one after the other on a block, while the sixteen numbers a point that LASCAW
writes are still in cache, and interpolates several fields with them.  Here each is measured apart, and
on more columns than the cache holds the numbers come from memory.  The preset ``"share"`` holds one processor's
columns.

The grid is a doubly periodic plane of nx × ny columns with ``levels`` levels, lengths counted in grid
intervals; a margin of copied points spares the loops all wrapping, as IFS's halo does.  A departure point lies a
smooth displacement of at most ``courant`` intervals upstream of its column.

*Cubic.*  Lagrange's weights at the nodes −1, 0, 1, 2 for the distance s ∈ [0, 1):

    w = (−s(s−1)(s−2)/6, (s+1)(s−1)(s−2)/2, −(s+1)s(s−2)/2, (s+1)s(s−1)/6)

On the two levels next to the point, four in longitude on the two near rows and two on the outer rows,
then four in latitude; on the outer levels the four nearest points; then four in the vertical: 12 + 12
+ 4 + 4 points (Ritchie et al., Mon. Wea. Rev. 123, 1995).  In the top and the bottom layer the
vertical weights are linear.  The result is held between the least and the largest of the eight corners
(Bermejo and Staniforth, Mon. Wea. Rev. 120, 1992).
"""

from dataclasses import dataclass, field, replace
from math import ceil, floor
from typing import ClassVar

import numpy as np

from supercomputers_rerun.kernels.contract import Check, Footprint, Work, one_of, real, whole, worst
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.routines import stencil
from supercomputers_rerun.kernels.routines.blocking import WIDTHS, BlockedProblem, block, over_blocks, unblock
from supercomputers_rerun.kernels.runtime.arrays import zeros
from supercomputers_rerun.kernels.runtime.jit import STRICT, kernel
from supercomputers_rerun.kernels.runtime.resources import require_memory

__all__ = ["NO_OUTPUT", "PROOF", "Problem", "State", "footprint", "plain", "reference", "run", "setup", "verify"]
__all__ += ["work"]

#: Scheme -> what it writes.
WRITES = {"weights": "stencil", "linear": "values", "cubic": "values"}

# Operations of one point, comparisons not counted; tests/kernels/routines/test_counts.py counts them.
_FLOPS = {"weights": 48, "linear": 21, "cubic": 79}
_STENCIL = 16  # position, distances in x, y, z, and four weights each
_READ = {"weights": 3, "linear": 4, "cubic": _STENCIL - 1}
_GATHERED = {"weights": 0, "linear": 8, "cubic": 32}


@dataclass(frozen=True, kw_only=True)
class Problem(BlockedProblem):
    """A plane of nx × ny columns and how far upstream points lie. ``ValueError`` if a field is outside its range."""

    columns: int = field(init=False, default=0)  # nx·ny
    nx: whole(4, 20_000) = 64
    ny: whole(4, 20_000) = 32
    scheme: one_of(*WRITES) = "cubic"  # "weights", "linear" or "cubic"
    courant: real(0.0, 100.0, "grid intervals") = 4.0  # largest displacement, grid intervals

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
        """Copied points on each side: the displacement and the stencil's reach."""
        return ceil(self.courant) + 2

    @property
    def strides(self) -> tuple[int, int]:
        """Doubles from one row, and from one level, of a field with margin to the next."""
        along = self.nx + 2 * self.margin
        return along, along * (self.ny + 2 * self.margin)


@dataclass(frozen=True)
class State:
    """A field, where it is interpolated, and what is written."""

    field: np.ndarray  # (levels + 2, ny + 2 margin, nx + 2 margin), the outermost levels twice
    departure: np.ndarray  # (blocks, levels, 3·row): x, y, z
    stencil: np.ndarray  # (blocks, levels, 16·row): position, distances, weights
    values: np.ndarray  # (blocks, levels, row)
    threads: int = 1


@kernel(inline=True)
def _lagrange(s):
    """Cubic weights at −1, 0, 1, 2 for the distance ``s``."""
    return (
        -s * (s - 1.0) * (s - 2.0) / 6.0,
        (s + 1.0) * (s - 1.0) * (s - 2.0) / 2.0,
        -(s + 1.0) * s * (s - 2.0) / 2.0,
        (s + 1.0) * s * (s - 1.0) / 6.0,
    )


@kernel(fastmath=STRICT)
def plain(field, x, y, z, cubic):
    """The value of ``field``, float64 (levels, ny, nx), at one point, linear or quasi-cubic; the plane is periodic."""
    column, row, layer = floor(x), floor(y), min(max(floor(z), 0), field.shape[0] - 2)
    dx, dy, dz = x - column, y - row, z - layer
    linear = [(0.0, 1.0 - s, s, 0.0) for s in (dx, dy, dz)]
    inner = cubic and 0 < layer < field.shape[0] - 2
    weights = _lagrange(dz) if inner else linear[2]
    value, least, most = 0.0, np.inf, -np.inf
    for k in range(-1, 3):
        near = cubic and 0 <= k <= 1
        wy = _lagrange(dy) if near else linear[1]
        for j in range(-1, 3):
            wx = _lagrange(dx) if near and 0 <= j <= 1 else linear[0]
            for i in range(-1, 3):
                level = min(max(layer + k, 0), field.shape[0] - 1)
                node = field[level, (row + j) % field.shape[1], (column + i) % field.shape[2]]
                value += weights[k + 1] * wy[j + 1] * wx[i + 1] * node
                if 0 <= i <= 1 and 0 <= j <= 1 and 0 <= k <= 1:
                    least, most = min(least, node), max(most, node)
    return min(max(value, least), most)


@kernel(fastmath=STRICT)
def _plain_values(field, points, cubic, out):
    """:func:`plain` at all ``points``, float64 (3, levels, columns), into ``out`` (levels, columns)."""
    for level, column in np.ndindex(out.shape):
        x, y, z = points[0, level, column], points[1, level, column], points[2, level, column]
        out[level, column] = plain(field, x, y, z, cubic)


def with_margin(problem: Problem, values: np.ndarray) -> np.ndarray:
    """A field (levels, ny, nx) with its margin: periodic in x and y, the outer levels repeated."""
    m = problem.margin
    wide = zeros((problem.levels + 2, problem.ny + 2 * m, problem.nx + 2 * m))
    y, x = np.arange(-m, problem.ny + m) % problem.ny, np.arange(-m, problem.nx + m) % problem.nx
    for level in range(problem.levels + 2):
        source = values[min(max(level - 1, 0), problem.levels - 1)]
        wide[level] = source[y[:, None], x]
    return wide


def _blocked(problem: Problem, quantities) -> np.ndarray:
    """Quantities (levels, columns) side by side, (blocks, levels, quantities · row), from a cache line on."""
    parts = np.concatenate([block(problem, values) for values in quantities], axis=2)
    out = zeros(parts.shape)
    out[:] = parts
    return out


def quantities(problem: Problem, field: np.ndarray) -> np.ndarray:
    """A blocked array of several quantities as (quantities, levels, columns)."""
    parts = np.split(field, field.shape[2] // problem.row, axis=2)
    return np.array([unblock(problem, part) for part in parts])


def _smooth(problem: Problem, phase, x, y, z):
    """A smooth function of the position, periodic in x and y, with three phases."""
    kx, ky, kz = 2.0 * np.pi / problem.nx, 2.0 * np.pi / problem.ny, np.pi / problem.levels
    return np.sin(kx * x + phase[0]) * np.cos(ky * y + phase[1]) * np.cos(kz * z + phase[2])


def _departure(problem: Problem, phase) -> np.ndarray:
    """Points (3, levels, columns), up to ``courant`` grid intervals from the columns, within the levels."""
    columns, z = np.arange(problem.columns), np.arange(float(problem.levels))[:, None]
    x, y = columns % problem.nx, columns // problem.nx
    largest = problem.courant * np.array([1.0, 1.0, min(1.0, problem.levels / 40.0)])
    u, v, w = (size * _smooth(problem, each, x, y, z) for size, each in zip(largest, phase, strict=True))
    return np.array([x - u, y - v, np.clip(z - w, 0.0, problem.levels - 1.0)])


def footprint(problem: Problem) -> Footprint:
    """The field with its margin, the blocked quantities, and copies while they are made."""
    return Footprint(24 * (problem.levels + 2) * problem.strides[1] + (2 * _STENCIL + 9) * problem.field_bytes())


def setup(problem: Problem, seed: int = 0) -> State:
    """A smooth displacement and field of random phase; for ``linear`` and ``cubic`` the weights are made as well."""
    require_memory(footprint(problem).memory, "semi-Lagrangian interpolation")
    phase = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, (4, 3))
    z, y, x = np.ogrid[: problem.levels, : problem.ny, : problem.nx]
    field, shape = with_margin(problem, _smooth(problem, phase[3], x, y, z)), (problem.blocks, problem.levels)
    departure = _blocked(problem, _departure(problem, phase[:3]))
    state = State(field, departure, zeros((*shape, _STENCIL * problem.row)), zeros((*shape, problem.row)))
    if problem.scheme != "weights":
        run(replace(problem, scheme="weights"), state)
    return state


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> State:
    """The scheme on every point; the answer is in ``stencil`` or ``values``.

    The gathers check no bounds: ``stencil`` must come from the scheme ``weights``, on departure points within
    ``courant`` of the grid.  ``ValueError`` if there are more threads than usable CPUs.
    """
    along, up = problem.strides
    mesh = stencil.Mesh(up + problem.margin * (along + 1), along, up)
    arrays = (state.field, state.departure, state.stencil, state.values)
    field, departure, weights, values = (array.reshape(-1) for array in arrays)
    width = WIDTHS[problem.build]
    if problem.scheme == "weights":
        scheme, arguments = stencil.weights, (departure, weights, mesh, float(problem.levels - 1), width)
    else:
        scheme = stencil.linear if problem.scheme == "linear" else stencil.cubic
        arguments = field, weights, values, mesh, width
    return replace(state, threads=over_blocks(problem, scheme, threads, repeats, *arguments))


def _answer(problem: Problem, state: State) -> np.ndarray:
    """What the scheme should write, (quantities, levels, columns): 16 of the stencil, or the values."""
    points, m = quantities(problem, state.departure), problem.margin
    if problem.scheme == "weights":
        floors = np.floor(points)
        floors[2] = np.clip(floors[2], 0, problem.levels - 2)
        s, (along, up) = points - floors, problem.strides
        wx, wy, wz = map(_lagrange.py_func, s)
        inside = (floors[2] > 0) & (floors[2] < problem.levels - 2)
        wz = [np.where(inside, *each) for each in zip(wz, (0.0, 1.0 - s[2], s[2], 0.0), strict=True)]
        return np.array([floors[2] * up + floors[1] * along + floors[0], *s, *wx, *wy, *wz])
    out = np.empty((1, *points.shape[1:]))
    inner = np.ascontiguousarray(state.field[1:-1, m : m + problem.ny, m : m + problem.nx])
    _plain_values(inner, points, problem.scheme == "cubic", out[0])
    return out


def reference(problem: Problem, state: State) -> State:
    """The scheme by NumPy, or point by point (:func:`plain`), in ``stencil`` or ``values``."""
    return replace(state, **{WRITES[problem.scheme]: _blocked(problem, _answer(problem, state))})


def verify(problem: Problem, result: State) -> list[Check]:
    """Every number against the :func:`reference`, and values within the field's range."""
    written, expected = quantities(problem, getattr(result, WRITES[problem.scheme])), _answer(problem, result)
    check = Check.near("largest difference from the plain scheme", worst(written - expected), 0.0, 1e-12)
    if problem.scheme == "weights":
        return [check]
    beyond = worst(np.maximum(0.0, [written.max() - result.field.max(), result.field.min() - written.min()]))
    return [check, Check.near("overshoot of the field's range", beyond, 0.0, 1e-15)]


def NO_OUTPUT(problem: Problem) -> dict[str, str]:
    """All but what the scheme writes."""
    given = dict.fromkeys(("field", "departure"), "what is interpolated, and where")
    others = {name: "where another scheme writes: this one reads it or leaves it" for name in WRITES.values()}
    return given | {name: why for name, why in others.items() if name != WRITES[problem.scheme]}


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations and bytes of one repeat, which threads share.

    A gathered value counts eight bytes wherever it comes from.
    """
    points, scheme = problem.columns * problem.levels, problem.scheme
    written = _STENCIL if scheme == "weights" else 1
    return Work(points * _FLOPS[scheme], 8 * points * (_READ[scheme] + _GATHERED[scheme]), 8 * points * written)


PROOF = Proof(
    {"nx": 32, "ny": 19, "levels": 7, "nproma": 24},
    each={"build": tuple(WIDTHS), "scheme": tuple(WRITES)},
    within={"stencil": 1e-14, "values": 1e-14},
    not_compared=("threads",),
)
