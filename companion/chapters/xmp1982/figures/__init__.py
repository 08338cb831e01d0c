"""Figures of chapter 1: the benchmark exercises on the Cray X-MP, 1982.

Functions of the document's tables.  A configuration of work files is written device × number of files,
so that ``SSD × 2, async`` stands for two files on the solid-state storage device with the asynchronous
driver.  Where printed times contradict each other, what is drawn are the printed values.
"""

import re

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch

from companion.figures.parts import log_axis, points, stacked_bars
from companion.figures.rendering import Shown, show
from companion.figures.style import CYCLE, INK, axes

_DEVICES = {"disk": "disk", "bmr": "BMR", "ssd": "SSD"}


def label(configuration: str) -> str:
    """A configuration for a reader: ``ssd2-async`` is ``SSD × 2, async``, pairs are joined by a plus.

    Raises
    ------
    ValueError
        If the name has another form.
    """
    jobs = configuration.removeprefix("cray1a-")
    found = re.findall(r"(disk|bmr|ssd)(\d(?:\+\d)?)(?:-(\w+))?(?:\+|$)", jobs)
    if not found or "+".join(f"{d}{n}-{s}".rstrip("-") for d, n, s in found) != jobs:
        raise ValueError(f"configuration = {configuration!r} is not of the form device, files, driver")
    text = " + ".join(
        f"{_DEVICES[device]} × {files}" + (f", {suffix}" if suffix else "") for device, files, suffix in found
    )
    return f"Cray 1-A, {text}" if configuration.startswith("cray1a") else text


def _rows(axis, names, unit: str = "") -> np.ndarray:
    """Name the rows of a figure from top to bottom; their places."""
    place = np.arange(len(names))
    axis.set_yticks(place, names)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.grid(False, axis="y")
    axis.set_xlabel(unit)
    return place


def forecast_times(times: xr.Dataset) -> Shown:
    """Forecast and five post-processing jobs, each split into CPU time and waiting (Fig. 4.1)."""
    post_cpu = times["total_cpu"] - times["forecast_cpu"]
    post = times["total_clock"] - times["forecast_clock"]
    frame = pd.DataFrame(
        {
            "forecast, CPU": times["forecast_cpu"].values,
            "forecast, waiting": (times["forecast_clock"] - times["forecast_cpu"]).values,
            "post processing, CPU": post_cpu.values,
            "post processing, waiting": (post - post_cpu).values,
        },
        index=[label(name) for name in times["configuration"].values],
    )
    figure, axis = axes(height=3.9)
    stacked_bars(axis, frame, label="time, jobs one after the other [s]", legend=False)
    axis.legend(loc="lower center", bbox_to_anchor=(0.35, 1.0), ncols=2)
    first, *others = frame.sum(axis=1).items()
    best = min(others, key=lambda item: item[1])
    same = frame["forecast, CPU"].iloc[1:]
    wait = np.ptp(frame["forecast, waiting"].iloc[1:])
    return show(
        figure,
        data=frame.rename_axis("configuration").reset_index(),
        name="xmp1982_forecast_times",
        title="A day of forecast and its post processing",
        alt=f"Bars of a one-day forecast and five post-processing jobs, cut into CPU time and waiting: "
        f"{first[1]:.0f} s on the {first[0]}, {best[1]:.0f} ({best[0]}) to "
        f"{max(value for _, value in others):.0f} s on the X-MP. Between the places of the work files the CPU time of "
        f"the forecast differs by at most {same.max() - same.min():.0f} s, its waiting by up to {wait:.0f} s.",
    )


def net_forecasts(breakdowns: xr.Dataset, ratios: xr.Dataset) -> Shown:
    """Forecast without write-up steps, real and simulated, by place and driver of the work files.

    ``breakdowns`` is the joined table of Figs 4.2 and 5.2, ``ratios`` the list of section 4.5, whose
    configurations are marked by the ratio to the Cray 1.
    """
    net = breakdowns["net_forecast"].transpose("configuration", "model").to_pandas()
    reference = net.loc["cray1a-disk4", "forecast"]
    net = net.drop(index="cray1a-disk4").sort_values("simulator", ascending=False)
    figure, axis = axes(height=4.2)
    place = _rows(axis, [label(name) for name in net.index], "net time of the forecast [s]")
    points(axis, net["forecast"], place, label="real forecast", index=0, line=False)
    points(axis, net["simulator"], place, label="simulator (a program, run on the X-MP)", index=1, line=False)
    printed = dict(zip(ratios["configuration"].values, ratios["ratio"].values, strict=True))
    right = np.nanmax(net.to_numpy())
    for row, name in enumerate(net.index):
        if name in printed:
            axis.text(right + 8, row, f"{printed[name]:.2f}", va="center", size=9)
    axis.text(right + 8, -0.85, "Cray 1 / X-MP", ha="center", va="center", size=9)
    axis.set_xlim(right=right + 24)
    axis.legend(loc="lower center", bbox_to_anchor=(0.35, 1.06), ncols=1)
    slow, fast = net["forecast"].idxmax(), net["forecast"].idxmin()
    above = [label(name) for name in net.index[net["simulator"] > net["forecast"]]]
    return show(
        figure,
        data=net.reset_index(),
        name="xmp1982_net_forecasts",
        title="Net time of forecast and simulator by place of the work files",
        alt=f"Seconds without write-up steps for {len(net)} configurations of work files: the real forecast from "
        f"{net['forecast'].max():.0f} s ({label(slow)}) to {net['forecast'].min():.0f} s ({label(fast)}). The "
        f"Cray 1-A needed {reference:.0f} s and is not drawn; the numbers at the right are printed ratios to it. The "
        f"simulator took longer than the forecast for: {', '.join(above) or 'none'}.",
    )


def write_ups(forecast: xr.Dataset, degraded: xr.Dataset, pairs: xr.Dataset) -> Shown:
    """Clock time of every write-up step: forecasts alone (Figs 4.2, 4.3) and in pairs (Fig. 5.4)."""
    alone = pd.concat([part["write_step"].to_pandas() for part in (forecast, degraded)])
    alone.index = [label(name) for name in alone.index]
    together = pairs["write_step"].sel(test=pairs["test"] != "ecmwf").stack(row=("test", "job"))
    together = together.transpose("row", "step").to_pandas()
    halves = [label(test).split(" + ") for test, _ in together.index]
    together.index = [
        f"{half[job - 1]}, with {half[2 - job]}" for half, (_, job) in zip(halves, together.index, strict=True)
    ]
    frame = pd.concat([alone, together])
    figure, axis = axes(height=6.6)
    _rows(axis, list(frame.index), "clock time of one write-up step [s]")
    for number, (part, name) in enumerate(
        ((alone, "real forecast, alone"), (together, "simulated forecast, one of a pair"))
    ):
        place = np.repeat(np.arange(len(part)) + (len(alone) if number else 0), part.shape[1])
        points(axis, part.to_numpy().ravel(), place, label=name, index=number, line=False)
    axis.axhline(len(alone) - 0.5, color=INK, linewidth=0.6)
    axis.tick_params(axis="y", labelsize=8)
    axis.legend(loc="lower center", bbox_to_anchor=(0.25, 1.0), ncols=1)
    rest = alone.iloc[1:]
    return show(
        figure,
        data=frame.rename_axis("forecast").rename(columns="step {}".format).reset_index(),
        name="xmp1982_write_ups",
        title="Every write-up step, alone and in pairs",
        alt=f"Every write-up step is a point. Alone on the X-MP they take {rest.min().min():.0f} to "
        f"{rest.max().max():.0f} s, on the Cray 1-A {alone.iloc[0].min():.0f} to "
        f"{alone.iloc[0].max():.0f} s. In pairs they spread from {together.min().min():.0f} to "
        f"{together.max().max():.0f} s; the longest: {together.max(axis=1).idxmax()}.",
    )


def _sentence(name: str) -> str:
    """``GAP (ANALYSIS)`` as ``GAP (analysis)``: the printed capitals, abbreviations kept."""
    text = name.capitalize().replace("f/c", "forecast").replace(" pp ", " PP ")
    return text.replace("gap", "GAP").replace("Gap", "GAP")


def cpu_ratios(components: xr.Dataset, analysis: xr.Dataset) -> Shown:
    """CPU time of the Cray 1-A over that of the X-MP, printed and from the times (Figs 4.4, 6.2)."""
    parts = [
        pd.DataFrame(
            {
                "printed": table["ratio"].values,
                "from the times": (table["cpu"].sel(machine="Cray 1-A") / table["cpu"].sel(machine="Cray X-MP")).values,
            },
            index=[_sentence(name) for name in table[table["cpu"].dims[0]].values],
        )
        for table in (components, analysis)
    ]
    frame = pd.concat(parts)
    figure, axis = axes(height=4.6)
    place = _rows(axis, list(frame.index), "CPU time, Cray 1-A over X-MP")
    axis.barh(place, frame["from the times"], height=0.6, color=CYCLE[0], label="from the printed times")
    axis.plot(
        frame["printed"], place, "D", color=CYCLE[1], markerfacecolor="none", markeredgewidth=1.4, label="as printed"
    )
    axis.axhline(len(parts[0]) - 0.5, color=INK, linewidth=0.6)
    axis.tick_params(axis="y", labelsize=8)
    axis.legend(loc="lower center", bbox_to_anchor=(0.2, 1.0), ncols=2)
    off = frame[(frame["printed"] - frame["from the times"]).abs() > 0.01]
    return show(
        figure,
        data=frame.rename_axis("section").reset_index(),
        name="xmp1982_cpu_ratios",
        title="How much faster the X-MP computes, part by part",
        alt=f"CPU time of the Cray 1-A over that of the X-MP for {len(parts[0])} sections of the forecast (above the "
        f"line) and {len(parts[1])} steps of the analysis: {frame['from the times'].min():.2f} to "
        f"{frame['from the times'].max():.2f}. The printed ratio is off by more than 0.01 for: "
        f"{'; '.join(off.index) or 'none'}.",
    )


def throughput(pairs: xr.Dataset) -> Shown:
    """Two forecasts with their post processing: sequential Cray 1-A time over X-MP time (Fig. 5.3)."""
    complete = pairs["complete"].sel(job=1).to_series()
    ratio = (complete["ecmwf"] / complete.drop("ecmwf")).sort_values(ascending=False)
    figure, axis = axes(height=2.9)
    place = _rows(axis, [label(name) for name in ratio.index], "throughput, Cray 1-A = 1")
    disks = np.array(["disk" in name for name in ratio.index])
    for mask, text, colour in ((~disks, "no work files on disk", 0), (disks, "work files on disk", 1)):
        axis.barh(place[mask], ratio[mask], height=0.6, color=CYCLE[colour], label=text)
    for row, value in zip(place, ratio, strict=True):
        axis.text(value + 0.05, row, f"{value:.2f}", va="center", size=9)
    axis.set_xlim(0, ratio.max() + 0.5)
    text = "; ".join(f"{label(name)} {value:.2f}" for name, value in ratio.items())
    axis.legend(loc="lower center", bbox_to_anchor=(0.35, 1.0), ncols=2)
    return show(
        figure,
        data=ratio.rename("ratio").reset_index(),
        name="xmp1982_throughput",
        title="Throughput of two forecasts at once",
        alt=f"Two simulated forecasts at once on the X-MP, with the Cray 1-A doing them in turn as 1: {text}.",
    )


def _analysis_name(place: str, compiler: str) -> str:
    text = place.replace("FILES ON ", "").replace("WITH F/C", "with forecast").replace("RUNNING ", "")
    text = text.replace("ON ", "on ").replace("HALF SSD", "half SSD").replace("1/2 SSD", "half SSD")
    text = re.sub(r"DISK", "disk", text).replace("ECMWF CRAY-1", "Cray 1")
    return f"{text} ({compiler.replace('NEW DRIVER', 'driver')})" if compiler else text


def analysis(times: pd.DataFrame) -> Shown:
    """Clock time of the analysis alone and with a simulated forecast (Fig. 6.1 as printed)."""
    names = [
        _analysis_name(row.configuration, row.compiler if isinstance(row.compiler, str) else "")
        for row in times.itertuples()
    ]
    frame = pd.DataFrame({"analysis": names, "clock [s]": times["clock"].to_numpy()})
    shared = np.array(["with forecast" in name for name in names])
    alone = ~shared & (np.arange(len(names)) > 0)
    figure, axis = axes(height=4.0)
    place = _rows(axis, names, "clock time of the analysis [s]")
    for mask, text, colour in (
        (~shared & ~alone, "Cray 1", 2),
        (alone, "X-MP, alone", 0),
        (shared, "X-MP, with a forecast", 1),
    ):
        axis.barh(place[mask], frame["clock [s]"][mask], height=0.62, color=CYCLE[colour], label=text)
    axis.tick_params(axis="y", labelsize=8)
    axis.legend(loc="lower center", bbox_to_anchor=(0.2, 1.0), ncols=3, columnspacing=1.2)
    clock = frame["clock [s]"]
    return show(
        figure,
        data=frame,
        name="xmp1982_analysis",
        title="Clock time of the analysis",
        alt=f"Clock time of the analysis: {clock[0]} s on the Cray 1; on the X-MP alone {clock[alone].min()} to "
        f"{clock[alone].max()} s, slowest with files on disk; with a forecast on the other CPU "
        f"{clock[shared].min()} to {clock[shared].max()} s.",
    )


def io_rates(tests: xr.Dataset) -> Shown:
    """Transfer rate by device: one job, two jobs, and with a job that uses a disk (Fig. 7.2)."""
    rate = tests["mbyte_rate"].to_pandas()
    drawn = {
        "SSD": {"one job": "ssd", "two jobs, sum": "ssd-2-jobs", "with a disk job": "ssd-with-disk"},
        "buffer memory": {"one job": "bmr", "two jobs, sum": "bmr-2-jobs", "with a disk job": "bmr-with-disk"},
        "all disks": {"two jobs, sum": "disks-both"},
        "disks of the DIOP": {"with a disk job": "disks-diop"},
        "disks of the BIOP": {"with a disk job": "disks-biop"},
        "one disk": {"one job": "disk"},
    }
    frame = pd.DataFrame(
        {device: {how: rate[test] for how, test in tried.items()} for device, tried in drawn.items()}
    ).T
    figure, axis = axes(height=3.2)
    place = _rows(axis, list(frame.index), "transfer rate [MB/s], logarithmic")
    for number, how in enumerate(("one job", "two jobs, sum", "with a disk job")):
        points(axis, frame[how], place, label=how, index=number, line=False)
    log_axis(axis, "x")
    axis.set_xlim(2, 500)
    axis.legend(loc="lower center", bbox_to_anchor=(0.35, 1.0), ncols=3)
    return show(
        figure,
        data=frame.rename_axis("device").reset_index(),
        name="xmp1982_io_rates",
        title="Transfer rates by device",
        alt=f"Transfer rates in MB/s, on a logarithmic axis: SSD {rate['ssd']:.0f}, with two jobs "
        f"{rate['ssd-2-jobs']:.0f}; buffer memory {rate['bmr']:.0f} and "
        f"{rate['bmr-2-jobs']:.0f}; one disk {rate['disk']:.1f}; all disks together "
        f"{rate['disks-both']:.0f}. A disk job at the same time takes "
        f"{1 - rate['ssd-with-disk'] / rate['ssd']:.0%} from the SSD and "
        f"{1 - rate['bmr-with-disk'] / rate['bmr']:.0%} from buffer memory.",
    )


def banks(post: xr.Dataset, kernel: xr.Dataset) -> Shown:
    """CPU time in half the memory banks over that of the same job alone in all (Figs 8.1, 8.2)."""
    columns = {}
    for name, table in (("post processing", post), ("memory kernel", kernel)):
        cpu = table["cpu"]
        full, half = (int(count) for count in cpu["banks"].values)
        base = cpu.sel(banks=full, jobs=1, job=1)
        runs = {
            f"{full} banks, alone": (full, 1, 1),
            f"{half} banks, alone": (half, 1, 1),
            f"{half} banks, first of two": (half, 2, 1),
            f"{half} banks, second of two": (half, 2, 2),
        }
        columns[name] = {
            run: float(cpu.sel(banks=count, jobs=jobs, job=job) / base) for run, (count, jobs, job) in runs.items()
        }
    frame = pd.DataFrame(columns)
    worst = [f"{value:.2f}" for value in frame["memory kernel"]]
    figure, axis = axes(height=2.7)
    place = _rows(axis, list(frame.index), "CPU time, all banks and alone = 1")
    for number, name in enumerate(frame):
        axis.barh(place + 0.36 * (number - 0.5), frame[name], height=0.34, color=CYCLE[number], label=name)
    axis.legend(loc="lower center", bbox_to_anchor=(0.3, 1.0), ncols=2)
    return show(
        figure,
        data=frame.rename_axis("configuration").reset_index(),
        name="xmp1982_banks",
        title="CPU time with half of the memory banks",
        alt="CPU time over that of the same job alone in all memory banks. Post processing stays at "
        f"{frame['post processing'].max():.2f} or below; the memory kernel rises to "
        f"{worst[1]} in half the banks and to {worst[2]} and {worst[3]} with two jobs.",
    )


def _box(axis, x: float, y: float, width: float, text: str, colour: str) -> None:
    axis.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - 0.24),
            width,
            0.48,
            boxstyle="round,pad=0.03",
            facecolor=colour,
            alpha=0.25,
            edgecolor="none",
        )
    )
    axis.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - 0.24),
            width,
            0.48,
            boxstyle="round,pad=0.03",
            facecolor="none",
            edgecolor=INK,
            linewidth=0.8,
        )
    )
    axis.text(x, y, text, ha="center", va="center", size=9)


def configuration(rates: xr.Dataset, facts: xr.Dataset) -> Shown:
    """Block diagram of the prototype from what text and Fig. 7.3 say; the drawing of Fig. 7.1 is lost."""
    alone = rates["stand_alone"].to_series()
    both = rates["two_copies"].to_series()
    cpus, disks, half = int(facts["cpus"]), int(facts["disks"]), int(facts["disks"]) // 2
    figure, axis = axes(height=3.6)
    for line in (
        ((2, 2.93), (2, 2.47)),
        ((3.33, 3.2), (3.61, 3.2)),
        ((3.33, 2.2), (3.61, 2.2)),
        ((1.4, 1.93), (0.8, 1.47)),
        ((2, 1.93), (2.4, 1.47)),
        ((0.8, 0.93), (0.8, 0.47)),
        ((2.4, 0.93), (2.4, 0.47)),
    ):
        axis.add_line(Line2D(*zip(*line, strict=True), color=INK, linewidth=1))
    boxes = (
        (2, 3.2, 2.6, f"{cpus} CPUs, {int(facts['banks_normal'])} memory banks", 0),
        (4.4, 3.2, 1.5, f"SSD\n{alone['SSD']:.0f} MB/s", 1),
        (2, 2.2, 2.6, "I/O subsystem", 2),
        (4.4, 2.2, 1.5, f"buffer memory\n{alone['BMR']:.0f} MB/s", 1),
        (0.8, 1.2, 1.4, "BIOP (A1)", 2),
        (2.4, 1.2, 1.4, "DIOP (A2)", 2),
        (0.8, 0.2, 1.4, f"{half} disks\n{both['4 DISKS (A1)']:g} MB/s", 3),
        (2.4, 0.2, 1.4, f"{half} disks\n{both['4 DISKS (A2)']:g} MB/s", 3),
    )
    for x, y, width, text, colour in boxes:
        _box(axis, x, y, width, text, CYCLE[colour])
    axis.set(xlim=(0, 5.3), ylim=(-0.2, 3.6))
    axis.set_axis_off()
    return show(
        figure,
        data=rates,
        name="xmp1982_configuration",
        title="The prototype",
        alt=f"Block diagram, drawn for this book: {cpus} CPUs, an SSD, and an I/O subsystem with "
        f"buffer memory and two I/O processors, BIOP and DIOP, each with {half} of {disks} "
        f"disks; measured rates in the boxes.",
    )
