"""Figures of chapter 3: the NHT-1 application I/O benchmark, 1993."""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.ticker import NullLocator

from companion.chapters.nht1.figures.balance import *
from companion.chapters.nht1.figures.evidence import *
from companion.chapters.nht1.figures.findings import *
from companion.chapters.nht1.figures.nodes import *
from companion.chapters.nht1.figures.opening import *
from companion.chapters.nht1.figures.ranks import *
from companion.chapters.nht1.figures.stalls import *
from companion.chapters.nht1.figures.writing import *
from companion.figures.beside import each_machine
from companion.figures.parts import TIMES, log_axis, spread
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes, meaning
from companion.labels import plural


def layout(lanes: int = 8) -> Shown:
    """How the solver stores U and which eight lines it solves at once."""
    figure, axis = axes(height=3.3, wide=True)
    for m in range(5):
        for i in range(2 * lanes):
            axis.add_patch(_cell(i, 4 - m, meaning("computing" if i < lanes else "serial"), 0.35 if m else 0.6))
        axis.text(-0.4, 4.5 - m, f"m = {m + 1}", ha="right", va="center")
    axis.text(lanes / 2, 5.4, f"{lanes} points i: one vector, {lanes} lines in j or k", ha="center")
    axis.annotate("", (2 * lanes, -0.5), (0, -0.5), arrowprops={"arrowstyle": "->", "color": INK})
    axis.text(lanes, -1.1, "addresses rise along i, then m, then j, then k", ha="center", va="top")
    axis.set(xlim=(-2.6, 2 * lanes + 0.3), ylim=(-1.9, 6.2), aspect="equal")
    axis.set_axis_off()
    return show(figure, name="nht1_layout", lanes=lanes)


def _cell(x: float, y: float, colour: str, alpha: float):
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), 1, 1, facecolor=colour, alpha=alpha, edgecolor=INK, linewidth=0.5)


def field(u: np.ndarray, exact: np.ndarray) -> Shown:
    """Density in the middle plane k after the last step, and its distance from the exact solution.

    ``u`` is float64 (N, N, N, 5) as [k, j, i, m]; ``exact`` is the exact solution of the middle plane,
    float64 (N, N, 5).
    """
    N = u.shape[0]
    plane, off = u[N // 2, :, :, 0], u[N // 2, :, :, 0] - exact[:, :, 0]
    figure, panels = axes(2, 1, height=6.4)
    edges = np.linspace(0, 1, N + 1)
    largest = float(np.abs(off).max()) or 1.0
    pictures = (
        panels[0].pcolormesh(edges, edges, plane, cmap="viridis", rasterized=True),
        panels[1].pcolormesh(edges, edges, off, cmap="PuOr", vmin=-largest, vmax=largest, rasterized=True),
    )
    for panel, picture, label in zip(panels, pictures, ("density u₁", "density minus exact"), strict=True):
        figure.colorbar(picture, ax=panel, label=label)
        panel.set(xlabel="ξ (i)", ylabel="η (j)", aspect="equal")
        panel.grid(False)
    frame = pd.DataFrame(
        {
            "j": np.repeat(np.arange(N), N),
            "i": np.tile(np.arange(N), N),
            "density": plane.ravel(),
            "minus_exact": off.ravel(),
        }
    )
    return show(figure, data=frame, name="nht1_field", n=N, largest=largest)


@each_machine
def solver(record: xr.Dataset) -> Shown:
    """Time of one step of BT by class and threads."""
    frame = record[[*TIMES, "NS", "N", "class", "threads", "flops"]].to_dataframe()
    frame["ms_per_step"] = 1e3 * frame["median"] / frame["NS"]
    figure, axis = axes(height=3.2)
    ends = []
    for number, (threads, part) in enumerate(frame.groupby("threads")):
        ms = part.sort_values("N")["ms_per_step"]
        ends.append(f"{plural(threads, 'thread')}, {ms.iloc[0]:.2g} to {ms.iloc[-1]:.3g} ms")
        spread(
            axis,
            part["N"],
            part,
            lambda seconds, steps=part["NS"]: 1e3 * seconds / steps,
            index=number,
            label=plural(threads, "thread"),
        )
    log_axis(axis)
    sizes = sorted(frame["N"].unique())
    axis.set_xticks(sizes, [f"{N}" for N in sizes])
    axis.xaxis.set_minor_locator(NullLocator())
    return show(figure, data=frame.reset_index(drop=True), name="nht1_solver", run=record, listed="; ".join(ends))
