"""What chapter 4 found, in sentences whose numbers come from the tables and the committed runs."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.figures.parts import cpu, times
from companion.records.runs import single


def systems_gain(found: xr.Dataset) -> str:
    """The ten-day forecast on the old and on the new system, as many processors of the same clock."""
    wall, cpus = found["wall"], int(found["cpus"].values[0])
    old, new = float(wall.sel(system="P4+")), float(wall.sel(system="P5+"))
    return (
        f"On {cpus} processors of the same clock the ten-day forecast took {old:.0f} s on Power4+ and {new:.0f} s on "
        f"Power5+, {old / new:.2f} times as fast."
    )


def smt_gain(cube: xr.Dataset) -> str:
    """What SMT and what binding gained a day of T399, least and most over the other choices."""
    time = cube["time"]
    smt = 100 * (time.sel(smt="N") / time.sel(smt="Y") - 1)
    bind = 100 * (time.sel(bind="N") / time.sel(bind="Y") - 1)
    return (
        f"Two threads a core made a forecast day {float(smt.min()):.0f} to {float(smt.max()):.0f} % faster. Binding of "
        f"threads gained {float(bind.sel(smt='N').min()):.1f} to {float(bind.sel(smt='N').max()):.1f} % without them "
        f"and {float(bind.sel(smt='Y').min()):.1f} to {float(bind.sel(smt='Y').max()):.1f} % with them."
    )


def widest_change(changes: pd.DataFrame) -> str:
    """The change whose printed gain has the widest range."""
    row = changes.loc[(changes["gain_high"] - changes["gain_low"]).idxmax()]
    return f"The widest range is that of {row['change']}: {row['gain_low']:g} to {row['gain_high']:g} %."


def blade_times(times: pd.DataFrame) -> str:
    """A day of T399 on blades over the same on as many processors of Power4+."""
    row = times.dropna(subset=["p4_time"]).iloc[0]
    ratio = row["js21_time"] / row["p4_time"]
    return f"On {row['cpus']:.0f} processors the blades take {ratio:.2f} times as long as P4+."


def load_times(record: xr.Dataset) -> str:
    """Time of a load of the report's walk and of a random chase, for the largest working set."""
    record = single(record)
    last = record.isel(case=record["nbytes"].values == record["nbytes"].values.max())
    ns = dict(zip(last["pattern"].values, 1e9 * last["median"].values / last["loads"].values, strict=True))
    return (
        f"On {cpu(record)} a load from memory takes {ns['stride']:.0f} ns in the report's walk of 4 KB steps, which "
        f"the processor can foresee, and {ns['random']:.0f} ns in random order, which it cannot."
    )


def disturbed(record: xr.Dataset) -> str:
    """What sensors cost ranks, all at one moment and each at its own."""
    record = single(record)
    wait = dict(zip(record["way"].values, record["observed_wait"].values, strict=True))
    return (
        f"In a run on {cpu(record)} processes wait {1e3 * np.nanmedian(wait['synchronised']):.0f} ms for each other "
        "when a sensor interrupts all of them at one moment. When it interrupts them in turn they wait "
        f"{times(wait['drifted'], wait['synchronised']).times} as long."
    )


def own_split(record: xr.Dataset) -> str:
    """How the spectral model of chapter 5 divides its time on the most threads that were measured."""
    record = single(record)
    threads = int(record["threads"].values.max())
    case = record.isel(case=record["threads"].values == threads)
    parts = {name: float(np.nanmedian(case[f"observed_{name}"])) for name in ("computing", "waiting", "serial")}
    share = {name: 100 * seconds / sum(parts.values()) for name, seconds in parts.items()}
    return (
        "IFS itself cannot be run. The spectral model of chapter 5, which has neither physics nor messages, computes "
        f"in {threads} threads of {cpu(record)} for {share['computing']:.0f} % of its time, waits at barriers for "
        f"{share['waiting']:.0f} % and works serially for {share['serial']:.0f} %."
    )
