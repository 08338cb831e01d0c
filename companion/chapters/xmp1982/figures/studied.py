"""Figures of chapter 1 that draw studies of the forecast: other builds, and the published cases."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.figures.beside import each_machine
from companion.figures.parts import points, run_title
from companion.figures.rendering import Shown, show
from companion.figures.style import axes
from companion.figures.tabular import Table, table
from companion.records.runs import single

#: Day on which models of the published case have a depth to compare with.
_PUBLISHED_DAY = 9


@each_machine
def builds(record: xr.Dataset) -> Shown:
    """Largest difference of temperature through the day between builds of one source (section 4.9)."""
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
    axis.set_xticks(hours[::2])
    axis.set_title(run_title(record), fontsize=8, loc="left")
    last, said = record["largest_T"].isel(write_up=-1), ", ".join(same) or "none"
    return show(figure, data=frame, name="xmp1982_builds", run=record, last=last, hours=hours, said=said)


@each_machine
def lowest_pressure(record: xr.Dataset) -> Shown:
    """Lowest surface pressure of the baroclinic wave by day, on two grids."""
    names, days = record["test"].values.astype(str), record["days"].values
    frame, lowest = pd.DataFrame({"day": days}), record["daily_lowest"].values
    figure, axis = axes(height=2.7)
    waves = [n for n, name in enumerate(names) if name.startswith("wave")]
    for index, n in enumerate(waves):
        frame[f"{names[n]} [hPa]"] = lowest[n]
        points(axis, days, lowest[n], label=names[n], host=True, index=index)
    axis.set_title(run_title(record), fontsize=8, loc="left")
    deepest = [np.nanmin(lowest[waves[n]]) for n in (0, -1)]
    return show(figure, data=frame, name="xmp1982_wave", run=record, lowest=deepest, days=days)


def weather_said(cases: xr.Dataset, builds_: xr.Dataset) -> str:
    """The low on two grids on the day to which the published one is known, and what another build changes."""
    lowest, days = single(cases)["daily_lowest"].values, single(cases)["days"].values
    day = max(0, int((days <= _PUBLISHED_DAY).sum()) - 1)
    waves = [n for n, name in enumerate(cases["test"].values.astype(str)) if name.startswith("wave")]
    fine, coarse = (lowest[n][day] for n in (waves[0], waves[-1]))
    last = single(builds_)["differing"].isel(write_up=-1).values
    most = float(np.nanmax(builds_["largest_T"].isel(write_up=-1)))
    return (
        f"On day {days[day]:.0f} the pressure in the low is {fine:.0f} hPa on the operational grid of 1982 and "
        f"{coarse:.0f} hPa on a grid half as fine. Our forecast gives the same bits wherever its work files are. A "
        f"build without fused multiply-adds changes {100 * last.max():.0f} % of its numbers within a day, by at most "
        f"{most:.0e} K."
    )


#: hPa by which surface pressure departs from 1000 where a map shows the wave.
_DEPARTURE = 4.0


def _map(record: xr.Dataset, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Longitude and latitude in degrees, surface pressure in hPa and temperature at 850 hPa in K of one grid."""
    pressure, warmth = (record[f"{key}_{number}"].values for key in ("pressure", "warmth"))
    rows, columns = pressure.shape
    return np.arange(columns) * 360 / columns, (np.arange(rows) + 0.5) * 90 / rows, pressure, warmth


def weather(record: xr.Dataset) -> Shown:
    """Surface pressure on the day of the map, on both grids, over what the post-processing job delivers of it."""
    record = single(record)
    names = [name for name in record["test"].values.astype(str) if name.startswith("wave")]
    figure, panels = axes(height=4.6, rows=2, sharex=True, sharey=True)
    isobars, data, lows = np.arange(915.0, 1036.0, 10.0), [], []
    for n, (panel, name) in enumerate(zip(panels, names, strict=True)):
        longitude, latitude, pressure, warmth = _map(record, n)
        shades = panel.contourf(longitude, latitude, warmth, np.arange(230, 312, 10), cmap="RdYlBu_r", extend="both")
        lines = panel.contour(longitude, latitude, pressure, isobars, colors="black", linewidths=0.8)
        panel.clabel(lines, isobars[::2], fontsize=8, fmt="%.0f")
        row, column = np.unravel_index(pressure.argmin(), pressure.shape)
        panel.plot(longitude[column], latitude[row], "kx", markersize=6)
        panel.set_title(f"{name}: {len(longitude)} points a row", loc="left")
        panel.set_ylabel("latitude [°]")
        lows.append(f"{pressure.min():.0f} hPa at {latitude[row]:.0f}° N, {longitude[column]:.0f}° E")
        grid = np.meshgrid(latitude, longitude, indexing="ij")
        shown = {"grid": name, "latitude": grid[0].ravel(), "longitude": grid[1].ravel()}
        data.append(pd.DataFrame(shown | {"hPa": pressure.ravel(), "K": warmth.ravel()}))
    longitude, _, pressure, _ = _map(record, 0)
    moved = longitude[(np.abs(pressure - 1000) > _DEPARTURE).any(0)]
    panels[-1].set(xlabel="longitude [°]", ylim=(25, 80))
    if moved.size:
        panels[-1].set_xlim(max(moved.min() - 20, 0), min(moved.max() + 20, longitude[-1]))
    figure.colorbar(shades, ax=list(panels), location="bottom", label="temperature at 850 hPa [K]", aspect=40)
    said = {"map_day": float(record["map_day_0"]), "isobar_step": isobars[1] - isobars[0], "low": lows}
    return show(figure, data=pd.concat(data), name="xmp1982_weather", run=record, **said)


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
    return table(frame, digits=2, name="xmp1982_published", units=units, run=record)
