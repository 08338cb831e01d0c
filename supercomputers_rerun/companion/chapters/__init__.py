"""All that is one document's own, one folder a document: a module for each section of its story, claims and items.

A folder here, one in ``data/`` and a notebook make a chapter; nothing else names it.  A section holds its experiments
(:mod:`companion.experiments`), figures and sentences.
"""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


def files(name: str) -> dict[str, Path]:
    """The file ``name`` of every document whose folder has it."""
    return {path.parent.name: path for path in sorted(Path(__file__).parent.glob(f"*/{name}"))}


def rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Rows of a register, each with the words that say where it stands: file and line.

    ``ValueError`` for other columns than ``columns``, and for a row that has more or fewer cells.
    """
    place = f"{path.parent.name}/{path.name}"
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.DictReader(file)
        if lines.fieldnames != list(columns):
            raise ValueError(f"{place}, line 1: its columns are {', '.join(columns)}, in this order")
        for line in lines:
            here = f"{place}, line {lines.line_num}"
            if None in line or None in line.values():
                raise ValueError(f"{here}: {len(columns)} cells belong here; one with a comma needs quotation marks")
            yield here, line


@contextmanager
def named(place: str) -> Iterator[None]:
    """What is wrong with a row of a register is a ``ValueError`` that begins with where it stands."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, SyntaxError) as error:
        said = str(error.args[0] if error.args else error)
        word = isinstance(error, KeyError) and " " not in said  # of a mapping: the key alone
        raise ValueError(f"{place}: {f'{said!r} is unknown here' if word else said}") from error
