"""House style of every figure and table.

``axes`` gives styled axes without pyplot's global state, ``show`` turns a figure into an inline SVG
that takes its text colour from the page (so that it reads in light and dark) and carries alternative
text and its data, ``table`` does the same for a table, ``source`` for a loop.

Names are imported from their modules when they are first asked for: a command that lists experiments, whose modules
hold their figures too, need not wait for Matplotlib.
"""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import ParamSpec, TypeVar

from supercomputers_rerun.companion import common

_MODULES = ("kit", "rendering", "tabular")
_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


def styled(function: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """``function``, which draws, in the house style; the reader's own settings of Matplotlib stay as they are."""

    @wraps(function)
    def drawing(*arguments: _Given.args, **options: _Given.kwargs) -> _Made:
        from supercomputers_rerun.companion.figures.kit import house

        with house():
            return function(*arguments, **options)

    return drawing


def __getattr__(name: str):
    if name.startswith("_") or name in _MODULES:  # Python looks for these itself
        raise AttributeError(f"companion.figures has no {name}")
    common.require(*common.DRAWING)
    for module in _MODULES:
        found = import_module(f"{__name__}.{module}")
        if hasattr(found, name):
            return getattr(found, name)
    raise AttributeError(f"companion.figures has no {name}")
