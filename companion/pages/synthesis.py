"""What only the five reports together show: one quantity at a time, old machines and measured ones on one axis.

Every function returns one row a point: ``what``, ``year``, ``value``, ``kind`` (``"report"`` or ``"run"``) and
``source``, the address of the printed table or of the run record.  Only like is compared with like; what differs is in
``what``.
"""

import re
from html import escape

import numpy as np
import pandas as pd

from companion import tables
from companion.figures.parts import cpu, log_axis, points
from companion.figures.rendering import Shown, csv_link, show
from companion.figures.style import axes
from companion.figures.tabular import Table, significant
from companion.items import page
from companion.labels import counted
from companion.pages.data import framed
from companion.records import runs

COLUMNS = ["what", "year", "value", "kind", "source"]
RUNS = "../_static/runs"
DAY = 24  # hours of the forecast
#: Configurations of 1982 drawn for their machine, as a reader names them.
WHERE = {"cray1a-disk4": "Cray 1-A, files on disk", "ssd1-sync": "Cray X-MP, a file on SSD"}


def year(document: str) -> int:
    """Year of a document, the last number of four digits in its citation."""
    return int(re.findall(r"\b(?:19|20)\d\d\b", tables.citation(document))[-1])


def printed(document: str, table: str, what: str, value: float) -> dict:
    """A point of a report, with the address of its table in the chapter."""
    anchor = f"tab-{document}-{table}".replace("_", "-")
    return {
        "what": what,
        "year": year(document),
        "value": float(value),
        "kind": "report",
        "source": f"{page(document)}.html#{anchor}",
    }


def measured(run, what: str, value: float) -> dict:
    """A point of a committed run, named by its machine, with the address of its record."""
    day = run.attrs["date"]
    stamp = re.sub(r"[-:]", "", day)
    (path,) = runs.COMMITTED.glob(f"{run.attrs['experiment']}_*{stamp}.json")
    return {
        "what": f"{cpu(run)}: {what}",
        "year": int(day[:4]),
        "value": float(value),
        "kind": "run",
        "source": f"{RUNS}/{path.name}",
    }


def frame_of(rows: list[dict], unit: str) -> pd.DataFrame:
    """Points as a table with their unit."""
    frame = pd.DataFrame(rows, columns=COLUMNS)
    frame.attrs["units"] = {"value": unit}
    return frame


def share_of_peak() -> pd.DataFrame:
    """Share of peak [%] that whole forecasts sustained; of a committed run, that of spectral transforms alone."""
    rows = []
    for row in tables.printed("p5plus", "p4_p5").itertuples():
        rows.append(printed("p5plus", "p4_p5", f"{row.system}, forecast on {row.cpus} CPUs", row.peak_percent))
    whole = tables.load("p5plus", "run_2112")
    what = f"P5+, forecast on {int(whole['cpus'])} CPUs"
    rows.append(printed("p5plus", "run_2112", what, float(whole["peak_percent"])))
    for system, share in tables.load("xc30", "runs")["peak_percent"].astype(float).to_series().items():
        name = {"ibm": "Power7", "cray": "XC30"}.get(str(system), str(system))
        rows.append(printed("xc30", "runs", f"{name}, forecast", share))
    run = runs.latest("xc30-transforms")
    if run is not None:
        best = float(run["transform_share"].max())
        rows.append(measured(run, "spectral transforms alone, of measured peak", best))
    return frame_of(rows, "% of peak")


def forecast_hour() -> pd.DataFrame:
    """Seconds of the clock for one hour of forecast, with the model of its time."""
    old = tables.load("xmp1982", "fig4_1")["total_clock"]
    rows = [
        printed("xmp1982", "fig4_1", f"forecast of 1982 with its jobs, {WHERE[name]}", float(clock) / DAY)
        for name, clock in old.to_series().items()
        if name in WHERE
    ]
    for row in tables.printed("p5plus", "p4_p5").itertuples():
        rows.append(
            printed(
                "p5plus", "p4_p5", f"ten-day forecast of 2006 on {row.cpus} CPUs of {row.system}", row.wall / (10 * DAY)
            )
        )
    ten = tables.load("xc30", "forecast")
    spacing = float(ten["spacing"])
    hours = float(ten["days"]) * DAY
    what = f"ten-day forecast of 2014, grid of {spacing:g} km"
    rows.append(printed("xc30", "forecast", what, float(ten["elapsed"]) / hours))
    return frame_of(rows, "s per hour of forecast")


def not_overlapped() -> pd.DataFrame:
    """Input/output not hidden behind computing, in % of the time without it (1993, today) or with it (1982)."""
    net = tables.load("xmp1982", "fig4_2")["net_forecast"]
    sync, overlapped = (float(net.sel(configuration=f"ssd2-{driver}")) for driver in ("sync", "async"))
    cost = 100 * (sync - overlapped) / sync
    rows = [printed("xmp1982", "fig4_2", "X-MP with SSD, of the net forecast", cost)]
    for row in tables.printed("nht1", "overheads").itertuples():
        for bound, value in (("least", row.low), ("most", row.high)):
            if pd.notna(value):
                rows.append(printed("nht1", "overheads", f"{row.system}, NHT-1, {bound}", value))
    run = runs.latest("nht1-io")
    if run is not None:
        share = pd.Series(100 * run["zeta"].values, index=run["run_way"].values)
        largest = run["run_N"].values == run["run_N"].values.max() if "run_N" in run else np.full(len(share), True)
        share = share[largest]
        for way, value in (("least", share.min()), ("most", share.max())):
            rows.append(measured(run, f"NHT-1, {way}: {share.idxmin() if way == 'least' else share.idxmax()}", value))
    return frame_of(rows, "%")


def memory_per_flop() -> pd.DataFrame:
    """Bytes of main memory for each flop/s of peak; of a committed run, for each of measured peak."""
    stated = tables.machines()
    rows = []
    for name, document in (("cray_ymp", "nht1"), ("power7", "xc30"), ("cray_xc30", "xc30")):
        one = stated.sel(machine=name)
        memory = float(one["memory"])  # MB, and peak in GFLOPS
        if np.isnan(memory):
            memory = float(one["memory_per_node"] * one["nodes"])
        table = "systems" if document == "nht1" else "machines"
        rows.append(printed(document, table, str(one["name"].values), 1e6 * memory / (1e9 * float(one["peak"]))))
    run = runs.latest("xc30-transforms")
    if run is not None:
        row = measured(run, "", 0.0)
        memory = runs.read(runs.COMMITTED / row["source"].rpartition("/")[2])["machine"]["memory"]["total_bytes"]
        most = run["peak_rate"].isel(team=-1)
        what = f"all memory, measured peak of {int(run['peak_threads'][-1])} threads"
        rows.append(measured(run, what, memory / (1e9 * float(most))))
    return frame_of(rows, "B per flop/s")


def energy() -> pd.DataFrame:
    """Power [kW] for equal performance of the IFS, as the report of 2006 states it."""
    rows = [
        printed("p5plus", "power_performance", f"{row.system}, {counted(row.cpus, 'CPU')}", row.power)
        for row in tables.printed("p5plus", "power_performance").itertuples()
    ]
    return frame_of(rows, "kW")


def dots(frame: pd.DataFrame, *, title: str, seen: str, name: str, log: bool = False) -> Shown:
    """One row a point: hollow for a report, filled for a run of this project; ``seen`` is what to see in it."""
    unit = frame.attrs["units"]["value"]
    pairs = zip(frame["what"], frame["value"], strict=True)
    listed = "; ".join(f"{what} {significant(value, 3)}" for what, value in pairs)
    figure, axis = axes(height=1.2 + 0.42 * len(frame))
    rows = np.arange(len(frame))
    for kind, host, label in (("report", False, "printed in a report"), ("run", True, "measured, committed run")):
        chosen = (frame["kind"] == kind).to_numpy()
        if chosen.any():
            points(
                axis, frame["value"][chosen], rows[chosen] + 0.2, label=label, host=host, index=int(host), line=False
            )
    for row, what, year_ in zip(rows, frame["what"], frame["year"], strict=True):
        axis.text(0.01, row - 0.22, f"{year_}  {what}", transform=axis.get_yaxis_transform(), size=8.5, va="center")
    axis.set_yticks(rows + 0.2, [""] * len(rows))
    axis.set_ylim(len(rows) - 0.4, -0.6)
    if log:
        log_axis(axis, "x")
        axis.set_xlim(frame["value"].min() / 2, frame["value"].max() * 2)
    else:
        axis.set_xlim(0, 1.1 * frame["value"].max())
    axis.set_xlabel(unit)
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return show(figure, alt=f"{title}, in {unit}. {listed}.", title=title, caption=seen, data=frame, name=name)


def linked(frame: pd.DataFrame, *, caption: str, name: str) -> Table:
    """The points as a table whose last column leads to the printed table or the run record."""
    body = []
    for row in frame.itertuples(index=False):
        link = f'<a href="{escape(row.source)}">{"table" if row.kind == "report" else "record"}</a>'
        body.append(
            f'<tr><td>{row.year}</td><td>{escape(row.what)}</td><td style="text-align: right">'
            f"{significant(row.value, 3)}</td><td>{row.kind}</td><td>{link}</td></tr>"
        )
    head = ["year", "what", frame.attrs["units"]["value"], "from", "source"]
    return Table(
        framed(caption, head, "\n".join(body), csv_link(frame, name), name=name, folded=True),
        f"{caption}\n{frame.drop(columns='source').to_string(index=False)}",
    )


def time_line() -> Shown:
    """The reports in time, each with the machines that it describes."""
    stated = tables.machines(long=True)
    names = stated[stated["property"] == "name"].set_index("machine")["value"]
    figure, axis = axes(height=4.6, wide=True)
    lines, frame = [], []
    for row, document in enumerate(sorted(tables.documents(), key=year)):
        machines = sorted(set(stated.loc[stated["document"] == document, "machine"].map(names)))
        points(axis, [year(document)], [row], label=document, index=row, line=False)
        half = (len(machines) + 1) // 2 if len(machines) > 3 else len(machines)
        text = "\n".join(filter(None, [", ".join(machines[:half]), ", ".join(machines[half:])]))
        right = year(document) < 2000
        axis.annotate(text, (year(document), row), xytext=(10 if right else -10, 0), textcoords="offset points",
                      va="center", ha="left" if right else "right", size=8)  # fmt: skip
        lines.append(f"{year(document)}: {', '.join(machines)}")
        frame += [{"year": year(document), "document": document, "machine": name} for name in machines]
    axis.set_yticks(range(len(lines)), sorted(tables.documents(), key=year))
    axis.set_ylim(len(lines) - 0.5, -0.5)
    axis.set_xlim(1978, 2018)
    axis.set_xlabel("year of the report")
    return show(figure, alt=f"A time line. {'; '.join(lines)}.", title="Five reports in thirty-two years",
                data=pd.DataFrame(frame), name="time_line")  # fmt: skip
