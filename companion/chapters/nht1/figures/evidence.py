"""What the report's statements rest on: the rates of whole runs and of files, and other formats."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.nht1.figures.opening import METHODS
from companion.chapters.nht1.figures.writing import largest
from companion.figures.beside import each_machine
from companion.figures.parts import bars, converted, log_axis, of_samples, points, printed_ranges, times
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes
from companion.records.runs import single

_MEGA = 1e6
_HOUR = 3600.0


#: What a rate is of, in words for a legend.
WHOLE, FILE, PEAK = "whole run, computing included", "while writing one file", "peak of the I/O system"


def surviving_rates(
    systems: xr.Dataset, prose: xr.Dataset, parameters: pd.DataFrame, figure_axes: pd.DataFrame
) -> pd.DataFrame:
    """Rates in MB/s that the surviving pages state or bound: ``system``, ``what``, ``low`` and ``high``.

    ``R_IO`` of a run is the bytes of its solution over its time; the time axis of the report's Figure 1 and the
    18 hours of the CM-2 bound it.  An end that is not known is NaN.
    """
    N = int(prose["full_size"])
    row = parameters.set_index("N").loc[N]
    nbytes = float(prose["components"]) * float(prose["word"]) * N**3 * (row["NS"] / row["IW"])
    ends = figure_axes.loc[figure_axes["axis"] == "y", "value"]
    stated = {"disk_rate": FILE, "io_rate_serial": FILE, "io_rate_peak": PEAK}
    rows = [
        (str(system), what, float(rate), float(rate))
        for fact, what in stated.items()
        for system, rate in systems[fact].to_series().dropna().items()
    ]
    hours = float(prose["cm2_time"]) * _HOUR
    rows.append(("CM-2", WHOLE, np.nan, nbytes / hours / _MEGA))
    rows.append(("iPSC/860", WHOLE, nbytes / ends.max() / _MEGA, nbytes / ends.min() / _MEGA))
    order = [str(name) for name in systems["system"].values]
    frame = pd.DataFrame(rows, columns=["system", "what", "low", "high"])
    return frame.sort_values("system", key=lambda names: names.map(order.index), kind="stable", ignore_index=True)


def rates_here(record: xr.Dataset) -> pd.DataFrame:
    """Rates of the methods of 1993 on the largest grid with most threads, in MB/s with their spread, by method
    (``system``) and by ``what``: :data:`WHOLE` or :data:`FILE`."""
    frame, found = largest(record)
    rows = frame.index[frame["way"].isin(METHODS)]
    record = single(record)
    cases = np.flatnonzero(record["way"].values != "none")[rows]
    spent = of_samples(record["observed_transferring"].values[cases], record["flags"].values[cases])
    nbytes = record["solution_bytes"].values.astype(float)[cases]
    rates = {WHOLE: found["R_IO"].loc[rows], FILE: converted(spent, lambda seconds: nbytes / seconds / _MEGA)}
    names = [METHODS[way] for way in frame["way"][rows]]
    return pd.concat([each.assign(system=names, what=what) for what, each in rates.items()], ignore_index=True)


@each_machine
def rates_then_and_now(surviving: pd.DataFrame, record: xr.Dataset) -> Shown:
    """The report's surviving rates, and those of its methods of writing here: whole runs, and while they write."""
    here = rates_here(record)
    systems, ways = (list(dict.fromkeys(frame["system"])) for frame in (surviving, here))
    figure, axis = axes(height=3.2)
    log_axis(axis, "x")
    for what, colour in ((WHOLE, ""), (FILE, "files"), (PEAK, "serial")):
        part, mine = surviving[surviving["what"] == what], here[here["what"] == what].reset_index(drop=True)
        place = [systems.index(system) for system in part["system"]]
        printed_ranges(axis, place, part["low"], part["high"], colour=colour or "printed")
        if mine.empty:
            points(axis, [], [], label=what, colour=colour, line=False)
            continue
        bars(axis, len(systems) + np.arange(len(mine)), mine, colour=colour, line=False, label=what, across=True)
    axis.axhline(len(systems) - 0.5, color=INK, linewidth=0.8)
    axis.set_yticks(range(len(systems) + len(ways)), [*(f"{system} (1993)" for system in systems), *ways])
    axis.set(
        xlabel="rate [MB/s]", ylim=(len(systems) + len(ways) - 0.5, -0.5), xlim=(surviving["high"].min() / 3, None)
    )
    old = "; ".join(f"{row.system} {row.what} {row.low:.3g} to {row.high:.3g}" for row in surviving.itertuples())
    now = "; ".join(f"{row.system} {row.what} {row.middle:.3g}" for row in here.itertuples())
    return show(
        figure,
        data=pd.concat([surviving, here], ignore_index=True),
        name="nht1_rates_then_and_now",
        run=record,
        then=old.replace("nan", "open"),
        now=now,
        n_most=record["N"].values.max(),
    )


def conversion_table(record: xr.Dataset) -> pd.DataFrame:
    """Rate of converting a dump by format and direction, and its time over that of a plain copy (N5)."""
    record = single(record)
    frame = record[["N", "format", "direction", "median", "bytes_read"]].to_dataframe()
    frame["format"] = frame["format"].replace("cray", "Cray 64")  # as runs before 2026-11-23 name it
    frame["rate"] = frame["bytes_read"] / frame["median"] / 1e9
    copy = frame[frame["format"] == "native"].set_index(["N", "direction"])["median"]
    keys = list(zip(frame["N"], frame["direction"], strict=True))
    frame["time over a copy"] = frame["median"].to_numpy() / copy.loc[keys].to_numpy()
    frame["direction"] = frame["direction"].map({"encode": "written", "decode": "read"})
    frame["time"] = 1e3 * frame["median"]
    frame = frame[["N", "format", "direction", "time", "rate", "time over a copy"]].reset_index(drop=True)
    frame.attrs["units"] = {"time": "ms", "rate": "GB/s"}
    return frame


def conversion_cost(record: xr.Dataset) -> pd.DataFrame:
    """Of the largest grid: how many times as long as a copy each conversion takes, medians with their intervals."""
    record = single(record)
    cases = pd.DataFrame({name: record[name].values.astype(str) for name in ("format", "direction")})
    cases["format"] = cases["format"].replace("cray", "Cray 64")  # as runs before 2026-11-23 name it
    cases = cases[record["N"].values == record["N"].values.max()]
    samples = {tuple(row): record["seconds"].values[number] for number, *row in cases.itertuples()}
    rows = []
    for form in dict.fromkeys(cases["format"]):
        if form != "native":
            ends = (times(samples[form, way], samples["native", way]).times for way in ("encode", "decode"))
            rows.append((form, *ends))
    return pd.DataFrame(rows, columns=["format", "written", "read"])
