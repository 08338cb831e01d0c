"""Sentences of chapter 2 whose numbers come from the memo's tables and from committed runs."""

import numpy as np
import xarray as xr

from companion.chapters.aips58 import overhead
from companion.chapters.aips58.figures import marks
from companion.chapters.aips58.figures.live import WAY_NAMES, runs_frame
from companion.chapters.aips58.figures.studies import costs, together
from companion.figures.parts import cpu, of_samples, times
from companion.records.runs import single


def findings(ddt: xr.Dataset, load: xr.Dataset, moved: xr.Dataset) -> list[str]:
    """What the chapter finds, in sentences computed from the tables and from a run of the test with AIPS's habits."""
    found = overhead.model(ddt, load)
    gain = (ddt[["cpu", "real"]].sel(system="NRAO1") / ddt[["cpu", "real"]].sel(system="CLSC")).median()
    frame = runs_frame(moved)
    in_memory, as_aips = (together(moved, (frame["habits"] == number).to_numpy()) for number in (0, 1))
    spread = of_samples(in_memory[None], [""]).iloc[0]
    old = ddt["real"].sel(size=str(frame["size"].iloc[0]), problem=list(dict.fromkeys(frame["task"]))).sum("problem")
    return [
        f"The median gain of Toronto's X-MP over the Convex is {float(gain['cpu']):.1f} in CPU time and "
        f"{float(gain['real']):.1f} in real time.",
        f"Pittsburgh's files cost each task {float(found.overhead.min()):.0f} to {float(found.overhead.max()):.0f} s "
        "of CPU time in the small test. The same seconds predict the ratio of CPU times of both X-MPs in the larger "
        f"tests within {100 * overhead.error(overhead.table(ddt, found)):.0f} % (median).",
        f"All large problems took {float(old.sel(system='NRAO1')):.0f} s on the Convex, "
        f"{float(old.sel(system='CLSC')):.0f} s at Toronto, and {spread['middle']:.2f} s ({spread['low']:.2f} to "
        f"{spread['high']:.2f}) on {cpu(moved)} with files in memory. There they take "
        f"{times(as_aips, in_memory).times} as long when data go through scratch files and messages, as in AIPS.",
    ]


def gains(ddt: xr.Dataset, record: xr.Dataset) -> str:
    """How much the median problem gained over the Convex, in CPU and in real time, on an X-MP and in a run."""
    then = (ddt[["cpu", "real"]].sel(system="NRAO1") / ddt[["cpu", "real"]].sel(system="CLSC")).median()
    here = {kind: _gain(ddt, record, kind) for kind in ("cpu", "real")}
    more = np.median(np.nanmedian(here["real"], axis=1)) > np.median(np.nanmedian(here["cpu"], axis=1))
    return (
        f"At Toronto the median gain over the Convex was {float(then['cpu']):.1f} in CPU time and "
        f"{float(then['real']):.1f} in real time. On {cpu(record)} it is {marks.typical(here['cpu'])} in CPU time and "
        f"{marks.typical(here['real'])} in real time. "
        + ("Real time gains more here, because the tasks wait less." if more else "Real time gains less here, too.")
    )


def _gain(ddt: xr.Dataset, record: xr.Dataset, kind: str, size: str | None = None) -> np.ndarray:
    """The Convex's time over that of every run, (problems, rounds), of one size or of all that the memo has."""
    frame, rows = runs_frame(record), []
    for row in frame.index[frame["size"].isin([size] if size else ddt["size"].values)]:
        of = {"system": "NRAO1", "size": frame["size"][row], "problem": frame["task"][row]}
        rows.append(float(ddt[kind].sel(of)) / single(record)[f"observed_{kind}"].values[row])
    return np.array(rows)


def classes(ddt: xr.Dataset, kinds: xr.Dataset, record: xr.Dataset, size: str) -> str:
    """The gain in CPU time of problems that vectorise and of those that do not, then and now."""
    old = ddt["cpu"].sel(size=size)
    toronto = (old.sel(system="NRAO1") / old.sel(system="CLSC")).to_series()
    frame = runs_frame(record)
    tasks = frame["task"][frame["size"] == size].values
    vector = kinds["class"].sel(problem=tasks).values == "vector"
    here = _gain(ddt, record, "cpu", size)
    one, other = (marks.middles(here[of]) for of in (vector, ~vector))
    than = "less" if one[2] < other[1] else "more" if one[1] > other[2] else "not measurably more or less"
    return (
        f"They do not. At Toronto the median gain is {toronto[tasks[vector]].median():.1f} for those that vectorise "
        f"and {toronto[tasks[~vector]].median():.1f} for the others. The largest belongs to {toronto.idxmax()}, which "
        f"combines two images. On {cpu(record)} problems that vectorise gain {than} than the others: "
        f"{marks.typical(here[vector])} against {marks.typical(here[~vector])}."
    )


def computing(ddt: xr.Dataset, moved: xr.Dataset) -> str:
    """Which part of the real time is CPU time: on two systems as printed, and in a run with both habits."""
    together_ = ddt[["cpu", "real"]].sum("problem")
    busy = 100 * (together_["cpu"] / together_["real"]).sel(system=["NRAO1", "CLSC"])
    old = float((ddt["cpu"] / ddt["real"]).sel(size=str(runs_frame(moved)["size"].iloc[0]), system="CLSC").median())
    habits, share = runs_frame(moved)["habits"].values, marks.shares(moved)
    ends = [f"{float(row.min()):.0f} to {float(row.max()):.0f} %" for row in busy.transpose("system", ...)]
    return (
        f"Of the real time of a size, {ends[0]} was CPU time on the Convex and {ends[1]} at Toronto. Today the median "
        f"share of the large problems is {marks.typical(share[habits == 0])} with files in memory and "
        f"{marks.typical(share[habits == 1])} as AIPS; at Toronto it was {old:.2f}."
    )


def growth(ddt: xr.Dataset) -> str:
    """How the difference between both X-MPs and the CPU time itself grow from small to large problems, medians."""
    excess = (ddt["cpu"].sel(system="PSC") - ddt["cpu"].sel(system="CLSC")).median("problem")
    grown = [float(each.sel(size="large") / each.sel(size="small"))
             for each in (excess, ddt["cpu"].sel(system="CLSC").median("problem"))]  # fmt: skip
    return (
        f"From the small to the large problems the median difference grows by a factor of {grown[0]:.2f}, the median "
        f"CPU time at Toronto by a factor of {grown[1]:.1f}."
    )


def exceptions(ddt: xr.Dataset) -> str:
    """The extra seconds at Pittsburgh of the problem that pays the same at each size, and of the one that does not."""
    extra = ddt["cpu"].sel(system="PSC") - ddt["cpu"].sel(system="CLSC")
    shown = {name: ", ".join(f"{value:.0f}" for value in extra.sel(problem=name).values) for name in ("VTESS", "ASCAL")}
    return (
        f"In the small, medium and large test VTESS pays {shown['VTESS']} s, self-calibration (ASCAL) "
        f"{shown['ASCAL']} s."
    )


def messages(record: xr.Dataset) -> str:
    """CPU time of a message by how its file is reached, over that with a file that stays open, in memory."""
    frame, spent = runs_frame(record), single(record)["observed_cpu"].values
    place = frame["place"].iloc[0]
    rows = {way: frame.index[(frame["way"] == way) & (frame["place"] == place)][0] for way in WAY_NAMES}
    opened, late = (times(spent[rows[way]], spent[rows["kept"]]).times for way in ("reopened", "late"))
    return (
        f"In {place}, a message whose file is opened for it takes {opened} the CPU time of one whose file stays open. "
        f"Where the file answers late it takes {late}."
    )


def habits(record: xr.Dataset) -> str:
    """Which problems take measurably longer with AIPS's habits."""
    found = costs(record)
    longer = {task: each for task, each in found.items() if each.measurable and each.medians > 1}
    rest = [task for task, each in found.items() if not each.measurable]
    text = f"Of the {len(found)} problems {len(longer)} take measurably longer as AIPS"
    if longer:
        least, most = (pick(longer, key=lambda task: longer[task].medians) for pick in (min, max))
        text += f": {longer[least].times} as long ({least}) to {longer[most].times} ({most})"
    return text + "." + (f" No difference can be measured for {', '.join(rest)}." if rest else "")


def spread(record: xr.Dataset, limit: float) -> str:
    """How much the runs of problems alone differ, and how much of that the processor computed."""
    frame, record = runs_frame(record), single(record)
    alone = np.flatnonzero(frame["beside"] == 0)
    real, cpu_ = (record[f"observed_{kind}"].values[alone] for kind in ("real", "cpu"))
    ends = [(int(np.nanargmin(row)), int(np.nanargmax(row))) for row in real]
    share = [100 * (spent[last] - spent[first]) / (row[last] - row[first])
             for row, spent, (first, last) in zip(real, cpu_, ends, strict=True)]  # fmt: skip
    apart = 100 * frame["spread"].values[alone]
    named = ", ".join(f"{task} {value:.0f} %" for task, value in zip(frame["task"].values[alone], apart, strict=True))
    load = float(record["other_load"].values[alone].max())
    return (
        f"Alone, the runs here spread by {named}; those of the Convex by up to {limit:.0f} %. CPU time accounts for "
        f"{min(share):.0f} to {max(share):.0f} % of the difference between the fastest and the slowest run. "
        + ("So the processor itself took longer for the same work" if min(share) > 0 else "The rest was waiting")
        + f", while other programs kept at most {load:.2f} CPUs busy."
    )
