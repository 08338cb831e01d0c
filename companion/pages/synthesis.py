"""What only the five reports together show: one quantity at a time, old machines and measured ones on one axis.

Each function of :data:`QUANTITIES` gives a frame with one point a row: ``machine`` with its full name, ``what`` was
measured on it, ``year``, ``value``, ``kind`` (``"report"`` or ``"run"``), ``source``, the address of the printed table
or of the run record, ``bound``, ``"<"`` or ``">"`` where the value is one, ``group``, the kind of work under which a
figure draws it, and ``order``, that of its machine among those drawn (-1: the reader's own).  The value of a run is a
median; ``low`` and ``high`` are its spread as :mod:`companion.figures.parts` has it, and ``flagged`` says whether it is
doubtful.  Only like is compared with like; what differs is in ``what``.
"""

import csv
import re
from collections.abc import Callable
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from companion import tables
from companion.claims.formulas import Turn
from companion.claims.sheets import Reader
from companion.drawn import anchor
from companion.figures.parts import (
    MARKED,
    bars,
    case_intervals,
    converted,
    cpu,
    legend,
    log_axis,
    of_samples,
    points,
    printed_ranges,
    quotient,
)
from companion.figures.rendering import Shown, csv_link, show
from companion.figures.style import VARIANTS, axes
from companion.figures.tabular import Table, significant
from companion.items import page
from companion.labels import plural
from companion.pages.data import cells, framed, numbers
from companion.records import runs

_COLUMNS = "machine what year value low high flagged kind source bound group order".split()
DAY = 24  # hours of the forecast
_MEGA, _GIGA, _GIB = 1e6, 1e9, 2**30
_WORD = 8  # bytes
#: Bytes for each operation of the streaming loop of 2006: an item of 8 bytes, a multiplication and an addition.
STREAMED = _WORD / 2
#: Experiments that measure the peak of their machine, of multiply-adds in registers.
_PEAKS = ("xc30-transforms", "xc30-routines", "xc30-forecast")


def year(document: str) -> int:
    """Year of a document, the last number of four digits in its citation."""
    return int(re.findall(r"\b(?:19|20)\d\d\b", tables.citation(document))[-1])


def full_name(machine: str) -> str:
    """``power5plus`` -> ``IBM p575 (Power5+)``."""
    return str(tables.machines()["name"].sel(machine=machine).values)


def _stated(machine: str, fact: str) -> float:
    return float(tables.machines()[fact].sel(machine=machine))


def printed(place: str, machine: str, what: str, value: float, bound: str = "", group: str = "") -> dict:
    """A point of a report, or a bound that it gives, with the address of its table on the record.

    ``place`` is ``"document/table"``, ``machine`` a name of ``data/machines``.
    """
    document, table = place.split("/")
    source = f"../book/records/{page(document)}.html#{anchor(document, table)}"
    point = {"machine": full_name(machine), "what": what, "year": year(document), "value": float(value)}
    return point | {"flagged": False, "kind": "report", "source": source, "bound": bound, "group": group}


def stated(quantity: str) -> list[dict]:
    """Points that reports print, from ``points.csv``: place, machine, what it is, and the formula of its number.

    Formulas and words are those of claims (:mod:`companion.claims.formulas`).
    """
    rows = []
    for line in csv.DictReader(Path(__file__).with_name("points.csv").read_text(encoding="utf-8").splitlines()):
        if line["quantity"] == quantity:
            words = Turn(Reader(line["place"].partition("/")[0]))
            what, value = words.sentence(line["what"]), words.value(line["value"])
            rows.append(printed(line["place"], line["machine"], what, value.mid, line["bound"], line["group"]))
    return rows


def measured(run, what: str, found: pd.DataFrame, group: str = "") -> dict:
    """A point of a run, named by its machine, with the address of its record.

    ``found`` has the quantity in its one row, as :func:`companion.figures.parts.intervals` gives it.
    """
    (spread,) = found.itertuples()
    about = run.attrs
    return {
        "machine": cpu(run),
        "what": what if about["preset"] == "paper" else f"{what}, {about['preset']}",
        "year": int(about["date"][:4]),
        "value": float(spread.middle),
        "low": float(spread.low),
        "high": float(spread.high),
        "flagged": bool(spread.flagged),
        "kind": "run",
        "source": about["file"] if "own" in about else f"../_static/runs/{about['file']}",
        "bound": "",
        "group": group,
        "order": about["place"],
    }


def _frame(unit: str, rows: list[dict], **again: Callable[[xr.Dataset], list[dict]]) -> pd.DataFrame:
    """Points with their unit: ``rows``, and what functions give of the newest run of an experiment on each machine.

    The name of a function is that of its experiment, with an underscore for the hyphen.
    """
    rows = rows + [row for name, of in again.items() for run in runs.each(name.replace("_", "-")) for row in of(run)]
    frame = pd.DataFrame(rows, columns=_COLUMNS).fillna({"bound": "", "group": ""})
    frame.attrs["units"] = {"value": unit}
    return frame


def _rate(run, chosen) -> pd.DataFrame:
    """Operations a second of the chosen case of a run, all threads together, with its spread."""
    (row,) = np.flatnonzero(np.asarray(chosen))
    flops = float(run["flops"].values[row])
    return converted(case_intervals(run).loc[[row]], lambda seconds: flops / seconds)


def _percent(above: pd.DataFrame, below: pd.DataFrame) -> pd.DataFrame:
    return converted(quotient(above, below), lambda share: 100 * share)


def _spread(points: list[dict]) -> pd.DataFrame:
    """The first of some measured points as :func:`companion.figures.parts.quotient` takes it."""
    return pd.DataFrame(points[:1]).rename(columns={"value": "middle"})


def peak_on(machine: str) -> tuple | None:
    """The run of a machine that found its highest peak, by the most threads: it, threads, and flop/s with spread."""
    kept = [run for id in _PEAKS for run in (*runs.committed(id), *runs.own(id)) if cpu(run) == machine]
    if not kept:
        return None
    threads = max(int(run["threads"].values.max()) for run in kept)
    kept = [run for run in kept if run["threads"].values.max() == threads]
    peaks = [_rate(run, (run["what"].values == "peak") & (run["threads"].values == threads)) for run in kept]
    best = max(range(len(kept)), key=lambda number: peaks[number]["middle"].item())
    return kept[best], threads, peaks[best]


def file_rates() -> pd.DataFrame:
    """MB/s (10^6 bytes) of one program to its files; of today, of the same programs."""
    return _frame("MB/s", stated("files"), xmp1982_devices=_devices, nht1_io=_solution_files)


def _devices(run) -> list[dict]:
    clock = of_samples(run["observed_clock"].values, run["flags"].values)
    found = converted(clock, lambda seconds: _WORD * run["mwords"].values / seconds)
    tests = list(run["test"].values.astype(str))
    named = (("disk", "a disk, O_DIRECT"), ("ssd", "memory"))
    return [measured(run, what, found.iloc[[tests.index(test)]]) for test, what in named]


def _largest(run, way: str) -> np.ndarray:
    """The case that writes one way, of the largest size and there of the most threads."""
    size, threads, chosen = run["N"].values, run["threads"].values, run["way"].values == way
    chosen = chosen & (size == size.max())
    return np.flatnonzero(chosen & (threads == threads[chosen].max()))


def _solution_files(run) -> list[dict]:
    arrays = run.isel(case=_largest(run, "one array a write"))
    nbytes = float(arrays["solution_bytes"][0])
    found = of_samples(arrays["observed_transferring"].values, arrays["flags"].values)
    return [measured(run, "a solution file, page cache", converted(found, lambda each: nbytes / _MEGA / each))]


def file_per_flop() -> pd.DataFrame:
    """Bytes to one file for each flop at the peak of the machine, where both are known."""
    rates, rows = file_rates(), []
    for machine, place, what in (
        ("cray_ymp", "nht1/systems", "a file"),
        ("cray_xc30", "xc30/hres_io", "one of 120 files"),
    ):
        one = rates[(rates["machine"] == full_name(machine)) & (rates["what"] == what)].iloc[0]
        balance = _MEGA * one["value"] / (_GIGA * _stated(machine, "peak"))
        rows.append(printed(place, machine, f"{what}, peak of the machine", balance, one["bound"]))

    def today(run) -> list[dict]:
        _, threads, peak = peak_on(cpu(run)) or (None, 0, None)
        if peak is None:
            return []
        found = converted(quotient(_spread(_devices(run)), peak), lambda each: _MEGA * each)
        return [measured(run, f"a disk, O_DIRECT, peak of {plural(threads, 'thread')}", found)]

    return _frame("B to a file for each flop at peak", rows, xmp1982_devices=today)


def memory_per_flop() -> pd.DataFrame:
    """Bytes of main memory, counted in powers of two, for each flop/s of peak; of a run, for each of measured peak.

    The report of 2006 prints no peak: it follows from GFLOPS and the share of peak of one job.
    """
    words = float(tables.load("nht1", "systems")["memory_words"].sel(system="Y-MP")) * 2**20
    balance = _WORD * words / (_GIGA * _stated("cray_ymp", "peak"))
    rows = [printed("nht1/systems", "cray_ymp", "memory of the machine", balance)]
    for place, name, peak in (
        ("p5plus/p4_p5", "power4plus", _stated("power4plus", "cpus_per_node") * _peak_2006("P4+")),
        ("p5plus/p4_p5", "power5plus", _stated("power5plus", "cpus_per_node") * _peak_2006("P5+")),
        ("xc30/machines", "power7", _stated("power7", "peak") / _stated("power7", "nodes")),
        ("xc30/machines", "cray_xc30", _stated("cray_xc30", "peak") / _stated("cray_xc30", "nodes")),
    ):
        memory = _stated(name, "memory_per_node") / 1000 * _GIB  # its megabytes are thousandths of 2^30 bytes
        rows.append(printed(place, name, "memory of a node", memory / (_GIGA * peak)))

    def today(latest) -> list[dict]:
        run, threads, peak = peak_on(cpu(latest)) or (None, 0, None)
        if run is None:
            return []
        found = converted(peak, lambda rate: run.attrs["memory"] / rate)
        return [measured(run, f"all memory, peak of {plural(threads, 'thread')}", found)]

    return _frame("B for each flop/s of peak", rows, xc30_transforms=today)


def _peak_2006(system: str) -> float:
    """GFLOPS of one processor of 2006, from the rate of a job and its share of peak."""
    job = tables.printed("p5plus", "p4_p5").set_index("system").loc[system]
    return float(job["gflops"] / (job["peak_percent"] / 100) / job["cpus"])


def streamed() -> pd.DataFrame:
    """GB/s that one processor reads in the streaming loop of 2006, with one thread and with two."""
    node = tables.printed("p5plus", "smt_benefit").set_index("loop").loc["streaming"]
    modes = {"gflops_no_smt": "streaming loop", "gflops_smt": "streaming loop, two threads"}
    each = STREAMED / _stated("power5plus", "cpus_per_node")
    rows = [printed("p5plus/smt_benefit", "power5plus", what, node[mode] * each) for mode, what in modes.items()]
    return _frame("GB/s that one processor reads", rows, p5plus_smt=_streamed)


def _loop(run, name: str) -> pd.DataFrame:
    return _rate(run, (run["loop"].values.astype(str) == name) & (run["streams"].values.astype(str) == "1"))


def _streamed(run) -> list[dict]:
    found = converted(_loop(run, "streaming"), lambda rate: rate * STREAMED / _GIGA)
    return [measured(run, "streaming loop", found)]


def read_per_flop() -> pd.DataFrame:
    """Bytes that one processor reads in the streaming loop in the time of one flop at its peak.

    The peak of a Power5+ follows from a job's share of it; that of a measured machine is of one of its threads.
    """
    old = streamed().query("kind == 'report'")
    rows = [
        printed("p5plus/smt_benefit", "power5plus", row.what, row.value / _peak_2006("P5+")) for row in old.itertuples()
    ]

    def today(run) -> list[dict]:
        _, threads, peak = peak_on(cpu(run)) or (None, 0, None)
        if peak is None:
            return []
        found = converted(quotient(_spread(_streamed(run)), peak), lambda ratio: _GIGA * threads * ratio)
        return [measured(run, f"streaming loop, peak of {plural(threads, 'thread')}", found)]

    return _frame("B for each flop at peak", rows, p5plus_smt=today)


def memory_balance() -> pd.DataFrame:
    """Both balances of memory, as rows of one figure: what it holds, and what a processor reads from it."""
    read = read_per_flop()
    frame = pd.concat([memory_per_flop(), read.assign(what="reads, " + read["what"])], ignore_index=True)
    frame.attrs["units"] = {"value": "bytes for each flop/s of peak, or read for each flop"}
    return frame


#: Kinds of jobs whose share of the clock reports print, as rows of a figure.
_FORECAST, _IMAGING = "forecast on work files, 1982", "radio imaging, large problem, 1989"
_WRITING = "flow solver that writes, 1993"


def computing() -> pd.DataFrame:
    """Share [%] of the clock in which a job computes: CPU over clock, or computing over elapsed time."""
    unit = "% of the elapsed time"
    return _frame(unit, stated("computing"), xmp1982_forecast=_forecast, aips58_ddt=_imaging, nht1_io=_writing)


def _forecast(run) -> list[dict]:
    """The forecast computes while its computing thread does not wait for records."""
    on_disk = run["configuration"].values.astype(str) == "disk4"
    waiting, clock = (run[f"observed_{name}"].values[on_disk] for name in ("waiting", "forecast"))
    found = of_samples(100 * (1 - waiting / clock), run["flags"].values[on_disk])
    return [measured(run, "forecast, disks", found, _FORECAST)]


def _imaging(run) -> list[dict]:
    large = run["size"].values.astype(str) == "large"
    spent, real = (run[f"observed_{name}"].values[large].sum(axis=0) for name in ("cpu", "real"))
    flags = "; ".join(filter(None, run["flags"].values[large].astype(str)))
    return [measured(run, "imaging, large problem", of_samples([100 * spent / real], [flags]), _IMAGING)]


def _writing(run) -> list[dict]:
    rows, alone = [], case_intervals(run).loc[_largest(run, "none")]
    for way in ("one array a write", "40-byte elements"):
        row = _largest(run, way)
        elapsed = of_samples(run["observed_T_T"].values[row], run["flags"].values[row])
        rows.append(measured(run, f"flow solver that writes, {way}", _percent(alone, elapsed), _WRITING))
    return rows


#: Loops of chapter 4 by what they ask of a processor: the report's row, the run's name, the kind of work.
LOOPS = (
    ("10 accumulators", "s10", "additions in registers"),
    ("streaming", "streaming", "streams from memory"),
    ("skipping", "skipping", "strided access to memory"),
)


def sustained_rate() -> pd.DataFrame:
    """GFLOPS of one processor (today: of one thread) by kind of work: loops, then whole programs."""
    node, rows = tables.printed("p5plus", "smt_benefit").set_index("loop")["gflops_no_smt"], []
    for loop, name, kind in LOOPS:
        rate = node[loop] / _stated("power5plus", "cpus_per_node")
        rows.append(printed("p5plus/smt_benefit", "power5plus", kind, rate, group=kind))
        for run in runs.each("p5plus-smt"):
            rows.append(measured(run, kind, converted(_loop(run, name), lambda rate: rate / _GIGA), kind))
    return _frame("GFLOPS of one processor", rows + stated("rate"), nht1_io=_solver)


def _solver(run) -> list[dict]:
    labels = run["label"].values.astype(str)
    last = [n for n, text in enumerate(labels) if "without writing" in text and "1 thread" in text][-1]
    found = converted(_rate(run, np.arange(labels.size) == last), lambda rate: rate / _GIGA)
    return [measured(run, f"BT, {labels[last].partition(',')[0]}", found, "BT, a flow solver, on vectors")]


def share_of_peak() -> pd.DataFrame:
    """Share of peak [%] that whole forecasts sustained; of some runs, that of spectral transforms alone."""

    def forecast(run) -> list[dict]:
        share = _percent(*(_rate(run, run["what"].values == what) for what in ("forecast", "peak")))
        return [measured(run, f"forecast of one layer, {plural(run['threads'].values[0], 'thread')}", share)]

    def transforms(run) -> list[dict]:
        one, what = run["threads"].values == 1, run["what"].values
        rates = np.where(one & (what == "transforms"), (run["flops"] / run["median"]).values, 0.0)
        share = _percent(_rate(run, rates == rates.max()), _rate(run, one & (what == "peak")))
        return [measured(run, "spectral transforms, 1 thread", share)]

    return _frame("% of peak", stated("peak"), xc30_forecast=forecast, xc30_transforms=transforms)


def forecast_hour() -> pd.DataFrame:
    """Seconds of the clock for one hour of forecast, with the model of its time."""

    def again(run) -> list[dict]:
        """The forecast of 1982 with its post-processing, files on disk."""
        on_disk = run["configuration"].values.astype(str) == "disk4"
        found = of_samples(run["observed_complete"].values[on_disk], run["flags"].values[on_disk])
        size = "of the size of 1982" if run.attrs["preset"] == "paper" else "as of 1982, smaller,"
        what = f"forecast {size} with its jobs, files on disk"
        return [measured(run, what, converted(found, lambda seconds: seconds / DAY))]

    def one_layer(run) -> list[dict]:
        """One layer of a forecast of 2014."""
        (row,) = np.flatnonzero(run["what"].values == "forecast")
        hours, case = DAY * float(run["days"].values[row]), run.isel(case=row)
        what = f"one layer at truncation {int(case['truncation'])} on {plural(int(case['threads']), 'thread')}"
        return [measured(run, what, converted(case_intervals(run).loc[[row]], lambda seconds: seconds / hours))]

    return _frame("s for an hour of forecast", stated("hour"), xmp1982_forecast=again, xc30_forecast=one_layer)


#: Quantities: what a reader calls them, where their points come from, and whether their axis is logarithmic.
QUANTITIES: dict[str, tuple[str, Callable[[], pd.DataFrame], bool]] = {
    "files": ("rate of one program to its files", file_rates, True),
    "file-balance": ("rate of a file for each flop at peak", file_per_flop, True),
    "memory": ("main memory for each flop/s of peak", memory_per_flop, True),
    "bandwidth": ("memory bandwidth of one processor", streamed, True),
    "bandwidth-balance": ("memory read by one processor for each flop at peak", read_per_flop, True),
    "computing": ("share of the elapsed time in which a job computes", computing, False),
    "rate": ("rate that one processor sustains", sustained_rate, True),
    "peak": ("share of peak that was sustained", share_of_peak, False),
    "hour": ("time for an hour of forecast", forecast_hour, True),
}


def every() -> dict[str, pd.DataFrame]:
    """Every quantity's points, by its name."""
    return {key: make() for key, (_, make, _) in QUANTITIES.items()}


def labels(frame: pd.DataFrame) -> list[str]:
    """Year, machine and what was measured, of every point."""
    return [f"{row.year} {row.machine}: {row.what}" for row in frame.itertuples()]


def of_first(frame: pd.DataFrame) -> pd.DataFrame:
    """Points of reports, and of each kind of run those of the first machine that has it, of which sentences speak."""
    return frame[(frame["kind"] == "report") | (frame["order"] == frame.groupby("what")["order"].transform("min"))]


def said(frame: pd.DataFrame) -> str:
    """Points in words, for who cannot see the figure: all of reports, and of runs the first machine's.

    So the text, which notebooks store, stays as it is when the book gets records of one more machine.
    """
    words = {"": "", "<": "below ", ">": "above "}
    chosen = of_first(frame)
    triples = zip(labels(chosen), chosen["bound"], chosen["value"], strict=True)
    found = "; ".join(f"{label} {words[bound]}{significant(value, 3)}" for label, bound, value in triples)
    more = ". Points of further machines, where there are any, are in the data"
    return found + more * bool((frame["kind"] == "run").any())


def kinds(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Numbers that reports print, bounds that they give, and what was measured."""
    report, bound = frame["kind"] == "report", frame["bound"] != ""
    return frame[report & ~bound], frame[report & bound], frame[~report]


def _marks(axis, frame: pd.DataFrame, place: str, across: bool) -> None:
    """All points: hollow for a report, filled with their spread for a run, stars for the reader's own.

    A machine has one colour in all figures.  ``across``: values run along x, and machines of one row lie apart.
    """
    old, bounds, new = kinds(frame)
    x, y = ("value", place) if across else (place, "value")
    if len(old):
        points(axis, old[x], old[y], label="printed in a report", line=False)
    low, high = (bounds["value"].where(bounds["bound"] == sign) for sign in "><")
    printed_ranges(axis, bounds[place], low, high, across=across)
    orders = sorted(new["order"].unique())
    for number, order in enumerate(orders):
        part = new[new["order"] == order].rename(columns={"value": "middle"})
        moved = 0.11 * (number - (len(orders) - 1) / 2) if across else 0
        label, colour = part["machine"].iloc[0], VARIANTS[int(order) % len(VARIANTS)]
        drawn = bars(axis, part[place] + moved, part, label=label, line=False, across=across, colour=colour)
        if order < 0:
            drawn.set(marker="*", markersize=13, zorder=3)


def dots(frame: pd.DataFrame, *, title: str, seen: str, name: str, log: bool = False) -> Shown:
    """A row for each kind of work, or each point; ``seen`` is what to see."""
    unit = frame.attrs["units"]["value"]
    rows = [row.group or (f"now: {row.what}" if row.kind == "run" else label)
            for row, label in zip(frame.itertuples(), labels(frame), strict=True)]  # fmt: skip
    names = list(dict.fromkeys(rows))
    figure, axis = axes(height=1.25 + 0.42 * len(names))
    _marks(axis, frame.assign(place=np.array([names.index(row) for row in rows]) + 0.2), "place", across=True)
    for row, text in enumerate(names):
        axis.text(0.01, row - 0.22, text, transform=axis.get_yaxis_transform(), size=9, va="center")
    axis.set_yticks(np.arange(len(names)) + 0.2, [""] * len(names))
    axis.set_ylim(len(names) - 0.4, -0.6)
    if log:
        log_axis(axis, "x")
        axis.set_xlim(frame["value"].min() / 2, frame["value"].max() * 2)
    else:
        axis.set_xlim(0, 1.1 * frame["value"].max())
    axis.set_xlabel(unit)
    legend(axis, "above 2")
    alt = f"{title}, in {unit}. {said(frame)}."
    caption = " ".join(filter(None, [seen, MARKED if (frame["kind"] == "run").any() else ""]))
    return show(figure, alt=alt, title=title, caption=caption, data=frame.drop(columns="order"), name=name)


def _spaced(values: np.ndarray, least: float) -> np.ndarray:
    """Places of labels on a logarithmic axis, in powers of ten, moved up until they are ``least`` apart."""
    placed, order = np.log10(values), np.argsort(values)
    for before, after in zip(order, order[1:], strict=False):
        placed[after] = max(placed[after], placed[before] + least)
    return placed


#: Machines as the labels of a figure with little room name them.
_SHORT = {"Cray X-MP (prototype)": "Cray X-MP", "Thinking Machines CM-2": "CM-2", "Cray Y-MP 8/256": "Cray Y-MP",
         "Intel iPSC/860": "iPSC/860"}  # fmt: skip


def files_through_time() -> Shown:
    """What a program could write or read a second, from 1982 to today: the figure that opens the book."""
    frame = file_rates()
    figure, axis = axes(height=4.4)
    _marks(axis, frame, "year", across=False)
    bounds = frame.loc[frame["bound"] != "", "value"]
    first = (frame["kind"] == "report") | ~frame["what"].duplicated()  # of a second machine the mark alone
    for year, part in frame[first].groupby("year"):
        right, below = year < 2000, 2000 < year < 2020  # a bound of 2014, whose label needs the width
        for row, height in zip(part.itertuples(), 10 ** _spaced(part["value"].to_numpy(), 0.2), strict=True):
            what = row.what if row.kind == "run" else f"{_SHORT.get(row.machine, row.machine)}, {row.what}"
            least = "≥ " if row.bound == ">" else ""
            beside = row.kind == "run" and bounds.between(row.value / 3, row.value).any()  # a bound's arrow
            up = -12 if below else 9 if beside else -9 if row.value == frame["value"].min() else 0
            axis.annotate(
                f"{what} {least}{significant(row.value, 3)}", (2028 if below else year, height),
                xytext=(7 if right else -2 if below else -7, up),
                textcoords="offset points", ha="left" if right else "right", va="center", size=8,
            )  # fmt: skip
    axis.set(xlim=(1977, 2032), xticks=range(1980, 2030, 10))
    axis.set_ylim(frame["value"].min() / 2, frame["value"].max() * 2.5)
    log_axis(axis, "y")
    axis.set(xlabel="year", ylabel="MB/s")
    legend(axis, "above 2")
    return show(
        figure,
        data=frame.drop(columns="order"),
        name="file_rates",
        title="Forty years of reading and writing",
        caption="Rates at which one program reads or writes its files, in MB/s. Hollow: printed in the reports of "
        "1982, 1993 and 2014, as measured unless it says peak; the arrow marks a lower bound. Filled: stored runs on "
        f"machines of today. {MARKED}",
        alt=f"Rates of files in MB/s by year, on a logarithmic axis. {said(frame)}.",
    )


#: Documents on which each of the findings rests.
_RESTS_ON = (("xmp1982", "nht1", "xc30"), ("nht1", "p5plus", "xc30"), ("xmp1982", "aips58"))


def opened() -> Shown:
    """The findings as a list, each with links to its chapters, for the front page."""
    rows = []
    for finding, documents in zip(findings(), _RESTS_ON, strict=True):
        links = (f'<a href="../notebooks/{page(each)}.html">chapter {int(page(each)[:2])}</a>' for each in documents)
        rows.append(f"<li>{escape(finding)} ({', '.join(links)})</li>")
    text = "\n".join(f"- {finding}" for finding in findings())
    return Shown(f'<ul class="rerun-findings">{"".join(rows)}</ul>', text)


def findings() -> list[str]:
    """What files, memory and computing show, a sentence each."""
    files, memory, busy = of_first(file_rates()), memory_per_flop()["value"], computing()

    def rate(machine: str, what: str) -> float:
        return files.loc[(files["machine"] == full_name(machine)) & (files["what"] == what), "value"].item()

    now = files.loc[files["what"] == "a disk, O_DIRECT", ["value", "low", "high"]]
    ends = [significant(rate, 3) for rate in now.to_numpy().ravel()]
    today = ", and {} MB/s ({} to {}) with a disk of today".format(*ends) if ends else ""
    reports = memory.iloc[1:5]
    images, best = (
        busy.loc[(busy["group"] == group) & (busy["kind"] == "report"), "value"] for group in (_IMAGING, _FORECAST)
    )
    convex, toronto, pittsburgh = images
    return [
        f"A program and its files exchanged {rate('cray_xmp_1982', 'a disk'):g} MB/s with a disk of 1982, "
        f"{rate('cm2', 'serial file'):g} to {rate('cray_ymp', 'a file'):g} MB/s with a file of 1993, "
        f"{rate('cray_xc30', 'one of 120 files'):g} MB/s or more with one of 2014{today}.",
        f"Memory for each flop/s of peak fell from {memory.iloc[0]:.2f} bytes on the Cray Y-MP to "
        f"{reports.min():.2f} to {reports.max():.2f} on the machines of 2006 and 2014.",
        f"A forecast of 1982 on a machine of its own computed for {best.min():.0f} to {best.max():.0f} % of the "
        f"elapsed time. Imaging of 1989 on shared machines did so for {convex:.0f} % on a Convex C1, and for "
        f"{toronto:.0f} and {pittsburgh:.0f} % on two Cray X-MPs.",
    ]


def points_table(found: dict[str, pd.DataFrame]) -> Table:
    """Every point, with a link to the printed table or the run record that holds its number."""
    body, frames = [], []
    for key, frame in found.items():
        name, unit = QUANTITIES[key][0], frame.attrs["units"]["value"]
        frames.append(frame.drop(columns=["group", "order"]).assign(quantity=name, unit=unit))
        for row in frame.itertuples(index=False):
            link = f'<a href="{escape(row.source)}">{"record" if row.kind == "run" else "table"}</a>'
            texts = cells(*(escape(str(text)) for text in (name, row.year, row.machine, row.what)))
            texts += numbers(f"{escape(row.bound)} {significant(row.value, 3)}")
            body.append(f"<tr>{texts}{cells(escape(unit), link)}</tr>")
    caption = f"All {len(body)} points, and where each number comes from"
    printed = (f"{(frame['kind'] == 'report').sum()} of {QUANTITIES[key][0]}" for key, frame in found.items())
    head = ["quantity", "year", "machine", "what was measured", "value", "unit", "source"]
    text = f"Where each number comes from. Printed in reports: {', '.join(printed)}"
    link = csv_link(pd.concat(frames, ignore_index=True), "points")
    return framed(caption, head, body, link, name="points", folded=True, text=text)
