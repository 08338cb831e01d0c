"""The part *How much sooner could the day have ended?*: a sum whose parts come from the report, to be steered.

A forecast without its write-up steps takes

    net = CPU + base + requests + (1 − overlap) · volume / rate + queue

CPU is what Fig. 4.4 leaves without write-up steps; base is time of the system that every run has; requests cost the
same with two files and one, twice as much with four; volume is one pass over the work files, read and written, in every
step that is no write-up step; overlap is what section 3.1 gives for the layout, and nothing with a synchronous driver;
rate is that of Fig. 7.2; queue is what disks add.  Six printed rows give base, requests and queue.  Write-up steps and
post-processing jobs are means of what is printed for the device.
"""

import itertools
from dataclasses import dataclass
from functools import cache

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.chapters.xmp1982.rows import label, pale
from supercomputers_rerun.companion.common import pd
from supercomputers_rerun.companion.experiments import of

_DEVICES = {"disk": "disks", "ssd": "SSD", "bmr": "buffer memory"}
_DRIVERS = {"sync": "synchronous", "async": "asynchronous", "overlapped": "overlapping as two files do"}
#: What the clock of a forecast consists of, in the order in which it is drawn, and the meaning of its colour.
PARTS = {
    "computing": "computing",
    "time of the system": "serial",
    "requests": "communication",
    "transfers that do not overlap": "files",
    "waiting for disks": "waiting",
    "write-up steps": "calculated",
    "post-processing jobs": "",
}
#: Of these, what a place for the files may spare.
_OF_FILES = ("requests", "transfers that do not overlap", "waiting for disks")


@dataclass(frozen=True)
class Layout:
    """Where the work files are."""

    device: str  # "ssd", "bmr" or "disk"
    files: int
    driver: str = "sync"  # or "async", or "overlapped": as if one file overlapped as two do
    simulated: bool = False

    @property
    def configuration(self) -> str:
        """Its name in the tables, where the report ran it."""
        driver = f"-{self.driver}" if self.device == "ssd" or self.driver == "overlapped" else ""
        return f"{self.device}{self.files}{driver}"


@cache
def facts() -> dict[str, float]:
    """Volume, rates, overlaps, CPU times and the number of write-ups, each from the report's own table."""
    sections = tables.printed("xmp1982", "sec3_1").set_index("work_files")
    rates = tables.printed("xmp1982", "fig7_2").set_index("test")["mword_rate"].astype(float)
    cpu = tables.printed("xmp1982", "fig4_4").set_index("section")["cray_xmp"].astype(float)
    prose = tables.printed("xmp1982", "prose").set_index("fact")["value"]
    simulated = tables.printed("xmp1982", "fig5_1").set_index("configuration")["forecast_cpu"].astype(float)
    jobs = int(prose["write_up_steps"])
    written = jobs * cpu["FORECAST WRITE-UP STEP"]
    plain = cpu["24 HOUR FORECAST"] - written - int(prose["radiation_steps"]) * cpu["RADIATION OVERHEAD"]
    steps = round(plain / cpu["NORMAL FORECAST TIME STEP"])
    return {
        "cpu_forecast": cpu["24 HOUR FORECAST"] - written,
        "cpu_simulator": simulated["ssd2-sync"] - written,
        "volume": 2 * float(sections.loc[2, "file_size"]) * steps,  # one file is read, the other written
        "rate_ssd": rates["ssd"],
        "rate_bmr": rates["bmr"],
        "overlap_two": float(sections.loc[2, "overlap"]) / 100,
        "overlap_one": float(sections.loc[1, "overlap"]) / 100,
        "jobs": jobs,
    }


def _net_parts(where: Layout, constants: dict[str, float]) -> dict[str, float]:
    """Seconds of a forecast without write-up steps, by part."""
    known, kind = facts(), "simulator" if where.simulated else "forecast"
    found = {"computing": known[f"cpu_{kind}"], "time of the system": constants.get(f"base_{kind}", 0.0)}
    if where.device == "disk":
        return found | {"waiting for disks": constants.get("queue", 0.0)}
    request = "bmr" if where.device == "bmr" else "sync" if where.driver == "sync" else "async"
    found["requests"] = constants.get(f"requests_{request}", 0.0) * max(1, where.files // 2)
    overlap = known["overlap_two" if where.files > 1 or where.driver == "overlapped" else "overlap_one"]
    beside = 0.0 if where.driver == "sync" else overlap
    return found | {"transfers that do not overlap": (1 - beside) * known["volume"] / known[f"rate_{where.device}"]}


def net(where: Layout, constants: dict[str, float]) -> float:
    """Seconds of the forecast without write-up steps."""
    return sum(_net_parts(where, constants).values())


@cache
def constants() -> dict[str, float]:
    """The six constants, each from a printed net time."""
    forecast, simulator = (
        tables.printed("xmp1982", name).set_index("configuration")["net_forecast"].astype(float)
        for name in ("fig4_2", "fig5_2")
    )
    found: dict[str, float] = {}

    def missing(seconds: float, device: str, files: int, driver: str = "sync", simulated: bool = True) -> float:
        return seconds - net(Layout(device, files, driver, simulated), found)

    two, four = missing(simulator["ssd2-sync"], "ssd", 2), missing(simulator["ssd4-sync"], "ssd", 4)
    found |= {"base_simulator": 2 * two - four, "requests_sync": four - two}  # base + r and base + 2 r
    found["requests_async"] = missing(simulator["ssd2-async"], "ssd", 2, "async")
    found["requests_bmr"] = missing(simulator["bmr1"], "bmr", 1, "async")
    found["queue"] = missing(simulator["disk4"], "disk", 4, "async")
    found["base_forecast"] = missing(forecast["ssd2-sync"], "ssd", 2, simulated=False)
    return found


@dataclass
class Day:
    """One way to run the day: its parts one after another, as (begin, end, part), in seconds."""

    where: Layout
    segments: list[tuple[float, float, str]]
    printed: float | None  # what the report printed for the same, if it ran it

    @property
    def end(self) -> float:
        return self.segments[-1][1]

    @property
    def name(self) -> str:
        how = "" if self.where.device == "disk" else f", {_DRIVERS[self.where.driver]}"
        return f"{self.where.files} on {_DEVICES[self.where.device]}{how}"


def _mean(table: str, column: str, device: str) -> float:
    """Mean printed seconds of a column for the X-MP's forecasts on a device."""
    frame = tables.printed("xmp1982", table)
    here = (frame["location"].str.lower() == device) & ~frame["configuration"].str.startswith("cray1a")
    return float(frame[here][column].astype(float).mean())


def day(where: Layout) -> Day:
    """A forecast and its post-processing jobs after it."""
    printed = tables.printed("xmp1982", "fig4_1").set_index("configuration")["total_clock"].astype(float).to_dict()
    parts = list(_net_parts(where, constants()).items())
    parts.append(("write-up steps", _mean("fig4_2", "write_sum", where.device)))
    parts += int(facts()["jobs"]) * [("post-processing jobs", _mean("fig4_1", "pp_clock", where.device))]
    ends = list(itertools.accumulate(seconds for _, seconds in parts))
    begins = [0.0, *ends[:-1]]
    segments = list(zip(begins, ends, (name for name, _ in parts), strict=True))
    return Day(where, segments, printed.get(where.configuration))


@cache
def days() -> list[Day]:
    """Every device with the numbers of files and the drivers that are known for it."""
    fast = itertools.product(("ssd", "bmr"), (1, 2, 4), ("sync", "async", "overlapped"))
    kept = [Layout(*each) for each in fast if (each[0] == "ssd" or each[2] != "sync")
            and (each[2] != "overlapped" or each[1] == 1)]  # fmt: skip
    return [day(where) for where in (Layout("disk", 4, "async"), *kept)]


@figures.styled
def _still() -> "figures.Shown":
    from matplotlib.patches import Patch

    figure, axis = figures.axes(height=2.9)
    timed = sorted(((each.printed, each) for each in days() if each.printed), key=lambda pair: -pair[0])
    files, rest = (pale(figures.meaning(name)) for name in ("waiting", "serial"))
    for place, (printed, each) in enumerate(timed):
        for of_files, parts in itertools.groupby(each.segments, key=lambda segment: segment[2] in _OF_FILES):
            ends = [*parts]
            begin, end, colour = ends[0][0], ends[-1][1], files if of_files else rest
            (bar,) = axis.barh(place, (end - begin) / 60, left=begin / 60, height=0.7, **colour)
            figures.tells(bar, kind="calculated")
        diamond = figures.points(axis, printed / 60, place, label="the report", index=2, line=False)
    figures.rows(axis, [label(each.where.configuration) for _, each in timed])
    figures.at_right(axis, [f"{printed / 60:.1f} min" for printed, _ in timed])
    axis.set_xlabel("clock time of the forecast and its jobs [min]", loc="right")
    handles = [Patch(label="waiting for files", **files), diamond]
    handles.append(Patch(label="computing, write-up steps, jobs", **rest))
    axis.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    rows = [(each.name, *segment) for each in days() for segment in each.segments]
    return figures.show(
        figure,
        data=pd.DataFrame(rows, columns=["work files", "begins [s]", "ends [s]", "part"]),
        name="xmp1982_day",
        title=f"In 1982 a day's forecast and its jobs took {minutes('disk4'):.1f} minutes with files on disks, at best "
        f"{minutes(fastest()):.1f}",
        caption="The pale bars are a model; its six constants are from six printed times. It ends within "
        f"{off():.0f} % of the printed times (diamonds).",
        alt="Modelled clock time of a forecast and its post-processing jobs, by part, for the "
        f"{len(timed)} places of the work files that the report timed. Hollow diamonds are printed.",
        tables="fig4_1 fig4_2 fig4_4 fig5_1 fig5_2 fig7_2 sec3_1 prose",
    )


def gained() -> float:
    """By how much the day is shorter in its best place than with four files on disks, %."""
    ends = [each.end for each in days()]
    return 100 * (1 - min(ends) / ends[0])


def off() -> float:
    """How far the sums are from the printed ends at most, %."""
    return 100 * max(abs(each.end / each.printed - 1) for each in days() if each.printed)


def minutes(configuration: str) -> float:
    """Minutes that the forecast and its jobs took by the report."""
    return float(tables.load("xmp1982", "fig4_1")["total_clock"].sel(configuration=configuration)) / 60


def fastest() -> str:
    """The configuration in which the day ended first by the report."""
    return str(tables.load("xmp1982", "fig4_1")["total_clock"].to_series().idxmin())


def said() -> str:
    """How long the day took at home, on disks of the X-MP and in the best place."""
    cpu = tables.load("xmp1982", "fig4_1")["total_cpu"].to_series()
    home, disks, best = (minutes(name) for name in ("cray1a-disk4", "disk4", fastest()))
    sooner = 100 * (1 - best / disks)
    before, after = (cpu[name] / 60 for name in ("cray1a-disk4", "disk4"))
    assert before - after > (home - disks) / 2, "mostly by the faster CPU"
    assert fastest().startswith("ssd") and 7 < sooner < gained() < 14, "about a tenth"
    return (
        f"The day took {home:.0f} minutes on the Cray 1-A. On the X-MP with the files on disks it took {disks:.1f}, "
        f"mostly because CPU time fell from {before:.0f} to {after:.0f}. With the files on SSD it ended another "
        f"{sooner:.0f} % sooner at best."
    )


def steered() -> "figures.Shown":
    """The day: choose files, device and driver, and see it finish."""
    names = list(PARTS)
    data = {
        "parts": names,
        "partColours": [figures.meaning(name) if name else "#8490b4" for name in PARTS.values()],
        "devices": _DEVICES,
        "drivers": _DRIVERS,
        "days": [
            of(each.where, "device", "files", "driver")
            | {"name": each.name, "printed": each.printed}
            | {"segments": [(round(b, 2), round(e, 2), names.index(part)) for b, e, part in each.segments]}
            for each in days()
        ],
    }
    return figures.explorer("clock", data, still=_still())
