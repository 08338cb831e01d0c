"""The data page and the ledger: every table and every claim is on them, and files open."""

import re
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import take_away
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from supercomputers_rerun.companion import claims, items, tables
from supercomputers_rerun.companion.pages import data, ledger

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def frame():
    return claims.frame()


@pytest.fixture(scope="module")
def whole():
    return ledger.full_table()


def soup(shown):
    return BeautifulSoup(shown.html, "html.parser")


# The tables


def test_the_page_lists_every_table_of_the_packages_with_both_files():
    paths = {f"{name}/{each['path']}" for name in tables.documents() for each in tables.package(name)["resources"]}
    links = {
        link["href"].removeprefix(data.FILES + "/")
        for link in soup(data.every_table()).find_all("a")
        if link["href"].startswith(data.FILES)
    }
    assert links == paths | {re.sub(r"csv$", "nc", path) for path in paths}


def test_the_page_gives_title_and_sizes_of_each_table():
    catalogue, rows = tables.catalogue(), soup(data.every_table()).tbody.find_all("tr")
    found = [[cell.text for cell in row.find_all("td")] for row in rows if row.td]
    assert len(rows) - len(found) == len(tables.documents())
    for cells, about in zip(found, catalogue.itertuples(), strict=True):
        assert cells[:2] == [about.table, about.title] and about.source.endswith(cells[2])
        assert [int(cell.replace("–", "0")) for cell in cells[3:7]] == [
            about.rows, about.columns, about.numeric_cells, about.notes
        ]  # fmt: skip


# The ledger


def test_the_ledger_holds_every_claim_in_order(frame, whole):
    rows = soup(whole).find(id="ledger").tbody.find_all("tr")
    assert len(rows) == len(frame)
    for row, claim in zip(rows, frame.itertuples(), strict=True):
        document, verdict, statement, printed, recomputed, reason = row.find_all("td")
        where = statement.small.extract().text.removesuffix(" #")
        held = printed.small.extract().text if claim.bound else ""
        assert held == (f"held to {claim.bound}" if claim.bound else "")
        assert (document.text, verdict.text, statement.text, where, printed.text, reason.text) == (
            items.title(claim.document),
            claim.verdict,
            claim.statement,
            claim.where,
            claim.printed,
            claim.reason,
        )
        allowed = recomputed.small.extract().text if recomputed.small else ""
        if claim.verdict == "not checkable":
            assert recomputed.text == allowed == ""
        else:
            assert float(recomputed.text) == pytest.approx(claim.recomputed, rel=6e-4, abs=1e-12), claim.id
            ends = [float(end) for end in allowed.split(" to ")] if allowed else [claim.recomputed] * 2
            assert ends == pytest.approx([claim.low, claim.high], rel=6e-4, abs=1e-9), claim.id


@given(st.floats(1e-3, 1e13), st.integers(1, 13))
def test_a_recomputed_value_keeps_a_digit_more_than_is_printed(value, digits):
    text = ledger.shown(value, "1" * digits)
    assert float(text) == pytest.approx(value, rel=0.51 * 10.0 ** -max(3, digits))
    assert not text.endswith(".") and not (("." in text) and text.endswith("0"))


def test_counts_are_those_of_the_claims_and_lead_to_their_rows(frame):
    numbers = ledger.counts(frame)
    assert numbers.loc["all", "all"] == len(frame)
    for row, (document, counts) in zip(
        soup(ledger.counts_table()).tbody.find_all("tr"), numbers.iterrows(), strict=True
    ):
        for (verdict, count), cell in zip(counts.items(), row.find_all("td")[1:], strict=True):
            wanted = [("document", document), ("verdict", verdict.replace(" ", "+"))]
            asked = "&".join(f"{name}={value}" for name, value in wanted if value != "all")
            assert cell.text == str(count) and (not count or cell.a["href"] == f"ledger.html?{asked}")


# Files of the built book


def application(folder, pages, kind="html"):
    config, env = SimpleNamespace(sources_digest="a"), SimpleNamespace(found_docs=set(pages))
    return SimpleNamespace(
        outdir=folder, doctreedir=folder, builder=SimpleNamespace(format=kind), env=env, config=config
    )


def test_a_build_writes_the_downloads_that_its_pages_link(tmp_path, frame, monkeypatch):
    """What is in the NetCDF files is looked at in ``tests/companion/tables``."""
    monkeypatch.setattr(tables, "write_netcdf", lambda dataset, path: path.write_bytes(b""))
    take_away._write(application(tmp_path, {"book/data", "book/ledger"}), None)
    folder = tmp_path / "_static" / "data"
    page = f"{data.every_table().html}{ledger.full_table().html}"
    page += (ROOT / "book" / "data.md").read_text(encoding="utf-8")
    links = set(re.findall(rf'href="{re.escape(data.FILES)}/([^"]+)"', page))
    assert len(links) == 2 * len(tables.catalogue()) + 2  # the zip and the ledger
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert written == links
    read = pd.read_csv(
        folder / "ledger.csv",
        keep_default_na=False,
        na_values={"recomputed": [""], "low": [""], "high": [""]},
        dtype={"printed": str},
    )
    pd.testing.assert_frame_equal(read, frame, check_dtype=False)
