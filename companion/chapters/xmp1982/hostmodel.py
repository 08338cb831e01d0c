"""The model of the clock on this host: its formula, this host's constants, and this host's own runs.

What the report's tables give in ``model`` is measured here: CPU time is the forecast's with the state in memory, volume
what the work files moved, the rate of a place what its driver waited for without overlap, overlap the share of
bytes that moved while a row was computed.  The other constants come from six recorded rows, one each; twelve rows
are predicted.
"""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.xmp1982 import model
from companion.chapters.xmp1982.figures.dots import middle, observed
from companion.records.runs import single

#: (what ran, configuration) -> the constant that the row gives.
CALIBRATED = {
    ("simulator", "ssd2-sync"): "base of the simulator",
    ("simulator", "ssd4-sync"): "requests, synchronous",
    ("simulator", "ssd2-async"): "requests, asynchronous",
    ("simulator", "bmr1"): "requests, buffer memory",
    ("simulator", "disk4"): "queue at the disks",
    ("forecast", "ssd2-sync"): "base of the forecast",
}
#: Places whose rates are measured: device of the model, device of the record of overlapping.
_PLACES = {"rate_ssd": "memory", "rate_bmr": "page cache"}


def facts(forecast: xr.Dataset, overlap: xr.Dataset) -> dict[str, float]:
    """CPU time, volume in bytes, rates in bytes a second and overlaps of this host, medians."""
    cases, ways = observed(forecast), observed(overlap, "label")
    alone = middle(cases["net"]).sel(configuration="memory")
    found = {"cpu_forecast": float(alone), "cpu_simulator": float(alone)}
    steps = [str(name) for name in cases.data_vars if str(name).startswith("write_step_")]
    scans = model.facts()["steps"] + len(steps)  # as many as the report's forecast: the day is as long
    moved = float(middle(cases["bytes"]).sel(configuration="ssd2-sync"))
    found["volume"] = moved * (1 - len(steps) / scans)
    for name, device in _PLACES.items():
        case = ways.sel(label=f"{device}, none")
        found[name] = float(middle(case["bytes"]) / middle(case["waiting"]))
    shares = middle(cases["overlapped"])
    found["overlap_two"] = float(shares.sel(configuration="ssd2-async"))
    found["overlap_one"] = float(shares.sel(configuration="bmr1"))
    return found


def _nets(forecast: xr.Dataset, simulator: xr.Dataset) -> dict[tuple[str, str], float]:
    """Median net time of every configuration that the model knows."""
    found = {}
    for kind, record in (("forecast", forecast), ("simulator", simulator)):
        times = middle(observed(record)["net"])
        for name in times["configuration"].values.astype(str):
            if name[:3] in ("dis", "bmr", "ssd"):
                found[kind, name] = float(times.sel(configuration=name))
    return found


def _layout(kind: str, name: str) -> model.Layout:
    return model.layout(name, kind == "simulator")


def residuals(forecast: xr.Dataset, simulator: xr.Dataset, overlap: xr.Dataset) -> pd.DataFrame:
    """Every recorded row: measured and modelled net time in columns of their own, and the departure."""
    known, times = facts(forecast, overlap), _nets(forecast, simulator)
    constants, rows = model.solved(lambda *row: times[row], known), []
    for (kind, name), seconds in times.items():
        modelled = model.net(_layout(kind, name), constants, known)
        rows.append((kind, name, seconds, modelled, CALIBRATED.get((kind, name), ""), ""))
    frame = pd.DataFrame(rows, columns=["table", "row", "measured", "model", "calibrates", "unexplained"])
    frame["departure"] = frame["model"] / frame["measured"] - 1
    frame.attrs["machine"] = f"runs of {single(forecast).attrs['machine']}"
    return frame


def leave_one_out(forecast: xr.Dataset, simulator: xr.Dataset, overlap: xr.Dataset) -> pd.DataFrame:
    """``model.left_out`` of this host's rows whose work files are in memory or in the page cache."""
    known, times = facts(forecast, overlap), _nets(forecast, simulator)
    kept = [
        (kind, name, _layout(kind, name), seconds)
        for (kind, name), seconds in times.items()
        if not name.startswith("disk")
    ]
    return model.left_out(kept, known)


def conclusions(forecast: xr.Dataset, simulator: xr.Dataset, overlap: xr.Dataset) -> dict[str, float]:
    """What not overlapping costs on this host, percent of the net time: by the model, and as measured."""
    frame = residuals(forecast, simulator, overlap).set_index(["table", "row"])
    costs = {}
    for column in ("measured", "model"):
        slow, fast = (float(frame.loc[("forecast", f"ssd2-{way}"), column]) for way in ("sync", "async"))
        costs[column] = 100 * (slow - fast) / slow
    assert np.isfinite(list(costs.values())).all()
    return costs
