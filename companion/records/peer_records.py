"""Peer records: what ``python -m peers`` gave on one machine, as JSON with a schema and a version.

A record is a plain dictionary (``peer_record.schema.json`` beside this module), written and refused as
run records are (:mod:`companion.records.runs`).

====================  ===================================================================
date                  UTC, ``YYYY-MM-DDTHH:MM:SSZ``, when the run began
modules, threads      what was asked for; ``rounds`` and ``seed`` as well
interrupted           None, or why comparisons are missing at the end
machine               :func:`companion.host.machine.describe`, our toolchain included
ours                  how our kernels were compiled
peers                 version (and options) of the other software by name
absent                peers that could not run: module, threads, name, reason
vectors               bits of the vectors of both sides' code, where they are not the processor's longest
load                  CPUs kept busy by others before, during and after the run
ceilings              by number of threads, the peak and the bandwidth of each level of memory
rows                  one object a comparison: our fastest and median seconds, those of every
                      peer with both ratios and (since imaging) how far its answer is apart, the
                      distance of peers with another answer, flags; operations and bytes where they are counted
====================  ===================================================================

Version 2 says of the folder for temporary files, whose file system some modules measure, its type, whether it is
another than the root's, and what named the folder; version 1 said nothing.

A ratio is the peer's time over ours.  ``ratio_fastest`` divides the fastest samples; ``ratio_median``
is the median of the ratios round by round, so it is not the ratio of the two medians.
"""

import math
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from companion.bench.sampling import QUIET
from companion.records import limits, machines, store

SCHEMA = "supercomputers-rerun/peer-record"
VERSION = 2
#: Records that belong to the book.
COMMITTED = Path(__file__).resolve().parents[2] / "data" / "peers"
#: The vectors of a record that names none.
NATIVE = "native"
#: Variables of a row and peer that are numbers: unit and long name.
NUMBERS = {
    "ours_fastest": ("s", "our fastest sample"),
    "ours_median": ("s", "median of our samples"),
    "peer_fastest": ("s", "the peer's fastest sample"),
    "peer_median": ("s", "median of the peer's samples"),
    "ratio_fastest": ("1", "peer's time over ours, fastest samples"),
    "ratio_median": ("1", "median over rounds of peer's time over ours"),
    "distance": ("1", "distance of the answers where they differ; such a peer is not timed"),
    "apart": ("1", "distance of the answers of a peer that is timed, where it was kept"),
    "other_load": ("CPU", "CPUs kept busy by others"),
    "flops": ("1", "floating-point operations"),
    "bytes": ("B", "bytes that the algorithm must move"),
    "share": ("1", "least time at the host's ceilings over our fastest time"),
}


class PeerRecordError(ValueError):
    """A file is not a peer record that this version reads; the message names file and reason."""


_FORMAT = store.Format(
    "peer record", SCHEMA, VERSION, Path(__file__).parent / "peer_record.schema.json", PeerRecordError
)


def validate(record: Any, name: str = "record") -> dict[str, Any]:
    """Return ``record`` if it is one.

    ``PeerRecordError``: another kind of JSON, a newer version, a missing or surplus field, a wrong type, or a ratio of
    fastest samples that does not follow from the two times beside it.
    """
    _FORMAT.validate(record, name)
    for row in record["rows"]:
        for peer, times in row["peers"].items():
            if not math.isclose(times["ratio_fastest"] * row["fastest"], times["fastest"], rel_tol=1e-9):
                raise PeerRecordError(
                    f"{name}: {row['group']}, {row['label']}: the ratio of {peer} does not "
                    "follow from its time and ours"
                )
    return record


def read(path) -> dict[str, Any]:
    """The record in the file ``path``; ``PeerRecordError`` says what is wrong with it."""
    return _FORMAT.read(Path(path), validate)


def file_name(record: dict[str, Any]) -> str:
    """``peers_modules_tN_date.json``, for example ``peers_memory-smt_t1-2_20261121T120000Z.json``.

    Vectors that are not the processor's own stand before the date: ``_256-bit``.
    """
    modules = "-".join(record["modules"])
    threads = "-".join(map(str, record["threads"]))
    built = "" if vectors(record) == NATIVE else f"_{vectors(record)}"
    return f"peers_{modules}_t{threads}{built}_{store.stamp(record['date'])}.json"


def save(record: dict[str, Any], folder) -> Path:
    """Write ``record`` into ``folder`` (made if missing) and return the file's path.

    A second record of the same modules, threads and second gets a name of its own, ending in ``-2``.
    ``PeerRecordError`` where ``record`` does not fit the schema. ``OSError`` where the folder cannot be written, or the
    disk is full.
    """
    record = validate(store.finite(record))
    return store.write(Path(folder) / file_name(record), store.text(record, "rows"))


def committed(folder=None) -> list[dict[str, Any]]:
    """The records of the book, oldest first.  A damaged committed file is an error, not a gap."""
    folder = COMMITTED if folder is None else Path(folder)
    return sorted(map(read, sorted(folder.glob("*.json"))), key=lambda record: record["date"])


def unversioned(record: dict[str, Any]) -> list[str]:
    """Peers of which the record gives no version; ways of calling one peer share it, if their names begin with its."""
    compared = {peer for row in record["rows"] for peer in (*row["peers"], *row.get("tried", {}))}
    return sorted(peer for peer in compared if not peer.startswith(tuple(record["peers"])))


def unfit(record: dict[str, Any]) -> list[str]:
    """Why a record does not belong to the book, a clause each; empty where it does."""
    found = [] if record["interrupted"] is None else [f"the run ended early: {record['interrupted']}"]
    found += store.unfit(record, record["rows"])
    if record["rounds"] < store.FEWEST:
        found.append(f"{record['rounds']} rounds are fewer than {store.FEWEST}")
    found += [f"the record does not say which version of {peer} ran" for peer in unversioned(record)]
    load = record.get("load")
    if not load:
        found.append("the load of the host was not recorded")
    else:
        found += [
            f"others kept {cpus:.2f} CPUs busy {when}, more than {QUIET:g}"
            for when, cpus in load.items()
            if cpus is not None and cpus > QUIET
        ]
    return found


def vectors(record: dict[str, Any]) -> str:
    """The vectors of both sides' code: ``"native"``, the processor's longest, or for example ``"256-bit"``."""
    return f"{record['vectors']}-bit" if "vectors" in record else NATIVE


def load(paths):
    """The records in ``paths`` (one path, or several) as one ``xarray.Dataset`` (see :func:`dataset`).

    ``PeerRecordError`` where a file is foreign, damaged, of a newer version or does not fit the schema. ``ValueError``:
    no path.
    """
    single = isinstance(paths, (str, os.PathLike))
    return dataset([read(path) for path in ([paths] if single else paths)])


#: Of a row whose share would be above 100 %, which no row can have.
_BEYOND = "no limit: its bytes, or the level that they come from, are not what is counted"
#: Numbers of a pair, and what a record calls them beside the name of the peer.
_OF_PEER = {"peer_fastest": "fastest", "peer_median": "median"} | {
    name: name for name in ("ratio_fastest", "ratio_median", "apart", "distance")
}
#: What a case is: of several records of it the newest counts.
_CASE = ("group", "label", "threads", "machine", "vectors")


def ceilings(records: Iterable[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """The best ceilings of each machine and vectors over all its records, by number of threads."""
    each = ((machines.label(record["machine"]), vectors(record), record.get("ceilings", {})) for record in records)
    return limits.of_hosts(list(each))


def _lines(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One dictionary a row and peer; a peer with another answer has a distance and no times, a row without peers one
    whose name is empty."""
    found, hosts = [], ceilings(records)
    for record in records:
        where = machines.label(record["machine"])
        for row in record["rows"]:
            found_limit = limits.limit(row, hosts[where, vectors(record)])
            doubts = list(row["flags"].values())
            if found_limit and found_limit.share > 1:
                found_limit = None
                doubts.append(_BEYOND)
            every = {name: row[name] for name in ("module", "group", "label", "threads", "other_load")}
            every |= {
                "machine": where,
                "date": record["date"],
                "ours_fastest": row["fastest"],
                "ours_median": row["median"],
                "flags": "; ".join(doubts),
                "vectors": vectors(record),
                "limit": found_limit.name if found_limit else "",
                "share": found_limit.share if found_limit else None,
                **{name: row.get("work", {}).get(name) for name in ("flops", "bytes")},
                "tried": len(row.get("tried", {})),
                "chosen": row.get("chosen", ""),
            }
            wrong = {peer: {"distance": math.inf if far is None else far} for peer, far in row["wrong"].items()}
            for peer, side in (row["peers"] | wrong or {"": {}}).items():
                own = {"peer": peer, "options": options(record, peer)}
                found.append(every | own | {name: side.get(word) for name, word in _OF_PEER.items()})
    return found


def options(record: dict[str, Any], peer: str) -> str:
    """Options of the compiler that a peer of a record was built with; empty where the record has none.

    Ways of calling one build share its version: their names begin with its own.
    """
    said = [
        text for name, text in sorted(record["peers"].items(), key=lambda item: len(item[0])) if peer.startswith(name)
    ]
    found = re.search(r"(?:^|[ ,])(-\S.*)$", said[-1]) if said else None
    return found[1] if found else ""


def _newest(lines: Sequence[dict[str, Any]]) -> np.ndarray:
    """Which lines count: of each case the newest, and of a peer in it the newest built with other options."""
    cases = [tuple(line[name] for name in _CASE) for line in lines]
    last: dict[tuple, str] = {}
    built: dict[tuple, str] = {}
    for case, line in zip(cases, lines, strict=True):
        for key in (case, (case, line["peer"], line["options"])):
            last[key] = max(last.get(key, ""), line["date"])
    for case, line in zip(cases, lines, strict=True):
        if line["date"] == last[case]:
            built[case, line["peer"]] = line["options"]

    def counts(case: tuple, line: dict[str, Any]) -> bool:
        peer, own = line["peer"], line["options"]
        other = built.get((case, peer), own) != own
        return line["date"] == last[case] or (other and line["date"] == last[case, peer, own])

    return np.array(list(map(counts, cases, lines)), dtype=bool)


def dataset(records: Sequence[dict[str, Any]]):
    """Records as one tidy ``xarray.Dataset`` along ``pair``: one comparison with one peer, or without any (peer "").

    Coordinates along ``pair``: module, group, label, threads, peer, machine, vectors, date, ``limit`` (what sets the
    least time, see :mod:`companion.records.limits`), ``tried`` (builds that a trial left out), ``chosen`` (what a trial
    of ways chose), ``options`` (of the compiler that built the peer), and ``newest``, which is true where no later
    record holds the same group, label, threads, machine and vectors, or the later one has the peer built with other
    options.  ``data.isel(pair=data["newest"])`` (or :func:`newest`) is what counts; older pairs stay beside it.
    Variables: the numbers of :data:`NUMBERS` with ``units``, NaN where there is none (a peer with another answer has a
    distance and neither time nor ratio), and ``flags``, what makes the numbers doubtful. ``ValueError`` where there is
    no record.
    """
    import xarray as xr

    if not records:
        raise ValueError("there is no record to read")
    lines = _lines(records)
    coordinates = {
        name: ("pair", np.array([line[name] for line in lines], dtype=object))
        for name in ("module", "group", "label", "peer", "machine", "vectors", "date", "limit", "chosen", "options")
    }
    for name in ("threads", "tried"):
        coordinates[name] = ("pair", np.array([line[name] for line in lines], dtype=int))
    coordinates["newest"] = ("pair", _newest(lines))
    variables = {
        name: (
            "pair",
            np.array([line.get(name) for line in lines], dtype=float),
            {"units": units, "long_name": long_name},
        )
        for name, (units, long_name) in NUMBERS.items()
    }
    variables["flags"] = (
        "pair",
        np.array([line["flags"] for line in lines], dtype=object),
        {"long_name": "what makes the numbers doubtful"},
    )
    return xr.Dataset(variables, coords=coordinates)


def newest(data):
    """Of a dataset the pairs that count: ``newest`` ones."""
    return data.isel(pair=np.flatnonzero(data["newest"].values))


def absent(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Peers that could not run, by the newest record of each module, number of threads and machine.

    Each has ``name``, ``reason``, ``module``, ``machine``, ``date`` and ``threads`` (a list).
    """
    latest: dict[tuple, dict[str, Any]] = {}
    for record in sorted(records, key=lambda record: record["date"]):
        where = machines.label(record["machine"])
        if vectors(record) != NATIVE:
            continue  # what cannot be built with other vectors is not absent
        for item in (*record["rows"], *record["absent"]):
            latest[item["module"], item["threads"], where] = record
    found: dict[tuple, dict[str, Any]] = {}
    for (module, threads, where), record in latest.items():
        for item in record["absent"]:
            if (item["module"], item["threads"]) == (module, threads):
                said = {"name": item["name"], "reason": item["reason"], "module": module, "machine": where}
                entry = found.setdefault(tuple(said.values()), said | {"date": record["date"], "threads": []})
                entry["date"] = max(entry["date"], record["date"])
                if threads not in entry["threads"]:
                    entry["threads"].append(threads)
    return list(found.values())


def standing(fastest, medians) -> dict[str, Any]:
    """How a group stands: of the ratios of fastest samples and of the median ratios, each with its best peer."""
    return {
        "cases": len(fastest),
        "median": float(np.median(fastest)),
        "tenth_percentile": float(np.percentile(fastest, 10)),
        "lowest": float(np.min(fastest)),
        "median_of_medians": float(np.median(medians)),
    }


def summary(data) -> list[dict[str, Any]]:
    """Each group, number of threads and machine against the fastest peer of every case.

    ``module``, ``group``, ``threads``, ``machine``, ``vectors``, ``cases``; ``median``, ``tenth_percentile`` and
    ``lowest`` of the ratios of fastest samples; ``median_of_medians``.
    """
    names = ["module", "group", "threads", "machine", "vectors"]
    frame = data.to_dataframe()
    timed = frame[np.isfinite(frame["peer_fastest"])]
    best = timed.loc[timed.groupby([*names, "label"], sort=False)["peer_fastest"].idxmin()]
    return [
        dict(zip(names, key, strict=True)) | standing(part["ratio_fastest"], part["ratio_median"])
        for key, part in best.groupby(names, sort=False)
    ]
