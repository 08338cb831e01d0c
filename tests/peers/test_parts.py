"""Parts of a step, timed without a peer: those of the whole step, and of nothing else."""

import pytest

import peers
from kernels import bt, gridpoint
from kernels.gridpoint import Problem
from kernels.runtime.threads import Team
from peers import _bt_parts, _forecast_parts
from peers.kit import steps


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Samples of one step."""
    monkeypatch.setattr(steps, "SAMPLE", 0.0)


@pytest.mark.parametrize("threads", [1, 2])
def test_parts_of_bt_do_the_work_of_a_step(threads):
    items = list(_bt_parts.comparisons("S", threads))
    whole, parts = items[0], items[1:]
    assert whole.label == "class S, a whole step" and len({item.label for item in items}) == len(items) == 12
    assert sum(part.work.flops for part in parts) == whole.work.flops
    assert all(part.size and part.work.bytes for part in items)


def test_a_part_of_bt_is_timed_inside_a_step():
    problem = bt.Problem.preset("S")
    for item in _bt_parts.comparisons("S", 1):
        row = peers.measure(item, rounds=1, seed=0)
        assert row.best is None and 0 < row.ours[0] < 10 and row.work.flops <= bt.work(problem).flops
    with Team(1) as team:
        spent = _bt_parts.Steps(problem, team, 1).timed()
    assert spent.shape == (11,) and (spent > 0).all()


def test_parts_that_leave_another_field_are_refused(monkeypatch):
    monkeypatch.setattr(_bt_parts, "_planes", lambda *arguments: None)
    with Team(1) as team, pytest.raises(RuntimeError, match="another field than its steps"):
        _bt_parts.Steps(bt.Problem.preset("S"), team, 1)


@pytest.mark.parametrize("threads", [1, 2])
def test_parts_of_a_forecast_do_the_work_of_a_step(threads, monkeypatch):
    monkeypatch.setattr(_forecast_parts, "SIZES", ((32, 16, 1800.0),))
    found = {}
    for item in _forecast_parts.comparisons(threads):
        row = peers.measure(item, rounds=1, seed=0)
        found[item.label.partition(", ")[2]] = row
        assert row.best is None and 0 <= row.ours[0] < 10
    whole = found.pop("a whole step")
    assert list(found) == list(_forecast_parts.PARTS[: 9 if threads == 1 else 11])
    assert sum(row.work.flops for row in found.values() if row.work) == whole.work.flops
    problem = Problem(ni=32, nj=16, levels=15, dt=1800.0, hours=2.0, writeup=0.0)
    first = dict(gridpoint.work(problem).parts)["Helmholtz"] // (problem.steps - 1)  # Euler's step has none
    counted = {name: flops // problem.steps for name, flops in gridpoint.work(problem).parts}
    assert whole.work.flops == counted["rows"] + counted["polar filter"] + first


def test_parts_that_leave_another_state_are_refused(monkeypatch):
    monkeypatch.setattr(_forecast_parts, "_march", lambda *arguments: None)
    with pytest.raises(RuntimeError, match="another state than a step"):
        _forecast_parts.Steps(Problem(hours=1.0), 1)
