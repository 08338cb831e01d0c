"""What not overlapping costs: the report, paced devices, and a machine's own devices."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.xmp1982.figures.dots import Series, dots, middle, observed, spread_text
from companion.figures.parts import cpu
from companion.figures.rendering import Shown
from companion.figures.tabular import Table, table
from companion.labels import counted
from companion.records.runs import single


def _by_way(record: xr.Dataset, paced: str) -> dict[str, xr.Dataset]:
    """Of every device its cases along the way of overlapping."""
    cases = observed(record, "label")
    device, way, kind = (record[name].values.astype(str) for name in ("device", "overlap", "paced"))
    found = {}
    for name in dict.fromkeys(device[(kind == paced) & (device != "none")]):
        of = (device == name) & (kind == paced)
        found[name] = cases.isel(label=of).assign_coords(label=way[of])
    return found


def cost(cases: xr.Dataset, best: str = "both") -> np.ndarray:
    """Percent of the net time without overlap that overlapping saves, sample by sample."""
    slow, fast = cases["net"].sel(label="none").values, cases["net"].sel(label=best).values
    return 100 * (slow - np.nanmedian(fast)) / slow


def savings(facts: xr.Dataset, record: xr.Dataset) -> Shown:
    """Section 4.6: what overlapping saves by the report, on devices paced to its balance, and on a machine's own."""
    paced, own = _by_way(record, "yes"), _by_way(record, "no")
    cases = [paced["SSD"], paced["BMR"], *own.values()]
    rows = ["SSD", "buffer memory", *own]
    here = np.stack([cost(each) for each in cases])
    flagged = np.array([bool(each["flagged"].any()) for each in cases])
    then, later = np.full(len(rows), np.nan), np.arange(len(rows)) >= len(paced)
    then[:2] = [float(facts["cost_ssd"]), float(facts["cost_bmr"])]
    middles = np.nanmedian(here, axis=1)

    def series(text: str, which: np.ndarray, index: int) -> Series:
        return Series(text, np.where(which[:, None], here, np.nan), host=True, index=index, flagged=flagged & which)

    return dots(
        rows,
        [
            Series("the report", then),
            series("today, paced", ~later, 0),
            series("today, own devices", later, 1),
        ],
        "share of the net time that overlapping saves [%]",
        record=record,
        log=False,
        name="xmp1982_overlap_rerun",
        title="What overlapping saves, at the balance of 1982 and of today",
        alt="Share of the net time that overlapping saves: "
        f"SSD {then[0]:g} % in the report and {middles[0]:.2g} % on a paced device, buffer memory {then[1]:g} % and "
        f"{middles[1]:.2g} %; "
        + ", ".join(f"{name} {value:.2g} %" for name, value in zip(own, middles[2:], strict=True))
        + ".",
    )


def device_costs(record: xr.Dataset) -> pd.DataFrame:
    """A machine's own devices: net times by way of overlapping, and what they are measured by, medians.

    ``hidden`` is what overlapping saves over what it could, the shorter of computing and transfers alone.
    """
    memory = float(middle(observed(record, "label")["net"]).sel(label="in memory"))
    rows = []
    for device, cases in _by_way(record, "no").items():
        net = {way: float(middle(cases["net"]).sel(label=way)) for way in cases["label"].values}
        rows.append(
            {
                "device": device,
                "transfers alone": net["alone"],
                "not overlapped": net["none"],
                "one at a time": net["one"],
                "both overlapped": net["both"],
                "overlapping saves": float(np.median(cost(cases))) / 100,
                "hidden": (net["none"] - net["both"]) / min(memory, net["alone"]),
                "over in memory": net["both"] / memory - 1,
                "flagged": ", ".join(sorted(cases["label"].values[cases["flagged"].values])),
            }
        )
    frame = pd.DataFrame(rows)
    frame.insert(1, "computing alone", memory)
    return frame


def devices(record: xr.Dataset) -> Table:
    """The table of :func:`device_costs`."""
    frame = device_costs(record)
    if not frame["flagged"].any():
        frame = frame.drop(columns="flagged")
    units = dict.fromkeys(frame.columns[1:6], "s") | dict.fromkeys(frame.columns[6:9], "1")
    caption = f"Overlapping on the devices of {cpu(record)}: net times, medians, and how much of the possible is met"
    return table(frame, digits=3, name="xmp1982_devices", units=units, caption=caption, run=record)


def paced_table(record: xr.Dataset) -> Table:
    """Net times on paced devices with their spread."""
    rows = []
    for device, cases in _by_way(record, "yes").items():
        for way in cases["label"].values:
            case = cases.sel(label=way)
            rows.append(
                {
                    "paced as": device,
                    "overlap": way,
                    "net time": spread_text(case["net"].values),
                    "bytes overlapped": f"{float(middle(case['overlapped'])):.0%}",
                    "flagged": "yes" if bool(case["flagged"]) else "",
                }
            )
    frame = pd.DataFrame(rows)
    caption = (
        f"Paced devices on {cpu(record)}: net time, median and range of samples, and the share of bytes that overlapped"
    )
    return table(frame, name="xmp1982_paced", units={"net time": "s"}, caption=caption, run=record)


def _bounded(record: xr.Dataset) -> tuple[list[int], xr.Dataset, np.ndarray]:
    """Threads, their cases with the state in memory, and seconds in which as many copy the records of a step."""
    cases = observed(record)
    threads = [int(count) for count in single(record)["copiers"].values]
    kept = [str(name).partition(",")[0] == "memory" for name in cases["configuration"].values]
    return threads, cases.isel(configuration=kept), single(record)["memory_bound"].values


def bounds(record: xr.Dataset) -> Shown:
    """Clock of an ordinary step of a state in memory, and of moving its records alone, by threads."""
    threads, cases, copied = _bounded(record)
    step = 1e3 * cases["normal_clock"].values
    rows = [counted(count, "thread") for count in threads]
    middles = np.nanmedian(step, axis=1)
    return dots(
        rows,
        [
            Series("an ordinary step", step, host=True, flagged=cases["flagged"].values),
            Series("its records copied once, best of nine", 1e3 * copied, index=1),
        ],
        "clock time [ms]",
        record=record,
        log=False,
        name="xmp1982_bounds",
        title="An ordinary step and the copying of its records",
        alt="Times of an ordinary step of a state in memory and of copying its records with nothing computed. "
        + "; ".join(
            f"{row}: a step {middle:.2g} ms, its records copied {1e3 * copy:.2g} ms"
            for row, middle, copy in zip(rows, middles, copied, strict=True)
        )
        + ".",
    )


def thread_gains(record: xr.Dataset) -> list[float]:
    """What two threads gain in an ordinary step, by medians, and in copying alone."""
    threads, cases, copied = _bounded(record)
    if len(threads) < 2:
        return [1.0, 1.0]
    first, second = (float(np.nanmedian(cases["normal_clock"].isel(configuration=n))) for n in (0, 1))
    return [first / second, float(copied[0] / copied[1])]
