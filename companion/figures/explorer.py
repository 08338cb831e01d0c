"""A figure that readers of the page can steer: its data, the picture that paper shows, and a table of the same.

The page carries the data as JSON, computed when it is built; ``book/_static/explorers.js`` draws them.  Where no
script runs (a notebook, paper) the picture stays.
"""

import json

from companion.figures.rendering import Shown
from companion.figures.style import MEANINGS, SERIES
from companion.figures.tabular import Table

#: What ``explorers.js`` can draw.
KINDS = ("banks", "clock")


def packed(data) -> str:
    """``data`` as JSON that may stand in a page. ``ValueError`` for NaN and infinity, of which JSON knows nothing."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def explorer(kind: str, data: dict, *, still: Shown, table: Table | None = None) -> Shown:
    """The figure ``still``, in whose place the page shows one that can be steered.

    ``ValueError`` if ``kind`` is unknown, or a value has no JSON.

    Parameters
    ----------
    kind : str
        One of :data:`KINDS`.
    data : dict
        What ``explorers.js`` draws, plain values only; the colours of the book are added.
    still : Shown
        A picture of the same, for paper and where no script runs; its caption serves both.
    table : Table, optional
        The same as a table, for who cannot see the figure; None where the page has one already.
    """
    if kind not in KINDS:
        raise ValueError(f"kind = {kind!r} is unknown; choose one of {', '.join(KINDS)}")
    text = packed({"colours": MEANINGS, "series": SERIES, **data})
    head = f'<div class="rerun-explorer" data-kind="{kind}"><script type="application/json">{text}</script>'

    def html() -> str:
        return f"{head}{still.html}{table.html if table else ''}</div>"

    return Shown(html, still.alt, still.name, still.title, still.data, still.figure)
