"""What a record answers, in the unit of its experiment: the tables of ``companion run`` and ``show``, CSV and JSON.

A row for each case: the median of its samples, and the 95 % interval of that, of fewer than six samples their range,
of one sample nothing.  What makes cases doubtful stands once below the table.  Where a figure of the experiment has
printed numbers, they follow, each beside what was measured here.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from statistics import median
from typing import Any

from supercomputers_rerun.companion import experiments, host
from supercomputers_rerun.companion.bench import FEWEST_SAMPLES, median_interval
from supercomputers_rerun.companion.common import DRAWING, missing, plain_bytes, plural, significant, size
from supercomputers_rerun.companion.experiments import RATES, SIZES, TIMES
from supercomputers_rerun.companion.records import runs

_DIGITS = 3
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


@dataclass(frozen=True)
class Row:
    """One case: its quantity in the unit of the table."""

    case: str
    threads: int
    parameters: dict[str, Any]
    median: float | None  # None where the case lacks what the unit divides by
    low: float | None  # None of one sample
    high: float | None
    samples: int
    rates: dict[str, float]  # of work that was counted, where the unit is a plain time
    flags: dict[str, str]


@dataclass(frozen=True)
class Printed:
    """A number that a report prints, and what was measured here in its place."""

    row: str
    unit: str
    here: float
    low: float
    high: float
    source: str
    report: float

    @property
    def ratio(self) -> float | None:
        """Here over the report; None where it prints zero."""
        return self.here / self.report if self.report else None


@dataclass(frozen=True)
class Answer:
    """What a record says of its experiment."""

    record: dict[str, Any]
    unit: str
    rows: list[Row]
    printed: list[Printed]


def _entry(record: dict[str, Any]) -> Any:
    return experiments.REGISTER.get(record["experiment"])


def _usual(cases: Sequence[dict[str, Any]]) -> str:
    """The unit of time in which the medians of most cases lie between 1 and 1000."""
    middle = median(median(case["samples"]) for case in cases if case["samples"]) if cases else 1.0
    return next((unit for unit, factor in reversed(TIMES.items()) if middle * factor >= 1), "ns")


def _work(case: dict[str, Any], what: str) -> float:
    work = case["work"]
    return work["flops"] if what == "flops" else work["bytes_read"] + work["bytes_written"]


def _quantities(case: dict[str, Any], unit: str, per: str, of: str) -> list[float]:
    """The samples of a case in a unit; none where the case lacks what is counted or divided by."""
    word = unit.partition(" ")[0]
    samples = [each for each in (case["observed"].get(of, []) if of else case["samples"]) if each is not None]
    share = 1.0 if not per else ({"threads": case["threads"]} | case["problem"] | case["parameters"]).get(per)
    if not share:
        return []
    if word in TIMES:
        return [TIMES[word] * each / share for each in samples]
    if word in SIZES:
        return [each / SIZES[word] / share for each in samples]
    what, factor = RATES[word]
    amount = _work(case, what) / factor / share
    return [amount / each for each in samples] if amount else []


def _row(case: dict[str, Any], unit: str, per: str, of: str, declared: bool) -> Row:
    values = _quantities(case, unit, per, of)
    low, high = (median_interval(values) or (min(values), max(values))) if len(values) > 1 else (None, None)
    rates: dict[str, float] = {}
    if not declared and case["samples"]:
        seconds = median(case["samples"])
        rates = {
            name: _work(case, RATES[name][0]) / RATES[name][1] / seconds
            for name in ("GB/s", "GFLOPS")
            if _work(case, RATES[name][0])
        }
    middle = median(values) if values else None
    about = plain_bytes(case["label"]), case["threads"], case["parameters"]
    return Row(*about, middle, low, high, len(values), rates, case["flags"])


def answer(record: dict[str, Any], beside: bool = True) -> Answer:
    """What ``record`` says, in the unit of its experiment; ``beside``: with the numbers that its report prints."""
    entry, cases = _entry(record), record["measurements"]
    declared, per, of = (entry.unit, entry.per, entry.of) if entry else ("", "", "")
    unit = declared or _usual(cases)
    rows = [_row(case, unit, per, of, bool(declared)) for case in cases]
    return Answer(record, unit, rows, _printed(record) if beside and entry and entry.figures else [])


def _printed(record: dict[str, Any]) -> list[Printed]:
    """Printed numbers of the experiment's figures; none where figures cannot be drawn here, or miss what they take."""
    if missing(*DRAWING):
        return []
    shown, _ = experiments.drawn_from(runs.dataset(record))
    return list(dict.fromkeys(Printed(*row) for each in shown for row in each.beside))


# Text


def _aligned(rows: list[list[str]]) -> Iterator[str]:
    """Rows in columns: the first flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        yield "  ".join([first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]).rstrip()


def _merged(texts: list[str]) -> str:
    """Sentences that differ in numbers alone as one: ``others kept 0.30 to 1.20 CPUs busy``."""
    different = list(dict.fromkeys(texts))
    if len({_NUMBER.sub("#", text) for text in different}) > 1:
        return f"{different[0]} (and others like it)"
    numbers = [sorted(set(column), key=float) for column in zip(*map(_NUMBER.findall, different), strict=True)]
    ranges = iter(column[0] if len(column) == 1 else f"{column[0]} to {column[-1]}" for column in numbers)
    return _NUMBER.sub(lambda _: next(ranges), different[0])


def doubts(rows: Sequence[Row]) -> tuple[dict[str, str], list[str]]:
    """The letter of each flag that some cases have and others not, and a line for each flag."""
    names = list(dict.fromkeys(name for row in rows for name in row.flags))
    letters: dict[str, str] = {}
    lines = []
    for name in names:
        texts = [row.flags[name] for row in rows if name in row.flags]
        whole = len(texts) == len(rows)
        if not whole:
            letters[name] = _LETTERS[len(letters) % len(_LETTERS)]
        where = f"all {len(rows)} cases" if whole and len(rows) > 1 else f"{len(texts)} of {plural(len(rows), 'case')}"
        lines.append(f"{letters.get(name, 'doubtful:')} {_merged(texts)} ({where})")
    return letters, lines


def _head(record: dict[str, Any]) -> list[str]:
    machine, ranks = record["machine"], record["machine"].get("mpi", {}).get("ranks")
    by = plural(ranks, "rank") if ranks else plural(record["threads"], "thread")
    found = [
        f"{record['title']} ({record['experiment']}; {record['item']} of {record['document']})",
        f"{host.line(machine)}; preset {record['preset']}, {by}, {record['date'][:10]}",
    ]
    return [*found, *(["simulated: no clock measured these numbers"] if record.get("simulated") else [])]


def _numbers(*values: float | None) -> list[str]:
    return ["–" if value is None else significant(float(value), _DIGITS) for value in values]


def _table(found: Answer) -> list[str]:
    letters, notes = doubts(found.rows)
    rates = list(dict.fromkeys(name for row in found.rows for name in row.rates))
    head = ["", f"median [{found.unit}]", "low", "high", *rates, ""]
    body = [
        [
            row.case,
            *_numbers(row.median, row.low, row.high),
            *_numbers(*(row.rates.get(name) for name in rates)),
            "".join(letters.get(name, "") for name in row.flags),
        ]
        for row in found.rows
    ]
    counts = sorted({row.samples for row in found.rows})
    spread = "low and high: 95 % interval of the median"
    if counts and counts[-1] == 1:
        spread = "one sample each, so nothing is known of the spread"
    elif counts and counts[0] < FEWEST_SAMPLES:
        spread += ", of fewer than six samples their range, of one sample none"
    return [*_aligned([head, *body]), spread, *notes]


def _beside(found: Answer) -> list[str]:
    """The printed numbers, a line each under the unit and the source."""
    alone = all(row.samples == 1 for row in found.rows)  # whose ends say nothing
    doubt = " (doubtful, see above)" if any(row.flags for row in found.rows) else ""
    tables: dict[tuple[str, str], list[list[str]]] = {}
    for each in found.printed:
        head = ["", "here", "low", "high", each.source, "here / report"]
        ends: list[float | None] = [None, None] if alone else [each.low, each.high]
        table = tables.setdefault((each.unit, each.source), [head])
        table.append([each.row, *_numbers(each.here, *ends, each.report, each.ratio)])
    lines: list[str] = []
    for (unit, _), table in tables.items():
        lines += ["", f"Beside the report: {unit}{doubt}", *_aligned(table)]
    return lines


_LONGEST = 12  # values of one quantity that are printed in full


def _value(value: Any) -> str:
    if isinstance(value, list) and any(isinstance(each, list) for each in value):
        return "a table, in the record"
    if isinstance(value, list):
        shown = [_value(each) for each in value[:_LONGEST]]
        rest = f", … ({len(value)} values)" if len(value) > _LONGEST else ""
        return ("; " if any(isinstance(each, str) for each in value) else ", ").join(shown) + rest
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return significant(value, _DIGITS + 1)


def _outputs(record: dict[str, Any]) -> list[str]:
    found = []
    for name, entry in record["outputs"].items():
        value, unit = entry["value"], entry.get("units")
        numbers = value if isinstance(value, list) else [value]
        if unit == "byte" and all(isinstance(each, int) for each in numbers):
            value, unit = [size(each) for each in numbers], None
        found.append(f"  {name.replace('_', ' ')}: {_value(value)}{'' if unit in (None, '1') else f' {unit}'}")
    return ["", "Other results", *found] if found else []


def text(found: Answer, path: Path | None = None) -> str:
    """The whole answer in lines; ``path`` is where the record lies."""
    record = found.record
    lines = [*_head(record), ""]
    lines += _table(found) if found.rows else ["a model gives no time"]
    lines += [*_beside(found), *_outputs(record)]
    if path is not None:
        lines += ["", f"record  {_short(path)}", f"next    {following(record, path)}"]
    return "\n".join(lines)


def following(record: dict[str, Any], path: Path) -> str:
    """What to type next: the figure, or the book's own run beside this one."""
    entry, file = _entry(record), quote(_short(path))
    said = []
    if entry and entry.figures:
        said.append(f"companion show {file} --figure {record['experiment']}.svg")
    stored = sorted(runs.COMMITTED.glob(f"{record['experiment']}_{record['preset']}_*.json"))
    if stored and path.resolve() not in [each.resolve() for each in stored]:
        said.append(f"companion compare {quote(_short(stored[-1]))} {file}")
    return "\n        ".join(said or ["companion list names the other experiments"])


def _short(path: Path) -> str:
    """A path as it is typed here: relative where it lies below the current folder."""
    path, here = path.resolve(), Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


# For programs


def rows_of(found: Answer) -> list[dict[str, Any]]:
    """A dictionary for each case, flat enough for a line of CSV: its parameters under their own names."""
    own = {"case", "unit", "median", "low", "high", "samples", "flags", "threads"}
    return [
        {"case": row.case, "threads": row.threads}
        | {(f"parameter_{name}" if name in own else name): value for name, value in row.parameters.items()}
        | {"unit": found.unit, "median": row.median, "low": row.low, "high": row.high, "samples": row.samples}
        | {"flags": "; ".join(row.flags.values())}
        for row in found.rows
    ]


def as_json(found: Answer, path: Path | None = None) -> str:
    """Cases, printed numbers and what was asked for, as JSON."""
    record = found.record
    words = ("experiment", "document", "item", "title", "preset", "threads", "seed", "date", "simulated")
    whole = {
        **{word: record[word] for word in words},
        "machine": host.line(record["machine"]),
        "unit": found.unit,
        "cases": rows_of(found),
        "printed": [vars(each) | {"ratio": each.ratio} for each in found.printed],
        "outputs": record["outputs"],
        "record": None if path is None else str(path),
    }
    return to_json(whole)


def to_json(value: Any) -> str:
    """JSON for a program, one value a line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1)


def to_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Dictionaries as CSV, their names in the order in which they come."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    file = io.StringIO()
    writer = csv.DictWriter(file, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().rstrip("\n")
