"""What chapter 3 found, in sentences whose numbers come from the tables and the committed runs."""

import pandas as pd
import xarray as xr

from companion.chapters.nht1.figures.writing import written
from companion.figures.parts import cpu
from companion.labels import counted
from companion.records.runs import single

#: The way of writing that the first code of the iPSC/860 had.
POINTS = "40-byte elements"


def added(printed: pd.DataFrame, record: xr.Dataset) -> str:
    """What writing added in 1993, and adds on the largest grid of a run with a solver thread on every processor."""
    old = printed.set_index("system")
    frame, found = written(record)
    rows = (frame["N"] == frame["N"].max()) & (frame["threads"] == frame["threads"].max())
    zeta = found["zeta"]["middle"][rows]
    points = zeta[frame["way"][rows] == POINTS].iloc[0]
    whole = zeta[frame["way"][rows] != POINTS]
    team = counted(int(frame["threads"].max()), "thread")
    return (
        f"In 1993 writing added {old.loc['Y-MP', 'low']:g} to {old.loc['Y-MP', 'high']:g} % to a run on the Y-MP, "
        f"below {old.loc['CM-2', 'high']:g} % on the CM-2 and more than {old.loc['iPSC/860', 'low']:g} % on the "
        f"iPSC/860. On {cpu(record)} with {team} it adds {whole.min():.0f} to {whole.max():.0f} % where planes or "
        f"arrays are written (N = {frame['N'].max()}), and {points:.0f} % where every point is a write of its own."
    )


def moved(surviving: pd.DataFrame, record: xr.Dataset) -> str:
    """Rates of whole runs then, from the ends of an axis and a time, and now."""
    old = surviving.set_index("what")["rate"]
    frame, found = written(record)
    rate = found["R_IO"]["middle"][frame["N"] == frame["N"].max()]
    return (
        f"Computing included, a whole run wrote at most {old['CM-2, whole run, at most']:.2g} MB/s on the CM-2 and "
        f"{old['iPSC/860, whole run, least']:.2g} to {old['iPSC/860, whole run, most']:.2g} MB/s on the iPSC/860; on "
        f"{cpu(record)} it writes {rate.min():.0f} to {rate.max():.0f} MB/s, depending on the method."
    )


def base(record: xr.Dataset) -> str:
    """The same writing under the fastest and the slowest code of the largest grid that all codes run."""
    record = single(record)
    frame = record[["base_N", "base_code", "base_T_C", "base_T_T"]].to_dataframe()
    codes = frame.groupby("base_N")["base_code"].nunique()
    N = int(codes.index[codes == codes.max()].max())
    part = frame[frame["base_N"] == N].sort_values("base_T_C")
    zeta = 100 * (part["base_T_T"] / part["base_T_C"] - 1)
    times = part["base_T_C"].iloc[-1] / part["base_T_C"].iloc[0]
    return (
        f"The same writing adds {zeta.iloc[0]:.1f} % with the {part['base_code'].iloc[0]} and {zeta.iloc[-1]:.1f} % "
        f"with a slow one ({part['base_code'].iloc[-1]}), which computes {times:.0f} times as long (N = {N}, best "
        "samples)."
    )


def group(best_group: int, nodes: int, record: xr.Dataset) -> str:
    """The best group of 1993, and how little or much groups matter here."""
    record = single(record)
    time = pd.Series(record["group_median"].values, record["group"].values.astype(int))
    return (
        f"In 1993 the run on {nodes} processors took least time when {best_group} of them wrote at a time. With as "
        f"many processes on {cpu(record)} the whole run takes {time.min():.2g} to {time.max():.2g} s, least with "
        f"{time.idxmin()} at a time, and {float(record['T_C']):.2g} s without writing."
    )
