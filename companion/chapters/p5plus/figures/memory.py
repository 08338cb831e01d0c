"""Figures of chapter 4 that draw memory: bandwidth, latency, STREAM."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.p5plus.figures.threads import curves
from companion.figures.beside import each_machine
from companion.figures.parts import bytes_axis, bytes_label, spread, times
from companion.figures.rendering import Shown, show
from companion.figures.style import axes
from companion.labels import plural
from companion.records.runs import single


def per_thread(cases: pd.DataFrame):
    """Seconds of ``cases`` to the GB/s that each thread asks for."""
    return lambda seconds: cases["bytes_read"] / cases["threads"] / seconds / 1e9


def read_by_lines(record: xr.Dataset) -> pd.DataFrame:
    """Cases of the sweep that read by whole lines where they can; ``rate``, median GB/s that each thread asks for."""
    frame = curves(record, ["nbytes", "stride", "pages", "loads"])
    frame = frame[frame["loads"] == "vector"]
    return frame.assign(rate=per_thread(frame)(frame["median"]))


def swept(frame: pd.DataFrame) -> str:
    """The kind of pages on which all strides were read."""
    return str(frame.groupby("pages")["stride"].nunique().idxmax())


@each_machine
def bandwidth(record: xr.Dataset) -> Shown:
    """Read bandwidth of one thread against working set, by stride, and by threads and pages at stride 1."""
    frame = read_by_lines(record)
    pages = swept(frame)
    alone = frame[(frame["threads"] == 1) & (frame["pages"] == pages)]
    figure, (by_stride, by_threads) = axes(2, 1, height=4.9, sharex=True)
    strides = sorted(alone["stride"].unique())
    for number, stride in enumerate(strides[:: max(1, len(strides) // 5)]):
        line = alone[alone["stride"] == stride].sort_values("nbytes")
        spread(by_stride, line["nbytes"], line, per_thread(line), label=f"stride {stride}", index=number)
    unit = frame[frame["stride"] == 1]
    ends = alone[alone["stride"] == 1].sort_values("nbytes")["rate"].to_numpy()
    for number, (count, pages) in enumerate(sorted(set(zip(unit["threads"], unit["pages"], strict=True)))):
        line = unit[(unit["threads"] == count) & (unit["pages"] == pages)].sort_values("nbytes")
        name = f"{plural(count, 'thread')}, {pages} pages"
        spread(by_threads, line["nbytes"], line, per_thread(line), label=name, index=number)
    for axis, title in ((by_stride, f"1 thread, {pages} pages"), (by_threads, "stride 1, per thread")):
        axis.set(title=title)
    bytes_axis(by_threads, frame["nbytes"])
    return show(figure, data=frame.reset_index(drop=True), name="p5plus_bandwidth", run=record, ends=ends)


#: How items are read, in the words of legends.
LOADS = {"vector": "whole cache lines", "scalar": "a load for each item"}


def _read_both_ways(record: xr.Dataset) -> pd.DataFrame:
    """Cases of one thread and of the strides that were read by whole lines and by the item; items a second, 10⁹."""
    frame = curves(record, ["nbytes", "stride", "pages", "loads"])
    both = set(frame.loc[frame["loads"] == "scalar", "stride"])
    frame = frame[frame["stride"].isin(both) & (frame["threads"] == 1) & (frame["pages"] == swept(frame))]
    items = frame["bytes_read"] / 4
    return frame.assign(items=items, rate=items / frame["median"] / 1e9)


@each_machine
def loads(record: xr.Dataset) -> Shown:
    """Items a second by whole cache lines and with a load for each, against working set."""
    frame = _read_both_ways(record)
    figure, panels = axes(2, 1, height=7.4, sharex=True, sharey=True)
    for axis, (kind, words) in zip(panels, LOADS.items(), strict=True):
        for number, stride in enumerate(sorted(frame["stride"].unique())):
            line = frame[(frame["stride"] == stride) & (frame["loads"] == kind)].sort_values("nbytes")
            items = line["items"]
            spread(axis, line["nbytes"], line, lambda t, n=items: n / t / 1e9, label=f"stride {stride}", index=number)
        axis.set(title=words)
    bytes_axis(panels[1], frame["nbytes"])
    ends = {kind: frame[frame["loads"] == kind]["rate"] for kind in LOADS}
    return show(figure, data=frame.reset_index(drop=True), name="p5plus_loads", run=record, **ends)


def loads_gain(record: xr.Dataset) -> str:
    """How many times as many items whole lines deliver, by stride, in the smallest and in the largest working set."""
    seconds, frame = single(record)["seconds"].values, _read_both_ways(record)
    frame = frame.assign(place=[np.flatnonzero(record["case"].values == case)[0] for case in frame.index])
    parts = []
    for nbytes in (frame["nbytes"].min(), frame["nbytes"].max()):
        each = frame[frame["nbytes"] == nbytes].pivot(index="stride", columns="loads", values="place")
        gains = {stride: times(seconds[row["scalar"]], seconds[row["vector"]]) for stride, row in each.iterrows()}
        said = "; ".join(f"stride {stride}, {gain.times}" for stride, gain in gains.items())
        parts.append(f" In {bytes_label(nbytes)}: {said}.")
    return f"Items a second by whole lines, over items a second by single loads.{''.join(parts)}"


#: STREAM's own rule: an array is at least so many times as large as the last caches together.
STREAM_RULE = 4


def _level(record: xr.Dataset) -> str:
    """What arrays of this size measure, by STREAM's rule and the caches that the system reported."""
    caches = record.attrs.get("last_caches")
    if caches is None or 8 * int(record["n"].values[0]) >= STREAM_RULE * caches:
        return ""
    rule = f"less than {STREAM_RULE} times the last caches ({bytes_label(caches)})"
    return f", {rule}:\na measurement of caches, not of memory"


@each_machine
def stream(record: xr.Dataset) -> Shown:
    """STREAM's four kernels with plain and non-temporal stores."""
    frame = curves(record, ["operation", "stores"])
    frame["bytes"] = frame["bytes_read"] + frame["bytes_written"]
    frame["rate"] = frame["bytes"] / frame["median"] / 1e9
    best = frame.loc[frame["rate"].idxmax()]
    figure, axis = axes(height=3.4)
    groups = list(dict.fromkeys(zip(frame["threads"], frame["stores"], strict=True)))
    operations = list(dict.fromkeys(frame["operation"]))
    width = 0.8 / len(groups)
    for number, (count, stores) in enumerate(groups):
        part = frame[(frame["threads"] == count) & (frame["stores"] == stores)].set_index("operation")
        place = np.arange(len(operations)) + width * (number - (len(groups) - 1) / 2)
        part = part.loc[operations]
        spread(
            axis,
            place,
            part,
            lambda seconds, nbytes=part["bytes"]: nbytes / seconds / 1e9,
            label=f"{plural(count, 'thread')}, {stores} stores",
            index=number,
            line=False,
        )
    axis.set_xticks(range(len(operations)), operations)
    size = bytes_label(8 * int(record["n"].values[0]))
    axis.set(title=f"arrays of {size} each{_level(record)}")
    return show(
        figure,
        data=frame.reset_index(drop=True),
        name="p5plus_stream",
        run=record,
        rate=frame["rate"],
        best=best,
        threads=plural(best["threads"], "thread"),
    )
