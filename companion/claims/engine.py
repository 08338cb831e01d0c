"""Intervals, sheets, verdicts and the ledger in which a document's claims are written down.

A claim recomputes a printed number from other printed numbers.  Every input is an ``Interval``: the printed
value with half a unit in its last place to either side (nothing for exact counts).  Interval arithmetic
carries that through the formula, so the verdict can tell a difference that rounding of the inputs explains
from one that it does not.  Inputs that occur twice in a formula widen the interval; formulas are written
so that they occur once where that matters.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from companion import tables

AGREES, ROUNDING, CONTRADICTS, NOT_CHECKABLE = "agrees", "rounding", "contradicts", "not checkable"
VERDICTS = (AGREES, ROUNDING, CONTRADICTS, NOT_CHECKABLE)
SLACK = 1e-14  # relative; absorbs binary representation of decimal fractions, below thirteen printed digits


@dataclass(frozen=True)
class Interval:
    """A value and the closed interval that its printed digits allow: ``lo <= mid <= hi``."""

    mid: float
    lo: float
    hi: float

    @classmethod
    def around(cls, mid: float, half: float = 0.0) -> "Interval":
        """``mid`` with ``half`` to either side."""
        return cls(mid, mid - half, mid + half)

    def __add__(self, other: "Interval | float") -> "Interval":
        other = as_interval(other)
        return Interval(self.mid + other.mid, self.lo + other.lo, self.hi + other.hi)

    def __sub__(self, other: "Interval | float") -> "Interval":
        other = as_interval(other)
        return Interval(self.mid - other.mid, self.lo - other.hi, self.hi - other.lo)

    def __mul__(self, other: "Interval | float") -> "Interval":
        other = as_interval(other)
        corners = [a * b for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        return Interval(self.mid * other.mid, min(corners), max(corners))

    def __truediv__(self, other: "Interval | float") -> "Interval":
        other = as_interval(other)
        if other.mid == 0:
            raise ZeroDivisionError("a claim divides by a printed zero; leave the cell out.")
        if other.lo <= 0 <= other.hi:  # a printed value so small that zero is within its rounding
            return Interval(self.mid / other.mid, -math.inf, math.inf)
        corners = [a / b for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        return Interval(self.mid / other.mid, min(corners), max(corners))

    def __radd__(self, other: float) -> "Interval":
        return as_interval(other) + self

    def __rsub__(self, other: float) -> "Interval":
        return as_interval(other) - self

    def __rmul__(self, other: float) -> "Interval":
        return as_interval(other) * self

    def __rtruediv__(self, other: float) -> "Interval":
        return as_interval(other) / self


def as_interval(value: Interval | float) -> Interval:
    """A plain number is exact."""
    return value if isinstance(value, Interval) else Interval(float(value), float(value), float(value))


def total(values: Iterable[Interval | float]) -> Interval:
    """Sum of intervals."""
    result = Interval(0.0, 0.0, 0.0)
    for value in values:
        result = result + value
    return result


class EmptyCell(LookupError):
    """A formula asks for a cell in which nothing is printed."""


class Sheet:
    """Cells of one table, addressed by primary key and column.

    ``sheet["T399 EPS", "wall"]`` is an ``Interval`` (None where nothing is printed);
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
        if key not in self.rows or column not in self.columns:
            raise KeyError(
                f"table {self.resource['name']} has no cell {key}, {column!r}; its first keys are {self.keys()[:5]}."
            )
        return self.rows[key][self.columns[column]]

    def __getitem__(self, address) -> Interval | None:
        place = self._place(address)
        if place not in self._intervals:
            cell = self.text(*place[0], place[1])
            column = self.columns[place[1]]
            unit = self.rows[place[0]][self.unit] if self.unit is not None else None
            half = tables.half(self.fields[column], cell, unit)
            self._intervals[place] = None if math.isnan(half) else Interval.around(float(cell), half)
        return self._intervals[place]

    def number(self, *address) -> Interval:
        """The value of a cell; raises ``EmptyCell`` where nothing is printed."""
        value = self[address]
        if value is None:
            raise EmptyCell(f"table {self.resource['name']} prints nothing at {address}.")
        return value

    def lines(self) -> list["Row"]:
        """The rows, in printed order."""
        return [Row(self, key) for key in self.rows]

    def column(self, name: str) -> list[Interval]:
        """Printed values of one column, empty cells left out."""
        values = [self[(*key, name)] for key in self.rows]
        return [value for value in values if value is not None]


@dataclass(frozen=True)
class Row:
    """One row of a sheet, its cells addressed by column alone."""

    sheet: Sheet
    keys: tuple[str, ...]

    @property
    def key(self) -> str:
        """The primary key as one text."""
        return ", ".join(self.keys)

    def __getitem__(self, column: str) -> Interval | None:
        return self.sheet[(*self.keys, column)]

    def number(self, column: str) -> Interval:
        """The value of a column; raises ``EmptyCell`` where nothing is printed."""
        return self.sheet.number(*self.keys, column)

    def text(self, column: str) -> str:
        """The printed text of a column."""
        return self.sheet.text(*self.keys, column)


@cache
def _sheet(document: str, table: str) -> Sheet:
    return Sheet(document, table)


class Reader:
    """Gives a claim its tables and remembers which it used; ``overrides`` replaces tables by altered ones."""

    def __init__(self, document: str, overrides: dict[str, Sheet] | None = None):
        self.document = document
        self.overrides = overrides or {}
        self.used: set[str] = set()

    def __call__(self, table: str) -> Sheet:
        self.used.add(table)
        return self.overrides[table] if table in self.overrides else _sheet(self.document, table)


@dataclass(frozen=True)
class Claim:
    """One rechecked statement of a document."""

    id: str
    document: str
    where: str  # figure, table, slide or section
    statement: str  # our words
    printed: str  # as printed, unit included
    recomputed: float  # NaN when not checkable
    interval: tuple[float, float]  # what the printed inputs allow
    verdict: str
    reason: str = ""  # why it contradicts, cannot be checked, or where the base is ambiguous


NUMERAL = r"[+-]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
PRINTED = re.compile(
    rf"(?P<mark>>=|<=|>|<|~)?\s*(?P<low>{NUMERAL})(?:\s*-\s*(?P<high>{NUMERAL}))?\s*(?P<unit>[^\d].*)?"
)


def verdict(printed: str, value: Interval) -> str:
    """Verdict on a recomputed value.

    ``printed`` is a number with an optional unit after it (``"1.22"``, ``"13 %"``); ``"> 9"`` and ``"< 4"``
    are bounds, ``"5-30 %"`` a range, ``"~3000 s"`` a number whose trailing zeros are not significant.
    ``agrees``: the value rounds to what is printed.  ``rounding``: the interval that the inputs allow meets
    the printed one.  ``contradicts``: it does not.
    """
    match = PRINTED.fullmatch(printed.strip())
    if not match:
        raise ValueError(f"the printed value {printed!r} is not a number, a bound or a range; write it as '1.22 s'.")
    low_text = match["low"].replace(",", "")
    low = float(low_text)
    high = float(match["high"].replace(",", "")) if match["high"] else low
    mark = match["mark"] or ""
    slack = SLACK * max(abs(low), abs(high), abs(value.mid))
    if mark[:1] in ("<", ">"):
        sign = 1 if mark[0] == ">" else -1
        best = value.hi if sign > 0 else value.lo

        def holds(x: float) -> bool:
            return sign * (x - low) > 0 or ("=" in mark and abs(x - low) <= slack)

        return AGREES if holds(value.mid) else ROUNDING if holds(best) else CONTRADICTS
    half = significant_half(low_text) if mark == "~" else tables.half_unit(low_text)
    half_high = tables.half_unit(match["high"].replace(",", "")) if match["high"] else half
    low, high = low - half - slack, high + half_high + slack
    if low <= value.mid <= high:
        return AGREES
    return ROUNDING if value.lo <= high and value.hi >= low else CONTRADICTS


def significant_half(text: str) -> float:
    """Half a unit in the last non-zero digit of a whole number: ``"3000"`` gives 500."""
    if "." in text or "e" in text.lower() or not text.strip("0"):
        return tables.half_unit(text)
    return 0.5 * 10.0 ** (len(text) - len(text.rstrip("0")))


Items = Iterator[tuple[str, str, Interval | float]]
Cell = tuple[str, ...]
Formula = Cell | Callable[["Reader"], Interval | float]


@dataclass
class Maker:
    """One registered function and what it says about the claims it makes."""

    name: str
    document: str
    where: str
    statement: str
    make: Callable[[Reader], Items] | None
    reasons: dict[str, str] = field(default_factory=dict)
    printed: str = ""

    def run(self, reader: Reader) -> list[Claim]:
        """The claims of this function, on the tables ``reader`` gives."""
        if self.make is None:
            return [
                Claim(
                    f"{self.document}.{self.name}",
                    self.document,
                    self.where,
                    self.statement,
                    self.printed,
                    math.nan,
                    (math.nan, math.nan),
                    NOT_CHECKABLE,
                    self.reasons[""],
                )
            ]
        result = []
        for item, printed, value in self.make(reader):
            value = as_interval(value)
            identifier = f"{self.document}.{self.name}" + (f"[{item}]" if item else "")
            result.append(
                Claim(
                    identifier,
                    self.document,
                    self.where.replace("{item}", item),
                    self.statement.replace("{item}", item),
                    printed,
                    value.mid,
                    (value.lo, value.hi),
                    verdict(printed, value),
                    self.reasons.get(item, ""),
                )
            )
        return result


class Ledger:
    """The claims of one document, in the order in which they are written down."""

    def __init__(self, document: str):
        self.document = document
        self.makers: list[Maker] = []

    def _add(self, maker: Maker) -> None:
        if any(other.name == maker.name for other in self.makers):
            raise ValueError(f"two claims of {self.document} are named {maker.name}; rename one.")
        self.makers.append(maker)

    def include(self, other: "Ledger") -> None:
        """Take over the claims of a part of the document that stands in a module of its own."""
        for maker in other.makers:
            self._add(maker)

    def equal(
        self, name: str, where: str, statement: str, printed: Cell, value: Formula, form: str = "{}", reason: str = ""
    ) -> None:
        """The cell ``printed`` equals ``value``: another cell, or what a formula ``reader -> value`` gives.

        A cell is ``(table, key ..., column)``; ``form`` says where its text goes, ``"{} GFLOPS"``, ``"< {} s"``.
        """

        def make(reader: Reader) -> Items:
            result = value(reader) if callable(value) else reader(value[0])[value[1:]]
            if result is None:
                raise TypeError(f"{name}: the cell that gives the value is empty.")
            yield "", form.format(reader(printed[0]).text(*printed[1:])), result

        self._add(Maker(name, self.document, where, statement, make, {"": reason} if reason else {}))

    def rows(
        self,
        name: str,
        where: str,
        statement: str,
        table: str | Mapping[str, str],
        printed: str,
        formula: Callable[["Row", Reader], Interval | float | None],
        form: str = "{}",
        reasons: Mapping[str, str] | None = None,
    ) -> None:
        """In every row of a table the column ``printed`` equals the formula of the row.

        ``table`` is a name, or several: ``{"small": "ddt_small", ...}``, whose labels then lead the items.  A row
        makes no claim where ``printed`` holds no number or the formula meets an empty cell.
        """
        named = {"": table} if isinstance(table, str) else table

        def make(reader: Reader) -> Items:
            for label, each in named.items():
                for row in reader(each).lines():
                    if row[printed] is None:
                        continue
                    try:
                        value = formula(row, reader)
                    except EmptyCell:
                        continue
                    if value is not None:
                        yield f"{label} {row.key}".strip(), form.format(row.text(printed)), value

        self._add(Maker(name, self.document, where, statement, make, dict(reasons or {})))

    def ratio(
        self,
        name: str,
        where: str,
        statement: str,
        table: str | Mapping[str, str],
        printed: str,
        over: str,
        under: str,
        scale: float = 1.0,
        reasons: Mapping[str, str] | None = None,
    ) -> None:
        """The column ``printed`` is ``over / under``, times ``scale``; rows with an empty or zero cell are left out."""

        def formula(row: Row, reader: Reader) -> Interval | None:
            return scale * row.number(over) / row.number(under) if row.number(under).mid else None

        self.rows(name, where, statement, table, printed, formula, reasons=reasons)

    def total(
        self,
        name: str,
        where: str,
        statement: str,
        table: str,
        printed: str,
        parts: Iterable[str],
        reasons: Mapping[str, str] | None = None,
    ) -> None:
        """The column ``printed`` is the sum of the columns ``parts``; rows with an empty part are left out."""
        columns = tuple(parts)
        self.rows(
            name,
            where,
            statement,
            table,
            printed,
            lambda row, reader: total(row.number(column) for column in columns),
            reasons=reasons,
        )

    def same(
        self,
        name: str,
        where: str,
        statement: str,
        cells: Mapping[str, tuple[Cell, Cell]],
        reasons: Mapping[str, str] | None = None,
    ) -> None:
        """What is printed twice is the same: item -> the cell that is held, and the cell it is held to."""

        def make(reader: Reader) -> Items:
            for item, (held, to) in cells.items():
                yield item, reader(held[0]).text(*held[1:]), reader(to[0]).number(*to[1:])

        self._add(Maker(name, self.document, where, statement, make, dict(reasons or {})))

    def claim(self, *, where: str, statement: str, printed: str = "{}", cell: tuple[str, ...] = (), reason: str = ""):
        """Register a function ``reader -> Interval | float`` that recomputes one printed value.

        The printed value is taken from a table where one holds it: ``cell`` is ``(table, key …, column)``
        and ``printed`` says where its text goes, ``"{} GFLOPS"``.  Without ``cell`` it is the value.
        """

        def register(function):
            def make(reader):
                text = printed.format(reader(cell[0]).text(*cell[1:])) if cell else printed
                yield "", text, function(reader)

            self._add(Maker(function.__name__, self.document, where, statement, make, {"": reason} if reason else {}))
            return function

        return register

    def each(self, *, where: str, statement: str, reasons: dict[str, str] | None = None):
        """Register a generator ``reader -> (item, printed text, value)`` that checks many cells.

        ``{item}`` in ``where`` and ``statement`` stands for the item; ``reasons`` maps items to reasons.
        """

        def register(function):
            self._add(Maker(function.__name__, self.document, where, statement, function, dict(reasons or {})))
            return function

        return register

    def not_checkable(self, name: str, *, where: str, statement: str, printed: str, reason: str) -> None:
        """Register a statement whose inputs the document does not give; ``reason`` names what is missing."""
        self._add(Maker(name, self.document, where, statement, None, {"": reason}, printed))

    def check(self, overrides: dict[str, Sheet] | None = None) -> list[Claim]:
        """Every claim of the document."""
        return [claim for maker in self.makers for claim in maker.run(Reader(self.document, overrides))]


def ratio_column(sheet: Sheet, numerator: str, denominator: str, printed_column: str, scale: float = 1.0) -> Items:
    """Check a printed ratio column cell by cell: ``scale * numerator / denominator``."""
    for key in sheet.keys():
        over, under = sheet[(*key, numerator)], sheet[(*key, denominator)]
        cell = sheet.text(*key, printed_column)
        if cell and over is not None and under is not None and under.mid:
            yield ", ".join(key), cell, scale * over / under
