"""What every chapter shows of its document: its printed tables."""

from companion import claims, tables
from companion.figures.rendering import Shown
from companion.figures.tabular import Table, table

#: Printed tables of more rows than this are folded: the figures that draw them come first.
_OPEN_ROWS = 8


def document_table(document: str, name: str, *, folded: bool | None = None, seen: str = "") -> Table:
    """A table as printed, with units, source and the remarks of the digitisation where there are any.

    Long tables, lists of facts and ticks of axes are folded unless ``folded`` says otherwise.  ``seen`` is a sentence
    that says what to see in the table; it enters the caption. ``ValueError`` if the table is unknown.
    """
    about = tables.describe(document, name)
    cells = tables.text(document, name)
    if "note" in cells and not cells["note"].any():
        cells = cells.drop(columns="note")
    if "facts" in about and "description" in cells:
        # A fact's identifier is for programs; its description says the same to a reader, and comes first.
        facts = about["facts"]
        first = ["description", *facts["values"], facts["unit"]]
        cells = cells[first + [name for name in cells if name not in (*first, facts["key"])]]
    units = {
        field["name"]: field["unit"]
        for field in about["schema"]["fields"]
        if field.get("unit") not in (None, "1", "count") and field["name"] in cells
    }
    cells.attrs["addresses"] = {
        place: (claims.cell(document, name, *place), claim) for place, claim in claims.of_table(document, name).items()
    }
    return table(
        cells,
        caption=" ".join(filter(None, [f"{about['title']}.", seen, f"{tables.source(document, about)}."])),
        units=units,
        name=f"{document}_{name}",
        index=False,
        folded=("facts" in about or name.endswith("_axes") or len(cells) > _OPEN_ROWS) if folded is None else folded,
        notes=cells["note"] if "note" in cells else None,
        descriptions={field["name"]: field.get("description", "") for field in about["schema"]["fields"]},
    )


def document_tables(document: str) -> Shown:
    """Every table of a document as printed, folded below its caption."""
    parts = [document_table(document, name, folded=True) for name in tables.names(document)]
    return Shown("\n".join(each.html for each in parts), "\n".join(map(repr, parts)))
