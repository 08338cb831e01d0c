"""The cells of tables as claims read them: by key and column, as intervals and as printed text."""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from supercomputers_rerun.companion import tables
from supercomputers_rerun.companion.claims.intervals import Interval


class EmptyCell(ArithmeticError):
    """A formula asks for a number where none is printed."""


class Place(NamedTuple):
    """Where the printed value of a claim stands, and which tables the claim reads."""

    cell: tuple[str, int, str] | None  # table, row from 0, and column; None where no table holds it
    read: tuple[str, ...]  # every table that the claim reads, that of the printed cell first


@dataclass(frozen=True)
class Cell(Interval):
    """A printed number, NaN where the cell holds none, and its text.

    As a part of an address it is ``word``: the text of a key, or the name of its column.
    """

    text: str = ""
    word: str = ""
    place: tuple = ()  # table, key and column

    def __str__(self) -> str:
        return self.word


class Sheet:
    """Cells of one table, addressed by primary key and column.

    ``sheet["T399 EPS", "wall"]`` is a ``Cell``; ``...`` in place of a part of the key gives all that match, as an
    array.  ``sheet.text("T399 EPS", "wall")`` is the printed text.  In a table of facts with one column of values the
    column may be left out: ``sheet["elapsed"]`` or ``sheet.elapsed``.  ``log`` notes what is read.
    """

    def __init__(self, document: str, table: str, log: list[tuple], cells=None):
        about = tables.describe(document, table)
        self._table, self._log = table, log
        self._fields = {field["name"]: field for field in about["schema"]["fields"]}
        self._key = about["schema"]["primaryKey"]
        facts = about.get("facts", {"values": {}, "unit": ""})
        self._unit, values = facts["unit"], list(facts["values"])
        self._column = values[0] if len(values) == 1 else None
        lines = (tables.text(document, table) if cells is None else cells).to_dict("records")
        self._rows = {tuple(line[name] for name in self._key): line for line in lines}
        if len(self._rows) < len(lines):
            raise ValueError(f"table {table} has two rows of one key ({', '.join(self._key)})")

    def __str__(self) -> str:
        return self._table

    def keys(self) -> list[tuple[str, ...]]:
        """Primary keys in printed order."""
        return list(self._rows)

    def _cell(self, *address) -> Cell:
        *parts, column = map(str, address)
        if self._column and len(parts) < len(self._key):
            parts, column = [*parts, column], self._column
        key = tuple(parts)
        if column not in self._fields:
            raise KeyError(f"table {self._table} has no column {column!r} but {', '.join(self._fields)}")
        if key not in self._rows:
            raise KeyError(f"table {self._table} has no row {key}; its first keys are {self.keys()[:5]}")
        text, unit = self._rows[key][column], self._rows[key].get(self._unit)
        half = tables.half(self._fields[column], text, unit)
        value = half if math.isnan(half) else float(text)
        return Cell(value, value - half, value + half, text, column, (self._table, key, column))

    def __getitem__(self, address) -> Any:
        self._log.append((self._table,))
        *key, column = address if isinstance(address, tuple) else (address,)
        if ... not in key:
            return self._cell(*key, column)
        asked = [part if part is ... else str(part) for part in key]
        same = [own for own in self._rows if all(part in (..., word) for part, word in zip(asked, own, strict=True))]
        if not same:
            raise KeyError(f"table {self._table} has no row {tuple(asked)}; its first keys are {self.keys()[:5]}")
        return np.array([self._cell(*own, column) for own in same], dtype=object)

    def __getattr__(self, fact: str) -> Cell:
        if fact.startswith("_"):
            raise AttributeError(fact)
        return self[fact]

    def text(self, *address) -> str:
        """Printed text of a cell, which may be the printed value of the claim."""
        cell = self._cell(*address)
        self._log.append((*cell.place, cell.text))
        return cell.text


class Row:
    """One row of a sheet, its cells addressed by column alone."""

    def __init__(self, sheet: Sheet, keys: tuple[str, ...]):
        self.sheet, self.keys, self.columns = sheet, keys, sheet._fields
        self.key = ", ".join(keys)  # as one text
        kept = {name for name, field in sheet._fields.items() if field["type"] == "string"} | set(sheet._key)
        #: what is text in the row, by column: its keys and strings
        self.words = {name: text for name, text in sheet._rows[keys].items() if name in kept} | {"key": self.key}

    def __getitem__(self, column: str) -> Cell:
        return self.sheet[(*self.keys, column)]

    def named(self, column: str, word: str) -> Cell | str:
        """What a column's name stands for: its number, and in an address ``word``; a text where it holds no number."""
        cell = replace(self[column], word=word)
        return word if math.isnan(cell.mid) and self.columns[column]["type"] == "string" else cell


class Reader:
    """Gives claims the sheets of a document, and notes what they read; ``sheets`` replaces some by altered ones."""

    def __init__(self, document: str, sheets: dict[str, Sheet] | None = None):
        self.document = document
        self.log: list[tuple] = []
        self.tables = frozenset(tables.names(document))
        self.sheets = dict(sheets or {})

    def __call__(self, table: str) -> Sheet:
        if table not in self.sheets:
            self.sheets[table] = Sheet(self.document, table, self.log)
        return self.sheets[table]

    def place(self, printed: str) -> Place:
        """Of the cells read as text since the last claim, the last whose text is in what is printed."""
        read = dict.fromkeys(table for table, *_ in self.log)
        found = [each for each in self.log if len(each) > 1 and each[3] and each[3] in printed]
        self.log.clear()
        if not found:
            return Place(None, tuple(read))
        table, key, column, _ = found[-1]
        return Place((table, self(table).keys().index(key), column), tuple(dict.fromkeys([table, *read])))
