"""What the report's statements rest on: the base code, the number of processors, the rates, other formats."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.nht1.figures.writing import around, percent, percent_axis, written
from companion.figures.parts import (
    MARKED,
    bars,
    case_intervals,
    cpu,
    log_axis,
    of_samples,
    points,
    run_title,
    with_spread,
)
from companion.figures.rendering import Shown, show
from companion.figures.style import CYCLE, INK, axes
from companion.records.runs import single

_MEGA = 1e6
_HOUR = 3600.0


def base_code(record: xr.Dataset) -> Shown:
    """The same writing on the same file system under several base codes (N8)."""
    record = single(record)
    cases = pd.DataFrame({name: record[name].values for name in ("N", "code", "way")})
    alone, writing = cases.index[cases["way"] == "none"], cases.index[cases["way"] != "none"]
    frame = cases.loc[alone, ["N", "code"]].reset_index(drop=True)
    T_C = case_intervals(record).loc[alone].reset_index(drop=True)
    elapsed = of_samples(record["observed_T_T"].values, record["flags"].values)
    T_T = elapsed.loc[[next(i for i in writing if (cases.loc[i, ["N", "code"]] == row).all())
                       for _, row in frame.iterrows()]].reset_index(drop=True)  # fmt: skip
    zeta = percent(T_T, T_C)
    # the first code of a size is the compiled one
    added = (T_T["middle"] - T_C["middle"]).groupby(frame["N"]).transform("first")
    frame["expected"] = 100 * added / T_C["middle"]
    figure, axis = axes(height=1.6 + 0.42 * len(frame))
    place = np.arange(len(frame))
    bars(axis, place, zeta, line=False, label="measured", across=True)
    axis.plot(
        frame["expected"], place, marker="|", markersize=16, linestyle="none", color=INK,
        label="expected: added time of the first code",
    )  # fmt: skip
    percent_axis(axis, linear=1)
    axis.axvline(0, color=INK, linewidth=0.8)
    axis.set_yticks(
        place, [f"N = {row.N}, {row.code}".replace(", line", ",\nline") for row in frame.itertuples()], size=8
    )
    axis.set_ylim(len(frame) - 0.5, -0.5)
    axis.set(xlabel="overhead ζ [%]", xlim=around(zeta))
    figure.legend(loc="outside lower center", ncols=1)
    figure.suptitle(run_title(record), size=9)
    frame = with_spread(frame, zeta=zeta)
    text = "; ".join(f"N = {row.N}, {row.code} {row.zeta:.3g} percent" for row in frame.itertuples())
    return show(
        figure,
        data=frame,
        name="nht1_base_code",
        title="The same writing under several codes",
        caption="Overhead of the same dumps on the same file system, on an axis that is linear below 1 %. Ticks: the "
        "seconds that writing adds to the first code of a size, over this code's computing time. A negative overhead "
        f"is less than the variation of the computing time itself. {_apart(frame)} {MARKED}",
        run=record,
        alt=f"Overhead of the same writing to the same file system under several solvers, on an axis that is linear "
        f"below one percent: {text}. {MARKED}",
    )


def _apart(frame: pd.DataFrame) -> str:
    """Where the first code of a size has the largest median, and where intervals tell it from no other code."""
    largest, met = [], []
    for N, part in frame.groupby("N"):
        first, others = part.iloc[0], part.iloc[1:]
        if first["zeta"] > others["zeta"].max():
            largest.append(f"{N}")
        if ((others["zeta_low"] <= first["zeta_high"]) & (first["zeta_low"] <= others["zeta_high"])).all():
            met.append(f"{N}")
    found = f"The first code has the largest median at N = {', '.join(largest)}." if largest else ""
    return f"{found} At N = {', '.join(met)} its interval overlaps all others." if met else found


def by_processors(record: xr.Dataset, printed: pd.DataFrame, processors: int, way: str) -> Shown:
    """Overhead against the number of processors (N4): measured here, and a model beyond, drawn apart.

    The model keeps the time that writing adds with one thread and divides T_C of one thread by the number of
    processors; a band is the range that the report's abstract gives for the Y-MP.

    Raises
    ------
    ValueError
        If the record has no run of this way.
    """
    frame, found = written(record)
    frame = frame.assign(T_T=found["T_T"]["middle"], T_C=found["T_C"]["middle"])[frame["way"] == way]
    if frame.empty:
        raise ValueError(f"way = {way!r} is not in this record; choose one of {set(record['way'].values) - {'none'}}")
    frame = frame.sort_values(["N", "threads"])
    figure, axis = axes(height=3.6)
    ymp = printed.set_index("system").loc["Y-MP"]
    axis.axhspan(ymp["low"], ymp["high"], color=CYCLE[-1], alpha=0.35, label="Y-MP (1993), range of the abstract")
    rows, count = [], np.arange(1, processors + 1)
    for number, (N, part) in enumerate(frame.groupby("N")):
        zeta = found["zeta"].loc[part.index]
        aside = part["threads"] + 0.1 * (number - 1)  # next to each other, since equal ones would hide each other
        bars(axis, aside, zeta, index=number, line=False, label=f"N = {N}, measured").set_marker("os^vDP"[number % 6])
        first = part.iloc[0]
        model = 100 * (first["T_T"] - first["T_C"]) * count / (first["T_C"] * first["threads"])
        style = {"color": CYCLE[number % len(CYCLE)], "linestyle": (":", "--", "-.")[number % 3]}
        axis.plot(count, model, label=f"N = {N}, model", **style)
        rows += [{"N": N, "processors": int(p), "kind": "model", "zeta": z} for p, z in zip(count, model, strict=True)]
        measured = with_spread(part[["N"]].assign(processors=part["threads"], kind="measured"), zeta=zeta)
        rows += measured.to_dict("records")
    axis.set_yscale("symlog", linthresh=10, linscale=0.7)
    axis.set_yticks([-10, 0, 10, 100, 1000], ["-10", "0", "10", "100", "1000"])
    axis.axhline(0, color=INK, linewidth=0.8)
    axis.set_xticks(count)
    axis.set(xlabel="processors", ylabel="overhead ζ [%]")
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    figure.suptitle(f"{run_title(record)}, {way}", size=9)
    return show(
        figure,
        data=pd.DataFrame(rows),
        name="nht1_by_processors",
        title="Overhead and the number of processors",
        caption=f"Marks are measured on {cpu(record)}; lines are a model in which the time that writing adds stays as "
        "it is with one thread while computing is divided by the processors, up to as many as the Y-MP had. "
        f"{_checked(rows)} Grey: range of the Y-MP's overhead in the abstract of 1993. The axis is linear below 10 %. "
        f"{MARKED}",
        run=record,
        alt="Overhead in percent against the number of processors, logarithmic above ten percent. Filled marks: "
        f"measured on {cpu(record)}. Lines: a model in which the time that writing adds stays and computing is "
        f"divided by the processors. {_checked(rows)} Band: {ymp['low']:g} to {ymp['high']:g} percent of the Y-MP in "
        f"1993. {MARKED}",
    )


def _checked(rows: list[dict]) -> str:
    """What the model says of the most threads that were measured, and what was measured, by grid."""
    frame = pd.DataFrame(rows)
    most = frame.loc[frame["kind"] == "measured", "processors"].max()
    table = frame[frame["processors"] == most].pivot(index="N", columns="kind", values="zeta").dropna()
    pairs = [f"{row.model:.0f} and {row.measured:.0f} % for N = {N}" for N, row in table.iterrows()]
    return f"Overhead by the model and measured, with {most} threads: {'; '.join(pairs)}." if most > 1 and pairs else ""


def surviving_rates(
    systems: xr.Dataset, prose: xr.Dataset, parameters: pd.DataFrame, figure_axes: pd.DataFrame
) -> pd.DataFrame:
    """Rates in MB/s that the surviving pages state or bound, each with where it comes from.

    ``R_IO`` of a run is the bytes of its solution over its time; the time axis of the report's Figure 1 and the
    18 hours of the CM-2 bound it.
    """
    N = int(prose["full_size"])
    row = parameters.set_index("N").loc[N]
    nbytes = float(prose["components"]) * float(prose["word"]) * N**3 * (row["NS"] / row["IW"])
    times = figure_axes.loc[figure_axes["axis"] == "y", "value"]
    rows = [
        ("Y-MP, one file", float(systems["disk_rate"].sel(system="Y-MP")), "rate of the file system"),
        ("CM-2, serial file", float(systems["io_rate_serial"].sel(system="CM-2")), "rate of the call"),
        ("CM-2, whole run, at most", nbytes / (float(prose["cm2_time"]) * _HOUR) / _MEGA, "R_IO from the hours"),
        ("iPSC/860, whole run, least", nbytes / times.max() / _MEGA, "R_IO, top of Figure 1's axis"),
        ("iPSC/860, whole run, most", nbytes / times.min() / _MEGA, "R_IO, bottom of Figure 1's axis"),
    ]
    return pd.DataFrame(rows, columns=["what", "rate", "from"])


def rates_then_and_now(surviving: pd.DataFrame, record: xr.Dataset) -> Shown:
    """The report's surviving rates and R_IO of every way here, at the largest grid of the record."""
    frame, found = written(record)
    frame = frame.assign(rate=found["R_IO"]["middle"])
    largest = frame["N"].max()
    frame = frame[frame["N"] == largest].sort_values("rate")
    rates = found["R_IO"].loc[frame.index]
    names = pd.DataFrame({"what": [f"{row.way}, {row.threads} thr." for row in frame.itertuples()]})
    here = with_spread(names.assign(**{"from": "R_IO here"}), rate=rates)
    figure, axis = axes(height=1.6 + 0.26 * (len(surviving) + len(here)))
    old, new = np.arange(len(surviving)), len(surviving) + np.arange(len(here))
    points(axis, surviving["rate"], old, index=0, line=False, label="report (1993)")
    bars(axis, new, rates, index=1, line=False, label=f"{cpu(record)}, whole run, N = {largest}", across=True)
    log_axis(axis, "x")
    axis.set_yticks([*old, *new], [*surviving["what"], *here["what"]], size=8)
    axis.invert_yaxis()
    axis.set(xlabel="rate [MB/s]")
    figure.legend(loc="outside lower center", ncols=1)
    figure.suptitle(run_title(record), size=9)
    text = "; ".join(f"{row.what} {row.rate:.3g}" for row in surviving.itertuples())
    return show(
        figure,
        data=pd.concat([surviving, here], ignore_index=True),
        name="nht1_rates_then_and_now",
        title="Rates then and now",
        caption="On top, the rates that the report states or that follow from its times; below them, the rate of a "
        f"whole run on {cpu(record)} (bytes of the solution over elapsed time, computing included). The rates of "
        "whole runs in 1993 follow from one stated time and from the ends of a time axis, not from points. The axis "
        f"is logarithmic. {MARKED}",
        run=record,
        alt=f"Rates in megabytes a second on a logarithmic axis. Report: {text}. Below, the rate of the whole "
        f"application on {cpu(record)} by method of writing, from {here['rate'].min():.3g} to "
        f"{here['rate'].max():.3g}. {MARKED}",
    )


def conversion_table(record: xr.Dataset) -> pd.DataFrame:
    """Rate of converting a dump by format and direction, and its time over that of a plain copy (N5)."""
    record = single(record)
    frame = record[["N", "format", "direction", "median", "bytes_read"]].to_dataframe()
    frame["rate"] = frame["bytes_read"] / frame["median"] / 1e9
    copy = frame[frame["format"] == "native"].set_index(["N", "direction"])["median"]
    keys = list(zip(frame["N"], frame["direction"], strict=True))
    frame["time over a copy"] = frame["median"].to_numpy() / copy.loc[keys].to_numpy()
    frame["direction"] = frame["direction"].map({"encode": "written", "decode": "read"})
    frame["time"] = 1e3 * frame["median"]
    frame = frame[["N", "format", "direction", "time", "rate", "time over a copy"]].reset_index(drop=True)
    frame.attrs["units"] = {"time": "ms", "rate": "GB/s"}
    return frame
