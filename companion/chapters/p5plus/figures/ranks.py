"""Figures of runs over MPI: exchange, transposition, scaling, sensors (P4, P8, P10)."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.figures.beside import each_machine
from companion.figures.parts import bytes_axis, cpu, spread, stacked_bars
from companion.figures.ranks import case_rows, cross_flagged, observed
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes
from companion.labels import plural


def _then(axis, record: xr.Dataset) -> str:
    """Marks the mean message of the report's forecast on an axis of bytes; a sentence on it, for the caption."""
    if "then_message" not in record:
        return ""
    nbytes, tasks = float(record["then_message"]), int(record["then_tasks"])
    axis.axvline(nbytes, color=INK, linestyle=":", linewidth=1.2, label=f"report's forecast, {nbytes / 1e6:.3g} MB")
    return (
        "The sizes of the report's messages are lost. The dotted line is the mean message of its forecast in a "
        f"transposition between {tasks} tasks, counted from its decomposition: {nbytes / 1e6:.3g} MB. "
    )


#: Tasks on each of two nodes in the report's first plot of exchanges; its second has other numbers.
_FOUR = 4


@each_machine
def exchange(record: xr.Dataset) -> Shown:
    """Bytes a second by message size in the report's two panels: four pairs, and all numbers of pairs together.

    A run without four pairs has the second panel alone.
    """
    frame = case_rows(record, "nbytes", "pairs").sort_values(["pairs", "nbytes"])
    frame["MB_per_s"] = frame["nbytes"] / frame["median"] / 1e6
    frame["all_pairs_MB_per_s"] = frame["pairs"] * frame["MB_per_s"]
    four = frame[frame["pairs"] == _FOUR]
    figure, drawn = axes(2 - four.empty, 1, height=2.3 * (2 - four.empty) + 0.4, sharex=True)
    drawn = np.atleast_1d(drawn)
    if len(four):
        spread(drawn[0], four["nbytes"], four, lambda t: four["nbytes"] / t / 1e6, label="each of 4 pairs")
        drawn[0].set(ylabel="sent by each rank\n[MB/s]", title="4 tasks on each side")
    for number, (pairs, part) in enumerate(frame.groupby("pairs")):
        sent, label = pairs * part["nbytes"], f"{plural(pairs, 'pair')} together"
        spread(drawn[-1], part["nbytes"], part, lambda t, sent=sent: sent / t / 1e6, label=label, index=number)
    drawn[-1].set(xlabel="message", ylabel="sent by one side\n[MB/s]", title="N tasks on each side")
    for axis in drawn:
        then = _then(axis, record)
    bytes_axis(drawn[-1], [frame["nbytes"].min(), frame["nbytes"].max()])
    most = frame.groupby("pairs")["all_pairs_MB_per_s"].max().rename(lambda pairs: plural(pairs, "pair"))
    return show(figure, data=frame.reset_index(drop=True), name="p5plus_exchange", run=record, items=most, then=then)


@each_machine
def transposition(record: xr.Dataset) -> Shown:
    """Bytes per second of a rank in the four transpositions, by the mean size of a message and by ranks."""
    frame = case_rows(record, "sent_bytes", "messages", "fields")
    frame = frame[frame["messages"] > 0].sort_values(["ranks", "sent_bytes"])
    frame["message_bytes"] = frame["sent_bytes"] / frame["messages"]
    figure, axis = axes(height=3.4)
    for number, (ranks, part) in enumerate(frame.groupby("ranks")):
        sent = part["sent_bytes"] / ranks / 1e6
        spread(
            axis, part["message_bytes"], part, lambda t, sent=sent: sent / t, label=f"{int(ranks)} ranks", index=number
        )
    bytes_axis(axis, [frame["message_bytes"].min(), frame["message_bytes"].max()], step=2)
    then = _then(axis, record)
    frame["MB_per_s"] = frame["sent_bytes"] / frame["ranks"] / frame["median"] / 1e6
    data = frame.reset_index(drop=True)
    return show(figure, data=data, name="p5plus_transposition", run=record, rate=frame["MB_per_s"], then=then)


def rates(record: xr.Dataset) -> pd.DataFrame:
    """Speed of strong scaling and work a rank of weak scaling, 1 for the most ranks with a processor each.

    Speed is work per time; in strong scaling all cases do the same work.  The case with all ranks is in both.
    """
    frame = case_rows(record, "scaling", "truncation")
    frame["flops"] = record["flops"].values
    whole = frame[(frame["scaling"] == "strong") & (frame["ranks"] == frame["ranks"].max())]
    frame = pd.concat([frame, whole.assign(scaling="weak")], ignore_index=True)
    frame["rate"] = frame["flops"] / frame["median"]
    alone = frame.loc[~frame["flags"].astype(str).str.contains("oversubscribed"), "ranks"]
    base = int(alone.max()) if len(alone) else int(frame["ranks"].min())
    for scaling, part in frame.groupby("scaling"):
        operational = part.loc[part["ranks"] == base, "rate"].iloc[0]
        share = part["ranks"] / base if scaling == "weak" else 1.0
        frame.loc[part.index, "speed"] = part["rate"] / operational / share
    frame["normal"] = base
    return frame.sort_values(["scaling", "ranks"]).reset_index(drop=True)


@each_machine
def scaling(record: xr.Dataset) -> Shown:
    """Strong and weak scaling of the shallow-water model, normalised to 1 for the ranks of normal operation."""
    frame = rates(record)
    base = int(frame["normal"].iloc[0])
    figure, (left, right) = axes(1, 2, height=3.4, wide=True)
    for axis, name in ((left, "strong"), (right, "weak")):
        part = frame[frame["scaling"] == name]
        factor = part["speed"] * part["median"]
        spread(axis, part["ranks"], part, lambda t, factor=factor: factor / t, label=cpu(record))
        ideal = part["ranks"] / base if name == "strong" else part["ranks"] * 0 + 1
        axis.plot(part["ranks"], ideal, color=INK, linestyle=":", label="ideal")
        labels = [
            f"{int(n)}\nT{int(T)}" if name == "weak" else f"{int(n)}"
            for n, T in zip(part["ranks"], part["truncation"], strict=True)
        ]
        axis.set_xticks(part["ranks"], labels)
        axis.set_xlim(0, 1.1 * part["ranks"].max())
    left.set_title(f"one model, T{int(frame['truncation'].max())}", size=9)
    right.set_title("work grows with the ranks", size=9)
    left.set_ylabel(f"speed, 1 for {base}")
    right.set_ylabel(f"speed of a rank, 1 for {base}")
    parts = [
        f"{name} scaling " + ", ".join(f"{row.speed:.2f} with {row.ranks:.0f}" for row in group.itertuples())
        for name, group in frame.groupby("scaling")
    ]
    return show(figure, data=frame, name="p5plus_ranks", run=record, base=base, listed="; ".join(parts))


def sensors(record: xr.Dataset) -> Shown:
    """Time of computing and waiting without sensors, with synchronised ones and with drifted ones."""
    shares = 1e3 * observed(record, "compute", "wait")
    shares.index = [str(way) for way in record["way"].values]
    shares.columns = ["computing, sensor included", "waiting for the others"]
    figure, axis = axes(height=2.9)
    stacked_bars(axis, shares, label="time of the run [ms], mean over ranks, medians")
    waits = 1e3 * record["observed_wait"]
    ends = waits.min("sample").values, waits.max("sample").values
    start = shares.iloc[:, 0].to_numpy()
    axis.hlines(range(len(start)), start + ends[0], start + ends[1], color=INK, linewidth=2.5)
    cross_flagged(axis, record, start + ends[1])
    return show(
        figure, data=shares.reset_index(names="way"), name="p5plus_sensors", run=record, items=shares.iloc[:, 1]
    )
