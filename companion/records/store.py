"""A record as a file: JSON with a schema and a version, read so that nothing is executed.

How a file is refused, and how one is written and named.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from companion.bench.sampling import QUIET
from companion.files import write_text

#: Samples of a case that a record of the book has at least.
FEWEST = 3
#: What both kinds say of the host.
_MACHINE = Path(__file__).with_name("machine.schema.json")


def now() -> str:
    """The present in UTC, as records spell it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stamp(date: str) -> str:
    """A record's date as it stands in its file name."""
    return date.replace("-", "").replace(":", "")


def finite(value: Any) -> Any:
    """``value`` with NaN and infinity as None, for which JSON has no word."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def unfit(record: dict[str, Any], cases: list[dict[str, Any]]) -> list[str]:
    """Why a record with these cases does not belong to the book: where its code came from, and what others did."""
    found, provenance = [], record["machine"]["provenance"]
    if provenance["dirty"] is not False or not provenance["commit"]:
        found.append("it does not come from a clean checkout")
    loaded = [case["label"] for case in cases if "load" in case["flags"] or (case["other_load"] or 0.0) > QUIET]
    if loaded:
        found.append(
            f"others kept more than {QUIET:g} CPUs busy in {len(loaded)} of {len(cases)} cases, {loaded[0]!r} first"
        )
    return found


def not_from_cases(outputs: dict[str, Any], cases: list[dict[str, Any]]) -> list[str]:
    """Why outputs are no function of the cases: they hold more times along ``round`` than was measured in these."""
    times = sum(
        np.size(each["value"])
        for each in outputs.values()
        if each["units"] == "s" and "round" in (each.get("dims") or ())
    )
    known = sum(len(values) for case in cases for values in (case["samples"], *case["observed"].values()))
    if times <= known:
        return []
    return [f"its outputs hold {times} times of rounds and its cases {known}: what is measured is a case"]


def unusable(cases: list[dict[str, Any]]) -> str | None:
    """What a schema does not see and makes the cases of one record unusable, None if nothing does."""
    labels = Counter(case["label"] for case in cases).most_common(1)
    if labels and labels[0][1] > 1:
        return f"names {labels[0][1]} cases {labels[0][0]!r}; each needs a label of its own"
    return None


def _constant(word: str):
    raise ValueError(f"{word} is not JSON")


def strict_json(text: str) -> Any:
    """JSON as its standard has it: ``ValueError`` for NaN and infinity, which Python's reader takes."""
    return json.loads(text, parse_constant=_constant)


@dataclass
class Format:
    """One kind of record."""

    kind: str  # what messages call it, for example "run record"
    name: str  # value of the record's ``schema``
    version: int  # the newest that is read
    path: Path  # of the JSON Schema
    error: type[ValueError]  # for a file that is no such record
    #: Digests of the files that were valid: a page reads a record many times.
    _valid: set[bytes] = field(default_factory=set)

    @cached_property
    def _validator(self):
        from referencing import Registry
        from referencing.jsonschema import DRAFT202012

        from companion.schemas import jsonschema

        schema, described = (json.loads(path.read_text(encoding="utf-8")) for path in (self.path, _MACHINE))
        known = Registry().with_resource(_MACHINE.name, DRAFT202012.create_resource(described))
        return jsonschema.Draft202012Validator(schema, registry=known)

    def validate(self, record: Any, name: str) -> dict[str, Any]:
        """Return ``record`` if it fits the schema; ``error`` says of the file ``name`` why it does not."""
        if not isinstance(record, dict) or record.get("schema") != self.name:
            raise self.error(f"{name} is not a {self.kind}: its schema is not {self.name!r}")
        version = record.get("version")
        if isinstance(version, int) and version > self.version:
            raise self.error(f"{name} has version {version}, this code reads up to {self.version}; update it")
        from companion.schemas import jsonschema

        wrong = jsonschema.exceptions.best_match(self._validator.iter_errors(record))
        if wrong is not None:
            place = ".".join(map(str, wrong.absolute_path)) or "the record"
            reason = wrong.message if len(wrong.message) < 200 else wrong.message[:200] + "…"
            raise self.error(f"{name} does not fit the schema: {place}: {reason}")
        return record

    def read(self, path: Path, validate: Callable[[Any, str], dict[str, Any]]) -> dict[str, Any]:
        """What ``validate`` returns of the JSON in the file ``path``; it looks at each content once in a process.

        ``ValueError``: ``error``, where there is no JSON; and what ``validate`` raises.
        """
        try:
            content = path.read_bytes()
            found = strict_json(content.decode("utf-8"))
        except OSError as error:
            raise self.error(f"{path} cannot be read: {error.strerror or error}") from None
        except (ValueError, RecursionError) as error:
            raise self.error(f"{path} is no {self.kind}: it is damaged or not JSON ({error})") from None
        digest = hashlib.sha256(content).digest()
        if digest not in self._valid:
            found = validate(found, str(path))
            self._valid.add(digest)
        return found


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
