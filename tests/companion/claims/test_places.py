"""The way from a claim to the cell that it recomputes, and back."""

import re

import pytest

from companion import claims, figures, tables
from companion.claims import places
from companion.pages import ledger


@pytest.mark.parametrize("document", claims.documents())
def test_every_claim_has_an_address_and_nearly_every_one_its_cell(document):
    frame, found, known = claims.frame(document), places.places(document), places.addresses(document)
    assert list(found) == list(frame["id"]) and len(set(known.values())) == len(frame)
    held = 0
    for claim in frame.itertuples():
        place = found[claim.id]
        if place.row is not None:
            held += 1
            text = tables.text(document, place.table)[place.column].iloc[place.row]
            assert text and text in claim.printed
    assert held >= 0.9 * len(frame)


def test_ledger_and_table_lead_to_each_other():
    frame = claims.frame("xc30")
    linked = 0
    for claim in frame.itertuples():
        place = places.places("xc30")[claim.id]
        if place.row is None:
            continue
        target = ledger.source(claim).partition("#")[2]
        html = figures.document_table("xc30", place.table).html
        cell = re.search(rf'<td [^>]*id="{target}" data-claim="([^"]+)"', html)
        assert cell and cell.group(1) in places.addresses("xc30").values()
        linked += 1
    assert linked > 30


def test_the_ledger_has_every_address_once():
    ids = re.findall(r'<tr id="(claim-[^"]+)"', ledger.full_table().html)
    assert len(ids) == len(set(ids)) == len(claims.frame())
