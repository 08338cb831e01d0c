"""The front page promises what the register holds."""

import pytest

from companion import experiments, notebook_files, tables
from companion.pages import front


@pytest.fixture(scope="module")
def chapters():
    return front.chapters()


def test_every_document_has_its_row_in_the_order_of_the_book(chapters):
    assert set(chapters["document"]) == set(tables.documents())
    assert list(chapters["chapter"]) == sorted(chapters["chapter"])
    assert set(chapters["page"]) <= {path.stem for path in notebook_files.paths()}


def test_a_row_counts_the_experiments_of_the_register(chapters):
    for row in chapters.itertuples():
        own = [entry for entry in experiments.REGISTER.values() if entry.document == row.document]
        assert row.experiments == len(own)
        assert front.rerun(row).startswith(str(len(own)) if own else "nothing")


def test_links_of_the_table_lead_to_chapters_and_ledger():
    html = front.chapters_table().html
    for path in notebook_files.paths():
        document = path.stem.partition("_")[2]
        if document in tables.documents():
            assert f'href="../notebooks/{path.stem}.html"' in html
            assert f"ledger.html?document={document}" in html


def test_every_experiment_is_listed_by_the_name_the_command_line_takes():
    text = str(front.experiments_table())
    assert all(id in text for id in experiments.REGISTER)


def test_the_citation_is_bibtex_of_citation_cff(tmp_path):
    text = str(front.bibtex())
    assert text.startswith("@misc{") and text.endswith("}") and text.count("{") == text.count("}")
    assert "title = {Supercomputers, Rerun}" in text
    other = tmp_path / "c.cff"
    other.write_text(
        "title: T\nversion: 2\nabstract: >-\n  one\n  two\n"
        "authors: [{family-names: B, given-names: A}, {name: The C}]\n"
    )
    assert "author = {B, A and {The C}}" in str(front.bibtex(other)) and "note = {one two}" in str(front.bibtex(other))
