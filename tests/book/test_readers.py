"""What four readers come for, from the front page, with the clicks that each needs."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.built
FRONT = "book/index.html"


class Reader:
    """Someone at a screen who clicks; what is counted is clicks."""

    def __init__(self, page):
        self.page, self.clicks = page, 0

    def click(self, place):
        self.clicks += 1
        place.click()
        self.page.wait_for_load_state("networkidle")
        self.page.wait_for_timeout(300)  # a fold opens first and tells its script afterwards

    def sees(self, place) -> str:
        """The text of something that is on the screen as it is, or is scrolled to by whoever reads on."""
        assert place.is_visible()
        return place.inner_text()

    def without_scrolling(self, place) -> bool:
        box = place.bounding_box()
        return box["y"] >= 0 and box["y"] + box["height"] <= 900


@pytest.fixture
def reader(browser, address):
    context = browser.new_context(viewport={"width": 1400, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.goto(address + FRONT, wait_until="networkidle")
    yield Reader(page)
    context.close()


def _chapter(reader, number: int):
    reader.click(reader.page.locator(f'#pst-primary-sidebar a[href*="/0{number}_"]').first)


@pytest.mark.parametrize("number", range(1, 7))
def test_a_student_reads_what_a_chapter_found(reader, number):
    _chapter(reader, number)
    box = reader.page.locator("aside.rerun-box")
    assert reader.without_scrolling(box) and "What was found." in reader.sees(box)
    assert 3 <= box.locator("li").count() <= 4 and reader.clicks == 1


def test_a_teacher_takes_a_figure(reader):
    _chapter(reader, 4)
    figure = reader.page.locator("figure.rerun-figure").first
    with reader.page.expect_download() as waiting:
        reader.click(figure.get_by_role("button", name="PNG"))
    assert Path(waiting.value.path()).read_bytes().startswith(b"\x89PNG") and reader.clicks == 2


def test_a_historian_cites_a_number_of_a_report(reader):
    _chapter(reader, 3)
    figure = reader.page.locator("figure.rerun-figure").first
    reader.click(figure.get_by_role("link", name="all numbers of this figure"))
    table = reader.page.locator("#tab-nht1-overheads")
    assert "Y-MP" in reader.sees(table.locator("table")) and reader.page.url.endswith("#tab-nht1-overheads")
    reader.click(table.locator(".rerun-cite > summary"))
    said = reader.sees(table.locator(".rerun-cite pre"))
    assert "RND-93-007" in said and "abstract, page 1" in said and "note = {abstract, page 1}" in said
    assert reader.clicks == 3


def test_a_steered_figure_cites_the_reports_of_what_it_shows(reader):
    _chapter(reader, 6)
    figure = reader.page.locator("figure.rerun-figure").first
    said = []
    for choice in ("rate of one program to its files", "main memory for each flop/s of peak"):
        figure.locator("select").first.select_option(label=choice)
        reader.click(figure.locator(".rerun-cite > summary"))
        said.append(reader.sees(figure.locator(".rerun-cite pre")))
        reader.click(figure.locator(".rerun-cite > summary"))
    assert "@techreport{xmp1982" in said[0] and "@misc{p5plus" not in said[0]
    assert "@techreport{xmp1982" not in said[1] and "@misc{p5plus" in said[1]


def test_an_engineer_finds_the_weakest_kernel(reader):
    reader.click(reader.page.locator('#pst-primary-sidebar a[href*="peers"]').first)
    said = reader.page.locator("article p", has_text="The weakest case is")
    assert reader.without_scrolling(said) and re.search(r"took 0\.\d+ of our time", reader.sees(said))
    reader.click(said.get_by_role("link", name="The weakest case"))
    assert reader.page.locator("figure.rerun-figure:target svg.rerun-page").is_visible() and reader.clicks == 2
