"""Order statistics against the binomial law and a simulation; trends; ratios."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import bdtr

from supercomputers_rerun.companion import bench
from supercomputers_rerun.companion.bench import median_interval, ratio, trend

TIMES = st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=60)


@pytest.mark.parametrize(("count", "rank"), [(6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (20, 6), (50, 18), (100, 40)])
def test_ranks_are_the_published_ones(count, rank):
    # Conover, Practical Nonparametric Statistics: binomial ranks of the 95 % interval of a median.
    assert median_interval(np.arange(1, count + 1)) == (rank, count + 1 - rank)


@pytest.mark.parametrize("count", range(6))
def test_too_few_samples_give_no_interval(count):
    assert median_interval(np.arange(count)) is None


def test_coverage_is_at_least_what_is_promised():
    generator = np.random.default_rng(5)
    samples = generator.exponential(size=(4000, 11))
    inside = [low <= np.log(2) <= high for low, high in map(median_interval, samples)]
    assert np.mean(inside) > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 4000)


@given(TIMES)
def test_the_interval_is_two_samples_around_the_median(samples):
    interval = median_interval(samples)
    if interval is None:
        assert len(samples) < 6
    else:
        assert set(interval) <= set(samples)
        assert interval[0] <= np.median(samples) <= interval[1]


@given(st.lists(st.floats(0.5, 2.0), min_size=2, max_size=5))
def test_few_samples_never_drift(samples):
    assert trend(samples) is None


def test_a_rising_series_is_a_trend_and_its_size_is_told():
    assert trend(np.linspace(1.0, 1.5, 11)) == pytest.approx(0.5 / 1.25)
    assert trend(np.linspace(1.5, 1.0, 11)) == pytest.approx(-0.5 / 1.25)


def test_a_monotonous_but_negligible_series_is_no_trend():
    assert trend(np.linspace(1.0, 1.001, 30)) is None


def test_a_trend_moves_the_series_by_more_than_two_per_cent():
    assert trend(np.linspace(1.0, 1.019, 30)) is None
    assert trend(np.linspace(1.0, 1.022, 30)) == pytest.approx(0.022 / 1.011)


def test_noise_is_rarely_called_a_trend():
    generator = np.random.default_rng(7)
    found = sum(trend(generator.normal(1.0, 0.1, 12)) is not None for _ in range(500))
    assert bdtr(found - 1, 500, 0.01) < 0.9999


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(1e-3, 1.0), min_size=6, max_size=12), st.floats(0.1, 10.0))
def test_scaled_samples_give_the_scale(samples, scale):
    found = ratio(samples, [scale * value for value in samples])
    assert found.minima == pytest.approx(scale)
    assert found.medians == pytest.approx(scale)
    bench._bootstrapped.cache_clear()
    assert found == ratio(samples, [scale * value for value in samples])  # seeded


def test_ratio_of_few_samples_has_no_interval():
    assert ratio([1.0], [2.0]).interval is None
    assert "no interval" in str(ratio([1.0], [2.0]))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(1e-3, 1.0), min_size=6, max_size=12))
def test_samples_do_not_differ_from_themselves(samples):
    assert not ratio(samples, samples).measurable
    assert ratio(samples, [3 * max(samples) for _ in samples]).measurable
