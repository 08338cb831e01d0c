"""The forecast under way: work files, drivers, time steps, write-up steps; and what each of them took."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from kernels.files.pending import WorkFolder
from kernels.gridpoint import bands, physics, writeup
from kernels.gridpoint import state as given
from kernels.gridpoint.plan import HALO, PAIR, PM, PS, Plan, make, scratch_words
from kernels.gridpoint.problem import LAG, Problem
from kernels.gridpoint.record import require_stamps, stamp, stamp_rows, views, wrong_row
from kernels.gridpoint.rows import Room
from kernels.gridpoint.scan import backward, explicit, forward, open_rows
from kernels.gridpoint.state import KEPT, Result, State, Step, Summary, footprint, halves, hashed, padded, slots
from kernels.gridpoint.stores import Counters, Files, Halves, page_aligned
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
        self.plan: Plan = make(problem, records, rights)
        size = self.plan.size
        waves = (size.ni // 2 + 1) * size.groups * 2 * PAIR
        self.room = Room(
            np.zeros(size.ring * size.row),
            page_aligned((records, problem.words)),
            np.zeros((size.nj, size.levels, size.pitch)),
            page_aligned((rights, padded(waves))),
            np.zeros((threads, scratch_words(size))),
        )
        self.gate = np.zeros(1, np.int64)
        self.banded = not problem.files and problem.rhs == "memory" and problem.nj >= bands.FEWEST * threads
        self.rays = physics.radiation_arrays(size.levels, threads), np.stack([physics.ABSORPTION, physics.WEIGHTS])
        self.bands = bands.make(self.plan, threads, *self.rays)
        self.band_plan, self.rooms = bands.rooms(self.plan, self.room, threads if self.banded else 0)
        self.folder = self.files = self.rhs = None
        self.driver, self.team = Driver(problem.overlap, accounts), Team(threads)
        self.computing: list[tuple[float, float]] = []
        self.summary = Summary(Integrals(problem), Integrals(problem)) if problem.allowed else None
        self.written: list[Path] = []
        self.told = 0
        try:
            if problem.files or problem.rhs == "files" or problem.writeup_steps:
                self.folder = WorkFolder(problem.folder, "forecast")
            if problem.files:
                self.files = Files(self.folder.path, problem, self.room.records)
            if problem.rhs == "files":
                self.rhs = Halves(self.folder.path, problem, self.room.halves)
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
            block, given = np.zeros((len(rows), self.problem.words)), state.rows(rows)
            views_ = views(block, self.problem.ni, self.problem.levels)
            for name in ("u", "v", "T", "q", "ps"):
                views_[f"P_{name}"][:] = given[name]
                views_[f"Q_{name}"][:] = given[f"{name}_before"]
            for name in KEPT:
                views_[name][:] = given[name]
            if self.summary is not None:
                self.summary.start.add(start, given)
            stamp(block, start, self.step)
            self.room.records[places] = block
            if self.files is not None:
                for row, slot in zip(rows, places, strict=True):
                    self.files.write(int(row), int(slot))
        if self.files is not None:
            self.files.turn()
            self.files.counters = Counters()

    def _compute(self, function: Callable) -> None:
        begin = time.perf_counter()
        self.team.run(function)
        self.computing.append((begin, time.perf_counter()))

    def _read(self, group: tuple[int, int] | None):
        """Start reading the records of a group; None without files."""
        if self.files is None or group is None:
            return None

        def action():
            for row in range(*group):
                self.files.read(row, row % self.plan.size.slots)

        return self.driver.read(action)

    def _write(self, first: int, end: int):
        if self.files is None or end <= first:
            return None

        def action():
            for row in range(first, end):
                self.files.write(row, row % self.plan.size.slots)

        return self.driver.write(action)

    def _check(self, first: int, end: int) -> None:
        if self.files is None:
            return
        if (row := wrong_row(self.room.records, first, end, self.step)) >= 0:
            slot = row % self.plan.size.slots
            require_stamps(self.room.records[slot : slot + 1], row, self.step, "the work files")

    def _explicit(self, first: int, end: int, radiating: bool) -> None:
        """A group through the first three stages, its column work, and the fourth."""
        plan, room, gate, threads = self.plan, self.room, self.gate, self.threads
        start, nj = self.step == 0, self.problem.nj
        if threads == 1:
            self.bands.how[:] = self.problem.physics, radiating, start
            short = plan if self.step in self.problem.writeup_steps else self.band_plan
            self._compute(lambda t: bands.stream(short, room, self.bands, first, end))
            return
        rows = max(first - 2, 0), min(end - 2, nj)
        after = max(first - 3, 0), min(end - 3, nj)

        def work(t):
            explicit(plan, room, gate, t, threads, first, end, start)
            if self.problem.physics and rows[1] > rows[0]:
                if radiating:
                    physics.radiation(plan, room, *self.rays, t, threads, *rows)
                physics.columns(plan, room, t, threads, *rows, start)
            if not start and after[1] > after[0]:
                if self.problem.physics and threads > 1:
                    forward(plan, room, gate, t, threads, 0, 0)  # wait for the columns of the other threads
                forward(plan, room, gate, t, threads, *after)

        self._compute(work)

    def _kept(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """What the records of rows keep, copied: column work changes it in place."""
        size = self.plan.size
        found = views(self.room.records[rows % size.slots], size.ni, size.levels)
        return {name: found[name].copy() for name in KEPT}

    def _window(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """X⁰ and X⁻ of rows in the window."""
        size = self.plan.size
        window = self.room.window.reshape(size.ring, size.row)[rows % size.ring]
        fields = window[:, : 8 * size.field].reshape(len(rows), 8, size.levels, size.pitch)[..., HALO : HALO + size.ni]
        lines = window[:, 22 * size.field : 22 * size.field + 5 * size.pitch]
        lines = lines.reshape(len(rows), 5, size.pitch)[..., HALO : HALO + size.ni]
        found = {name: fields[:, n] for n, name in enumerate(writeup.NAMES[:8])}
        found |= {"ps": lines[:, PS], "ps_before": lines[:, PM]}
        return found

    def _write_up(self, writer: writeup.Writer, rows: np.ndarray, kept: dict[str, np.ndarray]) -> None:
        ni, levels = self.problem.ni, self.problem.levels
        found = self._window(rows) | kept
        block = np.empty((len(rows), writeup.row_words(ni, levels)))
        at = 0
        for name in (*writeup.NAMES, *writeup.LINES):
            part = found[name].reshape(len(rows), -1)
            block[:, at : at + part.shape[1]] = part
            at += part.shape[1]
        writer.rows(block)

    def _writer(self) -> writeup.Writer | None:
        if self.step not in self.problem.writeup_steps:
            return None
        p = self.problem
        path = self.folder.path / f"writeup{len(self.written)}"
        return writeup.Writer(path, p.ni, p.nj, p.levels, self.step, self.step * p.dt)

    def advance(self) -> Step:
        """One time step: a scan, the Helmholtz equations, the way back."""
        wall, cpu, waited, kind = time.perf_counter(), time.process_time(), self.driver.waited, self._kind()
        writer, spent = self._writer(), 0.0
        try:
            if self.banded and writer is None:
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
        return self._took(kind, wall, cpu, waited, spent)

    def _by_bands(self) -> None:
        """The step of a state in memory that writes nothing up: see ``bands``."""
        plan, rooms, made, gate, threads = self.band_plan, self.rooms, self.bands, self.gate, self.threads
        made.how[:] = self.problem.physics, self.step in self.problem.radiation_steps, self.step == 0
        self._compute(lambda t: bands.step(plan, rooms[t], made, gate, t, threads))

    def _took(self, kind, wall, cpu, waited, spent) -> Step:
        clock, cpu, waited = time.perf_counter() - wall, time.process_time() - cpu, self.driver.waited - waited
        return Step(self.step - 1, kind, clock, cpu, waited, spent)

    def _commit(self, writer) -> None:
        if writer is not None:
            writer.commit(self.problem.fsync)
            self.written.append(writer.pending.path)

    def notify(self, on_writeup: Callable[[Path], None]) -> None:
        """Tell of the write-ups that were not told of before."""
        while self.told < len(self.written):
            on_writeup(self.written[self.told])
            self.told += 1

    def _kind(self) -> str:
        up, radiating = self.step in self.problem.writeup_steps, self.step in self.problem.radiation_steps
        names = [name for name, yes in (("radiation", radiating), ("write-up", up)) if yes]
        return " and ".join(names) or ("first" if self.step == 0 else "normal")

    def _scan(self, writer) -> float:
        """From south to north; seconds of writing up."""
        groups, nj = self._groups(), self.problem.nj
        radiating, spent = self.step in self.problem.radiation_steps, 0.0
        ahead, writes, rhs = self._read(groups[0]), [], []
        for n, (first, end) in enumerate(groups):
            self.driver.finish(ahead)
            for job in writes[:-2]:  # their slots are read into next
                self.driver.finish(job)
            del writes[:-2]
            ahead = self._read(groups[n + 1] if n + 1 < len(groups) else None)
            self._check(first, end)
            last, rows = n + 1 == len(groups), np.arange(first, end)
            kept = self._kept(rows) if writer is not None else {}
            self._explicit(first, end, radiating)
            if writer is not None:
                begin = time.perf_counter()
                self._write_up(writer, rows, kept)
                spent += time.perf_counter() - begin
            if last:
                self._explicit(nj, nj + LAG, radiating)
            done = max(first - LAG, 0), nj if last else max(end - LAG, 0)
            stamp_rows(self.room.records, *done, self.step + 1)
            writes.append(self._write(*done))
            if self.rhs is not None and self.step:
                rhs.append(self._save(*done))
                for job in rhs[:-2]:
                    self.driver.finish(job)
                del rhs[:-2]
        for job in (*writes, *rhs):
            self.driver.finish(job)
        return spent

    def _save(self, first: int, end: int):
        def action():
            for row in range(first, end):
                self.rhs.write(row, row % self.plan.size.halves)

        return self.driver.write(action)

    def _fetch(self, group):
        if self.rhs is None or group is None:
            return None

        def action():
            for row in range(group[1] - 1, group[0] - 1, -1):
                self.rhs.read(row, row % self.plan.size.halves)

        return self.driver.read(action)

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
        backward(self.plan, self.room, self.gate, t, self.threads, first, end)

    def _open(self, t: int, first: int, end: int) -> None:
        if t == 0:
            open_rows(self.plan, self.room, first, end)

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
        writer, parts, spent = self._writer(), [], 0.0
        groups = self._groups()
        try:
            ahead = self._read(groups[0])
            for n, (first, end) in enumerate(groups):
                self.driver.finish(ahead)
                ahead = self._read(groups[n + 1] if n + 1 < len(groups) else None)
                self._check(first, end)
                self._compute(partial(self._open, first=first, end=end))
                rows = np.arange(first, end)
                kept = self._kept(rows)
                parts.append(self._looked_at(first, self._window(rows) | kept))
                if writer is not None:
                    begin = time.perf_counter()
                    self._write_up(writer, rows, kept)
                    spent += time.perf_counter() - begin
            self._commit(writer)
        except BaseException:
            if writer is not None:
                writer.discard()
            raise
        fields = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
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

    Raises
    ------
    ValueError
        More threads than usable CPUs, fewer repeats than one, or a state of another problem.
    OSError, MemoryError
        What memory or disk refuse; nothing is left in the folder then.
    """
    given.require_state(problem, state, repeats)
    best = None
    for _ in range(repeats):
        with Model(problem, state, threads, accounts) as model:
            on_ready()
            watch, steps = Watch(accounts), []
            while model.step < problem.steps:
                steps.append(model.advance())
                model.notify(on_writeup)
            step, fields = model.last()
            steps.append(step)
            clock, spent, accounted = watch.spent()
            model.notify(on_writeup)
            counters = model.files.counters if model.files else Counters()
            rest = model.computing, state, clock, spent, model.summary, accounted
            result = Result(fields, model.step, steps, counters, *rest)
        if best is None or result.clock < best.clock:
            best = result
    return best
