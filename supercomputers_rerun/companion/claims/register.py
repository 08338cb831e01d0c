"""The register of claims: ``companion/chapters/<document>/claims.csv``.

A claim recomputes a printed number from other printed numbers.  Every input is an interval: the printed value with half
a unit in its last place to either side (nothing for exact counts).  Interval arithmetic carries that through the
formula, so the verdict can tell a difference that rounding of the inputs explains from one that it does not.  Inputs
that occur twice in a formula widen the interval; formulas are written so that they occur once where that matters.

The first row of a claim has its place and its sentence.  Rows that follow under the same name are more items of it, or
the reason of one.  ``formula`` is arithmetic on cells (``companion.claims.formulas``); ``python`` where the function of
that name in the chapter's ``claims.py`` computes; empty where the document does not give the inputs.
"""

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import groupby
from pathlib import Path

from supercomputers_rerun.companion import chapters
from supercomputers_rerun.companion.claims import formulas
from supercomputers_rerun.companion.claims.intervals import Interval, as_interval
from supercomputers_rerun.companion.claims.sheets import Place, Reader
from supercomputers_rerun.companion.claims.verdicts import AGREES, NOT_CHECKABLE, OUR_BOUND, ROUNDING, Bound, verdict

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
    """The rows of one claim in the register; ``{item}`` in their texts is the item."""

    def __init__(self, document: str, name: str, lines: list[dict[str, str]], functions: object = None):
        self.document, self.name, self.functions = document, name, functions
        self.where, self.statement = lines[0]["where"], lines[0]["statement"]
        self.parts = [line for line in lines if line["printed"] or line["formula"]]
        noted = [(item, line) for line in lines for item in ([ALL] if line["for"] else line["item"].split(" | "))]
        self.reasons = {item: line["reason"] for item, line in noted if line["reason"]}
        self.instead = {item: line["instead"] for item, line in noted if line["instead"]}  # item -> one of INSTEAD

    def items(self, reader: Reader) -> Iterator[tuple[str, str, Interval | float | None]]:
        """What the rows make, one item each or for each turn of a loop, or the function yields: item, text, value."""
        for line in self.parts:
            if line["formula"] == PYTHON and not line["printed"]:
                yield from getattr(self.functions, self.name)(reader)
                continue
            for turn in formulas.loop(line["for"], reader):
                try:
                    if line["formula"] == PYTHON:
                        value = getattr(self.functions, self.name)(reader)
                    else:
                        value = turn.value(line["formula"]) if line["formula"] else None
                    text = turn.sentence(line["printed"])  # the last cell read is the printed one
                except ArithmeticError:
                    if turn.row is None:
                        raise
                    continue  # a row without the number makes no claim
                item = line["item"].format_map(turn.words) if line["item"] else " ".join(turn.label)
                if line["bound"]:  # a sign before the printed value, or all that the value is held to
                    whole = any(map(str.isdigit, line["bound"]))
                    text = Bound(line["bound"] if whole else f"{line['bound']} {text}", text)
                yield item, text, value

    def claims(self, reader: Reader) -> Iterator[Claim]:
        """The claims of this entry, on the tables that ``reader`` gives."""
        for item, text, computed in self.items(reader):
            printed, bound = getattr(text, "printed", text), text if isinstance(text, Bound) else ""
            value = Interval(math.nan, math.nan, math.nan) if computed is None else as_interval(computed)
            found = NOT_CHECKABLE if computed is None else verdict(text, value)
            instead = OUR_BOUND if bound else self.instead.get(item, self.instead.get(ALL, ""))
            yield Claim(
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


def _lines(path: Path) -> Iterator[dict[str, str]]:
    """Rows of a register; ``ValueError`` for one that has more or fewer cells than the head."""
    with path.open(encoding="utf-8", newline="") as file:
        for line in (lines := csv.DictReader(file)):
            if None in line or None in line.values():
                place = f"supercomputers_rerun/companion/chapters/{path.parent.name}/{path.name}, line {lines.line_num}"
                raise ValueError(f"{place}: {len(COLUMNS)} cells belong here; one with a comma needs quotation marks")
            yield line


@cache
def ledger(document: str) -> list[Entry]:
    """The entries of one document, in the order of its register."""
    own = document in chapters.files("claims.py")
    functions = import_module(f"{chapters.__name__}.{document}.claims") if own else None
    groups = groupby(_lines(chapters.files("claims.csv")[document]), key=lambda line: line["claim"])
    return [Entry(document, name, list(lines), functions) for name, lines in groups]
