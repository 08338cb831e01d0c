"""What the authors concluded: every declaration is borne by the stored runs, and one that is not says so."""

import pytest

from supercomputers_rerun.companion import conclusions, items
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, THEN, UNTESTED, VERDICTS, Conclusion, Finding, Turned
from supercomputers_rerun.companion.pages import conclusions as pages

#: how many conclusions of each report are declared
DECLARED = {"aips58": 16, "nht1": 15, "p5plus": 20, "xc30": 17, "xmp1982": 28}
#: the most that may stay untested
MOST_UNTESTED = 20


@pytest.fixture(scope="module")
def judged():
    return pages.judged()


def made(finding: Finding) -> Conclusion:
    return Conclusion("toy-c1", "page 1", "Ours is the fastest.", lambda: finding)


def test_every_declaration_has_a_verdict_that_its_numbers_bear(judged):
    assert judged.groupby("document").size().to_dict() == DECLARED
    assert set(judged["verdict"]) == set(VERDICTS)
    assert judged[["place", "concluded", "found today"]].map(len).min().min() > 0
    assert (judged["verdict"] == UNTESTED).sum() <= MOST_UNTESTED


def test_numbers_follow_each_other_in_every_report():
    for document in DECLARED:
        numbers = [each.number for each in conclusions.conclusions(document)]
        assert numbers == list(range(1, len(numbers) + 1)), document


def test_what_is_not_tested_says_what_it_would_take(judged):
    found = judged.loc[judged["verdict"] == UNTESTED, "found today"]
    assert found.str.contains(r"\b[Tt]akes\b").all(), found[~found.str.contains(r"\b[Tt]akes\b")].tolist()


def test_sentences_end_and_have_no_missing_number(judged):
    for column in ("concluded", "found today"):
        assert judged[column].str.endswith(".").all() and not judged[column].str.contains(r"\b(?:nan|inf)\b").any()


def test_a_record_that_turns_a_verdict_fails_with_both_sentences():
    with pytest.raises(Turned, match="does not hold today.*Ours is the fastest.*It is 3 times as slow"):
        made(Finding(NOT, "It is 3 times as slow.", bears=False)).found()


@pytest.mark.parametrize("finding", [Finding(HOLDS, "It is."), Finding("probably", "It is.", bears=True)])
def test_a_measured_verdict_needs_its_condition_and_every_verdict_its_word(finding):
    with pytest.raises(ValueError, match="toy-c1"):
        made(finding).found()


def test_what_is_true_of_its_machines_needs_no_condition_but_keeps_one():
    assert made(Finding(THEN, "It was.")).found().sentence == "It was."
    with pytest.raises(Turned):
        made(Finding(THEN, "It was.", bears=False)).found()


def test_an_id_is_declared_once():
    with pytest.raises(ValueError, match="twice"):
        conclusions.conclusion("p5plus-c1", place="page 1", says="Again.")(lambda: Finding(THEN, "It was."))


@pytest.mark.parametrize("document", sorted(DECLARED))
def test_a_chapter_ends_with_the_table_that_the_page_has(document, judged):
    sources = items.notebook_files.sources(items.notebook_files.FOLDER / f"{items.page(document)}.ipynb")
    assert f'conclusions.table_of("{document}")' in "\n".join(sources)
    own = pages.judged(document)
    assert own.equals(judged[judged["document"] == document].reset_index(drop=True))


def test_the_page_counts_what_it_lists(judged):
    counts = pages.counts()
    assert (
        counts.loc["all"].sum() == len(judged)
        and counts.loc["all"].to_dict() == judged["verdict"].value_counts().to_dict()
    )
    shown = pages.full_table()
    assert all(f'href="../notebooks/{items.page(document)}.html"' in shown.html for document in DECLARED)
    assert shown.html.count("<strong>") >= len(judged)
