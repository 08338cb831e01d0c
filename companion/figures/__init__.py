"""House style of every figure and table, and one module of figures per document.

``axes`` gives styled axes without pyplot's global state, ``show`` turns a figure into an inline SVG
that takes its text colour from the page (so that it reads in light and dark) and carries alternative
text and its data, ``table`` does the same for a table.  The chapters' own figures are the modules
beside this one (``figures.p5plus`` …), loaded when first named.
"""

import importlib

from companion.figures._document import claims_summary, claims_table, document_table
from companion.figures._parts import bytes_axis, icicle, log_axis, points, stacked_bars
from companion.figures._show import Shown, csv_text, save, show
from companion.figures._style import CYCLE, INK, STYLE, axes, document_style, host_style
from companion.figures._table import Table, table

__all__ = [
    "CYCLE", "INK", "STYLE", "Shown", "Table", "axes", "bytes_axis", "claims_summary", "claims_table",
    "csv_text", "document_style", "document_table", "host_style", "icicle", "log_axis", "points", "save",
    "show", "stacked_bars", "table",
]


def __getattr__(name: str):
    """``figures.p5plus`` and its like: a chapter's module, imported on first use."""
    if name.startswith("_"):
        raise AttributeError(f"companion.figures has no attribute {name!r}")
    try:
        return importlib.import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise AttributeError(f"companion.figures has neither a function nor a chapter {name!r}") from None
