"""The bandwidth of reading over working set and stride, as a surface and a cut through it."""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.colors import LogNorm

from companion.chapters.p5plus.figures.memory import per_thread, read_by_lines
from companion.figures.beside import each_machine
from companion.figures.parts import bytes_axis, bytes_label, log_axis, run_title, spread
from companion.figures.rendering import Shown, show
from companion.figures.style import axes
from companion.figures.tabular import table
from companion.labels import plural


def _rates(record: xr.Dataset) -> pd.DataFrame:
    """Median bytes asked for a second and thread, in 1e9, of every case; ``kind`` is its threads and pages."""
    frame = read_by_lines(record)
    kinds = [
        f"{plural(int(count), 'thread')}, {pages} pages"
        for count, pages in zip(frame["threads"], frame["pages"], strict=True)
    ]
    return frame.assign(kind=kinds)


def _drawn(record: xr.Dataset, alone: pd.DataFrame, whole: pd.DataFrame, ends: tuple[float, float]):
    figure, (upper, lower) = axes(2, 1, height=6.6)
    mesh = upper.pcolormesh(
        np.arange(whole.shape[1] + 1), np.arange(whole.shape[0] + 1), whole.values, norm=LogNorm(*ends), linewidth=0
    )
    every = max(1, whole.shape[1] // 6)
    upper.set_xticks(np.arange(0, whole.shape[1], every) + 0.5, [bytes_label(n) for n in whole.columns[::every]])
    upper.set_yticks(np.arange(whole.shape[0]) + 0.5, [str(stride) for stride in whole.index])
    upper.set(xlabel="working set of a thread", ylabel="stride, items of 4 bytes")
    upper.grid(False)
    figure.colorbar(mesh, label="bytes asked for [GB/s]")
    line = alone[alone["stride"] == 1].sort_values("nbytes")
    spread(lower, line["nbytes"], line, per_thread(line), label="stride 1")
    log_axis(lower, "y")
    bytes_axis(lower, alone["nbytes"])
    lower.set(xlabel="working set of a thread", ylabel="bytes asked for [GB/s]", title="stride 1")
    figure.suptitle(f"{run_title(record)}, {alone['kind'].iloc[0]}", size=9)
    return figure


@each_machine
def surface(record: xr.Dataset) -> Shown:
    """Read bandwidth of a thread over working set and stride, and a cut through it."""
    frame = _rates(record)
    kinds = list(dict.fromkeys(sorted(frame["kind"], key=lambda kind: (kind[0], kind.split()[-2] != "small"))))
    alone = frame[frame["kind"] == kinds[0]]
    whole = alone.pivot(index="stride", columns="nbytes", values="rate")
    low, high = float(frame["rate"].min()), float(frame["rate"].max())
    still = show(
        _drawn(record, alone, whole, (low, high)),
        data=frame[["nbytes", "stride", "kind", "rate"]].rename(columns={"rate": "GB/s"}),
        name="p5plus_surface",
        run=record,
        low=low,
        high=high,
    )
    listed = table(
        whole.rename(columns=bytes_label).round(2).reset_index(),
        caption=f"The same in numbers: GB/s by stride and working set, {kinds[0]}",
        name="p5plus_surface",
        folded=True,
        run=record,
    )
    return Shown(f"{still.html}{listed.html}", still.alt)
