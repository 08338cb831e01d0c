"""The register of items as tables: on a record those of its chapter, on a page of the book every item, linked."""

from html import escape

import pandas as pd
from docutils.nodes import make_id

from supercomputers_rerun.companion import items
from supercomputers_rerun.companion.figures.rendering import Shown
from supercomputers_rerun.companion.figures.tabular import table
from supercomputers_rerun.companion.items import NEARNESS, STATUSES, Item
from supercomputers_rerun.companion.pages.data import crossed


def _cells(item: Item, page: str) -> dict[str, str]:
    """The row of an item, as HTML, with links to the notebook of its chapter at the address ``page``."""
    shown = f"<br><small>of {', '.join(item.of)}</small>" if item.of else ""
    runs = f"<br><small>{escape(', '.join(item.experiments))}</small>" if item.status == "live" else ""
    judged = f"<br><strong>{item.nearness}</strong>: {escape(item.differs)}" if item.nearness else ""
    link = f'<br><small><a href="{page}#{make_id(item.heading)}">{escape(item.heading)}</a></small>'
    return {
        "chapter": f'<a href="{page}">{escape(items.title(item.document))}</a>',
        "item": escape(item.item) + shown,
        "what was measured": escape(item.title),
        "what survives": escape(item.survives),
        "status": escape(STATUSES[item.status]) + runs,
        "here": escape(item.here) + judged + link,
    }


def items_table(document: str, kind: str = "items") -> Shown:
    """What became of every item of a document (``kind="items"``), or of every plot it lost (``"plots"``), for its
    record."""
    chosen = [item for item in items.items(document) if item.is_plot is (kind == "plots")]
    what = "Experiments of the report" if kind == "items" else "Plots and pictures that the report's text lacks"
    rows = [_cells(item, f"../../notebooks/{items.page(document)}.html") for item in chosen]
    frame = pd.DataFrame(rows).drop(columns="chapter")
    caption, data = f"{what}, and what becomes of each here", items.listing(document)
    return table(frame, caption=caption, html=list(frame), data=data, name=f"{document}_{kind}")


def full_table() -> Shown:
    """Every item and every lost plot of every document; links lead to the chapters."""
    found = items.items()
    frame = pd.DataFrame(_cells(item, f"../notebooks/{items.page(item.document)}.html") for item in found)
    plots = sum(item.is_plot for item in found)
    shown = {"html": list(frame), "over": "chapter", "data": items.listing()}
    caption = f"{len(found) - plots} experiments and {plots} lost plots and pictures"
    return table(frame, caption=caption, name="items-list", id="items-list", **shown)


def counts(kind: str = "items") -> pd.DataFrame:
    """Number of ``"items"`` or lost ``"plots"`` by document and status; of live items by judgement (``"nearness"``)."""
    if kind == "nearness":
        found = [(item.document, item.nearness) for item in items.items() if item.nearness]
    else:
        found = [(item.document, STATUSES[item.status]) for item in items.items() if item.is_plot is (kind == "plots")]
    values = NEARNESS if kind == "nearness" else STATUSES.values()
    return crossed(pd.DataFrame(found, columns=["document", "value"]), "value", values)


def counts_table(kind: str = "items") -> Shown:
    """:func:`counts`, for the page."""
    caption = {
        "items": "Experiments by status",
        "plots": "Lost plots and pictures by status",
        "nearness": "How near live items come to what was measured",
    }[kind]
    frame = counts(kind).rename(index=items.title).rename_axis("chapter")
    return table(frame, caption=caption, name=f"counts_{kind}")
