"""The main program of the chain, box by box: data checking, weights, and what they say on the grid."""

import queue
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kernels.analysis import covariance, synthetic, vertical
from kernels.analysis.boxes import BOX, DEPARTURE, HOME, NUMBER, POINTS, RECORD, SLABS, Box, boxes, grid, number
from kernels.analysis.problem import LN_P, REJECT, SLAB
from kernels.gridpoint.levels import R
from kernels.runtime.pages import zeros

#: Rejections of one box are found by removing the worst and looking again, at most this often.
ROUNDS = 12
#: Of those beyond the limit, what goes at once: no less than this part of the worst.
_WITH_THE_WORST = 0.7
UNUSED, ACCEPTED, REJECTED = 0.0, 1.0, 2.0
#: Rows of a record of weights: eight of points, then the weights.
WEIGHTS = 9


class Singular(ArithmeticError):
    """A box whose matrix is not positive definite."""


class Compiled:
    """The compiled code, with the room that one thread needs for a box of ``padded`` data."""

    def __init__(self, padded: int):
        self.room = zeros((padded, padded + 8 + max(padded, POINTS)))
        self.interpolate, self.geopotential = vertical.interpolate, vertical.geopotential
        self.evaluate = covariance.evaluate

    def check(self, points, departures, n, out) -> bool:
        """As ``covariance.check``."""
        return covariance.check(points, departures, n, self.room, out)

    def assimilate(self, points, departures, n, grid, weights, reduction) -> bool:
        """As ``covariance.assimilate``."""
        return covariance.assimilate(points, departures, n, grid, grid.shape[1], self.room, weights, reduction)


class Crew:
    """Threads that take boxes, each with its tools."""

    def __init__(self, threads: int, make):
        self.threads, self.tools, self.free = threads, [make() for _ in range(threads)], queue.SimpleQueue()
        for each in self.tools:
            self.free.put(each)

    def each(self, work, items) -> list:
        """``work(tools, item)`` for every item, in order of the items."""

        def one(item):
            tools = self.free.get()
            try:
                return work(tools, item)
            finally:
                self.free.put(tools)

        if self.threads == 1:
            return [one(item) for item in items]
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(one, items))


def _taken(record: np.ndarray) -> tuple[int, int]:
    """Data in a record, and that number rounded up to whole vectors."""
    count = int((record[NUMBER] >= 0).sum())
    return count, -(-count // 8) * 8


def suspects(tools, record: np.ndarray, limit: float = REJECT) -> np.ndarray:
    """Which data of a box its other data contradict: bool, one a datum of the record."""
    count, n = _taken(record)
    points, departures, out = record[:8].copy(), record[DEPARTURE].copy(), np.zeros((2, record.shape[1]))
    found = np.zeros(record.shape[1], bool)
    for _ in range(ROUNDS if count else 0):
        if not tools.check(points, departures, n, out):
            raise Singular("the covariances of a box's data are not positive definite")
        off = np.abs(out[0, :n])
        worst = off.max()
        if worst <= limit:
            break
        bad = np.flatnonzero(off >= max(limit, _WITH_THE_WORST * worst))
        found[bad] = True
        points[4:, bad], departures[bad] = 0.0, 0.0
    return found[:count]


def check(crew: Crew, problem, source, quality: np.ndarray) -> None:
    """Every datum against its neighbours; its own box decides.  ``quality`` (data,) is written."""

    def work(tools, box: Box):
        record = source.get(number(problem, box), RECORD, problem.padded)
        return record, suspects(tools, record)

    for record, bad in crew.each(work, boxes(problem)):
        home = np.flatnonzero(record[HOME, : bad.size])
        quality[record[NUMBER, home].astype(int)] = np.where(bad[home], REJECTED, ACCEPTED)


def assimilate(crew: Crew, problem, files, quality: np.ndarray, humid: bool) -> None:
    """Weights of every box's accepted data, and the lowered variance at its grid points.

    ``files``: the boxes' records, and where weights and reductions go.
    """
    source, weights, reductions = files

    def work(tools, box: Box):
        at = number(problem, box)
        record = source.get(at, RECORD, problem.padded)
        count, n = _taken(record)
        out, reduction = np.zeros((WEIGHTS, problem.padded)), np.zeros(POINTS)
        out[:8], departures = record[:8], record[DEPARTURE].copy()
        left_out = np.flatnonzero(quality[record[NUMBER, :count].astype(int)] != ACCEPTED)
        out[4:8, left_out], departures[left_out] = 0.0, 0.0
        points, _where = grid(problem, box, humid)
        if n and not tools.assimilate(out[:8].copy(), departures, n, points, out[8], reduction):
            raise Singular("the covariances of a box's data are not positive definite")
        weights.put(at, out)
        reductions.put(at, reduction)

    crew.each(work, boxes(problem))


def increments(crew: Crew, problem, files, band: int, humid: bool) -> tuple[np.ndarray, np.ndarray]:
    """Increments (8 rows, fields, 15, ni) and standard errors (8 rows, 15, ni) of a band of boxes.

    Fields are phi, u, v and T, or humidity alone; errors are those of the first of them.
    """
    weights, reductions = files
    found = np.empty((BOX, 1 if humid else 4, LN_P.size, problem.ni))
    errors = np.empty((BOX, LN_P.size, problem.ni))
    amplitude = problem.wind * problem.length

    def work(tools, box: Box):
        at = number(problem, box)
        record, (points, where) = weights.get(at, WEIGHTS, problem.padded), grid(problem, box, humid)
        n = -(-int(np.any(record[4:8] != 0, axis=0).nonzero()[0].max(initial=-1) + 1) // 8) * 8
        out = np.zeros((5, POINTS))
        tools.evaluate(record[:8].copy(), record[8].copy(), n, points, POINTS, out)
        if humid:
            fields = [synthetic.vapour(points[3] * problem.depth) * out[0]]
        else:
            f = where.coriolis * amplitude
            wind = [problem.wind * (each * out[1:4]).sum(0) for each in (-where.north, where.east)]
            fields = [f * out[0], *wind, -f * out[4] / (R * problem.depth)]
        place = (slice(box.slab * SLAB, (box.slab + 1) * SLAB), slice(box.i * BOX, (box.i + 1) * BOX))
        shape = (BOX, BOX, SLAB)  # row, point, level
        for row, values in enumerate(fields):
            found[:, row, *place] = values.reshape(shape).transpose(0, 2, 1)
        left = np.maximum(points[4] ** 2 - reductions.get(at, POINTS), 0.0)
        errors[:, *place] = np.sqrt(left).reshape(shape).transpose(0, 2, 1)

    crew.each(work, [Box(band, i, slab) for i in range(problem.ni // BOX) for slab in range(SLABS)])
    return found, errors
