"""What an overhead consists of: waiting at a dump, and steps that take longer than without writing."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.records.runs import single


def overhead_parts(record: xr.Dataset) -> pd.DataFrame:
    """Medians of the largest grid and most threads, with least and largest T_T: how long the solver waits at
    dumps and at the end, and how much longer its steps take than without writing, in seconds."""
    record = single(record)
    names = ("N", "threads", "way", "median", "observed_T_T", "observed_stalled", "observed_finish")
    where = (record["N"].values == record["N"].values.max()) & (
        record["threads"].values == record["threads"].values.max()
    )
    N, threads, ways, median, T_T, stalled, finish = (record[name].values[where] for name in names)
    T_C = float(median[ways == "none"][0])
    rows = []
    for way, total, still, end in zip(ways, T_T, stalled, finish, strict=True):
        if way != "none":
            waits = np.nanmedian(still + end)
            middle = np.nanmedian(total)
            rows.append((way, np.nanmin(total), middle, np.nanmax(total), waits, middle - waits - T_C))
    frame = pd.DataFrame(rows, columns=["way", "T_T, least", "T_T", "T_T, largest", "waits", "computes longer"])
    frame.attrs["units"] = dict.fromkeys(frame.columns[1:], "s")
    return frame
