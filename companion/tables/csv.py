"""The strict reader under ``companion.tables``: a CSV and its descriptor in, checked text and values out.

``resources.json``, the descriptor of a document's tables, is read and refused here, too.  The tests validate the
tables with the ``frictionless`` library.  A chapter reads some fifteen tables when it opens, so this reader does the
same checks with the standard library's ``csv`` alone.  Rows are counted as a spreadsheet counts them: the header is
row 1.
"""

import csv
import io
import json
import math
import re
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NoReturn

# digits of ASCII alone: \d and float() take those of every script
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,9})?")
_INTEGER = re.compile(r"[+-]?[0-9]+")
#: Departures among which the one to name is chosen.
_MOST_ERRORS = 100


class TableError(ValueError):
    """A table is unknown, damaged or does not match its descriptor; names file, row and column."""


def fail(path: Path, row: int | None, column: str | int | None, problem: str) -> NoReturn:
    """Raise ``TableError`` with the place in front of the problem."""
    place = [f"{path.parent.name}/{path.name}"]
    if row is not None:
        place.append(f"row {row}")
    if column is not None:
        place.append(f"column {column!r}")
    raise TableError(f"{', '.join(place)}: {problem}")


def _raw_bytes(path: Path) -> bytes:
    """Content of a file; ``TableError`` where there is none or it cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        fail(path, None, None, "the file is missing; restore it from the repository.")
    except OSError as error:
        fail(path, None, None, f"the file cannot be read ({error.strerror}); restore it from the repository.")


def decode(path: Path) -> str:
    """Text of a UTF-8 file without byte-order mark, ending in a newline.

    Raises ``TableError`` with row and column of the first byte that is not UTF-8.
    """
    raw = _raw_bytes(path)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8")
        row = before.count("\n") + 1
        header = before.split("\n", 1)[0].strip().split(",")
        cell = re.sub('"[^"]*"?', "", before.rsplit("\n", 1)[-1]).count(",")  # commas outside quotation marks
        column = header[cell] if row > 1 and cell < len(header) else str(cell + 1)
        fail(path, row, column, f"byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8.")
    if text.startswith("\ufeff"):
        fail(path, 1, None, "the file starts with a byte-order mark; save it as UTF-8 without one.")
    if "\0" in text:
        fail(path, text[: text.index("\0")].count("\n") + 1, None, "the file contains a NUL byte; restore it.")
    if not text.endswith("\n"):
        fail(
            path, text.count("\n") + 1, None, "the last row has no end of line, so the file was cut short; restore it."
        )
    return text


def read(path: Path, resource: dict) -> list[list[str]]:
    """Cells of the body as text, checked against ``resource["schema"]`` (Table Schema).

    Checked: encoding, quoting, header, width of every row, padding, types, ``required``, ``minimum``,
    ``maximum``, ``enum``, ``pattern``, ``unique``, ``primaryKey`` and, where ``resource["rows"]`` gives it,
    the number of rows.  Raises ``TableError``.
    """
    names = [field["name"] for field in resource["schema"]["fields"]]
    reader = csv.reader(io.StringIO(decode(path), newline=""), strict=True)
    rows = []
    try:
        for row in reader:
            rows.append(row)
            if reader.line_num != len(rows):
                fail(
                    path,
                    len(rows),
                    names[min(len(row), len(names)) - 1],
                    "a cell runs over the end of its line; close the quotation mark.",
                )
    except csv.Error as error:
        fail(path, len(rows) + 1, None, f"{error}; mend the quotation marks.")
    _check_header(path, rows[0], names)
    body = rows[1:]
    for number, row in enumerate(body, start=2):
        _check_row(path, number, row, resource)
    _check_unique(path, body, resource)
    expected = resource.get("rows")
    if expected is not None and len(body) != expected:
        fail(
            path,
            len(rows),
            None,
            f"{len(body)} rows stand where the descriptor expects {expected}; restore the file or mend the descriptor.",
        )
    return body


def _check_header(path: Path, header: list[str], names: list[str]) -> None:
    """The header is the descriptor's field names, in order."""
    for position, name in enumerate(names):
        found = header[position] if position < len(header) else None
        if found != name:
            fail(path, 1, name, f"the header has {found!r} here; name the column {name!r}.")
    if len(header) > len(names):
        fail(path, 1, header[len(names)], "the descriptor has no such column; remove it or describe it.")


def _check_row(path: Path, number: int, row: list[str], resource: dict) -> None:
    """Width, padding, type and constraints of one row."""
    fields = resource["schema"]["fields"]
    if len(row) != len(fields):
        column = fields[len(row)]["name"] if len(row) < len(fields) else str(len(fields) + 1)
        fail(path, number, column, f"the row has {len(row)} cells, the header {len(fields)}; mend the row.")
    missing = resource["schema"].get("missingValues", [""])
    for field, cell in zip(fields, row, strict=True):
        problem = cell_problem(field, "" if cell in missing else cell)
        if problem:
            fail(path, number, field["name"], problem)


def cell_problem(field: dict, cell: str) -> str | None:
    """What is wrong with one cell, or None."""
    limits = field.get("constraints", {})
    if cell == "":
        return "the cell is empty but required; key it from the document." if limits.get("required") else None
    if cell != cell.strip() or any(ord(character) < 32 for character in cell):
        return f"{cell!r} carries white space around it or a control character; remove it."
    try:
        value = parse(field, cell)
        if field["type"] == "integer" and not -(2**63) <= value < 2**63:
            return f"{cell[:40]} has more than 64 bits; key it again from the document."
    except ValueError:
        return f"{cell!r} is not of type {field['type']}; key it again from the document."
    if "enum" in limits and cell not in [str(choice) for choice in limits["enum"]]:
        return f"{cell!r} is none of {', '.join(map(str, limits['enum']))}."
    if "pattern" in limits and not re.fullmatch(limits["pattern"], cell):
        return f"{cell!r} does not match {limits['pattern']!r}."
    if "minimum" in limits and value < limits["minimum"]:
        return f"{cell} is below the least allowed value {limits['minimum']}."
    if "maximum" in limits and value > limits["maximum"]:
        return f"{cell} is above the greatest allowed value {limits['maximum']}."
    return None


def _check_unique(path: Path, body: list[list[str]], resource: dict) -> None:
    """No two rows share a primary key, no column marked ``unique`` repeats a value."""
    schema = resource["schema"]
    names = [field["name"] for field in schema["fields"]]
    keys = [tuple(schema["primaryKey"])] if schema.get("primaryKey") else []
    keys += [(field["name"],) for field in schema["fields"] if field.get("constraints", {}).get("unique")]
    for key in keys:
        seen: dict[tuple[str, ...], int] = {}
        for number, row in enumerate(body, start=2):
            value = tuple(row[names.index(name)] for name in key)
            if "" in value and len(key) == 1:
                fail(path, number, key[0], "the cell is part of the key and empty; key it from the document.")
            if value in seen:
                fail(path, number, ", ".join(key), f"the key {', '.join(value)} stands in row {seen[value]} too.")
            seen[value] = number


def parse(field: dict, cell: str):
    """Value of a non-empty cell; raises ``ValueError``."""
    kind = field["type"]
    if kind == "string":
        return cell
    if kind == "integer" and _INTEGER.fullmatch(cell):
        return int(cell)
    if kind == "number" and is_number(cell):
        return float(cell)
    if kind == "boolean":
        if cell in field.get("trueValues", ["true"]):
            return True
        if cell in field.get("falseValues", ["false"]):
            return False
    raise ValueError(cell)


def is_number(cell: str) -> bool:
    """Whether a cell is a decimal number that float64 holds, and half a unit of its last place, too."""
    if not NUMBER.fullmatch(cell) or not math.isfinite(float(cell)):
        return False
    return abs(_power(cell)) <= 300


def _power(text: str) -> int:
    """The power of ten of a number's last place."""
    mantissa, _, exponent = text.lower().partition("e")
    return int(exponent or 0) - len(mantissa.partition(".")[2])


def half_unit(text: str) -> float:
    """Half a unit in the last printed place: ``"0.354"`` gives 0.0005, ``"12e15"`` gives 5e14."""
    return 0.5 * 10.0 ** _power(text)


@cache
def _validator():
    from companion.schemas import jsonschema  # takes long, and only who reads a table needs it

    schema = json.loads((Path(__file__).parent / "resources.schema.json").read_text(encoding="utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def descriptor(path: Path) -> dict:
    """Content of a descriptor that fits ``resources.schema.json``.

    ``TableError`` where it is missing, no file, not UTF-8, not JSON, or lacks what every table must say; names the
    place.
    """
    raw = _raw_bytes(path)
    try:
        content = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        row = raw.count(b"\n", 0, error.start) + 1
        fail(path, row, None, f"byte 0x{raw[error.start]:02x} is not UTF-8; save the descriptor as UTF-8.")
    except json.JSONDecodeError as error:
        fail(path, error.lineno, error.colno, f"{error.msg}; mend the descriptor.")
    except RecursionError:
        fail(path, None, None, "it is nested too deep; mend the descriptor.")
    found = list(islice(_validator().iter_errors(content), _MOST_ERRORS))
    for wrong in sorted(found, key=lambda each: len(each.absolute_path), reverse=True):
        place = "/".join(map(str, wrong.absolute_path)) or "the top"
        fail(path, None, None, f"at {place}: {wrong.message[:200]}; mend the descriptor.")
    return content
