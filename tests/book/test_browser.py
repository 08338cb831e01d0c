"""Every page of the built book in a real browser, with the network shut.

Needs Chromium (a Debian package of that name) and the built book.  Without them the tests are skipped,
unless RERUN_REQUIRE_BROWSER is set: then their absence is a failure.
"""

import re
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import nbformat
import pytest
from built import CHAPTERS, HTML, PAGES, Visit

pytestmark = pytest.mark.built
WIDTHS = {"phone": 360, "desktop": 1280}


def test_browser_and_book_are_there(browser, address):
    """Says in one line why the tests below have nothing to run on."""
    assert PAGES
    assert browser.version


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", WIDTHS)
@pytest.mark.parametrize("path", PAGES)
def test_page(browser, address, path, device, scheme):
    """Nothing from elsewhere, no complaint, no sideways scroll; formulas set, pictures described."""
    with Visit(browser, address, path, WIDTHS[device], scheme) as visit:
        page = visit.page
        assert not visit.foreign, "the page asks other hosts"
        assert not [text for text in visit.complaints if "favicon" not in text]
        scroll, inner = page.evaluate("() => [document.documentElement.scrollWidth, window.innerWidth]")
        assert scroll <= inner, f"the page is {scroll} pixels wide in a window of {inner}"
        formulas = page.evaluate(
            "() => [...document.querySelectorAll('.math')].filter(e => e.checkVisibility()).map(e =>"
            " e.querySelectorAll('math').length && e.getBoundingClientRect().height > 5 && !e.querySelector('merror'))"
        )
        assert all(formulas), "a formula that is not set"
        prose = page.evaluate(
            "() => { const copy = (document.querySelector('article') || document.body).cloneNode(true);"
            " copy.querySelectorAll('pre, code, script, svg, math').forEach(e => e.remove());"
            " return copy.textContent }"
        )
        left = re.search(r"\$[A-Za-z\\({][^$\n]{0,80}\$|\\(?:frac|begin|sum|text)\b", prose)
        assert not left, f"a formula that stayed text: {left.group()}"
        nameless = page.evaluate(
            '() => [...document.querySelectorAll(\'article img:not([alt]), article img[alt=""],'
            " article figure.rerun-figure svg:not([aria-label])')].map(e => e.outerHTML.slice(0, 120))"
        )
        assert not nameless, "pictures without a description"
        twice = page.evaluate(
            "() => { const ids = [...document.querySelectorAll('article svg [id]')].map(e => e.id);"
            " return ids.filter((id, n) => ids.indexOf(id) !== n) }"
        )
        assert not twice, "ids that more than one picture uses"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", CHAPTERS)
def test_figures_and_tables_stand_out_from_the_page(browser, address, path, scheme):
    """The ink of figures and tables contrasts with the ground in both schemes."""
    script = """() => [...document.querySelectorAll(
            'figure.rerun-figure svg, table.rerun-data td, table.rerun-data th')].map(svg => {
        let ground = svg; let colour = 'rgba(0, 0, 0, 0)';
        while (ground && /, 0\\)$|transparent/.test(colour)) {
            colour = getComputedStyle(ground).backgroundColor; ground = ground.parentElement }
        return [getComputedStyle(svg).color, /, 0\\)$/.test(colour) ? 'rgb(255, 255, 255)' : colour] })"""

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    with Visit(browser, address, path, WIDTHS["desktop"], scheme) as visit:
        assert visit.page.evaluate("document.documentElement.dataset.theme") == scheme
        for ink, ground in visit.page.evaluate(script):
            dark, light = sorted((luminance(ink), luminance(ground)))
            assert (light + 0.05) / (dark + 0.05) >= 7, f"ink {ink} on {ground}"


def _links(page_path: str) -> list[str]:
    text = (HTML / page_path).read_text(encoding="utf-8")
    return re.findall(r'<a\b[^>]*?\bhref="([^"]+)"', text)


@pytest.mark.parametrize("path", PAGES or [pytest.param("", marks=pytest.mark.skip(reason="no book"))])
def test_links_within_the_book_lead_somewhere(path):
    for link in _links(path):
        target, fragment = urldefrag(link)
        if urlsplit(link).scheme:
            continue
        place = urlsplit(urljoin(f"http://book/{path}", target)).path.lstrip("/") if target else path
        file = HTML / unquote(place)
        assert file.exists(), f"{path} links to {link}"
        if fragment and file.suffix == ".html" and not link.startswith("#"):
            ids = re.findall(r'\bid="([^"]+)"', file.read_text(encoding="utf-8"))
            assert unquote(fragment) in ids, f"{path} links to {link}, whose anchor is missing"


@pytest.mark.skipif(not PAGES, reason="the book is not built; run make book")
def test_every_notebook_can_be_downloaded():
    assert CHAPTERS
    for path in CHAPTERS:
        wanted = f"{Path(path).stem}.ipynb"
        links = [link for link in _links(path) if link.endswith(wanted)]
        assert links, f"{path} has no link to {wanted}"
        file = HTML / urlsplit(urljoin(f"http://book/{path}", links[0])).path.lstrip("/")
        cells = nbformat.reads(file.read_text(encoding="utf-8"), as_version=4).cells
        assert any(cell.cell_type == "code" for cell in cells), f"{links[0]} holds no notebook"


def test_the_entrance_leads_to_the_first_page(browser, address):
    with Visit(browser, address, "index.html", WIDTHS["phone"], "light") as visit:
        visit.page.wait_for_url("**/book/index.html", timeout=20_000)
        assert not visit.foreign


def test_search_finds_a_page_without_a_network(browser, address):
    with Visit(browser, address, "search.html?q=median", WIDTHS["phone"], "light") as visit:
        visit.page.wait_for_selector("#search-results li a", timeout=20_000)
        assert not visit.foreign
