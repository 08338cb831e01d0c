"""How long pages of the built book are, what is on their first screen, and that nothing of them is cut."""

import pytest
from built import PAGES, served

pytestmark = pytest.mark.built
pages = pytest.importorskip("pages")


@pytest.fixture(scope="module")
def packed():
    """Base address of the book as a server sends it, packed."""
    with served(pages.weights.Handler) as base:
        yield base


@pytest.mark.parametrize("path", PAGES)
def test_a_page_keeps_its_limits(browser, packed, path):
    found = pages.measure(browser, packed, path)
    assert found.words > 30 and found.weight > 0
    assert not pages.over(found)


def page(**named):
    """A story that keeps all limits, but for what is named."""
    usual = {"screens": 9.9, "figures": 7, "first": 1, "both": 1, "weight": 599_999, "text": 9.1}
    return pages.Page("notebooks/01_x.html", **(usual | named))


@pytest.mark.parametrize(
    ("named", "word"),
    [
        ({"screens": 10.2}, "10.2 screens"),
        ({"both": 2}, "on screen 2"),
        ({"both": 0}, "on screen none"),
        ({"weight": 600_000}, "600 kB"),
        ({"text": 8.9, "smallest": "a: b"}, "8.9 pixels: a: b"),
        ({"cut": [("pre a", 12)]}, "cut at 1400 pixels by 12: pre a"),
        ({"cut_phone": [("pre b", 2)]}, "cut at 390 pixels by 2: pre b"),
    ],
)
def test_what_exceeds_a_limit_is_said(named, word):
    assert not pages.over(page())
    (said,) = pages.over(page(**named))
    assert word in said


CUT = """<article><p>w</p><pre style="width: 60px; overflow: auto">{long}</pre>
<figure class="rerun-figure" data-name="f"><svg viewBox="0 0 100 50" width="100">
<text x="{x}" y="20" font-size="10">label</text><text x="60" y="20" font-size="10">a b</text>
{shapes}</svg></figure></article>"""
HOLLOW, FILLED = (
    '<path style="fill:none;stroke:#00f" d="M0 0L9 0L9 9z"/>',
    '<path style="fill:#f00" d="M0 0L9 0L9 9z"/>',
)


@pytest.mark.parametrize(
    ("long", "x", "cut"),
    [
        ("a", 5, []),
        ("a" * 40, 5, ["pre aaaa"]),
        ("a", 90, ["text f: label"]),
        ("a" * 40, -20, ["pre aaaa", "text f"]),
        ("a", 50, ["text f: label under a b"]),
    ],
)
def test_a_block_and_a_label_that_are_cut_are_found(browser, long, x, cut):
    opened = browser.new_page()
    opened.set_content(CUT.format(long=long, x=x, shapes=""))
    found = opened.evaluate(pages.CUT)
    opened.close()
    assert len(found) == len(cut) and all(what.startswith(start) for (what, _), start in zip(found, cut, strict=True))


@pytest.mark.parametrize(
    ("shapes", "both"),
    [(HOLLOW, False), (FILLED, False), (HOLLOW + FILLED, True), ("<path d='M0 0L9 9'/>", False)],
)
def test_a_figure_with_old_and_new_has_hollow_and_filled_marks(browser, shapes, both):
    opened = browser.new_page()
    opened.set_content(CUT.format(long="a", x=5, shapes=shapes))
    found = opened.evaluate(pages.LENGTHS)
    opened.close()
    assert found["figures"] == 1 and found["first"] > 0 and (found["both"] > 0) is both
