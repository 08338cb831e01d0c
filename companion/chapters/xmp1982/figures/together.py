"""Figures of chapter 1 that draw two forecasts at once in a run, on one axis with the report."""

import itertools

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.xmp1982.figures import label
from companion.chapters.xmp1982.figures.dots import Series, any_flagged, dots, observed, spread_text
from companion.figures.parts import cpu, of_samples
from companion.figures.rendering import Shown
from companion.figures.tabular import Table, table
from companion.records.runs import single

#: Post-processing jobs of a forecast.
JOBS = 5


def _test(name: str) -> str:
    """The report's name of a pairing."""
    return str(name).replace("-async", "")


def _in_turn(alone, test: str, driver: str = ""):
    """Time of the jobs of a test one after another, each in its own place; ``driver`` is that of files on SSD."""
    names = [name + driver if name.startswith("ssd") else name for name in test.split("+")]
    return sum(alone.sel(test=name) if isinstance(alone, xr.DataArray) else alone[name] for name in names)


def printed_worth(alone: xr.Dataset, pairs: xr.Dataset, driver: str = "sync") -> pd.Series:
    """What the second CPU of the X-MP was worth, by pairing, from Figs 5.1 and 5.3: both in turn over both at once.

    In turn, each is a simulated forecast with its five jobs, its files in the same place, on SSD with ``driver``.
    """
    each = (alone["forecast_clock"] + JOBS * alone["pp_clock"]).to_series()
    complete = pairs["complete"].max("job").to_series().drop("ecmwf")
    return pd.Series({name: _in_turn(each, name, f"-{driver}") / both for name, both in complete.items()})


#: Parts of a forecast with its jobs.
PARTS = ("net forecast", "write-up steps", "post-processing")


def printed_parts(
    alone: pd.DataFrame, breakdown: pd.DataFrame, pairs: pd.DataFrame, steps: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Seconds of each job of a pair by part, and of the same job alone, from Figs 5.1 to 5.4.

    Files on SSD are compared with the synchronous driver alone.
    """
    alone, breakdown = (each.set_index("configuration") for each in (alone, breakdown))
    pairs, steps = (each[each["test"] != "ecmwf"].reset_index(drop=True) for each in (pairs, steps))
    names = [test.split("+")[job - 1] for test, job in zip(pairs["test"], pairs["job"].astype(int), strict=True)]
    usual = [name + "-sync" * name.startswith("ssd") for name in names]
    ups = steps["write_sum"].to_numpy(float)
    both = [steps["total"].to_numpy(float) - ups, ups, pairs["pp_5_jobs"].to_numpy(float)]
    each = [breakdown["net_forecast"][usual], breakdown["write_sum"][usual], JOBS * alone["pp_clock"][usual]]
    paired, single_ = (
        pd.DataFrame(dict(zip(PARTS, np.asarray(seconds, float), strict=True)), index=pairs["test"])
        for seconds in (both, each)
    )
    return paired, single_


def _part(cases: xr.Dataset, test: str, job: int, part: str) -> np.ndarray:
    """Seconds of one part of a job in every round."""
    case = cases.sel(test=test)
    if part == "write-up steps":
        names = [name for name in case.data_vars if str(name).startswith(f"job_{job}_write_step_")]
        return np.sum([case[name].values for name in names], axis=0)
    return case[f"job_{job}_{'net' if part == 'net forecast' else 'posts'}"].values


def lost(printed: tuple[pd.DataFrame, pd.DataFrame], record: xr.Dataset) -> Shown:
    """What each part of a job takes in a pair over what it takes alone, then and now; pairs with a disk apart."""
    cases, rows, then, here, flagged = observed(record, "test"), [], [], [], []
    ratios = printed[0] / printed[1]
    for part, (disk, place) in itertools.product(PARTS, ((False, "no disk"), (True, "a disk"))):
        jobs = [(test, n, test.split("+")[n]) for test, n, _ in _jobs(record) if ("disk" in test) == disk]
        if jobs:
            rows.append(f"{part}, {place}")
            then.append(ratios[part][ratios.index.str.contains("disk") == disk].to_numpy())
            values = [_part(cases, test, n, part) / np.nanmedian(_part(cases, own, 0, part)) for test, n, own in jobs]
            here.append(np.concatenate(values))
            flagged.append(any(bool(cases["flagged"].sel(test=[test, own]).any()) for test, _, own in jobs))
    was, now = (float(np.nanmedian(values[-1])) for values in (then, here))
    return dots(
        rows,
        [
            Series("X-MP 1982, each job", _padded(then)),
            Series("today, all jobs and rounds", _padded(here), host=True, flagged=np.array(flagged)),
        ],
        "time in a pair over time alone",
        record=record,
        log=False,
        name="xmp1982_lost",
        title="What a job loses beside another, by part",
        alt=f"Time of each part of a job in a pair over that of the same job alone, by whether a forecast of the pair "
        f"is on disk. Of the last row the median is {was:.2f} in 1982 and {now:.2f} today.",
    )


def _padded(rows: list[np.ndarray]) -> np.ndarray:
    """Rows of different lengths in one array, NaN where one has no number."""
    return np.array([np.pad(row, (0, max(map(len, rows)) - len(row)), constant_values=np.nan) for row in rows])


def measured_worth(record: xr.Dataset) -> pd.DataFrame:
    """What the second CPU of this machine is worth, by pairing: both in turn over both at once, round by round.

    Columns as :func:`companion.figures.parts.of_samples` gives them, and ``said``: median and, in brackets, its 95 %
    interval, or the range where there are fewer than six rounds.
    """
    record = single(record)
    names = [_test(name) for name in record["pairing"].values]
    values = record["throughput"].transpose("pairing_number", "round").values
    found = of_samples(values, [""] * len(names)).set_axis(names)
    found["said"] = [f"{row.middle:.2f} ({row.low:.2f} to {row.high:.2f})" for row in found.itertuples()]
    return found


def _driver(record: xr.Dataset) -> str:
    return f", {single(record)['driver'].values.ravel()[0]}"


def _series(record: xr.Dataset, names, index: int, named: bool) -> Series:
    """Both in turn over both at once, round by round, called by where the jobs ran, and the driver where ``named``."""
    record = single(record)
    driver, binding = _driver(record), str(record["binding"].values.ravel()[0])
    known = {_test(name): n for n, name in enumerate(record["pairing"].values)}
    values = record["throughput"].transpose("pairing_number", "round").values[[known[name] for name in names]]
    doubtful = observed(record, "test")["flagged"].to_series().rename(_test)
    flagged = np.array([doubtful[[name, *name.split("+")]].any() for name in names])
    text = "today, a CPU each" if binding == "one each" else "today, two CPUs for all"
    return Series(text + driver * named, values, host=True, index=index, flagged=flagged)


def worth(alone: xr.Dataset, pairs: xr.Dataset, *records: xr.Dataset) -> Shown:
    """What the second CPU was worth in 1982 and is today: all pairings; a run for each driver and binding."""
    then = printed_worth(alone, pairs).sort_values(ascending=False)
    names = list(then.index)
    named = len({_driver(record) for record in records}) > 1
    series = [_series(record, names, n, named) for n, record in enumerate(records)]
    here = np.concatenate([np.median(each.values, axis=1) for each in series])
    return dots(
        [label(name) for name in names],
        [Series("X-MP 1982", then.to_numpy()), *series],
        "both in turn over both at once",
        record=records[0],
        log=False,
        tight=not named,
        name="xmp1982_worth",
        title="What the second CPU is worth, 1982 and today",
        alt=f"Two forecasts and their jobs in turn over both at once, in the same places: {then.min():.2f} to "
        f"{then.max():.2f} in 1982, medians of {here.min():.2f} to {here.max():.2f} today. Two is all of a second CPU.",
    )


def worth_said(record: xr.Dataset) -> str:
    """What the second CPU is worth, from the least to the most of the pairings."""
    found = measured_worth(record)
    low, high = found["middle"].idxmin(), found["middle"].idxmax()
    none = int(((found["low"] <= 1) & (found["high"] >= 1)).sum())
    unclear = f"; {none} of {len(found)} pairs cannot be told from 1" if none else ""
    return f"{found['said'][low]} to {found['said'][high]} times{unclear}"


def limits(record: xr.Dataset) -> Shown:
    """Pairs that share less and less: what takes the rest of the second CPU."""
    record = single(record)
    names = [name.split("+")[0] for name in record["pairing"].values]
    values = record["throughput"].transpose("pairing_number", "round").values
    flagged = observed(record, "test")["flagged"].sel(test=record["pairing"].values).values
    middles = dict(zip(names, np.median(values, axis=1), strict=True))
    return dots(
        names,
        [Series(f"a CPU each, {cpu(record)}", values, host=True, flagged=flagged)],
        "both in turn over both at once",
        record=record,
        log=False,
        name="xmp1982_limits",
        title="What two programs share, and what it costs",
        alt="Two equal programs in turn over both at once: "
        + ", ".join(f"{name} {value:.2f}" for name, value in middles.items())
        + ".",
    )


def limits_said(record: xr.Dataset) -> str:
    """Which pairs of equal programs stay measurably below two."""
    found = measured_worth(record)
    found.index = [name.split("+")[0] for name in found.index]
    below = [f"{row.Index} {row.said}" for row in found.iloc[1:].query("high < 2").itertuples()]
    rest = ", ".join(below) if below else "none"
    return (
        f"Two equal programs that share less and less show what takes the rest. Computing in {found.index[0]} they "
        f"gain {found['said'].iloc[0]} times. Of the {len(found) - 1} that share more, measurably below two: {rest}."
    )


def _jobs(record: xr.Dataset) -> list[tuple[str, int, str]]:
    """Test, number of the job, and the job as its row is called."""
    rows = []
    for name in single(record)["pairing"].values:
        halves = [label(part) for part in _test(name).split("+")]
        rows += [(str(name), job, f"{halves[job]}, with {halves[1 - job]}") for job in range(2)]
    return rows


def pairs_table(printed: xr.Dataset, record: xr.Dataset) -> Table:
    """Fig. 5.3: the forecasts, their five jobs, and the end of the test, then and now."""
    cases, rows = observed(record, "test"), []
    for test, job, name in _jobs(record):
        here, then = cases.sel(test=test), printed.sel(test=_test(test), job=job + 1)
        rows.append(
            {
                "forecast": name,
                "clock, 1982": float(then["forecast"]),
                f"clock, {cpu(record)}": spread_text(here[f"job_{job}_clock"]),
                "5 jobs, 1982": float(then["pp_5_jobs"]),
                f"5 jobs, {cpu(record)}": spread_text(here[f"job_{job}_posts"]),
                "complete, 1982": "" if np.isnan(then["complete"]) else f"{float(then['complete']):.0f}",
                f"complete, {cpu(record)}": spread_text(here["complete"]) if job == 0 else "",
            }
        )
    frame = pd.DataFrame(rows)
    caption = f"Fig. 5.3 and {cpu(record)}: clock times; of the run, median and range of the tests"
    return table(
        frame, name="xmp1982_pairs_rerun", units=dict.fromkeys(frame.columns[1:], "s"), caption=caption, run=record
    )


def _steps(cases: xr.Dataset, test: str, job: int) -> np.ndarray:
    names = [name for name in cases.data_vars if str(name).startswith(f"job_{job}_write_step_")]
    return np.concatenate([cases[name].sel(test=test).values for name in names])


def write_steps(printed: xr.Dataset, alone: xr.Dataset, record: xr.Dataset) -> Shown:
    """Write-up steps of the pairs over those of the same forecast alone (Figs 5.2 and 5.4), then and now."""
    cases, rows = observed(record, "test"), _jobs(record)
    printed_ratios, measured_ratios = [], []
    for test, job, _ in rows:
        place = test.split("+")[job]
        usual = np.median(alone["write_step"].sel(configuration=_test(place) + "-sync" * place.startswith("ssd")))
        printed_ratios.append(printed["write_step"].sel(test=_test(test), job=job + 1).values / usual)
        measured_ratios.append(_steps(cases, test, job) / np.nanmedian(_steps(cases, place, 0)))
    then, here = np.stack(printed_ratios), np.stack(measured_ratios)
    medians = np.nanmedian(here, axis=1)
    flagged = np.array([bool(cases["flagged"].sel(test=test)) for test, *_ in rows])
    return dots(
        [name for *_, name in rows],
        [
            Series("each step, 1982", then),
            Series(f"all steps of all rounds, {cpu(record)}", here, host=True, flagged=flagged),
        ],
        "write-up step over the median one of the same forecast alone",
        record=record,
        name="xmp1982_pair_steps_rerun",
        title="Write-up steps in pairs, 1982 and rerun",
        alt=f"Write-up steps in pairs over the median one of the same forecast alone: {np.nanmin(then):.2f} to "
        f"{np.nanmax(then):.1f} in 1982; on {cpu(record)}, where a step waits until the device has the file, medians "
        f"of {medians.min():.2f} to {medians.max():.2f}.",
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
