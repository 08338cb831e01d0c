"""A table that scrolls inside its own frame, names its units and offers its data."""

import re
from html import escape

import pandas as pd

from companion.figures.rendering import NUMBER, csv_link, run_stem
from companion.labels import significant as significant

#: Where the title of a caption ends: at a full stop that ends no abbreviation, or at a colon.
_TITLE = re.compile(r"(?<!\bFig)(?<!\bFigs)(?<!\bSec)\.(?= |$)|:(?= )")
_NUMBER = re.compile(r"[-+−]?[\d.,]+ ?%?")


def _cell(value, digits: int | None) -> str:
    value = value.item() if hasattr(value, "item") else value
    if digits is not None:
        return significant(value, digits)
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return "–"
    return str(value) or "–"


def _as_counts(column: pd.Series) -> pd.Series:
    """Counts that became floating-point only because some are missing, as counts again."""
    if column.dtype.kind == "f" and (column.dropna() % 1 == 0).all() and column.abs().max() < 1e15:
        return column.astype("Int64")
    return column


def _is_long(cells: pd.Series) -> bool:
    return cells.str.len().max() > 40


def _style(column: pd.Series, cells: pd.Series, room: int) -> str:
    """Numbers to the right, printed ones too; long text gets ``room`` (em), so that rows stay low."""
    filled = cells[cells != "–"]
    if column.dtype.kind in "iufc" or (len(filled) and filled.str.fullmatch(_NUMBER).all()):
        return 'style="text-align: right"'
    return f'style="text-align: left{f"; min-width: {room}em" if _is_long(cells) else ""}"'


def _words(column, descriptions: dict) -> str:
    """A column's name in words, and what it means where that is known."""
    name = str(column).removesuffix(" [1]")
    hint = descriptions.get(name.partition(" [")[0], "")
    title = f' title="{escape(hint)}"' if hint else ""
    # a symbol of one letter has an index (T_C), other names are words with underscores
    words = re.sub(r"(?<![A-Za-z_])([A-Z])_([A-Za-z0-9]+)", r"\1<sub>\2</sub>", escape(name)).replace("_", " ")
    return f"<span{title}>{words}</span>" if title else words


def _footnotes(cells: pd.DataFrame, notes: pd.Series | None) -> tuple[list[str], str]:
    """A mark for each row that has a note, and the list of notes; equal notes share a mark."""
    if notes is None or not (notes.fillna("") != "").any():
        return [""] * len(cells), ""
    texts = list(dict.fromkeys(note for note in notes.fillna("") if note))
    marks = {text: _letter(number) for number, text in enumerate(texts)}
    body = "".join(f"<li><sup>{marks[text]}</sup> {escape(text)}</li>" for text in texts)
    return [
        f"<sup>{marks[note]}</sup>" if note else "" for note in notes.fillna("")
    ], f'<ul class="rerun-notes">{body}</ul>'


def titled(caption: str) -> str:
    """``caption`` as HTML, its title bold."""
    end = _TITLE.search(caption)
    title, rest = (caption[: end.end()], caption[end.end() :]) if end else (caption, "")
    return f"<strong>{escape(title)}</strong>{escape(rest)}"


def _letter(number: int) -> str:
    """a, b, …, z, aa, ab, …"""
    before, last = divmod(number, 26)
    return (_letter(before - 1) if before else "") + chr(ord("a") + last)


def _body(frame: pd.DataFrame, cells: pd.DataFrame, marks: list[str], descriptions: dict, addresses: dict) -> str:
    columns = [cells.iloc[:, place] for place in range(frame.shape[1])]
    # several long columns share the width of a page
    room = max(10, min(15, 34 // max(1, sum(map(_is_long, columns)))))
    styles = [_style(frame.iloc[:, place], column, room) for place, column in enumerate(columns)]
    head = "".join(
        f'<th scope="col" {style}>{_words(column, descriptions)}</th>'
        for column, style in zip(frame.columns, styles, strict=True)
    )
    rows = "\n".join(
        "<tr>" + "".join(map("<td {}{}>{}</td>".format, styles, known, _marked(row, mark))) + "</tr>"
        for row, mark, known in zip(
            cells.itertuples(index=False, name=None),
            marks,
            ([addresses.get((row, place), "") for place in range(len(columns))] for row in range(len(cells))),
            strict=True,
        )
    )
    return f'<table class="rerun-data">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>'


def _marked(row: tuple[str, ...], mark: str) -> list[str]:
    """Cells of a row as HTML, the first with the mark of its note."""
    return [escape(cell) + (mark if place == 0 else "") for place, cell in enumerate(row)]


class Table:
    """A table that displays itself: HTML in a scrolling frame, text elsewhere."""

    def __init__(self, html: str, text: str):
        self.html = html
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        return {"text/html": self.html, "text/plain": self.text}


def _units(frame: pd.DataFrame, units: dict | str | None) -> dict:
    """Unit of each column, of one for all columns but the first, or of those that the frame names."""
    if isinstance(units, str):
        return dict.fromkeys(frame.columns[1:], units)
    found = frame.attrs.get("units", {}) if units is None else units
    unknown = set(found) - ({*frame.columns, *frame.index.names} - {None})
    if unknown:
        raise ValueError(f"units names the column {min(unknown, key=str)!r}, which the table has not")
    return found


def table(
    frame: pd.DataFrame,
    *,
    caption: str,
    units: dict | str | None = None,
    digits: int | None = None,
    name: str = "table",
    index: bool | None = None,
    folded: bool = False,
    notes: pd.Series | None = None,
    descriptions: dict | None = None,
    run=None,
) -> Table:
    """Display ``frame`` with a caption, scrolling inside its own frame where the page is narrow.

    ``ValueError`` if ``caption`` is empty or ``units`` names a column that the frame has not.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per row.  ``frame.attrs["units"]``, a dict of column to unit, is used if ``units``
        is not given.  ``frame.attrs["addresses"]``, ``(row, column)`` to the address of the cell and that of the
        claim that recomputes it, make the cell a place that the ledger leads to and from; either may be empty.
    caption : str
        What the table is, with its source, and what to see in it.  Up to the first full stop or colon it is
        the title.
    units : dict or str, optional
        Unit of each column, written under its name; one of all columns but the first.
    digits : int, optional
        Significant digits of floating-point columns; as they are if not given.
    name : str
        Stem of the CSV file's name, and the name by which the book refers to the table (``tab-<name>``).
    index : bool, optional
        Whether row labels are shown; by default unless they merely count.
    folded : bool
        Only the caption shows until the reader opens the table: raw tables, facts of machines, ticks of axes.
    notes : pandas.Series, optional
        A remark for each row, or nothing; set as footnotes in the page.
    descriptions : dict, optional
        What each column means, shown when a reader points at its name.
    run : xarray.Dataset, optional
        The run that the table shows; its machine and day enter the name of the CSV file.  Without one they are
        those of ``frame.attrs``, if it has any.
    """
    if not caption.strip():
        raise ValueError("caption is empty; say what the table is and where it comes from")
    units = _units(frame, units)
    counted = isinstance(frame.index, pd.RangeIndex)
    shown = frame.reset_index() if (not counted if index is None else index) else frame
    names = list(shown.columns)
    heads = {column: f"{column} [{units[column]}]" for column in shown.columns if units.get(column)}
    shown = shown.rename(columns=heads)
    cells = (shown.apply(_as_counts) if digits is None else shown).map(lambda cell: _cell(cell, digits))
    marks, list_of_notes = _footnotes(cells, notes)
    place = [column for column in range(shown.shape[1]) if notes is None or shown.columns[column] != notes.name]
    known = {
        (row, place.index(names.index(column))): "".join(
            f' {name}="{value}"' for name, value in (("id", identity), ("data-claim", claim)) if value
        )
        for (row, column), (identity, claim) in frame.attrs.get("addresses", {}).items()
        if column in names
    }
    body = _body(shown.iloc[:, place], cells.iloc[:, place], marks, descriptions or {}, known)
    # The caption is outside the frame that scrolls, so that all of it can be read on a phone.
    head, rest = f"{NUMBER}{titled(caption)}", ""
    if folded:
        opening = f'<details class="rerun-block" data-name="{escape(name)}"><summary class="rerun-caption">{head}'
        rest = f" <small>({len(cells)} rows)</small></summary>"
    else:
        opening = f'<div class="rerun-block" data-name="{escape(name)}"><p class="rerun-caption">{head}</p>'
    link = csv_link(shown, run_stem(name, frame if run is None else run))
    html = (
        f"{opening}{rest}"
        f'<div class="rerun-table" role="region" tabindex="0" aria-label="{escape(caption)}" '
        f'style="overflow-x: auto; max-width: 100%">{body}</div>{list_of_notes}'
        f'<p style="font-size: 0.85em">{link}</p></{"details" if folded else "div"}>'
    )
    return Table(html, f"{caption}\n{cells.to_string(index=False)}")
