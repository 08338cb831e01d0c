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


def case_line(case: dict[str, Any]) -> str:
    """Minimum and median of a case, with the rates that follow from the counted work of all threads, and its doubts."""
    times, work = [], case["work"]
    counts = {"GFLOPS": work["flops"], "GB/s": work["bytes_read"] + work["bytes_written"]}
    for name, seconds in {"minimum": min(case["samples"]), "median": median(case["samples"])}.items():
        rates = [f"{significant(count / seconds / 1e9, _DIGITS)} {unit}" for unit, count in counts.items() if count]
        times.append(f"{name} {significant(seconds, _DIGITS)} s" + (f" ({', '.join(rates)})" if rates else ""))
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
