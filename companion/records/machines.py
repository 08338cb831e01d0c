"""Which records come from one machine, and what a machine is called.

A machine is known by its *fingerprint*: the processor with its stepping and nominal clock, the CPUs that a process may
use, how many threads share a core, memory, caches, page policy and hypervisor.  What changes on one machine (kernel,
versions, date) is no part of it and is the history of its records.  A property that a record does not know agrees
with every value, since older records know less.
"""

import os
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from companion.records import store

#: Records that belong to the book.
COMMITTED = Path(__file__).resolve().parents[2] / "data" / "runs"

_WORDS = re.compile(r"\((?:R|TM|C)\)|\b(?:CPU|Processor)\b|@.*|\b\d+-Core\b", re.IGNORECASE)


def _rounded(value: float | None, unit: float, digits: int = 0) -> float | None:
    """Without what differs from boot to boot: a calibrated clock, pages that the kernel keeps."""
    return None if value is None else round(value / unit, digits)


def _caches(machine: dict[str, Any]) -> tuple | None:
    found = [(cache["level"], cache["type"], cache["bytes"], cache["shared_by"]) for cache in machine["caches"]]
    return tuple(found) or None


def fingerprint(machine: dict[str, Any]) -> dict[str, Any]:
    """What makes a host the machine it is, from :func:`companion.host.machine.describe`; unknown is None.

    Clocks in GHz, memory in GiB, caches as (level, type, bytes, CPUs that share it).
    """
    cpu, memory = machine["cpu"], machine["memory"]
    return {
        "model": cpu["model"],
        "target": cpu.get("target"),
        "family, model, stepping": tuple(cpu["signature"]) if cpu.get("signature") else None,
        "nominal clock": _rounded(cpu["nominal_hz"], 1e9, 1),
        "usable CPUs": machine["usable"]["cpus"],
        "threads a core": cpu["threads_per_core"],
        "memory": _rounded(memory["total_bytes"], 2**30),
        "caches": _caches(machine),
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


def _cache_words(machine: dict[str, Any]) -> dict[str, str]:
    found = {}
    for cache in machine["caches"]:
        if cache["bytes"] and cache["level"]:
            size = cache["bytes"] // 2**10
            name = f"L{cache['level']}{'i' if cache['type'] == 'instruction' else ''}"
            found[name] = f"{name} {size // 2**10} MB" if size >= 2**11 and size % 2**10 == 0 else f"{name} {size} KB"
    return found


def _traits(machine: dict[str, Any]) -> dict[str, str]:
    """What can tell two machines with processors of one name apart, in the order in which it is tried."""
    cpu, caches = machine["cpu"], _cache_words(machine)
    memory = _rounded(machine["memory"]["total_bytes"], 2**30)
    nominal = _rounded(cpu["nominal_hz"], 1e9, 1)
    each = {
        "target": cpu.get("target"),
        "last cache": list(caches.values())[-1] if caches else None,
        "first cache": next(iter(caches.values()), None),
        "CPUs": f"{machine['usable']['cpus']} CPUs",
        "threads": None if (cpu["threads_per_core"] or 1) == 1 else f"{cpu['threads_per_core']} threads a core",
        "clock": nominal and f"{nominal:g} GHz",
        "memory": memory and f"{memory:g} GiB",
        "pages": machine["memory"]["transparent_huge_pages"],
        "signature": cpu.get("signature") and "/".join(map(str, cpu["signature"])),
        "hypervisor": machine["system"].get("hypervisor"),
    }
    return {name: str(value) for name, value in each.items() if value}


def labels(machines: Sequence[dict[str, Any]]) -> list[str]:
    """A short name of each machine, unique among them: the processor, and what differs where two have one name."""
    found: list[str] = []
    for each in machines:
        alike = [other for other in machines if other is not each and short(other) == short(each)]
        said: list[str] = []
        for name, words in _traits(each).items():
            unlike = [other for other in alike if _traits(other).get(name) != words]
            if unlike:
                said.append(words)
                alike = [other for other in alike if other not in unlike]
            if not alike:
                break
        found.append(f"{short(each)} ({', '.join(said)})" if said else short(each))
    return found


@dataclass(frozen=True)
class Machine:
    """One machine of a folder of records."""

    description: dict[str, Any]  # of its newest record
    label: str  # unique in the folder
    experiments: frozenset[str]  # what its records measured


def _read(path: Path) -> dict[str, Any] | None:
    """Machine, date and experiment of a record; None for a file that is none, which its own reader refuses."""
    try:
        found = store.strict_json(path.read_text(encoding="utf-8"))
        return {name: found[name] for name in ("machine", "date", "experiment")}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


@lru_cache(maxsize=4)
def _known(folder: Path, stamp: tuple) -> tuple[Machine, ...]:
    records = list(filter(None, map(_read, sorted(folder.glob("*.json")))))
    records.sort(key=lambda record: record["date"], reverse=True)
    machines = distinct(record["machine"] for record in records)
    measured: list[set[str]] = [set() for _ in machines]
    for record in records:
        place = next(n for n, each in enumerate(machines) if same(record["machine"], each))
        measured[place].add(record["experiment"])
    return tuple(
        Machine(each, words, frozenset(names))
        for each, words, names in zip(machines, labels(machines), measured, strict=True)
    )


def _named(folder: Path) -> dict[str, dict[str, str]]:
    """Machines that have a letter, by what they are called, that of the prose first; none in a reader's own folder."""
    path = Path(folder).parent / "machines" / "measured.toml"
    if not path.is_file():
        return {}
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    letters = sorted(found["machine"], key=lambda letter: (letter != found["prose"], letter))
    return {f"{letter} ({found['machine'][letter]['cpu']})": found["machine"][letter] for letter in letters}


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
    named = _named(folder)

    def name(machine: Machine) -> str | None:
        traits = _traits(machine.description) | {"model": short(machine.description)}
        fits = (
            label for label, words in named.items() if all(traits.get(k) == v for k, v in words.items() if k != "cpu")
        )
        return next(fits, None)

    found = [replace(each, label=name(each) or each.label) for each in _known(Path(folder), stamp(folder))]
    places = {label: number for number, label in enumerate(named)}
    return tuple(sorted(found, key=lambda each: (places.get(each.label, len(places)), -len(each.experiments))))


def place(machine: dict[str, Any], folder: Path = COMMITTED) -> int:
    """Which machine of ``folder`` this is, counted as :func:`known` orders them; a new one comes after all."""
    found = known(folder)
    return next((n for n, each in enumerate(found) if same(machine, each.description)), len(found))


def label(machine: dict[str, Any], folder: Path = COMMITTED) -> str:
    """What a machine is called beside those of ``folder``."""
    found, number = known(folder), place(machine, folder)
    if number < len(found):
        return found[number].label
    return labels([machine, *(other.description for other in found)])[0]
