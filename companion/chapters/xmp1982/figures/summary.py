"""The sentences of chapter 1's opening box, computed from the report's tables and from committed runs."""

import numpy as np
import xarray as xr

from companion.chapters.xmp1982.figures.dots import middle, observed
from companion.chapters.xmp1982.figures.overlapping import device_costs
from companion.figures.parts import cpu
from companion.records.runs import single


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def day(printed: xr.Dataset, record: xr.Dataset) -> str:
    """The whole day on one core, next to the Cray 1-A and two SSD files on the X-MP."""
    net, here = printed["net_forecast"], observed(record)["net"]
    cray, xmp = (float(net.sel(configuration=name)) for name in ("cray1a-disk4", "ssd2-sync"))
    core = float(middle(here).sel(configuration="memory"))
    return (
        f"Without write-up steps a day took {cray:.0f} s on the Cray 1-A, {xmp:.0f} s on one CPU of the X-MP with two "
        f"files on SSD, and takes {_number(core)} s on one core of {cpu(record)}."
    )


def places(printed: xr.Dataset, record: xr.Dataset) -> str:
    """How much the place of the work files mattered."""
    net = printed["net_forecast"].sel(
        configuration=["disk4", "bmr1", "ssd2-sync", "ssd2-async", "ssd4-sync", "ssd1-sync"]
    )
    here = middle(observed(record)["net"]).sel(configuration=net["configuration"].values)
    return (
        f"The place of the work files and the driver that moved them changed the net time by a factor of up to "
        f"{float(net.max() / net.min()):.2f} in 1982, and by up to {float(here.max() / here.min()):.2f} on "
        f"{cpu(record)}."
    )


def pairs(printed: xr.Dataset, record: xr.Dataset) -> str:
    """What two forecasts at once gain."""
    complete = printed["complete"].max("job").to_series()
    then = complete["ecmwf"] / complete.drop("ecmwf")
    here = single(record)["throughput"].median("round").values
    return (
        f"Two forecasts at once gained {then.min():.2f} to {then.max():.2f} over the Cray 1-A doing them in turn; "
        f"on {cpu(record)} they gain {np.min(here):.2f} to {np.max(here):.2f} over one core doing them in turn with "
        "files on disk."
    )


def overlap(record: xr.Dataset) -> str:
    """How much of the possible overlap is reached on each device."""
    frame = device_costs(record)
    parts = [f"{row.device} {row.efficiency:.2f}" for row in frame.itertuples()]
    return f"Of what the slower of computing and transfers allows, overlapping reaches: {', '.join(parts)}."
