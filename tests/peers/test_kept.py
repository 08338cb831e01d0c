"""Runs of ``python -m peers`` that are kept, whatever ends them."""

import signal

import numpy as np
import pytest

from companion.records import peer_records
from peers import Absent, Row, summarise
from peers.__main__ import main
from peers.kit.record import Run


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
    assert (
        main(["smt", "smt", "--threads", "1", "--rounds", "3", "--seed", "5", "--out", str(tmp_path / "a" / "b")]) == 1
    )
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
    assert main(["smt", "--threads", "1", "--rounds", "1", "--out", str(tmp_path)]) == status
    record = kept(tmp_path)
    assert [row["label"] for row in record["rows"]] == ["l"]
    assert record["interrupted"] == reason
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_a_defect_keeps_its_traceback_and_the_record(monkeypatch, tmp_path, comparison, kept):
    monkeypatch.setattr("peers.__main__.collect", lambda names, threads: (1 / n and comparison() for n in (1, 0)))
    with pytest.raises(ZeroDivisionError):
        main(["smt", "--threads", "1", "--rounds", "1", "--out", str(tmp_path)])
    assert kept(tmp_path)["interrupted"] == "ZeroDivisionError"


def test_a_run_that_measured_nothing_leaves_nothing(monkeypatch, tmp_path, capsys):
    def interrupted(names, threads):
        raise KeyboardInterrupt

    monkeypatch.setattr("peers.__main__.collect", interrupted)
    assert main(["smt", "--threads", "1", "--out", str(tmp_path / "new")]) == 130
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_written_is_found_before_measuring(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("peers.__main__.collect", lambda names, threads: pytest.fail("measured"))
    (tmp_path / "file").write_text("")
    assert main(["smt", "--out", str(tmp_path / "file")]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("peers: ") and str(tmp_path / "file") in line and "choose a folder" in line


def test_without_a_folder_nothing_is_written(monkeypatch, tmp_path, comparison, offered):
    monkeypatch.chdir(tmp_path)
    offered([comparison()])
    assert main(["smt", "--threads", "1", "--rounds", "1"]) == 0
    assert list(tmp_path.iterdir()) == []


def test_the_printed_summary_is_that_of_the_record(monkeypatch, tmp_path):
    """Two readers of the same rows, samples here and times in the record, agree."""
    generator = np.random.default_rng(1)
    rows = [
        Row(group, str(label), generator.uniform(1, 2, 5), {name: generator.uniform(1, 3, 5) for name in "abc"})
        for group in "gh"
        for label in range(6)
    ]
    run = Run(["smt"], [1], 5, 0)
    for row in rows:
        run.add("smt", 1, row)
    found = peer_records.summary(peer_records.load(run.save(tmp_path)[0]))
    for (group, stands), line in zip(summarise(rows).items(), found, strict=True):
        assert group == line["group"] and stands == pytest.approx({name: line[name] for name in stands})
