"""The search page: what its results say of a page, and where the words that were searched for are marked."""

import pytest

pytestmark = pytest.mark.built
CHAPTER, NEXT = "notebooks/04_p5plus.html", "book/methods.html"
#: What the search takes for the text of a page, beside its last paragraph and first listing, and cells of a table.
SAID = """async (path) => {
  const html = await (await fetch(path)).text();
  const main = new DOMParser().parseFromString(html, "text/html").querySelector("[role=main]");
  const plain = (one) => one.textContent.replace(/\\s+/g, " ").trim();
  const row = [...main.querySelectorAll("table.rerun-data tbody tr")].find((one) => one.cells.length > 2);
  return {
    said: Search.htmlToText(html),
    prose: [...main.querySelectorAll("section > p")].map(plain).findLast((text) => text.length > 60).slice(0, 50),
    code: plain(main.querySelector("div.cell_input pre")).slice(0, 50),
    cells: [...row.cells].slice(0, 3).map(plain),
    terms: Search.htmlToText("<table><td>cell</td></table><dl><dt>term</dt><dd>Words.</dd></dl>"),
  };
}"""


@pytest.fixture
def page(browser, address):
    context = browser.new_context()
    yield context.new_page()
    context.close()


def _search(page, address: str, word: str) -> None:
    page.goto(f"{address}search.html?q={word}", wait_until="load")
    page.wait_for_selector("#search-results li p.context", timeout=20_000)


def test_results_say_prose_before_code_and_keep_cells_apart(page, address):
    _search(page, address, "threads")
    found = page.evaluate(SAID, CHAPTER)
    said = found["said"]
    assert 0 <= said.find(found["prose"]) < said.find(found["code"])
    assert " \u00b7 ".join(found["cells"]) in said.replace(" \u00b7  \u00b7 ", " \u00b7 ")
    assert found["terms"].split() == ["term", "\u00b7", "Words.", "cell", "\u00b7"]
    texts = [said, *page.locator("#search-results li").all_inner_texts()]
    assert not [text for text in texts if "code cell source" in text or "Show code" in text]


def test_marks_stand_on_the_page_that_was_chosen_and_on_no_other(page, address):
    _search(page, address, "threads")
    page.locator(f"#search-results li a[href*='{CHAPTER}']").first.click()
    page.wait_for_url(f"**/{CHAPTER}*")
    page.wait_for_selector("span.highlighted", state="attached", timeout=20_000)
    page.goto(address + NEXT, wait_until="load")
    assert page.locator("span.highlighted").count() == 0
    _search(page, address, "threads")  # and nothing chosen
    page.goto(address + NEXT, wait_until="load")
    assert "threads" in page.locator("[role=main]").inner_text()
    assert page.locator("span.highlighted").count() == 0
