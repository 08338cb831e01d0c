"""Figures and tables of chapter 5 on output steps: alone and under other load, with and without small files."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from companion.figures.beside import each_machine
from companion.figures.parts import bars, cpu, log_axis, of_samples, spread_of
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes, series
from companion.records.runs import single

#: Small files that a task opens in a step.
_OPENED = 3


def every_step(record: xr.Dataset) -> np.ndarray:
    """Seconds of every output step of every sample, (variant, step, sample)."""
    if "every_step" in record:
        return record["every_step"].values
    return record["step_seconds"].values[..., np.newaxis]


def storm(record: xr.Dataset) -> Shown:
    """Time of every output step with and without the small files; a panel more where others load the file system."""
    record = single(record)
    names, every = [str(name) for name in record["variant_name"].values], 1e3 * every_step(record)
    loads = record["variant_load"].values if "variant_load" in record else np.zeros(len(names), int)
    panels = sorted(set(loads.tolist()))
    figure, found = axes(len(panels), 1, height=1.0 + 2.6 * len(panels), sharex=True, sharey=True)
    drawn = dict(zip(panels, np.atleast_1d(found), strict=True))
    steps, ratios = np.arange(1, every.shape[1] + 1), []
    for load, axis in drawn.items():
        chosen = np.flatnonzero(loads == load)
        for number, variant in enumerate(chosen):
            low, high = every[variant].min(axis=1), every[variant].max(axis=1)
            axis.fill_between(steps, low, high, color=series(number), alpha=0.3, linewidth=0)
            axis.plot(
                steps, np.median(every[variant], axis=1), color=series(number), label=names[variant], linewidth=1.2
            )
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=1 if load else 2)
        before, after = (float(np.median(every[variant])) for variant in chosen[:2])
        ratios.append(f"{before / after:.0f} times as long with the small files" + (" under load" if load else ""))
    axis.set(xlabel="output step")
    frame = pd.DataFrame(np.median(every, axis=2).T, columns=names)
    said: dict[str, Any] = {"number": len(frame), "listed": "; ".join(names), "ratios": " and ".join(ratios)}
    return show(figure, data=frame.rename_axis("step").reset_index(), name="xc30_storm", run=record, **said)


def with_small_files(record: xr.Dataset) -> pd.DataFrame:
    """Size of a record, time of an open and, of every sample, a step with small files over one without: median, 95 %.

    The step with small files is the one without and the time of the small files: both write the same.
    """
    record = single(record)
    without, small = (record[f"observed_{name}"].values for name in ("without", "small"))
    found = of_samples(1 + small / without, record["flags"].values)
    found = found.rename(columns={"middle": "times", "low": "times_low", "high": "times_high"})
    sets = record["tasks"].values * _OPENED
    each = {"record_bytes": record["record_bytes"].values, "asked": record["latency"].values,
            "open": np.nanmedian(small, axis=1) / sets, "without": np.nanmedian(without, axis=1)}  # fmt: skip
    return pd.DataFrame(each).join(found)


def _over_without(axis, place, part: pd.DataFrame, **style) -> None:
    """A step with small files over one without, at ``place``, and the line at 1."""
    bars(axis, place, spread_of(part, "times"), **style)
    log_axis(axis)
    axis.axhline(1, color=INK, linewidth=0.8)


@each_machine
def opens(record: xr.Dataset) -> Shown:
    """What small files cost an output step by the time of an open, for the least and the largest records."""
    frame = with_small_files(record)
    figure, axis = axes(height=2.9)
    text = []
    for number, nbytes in enumerate((frame["record_bytes"].max(), frame["record_bytes"].min())):
        part = frame[frame["record_bytes"] == nbytes].sort_values("open")
        label = f"records of {nbytes / 1e6:.2g} MB{', as in the talk' if number == 0 else ''}"
        _over_without(axis, 1e3 * part["open"], part, label=label, index=number)
        text.append(f"{nbytes / 1e6:.2g} MB: " + ", ".join(
            f"{row.times:.3g} times with opens of {1e3 * row.open:.2g} ms" for row in part.itertuples()))  # fmt: skip
    return show(figure, data=frame, name="xc30_opens", run=record, listed="; ".join(text))


@each_machine
def records(record: xr.Dataset) -> Shown:
    """What small files cost an output step by the size of its records, opened as fast as this host opens."""
    frame = with_small_files(record)
    here = frame[frame["asked"] == 0].sort_values("record_bytes")
    figure, axis = axes(height=3.2)
    label = f"opens of {1e6 * here['open'].median():.0f} µs, as here"
    _over_without(axis, here["record_bytes"] / 1e6, here, label=label)
    listed = here.assign(size=here["record_bytes"] / 1e6)
    return show(figure, data=here, name="xc30_records", run=record, items=listed, files=record["files"].values)


def storm_table(record: xr.Dataset) -> pd.DataFrame:
    """What the operating system spent on one output step of each variant."""
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


def output_rates(record: xr.Dataset, output: xr.Dataset) -> pd.DataFrame:
    """MB/s of a file and spread over the output steps of all samples, with the rate that the talk gives."""
    record = single(record)
    size = float(np.asarray(record["record_bytes"].values).ravel()[-1])
    files = int(np.asarray(record["files"].values).ravel()[-1])
    rows = [{"run": "talk, at least (2014)", "rate of a file": float(output["file_rate"])}]
    for name, seconds, calls in zip(
        record["variant_name"].values, every_step(record), record["calls_per_step"].values, strict=True
    ):
        low, middle, high = np.quantile(seconds, (0.05, 0.5, 0.95))
        rows.append(
            {
                "run": f"{name}, {cpu(record)}",
                "rate of a file": size / middle / 1e6,
                "rate of all files": files * size / middle / 1e9,
                "median step": 1e3 * middle,
                "5 % of steps below": 1e3 * low,
                "5 % of steps above": 1e3 * high,
                "longest step": 1e3 * seconds.max(),
                "requests a second": calls / middle,
            }
        )
    frame = pd.DataFrame(rows)
    frame.attrs["units"] = dict.fromkeys(
        ("median step", "5 % of steps below", "5 % of steps above", "longest step"), "ms"
    ) | {"rate of a file": "MB/s", "rate of all files": "GB/s"}
    return frame
