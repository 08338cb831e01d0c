"""Tables of chapter 2's smaller runs next to what the memo says: gather, load, stripes, memory, whole tests."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.bench.statistics import Ratio
from companion.chapters.aips58.figures import marks
from companion.chapters.aips58.figures.live import WAY_NAMES, named, runs_frame
from companion.figures.parts import cpu, run_title, times
from companion.figures.tabular import Table, table
from companion.records import runs
from companion.records.runs import single

#: Bytes of a word of the X-MP.
_WORD = 8


def gather(record: xr.Dataset, ddt: xr.Dataset, bare: xr.DataArray) -> pd.DataFrame:
    """CPU time of the CLEANs then and in a run, by form of gather.

    ``bare`` is the CPU time of Pittsburgh without the cost of its files.
    """
    here = runs_frame(record).pivot(index="task", columns="method", values="cpu")
    old = ddt["cpu"].sel(size="large", problem=list(here.index))
    software, hardware = (old.sel(system=system).values for system in ("CLSC", "PSC"))
    without = bare.sel(size="large", problem=list(here.index)).values
    frame = pd.DataFrame(
        {
            "problem": here.index,
            "CLSC, software": software,
            "PSC, hardware": hardware,
            "PSC without files": without,
            "software/hardware": software / without,
            "here, loop": here["scalar"].values,
            "here, instruction": here["gather"].values,
            "here, no list": here["blocks"].values,
            "loop/instruction": here["scalar"].values / here["gather"].values,
        }
    )
    frame.attrs["units"] = {name: "s" for name in frame.columns[1:] if "/" not in name}
    return frame


def loaded(record: xr.Dataset) -> pd.DataFrame:
    """Four problems alone and with other processes: times, C/R, spread in per cent, and what the load costs."""
    frame = runs_frame(record)
    rows = []
    for task, part in frame.groupby("task", sort=False):
        part = part.set_index("beside").sort_index()
        alone, beside = part.iloc[0], part.iloc[-1]
        rows.append(
            {
                "problem": task,
                "CPU alone": alone["cpu"],
                "real alone": alone["real"],
                "C/R alone": alone["cpu"] / alone["real"],
                "spread alone": 100 * alone["spread"],
                "CPU loaded": beside["cpu"],
                "real loaded": beside["real"],
                "C/R loaded": beside["cpu"] / beside["real"],
                "spread loaded": 100 * beside["spread"],
                "real, loaded/alone": beside["real"] / alone["real"],
            }
        )
    found = pd.DataFrame(rows)
    seconds = {f"{kind} {state}": "s" for kind in ("CPU", "real") for state in ("alone", "loaded")}
    found.attrs["units"] = seconds | {f"spread {state}": "%" for state in ("alone", "loaded")}
    return found


def stripes(record: xr.Dataset) -> pd.DataFrame:
    """MB/s by way and place, and over those of one file in the same place."""
    frame = runs_frame(record)
    one = frame[frame["way"] == "one"].set_index("place")
    for kind in ("write", "read"):
        frame[f"{kind}, over one file"] = frame[kind] / one[kind].reindex(frame["place"]).values
    frame["cold"] = np.where(frame["cold"] > 0, "yes", "no")
    frame.attrs["units"] = {"write": "MB/s", "read": "MB/s"}
    return frame.rename(columns={"way": "blocks", "cold": "read past the page cache"})


def messages(record: xr.Dataset) -> pd.DataFrame:
    """Microseconds of a message by how and where it is written."""
    frame = runs_frame(record)
    return pd.DataFrame(
        {
            "message file": frame["way"].map(WAY_NAMES),
            "place": frame["place"],
            "CPU time": 1e6 * frame["cpu"],
            "real time": 1e6 * frame["real"],
        }
    )


def loading(record: xr.Dataset) -> pd.DataFrame:
    """Milliseconds of loading by source, and in per cent how much the slowest run exceeds the fastest."""
    frame = runs_frame(record)
    found = frame[["task", "size", "source"]].rename(columns={"task": "problem"})
    found["CPU time"], found["real time"] = 1e3 * frame["cpu"], 1e3 * frame["real"]
    found["slowest real time"], found["spread"] = 1e3 * frame["slowest"], 100 * frame["spread"]
    found.attrs["units"] = dict.fromkeys(found.columns[3:6], "ms") | {"spread": "%"}
    return found


def ddtload(record: xr.Dataset) -> pd.DataFrame:
    """CPU and real time of RUN DDTLOAD by how its messages reach their file, and CPU over real."""
    frame = runs_frame(record)
    found = pd.DataFrame({"message file": frame["way"].map(WAY_NAMES)})
    found["CPU time"], found["real time"] = 1e3 * frame["cpu"], 1e3 * frame["real"]
    found["C/R"] = frame["cpu"] / frame["real"]
    found.attrs["units"] = {"CPU time": "ms", "real time": "ms"}
    return found


def habits(record: xr.Dataset, ddt: xr.Dataset) -> pd.DataFrame:
    """Problems with their data in memory and as AIPS moved them: medians of times and C/R, and C/R at Toronto."""
    frame = runs_frame(record).assign(share=np.nanmedian(marks.shares(record), axis=1))
    plain, aips = (frame[frame["habits"] == number].set_index("task") for number in (0, 1))
    size = str(frame["size"].iloc[0])
    old = ddt.sel(size=size if size in ddt["size"].values else "large", system="CLSC", problem=list(plain.index))
    found = pd.DataFrame(
        {
            "problem": plain.index,
            "messages": aips["messages"].values,
            "real, in memory": 1e3 * plain["real"].values,
            "real, as AIPS": 1e3 * aips["real"].values,
            "as AIPS/in memory": [_over(each) for each in costs(record).values()],
            "C/R, in memory": plain["share"].values,
            "C/R, as AIPS": aips["share"].values,
            "C/R, Toronto": (old["cpu"] / old["real"]).values,
        }
    )
    found.attrs["units"] = {"real, in memory": "ms", "real, as AIPS": "ms"}
    return found


def costs(record: xr.Dataset) -> dict[str, Ratio]:
    """Real time as AIPS over that in memory, by problem."""
    frame, real = runs_frame(record), single(record)["observed_real"].values
    rows = {task: [np.flatnonzero((frame["task"] == task) & (frame["habits"] == number))[0] for number in (1, 0)]
            for task in dict.fromkeys(frame["task"])}  # fmt: skip
    return {task: times(*(real[row] for row in pair)) for task, pair in rows.items()}


def _over(found: Ratio) -> str:
    ends = "" if found.interval is None else " ({:.3g} to {:.3g})".format(*found.interval)
    return f"{found.medians:.3g}{ends}"


def together(record: xr.Dataset, chosen: np.ndarray, kind: str = "real") -> np.ndarray:
    """Real or CPU seconds of the chosen cases added up, one value for each round that all of them had."""
    samples = single(record)[f"observed_{kind}"].values[chosen]
    return samples[:, ~np.isnan(samples).any(axis=0)].sum(axis=0)


def resources(record: xr.Dataset) -> pd.DataFrame:
    """Memory of every problem in words of the X-MP, by size, and threads."""
    frame = runs_frame(record)
    words = frame.assign(words=frame["memory"] / _WORD / 1e6).pivot(index="task", columns="size", values="words")
    order = [name for name in ("small", "medium", "large", "modern") if name in words]
    table = words.loc[list(dict.fromkeys(frame["task"])), order]
    threads = frame.groupby("task")["threads"].max()
    return table.assign(threads=threads).rename_axis("problem").reset_index()


def totals(ddt: xr.Dataset, record: xr.Dataset) -> pd.DataFrame:
    """Real time of all thirteen problems together, every system and the run, by size."""
    frame = runs_frame(record)
    rows = {}
    for size, part in frame.groupby("size", sort=False):
        if size in ddt["size"].values:
            old = ddt["real"].sel(size=size, problem=list(part["task"])).sum("problem").to_series()
            rows[size] = {**old.to_dict(), "here": part["real"].sum()}
    found = pd.DataFrame(rows).T.rename_axis("size").reset_index()
    found.attrs["units"] = dict.fromkeys(found.columns[1:], "s")
    return found


def shown(record: xr.Dataset | None, frame: pd.DataFrame | None, *, name: str, caption: str) -> Table:
    """``frame`` of a run as a table that names machine and day; a sentence where no run is committed.

    Columns and units that say ``here`` get the name of the processor.
    """
    if record is None or frame is None:
        text = f"No run of this kind is committed yet: {caption[0].lower()}{caption[1:]}."
        return Table(f"<p>{text}</p>", text)
    where = run_title(record).replace("\n", ", ")
    units = {column.replace("here", cpu(record)): unit for column, unit in frame.attrs.get("units", {}).items()}
    frame = named(frame, record)
    return table(frame, digits=3, index=False, name=name, units=units, caption=f"{caption}. {where}", run=record)


def kept(experiment: str, maker, *, name: str, caption: str) -> Table:
    """The committed run of an experiment as a table, ``maker(record)`` its frame."""
    record = runs.latest(experiment)
    frame = None if record is None else maker(record)
    return shown(record, frame, name=name, caption=caption)
