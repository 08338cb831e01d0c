"""Libraries that only some kernels need, and that an extra of the installation brings."""

import importlib
from types import ModuleType

#: module -> extra of ``supercomputers-rerun``
EXTRAS = {"netCDF4": "formats"}


def library(name: str, what: str) -> ModuleType:
    """The module ``name``, which ``what`` needs.

    ``ImportError``: one sentence with the remedy where it, or what it imports, is missing.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        extra = EXTRAS.get((error.name or name).partition(".")[0])
        remedy = f"pip install 'supercomputers-rerun[{extra}]' brings it" if extra else "install it"
        sentence = f"{what} needs {error.name}, which is not installed; {remedy}, or choose another way"
        raise ImportError(sentence, name=error.name) from None
