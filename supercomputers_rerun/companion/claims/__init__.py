"""Every derived number of the five documents, recomputed from the numbers it derives from.

Each document has a register, ``companion/chapters/<document>/claims.csv``.  ``check`` gives the claims, ``frame``
the same as a table; ``addresses``, ``cell`` and ``of_table`` say where claims and printed cells lie in the book.
"""

import re
from functools import cache

import pandas as pd

from supercomputers_rerun.companion import chapters
from supercomputers_rerun.companion.claims import register
from supercomputers_rerun.companion.claims.sheets import Reader
from supercomputers_rerun.companion.claims.verdicts import VERDICTS


def documents() -> list[str]:
    """Documents with claims."""
    return sorted(chapters.files("claims.csv"))


@cache
def _checked(document: str) -> tuple[register.Claim, ...]:
    if document not in documents():
        raise ValueError(f"document {document!r} has no claims; choose one of {', '.join(documents())}.")
    reader = Reader(document)
    return tuple(claim for entry in register.ledger(document) for claim in entry.claims(reader))


def check(document: str | None = None) -> list[register.Claim]:
    """Recompute every claim of one document, or of all.  ``ValueError`` for an unknown document."""
    return [claim for name in (documents() if document is None else [document]) for claim in _checked(name)]


def frame(document: str | None = None) -> pd.DataFrame:
    """Claims of one document, or of all, as a table."""
    columns = "id document where statement printed recomputed low high bound verdict reason".split()
    rows = [vars(each) | dict(zip(("low", "high"), each.interval, strict=True)) for each in check(document)]
    return pd.DataFrame(rows, columns=columns)


def _slug(*words) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", "-".join(map(str, words))).strip("-").lower()


@cache
def addresses(document: str) -> dict[str, str]:
    """The address of every claim in the ledger: ``claim-…``, each its own."""
    return {claim.id: f"claim-{_slug(claim.id)}" for claim in check(document)}


def cell(document: str, table: str, row: int, column: str) -> str:
    """The address of a printed cell in its chapter."""
    return f"cell-{_slug(document, table, row, column)}"


def of_table(document: str, table: str) -> dict[tuple[int, str], str]:
    """Cells of a table that claims recompute, ``(row, column)``, with the address of the first such claim."""
    found: dict[tuple[int, str], str] = {}
    for claim in check(document):
        if claim.place.cell and claim.place.cell[0] == table:
            found.setdefault(claim.place.cell[1:], addresses(document)[claim.id])
    return found
