"""Who holds which points, rows, wavenumbers and fields: the decomposition of IFS, and what its transpositions send.

P ranks form a mesh of W × V, rank = w · V + v:

    grid space      every field of a piece of the sphere: the rows are cut into W bands of about equal
                    size, each band into V pieces
    Fourier space   whole rows of band w, the v-th part of the fields
    spectral space  all rows of the wavenumbers of w, the v-th part of the fields

Grid ↔ Fourier exchanges messages among the V ranks of a band, Fourier ↔ spectral among the W ranks of a
part of the fields.  Messages and bytes that leave a rank are counted for any number of ranks, without MPI; ``verify``
of ``spectral.ranks`` compares them with what real runs sent.
"""

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supercomputers_rerun.kernels.spectral.grids import Grid
from supercomputers_rerun.kernels.spectral.grids import grid as named_grid

__all__ = ["Count", "Mesh", "cut", "forecast", "fourier_to_spectral", "grid_to_fourier", "shape", "transposition"]


def shape(ranks: int) -> tuple[int, int]:
    """W and V for ``ranks``: V is their largest divisor of at most √ranks."""
    across = max(v for v in range(1, int(ranks**0.5) + 1) if ranks % v == 0)
    return ranks // across, across


def cut(count: int, parts: int) -> np.ndarray:
    """Bounds of ``parts`` consecutive parts of ``count`` things, int64[parts + 1]."""
    return np.arange(parts + 1, dtype=np.int64) * count // parts


@dataclass(frozen=True)
class Mesh:
    """Decomposition of truncation T with some fields on a grid over W × V ranks.

    ``ValueError`` if there are more bands than rows or wavenumbers, or more parts than fields.
    """

    name: str  # of the grid
    truncation: int
    fields: int
    W: int
    V: int

    def __post_init__(self):
        most = min(2 * self.grid.N, self.truncation + 1)
        if self.W > most:
            raise ValueError(
                f"{self.W} bands of ranks cannot share T{self.truncation} on {self.name}; at most {most} can"
            )
        if self.V > self.fields:
            raise ValueError(f"{self.V} ranks cannot share {self.fields} field(s)")

    @property
    def grid(self) -> Grid:
        """The Gaussian grid."""
        return named_grid(self.name)

    @functools.cached_property
    def counts(self) -> np.ndarray:
        """Wavenumbers that each row carries, int64[2N]: those up to (row length − 1) // 2, at most T + 1."""
        return np.minimum(self.truncation, (self.grid.pl - 1) // 2) + 1

    @functools.cached_property
    def bands(self) -> np.ndarray:
        """First row of every band, and the end, int64[W + 1]; every band has a row at least."""
        ends = np.cumsum(self.grid.pl)
        bounds = [0]
        for w in range(1, self.W):
            near = int(np.searchsorted(ends, ends[-1] * w / self.W)) + 1
            bounds.append(int(np.clip(near, bounds[-1] + 1, len(ends) - (self.W - w))))
        return np.array([*bounds, len(ends)], dtype=np.int64)

    @functools.cached_property
    def parts(self) -> np.ndarray:
        """First field of every part, and the end, int64[V + 1]."""
        return cut(self.fields, self.V)

    @functools.cached_property
    def columns(self) -> np.ndarray:
        """Column of each wavenumber, int64[T + 1]: dealt out to and fro, so that long and short ones pair up."""
        turn = np.arange(self.truncation + 1) % (2 * self.W)
        return np.minimum(turn, 2 * self.W - 1 - turn)

    def wavenumbers(self, w: int) -> np.ndarray:
        """Wavenumbers of column w, ascending."""
        return np.flatnonzero(self.columns == w)

    def band_points(self, w: int) -> int:
        """Grid points of a band."""
        return int(self.grid.pl[self.bands[w] : self.bands[w + 1]].sum())

    def pieces(self, w: int) -> np.ndarray:
        """Bounds of the V pieces among the points of band w, int64[V + 1]."""
        return cut(self.band_points(w), self.V)

    def rows_with(self, m: np.ndarray, w: int) -> tuple[np.ndarray, np.ndarray]:
        """First row of band w that carries each wavenumber of ``m``, and how many do.

        Rows grow from the poles to the equator, so those that carry m are consecutive.
        """
        counts = self.counts[: self.grid.N]
        first = np.searchsorted(counts, m, side="right")
        low = np.maximum(first, self.bands[w])
        high = np.minimum(2 * self.grid.N - first, self.bands[w + 1])
        return low, np.maximum(high - low, 0)


class Count(NamedTuple):
    """What all ranks together send to others in one step or repeat."""

    messages: int
    bytes: int


def grid_to_fourier(mesh: Mesh) -> Count:
    """One transposition between grid and Fourier space.

    Of a band's values all leave their rank but those whose piece and field part coincide.
    """
    parts, messages, values = np.diff(mesh.parts), 0, 0
    for w in range(mesh.W):
        pieces = np.diff(mesh.pieces(w))
        values += int(mesh.fields * pieces.sum() - (pieces * parts).sum())
        messages += int((pieces > 0).sum()) * (mesh.V - 1)
    return Count(messages, 8 * values)


def fourier_to_spectral(mesh: Mesh) -> Count:
    """One transposition between Fourier and spectral space."""
    messages = stay = 0
    for w in range(mesh.W):
        _, rows = mesh.rows_with(np.arange(mesh.truncation + 1), w)
        stay += int(rows[mesh.columns == w].sum())
        receivers = np.unique(mesh.columns[rows > 0])
        messages += int(receivers.size - (w in receivers))
    total = int(mesh.counts.sum())
    return Count(mesh.V * messages, 16 * mesh.fields * (total - stay))


def transposition(mesh: Mesh) -> Count:
    """Grid to Fourier to spectral space and back."""
    up, down = grid_to_fourier(mesh), fourier_to_spectral(mesh)
    return Count(2 * (up.messages + down.messages), 2 * (up.bytes + down.bytes))


#: Fields a level that a step of a spectral model takes from spectra to the grid (vorticity, divergence,
#: wind, temperature and two derivatives), and back (wind, temperature, and what the semi-implicit step needs).
FIELDS_UP, FIELDS_DOWN = 6, 4


def forecast(name: str, truncation: int, levels: int, ranks: int) -> Count:
    """Transpositions of one step of a spectral model with ``levels`` levels: no semi-Lagrangian halo, no output.

    ``ValueError`` where so many ranks cannot share it.
    """
    most = min(2 * named_grid(name).N, truncation + 1)
    across = [v for v in range(1, min(levels, ranks) + 1) if ranks % v == 0 and ranks // v <= most]
    V = min(across, key=lambda v: abs(np.log(v * v / ranks)))  # as square as rows and levels allow
    W = ranks // V
    meshes = [Mesh(name, truncation, fields * levels, W, V) for fields in (FIELDS_UP, FIELDS_DOWN)]
    counts = [count(mesh) for mesh in meshes for count in (grid_to_fourier, fourier_to_spectral)]
    return Count(*map(sum, zip(*counts, strict=True)))
