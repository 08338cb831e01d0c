"""``companion check REPORT``: what the chapter of a report lacks or breaks, a sentence each.

The order is that in which a chapter is written: tables, claims, items, experiments, notebook, record.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from supercomputers_rerun import HOME
from supercomputers_rerun.companion import chapters, claims, experiments, items, notebook_files, tables
from supercomputers_rerun.companion.claims.verdicts import NOT_CHECKABLE
from supercomputers_rerun.companion.common import Unavailable

#: What a notebook calls, and what the reader misses where it does not.
_CALLS = {
    "figures.box(": "the box that opens a chapter",
    "figures.document_tables(": "the printed tables at its end",
}
_CHAPTERS = Path("supercomputers_rerun/companion/chapters")


def _tables(document: str) -> Iterator[str]:
    if document not in tables.documents():
        yield f"data/{document}/datapackage.json is missing: it describes the printed tables"
        return
    if not tables.package(document).get("document", {}).get("citation"):
        yield f"data/{document}/datapackage.json has no document.citation"
    for name in tables.names(document):
        try:
            tables.load(document, name)
        except Exception as error:  # of the author's own files: whatever it is, it is a finding
            yield f"table {name} of data/{document} cannot be read: {_said(error)}"
            continue
        told = tables.describe(document, name).get("rows")
        read = len(tables.printed(document, name))
        if told not in (None, read):
            yield f"table {name} has {read} rows, and data/{document}/datapackage.json says {told}"


def _claims(document: str) -> Iterator[str]:
    if document not in chapters.files("claims.csv"):
        yield f"{_CHAPTERS / document}/claims.csv is missing: it holds what the arithmetic of the report is held to"
        return
    for claim in claims.check(document):
        if "{" in claim.statement:
            yield f"claim {claim.id} says {claim.statement!r}; a sentence knows {{item}} alone"
        if claim.verdict in ("contradicts", NOT_CHECKABLE) and not claim.reason:
            yield f"claim {claim.id}, {claim.verdict}, has no reason in claims.csv"


def _items(document: str) -> Iterator[str]:
    if document not in items.documents():
        yield f"{_CHAPTERS / document}/items.csv is missing: it lists the experiments of the report"
        return
    for item in items.items(document):
        if item.status == "live" and not item.experiments:
            yield f"item {item.item} is live, and no experiment names it"


def _experiments(document: str) -> Iterator[str]:
    package = f".chapters.{document}."
    yield from (said for section, said in experiments.BROKEN.items() if package in section)
    own = [entry for entry in experiments.REGISTER.values() if entry.document == document]
    if not own:
        yield f"no module in {_CHAPTERS / document} has an @experiment whose id begins with {document}-"
    for entry in own:
        if entry.title == entry.id:
            yield f"experiment {entry.id} has no docstring; its first line is the title"
        try:
            entry.cases(entry.presets[0], 1)
        except Unavailable:
            continue
        except Exception as error:  # of the author's own code
            yield f"experiment {entry.id} gives no cases at the preset {entry.presets[0]}: {_said(error)}"


def _notebook(document: str) -> Iterator[str]:
    found = sorted(notebook_files.FOLDER.glob(f"*_{document}.ipynb"))
    if not found:
        yield f"notebooks/NN_{document}.ipynb is missing: it tells the story"
        return
    if len(found) > 1:
        yield f"{document} has {len(found)} notebooks: {', '.join(path.name for path in found)}"
    sources = notebook_files.sources(found[0])
    for call, what in _CALLS.items():
        if not any(call in source for source in sources):
            yield f"notebooks/{found[0].name} has no {call}…): {what}"
    headings = notebook_files.headings(found[0])
    if not any(heading.endswith("?") for heading in headings):
        yield f"notebooks/{found[0].name} has no section whose heading is a question"
    register = items.items(document) if document in items.documents() else []
    for heading in dict.fromkeys(item.heading for item in register):
        if heading not in headings:
            under = ", ".join(item.item for item in register if item.heading == heading)
            yield f"items.csv treats {under} under {heading!r}, which is no heading of {found[0].name}"


def _record(document: str) -> Iterator[str]:
    book = HOME / "book" / "records"
    if book.is_dir() and not list(book.glob(f"*_{document}.md")):
        yield f"book/records/NN_{document}.md is missing: one line, the title of the record"


#: Parts of a chapter and what finds their faults.
PARTS: dict[str, Callable[[str], Iterator[str]]] = {
    "tables": _tables,
    "claims": _claims,
    "items": _items,
    "experiments": _experiments,
    "notebook": _notebook,
    "record": _record,
}


def _said(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def faults(document: str) -> dict[str, list[str]]:
    """Part of the chapter -> a sentence for each thing that it lacks or breaks.

    ``ValueError`` where nothing of a chapter is there.
    """
    folders = [HOME / "data" / document, Path(chapters.__file__).parent / document]
    if not any(folder.is_dir() for folder in folders):
        known = ", ".join(sorted({*tables.documents(), *items.documents()}))
        raise ValueError(
            f"report = {document!r}: neither data/{document} nor {_CHAPTERS / document} is there; {known} are"
        )
    found: dict[str, list[str]] = {}
    for part, of in PARTS.items():
        found[part] = []
        try:
            found[part] += of(document)
        except Exception as error:  # a broken file stops its own part, and the others are said
            found[part].append(f"{type(error).__name__}: {_said(error)}")
    return found
