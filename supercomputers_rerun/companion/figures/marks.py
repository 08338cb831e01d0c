"""What each mark of a figure says: value, unit, interval, what it is, and the machine and day or the report.

What the kit draws it notes (``kit.tells``); of other lines and bars the look says what they are, since printed numbers
are hollow.  In the drawing a mark is a place without ink that has a title, which a browser shows where the mouse rests;
``book/_static/marks.js`` shows it to pointer, finger and keyboard.
"""

import re
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer

from supercomputers_rerun.companion.bench import FEWEST_SAMPLES
from supercomputers_rerun.companion.common import significant
from supercomputers_rerun.companion.figures.kit import INK, MEANINGS, POINTS, cpu, named, noted, one_line

#: Units of a drawing around the middle of a mark that belong to it.
_REACH = 6.0
#: Points of a line without marks that are told; more are a curve.
_JOINED = 100
#: Of a printed number as many digits as reports print.
_DIGITS = {"printed": 4}
_UNIT = re.compile(r" *\[([^\]]+)\]")
#: A machine of the book, or the reader's, in the name of a row or series.
_MACHINE = re.compile(r"\b[A-Z] \([^)]*\)|this run")


class Mark(NamedTuple):
    """Left, top, right and lower end in units of the drawing, from its upper left corner, and what it says in lines."""

    box: tuple[float, ...]
    said: tuple[str, ...]


#: Places of rows and of columns that have names.
_Names = tuple[dict[str, float], dict[str, float]]


def _alike(axis: Axes, which: str) -> list[Axes]:
    """An axis and those that share it."""
    return [axis, *getattr(axis, f"get_shared_{which}_axes")().get_siblings(axis)]


def _label(axis: Axes, which: str) -> str:
    """What an axis says of itself, or where it shares it the axis that does."""
    return next((said for each in _alike(axis, which) if (said := one_line(getattr(each, f"get_{which}label")()))), "")


def _rounded(value: float, digits: int) -> str:
    """A number as a report prints it, or a measured one to so many digits."""
    number = f"{value:.0f}" if value == round(value) and abs(value) < 1e6 else significant(float(value), digits)
    return number.rstrip("0") if digits == _DIGITS["printed"] and "." in number else number


def _number(axis: Axes, which: str, value: float, digits: int) -> str:
    """A value of an axis with its unit, or without one."""
    for say in (noted(each).get(which) for each in _alike(axis, which)):
        if say is not None:
            return say(value)
    label = _label(axis, which)
    unit = found[1] if (found := _UNIT.search(label)) else label if "/" in label and " " not in label else ""
    return f"{_rounded(value, digits)} {unit}".strip()


def _name(axis: Axes, which: str) -> str:
    """The quantity of an axis without its unit."""
    label = _label(axis, which)
    return "" if "/" in label and " " not in label else _UNIT.sub("", label)


def _spread(axis: Axes, which: str, run, row) -> str:
    """The ends of a measured mark, where they are no copies of its middle, and whether it is doubtful."""
    low, high = float(row["low"]), float(row["high"])
    counts = run["seconds"].notnull().sum("sample").values if run is not None and "seconds" in run else np.array([])
    enough = set((counts >= FEWEST_SAMPLES).tolist())
    word = "95 % interval" if enough == {True} else "samples from" if enough == {False} else "within"
    say = noted(axis).get(which) or (lambda value: significant(value, 3))
    ends = [say(each) for each in (low, high)]
    said = f", {word} {' to '.join(ends)}" if low < high and ends[0] != ends[1] else ""
    return f"{said}{', doubtful' if row['flagged'] else ''}"


def _whence(figure, kind: str, run, place: str) -> str:
    """Machine and day of a measured mark, the report's table of another; ``place`` may name a machine of a row."""
    about = noted(figure)
    if kind == "printed":
        return f"report: {about['printed']}" if about.get("printed") else "from the report"
    other = None if run is not None else _MACHINE.search(place)
    run = about.get("run") if run is None else run
    if kind != "measured" or run is None or "date" not in run.attrs:
        return "calculated" if kind == "calculated" else ""
    if other and other[0] != cpu(run):
        return f"measured: {other[0]}"
    return f"measured: {cpu(run)}, preset {run.attrs['preset']}, {run.attrs['date'][:10]}"


def _place(axis: Axes, names: _Names, x: float, y: float) -> tuple[bool, str]:
    """Whether the quantity runs along x, and which row, column or place the mark stands at."""
    for known, at, across in zip(names, (y, x), (True, False), strict=True):
        if known:
            nearest = min(known, key=lambda name: abs(known[name] - at))
            return across, nearest if abs(known[nearest] - at) < 0.6 else ""
    return False, f"{_name(axis, 'x')} {_number(axis, 'x', x, 4)}".strip()


def _told(line, axis: Axes) -> bool:
    """Whether the points of a line are marks, or the medians of a run that are joined without any."""
    if line.get_transform() != axis.transData or line.get_color() == INK and line.get_label().startswith("_"):
        return False
    if str(line.get_marker()).strip().lower() not in ("", "none"):
        return True
    joined = line.get_linestyle() == "-" and not line.get_label().startswith("_") and len(line.get_xdata()) <= _JOINED
    return joined and noted(axis.figure).get("run") is not None


def _kind(axis: Axes, colour, hollow: bool) -> str:
    """What a mark is by its look; of black ones, medians of several machines, nothing is said."""
    run = noted(axis.figure).get("run")
    by_colour = {MEANINGS["calculated"]: "calculated", INK: ""}
    return by_colour.get(to_hex(colour), "printed" if hollow else "measured" if run is not None else "")


#: Ends along x and y, in the units of the axes, and what is told: value, quantity, place, series, and whence it is.
_Found = tuple[tuple[float, float, float, float], list[str]]


def _lines(axis: Axes, names: _Names) -> Iterator[_Found]:
    for line in axis.get_lines():
        about = noted(line)
        if not _told(line, axis):
            continue
        kind = about.get("kind") or _kind(axis, line.get_color(), line.get_markerfacecolor() == "none")
        run, found, label = about.get("run"), about.get("found"), one_line(about.get("label", str(line.get_label())))
        for row, (x, y) in enumerate(np.asarray(line.get_xydata(), dtype=float)):
            if not np.isfinite(x + y):
                continue
            across, where = _place(axis, names, x, y)
            which, value = ("x", x) if across else ("y", y)
            said = f"{about.get('bound', '')} {_number(axis, which, value, _DIGITS.get(kind, 3))}".strip()
            if found is not None:
                said += _spread(axis, which, noted(axis.figure).get("run") if run is None else run, found.iloc[row])
            if "whence" in about:
                origin = about["whence"][row].split("\n")
            else:
                origin = [label, _whence(axis.figure, kind, run, f"{where} {label}")]
            yield (x, y, x, y), [said, _name(axis, which), where, *origin]


def _bars(axis: Axes, names: _Names) -> Iterator[_Found]:
    containers = [each for each in axis.containers if isinstance(each, BarContainer)]
    found = [(bars, bar, bar.get_bbox(), bars.orientation == "horizontal") for bars in containers for bar in bars]
    # where bars end from which others go on; a bar that begins elsewhere is a range
    ends = {tuple(np.round(box.max if across else box.max[::-1], 9)) for _, _, box, across in found}
    for bars, bar, box, across in found:
        (low, start), (high, end) = (each[::-1] if across else each for each in (box.min, box.max))
        if not np.isfinite([start, end]).all() or start == end:
            continue
        hollow, which = bar.get_facecolor()[3] == 0, "x" if across else "y"
        kind = noted(bar).get("kind") or _kind(axis, bar.get_edgecolor() if hollow else bar.get_facecolor(), hollow)
        digits, stacked = _DIGITS.get(kind, 3), (*np.round([start, high], 9),) in ends
        said = _number(axis, which, end - start if stacked else end, digits)
        if start and not stacked:
            said = f"{_rounded(start, digits)} to {said}"
        _, where = _place(axis, names, *(box.min + box.max) / 2)
        label = one_line(str(bars.get_label()))
        whence = _whence(axis.figure, kind, None, f"{where} {label}")
        yield (box.x0, box.y0, box.x1, box.y1), [said, _name(axis, which), where, label, whence]


def marks(figure) -> list[Mark]:
    """Every mark of a figure that was drawn: panel by panel, rows from top to bottom, else series by series."""
    found: dict[Mark, None] = {}
    height, scale = figure.get_size_inches()[1] * POINTS, POINTS / figure.dpi
    for axis in (each for each in figure.axes if each.axison):
        names, panel = (named(axis, "y"), named(axis, "x")), []
        for (x0, y0, x1, y1), said in (*_lines(axis, names), *_bars(axis, names)):
            (left, bottom), (right, top) = np.sort(axis.transData.transform([(x0, y0), (x1, y1)]), axis=0)
            order = list(names[0]).index(said[2]) if said[2] in names[0] else 0
            middle = axis.transAxes.inverted().transform(((left + right) / 2, (bottom + top) / 2))
            if (np.abs(middle - 0.5) > 0.51).any():
                continue
            box = (left * scale, height - top * scale, right * scale, height - bottom * scale)
            title = one_line(axis.get_title() or axis.get_title("left"))
            known = (said[2], said[-1])
            label = [each for each in said[3:-1] if not each.startswith("_") and not any(each in one for one in known)]
            lines = dict.fromkeys(filter(None, (*said[:3], title, *label, said[-1])))
            panel.append((order, Mark(tuple(round(float(each), 1) for each in box), tuple(lines))))
        if names[0]:
            panel.sort(key=lambda each: (each[0], each[1].box))
        found |= dict.fromkeys(mark for _, mark in panel)
    return list(found)


def told(figure) -> str:
    """The marks of a figure that was drawn, as places with titles in the units of its drawing."""
    places = []
    for mark in marks(figure):
        title = f"<title>{escape(chr(10).join(mark.said), quote=False)}</title>"
        left, top, right, bottom = mark.box
        if (left, top) == (right, bottom):
            places.append(f'<circle cx="{left}" cy="{top}" r="{_REACH}">{title}</circle>')
        else:
            size = f'width="{right - left:.1f}" height="{bottom - top:.1f}"'
            places.append(f'<rect x="{left}" y="{top}" {size}>{title}</rect>')
    return f'<g class="rerun-marks" fill="none" pointer-events="all">{"".join(places)}</g>' if places else ""
