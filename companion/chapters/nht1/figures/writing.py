"""Overheads of writing: T_T, T_C, R_IO and zeta of every run, and groups of writers."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.figures.beside import each_machine
from companion.figures.parts import bars, case_intervals, converted, cpu, of_samples, quotient, with_spread
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes
from companion.labels import plural
from companion.records.runs import single


def percent(T_T: pd.DataFrame, T_C: pd.DataFrame) -> pd.DataFrame:
    """Overhead zeta = T_T / T_C - 1 in percent, of quantities as ``parts.intervals`` gives them."""
    return converted(quotient(T_T, T_C), lambda ratio: 100 * (ratio - 1))


def written(record: xr.Dataset) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """N, threads and way of every run with writing; and by name, with median and spread, what it took.

    ``T_T`` and ``T_C`` in s, ``R_IO`` in MB/s, ``zeta`` and ``zeta_best`` in percent; the last is held against the
    least T_C (of medians) of this size with any number of threads.
    """
    record = single(record)
    cases = pd.DataFrame({name: record[name].values for name in ("N", "threads", "way")})
    computing = case_intervals(record)
    elapsed = of_samples(record["observed_T_T"].values, record["flags"].values)
    alone = cases.index[cases["way"] == "none"]
    rows = cases.index[cases["way"] != "none"]
    sizes = list(zip(cases["N"], cases["threads"], strict=True))
    same = [next(i for i in alone if sizes[i] == sizes[row]) for row in rows]
    best = [min((i for i in alone if sizes[i][0] == sizes[row][0]), key=computing["middle"].get) for row in rows]
    T_T, T_C = elapsed.loc[rows], computing.loc[same]
    nbytes = record["solution_bytes"].values.astype(float)[rows]
    found = {
        "T_T": T_T.reset_index(drop=True),
        "T_C": T_C.reset_index(drop=True),
        "R_IO": converted(T_T, lambda seconds: nbytes / seconds / 1e6),
        "zeta": percent(T_T, T_C),
        "zeta_best": percent(T_T, computing.loc[best]),
    }
    return cases.loc[rows].reset_index(drop=True), found


def largest(record: xr.Dataset) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Of :func:`written`, the runs on the largest grid with most threads."""
    frame, found = written(record)
    rows = (frame["N"] == frame["N"].max()) & (frame["threads"] == frame["threads"].max())
    return frame[rows], {name: each[rows] for name, each in found.items()}


def runs_table(record: xr.Dataset) -> pd.DataFrame:
    """T_T, T_C, R_IO and zeta of every run with writing, medians of the samples."""
    frame, found = written(record)
    heads = {"T_T": "T_T", "T_C": "T_C", "R_IO": "R_IO", "zeta": "overhead", "zeta_best": "overhead over the best T_C"}
    frame = frame.assign(**{head: found[name]["middle"] for name, head in heads.items()})
    frame.attrs["units"] = {"T_T": "s", "T_C": "s", "R_IO": "MB/s", **dict.fromkeys(list(heads.values())[3:], "%")}
    return frame


def percent_axis(axis, linear: float = 10) -> None:
    """Percent, linear up to ±``linear`` and logarithmic beyond, because zeta spans decades and can be negative."""
    axis.set_xscale("symlog", linthresh=linear, linscale=0.7)
    ticks = [tick for tick in (-100, -10, -1, 0, 1, 10, 100, 1000, 10000) if tick == 0 or abs(tick) >= linear]
    axis.set_xticks(ticks, ["10 k" if tick == 10000 else f"{tick}" for tick in ticks])
    axis.minorticks_off()


def around(*quantities: pd.DataFrame) -> tuple[float, float]:
    """Ends of an axis of percent that holds all of them."""
    low, high = min(each["low"].min() for each in quantities), max(each["high"].max() for each in quantities)
    return (1.6 * low if low < 0 else 0), 1.6 * high


#: Words in the name of a method by which a second thread writes while the solver goes on.
_BESIDE = "asynchronous"


@each_machine
def overheads(record: xr.Dataset) -> Shown:
    """Overhead zeta of every method in which the solver waits for its writes, with most threads, by size of grid."""
    frame, found = written(record)
    zeta, waiting = found["zeta"], ~frame["way"].str.contains(_BESIDE) & (frame["threads"] == frame["threads"].max())
    ways, sizes = list(dict.fromkeys(frame["way"][waiting])), sorted(set(frame["N"][waiting]), reverse=True)
    figure, axis = axes(height=1.2 + 0.19 * len(ways))
    for number, N in enumerate(sizes):
        mine = waiting & (frame["N"] == N)
        # one below the other, since spreads of equal rows would hide each other
        rows = [ways.index(way) + 0.25 * (number - (len(sizes) - 1) / 2) for way in frame["way"][mine]]
        bars(axis, rows, zeta[mine], index=1 + number, line=False, label=f"N = {N}", across=True)
    percent_axis(axis)
    axis.axvline(0, color=INK, linewidth=0.8)
    axis.set_yticks(range(len(ways)), ways, size=8)
    axis.set(xlim=around(zeta[waiting]))
    axis.legend(loc="lower center", bbox_to_anchor=(0.3, 1.0), ncols=len(sizes))
    middle = zeta["middle"][waiting & (frame["N"] == sizes[0])]
    least, most = (f"{frame['way'][row]} {middle[row]:.0f} percent" for row in (middle.idxmin(), middle.idxmax()))
    team = plural(int(frame["threads"].max()), "thread")
    return show(
        figure, data=with_spread(frame, zeta=zeta), name="nht1_overheads", run=record, team=team, least=least, most=most
    )


@each_machine
def choice_of_base(record: xr.Dataset) -> Shown:
    """How zeta changes with the T_C it is held against, for the runs whose two bases differ most.

    Where both bases are the same (within 5 %), so are the two overheads; such runs are in the data only, unless there
    are no others.
    """
    frame, found = written(record)
    apart = 1 + found["zeta_best"]["middle"] / 100 > 1.05 * (1 + found["zeta"]["middle"] / 100)
    rows = frame.index[apart] if apart.any() else frame.index
    figure, axis = axes(height=1.6 + 0.3 * len(rows))
    place = np.arange(len(rows))
    bases = {"zeta": "$T_C$ of the same code and threads", "zeta_best": "best $T_C$ of this size"}
    for number, (name, label) in enumerate(bases.items()):
        chosen = found[name].loc[rows].reset_index(drop=True)
        bars(axis, place + 0.3 * (number - 0.5), chosen, index=number, line=False, label=label, across=True)
    percent_axis(axis)
    axis.set_yticks(
        place, [f"{row.way}, N {row.N}, {row.threads} thr." for row in frame.loc[rows].itertuples()], size=8
    )
    axis.set(ylim=(len(rows) - 0.4, -0.6), xlim=around(found["zeta"], found["zeta_best"]))
    left = len(frame) - len(rows)
    rest = f" In the other {left} runs, which are not drawn, the two agree within 5 %." if left else ""
    data = with_spread(frame, zeta=found["zeta"], zeta_best=found["zeta_best"])
    return show(figure, data=data, name="nht1_base", run=record, rest=rest)


def groups_axis(axis, printed_axes: pd.DataFrame, best_group: int, sizes, words: str) -> None:
    """An axis of processes that write at a time, as the report's Figure 1 has it, with the ``best_group`` of 1993."""
    axis.axvline(best_group, color=INK, linestyle=":", label=words)
    axis.set_xscale("log", base=2)
    ticks = sorted({*printed_axes.loc[printed_axes["axis"] == "x", "value"].astype(int), *map(int, sizes)})
    axis.set_xticks(ticks, ticks)


#: What the line at the best group says.
BEST = "least time on the iPSC/860 (1993)"


@each_machine
def groups(printed_axes: pd.DataFrame, best_group: int, record: xr.Dataset) -> Shown:
    """Time to write one file against the number of processes that write at a time."""
    size, flags = record["group"].values.astype(int), [str(record["flags"].values[0])]
    found = of_samples([1e3 * record[f"observed_group {g}"].values[0] for g in size], flags * len(size))
    figure, axis = axes(height=3.4)
    bars(axis, size, found, index=2, label=cpu(record))
    groups_axis(axis, printed_axes, best_group, size, BEST)
    data, ms = with_spread(pd.DataFrame({"group": size}), ms=found), found["middle"]
    of = {"least": size[ms.argmin()], "most": size[ms.argmax()], "P": record["P"].values[0], "N": record["N"].values[0]}
    return show(figure, data=data, name="nht1_groups", run=record, ms=ms, of=of)
