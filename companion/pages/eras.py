"""The three axes that open the synthesis, each with all reports that bear on it: files, memory, and computing.

Frames are those of :mod:`companion.pages.synthesis`.
"""

from html import escape

import numpy as np
import pandas as pd

from companion import tables
from companion.figures.parts import (
    MARKED,
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
from companion.figures.rendering import Shown, show
from companion.figures.style import axes
from companion.figures.tabular import significant
from companion.items import page
from companion.labels import plural
from companion.pages.synthesis import (
    frame_of,
    full_name,
    kinds,
    measured,
    of_each,
    of_first,
    of_machines,
    peak_on,
    printed,
    rate_of,
    said,
    stated,
)

_MEGA, _GIGA, _GIB = 1e6, 1e9, 2**30
_WORD = 8  # bytes


def file_rates() -> pd.DataFrame:
    """MB/s (10^6 bytes) of one program to its files; of today, of the same programs on the committed runs."""
    rows = of_each("xmp1982-devices", _devices) + of_each("nht1-io", _solution_files)
    return frame_of(stated("files") + rows, "MB/s")


def _devices(run) -> list[dict]:
    clock = of_samples(run["observed_clock"].values, run["flags"].values)
    found = converted(clock, lambda seconds: _WORD * run["mwords"].values / seconds)
    tests = list(run["test"].values.astype(str))
    named = (("disk", "a disk, O_DIRECT"), ("ssd", "memory"))
    return [measured(run, what, found.iloc[[tests.index(test)]]) for test, what in named]


def _solution_files(run) -> list[dict]:
    largest = run.isel(case=np.flatnonzero(run["N"].values == run["N"].values.max()))
    arrays = largest.isel(case=np.flatnonzero(largest["way"].values == "one array a write"))
    nbytes = float(arrays["solution_bytes"][0])
    found = of_samples(arrays["observed_transferring"].values, arrays["flags"].values)
    found = converted(found, lambda seconds: nbytes / _MEGA / seconds)
    return [measured(run, "a solution file, page cache", found)]


def file_per_flop() -> pd.DataFrame:
    """Bytes to one file for each flop at the peak of the machine, where both are known."""
    known, rates, rows = tables.machines(), file_rates(), []
    for machine, place, what in (
        ("cray_ymp", "nht1/systems", "a file"),
        ("cray_xc30", "xc30/hres_io", "one of 120 files"),
    ):
        one = rates[(rates["machine"] == full_name(machine)) & (rates["what"] == what)].iloc[0]
        peak = _GIGA * float(known["peak"].sel(machine=machine))
        rows.append(printed(place, machine, f"{what}, peak of the machine", _MEGA * one["value"] / peak, one["bound"]))
    rows += of_each("xmp1982-devices", _disk_per_flop)
    return frame_of(rows, "B to a file for each flop at peak")


def _disk_per_flop(run) -> list[dict]:
    top = peak_on(cpu(run))
    if top is None:
        return []
    _, threads, peak = top
    found = quotient(pd.DataFrame(_devices(run)[:1]).rename(columns={"value": "middle"}), peak)
    what = f"a disk, O_DIRECT, peak of {plural(threads, 'thread')}"
    return [measured(run, what, converted(found, lambda each: _MEGA * each))]


def memory_per_flop() -> pd.DataFrame:
    """Bytes of main memory, counted in powers of two, for each flop/s of peak; of a run, for each of measured peak.

    The report of 2006 prints no peak: it follows from GFLOPS and the share of peak of one job.
    """
    known, what, rows = tables.machines(), "memory of the machine", []
    words = float(tables.load("nht1", "systems")["memory_words"].sel(system="Y-MP")) * 2**20
    peak = float(known["peak"].sel(machine="cray_ymp"))  # GFLOPS
    rows.append(printed("nht1/systems", "cray_ymp", what, _WORD * words / (_GIGA * peak)))
    what = "memory of a node"
    for system, name in (("P4+", "power4plus"), ("P5+", "power5plus")):
        one = known.sel(machine=name)
        peak = float(one["cpus_per_node"]) * _peak_2006(system)
        rows.append(printed("p5plus/p4_p5", name, what, _node_bytes(one) / (_GIGA * peak)))
    for name in ("power7", "cray_xc30"):
        one = known.sel(machine=name)
        peak = float(one["peak"]) / float(one["nodes"])
        rows.append(printed("xc30/machines", name, what, _node_bytes(one) / (_GIGA * peak)))
    rows += of_each("xc30-transforms", _memory_now)
    return frame_of(rows, "B for each flop/s of peak")


def _memory_now(latest) -> list[dict]:
    top = peak_on(cpu(latest))
    if top is None:
        return []
    run, threads, peak = top
    memory, what = run.attrs["memory"], f"all memory, peak of {plural(threads, 'thread')}"
    return [measured(run, what, converted(peak, lambda rate: memory / rate))]


def _peak_2006(system: str) -> float:
    """GFLOPS of one processor of 2006, from the rate of a job and its share of peak."""
    job = tables.printed("p5plus", "p4_p5").set_index("system").loc[system]
    return float(job["gflops"] / (job["peak_percent"] / 100) / job["cpus"])


def _node_bytes(machine) -> float:
    """Memory of a node: its megabytes are thousandths of a gigabyte of 2^30 bytes."""
    return float(machine["memory_per_node"]) / 1000 * _GIB


#: Bytes for each operation of the streaming loop of 2006: an item of 8 bytes, a multiplication and an addition.
STREAMED = _WORD / 2


def streamed() -> pd.DataFrame:
    """GB/s that one processor reads in the streaming loop of 2006, with one thread and with two."""
    cpus = float(tables.machines().sel(machine="power5plus")["cpus_per_node"])
    node = tables.printed("p5plus", "smt_benefit").set_index("loop").loc["streaming"]
    modes = {"gflops_no_smt": "streaming loop", "gflops_smt": "streaming loop, two threads"}
    rows = [printed("p5plus/smt_benefit", "power5plus", what, node[mode] / cpus * STREAMED)
            for mode, what in modes.items()]  # fmt: skip
    return frame_of(rows + of_each("p5plus-smt", _streamed_now), "GB/s that one processor reads")


def _streamed_now(run) -> list[dict]:
    chosen = (run["loop"].values.astype(str) == "streaming") & (run["streams"].values.astype(str) == "1")
    found = converted(rate_of(run, chosen), lambda rate: rate * STREAMED / _GIGA)
    return [measured(run, "streaming loop", found)]


def read_per_flop() -> pd.DataFrame:
    """Bytes that one processor reads in the streaming loop in the time of one flop at its peak.

    The peak of a Power5+ follows from a job's share of it; that of a measured machine is of one of its threads.
    """
    rows = []
    for row in streamed().itertuples():
        if row.kind == "report":
            balance = row.value / _peak_2006("P5+")
            rows.append(printed("p5plus/smt_benefit", "power5plus", row.what, balance))
    return frame_of(rows + of_each("p5plus-smt", _read_now), "B for each flop at peak")


def _read_now(run) -> list[dict]:
    top = peak_on(cpu(run))
    if top is None:
        return []
    _, threads, peak = top
    found = pd.DataFrame(_streamed_now(run)).rename(columns={"value": "middle"})
    balance = converted(quotient(found, peak), lambda ratio: _GIGA * threads * ratio)
    return [measured(run, f"streaming loop, peak of {plural(threads, 'thread')}", balance)]


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
    rows = stated("computing")
    for experiment, again in (("xmp1982-forecast", _forecast), ("aips58-ddt", _imaging), ("nht1-io", _writing)):
        rows += of_each(experiment, again)
    return frame_of(rows, "% of the elapsed time")


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
    rows = []
    same = (run["N"].values == run["N"].values.max()) & (run["threads"].values == run["threads"].values.max())
    alone = case_intervals(run).loc[np.flatnonzero(same & (run["way"].values == "none"))]
    for way in ("one array a write", "40-byte elements"):
        (row,) = np.flatnonzero(same & (run["way"].values == way))
        elapsed = of_samples(run["observed_T_T"].values[[row]], run["flags"].values[[row]])
        share = converted(quotient(alone, elapsed), lambda share: 100 * share)
        rows.append(measured(run, f"flow solver that writes, {way}", share, _WRITING))
    return rows


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
    old, bounds, new = kinds(frame)
    points(axis, old["year"], old["value"], label="printed in a report", line=False)
    low, high = (bounds["value"].where(bounds["bound"] == sign) for sign in "><")
    printed_ranges(axis, bounds["year"], low, high, across=False)
    of_machines(axis, new["year"], new)
    first = (frame["kind"] == "report") | ~frame["what"].duplicated()  # of a second machine the mark alone
    for year, part in frame[first].groupby("year"):
        right, below = year < 2000, 2000 < year < 2020  # a bound of 2014, whose label needs the width
        for row, height in zip(part.itertuples(), 10 ** _spaced(part["value"].to_numpy(), 0.2), strict=True):
            what = row.what if row.kind == "run" else f"{_SHORT.get(row.machine, row.machine)}, {row.what}"
            least = "≥ " if row.bound == ">" else ""
            beside = row.kind == "run" and bounds["value"].between(row.value / 3, row.value).any()  # a bound's arrow
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


def opened(folder: str = "../notebooks") -> Shown:
    """The findings as a list, each with links to its chapters under ``folder``."""
    rows, said = [], findings()
    for finding, documents in zip(said, _RESTS_ON, strict=True):
        links = (f'<a href="{folder}/{page(each)}.html">chapter {int(page(each)[:2])}</a>' for each in documents)
        rows.append(f"<li>{escape(finding)} ({', '.join(links)})</li>")
    return Shown(f'<ul class="rerun-findings">{"".join(rows)}</ul>', "\n".join(f"- {finding}" for finding in said))


def findings() -> list[str]:
    """What the three axes show, a sentence each."""
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
