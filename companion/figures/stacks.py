"""Wholes cut into parts: stacked bars, whose colours say what a part of the time goes into."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from companion.figures.style import INK, MEANINGS, SERIES, meaning

#: Words that say what a part of the time goes into.
_SPENT_ON = {
    "computing": ("comput", "parallel", "cpu", "groups completed"),
    "communication": ("comm", "sending"),
    "waiting": ("wait", "barrier", "stall"),
    "serial": ("serial",),
    "files": ("i/o", "file"),
}


def colours_of(names: Sequence[str]) -> list[str]:
    """The colours of parts: those of their meanings by the words of their names, of the rest the free ones in order."""
    words = [
        next((what for what, signs in _SPENT_ON.items() if any(sign in name.lower() for sign in signs)), "")
        for name in names
    ]
    free = iter([colour for colour in (*SERIES, meaning("calculated")) if colour not in map(MEANINGS.get, words)])
    return [meaning(what) if what else next(free, INK) for what in words]


def stacked_bars(axis, frame: pd.DataFrame, *, label: str = "", legend: bool = True, printed: bool = False) -> None:
    """Horizontal bars, one per row of ``frame``, cut into its columns from left to right; ``printed`` ones are hollow.

    ``ValueError`` if a part is negative or missing: a stack of those has no meaning.
    """
    values = frame.to_numpy(dtype=float)
    if not np.all(values >= 0):
        raise ValueError("stacked_bars: every part must be a number of at least 0")
    left = np.zeros(len(frame))
    names = list(map(str, frame.columns))
    for number, (name, colour) in enumerate(zip(names, colours_of(names), strict=True)):
        outline = {"facecolor": "none", "edgecolor": colour, "linewidth": 1.6}
        style = outline if printed else {"color": colour, "edgecolor": INK, "linewidth": 0.5}
        axis.barh(frame.index.astype(str), values[:, number], left=left, height=0.62, label=name, **style)
        left += values[:, number]
    axis.invert_yaxis()
    axis.grid(False, axis="y")
    axis.set_xlabel(label)
    if legend:
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
