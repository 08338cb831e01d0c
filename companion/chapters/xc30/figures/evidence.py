"""Figures and tables of chapter 5 on the cost of a day, the profile's routines, output rates and builds."""

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.ticker import MaxNLocator

from companion.chapters.xc30.figures.live import frame_of
from companion.chapters.xc30.figures.model import step_seconds
from companion.figures.beside import each_machine
from companion.figures.parts import bars, converted, points, spread_of, with_spread
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes, series
from companion.records.runs import single

_DAY = 86400.0
#: Pairs of the linear and the cubic truncation on one grid of the talk.
SAME_GRID = (("TL2047", "TC1023"), ("TL2559", "TC1279"))


def day_table(record: xr.Dataset, forecast: xr.Dataset) -> pd.DataFrame:
    """Cost of a day of forecast: steps of a day times seconds of a step, measured (medians) and by the work model.

    A time step in proportion to the grid spacing of a linear grid, that is to 1 / truncation, with
    the talk's step at the talk's truncation: an assumption, since the talk prints one step only.
    """
    record = single(record)
    step, truncation = float(forecast["timestep"]), float(forecast["truncation"])
    frame = frame_of(record, "model_resolution", "model_step")
    frame["dt"] = [step * truncation / int("".join(filter(str.isdigit, name))) for name in frame["model_resolution"]]
    frame["steps"] = _DAY / frame["dt"]
    parts = set(np.asarray(record["part"].values).ravel()) if "part" in record else {0}
    seconds = step_seconds(record).set_index("measured_resolution")["measured_step"] if parts == {1} else pd.Series()
    frame["measured"] = frame["model_resolution"].map(seconds) * frame["steps"]
    frame["model"] = frame["model_step"] * frame["steps"]
    frame["relative"] = frame["model"] / frame["model"].iloc[0]
    found = frame.rename(columns={"model_resolution": "resolution", "model_step": "one step, model"})
    found.attrs["units"] = {"one step, model": "s", "dt": "s", "measured": "s", "model": "s"}
    return found


#: The matching of wavenumbers and grid that the letters of a resolution name.
_MATCHING = {"TL": "linear", "TQ": "quadratic", "TC": "cubic"}


@each_machine
def day(record: xr.Dataset, forecast: xr.Dataset, resolutions: xr.Dataset) -> Shown:
    """Cost of a day of forecast of the small model on the seven grids of the talk, over that on the first."""
    steps = step_seconds(record)
    frame = day_table(record, forecast).set_index("resolution").loc[steps["measured_resolution"]].reset_index()
    part = int(np.ravel(record["part"].values)[0])
    cut = "" if part == 1 else f" (measured: {part} times smaller)"
    sizes = resolutions["truncation"].to_dataframe()["truncation"].dropna().astype(int).reset_index()
    size = {f"T{row.matching[0].upper()}{row.truncation}": row.grid_points / 1e6 for row in sizes.itertuples()}
    count, base = frame["steps"].to_numpy(), frame["steps"][0] * steps["measured_step"][0]
    found = converted(spread_of(steps, "measured_step"), lambda seconds: count * seconds.to_numpy() / base)
    names = steps["measured_resolution"].astype(str)
    figure, axis = axes(height=3.0)
    for number, (letters, matching) in enumerate(_MATCHING.items()):
        rows = np.flatnonzero(names.str.startswith(letters))
        place = [size[name] for name in names.iloc[rows]]
        bars(axis, place, found.iloc[rows], label=f"{matching} ({letters})", index=number)
        for x, y, name in zip(place, found["middle"].iloc[rows], names.iloc[rows], strict=True):
            axis.annotate(name, (x, y), (7, -9), textcoords="offset points", size=9)
    axis.set(ylabel=f"cost of a day\nover that of {names[0]}")
    listed = pd.Series(found["middle"].to_numpy(), names)
    data = with_spread(frame.rename(columns={"relative": "model, relative"}), cost=found)
    return show(figure, data=data, name="xc30_day", run=record, names=names, items=listed, cut=cut)


def profile_table(profile: xr.Dataset, known: Collection[str]) -> pd.DataFrame:
    """The twenty routines of the profile, with those marked of which this book has the algorithm."""
    frame = profile[["self_percent", "mflops", "div_percent"]].to_dataframe().reset_index()
    frame["here"] = ["measured below" if name in known else "–" for name in frame["routine"]]
    found = frame.rename(columns={"self_percent": "self time", "mflops": "rate", "div_percent": "divisions"})
    found = found[["routine", "self time", "rate", "divisions", "here"]]
    found.attrs["units"] = {"self time": "%", "rate": "MFLOPS", "divisions": "%"}
    return found


#: What the page calls the builds.
BUILDS = ("build A", "build B", "build C")


@each_machine
def builds(record: xr.Dataset, samples: int, names: Sequence[str] = BUILDS) -> Shown:
    """Mean paired difference of three builds to the strict one, with its interval: what significance and size say.

    ``samples`` is the least number of samples of the talk.
    """
    figure, (judged, size) = axes(2, 1, height=5.2, sharex=True)
    lead, mean = record["lead"].values / 24, record["difference"].values
    half = record["difference_high"].values - mean
    for number, name in enumerate(names):
        place = lead + 0.12 * (number - 1)
        judged.errorbar(place, mean[number] / half[number], yerr=1.0, fmt="o", color=series(number), capsize=3)
        points(size, lead, np.abs(mean[number]), label=name, host=True, index=number)
    judged.axhline(0, color=INK, linewidth=0.8)
    judged.set(yscale="symlog")
    judged.margins(y=0.15)
    points(size, lead, record["error_strict"], label="error of the forecast", host=True, index=3).set_linestyle("--")
    size.axhline(float(record["rounding"]), color=INK, linestyle=":", label="one rounding of the depth")
    size.xaxis.set_major_locator(MaxNLocator(integer=True))
    listed = {"name": names, "count": significant(record), "most": np.abs(mean).max(axis=1)}
    columns = {f"{name} [m]": row for name, row in zip(names, mean, strict=True)}
    return show(
        figure,
        data=frame_of(record, "lead", "error_strict").assign(**columns),
        name="xc30_builds",
        run=record,
        items=pd.DataFrame(listed).assign(of=lead.size),
        error=record["error_strict"],
        of={name: record[name].item() for name in ("rounding", "pairs")},
        samples=samples,
    )


def significant(record: xr.Dataset) -> list[int]:
    """Of each build, the number of lead times at which the 95 % interval of the difference excludes zero."""
    record = single(record)
    return ((record["difference_low"] > 0) | (record["difference_high"] < 0)).sum("lead_time").values.tolist()


def verdicts(record: xr.Dataset, names: Sequence[str] = BUILDS) -> str:
    """What each build was, at how many lead times the test finds it different, and by how much at most."""
    record = single(record)
    most = abs(record["difference"]).max("lead_time").values
    each = (
        f"{name}, {build}: significant at {count} of {record.sizes['lead_time']} lead times, at most {size:.0e} m"
        for name, build, count, size in zip(names, record["build_name"].values, significant(record), most, strict=True)
    )
    return (
        f"{'; '.join(each)}. One rounding of the fluid's depth is {float(record['rounding']):.0e} m, and the error of "
        f"the forecast at least {float(record['error_strict'].min()):.0f} m."
    )
