"""The printed book of ``make book``: chapters in its outline, and nothing cut at the edge of a sheet."""

import re

import pytest
from bs4 import BeautifulSoup
from built import CHAPTERS, HTML, absent

pdfium = pytest.importorskip("pypdfium2")
#: Points of the margins that ``book/_static/rerun.css`` gives a sheet (16 mm above and below, 14 mm at the sides).
SIDE, FOOT = 39.7, 45.4


@pytest.fixture(scope="module")
def printed():
    path = HTML / "_static" / "supercomputers-rerun.pdf"
    if not path.is_file():
        absent("the book is not printed, so its PDF is not tested; run make book where Chromium is")
    document = pdfium.PdfDocument(path)
    yield document
    document.close()


def _squeezed(text: str) -> str:
    """Without white space, which wrapping changes, and with hyphens at ends of lines as they were written."""
    return re.sub(r"\s+", "", text.replace("\ufffe", "-"))


@pytest.fixture(scope="module")
def text(printed):
    """All text above the foot of its sheet, where the page number stands."""
    return "".join(_squeezed(page.get_textpage().get_text_bounded(bottom=FOOT - 8)) for page in printed)


def test_the_outline_has_every_chapter_and_its_parts_in_order(printed):
    marks = [(mark.level, mark.get_title()) for mark in printed.get_toc(max_depth=15)]
    wanted = [
        (level, " ".join(heading.find(string=True).split()))
        for path in CHAPTERS
        for level, name in enumerate(("h1", "h2"))
        for heading in BeautifulSoup((HTML / path).read_text(encoding="utf-8"), "lxml").select(f"article {name}")
    ]
    assert len(wanted) > len(CHAPTERS) and not set(wanted) - set(marks)
    chapters = [mark for mark in marks if mark in [each for each in wanted if each[0] == 0]]
    assert chapters == [each for each in wanted if each[0] == 0]


def test_no_text_reaches_into_the_margins(printed):
    out = []
    for number, page in enumerate(printed, 1):
        width, height = page.get_size()
        assert (round(width), round(height)) == (595, 842)
        lines = page.get_textpage()
        for index in range(lines.count_rects()):
            left, bottom, right, top = lines.get_rect(index)
            if left < SIDE - 2 or right > width - SIDE + 2:
                out.append(
                    f"sheet {number}: {lines.get_text_bounded(left, bottom, right, top)[:60]!r} ends at {right:.0f}"
                )
    assert not out, "\n".join(out[:20])


@pytest.mark.parametrize("path", CHAPTERS)
def test_every_line_of_code_is_on_paper_to_its_end(path, text):
    soup = BeautifulSoup((HTML / path).read_text(encoding="utf-8"), "lxml")
    lines = [line for cell in soup.select("article .cell_input pre") for line in cell.get_text().splitlines()]
    assert lines
    assert not [line for line in lines if _squeezed(line) not in text]
