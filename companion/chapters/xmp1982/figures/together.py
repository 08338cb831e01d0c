"""Figures of chapter 1 that draw two forecasts at once in a run, on one axis with the report."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.xmp1982.figures import label
from companion.chapters.xmp1982.figures.dots import Series, any_flagged, dots, spread_text
from companion.figures.parts import cpu
from companion.figures.rendering import Shown
from companion.figures.tabular import Table, table
from companion.records.runs import single


def _test(name: str) -> str:
    """The report's name of a pairing."""
    return str(name).replace("-async", "")


def throughput(printed: xr.Dataset, record: xr.Dataset) -> Shown:
    """Throughput of the pairs against one job after another, then and now.

    The report's reference is the Cray 1-A, so its numbers contain the faster machine.
    """
    record = single(record)
    complete = printed["complete"].max("job").to_series()
    names = [_test(name) for name in record["pairing"].values]
    then = (complete["ecmwf"] / complete).reindex(names)
    here = record["throughput"].transpose("pairing_number", "round").values
    middles = np.median(here, axis=1)
    return dots(
        [label(name) for name in names],
        [
            Series("X-MP pair, in turn on the Cray 1-A", then.to_numpy()),
            Series(
                f"{cpu(record)} pair, in turn on the same machine, files on disk",
                here,
                host=True,
                flagged=any_flagged(record, len(names)),
            ),
        ],
        "two forecasts and their jobs in turn over the pair together",
        record=record,
        log=False,
        name="xmp1982_throughput_rerun",
        title="Throughput of two forecasts at once, 1982 and rerun",
        alt=f"Throughput of {len(names)} pairs. In 1982 {then.min():.2f} to {then.max():.2f} against the Cray 1-A in "
        f"turn; on {cpu(record)} {middles.min():.2f} to {middles.max():.2f} against the same machine in turn "
        "with its files on disk.",
    )


def _jobs(record: xr.Dataset) -> list[tuple[int, int, str]]:
    """Number of the pairing, of the job, and the job as its row is called."""
    rows = []
    for n, name in enumerate(record["pairing"].values):
        halves = [label(part) for part in _test(name).split("+")]
        rows += [(n, job, f"{halves[job]}, with {halves[1 - job]}") for job in range(2)]
    return rows


def pairs_table(printed: xr.Dataset, record: xr.Dataset) -> Table:
    """Fig. 5.3: the forecasts, their five jobs, and the end of the test, then and now."""
    record, rows = single(record), []
    for n, job, name in _jobs(record):
        at = {"pairing_number": n, "job": job}
        then = printed.sel(test=_test(record["pairing"].values[n]), job=job + 1)
        rows.append(
            {
                "forecast": name,
                "clock, 1982": float(then["forecast"]),
                f"clock, {cpu(record)}": spread_text(record["forecast_clock"].isel(at)),
                "5 jobs, 1982": float(then["pp_5_jobs"]),
                f"5 jobs, {cpu(record)}": spread_text(record["posts"].isel(at)),
                "complete, 1982": "" if np.isnan(then["complete"]) else f"{float(then['complete']):.0f}",
                f"complete, {cpu(record)}": spread_text(record["complete"].isel(pairing_number=n)) if job == 0 else "",
            }
        )
    frame = pd.DataFrame(rows)
    caption = f"Fig. 5.3 and {cpu(record)}: clock times; of the run, median and range of the tests"
    return table(
        frame, name="xmp1982_pairs_rerun", units=dict.fromkeys(frame.columns[1:], "s"), caption=caption, run=record
    )


def write_steps(printed: xr.Dataset, alone: xr.Dataset, record: xr.Dataset) -> Shown:
    """Write-up steps of the pairs over one of the disk forecast alone (Fig. 5.4), then and now."""
    record = single(record)
    rows = _jobs(record)
    usual = float(np.median(alone["write_step"].sel(configuration="disk4")))
    own = float(record["alone_steps"].median())
    then = np.stack(
        [printed["write_step"].sel(test=_test(record["pairing"].values[n]), job=job + 1).values for n, job, _ in rows]
    )
    here = np.stack([record["write_step"].isel(pairing_number=n, job=job).values.ravel() for n, job, _ in rows])
    medians = np.median(here / own, axis=1)
    return dots(
        [name for *_, name in rows],
        [
            Series("each step, 1982", then / usual),
            Series(
                f"all steps of all rounds, {cpu(record)}", here / own, host=True, flagged=any_flagged(record, len(rows))
            ),
        ],
        "write-up step over one of the forecast alone",
        record=record,
        name="xmp1982_pair_steps_rerun",
        title="Write-up steps in pairs, 1982 and rerun",
        alt=f"Write-up steps in pairs over the median one of a forecast alone with its files on disk: up to "
        f"{np.nanmax(then / usual):.1f} in 1982, {medians.min():.2f} to {medians.max():.2f} on {cpu(record)}.",
    )


def overheads(record: xr.Dataset) -> pd.DataFrame:
    """Accounts of every job, medians of the rounds, in seconds; and what they leave unexplained.

    ``system`` is the clock that no account explains; ``problem`` what the accounts exceed those of the same job alone.
    """
    record = single(record)
    frame = pd.DataFrame(
        {
            "test": [_test(name) for name in record["account"].values],
            "job": [_test(name) for name in record["account_job"].values],
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


def _account_label(row) -> str:
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


def accounts(printed: xr.Dataset, record: xr.Dataset) -> Shown:
    """System and problem overhead as shares of the clock (Fig. 5.5), then and now, and a forced hang."""
    frame = overheads(record)
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
        [_account_label(row) for row in frame.itertuples()],
        [
            Series("system overhead, 1982", then[:, 0]),
            Series("problem overhead, 1982", then[:, 1], index=1),
            Series(f"system overhead, {cpu(record)}", system, host=True, flagged=flagged),
            Series(f"problem overhead, {cpu(record)}", problem, host=True, index=1, flagged=flagged),
        ],
        "share of the clock [%]",
        record=record,
        log=False,
        name="xmp1982_accounts_rerun",
        title="Clock time that no account explains, and accounts that grew",
        alt=f"System and problem overhead by job as shares of the clock. In 1982 at most {most[0]} and {most[1]} %; "
        f"bound to one CPU of {cpu(record)}, a job waits for {share:.0f} % of its clock.",
    )


def accounts_table(record: xr.Dataset) -> Table:
    """Where the clock time of each forecast went, in seconds."""
    frame = overheads(record)
    shown = pd.DataFrame({"job": [_account_label(row) for row in frame.itertuples()]})
    for name, title in (
        ("executing", "executing"),
        ("waiting", "waiting to execute"),
        ("transfers", "waiting for transfers"),
        ("clock", "clock"),
        ("system", "system overhead"),
        ("problem", "problem overhead"),
    ):
        shown[title] = frame[name]
    caption = f"Fig. 5.5 on {cpu(record)}: accounts of the operating system and of the driver, medians"
    return table(
        shown,
        digits=3,
        name="xmp1982_accounts",
        units=dict.fromkeys(shown.columns[1:], "s"),
        caption=caption,
        run=single(record),
    )
