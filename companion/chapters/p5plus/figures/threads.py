"""Figures of chapter 4 that draw what a second thread on a core and binding do, then and now."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from companion.figures.beside import each_machine
from companion.figures.parts import TIMES, bars, converted, cpu, intervals, points, quotient, times, with_spread
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes, series
from companion.labels import plural
from companion.records.runs import single

DOCUMENT = "Power5+ 1.9 GHz (2006)"
_FUSED = "two fused streams, no SMT"
#: Short names of loops in records, in words.
LOOPS = {f"s{count}": plural(count, "accumulator") for count in (1, 2, 10)}


def curves(record: xr.Dataset, columns: list[str]) -> pd.DataFrame:
    """Coordinates of each case, its times, flags and work, as a table."""
    record = single(record)
    names = [*columns, "threads", *TIMES, "bytes_read", "bytes_written", "flops"]
    return record[[name for name in names if name not in record.coords]].to_dataframe()[names]


def smt_cases(record: xr.Dataset) -> pd.DataFrame:
    """The cases with their kind of partner by today's name.

    Records of before November 2026 call the fused streams a bound, which they are not.
    """
    frame = curves(record, ["loop", "kind"])
    frame["kind"] = frame["kind"].replace({"two streams (bound)": "two fused streams"})
    return frame.reset_index(drop=True)


def _rates(record: xr.Dataset) -> dict[str, pd.DataFrame]:
    """By kind of partner, median GFLOPS of each loop with its spread, in the document's order of loops."""
    frame = smt_cases(record)
    found = converted(intervals(frame), lambda seconds: frame["flops"] / seconds / 1e9)
    return {str(kind): found.loc[part.index].reset_index(drop=True) for kind, part in frame.groupby("kind")}


@each_machine
def smt(printed: xr.Dataset, cpus: int, record: xr.Dataset) -> Shown:
    """The five loops: rate of one processor, and the gain from two threads or from two fused streams.

    ``cpus`` is the number of processors of the document's node, to which its rates belong.
    """
    host = _rates(record)
    old = printed["gflops"].to_pandas()
    second = "SMT" if "SMT" in host else "two fused streams"
    gain_old, gain_host = old["SMT"] / old["no SMT"], quotient(host[second], host["one thread"])
    figure, (rate, gain) = axes(2, 1, height=6.6, sharex=True)
    place = np.arange(len(old))
    points(rate, place, old["no SMT"] / cpus, label=f"{DOCUMENT}, one thread", index=0, line=False)
    bars(rate, place, host["one thread"], label=f"{cpu(record)}, one thread", index=1, line=False)
    points(gain, place, gain_old, label=f"{DOCUMENT}, SMT", index=0, line=False)
    name = "SMT" if second == "SMT" else _FUSED
    bars(gain, place, gain_host, label=f"{cpu(record)}, {name}", index=1, line=False)
    gain.axhline(1, color=INK, linewidth=0.8)
    gain.set_ylim(0, max(2.3, 1.05 * gain_host["high"].max()))
    gain.set_xticks(place, [re.sub("accumulators?", "acc.", str(name)) for name in old.index], size=8)
    for axis in (rate, gain):
        axis.set_xlim(-0.5, len(old) - 0.5)
    frame = pd.DataFrame(
        {
            "loop": old.index,
            "document_gflops_per_cpu": (old["no SMT"] / cpus).values,
            "document_gain": gain_old.values,
            "host_gain_from": second,
        }
    )
    remark = "" if second == "SMT" else "Fused streams are one thread and not SMT. "
    here = ", ".join(f"{value:.2f}" for value in gain_host["middle"])
    data = with_spread(frame, host_gflops=host["one thread"], host_gain=gain_host)
    said: dict[str, Any] = {"items": gain_old, "the_name": name, "here": here, "remark": remark}
    return show(figure, data=data, name="p5plus_smt", run=record, **said)


@each_machine
def loops(printed: xr.Dataset, cpus: int, record: xr.Dataset) -> Shown:
    """The five loops on one processor with one thread, then and now.

    ``cpus`` is the number of processors of the document's node, to which its rates belong.
    """
    host, old = _rates(record)["one thread"], printed["gflops"].sel(mode="no SMT").to_series() / cpus
    figure, axis = axes(height=2.6)
    place = np.arange(len(old))
    points(axis, old.values, place, label=DOCUMENT, index=0, line=False)
    bars(axis, place, host, label=cpu(record), index=1, line=False, across=True)
    axis.set_yticks(place, [str(name) for name in old.index])
    data = with_spread(pd.DataFrame({"loop": old.index, "document": old.values}), host=host)
    gain = data["host"] / data["document"]
    return show(figure, data=data, name="p5plus_loops", run=record, items=data, gain=gain)


#: What is said where a machine without SMT has nothing to show.
UNMEASURED = "not measured: no SMT"


def model(printed: xr.Dataset, records: Sequence[xr.Dataset]) -> pd.DataFrame:
    """S, f and S f/2 of the document, and of each loop in runs from machines with SMT, with the gain measured there."""
    program = f"T799 on {int(printed['cpus'])} CPUs (2006)"
    factors = (float(printed[name]) for name in ("S_in_formula", "f_in_formula", "speedup"))
    columns = ("program", "S", "f", "S f/2", "gain of two threads on one core")
    rows: list[tuple] = [(program, *factors, "–")]
    for record in records:
        for number, loop in enumerate(record["loop_name"].values):
            found = (float(record[key].values[number]) for key in ("S", "f", "speedup", "speedup_timed"))
            rows.append((f"{LOOPS.get(str(loop), loop)}, {cpu(record)}", *found))
    if not records:
        rows.append(("five loops", np.nan, np.nan, np.nan, UNMEASURED))
    return pd.DataFrame(rows, columns=columns)


def _own_threads(record: xr.Dataset) -> xr.Dataset:
    """A binding run without cases in which two threads take turns on one hardware thread, as older runs have."""
    record = single(record)
    return record.isel(case=["turns" not in str(kind) for kind in record["kind"].values])


def _binding_cases(record: xr.Dataset) -> pd.DataFrame:
    """Cases of a binding run: loop, kind, list that binds (empty: none), whether there are two threads a core."""
    frame = curves(record, ["loop", "kind", "order", "doubled"])
    return frame.assign(doubled=frame["doubled"].astype(bool)).reset_index(drop=True)


def binding(record: xr.Dataset) -> Shown:
    """Every sample of the bound and the unbound runs in milliseconds, with median and spread."""
    record = _own_threads(record)
    frame = _binding_cases(record)
    figure, axis = axes(height=1.6 + 0.4 * len(frame))
    names, ranges = [], converted(intervals(frame), lambda seconds: 1e3 * seconds)
    middle, flagged = ranges["middle"], ranges["flagged"]
    for number, case in enumerate(frame.itertuples()):
        seconds = record["seconds"].isel(case=number).values
        colour = series(0 if case.order else 1)
        axis.plot(1e3 * seconds, np.full(seconds.size, number), "o", markersize=3, alpha=0.45, color=colour)
        names.append(f"{case.loop}: {case.kind}".replace(", ", ",\n", 1))
    place = np.arange(len(frame)) + 0.22
    axis.hlines(place, ranges["low"], ranges["high"], color=INK, linewidth=2)
    axis.plot(middle, place, "|", color=INK, markersize=9)
    axis.plot(middle[flagged], place[flagged], "x", color=INK, markersize=7, linestyle="none")
    axis.set_yticks(range(len(names)), names, size=8)
    listed = pd.Series(middle.to_numpy(), [name.replace("\n", " ") for name in names])
    return show(figure, data=frame, name="p5plus_binding", run=record, items=listed)


def binding_said(record: xr.Dataset, changes: pd.DataFrame) -> str:
    """How long each loop takes without binding over bound by each list, by medians; and what the report promises."""
    record, found = _own_threads(record), []
    for (loop, _), part in _binding_cases(record).groupby(["loop", "doubled"], sort=False):
        free = record["seconds"].values[part.index[part["order"] == ""][0]]
        for number, each in part[part["order"] != ""].iterrows():
            found.append(f"{loop} ({each['kind']}) {times(free, record['seconds'].values[number]).times}")
    low, high = changes.set_index("change").loc["binding, basic", ["gain_low", "gain_high"]]
    return (
        f"Time without binding over time with binding: {'; '.join(found)}. The report promises a gain of {low:g} to "
        f"{high:g} % from binding."
    )
