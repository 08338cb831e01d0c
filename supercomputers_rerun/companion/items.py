"""The register of items: what each report measured, every plot that it lost, and what became of each here.

A row of ``companion/chapters/<document>/items.csv`` is an item (``X13``) or a lost plot (``N-F1``).  Which
experiments answer it is not written there: it is read from the register of experiments, each of which names
its items, so that a status cannot promise a run that does not exist.
"""

import re
from dataclasses import dataclass
from functools import cache

import pandas as pd

from supercomputers_rerun.companion import chapters, experiments, notebook_files

COLUMNS = ("item", "of", "title", "survives", "status", "heading", "here", "nearness", "differs")
#: status -> what the book says of it
STATUSES = {
    "live": "rerun live",
    "modelled": "modelled",
    "redrawn": "redrawn from the report",
    "open": "not rerun yet",
    "not possible": "not possible",
}
#: how near a live item comes to what the report measured -> what that means
NEARNESS = {
    "close": "the quantity that the report measured, at its parameters or near them",
    "partial": "a part of it, or the same on something smaller",
    "distant": "what this machine has in its place",
}


@dataclass(frozen=True)
class Item:
    """One experiment of a report, or one plot whose points it lost."""

    document: str
    item: str  # "X13"; a plot has a dash, "N-F1"
    of: tuple[str, ...]  # the items that a plot showed; empty for an item
    title: str
    survives: str  # what of it stands in the surviving text
    status: str  # a key of STATUSES
    heading: str  # where the chapter treats it
    here: str  # what this book does with it, or why it cannot
    nearness: str = ""  # a key of NEARNESS; empty for a plot, for what is not live, and where nobody judged it
    differs: str = ""  # from what the report measured
    experiments: tuple[str, ...] = ()  # ids that name the item, in the order of their register

    @property
    def is_plot(self) -> bool:
        return "-" in self.item


def named(text: str) -> set[str]:
    """Items that an experiment names: ``"N1-N3, N8"`` gives N1, N2, N3 and N8; plots are named alone.

    ``"none"`` is what an experiment says that no report asks for.
    """
    found: set[str] = set()
    text = "" if text == "none" else text
    for part in filter(None, (each.strip() for each in text.split(","))):
        span = re.fullmatch(r"([A-Z])(\d+)-\1(\d+)", part)
        found |= {f"{span[1]}{n}" for n in range(int(span[2]), int(span[3]) + 1)} if span else {part}
    return found


def documents() -> list[str]:
    """Documents whose chapter has a register of items."""
    return sorted(chapters.files("items.csv"))


def items(document: str | None = None) -> list[Item]:
    """Every item and lost plot of one document, or of all, with the experiments that answer it.

    ``ValueError`` for an unknown document, and, with file and line, for a row with a status, a nearness or an item that
    nobody knows, and for an item of an experiment that has no row.
    """
    answers = {entry.id: named(entry.item) for entry in experiments.REGISTER.values()}
    if document is not None and document not in documents():
        raise ValueError(f"document {document!r} has no items; choose one of {', '.join(documents())}")
    registers = {name: list(chapters.rows(path, COLUMNS)) for name, path in chapters.files("items.csv").items()}
    known = [row["item"] for rows in registers.values() for _, row in rows]
    found = []
    for name in [document] if document else registers:
        for place, row in registers[name]:
            with chapters.named(place):
                _require_known(row, known)
            of = tuple(row.pop("of").split())
            ids = tuple(id for id, names in answers.items() if names & {row["item"], *of})
            found.append(Item(name, of=of, experiments=ids, **row))
    for id, names in answers.items():
        if id.partition("-")[0] in registers and (absent := names - {*known}):
            raise ValueError(f"experiment {id} names item {min(absent)!r}, of which no items.csv has a row")
    return found


def _require_known(row: dict[str, str], known: list[str]) -> None:
    """``ValueError`` for a row of the register with a word that nobody knows."""
    if known.count(row["item"]) > 1 or not row["item"]:
        raise ValueError(f"item {row['item']!r} needs a name, and one row")
    if row["status"] not in STATUSES:
        raise ValueError(f"status = {row['status']!r} is unknown; choose one of {', '.join(STATUSES)}")
    if row["nearness"] and row["nearness"] not in NEARNESS:
        raise ValueError(f"nearness = {row['nearness']!r} is unknown; choose one of {', '.join(NEARNESS)}")
    if absent := {*row["of"].split()} - {*known}:
        raise ValueError(f"of names {min(absent)!r}, which is no item")


def listing(document: str | None = None) -> pd.DataFrame:
    """The register as a table: an item a row, its experiments in words, the place in the book that treats it."""
    rows = [
        vars(item) | {"experiments": ", ".join(item.experiments), "place": f"{page(item.document)}: {item.heading}"}
        for item in items(document)
    ]
    return pd.DataFrame(rows).drop(columns=["of", "heading"])


@cache
def page(document: str) -> str:
    """Stem of a document's notebook: ``"01_xmp1982"``.  ``ValueError`` where there is none."""
    found = sorted(notebook_files.FOLDER.glob(f"*_{document}.ipynb"))
    if not found:
        raise ValueError(f"document {document!r} has no notebook; add notebooks/NN_{document}.ipynb")
    return found[0].stem


@cache
def title(document: str) -> str:
    """What readers know a document by, the title of its chapter; its identifier where it has no chapter."""
    found = sorted(notebook_files.FOLDER.glob(f"*_{document}.ipynb"))
    return notebook_files.title(found[0]) if found else document
