"""Sphinx extension of this book's pages: they ask nobody else for anything, and need no script to set a formula.

- The scripts of thebe, which look for a live kernel elsewhere and fail without one, are dropped.
- Formulas become MathML when the book is built, which every browser reads.
- Figures that a reader can steer have their script and style, on their pages alone, and so have marks that tell.
"""

from docutils import nodes
from latex2mathml.converter import convert

EXPLORER, MARKS = 'class="rerun-explorer"', 'class="rerun-marks"'


def _drop_scripts(app, pagename, templatename, context, doctree) -> None:
    def ours(script) -> bool:
        name, body = str(getattr(script, "filename", script) or ""), getattr(script, "attributes", {})
        return "thebe" not in name and "thebe" not in str(body.get("body", ""))

    context["script_files"][:] = [script for script in context["script_files"] if ours(script)]
    context["css_files"][:] = [
        sheet for sheet in context["css_files"] if "thebe" not in str(getattr(sheet, "filename", sheet))
    ]


def _mend(app, pagename, templatename, context, doctree) -> None:
    body = context.get("body", "")
    # entries of the bibliography as items of their list: the role that docutils gives them is none of a list's
    body = body.replace('role="doc-biblioentry"', 'role="listitem"')
    # tables of the text can be scrolled by keyboard where they are wider than a phone, as framed ones can
    context["body"] = body.replace('<table class="table"', '<table class="table" tabindex="0"')
    if EXPLORER in body:
        app.add_css_file("explorers.css")
        app.add_js_file("explorers.js", loading_method="defer")
    if MARKS in body:
        app.add_js_file("marks.js", loading_method="defer")


def mathml(source: str, display: str) -> str:
    """A formula in LaTeX as MathML."""
    return convert(source, display=display)


def _inline(self, node) -> None:
    self.body.append(f'<span class="math">{mathml(node.astext(), "inline")}</span>')
    raise nodes.SkipNode


def _block(self, node) -> None:
    self.body.append(f'<div class="math">{mathml(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def setup(app):
    app.connect("html-page-context", _drop_scripts, priority=900)
    app.connect("html-page-context", _mend)
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
