"""What every kind of record shares: JSON with a schema and a version, read so that nothing is executed.

Run records (:mod:`companion.records.runs`) and peer records (:mod:`companion.records.peer_records`) differ in their
schema alone; how a file is refused, and how one is written and named, stands here once.
"""

import hashlib
import json
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from companion.bench.sampling import QUIET
from companion.files import write_text
from companion.terminal import HIDDEN, plain, say
from kernels.files import foreign, pending

#: A record has half a megabyte at most and 35 000 values; a file beyond these is something else.
MAX_BYTES, MAX_VALUES = 4_000_000, 100_000
#: Names in one object, of which records have some dozens.
MAX_NAMES = 1000
#: Cells of the table of a record, or of several: the largest committed one makes some ten thousand.
_MAX_CELLS = 5_000_000
#: Departures from a schema among which the one to name is chosen.
_MOST_ERRORS = 100
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
    """``value`` with NaN and infinity as None, for which JSON has no word, and texts without control characters."""
    if isinstance(value, str):
        return HIDDEN.sub(" ", value)
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


def oversized(cases: list[dict[str, Any]]) -> str | None:
    """Why cases are too much for one table of every case with every parameter and as many samples as any has."""
    series = [len(values) for case in cases for values in (case["samples"], *case["observed"].values())]
    parameters, observed = ({name for case in cases for name in case[word]} for word in ("parameters", "observed"))
    cells = len(cases) * (len(parameters) + max(series, default=0) * (1 + len(observed)))
    if cells <= _MAX_CELLS:
        return None
    return f"makes a table of {cells} cells of {len(cases)} cases, at most {_MAX_CELLS} are made; give less at once"


def unusable(cases: list[dict[str, Any]]) -> str | None:
    """What a schema does not see and makes the cases of one record unusable, None if nothing does."""
    labels = Counter(case["label"] for case in cases).most_common(1)
    if labels and labels[0][1] > 1:
        return f"names {labels[0][1]} cases {labels[0][0]!r}; each needs a label of its own"
    return oversized(cases)


def _constant(word: str):
    raise ValueError(f"{word} is not JSON")


def _int64(digits: str) -> int:
    if len(digits) > 20 or not -(2**63) <= (number := int(digits)) < 2**63:
        raise ValueError(f"{digits[:40]} has more than 64 bits")
    return number


def _number(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise ValueError(f"{digits[:40]} is more than a number can hold")
    return number


def named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; ``ValueError`` for a name that occurs twice, and for more than :data:`MAX_NAMES`."""
    if len(pairs) > MAX_NAMES:
        raise ValueError(f"one object has {len(pairs)} names, at most {MAX_NAMES} are read")
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{twice[:40]!r} stands twice in one object")
    return found


def strict_json(text: str) -> Any:
    """JSON as its standard has it, with numbers of 64 bits, unlike names and text that can be written again.

    ``ValueError`` or ``RecursionError``: what Python's reader takes beyond that: NaN, 1e999, a number of a thousand
    digits, half a surrogate pair; more than :data:`MAX_VALUES` values.
    """
    if text.count(",") >= MAX_VALUES:
        raise ValueError(f"it has more than {MAX_VALUES} values")
    found = json.loads(
        text, parse_constant=_constant, parse_int=_int64, parse_float=_number, object_pairs_hook=named_once
    )
    if "\\ud" in text.lower():
        json.dumps(found, ensure_ascii=False).encode()
    return found


def _texts(value: Any) -> Iterator[str]:
    """Every text in what a JSON reader gave, names among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            if isinstance(each, (str, list, dict)):
                yield from _texts(each)


#: The types of JSON Schema that Python's reader gives as single objects.
_SCALARS: dict[str, tuple[type, ...]] = {"number": (int, float), "string": (str,), "null": (type(None),)}


def _items(validator: Any, schema: dict[str, Any], instance: Any, _: Any) -> Iterator[Any]:
    """The keyword ``items``; numbers and texts are looked at here, since the library takes long for each."""
    if not isinstance(instance, list):
        return
    kinds = schema.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    simple = set(schema) <= {"type", "exclusiveMinimum"} and set(kinds) <= set(_SCALARS)
    types = {kind for name in kinds for kind in _SCALARS.get(name, ())}
    above = schema.get("exclusiveMinimum", -math.inf)
    for index, item in enumerate(instance):
        if not (simple and type(item) in types and (type(item) is str or item is None or item > above)):
            yield from validator.descend(item, schema, path=index)


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
        del described["$schema"]  # or it is held to the types of that and not to ours
        known = Registry().with_resource(_MACHINE.name, DRAFT202012.create_resource(described))
        newest = jsonschema.Draft202012Validator
        # JSON Schema calls 1.0 and 1e308 whole numbers, and has no largest one
        kinds = newest.TYPE_CHECKER.redefine(
            "integer", lambda _, value: type(value) is int and -(2**63) <= value < 2**63
        )
        return jsonschema.validators.extend(newest, validators={"items": _items}, type_checker=kinds)(
            schema, registry=known
        )

    def validate(self, record: Any, name: str) -> dict[str, Any]:
        """Return ``record`` if it fits the schema; ``error`` says of the file ``name`` why it does not."""
        if not isinstance(record, dict) or record.get("schema") != self.name:
            raise self.error(f"{name} is not a {self.kind}: its schema is not {self.name!r}")
        version = record.get("version")
        if isinstance(version, int) and version > self.version:
            raise self.error(f"{name} has version {version}, this code reads up to {self.version}; update it")
        from companion.schemas import jsonschema

        wrong = jsonschema.exceptions.best_match(islice(self._validator.iter_errors(record), _MOST_ERRORS))
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
            content = foreign.content(path, MAX_BYTES)
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            raise self.error(f"{path} is not a {self.kind}: it is not text") from None
        except OSError as error:
            raise self.error(f"{path} cannot be read: {error.strerror or error}") from None
        try:
            found = strict_json(text)
            hidden = next(filter(None, map(HIDDEN.search, _texts(found))), None)
        except (ValueError, RecursionError) as error:
            raise self.error(f"{path} is damaged or not JSON: {error}") from None
        if hidden:
            raise self.error(f"{path} is no {self.kind}: a text in it holds the control character {plain(hidden[0])}")
        digest = hashlib.sha256(content).digest()
        if digest not in self._valid:
            found = validate(found, str(path))
            self._valid.add(digest)
        return found

    def write(self, path: Path, record: dict[str, Any], listed: str) -> Path:
        """:func:`write` a record that is valid, as :func:`text` has it; where it is read it is so still."""
        content = text(record, listed)
        self._valid.add(hashlib.sha256(content.encode()).digest())
        return write(path, content)


def write(path: Path, content: str) -> Path:
    """Write a record, or, where its name is taken, the same name with ``-2``, ``-3`` …; no record is lost.

    What killed writers of other records left in the folder goes. ``OSError`` where the folder cannot be written, or the
    disk is full: the record is in the folder for temporary files then, or, where that takes nothing either, on standard
    output in one line, and the message says so.
    """
    pending.clear(path.parent)
    try:
        return _named(path, content)
    except OSError as error:
        try:
            aside = f"kept in {_named(Path(tempfile.gettempdir()) / path.name, content)}"
        except OSError:
            aside = "kept nowhere but in the line above, on standard output; save it as a file"
            say(" ".join(content.split("\n")))
        raise OSError(error.errno, f"{error.strerror or error} (what was measured is {aside})", str(path)) from None


def _named(path: Path, content: str) -> Path:
    """The text under ``path``, or under the first name with a number that is free."""
    name, number = path, 1
    while True:
        try:
            return write_text(name, content)
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
