"""The page for teachers: every exercise is listed, and what is handed out holds no answer."""

import nbformat
import pytest
from bs4 import BeautifulSoup

from supercomputers_rerun.companion import items, notebook_files, notebooks, tables
from supercomputers_rerun.companion.pages import teaching


def test_every_chapter_has_a_course_and_its_exercises():
    rows = BeautifulSoup(teaching.chapters().html, "html.parser").tbody.find_all("tr")
    assert len(rows) == len(tables.documents()) == len(teaching.COURSES)
    for row, document in zip(rows, ("xmp1982", "aips58", "nht1", "p5plus", "xc30"), strict=True):  # as in the book
        found = teaching.exercises(document)
        assert len(found) >= 2 and all(each in row.text for each in found) and teaching.COURSES[document] in row.text


@pytest.mark.parametrize("document", tables.documents())
def test_what_is_handed_out_has_no_answer_and_no_output(document, tmp_path):
    path = notebook_files.FOLDER / f"{items.page(document)}.ipynb"
    cells = nbformat.read(notebooks.without_answers(path, tmp_path), as_version=4).cells
    answers = [cell for cell in nbformat.read(path, as_version=4).cells if "figures.answer(" in cell.source]
    assert answers and all(cell.metadata["jupyter"] == {"source_hidden": True} for cell in answers)
    assert not any("figures.answer(" in cell.source or cell.get("outputs") for cell in cells)
