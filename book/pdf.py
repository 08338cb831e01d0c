"""The book as two PDFs, its chapters and their records: ``python book/pdf.py book/_build/html``.

The built pages of each are put one after the other into one page, which Chromium prints: links between pages lead from
place to place, headings become the outline and, with the numbers of their sheets, the contents.  In the chapters folded
code and small runs are left out; in the records all folded parts are open.  ``make book`` does this at its end where
Chromium is there (``_ext/paper.py``); without it the book has no PDF and its front page says so.
"""

import re
import sys
from html import escape
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

from companion.host import chromium

CHAPTERS, RECORDS = "supercomputers-rerun.pdf", "supercomputers-rerun-records.pdf"
TITLES = {CHAPTERS: "Supercomputers, Rerun", RECORDS: "Supercomputers, Rerun: the records"}
#: Pages of the first file; the second has all others.
STORIES = re.compile(r"notebooks/|book/(?:index|run|methods|glossary|bibliography)\.html$")
#: What the first file leaves out: folded code, and what a page ran itself at small size.
BEHIND = "details.hide, details.rerun-fold:not(.rerun-answer), .rerun-more, .rerun-reading a"
SHEETS = ("basic.css", "styles/pydata-sphinx-theme.css", "styles/sphinx-book-theme.css", "pygments.css")
OWN_SHEETS = ("rerun.css", "icons.css", "tables.css", "explorers.css")
#: What a sheet of paper has no use for.
DROPPED = "script, button, form.rerun-filter, a.headerlink, .rerun-live, .copybtn, p.rerun-pdf, .toctree-wrapper"
STYLE = """
.rerun-page { break-before: page; } .rerun-page:first-of-type { break-before: auto; }
h1 { display: block !important; }
.rerun-contents ol { list-style: none; padding: 0; } .rerun-contents ol ol { padding-left: 1.5em; }
.rerun-contents li > a { display: flex; justify-content: space-between; color: inherit; text-decoration: none; }
.rerun-contents li li { font-size: 0.9em; }
body { margin: 0; } .bd-article { padding: 0 !important; } article { max-width: 100%; }
"""
FOOTER = (
    '<div style="font: 8px sans-serif; width: 100%; text-align: center; color: #555">'
    '<span class="pageNumber"></span></div>'
)
#: A4 as the style says, headings as the outline, tags for screen readers, page numbers.
PRINTED = {
    "prefer_css_page_size": True,
    "print_background": True,
    "outline": True,
    "tagged": True,
    "display_header_footer": True,
    "header_template": "<span></span>",
    "footer_template": FOOTER,
}
MILLISECONDS = 180_000


def lacking() -> str | None:
    """Why no PDF can be made here, in one sentence, or None."""
    if chromium.executable() is None:
        return "Chromium, which prints it, was not there when this copy was built; install the package chromium"
    try:
        import playwright  # noqa: F401
    except ImportError:
        return "Playwright, which drives Chromium, was not there when this copy was built; install the lock"
    return None


def order(html: Path, name: str = CHAPTERS) -> list[str]:
    """Pages of one file as the book's contents list them."""
    from bs4 import BeautifulSoup

    first = "book/index.html"
    soup = BeautifulSoup((html / first).read_text(encoding="utf-8"), "lxml")
    pages = [first]
    for link in soup.select(".bd-links a.reference.internal[href]"):
        page = urljoin(first, urldefrag(link["href"])[0])
        if page and page not in pages and (html / page).is_file():
            pages.append(page)
    return [page for page in pages if bool(STORIES.match(page)) == (name == CHAPTERS)]


def slug(page: str) -> str:
    """What the ids of a page begin with."""
    return re.sub(r"[^A-Za-z0-9]+", "-", page.removesuffix(".html"))


def _address(page: str, target: str, pages: list[str]) -> str | None:
    """Where a link of ``page`` leads in the printed book; None where it leads to a file beside it."""
    if re.match(r"[a-z]+:", target):
        return target
    place, fragment = urldefrag(target)
    other = unquote(urljoin(page, place.partition("?")[0])) if place else page
    if other not in pages:
        return None
    return f"#{slug(other)}--{fragment}" if fragment else f"#{slug(other)}"


def article(text: str, page: str, pages: list[str], dropped: str = DROPPED) -> str:
    """The article of a page, with ids that no other page has and links that lead within the file."""
    from bs4 import BeautifulSoup

    own = f"{slug(page)}--"
    found = BeautifulSoup(text, "lxml").select_one("article.bd-article")
    if found is None:
        return ""
    for useless in found.select(dropped):
        useless.decompose()
    for element in found.find_all(True):
        attributes = element.attrs
        for name in ("id", "for", "aria-labelledby", "aria-describedby"):
            if attributes.get(name):
                attributes[name] = " ".join(own + word for word in str(attributes[name]).split())
        for name, value in attributes.items():
            if isinstance(value, str) and "url(#" in value:
                attributes[name] = value.replace("url(#", f"url(#{own}")
        target = attributes.get("href")
        if element.name == "a" and target:
            place = _address(page, target, pages)
            if place is None:
                del attributes["href"]
            else:
                attributes["href"] = place
        elif target and target.startswith("#"):
            attributes["href"] = f"#{own}{target[1:]}"
        if element.name == "details":
            attributes["open"] = ""
    # a section may begin on the sheet before its heading, which the outline names
    for number, heading in enumerate(found.select("h1, h2")):
        heading["id"] = f"{own}heading-{number}"
    return f'<section class="rerun-page" id="{slug(page)}">{found}</section>'


def whole(html: Path, name: str = CHAPTERS, sheets: dict[str, int] | None = None) -> str:
    """All pages of one file as one page, for a file in ``html/book``; ``sheets`` as for :func:`contents`."""
    pages, dropped = order(html, name), f"{DROPPED}, {BEHIND}" if name == CHAPTERS else DROPPED
    styles = [sheet for sheet in (*SHEETS, *OWN_SHEETS) if (html / "_static" / sheet).is_file()]
    styles += [path.name for path in (html / "_static").glob("mystnb.*.css")]
    links = "".join(f'<link rel="stylesheet" href="../_static/{sheet}">' for sheet in styles)
    articles = [article((html / page).read_text(encoding="utf-8"), page, pages, dropped) for page in pages]
    # the front page comes before the contents
    first, rest = ("", articles) if name != CHAPTERS else (articles[0], articles[1:])
    body = "".join([first, contents("".join(articles), sheets or {}), *rest])
    return (
        '<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head><meta charset="utf-8">'
        f"<title>{TITLES[name]}</title>{links}<style>{STYLE}</style></head>"
        f'<body><main class="bd-main"><div class="bd-content"><div class="bd-article-container">'
        f'<div class="bd-article">{body}</div></div></div></main></body></html>'
    )


def contents(articles: str, sheets: dict[str, int]) -> str:
    """Headings of the first two levels with the number of their sheet, where ``sheets`` has it by the heading's id."""
    from bs4 import BeautifulSoup

    lines, depth = [], 0
    for heading in BeautifulSoup(articles, "lxml").select("h1, h2"):
        level, identity = int(heading.name[1]), heading["id"]
        lines += ["<ol>"] * (level - depth) + ["</ol>"] * (depth - level)
        depth = level
        words = escape(" ".join(heading.get_text().rstrip("#").split()))
        number = sheets.get(identity, "")
        lines.append(f'<li><a href="#{identity}"><span>{words}</span> <span>{number}</span></a></li>')
    return f'<nav class="rerun-page rerun-contents"><h1>Contents</h1>{"".join(lines)}{"</ol>" * depth}</nav>'


def sheets_of(path: Path) -> dict[str, int]:
    """The number of the sheet on which each place of a printed file begins, by its id."""
    import pikepdf

    with pikepdf.open(path) as document:
        numbers = {page.obj.objgen: number for number, page in enumerate(document.pages, 1)}
        places = document.Root.get("/Dests", {})
        return {str(name)[1:]: numbers[target[0].objgen] for name, target in places.items()}


def headings(text: str) -> list[str]:
    """The headings of a page in their order, as Chromium makes the outline of them."""
    from bs4 import BeautifulSoup

    found = BeautifulSoup(text, "lxml").select("h1, h2, h3, h4, h5, h6")
    return [" ".join(heading.get_text().split()) for heading in found]


def mended(path: Path, titles: list[str]) -> None:
    """Give the outline of the file the words of the headings, and pack it.

    Chromium joins the lines of a heading without a space, and repeats one that it sets twice at the end of a sheet.

    Raises
    ------
    ValueError
        If the outline has not one entry for each heading.
    """
    import pikepdf

    def entries(items):
        for item in items:
            yield item
            yield from entries(item.children)

    with pikepdf.open(path, allow_overwriting_input=True) as document:
        with document.open_outline() as outline:
            found = list(entries(outline.root))
            if len(found) != len(titles):
                raise ValueError(f"the outline has {len(found)} entries for {len(titles)} headings")
            for item, title in zip(found, titles, strict=True):
                item.title = title
        document.save(path, object_stream_mode=pikepdf.ObjectStreamMode.generate)


def write(html: Path, name: str) -> Path:
    """Print one of the two files of the book in ``html``, whole or not at all; its path.

    It is printed twice, the second time with the numbers of sheets in its contents.
    """
    from playwright.sync_api import sync_playwright

    path, page_file = html / "_static" / name, html / "book" / "_print.html"
    temporary = path.with_suffix(".tmp")
    try:
        with sync_playwright() as playwright:
            launched = playwright.chromium.launch(
                executable_path=chromium.executable(), headless=True, args=chromium.FLAGS
            )
            try:
                page = launched.new_page(java_script_enabled=False, color_scheme="light")
                page.set_default_timeout(MILLISECONDS)
                sheets: dict[str, int] = {}
                for _ in range(2):
                    text = whole(html, name, sheets)
                    page_file.write_text(text, encoding="utf-8")
                    page.goto(page_file.resolve().as_uri(), wait_until="load")
                    page.pdf(path=temporary, **PRINTED)
                    sheets = sheets_of(temporary)
            finally:
                launched.close()
        mended(temporary, headings(text))
        temporary.replace(path)
    finally:
        for left in (page_file, temporary):
            left.unlink(missing_ok=True)
    return path


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("pdf: name the folder of the built book, book/_build/html")
    folder = Path(sys.argv[1])
    reason = lacking() or (None if (folder / "book" / "index.html").is_file() else f"{folder} holds no built book")
    if reason:
        sys.exit(f"pdf: no PDF was made: {reason}")
    for each in TITLES:
        print(write(folder, each))
