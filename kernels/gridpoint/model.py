"""The forecast under way: work files, drivers, time steps, write-up steps; and what each of them took."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from supercomputers_rerun.kernels.files.filesystem import page_aligned
from supercomputers_rerun.kernels.files.work_folder import WorkFolder
from supercomputers_rerun.kernels.gridpoint import writeup
from supercomputers_rerun.kernels.gridpoint.plan import ForecastArrays, make, shapes, views
from supercomputers_rerun.kernels.gridpoint.problem import LAG, Problem
from supercomputers_rerun.kernels.gridpoint.scan import BACKWARD, OPEN, STREAM, scan
from supercomputers_rerun.kernels.gridpoint.state import KEPT, Result, Step, footprint
from supercomputers_rerun.kernels.gridpoint.stores import Accounts, Driver, RecordFiles
from supercomputers_rerun.kernels.runtime.resources import require_threads


class Model:
    """One forecast under way; ``opened`` closes its files and removes its folder."""

    def __init__(self, problem: Problem, state: Any, opened: ExitStack, accounts: Accounts | None = None):
        self.problem, self.step = problem, 0
        need = footprint(problem).disk
        folder = WorkFolder(problem.folder, "forecast", need, "a forecast with its work files")
        self.folder = opened.enter_context(folder).path
        self.plan = make(problem)
        *large, scratch, columns = shapes(self.plan.size)
        self.arrays = ForecastArrays(*map(page_aligned, large), np.zeros(scratch), np.zeros(columns))
        # Without a write-up a window has no more rows than the stages span, which stay in the cache: the newest, three
        # behind it, and the one that the newest takes the place of.
        self.short = self.plan._replace(size=self.plan.size._replace(ring=LAG + 2))
        self.how = False, False, False  # of ``scan``
        self.files = self.rhs = None
        if problem.files:
            parts, records = 2 if problem.files == 4 else 1, self.arrays.records
            self.files = RecordFiles(opened, self.folder, problem, records, "work", problem.files, parts)
        if problem.rhs == "files":
            self.rhs = RecordFiles(opened, self.folder, problem, self.arrays.halves, "rhs", 3, 3)
        self.driver = Driver(problem.overlap, accounts)
        opened.callback(self.driver.close)
        self.computing: list[tuple[float, float]] = []
        self.written: Path | None = None  # by the step before
        self.parts: list[dict[str, np.ndarray]] = []  # of the state at the end
        self._fill(state)

    def _groups(self) -> list[range]:
        lines, nj = self.problem.lines, self.problem.nj
        return [range(start, min(start + lines, nj)) for start in range(0, nj, lines)]

    def _records(self, state, rows: range) -> np.ndarray:
        """The records of rows at the start."""
        block, part = np.zeros((len(rows), self.arrays.records.shape[1])), slice(rows.start, rows.stop)
        fields = views(block, self.plan.size)
        for name in ("u", "v", "T", "q", "ps"):
            fields[f"P_{name}"][:] = state.fields[name][part]
            fields[f"Q_{name}"][:] = state.fields[f"{name}_before"][part]
        for name in KEPT:
            fields[name][:] = state.fields[name][part]
        return block

    def _fill(self, state) -> None:
        """Records of the state, into memory or the files."""
        for rows in self._groups():
            self.arrays.records[np.asarray(rows) % self.plan.size.slots] = self._records(state, rows)
            if self.files is not None:
                self.files.move(rows, True)
        if self.files is not None:
            self.files.turn()
            self.files.transfers.clear()

    def _stage(self, what: int, first: int, end: int, short: bool = False) -> None:
        """One of the passes of ``scan`` over rows ``first`` to ``end`` − 1; in a short window or the whole one."""
        begin = time.perf_counter()
        scan(self.short if short else self.plan, self.arrays, self.how, what, first, end)
        self.computing.append((begin, time.perf_counter()))

    def _move(self, files: RecordFiles | None, rows: range, writing: bool):
        """Start moving records or halves of rows; None where there is nothing to move."""
        if files is None or not rows:
            return None
        return self.driver.start(partial(files.move, rows, writing), writing)

    def _ahead(self, files: RecordFiles | None, groups: list[range]) -> Iterator[range]:
        """The groups of rows, each when it is read; the next is then on its way if transfers overlap."""
        early, coming = self.problem.overlap != "none", self._move(files, groups[0], False)
        for rows, following in zip(groups, [*groups[1:], range(0)], strict=True):
            self.driver.finish(coming)
            if early:
                coming = self._move(files, following, False)
            yield rows
            if not early:
                self._move(files, following, False)

    def _look(self, rows: range) -> dict[str, np.ndarray]:
        """X⁰, X⁻ and what the records keep of ``rows``, at most a group, copied."""
        size, numbers = self.plan.size, np.asarray(rows)
        self._stage(OPEN, rows.start, rows.stop)
        kept = views(self.arrays.records[numbers % size.slots], size)
        return writeup.in_window(self.arrays.window, numbers, size) | {name: kept[name].copy() for name in KEPT}

    def advance(self) -> Step:
        """One time step, or after the last one a look at the state as it is; with its write-up."""
        p, last, writer, self.written = self.problem, self.step == self.problem.steps, None, None
        wall, cpu, waited = time.perf_counter(), time.process_time(), self.driver.waited
        self.how = p.physics, self.step in p.radiation_steps, self.step == 0
        if self.step in p.writeup_steps:
            writer = writeup.Writer(self.folder / f"writeup{self.step}", p, self.step)
        if last:
            self._end(writer)
        else:
            self._scan(writer)
        if writer is not None:
            writer.commit(p.fsync)
            self.written = writer.path
        clock, cpu = time.perf_counter() - wall, time.process_time() - cpu
        took = Step(self.step, p.kind(self.step), clock, cpu, self.driver.waited - waited)
        if self.files is not None:
            self.files.turn()
        self.step += 1
        return took

    def _scan(self, writer: writeup.Writer | None) -> None:
        """A scan over rows that stream from south to north, the Helmholtz equations, and the way back."""
        nj, rhs, moving = self.problem.nj, self.rhs if self.step else None, []
        at_once = writer is self.files is self.rhs is None
        for rows in self._ahead(self.files, [range(nj)] if at_once else self._groups()):
            first, end = rows.start, rows.stop
            if writer is not None:
                writer.rows(first, self._look(rows))
            self._stage(STREAM, first, end + LAG * (end == nj), writer is None)
            done = range(max(first - LAG, 0), nj if end == nj else max(end - LAG, 0))
            moving += [self._move(files, done, True) for files in (self.files, rhs)]
            for job in moving[:-4]:  # their places are read into next
                self.driver.finish(job)
            del moving[:-4]
        for job in moving:
            self.driver.finish(job)
        if self.step:
            self._backward()

    def _backward(self) -> None:
        """Substitution and inverse transforms, from north to south."""
        groups = self._groups()[::-1] if self.rhs is not None else [range(self.problem.nj)]
        for rows in self._ahead(self.rhs, [rows[::-1] for rows in groups]):
            self._stage(BACKWARD, rows[-1], rows[0] + 1)

    def _end(self, writer: writeup.Writer | None) -> None:
        """The state as it is now: a scan that stops where rows are complete."""
        for rows in self._ahead(self.files, self._groups()):
            self.parts.append(self._look(rows))
            if writer is not None:
                writer.rows(rows.start, self.parts[-1])


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
        with ExitStack() as opened:
            going = model(problem, state, opened, accounts)
            on_ready()
            told, clock, cpu = accounts() if accounts else None, time.perf_counter(), time.process_time()
            steps = []
            while going.step <= problem.steps:
                steps.append(going.advance())
                if going.written is not None:
                    on_writeup(going.written)
            fields = {name: np.concatenate([part[name] for part in going.parts]) for name in going.parts[0]}
            if accounts:
                told = tuple(after - before for after, before in zip(accounts(), told, strict=True))
            clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
            transfers, moving = going.files.transfers if going.files else [], sum(going.driver.moving)
            result = Result(fields, state, steps, transfers, going.computing, clock, cpu, told, moving)
        if best is None or result.clock < best.clock:
            best = result
    return best
