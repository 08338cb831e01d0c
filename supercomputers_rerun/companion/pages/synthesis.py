"""What only the five reports together show: one quantity at a time, old machines and measured ones on one axis.

Each function of :data:`QUANTITIES` gives a frame with one point a row: ``machine`` with its full name, ``what`` was
measured on it, ``year``, ``value``, ``kind`` (``"report"`` or ``"run"``), ``source``, the address of the printed table
or of the run record, ``bound``, ``"<"`` or ``">"`` where the value is one, ``group``, the kind of work under which a
figure draws it, and ``order``, that of its machine among those drawn (-1: the reader's own).  The value of a run is a
median; ``low`` and ``high`` are its spread as :mod:`companion.figures.kit` has it, and ``flagged`` says whether it is
doubtful.  Only like is compared with like; what differs is in ``what``.
"""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from supercomputers_rerun.companion import chapters, figures, models, tables
from supercomputers_rerun.companion.chapters.p5plus import latency
from supercomputers_rerun.companion.chapters.xc30 import peak, small_files
from supercomputers_rerun.companion.chapters.xmp1982 import blocks, forecast
from supercomputers_rerun.companion.chapters.xmp1982.forecast import sized
from supercomputers_rerun.companion.claims.formulas import Turn
from supercomputers_rerun.companion.claims.sheets import Reader
from supercomputers_rerun.companion.common import plural, significant, span
from supercomputers_rerun.companion.items import page
from supercomputers_rerun.companion.records import runs
from supercomputers_rerun.companion.tables import anchor

_COLUMNS = "machine what year value low high flagged kind source bound group order".split()
_REGISTER = ("quantity", "place", "machine", "what", "value", "bound", "group")
DAY = 24  # hours of the forecast
_MEGA, _GIGA = 1e6, 1e9
#: Bytes for each operation of the streaming loop of 2006: an item of 8 bytes, a multiplication and an addition.
STREAMED = 8 / 2
#: Requests of today, as their points are called.
LOAD = "a load from memory, at random"
WRITE = "a write of 40 bytes, with its seek"
OPEN = "a small file opened, read and closed"
#: Experiments that measure the peak of their machine, of multiply-adds in registers.
_PEAKS = ("xc30-transforms", "xc30-routines", "xc30-forecast")


def full_name(machine: str) -> str:
    """``power5plus`` -> ``IBM p575 (Power5+)``."""
    return str(tables.machines()["name"].sel(machine=machine).values)


@cache
def _printed() -> pd.DataFrame:
    """Every point that reports print, and every bound that they give, from ``points.csv``.

    A line has the quantity, the table, the machine, what it is, and the formula of its number; formulas and words are
    those of claims (:mod:`companion.claims.formulas`).  The year of a report is the last in its citation.
    ``ValueError`` with file and line for a word that nobody knows.
    """
    found = []
    for here, row in chapters.rows(Path(__file__).with_name("points.csv"), _REGISTER):
        with chapters.named(here):
            if row["quantity"] not in QUANTITIES or row["bound"] not in ("", "<", ">"):
                raise ValueError(f"quantity {row['quantity']!r} or bound {row['bound']!r} is unknown")
            document, _, name = row["place"].partition("/")
            tables.describe(document, name)
            words = Turn(Reader(document))
            made = {
                "machine": full_name(row["machine"]),
                "what": words.sentence(row["what"]),
                "value": words.value(row["value"]).mid,
                "year": int(re.findall(r"\b(?:19|20)\d\d\b", tables.citation(document))[-1]),
                "flagged": False,
                "kind": "report",
                "source": f"../book/records/{page(document)}.html#{anchor(document, name)}",
            }
            found.append(row | made)
    return pd.DataFrame(found)


def measured(run, what: str, found: pd.DataFrame, group: str = "") -> dict:
    """A point of a run, named by its machine, with the address of its record.

    ``found`` has the quantity in its one row, as :func:`companion.figures.kit.intervals` gives it.
    """
    (spread,) = found.itertuples()
    about = run.attrs
    return {
        "machine": figures.cpu(run),
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


def _frame(quantity: str, unit: str, **again: Callable[[xr.Dataset], list[dict]]) -> pd.DataFrame:
    """Points with their unit: those of reports, and what functions give of the newest run of each machine.

    The name of a function is that of its experiment, with an underscore for the hyphen.
    """
    rows = _printed().query("quantity == @quantity").to_dict("records")
    rows += [row for name, of in again.items() for run in runs.each(name.replace("_", "-")) for row in of(run)]
    frame = pd.DataFrame(rows, columns=_COLUMNS).fillna({"bound": "", "group": ""})
    frame.attrs |= {"units": {"value": unit}, "axis": f"{QUANTITIES[quantity][0]} [{unit}]"}
    return frame


def _rate(run, chosen) -> pd.DataFrame:
    """Operations a second of the chosen case of a run, all threads together, with its spread."""
    case = figures.cases(run).loc[np.asarray(chosen)]
    return figures.converted(figures.intervals(case), lambda seconds: case["flops"].item() / seconds)


def peaks(run) -> list[tuple]:
    """The highest peak by the most threads of a run's machine: the run that found it, words, flop/s of all threads and
    of one, with their spread.  Empty where no peak of the machine was measured."""
    kept = [each for id in _PEAKS for each in runs.committed(id) if figures.cpu(each) == figures.cpu(run)]
    most = max((int(each["threads"].values.max()) for each in kept), default=0)
    found = []
    for each in kept:
        threads = each["threads"].values
        if threads.max() == most:
            peak = _rate(each, (each["what"].values == "peak") & (threads == most))
            words = f"peak of {plural(most, 'thread')}"
            found.append((each, words, peak, figures.converted(peak, lambda rate: rate / most)))
    return sorted(found, key=lambda one: one[2]["middle"].item())[-1:]


def file_rates() -> pd.DataFrame:
    """MB/s (10^6 bytes) of files and devices; of today, by programs like those of 1982 and 1993."""

    def devices(run) -> list[dict]:
        named = (("disk", "a disk, past the page cache"), ("ssd", "memory"))
        return [measured(run, what, _device(run, test)) for test, what in named]

    def solution_files(run) -> list[dict]:
        row = _largest(run, "five arrays, one a write")
        megabytes = float(run["solution_bytes"][row][0]) / _MEGA
        spent = figures.sampled(run, "observed_transferring", row)
        found = figures.converted(spent, lambda seconds: megabytes / seconds)
        return [measured(run, "a file that a solver writes, page cache", found)]

    return _frame("files", "MB/s", xmp1982_devices=devices, nht1_io=solution_files)


def _device(run, test: str) -> pd.DataFrame:
    """MB/s of one test of devices, as chapter 1 has it: the median of the samples' rates."""
    flags = run["flags"].values[run["test"].values == test]
    return figures.of_samples(blocks.rates_of(run).sel(test=[test]).values, flags)


def _largest(run, way: str) -> np.ndarray:
    """The case that writes one way, of its largest size and there of the most threads."""
    size, threads = run["N"].values, run["threads"].values
    chosen = run["way"].values == way
    chosen &= size == size[chosen].max()
    return np.flatnonzero(chosen & (threads == threads[chosen].max()))


def memory_per_flop() -> pd.DataFrame:
    """Bytes of main memory, counted in powers of two, for each flop/s of peak; of a run, for each of measured peak.

    The report of 2006 prints no peak: it follows from GFLOPS and the share of peak of one job.
    """

    def today(run) -> list[dict]:
        return [
            measured(of, f"all memory, {words}", figures.converted(peak, lambda rate, of=of: of.attrs["memory"] / rate))
            for of, words, peak, _ in peaks(run)
        ]

    return _frame("memory", "bytes", xc30_transforms=today)


def _loop(run, name: str) -> pd.DataFrame:
    """GFLOPS of one thread in a loop."""
    rate = _rate(run, (run["loop"].values == name) & (run["kind"].values == "one thread"))
    return figures.converted(rate, lambda rate: rate / _GIGA)


def read_per_flop() -> pd.DataFrame:
    """Bytes that one processor reads in the streaming loop in the time of one flop at its peak.

    The peak of a Power5+ follows from a job's share of it; that of a measured machine is of one of its threads.
    """

    def today(run) -> list[dict]:
        read = figures.converted(_loop(run, "streaming"), lambda rate: STREAMED * _GIGA * rate)
        return [
            measured(run, f"streaming loop, {words}", figures.quotient(read, one)) for _, words, _, one in peaks(run)
        ]

    return _frame("bandwidth-balance", "bytes", p5plus_smt=today)


#: Kinds of jobs whose share of the clock reports print, as rows of a figure.
_FORECAST, _IMAGING = "forecast on work files, 1982", "radio imaging, large problem, 1989"
_WRITING = "flow solver that writes, 1993"


def computing() -> pd.DataFrame:
    """Share [%] of the clock in which a job computes: CPU over clock, without writing over with, or parallel part."""

    def forecast(run) -> list[dict]:
        """The forecast computes while its computing thread does not wait for records."""
        on_disk = run["configuration"].values.astype(str) == "disk4"
        waiting, clock = (run[f"observed_{name}"].values[on_disk] for name in ("waiting", "forecast"))
        found = figures.of_samples(100 * (1 - waiting / clock), run["flags"].values[on_disk])
        return [measured(run, "forecast, disks", found, _FORECAST)]

    def images(run) -> list[dict]:
        if not (large := run["size"].values.astype(str) == "large").any():
            return []
        spent, real = (run[f"observed_{name}"].values[large].sum(axis=0) for name in ("cpu", "real"))
        flags = "; ".join(filter(None, run["flags"].values[large].astype(str)))
        return [measured(run, "imaging, large problem", figures.of_samples([100 * spent / real], [flags]), _IMAGING)]

    def writing(run) -> list[dict]:
        found = []
        for way in ("five arrays, one a write", "40-byte elements"):
            (row,) = _largest(run, way)
            same = (run["N"] == run["N"][row]) & (run["threads"] == run["threads"][row]) & (run["way"] == "none")
            alone = figures.intervals(figures.cases(run)[same.values])
            over = figures.quotient(alone, figures.sampled(run, "observed_T_T", [row]))
            share = figures.converted(over, lambda ratio: 100 * ratio)
            found.append(measured(run, f"flow solver that writes, {way}", share, _WRITING))
        return found

    return _frame("computing", "%", xmp1982_forecast=forecast, aips58_ddt=images, nht1_io=writing)


def sustained_rate() -> pd.DataFrame:
    """GFLOPS of one processor (today: of one thread) by kind of work: loops, then whole programs."""

    def loops(run) -> list[dict]:
        names = {"additions in registers": "s10", "streams through an array": "streaming"}
        names |= {"skips through an array": "skipping"}
        return [measured(run, kind, _loop(run, name), kind) for kind, name in names.items()]

    def solver(run) -> list[dict]:
        chosen = (run["class"].values == "W") & (run["threads"].values == 1)
        rate = figures.converted(_rate(run, chosen), lambda rate: rate / _GIGA)
        return [measured(run, "BT, class W", rate, "BT, a flow solver, on vectors")]

    return _frame("rate", "GFLOPS", p5plus_smt=loops, nht1_solver=solver)


def share_of_peak() -> pd.DataFrame:
    """Share of peak [%] that whole forecasts sustained; of some runs, that of spectral transforms alone."""

    def forecast(run) -> list[dict]:
        share = figures.spread_of(peak.shares(run, "forecast"), "share")
        return [measured(run, f"forecast of one layer on {plural(run['threads'].values[0], 'thread')}", share)]

    def transforms(run) -> list[dict]:
        """Those of eight fields at the truncation of the talk, or at the largest of a smaller run."""
        frame = peak.shares(run, "transforms").query("threads == 1 and fields == 8")
        of_talk = peak.truncation()
        chosen = of_talk if of_talk in frame["truncation"].values else frame["truncation"].max()
        share = figures.spread_of(frame[frame["truncation"] == chosen], "share")
        return [measured(run, f"spectral transforms at truncation {chosen} on 1 thread", share)]

    return _frame("peak", "%", xc30_forecast=forecast, xc30_transforms=transforms)


def points_written(run) -> float:
    """How many points, each a write, the largest run of the solver by points writes."""
    (row,) = _largest(run, "40-byte elements")
    return float(run["N"][row]) ** 3 * int(run["NS"][row] // run["IW"][row])


def requests() -> pd.DataFrame:
    """Seconds that one request takes on a machine of today, before its bytes count."""

    def loads(run) -> list[dict]:
        """The longest chase through memory on huge pages, a load after the other."""
        longest = latency.lines(run).query("pattern == 'random' and pages == 'huge'").tail(1)
        found = figures.converted(figures.spread_of(longest, "ns"), lambda ns: 1e-9 * ns)
        return [measured(run, LOAD, found)]

    def writes(run) -> list[dict]:
        """The wait of the solver that writes points, each with a seek."""
        (row,) = _largest(run, "40-byte elements")
        samples = (run["observed_stalled"] + run["observed_finish"]).values
        waits = figures.of_samples(samples[[row]], run["flags"].values[[row]])
        found = figures.converted(waits, lambda seconds: seconds / points_written(run))
        return [measured(run, WRITE, found)]

    def messages(run) -> list[dict]:
        case = figures.cases(run, "nbytes", "pairs").query("pairs == 1")
        shortest = case[case["nbytes"] == case["nbytes"].min()]
        return [measured(run, "an exchange of 8 bytes between processes", figures.intervals(shortest))]

    def opens(run) -> list[dict]:
        """Open, read and close, as fast as the machine does it, beside the largest records."""
        chosen = (run["latency"].values == 0) & (run["record_bytes"].values == run["record_bytes"].values.max())
        row = np.flatnonzero(chosen)[0]  # a quick run has the same records in memory, too, after those on disk
        sets = float(run["tasks"][row]) * small_files.by_task()
        found = figures.converted(figures.sampled(run, "observed_small", [row]), lambda seconds: seconds / sets)
        return [measured(run, OPEN, found)]

    return _frame("request", "s", p5plus_latency=loads, nht1_io=writes, p5plus_exchange=messages, xc30_records=opens)


def forecast_hour() -> pd.DataFrame:
    """Seconds of the clock for one hour of forecast, with the model of its time."""

    def again(run) -> list[dict]:
        """The forecast of 1982 with its post-processing, files on disk."""
        on_disk = run["configuration"].values.astype(str) == "disk4"
        size = "of the size of 1982" if run.attrs["preset"] == "paper" else "as of 1982, smaller,"
        found = figures.converted(figures.sampled(run, "observed_complete", on_disk), lambda seconds: seconds / DAY)
        return [measured(run, f"forecast {size} with its jobs, files on disk", found)]

    def one_layer(run) -> list[dict]:
        """One layer of a forecast of 2014."""
        case = figures.cases(run, "what", "days", "truncation").query("what == 'forecast'")
        hours, threads = DAY * case["days"].item(), plural(case["threads"].item(), "thread")
        what = f"one layer at truncation {int(case['truncation'].item())} on {threads}"
        return [measured(run, what, figures.converted(figures.intervals(case), lambda seconds: seconds / hours))]

    return _frame("hour", "s", xmp1982_forecast=again, xc30_forecast=one_layer)


#: Quantities: what a reader calls them, where their points come from, and whether their axis is logarithmic.
QUANTITIES: dict[str, tuple[str, Callable[[], pd.DataFrame], bool]] = {
    "files": ("rate of files and devices", file_rates, True),
    "memory": ("main memory for each flop/s of peak", memory_per_flop, True),
    "bandwidth-balance": ("memory read by one processor for each flop at peak", read_per_flop, True),
    "computing": ("share of the elapsed time in which a job computes", computing, False),
    "request": ("time of one request", requests, True),
    "rate": ("rate that one processor sustains", sustained_rate, True),
    "peak": ("share of peak that was sustained", share_of_peak, False),
    "hour": ("time for an hour of forecast", forecast_hour, True),
}


def every(*names: str) -> dict[str, pd.DataFrame]:
    """Points of quantities by their names, of all unless some are named."""
    return {key: make() for key, (_, make, _) in QUANTITIES.items() if not names or key in names}


def labels(frame: pd.DataFrame) -> list[str]:
    """Year, machine and what was measured, of every point."""
    return [f"{row.year} {row.machine}: {row.what}" for row in frame.itertuples()]


def doubtful(row) -> bool:
    """Whether a point is a reader's own that its record calls doubtful: it is drawn with a cross, and has no number."""
    return row.order < 0 and bool(row.flagged)


def said(frame: pd.DataFrame) -> str:
    """Points in words, for who cannot see the figure: all of reports, and of runs the first machine's.

    So the text, which notebooks store, stays as it is when the book gets records of one more machine.
    """
    words = {"": "", "<": "below ", ">": "above "}
    chosen = frame[(frame["kind"] == "report") | (frame["order"] == frame.groupby("what")["order"].transform("min"))]
    found = "; ".join(
        f"{label} {'doubtful' if doubtful(row) else words[row.bound] + significant(row.value, 3)}"
        for label, row in zip(labels(chosen), chosen.itertuples(), strict=True)
    )
    more = ". Points of further machines, where there are any, are in the data"
    return found + (more if (frame["kind"] == "run").any() else "")


def _day(source: str) -> str:
    """The day on which the record at an address was made."""
    return re.sub(r".*_(\d{4})(\d\d)(\d\d)T.*", r"\1-\2-\3", source)


def _whence(frame: pd.DataFrame) -> list[str]:
    """Of each point what it is and where it is printed, or on which day it was measured."""
    places = (tables.by_anchor().get(source.partition("#")[2]) for source in frame["source"])
    ends = [f"report: {tables.printed_in([place])}" if place else "" for place in places]
    return [
        f"{row.machine}: {row.what}\n{end or f'measured: {_day(row.source)}'}"
        for row, end in zip(frame.itertuples(), ends, strict=True)
    ]


def _measured(frame: pd.DataFrame) -> str:
    """Machines and days of the runs among points, for the small print."""
    made = frame[frame["kind"] == "run"]
    days = sorted(set(made["source"].map(_day)))
    return f"{'; '.join(made['machine'].unique())}; {' to '.join(dict.fromkeys((days[0], days[-1])))}" if days else ""


def _marks(axis, frame: pd.DataFrame, place: str, across: bool, apart: float = 0.11, least: float = np.nan) -> None:
    """All points: hollow for a report, filled with their spread for a run, stars for the reader's own.

    A machine has one colour in all figures.  ``across``: values run along x, and machines of one row lie ``apart``.
    An upper bound of what has a ``least`` value is a bar from there.
    """
    new, bound = frame[frame["kind"] == "run"], frame["bound"] != ""
    old, bounds = frame[(frame["kind"] == "report") & ~bound], frame[bound]
    x, y = ("value", place) if across else (place, "value")
    if len(old):
        drawn = figures.points(axis, old[x], old[y], label="printed in a report", line=False)
        figures.tells(drawn, whence=_whence(old))
    low, high = (bounds["value"].where(bounds["bound"] == sign) for sign in "><")
    figures.printed_ranges(axis, bounds[place], low.fillna(least), high, across=across)
    orders = sorted(new["order"].unique())
    for number, order in enumerate(orders):
        part = new[new["order"] == order].rename(columns={"value": "middle"})
        moved = apart * (number - (len(orders) - 1) / 2) if across else 0
        label, colour = part["machine"].iloc[0], figures.VARIANTS[int(order) % len(figures.VARIANTS)]
        drawn = figures.bars(axis, part[place] + moved, part, label=label, line=False, across=across, colour=colour)
        figures.tells(drawn, whence=_whence(part))
        if order < 0:
            drawn.set(marker="*", markersize=13, zorder=1.9)  # below the cross of a doubtful one
    if new["flagged"].any():
        axis.plot([], [], "x", color=figures.INK, markersize=7, linestyle="none", label="flagged as doubtful")


@figures.styled
def dots(
    frame: pd.DataFrame, *, seen: str, log: bool = False, beside=None, apart: float = 0.11, data=None, **shown: str
) -> "figures.Shown":
    """A row for each kind of work, or each point, those of today below a line; ``seen`` is what to see.

    Parameters
    ----------
    beside : dict, optional
        What stands beside points, by their index: words, how many points of type to the right, and their weight.
    apart : float
        How far machines of one row lie apart, in rows.
    data : pandas.DataFrame, optional
        All points, where ``frame`` has not all.
    **shown
        ``title`` and ``name``.
    """
    rows = [row.group or (f"now: {row.what}" if row.kind == "run" else label)
            for row, label in zip(frame.itertuples(), labels(frame), strict=True)]  # fmt: skip
    names = list(dict.fromkeys(rows))
    figure, axis = figures.axes(height=1.25 + 0.42 * len(names))
    placed = frame.assign(place=np.array([names.index(row) for row in rows]) + 0.2)
    _marks(axis, placed, "place", across=True, apart=apart)
    for index, (words, right, weight) in (beside or {}).items():
        axis.annotate(
            words, (placed.at[index, "value"], placed.at[index, "place"]), (right, 0), textcoords="offset points",
            size=9, weight=weight, ha="left" if right > 0 else "right", va="center",
        )  # fmt: skip
    if 0 < (then := sum(not row.startswith("now: ") for row in names)) < len(names):
        axis.axhline(then - 0.5, color=figures.INK, linewidth=0.6, alpha=0.4)
    for row, text in enumerate(names):
        axis.text(0.01, row - 0.22, text, transform=axis.get_yaxis_transform(), size=9, va="center")
    axis.set_yticks(np.arange(len(names)) + 0.2, [""] * len(names))
    axis.set_ylim(len(names) - 0.4, -0.6)
    if log:
        figures.log_axis(axis, "x")
        axis.set_xlim(frame["value"].min() / 2, frame["value"].max() * 2)
    else:
        axis.set_xlim(0, 1.1 * frame["value"].max())
    axis.set_xlabel(frame.attrs["axis"])
    figures.legend(axis, "above 2")
    alt = f"{frame.attrs['axis']}: {said(frame)}."
    data = (frame if data is None else data).drop(columns="order")
    return figures.show(figure, alt=alt, caption=seen, heading=_measured(frame), data=data, **shown)


def _spaced(values: np.ndarray, least: float) -> np.ndarray:
    """Places of labels on a logarithmic axis, in powers of ten, moved up until they are ``least`` apart."""
    placed, order = np.log10(values), np.argsort(values)
    for before, after in zip(order, order[1:], strict=False):
        placed[after] = max(placed[after], placed[before] + least)
    return placed


#: Machines as the labels of a figure with little room name them.
_SHORT = {"Cray X-MP (prototype)": "Cray X-MP", "Thinking Machines CM-2": "CM-2", "Cray Y-MP 8/256": "Cray Y-MP",
         "Intel iPSC/860": "iPSC/860"}  # fmt: skip


def about(value: float) -> str:
    """A number as people say it, to two digits: 740, 93 000, 5.2."""
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}".replace(",", "\N{NO-BREAK SPACE}") if rounded >= 10 else f"{rounded:g}"


def of_book(frame: pd.DataFrame, what: str) -> float:
    """The value of the first of the book's machines that has a run of this kind; NaN where none has."""
    found = _first_of_book(frame, what)["value"]
    return float(found.iloc[0]) if len(found) else np.nan


def _first_of_book(frame: pd.DataFrame, what: str) -> pd.DataFrame:
    """The point that :func:`of_book` takes, or none."""
    return frame[(frame["what"] == what) & (frame["order"] >= 0)].sort_values("order").head(1)


def printed(frame: pd.DataFrame, machine: str, what: str) -> float:
    """What a report prints of a machine, by its short name and what it is."""
    return float(frame.loc[(frame["machine"] == full_name(machine)) & (frame["what"] == what), "value"].item())


def disks() -> float:
    """How many times as much a disk moves in a second as in 1982."""
    frame = file_rates()
    faster = of_book(frame, "a disk, past the page cache") / printed(frame, "cray_xmp_1982", "a disk")
    assert not faster < 100
    return faster


def waited() -> tuple[float, float]:
    """Share [%] of the time that the forecast of 1982 with its files on disk does not compute: then, and today."""
    frame = computing()
    then, now = 100 - printed(frame, "cray_xmp_1982", "forecast, disks"), 100 - of_book(frame, "forecast, disks")
    assert not now < 2 * then
    return then, now


def _outgrew_disks() -> bool:
    """Whether a step is computed more times as fast as in 1982 than one disk of today moves for four of then."""
    run = next((run for run in runs.each("xmp1982-forecast") if run.attrs["place"] >= 0), None)
    _, computing, moved = (np.nan,) * 3 if run is None else forecast.gained(run).values()
    return bool(computing > moved)


def additions(request: str = OPEN) -> float:
    """Numbers that a core adds in registers while it waits for one request, such as a small file; of one machine."""
    found, rates = _first_of_book(requests(), request), sustained_rate()
    of_machine = rates[rates["machine"].isin(found["machine"])]
    return of_book(found, request) * _GIGA * of_book(of_machine, "additions in registers")


@figures.styled
def files_through_time() -> "figures.Shown":
    """What files and devices took or gave a second, from 1982 to today: the figure that opens the book."""
    frame = file_rates()
    figure, axis = figures.axes(height=4.4)
    _marks(axis, frame, "year", across=False)
    bounds = frame.loc[frame["bound"] != "", "value"]
    first = (frame["kind"] == "report") | ~frame["what"].duplicated()  # of a second machine the mark alone
    for year, part in frame[first].groupby("year"):
        for row, height in zip(part.itertuples(), 10 ** _spaced(part["value"].to_numpy(), 0.2), strict=True):
            what = row.what if row.kind == "run" else f"{_SHORT.get(row.machine, row.machine)}, {row.what}"
            beside = row.kind == "run" and bounds.between(row.value / 3, row.value).any()  # a bound's arrow
            lowest = row.value == frame["value"].min()  # beside it is the mark of another machine
            # the label of a bound, that of 2014, stands below it, since it needs the width
            x = 1978 if lowest else 2028 if row.bound else year + (1.3 if year < 2000 else -1.3)
            low = row.value < 1.2 * frame["value"].min()  # beside it is the line on which the arrow stands
            least = "≥ " if row.bound == ">" else ""
            shift = 0.68 if lowest or row.bound else 1.75 if beside else 1.2 if low else 1
            axis.annotate(
                f"{what} {'doubtful' if doubtful(row) else least + significant(row.value, 3)}",
                (year, row.value), (x, height * shift),
                ha="left" if year < 2000 else "right", va="center", size=8,
                weight="bold" if row.what.startswith("a disk") else "normal",
            )  # fmt: skip
    axis.set(xlim=(1977, 2032), xticks=range(1980, 2030, 10), xlabel="year", ylabel="read or written [MB/s]")
    axis.set_ylim(frame["value"].min() / 2, frame["value"].max() * 2.5)
    figures.log_axis(axis, "y")
    figures.legend(axis, "above 2")
    faster = np.nan if (frame["order"] < 0).any() else disks()  # a reader's page speaks of the reader's machine
    if np.isfinite(faster):
        disk = printed(frame, "cray_xmp_1982", "a disk")
        axis.annotate("", (2029, faster * disk), (2029, disk), arrowprops={"arrowstyle": "->", "color": figures.INK})
        axis.plot([1982, 2029], [disk, disk], zorder=1, color=figures.INK, linewidth=0.8, linestyle=":")
        words = f"a disk,\nfrom 1982:\n{about(faster)} times"
        axis.text(2028.5, 10 * disk, words, ha="right", va="center", size=9, weight="bold")
    return figures.show(
        figure,
        data=frame.drop(columns="order"),
        name="file_rates",
        heading=_measured(frame),
        title=f"Our disk moves large blocks {about(faster)} times as fast as a disk of 1982"
        if np.isfinite(faster)
        else "Rates of files since 1982",
        caption="Files and the devices that hold them, in three reports and today (a virtual disk, written and read). "
        "Blue arrow: a lower bound (Cray XC30).",
        alt=f"Rates of files in MB/s by year, on a logarithmic axis. {said(frame)}.",
    )


#: Rows of :func:`waiting`, by machine and what the point is.
_CALLED = {
    ("Cray 1-A", "forecast, disks"): "Cray 1-A, disks",
    ("Cray X-MP (prototype)", "forecast, disks"): "X-MP, four disks",
    ("Cray X-MP (prototype)", "forecast, SSD"): "X-MP, SSD",
    ("Convex C1 (NRAO1)", "imaging, large problem"): "Convex",
    ("Cray X-MP/24", "imaging, large problem"): "Cray in Toronto",
    ("Cray X-MP/48", "imaging, large problem"): "Pittsburgh, others' turns too",
    ("Cray Y-MP 8/256", "flow solver that writes, at best"): "Y-MP, at best",
    ("Cray Y-MP 8/256", "flow solver that writes, at worst"): "Y-MP, at worst",
    ("Thinking Machines CM-2", "flow solver that writes, typically"): "CM-2, typically",
    ("Intel iPSC/860", "flow solver that writes, at worst"): "iPSC/860, at worst",
    ("IBM p575 (Power5+)", "T399 EPS, 96 CPUs"): "ensemble",
    ("IBM p575 (Power5+)", "T799 10day forecast, 768 CPUs"): "ten days",
    ("IBM p575 (Power5+)", "4D-Var, 768 CPUs"): "analysis",
}
#: Its rows of today, by words of what was measured.
_TODAY = {
    "forecast, disks": "today, one disk",
    "five arrays": "today, large writes",
    "40-byte": "today, 40 bytes a write",
    "": "today",
}
#: The rows of which the title speaks.
_COMPARED = ("X-MP, four disks", "today, one disk")


@figures.styled
def waiting() -> "figures.Shown":
    """Share of the elapsed time in which a job does not compute: :func:`computing`, seen from the other side.

    A row for each printed job, and for each program of today; the least share of a report comes first.
    """
    frame = computing()
    ends = {"low": 100 - frame["high"], "value": 100 - frame["value"], "high": 100 - frame["low"]}
    groups = frame["group"].str.replace("parallel part of IFS jobs", "forecast jobs outside their parallel part")
    frame = frame.assign(**ends, bound=frame["bound"].map({"<": ">", ">": "<", "": ""}), group=groups)
    rows = [
        _CALLED[row.machine, row.what]
        if row.kind == "report"
        else next(name for words, name in _TODAY.items() if words in row.what)
        for row in frame.itertuples()
    ]
    placed = frame.assign(row=rows, place=0.0)
    headings, places, place = {}, [], -1.5
    for group in dict.fromkeys(frame["group"]):
        headings[group] = place = place + 1.5
        of_group = placed[placed["group"] == group].sort_values(["kind", "value"])
        for name in dict.fromkeys(of_group["row"]):
            place += 1
            places.append((place, name))
            placed.loc[of_group.index[of_group["row"] == name], "place"] = place
    figure, axis = figures.axes(height=1.2 + 0.22 * place)
    _marks(axis, placed, "place", across=True, apart=0.36, least=0)
    then, now = waited()
    others = placed.loc[(placed["bound"] == "") & ~placed["row"].isin(_COMPARED), "value"]
    for at, part in placed.groupby("place"):
        first = part.sort_values("order").iloc[0]
        words = f"{first['bound']} {first['value']:.0f} %".strip()
        weight = "bold" if first["row"] in _COMPARED else "normal"
        axis.text(1.01, at, words, transform=axis.get_yaxis_transform(), size=9, weight=weight, va="center")
    begin, end = (at for at, name in places if name in _COMPARED)
    arrow = {"arrowstyle": "->", "color": figures.INK, "shrinkA": 6, "shrinkB": 8}
    axis.annotate("", (now, end), (then, begin), arrowprops=arrow)
    for name, at in headings.items():
        axis.annotate(name, (0.01, at), xycoords=("figure fraction", "data"), size=9, weight="bold", va="center",
                      in_layout=False)  # fmt: skip
    axis.set_yticks(*zip(*places, strict=True))
    axis.grid(False, axis="y")
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)  # headings cross it
    axis.set(xlim=(min(0, frame["value"].min() - 1), 101), ylim=(place + 0.8, -0.7))
    axis.set_xlabel("share of the elapsed time without computing [%]", loc="right")
    figures.legend(axis, "above 2")
    return figures.show(
        figure,
        data=frame.drop(columns="order"),
        name="waiting",
        heading=_measured(frame),
        title=f"The forecast of 1982 waited {then:.0f} % of its time, ours {now:.0f} %; others waited for "
        f"{span(others, 0)} %",
        caption=("Long arrow: four disks then, one today. " if _outgrew_disks() else "")
        + "Waiting includes other users' turns (Pittsburgh) and serial work (2006). For two jobs only a bound is "
        "known.",
        alt=f"Share of the elapsed time without computing, in %. {said(frame)}.",
    )


@figures.styled
def asked() -> "figures.Shown":
    """What one request costs, in seconds and in additions that the core could make meanwhile."""
    frame = requests()
    names = list(dict.fromkeys(frame["what"]))
    figure, axis = figures.axes(height=1.3 + 0.5 * len(names))
    _marks(axis, frame.assign(place=frame["what"].map(names.index).astype(float)), "place", across=True)
    for place, name in enumerate(names):
        axis.text(0.01, place - 0.33, name, transform=axis.get_yaxis_transform(), size=9, va="center")
        if np.isfinite(count := additions(name)):
            axis.annotate(
                f"{about(count)} additions", (frame.loc[frame["what"] == name, "high"].max(), place), (8, 0),
                textcoords="offset points", size=8.8, va="center", weight="bold" if name == OPEN else "normal",
                color=figures.series(int(_first_of_book(frame, name)["order"].item())),  # of its machine's marks
            )  # fmt: skip
    axis.set_yticks(range(len(names)), [""] * len(names))
    figures.log_axis(axis, "x")
    axis.set(xlim=(frame["value"].min() / 2, frame["high"].max() * 20), ylim=(len(names) - 0.4, -0.7))
    axis.xaxis.set_major_formatter(lambda value, _: models.spoken(value, "s"))
    figures.tells(axis, x=lambda value: models.spoken(value, "s"))
    axis.set_xlabel("time of one request")
    figures.legend(axis, "above 2")
    return figures.show(
        figure,
        data=frame.drop(columns="order"),
        name="request",
        heading=_measured(frame),
        title=f"While it opens, reads and closes one small file, a core could make {about(additions())} additions",
        caption="Time of one request today, apart from its bytes. Coloured: how many scalar additions in registers a "
        "core makes meanwhile.",
        alt=f"Time of one request in s, on a logarithmic axis. {said(frame)}.",
    )


#: Loops of :func:`sustained`: what they do with the numbers of an array, as :func:`dots` sets it beside their points.
_LOOPS = {
    "streams through an array": ("uses all numbers", 8, "normal"),
    "skips through an array": ("skips", -8, "normal"),
}


def skipping() -> tuple[float, float]:
    """How many times as long the same arithmetic takes that skips eight numbers of ten: in 2006, and today."""
    frame, (streams, skips) = sustained_rate(), _LOOPS
    then = printed(frame, "power5plus", streams) / printed(frame, "power5plus", skips)
    now = of_book(frame, streams) / of_book(frame, skips)
    assert then > now > 1.5
    return then, now


@figures.styled
def sustained() -> "figures.Shown":
    """:func:`sustained_rate`: what a loop loses that skips through an array, then and today, a machine a row."""
    (then, now), frame = skipping(), sustained_rate()
    loops = frame[frame["group"].isin([*_LOOPS])]
    year = loops["year"].astype(str).where(loops["kind"] == "report", "today")
    loops = loops.assign(loop=loops["group"], group=year + ": " + loops["machine"])
    top = loops.loc[loops["group"] == loops["group"].iloc[0], "loop"]
    shown = dots(
        loops,
        log=True,
        beside={index: _LOOPS[loop] for index, loop in top.items()},
        apart=0,
        data=frame,
        name="skipping_loops",
        title=f"For the same work, skipping eight of ten numbers took {then:.1f} times as long in 2006, {now:.1f} "
        "today",
        seen="For the same arithmetic, with one thread a processor; in 2006 on 16 processors at once."
        + (" A cross marks a doubtful run." if loops["flagged"].any() else ""),
    )
    (axis,) = shown.figure.axes
    axis.get_legend().remove()  # rows have names of machines
    for row, (_, part) in enumerate(loops.groupby("group", sort=False)):
        streams, skips = part.drop_duplicates("loop").set_index("loop")["value"].reindex([*_LOOPS])
        arrow = {"arrowstyle": "->", "color": figures.INK, "shrinkA": 4, "shrinkB": 4}
        axis.annotate("", (skips, row + 0.2), (streams, row + 0.2), arrowprops=arrow)
        of_title = not part["order"].iloc[0] > loops["order"].min()
        axis.annotate(
            f"{streams / skips:.1f} times", (1.01, row + 0.2), xycoords=axis.get_yaxis_transform(), size=9,
            weight="bold" if of_title else "normal", va="center",
        )  # fmt: skip
    return shown


def shares() -> "figures.Shown":
    """:func:`share_of_peak`: whole forecasts, and transforms alone."""
    frame = share_of_peak()
    whole = frame.loc[frame["kind"] == "report", "value"]
    alone = frame.loc[frame["what"].str.startswith("spectral"), "value"]
    layer = _first_of_book(frame, next((what for what in frame["what"] if "one layer" in what), ""))["value"]
    most = f"{whole.max():.0f} %"
    reach = " to ".join(dict.fromkeys(f"{share:.0f}" for share in (alone.min(), alone.max()))) + " %"
    assert alone.min() > 4 * whole.max()
    return dots(
        frame,
        name="share_of_peak",
        beside={whole.idxmax(): (most, 8, "bold"), alone.idxmax(): (reach, 20, "bold")}
        | {index: (f"{share:.0f} %", -8, "normal") for index, share in layer.items()},
        title=f"Whole forecasts reached at most {most} of the peak; transforms alone reach {reach} today",
        seen="Hollow: whole forecasts. Filled: without physics and messages; transforms a little too high, since we "
        "count operations that they skip. Long bars: the peak varied.",
    )


def hours_then() -> tuple[float, float]:
    """Seconds for an hour of forecast at the best of 1982, and on the Cray of 2014."""
    frame = forecast_hour()
    first = printed(frame, "cray_xmp_1982", "forecast of 1982 with its jobs, a file on SSD")
    last = frame.loc[frame["machine"] == full_name("cray_xc30"), "value"].item()
    assert 2 < first / last < 5
    return first, last


def spacings() -> dict[int, float]:
    """Kilometres between points of a forecast, by the year of its report: of 1982 those of our model of that size."""
    return {
        1982: 20_000 / sized("paper").nj,  # rows from pole to pole
        2006: float(tables.load("p5plus", "models")["resolution"].sel(model="T799")),
        2014: float(tables.load("xc30", "forecast")["spacing"]),
    }


def hours() -> "figures.Shown":
    """:func:`forecast_hour`: what became of the speed; points of one report's model in a row."""
    (first, last), frame, apart = hours_then(), forecast_hour(), spacings()
    of_machines = {
        "cray_1a_ecmwf": (full_name("cray_1a_ecmwf"), 8, "normal"),
        "cray_xmp_1982": (f"{first:.0f} s, X-MP", -8, "bold"),
        "cray_xc30": (f"{last:.3g} s, both machines", -8, "bold"),
    }
    beside = {frame.index[frame["machine"] == full_name(name)][0]: words for name, words in of_machines.items()}
    assert (frame.loc[(frame["kind"] == "report") & (frame["year"] == 2014), "value"] == last).sum() == 2
    for year, km in apart.items():
        part = frame[(frame["kind"] == "report") & (frame["year"] == year)]
        on = dict.fromkeys(part["what"].str.extract(r" on (\d+ \w+)$", expand=False).dropna())
        size = f"{year}: points {about(km)} km apart"
        frame.loc[part.index, "group"] = ", ".join(filter(None, [size, " or ".join(on)]))
    # three points of 2006: the fastest of most processors, two machines of as many
    part = frame[(frame["kind"] == "report") & (frame["year"] == 2006)].sort_values("value")
    named, cpus = part["machine"].str.split().str[1], part["what"].str.extract(r" on (\d+) ", expand=False)
    fastest, *slower = part.index
    assert cpus[slower].nunique() == 1 and int(cpus[fastest]) > int(cpus[slower[0]])
    beside[fastest] = f"{cpus[fastest]} CPUs: {named[fastest]}", -8, "normal"
    beside |= {index: (named[index], right, "normal") for index, right in zip(slower, (-8, 8), strict=True)}
    return dots(
        frame,
        log=True,
        name="forecast_hour",
        beside=beside,
        title=f"An hour of forecast took {first:.0f} s in 1982 with points {about(apart[1982])} km apart, {last:.3g} s "
        f"in 2014 with {about(apart[2014])} km",
        seen="Models grew: this compares how long forecasters wait. We take 1982's distance from our model, with as "
        "many points. Below the line: small models.",
    )


def held() -> "figures.Shown":
    """:func:`memory_per_flop`: main memory beside the peak."""
    frame = memory_per_flop()
    old = frame.loc[frame["kind"] == "report", "value"]
    assert old.iloc[0] > 2 * old.iloc[1:].max() and len(old) == 5
    return dots(
        frame,
        log=True,
        name="memory_per_flop",
        title="The Y-MP had over twice as much memory for each flop/s of peak as four machines of 2006 and 2014",
        seen="Main memory over peak. The owner of a virtual machine chooses its memory.",
    )


def points_table(found: dict[str, pd.DataFrame]) -> "figures.Shown":
    """Every point, with a link to the printed table or the run record that holds its number."""
    frames = [
        frame.assign(quantity=QUANTITIES[key][0], unit=frame.attrs["units"]["value"]) for key, frame in found.items()
    ]
    every = pd.concat(frames, ignore_index=True)
    values = every["value"].map(lambda value: significant(value, 3))
    words = every["kind"].map({"run": "record", "report": "table"})
    shown = every[["quantity", "year", "machine", "what"]].rename(columns={"what": "what was measured"})
    shown["value"] = (every["bound"] + " " + values).str.strip()
    shown["unit"], shown["source"] = every["unit"], '<a href="' + every["source"] + '">' + words + "</a>"
    caption = f"All {len(every)} points, and where each number comes from"
    data = every.drop(columns=["group", "order"])
    made = figures.table(shown, caption=caption, name="points", folded=True, html=["source"], data=data)
    counts = (f"{frame['quantity'].iloc[0]}, {(frame['kind'] == 'report').sum()}" for frame in frames)
    return figures.Shown(made.html, f"Numbers printed in the reports: {'; '.join(counts)}")
