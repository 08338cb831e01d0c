"""How an overhead depends on the computing time beside it: the code (N8), the number of processors (N4), who writes."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.nht1.figures.writing import written
from companion.figures.beside import each_machine
from companion.figures.parts import (
    bars,
    cpu,
    ends,
    of_samples,
    points,
    printed_ranges,
    quotient,
    spread_of,
    times,
    with_spread,
)
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes
from companion.records.runs import single

_HOUR = 3600.0
_MEGA = 1e6
#: Codes of the record, as a mark has room for them.
SHORT = {
    "compiled solver": "compiled",
    "compiled, line by line with full blocks": "line by line",
    "plain NumPy solver": "NumPy",
}


def balance_1993(systems: xr.Dataset, prose: xr.Dataset, parameters, figure_axes, printed) -> pd.DataFrame:
    """What survives of computing time and overhead at the report's full size.

    Returns
    -------
    pandas.DataFrame
        ``what``; ``computing``, seconds of it between two dumps; ``zeta`` in percent, computed from the rate of the
        serial file for the CM-2, and the bound of the abstract for the iPSC/860, whose times are the ends of an axis.
    """
    N = int(prose["full_size"])
    steps, interval = parameters.set_index("N").loc[N, ["NS", "IW"]]
    dumps = float(steps / interval)
    one = float(prose["components"]) * float(prose["word"]) * N**3
    writes = one / _MEGA / float(systems["io_rate_serial"].sel(system="CM-2"))
    fast = float(prose["cm2_time"]) * _HOUR / dumps
    slow = fast * (1 + float(prose["cm2_speedup"]) / 100)
    bound = float(printed.set_index("system").loc["iPSC/860", "low"])
    axis = figure_axes.loc[figure_axes["axis"] == "y", "value"]
    rows = [
        ("CM-2, faster code", fast, 100 * writes / fast),
        ("CM-2, public sample", slow, 100 * writes / slow),
        *(("iPSC/860, second code", total / (1 + bound / 100) / dumps, bound) for total in (axis.min(), axis.max())),
    ]
    return pd.DataFrame(rows, columns=["what", "computing", "zeta"])


def waits(record: xr.Dataset) -> pd.DataFrame:
    """By grid and code: seconds of computing between two dumps, and what the solver waits for a dump over that, in
    percent, as ``parts.times`` compares them; ``apart`` is T_T/T_C - 1, of the same runs."""
    record = single(record)
    cases = pd.DataFrame({name: record[name].values for name in ("N", "NS", "IW", "code", "way")})
    rows = []
    for alone in cases.index[cases["way"] == "none"]:
        same = (cases["N"] == cases.loc[alone, "N"]) & (cases["code"] == cases.loc[alone, "code"])
        (writing,) = cases.index[same & (cases["way"] != "none")]
        T_C, waiting = record["seconds"].values[alone], record["observed_stalled"].values[writing]
        low, middle, high = ends(waiting, T_C)
        case = cases.loc[alone]
        rows.append(
            {
                "N": int(case["N"]),
                "code": str(case["code"]),
                "computing": float(np.nanmedian(T_C)) * case["IW"] / case["NS"],
                "low": 100 * low,
                "middle": 100 * middle,
                "high": 100 * high,
                "flagged": any(str(record["flags"].values[i]) for i in (alone, writing)),
                "apart": times(record["observed_T_T"].values[writing], T_C),
            }
        )
    return pd.DataFrame(rows)


def _short(seconds: float) -> str:
    """A power of ten of a second: 10 µs, 1 ms, 10 s."""
    factor, unit = next((pair for pair in ((1, "s"), (1e3, "ms")) if seconds * pair[0] >= 0.999), (1e6, "µs"))
    return f"{seconds * factor:g} {unit}"


def _diagonals(axis, x, low: float) -> None:
    """Dashed lines on which a dump takes the same time, with that time written on them."""
    for seconds in 10.0 ** np.arange(-5, 4):
        axis.plot(x, 100 * seconds / x, color=INK, alpha=0.35, linewidth=0.7, linestyle="--", zorder=0)
        place = 100 * seconds / (1.25 * low)
        if x[0] * 3 < place < x[1] / 1.5:
            axis.text(place, 1.25 * low, _short(seconds), size=8, rotation=-45, ha="center", va="bottom", alpha=0.8)


@each_machine
def balance(old: pd.DataFrame, record: xr.Dataset) -> Shown:
    """Overhead against the time of computing between two dumps: a slower solver has a lower one (N8)."""
    found = waits(record)
    figure, axis = axes(height=3.7)
    cm2, ipsc = (old[old["what"].str.startswith(name)] for name in ("CM-2", "iPSC"))
    points(axis, cm2["computing"], cm2["zeta"], label="CM-2 (1993), two codes", index=0)
    printed_ranges(axis, ipsc["computing"], ipsc["zeta"], np.full(len(ipsc), np.nan), across=False)
    right, bound = ipsc["computing"].max(), ipsc["zeta"].min()
    axis.annotate("iPSC/860 (1993)", (right, bound), xytext=(8, 4), textcoords="offset points", size=8)
    arrow = {"arrowstyle": "->", "color": INK, "linestyle": ":"}
    axis.annotate("", (3 * right, bound / 10), (right, bound), arrowprops=arrow)
    axis.annotate("its first code: slower,\nζ low, no numbers", (3 * right, bound / 11), ha="center", va="top", size=8)
    for index, (N, part) in enumerate(sorted(found.groupby("N"), reverse=True), start=1):
        bars(axis, part["computing"], part.reset_index(drop=True), index=index, label=f"{cpu(record)}, N = {N}")
        for row in part.itertuples():
            axis.annotate(
                SHORT[row.code], (row.computing, row.middle), xytext=(5, 4), textcoords="offset points", size=8
            )
    x = np.array([min(found["computing"].min(), 1e-2) / 3, cm2["computing"].max() * 4])
    low, high = min(found["middle"].min(), cm2["zeta"].min()) / 3, 300.0
    _diagonals(axis, x, low)
    axis.set(xlim=x, ylim=(low, high))
    then = ", ".join(f"{row.what} {row.zeta:.2g} percent at {row.computing:.4g} s" for row in cm2.itertuples())
    data = pd.concat([old, found.drop(columns="apart")], ignore_index=True)
    return show(figure, data=data, name="nht1_balance", run=record, then=then, ipsc=ipsc["zeta"], items=found)


@each_machine
def by_processors(record: xr.Dataset, printed: pd.DataFrame, way: str) -> Shown:
    """Overhead against the number of processors (N4), with the range that the abstract gives for the Y-MP."""
    frame, found = written(record)
    every = frame[frame["way"] == way].sort_values(["N", "threads"])
    large = every["N"] > every["N"].min()
    chosen = every[large] if large.any() else every
    figure, axis = axes(height=2.9)
    ymp = printed.set_index("system").loc["Y-MP"]
    printed_ranges(axis, [0.5], [ymp["low"]], [ymp["high"]], across=False)
    for number, (N, part) in enumerate(sorted(chosen.groupby("N"), reverse=True)):
        aside = part["threads"] + 0.03 * (number - 1)  # next to each other, since equal ones would hide each other
        bars(axis, aside, found["zeta"].loc[part.index], index=1 + number, label=f"N = {N}")
    axis.axhline(0, color=INK, linewidth=0.8)
    counts = sorted(set(chosen["threads"]))
    axis.set_xticks([0.5, *counts], ["Y-MP (1993)", *map(str, counts)])
    data = with_spread(every[["N", "threads", "way"]], zeta=found["zeta"].loc[every.index])
    return show(figure, data=data, name="nht1_by_processors", run=record, items=data, ymp=ymp, way=way)


def _case(record: xr.Dataset, N: int, threads: int, way: str) -> int:
    """Number of a case."""
    cases = zip(record["N"].values, record["threads"].values, record["way"].values, strict=True)
    return list(cases).index((N, threads, way))


def processors_table(record: xr.Dataset, way: str) -> pd.DataFrame:
    """How many times shorter computing and waiting become from one thread to the most, by grid: why ζ changes."""
    record = single(record)
    most, sizes = int(record["threads"].values.max()), sorted(set(record["N"].values.tolist()))
    computing, waiting = [], []
    for threads in (1, most):
        alone, writing = ([_case(record, N, threads, each) for N in sizes] for each in ("none", way))
        flags = record["flags"].values[writing]
        computing.append(of_samples(record["seconds"].values[alone], flags))
        waited = record["observed_stalled"].values[writing] + record["observed_finish"].values[writing]
        waiting.append(of_samples(waited, flags))
    frame = pd.DataFrame({"N": sizes, "threads": most})
    return with_spread(frame, computing=quotient(*computing), waiting=quotient(*waiting)).drop(columns="flagged")


def by_threads(record: xr.Dataset, way: str) -> str:
    """The overhead on the largest grid with one thread and with the most, and whether the two differ."""
    frame, found = written(record)
    largest = frame[(frame["way"] == way) & (frame["N"] == frame["N"].max())].sort_values("threads")
    (one, most) = (found["zeta"].loc[row] for row in largest.index[[0, -1]])
    said = ("{:.0f} % ({:.0f} to {:.0f})".format(*each[["middle", "low", "high"]]) for each in (one, most))
    apart = most["low"] > one["high"] or one["low"] > most["high"]
    return (
        f"The overhead is {next(said)} with one thread and {next(said)} with {largest['threads'].max()}"
        f"{'' if apart else ', no measurable difference'}."
    )


def beside_table(record: xr.Dataset, way: str, later: str) -> pd.DataFrame:
    """Writing ``later``, beside the solver, over writing in turn (N6): transfers and whole runs, with their spread."""
    record = single(record)
    rows = [
        (N, threads, *(_case(record, N, threads, each) for each in (way, later)))
        for N in sorted(set(record["N"].values.tolist()))
        for threads in sorted(set(record["threads"].values.tolist()))
    ]
    frame, flags = pd.DataFrame(rows, columns=["N", "threads", "turn", "later"]), record["flags"].values
    found = {
        name: quotient(*(of_samples(record[key].values[frame[each]], flags[frame[each]]) for each in ("later", "turn")))
        for name, key in (("transfers", "observed_transferring"), ("run", "observed_T_T"))
    }
    return with_spread(frame[["N", "threads"]], **found)


@each_machine
def beside(record: xr.Dataset, way: str, later: str) -> Shown:
    """:func:`beside_table` as points."""
    frame = beside_table(record, way, later)
    figure, axis = axes(height=1.4 + 0.25 * len(frame))
    place = np.arange(len(frame))
    for index, (name, label) in enumerate((("run", "the whole run"), ("transfers", "the transfers"))):
        drawn = spread_of(frame, name)
        bars(axis, place + 0.3 * (index - 0.5), drawn, index=1 + index, line=False, label=label, across=True)
    axis.axvline(1, color=INK, linewidth=0.8)
    axis.set_yticks(place, [f"N = {row.N}, {row.threads} thr." for row in frame.itertuples()])
    return show(figure, data=frame, name="nht1_beside", run=record, items=frame)
