"""What only the five reports together show: one quantity at a time, old machines and measured ones on one axis.

Every function returns one point a row: ``machine`` with its full name, ``what`` was measured on it, ``year``,
``value``, ``kind`` (``"report"`` or ``"run"``), ``source``, the address of the printed table or of the run record,
``bound``, ``"<"`` or ``">"`` where the value is one, ``group``, the kind of work under which a figure draws it, and
``order``, that of its machine among those drawn (-1: the reader's own).  The value of a run is a median; ``low`` and
``high`` are its spread as :mod:`companion.figures.parts` has it, and ``flagged`` says whether it is doubtful.  Only
like is compared with like; what differs is in ``what``.
"""

import csv
import re
from collections.abc import Callable
from functools import cache
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from companion import tables
from companion.claims.formulas import Turn
from companion.claims.sheets import Reader
from companion.figures.parts import (
    MARKED,
    bars,
    case_intervals,
    converted,
    cpu,
    log_axis,
    of_samples,
    points,
    printed_ranges,
    quotient,
)
from companion.figures.rendering import Shown, show
from companion.figures.style import VARIANTS, axes
from companion.figures.tabular import Table, significant
from companion.items import page
from companion.labels import plural
from companion.pages.data import cells, framed
from companion.records import runs

_COLUMNS = ["machine", "what", "year", "value", "low", "high", "flagged", "kind", "source", "bound", "group",
           "order"]  # fmt: skip
_RUNS = "../_static/runs"
DAY = 24  # hours of the forecast
#: Experiments that measure the peak of their machine, of multiply-adds in registers.
_PEAKS = ("xc30-transforms", "xc30-routines", "xc30-forecast")
_POINTS = Path(__file__).with_name("points.csv")


def year(document: str) -> int:
    """Year of a document, the last number of four digits in its citation."""
    return int(re.findall(r"\b(?:19|20)\d\d\b", tables.citation(document))[-1])


def documents() -> list[str]:
    """The reports in time."""
    return sorted(tables.documents(), key=year)


def title(document: str) -> str:
    """Title of a document: the first part of its citation that is no name, up to a colon."""
    parts = re.split("[,:] ", tables.citation(document))
    return next(part for part in parts if not re.match(r"[A-Z]\.", part))


@cache
def full_name(machine: str) -> str:
    """``power5plus`` -> ``IBM p575 (Power5+)``."""
    return str(tables.machines()["name"].sel(machine=machine).values)


def printed(place: str, machine: str, what: str, value: float, bound: str = "", group: str = "") -> dict:
    """A point of a report, or a bound that it gives, with the address of its table on the record.

    ``place`` is ``"document/table"``, ``machine`` a name of ``data/machines``.
    """
    document, table = place.split("/")
    anchor = f"tab-{document}-{table}".replace("_", "-")
    return {
        "machine": full_name(machine),
        "what": what,
        "year": year(document),
        "value": float(value),
        "low": np.nan,
        "high": np.nan,
        "flagged": False,
        "kind": "report",
        "source": f"../book/records/{page(document)}.html#{anchor}",
        "bound": bound,
        "group": group,
        "order": np.nan,
    }


def stated(quantity: str) -> list[dict]:
    """Points that reports print, from ``points.csv``: place, machine, what it is, and the formula of its number.

    Formulas and words are those of claims (:mod:`companion.claims.formulas`).
    """
    rows = []
    for line in csv.DictReader(_POINTS.read_text(encoding="utf-8").splitlines()):
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
    preset = run.attrs["preset"]
    return {
        "machine": cpu(run),
        "what": what if preset == "paper" else f"{what}, {preset}",
        "year": int(run.attrs["date"][:4]),
        "value": float(spread.middle),
        "low": float(spread.low),
        "high": float(spread.high),
        "flagged": bool(spread.flagged),
        "kind": "run",
        "source": run.attrs["file"] if run.attrs.get("own") else f"{_RUNS}/{run.attrs['file']}",
        "bound": "",
        "group": group,
        "order": run.attrs["place"],
    }


def of_each(experiment: str, points: Callable[[xr.Dataset], list[dict]]) -> list[dict]:
    """Points of the newest run of an experiment on each machine.

    A reader's own run, perhaps of another size, may lack what they take; then it has none.
    """
    rows = []
    for run in runs.each(experiment):
        try:
            rows += points(run)
        except runs.LACKING:
            if not run.attrs.get("own"):
                raise
    return rows


def rate_of(run, chosen) -> pd.DataFrame:
    """Operations a second of the chosen case of a run, all threads together, with its spread."""
    (row,) = np.flatnonzero(np.asarray(chosen))
    flops = float(run["flops"].values[row])
    return converted(case_intervals(run).loc[[row]], lambda seconds: flops / seconds)


def peak_on(machine: str) -> tuple | None:
    """The run of a machine that found its highest peak, by the most threads: it, threads, and flop/s with spread."""
    kept = [run for id in _PEAKS for run in (*runs.committed(id), *runs.own(id)) if cpu(run) == machine]
    if not kept:
        return None
    threads = max(int(run["threads"].values.max()) for run in kept)
    kept = [run for run in kept if run["threads"].values.max() == threads]
    peaks = [rate_of(run, (run["what"].values == "peak") & (run["threads"].values == threads)) for run in kept]
    best = max(range(len(kept)), key=lambda number: peaks[number]["middle"].item())
    return kept[best], threads, peaks[best]


def frame_of(rows: list[dict], unit: str) -> pd.DataFrame:
    """Points as a table with their unit."""
    frame = pd.DataFrame(rows, columns=_COLUMNS)
    frame.attrs["units"] = {"value": unit}
    return frame


def labels(frame: pd.DataFrame) -> list[str]:
    """Year, machine and what was measured, of every point."""
    return [f"{row.year} {row.machine}: {row.what}" for row in frame.itertuples()]


def share_of_peak() -> pd.DataFrame:
    """Share of peak [%] that whole forecasts sustained; of a committed run, that of spectral transforms alone."""
    rows = of_each("xc30-forecast", _forecast_share) + of_each("xc30-transforms", _transform_share)
    return frame_of(stated("peak") + rows, "% of peak")


def _forecast_share(run) -> list[dict]:
    rate, peak = (rate_of(run, run["what"].values == what) for what in ("forecast", "peak"))
    share = converted(quotient(rate, peak), lambda share: 100 * share)
    return [measured(run, f"forecast of one layer, {plural(int(run['threads'].values[0]), 'thread')}", share)]


def _transform_share(run) -> list[dict]:
    one, what = run["threads"].values == 1, run["what"].values
    rates = np.where(one & (what == "transforms"), (run["flops"] / run["median"]).values, 0.0)
    rate, peak = rate_of(run, rates == rates.max()), rate_of(run, one & (what == "peak"))
    share = converted(quotient(rate, peak), lambda share: 100 * share)
    return [measured(run, "spectral transforms, 1 thread", share)]


def forecast_hour() -> pd.DataFrame:
    """Seconds of the clock for one hour of forecast, with the model of its time."""
    rows = of_each("xmp1982-forecast", _forecast_again) + of_each("xc30-forecast", _one_layer)
    return frame_of(stated("hour") + rows, "s for an hour of forecast")


def _forecast_again(run) -> list[dict]:
    """The forecast of 1982 with its post-processing, files on disk."""
    on_disk = run["configuration"].values.astype(str) == "disk4"
    found = of_samples(run["observed_complete"].values[on_disk], run["flags"].values[on_disk])
    found = converted(found, lambda seconds: seconds / DAY)
    size = "of the size of 1982" if run.attrs["preset"] == "paper" else "as of 1982, smaller,"
    return [measured(run, f"forecast {size} with its jobs, files on disk", found)]


def _one_layer(run) -> list[dict]:
    """One layer of a forecast of 2014."""
    (row,) = np.flatnonzero(run["what"].values == "forecast")
    hours, case = DAY * float(run["days"].values[row]), run.isel(case=row)
    what = f"one layer at truncation {int(case['truncation'])} on {plural(int(case['threads']), 'thread')}"
    found = converted(case_intervals(run).loc[[row]], lambda seconds: seconds / hours)
    return [measured(run, what, found)]


def energy() -> pd.DataFrame:
    """Power [kW] for equal performance of the IFS, as the report of 2006 states it."""
    return frame_of(stated("power"), "kW for the performance of a Power5+")


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
    more = (
        ". Points of further machines, where there are any, are in the data" if (frame["kind"] == "run").any() else ""
    )
    return found + more


def dots(frame: pd.DataFrame, *, title: str, seen: str, name: str, log: bool = False) -> Shown:
    """A row for each kind of work, or each point: hollow for a report, filled with its spread for a run.

    ``seen`` is what to see.
    """
    unit = frame.attrs["units"]["value"]
    rows = [row.group or (f"now: {row.what}" if row.kind == "run" else label)
            for row, label in zip(frame.itertuples(), labels(frame), strict=True)]  # fmt: skip
    names = list(dict.fromkeys(rows))
    frame = frame.assign(place=np.array([names.index(row) for row in rows]) + 0.2)
    old, bounds, new = kinds(frame)
    figure, axis = axes(height=1.25 + 0.42 * len(names))
    if len(old):
        points(axis, old["value"], old["place"], label="printed in a report", line=False)
    low, high = (bounds["value"].where(bounds["bound"] == sign) for sign in "><")
    printed_ranges(axis, bounds["place"], low, high)
    of_machines(axis, new["place"], new, across=True)
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
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    alt = f"{title}, in {unit}. {said(frame)}."
    caption = " ".join(filter(None, [seen, MARKED if len(new) else ""]))
    return show(figure, alt=alt, title=title, caption=caption, data=frame.drop(columns=["place", "order"]), name=name)


#: Distance of the marks of two machines in one row, in rows.
_BESIDE = 0.11


def of_machines(axis, place: pd.Series, new: pd.DataFrame, across: bool = False) -> None:
    """Measured points with their spread, one colour a machine in all figures; those of the reader's own are stars."""
    orders = sorted(new["order"].unique())
    for number, order in enumerate(orders):
        of_one = new["order"] == order
        part, own = new[of_one].rename(columns={"value": "middle"}), order < 0
        moved = _BESIDE * (number - (len(orders) - 1) / 2) if across else 0
        label, colour = part["machine"].iloc[0], VARIANTS[int(order) % len(VARIANTS)]
        drawn = bars(axis, place[of_one] + moved, part, label=label, line=False, across=across, colour=colour)
        if own:
            drawn.set(marker="*", markersize=13, zorder=3)


def kinds(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Numbers that reports print, bounds that they give, and what was measured."""
    report, bound = frame["kind"] == "report", frame["bound"] != ""
    return frame[report & ~bound], frame[report & bound], frame[~report]


def reports_table() -> Table:
    """The reports in time, each with its chapter and the machines that it describes."""
    stated = tables.machines(long=True)
    names = stated[stated["property"] == "name"].set_index("machine")["value"]
    body, text = [], []
    for document in documents():
        machines = ", ".join(sorted(set(stated.loc[stated["document"] == document, "machine"].map(names))))
        link = f'<a href="{escape(page(document))}.html">{int(page(document)[:2])}</a>'
        body.append(f"<tr>{cells(link, year(document), escape(title(document)), escape(machines))}</tr>")
        text.append(f"{year(document)}: {title(document)}: {machines}")
    caption = "The five reports, and the machines that each measured or compared with its own"
    head = ["chapter", "year", "report", "machines"]
    return framed(caption, head, body, name="reports", text="\n".join([caption, *text]))
