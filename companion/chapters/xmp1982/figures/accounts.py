"""Accounts of the time of jobs alone and beside another (Fig. 5.5), then and now."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.xmp1982.figures import label
from companion.chapters.xmp1982.figures.dots import Series, any_flagged, dots
from companion.chapters.xmp1982.figures.together import paired_name
from companion.figures.beside import each_machine
from companion.figures.parts import cpu, of_samples
from companion.figures.rendering import Shown
from companion.figures.tabular import Table, table
from companion.records.runs import single


def _overheads(record: xr.Dataset) -> pd.DataFrame:
    """Accounts of every job, medians of the rounds, in seconds; and what they leave unexplained.

    ``system`` is the clock that no account explains; ``problem`` what the accounts exceed those of the same job alone.
    """
    record = single(record)
    frame = pd.DataFrame(
        {
            "test": [paired_name(name) for name in record["account"].values],
            "job": [paired_name(name) for name in record["account_job"].values],
            "forced": record["account_forced"].values.astype(bool),
        }
    )
    for name in ("executing", "waiting", "transfers", "clock"):
        frame[name] = record[f"account_{name}"].median("round").values
    frame["accounted"] = frame[["executing", "waiting", "transfers"]].sum(axis=1, min_count=3)
    frame["system"] = frame["clock"] - frame["accounted"]
    alone = frame[frame["test"] == frame["job"]].set_index("job")["accounted"]
    frame["problem"] = frame["accounted"] - frame["job"].map(alone)
    return frame


def _label(row) -> str:
    """A job alone, or beside which other, as its row is called."""
    if row.test == row.job:
        return f"{label(row.job)}, alone"
    other = row.test.replace(row.job, "", 1).strip("+")
    return f"{label(row.job)}, with {label(other)}" + (", one CPU" if row.forced else "")


def _shares(record: xr.Dataset, frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """System and problem overhead in per cent of the clock, (jobs, rounds); NaN where a job is alone."""
    names = ("executing", "waiting", "transfers")
    clock = single(record)["account_clock"].transpose(..., "round").values
    accounted = sum(single(record)[f"account_{name}"].transpose(..., "round").values for name in names)
    alone = (frame["accounted"] - frame["problem"]).to_numpy()[:, None]
    problem = np.where((frame["test"] == frame["job"]).to_numpy()[:, None], np.nan, accounted - alone)
    return 100 * (clock - accounted) / clock, 100 * problem / clock


@each_machine
def drawn(printed: xr.Dataset, record: xr.Dataset) -> Shown:
    """System and problem overhead as shares of the clock (Fig. 5.5), then and now, and a forced hang."""
    frame = _overheads(record)
    shares = []
    for row in frame.itertuples():
        test = "disk4-biop" if row.test == "disk4" else row.test
        known = test in printed["test"].values and not row.forced
        job = 1 + row.test.split("+").index(row.job)
        names = ("system_overhead", "problem_overhead")
        found = printed.sel(test=test, job=job) if known else None
        shares.append([np.nan if found is None else float(found[name] / found["clock"]) for name in names])
    then = 100 * np.array(shares)
    system, problem = _shares(record, frame)
    flagged = any_flagged(record, len(frame))
    most = [f"{np.nanmax(column):.1f}" if np.isfinite(column).any() else "no" for column in then.T]
    forced = frame[frame["forced"]]
    share = 100 * (forced["waiting"] / forced["clock"]).max()
    return dots(
        [_label(row) for row in frame.itertuples()],
        [
            Series("system overhead, 1982", then[:, 0]),
            Series("problem overhead, 1982", then[:, 1], index=1),
            Series(f"system overhead, {cpu(record)}", system, host=True, flagged=flagged),
            Series(f"problem overhead, {cpu(record)}", problem, host=True, index=1, flagged=flagged),
        ],
        record=record,
        name="xmp1982_accounts_rerun",
        most=most,
        share=share,
    )


def listed(record: xr.Dataset) -> Table:
    """Where the clock time of each forecast went, in seconds."""
    frame = _overheads(record)
    shown = pd.DataFrame({"job": [_label(row) for row in frame.itertuples()]})
    for name, title in (
        ("executing", "executing"),
        ("waiting", "waiting to execute"),
        ("transfers", "waiting for transfers"),
        ("clock", "clock"),
        ("system", "system overhead"),
        ("problem", "problem overhead"),
    ):
        shown[title] = frame[name]
    return table(shown, digits=3, name="xmp1982_accounts", units="s", run=single(record))


def said(record: xr.Dataset) -> str:
    """What the accounts of the operating system explain, which jobs lose measurably to another, and a forced wait."""
    frame = _overheads(record)
    usual, forced = frame[~frame["forced"]], frame[frame["forced"]]
    problem = of_samples(_shares(record, frame)[1], [""] * len(frame)).set_axis(frame.index)
    pair = usual.index[usual["test"] != usual["job"]]
    lost = [row for row in pair if problem["low"][row] > 0]
    words = [
        f"{_label(frame.loc[row])}: {middle:.0f} %, {low:.0f} to {high:.0f}"
        for row, (low, middle, high) in zip(lost, problem.loc[lost, ["low", "middle", "high"]].to_numpy(), strict=True)
    ]

    def span(values) -> str:
        return f"{min(values):.0f} to {max(values):.0f} %"

    explained = 100 * frame["accounted"] / frame["clock"]
    text = f"The three accounts add up to {span(explained)} of the clock."
    if len(pair):
        text += f" With a CPU for each job the problem overhead is measurable in {len(lost)} of {len(pair)} jobs"
        text += f" ({'; '.join(words)})." if words else "."
    if len(forced):
        waits = 100 * forced["waiting"] / forced["clock"]
        text += f" Where both forecasts had one CPU they waited to execute for {span(waits)} of the clock."
    return text
