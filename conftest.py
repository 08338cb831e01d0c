"""What strict notebook comparison leaves out, for every notebook.

Figures and tables are rendered as HTML and SVG beside a text that says the same; the text is compared,
the rendering (with its generated ids) is not stored.
"""

RENDERED = ("text/html", "image/svg+xml", "text/latex", "application/javascript")


def pytest_collectstart(collector):
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += RENDERED
