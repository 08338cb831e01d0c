"""Sphinx extension that lets a reader take figures and tables away: what to cite goes into pages that have some.

``take_away.js`` puts the address, the picture as SVG and PNG in print colours, and the citation under each.  A printed
table is cited as its own source; a figure by the tables that it draws (``companion.drawn``), or that the points behind
it name as theirs.
"""

import base64
import json
import re
from html import unescape
from pathlib import Path

from companion import drawn, tables
from companion.pages.front import bibtex

ENTRIES = Path(__file__).resolve().parent.parent / "references.bib"
NUMBERED = re.compile(r'class="rerun-(?:figure|block)"')
DOCUMENT = re.compile(r"\d+_(\w+)$")


def entry(key: str) -> str:
    """The BibTeX entry of this key, as the bibliography has it; empty where it has none."""
    found = re.search(rf"^@\w+\{{{re.escape(key)},.*?^\}}", ENTRIES.read_text(encoding="utf-8"), re.M | re.S)
    return found.group() if found else ""


BLOCK = re.compile(r'<(?:figure|div|details)[^>]*class="rerun-(?:figure|block)"[^>]*data-name="([^"]+)"')
DATA = re.compile(r'href="data:text/csv;charset=utf-8;base64,([^"]+)"')


def rests_on(name: str, data: str) -> list[tuple[str, str]]:
    """The printed tables behind a figure or table: itself, those it draws, or those that its points come from."""
    document = name.partition("_")[0]
    table = name.removeprefix(f"{document}_")
    if document in tables.documents():
        if table in tables.names(document):
            return [(document, table)]
        if name in (known := drawn.register(document)):
            return list(known[name])
    anchors = dict.fromkeys(re.findall(r"/records/[^,\s]*#(tab-[\w-]+)", data))
    return [drawn.by_anchor()[anchor] for anchor in anchors if anchor in drawn.by_anchor()]


def cited(body: str) -> dict[str, dict[str, list[str]]]:
    """Of each figure or table of a page that rests on printed ones: where these are printed, by report."""
    found, parts = {}, BLOCK.split(body)
    for name, rest in zip(map(unescape, parts[1::2]), parts[2::2], strict=True):
        link = DATA.search(rest)
        document, said = name.partition("_")[0], f"<figure{rest.partition('>')[0]}>"
        behind = drawn.said(said, document) or rests_on(name, base64.b64decode(link[1]).decode() if link else "")
        if behind and name not in found:
            found[name] = drawn.places(behind)
    return found


def sources(pagename: str, body: str = "") -> dict:
    """What figures and tables of a page come from: the report of the page; by name the places that each rests on; and
    reports and this book as BibTeX."""
    found = DOCUMENT.search(pagename)
    document = found.group(1) if found and found.group(1) in tables.documents() else ""
    names = cited(body)
    used = {document} | {name for each in names.values() for name in each}
    reports = {name: {"citation": tables.citation(name), "entry": entry(name)} for name in sorted(used - {""})}
    return {"report": document, "book": bibtex().alt, "cited": names, "reports": reports}


def _dress(app, pagename, templatename, context, doctree) -> None:
    body = context.get("body", "")
    if NUMBERED.search(body):
        about = json.dumps(sources(pagename, body)).replace("</", "<\\/")
        context["body"] = f'{body}<script type="application/json" id="rerun-about">{about}</script>'
        app.add_js_file("take_away.js", loading_method="defer")


def setup(app):
    app.connect("html-page-context", _dress)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
