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


def test_each_machine_says_which_programs_measured_it(folder):
    older = runs.read(min(folder.iterdir()))
    older["machine"]["cpu"]["model"], older["date"] = "Tortoise 2", "2029-12-31T23:59:59Z"
    older["machine"]["provenance"]["commit"] = "abcdef0123" + "0" * 30
    assert "Earlier ones" not in machines.programs_table(folder).alt
    runs.save(older, folder)
    shown = machines.programs_table(folder)
    caption, *lines = shown.alt.splitlines()
    assert caption.endswith(f"Earlier ones measured Tortoise 2, so a difference from {SECOND} may be the program's.")
    (line,) = [each for each in lines if each.lstrip().startswith("Tortoise")]
    assert "abcdef01 " in line and line.split()[-3:] == ["1", "2029-12-31", "2029-12-31"]
    (line,) = [each for each in lines if "2031-02-03" in each]
    assert line.split()[-3:] == ["2", "2030-01-01", "2031-02-03"]


def test_the_page_names_every_program_of_the_book():
    commits = {runs.read(path)["machine"]["provenance"]["commit"][:8] for path in runs.COMMITTED.glob("*.json")}
    text = machines.programs_table().alt
    assert {commit for commit in commits if commit in text} == commits
