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
#: What both kinds say of the host.
_MACHINE = Path(__file__).with_name("machine.schema.json")


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


def _whole(digits: str) -> int:
    if len(digits) > 20 or not -(2**63) <= (number := int(digits)) < 2**63:
        raise ValueError(f"{digits[:40]} has more than 64 bits")
    return number


def _number(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise ValueError(f"{digits[:40]} is more than a number can hold")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for place, (name, _) in enumerate(pairs) if name in dict(pairs[:place]))
        raise ValueError(f"{twice!r} stands twice in one object")
    return found


def strict_json(text: str) -> Any:
    """JSON as its standard has it, with numbers of 64 bits, unlike names and text that can be written again.

    Raises
    ------
    ValueError, RecursionError
        What Python's reader takes beyond that: NaN, 1e999, a number of a thousand digits, half a surrogate pair.
    """
    found = json.loads(text, parse_constant=_constant, parse_int=_whole, parse_float=_number, object_pairs_hook=_object)
    if "\\ud" in text.lower():
        json.dumps(found, ensure_ascii=False).encode()
    return found


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
            from referencing import Registry
            from referencing.jsonschema import DRAFT202012

            from companion.schemas import jsonschema

            schema, described = (json.loads(path.read_text(encoding="utf-8")) for path in (self.path, _MACHINE))
            del described["$schema"]  # or it is held to the types of that and not to ours
            known = Registry().with_resource(_MACHINE.name, DRAFT202012.create_resource(described))
            newest = jsonschema.Draft202012Validator
            # JSON Schema calls 1.0 and 1e308 whole numbers, and has no largest one
            kinds = newest.TYPE_CHECKER.redefine(
                "integer", lambda _, value: type(value) is int and -(2**63) <= value < 2**63
            )
            self._checker = jsonschema.validators.extend(newest, type_checker=kinds)(schema, registry=known)
        return self._checker

    def validate(self, record: Any, name: str) -> dict[str, Any]:
        """Return ``record`` if it fits the schema; ``error`` says of the file ``name`` why it does not."""
        if not isinstance(record, dict) or record.get("schema") != self.name:
            raise self.error(f"{name} is not a {self.kind}: its schema is not {self.name!r}")
        version = record.get("version")
        if isinstance(version, int) and version > self.version:
            raise self.error(f"{name} has version {version}, this code reads up to {self.version}; update it")
        from companion.schemas import jsonschema

        wrong = jsonschema.exceptions.best_match(self._validator().iter_errors(record))
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
            return strict_json(text)
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
