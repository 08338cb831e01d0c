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


#: Columns of :func:`case_rows`; those of numbers.
HEADS, NUMBERS = ("case", "statistic", "s", "GFLOPS", "GB/s", "doubtful"), ("s", "GFLOPS", "GB/s")


def case_rows(case: dict[str, Any]) -> list[tuple[str, ...]]:
    """Minimum and median of a case, a row each, with the rates that follow from the counted work of all threads."""
    rows: list[tuple[str, ...]] = []
    work = case["work"]
    counts = work["flops"], work["bytes_read"] + work["bytes_written"]
    for name, seconds in {"minimum": min(case["samples"]), "median": median(case["samples"])}.items():
        rates = [significant(count / seconds / 1e9, _DIGITS) if count else "" for count in counts]
        label, flags = ("", "") if rows else (case["label"], ", ".join(case["flags"]))
        rows.append((label, name, significant(seconds, _DIGITS), *rates, flags))
    return rows


def case_line(case: dict[str, Any]) -> str:
    """:func:`case_rows` as one line, with the sentences on what makes the times doubtful."""
    times = []
    for _, name, seconds, *rates, _ in case_rows(case):
        said = ", ".join(f"{rate} {unit}" for rate, unit in zip(rates, NUMBERS[1:], strict=True) if rate)
        times.append(f"{name} {seconds} s" + (f" ({said})" if said else ""))
    doubts = "; ".join(case["flags"].values())
    return f"{case['label']}: {', '.join(times)}" + (f"  [{doubts}]" if doubts else "")


def text(record: dict[str, Any], *, samples: bool = False) -> str:
    """Title, machine, cases with times and rates, every sample if asked for, and every other quantity of a record."""
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
