"""The table of classes: what it names exists, and what it counts was tried."""

from types import SimpleNamespace

import cases
from tools import read_rows


def test_every_class_names_files_that_exist_and_was_counted():
    *classes, every = read_rows(cases.TABLE)
    assert [line["class"] for line in classes] == [one.name for one in cases.CLASSES]
    for line, one in zip(classes, cases.CLASSES, strict=True):
        assert line["held by"].split(", ") == list(one.files)
        assert all((cases.ROOT / file).is_file() for file in one.files)
        assert int(line["cases now"]) > 0
        assert line["fall short now"] == "0"
    assert int(every["cases now"]) == sum(int(line["cases now"]) for line in classes)


def test_a_test_counts_once_or_as_it_says():
    tally = cases.Tally()

    def call(own=0):
        item = SimpleNamespace(nodeid="tests/test_x.py::test_y")
        inside = tally.pytest_runtest_call(item)
        next(inside)
        cases.tried(own)
        inside.close()
        return tally.cases["tests/test_x.py"]

    assert call() == 1
    assert call(own=7) == 1 + 7
    tally.pytest_runtest_logreport(SimpleNamespace(nodeid="tests/test_x.py::test_y", failed=True))
    assert tally.short["tests/test_x.py"] == 1
