"""Every derived number of the five documents, recomputed from the numbers it derives from.

Each document has a register, ``companion/chapters/<document>/claims.csv``.  ``check`` gives the claims, ``frame``
the same as a table.
"""

import pandas as pd

from companion import chapters
from companion.claims import engine, register
from companion.claims.engine import Claim, Maker
from companion.claims.verdicts import VERDICTS


def documents() -> list[str]:
    """Documents with claims."""
    return sorted(chapters.files("claims.csv"))


def ledger(document: str) -> list[Maker]:
    """The entries of one document, in the order of its register.  Raises ``ValueError`` for an unknown document."""
    if document not in documents():
        raise ValueError(f"document {document!r} has no claims; choose one of {', '.join(documents())}.")
    return register.ledger(document)


def check(document: str | None = None) -> list[Claim]:
    """Recompute every claim of one document, or of all."""
    chosen = documents() if document is None else [document]
    return [claim for name in chosen for claim in engine.check(ledger(name))]


def frame(document: str | None = None, verdict: str | None = None) -> pd.DataFrame:
    """Claims as a table, filtered by document and verdict (one of ``VERDICTS``)."""
    if verdict is not None and verdict not in VERDICTS:
        raise ValueError(f"verdict {verdict!r} is unknown; choose one of {', '.join(VERDICTS)}.")
    columns = "id document where statement printed recomputed low high bound verdict reason".split()
    rows = [vars(each) | dict(zip(("low", "high"), each.interval, strict=True))
            for each in check(document) if verdict in (None, each.verdict)]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)
