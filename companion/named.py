"""Names of kernels in records: the same from a checkout, where ``kernels`` stands alone, and from a wheel."""

import importlib
from types import ModuleType

#: What a wheel puts before the names of this package and of ``kernels``; empty in a checkout.
BEFORE = __name__.removesuffix("companion.named")


def name_of(kernel) -> str:
    """How records name a kernel: a module by its name in a checkout, an object by its own name or its type's."""
    return getattr(kernel, "__name__", type(kernel).__name__).removeprefix(BEFORE)


def kernel(name: str) -> ModuleType:
    """The module that records name so; ``ImportError`` if this version has none."""
    return importlib.import_module(f"{BEFORE}{name}")
