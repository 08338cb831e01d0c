"""Figures of what chapter 1 models and simulates; nothing in them was measured on this host."""

import numpy as np
import pandas as pd
from matplotlib.patches import Patch

from companion.chapters.xmp1982.figures import label
from companion.figures.rendering import Shown, show
from companion.figures.style import axes, hatched, meaning, series
from companion.figures.tabular import Table, table
from companion.labels import plural


def _name(table: str, row: str) -> str:
    """A row for a reader: its figure, its configuration and, in a pair, which job."""
    number = table.removeprefix("fig").replace("_", ".")
    configuration, _, job = row.partition("/")
    return f"{number}: {label(configuration)}" + (f", job {job}" if job else "")


def predicted_banks(record) -> Table:
    """Times of the last job to end over one job in all banks: of the best point, and the range of those near it."""
    columns = [plural(count, "CPU") for count in record["predicted_cpus"].values]
    best, least, most = (record[name].values for name in ("predicted_ratio", "least_ratio", "most_ratio"))
    rows = [
        [f"{b:.2f} ({a:.2f} to {c:.2f})" for a, b, c in zip(*row, strict=True)]
        for row in zip(least, best[..., -1], most, strict=True)
    ]
    names = [f"{int(count)} banks" for count in record["predicted_banks"].values]
    frame = pd.DataFrame(rows, columns=columns, index=pd.Index(names, name="memory"))
    caption = (
        "Predicted, last of the jobs to end: time over that of one job in 32 banks, and its range over all points "
    )
    return table(frame, caption=f"{caption}within 2 % of the three ratios", name="xmp1982_banks_predicted")


def unexplained(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of ``model.residuals`` that the model misses, as a reader names them, with why."""
    left = frame[frame["unexplained"] != ""]
    named = [_name(*pair) for pair in zip(left["table"], left["row"], strict=True)]
    return pd.DataFrame(
        {
            "figure and forecast": named,
            "printed": left["printed"].round(0).to_numpy(),
            "model": left["model"].round(0).to_numpy(),
            "what may explain it": left["unexplained"].to_numpy(),
        }
    )


#: Bars of rows that a model predicts, that it predicts and does not explain, and that give it a constant.
_STYLES = (hatched(), hatched("waiting"), hatched("serial"))


def _departures(
    frame: pd.DataFrame, names: list[str], kinds: np.ndarray, text: dict[int, str], height: float, over: str
):
    """A bar for every row, its departure in per cent, in the style of its kind; a diamond where it gives a constant."""
    figure, axis = axes(height=height)
    places = np.arange(len(frame))
    for kind in text:
        axis.barh(places[kinds == kind], 100 * frame["departure"][kinds == kind], height=0.62, **_STYLES[kind])
    axis.plot(np.zeros((kinds == 2).sum()), places[kinds == 2], "D", color=meaning("serial"), markersize=4)
    axis.set_yticks(places, names, size=8)
    axis.axvline(0, linewidth=0.8, color="gray")
    titled = {"title": frame.attrs["machine"], "title_fontsize": 7.5, "alignment": "left"} if over == "measured" else {}
    handles = [Patch(**_STYLES[kind], label=words) for kind, words in text.items()]
    figure.legend(handles=handles, loc="outside upper left", ncols=len(text), columnspacing=1.2, **titled)
    return figure, 100 * frame[kinds == 0]["departure"].abs()


def clock_departures(frame: pd.DataFrame) -> Shown:
    """Departure of the modelled net forecast from the printed one, row by row."""
    kinds = np.where(frame["calibrates"] != "", 2, np.where(frame["unexplained"] != "", 1, 0))
    names = [_name(table, row) for table, row in zip(frame["table"], frame["row"], strict=True)]
    text = {0: "predicted", 1: "predicted, not explained", 2: "gives a constant"}
    figure, off = _departures(frame, names, kinds, text, 6.4, "printed")
    said = {"number": len(frame), "kind": np.bincount(kinds, minlength=3), "predicted": off.max()}
    return show(figure, data=frame.drop(columns="unexplained"), name="xmp1982_clock_departures", **said)


def host_departures(frame: pd.DataFrame) -> Shown:
    """Departure of the modelled net forecast from the one that was measured, row by row (``hostmodel.residuals``)."""
    kinds = np.where(frame["calibrates"] != "", 2, 0)
    names = [f"{kind}, {label(row)}" for kind, row in zip(frame["table"], frame["row"], strict=True)]
    figure, off = _departures(frame, names, kinds, {0: "predicted", 2: "gives a constant"}, 5.4, "measured")
    said = {"number": [len(frame), (kinds == 2).sum(), len(off)], "predicted": off, "median": off.median()}
    return show(figure, data=frame.drop(columns="unexplained"), name="xmp1982_host_departures", **said)


def clock_said(rows: pd.DataFrame, here: pd.DataFrame) -> str:
    """How well the model of the clock meets the printed rows, and recorded runs."""
    given, missed = rows["calibrates"] != "", rows["unexplained"] != ""
    then = rows[~given & ~missed]["departure"].abs()
    now = here[here["calibrates"] == ""]["departure"].abs()
    return (
        f"For {len(then)} printed rows that were not used to fit the constants, the model is within "
        f"{100 * then.max():.1f} %. It does not explain {missed.sum()} other rows. For runs of today the median error "
        f"is {100 * now.median():.0f} % and the largest {100 * now.max():.0f} %. The threads that move records share "
        "caches and memory with the computation, which the formula does not contain."
    )


def banks_said(record, kernel) -> str:
    """What half the banks cost the kernel in 1982, and how well the simulation meets it."""
    cpu = kernel["cpu"]
    full, half = (int(count) for count in cpu["banks"].values)
    base = float(cpu.sel(banks=full, jobs=1, job=1))
    alone, first, second = (float(cpu.sel(banks=half, jobs=n, job=m)) / base - 1 for n, m in ((1, 1), (2, 1), (2, 2)))
    return (
        f"In half the banks the kernel took {100 * alone:.0f} % more CPU time alone, and {100 * first:.0f} and "
        f"{100 * second:.0f} % more beside its own copy. The post-processing job took no more than before. The best of "
        f"{int(record['searched'])} simulated loops is within {100 * float(record['largest_departure']):.1f} % of "
        "these ratios. Today two CPUs compete for caches and memory instead."
    )


def fit_said(record) -> str:
    """How many of the points that the page searches meet the printed ratios."""
    return (
        f"Of the {int(record['searched'])} points of the grid, {int(record['within_2_percent'])} are within 2 % of all "
        "three ratios."
    )


def jobs_said(post: pd.DataFrame) -> str:
    """Clock times of the post-processing job in half the banks (Fig. 8.1)."""
    alone, first, second = post["total"][1:]
    return (
        f"In half the banks the job took {alone} s of clock time alone. Of two at once the first took {first} s and "
        f"the second {second} s."
    )


def left_out_said(rows: pd.DataFrame, text: str) -> str:
    """How far the model is off on rows that are left out of its fit in turn."""
    worst = 100 * rows["departure"].abs().max()
    return f"Each of the {len(rows)} rows {text} was left out of the fit in turn. The largest error is {worst:.2g} %."


def host_said(rows: pd.DataFrame, costs: dict[str, float]) -> str:
    """The same of recorded runs, and what not overlapping costs in them."""
    return (
        f"{left_out_said(rows, 'in memory and page cache')} Not overlapping costs {costs['measured']:.0f} % of the net "
        f"time as measured and {costs['model']:.0f} % by the model."
    )


def _spans(held: np.ndarray) -> list[tuple[float, int]]:
    """Where a row of truths is true: begin and length of each run, for marks that are centred on whole numbers."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], held.astype(int), [0]])))
    return [(begin - 0.5, end - begin) for begin, end in zip(edges[::2], edges[1::2], strict=True)]


def bank_times(holder: np.ndarray, waits: np.ndarray) -> Shown:
    """Who holds which bank in which cycle, and above it how many ports of each CPU wait.

    Parameters
    ----------
    holder : (cycles, banks) int
        3 · CPU + port that holds the bank, −1 for nobody.
    waits : (cycles, CPUs, 3) int
        Why a port waits, −1 where it does not.
    """
    cycles, count = holder.shape
    figure, axis = axes(height=3.8)
    for job in range(waits.shape[1]):
        for bank in range(count):
            axis.broken_barh(_spans(holder[:, bank] // 3 == job), (bank - 0.42, 0.84), color=series(job), linewidth=0)
        waiting, base = (waits[:, job] >= 0).sum(axis=1), count + 0.6 + 3 * job
        axis.stairs(
            base + 0.8 * waiting, np.arange(cycles + 1) - 0.5, baseline=base, fill=True, color=series(job), alpha=0.6
        )
    rows = [count + 1.8 + 3 * job for job in range(waits.shape[1])]
    axis.set_yticks(
        [*range(0, count, 4), *rows], [*range(0, count, 4), *(f"CPU {job} waits" for job in range(len(rows)))]
    )
    axis.set(xlim=(-0.5, cycles - 0.5), ylim=(-0.6, rows[-1] + 1.6), xlabel="clock period", ylabel="memory bank")
    axis.grid(False)
    axis.legend(
        handles=[Patch(color=series(job), label=f"CPU {job}") for job in range(waits.shape[1])],
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=2,
    )
    lost = [int((waits[:, job] >= 0).sum()) for job in range(waits.shape[1])]
    return show(
        figure,
        data=pd.DataFrame(holder, columns=[f"bank {bank}" for bank in range(count)]).rename_axis("cycle").reset_index(),
        name="xmp1982_bank_times",
        count=count,
        cycles=cycles,
        items=pd.Series(lost),
    )
