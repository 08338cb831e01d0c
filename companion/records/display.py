"""One run record as lines of text: what was measured, in which units, on which machine."""

import re
from statistics import median
from typing import Any

from companion.figures.tabular import significant
from companion.host import machine

DIGITS = 4
LONGEST = 12  # values of one quantity that are printed in full


def _value(value: Any) -> str:
    if isinstance(value, list):
        shown = [_value(each) for each in value[:LONGEST]]
        rest = f", … ({len(value)} values)" if len(value) > LONGEST else ""
        return ("; " if any(isinstance(each, str) for each in value) else ", ").join(shown) + rest
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return significant(value, DIGITS)


def _unit(units: str | None) -> str:
    return f" {units}" if units and units != "1" else ""


def _rates(case: dict[str, Any], seconds: float) -> str:
    """Rates that follow from the counted work of all threads in a time, in parentheses."""
    work, found = case.get("work") or {}, []
    if work.get("flops"):
        found.append(f"{significant(work['flops'] / seconds / 1e9, DIGITS)} GFLOPS")
    moved = (work.get("bytes_read") or 0) + (work.get("bytes_written") or 0)
    if moved:
        found.append(f"{significant(moved / seconds / 1e9, DIGITS)} GB/s")
    return f" ({', '.join(found)})" if found else ""


def case_line(case: dict[str, Any]) -> str:
    """Minimum and median of a case, each with its own rates, and what makes them doubtful."""
    each = {"minimum": min(case["samples"]), "median": median(case["samples"])}
    times = ", ".join(f"{name} {significant(time, DIGITS)} s{_rates(case, time)}" for name, time in each.items())
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
            lines.append("    samples, s: " + ", ".join(significant(each, DIGITS) for each in case["samples"]))
    if record["outputs"]:
        lines.append("quantities:")
    for name, entry in record["outputs"].items():
        lines.append(f"  {re.sub('_', ' ', name)}: {_value(entry['value'])}{_unit(entry.get('units'))}")
    return "\n".join(lines)
