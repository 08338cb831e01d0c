"""The register of items: complete, joined with the experiments, linked to headings that exist."""

import csv
import re
from dataclasses import replace

import nbformat
import pytest
from bs4 import BeautifulSoup
from docutils.nodes import make_id

from supercomputers_rerun.companion import items, notebook_files
from supercomputers_rerun.companion.pages import items as pages

#: how many items and lost plots each report has
COMPLETE = {"xmp1982": (29, 1), "aips58": (13, 0), "nht1": (11, 2), "p5plus": (20, 12), "xc30": (17, 17)}


@pytest.mark.parametrize("document", items.documents())
def test_every_item_and_every_lost_plot_is_there(document):
    found = items.items(document)
    letter = {"xmp1982": "X", "aips58": "A", "nht1": "N", "p5plus": "P", "xc30": "C"}.get(document)
    numbers = [item.item for item in found if not item.is_plot]
    assert numbers == [f"{letter}{n}" for n in range(1, len(numbers) + 1)]
    assert (len(numbers), sum(item.is_plot for item in found)) == COMPLETE[document]


def test_what_is_called_live_has_an_experiment_that_names_it():
    found = items.items()
    for item in found:
        assert all((item.title, item.survives, item.heading, item.here)) and bool(item.of) is item.is_plot, item.item
        assert item.experiments or item.status != "live", item.item
        assert bool(item.differs) == bool(item.nearness), item.item
        assert not item.nearness or (item.status == "live" and not item.is_plot), item.item
        assert item.is_plot or not item.experiments or item.status not in ("redrawn", "not possible"), item.item


@pytest.mark.parametrize(
    ("column", "word", "reason"),
    [
        ("status", "alive", "line 2: status = 'alive' is unknown; choose one of live"),
        ("nearness", "closer", "line 2: nearness = 'closer' is unknown"),
        ("of", "N99", "line 2: of names 'N99', which is no item"),
        ("item", "N2", "line 2: item 'N2' needs a name, and one row"),
    ],
)
def test_a_word_that_nobody_knows_is_refused(tmp_path, monkeypatch, column, word, reason):
    given = items.chapters.files("items.csv")["nht1"]
    rows = [row for _, row in items.chapters.rows(given, items.COLUMNS)]
    rows[0][column] = word
    path = tmp_path / "items.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, items.COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    files = items.chapters.files("items.csv") | {"nht1": path}
    monkeypatch.setattr(items.chapters, "files", lambda name: files)
    with pytest.raises(ValueError, match=reason):
        items.items()
    with pytest.raises(ValueError, match="document 'absent' has no items; choose one of aips58, nht1"):
        items.items("absent")


def test_an_item_of_an_experiment_that_has_no_row_is_refused(monkeypatch):
    other = replace(items.experiments.find("nht1-io"), item="N1, N99")
    monkeypatch.setitem(items.experiments.REGISTER, "nht1-io", other)
    with pytest.raises(ValueError, match="experiment nht1-io names item 'N99', of which no items.csv has a row"):
        items.items("nht1")


@pytest.mark.parametrize("document", items.documents())
def test_every_place_is_one_heading_of_the_chapter(document):
    found = notebook_files.headings(notebook_files.FOLDER / f"{items.page(document)}.ipynb")
    for item in items.items(document):
        assert found.count(item.heading) == 1, (item.item, item.heading)


def test_judgements_are_counted_and_no_distant_item_goes_without_its_reason():
    judged = [item for item in items.items() if item.nearness]
    assert pages.counts("nearness").loc["all"].sum() == len(judged) >= 23
    assert all(len(item.differs) > 40 for item in judged if item.nearness == "distant")
    shown = BeautifulSoup(pages.full_table().html, "html.parser").text
    assert all(item.differs in shown for item in judged)


def test_the_page_shows_every_item_with_a_link_into_its_chapter():
    table = BeautifulSoup(pages.full_table().html, "html.parser")
    rows = [row for row in table.tbody.find_all("tr") if row.find("td")]
    assert len(table.tbody.find_all("th")) == len(items.documents())
    assert len(rows) == len(items.items())
    for row, item in zip(rows, sorted(items.items(), key=lambda item: item.document), strict=True):
        (link,) = row.find_all("a")
        assert link["href"] == f"../notebooks/{items.page(item.document)}.html#{make_id(item.heading)}"
        assert all(id in row.text for id in item.experiments if item.status == "live")
    assert pages.counts().loc["all"].sum() + pages.counts("plots").loc["all"].sum() == len(rows)


def test_a_chapter_shows_its_items_and_its_lost_plots():
    for kind, number in (("items", 11), ("plots", 2)):
        shown = pages.items_table("nht1", kind)
        assert len(BeautifulSoup(shown.html, "html.parser").tbody.find_all("tr")) == number


@pytest.mark.parametrize("document", items.documents())
def test_a_chapter_types_no_row_of_the_register_by_hand(document):
    path = notebook_files.FOLDER / f"{items.page(document)}.ipynb"
    cells = nbformat.read(path, as_version=4).cells
    assert not [
        cell for cell in cells if cell.cell_type == "markdown" and re.search(r"^\| [XANPC]?\d+ \|", cell.source, re.M)
    ]
    template = (notebook_files.FOLDER.parent / "book" / "_templates" / "chapter_record.md").read_text(encoding="utf-8")
    assert 'chapter_record.became("{document}")' in template
