"""The register of items: complete, joined with the experiments, linked to headings that exist."""

import re

import nbformat
import pytest
from bs4 import BeautifulSoup
from docutils.nodes import make_id

from companion import items, notebook_files
from companion.pages import items as pages

HEAD = ",".join(items.COLUMNS) + "\n"
#: how many items and lost plots each report has
COMPLETE = {"xmp1982": (25, 1), "aips58": (12, 0), "nht1": (11, 2), "p5plus": (20, 12), "xc30": (14, 17)}


def headings(document):
    """Headings of a chapter, as they are written."""
    path = notebook_files.FOLDER / f"{items.page(document)}.ipynb"
    cells = nbformat.read(path, as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return re.findall(r"^#+ (.+)$", text, re.MULTILINE)


@pytest.mark.parametrize("document", items.documents())
def test_every_item_and_every_lost_plot_is_there(document):
    found = items.items(document)
    letter = {"xmp1982": "X", "aips58": "A", "nht1": "N", "p5plus": "P", "xc30": "C"}.get(document)
    numbers = [item.item for item in found if not item.is_plot]
    assert numbers == [f"{letter}{n}" for n in range(1, len(numbers) + 1)]
    assert (len(numbers), sum(item.is_plot for item in found)) == COMPLETE[document]


def test_what_is_called_live_has_an_experiment_that_names_it():
    assert items.problems(items.items()) == []


def test_every_item_that_an_experiment_names_is_in_the_register():
    known = {item.item for item in items.items()}
    for entry in items.experiments.REGISTER.values():
        assert items.named(entry.item) <= known, entry.id


@pytest.mark.parametrize("document", items.documents())
def test_every_place_is_one_heading_of_the_chapter(document):
    found = headings(document)
    for item in items.items(document):
        assert found.count(item.heading) == 1, (item.item, item.heading)


@pytest.mark.parametrize("heading", ["The model S·f/2", "At the report's sizes", "Two forecasts at once", "1 and 2: a"])
def test_anchors_are_those_of_docutils(heading):
    assert items.anchor(heading) == make_id(heading)


def test_named_spells_out_spans():
    assert items.named("N1-N3, N8") == {"N1", "N2", "N3", "N8"}
    assert items.named("N-F1, P2") == {"N-F1", "P2"} and items.named("") == set()


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("T1,,t,s,live,h,w,near,d", "toy/items.csv, row 2: nearness = 'near' is unknown; choose one of close"),
        ("T1,,t,s,live,h,w,close,", "row 2: nearness and differs belong to every live item"),
        ("T1,,t,s,redrawn,h,w,close,d", "row 2: nearness and differs belong to every live item"),
        ("T1,,t,s,done,h,w", "toy/items.csv, row 2: status = 'done' is unknown; choose one of live"),
        ("T1,,t,s,live,h", "row 2: 6 cells for 7 columns"),
        ("T1,,t,s,live,h,", "row 2: here is empty"),
        ("T-F1,,t,s,live,h,w", "row 2: of is empty"),
        ("T1,,t,s,live,h,w\nT1,,t,s,live,h,w", "row 3: item T1 stands there twice"),
    ],
)
def test_a_damaged_register_is_refused_with_its_place(tmp_path, row, sentence):
    path = tmp_path / "items.csv"
    head = ",".join(items.JUDGED) + "\n" if row.count(",") == len(items.JUDGED) - 1 else HEAD
    path.write_text(f"{head}{row}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(sentence)):
        items.parse(path, "toy")


def test_judgements_are_counted_and_no_distant_item_goes_without_its_reason():
    judged = [item for item in items.items() if item.nearness]
    assert pages.nearness().loc["all"].sum() == len(judged) >= 23
    assert all(len(item.differs) > 40 for item in judged if item.nearness == "distant")
    shown = BeautifulSoup(pages.full_table().html, "html.parser").text
    assert all(item.differs in shown for item in judged)


def test_what_the_register_promises_and_the_book_does_not_keep_is_said(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text(HEAD + "T1,,t,s,live,h,w\nT2,,t,s,redrawn,h,w\nT-F1,T9,t,s,redrawn,h,w\n", encoding="utf-8")
    found = [items.joined(item, {"toy-sum": {"T2"}}) for item in items.parse(path, "toy")]
    assert items.problems(found) == [
        "T1 is live, and no registered experiment names it",
        "T2 is redrawn, and toy-sum names it",
        "T-F1 is of T9, which the register does not have",
    ]


def test_unknown_documents_and_kinds_are_refused():
    with pytest.raises(ValueError, match="document 'p4' has no register of items; choose one of aips58"):
        items.items("p4")
    with pytest.raises(ValueError, match="document 'p4' has no notebook"):
        items.page("p4")
    with pytest.raises(ValueError, match="kind = 'all' is unknown"):
        pages.items_table("nht1", "all")


def test_the_page_shows_every_item_with_a_link_into_its_chapter():
    table = BeautifulSoup(pages.full_table().html, "html.parser")
    rows = [row for row in table.tbody.find_all("tr") if row.find("td")]
    assert len(rows) == len(items.items())
    for row, item in zip(rows, sorted(items.items(), key=lambda item: item.document), strict=True):
        (link,) = row.find_all("a")
        assert link["href"] == f"../notebooks/{items.page(item.document)}.html#{items.anchor(item.heading)}"
        assert all(id in row.text for id in item.experiments if item.status == "live")
    assert pages.counts().loc["all"].sum() + pages.counts("plots").loc["all"].sum() == len(rows)


def test_a_chapter_shows_its_items_and_its_lost_plots():
    for kind, number in (("items", 11), ("plots", 2)):
        shown = pages.items_table("nht1", kind)
        assert len(BeautifulSoup(shown.html, "html.parser").tbody.find_all("tr")) == number
        assert str(shown).endswith(f": {number} of nht1")


@pytest.mark.parametrize("document", items.documents())
def test_a_chapter_types_no_row_of_the_register_by_hand(document):
    path = notebook_files.FOLDER / f"{items.page(document)}.ipynb"
    cells = nbformat.read(path, as_version=4).cells
    assert not [
        cell for cell in cells if cell.cell_type == "markdown" and re.search(r"^\| [XANPC]?\d+ \|", cell.source, re.M)
    ]
    template = (notebook_files.FOLDER.parent / "book" / "_templates" / "chapter_record.md").read_text(encoding="utf-8")
    assert 'chapter_record.became("{document}")' in template
