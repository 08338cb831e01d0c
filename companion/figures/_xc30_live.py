"""Figures of chapter 5 that draw run records: this machine, beside the document where numbers survive."""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.ticker import MaxNLocator

from companion.figures._parts import log_axis, points, run_title, stacked_bars
from companion.figures._show import Shown, show
from companion.figures._style import CYCLE, INK, axes


def _frame(record: xr.Dataset, *names: str) -> pd.DataFrame:
    return pd.DataFrame({name: record[name].values for name in names})


def transforms(record: xr.Dataset, runs: xr.Dataset, truncation: int) -> Shown:
    """Rate and share of peak of the transforms, with the shares of the forecasts of 2014.

    ``truncation`` is that of the document's forecast.
    """
    frame = _frame(record, "transform_truncation", "transform_fields", "transform_threads", "transform_rate",
                   "transform_share", "fourier_share")
    figure, (rate, share) = axes(2, 1, height=7.0, sharex=True)
    groups = frame.groupby(["transform_threads", "transform_fields"], sort=True)
    for number, ((threads, fields), line) in enumerate(groups):
        name = f"{fields} field{'s' if fields > 1 else ''}, {threads} thread{'s' if threads > 1 else ''}"
        for axis, column in ((rate, "transform_rate"), (share, "transform_share")):
            points(axis, line["transform_truncation"], line[column], label=name, host=True, index=number)
    for number, (threads, peak) in enumerate(zip(record["peak_threads"].values, record["peak_rate"].values,
                                                 strict=True)):
        rate.axhline(peak, color=INK, linewidth=1, linestyle=(":", "-.")[number % 2],
                     label=f"peak measured, {threads} thread{'s' if threads > 1 else ''}")
    printed = runs["peak_percent"].to_series()
    for number, (system, value) in enumerate(printed.items()):
        points(share, [truncation], [value], label=f"{system}, whole forecast (2014)", index=number + 3,
               line=False)
    log_axis(rate, "y")
    rate.set(ylabel="rate [GFLOPS]")
    share.set(ylabel="share of peak [%]", ylim=(0, max(100, 1.05 * frame["transform_share"].max())),
              xlabel="truncation", xlim=(0, None))
    for axis in (rate, share):
        axis.legend(loc="upper center", bbox_to_anchor=(0.45, -0.16 if axis is share else -0.03), ncols=2)
    figure.suptitle(run_title(record), size=9)
    text = " and ".join(f"{value:g} % ({system})" for system, value in printed.items())
    return show(figure, data=frame, name="xc30_transforms",
                alt="Two panels against truncation. Upper: rate of inverse and direct spectral transforms on "
                    "this machine, for one field and for eight, below the measured peak. Lower: the same as "
                    f"share of that peak, beside the shares of the forecasts of 2014, {text}, which are "
                    "those of a whole model.")


def costs(record: xr.Dataset) -> Shown:
    """Seconds of a step of the small model on the seven grids: measured, and apart from it by work model.

    Of several records the last is drawn.
    """
    record = record.isel(record=-1) if "record" in record.dims else record
    figure, (measured, model) = axes(2, 1, height=6.0)
    names = [str(label) for label in record["measured_label"].values]
    measured.barh(range(len(names)), record["measured_step"], height=0.6, color=CYCLE[0])
    measured.set_yticks(range(len(names)), names)
    measured.set(xlabel="one step, measured [s]", title="measured")
    full = [str(name) for name in record["model_resolution"].values]
    model.barh(range(len(full)), record["model_step"], height=0.6, facecolor="none", edgecolor=CYCLE[1],
               hatch="////", linewidth=1.2)
    model.set_yticks(range(len(full)), full)
    model.set(xlabel="one step, work model [s]",
              title=f"work model, full sizes\nfrom the rates of {record['model_from'].item()}")
    for axis in (measured, model):
        axis.invert_yaxis()
        axis.grid(False, axis="y")
    figure.suptitle(run_title(record), size=9)
    frame = pd.concat([_frame(record, "measured_resolution", "measured_label", "measured_step"),
                       _frame(record, "model_resolution", "model_step")], axis=1)
    step = pd.Series(record["measured_step"].values, names)
    return show(figure, data=frame, name="xc30_resolutions",
                alt="Two panels of bars for the seven resolutions. Upper, filled: measured seconds of a step "
                    f"of a small spectral model on this machine, least {step.idxmin()}, most {step.idxmax()}."
                    " Lower, hatched: what a work model gives for the full sizes. Nothing in the lower panel "
                    "is measured.")


def sections(record: xr.Dataset) -> Shown:
    """Where the time of the small model goes, as shares."""
    seconds = pd.DataFrame(record["section_seconds"].values, record["run_label"].values,
                           record["section_name"].values)
    shares = 100 * seconds.div(seconds.sum(axis=1), axis=0)
    figure, axis = axes(height=1.5 + 0.55 * len(shares))
    shown = shares.set_axis([name.replace(", ", "\n") for name in shares.index])
    stacked_bars(axis, shown, label="share of the time [%]")
    figure.suptitle(run_title(record), size=9)
    text = "; ".join(f"{name}: {row.idxmax()} most" for name, row in shares.iterrows())
    return show(figure, data=seconds.rename_axis("run").reset_index(), name="xc30_sections",
                alt=f"Stacked bars of the time of a small spectral model by section. {text}.")


def aliasing(record: xr.Dataset) -> Shown:
    """Vorticity of one truncation on a linear and on a cubic grid, and the error of each grid's products."""
    names = [str(name) for name in record["matching"].values]
    field = 1e5 * record["vorticity"].values
    most = float(np.percentile(np.abs(field), 99.5))
    figure, panels = axes(3, 1, height=7.4, gridspec_kw={"height_ratios": (1, 1, 1)})
    edges = {"extent": (0, 360, float(record["latitude"].min()), float(record["latitude"].max())),
             "origin": "upper", "aspect": "auto", "cmap": "RdBu_r", "vmin": -most, "vmax": most}
    for axis, name in zip(panels, ("linear", "cubic"), strict=False):
        image = axis.imshow(field[names.index(name)], interpolation="nearest", **edges)
        axis.set(title=f"{name} grid {record['matching_name'].values[names.index(name)]}",
                 ylabel="latitude [°]")
        axis.grid(False)
    panels[1].set(xlabel="longitude [°]")
    bar = figure.colorbar(image, ax=list(panels[:2]), shrink=0.8)
    bar.set_label("vorticity [10⁻⁵ s⁻¹]")
    bar.outline.set_edgecolor(INK)
    for number, name in enumerate(names):
        error = record["product_error"].values[names.index(name)]
        if (error[1:] > 0).any():
            points(panels[2], record["degree"].values[1:], np.where(error[1:] > 0, error[1:], np.nan),
                   label=f"{name} grid", host=True, index=number).set_markersize(2.5)
    panels[2].set_yscale("log")
    panels[2].set(xlabel="degree of the spherical harmonic", ylabel="error of tendency")
    panels[2].legend(loc="upper center", bbox_to_anchor=(0.5, -0.28), ncols=2)
    figure.suptitle(run_title(record), size=9)
    linear, cubic = (field[names.index(name)] for name in ("linear", "cubic"))
    apart = float(np.sqrt(((linear - cubic) ** 2).mean() / (cubic**2).mean()))
    rows, columns = np.meshgrid(record["latitude"], record["longitude"], indexing="ij")
    frame = pd.DataFrame({"latitude [degree]": rows.round(2).ravel(), "longitude [degree]": columns.ravel(),
                          **{f"{name} [1e-5/s]": one.round(3).ravel()
                             for name, one in (("linear", linear), ("cubic", cubic))}})
    return show(figure, data=frame, name="xc30_aliasing",
                alt="Two maps of vorticity after six days of an unstable jet, northern mid-latitudes, equal "
                    "truncation: on the linear grid small waves cover the picture that the cubic grid shows "
                    f"smoothly (they differ by {100 * apart:.0f} % RMS). Below: error of the vorticity "
                    "tendency by degree, growing towards the truncation on the linear grid and at rounding "
                    "level on the quadratic one.")


def routines(record: xr.Dataset, profile: xr.Dataset) -> Shown:
    """Rates of our versions of seven routines, vectorised and scalar, beside the profile of 2006."""
    names = [str(name) for name in record["routine_name"].values]
    frame = _frame(record, "routine_name", "mflops_vector", "mflops_scalar", "share_of_peak", "divides")
    frame["document_mflops"] = profile["mflops"].reindex(routine=names).values
    figure, axis = axes(height=4.6)
    place = np.arange(len(names))
    points(axis, frame["document_mflops"], place, label="Power4+ (2006)", index=0, line=False)
    points(axis, frame["mflops_scalar"], place, label="here, scalar", host=True, index=1, line=False)
    points(axis, frame["mflops_vector"], place, label="here, vectorised", host=True, index=2, line=False)
    axis.axvline(record["peak_mflops"].item(), color=INK, linestyle=":", linewidth=1, label="peak measured")
    axis.set_yticks(place, names)
    axis.invert_yaxis()
    axis.grid(False, axis="y")
    log_axis(axis, "x")
    axis.set(xlabel="rate [MFLOPS]")
    axis.legend(loc="upper center", bbox_to_anchor=(0.4, -0.14), ncols=2)
    figure.suptitle(run_title(record), size=9)
    gain = frame["mflops_vector"] / frame["mflops_scalar"]
    return show(figure, data=frame, name="xc30_routines",
                alt="Rates of seven routines on a logarithmic axis: of the IFS profile of 2006, and of our "
                    "own versions of the algorithms here, scalar and vectorised. Vectorising gains "
                    f"most in {names[int(gain.argmax())]} and least in {names[int(gain.argmin())]}.")


def nproma(record: xr.Dataset) -> Shown:
    """Rate against the number of columns in a block."""
    figure, axis = axes(height=3.2)
    length = record["nproma_length"].values
    rates = pd.DataFrame(record["nproma_mflops"].values.T, length, record["blocked_name"].values)
    for number, name in enumerate(rates):
        points(axis, length, rates[name], label=name, host=True, index=number)
    log_axis(axis, "y")
    log_axis(axis, "x", base=2)
    axis.set(xlabel="columns of a block (NPROMA)", ylabel="rate [MFLOPS]")
    axis.legend(loc="lower right")
    figure.suptitle(run_title(record), size=9)
    best = ", ".join(f"{name} at {rates[name].idxmax()}" for name in rates)
    return show(figure, data=rates.rename_axis("NPROMA").reset_index(), name="xc30_nproma",
                alt=f"Rate of two routines against the number of columns in a block, logarithmic axes. "
                    f"Blocks shorter than a vector waste most of it; fastest: {best}.")


def scores(record: xr.Dataset) -> Shown:
    """Errors of a strict and a fast-math build, and their paired difference with a 95 % interval."""
    figure, (error, paired) = axes(2, 1, height=5.4, sharex=True)
    lead = record["lead"].values / 24
    points(error, lead, record["error_strict"], label="strict", host=True, index=0)
    points(error, lead, record["error_fast"], label="fast-math", host=True, index=1).set_linestyle("--")
    error.set(ylabel="RMS error of height [m]", ylim=(0, None))
    error.legend(loc="lower right")
    low, middle, high = (record[name].values for name in ("difference_low", "difference", "difference_high"))
    size = max(np.abs(low).max(), np.abs(high).max())
    power = int(np.floor(np.log10(size))) if size > 0 else 0
    raised = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    paired.errorbar(lead, middle / 10.0**power, yerr=np.array([middle - low, high - middle]) / 10.0**power,
                    fmt="o", color=CYCLE[1], ecolor=CYCLE[1], capsize=4)
    paired.axhline(0, color=INK, linewidth=0.8)
    paired.xaxis.set_major_locator(MaxNLocator(integer=True))
    paired.set(xlabel="lead time [days]", ylabel=f"fast − strict [10{raised} m]")
    figure.suptitle(run_title(record), size=9)
    frame = _frame(record, "lead", "error_strict", "error_fast", "difference", "difference_low",
                   "difference_high")
    return show(figure, data=frame, name="xc30_scores",
                alt="Upper: root-mean-square error of height of two builds of the small model against lead "
                    "time; the lines lie on each other. Lower: mean paired difference with its 95 % interval,"
                    f" at most {size:.0e} m, against errors of {record['error_strict'].values.max():.0f} m.")


def storm(record: xr.Dataset) -> Shown:
    """Time of every output step with and without the small files."""
    names = [str(name) for name in record["variant_name"].values]
    seconds = pd.DataFrame(1e3 * record["step_seconds"].values.T, columns=names)
    figure, axis = axes(height=3.4)
    for number, name in enumerate(names):
        points(axis, np.arange(1, len(seconds) + 1), seconds[name], label=name, host=True, index=number)
    log_axis(axis, "y")
    axis.set(xlabel="output step", ylabel="time of the step [ms]")
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    figure.suptitle(run_title(record), size=9)
    ratio = seconds[names[0]].median() / seconds[names[1]].median()
    return show(figure, data=seconds.rename_axis("step").reset_index(), name="xc30_storm",
                alt=f"Time of each output step on a logarithmic axis, {names[0]} and {names[1]} them. The "
                    f"median step takes {ratio:.0f} times as long with the small files.")


def storm_table(record: xr.Dataset) -> pd.DataFrame:
    """What the host's kernel spent on one output step of each variant."""
    milliseconds = 1e3 * np.median(record["step_seconds"].values, axis=1)
    frame = pd.DataFrame({"output step": record["variant_name"].values, "median time": milliseconds,
                          "system calls": record["calls_per_step"].values,
                          "system time": 1e3 * record["system_per_step"].values,
                          "user time": 1e3 * record["user_per_step"].values})
    frame.attrs["units"] = {"median time": "ms", "system time": "ms", "user time": "ms"}
    return frame
