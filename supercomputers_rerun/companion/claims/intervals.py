"""Intervals: a printed value and what its digits allow, carried through a formula."""

import math
from collections.abc import Iterable
from dataclasses import dataclass


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

    def __rsub__(self, other: float) -> "Interval":
        return as_interval(other) - self

    __radd__, __rmul__ = __add__, __mul__

    def __rtruediv__(self, other: float) -> "Interval":
        return as_interval(other) / self


def as_interval(value: Interval | float) -> Interval:
    """A plain number is exact."""
    return value if isinstance(value, Interval) else Interval(float(value), float(value), float(value))


def total(values: Iterable[Interval | float]) -> Interval:
    """Sum of intervals."""
    return as_interval(sum(values, Interval(0.0, 0.0, 0.0)))
