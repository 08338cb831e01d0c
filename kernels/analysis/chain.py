"""The chain of steps from d to w, each with files before and after it.

Letters are the report's (section 3.4).  Steps h to l come twice, the second time for humidity (o).  Files between
steps are a :class:`Dataset` each; those that are read and written at random are *work* files, the others *sequential*.
What a step before or after the main program computes is a function of whole fields, float64 (nj, levels, ni), columns
from the top downwards.
"""

import math
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import numpy as np

from supercomputers_rerun.kernels.analysis import boxes, synthetic, vertical
from supercomputers_rerun.kernels.analysis.problem import BOX, LN_P, NAMES, REJECT, SEEN, SLAB
from supercomputers_rerun.kernels.contract import ceil_div
from supercomputers_rerun.kernels.files.filesystem import ALIGNMENT, BlockFile, page_aligned
from supercomputers_rerun.kernels.gridpoint import levels
from supercomputers_rerun.kernels.runtime.arrays import zeros

#: Sigma levels at the top that keep most of the first guess, and what part of the increments they take.
STRATOSPHERE = (0.25, 0.5, 0.75)


class StepTime(NamedTuple):
    """One step of the chain."""

    letter: str
    name: str
    clock: float  # s
    cpu: float  # s, of the process


class FileUse(NamedTuple):
    """What a file is, and what all steps together do with it."""

    place: str  # "memory", "cache" or "direct"
    records: int
    shape: tuple[int, ...]  # of a record, float64
    written: int  # times, from end to end
    read: int  # likewise

    @property
    def record(self) -> int:
        """Bytes of a record on the device: whole blocks."""
        return ceil_div(8 * math.prod(self.shape), ALIGNMENT) * ALIGNMENT

    @property
    def bytes(self) -> int:
        """Bytes on the device."""
        return self.records * self.record


def layout(problem) -> dict[str, FileUse]:
    """Every file.  Of the work files, half in memory, the large ones lie where the sequential files are."""
    data = 4 * problem.sondes * LN_P[SEEN].size + 2 * problem.aircraft
    work, large, rest = problem.work, problem.work, problem.rest
    if work == "half":
        work, large = "memory", rest
    nj, count, sigma = problem.nj, len(boxes.boxes(problem)), (4 * problem.levels + 2, problem.ni)
    level, four, five = ((*fields, LN_P.size, problem.ni) for fields in ((), (4,), (5,)))
    return {
        "guess": FileUse(rest, nj, sigma, 0, 3),
        "observations": FileUse(rest, len(synthetic.Data._fields), (data,), 0, 1),
        "correlations": FileUse(rest, 1, (4,), 0, 2),
        "staggered": FileUse(rest, nj, five, 1, 1),
        "first_guess": FileUse(large, nj, five, 1, 4),
        "statistics": FileUse(rest, 2, (4, len(NAMES), LN_P.size), 1, 0),
        "data": FileUse(rest, len(synthetic.Data._fields), (data,), 1, 2),
        "parameters": FileUse(rest, 1, (4,), 2, 0),
        "quality": FileUse(rest, 1, (data,), 2, 4),
        "departures": FileUse(work, count, (boxes.RECORD, problem.padded), 2, 4),
        "weights": FileUse(work, count, (boxes.WEIGHTS, problem.padded), 2, 2),
        "reductions": FileUse(work, count, (boxes.POINTS,), 2, 2),
        "increments": FileUse(large, nj, four, 1, 3),
        "moisture": FileUse(large, nj, (1, *level), 1, 2),
        "errors": FileUse(work, nj, level, 1, 1),
        "moist_errors": FileUse(work, nj, level, 1, 0),
        "humidity_made": FileUse(rest, 1, LN_P.shape, 1, 1),
        "humidity": FileUse(rest, 1, LN_P.shape, 1, 0),
        "kept_errors": FileUse(rest, nj, level, 1, 1),
        "normalised": FileUse(rest, nj, level, 1, 1),
        "plotted": FileUse(rest, nj, five, 1, 1),
        "plotted_increments": FileUse(rest, nj, four, 1, 0),
        "plotted_errors": FileUse(rest, nj, level, 1, 0),
        "staggered_increments": FileUse(rest, nj, five, 1, 1),
        "analysis": FileUse(rest, nj, sigma, 1, 1),
        "corrected": FileUse(rest, nj, sigma, 1, 0),
    }


class Dataset:
    """One file of equal records.  A thread of ``ahead`` reads the record after the one that is at hand."""

    def __init__(self, path: Path, use: FileUse, ahead: ThreadPoolExecutor | None = None):
        self.use, self._ahead = use, ahead
        self.file = BlockFile(path, use.place, use.records, use.record)
        self._buffers = page_aligned((2, use.record // 8))

    def put(self, record: int, values: np.ndarray) -> None:
        """Write one record, float64 of the file's shape."""
        buffer = self._buffers[0]
        buffer[: math.prod(self.use.shape)] = np.ravel(values)
        self.file.write(record, memoryview(buffer).cast("B"))

    def _load(self, record: int) -> np.ndarray:
        buffer = self._buffers[record % 2]
        self.file.read(record, memoryview(buffer).cast("B"))
        return buffer[: math.prod(self.use.shape)].reshape(self.use.shape)

    def __iter__(self) -> Iterator[np.ndarray]:
        """Read each record in turn, float64 of the file's shape."""
        coming: Future | None = None
        for record in range(self.use.records):
            found = coming.result() if coming else self._load(record)
            if self._ahead and record + 1 < self.use.records:
                coming = self._ahead.submit(self._load, record + 1)
            yield found.copy()


def _south(a):
    """On the south faces of rows; the southernmost row stays."""
    return np.concatenate([a[:1], 0.5 * (a[1:] + a[:-1])])


def _east(a):
    """Half a grid length to the east."""
    return 0.5 * (a + np.roll(a, -1, -1))


def _columns(guess):
    """u, v, T, q of rows (nj, 4 levels + 2, ni), ln p_s and geopotential of the ground, and ln of sigma."""
    count = guess.shape[1] // 4
    fields = np.moveaxis(guess[:, :-2].reshape(len(guess), 4, count, -1), 1, 0)
    return *fields, guess[:, -2:-1], guess[:, -1:], np.log(levels.vertical(count).full)[:, None]


def _standard(guess):
    return np.broadcast_to(LN_P[:, None], (len(guess), LN_P.size, guess.shape[-1]))


def on_pressure(guess):
    """Step d: rows of staggered fields on standard levels, (nj, 5, 15, ni)."""
    u, v, T, q, lnps, ground, sigma = _columns(guess)
    target = _standard(guess)
    phi = vertical.geopotential(T, sigma + lnps, lnps, ground, target)
    bases = ((u, _east(lnps)), (v, _south(lnps)), (T, lnps), (q, lnps))
    return np.stack([phi, *(vertical.interpolate(field, sigma + base, target) for field, base in bases)], 1)


def unstaggered(fields):
    """Step e: winds from the faces to the mass points; the pole's own face is continued from the last two."""
    phi, u, v, T, q = np.moveaxis(fields, 1, 0)
    north = np.concatenate([v[1:], 2 * v[-1:] - v[-2:-1]])
    return np.stack([phi, 0.5 * (u + np.roll(u, 1, -1)), 0.5 * (v + north), T, q], 1)


def staggered(fields):
    """Step t: u half a grid length east, v on the south face."""
    phi, u, v, T, q = np.moveaxis(fields, 1, 0)
    return np.stack([phi, _east(u), _south(v), T, q], 1)


def on_sigma(guess, increments):
    """Step v: staggered increments added on sigma levels, which have moved with the analysed surface pressure.

    δ ln p_s = δΦ / (R T) at the ground.
    """
    *fields, lnps, ground, sigma = _columns(guess)
    phi, *changes = np.moveaxis(increments, 1, 0)
    standard, found = _standard(guess), []
    lifted = lnps + vertical.interpolate(phi, standard, lnps) / (levels.R * fields[2][:, -1:])
    for field, change, face in zip(fields, changes, (_east, _south, np.copy, np.copy), strict=True):
        old, new = sigma + face(lnps), sigma + face(lifted)
        found.append(vertical.interpolate(field, old, new) + vertical.interpolate(change, standard, new))
    return np.concatenate([*found, lifted, ground], 1)


def corrected(guess, analysis):
    """Step w: near the top, where nothing is observed, most of the first guess is kept."""
    out, count = analysis.copy(), len(guess[0]) // 4
    for level, part in enumerate(STRATOSPHERE):
        at = slice(level, 4 * count, count)
        out[:, at] = guess[:, at] + part * (analysis[:, at] - guess[:, at])
    return out


class Chain:
    """Files, in ``folder`` but for those in memory, and steps of one analysis; ``opened`` closes the files.

    ``tools`` do the work of one box: the module ``covariance``, compiled, or ``dense``, in NumPy.
    """

    def __init__(self, problem, state, tools, folder: Path, opened: ExitStack):
        self.problem, self.tools = problem, tools
        self.room = zeros((problem.padded, problem.padded + 8 + max(problem.padded, boxes.POINTS)))
        self.files: dict[str, Dataset] = {}
        thread = opened.enter_context(ThreadPoolExecutor(1)) if problem.ahead else None
        for name, use in layout(problem).items():
            self.files[name] = Dataset(folder / name, use, thread if use.place == "memory" else None)
            opened.callback(self.files[name].file.close)
        self.write("guess", state.guess)
        self.write("observations", state.data)
        self.write("correlations", [np.array([problem.length, problem.depth, problem.wind, REJECT])])

    def read(self, name: str) -> np.ndarray:
        """All records of a file."""
        return np.stack(list(self.files[name]))

    def write(self, name: str, records) -> None:
        """All records of a file, in turn."""
        for n, record in enumerate(records):
            self.files[name].put(n, record)

    def run(self) -> list[StepTime]:
        """All steps, timed."""
        found = []
        for letter, name, step in STEPS:
            clock, cpu = time.perf_counter(), time.process_time()
            step(self)
            found.append(StepTime(letter, name, time.perf_counter() - clock, time.process_time() - cpu))
        return found

    def statistics(self, record: int, name: str) -> None:
        """Mean, root mean square, least and greatest of each field and level."""
        fields, over = self.read(name), (0, -1)
        found = fields.mean(over), np.sqrt((fields**2).mean(over)), fields.min(over), fields.max(over)
        self.files["statistics"].put(record, np.stack(found))

    def prepare(self, humid: bool) -> None:
        """Departures from the first guess, over the errors, sorted into boxes."""
        p, data = self.problem, synthetic.Data(*self.read("data"))
        expected = boxes.at_data(p, data, self.read("first_guess")[:, [0, 1, 2, 4]])
        self.write("departures", boxes.records(p, data, data.value - expected, (3,) if humid else (0, 1, 2)))

    def check(self) -> None:
        """Every datum against its neighbours; its own box decides."""
        (quality,) = self.files["quality"]
        for record in self.files["departures"]:
            bad = boxes.suspects(self.tools, self.room, record)
            home = np.flatnonzero(record[boxes.HOME, : bad.size])
            quality[record[boxes.NUMBER, home].astype(int)] = np.where(bad[home], boxes.REJECTED, boxes.ACCEPTED)
        self.files["quality"].put(0, quality)

    def assimilate(self, humid: bool) -> None:
        """Weights of every box's accepted data, and the lowered variance at its grid points."""
        p, (quality,) = self.problem, self.files["quality"]
        for at, (box, record) in enumerate(zip(boxes.boxes(p), self.files["departures"], strict=True)):
            weights, reduction = boxes.weigh(self.tools, self.room, p, box, record, quality, humid)
            self.files["weights"].put(at, weights)
            self.files["reductions"].put(at, reduction)

    def post(self, humid: bool) -> None:
        """Increments and errors on the grid, band by band."""
        p, names = self.problem, ("moisture", "moist_errors") if humid else ("increments", "errors")
        rows = np.empty((BOX, 1 if humid else 4, LN_P.size, p.ni)), np.empty((BOX, LN_P.size, p.ni))
        weighed = zip(self.files["weights"], self.files["reductions"], strict=True)
        for band in range(p.nj // BOX):
            for i, slab in np.ndindex(p.ni // BOX, boxes.SLABS):
                found = boxes.increments(self.tools, p, (band, i, slab), *next(weighed), humid)
                for whole, part in zip(rows, found, strict=True):
                    whole[..., slab * SLAB :, i * BOX :][..., :SLAB, :BOX] = part
            for name, whole in zip(names, rows, strict=True):
                for row, values in enumerate(whole):
                    self.files[name].put(band * BOX + row, values)

    def increments(self) -> np.ndarray:
        """phi, u, v, T and q, (nj, 5, 15, ni)."""
        return np.concatenate([self.read("increments"), self.read("moisture")], 1)

    def normalise(self) -> None:
        """Errors as parts of the first guess's."""
        lat = synthetic.rows(self.problem)[0]
        spread = synthetic.background(self.problem, lat, np.zeros_like(lat), np.zeros_like(lat))
        self.write("normalised", self.read("kept_errors") / spread[:, None, None])

    def keep(self) -> None:
        """Increments and errors as they are plotted."""
        self.write("plotted_increments", self.files["increments"])
        self.write("plotted_errors", self.files["normalised"])


def _made(target: str, function, *sources: str):
    """A step that makes a file of what others hold."""
    return lambda chain: chain.write(target, function(*map(chain.read, sources)))


def _passed(letter: str, humid: bool) -> tuple:
    """Steps h to l, which come twice."""
    return (
        (f"{letter}h", "PRE-GAP", lambda chain: chain.prepare(humid)),
        (f"{letter}i", "copy correlations", lambda chain: chain.write("parameters", chain.files["correlations"])),
        (f"{letter}j", "GAP (data checking)", Chain.check),
        (f"{letter}k", "GAP (analysis)", lambda chain: chain.assimilate(humid)),
        (f"{letter}l", "POST GAP", lambda chain: chain.post(humid)),
    )


#: Letter and name of every step, and what it does of a :class:`Chain`, in order.
STEPS = (
    ("d", "sigma to pressure", _made("staggered", on_pressure, "guess")),
    ("e", "interpolate to unstaggered grid", _made("first_guess", unstaggered, "staggered")),
    ("f", "statistics of the first guess", lambda chain: chain.statistics(0, "first_guess")),
    ("g", "copy observations", lambda chain: chain.write("data", chain.files["observations"])),
    *_passed("", False),
    ("m", "humidity first-guess errors", lambda chain: chain.write("humidity_made", [synthetic.vapour(LN_P)])),
    ("n", "copy humidity errors", lambda chain: chain.write("humidity", chain.files["humidity_made"])),
    *_passed("o, ", True),
    ("p", "copy the errors", lambda chain: chain.write("kept_errors", chain.files["errors"])),
    ("q", "re-normalise", Chain.normalise),
    ("r", "keep pressure levels", lambda chain: chain.write("plotted", chain.read("first_guess") + chain.increments())),
    ("s", "keep increments and errors", Chain.keep),
    ("t", "interpolate to staggered grid", lambda c: c.write("staggered_increments", staggered(c.increments()))),
    ("u", "statistics of the analysis", lambda chain: chain.statistics(1, "plotted")),
    ("v", "pressure to sigma", _made("analysis", on_sigma, "guess", "staggered_increments")),
    ("w", "stratospheric correction", _made("corrected", corrected, "guess", "analysis")),
)
