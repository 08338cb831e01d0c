"""A figure that readers of the page can steer: its data, and the picture that paper shows.

The page carries the data as JSON, computed when it is built; ``book/_static/explorers.js`` draws them.  Where no
script runs (a notebook, paper) the picture stays.
"""

import json

from companion.figures.kit import MEANINGS, SERIES
from companion.figures.rendering import Shown


def explorer(kind: str, data: dict, *, still: Shown) -> Shown:
    """The figure ``still``, in whose place the page shows one that can be steered.

    ``ValueError`` for NaN and infinity, of which JSON knows nothing.

    Parameters
    ----------
    kind : str
        ``"banks"`` or ``"clock"``, what ``explorers.js`` can draw.
    data : dict
        What it draws, plain values only; the colours of the book are added.
    still : Shown
        A picture of the same, for paper and where no script runs; its caption serves both.
    """
    whole = {"colours": MEANINGS, "series": SERIES, **data}
    text = json.dumps(whole, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    head = f'<div class="rerun-explorer" data-kind="{kind}"><script type="application/json">{text}</script>'

    def html() -> str:
        return f"{head}{still.html}</div>"

    return Shown(html, still.alt, still.name, still.title, still.data, still.figure)
