"""The register of claims: ``companion/chapters/<document>/claims.csv``.

A claim recomputes a printed number from other printed numbers.  Every input is an interval: the printed value with half
a unit in its last place to either side (nothing for exact counts).  Interval arithmetic carries that through the
formula, so the verdict can tell a difference that rounding of the inputs explains from one that it does not.  Inputs
that occur twice in a formula widen the interval; formulas are written so that they occur once where that matters.

The first row of a claim has its place and its sentence.  Rows that follow under the same name are more items of it, or
the reason of one.  ``formula`` is arithmetic on cells (``companion.claims.formulas``); ``python`` where the function of
that name in the chapter's ``claims.py`` computes; empty where the document does not give the inputs.

Every row yields a verdict, or is refused with its file and line: a row that makes no claim, a reason of an item that no
row makes, a name that nothing has.  A turn of a loop over rows whose cell is empty in the table makes no claim.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import groupby

from supercomputers_rerun.companion import chapters
from supercomputers_rerun.companion.claims import formulas
from supercomputers_rerun.companion.claims.intervals import Interval, as_interval
from supercomputers_rerun.companion.claims.sheets import EmptyCell, Place, Reader
from supercomputers_rerun.companion.claims.verdicts import (
    AGREES,
    INSTEAD,
    NOT_CHECKABLE,
    OUR_BOUND,
    ROUNDING,
    Bound,
    verdict,
)

COLUMNS = ("claim", "item", "where", "statement", "for", "printed", "bound", "formula", "instead", "reason", "note")
PYTHON = "python"
ALL = "*"  # in place of an item: what holds for every item of a claim


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
    bound: str  # what the value is held to where that is not what is printed but a bound of ours
    reason: str  # why it contradicts, cannot be checked, or where the base is ambiguous
    place: Place  # of the printed cell, and what else was read


class Entry:
    """The rows of one claim in the register; ``{item}`` in their texts is the item.

    ``lines`` are rows by column, each with the ``place`` where it stands.  ``ValueError`` for a row that says nothing.
    """

    def __init__(self, document: str, name: str, lines: list[dict[str, str]], functions: object = None):
        self.document, self.name, self.functions = document, name, functions
        self.where, self.statement = lines[0]["where"], lines[0]["statement"]
        if not (name and self.where and self.statement):
            raise ValueError(f"{lines[0]['place']}: claim {name!r} begins here, and lacks its place or its sentence")
        for line in lines:
            self._require_sense(line, first=line is lines[0])
        self.lines = lines
        self.parts = [line for line in lines if line["printed"] or line["formula"]]
        noted = [(item, line) for line in lines for item in ([ALL] if line["for"] else line["item"].split(" | "))]
        self.reasons = {item: line["reason"] for item, line in noted if line["reason"]}
        self.instead = {item: line["instead"] for item, line in noted if line["instead"]}  # item -> one of INSTEAD

    def _require_sense(self, line: dict[str, str], first: bool) -> None:
        wrong = ""
        if not first and (line["where"] or line["statement"]):
            wrong = "place and sentence stand in its first row alone"
        elif not any(line[name] for name in ("printed", "formula", "reason", "instead")):
            wrong = "this row has neither number nor reason"
        elif line["instead"] not in ("", *INSTEAD):
            wrong = f"instead = {line['instead']!r}; choose one of {', '.join(INSTEAD)}"
        elif line["formula"] == PYTHON and not hasattr(self.functions, self.name):
            wrong = f"claims.py of {self.document} has no function {self.name}"
        if wrong:
            raise ValueError(f"{line['place']}, claim {self.name}: {wrong}")

    def claims(self, reader: Reader) -> Iterator[Claim]:
        """Its claims on the tables that ``reader`` gives: one of each row, turn of a loop, or item of its function.

        ``ValueError`` with file and line for a row that makes nothing, or gives a reason to nothing.
        """
        seen = {ALL}
        for line in self.parts:
            before = len(seen)
            with chapters.named(f"{line['place']}, claim {self.name}"):
                for item, text, value in self._of(line, reader):
                    if item in seen:
                        raise ValueError(f"item {item!r} is made twice")
                    seen.add(item)
                    yield self._claim(item, text, value, reader)
                if len(seen) == before:
                    raise ValueError("no row of the tables gives it a number")
        for line in self.lines:
            noted = (line["reason"] or line["instead"]) and not line["for"]
            if left := {*line["item"].split(" | ")} - seen if noted else set():
                raise ValueError(f"{line['place']}, claim {self.name}: it has no item {sorted(left)[0]!r}")

    def _of(self, line: dict[str, str], reader: Reader) -> Iterator[tuple[str, str, Interval | float | None]]:
        """What one row makes."""
        if line["formula"] == PYTHON and not line["printed"]:
            yield from getattr(self.functions, self.name)(reader)
            return
        for turn in formulas.loop(line["for"], reader):
            try:
                if line["formula"] == PYTHON:
                    value = getattr(self.functions, self.name)(reader)
                else:
                    value = turn.value(line["formula"]) if line["formula"] else None
                text = turn.sentence(line["printed"])  # the last cell read is the printed one
            except EmptyCell:
                if turn.row is None:
                    raise
                continue  # a row without the number makes no claim
            item = line["item"].format_map(turn.words) if line["item"] else " ".join(turn.label)
            if line["bound"]:  # a sign before the printed value, or all that the value is held to
                whole = any(map(str.isdigit, line["bound"]))
                text = Bound(line["bound"] if whole else f"{line['bound']} {text}", text)
            yield item, text, value

    def _claim(self, item: str, text: str, computed: Interval | float | None, reader: Reader) -> Claim:
        """What is computed against what is printed.  A :class:`Bound` has the printed text beside it."""
        printed, bound = getattr(text, "printed", text), text if isinstance(text, Bound) else ""
        value = Interval(math.nan, math.nan, math.nan) if computed is None else as_interval(computed)
        found = NOT_CHECKABLE if computed is None else verdict(text, value)
        instead = OUR_BOUND if bound else self.instead.get(item, self.instead.get(ALL, ""))
        return Claim(
            f"{self.document}.{self.name}" + (f"[{item}]" if item else ""),
            self.document,
            self.where.replace("{item}", item),
            self.statement.replace("{item}", item),
            printed,
            value.mid,
            (value.lo, value.hi),
            instead if instead and found in (AGREES, ROUNDING) else found,
            str(bound),
            self.reasons.get(item, self.reasons.get(ALL, "")),
            reader.place(printed),
        )


@cache
def ledger(document: str) -> list[Entry]:
    """The entries of one document, in the order of its register.

    ``ValueError`` with file and line for a row that says nothing, and for a claim whose rows stand apart.
    """
    own = document in chapters.files("claims.py")
    functions = import_module(f"{chapters.__name__}.{document}.claims") if own else None
    lines = [line | {"place": here} for here, line in chapters.rows(chapters.files("claims.csv")[document], COLUMNS)]
    entries: dict[str, Entry] = {}
    for name, group in groupby(lines, key=lambda line: line["claim"]):
        of_name = list(group)
        if name in entries:
            raise ValueError(f"{of_name[0]['place']}: claim {name!r} stands above already; its rows belong together")
        entries[name] = Entry(document, name, of_name, functions)
    return list(entries.values())
