"""Sphinx extension that sets formulas when the book is built: MathML, which every browser reads without a script."""

from docutils import nodes
from latex2mathml.converter import convert


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
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
