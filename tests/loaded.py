"""Tests that depend on time, beside other load: ``python tests/loaded.py --times 5``.

They carry the marker ``timed``, which ``conftest.py`` gives to each file that looks at a clock or waits.  They run so
often beside two loops that keep a CPU busy each, and as often on one CPU; every run must pass, since a test that
fails there is wrong about time.  ``--out`` keeps the table.
"""

import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from tools import ROOT, keep_rows, line, this_host

BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(100000))"
#: Name, busy loops, and whether one CPU is all that the tests have.
SURROUNDINGS = (("beside two busy loops", 2, False), ("on one CPU", 0, True))
PYTEST = ["-m", "pytest", "-q", "-m", "timed and not weekly and not built", "-p", "no:cacheprovider", "tests"]


@contextmanager
def loops(count: int):
    """So many processes that do nothing but use a CPU."""
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def ran(one_cpu: bool) -> tuple[int, int, str]:
    """Tests that passed and failed, and what pytest said last; on the first usable CPU, or on all."""
    cpus = os.sched_getaffinity(0)

    def bind():
        os.sched_setaffinity(0, {min(cpus)} if one_cpu else cpus)

    done = subprocess.run([sys.executable, *PYTEST], cwd=ROOT, capture_output=True, text=True, preexec_fn=bind)
    passed, failed = (
        int(found[1]) if (found := re.search(rf"(\d+) {word}", done.stdout)) else 0 for word in ("passed", "failed")
    )
    return passed, failed + (done.returncode > 1), done.stdout[-3000:]


def main(
    times: Annotated[int, typer.Option(min=1, help="Runs in each surrounding.")] = 5,
    out: Annotated[Path | None, typer.Option(help="Keep the table as CSV.")] = None,
) -> None:
    """Run the tests that depend on time beside two busy loops, and on one CPU; ends with 1 where one fails."""
    rows = []
    for name, busy, one_cpu in SURROUNDINGS:
        row = {"surroundings": name, "host": this_host(), "runs": times, "tests": 0, "failed": 0}
        for _ in range(times):
            with loops(busy):
                passed, failed, said = ran(one_cpu)
            row["tests"] += passed + failed
            row["failed"] += failed
            if failed or not passed:
                print(said, flush=True)
        rows.append(row)
        print(line(row), flush=True)
        if out is not None:
            keep_rows(out, [row], ("surroundings", "host"))
    raise SystemExit(not rows or any(row["failed"] or not row["tests"] for row in rows))


if __name__ == "__main__":
    typer.run(main)
