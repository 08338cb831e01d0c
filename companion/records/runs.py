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
few_samples            why cases have fewer than three samples, null where they have more (since
                       version 2)
machine                :func:`companion.host.machine.describe`
measurements           one object per case: problem, samples in seconds, checks, flags, and the work
                       of one repeat of all threads together
outputs                other results by name: ``value``, ``units``, optional ``dims``, ``long_name``
software, absent       of kind "peer": version and build of each side by name; what could not run, with the number of
                       threads, name and reason
=====================  ==================================================================

Version 2 counts the work of all threads.  Version 1 counted one thread's of ``kernels.smt`` and ``kernels.peak``; such
a record is read with the total in its place.  Version 3 says of the file system that was measured also whether it is
another than the root's, and what named the folder: ``separate_mount`` and ``source``, which older records leave out.

In a record of kind "peer" a measurement is one side of a comparison.  Its ``parameters`` name the family, the case and
the side: "ours" or a peer, whose ``checks`` say how far its answer is from ours.  ``observed`` of our side has the
seconds of builds that a short trial left out.  Records of before 26 November 2026, 17 h UTC, have no samples: they
observed the fastest and the median, and of a peer the median of the ratios round by round.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from companion.bench.sampling import QUIET
from companion.records import machines, store
from companion.records.datasets import dataset, outputs
from companion.records.store import finite
from companion.records.store import now as now

SCHEMA = "supercomputers-rerun/run-record"
VERSION = 4
#: Records that belong to the book.
COMMITTED = machines.COMMITTED
#: Those of kind "peer".
PEERS = COMMITTED.with_name("peers")
#: Where a record goes that the book's folder does not take.
ASIDE = COMMITTED.parents[1] / ".cache" / "runs"
#: Samples of a case that a record of the book has at least.
_FEWEST = 3
#: Digests of the files that were valid: a page reads a record many times.
_valid: set[bytes] = set()


@cache
def _validator():
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    from companion.schemas import jsonschema

    names = ("run_record.schema.json", "machine.schema.json")
    schema, described = (json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8")) for name in names)
    known = Registry().with_resource(names[1], DRAFT202012.create_resource(described))
    return jsonschema.Draft202012Validator(schema, registry=known)


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
    from companion.schemas import jsonschema

    wrong = jsonschema.exceptions.best_match(_validator().iter_errors(record))
    if wrong is not None:
        place = ".".join(map(str, wrong.absolute_path)) or "the record"
        raise ValueError(f"{name} does not fit the schema: {place}: {wrong.message[:200]}")
    labels = [case["label"] for case in record["measurements"]]
    if twice := [label for label in labels if labels.count(label) > 1]:
        raise ValueError(f"{name} names {len(twice)} cases {twice[0]!r}; each needs a label of its own")
    try:
        outputs(record)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    return record


def upgrade(record: dict[str, Any]) -> dict[str, Any]:
    """A valid record of any version in the meaning of the newest one."""
    for case in record["measurements"] if record["version"] == 1 else ():
        if case["kernel"] in ("kernels.smt", "kernels.peak"):
            work, threads = case["work"], case["threads"]
            work |= {name: threads * work[name] for name in ("flops", "bytes_read", "bytes_written")}
            work["parts"] = {part: threads * count for part, count in work["parts"].items()}
    return record | {"version": VERSION}


def read(path) -> dict[str, Any]:
    """The record in the file ``path``, in the meaning of the newest version.

    ``ValueError`` where the file is no run record; the message says what is wrong with it.
    """
    try:
        content = Path(path).read_bytes()
        found = store.strict_json(content.decode("utf-8"))
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no run record: it is damaged or not JSON ({error})") from None
    digest = hashlib.sha256(content).digest()
    if digest not in _valid:
        validate(found, str(path))
        _valid.add(digest)
    return upgrade(found)


def file_name(record: dict[str, Any]) -> str:
    """``experiment_preset_tN_date.json``, sorting by time within an experiment and preset."""
    preset = "".join(letter if letter.isalnum() else "-" for letter in record["preset"])
    date = record["date"].replace("-", "").replace(":", "")
    return f"{record['experiment']}_{preset}_t{record['threads']}_{date}.json"


def save(record: dict[str, Any], folder) -> Path:
    """Write ``record`` into ``folder`` (made if missing) and return the file's path.

    A second record of the same experiment, preset, threads and second gets a name of its own, ending in ``-2``.
    ``ValueError`` where ``record`` does not fit the schema.
    ``OSError`` where the folder cannot be written, or the disk is full.
    """
    record = validate(finite(record))
    return store.write(Path(folder) / file_name(record), store.text(record, "measurements"))


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


def load(path):
    """The record in the file ``path`` as an ``xarray.Dataset``; errors as :func:`read` and :func:`dataset`."""
    return dataset(read(path))


def committed(experiment: str, folder=None) -> list:
    """The committed records of an experiment, one ``xarray.Dataset`` each, oldest first by their date.

    They may come from several machines; nothing is merged.  A damaged committed file is an error, not a gap.
    """
    folder = COMMITTED if folder is None else Path(folder)
    return [run.copy() for run in _runs(experiment, folder, machines.stamp(folder))]


def peers(folder=None) -> list[dict[str, Any]]:
    """The committed records of kind "peer", oldest first; tests validate them, which takes seconds."""
    paths = sorted((PEERS if folder is None else Path(folder)).glob("*.json"))
    records = [store.strict_json(path.read_text(encoding="utf-8")) for path in paths]
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
    found = [run for folder in _own for run in _runs(experiment, folder, machines.stamp(folder), True)]
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
    return next((other for other in each(experiment) if other.attrs["label"] == run.attrs["label"]), None)


def latest(experiment: str, folder=None):
    """The newest record of an experiment on the first machine of :func:`each`; None without any.

    A record of another machine, however new, does not change what a sentence says.
    """
    found = each(experiment, folder)
    return found[0] if found else None
