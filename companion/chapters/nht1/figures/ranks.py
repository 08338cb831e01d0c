"""Figures of runs over MPI: ways of MPI-IO, write groups, BT on ranks (N1, N6, N7)."""

import pandas as pd
import xarray as xr

from companion.figures.parts import points, stacked_bars
from companion.figures.ranks import rank_title
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes
from companion.labels import counted
from companion.records.runs import single


def mpiio_table(record: xr.Dataset) -> pd.DataFrame:
    """T_T, T_C, R_IO and zeta of every way of writing over MPI-IO."""
    names = ["run_way", "T_T", "T_C", "R_IO", "zeta"]
    frame = single(record)[names].to_dataframe()[names].rename(columns={"run_way": "way"})
    frame["R_IO"] /= 1e6
    frame["zeta"] *= 100
    frame.attrs["units"] = {"T_T": "s", "T_C": "s", "R_IO": "MB/s", "zeta": "%"}
    return frame.reset_index(drop=True)


def rank_groups(printed_axes: pd.DataFrame, best_group: int, record: xr.Dataset) -> Shown:
    """Time to write one file against the ranks that write at a time."""
    frame = record[["minimum", "median", "group", "N"]].to_dataframe().sort_values("group")
    figure, axis = axes(height=3.4)
    points(axis, frame["group"], 1e3 * frame["minimum"], host=True, index=0, label="this machine, best")
    points(axis, frame["group"], 1e3 * frame["median"], host=True, index=1, label="this machine, median")
    axis.axvline(best_group, color=INK, linestyle=":", label="least time on the iPSC/860 (1993)")
    axis.set_xscale("log", base=2)
    ticks = sorted({*printed_axes.loc[printed_axes["axis"] == "x", "value"].astype(int), *frame["group"].astype(int)})
    axis.set_xticks(ticks, ticks)
    axis.set(xlabel="ranks that write at a time", ylabel="time of one file [ms]", ylim=(0, None))
    axis.legend()
    figure.suptitle(f"{rank_title(record)}, N = {int(frame['N'].iloc[0])}", size=9)
    return show(
        figure,
        data=frame.reset_index(drop=True),
        name="nht1_rank_groups",
        alt="Time to write one file over MPI-IO against the number of ranks that write at a time, with the "
        "group size of the least time of 1993 as a dotted line.",
    )


def ranks(record: xr.Dataset) -> Shown:
    """Time of BT by number of ranks, cut into computing and communication."""
    names = ["observed_compute", "observed_communication"]
    frame = record[names].min("sample").to_dataframe()[names]
    frame.index = [f"{counted(n, 'rank')}" for n in record["ranks"].values]
    frame.columns = ["computing", "sending, receiving and waiting"]
    figure, axis = axes(height=2.2)
    stacked_bars(axis, frame, label="time of the run [s], mean over ranks")
    figure.suptitle(rank_title(record), size=9, y=1.12)
    return show(
        figure,
        data=frame.reset_index(names="ranks"),
        name="nht1_ranks",
        alt="Stacked bars, seconds of BT by number of ranks: "
        + ", ".join(f"{name} {row.sum():.3g} s" for name, row in frame.iterrows())
        + ".",
    )
