"""The figures of chapter 2 draw the numbers of their tables."""

from statistics import geometric_mean

import numpy as np
import pytest
from drawing import watch

from companion import tables
from companion.chapters.aips58 import figures

SIZES = ("small", "medium", "large")
SYSTEMS = ("NRAO1", "CLSC", "PSC")


def _load(name):
    return tables.load("aips58", name)


def _makers():
    ddt, systems = _load("ddt"), _load("systems")
    return {
        **{size: lambda size=size: figures.times(ddt, systems, size) for size in SIZES},
    }


@pytest.fixture
def drawn(monkeypatch):
    return watch(monkeypatch, figures, _makers)


def _lines(axis, beginning):
    return [
        np.asarray(line.get_xdata(), dtype=float) for line in axis.lines if str(line.get_label()).startswith(beginning)
    ]


@pytest.mark.parametrize("size", SIZES)
def test_markers_are_cpu_times_and_bars_real_times(size, drawn):
    (axis,) = drawn(size)["axes"]
    table = tables.printed("aips58", f"ddt_{size}")
    assert [text.get_text() for text in axis.get_yticklabels()] == list(table["problem"])
    bars = [np.asarray(line.get_xdata()) for line in axis.lines if line.get_marker() == "|"]
    for system, real in zip(SYSTEMS, bars, strict=True):
        (cpu,) = _lines(axis, f"{system},")
        np.testing.assert_array_equal(cpu, table[f"{system.lower()}_cpu"])
        np.testing.assert_array_equal(real, table[f"{system.lower()}_real"])


def test_summary_is_the_geometric_mean_of_the_ratios():
    frame = figures.summary(_load("ddt"), _load("problem_classes")).set_index("class")
    classes = tables.printed("aips58", "problem_classes").set_index("problem")["class"]
    scalar = [
        tables.printed("aips58", f"ddt_{size}").set_index("problem").loc[classes[classes == "scalar"].index]
        for size in SIZES
    ]
    for system in ("CLSC", "PSC"):
        for kind in ("cpu", "real"):
            ratios = [table[f"{system.lower()}_{kind}"] / table[f"nrao1_{kind}"] for table in scalar]
            assert frame.loc["scalar", f"{kind}, {system}"] == pytest.approx(geometric_mean(np.concatenate(ratios)))
