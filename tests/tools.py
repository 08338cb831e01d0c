"""What the tools in tests/ share: the root of the checkout, the name of this machine, and tables of rows by name."""

import csv
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: The tables that pages show of faults.
FAULTS = ROOT / "tests" / "faults"


def this_host() -> str:
    """The machine in one line; asked in a process of its own, because tools that fork must not have our code loaded."""
    command = [sys.executable, "-c", "from companion.host import machine; print(machine.line())"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV, none where it does not exist."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path: Path, rows: Iterable[Mapping]) -> None:
    """``rows``, which have the same names in the same order, as CSV."""
    rows = list(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def keep_rows(path: Path, rows: Iterable[Mapping], same: Collection[str]) -> None:
    """Put ``rows`` into the CSV in the place of those that agree with them in the columns ``same``; others stay."""
    rows = [{name: str(value) for name, value in row.items()} for row in rows]
    new = {tuple(row[name] for name in same) for row in rows}
    write_rows(path, [*(row for row in read_rows(path) if tuple(row[name] for name in same) not in new), *rows])


def line(row: Mapping) -> str:
    """A row as a line of text."""
    return ", ".join(f"{name} {value}" for name, value in row.items())
