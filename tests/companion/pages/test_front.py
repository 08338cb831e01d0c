"""The front page promises what the register holds."""

import re
from pathlib import Path

from supercomputers_rerun.companion import claims, notebook_files, tables
from supercomputers_rerun.companion.chapters.xc30 import peak
from supercomputers_rerun.companion.pages import front, synthesis


def test_links_of_the_table_lead_to_chapters_and_ledger():
    html = front.chapters_table().html
    assert html.count("<tr>") == 1 + len(tables.documents())
    for path in notebook_files.paths():
        document = path.stem.partition("_")[2]
        if document in tables.documents():
            assert f'href="../notebooks/{path.stem}.html"' in html
            assert f"ledger.html?document={document}" in html


def test_the_citation_is_bibtex_of_citation_cff(tmp_path):
    text = str(front.bibtex())
    assert text.startswith("@misc{") and text.endswith("}") and text.count("{") == text.count("}")
    assert "title = {Supercomputers, Rerun}" in text
    assert not re.search("year|version|url|doi", text)  # there is no release yet
    other = tmp_path / "c.cff"
    other.write_text(
        "title: T\nversion: 2\nabstract: >-\n  one\n  two\n"
        "authors: [{family-names: B, given-names: A}, {name: The C}]\n"
    )
    assert "author = {B, A and {The C}}" in str(front.bibtex(other)) and "note = {one two}" in str(front.bibtex(other))
    other.write_text(other.read_text() + "date-released: 2027-03-01\nurl: https://example.org/book\ndoi: 10.1/x\n")
    released = str(front.bibtex(other))
    assert "  year = {2027},\n  version = {2},\n  url = {https://example.org/book},\n  doi = {10.1/x},\n" in released


def test_what_the_readme_says_was_found_is_what_is_computed():
    text, verdicts = Path(front.CITATION).with_name("README.md").read_text(), claims.frame()["verdict"].value_counts()
    low, high = synthesis.share_of_peak().query("kind == 'report'")["value"].agg(["min", "max"])
    share = peak.cores_now(peak.forecast.runs()[0])["share"].iloc[-1]
    assert f"list {verdicts.sum()} claims" in text and f"{verdicts['contradicts']} contradict" in text
    assert f"{verdicts['not checkable']} cannot" in text
    assert f"reached {low:g} to {high:g} %" in text and f"reach {share:.0f} %" in text
