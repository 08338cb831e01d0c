"""Sphinx extension that lets the search of a book in a folder, opened as files, show snippets as on a server."""

import json
import re
from pathlib import Path

#: What is no text of a page.
DRAWN = re.compile(r"<(svg|script|style|math)\b.*?</\1>", re.DOTALL)
#: Every tag but those of sections, in which the search looks for its anchors.
TAGS = re.compile(r"<(?!/?section\b)[^>]*>")
SECTION = re.compile(r'<section\b[^>]*?(?: id="([^"]*)")[^>]*>')


def text_of(page: str) -> str:
    """The text of a built page, in its sections; nothing for a page without an article."""
    start, end = page.find("<article"), page.rfind("</article>")
    if start < 0:
        return ""
    body = TAGS.sub(" ", DRAWN.sub(" ", page[start:end]))
    body = SECTION.sub(lambda found: f'<section id="{found[1]}">', body)
    words = " ".join(body.split())
    return f'<div role="main">{words}</div>'


def _write(app, exception) -> None:
    if exception is not None or app.builder.format != "html":
        return
    out, texts = Path(app.outdir), {}
    for name in sorted(app.env.found_docs):
        page = out / f"{name}.html"
        if page.is_file():
            texts[f"{name}.html"] = text_of(page.read_text(encoding="utf-8"))
    script = f"window.rerunTexts = {json.dumps(texts, ensure_ascii=False)};\n"
    (out / "_static" / "search-texts.js").write_text(script, encoding="utf-8")


def _dress(app, pagename, templatename, context, doctree) -> None:
    if pagename == "search":
        app.add_js_file("search-snippets.js")


def setup(app):
    app.connect("html-page-context", _dress)
    app.connect("build-finished", _write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
