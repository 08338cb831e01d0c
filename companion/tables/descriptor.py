"""The descriptor of a document's tables, ``resources.json``: read, and refused in a sentence where it is damaged."""

import json
from functools import cache
from itertools import islice
from pathlib import Path

from companion.schemas import jsonschema
from companion.tables.csv import fail, raw_bytes

#: Departures among which the one to name is chosen.
MOST_ERRORS = 100


@cache
def _validator():
    schema = json.loads((Path(__file__).parent / "resources.schema.json").read_text(encoding="utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def read(path: Path) -> dict:
    """Content of a descriptor that fits ``resources.schema.json``.

    Raises
    ------
    TableError
        It is missing, no file, not UTF-8, not JSON, or lacks what every table must say; names the place.
    """
    raw = raw_bytes(path)
    try:
        content = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        row = raw.count(b"\n", 0, error.start) + 1
        fail(path, row, None, f"byte 0x{raw[error.start]:02x} is not UTF-8; save the descriptor as UTF-8.")
    except json.JSONDecodeError as error:
        fail(path, error.lineno, error.colno, f"{error.msg}; mend the descriptor.")
    except RecursionError:
        fail(path, None, None, "it is nested too deep; mend the descriptor.")
    found = list(islice(_validator().iter_errors(content), MOST_ERRORS))
    for wrong in sorted(found, key=lambda each: len(each.absolute_path), reverse=True):
        place = "/".join(map(str, wrong.absolute_path)) or "the top"
        fail(path, None, None, f"at {place}: {wrong.message[:200]}; mend the descriptor.")
    return content
