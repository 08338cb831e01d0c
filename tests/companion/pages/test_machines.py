"""The page of machines: a row each, what is where, and repeated runs beside the first."""

import copy

import pytest

from companion.figures import rendering
from companion.pages import machines
from companion.records import runs

SECOND = "Slowpoke 1000"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three records of two machines: one repeated its run, and one of its cases takes twice as long now."""
    monkeypatch.setattr(rendering, "_drawn", lambda *_: "<svg></svg>")
    record = runs.read(max(runs.COMMITTED.glob("p5plus-smt_*.json")))
    for case in record["measurements"]:
        case["samples"] = [1.0 + 0.001 * number for number in range(8)]
    record["date"] = "2030-01-01T00:00:00Z"
    again, other = copy.deepcopy(record), copy.deepcopy(record)
    again["date"] = "2031-02-03T00:00:00Z"
    again["machine"]["software"]["numba"] = "9.9"
    again["measurements"][0]["samples"] = [2 * each for each in record["measurements"][0]["samples"]]
    other["machine"]["cpu"]["model"], other["date"] = SECOND, "2032-01-01T00:00:00Z"
    for each in (record, again, other):
        runs.save(each, tmp_path)
    return tmp_path


def test_a_machine_has_one_row_whatever_its_versions(folder):
    text = machines.machines_table(folder).text
    assert text.startswith("2 machines") and text.count(SECOND) == 2  # label and processor
    (line,) = [each for each in text.splitlines() if "2031-02-03" in each]
    assert "2030-01-01" in line
    text = machines.measured_table(folder).text
    assert "2031-02-03" in text and "2032-01-01" in text and "2030-01-01" not in text


def test_only_a_change_beyond_the_interval_is_one(folder):
    found = machines.changes(folder)
    label = runs.read(min(folder.glob("*.json")))["measurements"][0]["label"]
    assert found.loc[found["differs"], "case"].tolist() == [label]
    assert found.loc[found["differs"], "ratio"].item() == pytest.approx(2)
    assert (found.loc[~found["differs"], "ratio"] == 1).all() and len(found) > 1
    assert f"{label}: 2.00 times" in machines.changes_table(folder).text
    shown = machines.history(folder)
    assert f"1 of {len(found)} differ" in shown.alt and "1 experiment" in shown.alt
    assert shown.alt in machines.repeated(folder).alt and "2.00 times" in machines.repeated(folder).alt
