"""Figures of chapter 5 that draw run records: transforms, routines and output steps of this machine.

Each takes one record.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.ticker import FuncFormatter

from companion.figures.beside import each_machine
from companion.figures.parts import (
    bars,
    case_intervals,
    converted,
    cpu,
    log_axis,
    points,
    quotient,
    spread_of,
    with_spread,
)
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes
from companion.labels import plural
from companion.records.runs import single

#: Rates in millions are written out: the unit has its own prefix already.
_MEGA = FuncFormatter(lambda value, _: f"{value:,.0f}".replace(",", "\u2009"))
_TWO_AND_FIVE = FuncFormatter(lambda value, _: _MEGA(value) if f"{value:.0e}"[0] in "25" else "")


def frame_of(record: xr.Dataset, *names: str) -> pd.DataFrame:
    """The named variables, which share one dimension, as columns."""
    return pd.DataFrame({name: record[name].values for name in names})


def rates(record: xr.Dataset, what: str, scale: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Coordinates of the cases of one kind, and their rates with spread, in ``scale`` flop/s."""
    record = single(record)
    rows = np.flatnonzero(record["what"].values == what)
    names = [str(name) for name in record.coords if record[name].dims == ("case",)]
    flops = record["flops"].values[rows].astype(float)
    found = converted(case_intervals(record).loc[rows], lambda seconds: flops / seconds / scale)
    return pd.DataFrame({name: record[name].values[rows] for name in names}), found


def _shares(record: xr.Dataset) -> pd.DataFrame:
    """Truncation, fields and threads of every transform, its rate [GFLOPS] and its share [%] of the peak."""
    frame, rate = rates(record, "transforms", 1e9)
    teams, peak = rates(record, "peak", 1e9)
    own = [int(np.flatnonzero(teams["threads"] == threads)[0]) for threads in frame["threads"]]
    share = converted(quotient(rate, peak.loc[own]), lambda ratio: 100 * ratio)
    frame = with_spread(frame[["truncation", "fields", "threads"]], rate=rate, share=share)
    return frame.assign(fourier_share=record["fourier_share"].values)


@each_machine
def transforms(record: xr.Dataset, runs: xr.Dataset, truncation: int) -> Shown:
    """Share of peak of the transforms, with the shares of the forecasts of 2014.

    ``truncation`` is that of the document's forecast.
    """
    frame = _shares(record)
    figure, axis = axes(height=3.9)
    groups = frame.groupby(["threads", "fields"], sort=True)
    printed = runs["peak_percent"].to_series()
    for number, (system, value) in enumerate(printed.items()):
        points(axis, [truncation], [value], label=f"forecast, {system} (2014)", index=number, line=False)
    for number, ((threads, fields), line) in enumerate(groups, start=len(printed)):
        name = f"transforms, {plural(fields, 'field')}, {plural(threads, 'thread')}"
        bars(axis, line["truncation"], spread_of(line, "share"), label=name, index=number)
    lines = "; ".join(
        f"{fields} and {threads}, {line['rate'].min():.0f} to {line['rate'].max():.0f} "
        f"GFLOPS, {line['share'].min():.0f} to {line['share'].max():.0f} % of peak"
        for (threads, fields), line in groups
    )
    return show(figure, data=frame, name="xc30_transforms", run=record, items=printed, lines=lines)


@each_machine
def routines(record: xr.Dataset, profile: xr.Dataset) -> Shown:
    """Rates of our versions of seven routines, vectorised and scalar, and those of the profile of 2006."""
    cases, found = rates(record, "routine", 1e6)
    builds = {build: found[cases["build"] == build].reset_index(drop=True) for build in ("scalar", "vector")}
    names = [str(name) for name in cases["routine"][cases["build"] == "vector"]]
    frame = pd.DataFrame({"routine_name": names, "document_mflops": profile["mflops"].reindex(routine=names).values})
    figure, axis = axes(height=3.3)
    place = np.arange(len(names))
    points(axis, frame["document_mflops"], place, label="Power4+ (2006)", index=0, line=False)
    # one above the other, since equal rates would hide each other
    bars(axis, place - 0.15, builds["scalar"], label=f"{cpu(record)}, scalar", index=1, line=False, across=True)
    bars(axis, place + 0.15, builds["vector"], label=f"{cpu(record)}, vectorised", index=2, line=False, across=True)
    peak = rates(record, "peak", 1e6)[1].loc[0]
    axis.axvspan(peak["low"], peak["high"], color=INK, alpha=0.2)
    axis.axvline(peak["middle"], color=INK, linestyle=":", linewidth=1, label="peak measured")
    axis.set_yticks(place, names)
    log_axis(axis, "x")
    axis.xaxis.set_major_formatter(_MEGA)
    gain = (builds["vector"]["middle"] / builds["scalar"]["middle"]).set_axis(names)
    data = with_spread(frame, mflops_vector=builds["vector"], mflops_scalar=builds["scalar"])
    where = {"most": gain.idxmax(), "least": gain.idxmin()}
    return show(figure, data=data, name="xc30_routines", run=record, gain=gain, where=where)


def routine_gains(record: xr.Dataset) -> pd.DataFrame:
    """Median rate [MFLOPS] of each routine in both builds, share [%] of the run's own peak, and what vectorising
    gains; the index is the routine."""
    cases, found = rates(record, "routine", 1e6)
    (peak,) = rates(record, "peak", 1e6)[1]["middle"]
    frame = cases.assign(rate=found["middle"].to_numpy()).pivot(index="routine", columns="build", values="rate")
    frame = frame.loc[list(dict.fromkeys(cases["routine"]))]
    return frame.assign(share=100 * frame["vector"] / peak, gain=frame["vector"] / frame["scalar"])


def processor_peak(systems: xr.Dataset) -> float:
    """MFLOPS of one Power4+ processor at its peak, from what a run reached and its share of the peak."""
    then = systems.sel(system="P4+")
    return 1e3 * float(then["gflops"] / (then["peak_percent"] / 100 * then["cpus"]))


def routine_table(record: xr.Dataset, profile: xr.Dataset, peak: float) -> pd.DataFrame:
    """Rate, share of peak and divisions of each routine, in 2006 and here by medians.

    ``peak`` is that of one processor of 2006, in MFLOPS.
    """
    record = single(record)
    found = routine_gains(record)
    then = profile.reindex(routine=list(found.index))
    divides = dict(zip(record["routine_name"].values, record["divides"].values, strict=True))
    frame = pd.DataFrame(
        {
            "routine": found.index,
            "rate 2006": then["mflops"].values,
            "share 2006": 100 * then["mflops"].values / peak,
            "divisions 2006": then["div_percent"].values,
            "rate, scalar": found["scalar"].values,
            "rate, vectorised": found["vector"].values,
            "share, vectorised": found["share"].values,
            "divisions": found.index.map(divides),
            "vectorised over scalar": found["gain"].values,
        }
    )
    rates = dict.fromkeys(("rate 2006", "rate, scalar", "rate, vectorised"), "MFLOPS")
    shares = dict.fromkeys(("share 2006", "share, vectorised", "divisions 2006", "divisions"), "%")
    ratio = "vectorised over scalar"
    frame = frame.round({**dict.fromkeys(rates, 0), **dict.fromkeys(shares, 1), ratio: 2})
    frame[list(rates)] = frame[list(rates)].astype("Int64")
    frame.attrs["units"] = rates | shares
    return frame


def cycle_table(trees: Mapping[str, xr.Dataset], counted: Mapping[str, Mapping]) -> pd.DataFrame:
    """Where the cycles of two routines went, on Power5 in 2006 and, on a host that counts them, here.

    ``trees`` are the document's breakdowns by routine, ``counted`` the host's, which has no rows where it is empty.
    """
    states = {"Groups": "completing", "GCT": "no instructions", "Stalls": "stalled"}
    rows = []
    for name, tree in trees.items():
        share = tree["fraction"].where(tree["depth"] == 1, drop=True)
        printed = dict(zip(tree["name"].sel(node=share["node"]).values, share.values, strict=True))
        then = {word: 100 * printed[part] for part, word in states.items()}
        rows.append({"routine": name, "where": "Power5, 2006", **then})
        if name in counted:
            here = counted[name]
            shares = {part: 100 * share for part, share in (here["shares"] or {}).items()}
            flops = None if here["flops"] is None else here["flops"] / here["work"]
            rows.append({"routine": name, "where": "here", **shares, "cycles an instruction": here["cpi"],
                         "flops, counters over count": flops})  # fmt: skip
    frame = pd.DataFrame(rows)
    numbers = frame.columns[2:]
    frame[numbers] = frame[numbers].astype(float).round(dict.fromkeys(states.values(), 1)).round(2)
    frame.attrs["units"] = dict.fromkeys(states.values(), "%")
    return frame


def _level(medians: Mapping[str, pd.Series]) -> str:
    """How far rates differ between blocks that fill a vector."""
    full = {name: row[row.index >= 8] for name, row in medians.items()}
    parts = [f"{100 * row.min() / row.max():.0f} % ({name})" for name, row in full.items() if len(row) > 1]
    return f"From eight on, the slowest block has {' and '.join(parts)} of the rate of the fastest." if parts else ""


@each_machine
def nproma(record: xr.Dataset) -> Shown:
    """Rate against the number of columns in a block."""
    cases, found = rates(record, "NPROMA", 1e6)
    figure, axis = axes(height=3.2)
    medians = {}
    for number, (name, part) in enumerate(cases.groupby("routine", sort=False)):
        bars(axis, part["nproma"], found.loc[part.index], label=str(name), index=number)
        medians[str(name)] = pd.Series(found["middle"][part.index].to_numpy(), part["nproma"])
    log_axis(axis, "y")
    axis.yaxis.set_major_formatter(_MEGA)
    axis.yaxis.set_minor_formatter(_TWO_AND_FIVE)
    best = ", ".join(f"{name} at {row.idxmax()}" for name, row in medians.items())
    worst = [(name, row.idxmin(), 100 * row.min() / row.max()) for name, row in medians.items()]
    return show(
        figure,
        data=with_spread(cases[["routine", "nproma"]], mflops=found),
        name="xc30_nproma",
        run=record,
        best=best,
        items=pd.DataFrame(worst, columns=["name", "at", "share"]),
        level=_level(medians),
    )
