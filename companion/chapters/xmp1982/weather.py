"""The section *What did the forecast forecast?*: the published cases that it is held to, and other builds of it."""

from dataclasses import replace
from typing import Any

import numpy as np

from companion import figures
from companion.bench import Case
from companion.chapters.xmp1982 import forecast
from companion.experiments import Output, Unavailable, experiment
from companion.late import pd
from companion.records.runs import single

#: Cases of the dynamics by their label: fields of the problem.
CASES: dict[str, dict[str, Any]] = {
    "wave": {"case": "wave"},
    "wave, half as fine": {"case": "wave", "halved": True},
    "steady state": {"case": "steady"},
    "rest over a mountain": {"case": "rest", "mountain": 2000.0},
}
_DAYS = {"quick": 1, "paper": 10}
#: Day of the map: the wave is deep and has not broken.
_MAP_DAY = 9
#: Units of the daily measures.
_UNITS = {"lowest": "hPa", "highest": "hPa", "asymmetry": "m/s", "drift": "m/s", "wind": "m/s"}
#: hPa by which surface pressure departs from 1000 where a map shows the wave.
_DEPARTURE = 4.0
_ONCE = "bits and conserved integrals do not change from run to run"


@experiment(
    "xmp1982-baroclinic",
    item="X2",
    title="The forecast's dynamics against published cases",
    seconds={"quick": 3, "paper": 300},
    presets=("quick", "paper"),
    few_samples=_ONCE,
)
def published(preset: str, threads: int) -> list[Case]:
    """The cases of Jablonowski and Williamson, the wave on two grids, and air at rest over a mountain."""
    from kernels.gridpoint import Problem, daily

    cases = []
    for label, changes in CASES.items():
        fields = dict(changes)
        problem = Problem.preset(preset, hours=24.0 * _DAYS[preset], writeup=0.0)
        if fields.pop("halved", False):
            points = -(-problem.ni // 32) * 16  # a multiple of sixteen
            problem = replace(problem, ni=points, nj=problem.nj // 2, dt=2 * problem.dt)
        if fields["case"] == "rest":
            problem = replace(problem, hours=min(problem.hours, 120.0))
        cases.append(Case(label, daily, replace(problem, **fields), threads, {"test": label}))
    return cases


@published.outputs_of
def _series(measurements) -> dict[str, Output]:
    """What each day showed, by case; missing days are missing numbers; and maps of the wave on both grids."""
    from kernels.gridpoint.daily import MEASURES

    longest = max((m.result.days for m in measurements), key=len)
    found = {
        "test": Output([m.label for m in measurements], None, "test_number", "case"),
        "days": Output([float(day) for day in longest], "d", "day", "time of the forecast"),
    }
    for name in MEASURES:
        rows: list[list] = [[float(x) for x in m.result.series[name]] for m in measurements]
        rows = [row + [None] * (len(longest) - len(row)) for row in rows]
        found[f"daily_{name}"] = Output(rows, _UNITS.get(name, "1"), "test_number day", name)
    for number, wave in enumerate(m.result for m in measurements if m.label.startswith("wave")):
        day = int((wave.days <= _MAP_DAY).sum()) - 1
        north, dims = slice(wave.pressure.shape[1] // 2, None), f"row_{number} column_{number}"
        fields = {"pressure": (wave.pressure, "hPa", "surface pressure")}
        fields["warmth"] = wave.warmth, "K", "temperature at 850 hPa"
        for name, (values, units, words) in fields.items():
            found[f"{name}_{number}"] = Output(values[day, north].round(1), units, dims, words)
        found[f"map_day_{number}"] = Output(float(wave.days[day]), "d", "", "time of the map")
    return found


@published.figure
def weather(runs) -> "figures.Shown":
    """Surface pressure on the day of the map, on both grids, over what the post-processing job delivers of it."""
    run = single(runs[0])
    names = [name for name in run["test"].values.astype(str) if name.startswith("wave")]
    figure, panels = figures.axes(height=4.6, rows=2, sharex=True, sharey=True)
    isobars, data, lows = np.arange(915.0, 1036.0, 10.0), [], []
    for n, (panel, name) in enumerate(zip(panels, names, strict=True)):
        pressure, warmth = (run[f"{key}_{n}"].values for key in ("pressure", "warmth"))
        rows, columns = pressure.shape
        longitude, latitude = np.arange(columns) * 360 / columns, (np.arange(rows) + 0.5) * 90 / rows
        shades = panel.contourf(longitude, latitude, warmth, np.arange(230, 312, 10), cmap="RdYlBu_r", extend="both")
        lines = panel.contour(longitude, latitude, pressure, isobars, colors="black", linewidths=0.8)
        panel.clabel(lines, isobars[::2], fontsize=8, fmt="%.0f")
        row, column = np.unravel_index(pressure.argmin(), pressure.shape)
        panel.plot(longitude[column], latitude[row], "kx", markersize=6)
        panel.set_title(f"{name}: {len(longitude)} points a row", loc="left")
        panel.set_ylabel("latitude [°]")
        lows.append(f"{pressure.min():.0f} hPa at {latitude[row]:.0f}° N, {longitude[column]:.0f}° E")
        north, east = np.meshgrid(latitude, longitude, indexing="ij")
        shown = {"grid": name, "latitude": north.ravel(), "longitude": east.ravel()}
        data.append(pd.DataFrame(shown | {"hPa": pressure.ravel(), "K": warmth.ravel()}))
    moved = data[0]["longitude"][(data[0]["hPa"] - 1000).abs() > _DEPARTURE]
    panels[-1].set(xlabel="longitude [°]", ylim=(25, 80))
    if len(moved):
        panels[-1].set_xlim(max(moved.min() - 20, 0), min(moved.max() + 20, data[0]["longitude"].max()))
    figure.colorbar(shades, ax=list(panels), location="bottom", label="temperature at 850 hPa [K]", aspect=40)
    return figures.show(
        figure,
        run=run,
        data=pd.concat(data),
        name="xmp1982_weather",
        title="The weather of the forecast",
        alt=f"Maps of northern mid-latitudes on day {float(run['map_day_0']):.0f} of the baroclinic wave: surface "
        f"pressure as a line each {isobars[1] - isobars[0]:.0f} hPa over the temperature at 850 hPa, as the "
        f"post-processing job packs it. The deepest low, a cross, has {lows[0]} on the grid of 1982 and {lows[-1]} on "
        "the grid half as fine.",
    )


@experiment(
    "xmp1982-builds",
    item="X9",
    title="One source, three builds",
    seconds={"quick": 20, "paper": 120},
    presets=("quick", "paper"),
    few_samples=_ONCE,
)
def builds(preset: str, threads: int) -> list[Case]:
    """The same source for this processor, for vectors half as long, and for the x86-64 of 2003."""
    from kernels.jobs import builds

    if reason := builds.refusal():
        raise Unavailable(f"xmp1982-builds makes builds of its own: {reason}")
    problem = replace(forecast.sized(preset), writeup=3.0)
    return [Case("all builds", builds, problem, threads, {"configuration": "memory"})]


@builds.outputs_of
def _others(measurements) -> dict[str, Output]:
    """Every other build against this one, through the day."""
    found = measurements[0].result.differences
    each, dims = list(found.values()), "build_number write_up"
    outputs = {
        "build": Output(list(found), None, "build_number", "build"),
        "hours": Output([float(hour) for hour in each[0].hours], "h", "write_up", "time of the forecast"),
        "differing": Output([[float(x) for x in d.differing] for d in each], "1", dims, "numbers that differ"),
    }
    for name, units in (("u", "m/s"), ("v", "m/s"), ("T", "K"), ("ps", "Pa")):
        largest = [[float(x) for x in d.largest[name]] for d in each]
        outputs[f"largest_{name}"] = Output(largest, units, dims, "largest difference")
    return outputs


@builds.figure
def drift(runs) -> "figures.Shown":
    """Largest difference of temperature through the day between builds of one source (section 4.9)."""
    figure, axis = figures.axes(height=3.4)
    frames, same = [], []
    for run in runs:
        frame = pd.DataFrame({"time [h]": run["hours"].values})
        for n, name in enumerate(run["build"].values.astype(str)):
            for key, unit in (("T", "K"), ("ps", "Pa")):
                frame[f"{name}: largest difference of {key} [{unit}]"] = run[f"largest_{key}"].values[n]
            frame[f"{name}: share of numbers that differ"] = run["differing"].values[n]
            largest = run["largest_T"].values[n]
            if (largest > 0).any():
                shown = np.where(largest > 0, largest, np.nan)
                figures.points(axis, run["hours"].values, shown, label=name, host=True, index=n, run=run)
            elif run is runs[0]:
                same.append(name)
        frames.append(frame)
    first = runs[0]
    axis.set(yscale="log", xlabel="time of the forecast [h]", ylabel="largest difference of temperature [K]")
    axis.set_xticks(first["hours"].values[::2])
    figures.legend(axis, "upper left")
    return figures.show(
        figure,
        runs=runs,
        data=frames,
        name="xmp1982_builds",
        title="Two builds of one source drift apart",
        alt="Largest difference of temperature between two builds of the same source by time of the forecast: it "
        f"grows to {float(first['largest_T'].values[:, -1].max()):.1g} K after {first['hours'].values[-1]:.0f} hours. "
        f"Without any difference, and not drawn: {', '.join(same) or 'none'}.",
    )


def said(cases, other) -> list[str]:
    """The low on two grids, what is conserved, and what another build changes."""
    cases, other = single(cases), single(other)
    day, lows = int(cases["map_day_0"]), [cases[f"pressure_{n}"].values.min() for n in (0, 1)]
    mass = np.nanmax(np.abs(cases["daily_mass"].values))
    last = other["differing"].values[:, -1]
    warmest = float(other["largest_T"].values[:, -1].max())
    return [
        f"On day {day} the pressure in the low is {lows[0]:.0f} hPa on the operational grid of 1982 and {lows[1]:.0f} "
        f"hPa on a grid half as fine. Over all cases the mass of the air changes by at most {mass:.0e} of itself.",
        "Our forecast gives the same bits wherever its work files are. A build without fused multiply-adds changes "
        f"{100 * last.max():.0f} % of its numbers within a day, temperatures by at most {warmest:.0e} K.",
    ]
