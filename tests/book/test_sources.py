"""Every figure of a story leads to its numbers and its checks, and what draws printed numbers is cited."""

import json
import re

import pytest
from bs4 import BeautifulSoup
from built import CHAPTERS, HTML, PAGES

from supercomputers_rerun.companion import tables
from supercomputers_rerun.companion.figures.kit import MEANINGS

PRINTED = f"stroke: {MEANINGS['printed']}"


@pytest.fixture
def page(path):
    return BeautifulSoup((HTML / path).read_text(encoding="utf-8"), "lxml")


@pytest.mark.built
@pytest.mark.parametrize("path", [path for path in CHAPTERS if path[-12:-5] != "achines"])
def test_a_figure_leads_to_its_numbers_and_its_checks(page, path):
    figures = [each for each in page.select("article figure.rerun-figure") if each.find_parent("details") is None]
    assert figures
    records = {each[13:-5]: each.replace("notebooks/", "../book/records/") for each in CHAPTERS}
    for figure in figures:
        links = {link.text: link["href"] for link in figure.select("figcaption a.rerun-more")}
        checks = links.pop("how it was checked")
        assert set(links) <= {"printed table", "stored runs"}
        assert all(link.startswith("../book/records/") and "#" in link for link in links.values())
        # A figure may draw runs of another chapter's experiment: their checks stand on that chapter's record.
        record, _, place = checks.partition("#")
        of = re.fullmatch(r"checks-(\w+)-[\w-]+", place)
        assert place == "the-report-s-arithmetic-rechecked" or of, checks
        assert record == records[of[1] if of else path[13:-5]], checks


@pytest.mark.built
@pytest.mark.parametrize("path", [path for path in CHAPTERS if path[-12:-5] == "achines"])
def test_a_figure_of_all_reports_leads_to_the_points_with_their_sources(page, path):
    for figure in page.select("article figure.rerun-figure"):
        (link,) = figure.select("figcaption a.rerun-more")
        assert page.select_one(link["href"]).select("td a[href]")


@pytest.mark.built
@pytest.mark.parametrize("path", PAGES)
def test_what_draws_printed_numbers_is_cited_with_their_place(page, path):
    blocks = page.select("article figure.rerun-figure[id]")
    drawing = [each["data-name"] for each in blocks if PRINTED in str(each)]
    about = page.select_one("#rerun-about")
    known = json.loads(about.string)["cited"] if about else {}
    left = [name for name in drawing if name not in known]
    assert not left
    for said in known.values():
        assert said and all(any(places) and name in tables.documents() for name, places in said.items())


@pytest.mark.built
def test_titles_and_captions_are_short():
    """A caption has at most 25 words, and a title about 90 characters."""
    long = []
    for path in CHAPTERS:
        whole = BeautifulSoup((HTML / path).read_text(encoding="utf-8"), "lxml")
        for figure in whole.select("article figure.rerun-figure"):
            title, caption = (
                figure.select_one(".rerun-title").text,
                str(figure.select_one(".rerun-number").next_sibling),
            )
            if len(title) > 100 or len(caption.split()) > 25:
                long.append(
                    f"{figure['id']}, {len(title)} characters, {len(caption.split())} words: {title}. {caption}"
                )
    assert not long, "\n".join(long)
