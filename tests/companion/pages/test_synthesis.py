"""Points of the synthesis: each leads to the table or record that holds its number."""

import json
import re

import pytest

from companion import notebook_files, tables
from companion.pages import rates, synthesis
from companion.records import runs

FRAMES = ["share_of_peak", "forecast_hour", "not_overlapped", "memory_per_flop", "energy", "sustained_rate"]


@pytest.fixture(scope="module")
def frames():
    return {name: (getattr(synthesis, name, None) or getattr(rates, name))() for name in FRAMES}


@pytest.mark.parametrize("name", FRAMES)
def test_every_point_has_a_unit_a_number_and_a_source_that_exists(frames, name):
    frame = frames[name]
    assert frame.attrs["units"]["value"] and (frame["value"] > 0).all() and frame["what"].str.len().gt(3).all()
    pages = {path.stem for path in notebook_files.paths()}
    anchors = {f"tab-{d}-{t}".replace("_", "-") for d in tables.documents() for t in tables.names(d)}
    for row in frame.itertuples():
        if row.kind == "report":
            page, _, anchor = row.source.partition(".html#")
            assert page in pages and anchor in anchors
        else:
            record = json.loads((runs.COMMITTED / row.source.rpartition("/")[2]).read_text())
            assert str(row.year) == record["date"][:4]


def test_years_are_those_of_the_citations():
    assert {synthesis.year(document) for document in tables.documents()} >= {1982, 1989, 1993, 2006, 2014}


def test_an_hour_of_forecast_by_hand(frames):
    """Printed seconds of a whole forecast over its hours."""
    clock = tables.load("xmp1982", "fig4_1")["total_clock"].sel(configuration="cray1a-disk4")
    assert frames["forecast_hour"]["value"].iloc[0] == float(clock) / 24
    wall = tables.load("p5plus", "p4_p5")["wall"].sel(system="P5+")
    assert float(wall) / 240 in set(frames["forecast_hour"]["value"])


def test_a_forecast_on_one_processor_by_hand(frames):
    """GFLOPS of the job over its processors; and 8 MB/s to a file of a machine of 2.7 GFLOPS."""
    row = tables.printed("p5plus", "p4_p5").set_index("system").loc["P5+"]
    assert float(row["gflops"]) / float(row["cpus"]) in set(frames["sustained_rate"]["value"])
    assert rates.file_per_flop() == pytest.approx(8e6 / 2.7e9)
    assert all(row["kind"] == "run" and row["value"] > 0 for row in rates.forecast_rerun())


def test_memory_per_flop_by_hand(frames):
    """64 GB a node and the peak of one system, as slide and table state them, in bytes per flop/s."""
    stated = tables.machines().sel(machine="cray_xc30")
    row = frames["memory_per_flop"].set_index("what").loc["Cray XC30"]
    bytes_, flops = 1e6 * float(stated["memory_per_node"] * stated["nodes"]), 1e9 * float(stated["peak"])
    assert row["value"] == pytest.approx(bytes_ / flops)
    assert 0.1 < row["value"] < 0.2


def test_figure_and_table_say_every_point(frames):
    frame = frames["energy"]
    shown = synthesis.dots(frame, title="Power", seen="Look.", name="power")
    table = synthesis.linked(frame, caption="c", name="power")
    for row in frame.itertuples():
        assert row.what in shown.alt and f'href="{row.source}"' in table.html
    assert "Look." in shown.html and len(re.findall("<tr>", table.html)) == len(frame) + 1


def test_the_time_line_names_every_machine():
    alt = synthesis.time_line().alt
    assert all(str(name) in alt for name in tables.machines()["name"].values)
