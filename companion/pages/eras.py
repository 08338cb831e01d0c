"""The three axes that open the synthesis, each with all reports that bear on it: files, memory, and computing.

Frames are those of :mod:`companion.pages.synthesis`.
"""

from html import escape

import numpy as np
import pandas as pd

from companion import tables
from companion.figures.parts import cpu, log_axis, points
from companion.figures.rendering import Shown, show
from companion.figures.style import axes
from companion.figures.tabular import significant
from companion.items import page
from companion.labels import counted
from companion.pages.synthesis import SYSTEMS, frame_of, full_name, measured, printed, said
from companion.records import runs

MEGA, GIGA, GIB = 1e6, 1e9, 2**30
WORD = 8  # bytes


def file_rates() -> pd.DataFrame:
    """MB/s (10^6 bytes) of one program to its files; of today, of the same programs on the committed runs."""
    rates = tables.printed("xmp1982", "fig7_2").set_index("test")["mbyte_rate"].astype(float)
    names = {"disk": "a disk", "bmr": "buffer memory", "ssd": "SSD"}
    rows = [printed("xmp1982/fig7_2", "cray_xmp_1982", what, rates[test]) for test, what in names.items()]
    nasa = tables.load("nht1", "systems")
    for system, machine, fact, what in (
        ("CM-2", "cm2", "io_rate_serial", "serial file"),
        ("Y-MP", "cray_ymp", "disk_rate", "a file"),
        ("iPSC/860", "ipsc860", "io_rate_peak", "ten disks, peak"),
        ("CM-2", "cm2", "io_rate_peak", "disk array, peak"),
    ):
        rows.append(printed("nht1/systems", machine, what, float(nasa[fact].sel(system=system))))
    rate = float(tables.load("xc30", "hres_io")["file_rate"])
    rows.append(printed("xc30/hres_io", "cray_xc30", "one of 120 files", rate, bound=">"))
    run = runs.latest("xmp1982-devices")
    if run is not None:
        clock = np.nanmedian(run["observed_clock"].values, axis=1)
        found = dict(zip(run["test"].values.astype(str), WORD * run["mwords"].values / clock, strict=True))
        rows += [measured(run, what, found[test]) for test, what in (("disk", "a disk, O_DIRECT"), ("ssd", "memory"))]
    run = runs.latest("nht1-io")
    if run is not None:
        largest = run.isel(case=np.flatnonzero(run["N"].values == run["N"].values.max()))
        arrays = largest.isel(case=np.flatnonzero(largest["way"].values == "one array a write"))
        seconds = float(np.nanmedian(arrays["observed_transferring"].values))
        rows.append(measured(run, "a solution file, page cache", float(arrays["solution_bytes"][0]) / MEGA / seconds))
    return frame_of(rows, "MB/s")


def file_per_flop() -> pd.DataFrame:
    """Bytes to one file for each flop at the peak of the machine, where both are known."""
    stated, rates, rows = tables.machines(), file_rates(), []
    for machine, place, what in (
        ("cray_ymp", "nht1/systems", "a file"),
        ("cray_xc30", "xc30/hres_io", "one of 120 files"),
    ):
        one = rates[(rates["machine"] == full_name(machine)) & (rates["what"] == what)].iloc[0]
        peak = GIGA * float(stated["peak"].sel(machine=machine))
        rows.append(printed(place, machine, f"{what}, peak of the machine", MEGA * one["value"] / peak, one["bound"]))
    run = runs.latest("xc30-routines")
    disk = rates[rates["what"] == "a disk, O_DIRECT"]
    if run is not None and len(disk) and disk["machine"].iloc[0] == cpu(run):
        peak = (run["flops"] / run["median"]).values[run["what"].values == "peak"][0]
        threads = counted(int(run["threads"].values[0]), "thread")
        what = f"a disk, O_DIRECT, measured peak of {threads}"
        rows.append(measured(run, what, MEGA * disk["value"].iloc[0] / float(peak)))
    return frame_of(rows, "B to a file for each flop at peak")


def memory_per_flop() -> pd.DataFrame:
    """Bytes of main memory, counted in powers of two, for each flop/s of peak; of a run, for each of measured peak.

    The report of 2006 prints no peak: it follows from GFLOPS and the share of peak of one job.
    """
    stated, what, rows = tables.machines(), "memory of the machine", []
    words = float(tables.load("nht1", "systems")["memory_words"].sel(system="Y-MP")) * 2**20
    peak = float(stated["peak"].sel(machine="cray_ymp"))  # GFLOPS
    rows.append(printed("nht1/systems", "cray_ymp", what, WORD * words / (GIGA * peak)))
    jobs, what = tables.printed("p5plus", "p4_p5").set_index("system"), "memory of a node"
    for system in ("P4+", "P5+"):
        one, job = stated.sel(machine=SYSTEMS[system]), jobs.loc[system]
        peak = float(one["cpus_per_node"]) * job["gflops"] / (job["peak_percent"] / 100) / job["cpus"]
        rows.append(printed("p5plus/p4_p5", SYSTEMS[system], what, _node_bytes(one) / (GIGA * peak)))
    for name in ("power7", "cray_xc30"):
        one = stated.sel(machine=name)
        peak = float(one["peak"]) / float(one["nodes"])
        rows.append(printed("xc30/machines", name, what, _node_bytes(one) / (GIGA * peak)))
    run = runs.latest("xc30-transforms")
    if run is not None:
        row = measured(run, "", 0.0)
        memory = runs.read(runs.COMMITTED / row["source"].rpartition("/")[2])["machine"]["memory"]["total_bytes"]
        threads = run["threads"].values.max()
        chosen = (run["what"].values == "peak") & (run["threads"].values == threads)
        peak = float((run["flops"] / run["median"]).values[chosen][0])
        rows.append(measured(run, f"all memory, measured peak of {counted(int(threads), 'thread')}", memory / peak))
    return frame_of(rows, "B for each flop/s of peak")


def _node_bytes(machine) -> float:
    """Memory of a node: its megabytes are thousandths of a gigabyte of 2^30 bytes."""
    return float(machine["memory_per_node"]) / 1000 * GIB


def streamed() -> pd.DataFrame:
    """GB/s that one processor reads in the streaming loop of 2006: 8 bytes for a multiplication and an addition."""
    cpus = float(tables.machines().sel(machine="power5plus")["cpus_per_node"])
    node = tables.printed("p5plus", "smt_benefit").set_index("loop")["gflops_no_smt"]["streaming"]
    rows = [printed("p5plus/smt_benefit", "power5plus", "streaming loop", node / cpus * WORD / 2)]
    run = runs.latest("p5plus-smt")
    if run is not None:
        chosen = (run["loop"].values.astype(str) == "streaming") & (run["streams"].values.astype(str) == "1")
        rate = float((run["flops"] / run["median"]).values[chosen][0])
        rows.append(measured(run, "streaming loop", rate * WORD / 2 / GIGA))
    return frame_of(rows, "GB/s that one processor reads")


#: Kinds of jobs whose share of the clock reports print, as rows of a figure.
FORECAST, IMAGING = "forecast on work files, 1982", "radio imaging, large problem, 1989"
WRITING, PARALLEL = "flow solver that writes, 1993", "parallel part of IFS jobs, 2006"


def computing() -> pd.DataFrame:
    """Share [%] of the clock in which a job computes: CPU over clock, or computing over elapsed time."""
    old = tables.printed("xmp1982", "fig4_1").set_index("configuration")
    rows = []
    for name, machine, what in (
        ("cray1a-disk4", "cray_1a_ecmwf", "forecast, disks"),
        ("disk4", "cray_xmp_1982", "forecast, disks"),
        ("ssd2-async", "cray_xmp_1982", "forecast, SSD"),
    ):
        share = 100 * old["forecast_cpu"][name] / old["forecast_clock"][name]
        rows.append(printed("xmp1982/fig4_1", machine, what, share, group=FORECAST))
    large = tables.printed("aips58", "ddt_large")
    for system, machine in (("nrao1", "convex_c1_nrao1"), ("clsc", "cray_xmp24_clsc"), ("psc", "cray_xmp48_psc")):
        share = 100 * large[f"{system}_cpu"].sum() / large[f"{system}_real"].sum()
        rows.append(printed("aips58/ddt_large", machine, "imaging, large problem", share, group=IMAGING))
    nasa = {"Y-MP": "cray_ymp", "CM-2": "cm2", "iPSC/860": "ipsc860"}
    for row in tables.printed("nht1", "overheads").itertuples():
        bound = {"above": "<", "below": ">"}.get(row.bound, "")
        for zeta, case in ((row.low, ", at best"), (row.high, ", at worst")):
            if pd.notna(zeta):
                what, share = f"flow solver that writes{'' if bound else case}", 100 / (1 + zeta / 100)
                rows.append(printed("nht1/overheads", nasa[row.system], what, share, bound, WRITING))
    for row in tables.printed("p5plus", "ifs_times").itertuples():
        share = 100 * row.parallel / row.wall
        what = f"{row.job}, {row.cpus} CPUs"
        rows.append(printed("p5plus/ifs_times", "power5plus", what, share, group=PARALLEL))
    return frame_of([*rows, *_computing_now()], "% of the clock")


def _computing_now() -> list[dict]:
    """The forecast, the imaging and the flow solver of the committed runs."""
    rows = []
    run = runs.latest("xmp1982-forecast")
    if run is not None:
        on_disk = run["configuration"].values.astype(str) == "disk4"
        cpu_time, clock = (np.nanmedian(run[name].values[on_disk]) for name in ("observed_cpu", "observed_forecast"))
        rows.append(measured(run, "forecast, disks", 100 * cpu_time / clock, FORECAST))
    run = runs.latest("aips58-ddt")
    if run is not None:
        large = run["size"].values.astype(str) == "large"
        spent, real = (np.nanmedian(run[f"observed_{name}"].values[large], axis=1).sum() for name in ("cpu", "real"))
        rows.append(measured(run, "imaging, large problem", 100 * spent / real, IMAGING))
    run = runs.latest("nht1-io")
    if run is not None:
        same = (run["N"].values == run["N"].values.max()) & (run["threads"].values == run["threads"].values.max())
        alone = float(run["median"].values[same & (run["way"].values == "none")][0])
        writing = zip(run["way"].values[same].astype(str), run["observed_T_T"].values[same], strict=True)
        rows += [
            measured(run, f"flow solver that writes, {way}", 100 * alone / np.nanmedian(elapsed), WRITING)
            for way, elapsed in writing
            if way in ("one array a write", "40-byte elements")
        ]
    return rows


def _apart(values: np.ndarray, least: float) -> np.ndarray:
    """Places of labels on a logarithmic axis, in powers of ten, moved up until they are ``least`` apart."""
    placed, order = np.log10(values), np.argsort(values)
    for before, after in zip(order, order[1:], strict=False):
        placed[after] = max(placed[after], placed[before] + least)
    return placed


#: Machines as the labels of a figure with little room name them.
SHORT = {"Cray X-MP (prototype)": "Cray X-MP", "Thinking Machines CM-2": "CM-2", "Cray Y-MP 8/256": "Cray Y-MP"}


def files_through_time() -> Shown:
    """What a program could write or read a second, from 1982 to today: the figure that opens the book."""
    frame = file_rates()
    figure, axis = axes(height=4.4)
    for kind, host, label in (("report", False, "printed in a report"), ("run", True, "measured today")):
        part = frame[frame["kind"] == kind]
        if not part.empty:
            points(axis, part["year"], part["value"], label=label, host=host, index=int(host), line=False)
    for year, part in frame.groupby("year"):
        right = 1985 < year < 2000
        for row, height in zip(part.itertuples(), 10 ** _apart(part["value"].to_numpy(), 0.2), strict=True):
            what = row.what if row.kind == "run" else f"{SHORT.get(row.machine, row.machine)}, {row.what}"
            least = "≥ " if row.bound == ">" else ""
            axis.annotate(
                f"{what} {least}{significant(row.value, 3)}", (year, height), xytext=(7 if right else -7, 0),
                textcoords="offset points", ha="left" if right else "right", va="center", size=8,
            )  # fmt: skip
    log_axis(axis, "y")
    axis.set(xlim=(1962, 2029), xticks=range(1980, 2030, 10), xlabel="year", ylabel="MB/s")
    axis.set_ylim(frame["value"].min() / 2, frame["value"].max() * 2.5)
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return show(
        figure,
        data=frame,
        name="file_rates",
        title="Forty years of reading and writing",
        caption="What one program moved to or from its files, in MB/s. Hollow: printed in a report, as measured unless "
        "it says peak; a file of 2014 had this rate at least. Filled: medians of committed runs on one machine of "
        "today.",
        alt=f"Rates of files in MB/s by year, on a logarithmic axis. {said(frame)}.",
    )


def balance_2006() -> float:
    """Bytes that a processor of the Power5+ reads in the streaming loop, for each flop at its peak."""
    job = tables.printed("p5plus", "p4_p5").set_index("system").loc["P5+"]
    peak = job["gflops"] / (job["peak_percent"] / 100) / job["cpus"]
    return float(streamed()["value"].iloc[0] / peak)


#: Documents on which each of the findings rests.
RESTS_ON = (("xmp1982", "nht1", "xc30"), ("nht1", "p5plus", "xc30"), ("xmp1982", "aips58"))


def opened(folder: str = "../notebooks") -> Shown:
    """The findings as a list, each with links to its chapters under ``folder``."""
    rows, said = [], findings()
    for finding, documents in zip(said, RESTS_ON, strict=True):
        links = (f'<a href="{folder}/{page(each)}.html">chapter {int(page(each)[:2])}</a>' for each in documents)
        rows.append(f"<li>{escape(finding)} ({', '.join(links)})</li>")
    return Shown(f'<ul class="rerun-findings">{"".join(rows)}</ul>', "\n".join(f"- {finding}" for finding in said))


def findings() -> list[str]:
    """What the three axes show, a sentence each."""
    files, memory, busy = file_rates(), memory_per_flop()["value"], computing()

    def rate(machine: str, what: str) -> float:
        return files.loc[(files["machine"] == full_name(machine)) & (files["what"] == what), "value"].item()

    now = files.loc[files["what"] == "a disk, O_DIRECT", "value"]
    today = f", and one of today at {significant(now.iloc[0], 3)} MB/s" if len(now) else ""
    reports = memory.iloc[1:5]
    worst, best = (
        busy.loc[(busy["group"] == group) & (busy["kind"] == "report"), "value"] for group in (IMAGING, FORECAST)
    )
    return [
        f"A program reached a disk of 1982 at {rate('cray_xmp_1982', 'a disk'):g} MB/s, a file of 1993 at "
        f"{rate('cm2', 'serial file'):g} to {rate('cray_ymp', 'a file'):g}, one of 2014 at "
        f"{rate('cray_xc30', 'one of 120 files'):g} or more{today}.",
        f"Memory for each flop/s of peak fell from {memory.iloc[0]:.2f} bytes on the Cray Y-MP to "
        f"{reports.min():.2f} to {reports.max():.2f} on the machines of 2006 and 2014.",
        f"A forecast of 1982 on a machine of its own computed for {best.max():.0f} % of the clock, imaging of 1989 on "
        f"a shared Cray X-MP for {worst.min():.0f} %.",
    ]
