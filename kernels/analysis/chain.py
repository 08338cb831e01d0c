"""The chain of steps from d to w, each with files before and after it.

Letters are the report's (section 3.4).  Steps h to l come twice, the second time for humidity (o).  Files between
steps are ``datasets.Dataset``; those that are read and written at random are *work* files, the others *sequential*.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kernels.analysis import gap, synthetic
from kernels.analysis.boxes import PASSES, POINTS, RECORD, Sorter, at_data, boxes, number
from kernels.analysis.constants import LN_P, NAMES, R
from kernels.analysis.datasets import Dataset, copy, record_bytes
from kernels.analysis.problem import BOX
from kernels.gridpoint.levels import vertical

#: Columns of data that are filed: which of them are gross is not told.
FILED = 6
#: Sigma levels at the top that keep most of the first guess, and what part of the increments they take.
STRATOSPHERE = (0.25, 0.5, 0.75)

#: Steps that come twice: letter, name, method of :class:`Chain`, its arguments; those of humidity have one more.
_PASSED = (
    ("h", "PRE-GAP", "prepare"),
    ("i", "copy correlations", "copy", "correlations", "parameters"),
    ("j", "GAP (data checking)", "check"),
    ("k", "GAP (analysis)", "assimilate"),
    ("l", "POST GAP", "post"),
)


def _passed(humid: bool) -> list[tuple]:
    return [(*step, humid) if step[2] in ("prepare", "assimilate", "post") else step for step in _PASSED]


#: Letter and name of every step, the method of :class:`Chain` that does it, and its arguments, in order.
STEPS = (
    ("d", "sigma to pressure", "to_pressure"),
    ("e", "interpolate to unstaggered grid", "unstagger"),
    ("f", "statistics of the first guess", "statistics", 0, "first_guess"),
    ("g", "copy observations", "copy", "observations", "data"),
    *_passed(False),
    ("m", "humidity first-guess errors", "humidity_errors"),
    ("n", "copy humidity errors", "copy", "humidity_made", "humidity"),
    *((f"o, {letter}", *rest) for letter, *rest in _passed(True)),
    ("p", "copy the errors", "copy", "errors", "kept_errors"),
    ("q", "re-normalise", "normalise"),
    ("r", "keep the analysis on pressure levels", "keep"),
    ("s", "keep increments and errors", "keep_rest"),
    ("t", "interpolate to staggered grid", "stagger"),
    ("u", "statistics of the analysis", "statistics", 1, "plotted"),
    ("v", "pressure to sigma", "to_sigma"),
    ("w", "stratospheric correction", "correct"),
)


@dataclass(frozen=True)
class StepTime:
    """One step of the chain."""

    letter: str
    name: str
    clock: float  # s
    cpu: float  # s, of the process
    moved: int  # bytes read and written


class FileUse(NamedTuple):
    """What a file is, and what all steps together do with it."""

    kind: str  # "work", "large" (work) or "sequential"
    records: int
    words: int  # of a record
    written: int  # times, from end to end
    read: int  # likewise

    @property
    def bytes(self) -> int:
        """Bytes on the device."""
        return self.records * record_bytes(self.words)


def layout(problem, data: int) -> dict[str, FileUse]:
    """Every file."""
    nj, level = problem.nj, LN_P.size * problem.ni
    sigma, count = (4 * problem.levels + 2) * problem.ni, len(boxes(problem))
    return {
        "guess": FileUse("sequential", nj, sigma, 0, 3),
        "observations": FileUse("sequential", FILED, data, 0, 1),
        "correlations": FileUse("sequential", 1, 8, 0, 2),
        "staggered": FileUse("sequential", nj, 5 * level, 1, 1),
        "first_guess": FileUse("large", nj, 5 * level, 1, 4),
        "statistics": FileUse("sequential", 2, 4 * len(NAMES) * LN_P.size, 1, 0),
        "data": FileUse("sequential", FILED, data, 1, 2),
        "parameters": FileUse("sequential", 1, 8, 2, 0),
        "quality": FileUse("sequential", 1, data, 2, 4),
        "departures": FileUse("work", count, RECORD * problem.padded, 2, 4),
        "weights": FileUse("work", count, gap.WEIGHTS * problem.padded, 2, 2),
        "reductions": FileUse("work", count, POINTS, 2, 2),
        "increments": FileUse("large", nj, 4 * level, 1, 3),
        "moisture": FileUse("large", nj, level, 1, 2),
        "errors": FileUse("work", nj, level, 1, 1),
        "moist_errors": FileUse("work", nj, level, 1, 0),
        "humidity_made": FileUse("sequential", 1, LN_P.size, 1, 1),
        "humidity": FileUse("sequential", 1, LN_P.size, 1, 0),
        "kept_errors": FileUse("sequential", nj, level, 1, 1),
        "normalised": FileUse("sequential", nj, level, 1, 1),
        "plotted": FileUse("sequential", nj, 5 * level, 1, 1),
        "plotted_increments": FileUse("sequential", nj, 4 * level, 1, 0),
        "plotted_errors": FileUse("sequential", nj, level, 1, 0),
        "staggered_increments": FileUse("sequential", nj, 5 * level, 1, 1),
        "analysis": FileUse("sequential", nj, sigma, 1, 1),
        "corrected": FileUse("sequential", nj, sigma, 1, 0),
    }


def place(problem, kind: str) -> str:
    """Where a file of a kind lies."""
    if kind == "sequential":
        return problem.rest
    if problem.work == "half":
        return problem.rest if kind == "large" else "memory"
    return problem.work


def disk_bytes(problem, data: int, outside=("memory", "tmpfs")) -> int:
    """Bytes of files whose place is not among ``outside``."""
    return sum(file.bytes for file in layout(problem, data).values() if place(problem, file.kind) not in outside)


class Chain:
    """Files and steps of one analysis."""

    def __init__(self, problem, state, crew: gap.Crew, folders: dict[str, Path]):
        self.problem, self.state, self.crew = problem, state, crew
        self.files: dict[str, Dataset] = {}
        self.sigma = np.log(vertical(problem.levels).full)[:, None]
        self.tools = crew.tools.get()  # of the steps that go row by row
        crew.tools.put(self.tools)
        try:
            for name, file in layout(problem, state.data.value.size).items():
                where = place(problem, file.kind)
                self.files[name] = Dataset(folders[where], name, where, file.records, file.words)
        except BaseException:
            self.close()
            raise
        for j in range(problem.nj):
            self.files["guess"].put(j, state.guess[j])
        for n, values in enumerate(state.data[:FILED]):
            self.files["observations"].put(n, values)
        parameters = [problem.length, problem.depth, problem.wind, problem.reject]
        self.files["correlations"].put(0, np.array(parameters))

    def close(self) -> None:
        """Let all files go."""
        for file in self.files.values():
            file.close()

    def run(self) -> list[StepTime]:
        """All steps, timed."""
        found = []
        for letter, name, method, *arguments in STEPS:
            before = self._moved()
            clock, cpu = time.perf_counter(), time.process_time()
            getattr(self, method)(*arguments)
            clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
            found.append(StepTime(letter, name, clock, cpu, self._moved() - before))
        return found

    def _moved(self) -> int:
        return sum(sum(file.moved) for file in self.files.values())

    def copy(self, source: str, target: str) -> None:
        """Steps g, i, n, p: one file into another."""
        copy(self.files[source], self.files[target])

    # the first guess

    def _guess(self, j: int):
        """Row j of the first guess: u, v, T, q (levels, ni) each, ln p_s and the ground's geopotential."""
        row = self.files["guess"].get(j, 4 * self.problem.levels + 2, self.problem.ni)
        return *row[:-2].reshape(4, self.problem.levels, self.problem.ni), row[-2], row[-1]

    def to_pressure(self) -> None:
        """Step d: staggered fields on standard levels."""
        ni, before = self.problem.ni, None
        target, tools = np.repeat(LN_P[:, None], ni, 1), self.tools
        for j in range(self.problem.nj):
            u, v, T, q, lnps, ground = self._guess(j)
            out = np.empty((5, LN_P.size, ni))
            south = lnps if before is None else 0.5 * (lnps + before)
            pressed = ((1, u, 0.5 * (lnps + np.roll(lnps, -1))), (2, v, south), (3, T, lnps), (4, q, lnps))
            for n, field, base in pressed:
                tools.interpolate(np.ascontiguousarray(field), self.sigma + base, target, out[n])
            column = np.ascontiguousarray(T), self.sigma + lnps, np.stack([lnps, ground])
            tools.geopotential(*column, target, out[0])
            self.files["staggered"].put(j, out)
            before = lnps

    def unstagger(self) -> None:
        """Step e: winds from the faces to the mass points; the pole's own face is continued from the last two."""
        nj, shape = self.problem.nj, (5, LN_P.size, self.problem.ni)
        here, south = self.files["staggered"].get(0, *shape), None
        for j in range(nj):
            north = self.files["staggered"].get(j + 1, *shape) if j + 1 < nj else None
            out = here.copy()
            out[1] = 0.5 * (here[1] + np.roll(here[1], 1, -1))
            out[2] = 0.5 * (here[2] + north[2]) if north is not None else 1.5 * here[2] - 0.5 * south[2]
            self.files["first_guess"].put(j, out)
            here, south = north, here

    def statistics(self, record: int, name: str) -> None:
        """Steps f and u: mean, root mean square, least and greatest of each field and level."""
        shape, rows = (len(NAMES), LN_P.size, self.problem.ni), []
        for j in range(self.problem.nj):
            row = self.files[name].get(j, *shape)
            rows.append([row.mean(-1), (row**2).mean(-1), row.min(-1), row.max(-1)])
        mean, square, least, most = np.array(rows).transpose(1, 0, 2, 3)
        found = [mean.mean(0), np.sqrt(square.mean(0)), least.min(0), most.max(0)]
        self.files["statistics"].put(record, np.stack(found))

    # the analysis itself

    def _data(self) -> synthetic.Data:
        columns = [self.files["data"].get(n) for n in range(FILED)]
        return synthetic.Data(*columns, np.zeros_like(columns[0]))

    def prepare(self, humid: bool) -> None:
        """Step h: departures from the first guess, over the errors, sorted into boxes."""
        p, data = self.problem, self._data()
        shape = (5, LN_P.size, p.ni)
        fields = np.stack([self.files["first_guess"].get(j, *shape)[[0, 1, 2, 4]] for j in range(p.nj)])
        kinds = PASSES["humidity" if humid else "mass and wind"]
        sorter = Sorter(p, data, data.value - at_data(p, data, fields), kinds)
        near, column = None, None
        for box in boxes(p):
            if (box.j, box.i) != column:
                near, column = sorter.column(box.j, box.i), (box.j, box.i)
            self.files["departures"].put(number(p, box), sorter.record(box, *near))

    def check(self) -> None:
        """Step j."""
        quality = self.files["quality"].get(0)
        gap.check(self.crew, self.problem, self.files["departures"], quality)
        self.files["quality"].put(0, quality)

    def assimilate(self, humid: bool) -> None:
        """Step k."""
        files = [self.files[name] for name in ("departures", "weights", "reductions")]
        gap.assimilate(self.crew, self.problem, files, self.files["quality"].get(0), humid)

    def post(self, humid: bool) -> None:
        """Step l: increments and errors on the grid, band by band."""
        files = [self.files[name] for name in ("weights", "reductions")]
        names = ("moisture", "moist_errors") if humid else ("increments", "errors")
        for band in range(self.problem.nj // BOX):
            found = gap.increments(self.crew, self.problem, files, band, humid)
            for row in range(BOX):
                for name, values in zip(names, found, strict=True):
                    self.files[name].put(band * BOX + row, values[row])

    def humidity_errors(self) -> None:
        """Step m."""
        self.files["humidity_made"].put(0, synthetic.vapour(LN_P))

    # what is kept, and back to sigma

    def _increments(self, j: int) -> np.ndarray:
        """phi, u, v, T and q of a row, (5, 15, ni)."""
        level = (LN_P.size, self.problem.ni)
        return np.concatenate([self.files["increments"].get(j, 4, *level), self.files["moisture"].get(j, 1, *level)])

    def normalise(self) -> None:
        """Step q: errors as parts of the first guess's; at the equator, where both vanish, 1."""
        lat, _south, _lon, _east = synthetic.rows(self.problem)
        spread = synthetic.background(self.problem, lat, np.zeros_like(lat), np.zeros_like(lat))
        for j in range(self.problem.nj):
            error = self.files["kept_errors"].get(j)
            self.files["normalised"].put(j, error / spread[j] if spread[j] > 0 else np.ones_like(error))

    def keep(self) -> None:
        """Step r: the analysis on standard levels."""
        for j in range(self.problem.nj):
            shape = (5, LN_P.size, self.problem.ni)
            self.files["plotted"].put(j, self.files["first_guess"].get(j, *shape) + self._increments(j))

    def keep_rest(self) -> None:
        """Step s."""
        self.copy("increments", "plotted_increments")
        self.copy("normalised", "plotted_errors")

    def stagger(self) -> None:
        """Step t: increments of u half a grid length east, of v on the south face."""
        before = None
        for j in range(self.problem.nj):
            row = self._increments(j)
            out = row.copy()
            out[1] = 0.5 * (row[1] + np.roll(row[1], -1, -1))
            out[2] = row[2] if before is None else 0.5 * (row[2] + before)
            self.files["staggered_increments"].put(j, out)
            before = row[2]

    def to_sigma(self) -> None:
        """Step v: increments are added on sigma levels, which have moved with the analysed surface pressure.

        δ ln p_s = δΦ / (R T) at the ground.
        """
        p, tools, before = self.problem, self.tools, None
        standard = np.repeat(LN_P[:, None], p.ni, 1)
        for j in range(p.nj):
            u, v, T, q, lnps, ground = self._guess(j)
            change = self.files["staggered_increments"].get(j, 5, LN_P.size, p.ni)
            lift = np.empty((1, p.ni))
            tools.interpolate(change[0], standard, lnps[None], lift)
            bases = lnps, lnps + lift[0] / (R * T[-1])
            east = [0.5 * (each + np.roll(each, -1)) for each in bases]
            south = bases if before is None else [0.5 * (a + b) for a, b in zip(bases, before, strict=True)]
            out, moved = np.empty((4, p.levels, p.ni)), np.empty((p.levels, p.ni))
            for n, field, row, (old, new) in ((0, u, 1, east), (1, v, 2, south), (2, T, 3, bases), (3, q, 4, bases)):
                tools.interpolate(np.ascontiguousarray(field), self.sigma + old, self.sigma + new, out[n])
                tools.interpolate(change[row], standard, self.sigma + new, moved)
                out[n] += moved
            self.files["analysis"].put(j, np.concatenate([out.ravel(), bases[1], ground]))
            before = bases

    def correct(self) -> None:
        """Step w: near the top, where nothing is observed, most of the first guess is kept."""
        p = self.problem
        shape = (4 * p.levels + 2, p.ni)
        for j in range(p.nj):
            row, guess = self.files["analysis"].get(j, *shape), self.files["guess"].get(j, *shape)
            for level, part in enumerate(STRATOSPHERE):
                for at in range(level, 4 * p.levels, p.levels):
                    row[at] = guess[at] + part * (row[at] - guess[at])
            self.files["corrected"].put(j, row)
