"""The record of a chapter: its stored runs and what was checked in each."""

import re

import pytest

from supercomputers_rerun.companion import tables
from supercomputers_rerun.companion.figures import rendering
from supercomputers_rerun.companion.pages import chapter_record


@pytest.mark.parametrize("document", tables.documents())
def test_the_checks_of_the_newest_runs_are_listed_by_name(document):
    stored, found = chapter_record.stored_runs(document), chapter_record.checks(document)
    newest = stored.drop_duplicates("experiment", keep="last").set_index("experiment")
    newest = newest[newest["checks"] > 0]
    by_run = found.groupby("experiment")[["checks", "held"]].sum()
    assert by_run["checks"].to_dict() == newest["checks"].to_dict()
    assert by_run["held"].to_dict() == newest["held"].to_dict()
    assert (found["held"] == found["checks"]).all() and (found["cases"] <= found["checks"]).all()
    assert not found.duplicated(["experiment", "check"]).any()


@pytest.mark.parametrize("document", tables.documents())
def test_figures_find_each_experiment_once_in_both_tables(document):
    for table, word, found in (
        (chapter_record.runs_table, "run", chapter_record.stored_runs(document)),
        (chapter_record.checks_table, "checks", chapter_record.checks(document)),
    ):
        places = re.findall(rf'id="{word}-([\w-]+)"', table(document).html)
        assert len(places) == len(set(places)) and set(places) == set(found["experiment"])


def test_a_chapter_without_runs_says_so():
    assert "No run" in chapter_record.checks_table("toy") and "No run" in chapter_record.runs_table("toy")


def test_further_figures_stand_under_their_experiment_and_repeat_nothing_of_the_story(monkeypatch):
    monkeypatch.setattr(rendering, "_drawn", lambda *_: "<svg></svg>")
    shown = chapter_record.further_figures("xc30")
    found = re.findall(r'<h3 id="elsewhere-([^"]+)"', shown.html)
    assert found and len(found) == len(set(found)) and all(name.startswith("xc30-") for name in found)
    monkeypatch.setattr(chapter_record.notebook_files, "sources", lambda path: [])  # a chapter that shows nothing
    more = chapter_record.further_figures("xc30").html
    assert len(re.findall("<(?:figure|table)", more)) > len(re.findall("<(?:figure|table)", shown.html))
    assert "The same on " in more
