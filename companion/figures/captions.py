"""Titles, captions and alternative texts of figures: templates in ``companion/chapters/<document>/captions.csv``.

A row belongs to the figure that is shown under its name.  Fields of a template, ``{least:.2f}``, are numbers and words
that the figure hands to ``show``, and what :data:`STANDARD` knows of every run.
"""

from functools import cache
from typing import Any

from companion import chapters
from companion.figures.parts import MARKED, cpu
from companion.figures.ranks import BARRED, doubts

COLUMNS = ("figure", "title", "caption", "alt")
#: Fields of every template: sentences on its marks, the machine of the run, and its flags.
STANDARD = {"marked": lambda run: MARKED, "barred": lambda run: BARRED, "cpu": cpu, "doubts": doubts}


class _Values(dict):
    """Values of one figure; what all share is made when a template asks for it."""

    def __init__(self, values: dict[str, Any], run):
        super().__init__(values)
        self.run = run

    def __missing__(self, name: str) -> str:
        return STANDARD[name](self.run)


@cache
def templates() -> dict[str, dict[str, str]]:
    """The row of each figure, by the name under which it is shown."""
    return {row["figure"]: row for rows in chapters.rows("captions.csv", COLUMNS).values() for row in rows}


def words(figure: str | None, run=None, **values) -> dict[str, str]:
    """``title``, ``caption`` and ``alt`` of a figure, as far as it has templates.

    Parameters
    ----------
    figure : str, optional
    run : xarray.Dataset, optional
        The run that is drawn.
    **values
        Fields of the templates.

    Raises
    ------
    KeyError
        If a template has a field that is neither among ``values`` nor in :data:`STANDARD`.
    """
    row, fields, found = templates().get(figure or "", {}), _Values(values, run), {}
    for name in ("title", "alt", "caption"):
        if row.get(name):
            found[name] = fields[name] = row[name].format_map(fields)
    return found
