"""The chain: exact where observations are exact, better than what it starts from, the same wherever its files are."""

from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest

from supercomputers_rerun.kernels import analysis
from supercomputers_rerun.kernels.analysis import boxes, chain, covariance, dense, synthetic
from supercomputers_rerun.kernels.analysis.problem import LN_P
from supercomputers_rerun.kernels.files.filesystem import BlockFile

PROBLEM = analysis.Problem()


@pytest.fixture(scope="module")
def state():
    return analysis.setup(PROBLEM)


@pytest.fixture(scope="module")
def result(state):
    return analysis.run(PROBLEM, state)


def failed(problem, result):
    return [str(check) for check in analysis.verify(problem, result) if not check.ok]


def test_the_analysis_is_better_than_first_guess_and_data(state, result):
    assert failed(PROBLEM, result) == []
    before, after = (analysis.errors(result, what) for what in ("first_guess", "standard"))
    assert all(after[name] < 0.75 * before[name] for name in before)


def test_steps_are_the_reports(result):
    twice = [f"o, {letter}" for letter in "hijkl"]
    assert [step.letter for step in result.steps] == [*"defghijklmn", *twice, *"pqrstuvw"]
    assert all(step.clock > 0 for step in result.steps)


def test_bytes_are_those_counted(state, monkeypatch, tmp_path):
    moved = []
    for way, real in (("read", BlockFile.read), ("write", BlockFile.write)):
        monkeypatch.setattr(BlockFile, way, lambda *what, real=real: moved.append(what[0].nbytes) or real(*what))
    with ExitStack() as opened:
        going = chain.Chain(PROBLEM, state, covariance, tmp_path, opened)
        moved.clear()
        going.run()
    assert sum(moved) == analysis.work(PROBLEM).bytes


@pytest.mark.parametrize("work, rest", [("half", "cache"), ("cache", "cache"), ("memory", "cache")])
def test_places_change_no_bit(state, result, tmp_path, work, rest):
    problem = replace(PROBLEM, work=work, rest=rest, folder=str(tmp_path))
    assert np.array_equal(analysis.run(problem, state).fields, result.fields)
    assert list(tmp_path.iterdir()) == []


def test_without_observations_of_weight_the_first_guess_stays(state):
    data = state.data._replace(error=1e9 * state.data.error)
    found = analysis.run(PROBLEM, replace(state, data=data))
    assert np.abs(found.fields - state.guess).max() < 1e-3


def test_exact_observations_are_reproduced_by_a_box(state):
    """With errors of a ten-thousandth the analysis at the data is the data."""
    exact = state.data._replace(error=1e-4 * state.data.error)
    use = np.flatnonzero((exact.kind < 3) & (exact.latitude > 0.5))[:48]
    points, d = np.ascontiguousarray(boxes.data_points(PROBLEM, exact)[:, use]), np.cos(np.arange(48.0))
    weights = np.zeros(48)
    assert covariance.assimilate(np.zeros((48, 64)), points, d, 48, np.zeros((8, 8)), weights, np.zeros(8))
    np.testing.assert_allclose(dense.correlations(points, points) @ weights, d, rtol=0, atol=1e-5)


def test_exact_observations_are_reproduced_by_the_chain(monkeypatch):
    """Between the grid points, up to the error of interpolation."""
    monkeypatch.setattr(synthetic, "ERRORS", {kind: 0.01 * error for kind, error in synthetic.ERRORS.items()})
    monkeypatch.setattr(synthetic, "GROSS", 0.0)
    monkeypatch.setattr(boxes.suspects, "__defaults__", (100.0,))
    problem = replace(PROBLEM, sondes=40, aircraft=0, length=4e6)
    state = analysis.setup(problem)
    found = analysis.run(problem, state)
    use = (found.quality == boxes.ACCEPTED) & (np.abs(state.data.latitude) < 1.0)
    after, before = (
        boxes.at_data(problem, state.data, (each - state.true)[:, [0, 1, 2, 4]])[use] / state.data.error[use]
        for each in (found.standard, found.first_guess)
    )
    assert np.sqrt((after**2).mean() / (before**2).mean()) < 0.12


def test_winds_go_to_the_faces_and_back():
    """What is linear along rows or columns is exact between them; the first row and the last are continued."""
    fields = np.zeros((6, 5, 2, 8))
    fields[:, 2] = np.arange(6.0)[:, None, None]
    fields[:, 1] = np.cos(np.pi * np.arange(8) / 4)
    faces = chain.staggered(fields)
    np.testing.assert_allclose(faces[1:, 2], fields[1:, 2] - 0.5)
    np.testing.assert_allclose(faces[:, 1, 0, 0], 0.5 * (1 + np.cos(np.pi / 4)))
    back = chain.unstaggered(faces)
    np.testing.assert_allclose(back[1:, 2], fields[1:, 2])
    np.testing.assert_allclose(back[:, 1], fields[:, 1] * 0.5 * (1 + np.cos(np.pi / 4)), atol=1e-12)


def test_random_fields_have_their_covariance():
    rng = np.random.default_rng(5)
    up = synthetic.places(np.array([0.3, 0.32]), np.array([1.0, 1.1])).up
    draws = (synthetic.Field(rng, 1e6, 0.5).sample(up, np.zeros(2), np.zeros(1)) for _ in range(3000))
    values = np.array([psi[:, 0] for psi, *_ in draws])
    away = np.sum((up[:, 0] - up[:, 1]) ** 2) * (6.371229e6 / 1e6) ** 2
    assert abs((values**2).mean() - 1) < 0.06
    assert abs((values[:, 0] * values[:, 1]).mean() - np.exp(-0.5 * away)) < 0.06


def test_gradients_of_fields_are_their_slopes():
    field = synthetic.Field(np.random.default_rng(6), 2e6, 0.7)
    up, step = synthetic.places(0.5, 2.0), 1e-5
    value, slope, thick = field.sample(up.up, np.zeros(1), LN_P)
    east = field.sample(up.up + step * up.east, np.zeros(1), LN_P)[0]
    higher = field.sample(up.up, np.full(1, step), LN_P)[0]
    scale = 6.371229e6 / field.length
    np.testing.assert_allclose((east - value)[0] / step, scale * np.einsum("cn,cnj->j", up.east, slope), atol=2e-4)
    np.testing.assert_allclose((higher - value)[0] / step, thick[0] / field.depth, atol=2e-4)
