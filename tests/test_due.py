"""Each weekly test is due once a week, and when what it covers changes."""

import re
from fnmatch import fnmatch

import pytest
from due import ROOT, Budget, _git, due, table

TABLE = table()
pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no checkout of git")
WEEKLY = re.compile(r"\b(mark|marks)\b.*\bweekly\b|\bEACH\b")


def test_every_file_with_weekly_tests_is_in_the_table_and_no_other():
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")]
    marked = [name for name in files if WEEKLY.search((ROOT / name).read_text(encoding="utf-8"))]
    assert sorted(TABLE) == sorted(set(marked) - {"tests/test_due.py"})


def test_every_pattern_covers_a_file():
    known = _git("ls-files")
    idle = [one for covers in TABLE.values() for one in covers if not any(fnmatch(file, one) for file in known)]
    assert idle == []


def test_every_file_of_tests_is_due_once_in_seven_days_though_nothing_changes():
    days = [due(TABLE, set(), day) for day in range(1000, 1007)]
    assert sorted(name for found in days for name in found) == sorted(TABLE)
    assert all(days)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("kernels/files/format/zarr.py", "tests/kernels/files/test_interrupted_steps.py"),
        ("tests/test_wheel.py", "tests/test_wheel.py"),
        ("kernels/bt/step.py", "tests/kernels/test_portable.py"),
    ],
)
def test_what_changes_makes_its_tests_due_every_day(file, expected):
    days = [due(TABLE, {file}, day) for day in range(7)]
    assert all(expected in found for found in days)
    assert not all("tests/companion/mpi/test_marks.py" in found for found in days)


def test_those_of_the_day_come_first():
    days = [due(TABLE, {"kernels/bt/step.py"}, day) for day in range(7)]
    assert all(found[: len(due(TABLE, set(), day))] == due(TABLE, set(), day) for day, found in enumerate(days))


def test_when_the_time_is_over_tests_are_skipped_and_not_before():
    Budget(3600).pytest_runtest_setup()
    with pytest.raises(pytest.skip.Exception, match="time for weekly tests is over"):
        Budget(-1).pytest_runtest_setup()
