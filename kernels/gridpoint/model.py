"""The forecast under way: work files, drivers, time steps, write-up steps; and what each of them took."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kernels.files.filesystem import page_aligned
from kernels.files.work_folder import WorkFolder
from kernels.gridpoint import writeup
from kernels.gridpoint.plan import PAIR, ForecastArrays, make, record_words, scratch_words, views
from kernels.gridpoint.problem import LAG, Problem
from kernels.gridpoint.scan import BACKWARD, OPEN, RING, STREAM, scan
from kernels.gridpoint.state import KEPT, Result, Step, footprint, halves, padded, slots
from kernels.gridpoint.stores import Accounts, Counters, Driver, RecordFiles
from kernels.runtime.resources import require_disk, require_threads
from kernels.runtime.vector import LANES


class Model:
    """One forecast under way.  Use as a context manager: it holds files."""

    def __init__(self, problem: Problem, state: Any, accounts: Accounts | None = None):
        self.problem, self.step = problem, 0
        if need := footprint(problem).disk:
            require_disk(problem.folder or tempfile.gettempdir(), need, "a forecast with its work files")
        records, rights = slots(problem), halves(problem)
        self.plan = make(problem, records, rights)
        size = self.plan.size
        waves = (size.ni // 2 + 1) * size.groups * 2 * PAIR
        self.arrays = ForecastArrays(
            page_aligned((size.ring, size.row)).ravel(),
            page_aligned((records, record_words(size.ni, size.levels))),
            page_aligned((size.nj * size.levels, size.pitch)).reshape(size.nj, size.levels, size.pitch),
            page_aligned((rights, padded(waves))),
            np.zeros(scratch_words(size)),
            np.zeros((7 * size.levels + 5, LANES)),
        )
        # Without a write-up a window has no more rows than the stages span, which stay in the cache.
        self.short = self.plan._replace(size=size._replace(ring=RING))
        self.how = False, False, False  # of ``scan``
        self.folder = self.files = self.rhs = None
        self.driver = Driver(problem.overlap, accounts)
        self.computing: list[tuple[float, float]] = []
        self.written: list[Path] = []
        self._names = iter(range(len(problem.writeup_steps)))
        try:
            if problem.files or problem.rhs == "files" or problem.writeup_steps:
                self.folder = WorkFolder(problem.folder, "forecast")
            if problem.files:
                names, parts = [f"work{n}" for n in range(problem.files)], 2 if problem.files == 4 else 1
                self.files = RecordFiles(self.folder.path, problem, self.arrays.records, names, parts)
            if problem.rhs == "files":
                names = ["rhs0", "rhs1", "rhs2"]
                self.rhs = RecordFiles(self.folder.path, problem, self.arrays.halves, names, 3)
            self._fill(state)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self) -> None:
        """Close files, remove the folder."""
        self.driver.close()
        for files in (self.files, self.rhs):
            if files is not None:
                files.close()
        if self.folder is not None:
            self.folder.close()

    def _groups(self) -> list[tuple[int, int]]:
        lines, nj = self.problem.lines, self.problem.nj
        return [(start, min(start + lines, nj)) for start in range(0, nj, lines)]

    def _records(self, state, rows: slice) -> np.ndarray:
        """The records of rows at the start."""
        block = np.zeros((rows.stop - rows.start, self.arrays.records.shape[1]))
        fields = views(block, self.plan.size)
        for name in ("u", "v", "T", "q", "ps"):
            fields[f"P_{name}"][:] = state.fields[name][rows]
            fields[f"Q_{name}"][:] = state.fields[f"{name}_before"][rows]
        for name in KEPT:
            fields[name][:] = state.fields[name][rows]
        return block

    def _fill(self, state) -> None:
        """Records of the state, into memory or the files."""
        for start, stop in self._groups():
            places = np.arange(start, stop) % self.plan.size.slots
            self.arrays.records[places] = self._records(state, slice(start, stop))
            if self.files is not None:
                for row, slot in enumerate(places, start):
                    self.files.write(row, int(slot))
        if self.files is not None:
            self.files.turn()
            self.files.counters = Counters()

    def _stage(self, what: int, first: int, end: int, short: bool = False) -> None:
        """One of the passes of ``scan`` over rows ``first`` to ``end`` − 1; in a short window or the whole one."""
        begin = time.perf_counter()
        scan(self.short if short else self.plan, self.arrays, self.how, what, first, end)
        self.computing.append((begin, time.perf_counter()))

    def _move(self, start: Callable, move: Callable, rows: range, places: int):
        """Start moving records or halves of rows, each from or to its place in memory."""

        def action():
            for row in rows:
                move(row, row % places)

        return start(action) if rows else None

    def _read(self, files: RecordFiles | None, rows: range, places: int):
        """Start reading records or halves of rows; None without files."""
        return None if files is None else self._move(self.driver.read, files.read, rows, places)

    def _ahead(self, files: RecordFiles | None, rows: list[range], places: int):
        """Numbers of the groups ``rows``, each when it is read; the next is then on its way if transfers overlap."""
        early, ahead = self.problem.overlap != "none", self._read(files, rows[0], places)
        for number, following in enumerate([*rows[1:], range(0)]):
            self.driver.finish(ahead)
            if early:
                ahead = self._read(files, following, places)
            yield number
            if not early:
                self._read(files, following, places)

    def _incoming(self, groups: list[tuple[int, int]]):
        """Groups of rows whose records are there, from south to north; where transfers overlap the next are coming."""
        rows = [range(*group) for group in groups]
        for number in self._ahead(self.files, rows, self.plan.size.slots):
            yield groups[number]

    def _look(self, first: int, end: int) -> dict[str, np.ndarray]:
        """X⁰, X⁻ and what the records keep of rows ``first`` to ``end`` − 1, at most a group, copied."""
        size, rows = self.plan.size, np.arange(first, end)
        self._stage(OPEN, first, end)
        kept = views(self.arrays.records[rows % size.slots], size)
        return writeup.in_window(self.arrays.window, rows, size) | {name: kept[name].copy() for name in KEPT}

    def _writer(self) -> writeup.Writer | None:
        p = self.problem
        if self.step not in p.writeup_steps:
            return None
        path = self.folder.path / f"writeup{next(self._names)}"
        return writeup.Writer(path, p.ni, p.nj, p.levels, self.step, self.step * p.dt)

    def _timed(self, work: Callable[[writeup.Writer | None], float]) -> Step:
        """A step by ``work(writer)``, which gives the seconds of its write-up."""
        wall, cpu, waited = time.perf_counter(), time.process_time(), self.driver.waited
        writer = self._writer()
        spent, begin = work(writer), time.perf_counter()
        if writer is not None:
            writer.commit(self.problem.fsync)
            self.written.append(writer.path)
            spent += time.perf_counter() - begin
        clock, cpu = time.perf_counter() - wall, time.process_time() - cpu
        return Step(self.step, self.problem.kind(self.step), clock, cpu, self.driver.waited - waited, spent)

    def advance(self) -> Step:
        """One time step: a scan, the Helmholtz equations, the way back."""
        self.how = self.problem.physics, self.step in self.problem.radiation_steps, self.step == 0
        took = self._timed(self._scan)
        if self.files is not None:
            self.files.turn()
        self.step += 1
        return took

    def _scan(self, writer) -> float:
        """A step of rows that stream from south to north, and the way back; seconds of writing up."""
        spent, nj, size = 0.0, self.problem.nj, self.plan.size
        jobs = {self.files: [], self.rhs: []}
        at_once = writer is self.files is self.rhs is None
        for first, end in self._incoming([(0, nj)] if at_once else self._groups()):
            if writer is not None:
                spent += writer.rows(first, self._look(first, end))
            self._stage(STREAM, first, end + LAG * (end == nj), writer is None)
            done = max(first - LAG, 0), nj if end == nj else max(end - LAG, 0)
            for files, places in ((self.files, size.slots), (self.rhs if self.step else None, size.halves)):
                if files is not None:
                    jobs[files].append(self._move(self.driver.write, files.write, range(*done), places))
                    for job in jobs[files][:-2]:  # their places are read into next
                        self.driver.finish(job)
                    del jobs[files][:-2]
        for job in (*jobs[self.files], *jobs[self.rhs]):
            self.driver.finish(job)
        if self.step:
            self._backward()
        return spent

    def _backward(self) -> None:
        """Substitution and inverse transforms, from north to south."""
        groups = self._groups()[::-1] if self.rhs is not None else [(0, self.problem.nj)]
        rows = [range(end - 1, first - 1, -1) for first, end in groups]
        for number in self._ahead(self.rhs, rows, self.plan.size.halves):
            self._stage(BACKWARD, *groups[number])

    def last(self) -> tuple[Step, dict[str, np.ndarray]]:
        """The state as it is now: a scan that stops where rows are complete, and the last write-up."""
        parts: list[dict[str, np.ndarray]] = []

        def look(writer) -> float:
            spent = 0.0
            for first, end in self._incoming(self._groups()):
                parts.append(self._look(first, end))
                spent += writer.rows(first, parts[-1]) if writer is not None else 0.0
            return spent

        took = self._timed(look)
        return took, {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def run(
    problem: Problem,
    state: Any,
    threads: int = 1,
    repeats: int = 1,
    on_writeup: Callable[[Path], None] = lambda path: None,
    on_ready: Callable[[], None] = lambda: None,
    accounts: Accounts | None = None,
    model: type[Model] = Model,
) -> Result:
    """The forecast from ``state`` to its end, ``repeats`` times; the result of the fastest.

    ``on_ready()`` is called when the work files are made, before the clock starts; ``on_writeup(path)`` is told of each
    write-up file when it is whole, and the files are removed at the end; ``accounts()`` as in ``stores.Driver``.
    One thread computes, whatever ``threads`` is.
    ``ValueError``: more threads than usable CPUs. ``OSError`` or ``MemoryError``: what memory or disk refuse;
    nothing is left in the folder then.
    """
    require_threads(threads)
    best = None
    for _ in range(repeats):
        with model(problem, state, accounts) as going:
            on_ready()
            told, clock, cpu = accounts() if accounts else None, time.perf_counter(), time.process_time()
            steps, fields = [], {}
            while going.step <= problem.steps and not fields:
                if going.step < problem.steps:
                    steps.append(going.advance())
                else:
                    step, fields = going.last()
                    steps.append(step)
                while going.written:
                    on_writeup(going.written.pop())
            if accounts:
                told = tuple(after - before for after, before in zip(accounts(), told, strict=True))
            clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
            counters = going.files.counters if going.files else Counters()
            moving = sum(going.driver.moving)
            result = Result(fields, going.step, steps, counters, going.computing, state, clock, cpu, told, moving)
        if best is None or result.clock < best.clock:
            best = result
    return best
