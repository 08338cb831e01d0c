"""Sphinx extension that puts the downloads of the data page and of the ledger into the built book.

The files are made from ``data/`` after the pages are written: every table as CSV and NetCDF and the
package as one zip (``companion.tables.downloads``), and every claim as ``ledger.csv``.  The script of
the ledger is loaded by that page alone, the style of long tables by these pages that of peers and that of items.
"""

import os
from pathlib import Path

DATA, LEDGER, PEERS, REPRODUCED = "book/data", "book/ledger", "book/peers", "book/reproduced"


def write_ledger(path: Path) -> None:
    """Every claim as CSV, written beside ``path`` and moved."""
    from companion import claims

    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        claims.frame().to_csv(temporary, index=False, lineterminator="\n")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _write(app, exception) -> None:
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / "data"
    if DATA in app.env.found_docs:
        from companion.tables import downloads

        downloads.write(folder)
    if LEDGER in app.env.found_docs:
        folder.mkdir(parents=True, exist_ok=True)
        write_ledger(folder / "ledger.csv")


def _dress(app, pagename, templatename, context, doctree) -> None:
    if pagename in (DATA, LEDGER, PEERS, REPRODUCED):
        app.add_css_file("tables.css")
    if pagename == LEDGER:
        app.add_js_file("ledger.js", loading_method="defer")


def setup(app):
    app.connect("html-page-context", _dress)
    app.connect("build-finished", _write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
