"""Which records come from one machine, and what a machine is called.

A machine is known by its *fingerprint*: the processor with its stepping and nominal clock, the CPUs that a process may
use, how many threads share a core, memory, caches, page policy and hypervisor.  What changes on one machine (kernel,
versions, date) is no part of it and is the history of its records.  A property that a record does not know agrees
with every value, since older records know less.
"""

import itertools
import os
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from companion.common import strict_json

#: Records that belong to the book.
COMMITTED = Path(__file__).resolve().parents[2] / "data" / "runs"

_WORDS = re.compile(r"\((?:R|TM|C)\)|\b(?:CPU|Processor)\b|@.*|\b\d+-Core\b", re.IGNORECASE)


def fingerprint(machine: dict[str, Any]) -> dict[str, Any]:
    """What makes a host the machine it is, from :func:`companion.host.machine.describe`; unknown is None.

    Clocks in GHz, memory in GiB, caches as (level, type, bytes, CPUs that share it).
    """
    cpu, memory = machine["cpu"], machine["memory"]
    clock, size = cpu["nominal_hz"], memory["total_bytes"]  # rounded: both differ a little from boot to boot
    caches = tuple((each["level"], each["type"], each["bytes"], each["shared_by"]) for each in machine["caches"])
    return {
        "model": cpu["model"],
        "target": cpu.get("target"),
        "family, model, stepping": tuple(cpu["signature"]) if cpu.get("signature") else None,
        "nominal clock": None if clock is None else round(clock / 1e9, 1),
        "usable CPUs": machine["usable"]["cpus"],
        "threads a core": cpu["threads_per_core"],
        "memory": None if size is None else round(size / 2**30, 0),
        "caches": caches or None,
        "page bytes": memory["page_bytes"],
        "transparent huge pages": memory["transparent_huge_pages"],
        "hypervisor": machine["system"].get("hypervisor"),
        "virtual": machine["system"]["virtual_machine"],
    }


def unlike(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """Names of the properties that both fingerprints know and in which they differ."""
    mine, other = fingerprint(a), fingerprint(b)
    return [name for name, value in mine.items() if None not in (value, other[name]) and value != other[name]]


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two descriptions may be of one machine: no known property of their fingerprints differs."""
    return not unlike(a, b)


def distinct(descriptions: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """One description of each machine, the first that was met; those that know more should come first."""
    found: list[dict[str, Any]] = []
    for each in descriptions:
        if not any(same(each, known) for known in found):
            found.append(each)
    return found


def short(machine: dict[str, Any]) -> str:
    """Maker and family of the processor without trade marks: ``AMD EPYC``, ``Intel Xeon``."""
    model = machine["cpu"]["model"] or machine["cpu"]["architecture"] or "unknown CPU"
    return " ".join(_WORDS.sub(" ", model).split()) or model


def _traits(machine: dict[str, Any]) -> dict[str, str | None]:
    """What ``measured.toml`` tells machines apart by."""
    caches = []
    for cache in (each for each in machine["caches"] if each["bytes"] and each["level"]):
        size, kind = cache["bytes"] // 2**10, "i" if cache["type"] == "instruction" else ""
        whole = size >= 2**11 and size % 2**10 == 0
        caches.append(f"L{cache['level']}{kind} {size // 2**10 if whole else size} {'MB' if whole else 'KB'}")
    found = {"model": short(machine), "target": machine["cpu"].get("target")}
    return found | {"first cache": caches[0] if caches else "", "last cache": caches[-1] if caches else ""}


@dataclass(frozen=True)
class Machine:
    """One machine of a folder of records."""

    description: dict[str, Any]  # of its newest record
    label: str  # unique in the folder
    experiments: frozenset[str]  # what its records measured


def _read(path: Path) -> dict[str, Any] | None:
    """Machine, date and experiment of a record; None for a file that is none, which its own reader refuses."""
    try:
        found = strict_json(path.read_text(encoding="utf-8"))
        return {name: found[name] for name in ("machine", "date", "experiment")}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _named(folder: Path) -> dict[str, dict[str, str]]:
    """Machines that have a letter, by what they are called, that of the prose first; none in a reader's own folder."""
    path = folder.parent / "machines" / "measured.toml"
    if not path.is_file():
        return {}
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    letters = sorted(found["machine"], key=lambda letter: (letter != found["prose"], letter))
    return {f"{letter} ({found['machine'][letter]['cpu']})": found["machine"][letter] for letter in letters}


def _name(machine: dict[str, Any], named: dict[str, dict[str, str]], taken: set[str]) -> str:
    """That of its letter, else of its processor, with a number where that is taken."""
    traits = _traits(machine)
    for label, words in named.items():
        if all(traits[name] == value for name, value in words.items() if name != "cpu"):
            return label
    names = (f"{short(machine)}{f' {number}' if number > 1 else ''}" for number in itertools.count(1))
    return next(name for name in names if name not in taken)


@lru_cache(maxsize=4)
def _known(folder: Path, stamp: tuple) -> tuple[Machine, ...]:
    records = sorted(filter(None, map(_read, sorted(folder.glob("*.json")))), key=lambda one: one["date"], reverse=True)
    named, found = _named(folder), list[Machine]()
    for each in distinct(record["machine"] for record in records):
        label = _name(each, named, {other.label for other in found})
        measured = frozenset(record["experiment"] for record in records if same(record["machine"], each))
        found.append(Machine(each, label, measured))
    places = {label: number for number, label in enumerate(named)}
    return tuple(sorted(found, key=lambda each: (places.get(each.label, len(places)), -len(each.experiments))))


def stamp(folder: Path) -> tuple:
    """What changes when a record of ``folder`` does."""
    try:
        with os.scandir(folder) as found:
            return tuple(sorted((each.name, each.stat().st_mtime_ns) for each in found if each.name.endswith(".json")))
    except FileNotFoundError:
        return ()


def known(folder: Path = COMMITTED) -> tuple[Machine, ...]:
    """Every machine of a folder of records: first that of the prose, then those with a letter, then by what was
    measured on them."""
    return _known(Path(folder), stamp(folder))


def place(machine: dict[str, Any], folder: Path = COMMITTED) -> int:
    """Which machine of ``folder`` this is, counted as :func:`known` orders them; a new one comes after all."""
    found = known(folder)
    return next((n for n, each in enumerate(found) if same(machine, each.description)), len(found))


def label(machine: dict[str, Any], folder: Path = COMMITTED) -> str:
    """What a machine is called beside those of ``folder``."""
    found, number = known(folder), place(machine, folder)
    if number < len(found):
        return found[number].label
    return _name(machine, {}, {other.label for other in found})
