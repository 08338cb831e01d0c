"""The four transpositions of IFS between grid, Fourier and spectral space, on the mesh of ``mesh`` (P4, C5).

Names are those of the IFS routines:

    TRGTOL  grid → Fourier space     among the ranks of a band, real values
    TRLTOM  Fourier → spectral       among the ranks of a part of the fields, complex coefficients
    TRMTOL  spectral → Fourier       back
    TRLTOG  Fourier → grid space     back

Layouts, all float64 and flat, fields of the rank's part running fastest in spectral order:

    grid      [field][point of the piece]
    lines     [field of the part][point of the band]
    waves     for every w', wavenumber m of w', row of the band that carries m: [field][re, im]
    columns   for every own wavenumber m, row of the sphere that carries m:     [field][re, im]

:class:`Moves` serves the transforms of ``spectral.ranks``.  The kernel makes the moves alone, without computing between
them and so without a barrier before each.  There every value is the number of its place, so that one that arrived
elsewhere shows.
"""

from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar, NamedTuple

import numpy as np

from kernels.contract import Check, Footprint, Work
from kernels.mpi import world
from kernels.mpi.mesh import Mesh, Shared
from kernels.mpi.scale import transposition
from kernels.mpi.traffic import Planned, Traffic, starts
from kernels.runtime.jit import kernel
from kernels.runtime.resources import require_memory

__all__ = ["ROUTINES", "Moves", "Problem", "State", "copy_blocks", "reference", "run", "setup", "times", "verify"]

ROUTINES = ("TRGTOL", "TRLTOM", "TRMTOL", "TRLTOG")


@kernel
def copy_blocks(source, target, source_at, target_at, lengths):
    """``target[target_at[b] + i] = source[source_at[b] + i]`` for every block b and i < lengths[b]; all flat."""
    for b in range(lengths.size):
        for i in range(lengths[b]):
            target[target_at[b] + i] = source[source_at[b] + i]


class Moves:
    """The transpositions of one rank.

    The communicator of ``traffic`` has ``mesh.W * mesh.V`` ranks.
    """

    def __init__(self, mesh: Mesh, traffic: Traffic):
        self.mesh, self.traffic = mesh, traffic
        comm = traffic.comm
        self.w, self.v = divmod(comm.rank, mesh.V)
        across, self.down = comm.Split(self.w, self.v), comm.Split(mesh.V + self.v, self.w)
        self.fields = int(mesh.parts[self.v + 1] - mesh.parts[self.v])
        self.pieces = mesh.pieces(self.w)
        self.points = int(self.pieces[self.v + 1] - self.pieces[self.v])
        self.band_points = mesh.band_points(self.w)
        self.m = mesh.wavenumbers(self.w)
        field, points = np.arange(self.fields), np.diff(self.pieces)[:, None]
        places = self.fields * self.pieces[:-1, None] + field * points
        lines = self.pieces[:-1, None] + field * self.band_points
        #: of every piece and field: place by ranks, place in ``lines``, length
        self._line_blocks = places.ravel(), lines.ravel(), (points + 0 * field).ravel()
        self._spectral_tables()
        grid_counts, line_counts = np.diff(mesh.parts) * self.points, self.fields * np.diff(self.pieces)
        self.to_lines = Planned(traffic, across, grid_counts, line_counts)
        self.to_grid = Planned(traffic, across, line_counts, grid_counts)
        self.to_columns = Planned(traffic, self.down, self.wave_counts, self.column_counts, own=False)
        self.to_waves = Planned(traffic, self.down, self.column_counts, self.wave_counts, own=False)
        self._lines = np.zeros(self.fields * self.band_points)
        self._columns = np.zeros(int(self.column_counts.sum()))

    def _spectral_tables(self):
        mesh, width = self.mesh, 2 * self.fields
        owners = [mesh.wavenumbers(w) for w in range(mesh.W)]
        here = [mesh.rows_with(m, self.w) for m in owners]  # own band, everybody's wavenumbers
        self.wave_counts = np.array([width * int(rows.sum()) for _, rows in here])
        #: by wavenumber 0 … T: where its rows begin in ``waves``, and its first row
        self.wave_at, self.wave_row = np.zeros(mesh.truncation + 1, np.int64), np.zeros(mesh.truncation + 1, np.int64)
        order = np.concatenate(owners)
        lengths = np.concatenate([rows for _, rows in here])
        self.wave_at[order] = width * starts(lengths)
        self.wave_row[order] = np.concatenate([low for low, _ in here])
        there = [mesh.rows_with(self.m, w) for w in range(mesh.W)]  # own wavenumbers, everybody's band
        rows = np.array([count for _, count in there])  # (W, own wavenumbers)
        self.column_counts = width * rows.sum(axis=1)
        self.column_rows = rows.sum(axis=0)
        self.column_at = width * starts(self.column_rows)
        lengths = (width * rows).reshape(-1)
        by_rank = starts(lengths)
        by_wave = (self.column_at + width * (np.cumsum(rows, axis=0) - rows)).reshape(-1)
        #: blocks of coefficients: place by ranks, place by wavenumbers, length
        self.blocks = by_rank, by_wave, lengths
        # What stays lies in ``waves`` as it would have arrived, and is copied from there.
        stays = np.arange(mesh.W).repeat(self.m.size) == self.w
        shift = int(starts(self.wave_counts)[self.w] - starts(self.column_counts)[self.w])
        self._sent = by_rank[~stays], by_wave[~stays], lengths[~stays]
        self._kept = by_rank[stays] + shift, by_wave[stays], lengths[stays]

    def trgtol(self, grid: np.ndarray, lines: np.ndarray) -> None:
        """Grid to Fourier space: ``lines`` (fields of the part, points of the band) from ``grid``."""
        if self.mesh.V == 1:
            lines[:] = grid
            return
        self.to_lines(grid, self._lines)
        copy_blocks(self._lines, lines.reshape(-1), *self._line_blocks)

    def trltog(self, lines: np.ndarray, grid: np.ndarray) -> None:
        """Fourier to grid space."""
        if self.mesh.V == 1:
            grid[:] = lines
            return
        places, at, lengths = self._line_blocks
        copy_blocks(lines.reshape(-1), self._lines, at, places, lengths)
        self.to_grid(self._lines, grid)

    def trltom(self, waves: np.ndarray, columns: np.ndarray) -> None:
        """Fourier to spectral space."""
        self.to_columns(waves, self._columns)
        copy_blocks(self._columns, columns, *self._sent)
        copy_blocks(waves, columns, *self._kept)

    def trmtol(self, columns: np.ndarray, waves: np.ndarray) -> None:
        """Spectral to Fourier space."""
        for target, (places, at, lengths) in ((self._columns, self._sent), (waves, self._kept)):
            copy_blocks(columns, target, at, places, lengths)
        self.to_waves(self._columns, waves)

    def spaces(self) -> tuple[np.ndarray, ...]:
        """New arrays ``grid``, ``lines``, ``waves``, ``columns`` of this rank, zero."""
        return (
            np.zeros((self.mesh.fields, self.points)),
            np.zeros((self.fields, self.band_points)),
            np.zeros(int(self.wave_counts.sum())),
            np.zeros(int(self.column_counts.sum())),
        )


@dataclass(frozen=True)
class Problem(Shared):
    """Truncation, grid and fields, and the ranks that share them."""

    LARGEST: ClassVar[int] = 8000
    PRESETS: ClassVar = {
        "quick": {},
        "paper": {"truncation": 399, "grid": "N200", "fields": 32},
        "modern": {"truncation": 1279, "grid": "N640", "fields": 16},
    }


class State(NamedTuple):
    """Arrays of one rank, see above; ``waves_back`` and ``grid_back`` take the way home."""

    moves: Moves
    grid: np.ndarray
    lines: np.ndarray
    waves: np.ndarray
    columns: np.ndarray
    waves_back: np.ndarray
    grid_back: np.ndarray
    facts: dict  # of the last call of run: seconds of each routine on this rank, and ``repeats``


def places(moves: Moves) -> tuple[np.ndarray, ...]:
    """What ``grid``, ``lines``, ``waves`` and ``columns`` of this rank must hold."""
    mesh = moves.mesh
    total, width = mesh.grid.points, mesh.truncation + 1
    field = np.arange(mesh.fields)
    own = field[mesh.parts[moves.v] : mesh.parts[moves.v + 1]]
    first = mesh.first_point(moves.w)
    point = first + np.arange(moves.pieces[moves.v], moves.pieces[moves.v + 1])
    band = first + np.arange(moves.band_points)

    def coefficients(wavenumbers, low, count):
        rows = [
            ((np.arange(a, a + n) * width + m)[:, None] * mesh.fields + own) * 2
            for m, a, n in zip(wavenumbers, low, count, strict=True)
        ]
        return (np.concatenate([row.reshape(-1) for row in rows])[:, None] + np.arange(2)).reshape(-1).astype(float)

    owners = np.concatenate([mesh.wavenumbers(w) for w in range(mesh.W)])
    first_rows = np.searchsorted(mesh.counts[: mesh.grid.N], moves.m, side="right")
    return (
        (field[:, None] * total + point).astype(float),
        (own[:, None] * total + band).astype(float),
        coefficients(owners, *mesh.rows_with(owners, moves.w)),
        coefficients(moves.m, first_rows, moves.column_rows),
    )


def setup(problem: Problem, seed: int = 0) -> State:
    """Arrays filled with their places (``seed`` is not used)."""
    require_memory(footprint(problem).memory, f"transpositions of {problem.fields} fields of T{problem.truncation}")
    moves = Moves(problem.mesh, Traffic(world.team(problem.ranks), barriers=False))
    grid, lines, waves, columns = moves.spaces()
    grid[:], _, waves[:], _ = places(moves)
    return State(moves, grid, lines, waves, columns, np.zeros_like(waves), np.zeros_like(grid), {})


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> State:
    """``repeats`` times there and back."""
    moves, took = state.moves, dict.fromkeys(ROUTINES, 0.0)
    moves.traffic.start()
    steps = (
        ("TRGTOL", moves.trgtol, state.grid, state.lines),
        ("TRLTOM", moves.trltom, state.waves, state.columns),
        ("TRMTOL", moves.trmtol, state.columns, state.waves_back),
        ("TRLTOG", moves.trltog, state.lines, state.grid_back),
    )
    for _ in range(repeats):
        for name, move, source, target in steps:
            begin = perf_counter()
            move(source, target)
            took[name] += perf_counter() - begin
    state.facts.update(took, repeats=repeats)
    return state


def reference(problem: Problem, state: State) -> State:
    """What the arrays of this rank must hold, from the places alone."""
    grid, lines, waves, columns = places(state.moves)
    return state._replace(lines=lines, columns=columns, waves_back=waves, grid_back=grid)


def verify(problem: Problem, result: State) -> list[Check]:
    """Every value lies where its place says, there and back; the bytes sent are those of the model."""
    comm, true = result.moves.traffic.comm, reference(problem, result)
    checks = []
    for name in ("lines", "columns", "waves_back", "grid_back"):
        found = getattr(result, name)
        wrong = world.total(comm, int((found != getattr(true, name)).sum()))
        checks.append(Check.near(f"misplaced values in {name}", wrong, 0, 0))
        found[...] = -1.0  # the next repeat has to bring them again
    return checks + result.moves.traffic.checks(transposition(problem.mesh), result.facts["repeats"], "repeat")


NO_OUTPUT = dict.fromkeys(("grid", "waves"), "what is moved")


def times(result: State) -> dict[str, float]:
    """Seconds of every routine a repeat, that of the slowest rank, and what all sent; all ranks call it."""
    traffic, repeats = result.moves.traffic, result.facts["repeats"]
    found = {name: world.largest(traffic.comm, result.facts[name] / repeats) for name in ROUTINES}
    return found | traffic.counts(repeats)


def moved_bytes(mesh: Mesh) -> int:
    """Bytes of one repeat, whoever sends them: what stays on its rank included."""
    return 2 * 8 * mesh.fields * mesh.grid.points + 2 * 16 * mesh.fields * int(mesh.counts.sum())


def work(problem: Problem, threads: int = 1) -> Work:
    """Bytes that one repeat reads and writes on all ranks, each value once a transposition."""
    return Work(bytes_read=moved_bytes(problem.mesh), bytes_written=moved_bytes(problem.mesh))


def footprint(problem: Problem) -> Footprint:
    """Bytes of the arrays and buffers of all ranks."""
    return Footprint(4 * moved_bytes(problem.mesh))
