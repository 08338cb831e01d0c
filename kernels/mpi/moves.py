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

``spectral.ranks`` transforms with them, which proves them, and times each.
"""

import numpy as np

from supercomputers_rerun.kernels.mpi.mesh import Mesh
from supercomputers_rerun.kernels.mpi.traffic import Planned, Traffic, starts
from supercomputers_rerun.kernels.runtime.jit import kernel

__all__ = ["Moves", "copy_blocks"]


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
        #: room for whoever transforms
        self.grid, self.lines = np.zeros((mesh.fields, self.points)), np.zeros((self.fields, self.band_points))
        self.waves, self.columns = np.zeros(int(self.wave_counts.sum())), np.zeros_like(self._columns)

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
