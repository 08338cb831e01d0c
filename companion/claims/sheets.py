"""The cells of a table as claims read them: by key and column, as intervals or as printed text."""

import math
from dataclasses import dataclass
from functools import cache

from companion import tables
from companion.claims.intervals import Interval


class EmptyCell(LookupError):
    """A formula asks for a cell in which nothing is printed."""


@dataclass(frozen=True)
class Place:
    """Where the printed value of a claim stands, and which tables the claim reads."""

    table: str | None  # of the printed cell; None where no table holds it
    row: int | None  # of the printed cell, from 0
    column: str | None
    read: tuple[str, ...]  # every table that the claim reads, that of the printed cell first


class Sheet:
    """Cells of one table, addressed by primary key and column.

    ``sheet["T399 EPS", "wall"]`` is an ``Interval``, ``EmptyCell`` where nothing is printed (``get`` gives None);
    ``sheet.text("T399 EPS", "wall")`` the printed text.  In a table of facts with one value column the
    column may be left out: ``sheet["elapsed"]``.
    """

    def __init__(self, document: str, table: str, cells: list[list[str]] | None = None):
        resource = tables.describe(document, table)
        self.resource = resource
        self.fields = resource["schema"]["fields"]
        self.columns = {each["name"]: position for position, each in enumerate(self.fields)}
        self.cells = tables.text(document, table).values.tolist() if cells is None else cells
        facts = resource.get("facts")
        self.default = next(iter(facts["values"])) if facts and len(facts["values"]) == 1 else None
        self.unit = self.columns[facts["unit"]] if facts else None
        self.key_columns = [self.columns[name] for name in resource["schema"]["primaryKey"]]
        self.rows = {tuple(row[c] for c in self.key_columns): row for row in self.cells}
        self._intervals: dict[tuple, Interval | None] = {}
        #: Table, key, column and text of each cell asked for as text, the table alone of one asked for as a number.
        self.log: list[tuple] = []

    def keys(self) -> list[tuple[str, ...]]:
        """Primary keys in printed order."""
        return list(self.rows)

    def _place(self, address) -> tuple[tuple[str, ...], str]:
        address = address if isinstance(address, tuple) else (address,)
        if self.default and len(address) == len(self.key_columns):
            return tuple(map(str, address)), self.default
        return tuple(map(str, address[:-1])), address[-1]

    def text(self, *address) -> str:
        """Printed text of a cell."""
        key, column = self._place(address)
        text = self._text(key, column)
        self.log.append((self.resource["name"], key, column, text))
        return text

    def _text(self, key: tuple[str, ...], column: str) -> str:
        if key not in self.rows or column not in self.columns:
            raise KeyError(
                f"table {self.resource['name']} has no cell {key}, {column!r}; its first keys are {self.keys()[:5]}."
            )
        return self.rows[key][self.columns[column]]

    def get(self, *address) -> Interval | None:
        """The value of a cell, None where nothing is printed."""
        place = self._place(address)
        self.log.append((self.resource["name"],))
        if place not in self._intervals:
            cell = self._text(*place)
            column = self.columns[place[1]]
            unit = self.rows[place[0]][self.unit] if self.unit is not None else None
            half = tables.half(self.fields[column], cell, unit)
            self._intervals[place] = None if math.isnan(half) else Interval.around(float(cell), half)
        return self._intervals[place]

    def __getitem__(self, address) -> Interval:
        address = address if isinstance(address, tuple) else (address,)
        value = self.get(*address)
        if value is None:
            raise EmptyCell(f"table {self.resource['name']} prints nothing at {address}.")
        return value

    def lines(self) -> list["Row"]:
        """The rows, in printed order."""
        return [Row(self, key) for key in self.rows]


@dataclass(frozen=True)
class Row:
    """One row of a sheet, its cells addressed by column alone."""

    sheet: Sheet
    keys: tuple[str, ...]

    @property
    def key(self) -> str:
        """The primary key as one text."""
        return ", ".join(self.keys)

    def text(self, column: str) -> str:
        """The printed text of a column."""
        return self.sheet.text(*self.keys, column)

    def words(self) -> dict[str, str]:
        """What is text in the row, by column: its keys, strings, and ``key``, the primary key as one text."""
        sheet = self.sheet
        text = [place for place, each in enumerate(sheet.fields) if each["type"] == "string"]
        cells = {sheet.fields[place]["name"]: sheet.rows[self.keys][place] for place in {*text, *sheet.key_columns}}
        return {**cells, "key": self.key}


@cache
def _sheet(document: str, table: str) -> Sheet:
    return Sheet(document, table)


class Reader:
    """Gives a claim its tables and remembers what it used; ``overrides`` replaces tables by altered ones."""

    def __init__(self, document: str, overrides: dict[str, Sheet] | None = None):
        self.document = document
        self.overrides = overrides or {}
        self.used: set[str] = set()
        self.log: list[tuple] = []  # of the sheets, since the last place

    def __call__(self, table: str) -> Sheet:
        self.used.add(table)
        sheet = self.overrides[table] if table in self.overrides else _sheet(self.document, table)
        sheet.log = self.log
        return sheet

    def place(self, printed: str) -> Place:
        """Of the cells read since the last claim, the last whose text is what is printed."""
        log, read = list(self.log), dict.fromkeys(table for table, *_ in self.log)
        self.log.clear()
        for table, *cell in reversed(log):
            if cell and cell[2] and cell[2] in printed:
                key, column, _ = cell
                return Place(table, list(self(table).rows).index(key), column, tuple(dict.fromkeys([table, *read])))
        return Place(None, None, None, tuple(read))
