"""The whole book as one PDF: ``python book/pdf.py book/_build/html``.

The built pages are put one after the other into one page, which Chromium prints: links between pages lead from place
to place, headings become the outline, and folded parts are open.  ``make book`` does this at its end where Chromium
is there (``_ext/paper.py``); without it the book has no PDF and its front page says so.
"""

import re
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

from companion.host import chromium

NAME = "supercomputers-rerun.pdf"
SHEETS = ("basic.css", "styles/pydata-sphinx-theme.css", "styles/sphinx-book-theme.css", "pygments.css")
OWN_SHEETS = ("rerun.css", "icons.css", "tables.css", "explorers.css")
#: What a sheet of paper has no use for.
DROPPED = "script, button, form.rerun-filter, a.headerlink, .rerun-live, .copybtn, p.rerun-pdf, .toctree-wrapper"
STYLE = """
.rerun-page { break-before: page; } .rerun-page:first-of-type { break-before: auto; }
h1 { display: block !important; }
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


def order(html: Path) -> list[str]:
    """Pages as the contents list them, the front page first."""
    from bs4 import BeautifulSoup

    first = "book/index.html"
    soup = BeautifulSoup((html / first).read_text(encoding="utf-8"), "lxml")
    pages = [first]
    for link in soup.select(".bd-links a.reference.internal[href]"):
        page = urljoin(first, urldefrag(link["href"])[0])
        if page and page not in pages and (html / page).is_file():
            pages.append(page)
    return pages


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


def article(text: str, page: str, pages: list[str]) -> str:
    """The article of a page, with ids that no other page has and links that lead within the book."""
    from bs4 import BeautifulSoup

    own = f"{slug(page)}--"
    found = BeautifulSoup(text, "lxml").select_one("article.bd-article")
    if found is None:
        return ""
    for useless in found.select(DROPPED):
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
    return f'<section class="rerun-page" id="{slug(page)}">{found}</section>'


def whole(html: Path) -> str:
    """All pages as one, for a file in ``html/book``."""
    pages = order(html)
    sheets = [name for name in (*SHEETS, *OWN_SHEETS) if (html / "_static" / name).is_file()]
    sheets += [path.name for path in (html / "_static").glob("mystnb.*.css")]
    links = "".join(f'<link rel="stylesheet" href="../_static/{name}">' for name in sheets)
    body = "".join(article((html / page).read_text(encoding="utf-8"), page, pages) for page in pages)
    return (
        '<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head><meta charset="utf-8">'
        f"<title>Supercomputers, Rerun</title>{links}<style>{STYLE}</style></head>"
        f'<body><main class="bd-main"><div class="bd-content"><div class="bd-article-container">'
        f'<div class="bd-article">{body}</div></div></div></main></body></html>'
    )


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


def write(html: Path, path: Path) -> None:
    """Print the book in ``html`` to ``path``, whole or not at all."""
    from playwright.sync_api import sync_playwright

    page_file, temporary = html / "book" / "_print.html", path.with_suffix(".tmp")
    try:
        text = whole(html)
        page_file.write_text(text, encoding="utf-8")
        with sync_playwright() as playwright:
            launched = playwright.chromium.launch(
                executable_path=chromium.executable(), headless=True, args=chromium.FLAGS
            )
            try:
                page = launched.new_page(java_script_enabled=False, color_scheme="light")
                page.set_default_timeout(MILLISECONDS)
                page.goto(page_file.resolve().as_uri(), wait_until="load")
                page.pdf(path=temporary, **PRINTED)
            finally:
                launched.close()
        mended(temporary, headings(text))
        temporary.replace(path)
    finally:
        for left in (page_file, temporary):
            left.unlink(missing_ok=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("pdf: name the folder of the built book, book/_build/html")
    folder = Path(sys.argv[1])
    reason = lacking() or (None if (folder / "book" / "index.html").is_file() else f"{folder} holds no built book")
    if reason:
        sys.exit(f"pdf: no PDF was made: {reason}")
    write(folder, folder / "_static" / NAME)
    print(folder / "_static" / NAME)
