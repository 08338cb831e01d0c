"""The decomposition: everything has one owner, and the counts are those of a plain enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supercomputers_rerun.kernels.mpi.mesh import Mesh, shape, transposition

MESHES = st.builds(
    lambda grid, T, W, V, more: Mesh(grid, T, V + more, W, V),
    st.sampled_from(["F16", "N32", "O24"]),
    st.integers(1, 30),
    st.integers(1, 2),
    st.integers(1, 5),
    st.integers(0, 4),
) | st.builds(
    lambda grid, T, W, V, more: Mesh(grid, T, V + more, W, V),
    st.sampled_from(["F16", "N32", "O24"]),
    st.integers(15, 30),
    st.integers(2, 16),
    st.integers(1, 4),
    st.integers(0, 4),
)


@settings(max_examples=60, deadline=None)
@given(MESHES)
def test_rows_wavenumbers_points_and_fields_have_one_owner_each(mesh):
    assert mesh.bands[0] == 0 and mesh.bands[-1] == 2 * mesh.grid.N
    assert (np.diff(mesh.bands) > 0).all()
    owned = np.concatenate([mesh.wavenumbers(w) for w in range(mesh.W)])
    assert sorted(owned) == list(range(mesh.truncation + 1))
    assert sum(mesh.band_points(w) for w in range(mesh.W)) == mesh.grid.points
    assert mesh.parts[0] == 0 and mesh.parts[-1] == mesh.fields and (np.diff(mesh.parts) > 0).all()
    m = np.arange(mesh.truncation + 1)
    rows = sum(mesh.rows_with(m, w)[1] for w in range(mesh.W))
    np.testing.assert_array_equal(rows, (mesh.counts[:, None] > m).sum(axis=0))


def enumerated(mesh):
    """Messages and bytes of both transpositions, one value after the other."""
    sent = {}
    row_of_point = np.repeat(np.arange(2 * mesh.grid.N), mesh.grid.pl)
    band_of_row = np.searchsorted(mesh.bands, np.arange(2 * mesh.grid.N), side="right") - 1
    part = np.searchsorted(mesh.parts, np.arange(mesh.fields), side="right") - 1
    owner = {int(m): w for w in range(mesh.W) for m in mesh.wavenumbers(w)}
    for w in range(mesh.W):
        piece = np.searchsorted(mesh.pieces(w), np.arange(mesh.band_points(w)), side="right") - 1
        assert piece.size == (band_of_row[row_of_point] == w).sum()
        for v in piece:
            for target in part:
                if v != target:
                    key = "grid", w, int(v), int(target)
                    sent[key] = sent.get(key, 0) + 8
    for row in range(2 * mesh.grid.N):
        for m in range(mesh.counts[row]):
            w, target = int(band_of_row[row]), owner[m]
            if w != target:
                for v in part:
                    key = "spectral", int(v), w, target
                    sent[key] = sent.get(key, 0) + 16
    return len(sent), sum(sent.values())


@settings(max_examples=15, deadline=None)
@given(MESHES)
def test_the_scale_model_counts_what_an_enumeration_counts(mesh):
    counted = transposition(mesh)
    messages, nbytes = enumerated(mesh)
    assert counted == (2 * messages, 2 * nbytes)


def test_one_rank_sends_nothing():
    assert transposition(Mesh("F16", 15, 4, 1, 1)) == (0, 0)


@pytest.mark.parametrize(("ranks", "expected"), [(1, (1, 1)), (2, (2, 1)), (4, (2, 2)), (12, (4, 3)), (400, (20, 20))])
def test_the_mesh_is_as_square_as_can_be(ranks, expected):
    assert shape(ranks) == expected
