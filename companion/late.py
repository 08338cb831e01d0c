"""pandas and xarray, imported when something of them is first asked for.

They take longer than the rest of a command that reads no table, and every rank of a job would wait for them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
else:

    class _Late:
        """A module by its name."""

        def __init__(self, name: str):
            self._name = name

        def __getattr__(self, word: str) -> Any:
            return getattr(import_module(self._name), word)

    pd, xr = _Late("pandas"), _Late("xarray")

__all__ = ["pd", "xr"]
