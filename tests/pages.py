"""How long each page of the built book is, and what of it is cut: ``python tests/pages.py``.

A screen is 1400 × 900 pixels, a phone 390 wide.  Words, figures and tables are those that show while nothing is
opened.  A figure has old and new where it draws hollow marks, as printed, and filled ones, as measured.  What is cut
is named: outputs, blocks and tables that go on beside their frame, and text of a figure outside its drawing or under
other text.
``tests/book/test_pages.py`` holds the limits.
"""

import sys
from dataclasses import dataclass, field
from math import ceil

import weights
from built import PAGES

SCREEN, PHONE = (1400, 900), (390, 844)
#: Screens of a chapter's story, and pixels of text in a figure.
SCREENS, TEXT = 10, 9.0
#: Figures that can be steered are drawn when they come into sight; here all come, as for who reads to the end.
STEERED = "() => [...document.querySelectorAll('.rerun-explorer')].filter(box => box.checkVisibility())"
COME = f"""() => {{ const waiting = ({STEERED})().filter(box => !box.matches('.is-live'));
    if (waiting.length) waiting[0].scrollIntoView(); else scrollTo(0, 0); return !waiting.length }}"""
SETTLED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 200))))"
LENGTHS = """() => {
    const article = document.querySelector('article') ?? document.body, top = article.getBoundingClientRect().top;
    const shows = (element) => element.checkVisibility({contentVisibilityAuto: true});
    const copy = article.innerText.split(/\\s+/).filter(word => /[\\p{L}\\p{N}]/u.test(word)).length;
    const drawn = [...article.querySelectorAll('figure.rerun-figure')].filter(shows);
    const words = drawn.reduce((sum, figure) => sum - [...figure.querySelectorAll('svg text')].filter(shows)
        .map(text => text.textContent.split(/\\s+/).filter(Boolean).length).reduce((a, b) => a + b, 0), copy);
    const closed = (shape) => /z\\s*$/i.test(shape.getAttribute('d') ?? '');
    const inks = (figure) => {
        const ink = getComputedStyle(figure).color, of = new Set();
        for (const shape of figure.querySelectorAll('svg use, svg path')) {
            const style = getComputedStyle(shape), target = shape.localName === 'use'
                ? figure.querySelector(shape.getAttribute('href')) : shape;
            if (!target || !closed(target) || shape.closest('defs')) continue;
            const stroke = style.stroke, full = style.fill !== 'none' && style.fillOpacity !== '0';
            if (!full && stroke !== 'none' && stroke !== ink) of.add('hollow');
            if (full && style.fill !== ink) of.add('filled');
        }
        return of;
    };
    const bottom = (figure) => ([...figure.querySelectorAll('svg')].filter(shows)
        .map(one => one.getBoundingClientRect().bottom).reduce((a, b) => Math.max(a, b), 0)) + scrollY;
    const both = drawn.find(figure => inks(figure).size === 2);
    const tables = [...article.querySelectorAll('.rerun-block, table')].filter(
        table => shows(table) && !table.parentElement.closest('.rerun-block'));
    return {height: article.getBoundingClientRect().height, words, figures: drawn.length, tables: tables.length,
        first: drawn.length ? bottom(drawn[0]) : 0, both: both ? bottom(both) : 0};
}"""
TEXTS = """() => [...document.querySelectorAll('article figure.rerun-figure svg text')].filter(
    text => text.checkVisibility() && text.textContent.trim()).map(text => {
        const matrix = text.getScreenCTM(), size = parseFloat(getComputedStyle(text).fontSize);
        return [Math.hypot(matrix.c, matrix.d) * size,
            (text.closest('figure').dataset.name ?? '') + ': ' + text.textContent.trim().slice(0, 40)];
    })"""
CUT = """() => {
    const article = document.querySelector('article') ?? document.body, out = [];
    const name = (element) => (element.closest('[data-name]')?.dataset.name
        ?? element.innerText.trim().split('\\n')[0].slice(0, 50));
    const boxes = 'pre, div.cell_output, div.rerun-table, table, math, .rerun-paragraph, aside.rerun-box, form';
    for (const element of article.querySelectorAll(boxes))
        if (element.checkVisibility() && element.clientWidth && element.scrollWidth > element.clientWidth + 1)
            out.push([element.localName + ' ' + name(element), element.scrollWidth - element.clientWidth]);
    for (const svg of article.querySelectorAll('figure.rerun-figure svg')) {
        if (!svg.checkVisibility() || svg.closest('.rerun-live')) continue;
        const frame = svg.getBoundingClientRect(), level = [];
        for (const text of svg.querySelectorAll('text')) {
            const at = text.getBoundingClientRect(), far = Math.max(frame.left - at.left, at.right - frame.right,
                frame.top - at.top, at.bottom - frame.bottom);
            if (at.width && far > 1.5)
                out.push(['text ' + name(svg) + ': ' + text.textContent.trim().slice(0, 40), far]);
            if (/rotate/.test(text.getAttribute('transform') ?? '') || !text.textContent.trim()) continue;
            for (const [other, there] of level) {
                const across = Math.min(at.right, there.right) - Math.max(at.left, there.left);
                const down = Math.min(at.bottom, there.bottom) - Math.max(at.top, there.top);
                const least = Math.min(at.width * at.height, there.width * there.height);
                if (across > 3 && down > 4 && across * down > 0.12 * least)
                    out.push(['text ' + name(svg) + ': ' + other + ' under ' + text.textContent.trim(), across]);
            }
            level.push([text.textContent.trim(), at]);
        }
    }
    return out.filter(([what], n) => out.findIndex(one => one[0] === what) === n);
}"""


@dataclass
class Page:
    """What one page of the built book measures."""

    path: str
    screens: float = 0.0
    words: int = 0
    figures: int = 0
    tables: int = 0
    #: Screens on which the first figure, and the first with old and new, are seen whole; 0 where there is none.
    first: int = 0
    both: int = 0
    weight: int = 0
    #: Pixels of the smallest text of a figure, on a screen or on a phone, and where it is.
    text: float = 0.0
    smallest: str = ""
    #: What is cut, and pixels by which, on a screen and on a phone.
    cut: list = field(default_factory=list)
    cut_phone: list = field(default_factory=list)

    @property
    def story(self) -> bool:
        """Whether the page is the story of a chapter."""
        return self.path.startswith("notebooks/")


def _seen(context, address: str):
    page = context.new_page()
    page.goto(address, wait_until="networkidle", timeout=60_000)
    page.evaluate(SETTLED)  # what scripts change by the size of the page comes with its next frames
    return page


def measure(browser, address: str, path: str) -> Page:
    """One page on a screen and on a phone.

    Parameters
    ----------
    address : str
        Of the built book, served by :class:`weights.Handler`.
    """
    found, texts = Page(path, weight=weights.visit(browser, address, path, slow=False)[0]), []
    for size in (SCREEN, PHONE):
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, device_scale_factor=1)
        try:
            page = _seen(context, address + path)
            if size is SCREEN:
                page.wait_for_function(COME, timeout=60_000)
                lengths = page.evaluate(LENGTHS)
                found.screens = lengths["height"] / SCREEN[1]
                found.first, found.both = (ceil(lengths[name] / SCREEN[1]) for name in ("first", "both"))
                found.words, found.figures, found.tables = (lengths[name] for name in ("words", "figures", "tables"))
                found.cut = page.evaluate(CUT)
            else:
                found.cut_phone = page.evaluate(CUT)
            texts += [(text, f"{where} at {size[0]} pixels") for text, where in page.evaluate(TEXTS)]
        finally:
            context.close()
    found.text, found.smallest = min(texts, default=(0.0, ""))
    return found


def over(page: Page) -> list[str]:
    """The limits that a page exceeds, one sentence each."""
    said = []
    if page.story and page.screens > SCREENS:
        said.append(f"{page.screens:.1f} screens, at most {SCREENS}")
    if page.story and page.both != 1:
        said.append(f"the first figure with old and new is whole on screen {page.both or 'none'}, not on the first")
    if page.weight >= weights.limit(page.path):
        said.append(f"a first visit transfers {page.weight / 1000:.0f} kB")
    if page.figures and page.text < TEXT:
        said.append(f"text of {page.text:.1f} pixels: {page.smallest}")
    for width, cut in ((SCREEN[0], page.cut), (PHONE[0], page.cut_phone)):
        said += [f"cut at {width} pixels by {by:.0f}: {what}" for what, by in cut]
    return said


def table(pages: list[Page]) -> str:
    """The pages as a table in Markdown."""
    heads = ["page", "screens", "words", "figures", "tables", "first figure", "old and new", "kB", "text, px"]
    heads += ["cut", "cut, phone"]
    rows = [
        (
            page.path.removesuffix(".html"), f"{page.screens:.1f}", page.words, page.figures, page.tables,
            page.first or "–", page.both or "–", f"{page.weight / 1000:.0f}", f"{page.text:.1f}" if page.text else "–",
            len(page.cut), len(page.cut_phone),
        )
        for page in pages
    ]  # fmt: skip
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in (heads, ["---"] * len(heads), *rows))


def main(names: list[str]) -> int:
    """Print the table, and what exceeds a limit, of pages whose path holds one of ``names``; status 1 if any does."""
    wanted = [path for path in PAGES if not names or any(name in path for name in names)]
    with weights.opened() as (address, browser):
        pages = [measure(browser, address, path) for path in wanted]
    print(table(pages))
    said = [f"{page.path}: {sentence}" for page in pages for sentence in over(page)]
    print("\n".join(said))
    return bool(said)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
