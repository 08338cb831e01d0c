"""Figures of runs over MPI: ways of MPI-IO, write groups, BT on ranks (N1, N6, N7)."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.nht1.figures.writing import BEST, around, groups_axis, percent, percent_axis
from companion.figures.beside import each_machine
from companion.figures.parts import (
    bars,
    calculated,
    cpu,
    of_samples,
    printed_ranges,
    spread,
    stacked_bars,
    with_spread,
)
from companion.figures.ranks import case_rows, cross_flagged, observed
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes
from companion.labels import plural
from companion.records.runs import single

#: Methods of writing over MPI-IO, as a mark has room for them.
METHODS = {
    "collective": "all ranks in one call",
    "independent": "each rank for itself",
    "elements": "40 bytes a call",
    "per-rank": "a file for each rank",
}


@each_machine
def mpiio(printed: pd.DataFrame, record: xr.Dataset) -> Shown:
    """Overhead of every method of writing over MPI-IO, below the bound that the abstract gives for the iPSC/860."""
    frame = case_rows(record, "way", "N")
    elapsed = of_samples(record["observed_T_T"].values, frame["flags"])
    alone = frame["way"] == "none"
    ways = frame["way"][~alone].tolist()
    zeta = percent(elapsed[~alone], elapsed[alone].loc[[frame.index[alone][0]] * len(ways)])
    bound = printed.set_index("system").loc["iPSC/860"]
    figure, axis = axes(height=2.9)
    printed_ranges(axis, [0], [bound["low"]], [bound["high"]])
    bars(axis, 1 + np.arange(len(ways)), zeta, index=1, line=False, label=cpu(record), across=True)
    percent_axis(axis)
    axis.set_yticks(range(len(ways) + 1), ["iPSC/860 (1993)", *(METHODS[way] for way in ways)])
    axis.set_xlim(around(zeta))
    data, listed = with_spread(pd.DataFrame({"way": ways}), zeta=zeta), zeta["middle"].set_axis(map(METHODS.get, ways))
    return show(
        figure, data=data, name="nht1_mpiio", run=record, items=listed, bound=bound["low"], N=frame["N"].to_numpy()
    )


@each_machine
def rank_groups(printed_axes: pd.DataFrame, best_group: int, record: xr.Dataset) -> Shown:
    """Time to write one file against the ranks that write at a time."""
    frame = case_rows(record, "group", "N").sort_values("group").reset_index(drop=True)
    figure, axis = axes(height=3.6)
    spread(axis, frame["group"], frame, lambda t: 1e3 * t, index=2, label=cpu(record))
    groups_axis(axis, printed_axes, best_group, frame["group"], BEST)
    listed = frame.assign(ms=1e3 * frame["median"])
    return show(figure, data=frame, name="nht1_rank_groups", run=record, items=listed, N=frame["N"].to_numpy())


def ranks(record: xr.Dataset) -> Shown:
    """Time of BT by number of ranks, cut into computing and communication, median of the samples."""
    frame = observed(record, "compute", "communication")
    frame.index = [plural(n, "rank") for n in record["ranks"].values]
    frame.columns = ["computing", "sending, receiving and waiting"]
    figure, axis = axes(height=3.0)
    stacked_bars(axis, frame, label="time of a run [s], mean over ranks, medians")
    ends = record["seconds"].min("sample").values, record["seconds"].max("sample").values
    axis.hlines(frame.index, *ends, color=INK, linewidth=2.5)
    cross_flagged(axis, record, ends[1])
    size, listed = str(record["size"].values[0]), frame.assign(ranks=frame.index, whole=frame.sum(axis=1))
    return show(figure, data=frame.reset_index(names="ranks"), name="nht1_ranks", run=record, size=size, items=listed)


def legal_table(record: xr.Dataset) -> pd.DataFrame:
    """Classes and numbers of ranks of which BT was verified."""
    frame = case_rows(single(record), "size", "N")
    found = frame.groupby("size", sort=False).agg(
        N=("N", "first"), ranks=("ranks", lambda counts: ", ".join(str(int(n)) for n in sorted(counts)))
    )
    return found.reset_index().rename(columns={"size": "class", "ranks": "numbers of ranks, all verified"})


def volume(record: xr.Dataset, nodes: float) -> Shown:
    """Bytes and messages of a time step of BT by ranks; the nodes of 1993 are marked."""
    ranks, sent, messages = (record[name].values for name in ("ranks", "step_bytes", "step_messages"))
    figure, (left, right) = axes(1, 2, height=3.2, wide=True)
    for axis, values in ((left, sent / 1e6), (right, messages)):
        calculated(axis, ranks, values, label=f"BT, N = {int(record['N'])}, counted")
        axis.axvline(nodes, color=INK, linestyle=":", label=f"{nodes:.0f} nodes of the iPSC/860 (1993)")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    data = record[["ranks", "step_bytes", "step_messages"]].to_dataframe().reset_index(drop=True)
    said: dict[str, Any] = {
        "n": int(record["N"]),
        "sent": sent / 1e6,
        "ranks": ranks,
        "messages": messages,
        "nodes": nodes,
    }
    return show(figure, data=data, name="nht1_volume", **said)
