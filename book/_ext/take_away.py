"""Sphinx extension that lets a reader take things away: data as files, the source, pictures, and what to cite.

The data behind figures and tables, which a notebook carries as addresses of kind ``data:``, become files of
``_static/csv``.  Other files are made after the pages are written: every table as CSV and NetCDF, packages as one
zip (``companion.tables.download``), every claim as ``ledger.csv``, the run records, and the source as ``source.zip``.

``take_away.js`` puts the address, the picture as SVG and PNG in print colours, and the citation under each figure and
table; what it cites is put into the page.  A printed table is cited as its own source; a figure by the tables that it
draws (``companion.tables.drawn``), or that the points behind it name as theirs.
"""

import base64
import hashlib
import json
import re
import shutil
from html import unescape
from pathlib import Path

from supercomputers_rerun.companion import claims, common, tables
from supercomputers_rerun.companion.pages.front import bibtex

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
    common.write_zip(path, "supercomputers-rerun", root, sources(root))


def _write(app, exception) -> None:
    if exception is not None or app.builder.format != "html":
        return
    folder, digest = Path(app.outdir) / "_static" / "data", app.config.sources_digest
    made = Path(app.doctreedir) / "tables"  # the digest of the sources of the tables that are there
    if DATA in app.env.found_docs and not (made.is_file() and made.read_text() == digest and folder.is_dir()):
        tables.download(folder)
        made.write_text(digest)
    if RUN in app.env.found_docs:
        write_source(ROOT, Path(app.outdir) / "_static" / "source.zip")
    if any(name.startswith("notebooks/") for name in app.env.found_docs):
        shutil.copytree(ROOT / "data" / "runs", Path(app.outdir) / "_static" / "runs", dirs_exist_ok=True)
    if LEDGER in app.env.found_docs:
        common.write_text(
            folder / "ledger.csv", claims.frame().to_csv(index=False, lineterminator="\n"), overwrite=True
        )


ENTRIES = ROOT / "book" / "references.bib"
NUMBERED = re.compile(r'class="rerun-(?:figure|block)"')
DOCUMENT = re.compile(r"\d+_(\w+)$")


def entry(key: str) -> str:
    """The BibTeX entry of this key, as the bibliography has it; empty where it has none."""
    found = re.search(rf"^@\w+\{{{re.escape(key)},.*?^\}}", ENTRIES.read_text(encoding="utf-8"), re.M | re.S)
    return found.group() if found else ""


BLOCK = re.compile(r'<(?:figure|div|details)[^>]*class="rerun-(?:figure|block)"[^>]*data-name="([^"]+)"')
OFFERED = re.compile(r'href="data:text/csv;charset=utf-8;base64,([^"]+)"')


def rests_on(name: str, data: str) -> list[tuple[str, str]]:
    """The printed tables behind a figure or table: itself, those it draws, or those that its points come from."""
    document = name.partition("_")[0]
    table = name.removeprefix(f"{document}_")
    if document in tables.documents() and table in tables.names(document):
        return [(document, table)]
    anchors = dict.fromkeys(re.findall(r"/records/[^,\s]*#(tab-[\w-]+)", data))
    return [tables.by_anchor()[anchor] for anchor in anchors if anchor in tables.by_anchor()]


def cited(body: str) -> dict[str, dict[str, list[str]]]:
    """Of each figure or table of a page that rests on printed ones: where these are printed, by report."""
    found, parts = {}, BLOCK.split(body)
    for name, rest in zip(map(unescape, parts[1::2]), parts[2::2], strict=True):
        link = OFFERED.search(rest)
        document, said = name.partition("_")[0], f"<figure{rest.partition('>')[0]}>"
        behind = tables.drawn(said, document) or rests_on(name, base64.b64decode(link[1]).decode() if link else "")
        if behind and name not in found:
            found[name] = tables.places(behind)
    return found


def sources_of(pagename: str, body: str = "") -> dict:
    """What figures and tables of a page come from: the report of the page; by name the places that each rests on; and
    reports and this book as BibTeX."""
    found = DOCUMENT.search(pagename)
    document = found.group(1) if found and found.group(1) in tables.documents() else ""
    names = cited(body)
    used = {document} | {name for each in names.values() for name in each}
    reports = {name: {"citation": tables.citation(name), "entry": entry(name)} for name in sorted(used - {""})}
    return {"report": document, "book": bibtex().alt, "cited": names, "reports": reports}


def _dress(app, pagename, templatename, context, doctree) -> None:
    body = context.get("body", "")
    if pagename in (DATA, LEDGER, PEERS, REPRODUCED):
        app.add_css_file("tables.css")
    if pagename == LEDGER:
        app.add_js_file("ledger.js", loading_method="defer")
    if NUMBERED.search(body):
        about = json.dumps(sources_of(pagename, body)).replace("</", "<\\/")
        context["body"] = f'{body}<script type="application/json" id="rerun-about">{about}</script>'
        app.add_js_file("take_away.js", loading_method="defer")


def setup(app):
    app.connect("html-page-context", _dress)
    app.connect("html-page-context", _file, priority=950)  # after what reads the addresses
    app.connect("build-finished", _write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
