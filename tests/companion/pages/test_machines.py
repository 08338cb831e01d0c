"""The page of machines: a row each, and what was measured where."""

import copy

import pytest

from supercomputers_rerun.companion.pages import machines
from supercomputers_rerun.companion.records import runs

SECOND = "Slowpoke 1000"


@pytest.fixture
def folder(tmp_path):
    """Three records of two machines: one repeated its run."""
    record = runs.read(max(runs.COMMITTED.glob("p5plus-smt_*.json")))
    record["date"] = "2030-01-01T00:00:00Z"
    again, other = copy.deepcopy(record), copy.deepcopy(record)
    again["date"] = "2031-02-03T00:00:00Z"
    again["machine"]["software"]["numba"] = "9.9"
    other["machine"]["cpu"]["model"], other["date"] = SECOND, "2032-01-01T00:00:00Z"
    for each in (record, again, other):
        runs.save(each, tmp_path)
    return tmp_path


def test_a_machine_has_one_row_whatever_its_versions(folder):
    text = machines.machines_table(folder).alt
    assert text.startswith("2 machines") and text.count(SECOND) == 2  # label and processor
    (line,) = [each for each in text.splitlines() if "2031-02-03" in each]
    assert "2030-01-01" in line
