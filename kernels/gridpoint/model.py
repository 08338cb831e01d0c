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
from supercomputers_rerun.kernels.gridpoint.scan import BACKWARD, FEWEST, OPEN, STREAM, Kind, Pass, scan
from supercomputers_rerun.kernels.gridpoint.state import KEPT, Result, Step, footprint
from supercomputers_rerun.kernels.gridpoint.stores import Accounts, Driver, RecordFiles
from supercomputers_rerun.kernels.runtime.resources import require_threads
from supercomputers_rerun.kernels.runtime.team import run_parts, worthwhile


class Model:
    """One forecast under way; ``opened`` closes its files and removes its folder."""

    def __init__(self, problem: Problem, state: Any, opened: ExitStack, threads: int, accounts: Accounts | None = None):
        self.problem = problem
        in_memory = not problem.files and problem.rhs == "memory"
        self.threads = worthwhile(threads, problem.nj, FEWEST) if in_memory else 1
        self.step = 0
        need = footprint(problem).disk
        folder = WorkFolder(problem.folder, "forecast", need, "a forecast with its work files")
        self.folder = opened.enter_context(folder)
        self.plan = make(problem)
        size = self.plan.size
        memory = {name: page_aligned(shape) for name, shape in shapes(size, self.threads).items()}
        self.arrays = ForecastArrays(**memory, meetings=np.zeros(1, np.int64))
        self.records = views(self.arrays.records, size)
        # Looks at the state have a window for a whole group of rows, apart from the one that rows stream through: that
        # has no more than the stages span.
        self.wide = self.plan._replace(size=size._replace(ring=problem.lines))
        self.look = self.arrays._replace(window=page_aligned((1, problem.lines * size.row)))
        self.in_window = writeup.in_window(self.look.window.reshape(problem.lines, size.row), size)
        self.kind = Kind(physics=False, radiating=False, euler=False)
        self.files = self.rhs = None
        if problem.files:
            parts, records = 2 if problem.files == 4 else 1, self.arrays.records
            self.files = RecordFiles(opened, self.folder, problem, records, "work", problem.files, parts)
        if problem.rhs == "files":
            self.rhs = RecordFiles(opened, self.folder, problem, self.arrays.spectra, "rhs", 3, 3)
        self.driver = Driver(problem.overlap, accounts)
        opened.callback(self.driver.close)
        self.computing: list[tuple[float, float]] = []
        self.written: Path | None = None  # by the step before
        self.fields: dict[str, np.ndarray] = {}  # of the state at the end
        self._fill(state)

    def _groups(self) -> list[range]:
        lines, nj = self.problem.lines, self.problem.nj
        return [range(start, min(start + lines, nj)) for start in range(0, nj, lines)]

    def _put(self, state, rows: range) -> None:
        """Records of ``rows`` at the start; what they do not get is zero."""
        places = np.asarray(rows) % self.plan.size.slots
        part = slice(rows.start, rows.stop)
        self.arrays.records[places] = 0
        for name in ("u", "v", "T", "q", "ps"):
            self.records[f"P_{name}"][places] = state.fields[name][part]
            self.records[f"Q_{name}"][places] = state.fields[f"{name}_before"][part]
        for name in KEPT:
            self.records[name][places] = state.fields[name][part]

    def _fill(self, state) -> None:
        """Records of the state, into memory or the files."""
        for rows in self._groups():
            self._put(state, rows)
            if self.files is not None:
                self.files.move(rows, True)
        if self.files is not None:
            self.files.turn()
            self.files.transfers.clear()

    def _stage(self, what: int, first: int, end: int) -> None:
        """One of the passes of ``scan`` over rows ``first`` to ``end`` − 1."""
        begin = time.perf_counter()
        plan, arrays = (self.wide, self.look) if what == OPEN else (self.plan, self.arrays)
        run_parts(scan, self.threads, plan, arrays, self.kind, Pass(what, first, end, self.threads))
        self.computing.append((begin, time.perf_counter()))

    def _move(self, files: RecordFiles | None, rows: range, writing: bool):
        """Start moving records or halves of rows; None where there is nothing to move."""
        if files is None or not rows:
            return None
        return self.driver.start(partial(files.move, rows, writing), writing)

    def _ahead(self, files: RecordFiles | None, groups: list[range]) -> Iterator[range]:
        """The groups of rows, each when it is read; the next is then on its way if transfers overlap."""
        early = self.problem.overlap != "none"
        coming = self._move(files, groups[0], False)
        for rows, following in zip(groups, [*groups[1:], range(0)], strict=True):
            self.driver.finish(coming)
            if early:
                coming = self._move(files, following, False)
            yield rows
            if not early:
                self._move(files, following, False)

    def _look(self, rows: range) -> dict[str, np.ndarray]:
        """X⁰, X⁻ and what the records keep of ``rows``, a group; most of it lies in the window until the next look."""
        self._stage(OPEN, rows.start, rows.stop)
        places = np.asarray(rows) % self.plan.size.slots
        fields = {name: field[: len(rows)] for name, field in self.in_window.items()}
        return fields | {name: self.records[name][places] for name in KEPT}

    def advance(self) -> Step:
        """One time step, or after the last one a look at the state as it is; with its write-up."""
        p = self.problem
        last = self.step == p.steps
        writer = None
        self.written = None
        wall = time.perf_counter()
        cpu = time.process_time()
        waited = self.driver.waited
        self.kind = Kind(physics=p.physics, radiating=self.step in p.radiation_steps, euler=self.step == 0)
        if self.step in p.writeup_steps:
            writer = writeup.Writer(self.folder.path / f"writeup{self.step}", p, self.step)
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
        nj = self.problem.nj
        rhs = self.rhs if self.step else None  # Euler's step has none
        moving = []
        at_once = self.files is None and self.rhs is None
        if at_once and writer is not None:
            for rows in self._groups():
                writer.rows(rows.start, self._look(rows))
        for rows in self._ahead(self.files, [range(nj)] if at_once else self._groups()):
            first, end = rows.start, rows.stop
            if writer is not None and not at_once:
                writer.rows(first, self._look(rows))
            self._stage(STREAM, first, end + LAG if end == nj else end)
            done = range(max(first - LAG, 0), nj if end == nj else max(end - LAG, 0))
            moving += [self._move(files, done, True) for files in (self.files, rhs)]
            for job in moving[:-4]:  # of all but the last two groups, whose places are read into next
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
            for name, field in (found := self._look(rows)).items():
                if name not in self.fields:
                    self.fields[name] = page_aligned((self.problem.nj, *field.shape[1:]))
                self.fields[name][rows.start : rows.stop] = field
            if writer is not None:
                writer.rows(rows.start, found)


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
    ``threads`` share the rows of a state in memory in bands of 24 and more; with work files, of which a few rows are in
    memory at a time, one thread computes.  ``Result.threads`` says how many did.
    ``ValueError``: more threads than usable CPUs. ``OSError`` or ``MemoryError``: what memory or disk refuse;
    nothing is left in the folder then.
    """
    require_threads(threads)
    best = None
    for _ in range(repeats):
        with ExitStack() as opened:
            going = model(problem, state, opened, threads, accounts)
            on_ready()
            told, clock, cpu = accounts() if accounts else None, time.perf_counter(), time.process_time()
            steps = []
            while going.step <= problem.steps:
                steps.append(going.advance())
                if going.written is not None:
                    on_writeup(going.written)
            if accounts:
                told = tuple(after - before for after, before in zip(accounts(), told, strict=True))
            clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
            transfers, moving = going.files.transfers if going.files else [], sum(going.driver.moving)
            result = Result(
                going.fields, state, steps, transfers, going.computing, clock, cpu, told, moving, going.threads
            )
        if best is None or result.clock < best.clock:
            best = result
    return best
