"""A record as a file: JSON that is read so that nothing is executed, and written so that none is lost."""

import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from companion.files import write_text


def now() -> str:
    """The present in UTC, as records spell it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def finite(value: Any) -> Any:
    """``value`` with NaN and infinity as None, for which JSON has no word."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _constant(word: str):
    raise ValueError(f"{word} is not JSON")


def strict_json(text: str) -> Any:
    """JSON as its standard has it: ``ValueError`` for NaN and infinity, which Python's reader takes."""
    return json.loads(text, parse_constant=_constant)


def write(path: Path, content: str) -> Path:
    """Write a record, or, where its name is taken, the same name with ``-2``, ``-3`` …; no record is lost.

    ``OSError`` where the folder cannot be written, or the disk is full: the record is on standard output in one line
    then.
    """
    name, number = path, 1
    while True:
        try:
            return write_text(name, content)
        except FileExistsError:
            number += 1
            name = path.with_stem(f"{path.stem}-{number}")
        except OSError as error:
            print(" ".join(content.split("\n")), flush=True)
            reason = f"{error.strerror or error} (what was measured stands in the line above; save it as a file)"
            raise OSError(error.errno, reason, str(path)) from None


def text(record: dict[str, Any], listed: str) -> str:
    """JSON with a line for each property and each item of ``listed``: readable, and below 1 MB."""
    lines = []
    for name, value in record.items():
        if name == listed:
            items = (json.dumps(item, allow_nan=False, separators=(",", ":")) for item in value)
            body = ",\n".join(f"  {item}" for item in items)
            lines.append(f" {json.dumps(name)}: [\n{body}\n ]")
        else:
            lines.append(f" {json.dumps(name)}: {json.dumps(value, allow_nan=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
