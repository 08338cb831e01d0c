"""Sphinx extension that puts the downloads of the book's pages into the built book.

The data behind figures and tables, which a notebook carries as addresses of kind ``data:``, become files of
``_static/csv``.  Other files are made after the pages are written: every table as CSV and NetCDF, packages as one
zip (``companion.tables.downloads``), every claim as ``ledger.csv``, and the source as ``source.zip``.  The script of
the ledger is loaded by that page alone, the style of long tables by these pages, that of peers and that of items.
"""

import base64
import hashlib
import re
from pathlib import Path

from companion import files

DATA, LEDGER, PEERS, RUN = "book/data", "book/ledger", "book/peers", "book/run"
REPRODUCED = "book/reproduced"
ROOT = Path(__file__).resolve().parent.parent.parent
#: What a build, a test run or an editor leaves in the tree.
MADE = {"_build", "__pycache__", "node_modules"}
CSV = re.compile(r'<a download="([^"]+)\.csv" href="data:text/csv;charset=utf-8;base64,([^"]+)"')


def filed(body: str, folder: Path, prefix: str) -> str:
    """``body`` with its data addresses replaced by files in ``folder``, reached through ``prefix``.

    Other data under a name that the page has used gets a number: no two of its files are saved under one name.
    """
    named: dict[str, list[bytes]] = {}

    def place(match) -> str:
        name, content = match[1], base64.b64decode(match[2])
        file = folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', name)}-{hashlib.sha256(content).hexdigest()[:8]}.csv"
        folder.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        contents = named.setdefault(name, [])
        if content not in contents:
            contents.append(content)
        copy = contents.index(content)
        return f'<a download="{name}{f"-{copy + 1}" if copy else ""}.csv" href="{prefix}{file.name}"'

    return CSV.sub(place, body)


def _file(app, pagename, templatename, context, doctree) -> None:
    if body := context.get("body"):
        prefix = "../" * pagename.count("/") + "_static/csv/"
        context["body"] = filed(body, Path(app.outdir) / "_static" / "csv", prefix)


def sources(root: Path = ROOT) -> list[Path]:
    """Every file of the source under ``root``; hidden ones only from the root itself and ``.ci``."""
    found = [path for path in root.iterdir() if path.is_file() and path.name != ".git"]
    for folder in root.iterdir():
        if folder.is_dir() and (folder.name == ".ci" or not folder.name.startswith(".")):
            found += [path for path in folder.rglob("*") if path.is_file()]
    inner = ((path, path.relative_to(root).parts) for path in found)
    return sorted(
        path
        for path, parts in inner
        if not MADE & set(parts)
        and not any(part.startswith(".") for part in parts[1:])
        and not any(part.endswith((".egg-info", ".pyc", ".tmp")) or part.startswith(".coverage") for part in parts)
    )


def write_source(root: Path, path: Path) -> None:
    """The source as one zip; programs stay executable."""
    files.write_zip(path, "supercomputers-rerun", {each.relative_to(root).as_posix(): each for each in sources(root)})


def write_ledger(path: Path) -> None:
    """Every claim as CSV, whole or not at all."""
    from companion import claims

    files.write_text(path, claims.frame().to_csv(index=False, lineterminator="\n"), overwrite=True)


def _copy_records(folder: Path) -> None:
    """The committed run records, to which points of figures lead."""
    for record in (ROOT / "data" / "runs").glob("*.json"):
        files.write_text(folder / record.name, record.read_text(encoding="utf-8"), overwrite=True)


def _write(app, exception) -> None:
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / "data"
    if DATA in app.env.found_docs:
        from companion.tables import downloads

        downloads.write(folder)
    if RUN in app.env.found_docs:
        write_source(ROOT, Path(app.outdir) / "_static" / "source.zip")
    if any(name.startswith("notebooks/") for name in app.env.found_docs):
        _copy_records(Path(app.outdir) / "_static" / "runs")
    if LEDGER in app.env.found_docs:
        write_ledger(folder / "ledger.csv")


def _dress(app, pagename, templatename, context, doctree) -> None:
    if pagename in (DATA, LEDGER, PEERS, REPRODUCED):
        app.add_css_file("tables.css")
    if pagename == LEDGER:
        app.add_js_file("ledger.js", loading_method="defer")


def setup(app):
    app.connect("html-page-context", _dress)
    app.connect("html-page-context", _file, priority=950)  # after what reads the addresses
    app.connect("build-finished", _write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
