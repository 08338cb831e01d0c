"""The sentences of chapter 1's opening box, computed from the report's tables and from committed runs."""

import pandas as pd
import xarray as xr

from companion.bench.statistics import median_interval
from companion.chapters.xmp1982.figures import label
from companion.chapters.xmp1982.figures.dots import observed
from companion.chapters.xmp1982.figures.overlapping import device_costs
from companion.chapters.xmp1982.figures.together import printed_worth, worth_said
from companion.figures.parts import cpu, times


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def _median(values: xr.DataArray) -> str:
    """A median with its 95 % interval."""
    bounds = median_interval(values.values)
    text = _number(float(values.median()))
    return text if bounds is None else f"{text} (95 % interval {_number(bounds[0])} to {_number(bounds[1])})"


def files(printed: xr.Dataset, record: xr.Dataset) -> str:
    """A forecast with its work files on disk over one with two files on SSD, the driver asynchronous in both."""
    net, here = printed["net_forecast"], observed(record)["net"]
    disk, ssd = (here.sel(configuration=name).values for name in ("disk4", "ssd2-async"))
    then = float(net.sel(configuration="disk4") / net.sel(configuration="ssd2-async"))
    return (
        f"With work files on disk the forecast took {then:.2f} times as long as on SSD; on {cpu(record)} it takes, on "
        f"disk and in memory, {times(disk, ssd).times} as long."
    )


def pairs(alone: xr.Dataset, together_: xr.Dataset, each: xr.Dataset, free: xr.Dataset) -> list[str]:
    """What the second CPU was worth, and is: of runs with a CPU each, and with two CPUs for all."""
    then = printed_worth(alone, together_)
    return [
        f"Two forecasts at once ran {then.min():.2f} to {then.max():.2f} times as fast as in turn; two would be all of "
        "the second CPU.",
        f"On {cpu(each)}, a CPU each, they run {worth_said(each)} as fast; where one alone may use both CPUs, "
        f"{worth_said(free)}.",
    ]


def second_cpu(disk: pd.Series, each: xr.Dataset, free: xr.Dataset) -> str:
    """Where pairs with a disk lost time in 1982, and what one forecast gains today from two CPUs."""
    name = "ssd1-async"
    usual, eased = (observed(record, "test")["complete"].sel(test=name).values for record in (each, free))
    bound = times(usual, eased)
    why = (
        ", because its records move on the CPU that computes. Against that slower reference a second CPU looks better."
        if bound.measurable and bound.medians > 1
        else ". So either reference gives nearly the same."
    )
    return (
        f"In 1982 the pairs with a forecast on disk lost {disk['post-processing']:.0f} s in post-processing, "
        f"{disk['net forecast']:.0f} s in the net forecast and {disk['write-up steps']:.0f} s in the write-up steps; "
        f"the report blames the first and the last. Today the reference can decide: bound to one CPU, {label(name)} "
        f"alone takes {bound.times} as long as where it may use both{why}"
    )


def net_times(printed_times: xr.Dataset, printed: xr.Dataset, record: xr.Dataset) -> str:
    """How little of the clock the place of the work files could change in 1982, and how much it can now."""
    share = printed_times["forecast_cpu"] / printed_times["forecast_clock"]
    here = observed(record)["net"]
    return (
        f"In 1982 the forecast computed for {100 * share.min():.0f} to {100 * share.max():.0f} % of its clock time, so "
        f"no place of its files could change much. On {cpu(record)} computing is so short that a disk decides. A day "
        "with two files and the synchronous driver took "
        f"{float(printed['net_forecast'].sel(configuration='ssd2-sync')):.0f} s then and takes "
        f"{_median(here.sel(configuration='ssd2-sync'))} s now, with lighter physics."
    )


def overlap(record: xr.Dataset) -> str:
    """How much of what can hide is hidden on each device."""
    found = device_costs(record).set_index("device")["hidden"]
    hidden, more = found[found <= 1], found[found > 1]
    parts = [f"{100 * share:.0f} % of it in {name}" for name, share in hidden.items()]
    said = f"Overlapping can hide at most the shorter of computing and transfers. It hid {' and '.join(parts)}."
    if len(more):
        said += (
            f" On {', '.join(map(str, more.index))} it saved more than that, because transfers that take turns with "
            "computing last longer there."
        )
    return said
