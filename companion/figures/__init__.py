"""House style of every figure and table.

``axes`` gives styled axes without pyplot's global state, ``show`` turns a figure into an inline SVG
that takes its text colour from the page (so that it reads in light and dark) and carries alternative
text and its data, ``table`` does the same for a table, ``source`` for a loop.

Names are imported from their modules when they are first asked for: a command that lists experiments, whose modules
hold their figures too, need not wait for Matplotlib.
"""

from importlib import import_module

from companion import extras

_MODULES = {
    "box": "answer box folded paragraph",
    "document": "document_table document_tables",
    "dotted": "dots",
    "parts": "MARKED at_right bars bytes_axis bytes_label calculated cases converted cpu doubts intervals "
    "legend lines log_axis machines of_samples points printed_ranges quantities quotient ratios rows run_title sampled "
    "spread_of times together with_spread",
    "rendering": "Shown save show source",
    "style": "INK MEANINGS STYLE axes document_style hollow host_style meaning series",
    "tabular": "Table table",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = sorted(_HOME)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"companion.figures has no {name}")
    extras.require(*extras.DRAWING)
    return getattr(import_module(f"companion.figures.{_HOME[name]}"), name)
