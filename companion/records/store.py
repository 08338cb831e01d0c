"""What every kind of record shares: JSON with a schema and a version, read so that nothing is executed.

Run records (:mod:`companion.records.runs`) and peer records (:mod:`companion.records.peer_records`) differ in their
schema alone; how a file is refused, and how one is written and named, stands here once.
"""

import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from companion.files import write_text
from kernels.files import pending

#: A record is some hundred kilobytes; a file beyond this is something else.
MAX_BYTES = 50_000_000


def now() -> str:
    """The present in UTC, as records spell it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stamp(date: str) -> str:
    """A record's date as it stands in its file name."""
    return date.replace("-", "").replace(":", "")


def finite(value: Any) -> Any:
    """``value`` with NaN and infinity as None: JSON has no word for them."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _constant(word: str):
    raise ValueError(f"{word} is not JSON")


class Format:
    """One kind of record.

    Parameters
    ----------
    kind : str
        What messages call it, for example ``"run record"``.
    name : str
        Value of the record's ``schema``.
    version : int
        Newest version that is read.
    path : Path
        The JSON Schema.
    error : type
        Exception for a file that is no such record.
    """

    def __init__(self, kind: str, name: str, version: int, path: Path, error: type[ValueError]):
        self.kind, self.name, self.version, self.path, self.error = kind, name, version, path, error
        self._checker = None

    def _validator(self):
        if self._checker is None:
            import jsonschema  # late: its format checkers compile a grammar, which takes over a second

            schema = json.loads(self.path.read_text(encoding="utf-8"))
            self._checker = jsonschema.Draft202012Validator(schema)
        return self._checker

    def validate(self, record: Any, name: str) -> dict[str, Any]:
        """Return ``record`` if it fits the schema; ``error`` says of the file ``name`` why it does not."""
        if not isinstance(record, dict) or record.get("schema") != self.name:
            raise self.error(f"{name} is not a {self.kind}: its schema is not {self.name!r}")
        version = record.get("version")
        if isinstance(version, int) and version > self.version:
            raise self.error(f"{name} has version {version}, this code reads up to {self.version}; update it")
        from jsonschema.exceptions import best_match

        wrong = best_match(self._validator().iter_errors(record))
        if wrong is not None:
            place = ".".join(map(str, wrong.absolute_path)) or "the record"
            reason = wrong.message if len(wrong.message) < 200 else wrong.message[:200] + "…"
            raise self.error(f"{name} does not fit the schema: {place}: {reason}")
        return record

    def parse(self, path: Path, largest: int = MAX_BYTES) -> Any:
        """The JSON in the file ``path``, not yet validated; ``error`` where there is none."""
        try:
            if path.stat().st_size > largest:
                raise self.error(f"{path} has more than {largest // 10**6} MB, which no {self.kind} has")
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise self.error(f"{path} is not a {self.kind}: it is not text") from None
        except OSError as error:
            raise self.error(f"{path} cannot be read: {error.strerror or error}") from None
        try:
            return json.loads(text, parse_constant=_constant)
        except (ValueError, RecursionError) as error:
            raise self.error(f"{path} is damaged or not JSON: {error}") from None


def write(path: Path, content: str, overwrite: bool = False) -> Path:
    """Write a record, or, where its name is taken, the same name with ``-2``, ``-3`` …; no record is lost.

    What killed writers of other records left in the folder goes.

    Raises
    ------
    OSError
        The folder cannot be written, or the disk is full.
    """
    pending.clear(path.parent)
    name, number = path, 1
    while True:
        try:
            return write_text(name, content, overwrite)
        except FileExistsError:
            number += 1
            name = path.with_stem(f"{path.stem}-{number}")


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
