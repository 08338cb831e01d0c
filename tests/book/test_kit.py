"""Numbers of figures and tables, the dressing of cells."""

import json
import re
from pathlib import Path

import kit
import nbformat
import pytest

from companion import notebook_files


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
    ("docname", "prefix"), [("notebooks/03_nht1", "3."), ("notebooks/11_x", "11."), ("book/data", "")]
)
def test_chapters_number_their_own(docname, prefix):
    assert kit.chapter(docname) == prefix


@pytest.mark.parametrize(
    ("source", "tag"),
    [
        ("figures.document_table('a', 'b')", "remove-input"),
        ("x = tables.load('a', 'b')\nxc.storm(x)", "remove-input"),
        ("xc.storm(full) if full is not None else missing", "remove-input"),
        ("r = experiments.run('a')\nxc.storm(r)", "hide-input"),
        ("for x in y:\n    print(x)\nxc.storm(r)", "hide-input"),
        ("from companion import figures, tables\nlen(tables.names('a'))", "hide-input"),
        ("from kernels import bt\nfrom companion import figures", "remove-input"),
        ("print(1)", "hide-input"),
        ("for x in y:\n    print(x)", "hide-input"),
        ("a = 1", "remove-input"),
    ],
)
def test_code_that_only_shows_or_prepares_leaves_and_other_code_folds(source, tag):
    assert kit.dressing(source, {"figures", "xc"}) == tag


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


def test_a_notebook_is_dressed_by_its_own_imports_and_keeps_tags_of_its_own():
    cells = [
        nbformat.v4.new_code_cell("preset = 'quick'", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell("from companion.chapters.xc30 import figures as xc"),
        nbformat.v4.new_code_cell("xc.storm(1)"),
        nbformat.v4.new_code_cell("xc.storm(2)", metadata={"tags": ["hide-input"]}),
        nbformat.v4.new_code_cell("print(1)", metadata={"tags": ["teaches"]}),
    ]
    out = json.loads(kit.dressed(nbformat.writes(nbformat.v4.new_notebook(cells=cells))))
    assert [cell["metadata"].get("tags") for cell in out["cells"]] == [
        ["parameters"], ["remove-input"], ["remove-input"], ["hide-input"], ["teaches"]
    ]  # fmt: skip


@pytest.mark.parametrize("path", notebook_files.paths(), ids=lambda path: path.stem)
def test_at_most_three_cells_of_a_chapter_show_their_code(path):
    tags = [cell.metadata.get("tags", []) for cell in nbformat.read(path, as_version=4).cells]
    assert sum(kit.OPEN in each for each in tags) <= 3


def test_what_is_folded_below_a_run_at_full_size_has_an_address_and_no_number():
    small = '<details class="rerun-fold"><figure class="rerun-figure" data-name="a">' + kit.NUMBER
    counts, seen = {}, set()
    html, labels = kit.numbered(small, "3.", counts, seen)
    assert 'id="fig-a"' in html and not labels and "Figure" not in html
    assert kit.numbered(small.removeprefix(kit.FOLD), "3.", counts, seen)[1] == [("fig-a-2", "Figure 3.1")]


def test_a_cell_that_a_claim_recomputes_leads_to_the_ledger():
    row = '<tr><td style="text-align: right" id="cell-a-1-b" data-claim="claim-a">1.71</td><td >2</td></tr>'
    html = kit.claimed(row, "../book/ledger.html")
    assert '<a class="rerun-claim" href="../book/ledger.html#claim-a">1.71</a></td><td >2</td>' in html


def test_figures_of_a_chapter_imported_by_name_show_and_their_code_leaves():
    cells = [
        nbformat.v4.new_code_cell("from companion.chapters.aips58.figures import live"),
        nbformat.v4.new_code_cell("live.images(1)"),
    ]
    out = json.loads(kit.dressed(nbformat.writes(nbformat.v4.new_notebook(cells=cells))))
    assert [cell["metadata"]["tags"] for cell in out["cells"]] == [["remove-input"], ["remove-input"]]
