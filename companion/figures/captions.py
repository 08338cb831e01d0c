"""What stands around figures and tables: rows of ``figures.csv``, of each chapter and of the pages of no chapter.

A row belongs to what is shown under its name. Of a figure it has the heading above its panels, the place of its legend,
how its axes are set, and its title, caption and alternative text; of a table the caption. Fields of these texts,
``{least:.2f}``, are numbers and words that are handed to ``show``, their :data:`_ENDS`, and what :data:`_STANDARD`
knows of every run. ``{items}`` lists the ``items`` that a figure hands over, each in the words of the column ``item``;
without any it is these words, once.
"""

import csv
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from companion import chapters
from companion.figures.parts import MARKED, MARKS, cpu, flag_note, legend, log_axis, run_title
from companion.figures.ranks import BARRED, doubts, rank_title

_PAGES = Path(__file__).parents[1] / "pages" / "figures.csv"
COLUMNS = ("figure", "heading", "legend", "axes", "title", "caption", "alt", "item")
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


def _listed(item: str, items: pd.DataFrame | pd.Series, values: dict[str, Any], run) -> str:
    """Every row of ``items`` in the words of ``item``, joined by the comma or "and" with which it begins, or by "; ".

    Fields are the columns; of a series ``name`` and ``value``.
    """
    if isinstance(items, pd.Series):
        items = pd.DataFrame({"name": items.index, "value": items.to_numpy()})
    mark = next((mark for mark in (", ", " and ") if item.startswith(mark)), "; ")
    text = item.removeprefix(mark)
    return mark.join(text.format_map(_Values({**values, **row}, run)) for row in items.to_dict("records"))


def words(figure: str | None, run=None, items=None, **values) -> dict[str, str]:
    """``heading``, ``title``, ``caption`` and ``alt`` of a figure, as far as it has templates.

    ``KeyError`` if a template has a field that is neither among ``values`` nor in :data:`_STANDARD`.

    Parameters
    ----------
    figure : str, optional
    run : xarray.Dataset, optional
        The run that is drawn.
    items : pandas.DataFrame or pandas.Series, optional
        What ``{items}`` lists.
    **values
        Fields of the templates.
    """
    row, fields, found = declared().get(figure or "", {}), _Values(values, run), {}
    if row.get("item"):
        fields["items"] = row["item"].format_map(fields) if items is None else _listed(row["item"], items, values, run)
    for name in ("heading", "title", "alt", "caption"):
        if row.get(name):
            found[name] = fields[name] = row[name].format_map(fields)
    return found


def arrange(figure, name: str | None) -> None:
    """Set the axes of a figure as its row says, one setting after another, with semicolons between them.

    They are those of the first panel, after ``|`` those of the next one, and after ``all`` those of every panel.
    ``x time [s]``, ``y …`` and ``title …`` are labels, ``x> …`` is one at the right end; ``log`` makes both axes
    logarithmic, ``log x 2`` one of base 2; ``xlim 0 -`` has an open end.  ``down`` turns y round, ``rows`` does so for
    places 0, 1, 2 … with half a row beyond the ends; ``no grid y`` leaves out lines; ``legend`` is followed by a place
    as in the column of that name.
    """
    panels, chosen = list(figure.axes), slice(1)
    for each in filter(None, (declared().get(name or "", {}).get("axes") or "").split("; ")):
        if each in ("|", "all"):
            chosen = slice(None) if each == "all" else slice(chosen.stop, chosen.stop + 1)
        for axis in [] if each in ("|", "all") else panels[chosen]:
            _set(axis, *each.partition(" ")[::2])


def _set(axis, word: str, rest: str) -> None:
    """One setting of a panel."""
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
    elif word == "x>":
        axis.set_xlabel(rest, loc="right")
    elif word == "legend":
        legend(axis, rest)
    else:
        axis.set(**{"x": {"xlabel": rest}, "y": {"ylabel": rest}, "title": {"title": rest}}[word])


def furnish(figure, name: str | None, heading: str | None, machines: str = "") -> None:
    """Heading and legend of a figure, as its row has them; ``machines`` are the other ones, a line of the heading.

    The place of a legend is as :func:`companion.figures.parts.legend` has it.
    """
    titled = [legend.get_title() for legend in figure.legends if legend.get_title().get_text()]
    if titled and machines:
        titled[0].set_text(f"{titled[0].get_text()}\n{machines}")
    elif heading or machines:
        figure.suptitle("\n".join(filter(None, [heading or figure.get_suptitle(), machines])), size=9)
    if place := declared().get(name or "", {}).get("legend"):
        legend(figure.axes[0], place)
