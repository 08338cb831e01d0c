"""For all tests: what strict notebook comparison leaves out, the order of the files, and the ten slowest of them.

Figures, tables and sentences are rendered as HTML, SVG and Markdown beside a text that says the same;
the text is compared, the rendering (with its generated ids) is not stored.
"""

import gc
import os
import signal
from collections import Counter
from pathlib import Path

import pytest

# No test is decided by a time, so each case of an experiment runs once; notebooks and commands inherit it.
os.environ.setdefault("RERUN_BUDGET", "0")

RENDERED = ("image/png", "text/html", "text/markdown", "image/svg+xml", "text/latex", "application/javascript")
#: Kernels are compiled by their own tests, each once, before ranks, peers, notebooks and chapters use them.  Those that
#: compile longest come first; no two that stand together need the same code, since one worker would wait for the other.
#: Jobs need the forecast and the transforms.  Long files come before short ones, so that two workers end together.
ORDER = (
    "tests/kernels/bt/test_bt.py",
    "tests/kernels/spectral/test_transforms.py",
    "tests/kernels/gridpoint",
    "tests/kernels/imaging/test_ddt.py",
    "tests/kernels/shallow_water",
    "tests/kernels",
    "tests/kernels/test_every_kernel.py",
    "tests/kernels/mpi",
    "tests/kernels/jobs",
    "tests/peers",
    "notebooks",
    "tests/test_promises.py",
    "tests/test_wheel.py",
    "tests/test_layout.py",
    "tests/companion/test_turning.py",
    "tests",
)


def pytest_configure(config):
    """A shell that starts the tests in the background lets them, and what they start, ignore Ctrl-C.

    The collector comes less often: imports and compiling make much and keep most of it.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(50_000, 20, 20)


def pytest_collectstart(collector):
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += RENDERED


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """A notebook's kernel starts with its first cell: it draws no figure, since only what figures say is compared."""
    if item.path.suffix == ".ipynb":
        os.environ["RERUN_FIGURES"] = "text"
    else:
        os.environ.pop("RERUN_FIGURES", None)


def pytest_collection_modifyitems(config, items):
    """Sort by :data:`ORDER`, in which the innermost folder that holds a file counts; those of one folder lie far apart,
    so that two workers seldom compile the same kernel."""
    seen: dict[Path, list[Path]] = {}

    def turn(item):
        name, files = item.path.relative_to(config.rootpath).as_posix(), seen.setdefault(item.path.parent, [])
        if item.path not in files:
            files.append(item.path)
        rooms = [room for room in ORDER if f"{name}/".startswith(f"{room}/")]
        return ORDER.index(max(rooms, key=len)) if rooms else len(ORDER), files.index(item.path)

    items.sort(key=turn)


def pytest_collection_finish():
    """What is imported lives on: the collector passes it by."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """So does what the tests of a file have compiled: every measurement collects before its clock starts, and would go
    through all of it again."""
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


def pytest_terminal_summary(terminalreporter):
    seconds: Counter[str] = Counter()
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        if hasattr(report, "duration"):
            seconds[report.nodeid.partition("::")[0]] += report.duration
    terminalreporter.section("the ten slowest files")
    for name, each in seconds.most_common(10):
        terminalreporter.line(f"{each:7.1f} s  {name}")
