"""The data page: every table with its source and downloads, notes and machines."""

from collections.abc import Iterable
from html import escape

import pandas as pd

from companion import tables
from companion.figures import tabular
from companion.figures.rendering import csv_link
from companion.figures.tabular import Table
from companion.items import title

#: Where the built book keeps the downloads, as seen from a page in the folder of the data page.
FILES = "../_static/data"


def framed(caption: str, head: Iterable[str], rows: Iterable[str], link: str = "", *, name: str, **more) -> Table:
    """:func:`companion.figures.tabular.framed` with words as heads and a ``link`` below; its frame is named, too."""
    heads = (f'<th scope="col">{escape(each)}</th>' for each in head)
    note = f'<p style="font-size: 0.85em">{link}</p>' if link else ""
    return tabular.framed(caption, heads, rows, note, name=name, id=name, **more)


def cells(*texts: object) -> str:
    """Cells of a row; texts are HTML already."""
    return "".join(f"<td>{text}</td>" for text in texts)


def numbers(*texts: object) -> str:
    """Cells of a row that hold numbers, set to the right."""
    return "".join(f'<td style="text-align: right">{text}</td>' for text in texts)


def heading(html: str, columns: int = 0) -> str:
    """The head of a row, or a row over all columns that names those below it."""
    if not columns:
        return f'<th scope="row" style="text-align: left">{html}</th>'
    return f'<tr><th scope="rowgroup" colspan="{columns}" style="text-align: left">{html}</th></tr>'


def crossed(frame: pd.DataFrame, column: str, values: Iterable[str]) -> pd.DataFrame:
    """Number of rows of each document, and of all, by the values of a column."""
    table = pd.crosstab(frame["document"], frame[column]).reindex(columns=list(values), fill_value=0)
    table.loc["all"] = table.sum()
    return table.rename_axis(columns=None)


def every_table() -> Table:
    """Every table of every document: title, source, size, and its files."""
    catalogue = tables.catalogue()
    rows = []
    for document, group in catalogue.groupby("document", sort=False):
        known = f"<small>(in Python: <code>{escape(document)}</code>)</small>"
        rows.append(heading(f"{escape(tables.citation(document))} {known}", 8))
        for each in group.itertuples(index=False):
            about = tables.describe(document, each.table)
            where = about["item"] + (f", page {about['page']}" if about.get("page") else "")
            stem = f"{FILES}/{document}/{each.table}"
            place = f"table-{document}-{each.table}".replace("_", "-")
            texts = cells(*map(escape, (each.table, each.title, where)))
            texts += numbers(each.rows, each.columns, each.numeric_cells, each.notes or "–")
            links = f'<a href="{stem}.csv" download>CSV</a> <a href="{stem}.nc" download>NetCDF</a>'
            rows.append(f'<tr id="{place}">{texts}{cells(links)}</tr>')
    caption = f"{len(catalogue)} tables, {catalogue['rows'].sum()} rows, {catalogue['numeric_cells'].sum()} numbers"
    head = ["table", "title", "source", "rows", "columns", "numbers", "notes", "files"]
    plain = catalogue.drop(columns="source")
    return framed(caption, head, rows, csv_link(catalogue, "tables"), name="tables", text=plain)


def notes() -> pd.DataFrame:
    """Every row of every table that carries a note: document, table, row (its key) and note."""
    found = []
    for document in tables.documents():
        for name in tables.names(document):
            printed = tables.text(document, name)
            keys = tables.describe(document, name)["schema"]["primaryKey"]
            for _, row in printed[printed["note"] != ""].iterrows():
                key = ", ".join(row[key] for key in keys if row[key])
                found.append({"document": document, "table": name, "row": key, "note": row["note"]})
    return pd.DataFrame(found)


def listed(frame: pd.DataFrame, *, caption: str, name: str) -> Table:
    """Rows of text in a frame named ``name``, which the style of the page sets as blocks on a phone."""
    rows = [f"<tr>{cells(*map(escape, row))}</tr>" for row in frame.itertuples(index=False, name=None)]
    return framed(caption, list(frame.columns), rows, csv_link(frame, name), name=name, text=frame)


def _titled(frame: pd.DataFrame) -> pd.DataFrame:
    """``frame`` with the title of the chapter in place of a document's identifier."""
    return frame.assign(document=frame["document"].map(title)).rename(columns={"document": "chapter"})


def notes_table() -> Table:
    """The notes, for the data page."""
    caption = "Rows with a note: restored from the scan, at odds with the arithmetic, or in need of an explanation"
    return listed(_titled(notes()), caption=caption, name="notes-list")


def machines_table() -> Table:
    """What the documents state about each machine, with its place; absent where no document states it."""
    rows = tables.machines(long=True)
    names = rows[rows["property"] == "name"].set_index("machine")["value"]
    rows = rows[rows["property"] != "name"].assign(machine=rows["machine"].map(names))
    units = rows["unit"].where(rows["unit"] != "count", "")
    shown = rows.assign(
        value=(rows["value"] + " " + units).str.strip(), property=rows["property"].str.replace("_", " ")
    )
    columns = ["machine", "property", "value", "document", "item", "note"]
    return listed(
        _titled(shown[columns].rename(columns={"item": "where"})),
        name="machines-list",
        caption="What the five documents state about their machines",
    )
