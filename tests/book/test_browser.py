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
from drawing import contrast

pytestmark = pytest.mark.built
WIDTHS = {"phone": 360, "desktop": 1280}
#: What would be looked at again and again is taken out: the inside of pictures, which is no text to a reader of their
#: descriptions (their contrast is looked at before), and the later rows of tables, made like the first.  Then
#: colours that change slowly when the page opens come to rest.
PREPARED = """async () => {
    document.querySelectorAll('figure.rerun-figure svg').forEach(svg => svg.replaceChildren());
    document.querySelectorAll('table.rerun-data tbody tr:nth-child(n+12)').forEach(row => row.remove());
    await Promise.all(document.getAnimations().map(each => each.finished));
}"""
GRAVE = ("serious", "critical")
#: The ink of figures and tables, and the ground under each.
INKS = """() => [...document.querySelectorAll(
        'figure.rerun-figure svg, table.rerun-data td, table.rerun-data th')].filter(
    // Chromium gives a drawing no colour of its own while its fold is shut
    each => each.tagName != 'svg' || !each.closest('details:not([open])')).map(svg => {
    let ground = svg; let colour = 'rgba(0, 0, 0, 0)';
    while (ground && /, 0\\)$|transparent/.test(colour)) {
        colour = getComputedStyle(ground).backgroundColor; ground = ground.parentElement }
    return [getComputedStyle(svg).color, /, 0\\)$/.test(colour) ? 'rgb(255, 255, 255)' : colour] })"""


@pytest.fixture(scope="module")
def axe():
    return pytest.importorskip("axe_playwright_python.sync_playwright").Axe()


def grave(answer) -> list[str]:
    """Each serious or critical violation with its rule, what breaks it, and where."""
    return [
        f"{one['impact']}: {one['id']} ({one['help']}): {len(one['nodes'])} times, first"
        f" {one['nodes'][0]['html'][:200]} {one['nodes'][0].get('failureSummary', '')[:300]}"
        for one in answer.response["violations"]
        if one["impact"] in GRAVE
    ]


def asked(device: str, scheme: str) -> dict:
    """Every rule on a desktop in the light and on a phone in the dark; elsewhere those that may answer differently.

    Contrast takes most of the time and does not depend on the width, the other rules do not on the colours.
    """
    known = {("desktop", "dark"): {"type": "rule", "values": ["color-contrast"]}}
    rules = {"color-contrast": {"enabled": False}} if (device, scheme) == ("phone", "light") else {}
    only = known.get((device, scheme))
    return {"resultTypes": ["violations"], "rules": rules, **({"runOnly": only} if only else {})}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", WIDTHS)
@pytest.mark.parametrize("path", PAGES)
def test_page(browser, axe, address, path, device, scheme):
    """Nothing from elsewhere, no complaint, no sideways scroll; formulas set, pictures described, ink that contrasts,
    and nothing that axe-core calls serious or critical."""
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
        if path in CHAPTERS and device == "desktop":
            assert page.evaluate("document.documentElement.dataset.theme") == scheme
            for ink, ground in page.evaluate(INKS):
                assert contrast(ink, ground) >= 7, f"ink {ink} on {ground}"
        page.evaluate(PREPARED)
        found = grave(axe.run(page, options=asked(device, scheme)))
        assert not found, "\n".join(found)


def test_a_violation_is_seen(browser, axe):
    """The guard itself: a page with a nameless picture and pale ink is not let through."""
    page = browser.new_page()
    try:
        page.set_content('<html lang="en"><title>t</title><main><h1>T</h1><img src="x.png"><p style="color:#ddd">pale')
        rules = {line.split()[1] for line in grave(axe.run(page))}
        assert {"image-alt", "color-contrast"} <= rules
    finally:
        page.close()


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
