"""The ledger in which a document's claims are written down.

A claim recomputes a printed number from other printed numbers.  Every input is an ``Interval``: the printed
value with half a unit in its last place to either side (nothing for exact counts).  Interval arithmetic
carries that through the formula, so the verdict can tell a difference that rounding of the inputs explains
from one that it does not.  Inputs that occur twice in a formula widen the interval; formulas are written
so that they occur once where that matters.

``equal``, ``ratio``, ``total``, ``rows`` and ``same`` say a claim in one call: name, place, sentence, the printed
cell, and what it equals.  What needs more is a function under ``claim`` or ``each``.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from companion.claims.intervals import Interval, as_interval, total
from companion.claims.sheets import EmptyCell, Reader, Row, Sheet
from companion.claims.verdicts import (
    AGREES,
    IDENTITY,
    NOT_CHECKABLE,
    RESTORED,
    ROUNDING,
    VERDICTS,
    Bound,
    verdict,
)

__all__ = [
    "IDENTITY",
    "RESTORED",
    "VERDICTS",
    "Bound",
    "Claim",
    "Interval",
    "Items",
    "Ledger",
    "Maker",
    "Reader",
    "Row",
    "Sheet",
    "as_interval",
    "total",
    "verdict",
]


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
    bound: str = ""  # what the value is held to where that is not what is printed but a bound of ours
    reason: str = ""  # why it contradicts, cannot be checked, or where the base is ambiguous


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
    cells: tuple[Cell, ...] = ()  # whose texts ``printed`` takes, where nothing is computed
    itself: str | Mapping[str, str] = ""  # IDENTITY or RESTORED, of all items or by item

    def run(self, reader: Reader) -> list[Claim]:
        """The claims of this function, on the tables ``reader`` gives."""
        if self.make is None:
            printed = self.printed.format(*(reader(cell[0]).text(*cell[1:]) for cell in self.cells))
            return [self._claim("", printed, "", None)]
        return [
            self._claim(item, getattr(text, "printed", text), text if isinstance(text, Bound) else "", value)
            for item, text, value in self.make(reader)
        ]

    def _claim(self, item: str, printed: str, bound: str, computed: Interval | float | None) -> Claim:
        value = Interval(math.nan, math.nan, math.nan) if computed is None else as_interval(computed)
        found = NOT_CHECKABLE if computed is None else verdict(bound or printed, value)
        itself = self.itself if isinstance(self.itself, str) else self.itself.get(item, "")
        return Claim(
            f"{self.document}.{self.name}" + (f"[{item}]" if item else ""),
            self.document,
            self.where.replace("{item}", item),
            self.statement.replace("{item}", item),
            printed,
            value.mid,
            (value.lo, value.hi),
            itself if itself and found in (AGREES, ROUNDING) else found,
            str(bound),
            self.reasons.get(item, ""),
        )


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
        self,
        name: str,
        where: str,
        statement: str,
        printed: Cell,
        value: Formula,
        *,
        form: str = "{}",
        bound: str = "",
        reason: str = "",
        itself: str = "",
    ) -> None:
        """The cell ``printed`` equals ``value``: another cell, or what a formula ``reader -> value`` gives.

        A cell is ``(table, key ..., column)``; ``form`` says where its text goes, ``"{} GFLOPS"``, ``"< {} s"``.
        ``bound`` (``"<="``) makes a bound of ours of it, which is not shown as printed.  ``itself`` is ``IDENTITY`` or
        ``RESTORED`` where the comparison cannot fail.
        """

        def make(reader: Reader) -> Items:
            result = value(reader) if callable(value) else reader(value[0])[value[1:]]
            text = form.format(reader(printed[0]).text(*printed[1:]))
            yield "", Bound(f"{bound} {text}", text) if bound else text, result

        reasons = {"": reason} if reason else {}
        self._add(Maker(name, self.document, where, statement, make, reasons, itself=itself))

    def rows(
        self,
        name: str,
        where: str,
        statement: str,
        table: str | Mapping[str, str],
        printed: str,
        formula: Callable[["Row", Reader], Interval | float | None],
        *,
        form: str = "{}",
        bound: str = "",
        reasons: Mapping[str, str] | None = None,
        itself: str | Mapping[str, str] = "",
    ) -> None:
        """In every row of a table the column ``printed`` equals the formula of the row.

        ``table`` is a name, or several: ``{"small": "ddt_small", ...}``, whose labels then lead the items.  A row
        makes no claim where ``printed`` holds no number or the formula meets an empty cell.
        """
        named = {"": table} if isinstance(table, str) else table

        def make(reader: Reader) -> Items:
            for label, each in named.items():
                for row in reader(each).lines():
                    if row.get(printed) is None:
                        continue
                    try:
                        value = formula(row, reader)
                    except EmptyCell:
                        continue
                    if value is not None:
                        text = form.format(row.text(printed))
                        yield f"{label} {row.key}".strip(), Bound(f"{bound} {text}", text) if bound else text, value

        self._add(Maker(name, self.document, where, statement, make, dict(reasons or {}), itself=itself))

    def ratio(
        self,
        name: str,
        where: str,
        statement: str,
        table: str | Mapping[str, str],
        printed: str,
        over: str,
        under: str,
        *,
        scale: float = 1.0,
        reasons: Mapping[str, str] | None = None,
        itself: str | Mapping[str, str] = "",
    ) -> None:
        """The column ``printed`` is ``over / under``, times ``scale``; rows with an empty or zero cell are left out."""

        def formula(row: Row, reader: Reader) -> Interval | None:
            return scale * row[over] / row[under] if row[under].mid else None

        self.rows(name, where, statement, table, printed, formula, reasons=reasons, itself=itself)

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
            lambda row, reader: total(row[column] for column in columns),
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
                yield item, reader(held[0]).text(*held[1:]), reader(to[0])[to[1:]]

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

    def each(
        self,
        *,
        where: str,
        statement: str,
        reasons: dict[str, str] | None = None,
        itself: str | Mapping[str, str] = "",
    ):
        """Register a generator ``reader -> (item, printed text, value)`` that checks many cells.

        ``{item}`` in ``where`` and ``statement`` stands for the item; ``reasons`` maps items to reasons.
        """

        def register(function):
            self._add(
                Maker(function.__name__, self.document, where, statement, function, dict(reasons or {}), itself=itself)
            )
            return function

        return register

    def not_checkable(
        self, name: str, *, where: str, statement: str, reason: str, printed: str = "{}", cells: tuple[Cell, ...] = ()
    ) -> None:
        """Register a statement whose inputs the document does not give; ``reason`` names what is missing.

        ``printed`` takes the texts of ``cells``, ``"{}-{} %"``; without cells it is in the document's words.
        """
        self._add(Maker(name, self.document, where, statement, None, {"": reason}, printed, cells))

    def check(self, overrides: dict[str, Sheet] | None = None) -> list[Claim]:
        """Every claim of the document."""
        return [claim for maker in self.makers for claim in maker.run(Reader(self.document, overrides))]
