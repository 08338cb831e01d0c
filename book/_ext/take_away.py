"""Sphinx extension that lets a reader take figures and tables away: what to cite goes into pages that have some.

``take_away.js`` puts the address, the picture as SVG and PNG in print colours, and the citation under each.
"""

import json
import re
from pathlib import Path

from companion import tables
from companion.pages.front import bibtex

ENTRIES = Path(__file__).resolve().parent.parent / "references.bib"
NUMBERED = re.compile(r'class="rerun-(?:figure|block)"')
DOCUMENT = re.compile(r"\d+_(\w+)$")


def entry(key: str) -> str:
    """The BibTeX entry of this key, as the bibliography has it; empty where it has none."""
    found = re.search(rf"^@\w+\{{{re.escape(key)},.*?^\}}", ENTRIES.read_text(encoding="utf-8"), re.M | re.S)
    return found.group() if found else ""


def sources(pagename: str) -> dict[str, str]:
    """What a figure or table of a page comes from: the report in words and as BibTeX, and this book as BibTeX."""
    found = DOCUMENT.search(pagename)
    document = found.group(1) if found and found.group(1) in tables.documents() else ""
    return {
        "report": tables.citation(document) if document else "",
        "bibtex": "\n\n".join(filter(None, [entry(document) if document else "", bibtex().alt])),
    }


def _dress(app, pagename, templatename, context, doctree) -> None:
    body = context.get("body", "")
    if NUMBERED.search(body):
        about = json.dumps(sources(pagename)).replace("</", "<\\/")
        context["body"] = f'{body}<script type="application/json" id="rerun-about">{about}</script>'
        app.add_js_file("take_away.js", loading_method="defer")


def setup(app):
    app.connect("html-page-context", _dress)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
