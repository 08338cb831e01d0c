"""Whole runs whose solution several processes write: in groups (N7), and point by point (N6)."""

import pandas as pd
import xarray as xr

from companion.chapters.nht1.figures.writing import groups_axis
from companion.figures.beside import each_machine
from companion.figures.parts import bars
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes
from companion.records.runs import single


@each_machine
def grouped(printed_axes: pd.DataFrame, best_group: int, record: xr.Dataset) -> Shown:
    """T_T of a run against the number of processes that write at a time, as the report's Figure 1 has it."""
    columns = {"g": "group", "least": "group_low", "median": "group_median", "largest": "group_high"}
    frame = pd.DataFrame({name: record[key].values for name, key in columns.items()})
    figure, axis = axes(height=2.9)
    flags = dict(zip(record["label"].values.astype(str), record["flags"].values.astype(str), strict=True))
    doubtful = any(flags.values())
    unit, factor = ("ms", 1e3) if frame["largest"].max() < 0.1 else ("s", 1)
    found = pd.DataFrame(
        {"low": factor * frame["least"], "middle": factor * frame["median"], "high": factor * frame["largest"]}
    ).assign(flagged=doubtful)
    bars(axis, frame["g"], found, index=1, label="whole run")
    axis.axhline(factor * float(record["T_C"]), color=INK, linewidth=0.9, linestyle="--",
                 label="without writing")  # fmt: skip
    groups_axis(axis, printed_axes, best_group, frame["g"], "best group in 1993")
    axis.set_ylabel(f"time of the run [{unit}]")
    case = {name: int(record[name].values[0]) for name in ("N", "NS", "IW", "P")}
    times = frame.set_index("g")["median"]
    said = {"best": times.idxmin(), "T_C": float(record["T_C"])}
    return show(figure, data=frame, name="nht1_grouped", run=record, case=case, times=times, **said)


def points_table(record: xr.Dataset) -> pd.DataFrame:
    """T_T, zeta and the time of one point by number of processes, the solver waiting for them or not."""
    record = single(record)
    frame = pd.DataFrame(
        {
            "processes": record["points_P"].values,
            "solver": ["goes on" if later else "waits" for later in record["points_asynchronous"].values],
            "T_C": record["points_T_C"].values,
            "T_T": record["points_T_T"].values,
            "least T_T": record["points_low"].values,
            "largest T_T": record["points_high"].values,
            "overhead": 100 * record["points_zeta"].values,
            "added by a point": 1e6 * record["points_each"].values,
        }
    )
    frame.attrs["units"] = dict.fromkeys(("T_C", "T_T", "least T_T", "largest T_T"), "s")
    frame.attrs["units"] |= {"overhead": "%", "added by a point": "µs"}
    return frame
