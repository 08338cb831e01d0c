"""How many printed digits the documents' own redundancy protects.

Every digit of every numeric cell is changed by one (9 becomes 8, so that a cell keeps its length).  A
change is noticed when the descriptor refuses the table, or when a claim changes its verdict or can no longer
be computed: the tests hold every verdict.  Only claims that use the table are computed again.  A change that
only an *identity* or a *restored by this* would notice is counted apart: such a claim protects nothing, since the
cell was the same on both sides, or was filled in by it.
"""

import frictionless

from companion import tables
from companion.claims.engine import Maker
from companion.claims.sheets import Reader, Sheet
from companion.claims.verdicts import IDENTITY, RESTORED

COLUMNS = ["document", "table", "row", "column", "cell", "digits", "noticed", "itself"]


def altered(text: str, position: int) -> str:
    """``text`` with the digit at ``position`` raised by one, a nine lowered by one."""
    digit = int(text[position])
    return text[:position] + str(digit - 1 if digit == 9 else digit + 1) + text[position + 1 :]


def numeric_cells(document: str, table: str) -> list[tuple[int, int, str]]:
    """Row, column and text of every numeric cell."""
    half = tables.digits(document, table).notna().to_numpy()
    cells = tables.text(document, table).values.tolist()
    return [
        (row, column, cell) for row, line in enumerate(cells) for column, cell in enumerate(line) if half[row, column]
    ]


def verdicts(maker: Maker, reader: Reader) -> list[tuple[str, str]] | None:
    """Identifiers and verdicts of one maker; None where the altered table makes it fail."""
    try:
        return [(claim.id, claim.verdict) for claim in maker.run(reader)]
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
        return None


def users(ledger: list[Maker]) -> dict[str, list[tuple[Maker, list]]]:
    """For each table the makers that read it, with their verdicts on the tables as they are."""
    result: dict[str, list] = {}
    for maker in ledger:
        reader = Reader(maker.document)
        before = verdicts(maker, reader)
        for table in reader.used:
            result.setdefault(table, []).append((maker, before))
    return result


def refused(document: str, table: str, row: int, column: int, cell: str, cells: list[list[str]]) -> bool:
    """Whether the constraints of the descriptor catch the altered cell."""
    schema = tables.describe(document, table)["schema"]
    if frictionless.Schema.from_descriptor(schema).fields[column].read_cell(cell)[1]:
        return True
    key = [place for place, field in enumerate(schema["fields"]) if field["name"] in schema["primaryKey"]]
    keys = [[line[place] for place in key] for line in cells]
    return column in key and keys.count(keys[row]) > 1


def notices(maker: Maker, before: list[tuple[str, str]], reader: Reader) -> set[str]:
    """Verdicts that the claims of ``maker`` had, of those that change or vanish on the tables ``reader`` gives."""
    after = verdicts(maker, reader)
    if after == before:
        return set()
    kept = set(after or [])
    return {verdict for claim, verdict in before if (claim, verdict) not in kept} or {"a claim more"}


def survey_table(document: str, table: str, makers: list[tuple[Maker, list]]) -> list[dict]:
    """One record per numeric cell: digits, how many of their changes are noticed, and how many by itself alone."""
    records, columns = [], [field["name"] for field in tables.describe(document, table)["schema"]["fields"]]
    for row, column, cell in numeric_cells(document, table):
        places = [place for place, character in enumerate(cell) if character.isdigit()]
        noticed = itself = 0
        for place in places:
            cells = tables.text(document, table).values.tolist()
            cells[row][column] = altered(cell, place)
            if refused(document, table, row, column, cells[row][column], cells):
                noticed += 1
                continue
            reader = {table: Sheet(document, table, cells)}
            found = {kind for maker, before in makers for kind in notices(maker, before, Reader(document, reader))}
            noticed += bool(found - {IDENTITY, RESTORED})
            itself += bool(found) and not found - {IDENTITY, RESTORED}
        values = (document, table, row + 2, columns[column], cell, len(places), noticed, itself)
        records.append(dict(zip(COLUMNS, values, strict=True)))
    return records
