"""All that is one document's own, one folder a document: a module for each section of its story, claims and items.

A folder here, one in ``data/`` and a notebook make a chapter; nothing else names it.  A section holds its experiments
(:mod:`companion.experiments`), figures and sentences.
"""

from pathlib import Path


def files(name: str) -> dict[str, Path]:
    """The file ``name`` of every document whose folder has it."""
    return {path.parent.name: path for path in sorted(Path(__file__).parent.glob(f"*/{name}"))}
