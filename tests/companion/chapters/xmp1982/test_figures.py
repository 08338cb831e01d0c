"""The figures of chapter 1 draw the numbers of their tables."""

import numpy as np
import pandas as pd
import pytest
from drawing import watch

from companion import tables
from companion.chapters.xmp1982 import figures


def _load(name):
    return tables.load("xmp1982", name)


def _makers():
    return {
        "configuration": lambda: figures.configuration(_load("fig7_3"), _load("prose")),
        "cpu_ratios": lambda: figures.cpu_ratios(_load("fig4_4"), _load("fig6_2")),
        "banks": lambda: figures.banks(_load("fig8_1"), _load("fig8_2")),
    }


@pytest.fixture
def drawn(monkeypatch):
    return watch(monkeypatch, figures, _makers)


def _points(axis, label):
    (line,) = [line for line in axis.lines if line.get_label() == label]
    return np.asarray(line.get_xdata(), dtype=float)


def test_every_configuration_has_a_label():
    for table, key in (("write_ups", "configuration"), ("fig4_3_times", "configuration"), ("fig5_3", "test")):
        for name in _load(table)[key].values:
            assert name == "ecmwf" or figures.label(name)


def test_ratios_are_quotients_beside_the_printed_ones(drawn):
    (axis,) = drawn("cpu_ratios")["axes"]
    both = pd.concat(tables.printed("xmp1982", name) for name in ("fig4_4", "fig6_2"))
    np.testing.assert_allclose(_points(axis, "from the printed times"), both["cray_1a"] / both["cray_xmp"])
    np.testing.assert_array_equal(_points(axis, "as printed"), both["ratio"])
    gains = tables.printed("xmp1982", "fig4_4").set_index("section")["ratio"]
    assert gains.idxmax() == "NORMAL FORECAST TIME STEP" and gains.idxmin() == "POST PROCESSING JOB"


def test_bank_times_are_cpu_times_over_the_first(drawn):
    (axis,) = drawn("banks")["axes"]
    for label, name in (("post processing", "fig8_1"), ("memory kernel", "fig8_2")):
        cpu = tables.printed("xmp1982", name)["cpu"]
        np.testing.assert_allclose(_points(axis, label), cpu / cpu[0])
    kernel, post = _points(axis, "memory kernel"), _points(axis, "post processing")
    assert kernel[1] < 1.04 and kernel[2:].min() > 1.15 and post.max() / post.min() < 1.01
