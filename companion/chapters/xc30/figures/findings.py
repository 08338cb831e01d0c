"""What chapter 5 found, in sentences whose numbers come from the tables and the committed runs."""

import numpy as np
import xarray as xr

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


def shares_now(transforms: xr.Dataset, model: xr.Dataset, truncation: int) -> str:
    """Share of the measured peak of a small model and of its transforms, at the truncation of the talk."""
    whole, part = (
        f"{row.share:.0f} % ({row.share_low:.0f} to {row.share_high:.0f})"
        for row in measured_cores(transforms, model, truncation).itertuples()
    )
    return f"Today a model of one layer reaches {whole} of a thread's peak, its transforms {part}."


def linear_cost(record: xr.Dataset) -> str:
    """A day with the linear truncation over one with the cubic one of the same grid, steps measured and counted."""
    record = single(record)
    parts = [name for name in section_samples(record) if name != "output"]
    step = np.sum([section_samples(record)[name] for name in parts], axis=0)
    names = list(record["resolution"].values)
    linear, cubic = (names.index(name) for name in ("TL2559", "TC1279"))
    truncation = record["truncation"].values.astype(float)
    day = times(step[linear] * truncation[linear] / truncation[cubic], step[cubic])
    return (
        f"On the talk's finest grid a day of that model takes {day.times} as long with the linear as with the cubic "
        "truncation."
    )


def small_files_cost(record: xr.Dataset) -> str:
    """What small files add to an output step with the largest records: as this host opens, and with slow opens."""
    frame = with_small_files(record)
    largest = frame[frame["record_bytes"] == frame["record_bytes"].max()].sort_values("open")
    here, slow = (largest[chosen].iloc[-1] for chosen in (largest["asked"] == 0, largest["asked"] > 0))

    def found(row) -> str:
        return f"{row.times:.2f} times ({row.times_low:.2f} to {row.times_high:.2f})"

    return (
        f"Beside the talk's records of {here.record_bytes / 1e6:.0f} MB, small files make an output step {found(here)} "
        f"as long here, and {found(slow)} where an open takes {1e3 * slow.open:.0f} ms."
    )
