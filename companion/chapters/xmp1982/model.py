"""A model of the clock of the forecasts of 1982: what the report's rows follow from, and where they do not.

A forecast without its write-up steps takes

    net = CPU + base + requests + (1 − overlap) · volume / rate + queue

CPU is what Fig. 4.4 leaves without write-up steps; base is time of the system that every run has; requests
cost the same with two files and one, twice as much with four; volume is one pass over the work files, read
and written, in every step that is no write-up step; overlap is what section 3.1 gives for the layout, and nothing
with a synchronous driver; rate is that of Fig. 7.2; queue is what disks add.

In a pair, queue and requests to buffer memory are longer; a pair's row gives each.  Eight printed rows
(:data:`CALIBRATED`) give the eight constants, one each: the rest is predicted.  Nothing here
is a measurement of this host, and no printed number is adjusted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from companion import tables
from companion.late import pd

DOCUMENT = "xmp1982"
#: (table, configuration) -> the constant that the row gives.
CALIBRATED = {
    ("fig5_2", "ssd2-sync"): "base of the simulator",
    ("fig5_2", "ssd4-sync"): "requests, synchronous",
    ("fig5_2", "ssd2-async"): "requests, asynchronous",
    ("fig5_2", "bmr1"): "requests, buffer memory",
    ("fig5_2", "disk4"): "queue at the disks",
    ("fig4_2", "ssd2-sync"): "base of the forecast",
    ("fig5_4", "ssd1+disk4/2"): "queue at the disks, in a pair",
    ("fig5_4", "ssd1+bmr1/2"): "requests, buffer memory, in a pair",
}
#: What the model cannot explain, and why.
_UNEXPLAINED = {
    ("fig5_2", "bmr1-overlapped"): "the simulator gained 3 s where hiding the transfers would gain most of a minute",
    ("fig5_4", "bmr1+disk4/1"): "with disks, buffer memory took less time than with SSD; Fig. 5.3 prints 32 s more",
}


@dataclass(frozen=True)
class Constants:
    """Seconds that the calibrated rows give, of a whole forecast."""

    base_forecast: float
    base_simulator: float
    requests_sync: float  # one file or two, synchronous driver
    requests_async: float  # one file or two, asynchronous driver
    requests_bmr: float  # one file in buffer memory
    queue: float  # four files on disk: all that the clock shows above CPU and base
    queue_pair: float = 0.0  # the same beside another job
    requests_bmr_pair: float = 0.0


@dataclass(frozen=True)
class Layout:
    """Where the work files are."""

    device: str  # "ssd", "bmr" or "disk"
    files: int
    synchronous: bool = True
    overlapped: bool = False  # as if the forecast had been rewritten so that one file overlaps as two do
    simulated: bool = False
    paired: bool = False  # whether another job runs on the other CPU


@cache
def facts() -> dict[str, float]:
    """Volume, rates, overlaps and CPU times, each from the report's own table."""
    sections = tables.printed(DOCUMENT, "sec3_1").set_index("work_files")
    rates = tables.printed(DOCUMENT, "fig7_2").set_index("test")["mword_rate"].astype(float)
    cpu = tables.printed(DOCUMENT, "fig4_4").set_index("section")["cray_xmp"].astype(float)
    prose = tables.printed(DOCUMENT, "prose").set_index("fact")["value"]
    simulated = tables.printed(DOCUMENT, "fig5_1").set_index("configuration")["forecast_cpu"].astype(float)
    written = int(prose["write_up_steps"]) * cpu["FORECAST WRITE-UP STEP"]
    plain = cpu["24 HOUR FORECAST"] - written - int(prose["radiation_steps"]) * cpu["RADIATION OVERHEAD"]
    steps = round(plain / cpu["NORMAL FORECAST TIME STEP"])
    return {
        "cpu_forecast": cpu["24 HOUR FORECAST"] - written,
        "cpu_simulator": simulated["ssd2-sync"] - written,
        "steps": steps,
        "volume": 2 * float(sections.loc[2, "file_size"]) * steps,  # one file is read, the other written
        "rate_ssd": rates["ssd"],
        "rate_bmr": rates["bmr"],
        "overlap_two": float(sections.loc[2, "overlap"]) / 100,
        "overlap_one": float(sections.loc[1, "overlap"]) / 100,
    }


def layout(configuration: str, simulated: bool) -> Layout:
    """``ssd2-async`` as a layout."""
    name, _, suffix = configuration.partition("-")
    device, files = name.rstrip("0123456789"), int(name[len(name.rstrip("0123456789")) :])
    return Layout(device, files, device == "ssd" and suffix != "async", suffix == "overlapped", simulated)


def transfer(where: Layout, known: dict[str, float] | None = None) -> float:
    """Seconds of a forecast's transfers that do not hide behind computing."""
    known = known or facts()
    if where.device == "disk":
        return 0.0  # in the queue
    overlap = known["overlap_two" if where.files > 1 or where.overlapped else "overlap_one"]
    return (1 - (0 if where.synchronous else overlap)) * known["volume"] / known[f"rate_{where.device}"]


def net(where: Layout, constants: Constants, known: dict[str, float] | None = None) -> float:
    """Seconds of the forecast without write-up steps; ``known`` is :func:`facts` unless another machine's."""
    known, kind = known or facts(), "simulator" if where.simulated else "forecast"
    fixed = known[f"cpu_{kind}"] + getattr(constants, f"base_{kind}")
    if where.device == "disk":
        return fixed + (constants.queue_pair if where.paired else constants.queue)
    name = (
        ("bmr_pair" if where.paired else "bmr") if where.device == "bmr" else "sync" if where.synchronous else "async"
    )
    return fixed + getattr(constants, f"requests_{name}") * max(1, where.files // 2) + transfer(where, known)


def printed_net(table: str, configuration: str) -> float:
    """The printed seconds; where the scan lost them in a pair, total less write-up steps."""
    frame = tables.printed(DOCUMENT, table)
    if table == "fig5_4":
        test, job = configuration.split("/")
        row = frame[(frame["test"] == test) & (frame["job"].astype(int) == int(job))].iloc[0]
        return float(row["total"]) - float(row["write_sum"])
    return float(frame.set_index("configuration")["net_forecast"][configuration])


def paired(row: str) -> Layout:
    """``ssd1+disk4/2`` as the layout of its second job, with the driver that all others had: the synchronous one."""
    test, job = row.split("/")
    return replace(layout(test.split("+")[int(job) - 1], True), paired=True)


def solved(times: Callable[[str, str], float], known: dict[str, float] | None = None) -> Constants:
    """The constants from six rows, one after the other.

    ``times(kind, configuration)``: net seconds of a ``"simulator"`` or a ``"forecast"``; ``known`` is for :func:`net`.
    """
    found = Constants(0, 0, 0, 0, 0, 0)

    def missing(kind, configuration):
        return times(kind, configuration) - net(layout(configuration, kind == "simulator"), found, known)

    both, four = missing("simulator", "ssd2-sync"), missing("simulator", "ssd4-sync")  # base + r and base + 2 r
    found = replace(found, base_simulator=2 * both - four, requests_sync=four - both)
    found = replace(found, requests_async=missing("simulator", "ssd2-async"), requests_bmr=missing("simulator", "bmr1"))
    found = replace(found, queue=missing("simulator", "disk4"))
    return replace(found, base_forecast=missing("forecast", "ssd2-sync"))


@cache
def calibrate() -> Constants:
    """The constants from the report: six rows of single forecasts, and two of pairs."""
    found = solved(lambda kind, name: printed_net("fig5_2" if kind == "simulator" else "fig4_2", name))
    in_pairs = {
        name: printed_net("fig5_4", row) - net(paired(row), found)
        for name, row in (("queue_pair", "ssd1+disk4/2"), ("requests_bmr_pair", "ssd1+bmr1/2"))
    }
    return replace(found, **in_pairs)


def degraded() -> float:
    """Net seconds of the degraded forecast (Fig. 4.3): one file, and three more that are read backwards.

    A row of each extra file is written, and read after two backspaces, each at the cost of a request.
    """
    constants, one = calibrate(), Layout("ssd", 1)
    a_request = constants.requests_sync / 2  # one request a row: half of them read, half write
    return net(one, constants) + 3 * 4 * a_request


def residuals() -> pd.DataFrame:
    """Every row of Figs 4.2, 4.3, 5.2 and 5.4: printed and modelled net time, in columns of their own."""
    constants, found = calibrate(), []
    for table in ("fig4_2", "fig5_2"):
        for name in tables.printed(DOCUMENT, table)["configuration"]:
            if not name.startswith("cray1a"):
                found.append((table, name, printed_net(table, name), net(layout(name, table == "fig5_2"), constants)))
    found.append(("fig4_3", "ssd1+3-degraded", printed_net("fig4_3_breakdown", "ssd1+3-degraded"), degraded()))
    for _, row in tables.printed(DOCUMENT, "fig5_4").iterrows():
        if row["test"] != "ecmwf":
            name = f"{row['test']}/{row['job']}"
            found.append(("fig5_4", name, printed_net("fig5_4", name), net(paired(name), constants)))
    rows = [(*row, CALIBRATED.get(row[:2], ""), _UNEXPLAINED.get(row[:2], "")) for row in found]
    frame = pd.DataFrame(rows, columns=["table", "row", "printed", "model", "calibrates", "unexplained"])
    frame["departure"] = frame["model"] / frame["printed"] - 1
    return frame


def left_out(kept, known: dict[str, float] | None = None) -> pd.DataFrame:
    """Constants by least squares from all rows but one, and that row's departure.

    ``kept``: table, row, layout and seconds of each row.  Rows that alone decide a constant cannot be left out and
    carry no number.
    """
    columns = ["base_forecast", "base_simulator", "requests_sync", "requests_async", "requests_bmr"]
    nothing = Constants(0, 0, 0, 0, 0, 0)
    fixed = np.array([net(where, nothing, known) for _t, _n, where, _p in kept])
    design = np.array(
        [[net(where, replace(nothing, **{name: 1.0}), known) for name in columns] for _t, _n, where, _p in kept]
    )
    design -= fixed[:, None]
    wanted, rows = np.array([seconds for *_rest, seconds in kept]), []
    for out, (table, name, _where, seconds) in enumerate(kept):
        use = np.arange(len(kept)) != out
        solution = np.linalg.lstsq(design[use], (wanted - fixed)[use], rcond=None)[0]
        decided = np.linalg.matrix_rank(design[use]) == len(columns)
        model = fixed[out] + design[out] @ solution if decided else np.nan
        rows.append((table, name, seconds, model, model / seconds - 1))
    return pd.DataFrame(rows, columns=["table", "row", "printed", "model", "departure"])


def leave_one_out() -> pd.DataFrame:
    """:func:`left_out` of the fast devices alone."""
    kept = [
        (table, name, layout(name, table == "fig5_2"), printed)
        for table, name, printed in residuals()
        .query("table in ('fig4_2', 'fig5_2')")[["table", "row", "printed"]]
        .itertuples(index=False)
        if not name.startswith("disk") and (table, name) not in _UNEXPLAINED
    ]
    return left_out(kept)


def finish(starts: list[float], jobs: int, seconds: float) -> float:
    """Second in which the last of ``jobs`` queued jobs ends, on CPUs that fall free at ``starts``."""
    free = list(starts)
    for _ in range(jobs):
        first = free.index(min(free))
        free[first] += seconds
    return max(free)


def conclusions() -> pd.DataFrame:
    """What the report concluded, as it printed it and as it follows from the model.

    Write-up steps and post-processing jobs go to disks in every run; they are taken as printed.
    """
    constants, prose = calibrate(), tables.printed(DOCUMENT, "prose").set_index("fact")["value"]
    sync, overlapped = (net(Layout("ssd", 2, synchronous), constants) for synchronous in (True, False))
    cost = 100 * (sync - overlapped) / sync
    one = tables.printed(DOCUMENT, "fig4_3_times").iloc[0]
    steps = tables.printed(DOCUMENT, "fig4_3_breakdown").iloc[0]
    alone = tables.printed(DOCUMENT, "fig4_1").set_index("configuration")["total_clock"].astype(float)
    whole = degraded() + float(steps["write_sum"]) + float(one["pp_clock"])
    pairs = tables.printed(DOCUMENT, "fig5_3")
    reference = float(pairs.loc[pairs["test"] == "ecmwf", "complete"].iloc[0])
    fast = pairs[pairs["test"] == "ssd1+ssd1"]
    written = tables.printed(DOCUMENT, "fig5_4").query("test == 'ssd1+ssd1'")["write_sum"].astype(float)
    starts = [net(Layout("ssd", 1, simulated=True), constants) + one_sum for one_sum in written]
    post = fast["pp_5_jobs"].astype(float)
    best = reference / finish(starts, 2 * int(prose["write_up_steps"]), float(post.mean()) / 5)
    rows = [
        ("cost of transfers to SSD that do not overlap, %", float(prose["cost_ssd"]), cost),
        ("the same for buffer memory, %", float(prose["cost_bmr"]), cost * float(prose["ssd_to_bmr"])),
        ("Cray 1 over X-MP, degraded forecast", float(prose["ratio_degraded"]), alone["cray1a-disk4"] / whole),
        ("best throughput of a pair", float(prose["throughput_best"]), best),
    ]
    return pd.DataFrame(rows, columns=["conclusion", "printed", "model"])
