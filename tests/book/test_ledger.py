"""The ledger of the built book in a browser: its filter, and the whole table where no script runs."""

import pytest

from supercomputers_rerun.companion import claims, items

pytestmark = pytest.mark.built
PAGE = "book/ledger.html"
#: Document, verdict and whole text of the rows that can be seen.
ROWS = """() => [...document.querySelectorAll('#ledger tbody tr')].filter(row => row.getClientRects().length)
    .map(row => [row.cells[0].textContent, row.cells[1].textContent, row.textContent])"""


@pytest.fixture(scope="module")
def frame():
    return claims.frame()


@pytest.fixture
def page(browser):
    opened = browser.new_page()
    yield opened
    opened.close()


def shown(page, number: int, total: int) -> list[list[str]]:
    """The rows that can be seen once the page says that it shows ``number``."""
    page.wait_for_function(
        "text => document.querySelector('#ledger-filter output').textContent === text",
        arg=f"{number} of {total} claims",
        timeout=10_000,
    )
    return page.evaluate(ROWS)


def test_the_filter_shows_what_is_asked_for_and_all_again(page, address, frame):
    total, complaints = len(frame), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{address}{PAGE}?document=xmp1982&verdict=not+checkable")
    chosen = frame[(frame["document"] == "xmp1982") & (frame["verdict"] == "not checkable")]
    wanted = [[items.title("xmp1982"), "not checkable"]] * len(chosen)
    assert [row[:2] for row in shown(page, len(chosen), total)] == wanted
    page.goto(f"{address}{PAGE}?document=nothing&verdict=%3Cscript%3E")  # nonsense is passed over
    shown(page, total, total)
    page.select_option("select[name=document]", "p5plus")
    page.select_option("select[name=verdict]", "contradicts")
    chosen = frame[(frame["document"] == "p5plus") & (frame["verdict"] == "contradicts")]
    wanted = [[items.title("p5plus"), "contradicts"]] * len(chosen)
    assert [row[:2] for row in shown(page, len(chosen), total)] == wanted
    page.fill("input[name=words]", "WALL-CLOCK  operations")
    page.wait_for_function(f"() => document.querySelectorAll('#ledger tbody tr:not([hidden])').length < {len(chosen)}")
    found = page.evaluate(ROWS)
    assert all("wall-clock" in row[2].lower() and "operations" in row[2].lower() for row in found)
    page.fill("input[name=words]", "no such words <b>")
    assert shown(page, 0, total) == []
    page.click("button[type=reset]")
    assert len(shown(page, total, total)) == total
    for width in (1280, 360, 320):
        page.set_viewport_size({"width": width, "height": 700})
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        inner, outer = page.evaluate(
            "() => { const frame = document.querySelector('#ledger'); return [frame.scrollWidth, frame.clientWidth] }"
        )
        assert width > 640 or inner <= outer + 1, "on a phone a claim is read without scrolling sideways"
    assert not complaints


def test_without_the_script_the_whole_table_is_there(browser, address, frame):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address + PAGE)
    assert page.locator("#ledger tbody tr").count() == len(frame)
    assert page.locator("#ledger tbody tr").last.is_visible()
    assert not page.locator("#ledger-filter").is_visible()
    context.close()
