"""What strict notebook comparison leaves out, for every notebook.

Figures, tables and sentences are rendered as HTML, SVG and Markdown beside a text that says the same;
the text is compared, the rendering (with its generated ids) is not stored.
"""

RENDERED = ("text/html", "text/markdown", "image/svg+xml", "text/latex", "application/javascript")


def pytest_collectstart(collector):
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += RENDERED
