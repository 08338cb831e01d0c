"""A table that scrolls inside its own frame, names its units and offers its data."""

import math
from html import escape

import pandas as pd

from companion.figures._show import csv_link


def significant(value, digits: int) -> str:
    """``value`` to ``digits`` significant digits, without an exponent between 1e-4 and 1e15."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int) or value == 0:
        return str(value)
    if not 1e-4 <= abs(value) < 1e15:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"


class Table:
    """A table that displays itself: HTML in a scrolling frame, text elsewhere."""

    def __init__(self, html: str, text: str):
        self.html = html
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        return {"text/html": self.html, "text/plain": self.text}


def table(frame: pd.DataFrame, *, caption: str, units: dict | None = None, digits: int | None = None,
          name: str = "table", index: bool | None = None) -> Table:
    """Display ``frame`` with a caption, scrolling inside its own frame where the page is narrow.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per row.  ``frame.attrs["units"]``, a dict of column to unit, is used if ``units``
        is not given.
    caption : str
        What the table is, with its source.
    units : dict, optional
        Unit of each column, written under its name.
    digits : int, optional
        Significant digits of floating-point columns; as they are if not given.
    name : str
        Stem of the CSV file's name.
    index : bool, optional
        Whether row labels are shown; by default unless they merely count.

    Raises
    ------
    ValueError
        If ``caption`` is empty or ``units`` names a column that the frame has not.
    """
    if not caption or not caption.strip():
        raise ValueError("caption is empty; say what the table is and where it comes from")
    units = frame.attrs.get("units", {}) if units is None else units
    unknown = set(units) - set(map(str, frame.columns))
    if unknown:
        raise ValueError(f"units names the column {min(unknown)!r}, which the table has not")
    index = not isinstance(frame.index, pd.RangeIndex) if index is None else index
    heads = {column: f"{column} [{units[column]}]" for column in frame.columns if units.get(column)}
    shown = frame.rename(columns=heads)
    if digits is not None:
        shown = shown.map(lambda cell: significant(cell.item() if hasattr(cell, "item") else cell, digits))
    body = shown.to_html(border=0, index=index, na_rep="–", justify="left", classes="rerun-data")
    body = body.replace("<thead>", f"<caption>{escape(caption)}</caption>\n<thead>", 1)
    html = (f'<div class="rerun-table" role="region" tabindex="0" aria-label="{escape(caption)}" '
            f'style="overflow-x: auto; max-width: 100%">{body}</div>'
            f'<p style="font-size: 0.85em">{csv_link(frame.rename(columns=heads), name)}</p>')
    return Table(html, f"{caption}\n{shown.to_string(index=index, na_rep='–')}")
