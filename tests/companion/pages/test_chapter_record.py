"""The record of a chapter: its stored runs and what was checked in each."""

import re

import pytest

from companion import tables
from companion.figures import rendering
from companion.pages import chapter_record


@pytest.mark.parametrize("document", tables.documents())
def test_the_checks_of_the_newest_runs_are_listed_by_name(document):
    stored, found = chapter_record.stored_runs(document), chapter_record.checks(document)
    newest = stored.drop_duplicates("experiment", keep="last").set_index("experiment")
    by_run = found.groupby("experiment")[["checks", "held"]].sum()
    assert by_run["checks"].to_dict() == newest["checks"].to_dict()
    assert by_run["held"].to_dict() == newest["held"].to_dict()
    assert (found["held"] == found["checks"]).all() and (found["cases"] <= found["checks"]).all()
    assert not found.duplicated(["experiment", "check"]).any()


@pytest.mark.parametrize("document", tables.documents())
def test_figures_find_each_experiment_once_in_both_tables(document):
    names = set(chapter_record.stored_runs(document)["experiment"])
    for table, word in ((chapter_record.runs_table, "run"), (chapter_record.checks_table, "checks")):
        places = re.findall(rf'id="{word}-([\w-]+)"', table(document).html)
        assert len(places) == len(set(places)) and set(places) == names


def test_a_mark_counts_the_cases_of_the_newest_run_and_names_its_checks():
    runs, found = chapter_record.stored_runs("nht1"), chapter_record.checks("nht1")
    newest = runs[runs["experiment"] == "nht1-io"].iloc[-1]
    said = chapter_record.mark("nht1-io").alt
    assert said.startswith(f"checked: {newest['cases']} cases\n")
    assert f"{newest['held']} of {newest['checks']} checks held." in said
    assert str(found.loc[found["experiment"] == "nht1-io", "check"].iloc[0]) in said
    assert chapter_record.mark("p5plus-monitoring-simulated") is None


def test_a_chapter_without_runs_says_so():
    assert "No run" in chapter_record.checks_table("toy") and "No run" in chapter_record.runs_table("toy")


def test_further_figures_stand_under_their_experiment_and_repeat_nothing_of_the_story(monkeypatch):
    monkeypatch.setattr(rendering, "_drawn", lambda *_: "<svg></svg>")
    shown = chapter_record.further_figures("p5plus")
    found = re.findall(r'<h3 id="elsewhere-([^"]+)"', shown.html)
    assert found and len(found) == len(set(found)) and all(name.startswith("p5plus-") for name in found)
    monkeypatch.setattr(chapter_record, "_story", lambda document: "")  # a chapter that shows nothing
    more = chapter_record.further_figures("p5plus")
    assert more.html.count("<figure") > shown.html.count("<figure") or more.html.count("<table") > shown.html.count(
        "<table"
    )
    monkeypatch.setattr(chapter_record, "_holds_all", lambda *_: False)  # figures of one machine
    assert "The same on " in chapter_record.further_figures("p5plus").html
