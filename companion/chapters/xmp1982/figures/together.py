"""Figures of chapter 1 that draw two forecasts at once in a run, on one axis with the report."""

import itertools

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.xmp1982.figures import label
from companion.chapters.xmp1982.figures.dots import Series, dots, observed, ranged, spread_text
from companion.figures.beside import each_machine
from companion.figures.parts import cpu, of_samples, times
from companion.figures.rendering import Shown
from companion.figures.tabular import Table, table
from companion.records.runs import single

#: Post-processing jobs of a forecast.
JOBS = 5


def paired_name(name: str) -> str:
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


def lost_on_disk(printed: tuple[pd.DataFrame, pd.DataFrame]) -> pd.Series:
    """Seconds by part that the pairs with a forecast on disk lost together, of :func:`printed_parts`."""
    lost = printed[0] - printed[1]
    return lost[lost.index.str.contains("disk")].sum()


def _part(cases: xr.Dataset, test: str, job: int, part: str) -> np.ndarray:
    """Seconds of one part of a job in every round."""
    if part == "write-up steps":
        return np.sum(_each_step(cases, test, job), axis=0)
    return cases[f"job_{job}_{'net' if part == 'net forecast' else 'posts'}"].sel(test=test).values


def _each_step(cases: xr.Dataset, test: str, job: int) -> list[np.ndarray]:
    """Seconds of each write-up step of a job in every round."""
    row = cases.indexes["test"].get_loc(test)
    return [cases[name].values[row] for name in cases.data_vars if str(name).startswith(f"job_{job}_write_step_")]


@each_machine
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
    return dots(
        rows,
        [
            Series("X-MP 1982, each job", _padded(then)),
            Series("today, all jobs and rounds", _padded(here), host=True, flagged=np.array(flagged)),
        ],
        record=record,
        name="xmp1982_lost",
        then_last=np.nanmedian(then[-1]),
        ranged_here_last=ranged(here[-1], nothing=1),
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
    names = [paired_name(name) for name in record["pairing"].values]
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
    known = {paired_name(name): n for n, name in enumerate(record["pairing"].values)}
    values = record["throughput"].transpose("pairing_number", "round").values[[known[name] for name in names]]
    doubtful = observed(record, "test")["flagged"].to_series().rename(paired_name)
    flagged = np.array([doubtful[[name, *name.split("+")]].any() for name in names])
    text = "today, a CPU each" if binding == "one each" else "today, two CPUs for all"
    return Series(text + driver * named, values, host=True, index=index, flagged=flagged)


@each_machine
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
        record=records[0],
        tight=not named,
        name="xmp1982_worth",
        then=then,
        here=here,
    )


def worth_said(record: xr.Dataset) -> str:
    """The factor that the second CPU is worth, from the least to the most of the pairings."""
    found = measured_worth(record)
    low, high = found["middle"].idxmin(), found["middle"].idxmax()
    none = int(((found["low"] <= 1) & (found["high"] >= 1)).sum())
    unclear = f" (no measurable gain in {none} of {len(found)} pairs)" if none else ""
    return f"{found['said'][low]} to {found['said'][high]}{unclear}"


def shortfall(record: xr.Dataset) -> pd.DataFrame:
    """What a pair lacks of a factor of two, by pairing, in units of the time until all is complete, medians.

    ``idle``, in which a CPU has no job; ``net``, by which both net forecasts exceed those alone, and ``net_low``, the
    lower end of its interval; ``mixed``: one of two forecasts is on disk.
    """
    cases, rows = observed(record, "test"), {}
    for name in single(record)["pairing"].values.astype(str):
        halves, complete = name.split("+"), cases["complete"].sel(test=name).values
        spent = {part: [_part(cases, name, n, part) for n in range(2)] for part in PARTS}
        longer = sum(spent[PARTS[0]]) - sum(_part(cases, half, 0, PARTS[0]) for half in halves)
        net = of_samples((longer / complete)[None], [""]).iloc[0]
        rows[paired_name(name)] = {
            "idle": float(np.nanmedian(2 - sum(map(sum, spent.values())) / complete)),
            "net": net["middle"],
            "net_low": net["low"],
            "mixed": sum(half.startswith("disk") for half in halves) == 1,
        }
    return pd.DataFrame(rows).T.astype({"idle": float, "net": float, "net_low": float, "mixed": bool})


@each_machine
def limits(record: xr.Dataset) -> Shown:
    """Pairs that share less and less: what takes the rest of the second CPU."""
    names = [name.split("+")[0] for name in record["pairing"].values]
    values = record["throughput"].transpose("pairing_number", "round").values
    flagged = observed(record, "test")["flagged"].sel(test=record["pairing"].values).values
    return dots(
        names,
        [Series(f"a CPU each, {cpu(record)}", values, host=True, flagged=flagged)],
        record=record,
        name="xmp1982_limits",
        items=pd.Series(np.median(values, axis=1), names),
    )


def limits_said(record: xr.Dataset) -> str:
    """Which pairs of equal programs stay measurably below two."""
    found = measured_worth(record)
    found.index = [name.split("+")[0] for name in found.index]
    first, more = found.index[0], found.iloc[1:]
    below = ", ".join(f"{row.Index} {row.said}" for row in more.query("high < 2").itertuples()) or "none"
    return (
        f"Pairs of equal programs show what sharing costs. Two programs that compute in {first} share nothing and gain "
        f"a factor of {found['said'].iloc[0]}. The other {len(more)} pairs share caches, memory or a disk. Measurably "
        f"less than two gain of these: {below}. All of them run without post-processing jobs and without threads that "
        "move records; what these cost in the pairs above was not measured apart."
    )


def _jobs(record: xr.Dataset) -> list[tuple[str, int, str]]:
    """Test, number of the job, and the job as its row is called."""
    rows = []
    for name in single(record)["pairing"].values:
        halves = [label(part) for part in paired_name(name).split("+")]
        rows += [(str(name), job, f"{halves[job]}, with {halves[1 - job]}") for job in range(2)]
    return rows


def pairs_table(printed: xr.Dataset, record: xr.Dataset) -> Table:
    """Fig. 5.3: the forecasts, their five jobs, and the end of the test, then and now."""
    cases, rows = observed(record, "test"), []
    for test, job, name in _jobs(record):
        here, then = cases.sel(test=test), printed.sel(test=paired_name(test), job=job + 1)
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
    return table(pd.DataFrame(rows), name="xmp1982_pairs_rerun", units="s", run=record)


def _steps(cases: xr.Dataset, test: str, job: int) -> np.ndarray:
    return np.concatenate(_each_step(cases, test, job))


@each_machine
def write_steps(printed: xr.Dataset, alone: xr.Dataset, record: xr.Dataset) -> Shown:
    """Write-up steps of the pairs over those of the same forecast alone (Figs 5.2 and 5.4), then and now."""
    cases, rows = observed(record, "test"), _jobs(record)
    printed_ratios, measured_ratios = [], []
    for test, job, _ in rows:
        place = test.split("+")[job]
        usual = np.median(alone["write_step"].sel(configuration=paired_name(place) + "-sync" * place.startswith("ssd")))
        printed_ratios.append(printed["write_step"].sel(test=paired_name(test), job=job + 1).values / usual)
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
        record=record,
        name="xmp1982_pair_steps_rerun",
        then=then,
        medians=medians,
    )


def write_steps_said(record: xr.Dataset) -> str:
    """Which write-up steps take measurably longer beside another forecast than alone."""
    cases = observed(record, "test")
    found = [(times(_steps(cases, test, job), _steps(cases, test.split("+")[job], 0)), name)
             for test, job, name in _jobs(record)]  # fmt: skip
    measured = [each for each in found if each[0].measurable]
    longer = [each for each in measured if each[0].medians > 1]
    text = f"Today write-up steps take measurably longer in a pair than alone in {len(longer)} of {len(found)} jobs"
    if longer:
        most, name = max(longer, key=lambda each: each[0].medians)
        text += f", at most {most.times} as long ({name})"
    shorter = len(measured) - len(longer)
    return (
        f"{text}. {f'In {shorter} they take measurably less. ' if shorter else ''}Otherwise no difference is measured."
    )
