"""The figures of chapter 1 draw the numbers of their tables."""

import re

import numpy as np
import pandas as pd
import pytest
from drawing import watch

from companion import tables
from companion.chapters.xmp1982 import figures
from companion.figures.rendering import offered


def _load(name):
    return tables.load("xmp1982", name)


def _makers():
    return {
        "configuration": lambda: figures.configuration(_load("fig7_3"), _load("prose")),
        "forecast_times": lambda: figures.forecast_times(_load("fig4_1")),
        "net_forecasts": lambda: figures.net_forecasts(_load("write_ups"), _load("sec4_5")),
        "write_ups": lambda: figures.write_ups(*map(_load, ("fig4_2", "fig4_3_breakdown", "fig5_4"))),
        "cpu_ratios": lambda: figures.cpu_ratios(_load("fig4_4"), _load("fig6_2")),
        "throughput": lambda: figures.throughput(_load("fig5_3")),
        "analysis": lambda: figures.analysis(tables.printed("xmp1982", "fig6_1")),
        "io_rates": lambda: figures.io_rates(_load("fig7_2")),
        "banks": lambda: figures.banks(_load("fig8_1"), _load("fig8_2")),
    }


@pytest.fixture
def drawn(monkeypatch):
    return watch(monkeypatch, figures, _makers)


def _widths(axis):
    return np.array([bar.get_width() for bar in axis.patches])


def _points(axis, label):
    (line,) = [line for line in axis.lines if line.get_label() == label]
    return np.asarray(line.get_xdata(), dtype=float)


def _rows(axis):
    return [text.get_text() for text in axis.get_yticklabels()]


@pytest.mark.parametrize("name", _makers())
def test_every_figure_has_a_picture_words_and_data(name):
    shown = _makers()[name]()
    assert "<svg" in shown.html and len(shown.alt) > 60 and "nan" not in shown.alt
    assert re.search(r'download="(xmp1982_\w+)\.csv"', shown.html) and len(offered(shown))


@pytest.mark.parametrize("name", _makers())
def test_axes_name_what_they_show(name, drawn):
    for axis in drawn(name)["axes"]:
        assert name == "configuration" or axis.get_xlabel()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cray1a-disk4", "Cray 1-A, disk × 4"),
        ("ssd2-async", "SSD × 2, async"),
        ("ssd1+3-degraded", "SSD × 1+3, degraded"),
        ("bmr1+disk4", "BMR × 1 + disk × 4"),
    ],
)
def test_labels(name, text):
    assert figures.label(name) == text


@pytest.mark.parametrize("name", ["ssd", "tape4", "ssd2+", "disk4 "])
def test_a_label_of_another_form_is_refused(name):
    with pytest.raises(ValueError, match="configuration ="):
        figures.label(name)


def test_every_configuration_has_a_label():
    for table, key in (("write_ups", "configuration"), ("fig4_3_times", "configuration"), ("fig5_3", "test")):
        for name in _load(table)[key].values:
            assert name == "ecmwf" or figures.label(name)


def test_forecast_bars_end_at_the_printed_totals(drawn):
    (axis,) = drawn("forecast_times")["axes"]
    table = tables.printed("xmp1982", "fig4_1")
    parts = _widths(axis).reshape(4, len(table))
    np.testing.assert_allclose(parts.sum(axis=0), table["total_clock"])
    np.testing.assert_allclose(parts[0], table["forecast_cpu"])
    np.testing.assert_allclose(parts[:2].sum(axis=0), table["forecast_clock"])
    np.testing.assert_allclose(parts[0] + parts[2], table["total_cpu"])
    assert _rows(axis) == [figures.label(name) for name in table["configuration"]]


def test_net_forecasts_are_those_of_both_tables(drawn):
    (axis,) = drawn("net_forecasts")["axes"]
    real, simulated = (
        tables.printed("xmp1982", name).set_index("configuration")["net_forecast"] for name in ("fig4_2", "fig5_2")
    )
    shown = dict(zip(_rows(axis), _points(axis, "simulator (a program, run on the X-MP)"), strict=True))
    assert shown == {figures.label(name): value for name, value in simulated.items()}
    shown = dict(zip(_rows(axis), _points(axis, "real forecast"), strict=True))
    assert {name: value for name, value in shown.items() if np.isfinite(value)} == {
        figures.label(name): value for name, value in real.items() if name != "cray1a-disk4"
    }
    texts = [text.get_text() for text in axis.texts]
    assert sorted(texts)[:-1] == sorted(tables.text("xmp1982", "sec4_5")["ratio"])


def test_write_up_steps_are_the_printed_steps(drawn):
    (axis,) = drawn("write_ups")["axes"]
    steps = [f"write_step_{number}" for number in range(1, 6)]
    alone = pd.concat(tables.printed("xmp1982", name) for name in ("fig4_2", "fig4_3_breakdown"))
    pairs = tables.printed("xmp1982", "fig5_4").iloc[1:]
    np.testing.assert_array_equal(_points(axis, "real forecast, alone"), alone[steps].to_numpy().ravel())
    np.testing.assert_array_equal(_points(axis, "simulated forecast, one of a pair"), pairs[steps].to_numpy().ravel())
    names = _rows(axis)[len(alone) :]
    for row, name in zip(pairs.itertuples(), names, strict=True):
        assert name.startswith(f"{ {'DISK': 'disk'}.get(row.location, row.location) } × {row.work_files}, with")


def test_ratio_bars_are_quotients_and_marks_are_printed(drawn):
    (axis,) = drawn("cpu_ratios")["axes"]
    both = pd.concat(tables.printed("xmp1982", name) for name in ("fig4_4", "fig6_2"))
    np.testing.assert_allclose(_widths(axis), both["cray_1a"] / both["cray_xmp"])
    np.testing.assert_array_equal(_points(axis, "as printed"), both["ratio"])


def test_throughput_is_the_sequential_time_over_the_completion(drawn):
    (axis,) = drawn("throughput")["axes"]
    table = tables.printed("xmp1982", "fig5_3").dropna(subset="complete").set_index("test")["complete"]
    wanted = (table["ecmwf"] / table.drop("ecmwf")).sort_values(ascending=False)
    np.testing.assert_allclose(_widths(axis), wanted)
    assert max(wanted) == pytest.approx(float(_load("prose")["throughput_best"]), abs=0.005)


def test_analysis_bars_are_the_printed_times(drawn):
    (axis,) = drawn("analysis")["axes"]
    places = np.array([bar.get_y() for bar in axis.patches])
    np.testing.assert_array_equal(_widths(axis)[places.argsort()], tables.printed("xmp1982", "fig6_1")["clock"])
    assert len(set(_rows(axis))) == len(tables.printed("xmp1982", "fig6_1"))


def test_every_rate_of_the_table_is_drawn_once(drawn):
    (axis,) = drawn("io_rates")["axes"]
    shown = np.concatenate([line.get_xdata() for line in axis.lines])
    table = tables.printed("xmp1982", "fig7_2").set_index("test")["mbyte_rate"].drop("per-disk")
    assert sorted(shown[np.isfinite(shown)]) == sorted(table)


def test_bank_bars_are_cpu_times_over_the_first(drawn):
    (axis,) = drawn("banks")["axes"]
    for bars, name in zip(_widths(axis).reshape(2, -1), ("fig8_1", "fig8_2"), strict=True):
        cpu = tables.printed("xmp1982", name)["cpu"]
        np.testing.assert_allclose(bars, cpu / cpu[0])


def test_configuration_names_the_rates_of_the_table(drawn):
    (axis,) = drawn("configuration")["axes"]
    texts = "\n".join(text.get_text() for text in axis.texts)
    rates = tables.printed("xmp1982", "fig7_3").set_index("target")
    for rate in (
        *rates["stand_alone"][["SSD", "BMR"]].round(),
        *rates["two_copies"][["4 DISKS (A1)", "4 DISKS (A2)"]],
    ):
        assert f"{rate:g} MB/s" in texts
