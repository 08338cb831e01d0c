"""What chapter 5 found, in sentences whose numbers come from the tables and the committed runs."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from companion.chapters.xc30.figures.live import rates
from companion.chapters.xc30.figures.output import every_step
from companion.figures.parts import cpu
from companion.records.runs import single


def same_forecast(runs: xr.Dataset) -> str:
    """Peak and cores of the two runs of one forecast."""
    cores, share = runs["cores"].to_series(), runs["peak_percent"].to_series()
    (old, new) = cores.index
    return (
        f"For the same ten-day forecast {cores[old]:.0f} cores of the {old} ran at {share[old]:g} % of their peak, and "
        f"{cores[new]:.0f} cores of the {new} at {share[new]:g} %."
    )


def densest_part(runs: xr.Dataset, record: xr.Dataset) -> str:
    """Share of peak of the largest transform of eight fields on one thread, and of whole forecasts."""
    frame, rate = rates(record, "transforms", 1e9)
    teams, peak = rates(record, "peak", 1e9)
    row = frame.index[(frame["fields"] == 8) & (frame["threads"] == 1)]
    row = row[frame["truncation"][row].argmax()]
    one = float(peak["middle"][teams.index[teams["threads"] == 1][0]])
    printed = runs["peak_percent"].values
    return (
        f"Whole forecasts reached {printed.min():g} to {printed.max():g} % of peak in 2014. The part that computes "
        f"most densely, the spectral transform, reaches {100 * rate['middle'][row] / one:.0f} % of the measured peak "
        f"of one thread of {cpu(record)} at truncation {int(frame['truncation'][row])}."
    )


def met_twice(table: xr.Dataset) -> str:
    """The truncation that two grids have, each with another matching."""
    pairs = table["truncation"].to_series().dropna().astype(int)
    (value,) = pairs[pairs.duplicated()].unique()
    (coarse, first), (fine, second) = sorted(pairs.index[pairs == value])
    return f"Truncation {value} is {first} on {coarse} points and {second} on {fine}."


def linear_cost(day: Mapping[str, float]) -> str:
    """A day with a linear truncation over one with the cubic one of the same grid, by the work model."""
    return (
        "On the finest grid of the talk a forecast day with the linear truncation costs "
        f"{day['TL2559'] / day['TC1279']:.1f} times one with the cubic truncation (work model of one layer)."
    )


def small_files_cost(record: xr.Dataset) -> str:
    """Median time of an output step with and without the small files, file system not loaded."""
    record = single(record)
    middle = [float(np.median(every)) for every in every_step(record)[:2]]
    return (
        f"Small files make an output step on {cpu(record)} take {middle[0] / middle[1]:.1f} times as long, though "
        "nobody else uses the file system and the names of its files are in memory."
    )
