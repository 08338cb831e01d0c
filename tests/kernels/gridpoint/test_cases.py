"""Initial states against physics that they do not share: air at rest is in hydrostatic balance."""

import numpy as np
import pytest

from kernels.gridpoint import Problem, cases


def test_air_at_rest_is_in_hydrostatic_balance():
    """dp/dz = −g p / (R T) from 1000 hPa at sea level, isothermal with 300 K: p falls by e each R T/g = 8783 m."""
    problem = Problem(case="rest", mountain=2000.0)
    found = cases.initial(problem)
    height = found["phis"] / 9.80616
    lat, lon = np.radians(np.arange(24.0)[:, None] * 7.5 - 86.25), np.radians(np.arange(48.0) * 7.5)
    top = np.cos(np.pi / 6) * np.array([0.0, 1.0, np.tan(np.pi / 6)])  # 90° E, 30° N
    place = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat) + 0 * lon])
    angle = 2 * np.arcsin(0.5 * np.linalg.norm(place - top[:, None, None], axis=0))
    np.testing.assert_allclose(height, 2000 * np.exp(-((4 * angle) ** 2)), atol=1e-6)
    np.testing.assert_allclose(found["ps"], 1e5 * np.exp(-height / (287.0 * 300.0 / 9.80616)), rtol=1e-12)
    assert pytest.approx(300.0, abs=0) == found["T"].min() == found["T"].max()
    assert not found["u"].any() and not found["v"].any()
