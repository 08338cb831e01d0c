"""Colours, markers, sizes: what makes every figure of the book look like one hand drew it."""

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler

#: Stands for "the colour of the surrounding text"; ``show`` writes it as ``currentColor``.
INK = "#010203"

#: What each colour means, in every figure: whose number it is, or what a part of the time goes into.  Any two differ
#: for readers with red-green colour blindness (the first after Okabe and Ito, darkened where needed) and keep a
#: contrast of at least 3:1 on white and on the book's dark ground.
MEANINGS = {
    "printed": "#0072b2",
    "measured": "#d55e00",
    "computing": "#009e73",
    "communication": "#c050e0",
    "waiting": "#b63834",
    "serial": "#666666",
    "files": "#b4903c",
    "calculated": "#489cb4",  # by a model, a simulation or a count
}
#: Of variants of one measured quantity, which only the figure's own legend tells apart: sizes, threads, strides,
#: builds.  The first is that of measured numbers; that of printed ones is none of them.
VARIANTS = ("measured", "communication", "computing", "waiting", "serial", "files")
SERIES = tuple(MEANINGS[name] for name in VARIANTS)

#: Marks of a report, hollow, one shape a machine.
_DOCUMENT_MARKERS = ("s", "D", "^", "v", "P", "X")

#: Width in inches: at one point a unit it has 346 units, so that 10-point text has about 10 pixels on a phone.
_WIDTH = 4.8
#: Points of the smallest text of a drawing: 9.1 pixels on a phone whose column is 358 pixels wide (of 390).
LEGIBLE = 8.8

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.labelsize": 10,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "xtick.minor.pad": 5.0,  # labels of minor ticks, which are shorter, on one line with the others
    "ytick.minor.pad": 5.0,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.18,
    "grid.linewidth": 0.6,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.5,
    "axes.prop_cycle": cycler(color=SERIES),
    "figure.constrained_layout.use": True,
}
_INKED = ("text", "xtick", "ytick", "hatch", "grid", "axes.label", "axes.edge", "axes.title")
STYLE |= {f"{name}{'' if '.' in name else '.'}color": INK for name in _INKED}
STYLE |= dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none")


# Titles, legends and annotations that a chapter adds later must look the same, so the style is not
# confined to a context: importing the house style puts it on.
mpl.rcdefaults()  # whatever the reader's matplotlibrc says
mpl.rcParams.update(STYLE)


def axes(rows: int = 1, columns: int = 1, *, height: float | None = None, **subplots):
    """A styled figure and its axes, outside pyplot, so that nothing is displayed twice.

    Parameters
    ----------
    rows, columns : int
        Panels.  Prefer rows: a figure of two columns is hard to read on a phone.
    height : float, optional
        Inches; 3.2 a row by default.
    **subplots
        Passed to ``Figure.subplots`` (``sharex=True`` …).

    Returns
    -------
    (Figure, Axes or ndarray of Axes)
    """
    figure = Figure(figsize=(_WIDTH, height or 3.2 * rows))
    panels = figure.subplots(rows, columns, **subplots)
    for panel in np.ravel(panels):
        panel.set_prop_cycle(cycler(color=SERIES))
    return figure, panels


def meaning(name: str) -> str:
    """The colour of a meaning. ``ValueError`` if :data:`MEANINGS` has no such name."""
    if name not in MEANINGS:
        raise ValueError(f"{name!r} has no colour; choose one of {', '.join(MEANINGS)}")
    return MEANINGS[name]


def series(number: int) -> str:
    """The colour of a variant that has no meaning in :data:`MEANINGS`."""
    return SERIES[number % len(SERIES)]


def document_style(index: int = 0) -> dict:
    """Keywords for ``plot`` of a machine in a document: hollow, angular, in the colour of printed numbers, dashed."""
    return {
        "color": MEANINGS["printed"],
        "marker": _DOCUMENT_MARKERS[index % len(_DOCUMENT_MARKERS)],
        "markerfacecolor": "none",
        "markeredgewidth": 1.4,
        "linestyle": "--",
    }


def host_style(index: int = 0) -> dict:
    """Keywords for ``plot`` of a machine measured by this project: filled circles, solid lines."""
    colour = series(index)
    return {"color": colour, "marker": "o", "markerfacecolor": colour, "linestyle": "-"}


def hollow(name: str) -> dict:
    """Keywords for bars of printed numbers: their outline, in the colour of a meaning."""
    return {"facecolor": "none", "edgecolor": meaning(name), "linewidth": 1.4}
