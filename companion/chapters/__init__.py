"""All that is one document's own, one folder a document: a module for each section of its story, claims and items.

A folder here, one in ``data/`` and a notebook make a chapter; nothing else names it.  A section holds its experiments
(:mod:`companion.experiments`), figures and sentences.
"""

import importlib
from pathlib import Path
from typing import Any

from companion.common import pd


def sections() -> None:
    """Import the modules of the sections of every chapter, and with them their experiments and figures."""
    for path in sorted(Path(__file__).parent.glob("*/*.py")):
        if path.stem not in ("__init__", "claims"):
            importlib.import_module(f"{__name__}.{path.parent.name}.{path.stem}")


def files(name: str) -> dict[str, Path]:
    """The file ``name`` of every document whose folder has it."""
    return {path.parent.name: path for path in sorted(Path(__file__).parent.glob(f"*/{name}"))}


def rows(name: str, columns: tuple[str, ...]) -> dict[str, list[dict[str, str]]]:
    """The rows of the table ``name`` of every document whose folder has it, each column -> cell.

    ``KeyError`` if a table lacks a column.
    """
    tables = {document: pd.read_csv(path, dtype=str, keep_default_na=False) for document, path in files(name).items()}
    return {document: table[[*columns]].to_dict("records") for document, table in tables.items()}


def of(problem: Any, *names: str) -> dict[str, Any]:
    """Fields of a problem by name, as coordinates of a case."""
    return {name: getattr(problem, name) for name in names}


def counts_to(most: int) -> list[int]:
    """1, 2, 4, … and ``most``: threads or ranks of a sweep."""
    return sorted({1, most} | {2**n for n in range(most.bit_length()) if 2**n < most})


def sent(moved: Any) -> dict[str, int]:
    """What a case over MPI sends, counted beforehand, as coordinates."""
    return {"sent_bytes": moved.bytes, "messages": moved.messages}
