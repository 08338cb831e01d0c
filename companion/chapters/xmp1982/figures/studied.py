"""Figures of chapter 1 that draw studies of the forecast: other builds, and the published cases."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.figures.parts import log_axis, points, run_title
from companion.figures.rendering import Shown, show
from companion.figures.style import axes
from companion.figures.tabular import Table, table
from companion.records.runs import single


def builds(record: xr.Dataset) -> Shown:
    """Largest difference of temperature through the day between builds of one source (section 4.9)."""
    record = single(record)
    hours, names = record["hours"].values, record["build"].values.astype(str)
    frame = pd.DataFrame({"time [h]": hours})
    figure, axis = axes(height=3.4)
    same = []
    for n, name in enumerate(names):
        for key, unit in (("T", "K"), ("ps", "Pa")):
            frame[f"{name}: largest difference of {key} [{unit}]"] = (
                record[f"largest_{key}"].isel(build_number=n).values
            )
        frame[f"{name}: share of numbers that differ"] = record["differing"].isel(build_number=n).values
        largest = record["largest_T"].isel(build_number=n).values
        if (largest > 0).any():
            shown = np.where(largest > 0, largest, np.nan)
            points(axis, hours, shown, label=name, host=True, index=n)
        else:
            same.append(name)
    log_axis(axis, "y")
    axis.set_xlabel("time of the forecast [h]")
    axis.set_ylabel("largest difference of temperature [K]")
    axis.set_xticks(hours[::2])
    axis.legend(loc="upper left")
    axis.set_title(run_title(record), fontsize=8, loc="left")
    last = float(np.nanmax(record["largest_T"].isel(write_up=-1)))
    return show(
        figure,
        data=frame,
        name="xmp1982_builds",
        title="Two builds of one source drift apart",
        run=record,
        alt=f"Largest difference of temperature between two builds of the same source by time of the forecast: it "
        f"grows to {last:.1g} K after {hours[-1]:.0f} hours. Without any difference, and not drawn: "
        f"{', '.join(same) or 'none'}.",
    )


def lowest_pressure(record: xr.Dataset) -> Shown:
    """Lowest surface pressure of the baroclinic wave by day, on two grids."""
    record = single(record)
    names, days = record["test"].values.astype(str), record["days"].values
    frame, lowest = pd.DataFrame({"day": days}), record["daily_lowest"].values
    figure, axis = axes(height=3.2)
    waves = [n for n, name in enumerate(names) if name.startswith("wave")]
    for index, n in enumerate(waves):
        frame[f"{names[n]} [hPa]"] = lowest[n]
        points(axis, days, lowest[n], label=names[n], host=True, index=index)
    axis.set_xlabel("time of the forecast [d]")
    axis.set_ylabel("lowest surface pressure [hPa]")
    axis.legend(loc="lower left")
    axis.set_title(run_title(record), fontsize=8, loc="left")
    return show(
        figure,
        data=frame,
        name="xmp1982_wave",
        title="The baroclinic wave deepens",
        run=record,
        alt=f"Lowest surface pressure by day: on the fine grid it falls to {np.nanmin(lowest[waves[0]]):.0f} hPa by "
        f"day {days[-1]:.0f}, on the grid half as fine to {np.nanmin(lowest[waves[-1]]):.0f} hPa.",
    )


def published_table(record: xr.Dataset) -> Table:
    """What each case kept and departed from, over its whole length."""
    record, rows = single(record), []
    for n, name in enumerate(record["test"].values.astype(str)):
        case = {
            key: record[f"daily_{key}"].isel(test_number=n).values for key in ("mass", "energy", "momentum", "wind")
        }
        norms = {key: record[f"daily_{key}"].isel(test_number=n).values for key in ("asymmetry", "drift")}
        days = record["days"].values[np.isfinite(case["mass"])]
        rows.append(
            {
                "case": name,
                "days": days[-1],
                "mass": np.nanmax(np.abs(case["mass"])),
                "energy": np.nanmax(np.abs(case["energy"])),
                "momentum": np.nanmax(np.abs(case["momentum"])),
                "l2(u \u2212 \u016b)": np.nanmax(norms["asymmetry"]),
                "l2(\u016b \u2212 \u016b\u2080)": np.nanmax(norms["drift"]),
                "largest wind": case["wind"][np.isfinite(case["wind"])][-1],
            }
        )
    frame = pd.DataFrame(rows)
    units = {"days": "d", "mass": "1", "energy": "1", "momentum": "1"}
    units |= dict.fromkeys(frame.columns[5:], "m/s")
    caption = (
        "The dynamics on published cases: relative changes of mass, energy and angular momentum, norms of the zonal "
        "wind, and the strongest wind at the end"
    )
    return table(frame, digits=2, name="xmp1982_published", units=units, caption=caption, run=record)
