"""Runs of ``python -m peers`` that are kept, whatever ends them."""

import signal

import numpy as np
import pytest

from peers import Absent, Row
from peers.__main__ import app


@pytest.fixture(autouse=True)
def unwatched(monkeypatch):
    """Runs that are kept watch the host and measure its ceilings: here no longer than the counters need."""
    monkeypatch.setattr("peers.kit.record.WATCH", 0.21)
    monkeypatch.setattr("peers.kit.ceilings.of", lambda counts: {})


def test_a_run_is_kept_as_a_record_that_reads_back(monkeypatch, tmp_path, capsys, comparison, offered, kept):
    """Times as measured, ratios from them, another answer and an absent peer beside them."""
    monkeypatch.setattr(
        "peers.__main__.measure",
        lambda item, rounds, seed: Row(
            item.group,
            item.label,
            np.array([2.0, 1.0, 4.0]),
            {"same": np.array([3.0, 3.0, 4.0])},
            {"other": 0.5, "nan": float("nan")},
            0.25,
            {"load": "others were busy"},
        ),
    )
    offered([comparison(), Absent("ghost", "GHOST is unset")])
    monkeypatch.setattr("peers.modules", lambda: ["smt"])
    options = ["--threads", "1", "--rounds", "3", "--seed", "5", "--out", str(tmp_path / "a" / "b")]
    assert app(["smt", "smt", *options], standalone_mode=False) == 1
    record = kept(tmp_path / "a" / "b")
    assert (record["modules"], record["threads"], record["rounds"], record["seed"]) == (["smt"], [1], 3, 5)
    assert record["interrupted"] is None
    assert record["absent"] == [{"module": "smt", "threads": 1, "name": "ghost", "reason": "GHOST is unset"}]
    assert record["rows"] == [
        {
            "module": "smt",
            "group": "g",
            "label": "l",
            "threads": 1,
            "fastest": 1.0,
            "median": 2.0,
            "peers": {"same": {"fastest": 3.0, "median": 3.0, "ratio_fastest": 3.0, "ratio_median": 1.5}},
            "wrong": {"other": 0.5, "nan": None},
            "other_load": 0.25,
            "flags": {"load": "others were busy"},
        }
    ]
    assert record["machine"]["software"]["numba"]
    said = capsys.readouterr().out
    assert "1 of 1 comparisons were measured beside other load" in said and "kept in" in said


@pytest.fixture
def interruptible():
    """Ctrl-C interrupts this process, as it does one that a terminal started."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (None, 130, "stopped by hand"),  # by Ctrl-C
        (MemoryError("too large"), 2, "MemoryError"),
        (OSError(28, "No space left on device", "/some/place"), 2, "No space left on device"),
    ],
)
def test_what_was_complete_is_kept_whatever_ends_a_run(
    monkeypatch, tmp_path, capsys, error, status, reason, comparison, kept, interruptible
):
    def items(names, threads):
        yield comparison()
        if error is not None:
            raise error
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("peers.__main__.collect", items)
    assert app(["smt", "--threads", "1", "--rounds", "1", "--out", str(tmp_path)], standalone_mode=False) == status
    record = kept(tmp_path)
    assert [row["label"] for row in record["rows"]] == ["l"]
    assert record["interrupted"] == reason
    assert len(capsys.readouterr().err.strip().splitlines()) == (error is not None)
