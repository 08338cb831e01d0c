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

import numpy as np

from kernels.mpi.mesh import Mesh
from kernels.mpi.traffic import Traffic, starts
from kernels.runtime.jit import kernel

ROUTINES = ("TRGTOL", "TRLTOM", "TRMTOL", "TRLTOG")


@kernel
def copy_blocks(source, target, source_at, target_at, lengths):
    """``target[target_at[b] + i] = source[source_at[b] + i]`` for every block b and i < lengths[b]."""
    for b in range(lengths.size):
        s, t = np.uint64(source_at[b]), np.uint64(target_at[b])
        for i in range(np.uint64(lengths[b])):
            target[t + i] = source[s + i]


@kernel
def copy_both(source, target, own_source, own_target, source_at, target_at, lengths, others):
    """``copy_blocks`` twice: what other ranks send or get, and what stays.

    The first ``others`` blocks of source_at, target_at and lengths (int64, (blocks,), in values) go from source to
    target, the rest from own_source to own_target (all float64, one-dimensional).
    """
    copy_blocks(source, target, source_at[:others], target_at[:others], lengths[:others])
    copy_blocks(own_source, own_target, source_at[others:], target_at[others:], lengths[others:])


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
        self._waves, self._columns = np.zeros(int(self.wave_counts.sum())), np.zeros(int(self.column_counts.sum()))

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
        at = starts(self._line_counts)
        for v in range(self.mesh.V):
            a, b = self.pieces[v : v + 2]
            lines[:, a:b] = self._lines[at[v] : at[v] + self._line_counts[v]].reshape(self.fields, b - a)

    def trltog(self, lines: np.ndarray, grid: np.ndarray) -> None:
        """Fourier to grid space."""
        if self.mesh.V == 1:
            grid[:] = lines
            return
        at = starts(self._line_counts)
        for v in range(self.mesh.V):
            a, b = self.pieces[v : v + 2]
            self._lines[at[v] : at[v] + self._line_counts[v]].reshape(self.fields, b - a)[:] = lines[:, a:b]
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
