"""The house style: what a figure or table carries, and that it can be read by everyone."""

import base64
import io
import itertools
import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from drawing import cases, contrast, linear
from hypothesis import given
from hypothesis import strategies as st

from supercomputers_rerun.companion import figures, notebook_files
from supercomputers_rerun.companion.common import significant
from supercomputers_rerun.companion.figures import rendering
from supercomputers_rerun.companion.figures.kit import times

GROUNDS = {"light": "#ffffff", "dark": "#121212", "raised dark": "#14181e"}


@figures.styled
def _figure(label="speed"):
    figure, axis = figures.axes()
    figures.points(axis, [1, 10, 100], [1, 2, 3], label=label)
    figures.points(axis, [1, 10, 100], [2, 3, 4], label="host", host=True, index=1)
    axis.set_xlabel("$x^2$ / s")
    axis.legend()
    return figure


def _svg(shown):
    return ET.fromstring(re.search(r"<svg.*</svg>", shown.html, re.DOTALL).group())


@pytest.mark.parametrize("ground", GROUNDS.values(), ids=GROUNDS)
@pytest.mark.parametrize("colour", figures.MEANINGS.values())
def test_colours_contrast_with_the_page(colour, ground):
    assert contrast(colour, ground) >= 3


# Machado, Oliveira, Fernandes (2009), severity 1, on linear RGB
BLINDNESS = {
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}


@pytest.mark.parametrize("matrix", BLINDNESS.values(), ids=BLINDNESS)
def test_colours_differ_for_the_colour_blind(matrix):
    seen = [np.clip(np.array(matrix) @ linear(colour), 0, 1) ** (1 / 2.2) for colour in figures.MEANINGS.values()]
    for one, other in itertools.combinations(seen, 2):
        assert np.linalg.norm(one - other) > 0.18


def test_figure_takes_the_colour_of_the_page_and_its_width():
    shown = figures.show(_figure(), alt="Two lines that rise.")
    root = _svg(shown)
    assert figures.INK not in shown.html
    assert "currentColor" in shown.html
    assert root.get("role") == "img" and root.get("aria-label") == "Two lines that rise."
    assert root.get("viewBox") and root.get("width") is None and "max-width" in root.get("style")
    assert "<style" not in shown.html and "http-equiv" not in shown.html


def test_nothing_in_a_figure_points_outside():
    html = figures.show(_figure(), alt="Lines.", data=pd.DataFrame({"a": [1]})).html
    assert set(re.findall(r'\b(?:href|src)="(?!data:|#)([^"]*)"', html)) == set()
    assert set(re.findall(r"https?://[^\" ]+", html)) <= {"http://www.w3.org/2000/svg"}


def test_ids_of_two_figures_differ_and_references_resolve():
    seen = set()
    for _ in range(2):
        root = _svg(figures.show(_figure(), alt="Lines."))
        ids = {element.get("id") for element in root.iter() if element.get("id")}
        assert not ids & seen
        seen |= ids
        text = ET.tostring(root, encoding="unicode")
        references = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', text))
        assert references and references <= ids


def test_data_of_a_figure_come_back_from_its_link():
    data = xr.Dataset(
        {"rate": ("size", [1.5, 2.5], {"units": "GB/s"})},
        coords={"size": ("size", [4096, 8192], {"units": "B"})},
    )
    html = figures.show(_figure(), alt="Lines.", data=data, name="rates").html
    packed = re.search(r'download="rates.csv" href="data:text/csv;charset=utf-8;base64,([^"]+)"', html).group(1)
    frame = pd.read_csv(io.BytesIO(base64.b64decode(packed)))
    assert list(frame) == ["size [B]", "rate [GB/s]"]
    assert frame["rate [GB/s]"].tolist() == [1.5, 2.5]


def test_rasterised_parts_stay_inside_the_figure():
    figure, axis = figures.axes()
    axis.pcolormesh(np.arange(30.0).reshape(5, 6), rasterized=True)
    html = figures.show(figure, alt="A field.").html
    picture = _svg(figures.show(figure, alt="A field.")).findall(".//{http://www.w3.org/2000/svg}image")
    assert len(picture) == 1 and picture[0].get("href").startswith("data:image/png;base64,")
    assert "xlink" not in html


def test_table_has_caption_units_and_scrolls_inside_itself():
    frame = pd.DataFrame({"time": [1.23456, np.nan], "name": ["a<b", "N / T_T"]})
    shown = figures.table(frame, caption="Times, slide 3", units={"time": "s"}, digits=3)
    assert (
        '<p class="rerun-caption"><span class="rerun-number"></span><strong>Times, slide 3</strong></p>' in shown.html
    )
    assert all(said in shown.html for said in ("time [s]", "a&lt;b", "1.23<", "T<sub>T</sub>"))
    assert "overflow-x: auto" in shown.html and 'role="region"' in shown.html
    assert "1.23" in repr(shown) and "nan" not in repr(shown).lower()


@given(st.floats(min_value=1e-3, max_value=1e12), st.integers(1, 8))
def test_significant_digits_round_by_less_than_half_a_unit(value, digits):
    printed = float(significant(value, digits))
    assert abs(printed - value) <= 0.5000001 * 10.0 ** (np.floor(np.log10(value)) - digits + 1)


def test_log_axis_of_one_decade_is_labelled_between():
    figure, axis = figures.axes()
    axis.plot([150, 4000], [1, 2])
    figures.log_axis(axis, "x")
    figure.draw_without_rendering()
    labels = [tick.get_text() for tick in axis.get_xticklabels(which="both")]
    assert {"200", "500", "1000", "2000"} <= set(labels)
    axis.set_xlim(1, 1e6)
    figure.draw_without_rendering()
    assert not any(tick.get_text() for tick in axis.get_xticklabels(minor=True))


def test_a_figure_shows_its_caption_title_and_the_experiment_it_draws():
    run = xr.Dataset(attrs={"experiment": "p5plus-smt"})
    shown = figures.show(
        _figure(),
        alt="Lines.",
        title="Rates",
        caption="They rise <fast>.",
        data=pd.DataFrame({"a": [1]}),
        run=run,
        name="r",
    )
    above, below = re.split("<svg.*</svg>", shown.html, flags=re.DOTALL)
    assert ">Rates</p>" in above and "They rise &lt;fast&gt;." in below and shown.alt == "Lines."
    assert 'download="r.csv"' in shown.html and 'data-run="p5plus-smt"' in shown.html
    assert "Lines.</figcaption>" not in shown.html
    assert "Lines. </figcaption>" in figures.show(_figure(), alt="Lines.").html


def test_lines_of_runs_have_their_spread_and_the_figure_says_whose_they_are():
    rows = [
        {"label": "one", "threads": 1, "n": n, "way": way, "seconds": [1.0, 2.0, 4.0]} for n in (1, 2) for way in "ab"
    ]
    runs = [cases(rows).assign_attrs(mark=mark, label=label) for mark, label in (("", "A"), ("D", "B"))]
    frames = [figures.quantities(figures.cases(run, "n", "way"), rate=lambda seconds: 8 / seconds) for run in runs]
    assert frames[0].loc[0, ["rate_low", "rate", "rate_high"]].tolist() == [2, 4, 8]
    figure, axis = figures.axes()
    figures.lines(axis, runs, frames, "n", "rate", "way", lambda way: f"way {way}")
    assert [line.get_label() for line in axis.lines] == ["way a", "way b", "_nolegend_", "_nolegend_"]
    assert axis.lines[1].get_color() == axis.lines[3].get_color() != axis.lines[0].get_color()
    shown = figures.show(figure, runs=runs, data=frames, caption="Rates.", alt="rates of two machines")
    assert not figure.get_suptitle() and "●\N{NO-BREAK SPACE}A; ◆\N{NO-BREAK SPACE}B</p>" in shown.html
    assert re.search(
        r"<small.*Measured: A, a machine, preset quick, <time>2026-01-02</time>\.</small></figcaption>", shown.html
    )
    assert shown.data["machine"].tolist() == 4 * ["A"] + 4 * ["B"]


def test_two_cases_of_a_record_give_one_ratio_of_medians_in_words():
    fast, slow = np.r_[np.linspace(0.98, 1.02, 7), np.nan], np.linspace(1.95, 2.05, 8)
    assert times(slow, fast).medians == pytest.approx(2.0)
    assert re.fullmatch(r"2\.00\d times \(95 % interval 1\.9\d+ to 2\.0\d+\)", times(slow, fast).times)
    assert times(slow[None], 2 * fast).times.endswith("no measurable difference)")


def test_sliders_move_a_figure_where_a_hand_can_and_nowhere_else(monkeypatch):
    still, drawn = rendering.paragraph("still"), []
    assert rendering.steer(drawn.append, still, gain=(0.0, 1.0)) is still and not drawn
    monkeypatch.setattr(notebook_files, "opened", lambda: True)
    assert rendering.steer(lambda gain: drawn.append(gain), still, gain=(0.0, 1.0)) is None and drawn == [0.5]


def test_on_a_phone_no_text_is_small_or_wider_than_the_figure():
    figure, axis = figures.axes()
    words = " ".join(["a label that is longer than a phone is wide"] * 3)
    axis.text(0, 0, words, size=5)
    html = figures.show(figure, alt="Words.").html
    assert min(map(float, re.findall(r"font(?:-size)?: ([\d.]+)px", html))) == rendering.LEGIBLE
    assert words not in html
