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

from companion.figures.parts import points, rows
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes, series

_DEVICES = {"disk": "disk", "bmr": "BMR", "ssd": "SSD"}


def label(configuration: str) -> str:
    """A configuration for a reader: ``ssd2-async`` is ``SSD × 2, async``, pairs are joined by a plus.

    ``ValueError`` if the name has another form.
    """
    jobs = configuration.removeprefix("cray1a-")
    found = re.findall(r"(disk|bmr|ssd)(\d(?:\+\d)?)(?:-(\w+))?(?:\+|$)", jobs)
    if not found or "+".join(f"{d}{n}-{s}".rstrip("-") for d, n, s in found) != jobs:
        raise ValueError(f"configuration = {configuration!r} is not of the form device, files, driver")
    text = " + ".join(
        f"{_DEVICES[device]} × {files}" + (f", {suffix}" if suffix else "") for device, files, suffix in found
    )
    return f"Cray 1-A, {text}" if configuration.startswith("cray1a") else text


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
    place = rows(axis, list(frame.index))
    points(axis, frame["from the times"], place, label="from the printed times", line=False)
    points(axis, frame["printed"], place, label="as printed", index=1, line=False)
    axis.axhline(len(parts[0]) - 0.5, color=INK, linewidth=0.6)
    off = frame[(frame["printed"] - frame["from the times"]).abs() > 0.01]
    data, said = frame.rename_axis("section").reset_index(), "; ".join(off.index) or "none"
    number, ratios = list(map(len, parts)), frame["from the times"]
    return show(figure, data=data, name="xmp1982_cpu_ratios", number=number, from_times=ratios, said=said)


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
    figure, axis = axes(height=2.7)
    place = rows(axis, list(frame.index))
    for number, name in enumerate(frame):
        points(axis, frame[name], place + 0.2 * (number - 0.5), label=name, index=number, line=False)
    data, post = frame.rename_axis("configuration").reset_index(), frame["post processing"]
    return show(figure, data=data, name="xmp1982_banks", post=post, kernel=frame["memory kernel"].to_numpy())


def _box(axis, x: float, y: float, width: float, text: str, colour: str) -> None:
    filled, outlined = (
        {"facecolor": colour, "alpha": 0.25, "edgecolor": "none"},
        {"facecolor": "none", "edgecolor": INK},
    )
    for style in (filled, outlined | {"linewidth": 0.8}):
        corner = x - width / 2, y - 0.24
        axis.add_patch(FancyBboxPatch(corner, width, 0.48, boxstyle="round,pad=0.03", **style))
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
        _box(axis, x, y, width, text, series(colour))
    axis.set_axis_off()
    return show(figure, data=rates, name="xmp1982_configuration", cpus=cpus, half=half, disks=disks)
