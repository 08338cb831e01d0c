"""Large blocks to devices, loads that meet in one cache set, two jobs that share a level, and the two-day forecast."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.xmp1982.figures.dots import Series, dots, middle, observed, spread_text
from companion.figures.beside import each_machine
from companion.figures.parts import (
    bars,
    bytes_axis,
    case_intervals,
    converted,
    cpu,
    of_samples,
    quotient,
    run_title,
    times,
)
from companion.figures.rendering import Shown, show
from companion.figures.style import axes
from companion.figures.tabular import Table, significant, table
from companion.records.runs import single

NAMES = {
    "ssd": "SSD; memory",
    "ssd-2-jobs": "SSD; memory, two jobs",
    "bmr": "buffer memory; page cache",
    "bmr-2-jobs": "buffer memory; page cache, two jobs",
    "tmpfs": "file system in memory",
    "tmpfs-2-jobs": "file system in memory, two jobs",
    "disk": "one disk; O_DIRECT",
    "disks-both": "four disks each; O_DIRECT, two jobs",
    "ssd-with-disk": "SSD; memory, next to a disk job",
    "bmr-with-disk": "buffer memory; page cache, next to a disk job",
}
#: The same by the devices of 1982 alone.
_THEN = {
    "ssd": "SSD",
    "ssd-2-jobs": "SSD, two jobs",
    "ssd-with-disk": "SSD, beside a disk job",
    "bmr": "BMR",
    "bmr-2-jobs": "BMR, two jobs",
    "bmr-with-disk": "BMR, beside a disk job",
    "disk": "one disk",
    "disks-both": "eight disks, two jobs",
}
#: Tests whose two jobs count together; in the others the second job only disturbs.
_BOTH = ("ssd-2-jobs", "bmr-2-jobs", "tmpfs-2-jobs", "disks-both")
_MBYTE, _MBIT = 8.0, 64.0  # of a megaword


def _tests(record: xr.Dataset) -> xr.Dataset:
    found = single(record)
    cases = observed(record, "test")
    for name in ("mwords", "mwords_second", "jobs"):
        cases[name] = ("test", found[name].values.astype(float))
    return cases


def rates(record: xr.Dataset) -> xr.DataArray:
    """Mword/s of every test and sample: of both jobs where both count, over the time of the longer one."""
    cases = _tests(record)
    found = []
    for name in cases["test"].values.astype(str):
        case = cases.sel(test=name)
        mega, seconds = float(case["mwords"]), case["job_0_time"].values
        if name in _BOTH:
            mega, seconds = mega + float(case["mwords_second"]), case["clock"].values
        found.append(mega / seconds)
    return xr.DataArray(np.array(found), dims=("test", "sample"), coords={"test": cases["test"].values})


def devices_said(printed: pd.DataFrame, rates_: xr.Dataset, record: xr.Dataset) -> str:
    """Devices of 1982 (Figs 7.2 and 7.3) and places of today: one against another, two jobs, and beside a disk job."""
    gain = (rates_["two_copies"] / rates_["stand_alone"] - 1).to_series()
    one = float(rates_["stand_alone"].sel(target="SSD") / rates_["stand_alone"].sel(target="BMR"))
    rate = printed.set_index("test")["mbyte_rate"].astype(float)
    lost = [1 - rate[f"{name}-with-disk"] / rate[name] for name in ("ssd", "bmr")]
    return (
        f"In 1982 one job moved {one:.2f} times as much a second on SSD as in buffer memory. Two jobs together moved "
        f"{100 * gain['SSD']:.0f} % more than one on SSD and {100 * gain['BMR']:.0f} % more in buffer memory. Beside a "
        f"disk job one moved {100 * lost[0]:.0f} and {100 * lost[1]:.0f} % less. {_places_said(record)}"
    )


def _places_said(record: xr.Dataset) -> str:
    """The same of memory and the page cache."""
    cases = _tests(record)

    def seconds(test: str, name: str = "job_0_time"):
        return cases[name].sel(test=test).values

    more = [times(2 * seconds(test), seconds(f"{test}-2-jobs", "clock")).times for test in ("ssd", "bmr")]
    beside = [times(seconds(f"{test}-with-disk"), seconds(test)).times for test in ("ssd", "bmr")]
    return (
        f"Today both places are main memory. One job takes {times(seconds('bmr'), seconds('ssd')).times} as long "
        f"through the page cache as in memory of its own. Two jobs together move {more[0]} as much a second as one in "
        f"memory and {more[1]} in the page cache. Beside a disk job one takes {beside[0]} as long in memory and "
        f"{beside[1]} in the page cache."
    )


@each_machine
def devices(printed: pd.DataFrame, record: xr.Dataset) -> Shown:
    """Transfer rates of Fig. 7.2, then and now."""
    here, listed = rates(record), printed.set_index("test")["mbyte_rate"].astype(float)
    names = [name for name in _THEN if name in here["test"]]
    then = listed[names].to_numpy()
    values = _MBYTE * here.sel(test=names).values
    middles = np.nanmedian(values, axis=1)
    flagged = _tests(record)["flagged"].sel(test=names).values.astype(bool)
    return dots(
        [_THEN[name] for name in names],
        [Series("X-MP 1982", then), Series("today", values, host=True, flagged=flagged)],
        record=record,
        name="xmp1982_devices_rerun",
        then=then,
        middles_least=significant(float(middles.min()), 3),
        middles_most=significant(float(middles.max()), 3),
    )


def devices_table(printed: pd.DataFrame, record: xr.Dataset) -> Table:
    """Fig. 7.2 in its layout: a row of the report, then those of the run, each stream of a pair its own."""
    then, cases, here, rows = printed.set_index("test"), _tests(record), rates(record), []
    for name in NAMES:
        if name in then.index:
            old = then.loc[name]
            rows.append(
                _row(name, "1982", float(old["mwords"]), f"{old['time']:g}" if old["time"] == old["time"] else "")
            )
            rows[-1] |= {
                "MW/s": f"{old['mword_rate']:g}",
                "MB/s": f"{old['mbyte_rate']:g}",
                "Mbit/s": f"{old['mbit_rate']:g}",
            }
        if name not in here["test"]:
            continue
        case = cases.sel(test=name)
        streams = [(float(case["mwords"]), case["job_0_time"].values, "")]
        if float(case["jobs"]) > 1:
            streams.append((float(case["mwords_second"]), case["job_1_time"].values, ""))
        for n, (mega, seconds, _) in enumerate(streams):
            label = cpu(record) if len(streams) == 1 else f"{cpu(record)}, stream {n + 1}"
            rows.append(_row(name, label, mega, spread_text(seconds)) | _rates(mega / seconds))
        if name in _BOTH:
            mega = sum(each[0] for each in streams)
            whole = here.sel(test=name).values
            rows.append(_row(name, f"{cpu(record)}, both", mega, spread_text(case["clock"].values)) | _rates(whole))
    units = {"M words": "10⁶", "time": "s"}
    return table(pd.DataFrame(rows), name="xmp1982_devices_table", units=units, run=record)


def _row(name: str, when: str, mega: float, seconds: str) -> dict[str, str]:
    return {"test": NAMES[name], "when": when, "M words": f"{mega:g}", "time": seconds}


def _rates(mega) -> dict[str, str]:
    rate = float(np.nanmedian(mega))
    return {"MW/s": significant(rate, 4), "MB/s": significant(_MBYTE * rate, 4), "Mbit/s": significant(_MBIT * rate, 4)}


def directions(record: xr.Dataset) -> Table:
    """Writing and reading apart, of the first job of every test."""
    cases, rows = _tests(record), []
    for name in (each for each in NAMES if each in cases["test"]):
        case = cases.sel(test=name)
        half = 0.5 * _MBYTE * float(case["mwords"])
        rows.append(
            {
                "test": NAMES[name],
                "written": f"{half / float(middle(case['job_0_written'])):.4g}",
                "read": f"{half / float(middle(case['job_0_read'])):.4g}",
            }
        )
    return table(pd.DataFrame(rows), name="xmp1982_directions", units="MB/s", run=record)


def _cases(record: xr.Dataset, kind: str) -> tuple[xr.Dataset, pd.DataFrame]:
    found = single(record)
    use = found["kind"].values.astype(str) == kind
    return found.isel(case=use), case_intervals(record)[use].reset_index(drop=True)


@each_machine
def one_set(record: xr.Dataset) -> Shown:
    """Nanoseconds of a dependent load over a few lines, by their number and distance."""
    cases, found = _cases(record, "one set")
    loads = cases["bytes_read"].values.astype(float) / 4
    figure, axis = axes(height=3.9)
    frame = pd.DataFrame({"lines": cases["lines"].values, "spacing": cases["spacing"].values.astype(str)})
    for index, name in enumerate(dict.fromkeys(frame["spacing"])):
        of = (frame["spacing"] == name).to_numpy()
        shown = converted(found[of], lambda seconds, of=of: 1e9 * seconds / loads[of])
        bars(axis, frame["lines"][of], shown, label=f"lines {name} apart", index=index)
    _titled_legend(figure, record)
    frame["ns"] = 1e9 * found["middle"] / loads
    return show(figure, data=frame, name="xmp1982_one_set", run=record, most=frame.groupby("spacing")["ns"].max())


def _titled_legend(figure, record: xr.Dataset) -> None:
    style = {"fontsize": 8, "title_fontsize": 7.5, "alignment": "left"}
    figure.legend(loc="outside upper left", ncols=2, title=run_title(record), **style)


@each_machine
def shared(record: xr.Dataset) -> Shown:
    """Time of two jobs, each on its own CPU with its own array, over the time of one alone."""
    cases, found = _cases(record, "sharing")
    jobs, size = cases["jobs"].values.astype(int), cases["nbytes"].values.astype(float)
    figure, axis = axes(height=3.4)
    frame = pd.DataFrame({"bytes": size[jobs == 1]})
    if (jobs == 2).any():
        ratio = quotient(found[jobs == 2], found[jobs == 1])
        bars(axis, frame["bytes"], ratio, label=f"two jobs at once, {cpu(record)}")
        frame["ratio"] = ratio["middle"]
    axis.axhline(1.0, linewidth=0.8, color="gray")
    bytes_axis(axis, size, step=8)
    axis.set_title(run_title(record), fontsize=7.5, loc="left")
    said = "the machine of this run has one CPU."
    if "ratio" in frame:
        said = f"{frame['ratio'].iloc[0]:.2f} in caches of their own, at most {frame['ratio'].max():.2f}."
    return show(figure, data=frame, name="xmp1982_shared", run=record, said=said)


@each_machine
def days(record: xr.Dataset) -> Shown:
    """Every ordinary step of a forecast of two days."""
    number, clock = record["number"].values, 1e3 * record["step_clock"].values
    figure, axis = axes(height=3.2)
    axis.plot(number, clock, ".", markersize=3, color="gray", label="a step of one run")
    halves = np.stack([record["observed_first_day"].values, record["observed_second_day"].values])
    flags = 2 * [str(record["flags"].values.ravel()[0])]
    last = number.max()
    bars(axis, [0.25 * last, 0.75 * last], of_samples(1e3 * halves, flags), label="median of a day", line=False)
    axis.axvline(last / 2, linewidth=0.8, color="gray", linestyle=":")
    _titled_legend(figure, record)
    data = pd.DataFrame({"step": number, "ms": clock})
    return show(figure, data=data, name="xmp1982_days", run=record, medians=1e3 * np.nanmedian(halves, axis=(1, 2)))


def days_said(record: xr.Dataset) -> str:
    """Steps of the second day over those of the first, and the slowest of the first three, in words."""
    found = single(record)
    second, first = (found[f"observed_{name}_day"].values for name in ("second", "first"))
    opening = [found[name].values for name in (f"observed_step_{n}" for n in range(3)) if name in found]
    return (
        f"A step of the second day takes {times(second, first).times} as long as one of the first. The slowest of the "
        f"first three steps takes {times(max(opening, key=np.nanmedian), first).times} as long."
    )
