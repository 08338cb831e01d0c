"""Figures of the synthesis: machines of the reports and the reader's."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.figures.parts import log_axis, points
from companion.figures.style import axes


def clock_rates(machines: xr.Dataset, host: dict) -> pd.DataFrame:
    """Clock rate of every machine that states one, ascending, this host included where it is known.

    Parameters
    ----------
    machines : xarray.Dataset
        From ``tables.machines()``: ``clock`` in MHz or ``clock_period`` in ns along ``machine``.
    host : dict
        From ``machine.describe()``.

    Returns
    -------
    pandas.DataFrame
        Columns ``machine``, ``clock`` (MHz), ``kind`` (``"report"`` or ``"here"``).
    """
    clock = machines["clock"].fillna(1000.0 / machines["clock_period"])
    frame = pd.DataFrame({"machine": machines["name"].values, "clock": clock.values, "kind": "report"})
    nominal = host["cpu"]["nominal_hz"]
    if nominal:
        frame.loc[len(frame)] = ["this machine (nominal)", nominal / 1e6, "here"]
    frame = frame.dropna(subset=["clock"]).sort_values(["clock", "machine"], ignore_index=True)
    frame.attrs["units"] = {"clock": "MHz"}
    return frame


def clocks(frame: pd.DataFrame):
    """Clock rates of :func:`clock_rates` as points on a logarithmic axis, one line per machine."""
    figure, axis = axes(height=1.2 + 0.26 * len(frame))
    rows = np.arange(len(frame))
    for kind, is_host, label in (("report", False, "stated in a report"), ("here", True, "this machine")):
        chosen = frame["kind"] == kind
        if chosen.any():
            points(
                axis, frame["clock"][chosen], rows[chosen], label=label, host=is_host, index=int(is_host), line=False
            )
    axis.set_yticks(rows, frame["machine"])
    log_axis(axis, "x")
    axis.set_xlim(frame["clock"].min() / 1.5, frame["clock"].max() * 1.5)
    axis.set_xlabel("clock rate, MHz")
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return figure
