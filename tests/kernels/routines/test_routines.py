"""kernels.routines against NumPy, against physics, and against themselves in other blocks and builds."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supercomputers_rerun.kernels import routines
from supercomputers_rerun.kernels.routines import blocking, cloud, elementary, interpolation, saturation
from supercomputers_rerun.kernels.routines.blocking import SCALAR, VECTOR, block, unblock
from supercomputers_rerun.kernels.runtime.arrays import zeros
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.resources import usable_cpus
from supercomputers_rerun.kernels.runtime.vector import load_as, store

SMALL = {
    "saturation": saturation.Problem(columns=203, levels=6),
    "weights": interpolation.Problem(nx=17, ny=12, levels=7, scheme="weights", courant=2.5),
    "linear": interpolation.Problem(nx=17, ny=12, levels=7, scheme="linear", courant=2.5),
    "cubic": interpolation.Problem(nx=17, ny=12, levels=7, scheme="cubic", courant=2.5),
    "cloud": cloud.Problem(columns=203, levels=9),
}
MODULES = {name: getattr(routines, name, interpolation) for name in SMALL}


def answer(name, problem, result):
    """What a kernel wrote, without padding, as one array (or tuple of them)."""
    if name == "saturation":
        return np.array([unblock(problem, result.t_new), unblock(problem, result.q_new)])
    if name == "cloud":
        fields = [unblock(problem, field) for field in (*result.new, *result.fallen)]
        return np.concatenate(fields)
    return interpolation.quantities(problem, result.stencil if name == "weights" else result.values)


def solved(name, threads=1, **changes):
    problem = dataclasses.replace(SMALL[name], **changes)
    module = MODULES[name]
    result = module.run(problem, module.setup(problem, seed=3), threads)
    return problem, result, answer(name, problem, result).copy()


@pytest.mark.parametrize("name", SMALL)
def test_builds_blocks_threads_and_repeats_do_not_matter(name, monkeypatch):
    *_, expected = solved(name)
    for build, nproma in (
        ("scalar", 32), ("vector", 1), ("scalar", 5), ("vector", 24), ("vector", 203), ("vector", 1000),
    ):  # fmt: skip
        assert np.array_equal(solved(name, build=build, nproma=nproma)[2], expected), (build, nproma)
    assert solved(name, threads=min(2, usable_cpus()))[1].threads == 1  # too small for more
    monkeypatch.setattr(blocking, "FEWEST_POINTS", 1)
    for threads in range(1, min(3, usable_cpus()) + 1):
        _, result, found = solved(name, threads=threads, nproma=16)
        assert result.threads == threads and np.array_equal(found, expected)
    module, problem = MODULES[name], SMALL[name]
    state = module.setup(problem, seed=3)
    assert np.array_equal(answer(name, problem, module.run(problem, state, repeats=3)), expected)


# The pieces


@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 20))
def test_blocking_and_back(columns, levels, nproma):
    problem = saturation.Problem(columns=columns, levels=levels, nproma=nproma)
    values = np.arange(float(columns * levels)).reshape(levels, columns)
    field = block(problem, values)
    assert field.shape == (problem.blocks, levels, problem.row) and field.ctypes.data % 64 == 0
    assert problem.row % 8 == 0 and problem.row - nproma < 8
    assert np.array_equal(unblock(problem, field), values)
    assert field.min() >= 0.0 and field[-1, 0, -1] == columns - 1  # padding repeats a column


@kernel
def exp_of(x, y, width):
    for i in range(0, len(x), len(width)):
        store(y, i, elementary.exp(load_as(x, i, width)))


@kernel
def exp2_of(x, y, width):
    for i in range(0, len(x), len(width)):
        store(y, i, elementary.exp2(load_as(x, i, width)))


def exponentials(function, x, width):
    padded, y = zeros((-(-len(x) // 8) * 8,)), zeros((-(-len(x) // 8) * 8,))
    padded[: len(x)] = x
    function(padded, y, width)
    return y[: len(x)]


@pytest.mark.parametrize("function, exact, ulps", [(exp_of, np.exp, 1.1), (exp2_of, np.exp2, 1.0)])
def test_exponentials_are_accurate_to_an_ulp(function, exact, ulps):
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [
            rng.uniform(*elementary.DOMAIN, 200_000),
            rng.uniform(-1.0, 1.0, 200_000),
            np.arange(-700, 700) * np.log(2.0) / 2.0,
            np.arange(-700, 700) / 2.0,
            elementary.DOMAIN,
            [0.0],
        ]
    )
    x = np.clip(x, *elementary.DOMAIN)
    got, wanted = exponentials(function, x, VECTOR), exact(x.astype(np.longdouble))
    assert np.max(np.abs(got - wanted) / np.spacing(exact(x))) < ulps
    assert np.array_equal(got, exponentials(function, x, SCALAR))
    assert exponentials(function, np.zeros(3), VECTOR).tolist() == [1.0] * 3


# Saturation adjustment


@settings(deadline=None, max_examples=40)
@given(t=st.floats(200.0, 320.0), p=st.floats(2e4, 1.08e5), rh=st.floats(0.0, 2.5), iterations=st.integers(1, 6))
def test_saturation_adjustment(t, p, rh, iterations):
    """Energy kept; not above saturation after any step; saturated after four; dry air untouched."""
    problem = saturation.Problem(columns=1, levels=1, nproma=1, iterations=iterations)
    q = rh * saturation.saturation_humidity(t, p)
    if not q < 0.3:
        return
    state = saturation.setup(problem)
    for field, value in ((state.t, t), (state.q, q), (state.p, p)):
        field[:] = block(problem, np.array([[value]]))
    result = saturation.run(problem, state)
    t_new, q_new = result.t_new[0, 0, 0], result.q_new[0, 0, 0]
    assert saturation.CP * t_new + saturation.L * q_new == pytest.approx(
        saturation.CP * t + saturation.L * q, rel=1e-14
    )
    saturated = saturation.saturation_humidity(t_new, p)
    if rh < 1.0 - 1e-12:
        assert (t_new, q_new) == (t, q)
    else:
        assert q_new <= saturated * (1.0 + 1e-12)
        if iterations >= 5:
            assert q_new == pytest.approx(saturated, rel=1e-9)


def test_saturation_humidity_of_textbooks():
    """Over water, WMO: 6.11 hPa at the ice point, 23.4 hPa at 20 °C, 1.9 hPa at −13 °C … within 1 %."""
    for celsius, hectopascal in ((0.0, 6.11), (20.0, 23.37), (30.0, 42.43), (-20.0, 1.254)):
        q = saturation.saturation_humidity(celsius + 273.16, 1e5)
        e = 1e5 * q / (saturation.EPS + (1.0 - saturation.EPS) * q)
        assert e == pytest.approx(100.0 * hectopascal, rel=0.01)


# Interpolation


def interpolated(problem, field, x, y, z):
    """Values of ``field`` (levels, ny, nx) at points given as (levels, columns) each."""
    module = interpolation
    state = module.setup(dataclasses.replace(problem, courant=0.0))
    state.field[:] = module.with_margin(problem, field)
    state.departure[:] = module._blocked(problem, [x, y, z])
    module.run(dataclasses.replace(problem, scheme="weights"), state)
    return unblock(problem, module.run(problem, state).values)


coefficient = st.floats(-2.0, 2.0)


def scattered(problem, seed, low, high):
    """Points at least ``low`` from the lower and ``high`` from the upper edges of the plane and column."""
    rng = np.random.default_rng(seed)
    shape = (problem.levels, problem.columns)
    return [rng.uniform(low, size - 1.0 - high, shape) for size in (problem.nx, problem.ny, problem.levels)]


@settings(deadline=None, max_examples=15)
@given(
    c=st.lists(coefficient, min_size=8, max_size=8),
    seed=st.integers(0, 99),
    scheme=st.sampled_from(["linear", "cubic"]),
)
def test_trilinear_functions_are_exact(c, seed, scheme):
    problem = interpolation.Problem(nx=9, ny=8, levels=6, nproma=16, scheme=scheme, courant=0.0)

    def function(x, y, z):
        return c[0] + c[1] * x + c[2] * y + c[3] * z + c[4] * x * y + c[5] * y * z + c[6] * x * z + c[7] * x * y * z

    z, y, x = np.mgrid[:6, :8, :9].astype(float)
    points = scattered(problem, seed, 1.0, 1.0)
    found, one = interpolated(problem, function(x, y, z), *points), [each[2, 3] for each in points]
    assert found == pytest.approx(function(*points), abs=1e-10)
    assert interpolation.plain(function(x, y, z), *one, scheme == "cubic") == pytest.approx(found[2, 3])


@settings(deadline=None, max_examples=15)
@given(c=st.lists(st.floats(0.0, 2.0), min_size=3, max_size=3), seed=st.integers(0, 99), axis=st.integers(0, 2))
def test_cubics_along_a_grid_line_are_exact(c, seed, axis):
    """The 32-point scheme is cubic along every grid line, away from the edges; a rising cubic stays within corners."""
    problem = interpolation.Problem(nx=9, ny=8, levels=7, nproma=16, courant=0.0)
    z, y, x = np.mgrid[:7, :8, :9].astype(float)
    points = scattered(problem, seed, 1.0, 1.0)
    for other in range(3):
        if other != axis:
            points[other] = np.floor(points[other])

    def function(*position):
        return np.polynomial.polynomial.polyval(position[axis] / 4.0, [0.5, *c])

    assert interpolated(problem, function(x, y, z), *points) == pytest.approx(function(*points), abs=1e-11)


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 999))
def test_quasi_monotone_values_stay_within_the_corners(seed):
    problem = interpolation.Problem(nx=9, ny=8, levels=6, nproma=16, courant=0.0)
    field = np.random.default_rng(seed).choice([0.0, 1.0, 5.0], (6, 8, 9))
    x, y, z = scattered(problem, seed, 0.0, 0.0)
    values = interpolated(problem, field, x, y, z)
    row, layer, column = (np.floor(each).astype(int) for each in (y, z, x))
    corners = np.array([field[layer + k, row + j, column + i] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    assert np.all(values >= corners.min(axis=0)) and np.all(values <= corners.max(axis=0))
    at_bound = (values == corners.min(axis=0)) | (values == corners.max(axis=0))
    assert 0.0 < at_bound.mean() < 0.9


# Cloud process


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 999), timestep=st.floats(60.0, 3600.0), levels=st.integers(1, 30))
def test_cloud_process_conserves(seed, timestep, levels):
    problem = cloud.Problem(columns=24, levels=levels, nproma=8, timestep=timestep)
    result = cloud.run(problem, cloud.setup(problem, seed))
    checks = cloud.verify(problem, result)
    assert all(check.ok for check in checks), [str(check) for check in checks]


def test_cloud_process_takes_every_branch():
    problem = cloud.Problem(columns=400, levels=20)
    result = cloud.run(problem, cloud.setup(problem))
    t, q, water, p, _ = (unblock(problem, field) for field in result.inputs)
    t_new, q_new, water_new, cover = (unblock(problem, field) for field in result.new)
    rain, snow = (unblock(problem, field)[0] for field in result.fallen)
    qs = saturation.saturation_humidity(t, p)
    assert np.any(q > qs) and np.any((water > 0) & (q < qs)) and np.any(water_new < water)
    assert np.any(rain > 0) and np.any(rain == 0) and np.any(snow > 0) and np.any(snow == 0)
    assert np.any((cover > 0) & (cover < 1)) and np.any(cover == 0) and np.any(cover == 1)
    assert np.any((q < qs) & (water == 0) & (q_new > q))  # rain evaporated into dry air
    # snow melted: only that takes energy from a level
    assert np.any((t > cloud.T0) & (cloud.CP * (t_new - t) + cloud.L * (q_new - q) < -1.0))
