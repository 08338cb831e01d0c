"""Sphinx extension that prints the book to two PDFs when it is built, and says on the front page where they are.

The printing is ``book/pdf.py``, in a process of its own.  It is left out where Chromium is not there, and where no
page has changed since the last one.
"""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

from sphinx.util import logging

FRONT = "book/index"
PROGRAM = Path(__file__).resolve().parent.parent / "pdf.py"
PLACE = re.compile(r'<p class="rerun-pdf">.*?</p>', re.DOTALL)
FILES = {"supercomputers-rerun.pdf": "The chapters as a PDF", "supercomputers-rerun-records.pdf": "their records"}
SECONDS = 400
logger = logging.getLogger(__name__)


def digest(html: Path) -> str:
    """Over every page and the sheets of style, without what this extension writes itself."""
    total = hashlib.sha256(PROGRAM.read_bytes())
    for path in sorted([*html.glob("*/*.html"), *(html / "_static").glob("*.css")]):
        total.update(path.name.encode() + PLACE.sub("", path.read_text(encoding="utf-8")).encode())
    return total.hexdigest()


def _print(html: Path, paths: list[Path], note: Path) -> str | None:
    """Make the PDFs unless they are there; a sentence if they cannot be made."""
    now = digest(html)
    if all(path.is_file() for path in paths) and note.is_file() and note.read_text() == now:
        return None
    for path in paths:
        path.unlink(missing_ok=True)
    try:
        done = subprocess.run(
            [sys.executable, str(PROGRAM), str(html)], capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"Chromium had not printed it after {SECONDS} seconds"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["Chromium failed"])[-1].removeprefix("pdf: no PDF was made: ")
    note.write_text(now)
    return None


def _finish(app, exception) -> None:
    if exception is not None or app.builder.format != "html" or FRONT not in app.env.found_docs:
        return
    html = Path(app.outdir)
    front, paths = html / f"{FRONT}.html", [html / "_static" / name for name in FILES]
    text = front.read_text(encoding="utf-8")
    if not PLACE.search(text):
        return
    reason = _print(html, paths, html.parent / ".pdf-digest")
    if reason:
        logger.info("the book has no PDF: %s", reason)
        said = "This copy of the book has no PDF. <code>make book</code> makes one where Chromium is installed."
    else:
        links = [f'<a href="../_static/{p.name}">{FILES[p.name]}</a> ({p.stat().st_size / 1e6:.0f} MB)' for p in paths]
        said = f"{' and '.join(links)}, to print or to keep."
    front.write_text(PLACE.sub(f'<p class="rerun-pdf">{said}</p>', text), encoding="utf-8")


def setup(app):
    app.connect("build-finished", _finish, priority=950)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
