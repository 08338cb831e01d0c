"""Points of the synthesis: each leads to the table or record that holds its number."""

import json
import re

import numpy as np
import pytest

from companion import notebook_files, tables
from companion.pages import eras, explored, synthesis
from companion.records import machines, runs


@pytest.fixture(scope="module")
def frames():
    return explored.points()


@pytest.mark.parametrize("name", explored.QUANTITIES)
def test_every_point_has_a_unit_a_number_and_a_source_that_exists(frames, name):
    frame = frames[name]
    assert frame.attrs["units"]["value"] and (frame["value"] > 0).all()
    assert frame["machine"].str.len().gt(3).all() and frame["what"].str.len().gt(2).all()
    pages = {path.stem for path in notebook_files.paths()}
    anchors = {f"tab-{d}-{t}".replace("_", "-") for d in tables.documents() for t in tables.names(d)}
    for row in frame.itertuples():
        if row.source == "../book/records/06_machines.html#tab-machines":
            assert row.kind == "report" and row.machine in set(tables.machines()["name"].values)
        elif row.kind == "report":
            page, _, anchor = row.source.removeprefix("../book/records/").partition(".html#")
            assert page in pages and anchor in anchors
        else:
            record = json.loads((runs.COMMITTED / row.source.rpartition("/")[2]).read_text())
            assert str(row.year) == record["date"][:4]


def test_years_are_those_of_the_citations():
    assert {synthesis.year(document) for document in tables.documents()} >= {1982, 1989, 1993, 2006, 2014}


def test_an_hour_of_forecast_by_hand(frames):
    """Printed seconds of a whole forecast over its hours."""
    clock = tables.load("xmp1982", "fig4_1")["total_clock"].sel(configuration="cray1a-disk4")
    assert frames["hour"]["value"].iloc[0] == float(clock) / 24
    wall = tables.load("p5plus", "p4_p5")["wall"].sel(system="P5+")
    assert float(wall) / 240 in set(frames["hour"]["value"])


def test_a_forecast_on_one_processor_by_hand(frames):
    """GFLOPS of the job over its processors; and 8 MB/s to a file of a machine of 2.7 GFLOPS."""
    row = tables.printed("p5plus", "p4_p5").set_index("system").loc["P5+"]
    assert float(row["gflops"]) / float(row["cpus"]) in set(frames["rate"]["value"])
    balance = frames["file-balance"].set_index("machine")
    assert balance["value"]["Cray Y-MP 8/256"] == pytest.approx(8e6 / 2.7e9)
    assert balance["value"]["Cray XC30"] == pytest.approx(200e6 / 1796e12) and balance["bound"]["Cray XC30"] == ">"


def test_memory_per_flop_by_hand(frames):
    """256 × 2^20 words of 8 bytes over 2.7 GFLOPS; nodes of 64 × 2^30 bytes over their share of a system's peak; and
    32 × 2^30 bytes over 16 processors of 696 GFLOPS / 0.118 / 768 each."""
    values = frames["memory"].set_index("machine")["value"]
    assert values["Cray Y-MP 8/256"] == pytest.approx(2**31 / 2.7e9)
    assert values["Cray XC30"] == pytest.approx(64 * 2**30 * 3465 / 1796e12)
    assert values["IBM p575 (Power5+)"] == pytest.approx(32 * 2**30 / (16 * 696e9 / 0.118 / 768))


def test_what_a_processor_streams_and_how_that_compares_with_its_peak(frames):
    """11.3 GFLOPS of 16 processors, two operations for 8 bytes; a peak of 7.68 GFLOPS."""
    assert frames["bandwidth"]["value"].iloc[0] == pytest.approx(11.3 / 16 * 4)
    read = frames["bandwidth-balance"]["value"]
    assert list(read[:2]) == pytest.approx([11.3 / 16 * 4 / 7.68, 16.2 / 16 * 4 / 7.68], rel=1e-3)
    drawn = eras.memory_balance()
    assert len(drawn) == len(frames["memory"]) + len(read) and "IBM p690 (Power4+)" in set(drawn["machine"])


def test_what_was_measured_has_its_spread_and_what_was_printed_has_none(frames):
    for frame in frames.values():
        run = frame["kind"] == "run"
        assert frame.loc[~run, ["low", "high"]].isna().all(axis=None)
        assert frame.loc[run, "value"].between(frame.loc[run, "low"], frame.loc[run, "high"]).all()


def test_a_peak_is_that_of_the_machine_it_is_held_against():
    found = {each.label for each in machines.known() if {"xc30-transforms", "xc30-routines"} & each.experiments}
    assert len(found) >= 2
    for machine in found:
        run, threads, peak = synthesis.peak_on(machine)
        assert run.attrs["label"] == machine and threads == 2 and peak["middle"].item() > 5e10
    assert synthesis.peak_on("no such machine") is None


def test_shares_of_the_clock_by_hand(frames):
    """CPU over clock of 1982 and 1989, 1/(1 + zeta) of 1993 with its bounds, the parallel section of 2006."""
    busy = frames["computing"].set_index(["machine", "what"])
    assert busy["value"]["Cray X-MP (prototype)", "forecast, disks"] == pytest.approx(100 * 630 / 770)
    assert busy["value"]["Cray Y-MP 8/256", "flow solver that writes, at worst"] == pytest.approx(100 / 1.4)
    assert busy["bound"]["Intel iPSC/860", "flow solver that writes"] == "<"
    assert busy["bound"]["Thinking Machines CM-2", "flow solver that writes"] == ">"
    assert busy["value"]["IBM p575 (Power5+)", "4D-Var, 768 CPUs"] == pytest.approx(100 * 1492 / 3121)
    assert (busy["value"] <= 100).all()


def test_the_opening_figure_and_the_findings_say_the_printed_rates():
    alt = eras.files_through_time().alt
    assert all(
        text in alt
        for text in ("(prototype): a disk 3.94", "SSD 246", "CM-2: serial file 4.30", "one of 120 files above 200")
    )
    files, memory, busy = eras.findings()
    assert "3.94 MB/s" in files and "0.80 bytes" in memory and "82 to 95 %" in busy and "40 and 6 %" in busy
    html = eras.opened("there").html
    assert html.count("<li>") == 3 and 'href="there/02_aips58.html">chapter 2</a>' in html


def test_labels_of_near_points_are_moved_apart():
    placed = eras._spaced(np.array([10.0, 8.0, 100.0]), 0.2)
    assert placed[1] == pytest.approx(np.log10(8)) and placed[0] == pytest.approx(np.log10(8) + 0.2)
    assert placed[2] == 2.0


def test_figure_and_table_say_every_point(frames):
    shown = synthesis.dots(frames["power"], title="Power", seen="Look.", name="power")
    assert all(f"{row.machine}: {row.what}" in shown.alt for row in frames["power"].itertuples())
    table = explored.points_table(frames)
    assert "Look." in shown.html and len(re.findall("<tr>", table.html)) == sum(map(len, frames.values())) + 1
    assert all(f'href="{row.source}"' in table.html for frame in frames.values() for row in frame.itertuples())


def test_a_bound_is_drawn_and_said_as_one(frames):
    shown = synthesis.dots(frames["computing"], title="Busy", seen="Look.", name="busy")
    assert (
        "iPSC/860: flow solver that writes below 58.8" in shown.alt
        and "CM-2: flow solver that writes above 96.2" in shown.alt
    )


def test_the_explorer_carries_every_point_and_names_no_report_by_its_identifier(frames):
    html = explored.explored(frames, eras.files_through_time()).html
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)[1])
    assert {name: len(rows) for name, rows in data["points"].items()} == {name: len(f) for name, f in frames.items()}
    assert [one["key"] for one in data["quantities"]] == list(explored.QUANTITIES)
    assert set(data["reports"]) == {"1982", "1989", "1993", "2006", "2014"}
    shown = " ".join([*data["reports"].values(), *(str(row[0]) for rows in data["points"].values() for row in rows)])
    assert not any(document in shown for document in tables.documents())


def test_a_report_is_named_by_its_title():
    assert synthesis.title("xmp1982") == "Benchmark exercises on Cray X MP"
    assert synthesis.title("xc30") == "IFS migrates from IBM to Cray"


def test_the_table_of_reports_names_every_machine():
    text = str(synthesis.reports_table())
    assert all(str(name) in text for name in tables.machines()["name"].values)


def test_a_clock_is_stated_or_follows_from_its_period(frames):
    clocks = frames["clock"].set_index("machine")["value"]
    stated = tables.machines()
    assert clocks["Cray Y-MP 8/256"] == pytest.approx(1000 / 6) and clocks["IBM BlueGene L"] == 700
    assert len(clocks) == int((stated["clock"].notnull() | stated["clock_period"].notnull()).sum())
