"""Sphinx extension that gives the figures that a reader can steer their script and style, on their pages alone."""

MARK = 'class="rerun-explorer"'


def _dress(app, pagename, templatename, context, doctree) -> None:
    if MARK in context.get("body", ""):
        app.add_css_file("explorers.css")
        app.add_js_file("explorers.js", loading_method="defer")


def setup(app):
    app.connect("html-page-context", _dress)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
