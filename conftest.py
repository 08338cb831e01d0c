"""For all tests: what strict notebook comparison leaves out, the order of the files, and the ten slowest of them.

Figures, tables and sentences are rendered as HTML, SVG and Markdown beside a text that says the same;
the text is compared, the rendering (with its generated ids) is not stored.

With a cold cache they take some 900 s of processor (Zen 3): about 210 s to compile every kernel once, and 200 s for the
chapters' notebooks; two workers take eight minutes, and installing what they need takes one more.  Files
come in an order in which two workers that each take the next one (``--dist=loadfile --no-loadscope-reorder``) meet in
no kernel: each is compiled once, by its own tests, before ranks, notebooks and chapters use it.  What needs no kernel
comes last, the longest files first, and evens out the end.
"""

import gc
import os
from collections import Counter
from pathlib import Path

import pytest

# No test is decided by a time, so each case of an experiment runs once; notebooks and commands inherit it.
os.environ.setdefault("RERUN_BUDGET", "0")

RENDERED = ("text/html", "text/markdown", "image/svg+xml", "text/latex", "application/javascript")


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


#: Where files lie, in the order of their turns; of several that hold a file, the longest counts.
TURNS = (
    *("tests/kernels", "tests/kernels/shallow_water", "tests/kernels/jobs", "tests/kernels/files"),
    "tests/kernels/test_every_kernel.py",
    *("tests/kernels/mpi", "tests/companion/mpi", "tests/peers", "notebooks", "tests/book"),
    *("tests/companion/chapters/test_second_machine.py", "tests/companion/test_cli.py"),
    *("tests/companion/chapters", "tests/companion/bench", "tests/companion", "tests"),
)


def pytest_collection_modifyitems(config, items):
    """Sort the files; of the kernels, those of different folders take turns, in each the one with most tests first."""
    counts = Counter(item.path for item in items)
    seen: Counter[Path] = Counter()
    places = {}
    for path in sorted(counts, key=lambda path: (-counts[path], path)):
        name = path.relative_to(config.rootpath).as_posix()
        turn = max((room for room in TURNS if f"{name}/".startswith(f"{room}/")), key=len, default="tests")
        places[path] = TURNS.index(turn), seen[path.parent] if turn == "tests/kernels" else 0, name
        seen[path.parent] += 1
    items.sort(key=lambda item: places[item.path])


def pytest_collection_finish():
    """What is imported lives on: the collector passes it by, and comes less often, since compiling makes much and keeps
    most of it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_terminal_summary(terminalreporter):
    seconds: Counter[str] = Counter()
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        if hasattr(report, "duration"):
            seconds[report.nodeid.partition("::")[0]] += report.duration
    terminalreporter.section("the ten slowest files")
    for name, each in seconds.most_common(10):
        terminalreporter.line(f"{each:7.1f} s  {name}")
