"""Wholes cut into parts: stacked bars and icicles, whose colours say what a part of the time goes into."""

from collections.abc import Mapping, Sequence

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


def _children(node: Mapping) -> Sequence[Mapping]:
    return node.get("children") or ()


def icicle(axis, tree: Mapping, *, smallest: float = 0.035) -> None:
    """Draw a tree of printed shares as an icicle: depth to the right, height by value.

    ``ValueError`` if the children of a node exceed it by more than 2 % of the root, which no tree of shares can.

    Parameters
    ----------
    tree : mapping
        ``{"name": str, "value": float, "children": [ … ]}``; children may add up to less than
        their parent, whose remainder stays blank.
    smallest : float
        Share of the root's value below which a node is drawn without its name.
    """
    total = float(tree["value"])
    if not total > 0:
        raise ValueError(f"icicle: the root {tree['name']!r} must be above 0, got {total}")

    def depth(node):
        return 1 + max(map(depth, _children(node)), default=0)

    def draw(node, level, top, colour):
        height = node["value"] / total
        axis.bar(
            level + 0.5, height, width=0.98, bottom=1 - top - height, facecolor="none", edgecolor=colour, linewidth=1.2
        )
        if height >= smallest:
            between = "\n" if height >= 2 * smallest else " "
            axis.text(
                level + 0.05,
                1 - top - height / 2,
                f"{node['name']}{between}{height:.1%}",
                va="center",
                size=9,
                clip_on=True,
            )
        if sum(child["value"] for child in _children(node)) > node["value"] + 0.02 * total:
            raise ValueError(f"icicle: the children of {node['name']!r} exceed it")
        names = [child["name"] for child in _children(node)]
        for child, own in zip(_children(node), colours_of(names), strict=True):
            draw(child, level + 1, top, own if level == 0 else colour)
            top += child["value"] / total

    draw(tree, 0, 0.0, INK)
    axis.set(xlim=(0, depth(tree)), ylim=(0, 1))
    axis.set_axis_off()
