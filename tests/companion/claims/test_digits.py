"""How many printed digits the documents' own redundancy protects.

Every digit of every number of a report is changed by one (9 becomes 8, so that a cell keeps its length).  A change is
noticed when the descriptor refuses it, or when a claim changes its verdict or can no longer be computed: the tests hold
every verdict.  What only an *identity* or a *restored by this* would notice does not count: the cell was the same on
both sides, or was filled in by it.
"""

import frictionless

from supercomputers_rerun.companion import tables
from supercomputers_rerun.companion.claims import register
from supercomputers_rerun.companion.claims.sheets import Reader, Sheet
from supercomputers_rerun.companion.claims.verdicts import IDENTITY, RESTORED


def altered(text: str, position: int) -> str:
    digit = int(text[position])
    return text[:position] + str(digit - 1 if digit == 9 else digit + 1) + text[position + 1 :]


def verdicts(entry, reader: Reader) -> dict[str, str]:
    """Verdict by name of the claims of an entry; none where an altered table makes it fail."""
    try:
        return {claim.id: claim.verdict for claim in entry.claims(reader)}
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return {}


def users(document: str) -> dict[str, list]:
    """For each table the entries that read it, with their verdicts on the tables as they are."""
    found: dict[str, list] = {}
    for entry in register.ledger(document):
        reader = Reader(document)
        before = verdicts(entry, reader)
        for table in reader.sheets:
            found.setdefault(table, []).append((entry, before))
    return found


def refused(schema: dict, cells, row: int, column: str) -> bool:
    """Whether limits of the column or the key of the table refuse a cell."""
    field = frictionless.Schema.from_descriptor(schema).get_field(column)
    return bool(field.read_cell(cells.loc[row, column])[1]) or cells.duplicated(schema["primaryKey"]).any()


def noticed(document: str, table: str, entries: list) -> tuple[int, int]:
    """Digits of a table, and those of them whose change is noticed."""
    half, schema, digits, found = tables.digits(document, table), tables.describe(document, table)["schema"], 0, 0
    for column in half:
        for row in half.index[half[column].notna()]:
            cell = tables.text(document, table).loc[row, column]
            for place in [place for place, character in enumerate(cell) if character.isdigit()]:
                cells = tables.text(document, table)
                cells.loc[row, column] = altered(cell, place)
                digits += 1
                found += refused(schema, cells, row, column) or any(
                    verdict not in (IDENTITY, RESTORED) and after.get(name) != verdict
                    for entry, before in entries
                    for after in [verdicts(entry, Reader(document, {table: Sheet(document, table, [], cells)}))]
                    for name, verdict in before.items()
                )
    return digits, found


def test_most_digits_of_a_report_are_protected():
    known = users("nht1")
    counts = [noticed("nht1", table, known.get(table, [])) for table in tables.names("nht1")]
    digits, found = map(sum, zip(*counts, strict=True))
    assert digits > 200 and 0.75 < found / digits < 1


def test_every_digit_of_the_binding_lists_is_protected():
    digits, found = noticed("p5plus", "binding_lists", users("p5plus")["binding_lists"])
    assert digits == found > 0
