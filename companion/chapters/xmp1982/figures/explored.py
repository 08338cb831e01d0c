"""Figures of chapter 1 that readers can steer: the model of the clock, and the memory banks."""

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.patches import Patch

from companion import tables
from companion.chapters.xmp1982 import model
from companion.chapters.xmp1982.figures.modelled import bank_times
from companion.figures.explorer import explorer
from companion.figures.parts import points
from companion.figures.rendering import Shown, show
from companion.figures.style import axes, meaning
from companion.figures.tabular import table

_DEVICES = {"disk": "disks", "ssd": "SSD", "bmr": "buffer memory"}
_DRIVERS = {"sync": "synchronous", "async": "asynchronous", "overlapped": "overlapping as two files do"}
#: What the clock of a forecast consists of, in the order in which it is drawn.
PARTS = (
    "computing",
    "time of the system",
    "requests",
    "transfers that do not overlap",
    "waiting for disks",
    "write-up steps",
    "post-processing jobs",
)
_SPENT_ON = ("computing", "serial", "communication", "files", "waiting", "calculated")
_COLOURS = (*map(meaning, _SPENT_ON), "#8490b4")


@dataclass
class _Day:
    """One way to run the day: its parts on each CPU, as (CPU, begin, end, part), in seconds."""

    device: str
    files: int
    driver: str
    cpus: int
    segments: list[tuple[int, float, float, str]] = field(default_factory=list)
    printed: float | None = None  # what the report printed for the same, if it ran it

    @property
    def end(self) -> float:
        return max(end for _cpu, _begin, end, _part in self.segments)

    @property
    def name(self) -> str:
        how = "" if self.device == "disk" else f", {_DRIVERS[self.driver]}"
        return f"{self.files} on {_DEVICES[self.device]}{how}"


def _choices() -> list[tuple[str, int, str]]:
    """Every device with the numbers of files and the drivers that the model knows for it."""
    fast = itertools.product(("ssd", "bmr"), (1, 2, 4), ("sync", "async", "overlapped"))
    kept = [
        (device, files, driver)
        for device, files, driver in fast
        if (device == "ssd" or driver != "sync") and (driver != "overlapped" or files == 1)
    ]
    return [("disk", 4, "async"), *kept]


def _write_up(device: str, cpus: int) -> float:
    """Mean printed seconds of all write-up steps of a forecast."""
    name = "fig4_2" if cpus == 1 else "fig5_4"
    frame = tables.printed(model.DOCUMENT, name)
    column = frame["location"].str.lower() == device
    xmp = ~frame.get("configuration", frame.get("test")).str.startswith(("cray1a", "ecmwf"))
    return float(frame[column & xmp]["write_sum"].astype(float).mean())


def _job(device: str, cpus: int) -> float:
    """Mean printed seconds of one post-processing job."""
    jobs = int(tables.printed(model.DOCUMENT, "prose").set_index("fact")["value"]["write_up_steps"])
    frame = tables.printed(model.DOCUMENT, "fig4_1" if cpus == 1 else "fig5_3")
    column = frame["location"].str.lower() == device
    xmp = ~frame.get("configuration", frame.get("test")).str.startswith(("cray1a", "ecmwf"))
    seconds = frame[column & xmp]["pp_clock" if cpus == 1 else "pp_5_jobs"].astype(float).mean()
    return float(seconds) / (1 if cpus == 1 else jobs)


def _parts(where: model.Layout) -> dict[str, float]:
    """Seconds of a forecast by part; they add up to ``model.net``."""
    known, constants = model.facts(), model.calibrate()
    found = {"computing": known["cpu_forecast"], "time of the system": constants.base_forecast}
    rest = model.net(where, constants) - sum(found.values())
    if where.device == "disk":
        return found | {"waiting for disks": rest}
    moved = model.transfer(where)
    return found | {"requests": rest - moved, "transfers that do not overlap": moved}


def _printed(device: str, files: int, driver: str, cpus: int) -> float | None:
    if cpus == 2:
        frame = tables.printed(model.DOCUMENT, "fig5_3").set_index("test")["complete"]
        name = f"{device}{files}"
        pair = f"{name}+{name}"
        same = pair in frame.index and driver == ("sync" if device == "ssd" else "async")
        return float(frame[pair].iloc[0]) if same else None
    frame = tables.printed(model.DOCUMENT, "fig4_1").set_index("configuration")["total_clock"]
    name = f"{device}{files}" + (f"-{driver}" if device == "ssd" else "")
    if driver == "overlapped":
        return None  # what if: no run of a forecast
    return float(frame[name]) if name in frame.index else None


def day(device: str, files: int, driver: str, cpus: int) -> _Day:
    """A forecast a CPU and all their post-processing jobs, on one CPU or two.

    The forecast is the model's; write-up steps and jobs are the means of what the report printed for the device.
    A job goes to whichever CPU is free first, after the forecasts.
    """
    where = model.Layout(device, files, driver == "sync", driver == "overlapped", paired=cpus == 2)
    found, free = _Day(device, files, driver, cpus, printed=_printed(device, files, driver, cpus)), []
    parts = _parts(where) | {"write-up steps": _write_up(device, cpus)}
    for cpu in range(cpus):
        at = 0.0
        for part, seconds in parts.items():
            found.segments.append((cpu, at, at + seconds, part))
            at += seconds
        free.append(at)
    seconds = _job(device, cpus)
    jobs = int(tables.printed(model.DOCUMENT, "prose").set_index("fact")["value"]["write_up_steps"])
    for _ in range(cpus * jobs):
        cpu = free.index(min(free))
        found.segments.append((cpu, free[cpu], free[cpu] + seconds, PARTS[-1]))
        free[cpu] += seconds
    return found


def days() -> list[_Day]:
    """Every choice, on one CPU and on two."""
    return [day(*choice, cpus) for cpus in (1, 2) for choice in _choices()]


def _clock_still(found: list[_Day]) -> Shown:
    figure, (one, two) = axes(1, 2, height=4.6, wide=True, sharey=True)
    for axis, cpus in ((one, 1), (two, 2)):
        chosen = [each for each in found if each.cpus == cpus]
        for place, each in enumerate(chosen):
            last = [segment for segment in each.segments if segment[0] == 0]
            for _cpu, begin, end, part in last:
                axis.barh(place, end - begin, left=begin, height=0.7, color=_COLOURS[PARTS.index(part)])
            if each.printed:
                points(axis, each.printed, place, label="_", index=1, line=False)
        axis.set_yticks(range(len(chosen)), [each.name for each in chosen], size=8)
        axis.grid(False, axis="y")
        axis.set(xlabel="clock [s]", title="one CPU" if cpus == 1 else "two CPUs")
        axis.set_ylim(len(chosen) - 0.4, -0.6)
    handles = [Patch(color=colour, label=part) for colour, part in zip(_COLOURS, PARTS, strict=True)]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    ends = [each.end for each in found if each.cpus == 1]
    frame = pd.DataFrame(
        [(each.name, each.cpus, *segment) for each in found for segment in each.segments],
        columns=["work files", "CPUs", "CPU", "begins [s]", "ends [s]", "part"],
    )
    return show(figure, data=frame, name="xmp1982_day", number=len(ends), ends=ends)


def clock() -> Shown:
    """The model of the clock: choose files, device, driver and CPUs, and see the day finish."""
    found = days()
    rows = [
        {
            **{part: sum(end - begin for cpu, begin, end, what in each.segments if what == part and cpu == 0)
               for part in PARTS},
            "end": each.end, "printed": each.printed,
        }
        for each in found
    ]  # fmt: skip
    frame = pd.DataFrame(rows).round(0)
    frame.insert(0, "CPUs", [each.cpus for each in found])
    frame.insert(0, "work files", [each.name for each in found])
    listed = table(
        frame.rename(columns={"end": "day ends"}).astype({"printed": "Int64"}),
        caption="The same in numbers: seconds of each part on the first CPU, and the printed end of the day",
        name="xmp1982_day",
        folded=True,
    )
    data: dict[str, Any] = {"parts": PARTS, "partColours": _COLOURS, "devices": _DEVICES, "drivers": _DRIVERS}
    data["days"] = [
        {
            **{name: getattr(each, name) for name in ("device", "files", "driver", "cpus", "name", "printed")},
            "segments": [(cpu, round(begin, 2), round(end, 2), PARTS.index(part))
                         for cpu, begin, end, part in each.segments],
        }
        for each in found
    ]  # fmt: skip
    return explorer("clock", data, still=_clock_still(found), table=listed)


def banks_over_time(holder: np.ndarray, waits: np.ndarray, memory: dict, streams: pd.DataFrame) -> Shown:
    """The picture of :func:`bank_times`, which the page lets its reader steer by stride and banks.

    Parameters
    ----------
    holder, waits
        As :func:`bank_times` takes them.
    memory : dict
        The usual memory and loop, as the page simulates them.
    streams : pandas.DataFrame
        Words a clock period of endless streams, by stride.
    """
    listed = table(
        streams.round(3),
        caption="The same in numbers: simulated words a clock period of endless load streams, by stride",
        name="xmp1982_bank_streams",
        folded=True,
    )
    return explorer("banks", {"cycles": len(holder), **memory}, still=bank_times(holder, waits), table=listed)
