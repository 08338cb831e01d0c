"""Which extra brings a library that a small installation leaves out, and the sentence where it is missing."""

import importlib.util

_BROUGHT = {
    "notebooks": (
        *("matplotlib", "PIL", "IPython", "ipykernel", "jupyterlab"),
        *("nbclient", "nbformat"),
    ),
    "formats": ("netCDF4",),
    "imaging": ("astropy",),
    "mpi": ("mpi4py",),
    "peers": ("ducc0", "threadpoolctl"),
    "book": ("yaml",),
}
#: module -> extra of ``supercomputers-rerun``
EXTRAS = {module: extra for extra, modules in _BROUGHT.items() for module in modules}


#: What figures need, and so the tables that stand beside them.
DRAWING = ("matplotlib", "PIL")


def sentence(module: str | None) -> str | None:
    """That a module is missing and which extra brings it; None for what no extra brings."""
    top = (module or "").partition(".")[0]
    extra = EXTRAS.get(top)
    return extra and f"{top} is not installed; pip install 'supercomputers-rerun[{extra}]' brings it"


def missing(*modules: str) -> str | None:
    """The sentence for the first of the modules that is not there; nothing is imported."""
    return next((sentence(module) for module in modules if importlib.util.find_spec(module) is None), None)


def require(*modules: str) -> None:
    """``ImportError`` with the sentence unless every module is there."""
    if reason := missing(*modules):
        raise ImportError(reason)
