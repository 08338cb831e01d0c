"""Numbers of figures and tables, the dressing of cells."""

import json
import re
from pathlib import Path

import kit
import nbformat
import pytest


def test_figures_and_tables_are_numbered_apart_and_get_ids_of_their_own():
    figure = f'<figure class="rerun-figure" data-name="io_rates">{kit.NUMBER}a</figure>'
    table = f'<details class="rerun-block" data-name="T 1"><summary>{kit.NUMBER}b</summary></details>'
    counts, seen = {}, set()
    html, labels = kit.numbered(figure + table, "3.", counts, seen)
    assert labels == [("fig-io-rates", "Figure 3.1"), ("tab-t-1", "Table 3.1")]
    assert 'id="fig-io-rates"' in html and "Figure 3.1. </span>a" in html and "Table 3.1. </span>b" in html
    html, labels = kit.numbered(figure, "3.", counts, seen)
    assert labels == [("fig-io-rates-2", "Figure 3.2")] and 'id="fig-io-rates-2"' in html


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("see [Hague 2006](../book/references.bib#p5plus).", "see {cite}`p5plus`."),
        ("[The table of sizes](#tab-nht1-sizes) and [the figure](#fig-a)", "[](#tab-nht1-sizes) and [](#fig-a)"),
        (
            "[in a table](#tab-machines), [Peers](../book/peers.md)",
            "[in a table](#tab-machines), [Peers](../book/peers.md)",
        ),
    ],
)
def test_words_become_numbers_and_citations(written, shown):
    assert kit.referring(written) == shown
    cell = nbformat.v4.new_markdown_cell(written)
    out = json.loads(kit.dressed(nbformat.writes(nbformat.v4.new_notebook(cells=[cell]))))
    assert out["cells"][0]["source"] == shown


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb")), ids=lambda p: p.stem
)
def test_a_notebook_has_no_markup_that_jupyterlab_shows_raw_or_not_at_all(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            prose = re.sub(r"`[^`{}]*`|\$[^$]+\$", "", cell.source)
            raw = re.search(r"\[\]\(|\{\w[\w:-]*\}|^:{3,}|^\([\w-]+\)=", prose, re.MULTILINE)
            assert not raw, f"{raw.group()} in: {cell.source[:100]}"


def test_a_cell_that_a_claim_recomputes_leads_to_the_ledger():
    row = '<tr><td style="text-align: right" id="cell-a-1-b" data-claim="claim-a">1.71</td><td >2</td></tr>'
    html = kit.claimed(row, "../book/ledger.html")
    assert '<a class="rerun-claim" href="../book/ledger.html#claim-a">1.71</a></td><td >2</td>' in html


def test_a_card_shows_the_first_drawing_of_its_chapter_and_nothing_in_it_is_reached_or_named_twice():
    mark = '<g id="f1-m" tabindex="0"><use href="#f1-a"/></g><g clip-path="url(#f1-p)"/>'
    mark += '<g class="rerun-marks"><circle><title>1 s</title></circle></g>'
    figure = (
        f'<figure id="fig-a" class="rerun-figure" data-name="a"><svg role="img" aria-label="A.">{mark}</svg></figure>'
    )
    html = kit.small(figure + figure.replace("f1", "f2"), "01_toy")
    assert html.count("<svg") == 1 and 'aria-hidden="true" inert' in html
    assert 'id="01_toy-f1-m"' in html and 'href="#01_toy-f1-a"' in html and "url(#01_toy-f1-p)" in html
    assert not re.search("tabindex|role=|aria-label|<title>", html)
    assert "01_toy-f2-m" in kit.small(figure + figure.replace("f1", "f2").replace('"a"', '"b"'), "01_toy", "b")
    assert kit.small("<p>no figure</p>", "01_toy") == ""
