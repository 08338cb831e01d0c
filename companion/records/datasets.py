"""Run records as ``xarray.Dataset``: cases and samples along dimensions, parameters as coordinates, outputs by name."""

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from companion.bench.statistics import median_interval
from companion.host import machine
from companion.records import machines


class RunRecordError(ValueError):
    """A file is not a run record that this version reads; the message names file and reason."""


def output_array(name: str, entry: dict[str, Any], where: str):
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


def _end(number: int) -> Callable:
    """An end of the interval of a case's median."""
    return lambda case: (median_interval(case["samples"]) or (np.nan, np.nan))[number]


#: Numbers of a case: how they follow from it, their unit, and what they are.
_NUMBERS: dict[str, tuple[Callable[[dict[str, Any]], Any], str, str]] = {
    "minimum": (lambda case: min(case["samples"]), "s", "minimum time of one repeat"),
    "maximum": (lambda case: max(case["samples"]), "s", "maximum time of one repeat"),
    "median": (lambda case: float(np.median(case["samples"])), "s", "median time of one repeat"),
    "median_low": (_end(0), "s", "lower end of the median's 95 % interval"),
    "median_high": (_end(1), "s", "upper end of the median's 95 % interval"),
    "setup_s": (itemgetter("setup_s"), "s", "allocation and first touch"),
    "compile_s": (itemgetter("compile_s"), "s", "first call, compilation included"),
    "repeats": (itemgetter("repeats"), "1", "repeats within one sample"),
    "flops": (lambda case: case["work"]["flops"], "flop", "operations of one repeat, all threads"),
    "bytes_read": (lambda case: case["work"]["bytes_read"], "byte", "bytes read by one repeat, all threads"),
    "bytes_written": (lambda case: case["work"]["bytes_written"], "byte", "bytes written by one repeat, all threads"),
    "other_load": (
        lambda case: np.nan if case["other_load"] is None else float(case["other_load"]),
        "CPU",
        "CPUs kept busy by others",
    ),
    "batch": (itemgetter("batch"), "1", "cases of one batch were interleaved"),
}


def _case_variables(rows) -> dict[str, tuple]:
    """Variables along ``case`` (and ``sample``), each as (dims, values, attributes)."""
    cases = [case for _, case in rows]
    longest = max((len(case["samples"]) for case in cases), default=0)
    seconds = np.full((len(cases), longest), np.nan)
    for index, case in enumerate(cases):
        seconds[index, : len(case["samples"])] = case["samples"]
    variables: dict[str, tuple] = {
        name: ("case", np.array([of(case) for case in cases]), {"units": units, "long_name": long_name})
        for name, (of, units, long_name) in _NUMBERS.items()
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
            dims, array = output_array(name, entry, record["experiment"])
            attributes = {"long_name": entry.get("long_name", name.replace("_", " "))}
            if entry["units"] is not None:
                attributes["units"] = entry["units"]
            variables[f"output_{name}" if name in taken else name] = (dims, array, attributes)
        parts.append(xr.Dataset(variables))
    if len(parts) == 1:
        return parts[0]
    return xr.concat(parts, dim="record", join="outer", data_vars="all", combine_attrs="override")


def dataset(records: Sequence[dict[str, Any]], folder: Path = machines.COMMITTED):
    """Records as one ``xarray.Dataset``; its ``label`` names the machine beside those of ``folder``.

    Dimensions ``case`` and ``sample`` (missing samples are NaN); coordinates along ``case``: label,
    threads, kernel, experiment, preset, date, machine and every parameter of the cases; variables
    ``seconds``, ``minimum``, ``median`` (in brackets: ``data["median"]``, since a Dataset has a method
    of that name), ``median_low``, ``median_high``, ``flops``, ``bytes_read``, ``bytes_written``, … with
    ``units``.  Outputs are variables of their own name, along ``record`` if there are several records.
    """
    import xarray as xr

    if not records:
        raise ValueError("there is no record to read")
    if any(record.get("kind") == "peer" for record in records):
        raise ValueError("records of peers hold sides of comparisons and no cases; the page Peers shows them")
    if len({record["simulated"] for record in records}) > 1:
        raise ValueError("simulated and measured records cannot share one Dataset; load them apart")
    if len({record.get("kind") == "browser" for record in records}) > 1:
        raise ValueError("a browser's records and those of native code cannot share one Dataset; load them apart")
    rows = [(record, case) for record in records for case in record["measurements"]]
    variables = _case_variables(rows)
    coordinates = _case_coordinates(rows, variables)
    data = xr.Dataset(variables, coords=coordinates)
    data = data.merge(_outputs(records, {*variables, *coordinates, "case", "sample", "record"}))
    first, hosts = records[0], [record["machine"] for record in records]
    for name in ("experiment", "document", "item", "title", "preset", "date"):
        data.attrs[name] = ", ".join(dict.fromkeys(record[name] for record in records))
    data.attrs["machine"] = "; ".join(dict.fromkeys(map(machine.line, hosts)))
    data.attrs["label"] = "; ".join(dict.fromkeys(machines.label(host, folder) for host in hosts))
    data.attrs["place"] = machines.place(hosts[0], folder)
    if memory := hosts[0]["memory"]["total_bytes"]:
        data.attrs["memory"] = memory
    data.attrs["commit"] = ", ".join(dict.fromkeys(host["provenance"]["commit"] or "unknown" for host in hosts))
    if len(records) == 1 and (caches := machine.last_caches(hosts[0])):
        data.attrs["last_caches"] = caches
    data.attrs["simulated"] = int(first["simulated"])
    data.attrs["kind"] = first.get("kind") or "timing"
    data.attrs["records"] = len(records)
    return data
