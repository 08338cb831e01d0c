"""Bytes and messages of each pattern for any number of ranks, counted from its decomposition.

Only what leaves a rank counts.  The same functions are compared with what real runs sent (``verify`` of
each kernel), so beyond the machine at hand they extend a count and not a guess.  They say nothing about
time.
"""

from typing import NamedTuple

import numpy as np

from kernels.mpi.mesh import Mesh


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
    bands, half, N = mesh.bands, mesh.counts[: mesh.grid.N], mesh.grid.N
    turn = 2 * mesh.W
    m = np.arange(mesh.T + 1)
    owner = np.minimum(m % turn, turn - 1 - m % turn)
    first = np.searchsorted(half, m, side="right")  # rows first … 2N - first carry m
    messages, stay = 0, 0
    for w in range(mesh.W):
        rows = np.maximum(np.minimum(2 * N - first, bands[w + 1]) - np.maximum(first, bands[w]), 0)
        stay += int(rows[owner == w].sum())
        receivers = np.unique(owner[rows > 0])
        messages += int(receivers.size - (w in receivers))
    total = int(mesh.counts.sum())
    return Count(mesh.V * messages, 16 * mesh.fields * (total - stay))


def transposition(mesh: Mesh) -> Count:
    """Grid to Fourier to spectral space and back."""
    there = grid_to_fourier(mesh), fourier_to_spectral(mesh)
    return Count(2 * sum(count.messages for count in there), 2 * sum(count.bytes for count in there))
