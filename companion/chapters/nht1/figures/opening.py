"""The figure that opens chapter 3: what writing added in 1993, and what the same methods of writing add here."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.nht1.figures.balance import waits
from companion.chapters.nht1.figures.writing import largest, percent_axis
from companion.figures.beside import each_machine
from companion.figures.parts import bars, cpu, printed_ranges, with_spread
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes
from companion.labels import plural

#: Methods of writing that codes of 1993 had, as a mark has room for them.
METHODS = {
    "sequential records, one a plane": "plane by plane",
    "five arrays, one a write": "array by array",
    "40-byte elements": "point by point",
}
_SLOW = "arrays, slow solver"


def measured(record: xr.Dataset, base: xr.Dataset) -> pd.DataFrame:
    """Overhead in percent, with its spread, of the methods of 1993 on the largest grid with most threads; and what the
    slowest code of ``base`` waits for its dumps on its largest grid, over its computing time."""
    frame, found = largest(record)
    rows = frame.index[frame["way"].isin(METHODS)]
    first = found["zeta"].loc[rows].assign(what=frame["way"][rows].map(METHODS))
    slow = waits(base).sort_values(["N", "computing"]).iloc[[-1]].assign(what=_SLOW)
    names = ["what", "low", "middle", "high", "flagged"]
    return pd.concat([first[names], slow[names]], ignore_index=True)


@each_machine
def opening(printed: pd.DataFrame, record: xr.Dataset, base: xr.Dataset) -> Shown:
    """The ranges of the abstract above the overheads here, on one axis."""
    here = measured(record, base)
    here["flagged"] = here["flagged"].astype(bool)
    frame, _ = largest(record)
    figure, axis = axes(height=2.7)
    old, new = np.arange(len(printed)), len(printed) + np.arange(len(here))
    printed_ranges(axis, old, printed["low"], printed["high"])
    whole, slow = here["what"] != _SLOW, here["what"] == _SLOW
    N = int(frame["N"].max())
    team, alone = (plural(int(each["threads"].max()), "thread") for each in (frame, base))
    bars(axis, new[whole], here[whole], index=1, line=False, label=f"{cpu(record)}, {team}", across=True)
    bars(axis, new[slow], here[slow], index=2, line=False, label=f"{cpu(base)}, {alone}", across=True)
    percent_axis(axis, 1)
    axis.axhline(len(printed) - 0.5, color=INK, linewidth=0.8)
    axis.set_yticks([*old, *new], [*(f"{name} (1993)" for name in printed["system"]), *here["what"]])
    axis.set(xlim=(min(0, 1.2 * here["low"].min()), 3 * here["high"].max()))
    slowest = waits(base).query("N == N.max()")["computing"]
    hosts = cpu(record) if cpu(base) == cpu(record) else f"{cpu(record)}, the last on {cpu(base)}"
    said = {"low": printed["low"], "high": printed["high"], "hosts": hosts, "n": N}
    data, ratio = with_spread(here[["what"]], overhead=here), slowest.max() / slowest.min()
    return show(figure, data=data, name="nht1_opening", run=record, items=here, ratio=ratio, **said)
