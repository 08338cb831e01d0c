"""The compiled work of one box: closed forms, symmetry, and LAPACK's answers on generated matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supercomputers_rerun.kernels.analysis import covariance, dense, vertical
from supercomputers_rerun.kernels.analysis.cholesky import backwards, factor
from supercomputers_rerun.kernels.analysis.dense import correlations
from supercomputers_rerun.kernels.gridpoint.levels import R

FEW = settings(max_examples=25, deadline=None)
SEEDS = st.integers(0, 2**32 - 1)


def data(seed, count, width=24):
    """Points and departures of ``count`` data, the rest without weight."""
    rng = np.random.default_rng(seed)
    points, departures = np.zeros((8, width)), np.zeros(width)
    points[:, :count], departures[:count] = rng.normal(size=(8, count)), rng.normal(size=count)
    return points, departures


@FEW
@given(SEEDS, st.sampled_from([8, 16, 32, 56]), st.sampled_from([0, 8, 24, 40]))
def test_factors_and_right_hand_sides(seed, n, more):
    rng = np.random.default_rng(seed)
    root, right = rng.normal(size=(n, n)), rng.normal(size=(n, 8 + more))
    matrix = root @ root.T + np.eye(n)
    a = np.hstack([np.tril(matrix).T, right])  # what lies above the diagonal is not read
    assert factor(a, a.shape[1], a.shape[1])
    lower = np.linalg.cholesky(matrix)
    np.testing.assert_allclose(np.triu(a[:, :n], 1), np.triu(lower.T, 1), atol=1e-9)
    np.testing.assert_allclose(1 / np.diag(a), np.diag(lower), rtol=1e-12)
    np.testing.assert_allclose(a[:, n:], np.linalg.solve(lower, right), atol=1e-8)
    x = np.zeros(n)
    backwards(a, n, n, x)
    np.testing.assert_allclose(matrix @ x, right[:, 0], atol=1e-7)


@pytest.mark.parametrize("pivot", [-1.0, 0.0, np.nan])
@pytest.mark.parametrize("place", [0, 11, 15])
def test_what_is_not_definite_is_said(pivot, place):
    a = np.zeros((16, 24))
    a[:, :16] = np.eye(16)
    a[place, place] = pivot
    assert not factor(a, 24, 24)


@FEW
@given(SEEDS, st.integers(1, 24))
def test_each_datum_against_all_others(seed, count):
    points, departures = data(seed, count)
    found, expected = np.zeros((2, 24)), np.zeros((2, 24))
    assert covariance.check(np.zeros((24, 56)), points, departures, 24, found)
    dense.check(None, points, departures, 24, expected)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_leaving_one_out_is_what_the_check_computes():
    """The estimate of a datum from the others, by a system of its own."""
    points, d = data(3, 10)
    out = np.zeros((2, 24))
    covariance.check(np.zeros((24, 56)), points, d, 24, out)
    cov = correlations(points[:, :10], points[:, :10])
    others = np.arange(1, 10)
    matrix = cov[np.ix_(others, others)] + np.eye(9)
    estimate = cov[0, others] @ np.linalg.solve(matrix, d[others])
    variance = cov[0, 0] + 1 - cov[0, others] @ np.linalg.solve(matrix, cov[others, 0])
    assert out[0, 0] == pytest.approx((d[0] - estimate) / np.sqrt(variance), rel=1e-9)


@FEW
@given(SEEDS)
def test_one_observation_has_its_closed_form(seed):
    """Increment b/(b + o) of the departure where it is; reduction b²/(b + o)."""
    points, d = data(seed, 1, 8)
    b = float(correlations(points[:, :1], points[:, :1])[0, 0])
    weights, reduction, grid = np.zeros(8), np.zeros(8), np.zeros((8, 8))
    grid[:, :1] = points[:, :1]
    assert covariance.assimilate(np.zeros((8, 24)), points, d, 8, grid, weights, reduction)
    assert weights[0] == pytest.approx(d[0] / (b + 1), rel=1e-10)
    assert reduction[0] == pytest.approx(b * b / (b + 1), rel=1e-10, abs=1e-12)


@FEW
@given(SEEDS, st.integers(1, 24))
def test_weights_and_what_they_say(seed, count):
    points, d = data(seed, count)
    grid = np.random.default_rng(seed + 1).normal(size=(8, 16))
    weights, reduction, out = np.zeros(24), np.zeros(16), np.zeros((5, 16))
    expected = np.zeros(24), np.zeros(16), np.zeros((5, 16))
    assert covariance.assimilate(np.zeros((24, 48)), points, d, 24, grid, weights, reduction)
    dense.assimilate(None, points, d, 24, grid, *expected[:2])
    covariance.evaluate(points, weights, 24, grid, out)
    dense.evaluate(points, weights, 24, grid, expected[2])
    for ours, theirs in zip((weights, reduction, out), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


@FEW
@given(SEEDS)
def test_covariances_are_symmetric_and_definite(seed):
    points, _ = data(seed, 24)
    out = np.zeros((24, 32))
    covariance.covariances(points, 24, points, 24, out, 8)
    found = out[:, 8:]
    np.testing.assert_allclose(found, found.T, atol=1e-12)
    np.testing.assert_allclose(found, correlations(points, points), atol=1e-12)
    assert np.linalg.eigvalsh(found).min() > -1e-8


@FEW
@given(SEEDS)
def test_columns_linear_in_ln_p_are_exact_and_come_back(seed):
    rng = np.random.default_rng(seed)
    source = np.sort(rng.normal(size=(2, 15, 6)), axis=1)
    slope, start = rng.normal(size=(2, 1, 6)), rng.normal(size=(2, 1, 6))
    target = source[:, :1] + (source[:, -1:] - source[:, :1]) * np.sort(rng.random((2, 9, 6)), axis=1)
    field = rng.normal(size=(2, 15, 6))
    found = vertical.interpolate(start + slope * source, source, target)
    np.testing.assert_allclose(found, start + slope * target, atol=1e-9)
    np.testing.assert_allclose(vertical.interpolate(field, source, source), field, rtol=1e-12)


@FEW
@given(SEEDS)
def test_geopotential_of_a_temperature_linear_in_ln_p(seed):
    """Φ = Φ_s + R ∫ T d ln p, in closed form; the lowest level is the ground."""
    rng = np.random.default_rng(seed)
    source = np.sort(rng.normal(size=(2, 15, 4)), axis=1)
    slope, start = rng.normal(size=(2, 1, 4)), 250 + rng.normal(size=(2, 1, 4))
    lnps, ground = source[:, -1:], rng.normal(size=(2, 1, 4))
    target = source[:, :1] + (source[:, -1:] - source[:, :1]) * np.sort(rng.random((2, 9, 4)), axis=1)
    exact = ground + R * (start * (lnps - target) + slope * (lnps**2 - target**2) / 2)
    found = vertical.geopotential(start + slope * source, source, lnps, ground, target)
    np.testing.assert_allclose(found, exact, rtol=1e-11, atol=1e-7)
