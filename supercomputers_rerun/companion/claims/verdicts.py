"""Verdicts: a recomputed value against what is printed.

A printed number stands for the values that round to it, and a half rounds away from zero: 1.3 stands for
1.25 up to but not including 1.35.
"""

import re

from supercomputers_rerun.companion import tables
from supercomputers_rerun.companion.claims.intervals import Interval

AGREES, ROUNDING, _CONTRADICTS, NOT_CHECKABLE = "agrees", "rounding", "contradicts", "not checkable"
#: a comparison that cannot fail as the cells are: a number with itself, or with what it was restored from
IDENTITY, RESTORED = "identity", "restored by this"
#: what agrees with a choice of this book: a bound that the document does not print, a base that it does not name
OUR_BOUND, _OUR_BASE = "our bound", "our base"
#: what a register states instead of agreement
INSTEAD = (IDENTITY, RESTORED, _OUR_BASE)
VERDICTS = (AGREES, ROUNDING, _CONTRADICTS, OUR_BOUND, *INSTEAD, NOT_CHECKABLE)
SLACK = 1e-14  # relative; absorbs binary representation of decimal fractions, below thirteen printed digits

_NUMERAL = r"[+-]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_PRINTED = re.compile(
    rf"(?P<mark>>=|<=|>|<|~)?\s*(?P<low>{_NUMERAL})(?:\s*-\s*(?P<high>{_NUMERAL}))?\s*(?P<unit>[^\d].*)?"
)


class Bound(str):
    """A bound of ours on a recomputed value, with what the document prints: ``Bound("< 180 s", "180 s")``."""

    printed: str

    def __new__(cls, bound: str, printed: str) -> "Bound":
        made = super().__new__(cls, bound)
        made.printed = printed
        return made


def verdict(printed: str, value: Interval) -> str:
    """Verdict on a recomputed value.

    ``printed`` is a number with an optional unit after it (``"1.22"``, ``"13 %"``); ``"> 9"`` and ``"< 4"``
    are bounds, ``"5-30 %"`` a range, ``"~3000 s"`` a number whose trailing zeros are not significant.
    ``agrees``: the value rounds to what is printed, a half away from zero.  ``rounding``: the interval that the
    inputs allow meets the printed one.  ``contradicts``: it does not.
    """
    match = _PRINTED.fullmatch(printed.strip())
    if not match:
        raise ValueError(f"the printed value {printed!r} is not a number, a bound or a range; write it as '1.22 s'.")
    low_text = match["low"].replace(",", "")
    low = float(low_text)
    high = float(match["high"].replace(",", "")) if match["high"] else low
    mark = match["mark"] or ""
    slack = SLACK * max(abs(low), abs(high), abs(value.mid))
    if mark[:1] in ("<", ">"):
        return _bounded(mark, low, slack, value)
    half = significant_half(low_text) if mark == "~" else tables.half_unit(low_text)
    half_high = tables.half_unit(match["high"].replace(",", "")) if match["high"] else half
    return _rounded(low - half, high + half_high, slack, value)


def _bounded(mark: str, bound: float, slack: float, value: Interval) -> str:
    sign = 1 if mark[0] == ">" else -1

    def holds(x: float) -> bool:
        return sign * (x - bound) > 0 or ("=" in mark and abs(x - bound) <= slack)

    best = value.hi if sign > 0 else value.lo
    return AGREES if holds(value.mid) else ROUNDING if holds(best) else _CONTRADICTS


def _rounded(low: float, high: float, slack: float, value: Interval) -> str:
    """``low`` and ``high`` are the ends of what rounds to the printed number: the one nearer zero belongs to it."""
    includes_low, includes_high = low >= 0, high <= 0

    def inside(x: float) -> bool:
        above = x >= low - slack if includes_low else x > low + slack
        below = x <= high + slack if includes_high else x < high - slack
        return above and below

    if inside(value.mid):
        return AGREES
    return ROUNDING if value.lo < high - slack and value.hi > low + slack else _CONTRADICTS


def significant_half(text: str) -> float:
    """Half a unit in the last non-zero digit of a whole number: ``"3000"`` gives 500."""
    if "." in text or "e" in text.lower() or not text.strip("0"):
        return tables.half_unit(text)
    return 0.5 * 10.0 ** (len(text) - len(text.rstrip("0")))
