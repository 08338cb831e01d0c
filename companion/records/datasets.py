"""A run record as ``xarray.Dataset``: cases and samples are dimensions, parameters coordinates, outputs variables."""

from pathlib import Path
from typing import Any

import numpy as np

from companion.bench.statistics import median_interval
from companion.host import machine
from companion.late import pd, xr
from companion.records import machines


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


def _column(values: list[Any]) -> np.ndarray:
    """A parameter of the cases: numbers, or texts; a case without it has NaN, or the empty text."""
    if not values or any(isinstance(value, str) for value in values):
        return np.array(["" if value is None else str(value) for value in values], dtype=object)
    return np.array(values, dtype=float if None in values else None)


def _variables(cases: list[dict[str, Any]]) -> dict[str, tuple]:
    """Variables along ``case`` (and ``sample``), each as (dims, values, attributes)."""
    seconds = pd.DataFrame([case["samples"] for case in cases], dtype=float)
    ends = [median_interval(case["samples"]) or (np.nan, np.nan) for case in cases]
    numbers = {
        "minimum": (seconds.min(axis=1), "s", "minimum time of one repeat"),
        "maximum": (seconds.max(axis=1), "s", "maximum time of one repeat"),
        "median": (seconds.median(axis=1), "s", "median time of one repeat"),
        "median_low": ([low for low, _ in ends], "s", "lower end of the median's 95 % interval"),
        "median_high": ([high for _, high in ends], "s", "upper end of the median's 95 % interval"),
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


def dataset(record: dict[str, Any], folder: Path = machines.COMMITTED) -> "xr.Dataset":
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
    cases, host = record["measurements"], record["machine"]
    about = {name: record[name] for name in ("experiment", "preset", "date")} | {"machine": machine.line(host)}
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
        "label": machines.label(host, folder),
        "place": machines.place(host, folder),
        "commit": host["provenance"]["commit"] or "unknown",
        "simulated": int(record["simulated"]),
        "kind": record.get("kind") or "timing",
    }
    if memory := host["memory"]["total_bytes"]:
        data.attrs["memory"] = memory
    return data
