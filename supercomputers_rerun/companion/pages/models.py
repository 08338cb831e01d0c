"""The page of the five models: a picture of each, and how far models and figures of the chapters are apart."""

from html import escape

import numpy as np
import pandas as pd

from supercomputers_rerun.companion import experiments, figures, items, models, tables
from supercomputers_rerun.companion.common import significant

#: From far below to far above the place where two parts of a sum are equal.
_DECADES = np.geomspace(0.01, 100, 60)


@figures.styled
def transfer_picture() -> "figures.Shown":
    """Cost of a call against its bytes, in units of the call alone and of the size at which both cost as much."""
    figure, axis = figures.axes(height=2.7)
    axis.plot(_DECADES, models.transfer(1, 1.0, _DECADES, 1.0), label="call and bytes")
    axis.axhline(1, color=figures.INK, linewidth=0.8, linestyle="--")
    axis.plot(_DECADES, _DECADES, color=figures.INK, linewidth=0.8, linestyle=":")
    axis.annotate("the call", (0.012, 1.15))
    axis.annotate("the bytes", (30, 12))
    figures.log_axis(axis)
    axis.set(xlabel="bytes of a call, in latency × rate", ylabel="time, in latencies", ylim=(0.3, 150))
    return figures.show(
        figure,
        name="model_transfer",
        title="Below one size you pay for calls, above it for bytes",
        caption="Time of one call by its bytes. Where the lines cross, both cost as much.",
    )


@figures.styled
def toll_picture() -> "figures.Shown":
    """CPU time of one problem of 1989 at both sites, by its size: the ratio falls, the difference stays."""
    both = {
        size: tables.load("aips58", f"ddt_{size}")["cpu"].sel(problem="VTESS").sel(system=["CLSC", "PSC"]).values
        for size in ("small", "medium", "large")
    }
    seconds = np.array(list(both.values()), dtype=float)
    toll = float(seconds[0, 1] - seconds[0, 0])
    figure, axis = figures.axes(height=2.7)
    work = np.geomspace(0.6 * seconds[:, 0].min(), 2 * seconds[:, 0].max(), 60)
    added = "the small problem's difference, added"
    axis.plot(work, models.fixed_toll(work, toll) / work, label=added, linestyle="--")
    ratio = seconds[:, 1] / seconds[:, 0]
    figures.points(axis, seconds[:, 0], ratio, label="VTESS, Pittsburgh over Toronto (1989)", line=False)
    for (x, more), y in zip(np.c_[seconds[:, 0], seconds[:, 1] - seconds[:, 0]], ratio, strict=True):
        axis.annotate(f"{more:.0f} s more", (x, y), xytext=(6, 6), textcoords="offset points")
    axis.axhline(1, color=figures.INK, linewidth=0.8)
    figures.log_axis(axis)
    axis.set(xlabel="CPU time at Toronto [s]", ylabel="times the CPU time", xlim=(None, 4 * work.max()))
    figures.legend(axis, "above 1")
    return figures.show(
        figure,
        name="model_toll",
        title=f"Pittsburgh takes {ratio[0]:.0f} times the CPU time on a small problem, {ratio[-1]:.1f} times on a "
        "large one",
        caption="The task VTESS. A toll, read off the small problem, predicts the larger ones nearly.",
        tables="aips58/ddt_small aips58/ddt_medium aips58/ddt_large",
    )


@figures.styled
def shared_picture() -> "figures.Shown":
    """Bounds of the gain: of many workers by what is serial, and of two jobs by what they share."""
    figure, (left, right) = figures.axes(2, 1, height=5.0)
    workers = np.arange(1, 65)
    for serial in (0.02, 0.1, 0.3):
        left.plot(workers, models.amdahl(serial, workers), label=f"{100 * serial:.0f} % cannot be divided")
    left.set(xlabel="workers", ylabel="times as fast", xlim=(0, 65), ylim=(0, None))
    figures.legend(left, "upper left")
    share = np.linspace(0.05, 1, 80)
    right.plot(100 * share, models.shared_device(share), label="two jobs and one device")
    right.set(xlabel="share of a job's time at the device [%]", ylabel="times as fast as in turn", ylim=(0.9, 2.1))
    return figures.show(
        figure,
        name="model_shared",
        title="A tenth that cannot be divided leaves less than ten",
        caption="Above, Amdahl's law. Below, two jobs and one disk: no loss at best, if each needs it half its time.",
    )


@figures.styled
def overlap_picture() -> "figures.Shown":
    """What overlap saves by how long the shorter activity is, in per cent of both in turn."""
    shorter = np.linspace(0.0, 1.0, 60)
    figure, axis = figures.axes(height=2.7)
    for hidden in (1.0, 0.5):
        saved = 1 - models.overlap(1.0, shorter, hidden) / (1 + shorter)
        words = "all of the shorter hidden" if hidden == 1 else "half of it"
        axis.plot(100 * shorter, 100 * saved, label=words)
    axis.set(xlabel="the shorter, in % of the longer", ylabel="saved of both in turn [%]", ylim=(0, 60))
    figures.legend(axis, "upper left")
    return figures.show(
        figure,
        name="model_overlap",
        title="Overlap saves half at most, and only where both are equally long",
        caption="Time that overlap saves, against how long the shorter activity is.",
    )


@figures.styled
def slowest_picture() -> "figures.Shown":
    """Two ranks that meet after every step, interrupted in one step and in two."""
    figure, panels = figures.axes(2, 1, height=3.6, sharex=True)
    steps, ends = 4, []
    for panel, own, words in zip(panels, ((0, 0), (0, 2)), ("in the same step", "in different steps"), strict=True):
        needed = np.ones((2, steps))
        needed[[0, 1], own] += 1
        begin = 0.0
        for step in range(steps):
            longest = needed[:, step].max()
            for rank in range(2):
                work = needed[rank, step]
                panel.barh(rank, 1, left=begin, height=0.5, color=figures.meaning("computing"))
                panel.barh(rank, work - 1, left=begin + 1, height=0.5, color=figures.meaning("serial"))
                panel.barh(rank, longest - work, left=begin + work, height=0.5, color=figures.meaning("waiting"))
            begin += longest
            panel.axvline(begin, color=figures.INK, linewidth=0.7)
        assert begin == models.slowest(needed)
        ends.append(begin)
        figures.rows(panel, ["rank 1", "rank 2"])
        panel.set_title(f"interrupted {words}", loc="left")
    panels[-1].set(xlabel="time, in steps")
    together, apart = ends
    return figures.show(
        figure,
        name="model_slowest",
        title=f"Interrupted in different steps, four steps take {apart:g} instead of {together:g}",
        caption="Green computes, grey is an interruption as long as a step, red waits at a barrier (vertical line).",
        alt=f"Bars of two ranks over four steps. Interrupted in the same step they end after {together:g} steps, in "
        f"different steps after {apart:g}, since each also waits for the other.",
    )


def _linked(prediction: models.Prediction) -> str:
    """What is predicted, as a link to the figure in its chapter."""
    document, anchor = prediction.figure.partition("_")[0], prediction.figure.replace("_", "-")
    return f'<a href="../notebooks/{items.page(document)}.html#fig-{anchor}">{escape(prediction.what)}</a>'


def _spoken(known: models.Constants, name: str) -> str:
    """A constant, or the latencies of all levels of memory, as people say it."""
    if name == "levels":
        return ", ".join(f"{level.name} {models.spoken(level.latency, 's')}" for level in known.levels)
    return models.spoken(getattr(known, name), models.WORDS[name][1])


def constant(known: models.Constants, name: str, otherwise: float) -> tuple[float, str]:
    """A constant and how people say it; the value of an example where this machine has none, and the words say so."""
    value = getattr(known, name)
    if np.isfinite(value):
        return value, models.spoken(value, models.WORDS[name][1])
    return otherwise, f"{models.spoken(otherwise, models.WORDS[name][1])} (assumed, not measured)"


def explained() -> "figures.Shown | None":
    """Each figure that a model explains: constants, measured over predicted, and what the model leaves out."""
    rows = []
    for prediction in models.PREDICTIONS.values():
        run = experiments.find(prediction.experiment).runs()[0] if prediction.experiment else None
        frame = prediction.frame(run)
        found = None if frame is None else models.parted(frame["measured"], frame["predicted"])
        known = models.constants(run) if prediction.needs else None
        used = [] if known is None else [_spoken(known, name) for name in prediction.needs]
        rows.append(
            {
                "figure": _linked(prediction),
                "model": prediction.model.replace("_", " "),
                "constants": ", ".join(used) or ("not measured yet" if prediction.needs else "none of a machine"),
                "measured over predicted, median": "–" if found is None else significant(found.median, 2),
                "worst": "–" if found is None else significant(found.worst, 2),
                "compared": "–" if found is None or frame is None else f"{found.pairs} of {len(frame)}",
                "the model leaves out": prediction.leaves_out,
            }
        )
    caption = (
        "Figures that draw a model. Ratios: measured over predicted, each on the first machine that has a run. "
        "Numbers of zero or less have no ratio and are not compared."
    )
    return figures.table(pd.DataFrame(rows), caption=caption, name="explained", index=False, html=["figure"])
