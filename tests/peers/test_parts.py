"""Parts of a step, timed without a peer: those of the whole step, and of nothing else."""

import pytest

from kernels import bt, gridpoint
from kernels.gridpoint import Problem
from peers import _bt_parts, _forecast_parts
from peers.kit import steps


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Samples of one step."""
    monkeypatch.setattr(steps, "SAMPLE", 0.0)


def seconds(item) -> float:
    """What one call of a part that has no peer says."""
    assert not item.peers
    return item.ours.run()[0]


@pytest.mark.parametrize("threads", [1, 2])
def test_parts_of_bt_do_the_work_of_a_step_and_are_timed_inside_one(threads):
    problem, items = bt.Problem.preset("S"), []
    for item in _bt_parts.comparisons("S", threads):
        assert 0 < seconds(item) < 10
        items.append(item)
    whole, parts = items[0], items[1:]
    assert whole.label == "class S, a whole step" and len({item.label for item in items}) == len(items) == 12
    assert sum(part.work.flops for part in parts) == whole.work.flops <= bt.work(problem).flops
    assert all(part.size and part.work.bytes for part in items)


@pytest.mark.parametrize("threads", [1, 2])
def test_parts_of_a_forecast_do_the_work_of_a_step(threads, monkeypatch):
    """To compile the timed steps takes about as long as the forecast; its own steps run in their place."""
    monkeypatch.setattr(_forecast_parts, "SIZES", ((32, 16, 1800.0),))
    monkeypatch.setattr(_forecast_parts.Steps, "march", lambda steps, spent: steps.step())
    found = {}
    for item in _forecast_parts.comparisons(threads):
        found[item.label.partition(", ")[2]] = item
        assert 0 <= seconds(item) < 10
    whole = found.pop("a whole step")
    assert list(found) == list(_forecast_parts.PARTS[: 9 if threads == 1 else 11])
    assert sum(item.work.flops for item in found.values() if item.work) == whole.work.flops
    problem = Problem(ni=32, nj=16, levels=15, dt=1800.0, hours=2.0, writeup=0.0)
    first = dict(gridpoint.work(problem).parts)["Helmholtz"] // (problem.steps - 1)  # Euler's step has none
    counted = {name: flops // problem.steps for name, flops in gridpoint.work(problem).parts}
    assert whole.work.flops == counted["rows"] + counted["polar filter"] + first
