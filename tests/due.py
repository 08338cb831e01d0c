"""Runs the weekly tests that are due: ``python tests/due.py``, as ``.ci/run`` does; arguments go to pytest.

A row of ``weekly.csv`` names a file of tests and what it covers.  Its weekly tests are due where a commit of the last
day, or what is not committed yet, changes one of those files or the tests themselves; and on one day of seven, so that
``make test`` leaves nothing out for longer than a week.  ``*`` stands for any name, with folders in it.
"""

import csv
import subprocess
import sys
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DAY = 86400  # s


def table() -> dict[str, list[str]]:
    """Files of tests, and patterns of the files that they cover."""
    with open(Path(__file__).with_name("weekly.csv"), newline="", encoding="utf-8") as file:
        return {row["tests"]: row["covers"].split() for row in csv.DictReader(file)}


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
    """The files of tests that are due on a day, counted from any."""
    return [
        tests
        for number, (tests, covers) in enumerate(table.items())
        if number % 7 == day % 7 or any(fnmatch(file, pattern) for file in changed for pattern in (tests, *covers))
    ]


if __name__ == "__main__":
    found = due(table(), changed(), datetime.now(UTC).toordinal())
    print("weekly tests that are due:", *found)
    command = [sys.executable, "-m", "pytest", "-m", "weekly and not built", *found, *sys.argv[1:]]
    sys.exit(subprocess.run(command, cwd=ROOT).returncode)
