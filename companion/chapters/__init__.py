"""All that is one document's own, one folder a document: ``claims``, ``experiments``, ``figures``, ``items.csv``.

A folder here, one in ``data/`` and a notebook make a chapter; nothing else names it.
"""

import importlib
import importlib.util
import pkgutil
from pathlib import Path
from types import ModuleType


def documents(part: str) -> list[str]:
    """Documents whose folder has ``part`` (``"claims"``, ``"experiments"`` or ``"figures"``), sorted."""
    found = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)
    return [name for name in found if importlib.util.find_spec(f"{__name__}.{name}.{part}") is not None]


def part(document: str, name: str) -> ModuleType:
    """The part ``name`` of a document's chapter, imported."""
    return importlib.import_module(f"{__name__}.{document}.{name}")


def files(name: str) -> dict[str, Path]:
    """The file ``name`` of every document whose folder has it."""
    return {path.parent.name: path for path in sorted(Path(__file__).parent.glob(f"*/{name}"))}
