"""Bytes and messages of transpositions for any number of ranks, counted from its decomposition.

Only what leaves a rank counts.  The same functions are compared with what real runs sent (``verify`` of
``spectral.ranks``), so beyond the machine at hand they extend a count and not a guess.  They say nothing about time.
"""

from typing import NamedTuple

import numpy as np

from kernels.mpi.mesh import Mesh
from kernels.spectral.grids import grid as named_grid

__all__ = ["Count", "forecast", "fourier_to_spectral", "grid_to_fourier", "transposition"]


class Count(NamedTuple):
    """What all ranks together send to others in one step or repeat."""

    messages: int
    bytes: int


def grid_to_fourier(mesh: Mesh) -> Count:
    """One transposition between grid and Fourier space.

    Of a band's values all leave their rank but those whose piece and field part coincide.
    """
    if mesh.V == 1:
        return Count(0, 0)
    parts, messages, values = np.diff(mesh.parts), 0, 0
    for w in range(mesh.W):
        pieces = np.diff(mesh.pieces(w))
        values += int(mesh.fields * pieces.sum() - (pieces * parts).sum())
        messages += int((pieces > 0).sum()) * (mesh.V - 1)
    return Count(messages, 8 * values)


def fourier_to_spectral(mesh: Mesh) -> Count:
    """One transposition between Fourier and spectral space."""
    if mesh.W == 1:
        return Count(0, 0)
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


def forecast(name: str, truncation: int, levels: int, ranks: int) -> Count | None:
    """Transpositions of one step of a spectral model with ``levels`` levels; None where it cannot be cut.

    Grid, Fourier and spectral space only: no semi-Lagrangian halo, no output, no coupled model.
    """
    most = min(2 * named_grid(name).N, truncation + 1)
    across = [v for v in range(1, min(levels, ranks) + 1) if ranks % v == 0 and ranks // v <= most]
    if not across:
        return None
    V = min(across, key=lambda v: abs(np.log(v * v / ranks)))  # as square as rows and levels allow
    W = ranks // V
    meshes = [Mesh(name, truncation, fields * levels, W, V) for fields in (FIELDS_UP, FIELDS_DOWN)]
    counts = [count(mesh) for mesh in meshes for count in (grid_to_fourier, fourier_to_spectral)]
    return Count(*map(sum, zip(*counts, strict=True)))
