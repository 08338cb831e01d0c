"""Names of kernels in records."""

import importlib
from types import ModuleType

#: Kernels that have moved: how older records name them, and where they are.
MOVED = {
    "kernels.peak": "kernels.processor.peak",
    "kernels.smt": "kernels.processor.smt",
    "kernels.mpi.application": "kernels.files.ranks.application",
    "kernels.mpi.bt": "kernels.bt.ranks",
    "kernels.mpi.shallow_water": "kernels.shallow_water.ranks",
    "kernels.mpi.transform": "kernels.spectral.ranks",
    "kernels.mpi.transposition": "kernels.mpi.moves",
}


def name_of(kernel) -> str:
    """How records name a kernel: a module by its name, an object by its own name or its type's."""
    return getattr(kernel, "__name__", type(kernel).__name__)


def kernel(name: str) -> ModuleType:
    """The module that records name so; ``ImportError`` if this version has none."""
    return importlib.import_module(MOVED.get(name, name))
