"""Initial states against physics that they do not share: air at rest is in hydrostatic balance."""

import numpy as np
import pytest

from kernels.gridpoint import Problem, cases


def test_air_at_rest_is_in_hydrostatic_balance():
    """dp/dz = −g p / (R T) from 1000 hPa at sea level, isothermal with 300 K: p falls by e each R T/g = 8783 m."""
    problem = Problem(case="rest", mountain=2000.0)
    found = cases.initial(problem)
    height = found["phis"] / 9.80616
    assert 1800 < height.max() <= 2000
    np.testing.assert_allclose(found["ps"], 1e5 * np.exp(-height / (287.0 * 300.0 / 9.80616)), rtol=1e-12)
    assert pytest.approx(300.0, abs=0) == found["T"].min() == found["T"].max()
    assert not found["u"].any() and not found["v"].any()
