"""What stands around figures: rows of ``figures.csv``, of each chapter and of the pages of no chapter.

A row belongs to the figure that is shown under its name: the heading above its panels, the place of its legend, how its
axis is set where it has one panel, and its title, caption and alternative text. Fields of these texts, ``{least:.2f}``,
are numbers and words that the figure hands to ``show``, their :data:`_ENDS`, and what :data:`_STANDARD` knows of every
run.
"""

import csv
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from companion import chapters
from companion.figures.parts import MARKED, MARKS, cpu, flag_note, log_axis, run_title
from companion.figures.ranks import BARRED, doubts, rank_title

_PAGES = Path(__file__).parents[1] / "pages" / "figures.csv"
COLUMNS = ("figure", "heading", "legend", "axes", "title", "caption", "alt")
#: Fields of every template: what its marks are, and of its run the machine, the day and the flags.
_STANDARD = {
    "marked": lambda run: MARKED,
    "marks": lambda run: MARKS,
    "barred": lambda run: BARRED,
    "cpu": cpu,
    "doubts": doubts,
    "flag_note": flag_note,
    "run_title": run_title,
    "rank_title": rank_title,
}


#: Of a value that is several numbers, ``times=…``, what a template names ``times_least``, ``times_first`` …
_ENDS: dict[str, Callable[[np.ndarray], Any]] = {
    "least": np.nanmin,
    "most": np.nanmax,
    "first": lambda each: each[0],
    "last": lambda each: each[-1],
}


class _Values(dict):
    """Values of one figure; ends of several numbers, and what all share, are made when a template asks for them."""

    def __init__(self, values: dict[str, Any], run):
        super().__init__(values)
        self.run = run

    def __missing__(self, name: str) -> Any:
        several, _, end = name.rpartition("_")
        if several in self and end in _ENDS:
            return _ENDS[end](np.asarray(self[several]))
        return _STANDARD[name](self.run)


@cache
def declared() -> dict[str, dict[str, str]]:
    """The row of each figure, by the name under which it is shown; those of no chapter are in ``companion/pages``."""
    pages = csv.DictReader(_PAGES.read_text(encoding="utf-8").splitlines())
    return {row["figure"]: row for rows in (*chapters.rows("figures.csv", COLUMNS).values(), pages) for row in rows}


def words(figure: str | None, run=None, **values) -> dict[str, str]:
    """``heading``, ``title``, ``caption`` and ``alt`` of a figure, as far as it has templates.

    ``KeyError`` if a template has a field that is neither among ``values`` nor in :data:`_STANDARD`.

    Parameters
    ----------
    figure : str, optional
    run : xarray.Dataset, optional
        The run that is drawn.
    **values
        Fields of the templates.
    """
    row, fields, found = declared().get(figure or "", {}), _Values(values, run), {}
    for name in ("heading", "title", "alt", "caption"):
        if row.get(name):
            found[name] = fields[name] = row[name].format_map(fields)
    return found


def arrange(figure, name: str | None) -> None:
    """Set the axis of a figure as its row says, one setting after another, with semicolons between them.

    ``x time [s]``, ``y …`` and ``title …`` are labels; ``log`` makes both logarithmic, ``log x 2`` one of base 2;
    ``xlim 0 -`` has an open end.  ``down`` turns y round, ``rows`` does so for places 0, 1, 2 … with half a row beyond
    the ends; ``no grid y`` leaves out lines.
    """
    for each in filter(None, (declared().get(name or "", {}).get("axes") or "").split("; ")):
        axis, (word, _, rest) = figure.axes[0], each.partition(" ")
        if word == "log":
            which, base = [*rest.split(), "10"][:2] if rest else ("both", "10")
            log_axis(axis, which, base=int(base))
        elif word in ("xlim", "ylim"):
            getattr(axis, f"set_{word}")(*(None if end == "-" else float(end) for end in rest.split()))
        elif word == "rows":
            axis.set_ylim(len(axis.get_yticks()) - 0.5, -0.5)
        elif word == "down":
            axis.invert_yaxis()
        elif word == "no":
            axis.grid(False, axis=rest[-1])
        else:
            axis.set(**{"x": {"xlabel": rest}, "y": {"ylabel": rest}, "title": {"title": rest}}[word])


def furnish(figure, name: str | None, heading: str | None, machines: str = "") -> None:
    """Heading and legend of a figure, as its row has them; ``machines`` are the other ones, a line of the heading.

    ``"below 2"`` is a legend of two columns below all panels, ``"above 2"`` one above the first panel, at its middle or
    at the part of its width that follows, ``"above 2 0.4"``; ``"under 2 0.5 -0.2"`` hangs at these parts of the panel's
    width and height; other words are a place within it.
    """
    titled = [legend.get_title() for legend in figure.legends if legend.get_title().get_text()]
    if titled and machines:
        titled[0].set_text(f"{titled[0].get_text()}\n{machines}")
    elif heading or machines:
        figure.suptitle("\n".join(filter(None, [heading or figure.get_suptitle(), machines])), size=9)
    place, *rest = (declared().get(name or "", {}).get("legend") or "none").split()
    if place == "below":
        figure.legend(loc="outside lower center", ncols=int(rest[0]))
    elif place == "above":
        columns, across = int(rest[0]), float(rest[1]) if rest[1:] else 0.5
        figure.axes[0].legend(loc="lower center", bbox_to_anchor=(across, 1.0), ncols=columns)
    elif place == "under":
        columns, *anchor = int(rest[0]), *map(float, rest[1:])
        figure.axes[0].legend(loc="upper center", bbox_to_anchor=anchor, ncols=columns)
    elif place != "none":
        figure.axes[0].legend(loc=" ".join([place, *rest]))
