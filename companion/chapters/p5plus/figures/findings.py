"""What chapter 4 found, in sentences whose numbers come from the tables and the committed runs."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.p5plus.figures.threads import LOOPS, smt_cases
from companion.figures.parts import cpu, of_samples, times
from companion.records.runs import single

#: A median and the ends of its interval, in the order of a sentence.
_ENDS = ["middle", "low", "high"]


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
    off, on = (
        f"{float(each.min()):.1f} to {float(each.max()):.1f} %" for each in (bind.sel(smt="N"), bind.sel(smt="Y"))
    )
    return (
        f"Two threads on a core made a forecast day {float(smt.min()):.0f} to {float(smt.max()):.0f} % faster. Binding "
        f"threads to processors gained {off} without a second thread and {on} with one."
    )


def widest_change(changes: pd.DataFrame) -> str:
    """The change whose printed gain has the widest range."""
    row = changes.loc[(changes["gain_high"] - changes["gain_low"]).idxmax()]
    return f"The widest range is that of {row['change']}: {row['gain_low']:g} to {row['gain_high']:g} %."


def disturbed(record: xr.Dataset) -> str:
    """What sensors cost ranks, all at one moment and each at its own."""
    record = single(record)
    wait = dict(zip(record["way"].values, record["observed_wait"].values, strict=True))
    return (
        f"On {cpu(record)} a monitoring program interrupts parallel processes. They wait "
        f"{1e3 * np.nanmedian(wait['synchronised']):.0f} ms for each other if it interrupts all of them at the same "
        f"moment, and {times(wait['drifted'], wait['synchronised']).times} as long if it interrupts them one after "
        "another."
    )


def fused_gains(record: xr.Dataset) -> str:
    """What each of the five loops gains as two fused streams, medians with intervals, on one machine."""
    frame = smt_cases(record)
    seconds = single(record)["seconds"].values
    found = []
    for loop, part in frame.groupby("loop", sort=False):
        rows = {kind: part.index[part["kind"] == kind] for kind in ("one thread", "two fused streams")}
        if all(len(each) == 1 for each in rows.values()):
            (one,), (two,) = rows.values()
            work = float(frame["flops"][two] / frame["flops"][one])
            found.append(f"{LOOPS.get(str(loop), loop)} {times(work * seconds[one], seconds[two]).times}")
    return f"{cpu(record)}: {'; '.join(found)}."


def own_split(record: xr.Dataset) -> str:
    """How the spectral model of chapter 5 divides its time on the most threads that were measured."""
    record = single(record)
    threads = int(record["threads"].values.max())
    case = record.isel(case=record["threads"].values == threads)
    parts = {name: case[f"observed_{name}"].values[0] for name in ("computing", "waiting", "serial")}
    total, flags = sum(parts.values()), case["flags"].values
    share = {
        name: "{:.0f} % ({:.0f} to {:.0f})".format(*of_samples([100 * seconds / total], flags).loc[0, _ENDS])
        for name, seconds in parts.items()
    }
    return (
        "IFS, the forecast model of the report, cannot be run here. The spectral model of chapter 5, which has neither "
        f"physics nor messages, takes its place. On {threads} threads of {cpu(record)} it computes in parallel for "
        f"{share['computing']} of its time. It waits at barriers for {share['waiting']} and computes on one thread for "
        f"{share['serial']}."
    )
