"""Sentences of chapter 1 whose numbers come from the report's tables and from committed runs."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.bench.statistics import median_interval
from companion.chapters.xmp1982.figures import label
from companion.chapters.xmp1982.figures.dots import observed, ranged
from companion.chapters.xmp1982.figures.live import jobs
from companion.chapters.xmp1982.figures.overlapping import device_costs
from companion.chapters.xmp1982.figures.together import measured_worth, printed_worth, shortfall, worth_said
from companion.figures.parts import cpu, times


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def _median(values: xr.DataArray) -> str:
    """A median in seconds with its 95 % interval."""
    bounds = median_interval(values.values)
    text = f"{_number(float(values.median()))} s"
    return text if bounds is None else f"{text} (95 % interval {_number(bounds[0])} to {_number(bounds[1])})"


def _span(values, unit: str = "", digits: int = 2) -> str:
    """Least and largest of several numbers."""
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}{unit}"


def files(printed: xr.Dataset, record: xr.Dataset) -> str:
    """A forecast with its work files on disk over one with two files on SSD, the driver asynchronous in both."""
    net, here = printed["net_forecast"], observed(record)["net"]
    disk, ssd = (here.sel(configuration=name).values for name in ("disk4", "ssd2-async"))
    then = float(net.sel(configuration="disk4") / net.sel(configuration="ssd2-async"))
    return (
        f"With work files on disk the forecast took {then:.2f} times as long as with files on SSD. On {cpu(record)} it "
        f"takes {times(disk, ssd).times} as long with files on disk as with files in memory."
    )


def pairs(alone: xr.Dataset, together_: xr.Dataset, each: xr.Dataset, free: xr.Dataset) -> list[str]:
    """What the second CPU was worth, and is: of runs with a CPU each, and with two CPUs for all."""
    then = printed_worth(alone, together_)
    return [
        f"Two forecasts at once were done {_span(then)} times as fast as one after the other. A factor of two would "
        "mean that the second CPU was fully used.",
        f"On {cpu(each)} the factor is {worth_said(each)} when each forecast has one CPU. It is {worth_said(free)} "
        "when a forecast may use both CPUs, also the single one that the pair is compared with.",
    ]


def second_cpu(disk: pd.Series, each: xr.Dataset, free: xr.Dataset) -> str:
    """Where pairs with a disk lost time in 1982, and what one forecast gains today from two CPUs."""
    name = "ssd1-async"
    usual, eased = (observed(record, "test")["complete"].sel(test=name).values for record in (each, free))
    bound = times(usual, eased)
    why = (
        "Compared with this slower forecast, a second CPU looks better."
        if bound.measurable and bound.medians > 1
        else "The choice therefore changes little."
    )
    return (
        f"In 1982 the pairs with a forecast on disk lost {disk['post-processing']:.0f} s in post-processing, "
        f"{disk['net forecast']:.0f} s in the net forecast and {disk['write-up steps']:.0f} s in the write-up steps. "
        "The report blames the first and the last. Today the result may depend on the single forecast that a pair is "
        f"compared with. Bound to one CPU, {label(name)} takes {bound.times} as long as with both CPUs. {why}"
    )


def rest(together_: xr.Dataset, record: xr.Dataset) -> str:
    """What pairs of forecasts with their jobs lack of a factor of two: a CPU without work, and longer net forecasts."""
    complete = together_["complete"].max("job").to_series()
    idle = 2 - (together_["forecast"] + together_["pp_5_jobs"]).sum("job").to_series() / complete
    found, lack = shortfall(record), 2 - measured_worth(record)["middle"]
    mixed, alike = found[found["mixed"]], found[~found["mixed"]]
    parts = [f"Today's pairs fall short of a factor of two by {_span(lack)} (medians)."]
    if len(mixed):
        parts.append(
            f"Where only one of two forecasts is on disk, {_span(mixed['idle'])} of it is idle time of one CPU: "
            f"the other forecast and all jobs end earlier. In 1982 this idle time was {_span(idle[mixed.index])}."
        )
    if len(alike):
        parts.append(
            f"In the other pairs {_span(alike['net'])} comes from net forecasts that take longer than alone, "
            f"measurably in {int((alike['net_low'] > 0).sum())} of {len(alike)} pairs."
        )
    return " ".join(parts)


def references(alone: xr.Dataset, together_: xr.Dataset) -> str:
    """What the second CPU was worth by the driver of the single forecasts on SSD."""
    sync, other = (printed_worth(alone, together_, driver) for driver in ("sync", "async"))
    return (
        f"The division of 1982 takes the synchronous driver for files on SSD and gives {sync.min():.2f} "
        f"({label(sync.idxmin())}) to {sync.max():.2f} ({label(sync.idxmax())}). With the times of the asynchronous "
        f"driver it would give up to {other.max():.2f}, more than two CPUs can."
    )


def waiting_jobs(printed: xr.Dataset, record: xr.Dataset) -> str:
    """How much of its clock time a post-processing job computes, then and now."""
    then = (printed["pp_cpu"] / printed["pp_clock"]).drop_sel(configuration="cray1a-disk4")
    cases = observed(record)
    known = [name for name in then["configuration"].values if name in cases["configuration"]]
    shares = [
        jobs(cases.sel(configuration=name), "cpu") / jobs(cases.sel(configuration=name), "clock") for name in known
    ]
    every = np.concatenate(shares)
    return (
        f"A post-processing job of 1982 waited for {_span(100 * (1 - then.values), ' %', 0)} of its clock time. "
        "Today's job also reads its input from the device and writes its output to it, but waits for "
        f"{ranged(1 - every, 100, 0)} % of its clock time."
    )


def net_times(printed_times: xr.Dataset, printed: xr.Dataset, record: xr.Dataset) -> str:
    """How little of the clock the place of the work files could change in 1982, and how much it can now."""
    share = printed_times["forecast_cpu"] / printed_times["forecast_clock"]
    here = observed(record)["net"]
    return (
        f"In 1982 the forecast computed for {100 * share.min():.0f} to {100 * share.max():.0f} % of its clock time, so "
        f"no place of its files could change much. On {cpu(record)} computing takes so little time that a disk "
        "decides. With two files and the synchronous driver, a day took "
        f"{float(printed['net_forecast'].sel(configuration='ssd2-sync')):.0f} s then and takes "
        f"{_median(here.sel(configuration='ssd2-sync'))} now, with lighter physics."
    )


def overlap(record: xr.Dataset) -> str:
    """How much of what can be hidden is hidden on each device."""
    found = device_costs(record).set_index("device")
    parts = [
        f"{100 * row.hidden:.0f} % ({100 * row.hidden_low:.0f} to {100 * row.hidden_high:.0f}) with {row.Index}"
        for row in found.itertuples()
    ]
    said = (
        "Overlapping can hide at most the shorter of computing and transfers. Of this time it hides "
        f"{', '.join(parts[:-1])} and {parts[-1]}."
    )
    unclear = found.index[(found["hidden_low"] <= 1) & (found["hidden_high"] >= 1)]
    if len(unclear):
        said += f" With {' and '.join(unclear)} this does not differ measurably from all of it."
    if (found["hidden_low"] > 1).any():
        said += " More than all is saved where transfers that take turns with computing last longer than alone."
    return said


def balance_1982(net: xr.DataArray, rates: xr.DataArray) -> str:
    """What the report's own times and rates give for not overlapping, on SSD and in buffer memory."""
    slow, fast = (float(net.sel(configuration=f"ssd2-{driver}")) for driver in ("sync", "async"))
    cost = 100 * (slow - fast) / slow
    ratio = float(rates.sel(target="SSD") / rates.sel(target="BMR"))
    return (
        f"The printed net times on SSD give {cost:.1f} % for not overlapping. Multiplied by the ratio of the rates "
        f"this is {cost * ratio:.0f} % in buffer memory."
    )
