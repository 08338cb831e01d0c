"""The first page and README say what is computed today, and their picture shows it.

Where a new record changes a number, README is to be changed by hand, and its picture drawn anew::

    PYTHONPATH=tests python tests/companion/pages/test_front.py
"""

import contextlib
import io
import re

from listings import blocks, timeless
from PIL import Image, PngImagePlugin

from supercomputers_rerun.companion import answers, figures, notebook_files, tables
from supercomputers_rerun.companion.items import page
from supercomputers_rerun.companion.pages import front, synthesis
from supercomputers_rerun.companion.records import runs

ROOT = front.CITATION.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PICTURE = ROOT / "book" / "images" / "file_rates.png"


def test_every_chapter_has_a_card_with_a_question_and_a_surprise():
    html = front.chapters().html
    stems = [path.stem for path in notebook_files.paths()]
    assert html.count("<li ") == len(stems) == len(front.CARDS)
    for stem in stems:
        assert f'href="../notebooks/{stem}.html"' in html and html.count(f'data-page="notebooks/{stem}"') == 2


def test_readme_says_what_was_found_and_asks_what_the_cards_ask():
    head, rest = front.finding()
    assert f"**{head}** {rest}" in README and head in front.found().html
    stems = {document: page(document) for document in tables.documents()} | {front.LAST: front.LAST}
    for document, card in front.CARDS.items():
        assert f"| {card.waits} | [{card.question}](notebooks/{stems[document]}.ipynb) |" in README


def test_the_lines_in_readme_are_those_of_the_command():
    (path, *_) = sorted(runs.COMMITTED.glob("xmp1982-devices_paper_*.json"), reverse=True)
    said = answers.text(answers.answer(runs.read(path), beside=True), path).splitlines()
    lines = blocks("text")[0].splitlines()
    assert len(lines) == 6 and [line for line in lines if line not in said] == []


def test_the_lines_of_python_in_readme_print_what_stands_below_them():
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(blocks("python")[0], {})
    found, stands = map(timeless, (printed.getvalue(), blocks("text")[1]))
    assert found == stands and "ms" in found


def test_the_picture_in_readme_shows_the_stored_runs_of_today():
    with Image.open(PICTURE) as picture:
        assert picture.text["Description"] == synthesis.files_through_time().alt, "draw it anew, as this file says"


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


def draw() -> None:
    """Write the picture, with what it shows in words."""
    shown, buffer = synthesis.files_through_time(), io.BytesIO()
    figures.save(shown, buffer)
    words = PngImagePlugin.PngInfo()
    words.add_itxt("Description", shown.alt)
    few = Image.open(buffer).convert("RGB").quantize(64, Image.Quantize.MAXCOVERAGE)
    few.save(PICTURE, "PNG", optimize=True, pnginfo=words)


if __name__ == "__main__":
    draw()
