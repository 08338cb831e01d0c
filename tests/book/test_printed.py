"""The two printed files of ``make book``: headings in the outline, and nothing cut at the edge of a sheet."""

import re

import pytest
from bs4 import BeautifulSoup
from built import CHAPTERS, HTML, absent

pytestmark = pytest.mark.built
pdfium = pytest.importorskip("pypdfium2")
#: Points of the margins that ``book/_static/rerun.css`` gives a sheet (16 mm above and below, 14 mm at the sides).
SIDE, FOOT = 39.7, 45.4


STORIES, BEHIND = "supercomputers-rerun.pdf", "supercomputers-rerun-records.pdf"
RECORDS = [f"book/records/{path.name}" for path in sorted((HTML / "book" / "records").glob("*.html"))]


@pytest.fixture(scope="module", params=[STORIES, BEHIND])
def printed(request):
    path = HTML / "_static" / request.param
    if not path.is_file():
        absent("the book is not printed, so its PDF is not tested; run make book where Chromium is")
    document = pdfium.PdfDocument(path)
    document.pages = CHAPTERS if request.param == STORIES else RECORDS
    yield document
    document.close()


def _squeezed(text: str) -> str:
    """Without white space, which wrapping changes, and with hyphens at ends of lines as they were written."""
    return re.sub(r"\s+", "", text.replace("\ufffe", "-"))


@pytest.fixture(scope="module")
def text(printed):
    """All text above the foot of its sheet, where the page number stands."""
    return "".join(_squeezed(page.get_textpage().get_text_bounded(bottom=FOOT - 8)) for page in printed)


def test_the_outline_has_every_page_and_its_parts_in_order(printed):
    marks = [(mark.level, mark.get_title()) for mark in printed.get_toc(max_depth=15)]
    wanted = [
        (level, " ".join(heading.find(string=True).split()))
        for path in printed.pages
        for level, name in enumerate(("h1", "h2"))
        for heading in BeautifulSoup((HTML / path).read_text(encoding="utf-8"), "lxml").select(f"article {name}")
    ]
    assert len(wanted) > len(printed.pages) > 1 and not set(wanted) - set(marks)
    first = [mark for mark in wanted if mark[0] == 0]
    assert [mark for mark in marks if mark in first] == first


def test_the_contents_number_every_heading(printed):
    """The sheet that the contents name is that of the outline."""
    lines = "\n".join(page.get_textpage().get_text_bounded() for page in list(printed)[:12])
    for mark in printed.get_toc(max_depth=2):
        if mark.level < 2 and mark.get_title() != "Contents":
            line = re.escape(_squeezed(mark.get_title())) + str(mark.get_dest().get_index() + 1)
            assert re.search(line, _squeezed(lines)), mark.get_title()


def test_the_chapters_are_a_book_of_at_most_150_sheets(printed):
    if printed.pages is CHAPTERS:
        assert len(printed) <= 150


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


@pytest.fixture(scope="module")
def sheets(printed):
    """The text of each sheet above its foot."""
    return [_squeezed(page.get_textpage().get_text_bounded(bottom=FOOT - 8)) for page in printed]


def test_no_sheet_is_empty(printed, sheets):
    bare = [number for number, (page, text) in enumerate(zip(printed, sheets, strict=True), 1)
            if not text and not any(each.type for each in page.get_objects())]  # fmt: skip
    assert not bare


def test_no_figure_is_cut_in_two(printed, sheets):
    """All words of a drawing are on the sheet of its caption."""
    cut, seen = [], 0
    for path in printed.pages:
        soup = BeautifulSoup((HTML / path).read_text(encoding="utf-8"), "lxml")
        for figure in soup.select("article figure.rerun-figure:has(.rerun-number):has(strong)"):
            number, title = figure.select_one(".rerun-number").text, figure.figcaption.strong.text
            own = [text for text in sheets if _squeezed(number + title) in text]
            if not own or not number.strip():
                continue
            seen += 1
            svg = figure.select_one("svg.rerun-page") or figure.svg
            words = [word for text in svg.select("text") for word in (text.select("tspan") or [text])]  # an index apart
            lost = [word.text for word in words if not any(_squeezed(word.text) in text for text in own)]
            if lost:
                cut.append(f"{number.strip()} {lost[:3]}")
    assert seen > 20 and not cut


def test_every_line_of_open_code_is_on_paper_to_its_end(printed, text):
    for path in printed.pages:
        soup = BeautifulSoup((HTML / path).read_text(encoding="utf-8"), "lxml")
        cells = soup.select("article .cell_input pre")
        if printed.pages is CHAPTERS:
            cells = [cell for cell in cells if cell.find_parent("details") is None]
        lines = [line for cell in cells for line in cell.get_text().splitlines()]
        assert not [line for line in lines if _squeezed(line) not in text], path
