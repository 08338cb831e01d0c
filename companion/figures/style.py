"""Colours, markers, sizes: what makes every figure of the book look like one hand drew it."""

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler

#: Stands for "the colour of the surrounding text"; ``show`` writes it as ``currentColor``.
INK = "#010203"

#: Colours any two of which differ for readers with red-green colour blindness (the first after Okabe and Ito,
#: darkened where needed) and keep a contrast of at least 3:1 on white and on the book's dark ground.
CYCLE = ("#0072b2", "#d55e00", "#009e73", "#c050e0", "#b63834", "#666666")

_DOCUMENT_MARKERS = ("s", "D", "^", "v", "P", "X")

#: Width in inches: at one point a unit the plain width (346 units) shows 10-point text at about
#: 10 pixels on a phone 360 pixels wide.
PLAIN, WIDE = 4.8, 6.4
#: Points of the smallest text in the drawing for a phone: 9.1 pixels where a column is 358 pixels wide (of 390).
LEGIBLE = 8.8
#: Width in inches where a page of the book has room, at 100 pixels an inch: as wide as its column.
PAGE = 8.5

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
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.titlecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.minor.pad": 5.0,  # labels of minor ticks, which are shorter, on one line with the others
    "ytick.minor.pad": 5.0,
    "hatch.color": INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": INK,
    "grid.alpha": 0.18,
    "grid.linewidth": 0.6,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.5,
    "axes.prop_cycle": cycler(color=CYCLE),
    "figure.constrained_layout.use": True,
}


# Titles, legends and annotations that a chapter adds later must look the same, so the style is not
# confined to a context: importing the house style puts it on.
mpl.rcParams.update(STYLE)


def axes(rows: int = 1, columns: int = 1, *, height: float | None = None, wide: bool = False, **subplots):
    """A styled figure and its axes, outside pyplot, so that nothing is displayed twice.

    Parameters
    ----------
    rows, columns : int
        Panels.  Prefer rows: a figure of two columns is hard to read on a phone.
    height : float, optional
        Inches; 3.2 a row by default.
    wide : bool
        6.4 instead of 4.8 inches wide.  Text then shrinks to about 7 pixels on a phone.
    **subplots
        Passed to ``Figure.subplots`` (``sharex=True`` …).

    Returns
    -------
    (Figure, Axes or ndarray of Axes)
    """
    figure = Figure(figsize=(WIDE if wide else PLAIN, height or 3.2 * rows))
    panels = figure.subplots(rows, columns, **subplots)
    for panel in np.ravel(panels):
        panel.set_prop_cycle(cycler(color=CYCLE))
    return figure, panels


def document_style(index: int = 0) -> dict:
    """Keywords for ``plot`` of a machine in a document: hollow, angular markers, dashed lines."""
    colour = CYCLE[index % len(CYCLE)]
    return {
        "color": colour,
        "marker": _DOCUMENT_MARKERS[index % len(_DOCUMENT_MARKERS)],
        "markerfacecolor": "none",
        "markeredgewidth": 1.4,
        "linestyle": "--",
    }


def host_style(index: int = 0) -> dict:
    """Keywords for ``plot`` of a machine measured by this project: filled circles, solid lines."""
    colour = CYCLE[index % len(CYCLE)]
    return {"color": colour, "marker": "o", "markerfacecolor": colour, "linestyle": "-"}
