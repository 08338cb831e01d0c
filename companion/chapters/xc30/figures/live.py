"""Figures of chapter 5 that draw run records: transforms, routines and output steps of this machine.

Each takes one record.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.ticker import FuncFormatter

from companion.figures.parts import log_axis, points, run_title
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes
from companion.records.runs import single

#: Rates in millions are written out: the unit has its own prefix already.
MEGA = FuncFormatter(lambda value, _: f"{value:,.0f}".replace(",", "\u2009"))
TWO_AND_FIVE = FuncFormatter(lambda value, _: MEGA(value) if f"{value:.0e}"[0] in "25" else "")


def frame_of(record: xr.Dataset, *names: str) -> pd.DataFrame:
    """The named variables, which share one dimension, as columns."""
    return pd.DataFrame({name: record[name].values for name in names})


def transforms(record: xr.Dataset, runs: xr.Dataset, truncation: int) -> Shown:
    """Rate and share of peak of the transforms, with the shares of the forecasts of 2014.

    ``truncation`` is that of the document's forecast.
    """
    record = single(record)
    frame = frame_of(
        record,
        "transform_truncation",
        "transform_fields",
        "transform_threads",
        "transform_rate",
        "transform_share",
        "fourier_share",
    )
    figure, (rate, share) = axes(2, 1, height=7.0, sharex=True)
    groups = frame.groupby(["transform_threads", "transform_fields"], sort=True)
    for number, ((threads, fields), line) in enumerate(groups):
        name = f"{fields} field{'s' if fields > 1 else ''}, {threads} thread{'s' if threads > 1 else ''}"
        for axis, column in ((rate, "transform_rate"), (share, "transform_share")):
            points(axis, line["transform_truncation"], line[column], label=name, host=True, index=number)
    for number, (threads, peak) in enumerate(
        zip(record["peak_threads"].values, record["peak_rate"].values, strict=True)
    ):
        rate.axhline(
            peak,
            color=INK,
            linewidth=1,
            linestyle=(":", "-.")[number % 2],
            label=f"peak measured, {threads} thread{'s' if threads > 1 else ''}",
        )
    printed = runs["peak_percent"].to_series()
    for number, (system, value) in enumerate(printed.items()):
        points(share, [truncation], [value], label=f"{value:g} %, {system}, 2014", index=number + 3, line=False)
    log_axis(rate, "y")
    rate.set(ylabel="rate [GFLOPS]")
    log_axis(share, "y")
    share.set(ylabel="share of peak [%]", ylim=(None, 100), xlabel="truncation", xlim=(0, None))
    for axis in (rate, share):
        axis.legend(loc="upper center", bbox_to_anchor=(0.45, -0.16 if axis is share else -0.03), ncols=2)
    figure.suptitle(run_title(record), size=9)
    text = " and ".join(f"{value:g} % ({system})" for system, value in printed.items())
    lines = "; ".join(
        f"{fields} and {threads}, {line['transform_rate'].min():.0f} to {line['transform_rate'].max():.0f} "
        f"GFLOPS, {line['transform_share'].min():.0f} to {line['transform_share'].max():.0f} % of peak"
        for (threads, fields), line in groups
    )
    return show(
        figure,
        data=frame,
        name="xc30_transforms",
        alt="Two panels against truncation. Upper: rate of inverse and direct spectral transforms on "
        "this machine, below the measured peak. Lower: the same as share of that peak, beside "
        f"the shares of the forecasts of 2014, {text}, which are those of a whole model. "
        f"By number of fields and threads: {lines}.",
    )


def routines(record: xr.Dataset, profile: xr.Dataset) -> Shown:
    """Rates of our versions of seven routines, vectorised and scalar, beside the profile of 2006."""
    record = single(record)
    names = [str(name) for name in record["routine_name"].values]
    frame = frame_of(record, "routine_name", "mflops_vector", "mflops_scalar", "share_of_peak", "divides")
    frame["document_mflops"] = profile["mflops"].reindex(routine=names).values
    figure, axis = axes(height=4.6)
    place = np.arange(len(names))
    points(axis, frame["document_mflops"], place, label="Power4+ (2006)", index=0, line=False)
    # one above the other, since equal rates would hide each other
    points(axis, frame["mflops_scalar"], place - 0.15, label="here, scalar", host=True, index=1, line=False)
    points(axis, frame["mflops_vector"], place + 0.15, label="here, vectorised", host=True, index=2, line=False)
    axis.axvline(record["peak_mflops"].item(), color=INK, linestyle=":", linewidth=1, label="peak measured")
    axis.set_yticks(place, names)
    axis.invert_yaxis()
    axis.grid(False, axis="y")
    log_axis(axis, "x")
    axis.xaxis.set_major_formatter(MEGA)
    axis.set(xlabel="rate [MFLOPS]")
    axis.legend(loc="upper center", bbox_to_anchor=(0.4, -0.14), ncols=2)
    figure.suptitle(run_title(record), size=9)
    gain = frame["mflops_vector"] / frame["mflops_scalar"]
    return show(
        figure,
        data=frame,
        name="xc30_routines",
        alt="Rates of seven routines on a logarithmic axis: of the IFS profile of 2006, and of our "
        "own versions of the algorithms here, scalar and vectorised. Vectorising gains "
        f"most in {names[int(gain.argmax())]} ({gain.max():.1f} times) and least in "
        f"{names[int(gain.argmin())]} ({gain.min():.1f} times).",
    )


def routine_table(record: xr.Dataset, profile: xr.Dataset, peak: float) -> pd.DataFrame:
    """Rate, share of peak and divisions of each routine, in 2006 and here.

    ``peak`` is that of one processor of 2006, in MFLOPS.
    """
    record = single(record)
    names = [str(name) for name in record["routine_name"].values]
    then = profile.reindex(routine=names)
    vector, scalar = record["mflops_vector"].values, record["mflops_scalar"].values
    frame = pd.DataFrame(
        {
            "routine": names,
            "rate 2006": then["mflops"].values,
            "share 2006": 100 * then["mflops"].values / peak,
            "divisions 2006": then["div_percent"].values,
            "rate, scalar": scalar,
            "rate, vectorised": vector,
            "share, vectorised": record["share_of_peak"].values,
            "divisions": record["divides"].values,
            "vectorised over scalar": vector / scalar,
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
    """Where the cycles of two routines went, on Power5 in 2006 and, where the host counts them, here.

    ``trees`` are the document's breakdowns by routine, ``counted`` the host's, empty where it has none.
    """
    rows = []
    for name, tree in trees.items():
        share = tree["fraction"].where(tree["depth"] == 1, drop=True)
        printed = dict(zip(tree["name"].sel(node=share["node"]).values, share.values, strict=True))
        rows.append(
            {
                "routine": name,
                "where": "Power5, 2006",
                "completing": 100 * printed["Groups"],
                "no instructions": 100 * printed["GCT"],
                "stalled": 100 * printed["Stalls"],
            }
        )
        here = counted.get(name, {})
        shares = {part: 100 * share for part, share in (here.get("shares") or {}).items()}
        flops = here.get("flops")
        rows.append(
            {
                "routine": name,
                "where": "here",
                **shares,
                "cycles an instruction": here.get("cpi"),
                "flops, counters over count": None if flops is None else flops / here["work"],
            }
        )
    columns = [
        "routine",
        "where",
        "completing",
        "no instructions",
        "stalled",
        "cycles an instruction",
        "flops, counters over count",
    ]
    frame = pd.DataFrame(rows).reindex(columns=columns)
    frame[columns[2:]] = frame[columns[2:]].astype(float).round(dict.fromkeys(columns[2:5], 1)).round(2)
    frame.attrs["units"] = dict.fromkeys(columns[2:5], "%")
    return frame


def nproma(record: xr.Dataset) -> Shown:
    """Rate against the number of columns in a block."""
    record = single(record)
    figure, axis = axes(height=3.2)
    length = record["nproma_length"].values
    rates = pd.DataFrame(record["nproma_mflops"].values.T, length, record["blocked_name"].values)
    for number, name in enumerate(rates):
        points(axis, length, rates[name], label=name, host=True, index=number)
    log_axis(axis, "y")
    axis.yaxis.set_major_formatter(MEGA)
    axis.yaxis.set_minor_formatter(TWO_AND_FIVE)
    log_axis(axis, "x", base=2)
    axis.set(xlabel="columns of a block (NPROMA)", ylabel="rate [MFLOPS]")
    axis.legend(loc="lower right")
    figure.suptitle(run_title(record), size=9)
    best = ", ".join(f"{name} at {rates[name].idxmax()}" for name in rates)
    share = 100 * rates.min() / rates.max()
    worst = ", ".join(f"{name} at {rates[name].idxmin()} with {share[name]:.0f} % of that" for name in rates)
    return show(
        figure,
        data=rates.rename_axis("NPROMA").reset_index(),
        name="xc30_nproma",
        alt=f"Rate of two routines against the number of columns in a block, logarithmic axes. "
        f"Fastest: {best}; slowest: {worst}.",
    )


def storm_sizes(record: xr.Dataset, output: xr.Dataset, runs: xr.Dataset) -> pd.DataFrame:
    """What one output step writes and touches: in the talk, and in the run that is drawn."""
    record = single(record)
    steps, files = (int(output[name]) for name in ("steps", "files"))
    here = {name: int(record[name].values.ravel()[-1]) for name in ("tasks", "files", "steps", "record_bytes")}
    megabytes = 1e6 * float(output["volume"]) / (steps * files)
    frame = pd.DataFrame(
        {
            "tasks": [*runs["tasks"].values, here["tasks"]],
            "output files": [files, files, here["files"]],
            "output steps": [steps, steps, here["steps"]],
            "one record": [megabytes, megabytes, here["record_bytes"] / 1e6],
        },
        index=[*(f"{name}, 2014" for name in runs["system"].values), "here"],
    )
    frame.attrs["units"] = {"one record": "MB"}
    return frame.rename_axis("run").reset_index().astype({"tasks": int})


def storm(record: xr.Dataset) -> Shown:
    """Time of every output step with and without the small files."""
    record = single(record)
    names = [str(name) for name in record["variant_name"].values]
    seconds = pd.DataFrame(1e3 * record["step_seconds"].values.T, columns=names)
    figure, axis = axes(height=3.4)
    for number, name in enumerate(names):
        points(axis, np.arange(1, len(seconds) + 1), seconds[name], label=name, host=True, index=number)
    log_axis(axis, "y")
    axis.set(xlabel="output step", ylabel="time of the step [ms]")
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    figure.suptitle(run_title(record), size=9)
    ratio = seconds[names[0]].median() / seconds[names[1]].median()
    return show(
        figure,
        data=seconds.rename_axis("step").reset_index(),
        name="xc30_storm",
        alt=f"Time of {len(seconds)} output steps on a logarithmic axis, {names[0]} and {names[1]}. "
        f"The median step takes {ratio:.0f} times as long with the small files.",
    )


def storm_table(record: xr.Dataset) -> pd.DataFrame:
    """What the host's kernel spent on one output step of each variant."""
    record = single(record)
    milliseconds = 1e3 * np.median(record["step_seconds"].values, axis=1)
    calls = record["calls_per_step"].values
    frame = pd.DataFrame(
        {
            "output step": record["variant_name"].values,
            "median time": milliseconds,
            "system calls": calls,
            "calls a second": 1e3 * calls / milliseconds,
            "system time": 1e3 * record["system_per_step"].values,
            "user time": 1e3 * record["user_per_step"].values,
        }
    )
    frame.attrs["units"] = {"median time": "ms", "system time": "ms", "user time": "ms"}
    return frame
