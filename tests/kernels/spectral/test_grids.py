"""Gaussian grids: nodes and weights against exact arithmetic, point counts, row tables."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from supercomputers_rerun.kernels import spectral
from supercomputers_rerun.kernels.spectral import grids


def decimal_rule(n, start):
    """Node nearest ``start`` and its weight with 50 digits, Newton's method on the recurrence."""
    with localcontext() as context:
        context.prec = 50
        x = Decimal(float(start))
        for _ in range(6):
            last, now = Decimal(1), x
            for k in range(2, n + 1):
                last, now = now, ((2 * k - 1) * x * now - (k - 1) * last) / k
            slope = n * (last - x * now) / (1 - x * x)
            x -= now / slope
        return x, 2 / ((1 - x * x) * slope**2)


@pytest.mark.parametrize("n", [2, 4, 6, 10, 64, 320])
def test_nodes_and_weights_agree_with_fifty_digits(n):
    mu, _, _, _, weight = grids.half_nodes(n)
    for j in sorted({0, n // 4, n // 2 - 1}):
        x, w = decimal_rule(n, mu[j])
        assert abs(Decimal(float(mu[j])) - x) <= Decimal(1.2e-16)
        assert abs(Decimal(float(weight[j])) / w - 1) <= Decimal(3e-16)


@pytest.mark.parametrize("n", [2, 4, 10, 64])
def test_sine_and_cosine_of_every_node_have_31_digits(n):
    """sin² + cos² = 1 in exact arithmetic, from pole to equator."""
    mu, low, cosine, cosine_low, _ = grids.half_nodes(n)
    for sine, cos in zip(zip(mu, low, strict=True), zip(cosine, cosine_low, strict=True), strict=True):
        squares = sum(sum(map(Fraction, map(float, pair))) ** 2 for pair in (sine, cos))
        assert abs(squares - 1) < Fraction(1, 10**30)


@pytest.mark.parametrize("n", [2, 8, 160, 1280, 2560])
def test_weights_add_up_and_nodes_are_ordered(n):
    mu, _, _, _, weight = grids.half_nodes(n)
    assert math.fsum(weight) == pytest.approx(1.0, abs=2e-15)
    assert (np.diff(mu) < 0).all() and (mu > 0).all() and (weight > 0).all()


@pytest.mark.parametrize(
    "name, points",
    [
        ("N640", 2140702),
        ("N1024", 5447118),
        ("N1280", 8505906),  # printed in October 2014
        ("O1280", 4 * 1280 * 1289),
        ("O32", 4 * 32 * 41),
        ("F400", 4 * 400 * 800),
    ],
)
def test_points(name, points):
    grid = spectral.grid(name)
    assert grid.points == points == grid.pl.sum()
    assert len(grid.pl) == len(grid.latitudes) == len(grid.weights) == 2 * grid.N


def test_classic_rows_are_symmetric_ascending_and_smooth():
    for n, half in grids.classic_rows().items():
        assert len(half) == n and list(half) == sorted(half) and half[-1] == 4 * n
        for length in set(half):
            for prime in (2, 3, 5):
                while length % prime == 0:
                    length //= prime
            assert length == 1


def test_a_plan_refuses_what_is_no_grid():
    with pytest.raises(ValueError, match="grid = 32 must be a Grid or the name of one"):
        spectral.Plan(32, 21)
