"""A table that scrolls inside its own frame, names its units and offers its data; the printed tables of a report."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from html import escape, unescape

import pandas as pd

from supercomputers_rerun.companion import claims, tables
from supercomputers_rerun.companion.common import significant
from supercomputers_rerun.companion.figures.rendering import NUMBER, Shown, csv_link

#: Where the title of a caption ends: at a full stop that ends no abbreviation, or at a colon.
_TITLE = re.compile(r"(?<!\bFig)(?<!\bFigs)(?<!\bSec)\.(?= |$)|:(?= )")
_NUMBER = re.compile(r"[-+−]?[\d.,]+ ?%?")
_TAG = re.compile(r"<[^>]+>")
#: Characters from which a text is long.
_LONG = 40


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


def _style(column: pd.Series, cells: pd.Series, room: int) -> str:
    """Numbers to the right, printed ones too; long text gets ``room`` (em), so that rows stay low."""
    filled = cells[cells != "–"]
    if column.dtype.kind in "iufc" or (len(filled) and filled.str.fullmatch(_NUMBER).all()):
        return 'style="text-align: right"'
    return f'style="text-align: left{f"; min-width: {room}em" if cells.str.len().max() > _LONG else ""}"'


def _lowered(text: str) -> str:
    """Text as HTML; a symbol of one letter has its index below the line (T_C)."""
    return re.sub(r"(?<![A-Za-z_])([A-Z])_([A-Za-z0-9]+)", r"\1<sub>\2</sub>", escape(text))


def _words(column, descriptions: dict) -> str:
    """A column's name in words, and what it means where that is known."""
    name = str(column).removesuffix(" [1]")
    hint = descriptions.get(name.partition(" [")[0], "")
    words = _lowered(name).replace("_", " ")  # what is no index joins words
    return f'<span title="{escape(hint)}">{words}</span>' if hint else words


def _footnotes(notes: pd.Series | None, count: int) -> tuple[list[str], str]:
    """A mark for each of ``count`` rows that has a note, and the list of notes; equal notes share a mark."""
    said = [""] * count if notes is None else list(notes.fillna(""))
    letters = (chr(ord("a") + number) for number in range(26))
    marks = {"": ""} | {text: f"<sup>{next(letters)}</sup>" for text in dict.fromkeys(said) if text}
    body = "".join(f"<li>{mark} {escape(text)}</li>" for text, mark in marks.items() if text)
    return [marks[note] for note in said], f'<ul class="rerun-notes">{body}</ul>' if body else ""


def titled(caption: str) -> str:
    """``caption`` as HTML, its title bold."""
    end = _TITLE.search(caption)
    title, rest = (caption[: end.end()], caption[end.end() :]) if end else (caption, "")
    return f"<strong>{escape(title)}</strong>{escape(rest)}"


def framed(
    caption: str, head: Iterable[str], rows: Iterable[str], after: str = "", *, name: str, folded: bool = False,
    text: str = "", rest: str = "", id: str = "",
) -> Shown:  # fmt: skip
    """A table in a frame of its own that scrolls, numbered by the book; ``tab-<name>`` is its address.

    Parameters
    ----------
    caption : str
        What it is; above the frame, so that all of it can be read on a phone.
    head, rows : iterable of str
        Cells of the head, and rows, as HTML.
    after, rest : str
        HTML below the table, and beside the caption.
    folded : bool
        Only the caption shows until the reader opens the table.
    text : str
        What is said where no HTML is shown.
    id : str
        Address of the frame itself, of a table that a style sheet names.
    """
    tag, title = ("details", "summary") if folded else ("div", "p")
    body, place = "\n".join(rows), f' id="{id}"' if id else ""
    html = (
        f'<{tag} class="rerun-block" data-name="{escape(name)}"><{title} class="rerun-caption">{NUMBER}'
        f'{titled(caption)}{rest}</{title}><div class="rerun-table"{place} role="region" '
        f'tabindex="0" aria-label="{escape(caption)}" style="overflow-x: auto; max-width: 100%">'
        f'<table class="rerun-data">\n<thead><tr>{"".join(head)}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'
        f"{after}</{tag}>"
    )
    return Shown(html, text or caption)


def table(
    frame: pd.DataFrame,
    *,
    caption: str,
    units: dict | None = None,
    digits: int | None = None,
    name: str = "table",
    index: bool | None = None,
    folded: bool = False,
    notes: pd.Series | None = None,
    descriptions: dict | None = None,
    html: Collection[str] = (),
    over: str = "",
    data: pd.DataFrame | None = None,
    id: str = "",
) -> Shown:
    """Display ``frame`` with a caption, scrolling inside its own frame where the page is narrow.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per row.  ``frame.attrs["addresses"]``, ``(row, column)`` to the address of the cell and that of the
        claim that recomputes it, make the cell a place that the ledger leads to and from; either may be empty.
    caption : str
        What the table is, with its source, and what to see in it.  Up to the first full stop or colon it is
        the title.
    units : dict, optional
        Unit of each column, written behind its name.
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
    html : collection of str
        Columns whose cells are HTML already.
    over : str
        A column that stands over the rows in place of beside them, wherever its value changes.
    data : pandas.DataFrame, optional
        What the CSV file holds; what is shown if not given.
    id : str
        Address of the frame, of a table that a style sheet names.
    """
    units = units or {}
    counted = isinstance(frame.index, pd.RangeIndex)
    shown = frame.reset_index() if (not counted if index is None else index) else frame
    names = [str(column) for column in shown.columns]
    shown = shown.set_axis([f"{one} [{units[one]}]" if units.get(one) else one for one in shown.columns], axis=1)
    cells = (shown.apply(_as_counts) if digits is None else shown).map(lambda cell: _cell(cell, digits))
    words = cells.copy()
    for place, column in enumerate(names):
        if column in html:
            words.isetitem(place, [unescape(_TAG.sub(" ", cell)).strip() for cell in cells.iloc[:, place]])
        else:
            cells.isetitem(place, [_lowered(cell) for cell in cells.iloc[:, place]])
    marks, list_of_notes = _footnotes(notes, len(cells))
    places = [place for place in range(len(names)) if names[place] not in (over, None if notes is None else notes.name)]
    # several long columns share the width of a page
    long = sum(words.iloc[:, place].str.len().max() > _LONG for place in places)
    room = max(10, min(15, 34 // max(1, long)))
    styles = [_style(shown.iloc[:, place], words.iloc[:, place], room) for place in places]
    known = frame.attrs.get("addresses", {})

    def row(number: int) -> str:
        found = []
        for place, style in zip(places, styles, strict=True):
            about = zip(("id", "data-claim"), known.get((number, names[place]), ()), strict=False)
            attributes = "".join(f' {word}="{value}"' for word, value in about if value)
            mark = marks[number] if place == places[0] else ""
            found.append(f"<td {style}{attributes}>{cells.iat[number, place]}{mark}</td>")
        return f"<tr>{''.join(found)}</tr>"

    def rows() -> Iterator[str]:
        above = cells.iloc[:, names.index(over)] if over else [""] * len(cells)
        for number, title in enumerate(above):
            if title != (above[number - 1] if number else ""):
                yield f'<tr><th scope="rowgroup" colspan="{len(places)}" style="text-align: left">{title}</th></tr>'
            yield row(number)

    head = [
        f'<th scope="col" {style}>{_words(shown.columns[place], descriptions or {})}</th>'
        for place, style in zip(places, styles, strict=True)
    ]
    link = csv_link((words if html else shown) if data is None else data, name)
    return framed(
        caption,
        head,
        rows(),
        f'{list_of_notes}<p style="font-size: 0.85em">{link}</p>',
        name=name,
        folded=folded,
        rest=f" <small>({len(cells)} rows)</small>" if folded else "",
        text=f"{caption}\n{words.to_string(index=False)}",
        id=id,
    )


def document_table(document: str, name: str) -> Shown:
    """A table as printed, folded, with units, source and the remarks of the digitisation where there are any.

    ``ValueError`` if the table is unknown.
    """
    about = tables.describe(document, name)
    cells = tables.text(document, name)
    if "note" in cells and not cells["note"].any():
        cells = cells.drop(columns="note")
    if "facts" in about and "description" in cells:
        # A fact's identifier is for programs; its description says the same to a reader, and comes first.
        facts = about["facts"]
        first = ["description", *facts["values"], facts["unit"]]
        cells = cells[first + [name for name in cells if name not in (*first, facts["key"])]]
    units = {
        field["name"]: field["unit"]
        for field in about["schema"]["fields"]
        if field.get("unit") not in (None, "1", "count") and field["name"] in cells
    }
    cells.attrs["addresses"] = {
        place: (claims.cell(document, name, *place), claim) for place, claim in claims.of_table(document, name).items()
    }
    return table(
        cells,
        caption=f"{about['title']}. {tables.source(document, about)}.",
        units=units,
        name=f"{document}_{name}",
        index=False,
        folded=True,
        notes=cells["note"] if "note" in cells else None,
        descriptions={field["name"]: field.get("description", "") for field in about["schema"]["fields"]},
    )


def several(parts: Sequence[Shown]) -> Shown:
    """Several tables as one output of a cell."""
    return Shown("\n".join(each.html for each in parts), "\n".join(map(repr, parts)))


def document_tables(document: str) -> Shown:
    """Every table of a document as printed, folded below its caption."""
    return several([document_table(document, name) for name in tables.names(document)])
