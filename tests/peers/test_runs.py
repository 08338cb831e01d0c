"""Runs that are kept: the load of the host, its ceilings, and vectors shorter than the processor's."""

import numpy as np
import pytest

from companion.host import machine
from companion.records import peer_records
from peers import Comparison, Row
from peers.__main__ import app


def fake_module(monkeypatch, flags=()):
    """One module with one comparison, whose rows carry these flags one after the other, then none."""
    item = Comparison("g", "l", lambda: 1.0, {"same": lambda: 1.0}, lambda ours, theirs: 0.0)
    left = list(flags)
    monkeypatch.setattr("peers.kit.record.versions", lambda names: {"same": "1"})
    monkeypatch.setattr("peers.__main__.collect", lambda names, threads: iter([item]))
    monkeypatch.setattr(
        "peers.__main__.measure",
        lambda *given: Row("g", "l", np.array([1.0]), {"same": np.array([1.0])}, flags=left.pop(0) if left else {}),
    )
    return left


class Load:
    """What others keep busy, as a list of answers."""

    answers: list[float]

    def value(self):
        return Load.answers.pop(0)


@pytest.fixture
def book(monkeypatch, tmp_path):
    """The book's folder and the one beside it, here; a checkout without changes, a host that is not watched."""
    monkeypatch.setattr("peers.kit.record.WATCH", 0.0)
    monkeypatch.setattr("peers.kit.ceilings.of", lambda counts: {})
    monkeypatch.setattr(peer_records, "COMMITTED", tmp_path / "book")
    monkeypatch.setattr("peers.kit.record.ASIDE", tmp_path / "aside")
    monkeypatch.setattr("peers.kit.record.OtherLoad", Load)
    describe = machine.describe

    def clean(**given):
        found = describe(**given)
        return found | {"provenance": found["provenance"] | {"dirty": False}}

    monkeypatch.setattr(machine, "describe", clean)
    return tmp_path / "book"


def test_the_book_takes_records_of_a_quiet_host(monkeypatch, book, kept):
    Load.answers = [0.1, 0.2, 0.25]
    fake_module(monkeypatch)
    assert app(["smt", "--threads", "1", "--rounds", "3", "--out", str(book)], standalone_mode=False) == 0
    assert kept(book)["load"] == {"before": 0.1, "during": 0.2, "after": 0.25}
    assert "numba -O" in kept(book)["ours"]["kernels"]


def test_a_loaded_host_is_refused_before_anything_is_measured(monkeypatch, book, capsys):
    Load.answers = [0.5]
    monkeypatch.setattr("peers.__main__.collect", lambda names, threads: pytest.fail("measured"))
    assert app(["smt", "--threads", "1", "--rounds", "3", "--out", str(book)], standalone_mode=False) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "others keep 0.50 CPUs busy" in line and "at most 0.25" in line and "name another folder" in line
