"""Runs that are kept say what others kept busy, and whether the book takes them."""

from types import SimpleNamespace

import pytest

from peers.__main__ import app


@pytest.mark.parametrize(("during", "said"), [(0.2, False), (0.5, True)])
def test_a_record_says_what_others_kept_busy(monkeypatch, tmp_path, capsys, comparison, offered, kept, during, said):
    answers = [0.1, during, 0.25]
    monkeypatch.setattr("peers.kit.record.WATCH", 0.0)
    monkeypatch.setattr("peers.kit.ceilings.of", lambda counts: {})
    monkeypatch.setattr("peers.kit.record.OtherLoad", lambda: SimpleNamespace(value=lambda: answers.pop(0)))
    offered([comparison()])
    assert app(["smt", "--threads", "1", "--rounds", "3", "--out", str(tmp_path)], standalone_mode=False) == 0
    assert kept(tmp_path)["load"] == {"before": 0.1, "during": during, "after": 0.25}
    assert "numba -O" in kept(tmp_path)["ours"]["kernels"]
    assert ("not for the book: others kept 0.50 CPUs busy during" in capsys.readouterr().out) is said
