"""Figures of runs over MPI: ways of MPI-IO, write groups, BT on ranks (N1, N6, N7)."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.nht1.figures.writing import around, percent, percent_axis
from companion.figures.beside import each_machine
from companion.figures.parts import (
    MARKS,
    bars,
    calculated,
    cpu,
    log_axis,
    of_samples,
    printed_ranges,
    spread,
    stacked_bars,
    with_spread,
)
from companion.figures.ranks import case_rows, cross_flagged, observed, rank_title
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
    axis.set(xlabel="overhead ζ [%]", ylim=(len(ways) + 0.5, -0.5), xlim=around(zeta))
    figure.suptitle(f"{rank_title(record)}, N = {int(frame['N'].iloc[0])}", size=9)
    text = ", ".join(f"{METHODS[way]} {middle:.0f} percent" for way, middle in zip(ways, zeta["middle"], strict=True))
    return show(
        figure,
        data=with_spread(pd.DataFrame({"way": ways}), zeta=zeta),
        name="nht1_mpiio",
        run=record,
        text=text,
        bound_low=bound["low"],
    )


@each_machine
def rank_groups(printed_axes: pd.DataFrame, best_group: int, record: xr.Dataset) -> Shown:
    """Time to write one file against the ranks that write at a time."""
    frame = case_rows(record, "group", "N").sort_values("group").reset_index(drop=True)
    figure, axis = axes(height=3.6)
    spread(axis, frame["group"], frame, lambda t: 1e3 * t, index=2, label=cpu(record))
    axis.axvline(best_group, color=INK, linestyle=":", label="least time on the iPSC/860 (1993)")
    axis.set_xscale("log", base=2)
    ticks = sorted({*printed_axes.loc[printed_axes["axis"] == "x", "value"].astype(int), *frame["group"].astype(int)})
    axis.set_xticks(ticks, ticks)
    figure.suptitle(f"{rank_title(record)}, N = {int(frame['N'].iloc[0])}\n{MARKS}", size=9)
    times = ", ".join(f"{1e3 * row.median:.3g} ms for {int(row.group)}" for row in frame.itertuples())
    return show(figure, data=frame, name="nht1_rank_groups", run=record, times=times)


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
    size = str(record["size"].values[0])
    return show(
        figure,
        data=frame.reset_index(names="ranks"),
        name="nht1_ranks",
        run=record,
        size=size,
        listed=", ".join(
            f"{name} {row.sum():.3g} s, of which {row.iloc[1]:.2g} s messages" for name, row in frame.iterrows()
        ),
    )


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
    for axis, values, label in (
        (left, sent / 1e6, "sent in a time step [MB]"),
        (right, messages, "messages of a step"),
    ):
        calculated(axis, ranks, values, label=f"BT, N = {int(record['N'])}, counted")
        log_axis(axis)
        axis.axvline(nodes, color=INK, linestyle=":", label=f"{nodes:.0f} nodes of the iPSC/860 (1993)")
        axis.set(xlabel="MPI ranks", ylabel=label)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle("counted from the boxes, not measured", size=9)
    return show(
        figure,
        data=record[["ranks", "step_bytes", "step_messages"]].to_dataframe().reset_index(drop=True),
        name="nht1_volume",
        n=int(record["N"]),
        sent_least=sent.min() / 1e6,
        ranks=ranks,
        sent_most=sent.max() / 1e6,
        messages=messages,
        nodes=nodes,
    )
