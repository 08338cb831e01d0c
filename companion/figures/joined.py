"""Figures to which a reader can add the device at hand: where numbers lie in their drawings.

The drawing carries its panels as JSON: the frame in units of the drawing, the ends of both axes and whether they are
logarithmic, and where rows and columns with names lie.  ``book/_static/device/join.js`` puts marks there.
"""

import json
from typing import Any

from matplotlib.axes import Axes

#: By the names that :func:`companion.figures.show` is given.
JOINED = {"p5plus_bandwidth", "p5plus_latency", "p5plus_loops", "nht1_solver", "sustained_rate"}
_POINTS = 72  # an inch, as matplotlib's SVG has it


def _words(text) -> str:
    """What a text says, though it was broken into lines for a phone."""
    return " ".join(text.get_text().split())


def named(axis: Axes, which: str) -> dict[str, float]:
    """Place of each row or column that has a name; names of rows may stand above them, as texts in their order."""
    one = getattr(axis, f"{which}axis")
    places, names = [float(place) for place in one.get_ticklocs()], [_words(label) for label in one.get_ticklabels()]
    if which == "y" and not any(names):
        names = [_words(text) for text in axis.texts if text.get_text()]
    if one.get_scale() == "log" or any(name.replace("\N{MINUS SIGN}", "").replace(".", "").isdigit() for name in names):
        return {}
    return {name: place for name, place in zip(names, places, strict=False) if name}


def _panel(axis: Axes, width: float, height: float) -> dict[str, Any]:
    frame = axis.get_position()
    panel: dict[str, Any] = {
        "box": [
            round(value, 2)
            for value in (frame.x0 * width, (1 - frame.y1) * height, frame.x1 * width, (1 - frame.y0) * height)
        ]
    }
    for which in "xy":
        ends = [float(f"{value:.6g}") for value in getattr(axis, f"get_{which}lim")()]
        panel[which] = {
            "ends": ends,
            "log": getattr(axis, f"get_{which}scale")() == "log",
            "named": named(axis, which),
        }
    return panel


def panels(figure) -> str:
    """The panels of a figure that was drawn, in their order, as JSON."""
    width, height = figure.get_size_inches() * _POINTS
    found = [_panel(axis, width, height) for axis in figure.axes]
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))
