"""Other machines on the axes of a figure that draws the run of one.

A function of a chapter draws one run.  :func:`each_machine` lets it draw the newest run of every other machine first,
keeps the medians of these, and puts them small, each machine in a shape of its own, on the axes of the figure that is
shown.  Colours stay those of the variants, and the heading says which shape is which machine.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import Any
from weakref import WeakSet

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.ticker import FixedLocator

from companion.labels import plural
from companion.records import runs

#: Marks of the other machines with the letter that stands for each in a heading.
SHAPES = {"D": "◆", "^": "▲", "v": "▼", "s": "■", "P": "✚", "X": "✖", "h": "⬢", "p": "⬟"}
#: The mark of the reader's own machine, larger and in full colour, and its letter.
OWN, _OWN_LETTER = "*", "★"
#: Series of other machines that one panel holds; those of more machines are drawn on the chapter's record alone.
_MOST = 8
#: Letters of a line of a heading.
WIDTH = 52
#: What a figure raises where a run does not hold what it takes: an older one, or another sweep.
LACKING = (KeyError, IndexError, ValueError, AssertionError)
#: Lines of a figure that draw medians of a run.
measured: WeakSet = WeakSet()


@dataclass(frozen=True)
class _Line:
    """Medians of one variant in one panel."""

    panel: int
    x: Any
    y: Any
    colour: Any
    joined: bool


@dataclass
class _Drawn:
    """What the figures of one machine's run have, by the name under which they are shown."""

    machine: str
    own: bool = False  # the reader's
    panels: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    lines: dict[str, list[_Line]] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)


#: Machine whose figures are made for their marks alone, and the machines whose marks the figures shown now take.
_collecting: ContextVar[_Drawn | None] = ContextVar("collecting", default=None)
_others: ContextVar[tuple[_Drawn, ...]] = ContextVar("others", default=())
_alone: ContextVar[bool] = ContextVar("alone", default=False)


@contextmanager
def alone() -> Iterator[None]:
    """Within it, figures draw the machine of their run and no other."""
    token = _alone.set(True)
    try:
        yield
    finally:
        _alone.reset(token)


def on_machine_of(record: xr.Dataset, experiment: str) -> xr.Dataset | None:
    """The newest run of another experiment on the machine of ``record``; None where it has none."""
    return next((run for run in runs.each(experiment) if run.attrs["label"] == record.attrs["label"]), None)


def _is_run(value: Any) -> bool:
    return isinstance(value, xr.Dataset) and value.attrs.get("records") == 1


def _partners(record: xr.Dataset) -> list[xr.Dataset]:
    """The newest run of every other machine with the preset of ``record``; what is not timed is alike on all."""
    if record.attrs["simulated"] or record.attrs["kind"] == "study":
        return []
    about, experiment = record.attrs, record.attrs["experiment"]
    found = runs.readers(experiment) + runs.each(experiment)
    return [run for run in found if run.attrs["label"] != about["label"] and run.attrs["preset"] == about["preset"]]


def _collected(draw: Callable, given: tuple, run: xr.Dataset) -> _Drawn:
    """The marks of ``draw`` with the run of another machine, and with that machine's runs of other experiments."""
    swapped = [
        value if not _is_run(value)
        else run if value.attrs["experiment"] == run.attrs["experiment"]
        else on_machine_of(run, value.attrs["experiment"])
        for value in given
    ]  # fmt: skip
    found = _Drawn(run.attrs["label"], "own" in run.attrs)
    if any(value is None for value, own in zip(swapped, given, strict=True) if own is not None):
        return found
    token = _collecting.set(found)
    try:
        draw(*swapped)
    except LACKING:
        return _Drawn(run.attrs["label"])
    finally:
        _collecting.reset(token)
    return found


def each_machine(draw: Callable) -> Callable:
    """Decorate a figure: its run is drawn in full, and the medians of every other machine's run beside it.

    ``ValueError`` where one of its runs is several (:func:`companion.records.runs.single`).
    """

    @wraps(draw)
    def drawn(*given, **named):
        for value in given:
            if isinstance(value, xr.Dataset):
                runs.single(value)
        record = next(filter(_is_run, given), None)
        if record is None or _alone.get() or _collecting.get() is not None:
            return draw(*given, **named)
        token = _others.set(tuple(_collected(partial(draw, **named), given, run) for run in _partners(record)))
        try:
            return draw(*given, **named)
        finally:
            _others.reset(token)

    return drawn


def _categories(axis, machine: str) -> tuple[str, ...]:
    """Words along the axes of a panel but the machine's own name: they say what a place without a unit means."""
    found = []
    for each in (axis.xaxis, axis.yaxis):
        if isinstance(each.get_major_locator(), FixedLocator) and each.get_scale() == "linear":
            found += each.get_major_formatter().format_ticks(each.get_major_locator()())
    return tuple(str(text).replace(machine, "") for text in found)


def _lines(figure) -> list[_Line]:
    return [
        _Line(number, line.get_xdata(), line.get_ydata(), line.get_color(), line.get_linestyle() != "None")
        for number, axis in enumerate(figure.axes)
        for line in axis.get_lines()
        if line in measured
    ]


def collect(figure, name: str, data) -> bool:
    """Whether a figure is made for its marks alone; they are kept then."""
    found = _collecting.get()
    if found is None:
        return False
    found.lines[name], found.data[name] = _lines(figure), data
    found.panels[name] = [_categories(axis, found.machine) for axis in figure.axes]
    return True


def _widened(axis, low: np.ndarray, high: np.ndarray) -> None:
    """Ends of the axes of a panel that also hold ``low`` and ``high``, (x, y)."""
    for letter, least, most in zip("xy", low, high, strict=True):
        limits = getattr(axis, f"get_{letter}lim")()
        ends, log = sorted(limits), getattr(axis, f"get_{letter}scale")() == "log"
        if not ends[0] <= least <= most <= ends[1]:
            span = (most / least) ** 0.05 if log else 0.05 * (max(most, ends[1]) - min(least, ends[0]))
            wide = (least / span, most * span) if log else (least - span, most + span)
            ends = [ends[0] if least >= ends[0] else wide[0], ends[1] if most <= ends[1] else wide[1]]
            getattr(axis, f"set_{letter}lim")(ends if limits[0] <= limits[1] else ends[::-1])


def _put(figure, lines: list[_Line], shape: str) -> None:
    size, alpha, above = (9, 1.0, 2.5) if shape == OWN else (3.6, 0.65, 1.8)
    for line in lines:
        axis = figure.axes[line.panel]
        axis.plot(
            line.x, line.y, color=line.colour, marker=shape, markersize=size, alpha=alpha, linewidth=0.7, zorder=above,
            linestyle="-" if line.joined else "none", scalex=False, scaley=False, label="_nolegend_",
        )  # fmt: skip
        ends = np.array([line.x, line.y], dtype=float)
        ends = ends[:, np.isfinite(ends).all(axis=0)]
        if ends.size:
            _widened(axis, ends.min(axis=1), ends.max(axis=1))


def add(figure, name: str, data, machine: str) -> tuple[Any, str]:
    """Put the other machines on the axes of ``figure``; the data of all, and the words that say which is which.

    Machines whose run has other cases, or for which the panels have no room, are on the chapter's record alone.
    """
    own = _lines(figure)
    panels = [_categories(axis, machine) for axis in figure.axes]
    most = max((sum(line.panel == n for line in own) for n in range(len(panels))), default=0)
    fit = [other for other in _others.get() if other.lines.get(name) and other.panels[name] == panels]
    shown = fit[: _MOST // most if most else 0]
    if not shown:
        return data, ""
    shapes = iter(SHAPES.items())
    said = []
    for other in shown:
        shape, letter = (OWN, _OWN_LETTER) if other.own else next(shapes)
        _put(figure, other.lines[name], shape)
        said.append(f"{letter} {other.machine}")
    if left := len(_others.get()) - len(shown):
        said.append(f"{plural(left, 'more machine')} on the record")
    if isinstance(data, pd.DataFrame):
        frames = {machine: data} | {other.machine: other.data[name] for other in shown}
        data = pd.concat([frame.assign(machine=label) for label, frame in frames.items()], ignore_index=True)
    return data, _lines_of(said)


def _lines_of(said: list[str]) -> str:
    """Clauses in lines that a phone has room for; none is broken."""
    lines = said[:1]
    for clause in said[1:]:
        joined = f"{lines[-1]}; {clause}"
        lines = [*lines[:-1], joined] if len(joined) <= WIDTH else [*lines[:-1], f"{lines[-1]};", clause]
    return "\n".join(lines)
