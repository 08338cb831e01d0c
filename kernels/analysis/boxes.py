"""The main program of the chain, box by box: which data each box takes, their checking, weights and increments."""

import numpy as np

from supercomputers_rerun.kernels.analysis import synthetic
from supercomputers_rerun.kernels.analysis.problem import BOX, KINDS, LN_P, REJECT, SLAB
from supercomputers_rerun.kernels.contract import ceil_div
from supercomputers_rerun.kernels.gridpoint.levels import RADIUS, R

SLABS = LN_P.size // SLAB
POINTS = BOX * BOX * SLAB
#: Rows of a box's record: eight of points, departure over error, number of the datum, whether it lies in the box.
DEPARTURE, NUMBER, HOME, RECORD = 8, 9, 10, 11
_REACH = 2.0  # length scales around a box, and depth scales above and below, from which data are taken
#: Rejections of one box are found by removing the worst and looking again, at most this often.
ROUNDS = 12
#: Of those beyond the limit, what goes at once: no less than this part of the worst.
_WITH_THE_WORST = 0.7
ACCEPTED, REJECTED = 1.0, 2.0
#: Rows of a record of weights: eight of points, then the weights.
WEIGHTS = 9


def boxes(problem) -> list[tuple[int, int, int]]:
    """Numbers of all boxes along latitude, longitude and the vertical, in the order of their records."""
    return list(np.ndindex(problem.nj // BOX, problem.ni // BOX, SLABS))


def grid(problem, box: tuple[int, int, int], humid: bool) -> tuple[np.ndarray, synthetic.Places]:
    """Grid points of a box on its levels, float64 (8, POINTS) in the order [row][point][level], and their places.

    α is that of geopotential, or of humidity, in its own unit; β is zero.
    """
    (j, i, slab), (lat, lon) = box, synthetic.rows(problem)
    where = synthetic.places(lat[j * BOX :][:BOX, None], lon[i * BOX :][:BOX])
    where = synthetic.Places(*(np.repeat(each, SLAB, axis=1) for each in where))
    lnp = np.tile(LN_P[slab * SLAB :][:SLAB], BOX * BOX)
    points = np.zeros((8, POINTS))
    points[:3], points[3] = where.up * (RADIUS / problem.length), lnp / problem.depth
    points[4] = synthetic.vapour(lnp) if humid else where.coriolis * (problem.wind * problem.length)
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


def _near(problem, up: np.ndarray, j: int, i: int) -> tuple[np.ndarray, np.ndarray]:
    """Which data at ``up``, unit vectors (3, n), are near a column of boxes, and by how many length scales beyond."""
    lat, lon = synthetic.rows(problem)
    edge = lat[[j * BOX, (j + 1) * BOX - 1]], lon[[i * BOX, (i + 1) * BOX - 1]]
    middle = synthetic.places(edge[0].mean(), edge[1].mean()).up
    corners = synthetic.places(edge[0][:, None], edge[1]).up
    radius, scale = np.sqrt(((corners - middle) ** 2).sum(0)).max(), RADIUS / problem.length
    limit = radius + _REACH / scale
    near = np.flatnonzero(middle[:, 0] @ up > 1 - 0.5 * limit * limit)
    away = np.sqrt(np.maximum(2 - 2 * middle[:, 0] @ up[:, near], 0))
    return near, np.maximum(away - radius, 0) * scale


def records(problem, data: synthetic.Data, departures: np.ndarray, kinds):
    """The record of every box, float64 (RECORD, padded): its own data first, then what is nearest; unused places −1.

    ``departures`` (n,): observation less background; ``kinds``: numbers of those that are taken.
    """
    chosen = np.flatnonzero(np.isin(data.kind.astype(int), kinds))
    part = synthetic.Data(*(each[chosen] for each in data))
    points, departures = data_points(problem, part), departures[chosen] / part.error
    j = np.clip(((part.latitude / np.pi + 0.5) * problem.nj / BOX).astype(int), 0, problem.nj // BOX - 1)
    i = (part.longitude / (2 * np.pi) * problem.ni / BOX).astype(int) % (problem.ni // BOX)
    slab, up = np.searchsorted(LN_P, part.lnp - 1e-9) // SLAB, points[:3] * (problem.length / RADIUS)
    for row, column, height in boxes(problem):
        if height == 0:
            near, away = _near(problem, up, row, column)
            inside, lnp = (j[near] == row) & (i[near] == column), part.lnp[near]
        levels, home = LN_P[height * SLAB :][:SLAB], inside & (slab[near] == height)
        above = np.maximum(np.maximum(levels[0] - lnp, lnp - levels[-1]), 0) / problem.depth
        score = np.where(home, -1.0, np.hypot(away, above))
        use = np.flatnonzero(home | (above <= _REACH))
        use = use[np.argsort(score[use], kind="stable")[: problem.most]]
        taken, out = near[use], np.zeros((RECORD, problem.padded))
        out[:8, : use.size], out[DEPARTURE, : use.size] = points[:, taken], departures[taken]
        out[NUMBER] = -1.0
        out[NUMBER, : use.size], out[HOME, : use.size] = chosen[taken], home[use]
        yield out


def _taken(record: np.ndarray) -> tuple[int, int]:
    """Data in a record, and that number rounded up to whole vectors."""
    count = int((record[NUMBER] >= 0).sum())
    return count, ceil_div(count, 8) * 8


def suspects(tools, room, record: np.ndarray, limit: float = REJECT) -> np.ndarray:
    """Which data of a box its other data contradict: bool, one a datum of the record.

    ``tools`` do the work of a box, compiled or in NumPy: the modules ``covariance`` and ``dense``; ``room``: float64
    (padded, padded + 8 + as many or POINTS), in which they work.
    """
    count, n = _taken(record)
    points, departures, out = record[:8].copy(), record[DEPARTURE].copy(), np.zeros((2, record.shape[1]))
    found = np.zeros(record.shape[1], bool)
    for _ in range(ROUNDS if count else 0):
        if not tools.check(room, points, departures, n, out):
            raise ArithmeticError("the covariances of a box's data are not positive definite")
        off = np.abs(out[0, :n])
        worst = off.max()
        if worst <= limit:
            break
        bad = np.flatnonzero(off >= max(limit, _WITH_THE_WORST * worst))
        found[bad] = True
        points[4:, bad], departures[bad] = 0.0, 0.0
    return found[:count]


def weigh(tools, room, problem, box, record: np.ndarray, quality: np.ndarray, humid: bool):
    """Points and weights of a box's accepted data (WEIGHTS, padded), and how far they lower the variance at its points.

    ``quality``: of all data.
    """
    count, n = _taken(record)
    out, reduction = np.zeros((WEIGHTS, problem.padded)), np.zeros(POINTS)
    left_out = np.flatnonzero(quality[record[NUMBER, :count].astype(int)] != ACCEPTED)
    out[:8], departures = record[:8], record[DEPARTURE].copy()
    out[4:8, left_out], departures[left_out] = 0.0, 0.0
    if n and not tools.assimilate(room, out[:8].copy(), departures, n, grid(problem, box, humid)[0], out[8], reduction):
        raise ArithmeticError("the covariances of a box's data are not positive definite")
    return out, reduction


def increments(tools, problem, box, weighted: np.ndarray, reduction: np.ndarray, humid: bool):
    """Increments (8 rows, fields, 5 levels, 8 points) and standard errors (8 rows, 5 levels, 8 points) of a box.

    Fields are phi, u, v and T, or humidity alone; errors are those of the first of them.  The others are what
    :func:`weigh` gave.
    """
    points, where = grid(problem, box, humid)
    last = int(np.any(weighted[4:8] != 0, axis=0).nonzero()[0].max(initial=-1))
    n = ceil_div(last + 1, 8) * 8
    out = np.zeros((5, POINTS))
    tools.evaluate(weighted[:8].copy(), weighted[8].copy(), n, points, out)
    if humid:
        fields = [synthetic.vapour(points[3] * problem.depth) * out[0]]
    else:
        f = where.coriolis * (problem.wind * problem.length)
        wind = [problem.wind * (each * out[1:4]).sum(0) for each in (-where.north, where.east)]
        fields = [f * out[0], *wind, -f * out[4] / (R * problem.depth)]
    fields.append(np.sqrt(np.maximum(points[4] ** 2 - reduction, 0.0)))
    found = np.stack([values.reshape(BOX, BOX, SLAB).transpose(0, 2, 1) for values in fields], 1)
    return found[:, :-1], found[:, -1]
