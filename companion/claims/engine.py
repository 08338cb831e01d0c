"""The ledger in which a document's claims are written down.

A claim recomputes a printed number from other printed numbers.  Every input is an ``Interval``: the printed
value with half a unit in its last place to either side (nothing for exact counts).  Interval arithmetic
carries that through the formula, so the verdict can tell a difference that rounding of the inputs explains
from one that it does not.  Inputs that occur twice in a formula widen the interval; formulas are written
so that they occur once where that matters.

The claims of a document stand in its register (``companion.claims.register``).
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from companion.claims.intervals import Interval, as_interval
from companion.claims.sheets import Place, Reader
from companion.claims.verdicts import AGREES, NOT_CHECKABLE, OUR_BOUND, ROUNDING, Bound, verdict


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


#: item, printed text, recomputed value; None where the document does not give the inputs
Items = Iterator[tuple[str, str, Interval | float | None]]
ALL = "*"  # in place of an item: what holds for every item of a claim


@dataclass
class Maker:
    """One entry of the register and what it says about the claims it makes; ``{item}`` in its texts is the item."""

    name: str
    document: str
    where: str
    statement: str
    make: Callable[[Reader], Items]
    reasons: dict[str, str] = field(default_factory=dict)
    instead: dict[str, str] = field(default_factory=dict)  # item -> one of INSTEAD

    def run(self, reader: Reader) -> list[Claim]:
        """The claims of this entry, on the tables ``reader`` gives."""
        return [
            self._claim(item, printed, text if isinstance(text, Bound) else "", value, reader.place(printed))
            for item, text, value in self.make(reader)
            for printed in [getattr(text, "printed", text)]
        ]

    def _claim(self, item: str, printed: str, bound: str, computed: Interval | float | None, place: Place) -> Claim:
        value = Interval(math.nan, math.nan, math.nan) if computed is None else as_interval(computed)
        found = NOT_CHECKABLE if computed is None else verdict(bound or printed, value)
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
            place,
        )


def check(makers: Iterable[Maker]) -> list[Claim]:
    """The claims of these entries, on the tables as they are."""
    return [claim for maker in makers for claim in maker.run(Reader(maker.document))]
