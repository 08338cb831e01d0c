"""The figures of chapter 5 draw what the tables and records say."""

import base64
import io
import re

import numpy as np
import pandas as pd
import pytest

from companion import tables
from companion.figures import xc30


def drawn(shown) -> pd.DataFrame:
    """The CSV that a figure offers."""
    packed = re.search(r"base64,([^\"]+)", shown.html).group(1)
    return pd.read_csv(io.BytesIO(base64.b64decode(packed)))


def table(name):
    return tables.load("xc30", name)


def test_systems_are_drawn_as_ratios_of_printed_cells():
    frame = drawn(xc30.systems(table("machines"))).set_index("fact")["ratio"]
    cells = tables.printed("xc30", "machines").set_index("fact")
    for fact, name in (("cores", "cores"), ("peak", "peak"), ("clock", "clock")):
        assert frame[name] == pytest.approx(float(cells.loc[fact, "cray"]) / float(cells.loc[fact, "ibm"]))
    assert frame["peak of a core"] == pytest.approx(frame["peak"] / frame["cores"])


def test_share_of_peak_scales_the_system_to_the_nodes_used():
    frame = drawn(xc30.share_of_peak(table("runs"), table("machines"), table("forecast")))
    share = 100 * frame["rate [TFLOPS]"] / frame["peak [TFLOPS]"]
    np.testing.assert_allclose(share, frame["printed share [%]"], atol=0.05)


def test_resolutions_name_seven_pairs():
    shown = xc30.resolutions(table("resolutions"))
    assert len(re.findall(r"(?:linear|quadratic|cubic) \d+ on \d+ points", shown.alt)) == 7


def test_overlap_states_the_gain_of_each_resolution():
    times = table("legendre_overlap")["time"]
    gain = 100 * (1 - times.sel(version="new") / times.sel(version="original"))
    alt = xc30.overlap(table("legendre_overlap")).alt
    for resolution in times["resolution"].values:
        assert f"{resolution} by {float(gain.sel(resolution=resolution)):.0f} %" in alt


def test_small_files_draw_every_suite():
    shown = xc30.small_files(table("io_to_remove"))
    assert all(suite in shown.alt for suite in tables.text("xc30", "io_to_remove")["suite"])


@pytest.mark.parametrize("text, expected", [("2011-06", 2011 + 5.5 / 12), ("2015", 2015.5),
                                            ("10-19", 2014 + (9 + 18 / 30.5) / 12)])
def test_dates_become_years(text, expected):
    assert xc30._when(text, 2014) == pytest.approx(expected)


def test_timeline_is_in_order_and_says_which_year_is_assumed():
    shown = xc30.timeline(table("timeline"), 2014)
    assert "no printed year" in shown.alt
    assert shown.alt.index("Power7 in service") < shown.alt.index("Power7 out of service")
