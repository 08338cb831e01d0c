"""What not overlapping costs: the report, paced devices, and a machine's own devices."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.xmp1982.figures.dots import Series, dots, middle, observed, spread_text
from companion.figures.beside import each_machine
from companion.figures.parts import of_samples, times
from companion.figures.rendering import Shown
from companion.figures.tabular import Table, table
from companion.labels import plural
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


@each_machine
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
        [Series("the report", then), series("today, paced", ~later, 0), series("today, own devices", later, 1)],
        record=record,
        name="xmp1982_overlap_rerun",
        then=then,
        middles=middles,
        items=pd.Series(middles[2:], list(own)),
    )


def device_costs(record: xr.Dataset) -> pd.DataFrame:
    """A machine's own devices: net times by way of overlapping, and what they are measured by, medians.

    ``hidden`` is what overlapping saves over what it could, the shorter of computing and transfers alone, round by
    round; ``hidden_low`` and ``hidden_high`` are the ends of its interval.
    """
    computing = observed(record, "label")["net"].sel(label="in memory").values
    memory, rows = float(np.nanmedian(computing)), []
    for device, cases in _by_way(record, "no").items():
        each = {way: cases["net"].sel(label=way).values for way in cases["label"].values}
        net = {way: float(np.nanmedian(values)) for way, values in each.items()}
        hidden = (each["none"] - each["both"]) / np.minimum(computing, each["alone"])
        spread = of_samples(hidden[None], [""]).iloc[0]
        rows.append(
            {
                "device": device,
                "transfers alone": net["alone"],
                "not overlapped": net["none"],
                "one at a time": net["one"],
                "both overlapped": net["both"],
                "overlapping saves": float(np.median(cost(cases))) / 100,
                "hidden": spread["middle"],
                "over in memory": net["both"] / memory - 1,
                "hidden_low": spread["low"],
                "hidden_high": spread["high"],
                "flagged": ", ".join(sorted(cases["label"].values[cases["flagged"].values])),
            }
        )
    frame = pd.DataFrame(rows)
    frame.insert(1, "computing alone", memory)
    return frame


def devices(record: xr.Dataset) -> Table:
    """The table of :func:`device_costs`."""
    frame = device_costs(record)
    ends = zip(*(frame.pop(name) for name in ("hidden", "hidden_low", "hidden_high")), strict=True)
    frame.insert(7, "hidden", ["{:.2f} ({:.2f} to {:.2f})".format(*each) for each in ends])
    if not frame["flagged"].any():
        frame = frame.drop(columns="flagged")
    units = dict.fromkeys(frame.columns[1:6], "s") | dict.fromkeys(frame.columns[6:9], "1")
    return table(frame, digits=3, name="xmp1982_devices", units=units, run=record)


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
    return table(pd.DataFrame(rows), name="xmp1982_paced", units={"net time": "s"}, run=record)


def _bounded(record: xr.Dataset) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Threads, seconds of an ordinary step of a state in memory, of copying its records, (threads, samples), flags."""
    cases, names = observed(record), single(record)["configuration"].values.astype(str)
    step, copy = (np.char.startswith(names, word) for word in ("memory", "copy"))
    flagged = np.stack([cases["flagged"].values[kind] for kind in (step, copy)])
    threads = [plural(int(count), "thread") for count in single(record)["copiers"].values]
    return threads, cases["normal_clock"].values[step], single(record)["seconds"].values[copy], flagged


def _ms(seconds: np.ndarray) -> np.ndarray:
    return 1e3 * np.nanmedian(seconds, axis=1)


@each_machine
def bounds(record: xr.Dataset) -> Shown:
    """Clock of an ordinary step of a state in memory, and of moving its records alone, by threads."""
    rows, step, copied, flagged = _bounded(record)
    return dots(
        rows,
        [
            Series("an ordinary step", 1e3 * step, host=True, flagged=flagged[0]),
            Series("its records copied once", 1e3 * copied, host=True, index=1, flagged=flagged[1]),
        ],
        record=record,
        name="xmp1982_bounds",
        items=pd.DataFrame({"row": rows, "step": _ms(step), "copied": _ms(copied)}),
    )


def threads_said(record: xr.Dataset) -> str:
    """What two threads gain in an ordinary step and in copying alone."""
    rows, step, copied, _ = _bounded(record)
    if len(rows) < 2:
        return "This run has one thread."
    return (
        f"One thread takes {times(*step[:2]).times} as long as two for an ordinary step, and "
        f"{times(*copied[:2]).times} as long for copying alone. Computing alone could gain a factor of two."
    )
