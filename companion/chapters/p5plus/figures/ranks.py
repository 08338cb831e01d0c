"""Figures of runs over MPI: exchange, transposition, sensors (P4, P8)."""

import xarray as xr

from companion.figures.parts import bytes_axis, log_axis, points, stacked_bars
from companion.figures.ranks import rank_title
from companion.figures.rendering import Shown, show
from companion.figures.style import axes
from companion.labels import counted


def exchange(record: xr.Dataset) -> Shown:
    """Bytes that a rank sends per second, by message size and number of pairs."""
    frame = record[["minimum", "median", "nbytes", "pairs"]].to_dataframe()
    frame["MB_per_s"] = frame["nbytes"] / frame["minimum"] / 1e6
    figure, axis = axes(height=3.4)
    for number, (pairs, part) in enumerate(frame.groupby("pairs")):
        part = part.sort_values("nbytes")
        label = f"{counted(pairs, 'pair')} at once"
        points(axis, part["nbytes"], part["MB_per_s"], host=True, index=number, label=label)
    log_axis(axis, "y")
    bytes_axis(axis, [frame["nbytes"].min(), frame["nbytes"].max()])
    axis.set(xlabel="message", ylabel="sent by each rank [MB/s]")
    axis.legend()
    figure.suptitle(rank_title(record), size=9)
    return show(
        figure,
        data=frame.reset_index(drop=True),
        name="p5plus_exchange",
        alt="Megabytes a second that each rank sends to its partner, and receives meanwhile, against the size "
        f"of the message, both axes logarithmic; at most {frame['MB_per_s'].max():.0f} MB/s.",
    )


def transposition(record: xr.Dataset) -> Shown:
    """Bytes per second of a rank in the four transpositions, by the mean size of a message."""
    frame = record[["minimum", "sent_bytes", "messages", "fields", "ranks"]].to_dataframe()
    frame = frame[frame["messages"] > 0].sort_values("sent_bytes")
    frame["message_bytes"] = frame["sent_bytes"] / frame["messages"]
    frame["MB_per_s"] = frame["sent_bytes"] / frame["ranks"] / frame["minimum"] / 1e6
    figure, axis = axes(height=3.2)
    points(axis, frame["message_bytes"], frame["MB_per_s"], host=True, label="all four, there and back")
    bytes_axis(axis, [frame["message_bytes"].min(), frame["message_bytes"].max()], step=2)
    axis.set(xlabel="mean message", ylabel="sent by each rank [MB/s]", ylim=(0, None))
    axis.legend()
    figure.suptitle(rank_title(record), size=9)
    return show(
        figure,
        data=frame.reset_index(drop=True),
        name="p5plus_transposition",
        alt="Megabytes a second that each rank sends in the transpositions of a spectral model, packing and "
        f"waiting included, against the mean size of a message; at most {frame['MB_per_s'].max():.0f} MB/s.",
    )


def sensors(record: xr.Dataset) -> Shown:
    """Time of computing and waiting without sensors, with synchronised ones and with drifted ones."""
    frame = record[["observed_compute", "observed_wait"]].min("sample").to_dataframe()
    frame.index = [str(way) for way in record["way"].values]
    shares = 1e3 * frame[["observed_compute", "observed_wait"]]
    shares.columns = ["computing, sensor included", "waiting for the others"]
    figure, axis = axes(height=2.6)
    stacked_bars(axis, shares, label="time of the run [ms], mean over ranks")
    figure.suptitle(rank_title(record), size=9, y=1.12)
    waits = shares.iloc[:, 1]
    return show(
        figure,
        data=shares.reset_index(names="way"),
        name="p5plus_sensors",
        alt="Stacked bars, milliseconds of computing and of waiting at barriers: "
        + ", ".join(f"{way} {value:.1f} ms waiting" for way, value in waits.items())
        + ".",
    )
