"""Figures of chapter 1 that draw the forecast and its simulator rerun for this book, on one axis with the report."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.xmp1982.figures import label
from companion.chapters.xmp1982.figures.dots import Series, dots, middle, observed, spread_text
from companion.figures.beside import each_machine
from companion.figures.parts import cpu, times
from companion.figures.rendering import Shown
from companion.figures.tabular import Table, table
from companion.records.runs import single


def _label(name: str) -> str:
    return label(name) if name[:3] in ("dis", "bmr", "ssd", "cra") else name


def _printed(values: xr.DataArray, names) -> np.ndarray:
    """Printed numbers in the order of ``names``; NaN where the report has none."""
    return values.reindex(configuration=list(names)).values.astype(float)


@each_machine
def forecast_times(printed: xr.Dataset, record: xr.Dataset) -> Shown:
    """CPU and clock time of the forecast in every configuration (Fig. 4.1), and of the job after it."""
    cases = observed(record)
    names = [
        *printed["configuration"].values,
        *(c for c in cases["configuration"].values if c in ("memory", "degraded")),
    ]
    here = cases.reindex(configuration=names)
    rows = [_label(name) for name in names] + ["post-processing job"]

    def then(name, job):
        return np.append(_printed(printed[name], names), np.nanmean(printed[job]))

    def now(name, job):
        values = here[name].values
        samples = np.full((len(names) + 1, max(values.shape[1], record.sizes["write_up"])), np.nan)
        samples[:-1, : values.shape[1]] = values
        samples[-1, : record.sizes["write_up"]] = record[job].values
        return samples

    flagged = np.append(here["flagged"].fillna(False).values.astype(bool), False)
    series = [
        Series("CPU time, 1982", then("forecast_cpu", "pp_cpu")),
        Series("clock, 1982", then("forecast_clock", "pp_clock"), index=1),
        Series(f"CPU time, {cpu(record)}", now("cpu", "post_cpu"), host=True, flagged=flagged),
        Series(f"clock, {cpu(record)}", now("forecast", "post_clock"), host=True, index=1, flagged=flagged),
    ]
    known = middle(here["forecast"]).drop_sel(configuration=[c for c in ("degraded",) if c in names])
    return dots(
        rows,
        series,
        record=record,
        name="xmp1982_forecast_times_rerun",
        printed=printed["forecast_clock"],
        known=known,
    )


def jobs(cases: xr.Dataset, key: str) -> np.ndarray:
    """Mean of the post-processing jobs of every sample."""
    names = [name for name in cases.data_vars if str(name).startswith("post_") and str(name).endswith(key)]
    return np.mean([cases[name].values for name in names], axis=0)


def times_table(printed: xr.Dataset, record: xr.Dataset, *, name: str, figure: str) -> Table:
    """Fig. 4.1 or 5.1 with a run's column next to each of the report's."""
    cases = observed(record)
    here = cases.reindex(configuration=printed["configuration"].values)
    frame = pd.DataFrame({"configuration": [_label(c) for c in printed["configuration"].values]})
    parts: list[tuple[str, Any, str]] = [
        ("forecast_cpu", here["cpu"], "CPU time"),
        ("forecast_clock", here["forecast"], "clock"),
    ]
    if "post_1_clock" in here:
        parts += [("pp_cpu", jobs(here, "cpu"), "a job, CPU"), ("pp_clock", jobs(here, "clock"), "a job, clock")]
        parts.append(("total_clock", here["complete"], "forecast and jobs"))
    for then, now, title in parts:
        frame[f"{title}, 1982"] = printed[then].values
        frame[f"{title}, {cpu(record)}"] = [spread_text(row) for row in np.asarray(now)]
    return table(
        frame,
        name=name,
        units="s",
        caption=f"{figure} and {cpu(record)}: the run's numbers are medians of its samples, with their range",
        run=record,
    )


@each_machine
def write_steps(printed: xr.Dataset, record: xr.Dataset) -> Shown:
    """Every write-up step (Fig. 4.2), then and now."""
    cases = observed(record)
    names = list(printed["configuration"].values)
    steps = [name for name in cases.data_vars if str(name).startswith("write_step_")]
    here = np.hstack([cases[step].reindex(configuration=names).values for step in steps])
    medians = np.nanmedian(here[np.isfinite(here).any(1)], axis=1)
    flagged = cases["flagged"].reindex(configuration=names).fillna(False).values.astype(bool)
    series = [
        Series("each step, 1982", printed["write_step"].transpose("configuration", "step").values),
        Series(f"all steps of all samples, {cpu(record)}", here, host=True, flagged=flagged),
    ]
    return dots(
        [_label(name) for name in names],
        series,
        record=record,
        name="xmp1982_write_steps_rerun",
        printed=printed["write_step"],
        medians=medians,
    )


def write_steps_table(printed: xr.Dataset, record: xr.Dataset, *, name: str, figure: str) -> Table:
    """Fig. 4.2 or 5.2: net forecast, each write-up step, their sum, then and now."""
    cases, rows = observed(record), []
    steps = [str(name) for name in cases.data_vars if str(name).startswith("write_step_")]
    for configuration in printed["configuration"].values:
        then = printed.sel(configuration=configuration)
        row = {
            "configuration": _label(configuration),
            "when": "X-MP and Cray 1-A, 1982",
            "net": f"{float(then['net_forecast']):.0f}",
        }
        row |= {f"step {n + 1}": f"{float(x):.0f}" for n, x in enumerate(then["write_step"].values)}
        rows.append(row | {"sum": f"{float(then['write_sum']):.0f}"})
        if configuration in cases["configuration"]:
            here = cases.sel(configuration=configuration)
            row = {"configuration": _label(configuration), "when": cpu(record), "net": spread_text(here["net"].values)}
            row |= {f"step {n + 1}": f"{float(here[step].median()):.3g}" for n, step in enumerate(steps)}
            rows.append(row | {"sum": spread_text(np.sum([here[step].values for step in steps], axis=0))})
    frame = pd.DataFrame(rows)
    units = dict.fromkeys(frame.columns[2:], "s")
    caption = f"{figure} and {cpu(record)}: medians of the run's samples, with their range for net time and sum"
    return table(frame, name=name, units=units, caption=caption, run=record)


def _ratios(cases: xr.Dataset, names, reference: str, quantity: str = "net") -> np.ndarray:
    """Sample by sample, the quantity over the median of the reference's."""
    return (cases[quantity] / middle(cases[quantity]).sel(configuration=reference)).reindex(configuration=names).values


@each_machine
def net_times(printed: xr.Dataset, record: xr.Dataset) -> Shown:
    """Net time of every configuration over that of two SSD files with the asynchronous driver, then and now; and of
    a state that stays in memory, which the X-MP could not hold."""
    cases, reference = observed(record), "ssd2-async"
    net = printed["net_forecast"].to_series().drop("cray1a-disk4").sort_values(ascending=False) / float(
        printed["net_forecast"].sel(configuration=reference)
    )
    names = [*net.index, *(name for name in ("memory",) if name in cases["configuration"])]
    here = _ratios(cases, names, reference)
    flagged = cases["flagged"].reindex(configuration=names).fillna(False).values.astype(bool)
    middles = pd.Series(np.nanmedian(here, axis=1), names)
    return dots(
        ["no work files" if name == "memory" else _label(name) for name in names],
        [
            Series("X-MP 1982", np.append(net.to_numpy(), np.full(len(names) - len(net), np.nan))),
            Series("today", here, host=True, flagged=flagged),
        ],
        record=record,
        name="xmp1982_net_times_rerun",
        net=net,
        middles=middles,
        where=[_label(name) for name in (net.idxmax(), middles.idxmin(), middles.idxmax())],
    )


def ratios_table(listed: xr.Dataset, printed: xr.Dataset, record: xr.Dataset) -> Table:
    """The list of section 4.5 as ratios between configurations: of the report's times, and of a run's."""
    cases, names = observed(record), list(listed["configuration"].values)
    net = printed["net_forecast"]
    first = names[0]
    frame = pd.DataFrame(
        {
            "configuration": [label(name) for name in names],
            "Cray 1 over X-MP, printed": listed["ratio"].values,
            f"{label(first)} over this, 1982": [
                float(net.sel(configuration=first) / net.sel(configuration=n)) for n in names
            ],
            f"{label(first)} over this, {cpu(record)}": [
                spread_text(
                    float(middle(cases["net"]).sel(configuration=first)) / cases["net"].sel(configuration=n).values
                )
                for n in names
            ],
        }
    )
    return table(frame, digits=3, name="xmp1982_ratios_rerun", run=record)


#: The report's section and the measured parts that make it up.
PARTS = (
    ("NORMAL FORECAST TIME STEP", lambda c: c["normal_cpu"]),
    ("FORECAST WRITE-UP STEP", lambda c: c["write_up_cpu"]),
    ("WRITE-UP OVERHEAD", lambda c: c["write_up_cpu"] - c["normal_cpu"]),
    ("FORECAST RADIATION STEP", lambda c: c["radiation_cpu"]),
    ("RADIATION OVERHEAD", lambda c: c["radiation_cpu"] - c["normal_cpu"]),
    ("24 HOUR FORECAST", lambda c: c["cpu"]),
)


def _parts(printed: xr.Dataset, record: xr.Dataset) -> tuple[list[str], pd.DataFrame, np.ndarray]:
    """Sections, the report's seconds by machine, and the run's by section and sample."""
    case = observed(record).sel(configuration="memory")
    names = [name for name, _ in PARTS] + ["POST PROCESSING JOB"]
    jobs = single(record)["post_cpu"].values
    here = np.full((len(names), max(case.sizes["sample"], len(jobs))), np.nan)
    for row, (_, part) in enumerate(PARTS):
        here[row, : case.sizes["sample"]] = part(case).values
    here[-1, : len(jobs)] = jobs
    return names, printed["cpu"].transpose("section", "machine").to_pandas().loc[names], here


@each_machine
def cpu_parts(printed: xr.Dataset, record: xr.Dataset) -> Shown:
    """Parts of the forecast in units of a normal step (Fig. 4.4), on both machines of the report and in a run."""
    names, then, here = _parts(printed, record)
    units, unit = then / then.iloc[0], np.nanmedian(here[0])
    series = [Series(str(machine), units[machine].to_numpy(), index=n) for n, machine in enumerate(units)]
    flagged = np.full(len(names), bool(observed(record)["flagged"].sel(configuration="memory")))
    series.append(Series(cpu(record), here / unit, host=True, flagged=flagged))
    return dots(
        [name.capitalize().replace("Post", "One post") for name in names],
        series,
        record=record,
        name="xmp1982_parts_rerun",
        then=units.iloc[:, -1].to_numpy(),
        now=np.nanmedian(here, axis=1) / unit,
    )


def parts_table(printed: xr.Dataset, record: xr.Dataset) -> Table:
    """Fig. 4.4 with a run's column, in seconds."""
    names, then, here = _parts(printed, record)
    frame = pd.DataFrame({"section": [name.capitalize() for name in names]})
    for machine in then:
        frame[str(machine)] = then[machine].to_numpy()
    frame[cpu(record)] = [spread_text(row) for row in here]
    return table(frame, name="xmp1982_parts_table", units="s", run=record)


@each_machine
def simulators(printed: xr.Dataset, forecast: xr.Dataset, simulator: xr.Dataset) -> Shown:
    """Net time of the simulator over that of the forecast (section 5.1), then and now."""
    real, stood_in = observed(forecast), observed(simulator)
    names = [name for name in stood_in["configuration"].values if name in real["configuration"].values]
    net = printed["net_forecast"].reindex(configuration=names)
    then = (net.sel(model="simulator") / net.sel(model="forecast")).values
    # every sample of one over every sample of the other
    both = stood_in["net"] / real["net"].rename(sample="other")
    here = both.reindex(configuration=names).transpose("configuration", ...).values.reshape(len(names), -1)
    flagged = (stood_in["flagged"] | real["flagged"]).reindex(configuration=names).values.astype(bool)
    middles = np.nanmedian(here, axis=1)
    return dots(
        [label(name) for name in names],
        [Series("X-MP 1982", then), Series(cpu(simulator), here, host=True, flagged=flagged)],
        record=simulator,
        name="xmp1982_simulators_rerun",
        then=then,
        middles=middles,
    )


def degraded(usual: xr.Dataset, less: xr.Dataset, record: xr.Dataset) -> Table:
    """Figs 4.1 and 4.3, and between them what each change does: less memory, and jobs on the second CPU."""
    usual, less = usual.sel(configuration="ssd1-sync"), less.isel(configuration=0)
    names = ("forecast_cpu", "forecast_clock", "pp_cpu", "pp_clock")
    keys = ("forecast, CPU", "forecast, clock", "a job, CPU", "a job, clock", "all complete")
    rows = [
        (
            "1982",
            "usual forecast, usual jobs, in turn",
            *(f"{float(usual[name]):g}" for name in (*names, "total_clock")),
        ),
        (
            "1982",
            "degraded forecast, degraded jobs, second CPU",
            *(f"{float(less[name]):g}" for name in (*names, "complete_clock")),
        ),
    ]
    cases = observed(record)
    for name in cases["configuration"].values:
        case = cases.sel(configuration=name)
        posts = [jobs(case, key) for key in ("cpu", "clock")]
        values = case["cpu"], case["forecast"], *posts, case["complete"]
        rows.append((cpu(record), name, *(spread_text(each) for each in values)))
    frame = pd.DataFrame(rows, columns=["when", "test", *keys])
    return table(frame, index=False, name="xmp1982_degraded_rerun", units=dict.fromkeys(keys, "s"), run=record)


#: Tests of the forecast that shares the machine: row, and its case.
SHARED = {
    f"{kind}, {text}": f"{kind} forecast, {kind} jobs, {when}"
    for kind in ("usual", "degraded")
    for when, text in (("in turn", "in turn"), ("second CPU", "jobs on CPU 2"))
}


@each_machine
def completed(usual: xr.Dataset, less: xr.Dataset, record: xr.Dataset) -> Shown:
    """Time until forecast and jobs are complete over that of the usual ones in turn (Figs 4.1 and 4.3)."""
    cases, rows = observed(record), list(SHARED)
    base = SHARED["usual, in turn"]
    here = _ratios(cases, list(SHARED.values()), base, "complete")
    flagged = cases["flagged"].reindex(configuration=list(SHARED.values())).values.astype(bool)
    saved = float(less["complete_clock"][0] / usual["total_clock"].sel(configuration="ssd1-sync"))
    return dots(
        rows,
        [
            Series("X-MP 1982", np.array([1.0, np.nan, np.nan, saved])),
            Series("today", here, host=True, flagged=flagged),
        ],
        record=record,
        name="xmp1982_completed",
        saved=saved,
        items=pd.Series(np.nanmedian(here, axis=1), rows),
    )


#: Clock and CPU time of a forecast and of a job, as Figs 4.1 and 4.3 name them.
_SPENT = ("forecast_clock", "forecast_cpu", "pp_clock", "pp_cpu")


def degraded_said(usual: xr.Dataset, less: xr.Dataset, record: xr.Dataset) -> str:
    """What the second CPU saves when the jobs run there, and what the smaller memory costs."""
    complete = observed(record)["complete"]
    before, after = float(usual["total_clock"].sel(configuration="ssd1-sync")), float(less["complete_clock"][0])

    def of(forecast: str, when: str):
        return complete.sel(configuration=f"{forecast} forecast, {forecast} jobs, {when}")

    base = of("usual", "in turn")
    more = {name: float(less[name].squeeze() - usual[name].sel(configuration="ssd1-sync")) for name in _SPENT}
    cases = [
        observed(record).sel(configuration=f"{kind} forecast, {kind} jobs, in turn") for kind in ("degraded", "usual")
    ]
    return (
        f"In 1982 all was complete after {after:.0f} s instead of {before:.0f} s, {100 * (1 - after / before):.0f} % "
        "earlier. The second CPU gained more than the smaller memory cost. With less memory the forecast took "
        f"{more['forecast_clock']:.0f} s longer and a job {more['pp_clock']:.0f} s, but their CPU times grew by only "
        f"{more['forecast_cpu']:.0f} and {more['pp_cpu']:.1f} s: devices moved the added data. "
        f"On {cpu(record)} the usual jobs on the second CPU take {times(of('usual', 'second CPU'), base).times} as "
        f"long as in turn. Degraded and in turn, all takes {times(of('degraded', 'in turn'), base).times} as long. "
        f"Degraded and on the second CPU, as in 1982, it takes {times(of('degraded', 'second CPU'), base).times} as "
        "long. Today the CPU copies the added data: a degraded job takes "
        f"{times(*(jobs(each, 'cpu') for each in cases)).times} the CPU time of a usual one, a degraded forecast "
        f"{times(*(each['cpu'] for each in cases)).times}."
    )
