"""Figures of runs over MPI: split of the time, routines, exchanges in flight, halo, volume (C2, C3, C5, C7, C8)."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.figures.beside import each_machine
from companion.figures.parts import calculated, cpu, intervals, points, stacked_bars
from companion.figures.ranks import case_rows, cross_flagged, observed
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes, meaning
from companion.labels import plural
from companion.records.runs import single

CLASSES = {"compute": "CPU", "communication": "Comms", "barrier": "Barrier", "serial": "Serial"}


def split(record: xr.Dataset) -> Shown:
    """The four classes of the report's pies, as shares of the time, by number of ranks."""
    frame = observed(record, *CLASSES).rename(columns=CLASSES)
    frame.index = [plural(n, "rank") for n in record["ranks"].values]
    shares = 100 * frame.div(frame.sum(axis=1), axis=0)
    figure, axis = axes(height=2.5)
    stacked_bars(axis, shares, label="share of the time [%], mean over ranks, medians")
    samples = xr.concat([record[f"observed_{name}"] for name in CLASSES], "class")
    edges = 100 * (samples.cumsum("class") / samples.sum("class")).isel({"class": slice(None, -1)})
    for low, high in zip(edges.min("sample").values, edges.max("sample").values, strict=True):
        axis.hlines(range(len(shares)), low, high, color=INK, linewidth=2.5)
    cross_flagged(axis, record, [100.0] * len(shares))
    return show(
        figure,
        data=shares.reset_index(names="ranks"),
        name="xc30_ranks_split",
        run=record,
        listed="; ".join(
            f"{name} " + ", ".join(f"{part} {value:.1f} %" for part, value in row.items())
            for name, row in shares.iterrows()
        ),
    )


ROUTINES = {
    "TRGTOL": "grid to Fourier",
    "TRLTOM": "Fourier to spectral",
    "TRMTOL": "spectral to Fourier",
    "TRLTOG": "Fourier to grid",
}


def moves(record: xr.Dataset) -> Shown:
    """Time of each transposition routine, slowest rank: median, least and longest sample."""
    found = pd.DataFrame({name: 1e3 * record[f"observed_{name}"].values.reshape(-1) for name in ROUTINES})
    times = found.median()
    figure, axis = axes(height=2.6)
    labels = [f"{name}, {what}" for name, what in ROUTINES.items()]
    axis.barh(labels, times, height=0.55, color=meaning("communication"), edgecolor=INK, linewidth=0.5)
    axis.hlines(labels, found.min(), found.max(), color=INK, linewidth=2.0)
    if (record["flags"].values.astype(str) != "").any():
        axis.plot(found.max(), labels, "x", color=INK, markersize=8, linestyle="none")
    data = found.describe().T.reset_index(names="routine")
    return show(figure, data=data, name="xc30_moves", run=record, items=times, label=record["label"].values)


def inflight_times(record: xr.Dataset) -> pd.DataFrame:
    """Seconds of every way of exchanging, over those of MPI_Alltoallv in one piece on all processors."""
    frame = case_rows(single(record), "way", "groups", "spare")
    frame = frame.sort_values(["spare", "way", "groups"]).reset_index(drop=True)
    whole = frame[(frame["way"] == "alltoallv") & (frame["groups"] == 1) & (frame["spare"] == 0)]["median"].item()
    found = intervals(frame)
    return frame.assign(to_blocking=found["middle"] / whole, low=found["low"] / whole, high=found["high"] / whole)


def _ways(frame: pd.DataFrame) -> list[str]:
    """What each way of exchanging is called: blocking or in flight, in how many groups, with which processors."""
    names = {"alltoallv": "blocking", "ialltoallv": "in flight", "progress": "in flight, thread"}
    return [
        f"{names[way]}, {plural(groups, 'group')}{', apart' if spare else ''}"
        for way, groups, spare in zip(frame["way"], frame["groups"], frame["spare"], strict=True)
    ]


@each_machine
def inflight(record: xr.Dataset, talk: pd.DataFrame) -> Shown:
    """Time of the Legendre transforms with messages in flight over that with blocking calls, here and in the talk."""
    every = inflight_times(record)
    groups = sorted(set(every["groups"]) - {1})
    frame = every[every["groups"].isin([groups[0], groups[-1]])].reset_index(drop=True)
    labels = _ways(frame)
    printed = talk.set_index("version")[["t2047", "t1198"]].astype(float)
    gains = printed.loc["new"] / printed.loc["original"]
    figure, axis = axes(height=0.27 * (len(frame) + 1) + 1.3)
    places = list(range(1, len(frame) + 1))
    for number, (name, gain) in enumerate(gains.items()):
        points(axis, [gain], [0], label=f"the talk, {name.upper()} (2014)", index=number, line=False)
    axis.hlines(places, frame["low"], frame["high"], color=meaning("measured"), linewidth=2.0)
    points(axis, frame["to_blocking"], places, label=cpu(record), host=True, line=False)
    flagged = frame["flags"].astype(str).to_numpy() != ""
    if flagged.any():
        axis.plot(
            frame["to_blocking"][flagged], np.array(places)[flagged], "x", color=INK, markersize=8, linestyle="none"
        )
    axis.set_yticks([0, *places], ["in flight, the talk", *labels])
    axis.axvline(1.0, color=INK, linestyle=":")
    listed = pd.Series(frame["to_blocking"].to_numpy(), labels)
    return show(figure, data=every, name="xc30_inflight", run=record, gain=gains.to_numpy(), items=listed)


def halo(record: xr.Dataset) -> Shown:
    """Bytes (all ranks) and time (slowest rank) of both parts of the semi-Lagrangian halo."""
    record, parts = single(record), ("part 1", "part 2")
    sent = observed(record, *(f"{part} bytes" for part in parts)) / 1e6
    times = 1e3 * observed(record, *parts)
    ways = [str(way) for way in record["way"].values]
    figure, both = axes(1, 2, height=2.8, wide=True)
    for axis, frame, label in zip(both, (sent, times), ("sent in a step [MB]", "time of a step [ms]"), strict=True):
        frame.index, frame.columns = ways, parts
        stacked_bars(axis, frame, label=label, legend=False)
    both[1].tick_params(labelleft=False)
    total = 1e3 * (record["observed_part 1"] + record["observed_part 2"])
    both[1].hlines(ways, total.min("sample"), total.max("sample"), color=INK, linewidth=2.5)
    cross_flagged(both[1], record, total.max("sample"))
    both[0].legend(loc="lower right")
    data = sent.add_suffix(" MB").join(times.add_suffix(" ms")).reset_index(names="way")
    listed = pd.DataFrame({"way": ways, "sent": sent.sum(axis=1), "time": times.sum(axis=1)})
    return show(figure, data=data, name="xc30_halo", run=record, items=listed)


_PARTS = {"transpositions": "transpositions", "halo_fixed": "halo of fixed width", "halo_on_demand": "halo on demand"}


def volume(record: xr.Dataset, forecast: xr.Dataset, about: xr.Dataset) -> Shown:
    """Bytes of a forecast by ranks, and the volume that the report states, with the cores of its runs; messages are in
    the data."""
    printed_terabytes, cores = float(forecast["mpi_volume"]), about["cores"].to_series()
    ranks = record["ranks"].values
    figure, axis = axes(height=2.9)
    for number, (name, label) in enumerate(_PARTS.items()):
        line = calculated(axis, ranks, record[f"{name}_bytes"].values / 1e12, label=f"{label}, counted")
        line.set_linestyle((":", "--", "-")[number])
    points(axis, about["tasks"], [printed_terabytes] * len(cores), line=False, label="whole model, the talk (2014)")
    for value in cores:
        axis.axvline(value, color=INK, linestyle=":", linewidth=0.9)
    names = [f"{name}_{what}" for name in _PARTS for what in ("bytes", "messages")]
    whole = record["transpositions_bytes"].values / 1e12
    data = record[["ranks", *names]].to_dataframe().reset_index(drop=True)
    return show(figure, data=data, name="xc30_volume", whole=whole, printed_terabytes=printed_terabytes, items=cores)
