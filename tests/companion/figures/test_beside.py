"""Other machines on the axes of a figure: which of them are there, where their marks are, and what says so."""

import numpy as np
import pytest
import xarray as xr
from synthetic import on

from companion.chapters.p5plus import loops
from companion.figures import beside, rendering
from companion.figures.parts import points
from companion.figures.rendering import show
from companion.figures.style import axes
from companion.records import runs

EXPERIMENT = "p5plus-smt"
RATE = "host"


def newest(experiment):
    return runs.read(runs.COMMITTED / runs.latest(experiment).attrs["file"])


def own(folder, *records):
    """The folder of a reader, with records in it."""
    for record in records:
        runs.save(record, folder)
    return folder


@pytest.fixture
def drawn(monkeypatch):
    """The figures that were shown, by name."""
    kept = {}

    def keep(figure, alt, name=None):
        kept[name] = figure
        return "<svg></svg>"

    monkeypatch.setattr(rendering, "_drawings", keep)
    return kept


def heading(figure):
    return figure.get_suptitle()


def test_every_machine_of_the_book_is_on_the_axes_and_in_the_data(drawn):
    found = loops.loops.runs()
    labels, frame = [run.attrs["label"] for run in found], loops.rates(found).data
    assert list(dict.fromkeys(frame["machine"])) == labels and len(labels) > 2
    assert all(label in heading(drawn["p5plus_loops"]) for label in labels[1:])
    marks = {line.get_marker(): line for line in drawn["p5plus_loops"].axes[0].get_lines()}
    for run in found[1:]:
        line = marks[run.attrs["mark"]]
        assert np.allclose(line.get_xdata(), frame.loc[frame["machine"] == run.attrs["label"], RATE])


def test_the_readers_own_run_is_a_star_beside_the_machine_of_the_sentences(drawn, tmp_path, monkeypatch):
    own(tmp_path, on("Slowpoke 1000", 2.0, newest(EXPERIMENT)))
    monkeypatch.setenv(runs.RECORDS, str(tmp_path))
    frame = loops.rates(loops.loops.runs()).data
    figure = drawn["p5plus_loops"]
    assert frame["machine"].iloc[0] == runs.latest(EXPERIMENT).attrs["label"]  # sentences stay as they are
    assert "★ this machine" in heading(figure)
    (star,) = [line for line in figure.axes[0].get_lines() if line.get_marker() == runs.OWN]
    assert np.allclose(star.get_xdata(), frame.loc[frame["machine"] == "this machine", RATE])
    assert np.allclose(2 * star.get_xdata(), frame[RATE].iloc[: len(star.get_xdata())])


def test_a_figure_of_one_run_draws_no_other_machine(drawn):
    assert "machine" not in loops.rates(loops.loops.runs()[:1]).data and not heading(drawn["p5plus_loops"])


def _run(label, **attributes):
    record = xr.Dataset(attrs={"experiment": "made-up", "label": label, "records": 1, "preset": "paper"})
    return record.assign_attrs({"simulated": 0, "kind": "timing", "machine": label, "date": "2026-01-01"} | attributes)


@pytest.fixture
def each(monkeypatch):
    """Puts made-up runs in place of the committed ones."""
    return lambda *found: monkeypatch.setattr(runs, "each", lambda experiment: list(found))


def made_up(rows, variants=1):
    """A figure with ``variants`` marks in each of the rows that ``rows`` names for a machine."""

    @beside.each_machine
    def draw(run):
        figure, axis = axes()
        names = rows[run.attrs["label"]]
        for number in range(variants):
            x = [float(number + len(run.attrs["label"]))] * len(names)
            points(axis, x, np.arange(len(names)), label="", host=True, index=number)
        axis.set_yticks(np.arange(len(names)), names)
        return show(figure, name="made_up", run=run, alt="Made up.")

    return draw


@pytest.mark.parametrize("attributes", [{"simulated": 1}, {"kind": "study"}])
def test_what_is_not_timed_is_alike_on_all_machines(attributes, each, drawn):
    first, second = _run("first", **attributes), _run("second", **attributes)
    each(first, second)
    made_up({"first": ["a"], "second": ["a"]})(first)
    assert not heading(drawn["made_up"])
