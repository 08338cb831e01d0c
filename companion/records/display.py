"""One run record as lines of text: what was measured, in which units, on which machine."""

import re
from statistics import median
from typing import Any

from companion.host import machine
from companion.labels import significant

_DIGITS = 4
_LONGEST = 12  # values of one quantity that are printed in full


def _value(value: Any) -> str:
    if isinstance(value, list):
        shown = [_value(each) for each in value[:_LONGEST]]
        rest = f", … ({len(value)} values)" if len(value) > _LONGEST else ""
        return ("; " if any(isinstance(each, str) for each in value) else ", ").join(shown) + rest
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return significant(value, _DIGITS)


def _unit(units: str | None) -> str:
    return f" {units}" if units and units != "1" else ""


def _rates(case: dict[str, Any], seconds: float) -> dict[str, str]:
    """Rates that follow from the counted work of all threads in a time, by unit."""
    work = case.get("work") or {}
    moved = (work.get("bytes_read") or 0) + (work.get("bytes_written") or 0)
    counts = {"GFLOPS": work.get("flops"), "GB/s": moved}
    return {unit: significant(count / seconds / 1e9, _DIGITS) for unit, count in counts.items() if count}


def _statistics(case: dict[str, Any]) -> dict[str, float]:
    return {"minimum": min(case["samples"]), "median": median(case["samples"])}


#: Columns of :func:`case_rows`; those of numbers.
HEADS, NUMBERS = ("case", "statistic", "s", "GFLOPS", "GB/s", "doubtful"), ("s", "GFLOPS", "GB/s")


def case_rows(case: dict[str, Any]) -> list[tuple[str, ...]]:
    """:func:`case_line` as rows of a table, one a statistic."""
    rows: list[tuple[str, ...]] = []
    for name, seconds in _statistics(case).items():
        rates, flags = _rates(case, seconds), ", ".join(case["flags"]) if not rows else ""
        values = (significant(seconds, _DIGITS), rates.get("GFLOPS", ""), rates.get("GB/s", ""))
        rows.append(("" if rows else case["label"], name, *values, flags))
    return rows


def case_line(case: dict[str, Any]) -> str:
    """Minimum and median of a case, each with its own rates, and what makes them doubtful."""
    each = {
        name: f"{significant(seconds, _DIGITS)} s" + (f" ({', '.join(map(' '.join, rates))})" if rates else "")
        for name, seconds in _statistics(case).items()
        for rates in [[(value, unit) for unit, value in _rates(case, seconds).items()]]
    }
    times = ", ".join(map(" ".join, each.items()))
    return f"{case['label']}: {times}" + (f"  [{'; '.join(case['flags'].values())}]" if case["flags"] else "")


def text(record: dict[str, Any], *, samples: bool = False) -> str:
    """Title, machine, cases with times and rates, and every other quantity of a record.

    Parameters
    ----------
    record : dict
        As :func:`companion.records.runs.read` gives it.
    samples : bool
        Every sample of every case as well.
    """
    lines = [
        f"{record['title']} ({record['experiment']}, items {record['item']} of {record['document']})",
        f"{machine.line(record['machine'])}; preset {record['preset']}, threads {record['threads']}, "
        f"{record['date'][:10]}",
    ]
    if record.get("simulated"):
        lines.append("simulated: no clock measured these numbers")
    for case in record["measurements"]:
        lines.append(f"  {case_line(case)}")
        if samples:
            lines.append("    samples, s: " + ", ".join(significant(each, _DIGITS) for each in case["samples"]))
    if record["outputs"]:
        lines.append("quantities:")
    for name, entry in record["outputs"].items():
        lines.append(f"  {re.sub('_', ' ', name)}: {_value(entry['value'])}{_unit(entry.get('units'))}")
    return "\n".join(lines)
