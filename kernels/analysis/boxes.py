"""Boxes: which data each one takes, and where its grid points are."""

from typing import NamedTuple

import numpy as np

from kernels.analysis import synthetic
from kernels.analysis.problem import BOX, KINDS, LN_P, SLAB
from kernels.gridpoint.levels import RADIUS

#: Kinds that are analysed together, by the name of the pass.
PASSES = {"mass and wind": (0, 1, 2), "humidity": (3,)}
SLABS = LN_P.size // SLAB
POINTS = BOX * BOX * SLAB
#: Rows of a box's record: eight of points, departure over error, number of the datum, whether it lies in the box.
DEPARTURE, NUMBER, HOME, RECORD = 8, 9, 10, 11
_REACH = 2.0  # length scales around a box, and depth scales above and below, from which data are taken


class Box(NamedTuple):
    """Number of a box along latitude, longitude and the vertical."""

    j: int
    i: int
    slab: int


def boxes(problem) -> list[Box]:
    """All boxes, band after band."""
    return [
        Box(j, i, slab) for j in range(problem.nj // BOX) for i in range(problem.ni // BOX) for slab in range(SLABS)
    ]


def number(problem, box: Box) -> int:
    """Record of a box."""
    return (box.j * (problem.ni // BOX) + box.i) * SLABS + box.slab


def _slab(slab: int) -> slice:
    return slice(slab * SLAB, (slab + 1) * SLAB)


def grid(problem, box: Box, humid: bool) -> tuple[np.ndarray, synthetic.Places]:
    """Grid points of a box on its levels, float64 (8, POINTS) in the order [row][point][level], and their places.

    α is that of geopotential, or of humidity, in its own unit; β is zero.
    """
    lat, _south, lon, _east = synthetic.rows(problem)
    rows, columns = slice(box.j * BOX, (box.j + 1) * BOX), slice(box.i * BOX, (box.i + 1) * BOX)
    where = synthetic.places(np.repeat(lat[rows][:, None], BOX, 1), lon[columns])
    where = synthetic.Places(*(np.repeat(each, SLAB, axis=1) for each in where))
    lnp = np.tile(LN_P[_slab(box.slab)], BOX * BOX)
    points = np.zeros((8, POINTS))
    points[:3], points[3] = where.up * (RADIUS / problem.length), lnp / problem.depth
    amplitude = problem.wind * problem.length
    points[4] = synthetic.vapour(lnp) if humid else where.coriolis * amplitude
    return points, where


def data_points(problem, data: synthetic.Data) -> np.ndarray:
    """Data as points (8, n), α and β over the standard error."""
    where = synthetic.places(data.latitude, data.longitude)
    points, kind, per = np.zeros((8, data.kind.size)), data.kind.astype(int), 1.0 / data.error
    points[:3], points[3] = where.up * (RADIUS / problem.length), data.lnp / problem.depth
    amplitude = problem.wind * problem.length
    mass, moist = kind == KINDS.index("phi"), kind == KINDS.index("q")
    points[4] = per * np.where(mass, where.coriolis * amplitude, np.where(moist, synthetic.vapour(data.lnp), 0.0))
    east, north = kind == KINDS.index("u"), kind == KINDS.index("v")
    points[5:] = per * problem.wind * (north * where.east - east * where.north)
    return points


def at_data(problem, data: synthetic.Data, fields: np.ndarray) -> np.ndarray:
    """``fields`` (nj, kinds, 15, ni) where the data are, bilinear between grid points of their level."""
    y = (data.latitude + np.pi / 2) * problem.nj / np.pi - 0.5
    j = np.clip(y.astype(int), 0, problem.nj - 2)
    up = np.clip(y - j, 0.0, 1.0)
    x = data.longitude * problem.ni / (2 * np.pi)
    i, right = x.astype(int) % problem.ni, x - np.floor(x)
    level, kind = np.searchsorted(LN_P, data.lnp - 1e-9), data.kind.astype(int)
    further = (i + 1) % problem.ni

    def row(at):
        return (1 - right) * fields[at, kind, level, i] + right * fields[at, kind, level, further]

    return (1 - up) * row(j) + up * row(j + 1)


class Sorter:
    """Sorts data into boxes."""

    def __init__(self, problem, data: synthetic.Data, departures: np.ndarray, kinds):
        self.problem = problem
        self.chosen = np.flatnonzero(np.isin(data.kind.astype(int), kinds))
        part = synthetic.Data(*(each[self.chosen] for each in data))
        self.points, self.departures = data_points(problem, part), departures[self.chosen] / part.error
        self.up = self.points[:3] * (problem.length / RADIUS)
        self.j = np.clip(((part.latitude / np.pi + 0.5) * problem.nj / BOX).astype(int), 0, problem.nj // BOX - 1)
        self.i = (part.longitude / (2 * np.pi) * problem.ni / BOX).astype(int) % (problem.ni // BOX)
        self.slab, self.lnp = np.searchsorted(LN_P, part.lnp - 1e-9) // SLAB, part.lnp

    def column(self, j: int, i: int):
        """Data near a column of boxes, and how far beyond it they lie, in length scales."""
        lat, _south, lon, _east = synthetic.rows(self.problem)
        edge = lat[[j * BOX, (j + 1) * BOX - 1]], lon[[i * BOX, (i + 1) * BOX - 1]]
        middle = synthetic.places(edge[0].mean(), edge[1].mean()).up
        corners = synthetic.places(edge[0][:, None], edge[1]).up
        radius = np.sqrt(((corners - middle) ** 2).sum(0)).max()
        scale = RADIUS / self.problem.length
        limit = radius + _REACH / scale
        near = np.flatnonzero(middle[:, 0] @ self.up > 1 - 0.5 * limit * limit)
        away = np.sqrt(np.maximum(2 - 2 * middle[:, 0] @ self.up[:, near], 0))
        return near, np.maximum(away - radius, 0) * scale

    def record(self, box: Box, near: np.ndarray, away: np.ndarray) -> np.ndarray:
        """The box's record, float64 (RECORD, padded): its own data first, then what is nearest; unused places −1."""
        levels, depth = LN_P[_slab(box.slab)], self.problem.depth
        lnp = self.lnp[near]
        above = np.maximum(np.maximum(levels[0] - lnp, lnp - levels[-1]), 0) / depth
        home = (self.j[near] == box.j) & (self.i[near] == box.i) & (self.slab[near] == box.slab)
        score = np.where(home, -1.0, np.hypot(away, above))
        use = np.flatnonzero(home | (above <= _REACH))
        use = use[np.argsort(score[use], kind="stable")[: self.problem.most]]
        taken, out = near[use], np.zeros((RECORD, self.problem.padded))
        out[:8, : use.size], out[DEPARTURE, : use.size] = self.points[:, taken], self.departures[taken]
        out[NUMBER] = -1.0
        out[NUMBER, : use.size], out[HOME, : use.size] = self.chosen[taken], home[use]
        return out
