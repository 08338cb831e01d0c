"""Run records: what one experiment gave on one machine, as JSON with a schema and a version.

A record is a plain dictionary (``run_record.schema.json`` beside this module).  It is written to a
temporary name, flushed to the disk and moved, so a reader never sees half of one.  Reading never
executes anything: a file is JSON that fits the schema, or it is refused with the reason.

=====================  ==================================================================
experiment, document   identifiers in the register; ``item`` is the item of the document
preset, threads, seed  what was asked for
date                   UTC, ``YYYY-MM-DDTHH:MM:SSZ``
simulated              true if the outputs come from a model and not from this machine
kind                   "timing" (also where it is missing), "study": each case ran once, for its result,
                       "browser": the book measured the device that showed it, through WebAssembly, or
                       "peer": our kernels beside other software (since version 4)
few_samples            why cases have fewer than three samples, null where they have more
machine                :func:`companion.host.describe`
measurements           one object per case: problem, samples in seconds, checks, flags, and the work
                       of one repeat of all threads together
outputs                other results by name: ``value``, ``units``, optional ``dims``, ``long_name``
software, absent       of kind "peer": version and build of each side by name; what could not run, with the number of
                       threads, name and reason
=====================  ==================================================================

A machine is known by its *fingerprint*: the processor with its stepping and nominal clock, the CPUs that a process may
use, how many threads share a core, memory, caches, page policy and hypervisor.  What changes on one machine (kernel,
versions, date) is no part of it and is the history of its records.  A property that a record does not know agrees
with every value, since older records know less.

Version 3 says of the file system that was measured also what named its folder: ``source``, which records of version 2
leave out.  No older version is read.

In a record of kind "peer" a measurement is one side of a comparison.  Its ``parameters`` name the family, the case and
the side: "ours" or a peer, whose ``checks`` say how far its answer is from ours.  ``observed`` of our side has the
seconds of builds that a short trial left out.  Records of before 26 November 2026, 17 h UTC, have no samples: they
observed the fastest and the median, and of a peer the median of the ratios round by round.
"""

import hashlib
import itertools
import json
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from supercomputers_rerun import HOME
from supercomputers_rerun.companion import host
from supercomputers_rerun.companion.bench import QUIET, jsonable, median_interval
from supercomputers_rerun.companion.common import np, pd, size, strict_json, write_text, xr

SCHEMA = "supercomputers-rerun/run-record"
VERSION = 4
#: Records that belong to the book.
COMMITTED = HOME / "data" / "runs"
#: Those of kind "peer".
PEERS = COMMITTED.with_name("peers")
#: Where a record goes that the book's folder does not take.
ASIDE = COMMITTED.parents[1] / ".cache" / "runs"
#: Samples of a case that a record of the book has at least.
_FEWEST = 3
#: Bytes that a record may have: with 10 000 rounds of sixty cases it has some 20 MB.
_MOST_BYTES = 2**25
#: Digests of the files that were valid: a page reads a record many times.
_valid: set[bytes] = set()
_WORDS = re.compile(r"\((?:R|TM|C)\)|\b(?:CPU|Processor)\b|@.*|\b\d+-Core\b", re.IGNORECASE)


def now() -> str:
    """The present in UTC, as records spell it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@cache
def _validator():
    import fastjsonschema  # a tenth of a second; jsonschema takes two where JupyterLab is installed

    schema, machine = (
        json.loads(Path(__file__).with_name(f"{name}.schema.json").read_text(encoding="utf-8"))
        for name in ("run_record", "machine")
    )
    schema["properties"]["machine"] = machine  # which names nothing outside itself
    return fastjsonschema.compile(schema)


def validate(record: Any, name: str = "record") -> dict[str, Any]:
    """Return ``record`` if it is one.

    ``ValueError``: another kind of JSON, a newer version, a missing or surplus field, a wrong type, two cases of one
    label, an output whose dimensions do not fit its value.
    """
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise ValueError(f"{name} is not a run record: its schema is not {SCHEMA!r}")
    version = record.get("version")
    if isinstance(version, int) and version > VERSION:
        raise ValueError(f"{name} has version {version}, this code reads up to {VERSION}; update it")
    from fastjsonschema import JsonSchemaValueException

    try:
        _validator()(record)
    except JsonSchemaValueException as wrong:
        place = ".".join(wrong.path[1:]) or "the record"
        what = wrong.message.removeprefix(wrong.name or "").strip()
        raise ValueError(f"{name} does not fit the schema: {place}: {what[:200]}") from None
    labels = [case["label"] for case in record["measurements"]]
    if twice := [label for label in labels if labels.count(label) > 1]:
        raise ValueError(f"{name} names {len(twice)} cases {twice[0]!r}; each needs a label of its own")
    try:
        outputs(record)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    return record


def _content(path) -> bytes:
    """The bytes of a record; ``ValueError`` for a file beyond what any experiment can write."""
    with open(path, "rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError(f"it has more than {_MOST_BYTES >> 20} MiB, and no record has")
    return content


def read(path) -> dict[str, Any]:
    """The record in the file ``path``.

    ``ValueError`` where the file is no run record; the message says what is wrong with it.
    """
    try:
        content = _content(path)
        found = strict_json(content.decode("utf-8"))
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no run record: it is damaged or not JSON ({error})") from None
    digest = hashlib.sha256(content).digest()
    if digest not in _valid:
        validate(found, str(path))
        _valid.add(digest)
    return found


def file_name(record: dict[str, Any]) -> str:
    """``experiment_preset_tN_date.json``, sorting by time within an experiment and preset."""
    preset = "".join(letter if letter.isalnum() else "-" for letter in record["preset"])
    date = record["date"].replace("-", "").replace(":", "")
    return f"{record['experiment']}_{preset}_t{record['threads']}_{date}.json"


def write(path: Path, content: str) -> Path:
    """Write a record, or, where its name is taken, the same name with ``-2``, ``-3`` …; no record is lost.

    ``OSError`` where the folder cannot be written, or the disk is full: the record is on standard output in one line
    then, or, where that is full, too, on standard error.
    """
    name, number = path, 1
    while True:
        try:
            return write_text(name, content)
        except FileExistsError:
            number += 1
            name = path.with_stem(f"{path.stem}-{number}")
        except OSError as error:
            place = _handed_out(" ".join(content.split("\n")))
            reason = f"{error.strerror or error} (what was measured {place})"
            raise OSError(error.errno, reason, str(path)) from None


def _handed_out(line: str) -> str:
    """Give a record to whoever reads what a program says, and say where it stands."""
    try:
        print(line, flush=True)
        return "stands in the line above; save it as a file"
    except OSError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what the stream still holds, and could never write
    try:
        print(line, file=sys.stderr, flush=True)
        return "stands above, on standard error; save it as a file"
    except OSError:
        return "is lost: standard output and standard error take nothing"


def as_json(record: dict[str, Any]) -> str:
    """JSON with a line for each property and each case: readable, and below 1 MB."""
    lines = []
    for name, value in record.items():
        if name == "measurements":
            items = (json.dumps(item, allow_nan=False, separators=(",", ":")) for item in value)
            body = ",\n".join(f"  {item}" for item in items)
            lines.append(f" {json.dumps(name)}: [\n{body}\n ]")
        else:
            lines.append(f" {json.dumps(name)}: {json.dumps(value, allow_nan=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def save(record: dict[str, Any], folder) -> Path:
    """Write ``record`` into ``folder`` (made if missing) and return the file's path.

    A second record of the same experiment, preset, threads and second gets a name of its own, ending in ``-2``.
    ``ValueError`` where ``record`` does not fit the schema.
    ``OSError`` where the folder cannot be written, or the disk is full.
    """
    record = validate(jsonable(record))
    return write(Path(folder) / file_name(record), as_json(record))


def unfit(record: dict[str, Any]) -> list[str]:
    """Why a record does not belong to the book, a clause each; empty where it does."""
    if record.get("kind") == "browser":
        return ["a browser measured it, and the records of the book are of native code"]
    found, cases, provenance = [], record["measurements"], record["machine"]["provenance"]
    if provenance["dirty"] is not False or not provenance["commit"]:
        found.append("it does not come from a clean checkout")
    if " with " in (compiled := record["machine"]["software"].get("numba") or ""):
        found.append(f"its kernels are compiled otherwise, by numba {compiled}")

    def some(wrong: str, chosen: list[dict[str, Any]]) -> None:
        if chosen:
            found.append(f"{wrong} in {len(chosen)} of {len(cases)} cases, {chosen[0]['label']!r} first")

    loaded = [case for case in cases if "load" in case["flags"] or (case["other_load"] or 0.0) > QUIET]
    some(f"others kept more than {QUIET:g} CPUs busy", loaded)
    some("more was counted than a processor can do", [case for case in cases if "rate over peak" in case["flags"]])
    if record.get("kind") != "peer":
        some("what others kept busy is unknown", [case for case in cases if case["other_load"] is None])
    if record.get("kind") != "study" and not record.get("few_samples"):
        few = [case for case in cases if 0 < len(case["samples"]) < _FEWEST]
        some(f"there are fewer than {_FEWEST} samples without a reason", few)
    # outputs are functions of the cases: they hold no more times along ``round`` than was measured in these
    outputs = [each for each in record["outputs"].values() if each["units"] == "s" and "round" in each.get("dims", ())]
    times = sum(np.size(each["value"]) for each in outputs)
    known = sum(len(values) for case in cases for values in (case["samples"], *case["observed"].values()))
    if times > known:
        found.append(f"its outputs hold {times} times of rounds and its cases {known}: what is measured is a case")
    return found


def deposit(record: dict[str, Any], folder: Path) -> tuple[Path, list[str]]:
    """:func:`save` in ``folder``; what does not belong to the book goes to :data:`ASIDE` instead, and why."""
    reasons = unfit(record) if folder.resolve() in (COMMITTED, PEERS) else []
    return save(record, ASIDE if reasons else folder), reasons


def outputs(record: dict[str, Any]) -> "xr.Dataset":
    """The outputs of a record; ``ValueError`` where one is no array of its dimensions, or two differ along one."""
    found = {}
    for name, entry in record["outputs"].items():
        attributes = {"long_name": entry.get("long_name", name.replace("_", " "))}
        if entry["units"] is not None:
            attributes["units"] = entry["units"]
        try:
            array = np.array(np.nan if entry["value"] is None else entry["value"])
            if array.dtype.kind in "US":
                array = array.astype(object)
            elif array.dtype == object:  # None among numbers
                array = array.astype(float)
            dims = entry.get("dims", [f"{name}_{axis}" for axis in range(array.ndim)])
            found[name] = xr.Variable(dims, array, attributes)
        except (TypeError, ValueError) as error:
            raise ValueError(f"output {name!r}: {error}") from None
    return xr.Dataset(found)


def _column(values: list[Any]) -> "np.ndarray":
    """A parameter of the cases: numbers, or texts; a case without it has NaN, or the empty text."""
    if not values or any(isinstance(value, str) for value in values):
        return np.array(["" if value is None else str(value) for value in values], dtype=object)
    return np.array(values, dtype=float if None in values else None)


def _variables(cases: list[dict[str, Any]]) -> dict[str, tuple]:
    """Variables along ``case`` (and ``sample``), each as (dims, values, attributes)."""
    seconds = pd.DataFrame([dict(enumerate(case["samples"])) for case in cases], dtype=float)
    ends = [median_interval(case["samples"]) or (np.nan, np.nan) for case in cases]
    loads = np.array([case["other_load"] for case in cases], dtype=float)
    work = [case["work"] for case in cases]
    numbers = {
        "minimum": (seconds.min(axis=1), "s", "minimum time of one repeat"),
        "maximum": (seconds.max(axis=1), "s", "maximum time of one repeat"),
        "median": (seconds.median(axis=1), "s", "median time of one repeat"),
        "median_low": ([low for low, _ in ends], "s", "lower end of the median's 95 % interval"),
        "median_high": ([high for _, high in ends], "s", "upper end of the median's 95 % interval"),
        "setup_s": ([case["setup_s"] for case in cases], "s", "allocation and first touch"),
        "compile_s": ([case["compile_s"] for case in cases], "s", "first call, compilation included"),
        "repeats": ([case["repeats"] for case in cases], "1", "repeats within one sample"),
        "flops": ([each["flops"] for each in work], "flop", "operations of one repeat, all threads"),
        "bytes_read": ([each["bytes_read"] for each in work], "byte", "bytes read by one repeat, all threads"),
        "bytes_written": ([each["bytes_written"] for each in work], "byte", "bytes written by one repeat, all threads"),
        "other_load": (loads, "CPU", "CPUs kept busy by others"),
        "batch": ([case["batch"] for case in cases], "1", "cases of one batch were interleaved"),
    }
    found: dict[str, tuple] = {
        name: ("case", np.asarray(values), {"units": units, "long_name": meaning})
        for name, (values, units, meaning) in numbers.items()
    }
    flags = np.array(["; ".join(case["flags"]) for case in cases], dtype=object)
    found["flags"] = ("case", flags, {"long_name": "what makes the numbers doubtful"})
    found["seconds"] = (("case", "sample"), seconds.to_numpy(), {"units": "s", "long_name": "time of one repeat"})
    for name in sorted({name for case in cases for name in case["observed"]}):
        values = pd.DataFrame([dict(enumerate(case["observed"].get(name, []))) for case in cases], dtype=float)
        values = values.reindex(columns=seconds.columns).to_numpy()
        found[f"observed_{name}"] = (("case", "sample"), values, {"long_name": name})
    return found


def fingerprint(machine: dict[str, Any]) -> dict[str, Any]:
    """What makes a host the machine it is, from :func:`companion.host.describe`; unknown is None.

    Clocks in GHz, memory in GiB, caches as (level, type, bytes, CPUs that share it).
    """
    cpu, memory = machine["cpu"], machine["memory"]
    clock, total = cpu["nominal_hz"], memory["total_bytes"]  # rounded: both differ a little from boot to boot
    caches = tuple((each["level"], each["type"], each["bytes"], each["shared_by"]) for each in machine["caches"])
    return {
        "model": cpu["model"],
        "target": cpu.get("target"),
        "family, model, stepping": tuple(cpu["signature"]) if cpu.get("signature") else None,
        "nominal clock": None if clock is None else round(clock / 1e9, 1),
        "usable CPUs": machine["usable"]["cpus"],
        "threads a core": cpu["threads_per_core"],
        "memory": None if total is None else round(total / 2**30, 0),
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
    caches = [
        f"L{each['level']}{'i' if each['type'] == 'instruction' else ''} {size(each['bytes'])}"
        for each in machine["caches"]
        if each["bytes"] and each["level"]
    ]
    found = {"model": short(machine), "target": machine["cpu"].get("target")}
    return found | {"first cache": caches[0] if caches else "", "last cache": caches[-1] if caches else ""}


@dataclass(frozen=True)
class Machine:
    """One machine of a folder of records."""

    description: dict[str, Any]  # of its newest record
    label: str  # unique in the folder
    experiments: frozenset[str]  # what its records measured
    dates: tuple[str, ...]  # days of its records, in order
    commits: tuple[str, ...]  # of the programs that made them, in the same order


def _about(path: Path) -> dict[str, Any] | None:
    """Machine, date and experiment of a record; None for a file that is none, which its own reader refuses."""
    try:
        found = strict_json(_content(path).decode("utf-8"))
        return {name: found[name] for name in ("machine", "date", "experiment")}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _named(folder: Path) -> dict[str, dict[str, str]]:
    """Machines that have a letter, by what they are called, that of the prose first, then the latest; none in a folder
    of a reader."""
    path = folder.parent / "machines" / "measured.toml"
    if not path.is_file():
        return {}
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    letters = sorted(found["machine"], key=lambda letter: (letter == found["prose"], letter), reverse=True)
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
    found = filter(None, map(_about, sorted(folder.glob("*.json"))))
    records = sorted(found, key=lambda one: one["date"], reverse=True)
    named, known = _named(folder), list[Machine]()
    for each in distinct(record["machine"] for record in records):
        label = _name(each, named, {other.label for other in known})
        these = [record for record in reversed(records) if same(record["machine"], each)]
        measured = frozenset(record["experiment"] for record in these)
        dates = tuple(record["date"][:10] for record in these)
        commits = tuple(record["machine"]["provenance"]["commit"] or "unknown" for record in these)
        known.append(Machine(each, label, measured, dates, commits))
    places = {label: number for number, label in enumerate(named)}
    return tuple(sorted(known, key=lambda each: (places.get(each.label, len(places)), -len(each.experiments))))


def _stamp(folder: Path) -> tuple:
    """What changes when a record of ``folder`` does."""
    try:
        with os.scandir(folder) as found:
            return tuple(sorted((each.name, each.stat().st_mtime_ns) for each in found if each.name.endswith(".json")))
    except FileNotFoundError:
        return ()


def machines(folder: Path = COMMITTED) -> tuple[Machine, ...]:
    """Every machine of a folder of records: first that of the prose, then those with a letter, then by what was
    measured on them."""
    return _known(Path(folder), _stamp(folder))


def place(machine: dict[str, Any], folder: Path = COMMITTED) -> int:
    """Which machine of ``folder`` this is, counted as :func:`machines` orders them; a new one comes after all."""
    found = machines(folder)
    return next((n for n, each in enumerate(found) if same(machine, each.description)), len(found))


def label(machine: dict[str, Any], folder: Path = COMMITTED) -> str:
    """What a machine is called beside those of ``folder``."""
    found, number = machines(folder), place(machine, folder)
    if number < len(found):
        return found[number].label
    return _name(machine, {}, {other.label for other in found})


def dataset(record: dict[str, Any], folder: Path = COMMITTED) -> "xr.Dataset":
    """A record as ``xarray.Dataset``; its ``label`` names the machine beside those of ``folder``.

    Dimensions ``case`` and ``sample`` (missing samples are NaN); coordinates along ``case``: label, threads, kernel,
    experiment, preset, date, machine and every other parameter of the cases; variables ``seconds``, ``minimum``,
    ``median`` (in brackets: ``data["median"]``, since a Dataset has a method of that name), ``median_low``,
    ``median_high``, ``flops``, ``bytes_read``, ``bytes_written``, … with ``units``.  Outputs are variables of their own
    name, with ``output_`` before it where that is a word of the cases.
    ``ValueError`` for a record of peers, which holds sides of comparisons and no cases.
    """
    if record.get("kind") == "peer":
        raise ValueError("records of peers hold sides of comparisons and no cases; the page Peers shows them")
    cases, machine = record["measurements"], record["machine"]
    about = {name: record[name] for name in ("experiment", "preset", "date")} | {"machine": host.line(machine)}
    columns = {name: [case[name] for case in cases] for name in ("label", "threads", "kernel")}
    columns |= {name: [value] * len(cases) for name, value in about.items()}
    for name in dict.fromkeys(name for case in cases for name in case["parameters"]):
        columns.setdefault(name, [case["parameters"].get(name) for case in cases])
    coordinates = {name: ("case", _column(values)) for name, values in columns.items()}
    data = xr.Dataset(_variables(cases), coords=coordinates)
    found = outputs(record)
    data = data.merge(found.rename({name: f"output_{name}" for name in found if name in data.variables}))
    data.attrs |= about | {name: record[name] for name in ("document", "item", "title")}
    data.attrs |= {
        "label": label(machine, folder),
        "place": place(machine, folder),
        "commit": machine["provenance"]["commit"] or "unknown",
        "simulated": int(record["simulated"]),
        "kind": record.get("kind") or "timing",
    }
    known = {
        "memory": machine["memory"]["total_bytes"],
        "clock": machine["cpu"].get("measured_hz") or machine["cpu"]["nominal_hz"],
        "system": machine["system"]["os"],
        "compiler": f"numba {machine['software'].get('numba')}",
        "filesystem": machine["filesystem"]["type"],
        "isa": " ".join(machine["cpu"].get("isa") or ()),
    }
    data.attrs |= {name: value for name, value in known.items() if value}
    return data


def load(path):
    """The record in the file ``path`` as an ``xarray.Dataset``; errors as :func:`read` and :func:`dataset`."""
    return dataset(read(path))


def committed(experiment: str, folder=None) -> list:
    """The committed records of an experiment, one ``xarray.Dataset`` each, oldest first by their date.

    They may come from several machines; nothing is merged.  A damaged committed file is an error, not a gap.
    """
    folder = COMMITTED if folder is None else Path(folder)
    return [run.copy() for run in _runs(experiment, folder, _stamp(folder))]


def peers(folder=None) -> list[dict[str, Any]]:
    """The committed records of kind "peer", oldest first; tests validate them, which takes seconds."""
    paths = sorted((PEERS if folder is None else Path(folder)).glob("*.json"))
    records = [strict_json(path.read_text(encoding="utf-8")) for path in paths]
    return sorted(records, key=lambda record: record["date"])


@lru_cache(maxsize=256)
def _runs(experiment: str, folder: Path, stamp: tuple, foreign: bool = False) -> list:
    """The runs of a folder whose files have a ``stamp``; a ``foreign`` one may hold other files, and no machine."""
    paths = sorted(folder.glob(f"{experiment}_*.json"))
    records = native(experiment, folder) if foreign else [(read(path), path) for path in paths]
    return [
        dataset(record, COMMITTED if foreign else folder).assign_attrs(file=path.name)
        for record, path in sorted(records, key=lambda each: each[0]["date"])
        if record["experiment"] == experiment
    ]


#: Folders whose records are drawn as those of the reader's own machine.
_own: list[Path] = []


@contextmanager
def beside(folder: Path) -> Iterator[None]:
    """Within it, what draws runs also draws the newest of ``folder``, before all others, as those of "this machine"."""
    _own.append(Path(folder))
    try:
        yield
    finally:
        _own.pop()


def native(experiment: str, folder: Path) -> list[tuple[dict[str, Any], Path]]:
    """Records of native code of an experiment in any folder; a file that is no run record is somebody else's."""
    found = []
    for path in sorted(Path(folder).glob(f"{experiment}_*.json")):
        try:
            record = read(path)
        except ValueError:
            continue
        if record["experiment"] == experiment and record.get("kind") != "browser":
            found.append((record, path))
    return found


def own(experiment: str) -> list:
    """The reader's records of an experiment, in the folder of :func:`beside`, oldest first."""
    found = [run for folder in _own for run in _runs(experiment, folder, _stamp(folder), True)]
    return [run.assign_attrs(label="this machine", place=-1, own=1) for run in found]


def each(experiment: str, folder=None) -> list:
    """The newest record of an experiment on each machine, one ``xarray.Dataset`` each.

    First comes the reader's own (:func:`beside`), then the machine that the prose of the book names.
    """
    found = committed(experiment, folder) + own(experiment)
    newest = {record.attrs["label"]: record for record in found}
    return sorted(newest.values(), key=lambda record: record.attrs["place"])


#: Marks of the machines after the first, in their order, and that of the reader's own.
SHAPES, OWN = ("D", "^", "v", "s", "P", "X", "h", "p"), "*"


def marked(found: list) -> list:
    """Runs of one figure, each with the shape of its marks as attribute ``mark``; that of the first is empty."""
    shapes = iter(SHAPES)
    marks = [OWN if "own" in run.attrs else next(shapes, SHAPES[-1]) for run in found[1:]]
    return [run.assign_attrs(mark=mark) for run, mark in zip(found, ["", *marks], strict=True)] if found else []


def partner(run, experiment: str):
    """The newest stored run of another experiment on the machine of ``run``; None where it has none."""
    return next((other for other in each(experiment) if other.attrs["label"] == run.attrs.get("label")), None)


def latest(experiment: str, folder=None):
    """The newest record of an experiment on the first machine of :func:`each`; None without any.

    A record of another machine, however new, does not change what a sentence says.
    """
    found = each(experiment, folder)
    return found[0] if found else None


def files(paths: Iterable[Path]) -> list[Path]:
    """The files of ``paths``, of a folder all its records."""
    return [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
