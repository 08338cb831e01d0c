"""Where claims and printed cells lie in the book: addresses, and which cell a claim recomputes.

A claim reads its printed value from a cell; the cells that it reads are recorded while it is made.
"""

import re
from dataclasses import dataclass
from functools import cache

from companion import tables
from companion.claims import register
from companion.claims.engine import Maker
from companion.claims.sheets import Reader, Sheet


@dataclass(frozen=True)
class Place:
    """What a claim recomputes, and from which tables."""

    table: str | None  # of the printed cell; None where no table holds it
    row: int | None  # of the printed cell, from 0
    column: str | None
    read: tuple[str, ...]  # every table that the claim reads, that of the printed cell first


class Traced(Sheet):
    """A sheet that notes the cells whose text is asked for."""

    def __init__(self, document: str, table: str, found: list):
        super().__init__(document, table)
        self.table, self.found, self.quiet = table, found, False
        self.order = {key: number for number, key in enumerate(self.rows)}

    def text(self, *address) -> str:
        text = super().text(*address)
        if not self.quiet:
            key, column = self._place(address)
            self.found.append((self.table, self.order[key], column, text))
        return text

    def get(self, *address):
        self.found.append((self.table, None, None, ""))
        self.quiet = True
        try:
            return super().get(*address)
        finally:
            self.quiet = False


def _place(found: list, printed: str) -> Place:
    """Of the cells read for one claim, the last whose text is what is printed."""
    read = dict.fromkeys(table for table, *_ in found)
    for table, row, column, text in reversed(found):
        if row is not None and text and text in printed:
            return Place(table, row, column, tuple(dict.fromkeys([table, *read])))
    return Place(None, None, None, tuple(read))


def _places_of_maker(maker: Maker, reader: Reader, found: list) -> dict[str, Place]:
    """The places of the claims of one maker, by identifier."""
    name = f"{maker.document}.{maker.name}"
    places = {}
    for item, text, _ in maker.make(reader):
        places[f"{name}[{item}]" if item else name] = _place(found, getattr(text, "printed", text))
        found.clear()
    return places


@cache
def places(document: str) -> dict[str, Place]:
    """Of every claim of a document, by its identifier."""
    found: list = []
    reader = Reader(document, {name: Traced(document, name, found) for name in tables.names(document)})
    result: dict[str, Place] = {}
    for maker in register.ledger(document).makers:
        found.clear()
        result |= _places_of_maker(maker, reader, found)
    return result


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
