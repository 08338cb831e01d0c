"""Where claims and printed cells lie in the book: their addresses."""

import re
from functools import cache

from companion.claims import register
from companion.claims.engine import check
from companion.claims.sheets import Place


@cache
def places(document: str) -> dict[str, Place]:
    """Of every claim of a document, by its identifier."""
    return {claim.id: claim.place for claim in check(register.ledger(document))}


def _slug(*words) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", "-".join(map(str, words))).strip("-").lower()


@cache
def addresses(document: str) -> dict[str, str]:
    """The address of every claim in the ledger: ``claim-…``, each its own."""
    found: dict[str, str] = {}
    for name in places(document):
        base = address = f"claim-{_slug(name)}"
        copies = 1
        while address in found.values():
            copies += 1
            address = f"{base}-{copies}"
        found[name] = address
    return found


def cell(document: str, table: str, row: int, column: str) -> str:
    """The address of a printed cell in its chapter."""
    return f"cell-{_slug(document, table, row, column)}"


@cache
def of_table(document: str, table: str) -> dict[tuple[int, str], str]:
    """Cells of a table that claims recompute, ``(row, column)``, with the address of the first such claim."""
    found: dict[tuple[int, str], str] = {}
    for name, place in places(document).items():
        if place.table == table and place.row is not None and place.column is not None:
            found.setdefault((place.row, place.column), addresses(document)[name])
    return found
