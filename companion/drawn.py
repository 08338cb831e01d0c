"""Which printed tables a figure draws, so that it leads to its numbers and is cited by page."""

import re
from functools import cache

from companion import tables


def anchor(document: str, table: str) -> str:
    """The address of a printed table on the record of its chapter."""
    return f"tab-{re.sub(r'[^A-Za-z0-9]+', '-', f'{document}-{table}').strip('-').lower()}"


def said(html: str, document: str) -> list[tuple[str, str]]:
    """Document and name of each table that a figure of a document says it draws (``tables`` of ``show``)."""
    found = re.search(r'<figure[^>]* data-tables="([^"]+)"', html)
    return [_table(document, name) for name in found[1].split()] if found else []


def _table(document: str, name: str) -> tuple[str, str]:
    """``"drhook"`` or ``"p5plus/drhook"``, which must exist."""
    home, _, table = name.rpartition("/")
    tables.describe(home or document, table)
    return home or document, table


@cache
def by_anchor() -> dict[str, tuple[str, str]]:
    """Every printed table by its address on a record."""
    return {
        anchor(document, name): (document, name) for document in tables.documents() for name in tables.names(document)
    }


def places(found) -> dict[str, list[str]]:
    """Where the tables ``(document, table)`` are printed, by document: figures, tables, pages, slides."""
    said: dict[str, list[str]] = {}
    for document, name in found:
        about = tables.describe(document, name)
        place = tables.source(document, about).removeprefix(tables.citation(document)).strip(", ")
        if place not in said.setdefault(document, []):
            said[document].append(place)
    return said
