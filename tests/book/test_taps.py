"""What a reader taps on a phone: both menus, downloads, paper."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from built import HTML, absent

pytestmark = pytest.mark.built
CHAPTER = "notebooks/03_nht1.html"
WIDTHS = [360, 800, 1100]


@pytest.fixture
def reader(browser, address):
    """Opens a page as a phone or tablet shows it, with fingers; collects complaints."""
    opened = []

    def open_page(path: str, width: int = 360):
        context = browser.new_context(
            viewport={"width": width, "height": 780}, has_touch=True, is_mobile=width < 600, accept_downloads=True
        )
        opened.append(context)
        page = context.new_page()
        page.goto(address + path, wait_until="load")
        return page

    yield open_page
    for context in opened:
        context.close()


def _shown(page, selector: str):
    """The one element of these that shows."""
    found = [element for element in page.query_selector_all(selector) if element.is_visible()]
    assert len(found) == 1, f"{len(found)} of {selector} show"
    return found[0]


@pytest.mark.parametrize("width", [360, 800])
def test_the_contents_button_opens_the_contents_and_a_chapter_can_be_chosen(reader, width):
    page = reader(CHAPTER, width)
    _shown(page, ".primary-toggle").tap()
    page.wait_for_selector("#pst-primary-sidebar-modal[open]")
    page.locator('#pst-primary-sidebar-modal a[href*="04_p5plus"]').first.tap()
    page.wait_for_url("**/04_p5plus.html")


@pytest.mark.parametrize("width", WIDTHS)
def test_the_contents_of_the_page_open_and_lead_to_a_section(reader, width):
    page = reader(CHAPTER, width)
    _shown(page, ".secondary-toggle").tap()
    page.wait_for_selector("#pst-secondary-sidebar-modal[open]")
    link = page.locator("#pst-secondary-sidebar-modal nav a").nth(2)
    wanted = link.get_attribute("href")
    link.tap()
    page.wait_for_function("hash => location.hash === hash", arg=wanted)
    page.wait_for_selector("#pst-secondary-sidebar-modal[open]", state="detached")


def test_search_in_a_folder_finds_pages(browser):
    """The book opened as files, without any server."""
    page_file = HTML / "search.html"
    if not page_file.is_file():
        absent("the book is not built, so its search is not tested; run make book")
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(f"{page_file.as_uri()}?q=median")
        page.wait_for_selector("#search-results li a", timeout=20_000)
    finally:
        context.close()


def test_a_figures_data_and_the_notebook_are_downloaded(reader):
    page = reader(CHAPTER)
    link = page.locator("a[download$='.csv']").first
    with page.expect_download() as waiting:
        link.tap()
    first = Path(waiting.value.path()).read_text(encoding="utf-8").splitlines()
    assert len(first) > 1 and "," in first[0]
    _shown(page, ".dropdown-download-buttons > button").tap()
    assert page.locator(".dropdown-download-buttons a[href$='.ipynb']").first.is_visible()


def test_a_figure_is_taken_away_with_its_source_and_cited(reader):
    page = reader(CHAPTER, 1400)
    figure = page.locator("figure.rerun-figure:has(svg)").first
    saved = {}
    for form in ("SVG", "PNG"):
        with page.expect_download() as waiting:
            figure.get_by_role("button", name=form).click()
        saved[form] = Path(waiting.value.path()).read_bytes()
    drawn = ElementTree.fromstring(saved["SVG"])
    assert "RND-93-007" in "".join(drawn.itertext()) and b"currentColor" not in saved["SVG"]
    assert saved["PNG"].startswith(b"\x89PNG") and len(saved["PNG"]) > 5000
    figure.locator(".rerun-cite summary").click()
    words = figure.locator(".rerun-cite pre").inner_text()
    assert "@techreport{nht1," in words and f"{CHAPTER}#{figure.get_attribute('id')}" in words


def test_on_paper_tables_are_whole_and_dark_pages_are_readable(browser, address):
    """The ledger prints every row; nothing is wider than the sheet; text is dark on white after a dark screen."""
    context = browser.new_context(viewport={"width": 690, "height": 980}, color_scheme="dark")
    try:
        for path in ("book/ledger.html", CHAPTER):
            page = context.new_page()
            page.goto(address + path, wait_until="load")
            page.emulate_media(media="print")
            cut = page.evaluate(
                "() => [...document.querySelectorAll('div.rerun-table')].filter(e =>"
                " e.scrollHeight > e.clientHeight + 2 || e.scrollWidth > e.clientWidth + 2).map(e => e.ariaLabel)"
            )
            assert not cut, f"{path}: cut on paper: {cut}"
            inks = page.evaluate(
                "() => [...document.querySelectorAll('article :is(h1, h2, h3, p, td)')].slice(0, 400).map(e =>"
                " getComputedStyle(e).color)"
            )
            bright = [ink for ink in inks if sum(map(int, re.findall(r"\d+", ink)[:3])) > 330]
            assert not bright, f"{path}: {bright[:3]} on paper"
    finally:
        context.close()


@pytest.mark.parametrize("path", [CHAPTER, "book/recipe.html"])
def test_on_paper_a_page_has_its_title_and_readable_captions_and_nothing_to_press(browser, address, path):
    context = browser.new_context(viewport={"width": 690, "height": 980}, color_scheme="dark")
    try:
        page = context.new_page()
        page.goto(address + path, wait_until="load")
        page.emulate_media(media="print")
        titles = page.locator("article h1")
        assert titles.first.is_visible() and sum(title.is_visible() for title in titles.all()) == 1
        shown = page.evaluate(
            "() => [...document.querySelectorAll('button, input, select, .headerlink')].filter(e =>"
            " e.checkVisibility()).map(e => e.outerHTML.slice(0, 120))"
        )
        assert shown == []
        assert "Show code" not in page.locator("body").inner_text()
        captions = page.evaluate(
            "() => [...document.querySelectorAll('article :is(figcaption, .rerun-caption, .code-block-caption)')]"
            ".filter(e => e.checkVisibility()).map(e => { const style = getComputedStyle(e);"
            " return [e.innerText.slice(0, 40), style.color, style.opacity, parseFloat(style.fontSize)]; })"
        )
        assert len(captions) > 5
        dim = [each for each in captions if sum(map(int, re.findall(r"\d+", each[1])[:3])) > 330 or each[2] != "1"]
        assert not dim, f"{path}: {dim[:3]} on paper"
        assert min(size for *_, size in captions) > 8  # pixels, of which a point has 4/3
    finally:
        context.close()
