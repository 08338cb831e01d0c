"""Which extra brings a library that a small installation leaves out, and the sentence where it is missing."""

import importlib.util

#: module -> extra of ``supercomputers-rerun``
EXTRAS = {
    **dict.fromkeys(("matplotlib", "PIL", "IPython", "nbclient", "nbformat"), "notebooks"),
    "netCDF4": "formats",
    "mpi4py": "mpi",
    "ducc0": "peers",
    "threadpoolctl": "peers",
}
#: What figures need, and so the tables that stand beside them.
DRAWING = ("matplotlib", "PIL")


def sentence(module: str | None) -> str | None:
    """That a module is missing and which extra brings it; None for what no extra brings."""
    top = (module or "").partition(".")[0]
    if top not in EXTRAS:
        return None
    return f"{top} is not installed; pip install 'supercomputers-rerun[{EXTRAS[top]}]' brings it"


def missing(*modules: str) -> str | None:
    """The sentence for the first of the modules that is not there; nothing is imported."""
    return next((sentence(module) for module in modules if importlib.util.find_spec(module) is None), None)


def require(*modules: str) -> None:
    """``ImportError`` with the sentence unless every module is there."""
    if reason := missing(*modules):
        raise ImportError(reason)
