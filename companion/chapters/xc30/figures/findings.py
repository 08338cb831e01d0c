"""What chapter 5 found, in sentences whose numbers come from the tables and the committed runs."""

import numpy as np
import xarray as xr

from companion.bench.statistics import Ratio
from companion.chapters.xc30.figures.evidence import SAME_GRID
from companion.chapters.xc30.figures.model import section_samples
from companion.chapters.xc30.figures.output import with_small_files
from companion.chapters.xc30.figures.peak import measured_cores
from companion.figures.parts import times
from companion.records.runs import single


def same_forecast(runs: xr.Dataset) -> str:
    """Peak and cores of the two runs of one forecast."""
    cores, share = runs["cores"].to_series(), runs["peak_percent"].to_series()
    (old, new) = cores.index
    return (
        f"One forecast reached {share[old]:g} % of peak on {cores[old]:.0f} cores of the {old}, {share[new]:g} % on "
        f"{cores[new]:.0f} of the {new}."
    )


def shares_now(transforms: xr.Dataset, forecast: xr.Dataset | None, truncation: int) -> str:
    """Share of its own measured peak that a forecast of a small model and the transforms alone reach."""
    (*whole, part) = (
        f"{row.share:.0f} % ({row.share_low:.0f} to {row.share_high:.0f}) of a thread's peak"
        for row in measured_cores(transforms, forecast, truncation).itertuples()
    )
    if not whole:
        return f"Today spectral transforms alone reach {part}."
    return f"Today a forecast with one layer reaches {whole[0]}, and spectral transforms alone reach {part}."


def _day_over(record: xr.Dataset, above: str, below: str) -> Ratio:
    """A day at one resolution over one at another: steps measured, their number in proportion to the truncation."""
    record = single(record)
    parts = [seconds for name, seconds in section_samples(record).items() if name != "output"]
    step, names = np.sum(parts, axis=0), list(record["resolution"].values)
    one, two = (names.index(name) for name in (above, below))
    truncation = record["truncation"].values.astype(float)
    return times(step[one] * truncation[one] / truncation[two], step[two])


def linear_cost(record: xr.Dataset) -> str:
    """A day with the linear truncation over one with the cubic one of the same grid."""
    linear, cubic = "TL2559", "TC1279"
    return (
        f"On the talk's finest grid a day of a one-layer model takes {_day_over(record, linear, cubic).times} as long "
        f"with {linear[2:]} waves (linear truncation) as with {cubic[2:]} (cubic)."
    )


def days_said(record: xr.Dataset) -> str:
    """What a day costs with the linear truncation over the cubic one of two grids, and with a finer grid for fewer
    waves."""
    pairs = (*SAME_GRID, ("TC1023", "TL1279"))
    said = (f"{one} {_day_over(record, one, other).times} as much as {other}" for one, other in pairs)
    return f"What a day costs: {'; '.join(said)}."


def small_files_cost(record: xr.Dataset) -> str:
    """What small files add to an output step with the largest records: as this host opens, and with slow opens."""
    frame = with_small_files(record)
    largest = frame[frame["record_bytes"] == frame["record_bytes"].max()].sort_values("open")
    here, slow = (largest[chosen].iloc[-1] for chosen in (largest["asked"] == 0, largest["asked"] > 0))

    def found(row) -> str:
        doubt = ", no measurable difference" if row.times_low <= 1 <= row.times_high else ""
        return f"{row.times:.2f} times ({row.times_low:.2f} to {row.times_high:.2f}{doubt})"

    return (
        f"With {here.record_bytes / 1e6:.0f} MB to each file, as in the talk, an output step takes {found(here)} as "
        f"long with small files as without them here, and {found(slow)} when each opening takes "
        f"{1e3 * slow.open:.0f} ms."
    )
