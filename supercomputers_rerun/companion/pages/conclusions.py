"""What the authors concluded: the table that ends a chapter, and the page with all of them and their counts."""

from functools import cache
from html import escape

import pandas as pd

from supercomputers_rerun.companion import items
from supercomputers_rerun.companion.conclusions import VERDICTS, conclusions
from supercomputers_rerun.companion.figures.rendering import Shown
from supercomputers_rerun.companion.figures.tabular import table
from supercomputers_rerun.companion.pages.data import crossed

_COLUMNS = ["concluded", "found today", "verdict"]


@cache
def judged(document: str | None = None) -> pd.DataFrame:
    """Every conclusion of a report, or of all in the order of the chapters, with what is found today.

    Columns ``id``, ``document``, ``place``, ``concluded``, ``found today`` and ``verdict``.
    """
    rows = []
    for each in conclusions(document):
        finding = each.found()
        rows.append((each.id, each.document, each.place, each.says, finding.sentence, finding.verdict))
    frame = pd.DataFrame(rows, columns=["id", "document", "place", *_COLUMNS])
    return frame.sort_values("document", key=lambda names: names.map(items.page), kind="stable", ignore_index=True)


def summary(frame: pd.DataFrame) -> str:
    """How many conclusions have each verdict, in words."""
    counts = frame["verdict"].value_counts()
    found = [f"{verdict} {counts[verdict]}" for verdict in VERDICTS if verdict in counts]
    return ", ".join(found)


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    said = "<br><small>" + frame["place"].map(escape) + "</small>"
    return pd.DataFrame(
        {
            "concluded": frame["concluded"].map(escape) + said,
            "found today": frame["found today"].map(escape),
            "verdict": "<strong>" + frame["verdict"].map(escape) + "</strong>",
        }
    )


def table_of(document: str) -> Shown:
    """The conclusions of one report: concluded, found today, verdict."""
    frame = judged(document)
    caption = f"What the authors concluded, and what is found today. Of {len(frame)} conclusions: {summary(frame)}."
    shown, name = _shown(frame), f"{document}_conclusions"
    made = table(shown, caption=caption, html=_COLUMNS, index=False, data=frame, name=name)
    lines = frame["verdict"] + ": " + frame["concluded"]
    return Shown(made.html, "\n".join([caption, *lines]))  # where no HTML is shown, sentences need no columns


def full_table() -> Shown:
    """The conclusions of all reports, by chapter; each leads to its chapter."""
    frame = judged()
    pages = {name: f"../notebooks/{items.page(name)}.html" for name in frame["document"].unique()}
    links = {name: f'<a href="{page}">{escape(items.title(name))}</a>' for name, page in pages.items()}
    shown = _shown(frame).assign(chapter=frame["document"].map(links))
    caption = f"{len(frame)} conclusions of five reports: {summary(frame)}."
    html = [*_COLUMNS, "chapter"]
    return table(shown, caption=caption, html=html, over="chapter", data=frame, index=False, name="conclusions")


def counts() -> pd.DataFrame:
    """Number of conclusions by report and verdict."""
    return crossed(judged(), "verdict", VERDICTS)


def counts_table() -> Shown:
    """:func:`counts`, for the page."""
    frame = counts().rename(index=items.title).rename_axis("chapter")
    return table(frame, caption="Conclusions by report and verdict", name="counts_conclusions")
