"""Initial states against physics that they do not share: air at rest with a lapse rate is in hydrostatic balance."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kernels.gridpoint import Problem, cases
from kernels.gridpoint.levels import vertical


@pytest.mark.parametrize("lapse", [0.0, 0.003, 0.0065])
def test_air_at_rest_is_in_hydrostatic_balance(lapse):
    """dT/dz = −Γ and dp/dz = −g p / (R T), integrated upwards from 300 K and 1000 hPa; 200 K at least."""
    problem = Problem(case="rest", lapse=lapse, mountain=2000.0)
    found = cases.initial(problem)
    row, column = np.unravel_index(found["phis"].argmax(), found["phis"].shape)
    g, gas = 9.80665, 287.0
    height = found["phis"][row, column] / g
    assert 1800 < height <= 2001

    def slope(z, p):
        return [-g * p[0] / (gas * (300.0 - lapse * z))]

    way = solve_ivp(slope, (0, 14000), [1e5], rtol=1e-9, max_step=500.0, dense_output=True)
    assert found["ps"][row, column] == pytest.approx(way.sol(height)[0], rel=2e-3)
    for sigma, T in zip(vertical(problem.levels).full, found["T"][row, :, column], strict=True):
        z = np.interp(np.log(sigma * found["ps"][row, column]), np.log(way.y[0][::-1]), way.t[::-1])
        if z < 14000:
            expected = max(300.0 - lapse * z, 200.0)
            assert pytest.approx(expected, abs=1.0) == T
    assert not found["u"].any() and not found["v"].any()
