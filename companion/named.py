"""Names of kernels in records: the same from a checkout, where ``kernels`` stands alone, and from a wheel."""

import importlib
from types import ModuleType

#: What a wheel puts before the names of this package and of ``kernels``; empty in a checkout.
_BEFORE = __name__.removesuffix("companion.named")
#: Kernels that have moved: how older records name them, and where they are.
MOVED = {
    "kernels.peak": "kernels.processor.peak",
    "kernels.smt": "kernels.processor.smt",
    "kernels.mpi.application": "kernels.files.ranks.application",
    "kernels.mpi.bt": "kernels.bt.ranks",
    "kernels.mpi.groups": "kernels.files.ranks.groups",
    "kernels.mpi.shallow_water": "kernels.shallow_water.ranks",
    "kernels.mpi.transform": "kernels.spectral.ranks",
}


def name_of(kernel) -> str:
    """How records name a kernel: a module by its name in a checkout, an object by its own name or its type's."""
    return getattr(kernel, "__name__", type(kernel).__name__).removeprefix(_BEFORE)


def kernel(name: str) -> ModuleType:
    """The module that records name so; ``ImportError`` if this version has none."""
    return importlib.import_module(f"{_BEFORE}{MOVED.get(name, name)}")
