"""The section *What did the forecast forecast?*: a published case, which the report does not show, and other builds."""

from dataclasses import replace

from companion import figures
from companion.bench import Case
from companion.chapters.xmp1982 import forecast
from companion.chapters.xmp1982.rows import Measured, dots
from companion.common import np, pd
from companion.experiments import Output, Unavailable, experiment

_DAYS = {"quick": 1, "paper": 10}
#: Day of the map: the wave is deep and has not broken.
_MAP_DAY = 9


@experiment("xmp1982-baroclinic", item="X2", seconds={"paper": 300})
def published(preset: str, threads: int) -> list[Case]:
    """The forecast computes a published case.

    The baroclinic wave of Jablonowski and Williamson on the grid of 1982, and on one half as fine.
    """
    from kernels.gridpoint import Problem, daily

    fine = Problem.preset(preset, case="wave", hours=24.0 * _DAYS[preset], writeup=0.0)
    points = -(-fine.ni // 32) * 16  # a multiple of sixteen
    coarse = replace(fine, ni=points, nj=fine.nj // 2, dt=2 * fine.dt)
    problems = {"wave": fine, "wave, half as fine": coarse}
    return [Case(label, daily, problem, threads, {"test": label}) for label, problem in problems.items()]


@published.outputs_of
def _maps(measurements) -> dict[str, Output]:
    """How much the mass of the air has changed, a grid a row, a day a column; and maps of the wave on both grids."""
    found = {
        "test": Output([m.label for m in measurements], None, "test_number", "case"),
        "daily_mass": Output([m.result.series["mass"] for m in measurements], "1", "test_number day", "change of mass"),
    }
    for number, wave in enumerate(m.result for m in measurements):
        day = int((wave.days <= _MAP_DAY).sum()) - 1
        north, dims = slice(wave.pressure.shape[1] // 2, None), f"row_{number} column_{number}"
        found[f"pressure_{number}"] = Output(wave.pressure[day, north].round(1), "hPa", dims, "surface pressure")
        found[f"warmth_{number}"] = Output(wave.warmth[day, north].round(1), "K", dims, "temperature at 850 hPa")
        found[f"map_day_{number}"] = Output(float(wave.days[day]), "d", "", "time of the map")
    return found


@published.figure
def weather(runs) -> "figures.Shown":
    """Surface pressure on the day of the map, on both grids, over what the post-processing job delivers of it."""
    run = max(reversed(runs), key=lambda run: float(run["map_day_0"]))  # the reader's own, if it lasted so long
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
    panels[-1].set(xlabel="longitude [°]", ylim=(25, 80))
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


@experiment("xmp1982-builds", item="X9", seconds={"quick": 20, "paper": 120})
def builds(preset: str, threads: int) -> list[Case]:
    """One source, three builds.

    The same source for this processor, for vectors half as long, and for the x86-64 of 2003.
    """
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
        "differing": Output([d.differing for d in each], "1", dims, "numbers that differ"),
    }
    outputs["largest_T"] = Output([d.largest_T for d in each], "K", dims, "largest difference of temperature")
    return outputs


@builds.figure
def drift(runs) -> "figures.Shown":
    """Share of the numbers that another build of the source changes within a day (section 4.9)."""
    return dots(
        runs,
        {name: name for name in runs[0]["build"].values.astype(str)},
        {},
        lambda run: {"after a day": Measured(100 * run["differing"].values[:, -1])},
        xlabel="share of numbers that differ from this processor's build [%]",
        name="xmp1982_builds",
        title="Builds of one source",
    )


def said(cases, other) -> list[str]:
    """The low on two grids, what is conserved, and what another build changes."""
    day, lows = int(cases["map_day_0"]), [cases[f"pressure_{n}"].values.min() for n in (0, 1)]
    mass = np.nanmax(np.abs(cases["daily_mass"].values))
    last = other["differing"].values[:, -1]
    warmest = float(other["largest_T"].values.max())
    return [
        f"On day {day} the pressure in the low is {lows[0]:.0f} hPa on the operational grid of 1982 and {lows[1]:.0f} "
        "hPa on a grid half as fine.",
        f"The mass of the air changes by at most {mass:.0e} of itself. Our forecast gives the same bits wherever its "
        f"work files are. A build without fused multiply-adds changes {100 * last.max():.0f} % of its numbers within a "
        f"day, temperatures by at most {warmest:.1e} K.",
    ]
