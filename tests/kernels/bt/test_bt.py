"""kernels.bt against published norms, its plain reference and what must hold."""

import itertools
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supercomputers_rerun.kernels import bt
from supercomputers_rerun.kernels.bt import plain
from supercomputers_rerun.kernels.bt.elimination import BACKWARD, FORWARD, RING, UPPER, Scratch, eliminate, substitute
from supercomputers_rerun.kernels.bt.lines import Direction, Ends, Lines
from supercomputers_rerun.kernels.bt.problem import SECOND, exact_solution, initial_field
from supercomputers_rerun.kernels.runtime import resources

#: Classes verified here; B and C take minutes on a slow machine: BT_CLASSES=SWABC asks for them.
VERIFIED = os.environ.get("BT_CLASSES", "SWA")


def smooth_field(points, seed):
    """A field far from the exact solution, positive density and pressure, without any symmetry."""
    random = np.random.default_rng(seed)
    waves = random.normal(size=(3, 5, 3))
    x = np.arange(points) / (points - 1.0)
    grids = np.meshgrid(x, x, x, indexing="ij")
    field = np.array([3.0, 0.5, -0.4, 0.3, 9.0]) * np.ones((points,) * 3 + (1,))
    for m in range(5):
        for axis in range(3):
            a, b, c = waves[axis, m]
            field[..., m] += 0.12 * np.sin(5 * a * grids[axis] + 3 * b * grids[(axis + 1) % 3] + c)
    return field


def started(points, dt, field=None):
    problem = bt.Problem(N=points, NS=1, dt=dt)
    state = bt.setup(problem)
    if field is not None:
        bt.unpack(np.ascontiguousarray(field), state)
    return problem, state


@pytest.mark.parametrize("name", list(VERIFIED))
def test_published_norms(name):
    problem = bt.Problem.preset(name)
    result = bt.run(problem, bt.setup(problem), threads=min(2, resources.usable_cpus()))
    checks = bt.verify(problem, result)
    assert len(checks) == 10 and all(check.ok for check in checks)
    assert max(abs(check.value / check.expected - 1) for check in checks) <= 1e-11


def test_line_by_line_meets_the_published_norms():
    problem = bt.Problem.preset("S", code="plain")
    assert all(check.ok for check in bt.verify(problem, bt.run(problem, bt.setup(problem))))


@settings(max_examples=12, deadline=None)
@given(points=st.integers(6, 19), dt=st.floats(1e-4, 1e-2), seed=st.integers(0, 99))
def test_steps_match_the_reference(points, dt, seed):
    field = smooth_field(points, seed)
    problem, state = started(points, dt, field)
    forced = dt * plain.forcing(points)
    for _ in range(3):
        bt.march(problem, state, 1)
        plain.step(field, forced, dt)
        assert np.abs(bt.solution(state) - field).max() <= 1e-11 * np.abs(field).max()


@pytest.mark.parametrize("points", [6, 7, 12, 17])
def test_exact_solution_is_a_fixed_point(points):
    exact = exact_solution(points)
    problem, state = started(points, 1e-3, exact)
    force = np.moveaxis(state.box.view(state.forcing), -2, -1) / problem.dt
    independent = plain.forcing(points)
    assert np.abs(force - independent).max() <= 1e-12 * np.abs(independent).max()
    bt.march(problem, state, 3)
    assert np.abs(bt.solution(state) - exact).max() <= 1e-13 * np.abs(exact).max()
    residual, error = bt.norms(state)
    assert error.max() <= 1e-13 and residual.max() <= 1e-10 * np.abs(independent).max()


def eight_lines(points, axis):
    """Eight lines of one direction, components permuted: field, right side, where they lie, and the solution."""
    dt = 2e-3
    field, right = smooth_field(points, 7), np.random.default_rng(3).normal(size=(points,) * 3 + (5,))
    np.moveaxis(right, 2 - axis, 0)[[0, -1]] = 0.0  # boundary values do not change
    tiles = [np.swapaxes(np.moveaxis(each, 2 - axis, 0)[:, 1, 1:9], 1, 2).copy().reshape(-1) for each in (field, right)]
    across = [m for m in (1, 2, 3) if m != 1 + axis]
    offsets = [np.uint64(8 * m) for m in (0, *across, 1 + axis, 4)]
    lines = Lines(np.uint64(0), np.uint64(40), *offsets, np.uint64(points), np.uint64(0))
    direction = Direction(dt, np.empty(0), SECOND[axis], 1.0 / (points - 1.0))
    plain._along(*(np.moveaxis(each, 2 - axis, 2) for each in (field, right)), axis, dt, SECOND[axis], True)
    return *tiles, lines, direction, np.swapaxes(np.moveaxis(right, 2 - axis, 0)[:, 1, 1:9], 1, 2).reshape(-1)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("cuts", [(), (4,), (7,), (3, 6)])
def test_a_line_in_pieces_has_the_solution_of_the_whole(axis, cuts):
    """Each piece knows of the others what they hand on."""
    points, ring = 10, np.zeros(RING)
    tile_u, tile_r, lines, direction, expected = eight_lines(points, axis)
    edges = [0, *cuts, points]
    pieces = [
        (
            lines._replace(at=np.uint64(40 * first), points=np.uint64(end - first)),
            Ends(first == 0, end == points),
            np.full((end - first + 1) * UPPER, np.nan),
        )
        for first, end in itertools.pairwise(edges)
    ]
    carry = np.zeros(FORWARD)
    for part, ends, upper in pieces:
        eliminate(tile_u, tile_r, part, direction, ends, Scratch(upper, ring, carry))
    carry = np.zeros(BACKWARD)
    for part, ends, upper in reversed(pieces):
        substitute(tile_r, part, ends, upper, carry)
    assert np.abs(tile_r - expected)[40:-40].max() <= 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("points", [6, 8, 13, 18])
def test_result_does_not_depend_on_threads(points):
    if resources.usable_cpus() < 2:
        pytest.skip("one usable CPU")
    problem = bt.Problem(N=points, NS=3, dt=1e-3)
    outcomes = []
    for threads in (1, 2):
        state = bt.setup(problem)
        result = bt.run(problem, state, threads)
        outcomes.append((bt.solution(state).tobytes(), result.residual.tobytes(), result.error.tobytes()))
    assert outcomes[0] == outcomes[1]


def test_run_repeats_itself_and_a_march_goes_on():
    problem = bt.Problem(N=12, NS=4, dt=0.01)
    state = bt.setup(problem)
    first = bt.run(problem, state)
    last = bt.solution(state)
    again = bt.run(problem, state, repeats=2)
    assert np.array_equal(first.residual, again.residual) and np.array_equal(first.error, again.error)
    state.reset()
    assert np.array_equal(bt.solution(state), initial_field(12))
    bt.march(problem, state, 3)
    assert not np.array_equal(bt.solution(state), last)
    bt.march(problem, state, 1)
    assert np.array_equal(bt.solution(state), last)
