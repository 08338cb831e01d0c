"""The register of items as tables: in a chapter its own items, on a page of the book every item, linked."""

from html import escape

import pandas as pd

from companion import items
from companion.figures.rendering import csv_link
from companion.figures.tabular import Table
from companion.items import NEARNESS, STATUSES, Item
from companion.pages.data import cells, crossed, framed, heading, numbers

_HEAD = ["item", "what was measured", "what survives", "status", "here"]


def _row(item: Item, page: str) -> str:
    link = f'<a href="{page}#{items.anchor(item.heading)}">{escape(item.heading)}</a>'
    shown = f" of {', '.join(item.of)}" if item.of else ""
    runs = f"<br><small>{escape(', '.join(item.experiments))}</small>" if item.status == "live" else ""
    judged = f"<br><strong>{item.nearness}</strong>: {escape(item.differs)}" if item.nearness else ""
    shown_cells = cells(
        f"{escape(item.item)}<br><small>{escape(shown.strip())}</small>" if shown else escape(item.item),
        escape(item.title),
        escape(item.survives),
        f"{escape(STATUSES[item.status])}{runs}",
        f"{escape(item.here)}{judged}<br><small>{link}</small>",
    )
    return f"<tr>{shown_cells}</tr>"


def items_table(document: str, kind: str = "items", page: str = "") -> Table:
    """What became of every item of a document (``kind="items"``), or of every plot it lost (``"plots"``).

    Each row leads to its heading on ``page``, by default the page of the table. ``ValueError`` if the document has no
    register or ``kind`` is neither.
    """
    if kind not in ("items", "plots"):
        raise ValueError(f"kind = {kind!r} is unknown; choose items or plots")
    chosen = [item for item in items.items(document) if item.is_plot is (kind == "plots")]
    what = "Every experiment of the report" if kind == "items" else "Every plot of the report whose data are lost"
    caption = f"{what}, and what becomes of it here"
    name = f"{document}_{kind}"
    rows, link = (_row(item, page) for item in chosen), csv_link(items.listing(document), name)
    # The text leaves the statuses out: a status that changes is a change of one line, in the register.
    return framed(caption, _HEAD, rows, link, name=name, text=f"{caption}: {len(chosen)} of {document}")


def counts(kind: str = "items") -> pd.DataFrame:
    """Number of items (or lost plots) by document and status."""
    found = [item for item in items.items() if item.is_plot is (kind == "plots")]
    frame = pd.DataFrame([(item.document, STATUSES[item.status]) for item in found], columns=["document", "status"])
    return crossed(frame, "status", STATUSES.values())


def nearness() -> pd.DataFrame:
    """Number of live items by document and judgement, of the documents whose register judges them."""
    judged = [(item.document, item.nearness) for item in items.items() if item.nearness]
    return crossed(pd.DataFrame(judged, columns=["document", "nearness"]), "nearness", NEARNESS)


def counts_table(kind: str = "items") -> Table:
    """The counts, for the page; with ``"nearness"`` those of the judgements."""
    table = nearness() if kind == "nearness" else counts(kind)
    caption = {
        "items": "Experiments by status",
        "plots": "Lost plots by status",
        "nearness": "How near live items come to what was measured",
    }[kind]
    rows = [
        f"<tr>{heading(escape(items.title(document)))}{numbers(*row)}</tr>"
        for document, row in zip(table.index, table.to_numpy(), strict=True)
    ]
    name = f"counts_{kind}"
    return framed(caption, ["chapter", *table.columns], rows, csv_link(table, name), name=name)


def full_table() -> Table:
    """Every item and every lost plot of every document; links lead to the chapters."""
    rows, found = [], items.items()
    for document in items.documents():
        page = f"../notebooks/{items.page(document)}.html"
        rows.append(heading(f'<a href="{page}">{escape(items.title(document))}</a>', len(_HEAD)))
        rows += [_row(item, page) for item in found if item.document == document]
    plots = sum(item.is_plot for item in found)
    caption = f"{len(found) - plots} experiments and {plots} lost plots"
    return framed(caption, _HEAD, rows, csv_link(items.listing(), "items"), name="items-list")
