"""What chapter 3 found, in sentences whose numbers come from the tables and the committed runs."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.nht1.figures.balance import beside_table, waits
from companion.chapters.nht1.figures.evidence import FILE, WHOLE, rates_here
from companion.chapters.nht1.figures.opening import METHODS
from companion.chapters.nht1.figures.stalls import overhead_parts
from companion.chapters.nht1.figures.writing import largest
from companion.figures.parts import cpu
from companion.records.runs import single

#: The method of writing that the first code of the iPSC/860 had.
_POINTS = "40-byte elements"


def added(printed: pd.DataFrame, record: xr.Dataset) -> str:
    """What writing added in 1993, and adds on the largest grid of a run with a solver thread on every processor, by
    the methods of the Y-MP and of the first code of the iPSC/860: medians with their intervals."""
    old = printed.set_index("system")
    frame, found = largest(record)

    def zeta(method: str) -> str:
        (row,) = frame.index[frame["way"].map(METHODS.get) == method]
        return "{:.0f} % ({:.0f} to {:.0f})".format(*found["zeta"].loc[row, ["middle", "low", "high"]])

    return (
        f"Writing added {old.loc['Y-MP', 'low']:g} to {old.loc['Y-MP', 'high']:g} % to a run on the Y-MP of 1993, "
        f"below {old.loc['CM-2', 'high']:g} % on the CM-2 and over {old.loc['iPSC/860', 'low']:g} % on the iPSC/860. "
        f"On {cpu(record)} it adds {zeta('plane by plane')} plane by plane and {zeta('point by point')} point by point."
    )


def small(record: xr.Dataset) -> str:
    """Large writes against writes of a point, on the largest grid: what both add, and why the large are not ranked."""
    frame, found = largest(record)
    points = (frame["way"] == _POINTS).to_numpy()
    parts = overhead_parts(record).set_index("way").drop(_POINTS)
    within, between = (parts["T_T, largest"] / parts["T_T, least"]).max(), parts["T_T"].max() / parts["T_T"].min()
    doubt = "; this run cannot rank them" if within > between else ""
    zeta, N = found["zeta"]["middle"].to_numpy(), int(frame["N"].max())
    return (
        f"On the largest grid the methods that write planes or arrays add {zeta[~points].min():.0f} to "
        f"{zeta[~points].max():.0f} %. Samples of one method differ by a factor of up to {within:.2f}, and medians of "
        f"different methods by {between:.2f}{doubt}. A write for every point adds {zeta[points][0]:.0f} %: each of the "
        f"{N**3 / 1e6:.1f} million points of a dump needs a system call."
    )


def moved(surviving: pd.DataFrame, record: xr.Dataset) -> str:
    """Rates of whole runs then, from the ends of an axis and a time, and now, beside those of writing alone."""
    old, rates = surviving.set_index(["system", "what"]), rates_here(record)
    whole, file = (rates[rates["what"] == what]["middle"].to_numpy() for what in (WHOLE, FILE))
    cm2, ipsc = (old.loc[system, WHOLE] for system in ("CM-2", "iPSC/860"))
    idle = old.loc[("CM-2", FILE), "low"] / cm2["high"]
    return (
        f"On the CM-2 a whole run wrote at most {cm2['high']:.2g} MB/s, 1/{idle:.0f} of the rate at which it wrote its "
        f"file. It therefore computed nearly all the time. On the iPSC/860 a whole run wrote {ipsc['low']:.2g} to "
        f"{ipsc['high']:.2g} MB/s. On {cpu(record)} whole runs write {whole.min():.0f} to {whole.max():.0f} MB/s by "
        f"these methods. While they write, the rate is {(file / whole).min():.1f} to {(file / whole).max():.1f} times "
        "as high."
    )


def base(record: xr.Dataset) -> str:
    """The same dumps under the fastest and the slowest code of the largest grid, by what the solver waits for them."""
    found = waits(record)
    part = found[found["N"] == found["N"].max()].sort_values("computing")
    fast, slow = part.iloc[0], part.iloc[-1]
    return (
        f"In a solver that is {slow.computing / fast.computing:.0f} times as slow, writing the same solutions adds "
        f"{slow.middle:.1f} % ({slow.low:.1f} to {slow.high:.1f}) instead of {fast.middle:.0f} % ({fast.low:.0f} to "
        f"{fast.high:.0f}) on {cpu(record)}."
    )


def later(record: xr.Dataset, way: str, beside: str) -> str:
    """A run that writes in the background over one that waits, on the largest grid with a processor to spare."""
    table = beside_table(record, way, beside)
    row = table[table["N"] == table["N"].max()].sort_values("threads").iloc[0]
    doubt = ", no measurable difference" if row["run_low"] <= 1 <= row["run_high"] else ""
    return (
        f"With a free processor, writing in the background shortens a run to {row['run']:.2f} ({row['run_low']:.2f} to "
        f"{row['run_high']:.2f}{doubt}) of its time."
    )


def group(best_group: int, nodes: int, record: xr.Dataset) -> str:
    """The best group of 1993, and how little or much groups matter here."""
    record = single(record)
    time = pd.Series(record["group_median"].values, record["group"].values.astype(int))
    return (
        f"In 1993 a run on {nodes} processors took the least time when {best_group} of them wrote at a time. With as "
        f"many processes on {cpu(record)}, a run takes {float(record['T_C']):.2g} s without writing and "
        f"{time.min():.2g} to {time.max():.2g} s with it, the least with {time.idxmin()} at a time."
    )


def over_mpi(record: xr.Dataset) -> str:
    """What writing over MPI-IO adds: a write for every point, and the other methods, with how far samples spread."""
    way, T_T = record["way"].values.astype(str), single(record)["observed_T_T"]
    middle = pd.Series(T_T.median("sample").values, way)
    zeta = 100 * (middle / middle["none"] - 1).drop("none")
    others = ~np.isin(way, ("none", "elements"))
    within = float((T_T.max("sample") / T_T.min("sample")).values[others].max())
    between = float(middle[others].max() / middle[others].min())
    doubt = ", so that they cannot be ranked" if within > between else ""
    rest = zeta.drop("elements")
    return (
        f"On ranks, too, a write for every point costs most: it adds {zeta['elements']:.0f} %. The other methods add "
        f"{rest.min():.0f} to {rest.max():.0f} %. Samples of one method differ by a factor of up to {within:.2f}, and "
        f"medians of different methods by {between:.2f}{doubt}."
    )
