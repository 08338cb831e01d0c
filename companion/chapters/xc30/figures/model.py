"""Figures of chapter 5 that draw the small spectral model: costs, sections, errors, aliasing.

Each takes one record.
"""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.ticker import MultipleLocator

from companion.chapters.xc30.figures.live import frame_of
from companion.figures.beside import each_machine
from companion.figures.parts import bars, cpu, of_samples, points, spread_of, stacked_bars, with_spread
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes, hatched, meaning
from companion.records.runs import single

#: The section of a run that belongs to steps of its own.
_OUTPUT = "output"


#: What the threads did, over all sections: the same seconds, booked another way.
_CLASSES = {"computing", "waiting", "serial"}


def section_samples(record: xr.Dataset) -> dict[str, np.ndarray]:
    """Seconds of a repeat by section, (cases, samples), as the small model observed them."""
    repeats = single(record)["repeats"].values[:, np.newaxis]
    names = [str(name).removeprefix("observed_") for name in record.data_vars if str(name).startswith("observed_")]
    return {name: record[f"observed_{name}"].values / repeats for name in names if name not in _CLASSES}


def step_seconds(record: xr.Dataset) -> pd.DataFrame:
    """Resolution and label of every measured grid, and the seconds of one of its steps with their spread."""
    parts = [seconds for name, seconds in section_samples(record).items() if name != _OUTPUT]
    found = of_samples(np.sum(parts, axis=0) / record["steps"].values[:, np.newaxis], record["flags"].values)
    frame = pd.DataFrame({"measured_resolution": record["resolution"].values, "measured_label": record["label"].values})
    return with_spread(frame, measured_step=found)


@each_machine
def costs(record: xr.Dataset) -> Shown:
    """Seconds of a step of the small model on the seven grids: measured, and apart from it by work model."""
    figure, (measured, model) = axes(2, 1, height=6.0)
    steps = step_seconds(record)
    found, place = spread_of(steps, "measured_step"), np.arange(len(steps))
    factor, unit = (1e3, "ms") if found["high"].max() < 0.1 else (1, "s")
    scaled = found.assign(**{name: factor * found[name] for name in ("low", "middle", "high")})
    measured.barh(place, scaled["middle"], height=0.6, color=meaning("measured"), alpha=0.5)
    bars(measured, place, scaled, label="median", index=1, line=False, across=True)
    measured.set_yticks(place, steps["measured_label"])
    measured.set(xlabel=f"one step, measured [{unit}]")
    full = [str(name) for name in record["model_resolution"].values]
    model.barh(range(len(full)), record["model_step"], height=0.6, **hatched())
    model.set_yticks(range(len(full)), full)
    model.set(title=f"work model, full sizes\nfrom the rates of {record['model_from'].item()}")
    step = steps.set_index("measured_label")["measured_step"]
    data = pd.concat([steps, frame_of(record, "model_resolution", "model_step")], axis=1)
    where = {"least": step.idxmin(), "most": step.idxmax()}
    return show(figure, data=data, name="xc30_costs", run=record, where=where, step=step, model=record["model_step"])


@each_machine
def sections(record: xr.Dataset) -> Shown:
    """Where the time of the small model goes: shares of the median times, and these times with their spread."""
    labels = [str(name) for name in record["label"].values]
    parts = section_samples(record)
    parts["rest"] = np.maximum(record["seconds"].values - np.sum(list(parts.values()), axis=0), 0.0)
    found = {name: of_samples(seconds, record["flags"].values) for name, seconds in parts.items()}
    medians = pd.DataFrame({name: each["middle"].to_numpy() for name, each in found.items()}, index=labels)
    shares = 100 * medians.div(medians.sum(axis=1), axis=0)
    figure, (share, time) = axes(2, 1, height=3.4 + 0.9 * len(labels))
    stacked = shares.set_axis([name.replace(", ", "\n") for name in labels])
    stacked_bars(share, stacked, label="share of the time [%]", legend=False)
    share.legend(
        loc="lower center", bbox_to_anchor=(0.38, 1.0), ncols=3, fontsize=8, columnspacing=1.0, handlelength=1.2
    )
    for number, label in enumerate(labels):
        rows = pd.concat([each.iloc[[number]] for each in found.values()], ignore_index=True)
        place = np.arange(len(rows)) + 0.4 * ((number + 0.5) / len(labels) - 0.5)
        bars(time, place, rows, label=label, index=number, line=False, across=True)
    time.set_yticks(range(len(found)), list(found))
    figure.legend(*time.get_legend_handles_labels(), loc="outside lower center")
    text = "; ".join(
        f"{name}: " + ", ".join(f"{part} {value:.0f} %" for part, value in row.items())
        for name, row in shares.iterrows()
    )
    return show(
        figure, data=with_spread(pd.DataFrame({"run": labels}), **found), name="xc30_sections", run=record, text=text
    )


@each_machine
def cases(record: xr.Dataset) -> Shown:
    """Errors over the mountain against the number of grid points, here and as published."""
    figure, panels = axes(2, 1, height=5.4, sharex=True)
    for axis, name in zip(panels, ("height", "vorticity"), strict=True):
        points(axis, record["published_points"], record[f"published_{name}"], label="GME, published", index=0)
        points(axis, record["points"], record[f"{name}_error"], label=cpu(record), host=True, index=1)
    ours = frame_of(record, "points", "truncation_scored", "height_error", "vorticity_error")
    theirs = frame_of(record, "published_points", "published_height", "published_vorticity")
    frame = pd.concat([ours, theirs], axis=1)
    return show(figure, data=frame, name="xc30_cases", run=record, day=record["day"].item(), items=ours, **theirs)


def steady_table(record: xr.Dataset) -> pd.DataFrame:
    """Errors of the steady flow after five days, whose exact value is zero."""
    record = single(record)
    names = [f"T{int(truncation)}" for truncation in record["truncation_scored"].values]
    degrees = [f"tilted by {np.degrees(tilt):.0f}°" for tilt in record["tilt"].values]
    frame = pd.DataFrame(record["steady_error"].values, names, degrees)
    return frame.rename_axis("truncation").reset_index()


def _vorticity_maps(figure, panels, record: xr.Dataset, field: np.ndarray, names: list[str]) -> None:
    """Linear and cubic grid, one below the other, on one scale."""
    most = float(np.percentile(np.abs(field), 99.5))
    edges = {
        "extent": (0, 360, float(record["latitude"].min()), float(record["latitude"].max())),
        "origin": "upper",
        "aspect": "auto",
        "cmap": "RdBu_r",
        "vmin": -most,
        "vmax": most,
    }
    for axis, name in zip(panels, ("linear", "cubic"), strict=True):
        image = axis.imshow(field[names.index(name)], interpolation="nearest", **edges)
        axis.set(title=f"{name} grid {record['matching_name'].values[names.index(name)]}", ylabel="latitude [°]")
        axis.grid(False)
        axis.xaxis.set_major_locator(MultipleLocator(60))
    panels[-1].set(xlabel="longitude [°]")
    bar = figure.colorbar(image, ax=list(panels), shrink=0.8)
    bar.set_label("vorticity [10⁻⁵ s⁻¹]")
    bar.outline.set_edgecolor(INK)


def aliasing(record: xr.Dataset) -> Shown:
    """Vorticity of one truncation on a linear and on a cubic grid, and the error of each grid's products."""
    record = single(record)
    names = [str(name) for name in record["matching"].values]
    field = 1e5 * record["vorticity"].values
    figure, panels = axes(2, 1, height=3.1, sharex=True)
    _vorticity_maps(figure, panels, record, field, names)
    linear, quadratic, cubic = (field[names.index(name)] for name in ("linear", "quadratic", "cubic"))
    apart, near = (float(np.sqrt(((one - cubic) ** 2).mean() / (cubic**2).mean())) for one in (linear, quadratic))
    days = float(record["forecast_hours"].values.ravel()[-1]) / 24
    rows, columns = np.meshgrid(record["latitude"], record["longitude"], indexing="ij")
    frame = pd.DataFrame(
        {
            "latitude [degree]": rows.round(2).ravel(),
            "longitude [degree]": columns.ravel(),
            **{f"{name} [1e-5/s]": one.round(3).ravel() for name, one in (("linear", linear), ("cubic", cubic))},
        }
    )
    return show(figure, data=frame, name="xc30_aliasing", run=record, days=days, apart=100 * apart, near=100 * near)


@each_machine
def tendency(record: xr.Dataset) -> Shown:
    """Relative error of the tendency of vorticity by degree, a line for each grid that makes any."""
    figure, axis = axes(height=3.4)
    worst, columns = {}, {}
    for number, name in enumerate(str(name) for name in record["matching"].values):
        error = record["product_error"].values[number, 1:]
        columns[name] = error
        if (error > 0).any():
            worst[name] = float(error.max())
            drawn = np.where(error > 0, error, np.nan)
            line = points(axis, record["degree"].values[1:], drawn, label=f"{name} grid", host=True, index=number)
            line.set_markersize(2.5)
    axis.set_yscale("log")
    data = pd.DataFrame({"degree": record["degree"].values[1:], **columns})
    return show(figure, data=data, name="xc30_tendency", run=record, items=pd.Series(worst))
