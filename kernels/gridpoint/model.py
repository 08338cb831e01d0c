"""The forecast under way: work files, drivers, time steps, write-up steps; and what each of them took."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from kernels.files.work_folder import WorkFolder
from kernels.gridpoint import stores, writeup
from kernels.gridpoint.layout import PAIR, ForecastArrays, record_words, require_stamps, stamp_rows, views
from kernels.gridpoint.plan import ForecastPlan, make, scratch_words
from kernels.gridpoint.problem import LAG, Problem
from kernels.gridpoint.scan import BACKWARD, FEWEST, LED, OPEN, RING, STEP, STREAM, dismiss, scan, share
from kernels.gridpoint.state import KEPT, Result, State, Step, Summary, footprint, halves, hashed, padded, slots
from kernels.gridpoint.transfers import Accounts, Driver, Watch
from kernels.gridpoint.verification import Integrals
from kernels.runtime.resources import require_disk, require_threads
from kernels.runtime.threads import Team


class Model:
    """One forecast under way.  Use as a context manager: it holds files and threads."""

    def __init__(self, problem: Problem, state: State, threads: int, accounts: Accounts | None = None):
        self.problem, self.threads, self.step = problem, require_threads(threads), state.step
        if need := footprint(problem).disk:
            require_disk(problem.folder or tempfile.gettempdir(), need, "a forecast with its work files")
        records, rights = slots(problem), halves(problem)
        self.plan: ForecastPlan = make(problem, records, rights)
        size = self.plan.size
        waves = (size.ni // 2 + 1) * size.groups * 2 * PAIR
        self.arrays = ForecastArrays(
            stores.page_aligned((size.ring, size.row)).ravel(),
            stores.page_aligned((records, record_words(size.ni, size.levels))),
            stores.page_aligned((size.nj * size.levels, size.pitch)).reshape(size.nj, size.levels, size.pitch),
            stores.page_aligned((rights, padded(waves))),
            np.zeros((threads, scratch_words(size))),
        )
        self.shared = share(size, threads)
        self.banded = not problem.files and problem.rhs == "memory" and problem.nj >= FEWEST * threads
        windows = [stores.page_aligned((RING, size.row)).ravel() for _ in range(threads if self.banded else 0)]
        self.bands = [self.arrays._replace(window=window) for window in windows]
        self.short = self.plan._replace(size=size._replace(ring=RING))  # with the window of a band
        self.folder = self.files = self.rhs = None
        self.driver, self.team = Driver(problem.overlap, accounts), Team(threads)
        self.computing: list[tuple[float, float]] = []
        self.summary = Summary(Integrals(problem), Integrals(problem)) if problem.allowed else None
        self.written: list[Path] = []
        self.told, self.leading = 0, False
        try:
            if problem.files or problem.rhs == "files" or problem.writeup_steps:
                self.folder = WorkFolder(problem.folder, "forecast")
            if problem.files:
                self.files = stores.state_files(self.folder.path, problem, self.arrays.records)
            if problem.rhs == "files":
                self.rhs = stores.half_files(self.folder.path, problem, self.arrays.halves)
            self._fill(state)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self) -> None:
        """End threads, close files, remove the folder."""
        self.driver.close()
        self.team.close()
        for files in (self.files, self.rhs):
            if files is not None:
                files.close()
        if self.folder is not None:
            self.folder.close()
            self.folder = None

    def _groups(self) -> list[tuple[int, int]]:
        lines, nj = self.problem.lines, self.problem.nj
        return [(start, min(start + lines, nj)) for start in range(0, nj, lines)]

    def _fill(self, state: State) -> None:
        """Records of the state, into memory or the files."""
        for start, stop in self._groups():
            rows = np.arange(start, stop)
            places = rows % self.plan.size.slots
            block, found = np.zeros((len(rows), self.arrays.records.shape[1])), state.rows(rows)
            fields = views(block, self.plan.size)
            for name in ("u", "v", "T", "q", "ps"):
                fields[f"P_{name}"][:] = found[name]
                fields[f"Q_{name}"][:] = found[f"{name}_before"]
            for name in KEPT:
                fields[name][:] = found[name]
            if self.summary is not None:
                self.summary.start.add(start, found)
            self.arrays.records[places] = block
            stamp_rows(self.arrays.records, start, stop, self.step)
            if self.files is not None:
                for row, slot in zip(rows, places, strict=True):
                    self.files.write(int(row), int(slot))
        if self.files is not None:
            self.files.turn()
            self.files.counters = stores.Counters()

    def _compute(self, function: Callable) -> None:
        begin = time.perf_counter()
        self.team.run(function)
        self.computing.append((begin, time.perf_counter()))

    def _move(self, start: Callable, move: Callable, rows: range, places: int):
        """Start moving records or halves of rows, each from or to its place in memory."""

        def action():
            for row in rows:
                move(row, row % places)

        return start(action) if rows else None

    def _read(self, group: tuple[int, int] | None):
        """Start reading the records of a group; None without files."""
        if self.files is None or group is None:
            return None
        return self._move(self.driver.read, self.files.read, range(*group), self.plan.size.slots)

    def _set_how(self) -> None:
        p = self.problem
        self.shared.how[:3] = p.physics, self.step in p.radiation_steps, self.step == 0

    def _forward(self, first: int, end: int) -> None:
        """A group through all stages."""
        short = self.threads == 1 and self.step not in self.problem.writeup_steps
        plan, arrays, shared, threads = self.short if short else self.plan, self.arrays, self.shared, self.threads
        self._compute(lambda t: scan(plan, arrays, shared, t, threads, STREAM, first, end))

    def _kept(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """What the records of rows keep, copied: column work changes it in place."""
        size = self.plan.size
        found = views(self.arrays.records[rows % size.slots], size)
        return {name: found[name].copy() for name in KEPT}

    def _write_up(self, writer: writeup.Writer | None, rows: np.ndarray, found: dict[str, np.ndarray]) -> float:
        """Seconds that it took."""
        begin = time.perf_counter()
        if writer is None:
            return 0.0
        size = self.plan.size
        block = np.empty((len(rows), writeup.row_words(size.ni, size.levels)))
        for name, part in writeup.fields_of(block, size.ni, size.levels).items():
            part[:] = found[name]
        writer.rows(int(rows[0]), block)
        return time.perf_counter() - begin

    def _by_band(self, use: Callable[[np.ndarray, dict[str, np.ndarray]], float]) -> float:
        """``use(rows, fields)`` for all rows, a few at a time, by the threads of their bands: X⁰, X⁻, and what the
        records keep.  Seconds that it gives, of the slowest thread."""
        size, records, spent = self.short.size, self.arrays.records, [0.0] * self.threads

        def work(t):
            first, stop = (size.nj * n // self.threads for n in (t, t + 1))
            for start in range(first, stop, RING):
                end = min(start + RING, stop)
                rows = np.arange(start, end)
                scan(self.short, self.bands[t], self.shared, t, self.threads, OPEN, start, end)
                kept = views(records[start:end], size)
                found = writeup.in_window(self.bands[t].window, rows, size) | {name: kept[name] for name in KEPT}
                spent[t] += use(rows, found)

        self._compute(work)
        return max(spent)

    def _writer(self) -> writeup.Writer | None:
        if self.step not in self.problem.writeup_steps:
            return None
        p = self.problem
        path = self.folder.path / f"writeup{len(self.written)}"
        return writeup.Writer(path, p.ni, p.nj, p.levels, self.step, self.step * p.dt)

    def advance(self) -> Step:
        """One time step: a scan, the Helmholtz equations, the way back."""
        wall, cpu, waited = time.perf_counter(), time.process_time(), self.driver.waited
        writer, spent = self._writer(), 0.0
        try:
            if self.banded:
                if writer is not None:
                    spent = self._by_band(partial(self._write_up, writer))
                self._by_bands()
            else:
                spent = self._scan(writer)
                self._backward()
            begin = time.perf_counter()
            self._commit(writer)
            spent += time.perf_counter() - begin if writer else 0.0
        except BaseException:
            if writer is not None:
                writer.discard()
            raise
        if self.files is not None:
            self.files.turn()
        self.step += 1
        return self._took(self.problem.kind(self.step - 1), wall, cpu, waited, spent)

    def _by_bands(self) -> None:
        """The step of a state in memory."""
        plan, bands, shared, threads = self.short, self.bands, self.shared, self.threads
        self._set_how()
        if self.leading:
            begin = time.perf_counter()
            scan(plan, bands[0], shared, 0, threads, LED, 0, 0)
            self.computing.append((begin, time.perf_counter()))
        else:
            self._compute(lambda t: scan(plan, bands[t], shared, t, threads, STEP, 0, 0))

    def march(self) -> list[Step]:
        """The next step, and those after it up to the next write-up that threads can do without sleeping between."""
        p, steps = self.problem, []
        end = min((number for number in p.writeup_steps if number >= self.step), default=p.steps)
        if not self.banded or self.threads == 1 or end <= self.step:
            return [self.advance()]

        def work(t):
            if t:
                scan(self.short, self.bands[t], self.shared, t, self.threads, LED, 0, 0)
                return
            self.leading = True
            try:
                while self.step < end:
                    steps.append(self.advance())
            finally:
                self.leading = False
                dismiss(self.shared, self.threads)

        self.team.run(work)
        return steps

    def _took(self, kind, wall, cpu, waited, spent) -> Step:
        clock, cpu, waited = time.perf_counter() - wall, time.process_time() - cpu, self.driver.waited - waited
        return Step(self.step - 1, kind, clock, cpu, waited, spent)

    def _commit(self, writer) -> None:
        if writer is not None:
            writer.commit(self.problem.fsync)
            self.written.append(writer.path)

    def notify(self, on_writeup: Callable[[Path], None]) -> None:
        """Tell of the write-ups that were not told of before."""
        while self.told < len(self.written):
            on_writeup(self.written[self.told])
            self.told += 1

    def _incoming(self):
        """Groups of rows whose records are there, from south to north; those of the next are on their way."""
        groups = self._groups()
        ahead = self._read(groups[0])
        for n, (first, end) in enumerate(groups):
            self.driver.finish(ahead)
            ahead = self._read(groups[n + 1] if n + 1 < len(groups) else None)
            if self.files is not None:
                require_stamps(self.arrays.records, first, end, self.step)
            yield first, end

    def _scan(self, writer) -> float:
        """From south to north; seconds of writing up."""
        spent, nj, size = 0.0, self.problem.nj, self.plan.size
        self._set_how()
        jobs = {self.files: [], self.rhs: []}
        for first, end in self._incoming():
            if writer is not None:  # before the explicit step, which leaves nothing of X⁻
                rows = np.arange(first, end)
                self._compute(partial(self._open, first=first, end=end))
                found = writeup.in_window(self.arrays.window, rows, size) | self._kept(rows)
                spent += self._write_up(writer, rows, found)
            self._forward(first, end)
            if end == nj:
                self._forward(nj, nj + LAG)
            done = max(first - LAG, 0), nj if end == nj else max(end - LAG, 0)
            stamp_rows(self.arrays.records, *done, self.step + 1)
            for files, places in ((self.files, size.slots), (self.rhs if self.step else None, size.halves)):
                if files is not None:
                    jobs[files].append(self._move(self.driver.write, files.write, range(*done), places))
                    for job in jobs[files][:-2]:  # their places are read into next
                        self.driver.finish(job)
                    del jobs[files][:-2]
        for job in (*jobs[self.files], *jobs[self.rhs]):
            self.driver.finish(job)
        return spent

    def _fetch(self, group):
        if self.rhs is None or group is None:
            return None
        rows = range(group[1] - 1, group[0] - 1, -1)
        return self._move(self.driver.read, self.rhs.read, rows, self.plan.size.halves)

    def _backward(self) -> None:
        """Substitution and inverse transforms, from north to south."""
        if self.step == 0:
            return
        groups = self._groups()[::-1] if self.rhs is not None else [(0, self.problem.nj)]
        ahead = self._fetch(groups[0])
        for n, (first, end) in enumerate(groups):
            self.driver.finish(ahead)
            ahead = self._fetch(groups[n + 1] if n + 1 < len(groups) else None)
            self._compute(partial(self._back, first=first, end=end))

    def _back(self, t: int, first: int, end: int) -> None:
        scan(self.plan, self.arrays, self.shared, t, self.threads, BACKWARD, first, end)

    def _open(self, t: int, first: int, end: int) -> None:
        if t == 0:
            scan(self.plan, self.arrays, self.shared, t, self.threads, OPEN, first, end)

    def _looked_at(self, first: int, found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Copies of the fields of rows; of a state that is not kept its lines only, after a look at the rest."""
        if self.summary is None:
            return {name: array.copy() for name, array in found.items()}
        self.summary.end.add(first, found)
        hashed(self.summary.hash, found)
        return {name: array.copy() for name, array in found.items() if array.ndim == 2}

    def last(self) -> tuple[Step, dict[str, np.ndarray]]:
        """The state as it is now: a scan that stops where rows are complete, and the last write-up."""
        wall, cpu, waited = time.perf_counter(), time.process_time(), self.driver.waited
        writer, parts, spent = self._writer(), {}, 0.0

        def look(rows, found):
            parts[int(rows[0])] = self._looked_at(int(rows[0]), found)
            return self._write_up(writer, rows, found)

        try:
            if self.banded:
                spent = self._by_band(look)
            else:
                for first, end in self._incoming():
                    self._compute(partial(self._open, first=first, end=end))
                    rows = np.arange(first, end)
                    spent += look(rows, writeup.in_window(self.arrays.window, rows, self.plan.size) | self._kept(rows))
            self._commit(writer)
        except BaseException:
            if writer is not None:
                writer.discard()
            raise
        ordered = [parts[first] for first in sorted(parts)]
        fields = {name: np.concatenate([part[name] for part in ordered]) for name in ordered[0]}
        self.step += 1
        took = self._took("last and write-up" if writer else "last", wall, cpu, waited, spent)
        self.step -= 1
        return replace(took, number=self.step), fields


def run(
    problem: Problem,
    state: State,
    threads: int = 1,
    repeats: int = 1,
    on_writeup: Callable[[Path], None] = lambda path: None,
    on_ready: Callable[[], None] = lambda: None,
    accounts: Accounts | None = None,
) -> Result:
    """The forecast from ``state`` to its end, ``repeats`` times; the result of the fastest.

    ``on_ready()`` is called when the work files are made, before the clock starts; ``on_writeup(path)`` is told of each
    write-up file when it is whole, and the files are removed at the end; ``accounts()`` as in ``transfers.Driver``.
    ``ValueError``: more threads than usable CPUs. ``OSError`` or ``MemoryError``: what memory or disk refuse;
    nothing is left in the folder then.
    """
    best = None
    for _ in range(repeats):
        with Model(problem, state, threads, accounts) as model:
            on_ready()
            watch, steps = Watch(accounts), []
            while model.step < problem.steps:
                steps += model.march()
                model.notify(on_writeup)
            step, fields = model.last()
            steps.append(step)
            clock, spent, accounted = watch.spent()
            model.notify(on_writeup)
            counters = model.files.counters if model.files else stores.Counters()
            rest = model.computing, state, clock, spent, model.summary, accounted
            result = Result(fields, model.step, steps, counters, *rest)
        if best is None or result.clock < best.clock:
            best = result
    return best
