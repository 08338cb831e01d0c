"""The four transpositions of IFS between grid, Fourier and spectral space, on the mesh of ``mesh``.

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
"""

from typing import NamedTuple

import numpy as np

from kernels.mpi.library import Collective, all_to_all, copy
from kernels.mpi.mesh import Mesh
from kernels.mpi.traffic import Traffic, starts
from kernels.runtime.clock import monotonic
from kernels.runtime.jit import kernel

ROUTINES = ("TRGTOL", "TRLTOM", "TRMTOL", "TRLTOG")


@kernel
def copy_blocks(source, target, source_at, target_at, lengths):
    """``target[target_at[b] + i] = source[source_at[b] + i]`` for every block b and i < lengths[b]."""
    for b in range(lengths.size):
        copy(target, target_at[b], source, source_at[b], lengths[b])


@kernel
def copy_both(source, target, own_source, own_target, source_at, target_at, lengths, others):
    """``copy_blocks`` twice: what other ranks send or get, and what stays.

    The first ``others`` blocks of source_at, target_at and lengths (int64, (blocks,), in values) go from source to
    target, the rest from own_source to own_target (all float64, one-dimensional).
    """
    copy_blocks(source, target, source_at[:others], target_at[:others], lengths[:others])
    copy_blocks(own_source, own_target, source_at[others:], target_at[others:], lengths[others:])


class Plan(NamedTuple):
    """What compiled code knows of a rank's ``Moves``."""

    across: int  # ranks that share a band
    fields: int  # of the part
    band: int  # points
    pieces: np.ndarray  # int64 (across + 1,): bounds of the pieces of the band
    starts: np.ndarray  # int64 (across,): where the lines of each piece begin in ``lines``
    others: int  # blocks that go to other ranks; the rest stays
    at: np.ndarray  # int64 (blocks,): of each block the place in the order of ranks, in that of wavenumbers, its length
    to: np.ndarray
    sizes: np.ndarray
    lines: np.ndarray  # what is sent or received, flat
    columns: np.ndarray
    to_lines: Collective
    to_grid: Collective
    to_columns: Collective
    to_waves: Collective


@kernel
def pieces_to_lines(plan, lines):
    """The fields of each piece from where they arrive to their ``lines``; ``plan`` is that of ``Moves``."""
    for v in range(plan.across):
        first, count = plan.pieces[v], plan.pieces[v + 1] - plan.pieces[v]
        for f in range(plan.fields):
            copy(lines, f * plan.band + first, plan.lines, plan.starts[v] + f * count, count)


@kernel
def lines_to_pieces(plan, lines):
    """From ``lines`` to where they are sent from, by the same ``plan``."""
    for v in range(plan.across):
        first, count = plan.pieces[v], plan.pieces[v + 1] - plan.pieces[v]
        for f in range(plan.fields):
            copy(plan.lines, plan.starts[v] + f * count, lines, f * plan.band + first, count)


@kernel
def _trgtol(plan, grid, lines):
    """The error code of ``Moves.trgtol`` by its ``plan``: ``lines`` from ``grid``."""
    if plan.across == 1:
        copy(lines, 0, grid, 0, grid.size)
        return 0
    error = all_to_all(plan.to_lines, grid, plan.lines)
    pieces_to_lines(plan, lines)
    return error


@kernel
def _trltog(plan, lines, grid):
    """The error code of ``Moves.trltog`` by its ``plan``: ``grid`` from ``lines``."""
    if plan.across == 1:
        copy(grid, 0, lines, 0, grid.size)
        return 0
    lines_to_pieces(plan, lines)
    return all_to_all(plan.to_grid, plan.lines, grid)


@kernel
def _trltom(plan, waves, columns):
    """The error code of ``Moves.trltom`` by its ``plan``: ``columns`` from ``waves``."""
    error = all_to_all(plan.to_columns, waves, plan.columns)
    copy_both(plan.columns, columns, waves, columns, plan.at, plan.to, plan.sizes, plan.others)
    return error


@kernel
def _trmtol(plan, columns, waves):
    """The error code of ``Moves.trmtol`` by its ``plan``: ``waves`` from ``columns``."""
    copy_both(columns, plan.columns, columns, waves, plan.to, plan.at, plan.sizes, plan.others)
    return all_to_all(plan.to_waves, plan.columns, waves)


@kernel
def there_and_back(plan, spaces, back, seconds, repeats):
    """The four routines by ``plan``, ``repeats`` times; each adds its ``seconds``, float64 (4,).  An error code, or 0.

    ``spaces``: grid, lines, waves, columns; ``back``: waves and grid that come back, all float64 and C-contiguous.
    """
    grid, lines, waves, columns = spaces
    for _ in range(repeats):
        begin = monotonic()
        error = _trgtol(plan, grid, lines)
        to_lines = monotonic()
        error |= _trltom(plan, waves, columns)
        to_columns = monotonic()
        error |= _trmtol(plan, columns, back[0])
        to_waves = monotonic()
        error |= _trltog(plan, lines, back[1])
        if error:
            return error
        seconds[0] += to_lines - begin
        seconds[1] += to_columns - to_lines
        seconds[2] += to_waves - to_columns
        seconds[3] += monotonic() - to_waves
    return 0


class Moves:
    """The transpositions of one rank.

    The communicator of ``traffic`` has ``mesh.W * mesh.V`` ranks.
    """

    def __init__(self, mesh: Mesh, traffic: Traffic):
        self.mesh, self.traffic = mesh, traffic
        comm = traffic.comm
        self.w, self.v = divmod(comm.rank, mesh.V)
        self.across, self.down = comm.Split(self.w, self.v), comm.Split(mesh.V + self.v, self.w)
        self.fields = int(mesh.parts[self.v + 1] - mesh.parts[self.v])
        self.pieces = mesh.pieces(self.w)
        self.points = int(self.pieces[self.v + 1] - self.pieces[self.v])
        self.band_points = mesh.band_points(self.w)
        self.m = mesh.wavenumbers(self.w)
        self._grid_counts = np.diff(mesh.parts) * self.points
        self._line_counts = self.fields * np.diff(self.pieces)
        self._spectral_tables()
        self.to_lines = traffic.plan(self.across, self._grid_counts, self._line_counts)
        self.to_grid = traffic.plan(self.across, self._line_counts, self._grid_counts)
        self.to_columns = traffic.plan(self.down, self.wave_counts, self.column_counts, own=False)
        self.to_waves = traffic.plan(self.down, self.column_counts, self.wave_counts, own=False)
        self._lines = np.zeros(self.fields * self.band_points)
        self._columns = np.zeros(int(self.column_counts.sum()))
        self.collectives = self.to_lines, self.to_grid, self.to_columns, self.to_waves
        plans = (each.compiled() for each in self.collectives)
        pieces = mesh.V, self.fields, int(self.band_points), self.pieces, starts(self._line_counts)
        blocks = self._others, self._from, self._to, self._sizes
        self.plan = Plan(*pieces, *blocks, self._lines, self._columns, *plans)

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
        self._lengths = (width * rows).reshape(-1)
        self._by_rank = starts(self._lengths)
        self._by_wave = (self.column_at + width * (np.cumsum(rows, axis=0) - rows)).reshape(-1)
        # Blocks that other ranks send, then those that stay: these lie in ``waves`` as they would have arrived.
        stays = np.arange(self.mesh.W).repeat(self.m.size) == self.w
        shift = int(starts(self.wave_counts)[self.w] - starts(self.column_counts)[self.w])
        order = np.argsort(stays, kind="stable")
        self._from = (self._by_rank + shift * stays)[order]
        self._to, self._sizes = self._by_wave[order], self._lengths[order]
        self._others = int((~stays).sum())

    def trgtol(self, grid: np.ndarray, lines: np.ndarray) -> None:
        """Grid to Fourier space: ``lines`` (fields of the part, points of the band) from ``grid``."""
        if self.mesh.V == 1:
            lines[:] = grid
            return
        self.to_lines(grid, self._lines)
        pieces_to_lines(self.plan, lines)

    def trltog(self, lines: np.ndarray, grid: np.ndarray) -> None:
        """Fourier to grid space."""
        if self.mesh.V == 1:
            grid[:] = lines
            return
        lines_to_pieces(self.plan, lines)
        self.to_grid(self._lines, grid)

    def trltom(self, waves: np.ndarray, columns: np.ndarray) -> None:
        """Fourier to spectral space."""
        self.to_columns(waves, self._columns)
        copy_both(self._columns, columns, waves, columns, self._from, self._to, self._sizes, self._others)

    def trmtol(self, columns: np.ndarray, waves: np.ndarray) -> None:
        """Spectral to Fourier space."""
        copy_both(columns, self._columns, columns, waves, self._to, self._from, self._sizes, self._others)
        self.to_waves(self._columns, waves)

    def spaces(self) -> tuple[np.ndarray, ...]:
        """New arrays ``grid``, ``lines``, ``waves``, ``columns`` of this rank, zero."""
        return (
            np.zeros((self.mesh.fields, self.points)),
            np.zeros((self.fields, self.band_points)),
            np.zeros(int(self.wave_counts.sum())),
            np.zeros(int(self.column_counts.sum())),
        )
