"""A record next to the report's values, and the chapter's figures of it."""

import xml.etree.ElementTree as ET

import pandas as pd
import pytest

from companion import experiments
from companion.figures import rendering
from companion.records import runs


def newest(experiment):
    return max(runs.COMMITTED.glob(f"{experiment}_*.json"))


@pytest.fixture
def quick(monkeypatch):
    """Figures are made with text and data, in no time."""
    monkeypatch.setattr(rendering, "_drawn", lambda *_: '<svg xmlns="http://www.w3.org/2000/svg"></svg>')


def test_show_prints_the_reports_values_in_columns_of_their_own_and_draws(call, quick, tmp_path):
    path = newest("xmp1982-simulator")
    code, out, err = call("show", path, "--figures", tmp_path / "drawn")
    assert code == 0, err
    assert "X-MP 1982" in out and "today, median of" in out
    files = sorted((tmp_path / "drawn").iterdir())
    assert files and all(file.name.startswith(path.stem) and ET.parse(file) for file in files)
    assert all(str(file) in out for file in files)


def test_show_draws_nothing_unasked(call, quick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = call("show", newest("p5plus-smt"))
    assert code == 0 and "[1]" in out and list(tmp_path.iterdir()) == []


def test_every_committed_record_is_drawn_somewhere():
    known = {name for name, entry in experiments.REGISTER.items() if entry.figures}
    assert {runs.read(path)["experiment"] for path in runs.COMMITTED.glob("*.json")} <= known


def test_samples_become_medians_and_other_columns_stay():
    frame = pd.DataFrame({"row": ["a"], "here, 1": [1.0], "here, 2": [5.0], "here, 3": [2.0], "1982": [7]})
    assert rendering.medians(frame).to_dict("list") == {"row": ["a"], "here, median of 3": [2.0], "1982": [7]}
