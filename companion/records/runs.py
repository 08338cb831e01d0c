"""Run records: what one experiment gave on one machine, as JSON with a schema and a version.

A record is a plain dictionary (``run_record.schema.json`` beside this module).  It is written to a
temporary name, flushed to the disk and moved, so a reader never sees half of one.  Reading never
executes anything: a file is JSON that fits the schema, or it is refused with the reason.

=====================  ==================================================================
experiment, document   identifiers in the register; ``item`` is the item of the document
preset, threads, seed  what was asked for
date                   UTC, ``YYYY-MM-DDTHH:MM:SSZ``
simulated              true if the outputs come from a model and not from this machine
kind                   "timing" (also where it is missing) or "study": each case ran once, for its result
few_samples            why cases have fewer than three samples, null where they have more (since
                       version 2)
machine                :func:`companion.host.machine.describe`
measurements           one object per case: problem, samples in seconds, checks, flags, and the work
                       of one repeat of all threads together
outputs                other results by name: ``value``, ``units``, optional ``dims``, ``long_name``
=====================  ==================================================================

Version 2 counts the work of all threads.  Version 1 counted one thread's where each thread does as much
(the kernels of :data:`ONE_THREAD_COUNTED`); such a record is read with the total in its place.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from companion.bench.statistics import median_interval
from companion.host import machine
from companion.records import store
from companion.records.store import finite, now, stamp

__all__ = [
    "COMMITTED",
    "RunRecordError",
    "SCHEMA",
    "VERSION",
    "committed",
    "dataset",
    "file_name",
    "finite",
    "keep",
    "latest",
    "load",
    "now",
    "read",
    "save",
    "single",
    "unfit",
    "validate",
]

SCHEMA = "supercomputers-rerun/run-record"
VERSION = 2
#: Records that belong to the book.
COMMITTED = Path(__file__).resolve().parents[2] / "data" / "runs"
#: Where a record goes that the book's folder does not take.
ASIDE = COMMITTED.parents[1] / ".cache" / "runs"


#: Kernels whose work version 1 counted for one thread, by every name that records give them.
ONE_THREAD_COUNTED = frozenset(
    {
        "kernels.memory.latency",
        "kernels.memory.stride",
        "kernels.peak",
        "kernels.processor.peak",
        "kernels.processor.smt",
        "kernels.smt",
    }
)


class RunRecordError(ValueError):
    """A file is not a run record that this version reads; the message names file and reason."""


_FORMAT = store.Format("run record", SCHEMA, VERSION, Path(__file__).parent / "run_record.schema.json", RunRecordError)


def validate(record: Any, name: str = "record") -> dict[str, Any]:
    """Return ``record`` if it is one.

    Raises
    ------
    RunRecordError
        Another kind of JSON, a newer version, a missing or surplus field, a wrong type, an output
        whose dimensions do not fit its value.
    """
    _FORMAT.validate(record, name)
    if reason := store.unusable(record["measurements"]):
        raise RunRecordError(f"{name} {reason}")
    sizes: dict[str, int] = {}
    for output, entry in record["outputs"].items():
        for dim, size in zip(*_output_shape(output, entry, name), strict=True):
            if sizes.setdefault(dim, size) != size:
                raise RunRecordError(f"{name}: output {output!r} has {size} along {dim!r}, another one {sizes[dim]}")
    return record


def upgrade(record: dict[str, Any]) -> dict[str, Any]:
    """A valid record of any version in the meaning of the newest one."""
    if record["version"] == VERSION:
        return record
    measurements = []
    for case in record["measurements"]:
        # threads that shared one loop's work were counted as one already
        if case["kernel"] in ONE_THREAD_COUNTED and not case["problem"].get("shared", False):
            case = case | {"work": _times(case["work"], case["threads"])}
        measurements.append(case)
    return record | {"version": VERSION, "measurements": measurements}


def _times(work: dict[str, Any], threads: int) -> dict[str, Any]:
    return {
        name: {part: threads * count for part, count in value.items()} if name == "parts" else threads * value
        for name, value in work.items()
    }


def read(path) -> dict[str, Any]:
    """The record in the file ``path``, in the meaning of the newest version.

    Raises
    ------
    RunRecordError
        The file is no run record; the message says what is wrong with it.
    """
    return upgrade(validate(_FORMAT.parse(Path(path)), str(path)))


def file_name(record: dict[str, Any]) -> str:
    """``experiment_preset_tN_date.json``, sorting by time within an experiment and preset."""
    preset = "".join(letter if letter.isalnum() else "-" for letter in record["preset"])
    return f"{record['experiment']}_{preset}_t{record['threads']}_{stamp(record['date'])}.json"


def save(record: dict[str, Any], folder, overwrite: bool = False) -> Path:
    """Write ``record`` into ``folder`` (made if missing) and return the file's path.

    A second record of the same experiment, preset, threads and second gets a name of its own, ending in
    ``-2``, unless ``overwrite`` says that it replaces the first.

    Raises
    ------
    RunRecordError
        ``record`` does not fit the schema.
    OSError
        The folder cannot be written, or the disk is full.
    """
    record = validate(finite(record))
    return store.write(Path(folder) / file_name(record), store.text(record, "measurements"), overwrite)


def unfit(record: dict[str, Any]) -> list[str]:
    """Why a record does not belong to the book, a clause each; empty where it does."""
    cases = record["measurements"]
    found = store.unfit(record, cases)
    unknown = [case["label"] for case in cases if case["other_load"] is None]
    if unknown:
        found.append(f"what others kept busy is unknown in {len(unknown)} of {len(cases)} cases, {unknown[0]!r} first")
    few = [case["label"] for case in cases if len(case["samples"]) < store.FEWEST]
    if few and record.get("kind") != "study" and not record.get("few_samples"):
        found.append(f"{len(few)} cases have fewer than {store.FEWEST} samples without a reason, {few[0]!r} first")
    return found + store.not_from_cases(record["outputs"], cases)


def keep(record: dict[str, Any], folder: Path) -> tuple[Path, list[str]]:
    """:func:`save` in ``folder``; what does not belong to the book goes to :data:`ASIDE` instead, and why."""
    reasons = unfit(record) if folder.resolve() == COMMITTED else []
    return save(record, ASIDE if reasons else folder), reasons


def _output_shape(name: str, entry: dict[str, Any], where: str):
    dims, array = _output_array(name, entry, where)
    return dims, array.shape


def _output_array(name: str, entry: dict[str, Any], where: str):
    """``(dims, array)`` of one output; ``RunRecordError`` if it is ragged or its dims do not fit."""
    value = entry["value"]
    if isinstance(value, dict):
        raise RunRecordError(f"{where}: output {name!r} must be a number, a text or a list, not an object")
    try:
        array = np.array(np.nan if value is None else value)
        if array.dtype == object:  # None among numbers
            array = array.astype(float)
    except (TypeError, ValueError):
        raise RunRecordError(f"{where}: output {name!r} is ragged or mixes texts and numbers") from None
    dims = entry.get("dims")
    if dims is None:
        dims = [f"{name}_{axis}" for axis in range(array.ndim)]
    if len(dims) != array.ndim or len(set(dims)) != len(dims):
        raise RunRecordError(f"{where}: output {name!r} has {array.ndim} dimension(s), its dims are {dims}")
    return dims, array.astype(object) if array.dtype.kind in "US" else array


def _coordinate(values: list[Any]):
    """A column of numbers where all are numbers (missing: NaN), otherwise of texts (missing: empty)."""
    present = [value for value in values if value is not None]
    if present and all(isinstance(value, (bool, int, float)) for value in present):
        if len(present) == len(values) and all(isinstance(value, int) for value in values):
            return np.array(values)
        return np.array([np.nan if value is None else float(value) for value in values])
    return np.array(["" if value is None else str(value) for value in values], dtype=object)


def _case_rows(records: Sequence[dict[str, Any]]):
    return [(record, case) for record in records for case in record["measurements"]]


def _case_variables(rows) -> dict[str, tuple]:
    """Variables along ``case`` (and ``sample``), each as (dims, values, attributes)."""
    cases = [case for _, case in rows]
    longest = max((len(case["samples"]) for case in cases), default=0)
    seconds = np.full((len(cases), longest), np.nan)
    for index, case in enumerate(cases):
        seconds[index, : len(case["samples"])] = case["samples"]
    bounds = [median_interval(case["samples"]) or (np.nan, np.nan) for case in cases]
    each = {
        "minimum": ([min(case["samples"]) for case in cases], "s", "minimum time of one repeat"),
        "maximum": ([max(case["samples"]) for case in cases], "s", "maximum time of one repeat"),
        "median": ([float(np.median(case["samples"])) for case in cases], "s", "median time of one repeat"),
        "median_low": ([low for low, _ in bounds], "s", "lower end of the median's 95 % interval"),
        "median_high": ([high for _, high in bounds], "s", "upper end of the median's 95 % interval"),
        "setup_s": ([case["setup_s"] for case in cases], "s", "allocation and first touch"),
        "compile_s": ([case["compile_s"] for case in cases], "s", "first call, compilation included"),
        "repeats": ([case["repeats"] for case in cases], "1", "repeats within one sample"),
        "flops": ([case["work"]["flops"] for case in cases], "flop", "operations of one repeat, all threads"),
        "bytes_read": ([case["work"]["bytes_read"] for case in cases], "byte", "bytes read by one repeat, all threads"),
        "bytes_written": (
            [case["work"]["bytes_written"] for case in cases],
            "byte",
            "bytes written by one repeat, all threads",
        ),
        "other_load": (
            np.array([case["other_load"] for case in cases], dtype=float),
            "CPU",
            "CPUs kept busy by others",
        ),
        "batch": ([case["batch"] for case in cases], "1", "cases of one batch were interleaved"),
    }
    variables: dict[str, tuple] = {
        name: ("case", np.array(values), {"units": units, "long_name": long_name})
        for name, (values, units, long_name) in each.items()
    }
    variables["flags"] = (
        "case",
        np.array(["; ".join(case["flags"]) for case in cases], dtype=object),
        {"long_name": "what makes the numbers doubtful"},
    )
    variables["seconds"] = (("case", "sample"), seconds, {"units": "s", "long_name": "time of one repeat"})
    for name in sorted({name for case in cases for name in case["observed"]}):
        series = [case["observed"].get(name, []) for case in cases]
        values = np.full((len(cases), max(longest, max(map(len, series)))), np.nan)
        for index, items in enumerate(series):
            values[index, : len(items)] = [np.nan if item is None else item for item in items]
        variables[f"observed_{name}"] = (("case", "sample"), values[:, :longest], {"long_name": name})
    return variables


def _case_coordinates(rows, taken: Iterable[str]) -> dict[str, tuple]:
    cases = [case for _, case in rows]
    coordinates = {
        "label": [case["label"] for case in cases],
        "threads": [case["threads"] for case in cases],
        "kernel": [case["kernel"] for case in cases],
        "experiment": [record["experiment"] for record, _ in rows],
        "preset": [record["preset"] for record, _ in rows],
        "date": [record["date"] for record, _ in rows],
        "machine": [machine.line(record["machine"]) for record, _ in rows],
    }
    reserved = {*taken, *coordinates, "case", "sample", "record"}
    for name in dict.fromkeys(name for case in cases for name in case["parameters"]):
        # A parameter keeps its name unless that is a word of every record.
        key = f"parameter_{name}" if name in reserved else name
        coordinates[key] = [case["parameters"].get(name) for case in cases]
    return {name: ("case", _coordinate(values)) for name, values in coordinates.items()}


def _outputs(records: Sequence[dict[str, Any]], taken) -> Any:
    """The records' outputs as one Dataset, along ``record`` where there are several records."""
    import xarray as xr

    parts = []
    for record in records:
        variables = {}
        for name, entry in record["outputs"].items():
            dims, array = _output_array(name, entry, record["experiment"])
            attributes = {"long_name": entry.get("long_name", name.replace("_", " "))}
            if entry["units"] is not None:
                attributes["units"] = entry["units"]
            variables[f"output_{name}" if name in taken else name] = (dims, array, attributes)
        parts.append(xr.Dataset(variables))
    if len(parts) == 1:
        return parts[0]
    return xr.concat(parts, dim="record", join="outer", data_vars="all", combine_attrs="override")


def dataset(records: Sequence[dict[str, Any]]):
    """Records as one ``xarray.Dataset``.

    Dimensions ``case`` and ``sample`` (missing samples are NaN); coordinates along ``case``: label,
    threads, kernel, experiment, preset, date, machine and every parameter of the cases; variables
    ``seconds``, ``minimum``, ``median`` (in brackets: ``data["median"]``, since a Dataset has a method
    of that name), ``median_low``, ``median_high``, ``flops``, ``bytes_read``, ``bytes_written``, … with
    ``units``.  Outputs are variables of their own name, along ``record`` if there are several records.
    """
    import xarray as xr

    if not records:
        raise ValueError("there is no record to read")
    if len({record["simulated"] for record in records}) > 1:
        raise ValueError("simulated and measured records cannot share one Dataset; load them apart")
    rows = _case_rows(records)
    if reason := store.oversized([case for _, case in rows]):
        raise RunRecordError(f"what is to share one Dataset {reason}")
    variables = _case_variables(rows)
    coordinates = _case_coordinates(rows, variables)
    data = xr.Dataset(variables, coords=coordinates)
    data = data.merge(_outputs(records, {*variables, *coordinates, "case", "sample", "record"}))
    first = records[0]
    for name in ("experiment", "document", "item", "title", "preset", "date"):
        data.attrs[name] = ", ".join(dict.fromkeys(record[name] for record in records))
    data.attrs["machine"] = "; ".join(dict.fromkeys(machine.line(record["machine"]) for record in records))
    data.attrs["commit"] = ", ".join(
        dict.fromkeys(str((record["machine"].get("provenance") or {}).get("commit") or "unknown") for record in records)
    )
    if len(records) == 1 and (caches := machine.last_caches(first["machine"])):
        data.attrs["last_caches"] = caches
    data.attrs["simulated"] = int(first["simulated"])
    data.attrs["records"] = len(records)
    return data


def load(paths):
    """The records in ``paths`` (one path, or several) as one ``xarray.Dataset`` (see :func:`dataset`).

    Raises
    ------
    RunRecordError
        A file is foreign, damaged, of a newer version or does not fit the schema.
    ValueError
        No path, or simulated beside measured records, or outputs that do not go together.
    """
    paths = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    records = [read(path) for path in paths]
    try:
        return dataset(records)
    except RunRecordError:
        raise
    except ValueError as error:  # xarray's, of outputs whose names or dimensions clash
        where = ", ".join(map(str, paths))
        raise RunRecordError(f"{where}: {' '.join(str(error).split())}" if where else str(error)) from None


def committed(experiment: str, folder=None) -> list:
    """The committed records of an experiment, one ``xarray.Dataset`` each, oldest first by their date.

    They may come from several machines; nothing is merged.  A damaged committed file is an error, not a gap.
    """
    folder = COMMITTED if folder is None else Path(folder)
    records = [read(path) for path in sorted(folder.glob(f"{experiment}_*.json"))]
    records = [record for record in records if record["experiment"] == experiment]
    return [dataset([record]) for record in sorted(records, key=lambda record: record["date"])]


def latest(experiment: str, folder=None):
    """The committed record of an experiment with the newest date as ``xarray.Dataset``, None if there is none."""
    found = committed(experiment, folder)
    return found[-1] if found else None


def single(record):
    """``record``, a Dataset that holds one record and not several.

    Raises
    ------
    ValueError
        It holds several: numbers of different runs, perhaps machines, would be averaged or drawn twice.
    """
    if record.attrs.get("records", 1) > 1:
        raise ValueError(
            f"this takes one record and got {record.attrs['records']}: {record.attrs['machine']}, "
            f"{record.attrs['date']}; give it runs.latest(id) or one of runs.committed(id)"
        )
    return record
