"""Counts the cases of bad input and faults that the tests try, by class: ``python tests/cases.py --out TABLE``.

Weekly tests count too.  A test counts as one case, also where hypothesis makes a hundred examples for it; one that
goes through its cases itself says how many with :func:`tried`.  The columns of what was tried before are those of the
reading of the project from outside that these tests answer; it counted about 360 cases in all and one class apart.
"""

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, NamedTuple

import pytest
import typer
from tools import FAULTS, ROOT, write_rows

TABLE = FAULTS / "classes.csv"
COLUMNS = ("class", "tried from outside", "fell short then", "cases now", "fall short now", "held by")
UNKNOWN = "not counted apart"
COUNT = [0]


class Class(NamedTuple):
    """A class of faults, the files that hold it, and what is known of how it was."""

    name: str
    files: tuple[str, ...]
    before: tuple[str, str] = (UNKNOWN, UNKNOWN)


CLASSES = (
    Class("fields of problems", ("tests/kernels/test_problems.py",)),
    Class("arrays that enter compiled code", ("tests/kernels/test_arrays.py", "tests/kernels/runtime/test_states.py")),
    Class(
        "damaged results",
        ("tests/kernels/test_damaged_results.py", "tests/kernels/mpi/test_damaged_on_ranks.py"),
        ("445 damaged results", "229"),
    ),
    Class("solution files", ("tests/kernels/files/format/test_damage.py",), ("600 flipped bits of NetCDF", "243")),
    Class("records", ("tests/companion/records/test_runs.py", "tests/companion/records/test_peer_records.py")),
    Class("tables and descriptors", ("tests/companion/tables/test_tables.py",)),
    Class(
        "files that run code, cost much or are waited for",
        ("tests/test_foreign.py", "tests/test_readers.py", "tests/kernels/imaging/test_measurement_set.py"),
    ),
    Class("headers of FITS files", ("tests/kernels/imaging/test_fits_headers.py",)),
    Class("control characters", ("tests/companion/test_terminal.py",)),
    Class(
        "signals and killed writers",
        (
            "tests/kernels/files/test_interrupted.py",
            "tests/kernels/files/test_interrupted_steps.py",
            "tests/kernels/files/test_interrupted_ways.py",
            "tests/kernels/runtime/test_signals_while_compiling.py",
        ),
        ("40 interrupts of the NetCDF way", "4"),
    ),
    Class(
        "one plan in several threads",
        ("tests/kernels/spectral/test_threads_of_python.py",),
        ("60 results", "17"),
    ),
    Class(
        "jobs of ranks that end",
        ("tests/companion/mpi/test_marks.py", "tests/companion/mpi/test_launcher.py"),
        ("6 interrupts and 10 SIGKILLs", "10"),
    ),
    Class("names and syncs of files", ("tests/companion/test_files.py", "tests/test_injected.py")),
    Class("cache of compiled code", ("tests/kernels/runtime/test_cache.py",)),
    Class("command line and its surroundings", ("tests/companion/test_cli.py", "tests/test_surroundings.py")),
    Class(
        "requests beyond the machine, and malformed numbers",
        (
            "tests/companion/host/test_limits.py",
            "tests/companion/mpi/test_reframe.py",
            "tests/companion/test_numbers.py",
            "tests/kernels/runtime/test_resources.py",
        ),
    ),
    Class("other systems", ("tests/kernels/test_elsewhere.py",)),
    Class(
        "JupyterLab and what the book offers",
        ("tests/companion/test_lab.py", "tests/companion/tables/test_downloads.py"),
    ),
)


def tried(cases: int = 1) -> None:
    """A test has gone through so many cases."""
    COUNT[0] += cases


class Tally:
    """A plugin of pytest that counts cases and failures by file."""

    def __init__(self):
        self.cases, self.short = Counter(), Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        before = COUNT[0]
        try:
            return (yield)
        finally:
            self.cases[item.nodeid.partition("::")[0]] += max(1, COUNT[0] - before)

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.short[report.nodeid.partition("::")[0]] += 1


def rows(tally: Tally) -> list[dict]:
    """The table: a line a class, and one of all."""
    lines = []
    for one in CLASSES:
        cases, short = (sum(counts[file] for file in one.files) for counts in (tally.cases, tally.short))
        lines.append(dict(zip(COLUMNS, (one.name, *one.before, cases, short, ", ".join(one.files)), strict=True)))
    now = [sum(line[name] for line in lines) for name in COLUMNS[3:5]]
    lines.append(dict(zip(COLUMNS, ("all", "about 360", "about 55", *now, "all of these"), strict=True)))
    return lines


def main(out: Annotated[Path, typer.Option(help="The table (CSV).")] = TABLE) -> None:
    """Count the cases of every class; ends with 1 if one of them falls short."""
    import cases  # the tests count in the module of this name, not in the one that runs

    tally, files = cases.Tally(), [str(ROOT / file) for one in CLASSES for file in one.files]
    weekly_too = ["-m", "not built"]
    pytest.main(["-q", "-p", "no:cacheprovider", f"--rootdir={ROOT}", *weekly_too, *files], plugins=[tally])
    lines = rows(tally)
    write_rows(out, lines)
    for line in lines:
        print(f"{line['class']}: {line['cases now']} cases, {line['fall short now']} fall short")
    raise SystemExit(bool(lines[-1]["fall short now"]))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # before tests/, whose rooms have the names of those they test
    typer.run(main)
