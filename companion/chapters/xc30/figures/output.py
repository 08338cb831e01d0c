"""Figures and tables of chapter 5 on output steps: alone and under other load, with and without small files."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.figures.parts import cpu, flag_note, log_axis, run_title
from companion.figures.rendering import Shown, show
from companion.figures.style import CYCLE, axes
from companion.records.runs import single


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
            axis.fill_between(steps, low, high, color=CYCLE[number], alpha=0.3, linewidth=0)
            axis.plot(
                steps, np.median(every[variant], axis=1), color=CYCLE[number], label=names[variant], linewidth=1.2
            )
        log_axis(axis, "y")
        axis.set(ylabel="time of the step [ms]")
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=1 if load else 2)
        before, after = (float(np.median(every[variant])) for variant in chosen[:2])
        ratios.append(f"{before / after:.0f} times as long with the small files" + (" under load" if load else ""))
    axis.set(xlabel="output step")
    figure.suptitle(f"{run_title(record)}{flag_note(record)}", size=9)
    frame = pd.DataFrame(np.median(every, axis=2).T, columns=names)
    return show(
        figure,
        data=frame.rename_axis("step").reset_index(),
        name="xc30_storm",
        title="Time of the output steps",
        caption=f"The median step takes {' and '.join(ratios)}. Lines are medians, bands the range of the samples of a "
        "step; the title names the flags of the run, if it has any.",
        run=record,
        alt=f"Time of {len(frame)} output steps on a logarithmic axis, {'; '.join(names)}. The median step takes "
        f"{' and '.join(ratios)}. Bands are the range of the samples of a step, lines their medians; the title names "
        "the flags of the run, if it has any.",
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
        index=[*(f"{name}, 2014" for name in runs["system"].values), cpu(record)],
    )
    frame.attrs["units"] = {"one record": "MB"}
    return frame.rename_axis("run").reset_index().astype({"tasks": int})


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


def requests(record: xr.Dataset) -> Shown:
    """System calls a second over time of both variants, in place of the lost load of the metadata server."""
    record = single(record)
    figure, axis = axes(height=3.4)
    rows = []
    for number, name in enumerate(record["variant_name"].values):
        seconds = record["step_seconds"].values[number]
        rate = float(record["calls_per_step"].values[number]) / seconds
        ends = np.cumsum(seconds)
        axis.step(ends, rate / 1e3, where="pre", color=CYCLE[number], label=str(name), linewidth=1)
        rows += [{"variant": name, "time": t, "requests a second": r} for t, r in zip(ends, rate, strict=True)]
    log_axis(axis, "y")
    axis.set(xlabel="time spent in output steps [s]", ylabel="requests [1000/s]", xlim=(0, None))
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    figure.suptitle(f"{run_title(record)}{flag_note(record)}", size=9)
    frame = pd.DataFrame(rows)
    middle = frame.groupby("variant", sort=False)["requests a second"].median()
    text = "; ".join(f"{name} {rate / 1e3:.0f} thousand" for name, rate in middle.items())
    return show(
        figure,
        data=frame,
        name="xc30_requests",
        title="Requests a second",
        caption="System calls a second over the time of the output steps, one level for each step, in place of the "
        "lost load of a metadata server. The median is, of "
        f"{text}. The title names the flags of the run, if it has any.",
        run=record,
        alt=f"System calls a second over the time of the output steps, median: {text}. Each step is drawn; the title "
        "names the flags of the run, if it has any.",
    )
