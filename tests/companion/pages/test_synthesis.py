"""Points of the synthesis: each leads to the table or record that holds its number.

What its notebook draws it says in words, which are compared; here is what only the table of points has.
"""

import json

import pytest
import xarray as xr
from drawing import astray

from supercomputers_rerun.companion import experiments, notebook_files, tables
from supercomputers_rerun.companion.pages import synthesis
from supercomputers_rerun.companion.records import runs


@pytest.fixture(scope="module")
def frames():
    return synthesis.every()


@pytest.mark.parametrize("name", synthesis.QUANTITIES)
def test_every_point_has_a_unit_a_number_and_a_source_that_exists(frames, name):
    frame = frames[name]
    assert frame.attrs["units"]["value"] and (frame["value"] > 0).all()
    assert frame["machine"].str.len().gt(3).all() and frame["what"].str.len().gt(2).all()
    pages = {path.stem for path in notebook_files.paths()}
    anchors = {f"tab-{d}-{t}".replace("_", "-") for d in tables.documents() for t in tables.names(d)}
    for row in frame.itertuples():
        if row.kind == "report":
            page, _, anchor = row.source.removeprefix("../book/records/").partition(".html#")
            assert page in pages and anchor in anchors
        else:
            record = json.loads((runs.COMMITTED / row.source.rpartition("/")[2]).read_text())
            assert str(row.year) == record["date"][:4]


def test_what_was_measured_has_its_spread_and_what_was_printed_has_none(frames):
    for frame in frames.values():
        run = frame["kind"] == "run"
        assert frame.loc[~run, ["low", "high"]].isna().all(axis=None)
        assert frame.loc[run, "value"].between(frame.loc[run, "low"], frame.loc[run, "high"]).all()
    assert frames["bandwidth-balance"]["value"].iloc[0] == pytest.approx(11.3 / 16 * 4 / (696 / 0.118 / 768))


def test_a_peak_is_that_of_the_machine_it_is_held_against():
    stored = [run for id in ("xc30-transforms", "xc30-forecast") for run in runs.each(id)]
    assert len({run.attrs["label"] for run in stored}) >= 2
    for run in stored:
        ((found, words, peak, _),) = synthesis.peaks(run)
        assert found.attrs["label"] == run.attrs["label"] and words == "peak of 2 threads"
        assert peak["middle"].item() > 5e10


def test_of_several_sizes_and_threads_the_largest_count():
    run = {"N": [12, 12, 12, 6], "threads": [1, 2, 2, 4], "way": ["a", "a", "b", "a"]}
    run = xr.Dataset({name: ("case", values) for name, values in run.items()})
    assert synthesis._largest(run, "a").tolist() == [1]


@pytest.mark.parametrize("name", ["", "xc30-resolutions", "nht1-base"])
def test_each_label_of_a_point_stands_at_it(name):
    entry = experiments.REGISTER.get(name)
    shown = [figure(entry.runs()) for figure in entry.figures] if entry else [synthesis.files_through_time()]
    assert [label for each in shown if each.figure for label in astray(each.figure)] == []
