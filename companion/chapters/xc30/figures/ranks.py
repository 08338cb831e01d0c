"""Figures of runs over MPI: split of the time, scaling, exchanges in flight, halo, volume (C2, C3, C7, C8)."""

import pandas as pd
import xarray as xr

from companion.figures.parts import log_axis, points, stacked_bars
from companion.figures.ranks import rank_title
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes
from companion.labels import counted

CLASSES = {"compute": "CPU", "communication": "Comms", "barrier": "Barrier", "serial": "Serial"}


def split(record: xr.Dataset) -> Shown:
    """The four classes of the report's pies, as shares of the time, by number of ranks."""
    frame = record[[f"observed_{name}" for name in CLASSES]].min("sample").to_dataframe()
    frame = frame[[f"observed_{name}" for name in CLASSES]]
    frame.index = [f"{counted(n, 'rank')}" for n in record["ranks"].values]
    frame.columns = list(CLASSES.values())
    shares = 100 * frame.div(frame.sum(axis=1), axis=0)
    figure, axis = axes(height=2.4)
    stacked_bars(axis, shares, label="share of the time [%], mean over ranks")
    figure.suptitle(rank_title(record), size=9, y=1.12)
    return show(
        figure,
        data=frame.reset_index(names="ranks"),
        name="xc30_ranks_split",
        alt="Stacked bars, shares of computing, communication, barrier and serial parts of the shallow-water model: "
        + "; ".join(f"{name} computing {row['CPU']:.0f} %" for name, row in shares.iterrows())
        + ".",
    )


def scaling(record: xr.Dataset) -> Shown:
    """Speed by number of ranks, normalised to 1 for the most ranks that have a processor each."""
    frame = record[["minimum", "ranks", "sent_bytes", "messages"]].to_dataframe().sort_values("ranks")
    alone = [
        n for n, flags in zip(record["ranks"].values, record["flags"].values, strict=True) if "over" not in str(flags)
    ]
    base = max(alone, default=frame["ranks"].min())
    frame["speed"] = float(frame.loc[frame["ranks"] == base, "minimum"].iloc[0]) / frame["minimum"]
    figure, axis = axes(height=3.2)
    points(axis, frame["ranks"], frame["speed"], host=True, label="this machine")
    axis.plot(frame["ranks"], frame["ranks"] / base, color=INK, linestyle=":", label="proportional to ranks")
    axis.set_xticks(frame["ranks"], [f"{int(n)}" for n in frame["ranks"]])
    axis.set(xlabel="ranks", ylabel=f"speed, 1 for {int(base)} ranks", ylim=(0, None))
    axis.legend()
    figure.suptitle(rank_title(record), size=9)
    return show(
        figure,
        data=frame.reset_index(drop=True),
        name="xc30_ranks_scaling",
        alt=f"Speed of the shallow-water model against the number of ranks, as a multiple of that with {int(base)}: "
        + ", ".join(f"{row.speed:.2f} with {int(row.ranks)}" for row in frame.itertuples())
        + ".",
    )


ROUTINES = {
    "TRGTOL": "grid to Fourier",
    "TRLTOM": "Fourier to spectral",
    "TRMTOL": "spectral to Fourier",
    "TRLTOG": "Fourier to grid",
}


def moves(record: xr.Dataset) -> Shown:
    """Time of each transposition routine, slowest rank, best sample."""
    times = 1e3 * pd.Series({name: float(record[f"observed_{name}"].min()) for name in ROUTINES})
    figure, axis = axes(height=2.6)
    axis.barh([f"{name}, {what}" for name, what in ROUTINES.items()], times, height=0.55, edgecolor=INK, linewidth=0.5)
    axis.invert_yaxis()
    axis.grid(False, axis="y")
    axis.set_xlabel("time of one transposition [ms]")
    figure.suptitle(f"{rank_title(record)}\n{record['label'].values[0]}", size=9)
    return show(
        figure,
        data=times.rename("ms").rename_axis("routine").reset_index(),
        name="xc30_moves",
        alt="Bars, milliseconds of each transposition routine on the slowest rank: "
        + ", ".join(f"{name} {value:.2g}" for name, value in times.items())
        + ".",
    )


def inflight(record: xr.Dataset) -> pd.DataFrame:
    """Seconds of the Legendre transforms by way of exchanging, and how they compare with Alltoallv."""
    frame = record[["minimum", "median", "way"]].to_dataframe()[["way", "minimum", "median"]].reset_index(drop=True)
    frame["to Alltoallv"] = frame["median"] / float(frame.loc[frame["way"] == "alltoallv", "median"].iloc[0])
    frame.attrs["units"] = {"minimum": "s", "median": "s", "to Alltoallv": "1"}
    return frame


def halo_table(record: xr.Dataset) -> pd.DataFrame:
    """Bytes (all ranks) and seconds (slowest rank) of both parts of the semi-Lagrangian halo."""
    names = [f"observed_{part}{what}" for part in ("part 1", "part 2") for what in (" bytes", "")]
    frame = record[[*names]].min("sample").to_dataframe()[names]
    frame.columns = [name.removeprefix("observed_") for name in names]
    for part in ("part 1", "part 2"):
        frame[f"{part} bytes"] /= 1e6
        frame[part] *= 1e3
    frame.insert(0, "way", [str(way) for way in record["way"].values])
    frame.attrs["units"] = {"part 1 bytes": "MB", "part 2 bytes": "MB", "part 1": "ms", "part 2": "ms"}
    return frame.reset_index(drop=True)


def volume(record: xr.Dataset, printed_terabytes: float, tasks: dict[str, float]) -> Shown:
    """Bytes and messages of a forecast's transpositions by ranks, beside the volume that the report states."""
    ranks, sent = record["ranks"].values, record["forecast_bytes"].values / 1e12
    figure, (left, right) = axes(1, 2, height=3.4, wide=True)
    points(left, ranks, sent, host=True, label="transpositions, counted")
    points(left, list(tasks.values()), [printed_terabytes] * len(tasks), line=False, label="whole model (2014)")
    left.set(ylabel="sent in the forecast [TB]", ylim=(0, None))
    points(right, ranks, record["step_messages"].values, host=True, label="transpositions, counted")
    log_axis(right, "y")
    right.set(ylabel="messages in a time step")
    for axis in (left, right):
        axis.set_xscale("log")
        axis.set(xlabel="MPI ranks")
        axis.legend()
    figure.suptitle("counted from the decomposition, not measured", size=9)
    frame = pd.DataFrame({"ranks": ranks, "forecast_TB": sent, "step_messages": record["step_messages"].values})
    return show(
        figure,
        data=frame,
        name="xc30_volume",
        alt="Left, terabytes that the transpositions of the forecast send against the number of MPI ranks, from "
        f"{sent.min():.0f} to {sent.max():.0f}, and the {printed_terabytes:.0f} TB that the report states for the "
        "whole model; right, messages of one time step, both axes logarithmic.",
    )
