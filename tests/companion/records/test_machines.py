"""One machine or two, and what they are called."""

import copy

import pytest

from supercomputers_rerun.companion import host
from supercomputers_rerun.companion.records import runs


@pytest.fixture(scope="module")
def here():
    return host.describe()


def changed(description, **sections):
    made = copy.deepcopy(description)
    for section, values in sections.items():
        if isinstance(values, dict):
            made[section] |= values
        else:
            made[section] = values
    return made


HISTORY = [
    {"software": {"numba": "0.99", "python": "3.99"}},
    {"system": {"kernel": "9.9"}},
    {"provenance": {"commit": "0" * 40}},
    {"memory": {"available_bytes": 1}},
    {"cpu": {"measured_hz": 1e9}},
]
OTHERS = [
    {"cpu": {"model": "Ampere Altra"}},
    {"cpu": {"signature": [1, 2, 3], "target": "znver99"}},
    {"cpu": {"nominal_hz": 9_900_000_000}},
    {"usable": {"cpus": 99}},
    {"cpu": {"threads_per_core": 4}},
    {"memory": {"total_bytes": 99 * 2**30}},
    {"memory": {"transparent_huge_pages": "sometimes"}},
    {"caches": [{"level": 1, "type": "data", "bytes": 99 * 2**10, "line_bytes": 64, "ways": 8, "shared_by": 1}]},
]


@pytest.mark.parametrize("change", HISTORY, ids=str)
def test_what_changes_on_one_machine_is_its_history(here, change):
    assert runs.same(here, changed(here, **change))


@pytest.mark.parametrize("change", OTHERS, ids=str)
def test_another_property_is_another_machine_with_a_name_of_its_own(here, change, record, tmp_path):
    other = changed(here, **change)
    assert not runs.same(here, other)
    for number, each in enumerate((here, other)):
        runs.save(record | {"machine": each, "date": f"200{number}-01-01T00:00:00Z"}, tmp_path)
    names = {runs.label(each, tmp_path) for each in (here, other)}
    assert len(names) == 2 and all(len(name) < 60 for name in names)


def test_what_an_older_record_does_not_know_agrees_with_everything(here):
    older = copy.deepcopy(here)
    for name in ("target", "signature", "measured_hz"):
        del older["cpu"][name]
    assert runs.same(here, older) and len(runs.distinct([here, older])) == 1


def test_a_clock_calibrated_anew_and_a_page_less_are_the_same_machine(here):
    known = changed(here, cpu={"nominal_hz": 2_596_086_000}, memory={"total_bytes": 25_276_514_304})
    again = changed(here, cpu={"nominal_hz": 2_596_120_000}, memory={"total_bytes": 25_276_502_016})
    assert runs.same(known, again)
    assert runs.fingerprint(known)["nominal clock"] == 2.6  # GHz


def test_every_committed_machine_has_a_letter_by_the_date_of_its_first_record():
    """That of the prose comes first, then the latest."""
    letters = [each.label[0] for each in runs.machines()]
    assert letters[0] == "F" and letters[1:] == sorted(letters[1:], reverse=True) and "E" not in letters
    firsts: dict[str, str] = {}
    for record in map(runs.read, runs.COMMITTED.glob("*.json")):
        letter = runs.label(record["machine"])[0]
        firsts[letter] = min(firsts.get(letter, record["date"]), record["date"])
    assert sorted(firsts, key=lambda letter: firsts[letter]) == sorted(firsts)
