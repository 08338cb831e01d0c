"""Runs the weekly tests that are due: ``python tests/due.py``, as ``.ci/run`` does; arguments go to pytest.

A row of ``weekly.csv`` names a file of tests and what it covers.  Its weekly tests are due where a commit of the last
day, or what is not committed yet, changes one of those files or the tests themselves; and on one day of seven, so that
``make test`` leaves nothing out for longer than a week.  ``*`` stands for any name, with folders in it.  Those of the
day come first; when :data:`BUDGET` is spent, the tests that are left are skipped, and ``make weekly`` runs them all.
"""

import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from fnmatch import fnmatch

import pytest
from tools import ROOT, read_rows

DAY = 86400  # s
#: Seconds after which no further test begins.
BUDGET = float(os.environ.get("RERUN_WEEKLY", 300))


class Budget:
    """A plugin of pytest that skips what would begin after ``seconds``."""

    def __init__(self, seconds: float):
        self.end = time.monotonic() + seconds

    def pytest_runtest_setup(self) -> None:
        """Skip a test where the time is over."""
        if time.monotonic() > self.end:
            pytest.skip("the time for weekly tests is over")


def table() -> dict[str, list[str]]:
    """Files of tests, and patterns of the files that they cover."""
    return {row["tests"]: row["covers"].split() for row in read_rows(ROOT / "tests" / "weekly.csv")}


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True)
    return done.stdout.split()


def changed() -> set[str]:
    """Files that commits of the day before the newest one have changed, and those not committed yet."""
    (newest,) = _git("log", "-1", "--format=%ct")
    return {
        *_git("log", f"--since=@{int(newest) - DAY}", "--name-only", "--no-renames", "--format="),
        *_git("diff", "--name-only", "--no-renames", "HEAD"),
    }


def due(table: dict[str, list[str]], changed: set[str], day: int) -> list[str]:
    """The files of tests that are due on a day, counted from any; first those whose day it is."""
    of_day = [tests for number, tests in enumerate(table) if number % 7 == day % 7]
    return of_day + [
        tests
        for tests, covers in table.items()
        if tests not in of_day and any(fnmatch(file, pattern) for file in changed for pattern in (tests, *covers))
    ]


if __name__ == "__main__":
    found = due(table(), changed(), datetime.now(UTC).toordinal())
    print("weekly tests that are due:", *found)
    os.chdir(ROOT)
    sys.path[0] = str(ROOT)  # here lie tests of kernels, which must not pass for these
    sys.exit(pytest.main(["-m", "weekly and not built", *found, *sys.argv[1:]], plugins=[Budget(BUDGET)]))
