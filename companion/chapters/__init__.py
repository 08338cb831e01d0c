"""All that is one document's own, one folder a document: a module for each section of its story, claims and items.

A folder here, one in ``data/`` and a notebook make a chapter; nothing else names it.  A section holds its experiments
(:mod:`companion.experiments`), figures and sentences.
"""

from pathlib import Path

from companion.common import pd


def files(name: str) -> dict[str, Path]:
    """The file ``name`` of every document whose folder has it."""
    return {path.parent.name: path for path in sorted(Path(__file__).parent.glob(f"*/{name}"))}


def rows(name: str, columns: tuple[str, ...]) -> dict[str, list[dict[str, str]]]:
    """The rows of the table ``name`` of every document whose folder has it, each column -> cell.

    ``KeyError`` if a table lacks a column.
    """
    tables = {document: pd.read_csv(path, dtype=str, keep_default_na=False) for document, path in files(name).items()}
    return {document: table[[*columns]].to_dict("records") for document, table in tables.items()}
