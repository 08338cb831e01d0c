"""The data page: every table with its source and downloads, and machines."""

from collections.abc import Iterable
from html import escape

import pandas as pd

from supercomputers_rerun.companion import tables
from supercomputers_rerun.companion.figures.rendering import Shown
from supercomputers_rerun.companion.figures.tabular import table
from supercomputers_rerun.companion.items import title

#: Where the built book keeps the downloads, as seen from a page in the folder of the data page.
FILES = "../_static/data"


def crossed(frame: pd.DataFrame, column: str, values: Iterable[str]) -> pd.DataFrame:
    """Number of rows of each document, and of all, by the values of a column."""
    found = pd.crosstab(frame["document"], frame[column]).reindex(columns=list(values), fill_value=0)
    found.loc["all"] = found.sum()
    return found.rename_axis(columns=None)


def every_table() -> Shown:
    """Every table of every document: title, source, size, and its files."""
    catalogue, rows = tables.catalogue(), []
    for each in catalogue.itertuples(index=False):
        citation, stem = escape(tables.citation(each.document)), f"{FILES}/{each.document}/{each.table}"
        rows.append(
            {
                "report": f"{citation} <small>(in Python: <code>{each.document}</code>)</small>",
                "table": each.table,
                "title": each.title,
                "source": tables.where(tables.describe(each.document, each.table)),
                "rows": each.rows,
                "columns": each.columns,
                "numbers": each.numeric_cells,
                "notes": each.notes or None,
                "files": f'<a href="{stem}.csv" download>CSV</a> <a href="{stem}.nc" download>NetCDF</a>',
            }
        )
    caption = f"{len(catalogue)} tables, {catalogue['rows'].sum()} rows, {catalogue['numeric_cells'].sum()} numbers"
    frame, html = pd.DataFrame(rows), ("report", "files")
    return table(frame, caption=caption, name="tables", id="tables", html=html, over="report", data=catalogue)


def machines_table() -> Shown:
    """Values that the documents state of each machine, with their places; absent where no document states one."""
    rows = tables.text("machines", "machines")
    names = rows[rows["property"] == "name"].set_index("machine")["value"]
    rows = rows[rows["property"] != "name"].assign(machine=rows["machine"].map(names))
    units = rows["unit"].where(rows["unit"] != "count", "")
    rows = rows.assign(value=(rows["value"] + " " + units).str.strip(), where=rows["item"])
    shown = rows.assign(chapter=rows["document"].map(title), property=rows["property"].str.replace("_", " "))
    return table(
        shown[["machine", "property", "value", "chapter", "where", "note"]].reset_index(drop=True),
        caption="Values that the five reports state of their machines",
        name="machines-list",
        id="machines-list",
    )
